# tracepoint:SYSTEM:EVENT: what the kernel's own events say is what the program did.
. "$(dirname "$0")/../lib/kernel.sh"

CALLS=$PROGRAMS/calls

# Is a session armed that has none but the kernel's events?
enabled() {
  of_instances events/sched/sched_process_exit/enable | grep -q 1
}

# ---- processes ----

"$NOPWATCH" trace -j 'tracepoint:sched:sched_process_e*' 'tracepoint:task:task_*' tracepoint:sched:sched_process_fork \
  -o out.json -- "$CALLS" 1 20 2>/dev/null
holds "an exec" out.json \
  "[e['args']['filename'] for e in of('event') if e['probe'] == 'sched:sched_process_exec'] == ['$CALLS']"
holds "forks, with numbers and names" out.json \
  "len([e for e in of('event') if e['probe'] == 'sched:sched_process_fork' and e['args']['child_comm'] == 'calls' and e['args']['parent_pid'] == e['pid']]) == 20"
holds "events that the session needs itself are the user's, too" out.json \
  "sorted((e['args']['oldcomm'], e['args']['newcomm']) for e in of('event') if e['probe'] == 'task:task_rename' and 'kid' in e['args']['newcomm']) == sorted(('calls', 'kid-%d' % i) for i in range(20))"
holds "and the session still has them: who exits has the name that it gave itself" out.json \
  "sorted(e['comm'] for e in of('event') if e['probe'] == 'sched:sched_process_exit') == sorted(['calls'] + ['kid-%d' % i for i in range(20)]) and all(e['comm'] == e['args']['comm'] for e in of('event') if e['probe'] == 'sched:sched_process_exit')"
holds "a renaming is by the thread that still has its old name" out.json \
  "all(e['comm'] == e['args']['oldcomm'] for e in of('event') if e['probe'] == 'task:task_rename' and 'kid' in e['args']['newcomm'])"
holds "all in the order of time" out.json "[e['time_ns'] for e in of('event')] == sorted(e['time_ns'] for e in of('event'))"
unchanged "nothing is left"

"$NOPWATCH" stat -j 'tracepoint:sched:sched_process_fork(child_pid)' tracepoint:sched:sched_process_exit \
  --span 'run=tracepoint:task:task_rename..tracepoint:sched:sched_process_exit' tracepoint:task:task_rename \
  -o out.json -- "$CALLS" 1 30
holds "a span that ends with its thread" out.json \
  "span('run')['count'] == 31 and span('run')['unmatched_starts'] == 0" # 30 kids, and the exec's own renaming
holds "a field's distribution" out.json \
  "probe('sched:sched_process_fork')['args']['child_pid']['count'] == 30 and probe('sched:sched_process_exit')['hits'] == 31"

# ---- in the kernel's own words ----

words=$TRACEFS/instances/tests_words_$$
mkdir "$words"
echo 16384 >"$words/buffer_size_kb" # on a busy machine there are 1.4 MiB a second: what is overwritten could not be compared
echo 1 >"$words/events/sched/enable"
"$NOPWATCH" trace -j 'tracepoint:sched:sched_switch' 'tracepoint:sched:sched_process_*' -o out.json -- "$CALLS" 1 20
echo 0 >"$words/events/sched/enable"
"$NOPWATCH" trace 'tracepoint:sched:sched_switch' -d 0.2 >out.text
"$NOPWATCH" trace 'tracepoint:sched:sched_switch(prev_state, prev_comm)' -d 0.2 >>out.text
sed -n 's/^.*: sched_[a-z_]*: //p' "$words/trace" >said
rmdir "$words"
holds "the numbers are there, and the kernel's text beside them" out.json \
  "len(of('event')) > 20 and all(isinstance(e['args']['prev_state'], int) for e in of('event') if e['probe'] == 'sched:sched_switch')"
holds "what the kernel prints, flags and all" out.json \
  "(lambda said: [e['text'] for e in of('event') if e['text'] not in said])({line.rstrip() for line in open('said')}) == []"
has "a state by its name" "$(cat out.text)" 'sched:sched_switch prev_comm=.* prev_state=[RSDI]\+? ==> next_comm='
has "of a field that was asked for, too" "$(cat out.text)" 'sched:sched_switch prev_state=[RSDI]\+? prev_comm="'
"$NOPWATCH" record -q tracepoint:sched:sched_switch -d 0.3 -o trace.dat
"$NOPWATCH" trace --from trace.dat >out.text
has "a recording's formats are not trusted: numbers" "$(cat out.text)" 'prev_comm=".*" prev_pid=[0-9]+ prev_prio=[0-9]+ prev_state=[0-9]+ next_comm="'

# ---- strings of system calls ----

