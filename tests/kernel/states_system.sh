# Whose scheduler events --states records if nobody has said which processes are meant: those of who maps what is probed.
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/pool" own/pool
POOL=$PWD/own/pool

# SPANS: how many there are; what is said of those that are split, all of one kind.
cat >split.py <<'PY'
import json, sys
kind, count, least = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
slow = [s for s in map(json.loads, open("slow.json")) if s["type"] == "slow"]
split = [s for s in slow if "states_ns" in s]
print(f"# {len(split)} of {len(slow)} are split")
assert len(slow) == count or count == 0 and slow, len(slow)
assert len(split) >= least and (kind != "late" or len(split) < len(slow)), len(split)
# a kernel that leaves out one of a thread's switches leaves its span unsplit
assert kind != "all" or len(split) >= 0.97 * len(slow), len(split)
for s in split:
    ns = s["states_ns"]
    asleep = ns["sleeping"] + ns["disk"]
    assert sum(ns.values()) == s["latency_ns"]
    assert asleep == 0 if kind == "busy" else asleep > 0, s
PY
slow() { "$NOPWATCH" trace -j --slower 1ns --states -o slow.json --span act=pool:begin..pool:end "$@"; }
named() { strings rec.dat | grep '^named ' | awk '{ print $2 }' | sort -u; }

# Two who do nothing but wake each other, some 10,000 times a second.
all_cpus=0-$(($(nproc --all) - 1))
on_telling_cpus || skip_all "this kernel leaves out switches on every CPU"
taskset -c "$all_cpus" "$TESTS_LIB/strangers" & strangers=$!
"$POOL" 4 100000 10 >said & pool=$!
until grep -qs 'all there' said; do sleep 0.05; done
wait_for pgrep -P $strangers # it is two by then
theirs() { cat /proc/$strangers/status "/proc/$(pgrep -P $strangers)/status" | awk '/_ctxt_switches/ { sum += $2 } END { print sum }'; }
has_switched() { [ "$(theirs)" -ge "$1" ]; }
"$NOPWATCH" record -q --states -o rec.dat "usdt:$POOL:pool:*" 2>err & run=$!
wait_for armed
since=$(theirs)
each_answers $pool 100 # a nap is a span
wait_for has_switched $((since + 10000))
kill $run
wait $run
strange=$(($(theirs) - since))
is "nothing is said" "$(cat err)" ""
is "its five threads are named" "$(named | wc -l)" 5
if need trace-cmd; then
  trace-cmd report -t rec.dat 2>/dev/null >recorded
  grep -E 'sched_(switch|waking|wakeup):' recorded >switches
  all=$(wc -l <switches)
  echo "# $strange switches of strangers, $all events of the scheduler recorded, $(grep -c kernel_stack recorded) stacks"
  ok "of all the switches of strangers next to none is recorded" test "$(grep -vc pool switches)" -le $((all / 10))
  # Stacks of other processes may be there: of those that were born lately, which the kernel cannot be told by name.
  of_strangers="-($strangers|$(pgrep -P $strangers)) "
  ok "nor where they slept" test "$(grep kernel_stack recorded | grep -cE -- "$of_strangers")" -le $((all / 10))
  ok "those of our threads are" test "$all" -ge 300
else
  skip "whose events are recorded" "trace-cmd is not installed"
fi
slow --from rec.dat
ok "each span is split" python3 split.py all 0 200
holds "also where it slept" slow.json "all(s['slept_in'][0]['function'] for s in [s for s in of('slow') if 'states_ns' in s][:50])"
# whoever hits an event of the kernel's
"$NOPWATCH" stat -v --states -d 0.5 -o out "usdt:$POOL:pool:*" tracepoint:sched:sched_process_fork 2>err
has "with an event of the kernel's anybody may hit: that is said" "$(cat err)" 'of all threads in the system are recorded, not only of those that are traced: the threads that will hit the kernel events are unknown'
"$NOPWATCH" stat -v --states -d 0.5 -p $pool -o out "usdt:$POOL:pool:*" tracepoint:sched:sched_process_fork 2>err
hasnt "but of one process: without a word" "$(cat err)" 'of all threads'
kill $pool

