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
# each of them sleeps 5 ms, and does nothing else
wrong = [s for s in split if s["states_ns"]["sleeping"] < 4.9e6]
by = {s["tid"] for s in split}
print(f"# {len(split)} of {len(slow)} spans are split, {len(wrong)} wrong, of {len(by)} threads of {len({s['tid'] for s in slow})}")
assert not wrong, wrong[:3]
assert len(by) == int(sys.argv[1]) and len(split) >= 0.9 * len(slow), (by, len(split), len(slow))
PY

# recording FILE: its spans, each with its split
spans_of() { "$NOPWATCH" trace -q -j --slower 1ns --states --from "$1" --span act=pool:begin..pool:end >slow.json; }
filters() { cat "$TRACEFS"/instances/nopwatch_*/events/sched/sched_switch/filter 2>/dev/null; }

"$POOL" 2 100000 5 >there & there=$!
until grep -qs 'all there' there; do sleep 0.05; done
"$NOPWATCH" record --until-signal --keep 1s --times 2 -b 16M -o part.dat --states "usdt:$POOL:pool:*" 2>said & run=$!
wait_for armed
sleep 1.2
kill -USR2 $run
wait_for test -s part.dat
spans_of part.dat
ok "who is there is split, from the first span of the recording on" python3 parts.py 2
holds "and where it slept" slow.json "sum('function' in s['slept_in'][0] for s in of('slow') if s.get('slept_in')) >= 100"
if need trace-cmd; then
  trace-cmd report -t part.dat 2>/dev/null | grep -E 'sched_(switch|waking|wakeup):' >recorded
  mine=$(grep -c 'pool' recorded)
  echo "# $(wc -l <recorded) events of the scheduler recorded, $mine with our threads"
  ok "next to nothing is recorded of strangers" test "$(($(wc -l <recorded) - mine))" -le $((mine / 10))
  ok "and ours are" test "$mine" -ge 400
else
  skip "whose events are recorded" "trace-cmd is not installed"
fi
# whose program was started later, and whose threads give themselves other names
./later 2 100000 5 >later.out & later=$!
"$POOL" 2 100000 5 named >named.out & named=$!
both_named() { filters | grep -q 'later.*pid=='; }
wait_for both_named
sleep 1.2
kill -USR2 $run
wait $run
is "both recordings are there" "$? $(ls part*.dat | tr '\n' ' ')" "0 part-2.dat part.dat "
spans_of part-2.dat
ok "so are those who have come, under whatever names" python3 parts.py 6
kill $there $later $named $strangers
unchanged
finish