# tests/vm has kernels that can; with kprobes or event probes this one can, too.
spec='tracepoint:syscalls:sys_enter_openat(filename:string)'
if "$NOPWATCH" trace -j "$spec" -o out.json -- "$PROGRAMS/paths" said 2>err; then
  ok "strings of system calls are what the program opens, or it is told which are not" python3 - <<'PY'
import json
events = [json.loads(line) for line in open("out.json")]
got = [(e["args"]["filename"], e.get("fault", e.get("cut"))) for e in events if e["type"] == "event"]
said = [line.rstrip("\n").split(" ", 1) for line in open("said")]
first = [name for name, _ in got].index("/none/0")
for (kind, path), (name, missing) in zip(said, got[first:]):
    assert name == path or (kind != "plain" and missing), (path, name)
PY
else
  has "where strings of system calls cannot be had, it is said what would be missed" "$(tr '\n' ' ' <err)" \
    'the strings of system calls cannot be fetched here: .*they miss what the library itself and the dynamic linker open'
fi
has "a dry run prints the event that takes the place of the call's" "$("$NOPWATCH" stat --dry-run -d 1 "$spec" 2>&1)" \
  "echo '[ep]:nopwatch_.* (syscalls\.sys_enter_openat|__.*_sys_openat) .*dynamic_events|echo '[ep]:nopwatch_.*kprobe_events|cannot be fetched here"
unchanged "nothing is left of strings of system calls"

# ---- two threads in one event ----

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
# Some kernels do not record all switches from idle threads (nor does a plain "cat trace" show them): so the
# sleeper is where nearly all are told, and shares its CPU with a loop. A span whose end the kernel has
# left out is counted as such, so that each switch away is one of both.
everywhere=$(taskset -cp $$ | sed 's/.*: //')
if on_telling_cpus; then
  cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
  off='off=sched:sched_switch..sched:sched_switch,key=prev_pid:next_pid'
  counted() {
    while_busy "$cpu" "$NOPWATCH" stat -j 'tracepoint:sched:sched_switch(prev_pid, next_pid, prev_comm)' --span "$off" --by prev_comm \
      -o out.json -- taskset -c "$cpu" ./sleeper
  }
  recorded() {
    while_busy "$cpu" "$NOPWATCH" record -q 'tracepoint:sched:sched_switch(prev_pid, next_pid, prev_comm)' -o trace.dat -- taskset -c "$cpu" ./sleeper
    "$NOPWATCH" report -j trace.dat --span "$off" --by prev_comm -o out.json
  }
  sleeper='*[[r for r in of(kind) if r["group"] == "sleeper" and "interval" not in r][0] for kind in ("span", "probe")]'
  nearly_all() { [ "$(j out.json "(lambda s, p: s['count'] >= 48 and p['hits'] >= 51)($sleeper)")" = True ]; }
  measured nearly_all counted
  holds "off-CPU time: the event that begins a span ends another thread's" out.json "(lambda s, p: s['key'] == 'prev_pid:next_pid' \
    and s['count'] + s['abandoned'] + s['unmatched_starts'] == p['hits'] >= 51 and s['count'] >= 48 \
    and s['latency_ns']['sum'] >= s['count'] * 2000000 and s['unmatched_ends'] == 0)($sleeper)"
  measured nearly_all recorded
  holds "the same from a recording" out.json "(lambda s, p: s['count'] + s['abandoned'] + s['unmatched_starts'] == p['hits'] >= 51 \
    and s['count'] >= 48 and s['latency_ns']['sum'] >= s['count'] * 2000000)($sleeper)"
  taskset -cp "$everywhere" $$ >/dev/null
else
  skip "off-CPU time" "this kernel leaves out switches on every CPU"
fi

# ---- system calls ----

