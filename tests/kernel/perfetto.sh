# trace -f perfetto: the same hits and spans as trace -j and report -j, drawn.
# shellcheck disable=SC2154 # set by the library
. "$(dirname "$0")/../lib/kernel.sh"
data=$(cd "$TESTS_LIB/../data" && pwd)
seconds=$TESTS_LIB/perfetto

need protoc || skip_all "no protoc (protobuf-compiler)"

# Every packet is known to the description, and a second reading makes an object of it.
drawn() { # FILE.pftrace OUT.json
  protoc --decode=nopwatch.Trace --proto_path="$data" perfetto.proto <"$1" >decoded 2>said || return 1
  ! grep -qE '^ *[0-9]+[: {]' decoded || return 1
  "$seconds" "$1" >"$2"
}

# ---- spans, nested and recursive, against the events themselves ----

"$NOPWATCH" record -q 'counter:step__begin(i, text:string)' 'counter:step__end(i, square)' 'counter:inner__*(depth)' \
  counter:never -o rec.dat -- "$PROGRAMS/counter" 300 >/dev/null
"$NOPWATCH" trace --from rec.dat -f perfetto -o rec.pftrace
ok "every packet is as the description says" drawn rec.pftrace out.json
"$NOPWATCH" trace -j --from rec.dat -o events.json
"$NOPWATCH" report -j rec.dat -o report.json
# agree: out.json, events.json and report.json tell the same; prints slices and how deep they nest
agree() { "$TESTS_LIB/perfetto_agree" >agreed 2>&1 || { comment "$(cat agreed)"; return 1; }; }
ok "slices are the report's spans, to the nanosecond, with the arguments of their hits" agree
is "nested and recursive" "$(cat agreed)" "1200 3"
is "on the thread's own track" "$(python3 -c "import json; print({s['on'] for s in json.load(open('out.json'))['slices']})")" "{'counter'}"

# ---- live, and what is in no span ----

"$NOPWATCH" trace -q -f perfetto -o live.pftrace 'counter:step__end(i, square)' -- "$PROGRAMS/counter" 50 >/dev/null
ok "live" drawn live.pftrace out.json
is "lone probes are instants, with their arguments" \
  "$(python3 -c "import json; d = json.load(open('out.json')); print([i['args'] for i in d['instants']] == [{'i': i, 'square': i * i, 'cpu': a['args']['cpu']} for i, a in enumerate(d['instants'])], len(d['instants']))")" "True 50"
is "hits a second add up" "$(python3 -c "import json; print(sum(c['value'] for c in json.load(open('out.json'))['counters']))")" 50

# ---- groups ----
"$NOPWATCH" trace --from rec.dat -f perfetto --by depth -o by.pftrace
ok "--by" drawn by.pftrace out.json
"$NOPWATCH" report rec.dat --by depth -j -o by.json
is "a track a group, with what report counts in it" \
  "$(python3 -c "
import collections, json
d = json.load(open('out.json'))
print(sorted(collections.Counter((s['name'], s['on']) for s in d['slices'] if s['name'] == 'counter:inner').items()))")" \
  "$(python3 -c "
import json
rows = [json.loads(l) for l in open('by.json')]
print(sorted(((r['span'], 'depth ' + r['group']), r['latency_ns']['count']) for r in rows if r['type'] == 'span' and r['span'] == 'counter:inner'))")"

# ---- spans by something else than the thread, and a thread that moves ----

say() { python3 -c "import json; d = json.load(open('out.json')); print($1)"; }
"$NOPWATCH" trace --from rec.dat -f perfetto --span 'step=counter:step__begin..counter:step__end,key=i' -o keyed.pftrace
ok "spans by an argument" drawn keyed.pftrace out.json
is "are on a track of their own" "$(say "{(s['on'], s['tid']) for s in d['slices']}, len(d['slices'])")" "{('step', None)} 300"
"$NOPWATCH" trace -q -f perfetto 'migrate:*' -o moved.pftrace -- "$PROGRAMS/migrate" 4 50 truth >/dev/null
ok "threads that move between CPUs" drawn moved.pftrace out.json
is "keep their tracks" "$(say "len(d['slices']), len({s['tid'] for s in d['slices']})")" "200 4"
holds_moved="sum(s['args']['start']['cpu'] != s['args']['end']['cpu'] for s in d['slices']) > 0"
[ "$(nproc)" = 1 ] || is "and tell both CPUs" "$(say "$holds_moved")" True

# ---- spans that other threads end, and those of the idle thread ----

