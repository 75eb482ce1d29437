# nest=outer and --main-thread live, and in recordings, beside what the events themselves say.
. "$(dirname "$0")/../lib/kernel.sh"
cp "$PROGRAMS/counter" counter

# ---- nest=outer: a recursion of 5, 40 times ----
span='in=counter:inner__entry..counter:inner__return,nest=outer'
"$NOPWATCH" record -q -o rec.dat 'counter:inner__*' -- ./counter 40 100 5 >/dev/null
"$NOPWATCH" trace -q -j --from rec.dat >events.json
"$NOPWATCH" report -j --span "$span" rec.dat >out.json
# by depth, in the order of time: what the outermost pairs took
wanted=$(python3 - <<'PY'
import json
depth = total = count = longest = 0
for line in open("events.json"):
    e = json.loads(line)
    if e["type"] != "event":
        continue
    if e["probe"].endswith("entry"):
        if depth == 0:
            began = e["time_ns"]
        depth += 1
    else:
        depth -= 1
        if depth == 0:
            count, total, longest = count + 1, total + e["time_ns"] - began, max(longest, e["time_ns"] - began)
print((count, total, longest))
PY
)
is "the outermost spans are those of the events" "$(j out.json "(lambda l: (l['count'], l['sum'], l['max']))(of('span')[0]['latency_ns'])")" "$wanted"
numbers="(lambda s: (s['count'], s['inner'], s['nested'], s['unmatched_starts'], s['unmatched_ends'], s['abandoned']))(of('span')[0])"
is "the starts inside are neither spans nor unmatched" "$(j out.json "$numbers")" "(40, 160, 0, 0, 0, 0)"
for more in "--by tid" "--states" "--slower 1ns" "--slowest 3" "--open" "--net"; do
  # shellcheck disable=SC2086 # options
  "$NOPWATCH" stat -q -j $more --span "$span" 'counter:inner__*' -o out.json -- ./counter 40 0 5 >/dev/null
  is "with $more" "$(j out.json "$numbers")" "(40, 160, 0, 0, 0, 0)"
done
"$NOPWATCH" stat -q -j --slower 1ns --span "$span" 'counter:inner__*' -o out.json -- ./counter 40 0 5 >/dev/null
is "one line for each outermost span" "$(j out.json "len(of('slow'))")" 40
"$NOPWATCH" stat -q -j --span "$span" --filter 'depth != 3' 'counter:inner__entry(depth)' 'counter:inner__return(depth)' -o out.json -- ./counter 40 0 5 >/dev/null
is "a filter that drops what is inside" "$(j out.json "$numbers")" "(40, 120, 0, 0, 0, 0)"
"$NOPWATCH" stat -q -j --span "$span" --filter 'depth != 5' 'counter:inner__entry(depth)' 'counter:inner__return(depth)' -o out.json -- ./counter 40 0 5 >/dev/null
is "a filter that drops the outermost: what is inside is not measured in its place" "$(j out.json "$numbers")" "(0, 160, 0, 0, 0, 0)"
has "text tells of them" "$("$NOPWATCH" report --span "$span" rec.dat)" '160 starts were inside another span of the same key'
"$NOPWATCH" stat --span "m=uprobe:./counter:main..uretprobe:./counter:main,nest=outer" -- ./counter 1 >out 2>&1
has "not for functions" "$? $(cat out)" '^2 .*told apart by their stack pointers, so nest= is not for them'

# ---- --main-thread ----
cat >both.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>
static void hits(int count)
{
	for (int i = 0; i < count; i++) {
		DTRACE_PROBE1(both, work__start, i);
		DTRACE_PROBE1(both, work__done, i);
	}
}
static void *work(void *arg)
{
	pid_t child;
	hits(100);
	if (arg && (child = fork()) == 0) { /* a thread that is not the main one forks: the child's only thread is */
		hits(7);
		_exit(0);
	}
	if (arg)
		waitpid(child, NULL, 0);
	return NULL;
}
int main(void)
{
	pthread_t thread[2];
	hits(10);
	for (long i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	hits(5);
	return 0;
}
C
if gcc -O1 both.c -o both -pthread; then
  seen="(lambda p, s: (p['hits'], s['count'], s['unmatched_starts']))(of('probe')[0], of('span')[0])"
  "$NOPWATCH" stat -q -j 'both:*' -o out.json -- ./both
  is "all threads, and the child" "$(j out.json "$seen")" "(222, 222, 0)"
  "$NOPWATCH" stat -q -j --main-thread 'both:*' -o out.json -- ./both
  is "the main threads of both processes" "$(j out.json "$seen")" "(22, 22, 0)"
  "$NOPWATCH" stat -q -j --main-thread -a 'both:*' -o out.json -- ./both
  is "of every process" "$(j out.json "$seen")" "(22, 22, 0)"
  "$NOPWATCH" stat -q -j --main-thread --by tid 'both:*' -o out.json -- ./both
  is "hits one by one" "$(j out.json "sorted(p['hits'] for p in of('probe'))")" "[7, 7, 15, 15]"
  NOPWATCH_FEATURES=-set_event_pid,-multi_site "$NOPWATCH" stat -q -j --main-thread 'both:*' -o out.json -- ./both
  is "an old kernel" "$(j out.json "$seen")" "(22, 22, 0)"
  "$NOPWATCH" record -q -o both.dat 'both:*' -- ./both
  "$NOPWATCH" report -j --main-thread both.dat >out.json
  is "a recording" "$(j out.json "$seen")" "(22, 22, 0)"
  "$NOPWATCH" trace -q -j --main-thread --from both.dat >out.json
  holds "its events" out.json "len(of('event')) == 44 and all(e['tid'] == e['pid'] for e in of('event'))"
else
  skip "--main-thread" "no C compiler"
fi
finish
