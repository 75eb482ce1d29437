# --states: where the time of spans went is what the kernel counts itself.
# alone: it reads the disk beside nobody, and uses the top-level buffer
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/page.sh
. "$TESTS_LIB/page.sh"

STATES=$PROGRAMS/states
ROUNDS=30
head -c 1M /dev/zero >block && sync block

# A span in which the kernel leaves out a switch must not be split. From an idle CPU some kernels leave out many, so the program's CPU
# is busy (while_busy).
# That CPU is the one that the disk interrupts: another one would have to interrupt this one to wake who reads, which takes
# 20 us on a virtual machine, between what the kernel counts and what its event says.
interrupts() {
  awk 'NR == 1 { for (n = NF; n; n--) cpu[n] = substr($n, 4); n = NF }
    $1 ~ /^[0-9]+:$/ { for (i = 1; i <= n; i++) sum[i] += $(i + 1) }
    END { for (i in sum) print cpu[i], sum[i] }' /proc/interrupts | sort
}
interrupts >before
for _ in {1..100}; do dd if=block of=/dev/null iflag=direct bs=4k count=1 status=none; done
interrupts >after
STATES_CPU=$(join before after | sort -n -k 2 | awk '$3 - $2 > most { most = $3 - $2; cpu = $1 } END { print cpu + 0 }')
export STATES_CPU
comment "the disk interrupts CPU $STATES_CPU"

