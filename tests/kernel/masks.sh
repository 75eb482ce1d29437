# The ways of older kernels: with each feature masked, the same result as with it.
# in turn: it uses the top-level buffer
. "$(dirname "$0")/../lib/kernel.sh"

# What happened, without what differs from run to run.
events() { # MASK -> got.json, and its events on stdout
  NOPWATCH_FEATURES=$1 "$NOPWATCH" trace -j 'counter:step__*(i:u32, what:x64)' 'counter:inner__*(depth:s32)' \
    -o got.json -- "$PROGRAMS/counter" 300 >/dev/null 2>err
  j got.json "[(r['probe'], {k: v for k, v in r['args'].items() if k != 'what'}) for r in of('event')]"
}

plain=$(events '')
is "without a mask: 300 steps of 8 hits" "$(j got.json "len(of('event'))")" 2400
for mask in -ref_ctr -multi_site -hex -arrays -imm -memory -set_event_pid -event_fork -buffer_percent -subbuf -error_log \
  -mono -mono,-boot -expedite -fanotify -disarm_safe -stack_trigger -switch_state -path_colon -instances -instance_events \
  -instances,-set_event_pid,-mono,-boot,-buffer_percent,-subbuf,-multi_site,-ref_ctr,-hex,-arrays,-error_log,-memory; do
  is "$mask: the same events" "$(events $mask)" "$plain"
  holds "$mask: and no loss" got.json "of('loss')[0]['events'] == 0"
  unchanged "$mask: nothing is left"
done

spans() { # MASK: hits and spans of a server, which differ in nothing but time
  NOPWATCH_FEATURES=$1 "$NOPWATCH" stat -j 'myserver:*' -o got.json -- "$SERVER" -t 2 -n 300 >/dev/null
  j got.json "[sorted((r['probe'], r['hits']) for r in of('probe')), sorted((r['span'], r['latency_ns']['count']) for r in of('span'))]"
}
plain=$(spans '')
for mask in -instances -multi_site -ref_ctr -ref_ctr,-instances,-set_event_pid; do
  is "$mask: the same summary" "$(spans $mask)" "$plain"
done

# hex, arrays, memory: what is shown
step() { # MASK ARGUMENTS: what is shown of them, and what is said
  NOPWATCH_FEATURES=$1 "$NOPWATCH" trace -n 1 "counter:step__begin($2)" -- "$PROGRAMS/counter" 5 2>&1
}
has "hex: x32 is shown as hexadecimal all the same" "$(step -hex 'i:x32')" 'i=0x0'
said=$(step -memory 'i, text:string')
has "memory: what is in memory has its reason" "$said" '^nopwatch: text of counter:step__begin has no value: it is in memory: .* only read registers'
has "memory: what is in a register has its value" "$said" 'i=0 '
has "arrays: refused with the reason" "$(step -arrays 'i, text:u8[4]')" '^nopwatch: text of counter:step__begin has no value: arrays need a kernel'

# a colon in the path
mkdir 'co:lon'
cp "$PROGRAMS/counter" 'co:lon/counter'
NOPWATCH_FEATURES=-path_colon "$NOPWATCH" stat -j 'counter:*' -o got.json -- 'co:lon/counter' 50 >/dev/null &
run=$!
wait $run
holds "path_colon: such a file is probed" got.json "probe('counter:step__begin')['hits'] == 50"
masked=(env "NOPWATCH_FEATURES=-path_colon,-set_event_pid" "$NOPWATCH")
colon=(-x co:lon/counter counter:step__begin)
has "path_colon: a dry run holds the file open" "$("${masked[@]}" stat --dry-run "${colon[@]}" -- true 2>&1)" \
  'p:nopwatch_[^ ]* /proc/self/fd/3:0x'
has "path_colon: add makes a link" "$("${masked[@]}" add --dry-run "${colon[@]}" 2>&1)" \
  'p:sdt_counter/step__begin /run/nopwatch/file\.[0-9a-f.]+:0x'
has "path_colon: a script holds the file open" "$("${masked[@]}" script "${colon[@]}")" "^  nw_file 0 .*co:lon/counter' .* 3$"
said=$("${masked[@]}" stat --dry-run "${colon[@]}" -p $$ 2>&1)
has "set_event_pid: a dry run says who sorts" "$said" '^# this kernel cannot keep other processes out'
hasnt "and does not write it" "$said" '/set_event_pid'