# Who comes later is known by its name; with another one it is named when it hits.
later() { # PROGRAM ARGUMENTS...: when the probes are armed
  local group
  until group=$(sed -n "s|^p:\(nopwatch_[^/]*\)/[^ ]* $PWD/own/pool:.*|\1|p" "$TRACEFS/uprobe_events" | head -n 1) && [ -n "$group" ] &&
    grep -qs '^nopwatch_' "$TRACEFS/instances/$group/set_event"; do sleep 0.05; done
  exec "$@"
}
# until_ends PID COMMAND...: run it until that child has ended
until_ends() {
  local child=$1 run
  shift
  "$@" & run=$!
  wait "$child"
  kill $run
  wait $run
}
record_later() { # whoever names `other` may have to wait, so that takes 4 s
  later own/$program 4 $spans 10 >told & late=$!
  if [ $way = live ]; then
    until_ends $late "$NOPWATCH" trace -j --slower 1ns --states -o slow.json --span act=pool:begin..pool:end "usdt:$POOL:pool:*"
  else
    until_ends $late "$NOPWATCH" record -q --states -o rec.dat "usdt:$POOL:pool:*"
    slow --from rec.dat
  fi
}
ln own/pool own/other
for way in live recording; do
  for program in pool other; do
    if [ $program = pool ]; then
      spans=${ALL:+400} spans=${spans:-150}
      measured "python3 split.py all $((4 * spans)) $((4 * spans * 77 / 80))" record_later >judged
      comment "$(cat judged)"
    else
      spans=400
      record_later
    fi
    if [ $program = pool ]; then
      ok "$way: who comes later is split from the first span on" python3 split.py all $((4 * spans)) $((4 * spans * 77 / 80))
    else
      ok "$way: by another name, once it is named, and not before" python3 split.py late 1600 60
    fi
  done
done
kill $strangers

# Who never sleeps: that nothing is recorded of it says that it runs. By then it is named.
for mask in '' -set_event_pid; do
  NOPWATCH_FEATURES=$mask slow "usdt:$POOL:pool:*" -- "$POOL" 1 200 -10 named >told 2>err
  ok "${mask:-unmasked}: who never sleeps is split" python3 split.py busy 200 15
  hasnt "${mask:-unmasked}: that nobody slept is nothing to be told" "$(cat err)" 'no hit'
done
later own/other 1 200 -10 >told & late=$!
until_ends $late "$NOPWATCH" trace -j --slower 1ns --states -o slow.json --span act=pool:begin..pool:end "usdt:$POOL:pool:*"
ok "who comes later, by another name, and never sleeps, is split" python3 split.py busy 200 15

# A shell's children are others soon.
cp /bin/bash own/bash
own/bash -c 'while :; do /bin/sleep 0.01; done' & shell=$!
begun $shell own/bash
"$NOPWATCH" record -q --states -o rec.dat func:own/bash:execute_command & run=$!
armed_and_hit 200
kill $run
wait $run
echo "# named: $(named | wc -l)"
ok "a shell is named" grep -qx $shell <(named)
ok "and its children are not" test "$(named | wc -l)" -le 12
kill $shell

# More than a filter has room for: everybody's are recorded, and every command says so.
"$POOL" 200 100000 20 named >said & pool=$!
until grep -qs 'all there' said; do sleep 0.05; done
"$NOPWATCH" stat -j --states -d 1 -o out.json "usdt:$POOL:pool:*" --span act=pool:begin..pool:end 2>err
has "stat says whose events it records" "$(cat err)" 'of all threads in the system are recorded, not only of those that are traced: their names and numbers do not fit into a filter'
holds "and splits spans" out.json "of('span')[0]['states_ns']['sleeping']['count'] > 100"
"$NOPWATCH" trace --states --slower 1ns -d 0.5 -o out "usdt:$POOL:pool:*" --span act=pool:begin..pool:end 2>err
has "so does trace" "$(cat err)" 'of all threads in the system are recorded'
record_all() {
  "$NOPWATCH" record --states -d 1 -o rec.dat "usdt:$POOL:pool:*" 2>err
  slow --from rec.dat
}
measured 'python3 split.py all 0 100' record_all >judged
comment "$(cat judged)"
has "so does record" "$(cat err)" 'of all threads in the system are recorded'
ok "and its spans are split" python3 split.py all 0 100
kill $pool
# and if it has no room any more: those of whom nobody knew are split from then on
later own/other 200 60 20 named >told & late=$!
until_ends $late "$NOPWATCH" trace -j -b 16M --slower 1ns --states -o slow.json --span act=pool:begin..pool:end "usdt:$POOL:pool:*" 2>err
has "in mid-run it is said, too" "$(cat err)" 'of all threads in the system are recorded'
ok "and the others are split from then on" python3 split.py late 12000 4000

kill_jobs
unchanged
finish
