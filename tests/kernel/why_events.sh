# why: the kernel's side and events of others. Every cause is there for real, and taken away again.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/why.sh
. "$TESTS_LIB/why.sh"
target=$PROGRAMS/target
site=$("$NOPWATCH" list -j "$target" target:tick | j /dev/stdin "hex(first['offset'])")
counter=$("$NOPWATCH" list -j "$target" target:tick | j /dev/stdin "hex(first['semaphore_offset'])")
spec="usdt:$target:target:tick"
instance=$TRACEFS/instances/tests_why_$$

define() { echo "p:$1 $target:$2" >>"$TRACEFS/uprobe_events"; }
enable() { echo 1 >"$1/events/$2/enable"; }
take_away() {
  local event
  for event in "$@"; do
    grep -q ":$event " "$TRACEFS/uprobe_events" || continue
    for dir in "$instance" "$TRACEFS"; do
      [ -e "$dir/events/$event/enable" ] && echo 0 >"$dir/events/$event/enable"
    done
    echo "-:$event" >>"$TRACEFS/uprobe_events"
  done
}

start plain
mkdir "$instance"

# the place is held by another event
define others/bare "$site"
why -d 0.4 -p $pid "$spec"
named "the place, taken by an event that is not even enabled" 3 False place-taken
remedied "without it the probe fires" place-taken
define others/bare "$site"
enable "$instance" others/bare
why -d 0.4 -p $pid "$spec"
named "a closed semaphore: the event lacks its reference counter" 3 False semaphore
names "and it holds the place" place-taken
advises "how to define it" "echo 'p:others/bare $target:$site\($counter\)' >> "
remedied "defined so it is open" semaphore
take_away others/bare
define "others/p_target_bcc_4194000" "$site"
enable "$instance" others/p_target_bcc_4194000
why -d 0.4 -p $pid "$spec"
named "a stale event of a dead tool" 3 False stale-event
says "and whose" "process 4194000 is gone"
remedied "and how to be rid of it" stale-event
take_away others/p_target_bcc_4194000
define others/clash "$site(0x$(printf %x $((counter + 2))))"
enable "$instance" others/clash
why -d 0.4 -p $pid "$spec"
named "the place, taken with another semaphore" 3 False place-taken
remedied "which is taken away" place-taken
take_away others/clash
address=0x$(nm "$target" | awk '$3 == "work" { print $1 }')
gcc -O1 -no-pie -o fixed -x c - <<<'#include <unistd.h>
__attribute__((noinline)) int serve(int n) { asm volatile(""); return n; }
int main(void) { for (int i = 0; i < 60000; i++) { serve(i); usleep(1000); } }'
address=0x$(nm fixed | awk '$3 == "serve" { print $1 }' | sed 's/^0*//')
echo "p:others/wrong $PWD/fixed:$address" >>"$TRACEFS/uprobe_events"
kept=$pid
TARGET=./fixed start
why -d 0.4 -p $pid "uprobe:$PWD/fixed:serve"
named "an event that was defined at the address" 0 True event-offset
advises "and its offset" "echo 'p:others/wrong $PWD/fixed:0x[0-9a-f]+' >>"
remedied "where it hits" event-offset
stop
pid=$kept
take_away others/wrong

# hits that nobody records
define others/tick "$site($counter)"
why -d 0.4 -p $pid "$spec"
named "an event that is not enabled" 0 True event-disabled
remedied "and is then" event-disabled
echo 0 >"$TRACEFS/events/others/tick/enable"
enable "$instance" others/tick
why -d 0.4 -p $pid "$spec"
named "an event that is fine" 0 True -
checked "is recorded" recorded pass
echo 0 >"$instance/tracing_on"
why -d 0.4 -p $pid "$spec"
named "tracing_on is 0" 0 True tracing-off
says "how much is lost" 'was hit [0-9,]+ times while tracing_on is 0'
advises "how to go on" "echo 1 > .*/instances/tests_why_$$/tracing_on"
remedied "it goes on" tracing-off
echo 'common_pid == 1' >"$instance/events/others/tick/filter"
why -d 0.4 -p $pid "$spec"
named "a filter that passes nothing" 0 True filter
says "and which" 'its filter `common_pid == 1` passes none'
remedied "without it they are recorded" filter
echo 1 >"$instance/set_event_pid"
why -d 0.4 -p $pid "$spec"
named "set_event_pid without the process" 0 True pid-filter
remedied "which is cleared" pid-filter
if [ -e "$instance/set_event_notrace_pid" ]; then
  for task in /proc/$pid/task/*; do echo "${task##*/}" >>"$instance/set_event_notrace_pid"; done
  why -d 0.4 -p $pid "$spec"
  named "set_event_notrace_pid with the process" 0 True pid-filter
  remedied "its remedy clears it" pid-filter
