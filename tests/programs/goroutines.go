// Calls that change threads and stacks, and that panics and Goexit end. What it prints is how many
// calls each function has.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var sink int64

//go:noinline
func Work(n int, name string) int { // others run meanwhile, on its thread, too
	if n%3 == 0 {
		time.Sleep(time.Millisecond)
	} else {
		runtime.Gosched()
	}
	return n*2 + len(name)
}

//go:noinline
func Grow(n int) int {
	var room [256]byte
	if n == 0 {
		return 0
	}
	room[n%256] = byte(n)
	return Grow(n-1) + int(room[n%256])
}

//go:noinline
func Deep(n int) int { // its stack moves while it is called
	return Grow(n) + 1
}

//go:noinline
func Fails(n int) int {
	if n%2 == 0 {
		panic("no")
	}
	return n
}

//go:noinline
func Guard(n int) (r int) {
	defer func() { recover() }()
	r = Fails(n)
	return
}

//go:noinline
func Leaves() {
	runtime.Goexit()
}

func main() {
	var all sync.WaitGroup
	for i := 0; i < 40; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for n := 0; n < 20; n++ {
				atomic.AddInt64(&sink, int64(Work(n, "four")))
				atomic.AddInt64(&sink, int64(Guard(n)))
			}
			atomic.AddInt64(&sink, int64(Deep(100+i*10)))
			if i%4 == 0 {
				Leaves()
			}
		}(i)
	}
	all.Wait()
	fmt.Println("work 800 grow 11840 deep 40 guard 800 fails 400 leaves 10")
}