# error_log: the number is put into words
"$SERVER" -p 200 >/dev/null & pid=$!
begun $pid "$SERVER"
offset=$("$NOPWATCH" list -j "$SERVER" parse__start | j /dev/stdin "hex(first['offset'])")
other=$("$NOPWATCH" list -j "$SERVER" parse__done | j /dev/stdin "hex(first['semaphore_offset'])")
echo "p:foreign/clash $SERVER:$offset($other)" >>"$TRACEFS/uprobe_events"
said=$(NOPWATCH_FEATURES=-error_log "$NOPWATCH" stat -d 0.2 'myserver:parse__start' -p $pid 2>&1)
has "error_log: the reason all the same" "$? $said" '^1 nopwatch: .* is left out: the kernel (refused the definition|would not arm it): .*another tool has a probe at this place with another semaphore'
echo "-:foreign/clash" >>"$TRACEFS/uprobe_events"
kill $pid

# -p without set_event_pid: strangers are not counted, and kept out of the buffer
"$PROGRAMS/counter" 100000000 1000 >/dev/null & wanted=$!
begun $wanted "$PROGRAMS/counter"
"$PROGRAMS/counter" 100000000 300 >/dev/null & stranger=$!
begun $stranger "$PROGRAMS/counter"
filters() { cat "$TRACEFS"/instances/nopwatch_*/events/nopwatch_*/*/filter "$TRACEFS"/events/nopwatch_*/*/filter 2>/dev/null | grep common_pid; }
is_kept_out() { filters | grep "common_pid != $1\\b"; }
for mask in -set_event_pid -event_fork -set_event_pid,-instances; do
  NOPWATCH_FEATURES=$mask "$NOPWATCH" trace -j 'counter:step__begin(i)' -p $wanted -o got.json & run=$!
  wait_for is_kept_out $stranger
  filter=$(filters)
  wait_for hit 1000 "$(session_hits)"
  kill -INT $run
  wait $run
  holds "$mask: only the wanted one" got.json "len(of('event')) > 100 and {r['pid'] for r in of('event')} == {$wanted}"
  holds "$mask: each of its hits" got.json "(lambda steps: steps == list(range(steps[0], steps[0] + len(steps))))([r['args']['i'] for r in of('event')])"
  has "$mask: the other one is filtered out" "$filter" "common_pid != $stranger"
  hasnt "$mask: the wanted one is not" "$filter" "common_pid != $wanted\\b"
done
# a recording of CMD knows that it is about CMD, as one with -p does
for mask in '' -set_event_pid -set_event_pid,-instances; do
  NOPWATCH_FEATURES=$mask "$NOPWATCH" record 'counter:step__begin(i)' -o cmd.dat -- "$PROGRAMS/counter" 400 1000 >/dev/null 2>&1
  "$NOPWATCH" report -j cmd.dat >got.json
  "$NOPWATCH" trace -j --from cmd.dat >events.json
  holds "${mask:-unmasked}: a recording of CMD is reported as that of CMD" got.json "probe('counter:step__begin')['hits'] == 400"
  holds "and shown so" events.json "[r['args']['i'] for r in of('event')] == list(range(400)) and len({r['pid'] for r in of('event')}) == 1"
done
kill $wanted $stranger
for mask in '' -set_event_pid -event_fork; do
  NOPWATCH_FEATURES=$mask "$NOPWATCH" trace -j 'forker:*' -o got.json -- "$PROGRAMS/forker" 50 >/dev/null
  is "${mask:-unmasked}: all children and their threads are recorded" "$(j got.json "len(of('event')), len({r['pid'] for r in of('event')})")" "(100, 51)"
  NOPWATCH_FEATURES=$mask "$NOPWATCH" record 'forker:*' -o cmd.dat -- "$PROGRAMS/forker" 50 >/dev/null 2>&1
  "$NOPWATCH" trace -j --from cmd.dat >got.json
  is "${mask:-unmasked}: and found in the recording" "$(j got.json "len(of('event')), len({r['pid'] for r in of('event')})")" "(100, 51)"
done
unchanged "nothing is left"

# tracefs below debugfs, read-only, or neither mounted
nowhere='while at=$(awk "\$3 ~ /^(tracefs|debugfs)\$/ { at = \$2 } END { print at }" /proc/self/mounts) &&
  [ -n "$at" ]; do umount "$at"; done'
