# Go: its own calling convention, and returns by instructions, as its stacks move.
. "$(dirname "$0")/../lib/kernel.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "written for x86_64"
"$NOPWATCH" stat --dry-run 'func:libc:malloc,returns=insn' 2>&1 | grep -q 'without a disassembler' && skip_all "built without capstone"

# what a Go program looks like from outside: its build information, and arguments in ax and bx
program() {
  cat <<'END' | sed "s/VERSION/$1/; s/LENGTH/${#1}/"
	.section .go.buildinfo, "aw"
	.ascii "\377 Go buildinf:"
	.byte 8, 2
	.zero 16
	.byte LENGTH
	.ascii "VERSION"
	.text
	.globl main
	.type "main.Work", @function
"main.Work":
	lea 1(%rax,%rbx), %rax
	ret
	.size "main.Work", . - "main.Work"
	.type main, @function
main:
	push %r12
	mov $50, %r12d
1:	mov %r12, %rax
	mov $1000, %ebx
	mov $7, %edi
	push %rbx
	push %rax
	call "main.Work"
	add $16, %rsp
	dec %r12d
	jnz 1b
	xor %eax, %eax
	pop %r12
	ret
	.size main, . - main
	.section .note.GNU-stack, "", @progbits
END
}
program go1.19.8 | gcc -o new -x assembler -
program go1.16 | gcc -o old -x assembler -
program something | gcc -o unknown -x assembler -

"$NOPWATCH" stat -j 'func:./new:main.Work(n,m)' 'uretprobe:./new:main.Work(r)' -o out.json -- ./new 2>err
is "the program lives" $? 0
holds "since 1.17 arguments are in registers" out.json \
  "[probe('uprobe:main.Work')['args'][n][x] for n in 'nm' for x in ('min', 'max')] == [1, 50, 1000, 1000]"
holds "the result, too" out.json "[probe('uretprobe:main.Work')['args']['r'][x] for x in ('min', 'max')] == [1002, 1051]"
holds "a call is timed" out.json "span('main.Work')['count'] == 50"
hasnt "not by a return probe" "$("$NOPWATCH" stat --dry-run func:./new:main.Work 2>&1)" "'r:"
"$NOPWATCH" stat -j 'uprobe:./old:main.Work(n,m)' -o out.json -- ./old 2>err
holds "before, they are on the stack" out.json \
  "[probe('uprobe:main.Work')['args'][n][x] for n in 'nm' for x in ('min', 'max')] == [1, 50, 1000, 1000]"
"$NOPWATCH" stat 'uprobe:./unknown:main.Work(n,m)' -- ./unknown >/dev/null 2>err
has "where the version is not known, neither is said to be right" "$(cat err)" 'which version of Go built the file is not known'

if need go; then
  cat >work.go <<'END'
package main

import (
	"fmt"
	"sync"
)

var sink int

//go:noinline
func Work(n int, name string) int { return n*2 + len(name) }

//go:noinline
func Grow(n int) int {
	var room [256]byte
	if n == 0 {
		return 0
	}
	room[n%256] = byte(n)
	return Grow(n-1) + int(room[n%256])
}

func main() {
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			for n := 0; n < 50; n++ {
				sink += Work(n, "four") + Grow(200)
			}
			all.Done()
		}()
	}
	all.Wait()
	fmt.Println("done")
}
END
  GOCACHE=$PWD/cache GOPATH=$PWD/path GO111MODULE=off go build -o work work.go
  said=$("$NOPWATCH" stat -j 'func:./work:main.Work(n,name,len)' 'uretprobe:./work:main.Work(r)' func:./work:main.Grow -o out.json -- ./work 2>err)
  is "a program of the toolchain's lives, while its stacks grow" "$? $said" "0 done"
  holds "its arguments are those of the source" out.json \
    "[probe('uprobe:main.Work')['args'][n][x] for n in ('n', 'len') for x in ('min', 'max')] == [0, 49, 4, 4] and probe('uprobe:main.Work')['hits'] == 200"
  holds "so are its results" out.json "[probe('uretprobe:main.Work')['args']['r'][x] for x in ('min', 'max')] == [4, 102]"
else
  skip "a program of the toolchain's" "no Go toolchain"
fi

unchanged
finish