cat >sleeper.c <<'C'
#include <time.h>
int main(void)
{
	struct timespec ms = {.tv_nsec = 2000000};

	for (int i = 0; i < 50; i++)
		nanosleep(&ms, 0);
}
C
gcc -O2 sleeper.c -o sleeper
# Some kernels do not record all switches from idle threads (nor does a plain "cat trace" show them), and not on every CPU:
# how many spans there are, the report says.
off='off=sched:sched_switch..sched:sched_switch,key=prev_pid:next_pid'
while_busy 0 "$NOPWATCH" record -q tracepoint:sched:sched_switch -o off.dat -- taskset -c 0 ./sleeper
"$NOPWATCH" trace --from off.dat -f perfetto --span "$off" -o off.pftrace
"$NOPWATCH" report -j --span "$off" -o report.json off.dat
ok "off-CPU time" drawn off.pftrace out.json
holds "which there is" report.json "span('off')['count'] > 20"
is "is ended by whoever goes" "$(say "len([s for s in d['slices'] if s['name'] == 'off'])")" "$(j report.json "span('off')['count']")"
# on a machine that is never idle there are none
"$NOPWATCH" record -q tracepoint:timer:hrtimer_expire_entry tracepoint:timer:hrtimer_expire_exit -d 0.3 -o idle.dat >/dev/null
"$NOPWATCH" trace --from idle.dat -f perfetto -o idle.pftrace
"$NOPWATCH" report -j --by tid -o report.json idle.dat
ok "spans of the idle threads" drawn idle.pftrace out.json
# (where those of two CPUs overlap, one is on a track of the span's name)
is "are there, if these were there" "$(say "sum(s['tid'] in (0, None) for s in d['slices'])")" \
  "$(j report.json "sum(s['count'] for s in of('span') if s['group'] == '0')")"

# ---- filters mean what they mean in stat ----

"$NOPWATCH" trace --from rec.dat -f perfetto --filter 'i < 100' -o some.pftrace
"$NOPWATCH" report -j rec.dat --filter 'i < 100' -o report.json
ok "filtered" drawn some.pftrace out.json
is "as many spans as stat counts" "$(say "len([s for s in d['slices'] if s['name'] == 'counter:step'])")" \
  "$(python3 -c "import json; print([s['count'] for l in open('report.json') for s in [json.loads(l)] if s['type'] == 'span' and s['span'] == 'counter:step'][0])")"

# ---- the scheduler's events ----

"$NOPWATCH" record -q tracepoint:sched:sched_switch 'counter:*' -o rec.dat -- "$PROGRAMS/counter" 20 1000 >/dev/null
"$NOPWATCH" trace --from rec.dat -f perfetto -o sched.pftrace
"$NOPWATCH" trace -j --from rec.dat -o events.json
ok "with sched_switch" drawn sched.pftrace out.json
is "every switch, when and where it was" "$(say "sorted((s['time'], s['cpu']) for s in d['sched'] if s['kind'] == 4)")" \
  "$(python3 -c "import json; print(sorted((e['time_ns'], e['cpu']) for l in open('events.json') for e in [json.loads(l)] if e['type'] == 'event' and e['probe'] == 'sched:sched_switch'))")"

# ---- hostile names and values, cut files, wrong places ----

cat >evil.c <<'C'
#include <sys/prctl.h>
#include <sys/sdt.h>
int main(void)
{
	const char *text = "</script><img onerror=1>\xff\xfe\x1b]0;x\a";

	prctl(PR_SET_NAME, "\x1b]0;\xff");
	DTRACE_PROBE1(evil, one, text);
}
C
gcc -O1 evil.c -o evil
"$NOPWATCH" trace -q -f perfetto 'evil:one(text:string)' -o evil.pftrace -- ./evil
ok "bytes that are no text are escaped" drawn evil.pftrace out.json
is "and nothing else" "$(say "d['instants'][0]['args']['text']")" '</script><img onerror=1>\xff\xfe\x1b]0;x\x07'
head -c $(($(stat -c %s rec.pftrace) / 2)) rec.pftrace >half.pftrace
"$seconds" half.pftrace >out.json
is "half a file has half the spans" "$(say "400 < len(d['slices']) < 800")" True
python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$NOPWATCH" trace --from rec.dat -f perfetto >said 2>&1
is "a terminal is refused" "$?" 2
has "with what to do" "$(cat said)" 'write it to a file: -o FILE'
"$NOPWATCH" trace --from rec.dat --span 'a=counter:step__begin..counter:step__end' >/dev/null 2>said
is "spans are not for lines" "$?" 2
has "but for pictures" "$(cat said)" 'use -f perfetto'
"$NOPWATCH" stat --from rec.dat -f perfetto >/dev/null 2>said
is "nor pictures for stat" "$?" 2
unchanged
finish