if grep -qw debugfs /proc/filesystems; then
  "$TESTS_LIB/own_mounts" "$nowhere; mount -t debugfs nodev /sys/kernel/debug &&
    exec '$NOPWATCH' stat -j 'counter:*' -o got.json -- '$PROGRAMS/counter' 50 >/dev/null"
  holds "debugfs alone will do" got.json "probe('counter:step__begin')['hits'] == 50"
  # whose root is a user's no more than on RHEL 7
  said=$("$TESTS_LIB/own_mounts" "$nowhere; mount -t debugfs nodev /sys/kernel/debug &&
    exec setpriv --reuid=65534 --regid=65534 --clear-groups '$NOPWATCH' features" 2>&1)
  has "a user who may not look into debugfs is told so" "$? $said" \
    '^1 nopwatch: may not use tracefs at /sys/kernel/debug/tracing: Permission denied$'
  has "and who may" "$said" '^nopwatch: run as root \(sudo nopwatch'
  said=$("$TESTS_LIB/own_mounts" "$nowhere; mount -t debugfs nodev /sys/kernel/debug &&
    exec setpriv --reuid=65534 --regid=65534 --clear-groups '$NOPWATCH' why -j uprobe:/bin/true:0x0" 2>&1)
  has "why says that it takes root" "$said" '"causes":\["no-privilege"'
else
  skip "debugfs alone will do" "the kernel has no debugfs"
fi
printf 'nodev\tsysfs\nnodev\tdebugfs\n' >filesystems
said=$("$TESTS_LIB/own_mounts" "$nowhere; mount --bind filesystems /proc/filesystems; exec '$NOPWATCH' features" 2>&1)
has "a kernel that has only debugfs" "$said" '^nopwatch: mount -t debugfs nodev /sys/kernel/debug$'
printf 'nodev\tsysfs\n' >filesystems
said=$("$TESTS_LIB/own_mounts" "$nowhere; mount --bind filesystems /proc/filesystems; exec '$NOPWATCH' features" 2>&1)
has "a kernel that has neither" "$said" '^nopwatch: this kernel has no tracefs \(built without CONFIG_FTRACE\)$'
said=$("$TESTS_LIB/own_mounts" "mount -o remount,ro,bind '$TRACEFS' && exec '$NOPWATCH' stat -d 1 'usdt:$SERVER:myserver:*'" 2>&1)
has "tracefs mounted read-only" "$? $said" "^1 nopwatch: tracefs at $TRACEFS is mounted read-only$"
has "and the remedy" "$said" "^nopwatch: mount -o remount,rw $TRACEFS$"

# disarm_safe: said to who attaches, not of CMD, which has ended by then
"$SERVER" -p 200 >/dev/null & pid=$!
begun $pid "$SERVER"
attached() { # MASK ARGUMENTS...: what is said
  NOPWATCH_FEATURES=$1 "$NOPWATCH" stat "usdt:$SERVER:myserver:parse__*" "${@:2}" >/dev/null 2>said
  cat said
}
has "disarm_safe: who attaches is told" "$(attached -disarm_safe -n 10 -p $pid)" 'in the moment it is taken away, at the end of this run, is killed'
is "disarm_safe: not where it is safe" "$(attached '' -n 10 -p $pid)" ""
is "disarm_safe: not of a command" "$(attached -disarm_safe -- "$SERVER" -t 1 -n 20)" ""
kill $pid
wait $pid 2>/dev/null
# nor of one that is ended: when it is told to, its probes are still there
cat >ended.sh <<'P'
trap 'grep -c :nopwatch_ "$1/uprobe_events" >seen; exit' TERM
"$2" -n 10
while :; do sleep 0.05; done
P
"$NOPWATCH" stat -q -n 10 "usdt:$SERVER:myserver:parse__*" -- bash ended.sh "$TRACEFS" "$SERVER" >/dev/null 2>&1
ok "a command that is ended has ended before its probes go" [ "$(cat seen)" -gt 0 ]

# features: what was tried
"$NOPWATCH" features -j -o features.json
unchanged "features leaves nothing"
holds "what can be tried works here" features.json \
  "all(r['tried'] == 'works' for r in rows if r['name'] in ('uprobe_events', 'instances', 'instance_events', 'memory') )"
holds "what README promises holds when tried" features.json "all(r.get('tried', 'works') == 'works' for r in rows if r['present'])"
NOPWATCH_FEATURES=-memory,-ref_ctr "$NOPWATCH" features -j -o features.json
holds "what is masked is not tried" features.json "[r['name'] for r in of('feature') if r['masked']] == ['memory', 'ref_ctr'] and not any('tried' in r for r in of('feature') if r['masked'])"

unchanged
finish
