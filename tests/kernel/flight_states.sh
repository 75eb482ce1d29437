# Whose scheduler events the flight recorder has without -p (--states): those of who maps what is probed, also of who comes later.
. "$(dirname "$0")/../lib/kernel.sh"

POOL=$PROGRAMS/pool
# called otherwise, but the same file
ln -s "$POOL" later
all_cpus=0-$(($(nproc --all) - 1))
on_telling_cpus || skip_all "this kernel leaves out switches on every CPU"
taskset -c "$all_cpus" "$TESTS_LIB/strangers" & strangers=$!
cat >parts.py <<'PY'
import json, sys
slow = [s for s in map(json.loads, open("slow.json")) if s["type"] == "slow"]
split = [s for s in slow if "states_ns" in s]
# Each of them sleeps 5 ms, and does nothing else; who is preempted on its way to sleep, when the time runs already, sleeps
# less by as much.
wrong = [s for s in split if s["states_ns"]["sleeping"] + s["states_ns"]["runnable"] < 4.9e6]
short = [s for s in split if s["states_ns"]["sleeping"] < 4.9e6]
by = {s["tid"] for s in split}
print(f"# {len(split)} of {len(slow)} spans are split, {len(wrong)} wrong, of {len(by)} threads of {len({s['tid'] for s in slow})}")
assert not wrong and len(short) <= 0.1 * len(split), (wrong[:3], short[:3])
assert len(by) == int(sys.argv[1]) and len(split) >= 0.9 * len(slow), (by, len(split), len(slow))
PY

# recording FILE: its spans, each with its split
spans_of() { "$NOPWATCH" trace -q -j --slower 1ns --states --from "$1" --span act=pool:begin..pool:end >slow.json; }
filters() { of_instances events/sched/sched_switch/filter; }

"$POOL" 2 100000 5 >there & there=$!
wait_for grep 'all there' there
"$NOPWATCH" record --until-signal --keep 1s --times 2 -b 16M -o part.dat --states "usdt:$POOL:pool:*" 2>said & run=$!
wait_for armed
wait_for hit 1000 # some 1.3 seconds
kill -USR2 $run
wait_for test -s part.dat
spans_of part.dat
ok "who is there is split, from the first span of the recording on" python3 parts.py 2
spans=$(j slow.json "len(of('slow'))")
ok "and there are some" test "$spans" -ge 20
holds "and where it slept" slow.json "sum('function' in s['slept_in'][0] for s in of('slow') if s.get('slept_in')) >= $spans / 4"
if need trace-cmd; then
  trace-cmd report -t part.dat 2>/dev/null | grep -E 'sched_(switch|waking|wakeup):' >recorded
  mine=$(grep -c 'pool' recorded)
  echo "# $(wc -l <recorded) events of the scheduler recorded, $mine with our threads"
  ok "next to nothing is recorded of strangers" test "$(($(wc -l <recorded) - mine))" -le $((mine / 10))
  ok "and ours are" test "$mine" -ge "$spans"
else
  skip "whose events are recorded" "trace-cmd is not installed"
fi
# whose program was started later, and whose threads give themselves other names
./later 2 100000 5 >later.out & later=$!
"$POOL" 2 100000 5 named >named.out & named=$!
wait_for grep 'all there' later.out
wait_for grep 'all there' named.out
both_named() { # the program by its name, threads that have others by their numbers
  local tids
  tids=$(grep -l '^work-' /proc/$named/task/*/comm | cut -d / -f 5)
  [ "$(wc -w <<<"$tids")" = 2 ] || return 1
  for tid in $tids; do filters | grep "later.*pid==$tid\b" || return 1; done
}
wait_for both_named
wait_for hit 3000 "$(session_hits)" # more than a second
kill -USR2 $run
wait $run
is "both recordings are there" "$? $(ls part*.dat | tr '\n' ' ')" "0 part-2.dat part.dat "
spans_of part-2.dat
ok "so are those who have come, under whatever names" python3 parts.py 6
kill $there $later $named $strangers
unchanged
finish
