# Go: its own calling convention, and returns by instructions, as its stacks move.
programs=$(cd "$(dirname "$0")/../programs" && pwd)
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
out=$("$NOPWATCH" stat -j 'func:./old:main.Work' -o out.json -- ./old 2>&1)
has "nor is which goroutine it is: calls are counted, not timed" "$out" "the calls of 'main.Work' are counted, but not timed"
holds "so there is no span that could be wrong" out.json \
  "probe('uprobe:main.Work')['hits'] == probe('uretprobe:main.Work')['hits'] == 50 and not of('span')"
"$NOPWATCH" stat 'uprobe:./unknown:main.Work(n,m)' -- ./unknown >/dev/null 2>err
has "where the version is not known, neither is said to be right" "$(cat err)" 'which version of Go built the file is not known'

if need go; then
  cp "$programs/goroutines.go" work.go
  GOCACHE=$PWD/cache GOPATH=$PWD/path GO111MODULE=off go build -o work work.go
  said=$("$NOPWATCH" stat -j 'func:./work:main.Work(n,name,len)' 'uretprobe:./work:main.Work(r)' -o out.json -- ./work 2>err)
  is "a program of the toolchain's lives, while its stacks grow" "$? $said" "0 work 800 grow 11840 deep 40 guard 800 fails 400 leaves 10"
  holds "its arguments are those of the source" out.json \
    "[probe('uprobe:main.Work')['args'][n][x] for n in ('n', 'len') for x in ('min', 'max')] == [0, 19, 4, 4] and probe('uprobe:main.Work')['hits'] >= 800"
  holds "so are its results" out.json "[probe('uretprobe:main.Work')['args']['r'][x] for x in ('min', 'max')] == [4, 42]"

  # what the source says of calls, whatever threads and stacks they were on
  specs=()
  for name in Work Grow Deep Guard Fails Leaves; do specs+=("func:$PWD/work:main.$name"); done
  # A hit of an entry more than there are calls was a call that began once more. That it would, nopwatch sees, unless Go's scheduler
  # asked for it between the probe and the function's look at its stack: then it counts as abandoned.
  known() {
    holds "$1: each call ends with its own return" "$2" \
      "[span('main.' + n)['latency_ns']['count'] for n in ('Work', 'Grow', 'Deep', 'Guard', 'Fails', 'Leaves')] == [800, 11840, 40, 800, 400, 0]"
    holds "$1: no end is without a start, and no start but those that a panic or Goexit left" "$2" \
      "all(s['unmatched_ends'] == 0 and s['key'] == 'goroutine' and probe('uprobe:' + s['span'])['hits'] - s['repeated'] - {'Work': 800, 'Grow': 11840, 'Deep': 40, 'Guard': 800, 'Fails': 800, 'Leaves': 10}[s['span'][5:]] == s['abandoned'] + s['unmatched_starts'] - {'main.Fails': 400, 'main.Leaves': 10}.get(s['span'], 0) >= 0 for s in of('span'))"
    holds "$1: what begins once more, since its stack has to grow, is counted" "$2" \
      "all(probe('uprobe:' + s['span'])['hits'] == probe('uretprobe:' + s['span'])['hits'] + s['repeated'] + s['abandoned'] + s['unmatched_starts'] for s in of('span')) and span('main.Grow')['repeated'] > 0"
    holds "$1: a call is not shorter than what it calls" "$2" \
      "span('main.Deep')['latency_ns']['sum'] <= span('main.Grow')['latency_ns']['sum'] and span('main.Guard')['latency_ns']['sum'] >= span('main.Fails')['latency_ns']['sum'] and span('main.Work')['latency_ns']['sum'] >= 280 * 10**6"
  }
  "$NOPWATCH" stat -j "${specs[@]}" -b 32M -o out.json -- ./work >/dev/null
  known live out.json
  "$NOPWATCH" record -b 32M -o work.dat "${specs[@]}" -- ./work >/dev/null 2>&1
  "$NOPWATCH" report -j work.dat >out.json
  known recorded out.json
  # Most of them end on another thread than they began on; those that never end are marks.
  "$NOPWATCH" trace -f perfetto -o work.pftrace --from work.dat
  "$TESTS_LIB/perfetto" work.pftrace >drawn.json
  is "a timeline has each call, as long as the report has it" \
    "$(python3 -c "
import collections, json
d, took = json.load(open('drawn.json')), collections.defaultdict(list)
for s in d['slices']: took[s['name']].append(s['end'] - s['start'])
print(sorted((name, len(t), sum(t)) for name, t in took.items()))
gone = collections.Counter(i['name'] for i in d['instants'] if i['args'].get('state') in ('abandoned', 'unmatched'))
open_ = collections.Counter(s['name'] for s in d['unfinished'])
print(sorted((gone + open_).items()))")" \
    "$(python3 -c "
import json
spans = [r for r in map(json.loads, open('out.json')) if r['type'] == 'span']
print(sorted((s['span'], s['latency_ns']['count'], s['latency_ns']['sum']) for s in spans if s['count']))
print(sorted((s['span'], s['abandoned'] + s['unmatched_starts']) for s in spans if s['abandoned'] + s['unmatched_starts']))")"
  "$NOPWATCH" stat "${specs[@]}" -b 32M -- ./work >text
  # Nothing that is probed is called in it, so whatever others do on its threads while it sleeps, its own two hits are all that it
  # has paid for; one that began once more has had a hit more.
  "$NOPWATCH" stat -j --net "func:$PWD/work:main.Work" -b 32M -o net.json -- ./work >/dev/null
  holds "--net takes off what a call's own goroutine has paid" net.json \
    "(lambda s: s['probe_cost_ns']['count'] == 800 and (s['probe_cost_ns']['max'] == s['probe_cost_ns']['min'] or s['repeated']))(span('main.Work'))"
  "$NOPWATCH" stat --states "func:$PWD/work:main.Work" -- ./work >out.txt 2>err
  is "--states of Go functions alone is refused" "$? $(grep -c 'while a goroutine waits, its thread runs others' err)" "2 1"
  "$NOPWATCH" stat --states "func:$PWD/work:main.Work" 'tracepoint:syscalls:sys_enter_futex' 'tracepoint:syscalls:sys_exit_futex' -b 32M -- ./work >out.txt 2>err
  has "beside other spans they are not split, and text says why" "$(cat out.txt)" '^main.Work: [0-9]+ calls are not in there: while a goroutine waits'
  has "text says so" "$(cat text)" '^main.Grow: [0-9]+ hits of the entry were of calls that began once more'
else
  skip "a program of the toolchain's" "no Go toolchain"
fi

unchanged
finish
