# --span PROBE,duration=ARG:UNIT live: the time-outs that Python asks poll() for, which strace sees too; and a program that
# measures itself in seconds as a floating-point number.
. "$(dirname "$0")/../lib/kernel.sh"

cat >polls.py <<'PY'
import select
poll = select.poll()
for timeout in [3, 1, 20, 7, 0, -1] + 200 * [2]:
    poll.poll(timeout) if timeout >= 0 else None
PY
libc=$(python3 -c 'print(next(line.split()[-1] for line in open("/proc/self/maps") if "/libc" in line and "x" in line.split()[1]))')
spec="uprobe:$libc:poll(fds, n, timeout:s32)"
"$NOPWATCH" stat -j --span 'poll=*:poll,duration=timeout:ms' "$spec" -- python3 polls.py >out.json 2>err
if strace -qq -e trace=poll -o log python3 polls.py 2>/dev/null; then
  is "the time-outs of poll() are strace's" "$(j out.json "(lambda d: (d['count'], d['sum'] // 10**6, d['max'] // 10**6))(of('span')[0]['latency_ns'])")" \
    "$(sed -n 's/^poll(.*, \([0-9]*\)) *=.*/\1/p' log | awk '{ n++; sum += $1; if ($1 > max) max = $1 } END { printf "(%d, %d, %d)", n, sum, max }')"
else
  skip "the time-outs of poll()" "strace may not trace"
fi
holds "none of them is invalid" out.json "of('span')[0]['invalid'] == 0"

cat >seconds.c <<'C'
#include <sys/sdt.h>
static volatile double took;
int main(void)
{
	static const double values[] = {0.25, 0.001, -1, 1e30, 0.0};
	for (int i = 0; i < 500; i++) {
		took = values[i % 5];
		__asm__ volatile("1: nop\n"
				 ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"
				 ".4byte 3f-2f, 5f-4f, 3\n2: .asciz \"stapsdt\"\n3: .balign 4\n4: .8byte 1b, 0, 0\n"
				 ".asciz \"self\"\n.asciz \"done\"\n.asciz \"8f@(%0)\"\n5: .balign 4\n.popsection"
				 :: "r"(&took) : "memory");
	}
	return 0;
}
C
if [ "$(uname -m)" = x86_64 ] && gcc -O1 -no-pie seconds.c -o seconds; then
  "$NOPWATCH" stat -j --span 'self=done,duration=arg0:s' 'self:done' -- ./seconds >out.json
  holds "seconds as a floating-point number" out.json "(lambda s: (s['count'], s['invalid'], s['latency_ns']['max'], s['latency_ns']['sum']))(of('span')[0]) \
== (300, 200, 250000000, 25100000000)"
  "$NOPWATCH" record -q -o rec.dat 'self:done' -- ./seconds
  "$NOPWATCH" report -j --span 'self=done,duration=arg0:s' rec.dat >again.json
  is "a recording says the same" "$(j again.json "(lambda s: (s['count'], s['invalid'], s['latency_ns']['sum']))(of('span')[0])")" "(300, 200, 25100000000)"
  "$NOPWATCH" record -q -o slow.dat --until 'done,duration=arg0:s > 200ms' --times 1 'self:done' -- ./seconds >said 2>&1
  has "the flight recorder" "$(cat said; ls slow*.dat)" 'slow.dat'
  "$NOPWATCH" stat -j --net --states --span 'self=done,duration=arg0:s' 'self:done' -- ./seconds >out.json
  holds "no overhead is inside, and no states are known" out.json "(lambda s: (s['count'], s['clamped'], s['unsplit'], s['latency_ns']['sum']))(of('span')[0]) \
== (300, 0, 300, 25100000000)"
else
  skip "seconds as a floating-point number" "the assembler here is of x86_64"
fi
finish