if [ -d "$TRACEFS/events/syscalls" ]; then
  "$NOPWATCH" trace -j 'tracepoint:syscalls:sys_*_close(fd, ret)' -o out.json -- "$CALLS" 500 0
  holds "arguments of a system call" out.json \
    "[e['args']['fd'] for e in of('event') if e['args'].get('fd', 0) >= 1000000] == list(range(1000000, 1000500))"
  holds "and what it returned" out.json "[e['args']['ret'] for e in of('event') if 'ret' in e['args']].count(-9) == 500"

  "$NOPWATCH" record -q 'tracepoint:syscalls:sys_*_close' tracepoint:sched:sched_process_exit -o trace.dat -- "$CALLS" 2000 3
  "$NOPWATCH" report -j trace.dat -o out.json
  holds "recorded and reported" out.json \
    "probe('sched:sched_process_exit')['hits'] == 4 and probe('syscalls:sys_exit_close')['hits'] >= 2000"
  holds "a call and its return are a span" out.json \
    "span('syscalls:close')['count'] == probe('syscalls:sys_enter_close')['hits'] == probe('syscalls:sys_exit_close')['hits']"
  "$NOPWATCH" trace -j --from trace.dat -o again.json
  holds "and their fields are there" again.json \
    "[e['args']['fd'] for e in of('event') if e['args'].get('fd', 0) >= 1000000] == list(range(1000000, 1002000))"
  if need trace-cmd; then
    is "trace-cmd reads the same" "$(trace-cmd report -i trace.dat 2>/dev/null | grep -c 'sys_enter_close.*0x000f4[2-9a]')" 2000
  else
    skip "trace-cmd reads the same" "no trace-cmd"
  fi

  "$NOPWATCH" stat -j --span 'close=tracepoint:syscalls:sys_enter_close..tracepoint:syscalls:sys_exit_close' \
    -o out.json -- "$CALLS" 1000 0
  holds "--span names the events" out.json "span('close')['count'] >= 1000"
  "$NOPWATCH" stat -j 'tracepoint:syscalls:sys_exit_close' --by ret -o out.json -- "$CALLS" 1000 0
  holds "--by a field" out.json "[r['hits'] for r in of('probe') if r.get('group') == '-9'] == [1000]"
  if need perf && perf stat -e syscalls:sys_enter_close true >/dev/null 2>&1; then
    "$NOPWATCH" stat -j tracepoint:syscalls:sys_enter_close --by comm -o out.json -- \
      perf stat -x, -o perf.csv -e syscalls:sys_enter_close "$CALLS" 3000 0
    holds "perf counts the same" out.json \
      "[r['hits'] for r in of('probe') if r.get('group') == 'calls'] == [$(awk -F, '/sys_enter_close/ { print $1 }' perf.csv)]"
  else
    skip "perf counts the same" "perf cannot be used"
  fi
else
  skip "system calls" "the kernel has no events for them"
fi

# ---- beside probes, of one process ----

"$NOPWATCH" trace -j counter:step__begin tracepoint:sched:sched_process_exit -o out.json -- "$PROGRAMS/counter" 10 >/dev/null
holds "beside USDT probes, in order" out.json \
  "[e['probe'] for e in of('event')] == 10 * ['counter:step__begin'] + ['sched:sched_process_exit']"

"$SERVER" -t 2 -p 200 >/dev/null & server=$!
begun $server "$SERVER"
wait_for has_threads $server 2
"$NOPWATCH" trace -j 'tracepoint:sched:sched_switch(prev_pid, next_pid, prev_comm)' -p $server -o out.json & run=$!
wait_for enabled
for i in {1..50}; do /bin/true; done # gone before anybody can look them up
is "no definition is made for it" "$(session_probes "nopwatch_${run}_[^ /]*")" ""
is "and it is enabled in our instance only" "$(cat "$TRACEFS/events/sched/sched_switch/enable")" 0
each_answers $server 20
kill $run
wait $run
holds "-p: the process that is running, whoever it gives way to" out.json \
  "len(of('event')) > 10 and all(e['pid'] == $server and e['args']['prev_pid'] == e['tid'] for e in of('event'))"
unchanged "nothing is left"

# ---- what cannot be ----

said=$("$NOPWATCH" stat tracepoint:sched:sched_wakup -d 1 2>&1)
has "an event that is not there" "$? $said" "^1 nopwatch: the kernel has no event 'tracepoint:sched:sched_wakup'"
has "and what is near" "$said" 'did you mean tracepoint:sched:sched_wakeup'
said=$("$NOPWATCH" stat 'tracepoint:sched:sched_switch(nothing)' -d 1 2>&1)
has "a field that is not there" "$? $said" "^2 nopwatch: .* has no field 'nothing'"
has "and those that are" "$said" 'fields are prev_comm, prev_pid'

# Functions of the kernel: tests/vm/guest_kernel times some, on kernels that have kprobe_events.
said=$(NOPWATCH_FEATURES=-kprobe_events "$NOPWATCH" stat func:kernel:vfs_read -d 1 2>&1)
has "a function of the kernel, where none can be probed" "$? $said" "^1 nopwatch: kprobe:vfs_read: this kernel has no kprobe_events"
has "and what remains" "$said" 'tracepoint:syscalls:sys_\*_read times read'
unchanged "nothing is tried"

# ---- a violent end ----

"$NOPWATCH" stat 'tracepoint:sched:sched_w*' -p $server >/dev/null 2>&1 & run=$!
wait_for enabled
kill -9 $run
wait $run 2>/dev/null
"$NOPWATCH" clean >/dev/null
kill $server
unchanged
finish