# The program asks the kernel on both sides of a span's ends, so what it says is two bounds. Each state is within 2 % of
# the span, or 20 us, of both of them: in nine spans of ten, since a virtual machine's host may take the CPU in between
# the kernel's two clocks, and interrupts may come. Where the questions and the probes take longer than that, it is 1.5 times
# what they take in the middle span.
cat >compare.py <<'PY'
import json, sys
kind = sys.argv[1]
told = [line.split() for line in open("told")]
asking = sorted(int(line[6]) - int(line[3]) for line in told)[len(told) // 2]
spans = [s for s in map(json.loads, open("slow.json")) if s["type"] == "slow"]
bad, off = [], {what: [] for what in ("latency", "runnable", "running", "asleep")}
for span, line in zip(spans, told):
    ran, waited, wall, outer_ran, outer_waited, outer_wall, gave_up, had_to = map(int, line[1:])
    if line[0] != kind or "states_ns" not in span:
        continue
    states, latency = span["states_ns"], span["latency_ns"]
    tolerance = max(20000, latency // 50, asking * 3 // 2)
    if outer_wall - wall > tolerance or outer_waited - waited > tolerance:
        continue # it had to wait between its questions and its span: what it knows is not about the span
    if had_to > (20 if kind == "contend" else 1): # two who share it change places 5 to 10 times
        continue # others have taken the CPU, which the kernel dates to when they woke up (rq_clock_skip_update()), not to when it switched
    asleep = states["sleeping"] + states["disk"]
    known = {"latency": (latency, wall, outer_wall), "runnable": (states["runnable"], waited, outer_waited)}
    if gave_up:
        known["running"] = states["running"], ran, outer_ran
        known["asleep"] = asleep, wall - ran - waited, outer_wall - outer_ran - outer_waited
    else: # what a virtual machine's host takes of the CPU's time is not counted as running; but there was nothing else
        known["running"] = states["running"], wall - waited, outer_wall - outer_waited
        known["asleep"] = asleep, 0, 0
    wrong = []
    for what, (got, *bounds) in known.items():
        off[what].append(max(abs(got - bound) for bound in bounds))
        if off[what][-1] > tolerance:
            wrong.append((what, got, bounds, tolerance))
    never = {"spin": ("sleeping", "disk"), "contend": ("sleeping", "disk"), "disk": ("sleeping",)}.get(kind, ("disk",))
    if not all(states[state] == 0 for state in never) or not gave_up and asleep:
        wrong.append(("never", states))
    least = {"timer": states["sleeping"], "futex": states["sleeping"], "contend": states["runnable"],
             "spin": latency, "disk": states["disk"], "pipe": latency}[kind]
    if least < (2500000 if kind not in ("disk", "pipe") else 1):
        wrong.append(("too little", states))
    bad += [(line, wrong)] if wrong else []
if sys.argv[2:]:
    sys.exit(len(off["latency"]) < 5)
judged, whole = len(off["latency"]), sum(line[0] == kind for line in told)
for what, far in off.items():
    far.sort()
    print(f"{kind} {what}: the questions take {asking} ns; of {judged} spans the median is {far[judged // 2] if far else None} ns off at most, the worst {far[-1:]}")
if judged < 5 or len(bad) > judged / 10:
    sys.exit(f"{kind}: {len(bad)} are wrong of {judged}, of {whole} in all: {bad[:3]}")
PY
# measure COMMAND KIND...: do it, again if so much else has run meanwhile that hardly a span of some kind can be judged
measure() {
  local kind command=$1
  shift
  for _ in {1..5}; do
    $command
    for kind; do
      python3 compare.py "$kind" enough || continue 2
    done
    return
  done
  comment "five times hardly a span of $kind could be judged"
}

# Of the machine's other work, such as a test beside this one, the program need not wait.
first=(nice -n -15)
live() {
  while_busy "$STATES_CPU" "${first[@]}" "$NOPWATCH" trace -j --slower 1ns --states -o slow.json 'usdt:'"$STATES"':states:*(kind:string)' \
    --span 'act=states:begin..states:end' -- "$STATES" $ROUNDS block >told
}
measure live spin timer futex pipe disk contend
is "the program has run" "$(wc -l <told)" $((6 * ROUNDS))
holds "every span is there" slow.json "len(of('slow')) == 6 * $ROUNDS"
holds "and nearly every one is split" slow.json "sum('states_ns' in s for s in of('slow')) >= 6 * $ROUNDS * 0.8"
holds "the parts are its latency, to the nanosecond" slow.json \
  "all(sum(s['states_ns'].values()) == s['latency_ns'] for s in of('slow') if 'states_ns' in s)"

holds "every sleep has ended by somebody" slow.json "all(sum(w['ns'] for w in s['woken_by']) == \
  s['states_ns']['sleeping'] + s['states_ns']['disk'] for s in of('slow') if 'states_ns' in s)"
holds "a timer wakes who sleeps for some time" slow.json "all([w['by'] for w in s['woken_by']] == ['interrupt'] \
  for s in of('slow') if 'states_ns' in s and s['args']['start']['kind'] == 'timer')"
holds "who reads from a pipe is woken by who writes" slow.json "all(any(w['by'] == 'thread' and w['tid'] != s['tid'] \
  and w['comm'] == 'states' for w in s['woken_by']) for s in of('slow') if s.get('woken_by') and s['args']['start']['kind'] == 'pipe')"

# What the kernel itself says of who sleeps there (/proc/PID/wchan), by a program that sleeps long enough to be asked.
holds "and has slept somewhere" slow.json "all(sum(w['ns'] for w in s['slept_in']) == \
  s['states_ns']['sleeping'] + s['states_ns']['disk'] for s in of('slow') if 'states_ns' in s)"
sleep 100 & asleep=$!
sleep 0.2
wchan=$(cat /proc/$asleep/wchan 2>/dev/null)
kill $asleep
trigger=$(find "$TRACEFS/events/sched/sched_switch/trigger" 2>/dev/null)
if [ -n "$trigger" ] && [ "${wchan:-0}" != 0 ]; then
  holds "where a timer lets it sleep is what /proc says: $wchan" slow.json "all([w.get('function') for w in s['slept_in']] == ['$wchan'] \
    for s in of('slow') if 'states_ns' in s and s['args']['start']['kind'] == 'timer')"
  # the pipe's other end may have been quicker: then nobody slept
  holds "a pipe and a futex have places of their own" slow.json "all(s['args']['start']['kind'] in w['function'] for s in of('slow') \
    if s.get('slept_in') and s['args']['start']['kind'] in ('pipe', 'futex') for w in s['slept_in'] if 'function' in w)"
  holds "nearly all are told" slow.json "sum('function' in w for s in of('slow') for w in s.get('slept_in', [])) >= 2 * $ROUNDS"
else
  skip "where it sleeps: this kernel does not tell"
fi

for kind in spin timer futex pipe disk contend; do
  ok "$kind: as the kernel counts it" python3 compare.py $kind
done

while_busy "$STATES_CPU" "$NOPWATCH" stat -j --states -o all.json 'usdt:'"$STATES"':states:*(kind:string)' --by kind \
  --span 'act=states:begin..states:end' -- "$STATES" $ROUNDS block >told
holds "a distribution a state and group" all.json \
  "all(r['states_ns'][k]['count'] + r['unsplit'] == $ROUNDS for r in of('span') for k in r['states_ns']) and len(of('span')) == 6"
holds "which add up, where all are split" all.json \
  "all(sum(r['states_ns'][k]['sum'] for k in r['states_ns']) == r['latency_ns']['sum'] for r in of('span') if not r['unsplit'])"
holds "the scheduler's events are not among the probes" all.json \
  "[r for r in of('probe') if not r['probe'].startswith('states:')] == [] and of('attached')[0]['probes'] == 2"
is "nor in the count of hits" "$("$NOPWATCH" stat --states 'usdt:'"$STATES"':states:*' -- "$STATES" 5 block |
  sed -n 's/^\([0-9]*\) hits in.*/\1/p')" 60

recorded() {
  while_busy "$STATES_CPU" "${first[@]}" "$NOPWATCH" record -q --states -o rec.dat 'usdt:'"$STATES"':states:*' -- "$STATES" $ROUNDS block >told
  "$NOPWATCH" trace -j --slower 1ns --states --from rec.dat --span 'act=states:begin..states:end' >slow.json
}
measure recorded spin timer contend
holds "a recording has them, too" slow.json \
  "len(of('slow')) == 6 * $ROUNDS and all(sum(s['states_ns'].values()) == s['latency_ns'] for s in of('slow') if 'states_ns' in s)"
holds "and where they slept" slow.json "all(sum(w['ns'] for w in s['slept_in']) == \
  s['states_ns']['sleeping'] + s['states_ns']['disk'] for s in of('slow') if 'states_ns' in s)"
[ -z "$trigger" ] || holds "by name" slow.json "any('function' in w for s in of('slow') for w in s.get('slept_in', []))"
for kind in spin timer contend; do
  ok "$kind: and the same is in it" python3 compare.py $kind
done
"$NOPWATCH" report --states --span 'act=states:begin..states:end' rec.dat >text
has "a table for people" "$(cat text)" 'SPAN +STATE +SHARE +TOTAL'
has "and one of who woke them" "$(cat text)" 'SPAN +WOKEN BY +SHARE +TOTAL +COUNT'
has "and interrupts" "$(cat text)" 'act +\(interrupt\) +[0-9.]+% '
is "which misses nothing" "$(grep -c ' more ' text)" 0
"$NOPWATCH" report -f html --states --span 'act=states:begin..states:end' -o page.html rec.dat
"$NOPWATCH" report -j --states --span 'act=states:begin..states:end' rec.dat >report.json
page_data page.html >page.json
cat >page.py <<'PY'
import json
row = json.load(open("page.json"))["rows"][0]
span = next(r for r in map(json.loads, open("report.json")) if r["type"] == "span")
names = ["running", "runnable", "sleeping", "disk", "others"]
over_time = [sum(part[1 + i] for part in row["states_over_time"]) for i in range(5)]
assert over_time == [span["states_ns"][name]["sum"] for name in names], (over_time, span["states_ns"])
assert [row["states_ns"][name]["p99"] for name in names] == [span["states_ns"][name]["p99"] for name in names]
split = [slow for slow in row["slowest"] if "states_ns" in slow]
assert split and all(sum(slow["states_ns"].values()) == slow["ns"] for slow in split)
PY
ok "the page has them over time, in all, and of each slow span" python3 page.py
if has_browser; then
  cat >look.py <<'PY'
import json, os, sys
sys.path.insert(0, os.environ["TESTS_LIB"])
from browser import Browser
row = json.load(open("page.json"))["rows"][0]
with Browser(os.getcwd()) as browser:
    browser.open("page.html")
    shown = browser.run("return Object.fromEntries([...document.querySelectorAll('#states [data-state]')].map((d) => [d.dataset.state, Number(d.value)]))")
    heads = browser.run("return [...document.querySelectorAll('#rows th')].map((h) => h.textContent)")
    plot = browser.run("const r = document.querySelector('.plot').getBoundingClientRect(); return [r.x, r.y, r.width]")
    browser.drag((plot[0] + 70, plot[1] + 12), (plot[0] + plot[2] - 150, plot[1] + 270))
    slow = browser.run("return [...document.querySelectorAll('table.slow td.states')].map((d) => d.textContent)")
    print(shown == {name: parts["sum"] for name, parts in row["states_ns"].items() if parts["sum"]}, "Runnable" in heads,
          bool(slow) and all("running" in text or "not known" in text for text in slow), browser.console())
PY
  is "and shows them: in a table, as columns, and of what is selected" "$(TESTS_LIB=$TESTS_LIB python3 look.py 2>&1)" "True True True []"
else
  skip "states in a browser" "chromium and chromedriver are not installed"
fi
"$NOPWATCH" report -f openmetrics --states --span 'act=states:begin..states:end' rec.dat >metrics
is "OpenMetrics has a histogram a state" "$("$TESTS_LIB/openmetrics" metrics)" fine
is "of all that were split" \
  "$("$TESTS_LIB/openmetrics" metrics 'nopwatch_state_seconds_count{span="act",state="sleeping"}')" \
  "$(python3 -c "import json; print(next(s for s in map(json.loads, open('report.json')) if s['type'] == 'span')['states_ns']['sleeping']['count'])")"
has "top takes them, too" "$("$NOPWATCH" top --states --from rec.dat --span 'act=states:begin..states:end' 2>&1)" \
  'act +running +[0-9.]+%'
NOPWATCH_FEATURES=-stack_trigger "$NOPWATCH" stat -j --states -o out.json 'usdt:'"$STATES"':states:*' -- "$STATES" 5 block >told 2>err
has "without the trigger that is said" "$(cat err)" 'where threads sleep is not told.*stack_trigger'
holds "and nothing is made up" out.json "all(w.get('place') == 'unknown' for r in of('span') for w in r.get('slept_in', []))"
NOPWATCH_FEATURES=-instances while_busy "$STATES_CPU" "$NOPWATCH" stat -j --states -o out.json 'usdt:'"$STATES"':states:*' -- "$STATES" 5 block >told 2>err
has "in the top-level buffer that is said, too" "$(cat err)" 'where threads sleep is not told.*stack_trigger'
holds "spans are split there" out.json "sum(r['states_ns']['running']['count'] for r in of('span')) >= 24"
is "and no trigger is left behind" "$(grep -sv '^#' "$TRACEFS/events/sched/sched_switch/trigger")" ""
# Some kernels have prev_state one bit too high (docs/dev/kernel.md). Whether this one has, a trial finds, and a recording says.
NOPWATCH_FEATURES=-imm "$NOPWATCH" record -q --states -o tried.dat 'usdt:'"$STATES"':states:*' -- "$STATES" 2 block >told
is "the trial finds prev_state to be what it says" "$(grep -acx shifted_states tried.dat)" 0
rounds=5
shifted() {
  NOPWATCH_FEATURES=-switch_state while_busy "$STATES_CPU" "$NOPWATCH" record -q --states -o shifted.dat 'usdt:'"$STATES"':states:*(kind:string)' -- \
    "$STATES" $rounds block >told
  "$NOPWATCH" trace -j --slower 1ns --states --from shifted.dat --span 'act=states:begin..states:end' >slow.json
  rounds=$ROUNDS
}
# the disk may answer at once, so that nobody has to wait for it
of_kind() { echo "[s['states_ns'] for s in of('slow') if 'states_ns' in s and s['args']['start']['kind'] == '$1']"; }
some_slept() {
  [ "$(j slow.json "len($(of_kind timer)) >= 3 and any(s['sleeping'] + s['disk'] for s in $(of_kind disk))")" = True ]
}
measured some_slept shifted
holds "as if it were one bit too high: who sleeps could run" slow.json \
  "[s['sleeping'] + s['disk'] for s in $(of_kind timer)] in ([0] * n for n in range(3, $ROUNDS + 1))"
holds "and who waits for the disk sleeps" slow.json "any(s['sleeping'] for s in $(of_kind disk)) \
  and not any(s['states_ns']['disk'] for s in of('slow') if 'states_ns' in s)"
"$NOPWATCH" record -q -o without.dat 'usdt:'"$STATES"':states:*' -- "$STATES" 2 block >told
"$NOPWATCH" report --states without.dat >out 2>err
is "a recording without them cannot be split" $? 2
has "and it says so" "$(cat err)" 'there are no events of the scheduler'

unchanged
finish