else
  skip "set_event_notrace_pid with the process" "the kernel has none"
fi
if [ "$(nproc)" -gt 1 ]; then
  all=$(cat "$instance/tracing_cpumask")
  echo 1 >"$instance/tracing_cpumask"
  why -d 0.4 -p $pid "$spec"
  named "a mask that leaves out CPUs" 0 True cpu-mask
  remedied "its remedy puts all back" cpu-mask
  is "as they were" "$(cat "$instance/tracing_cpumask")" "$all"
else
  skip "a mask that leaves out CPUs" "there is one CPU"
fi
cat "$instance/trace_pipe" >/dev/null 2>&1 & one=$!
reads() { [ "$(readlink -f "/proc/$one/fd/3")" = "$(readlink -f "$instance/trace_pipe")" ]; }
wait_for reads
why -d 0.4 -p $pid "$spec"
named "another reader of trace_pipe" 0 True second-reader
says "and who" "process $one reads"
remedied "and what that is" second-reader
timeout 0.5 cat "$instance/trace_pipe" >second 2>&1
if [ -s second ]; then
  has "the second one is refused, or" "$(head -c 500 second)" 'busy|tick'
else
  skip "the second one gets nothing" "this kernel shares the events out"
fi
kill $one
wait $one 2>/dev/null
echo 4 >"$instance/buffer_size_kb"
why -d 1 -p $pid "$spec"
named "a buffer of a page" 0 True buffer-full
says "and how small it is" 'has [0-9]+ KiB a CPU'
remedied "it is made larger" buffer-full
taskset -acp 0 $pid >/dev/null # each CPU has a buffer: this one is full, and stays the one it writes to
echo 20 >"$instance/buffer_size_kb"
echo 0 >"$instance/options/overwrite"
dropped() { grep -q 'dropped events: [1-9]' "$instance/per_cpu/cpu0/stats"; }
wait_for dropped
why -d 1 -p $pid "$spec"
named "a full buffer that does not overwrite" 0 True buffer-full
remedied "it is emptied, and overwrites" buffer-full
take_away others/tick
rmdir "$instance"

# a semaphore that nothing raises: a kernel without reference counters, and no right to poke
why -d 0.4 -p $pid "uprobe:$target:work"
named "a function beside it" 0 True -

# the kernel
nowhere='while at=$(awk "\$3 ~ /^(tracefs|debugfs)\$/ { at = \$2 } END { print at }" /proc/self/mounts) &&
  [ -n "$at" ]; do umount "$at"; done'
"$TESTS_LIB/own_mounts" "$nowhere; exec '$NOPWATCH' why -j -p $pid '$spec'" >why.json 2>why.err
status=$?
named "tracefs is not mounted" 3 False no-tracefs
remedy=$(j why.json "last['remedy'][0]")
# a kernel that was started with tracefs at that place only takes it there again
"$TESTS_LIB/own_mounts" "$nowhere; $remedy && exec '$NOPWATCH' why -d 1 -j -p $pid '$spec'" >why.json 2>why.err
status=$?
named "mounted as it was advised" 0 True - # what no-tracefs offers
mkdir fake
NOPWATCH_TRACEFS=$PWD/fake "$NOPWATCH" why -j "$spec" >why.json 2>why.err
status=$?
named "a kernel without uprobe events" 3 False no-uprobes
remedied "words help there" no-uprobes
chmod 755 "$TEST_DIR"
setpriv --reuid=65534 --regid=65534 --clear-groups "$NOPWATCH" why -j "$spec" >why.json 2>why.err
status=$?
named "no privileges" 3 False no-privilege
remedied "with them it comes to an answer" no-privilege
checked "for BPF neither" bpf fail
if [ -d /sys/kernel/security ]; then
  setpriv --reuid=65534 --regid=65534 --clear-groups true # the next needs a user, too
  "$TESTS_LIB/own_mounts" "mount -t tmpfs none /sys/kernel/security &&
    echo 'none integrity [confidentiality]' >/sys/kernel/security/lockdown &&
    exec setpriv --reuid=65534 --regid=65534 --clear-groups '$NOPWATCH' why -j '$spec'" >why.json 2>why.err
  status=$?
  named "kernel lockdown" 3 False lockdown
  remedied "words help there" lockdown
else
  skip "kernel lockdown" "no securityfs"
fi

