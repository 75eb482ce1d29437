// Calls functions with arguments of Go's types, and prints what they are, one JSON object a call, in the order of the calls.
package main

import (
	"encoding/json"
	"os"
	"strings"
	"time"
)

type Point struct {
	X, Y int32
}

type Request struct {
	ID   int64
	Name string
	Path [3]Point
	Next *Request
}

var total int
var said = json.NewEncoder(os.Stdout)

func say(function string, args map[string]interface{}) {
	said.Encode(map[string]interface{}{"function": function, "args": args})
}

//go:noinline
func Text(name string, n int, other string) int { total += n + len(name) + len(other); return total }

//go:noinline
func Slices(list []int64, yes bool, small uint8, text []string) int {
	total += len(list) + len(text)
	return total
}

//go:noinline
func Pointers(r *Request, k int16) int { total += int(r.ID) + int(k); return total }

//go:noinline
func Values(p Point, f float64, k uint32) int { total += int(p.X) + int(k); return total }

//go:noinline
func Large(r Request, z int) int { total += int(r.ID) + z; return total }

//go:noinline
func (r *Request) Method(a, b string, d time.Duration) int { total += len(a) + len(b); return total }

//go:noinline
func Many(a, b, c, d, e, f, g, h, i int, name string) int { total += a + i + len(name); return total }

// Its frame is larger than what a goroutine begins with, so it is entered again once the stack has grown.
//
//go:noinline
func Grows(name string, n int) int {
	var room [8192]byte
	room[n%8192] = byte(n)
	total += len(name)
	return int(room[(n+1)%8192]) + total
}

func main() {
	names := []string{"", "a", "nine char", strings.Repeat("0123456789", 20), "gr\u00fcn \u4e16", "with \"quotes\"\n"}
	for i := 0; i < 24; i++ {
		name, other := names[i%len(names)], names[(i+1)%len(names)]
		r := &Request{ID: int64(-i), Name: name, Next: &Request{ID: 7, Name: other}}
		r.Path[1] = Point{int32(i), int32(-2 * i)}
		Text(name, -i, other)
		say("Text", map[string]interface{}{"name": name, "n": -i, "other": other})
		list := make([]int64, i)
		Slices(list, i%2 == 1, uint8(200+i), names[:i%4])
		say("Slices", map[string]interface{}{"list.len": i, "yes": i % 2, "small": 200 + i, "text.len": i % 4})
		Pointers(r, int16(-i))
		say("Pointers", map[string]interface{}{"r.ID": -i, "r.Name": name, "r.Path[1].Y": -2 * i, "r.Next.Name": other, "r.Next.ID": 7, "k": -i})
		Values(r.Path[1], 0.5, uint32(i))
		say("Values", map[string]interface{}{"p.X": i, "p.Y": -2 * i, "k": i})
		Large(*r, i)
		say("Large", map[string]interface{}{"z": i})
		r.Method(other, name, time.Duration(i))
		say("(*Request).Method", map[string]interface{}{"r.ID": -i, "a": other, "b": name, "d": i})
		Many(i, 2, 3, 4, 5, 6, 7, 8, 9, name)
		say("Many", map[string]interface{}{"a": i, "i": 9})
		done := make(chan bool)
		go func() { Grows(name, i); done <- true }()
		<-done
		say("Grows", map[string]interface{}{"name": name, "n": i})
	}
}
