# Whose scheduler events --states records: those of the traced threads, also where the kernel has to be told of each.
# in turn: it uses the top-level buffer
. "$(dirname "$0")/../lib/kernel.sh"

STATES=$PROGRAMS/states
POOL=$PROGRAMS/pool
head -c 1M /dev/zero >block && sync block

# Two who do nothing but wake each other, some 10,000 times a second.
switches() { awk '/^ctxt/ { print $2 }' /proc/stat; }
filters() { grep -s . "$TRACEFS"/events/sched/sched_{switch,waking,wakeup}/filter; }
all_cpus=0-$(($(nproc --all) - 1))
on_telling_cpus || skip_all "this kernel leaves out switches on every CPU"
taskset -c "$all_cpus" "$TESTS_LIB/strangers" & strangers=$!
masks=(-set_event_pid -event_fork '-set_event_pid,-instances')
if [ -f "$TRACEFS/set_event_pid" ]; then masks+=(''); fi
before=$(filters)
for mask in "${masks[@]}"; do
  since=$(switches)
  NOPWATCH_FEATURES=$mask "$NOPWATCH" record -q --states -o rec.dat "usdt:$STATES:states:*" -- "$STATES" 5 block >told 2>err
  all=$(($(switches) - since))
  if need trace-cmd; then
    trace-cmd report -t rec.dat 2>/dev/null | grep -E 'sched_(switch|waking|wakeup):' >recorded
    mine=$(grep -c 'states' recorded)
    echo "# ${mask:-unmasked}: $all switches in the system, $(wc -l <recorded) events of the scheduler recorded, $mine with our threads"
    grep -v states recorded | head -3 | cut -c1-160 | sed 's/^/# /'
    ok "${mask:-unmasked}: there were many switches of strangers" test "$all" -gt $((4 * $(wc -l <recorded)))
    ok "${mask:-unmasked}: and next to none is recorded" test "$(($(wc -l <recorded) - mine))" -le $((mine / 10))
    ok "${mask:-unmasked}: those of our threads are" test "$mine" -ge 50
  else
    skip "whose events are recorded" "trace-cmd is not installed"
  fi
  is "${mask:-unmasked}: the top level's filters are as they were" "$(filters)" "$before"
done
# somebody's filter of the top-level buffer is put back
echo 'prev_pid==1 || next_pid==1' >"$TRACEFS/events/sched/sched_switch/filter"
before=$(filters)
NOPWATCH_FEATURES=-set_event_pid,-instances "$NOPWATCH" stat -j --states -o out.json "usdt:$STATES:states:*" -- "$STATES" 5 block >told 2>err
is "a filter that was there before is there again" "$(filters)" "$before"
kill $strangers # which keep a CPU busy
holds "and was none of the session" out.json "sum(r['states_ns']['sleeping']['count'] for r in of('span')) >= 15"
echo 0 >"$TRACEFS/events/sched/sched_switch/filter"

# Threads that begin after the probes were armed are called as the program is; if they take another name, what they did then
# before their numbers were named is not known.
cat >pool.py <<'PY'
import json, sys
SPANS = int(sys.argv.pop()) # 400 take 4 s, so that whoever names the threads may have to wait
slow = [s for s in map(json.loads, open("slow.json")) if s["type"] == "slow"]
assert len(slow) == 4 * SPANS, len(slow)
split = [s for s in slow if "states_ns" in s]
# a kernel that leaves out one of a thread's switches leaves its span unsplit
if sys.argv[2:]:
    sys.exit(len({s["tid"] for s in split}) < 4 or len(split) < (4 * 15 if sys.argv[1] == "late" else 23 * len(slow) / 24))
# all of it run, by who does nothing but sleep
wrong = [s for s in split if s["states_ns"]["running"] == s["latency_ns"]]
print(f"# {len(split)} of {len(slow)} are split, {len(wrong)} wrong")
assert not wrong, wrong[:3]
by = {s["tid"] for s in split}
assert len(by) == 4 and len(split) >= 4 * 15, (by, len(split))
assert len(split) < len(slow) if sys.argv[1] == "late" else len(split) >= 23 * len(slow) / 24, len(split)
PY
live() { # SPANS [named]
  NOPWATCH_FEATURES=$mask "$NOPWATCH" trace -j --slower 1ns --states -o slow.json "usdt:$POOL:pool:*" --span act=pool:begin..pool:end -- "$POOL" 4 "$1" 10 "${@:2}" >told
}
recorded() {
  NOPWATCH_FEATURES=$mask "$NOPWATCH" record -q --states -o rec.dat "usdt:$POOL:pool:*" -- "$POOL" 4 400 10 named >told
  "$NOPWATCH" trace -j --slower 1ns --states --from rec.dat --span act=pool:begin..pool:end >slow.json
}
spans=${ALL:+400} spans=${spans:-150}
for mask in -set_event_pid -set_event_pid,-instances; do
  measured 'python3 pool.py late enough 400' live 400 named
  ok "$mask: threads with new names are split once they are named, and not before" python3 pool.py late 400
  measured 'python3 pool.py late enough 400' recorded
  ok "$mask: and so from a recording" python3 pool.py late 400
  measured "python3 pool.py all enough $spans" live $spans
  ok "$mask: threads that are called as their program are split from the first span on" python3 pool.py all $spans
done

# Where threads sleep is told by a trigger, which is away for 0.1 s when it is set anew: not for each who is born.
NOPWATCH_FEATURES=-set_event_pid "$NOPWATCH" stat -j --states -o out.json "usdt:$POOL:pool:*" --span act=pool:begin..pool:end -- "$POOL" 40 60 10 named 20 >told
holds "where threads sleep is told while others are born all the time" out.json \
  "(lambda all: (lambda told: told >= 30 and sum(s['count'] for s in all) <= 1.05 * told)(sum(s['count'] for s in all if 'function' in s)))(of('span')[0]['slept_in'])"

# To find out how the kernel records sleeps, switches of all threads are recorded for a moment, and read: an end has that also where
# reading makes more of them than are read, as it does for somebody whose each system call stops.
if need strace; then
  ok "a trial of sleeps ends, also where reading what it has recorded makes more of it" \
    timeout -s KILL 60 "${STRACE[@]}" -f -o /dev/null "$NOPWATCH" stat -q --states -o out "usdt:$POOL:pool:*" -- true
else
  skip "a trial of sleeps where reading makes more of them" "strace is not installed"
fi

# More than a filter has room for: everybody's are recorded, and that is said.
"$POOL" 200 1000 20 named >said & pool=$!
until grep -qs 'all there' said; do sleep 0.05; done
NOPWATCH_FEATURES=-set_event_pid "$NOPWATCH" stat -v -j --states -d 1 -p $pool -o out.json 'pool:*' --span act=pool:begin..pool:end 2>err
has "too many threads for a filter: that is said" "$(cat err)" 'of all threads in the system are recorded, not only of those that are traced: their names and numbers do not fit into a filter'
holds "and their spans are split" out.json "of('span')[0]['states_ns']['sleeping']['count'] > 100"
kill $pool
# what the user asks for is not narrowed
NOPWATCH_FEATURES=-set_event_pid "$NOPWATCH" stat -v --states -o out "usdt:$STATES:states:*" tracepoint:sched:sched_waking -- "$STATES" 2 block >told 2>err
hasnt "events that the user asks for are all recorded, without a word" "$(cat err)" 'of all threads'
unchanged
finish