# other tools' command lines
why -d 0.4 -- bpftrace -p $pid -e "usdt:$target:target:tick { printf(\"%d\\n\", arg0); }"
named "a one-liner of bpftrace" 0 True -
says "whose probe fires" 'the fault is on the side of bpftrace'
why -d 0.4 -- sudo bpftrace -e "uretprobe:$target:work /pid == $pid/ { @[arg0] = count(); }"
named "a one-liner that reads an argument at the return" 0 True bpf-program
gcc -O1 -no-pie -o fixed -x c - <<<'#include <unistd.h>
__attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n; }
int main(void) { for (int i = 0; i < 200000; i++) { work(i); usleep(500); } }'
./fixed & fixed=$!
why -d 0.4 -- bpftrace -p $fixed -e "uprobe:$PWD/fixed:0x$(nm fixed | awk '$3 == "work" { print $1 }') { @ = count(); }"
named "a number in it is an address" 0 True -
why -d 0.4 -- perf probe -x "$PWD/fixed" work
named "a definition of perf probe" 0 True -
why -d 0.4 -- stap -x $fixed -e 'probe process.function("work") { println(pp()) }'
named "a script of stap" 0 True -
kill -9 $fixed
wait $fixed 2>/dev/null
"$SERVER" -t 2 -p 100 >/dev/null & server=$!
wait_for test "/proc/$server/exe" -ef "$SERVER"
why -d 0.4 -- bpftrace -p $server -e "usdt:$SERVER:myserver:parse-start { @ = count(); }"
names "a dash, which bpftrace does not translate" bpf-program
advises "the name as the file has it" "bpftrace .*myserver:parse__start"
kill -9 $server
wait $server 2>/dev/null
gcc -O1 -o idle -x c - <<<'#include <sys/sdt.h>
#include <unistd.h>
int main(void) { pause(); DTRACE_PROBE(app, parse__start); }'
./idle & idle=$!
wait_for test /proc/$idle/exe -ef idle
why -d 0.4 -- bpftrace -p $idle -e "usdt:$PWD/idle:app:parse-start { @ = count(); }"
named "the code of an idle program is not executed" 3 False not-executed
names "and the dash is told all the same" bpf-program
advises "with the name as the file has it" "bpftrace .*app:parse__start"
why -d 0.4 -- bpftrace -p $idle -e "usdt:$PWD/idle:app:parse__start { @ = count(); }"
holds "without the dash nothing is told of the tool" why.json "last['causes'] == ['not-executed']"
kill -9 $idle
wait $idle 2>/dev/null
# command lines of recorders: their events' places are tracefs's
why -- perf record -o /dev/null -e probe_target:nosuch -p $pid
named "an event that perf probe has not defined (yet)" 3 False no-such-event
why -- trace-cmd record -e sdt_target:nosuch
advises "which of a program's probes it was" "nopwatch add 'usdt:FILE:target:nosuch'"
define others/tick "$site($counter)"
why -d 0.4 -- perf record -o /dev/null -e cycles,others:tick -p $pid
is "an event that perf enables itself fires" "$status $(j why.json "last['fires'], last['causes']")" "0 (True, [])"
why -d 0.4 -- trace-cmd record -e others -f 'common_pid == 1' -P $pid
names "trace-cmd's own filter may be the reason" bpf-program
echo 1 >"$TRACEFS/events/others/tick/enable"
why -d 0.4 -- perf record -o /dev/null -e others:tick -p $pid
names "perf cannot have what tracefs has enabled" event-disabled
if need perf; then
  has "as perf says, too" "$(perf record -o /dev/null -e others:tick -p $pid sleep 0.1 2>&1)" 'Interrupted system call'
else
  skip "as perf says, too" "perf is not here"
fi
remedied "which is switched off" event-disabled
take_away others/tick
# Whoever attaches through perf or a BPF link has no event in tracefs, but a breakpoint in memory.
is_beside() {
  why -d 0.2 -p $pid "uprobe:$target:work"
  [ "$(j why.json "any('a breakpoint of theirs in memory' in c['saw'] for c in of('check'))")" = True ]
}
ok "nobody is beside" eval '! is_beside'
"$NOPWATCH" stat -p $pid "uprobe:$target:work" >/dev/null 2>&1 & tracer=$!
wait_for armed
ok "a session of nopwatch is not taken for perf or BPF" eval '! is_beside'
ok "but named" test "$(j why.json "any('a session of nopwatch has a probe at the same place, too (nopwatch_$tracer' in c['saw'] for c in of('check'))")" = True
named "and both are hit" 0 True -
kill -INT $tracer
wait $tracer
if has_bpf; then
  bpftrace -e "uprobe:$target:work { @ = count(); }" >beside 2>&1 & tracer=$!
  wait_for is_beside
  ok "bpftrace is, and tracefs does not know it" is_beside
  named "and we are hit, too" 0 True -
  kill -INT $tracer
  wait $tracer
else
  skip "bpftrace is, and tracefs does not know it" "bpftrace does not work here"
fi
why -- bpftrace -e 'tracepoint:probe_target:tick { @ = count(); }'
has "a one-liner on an uprobe event" "$status $(cat why.err)" '^1 .*PERF_EVENT_IOC_SET_BPF'
stop

unchanged
finish
