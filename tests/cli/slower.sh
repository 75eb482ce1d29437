# --slower: single spans as they end, from the bundled recording.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

export sample=$TESTS_LIB/../demo/sample.dat
j() { python3 "$TESTS_LIB/j" "$@"; }

"$NOPWATCH" trace -j --from "$sample" >events
"$NOPWATCH" trace -j --from "$sample" --slower 1ms >slow
ok "there are slow spans" grep -q '"type":"slow"' slow
is "and no hits beside them" "$(grep -c '"type":"event"' slow)" 0

# the same from the hits alone: every pair of a thread's, last in first out
ok "each span of at least so long, with its arguments, and no other" python3 - <<'PY'
import json
starts, want = {}, []
for line in open("events"):
    row = json.loads(line)
    if row["type"] != "event":
        continue
    name, _, moment = row["probe"].rpartition("__")
    stack = starts.setdefault((name, row["tid"]), [])
    if moment == "start":
        stack.append(row)
    elif moment == "done" and stack:
        start = stack.pop()
        if row["time_ns"] - start["time_ns"] >= 1000000:
            want.append((name, start["time_ns"], row["time_ns"], start["args"], row["args"], start["cpu"],
                         row["cpu"], row["tid"], row["pid"], row["comm"]))
got = [(s["span"], s["start_ns"], s["time_ns"], s["args"]["start"], s["args"]["end"], s["start"]["cpu"],
        s["cpu"], s["tid"], s["pid"], s["comm"])
       for s in map(json.loads, open("slow")) if s["type"] == "slow"]
assert want and got == want, (len(got), len(want), got[:2], want[:2])
PY
is "each has its latency and the limit" \
  "$(j slow "all(s['latency_ns'] == s['time_ns'] - s['start_ns'] and s['limit_ns'] == 1000000 for s in of('slow'))")" True
"$NOPWATCH" report -j --slower 1ms "$sample" >report
is "the same lines before a summary" "$(grep '"slow"' report)" "$(grep '"slow"' slow)"
is "which is the same as without them" "$(grep -v '"slow"' report)" "$("$NOPWATCH" report -j "$sample")"
has "a summary without a slow span says so, too" "$("$NOPWATCH" report --slower 1m "$sample" 2>&1 >/dev/null)" \
  '^nopwatch: [0-9]+ spans ended, none was so long; the longest took [0-9.]+ms$'
is "but not with -q, nor if there is one" "$("$NOPWATCH" report -q --slower 1m "$sample" 2>&1 >/dev/null; "$NOPWATCH" report --slower 1ms "$sample" 2>&1 >/dev/null)" ""
is "-n counts them" "$("$NOPWATCH" trace --from "$sample" --slower 1ms -n 3 | wc -l)" 3
is "one span's only" "$("$NOPWATCH" trace -j --from "$sample" --slower 1ms --span 'myserver:lookup__start..myserver:lookup__done' |
  grep -c '"slow"')" "$(j slow "sum(s['span'] == 'myserver:lookup' for s in of('slow'))")"
has "text has the span, its latency and both ends" \
  "$("$NOPWATCH" trace --from "$sample" --slower 1ms | head -n 1)" \
  '^ +[0-9.]+ +[0-9]+ +server-[0-9]+ +myserver:[a-z]+ [0-9.]+ms  from [a-z0-9]+=.*  to [a-z0-9]+='
"$NOPWATCH" trace -j --from "$sample" --slower p99 >relative
ok "relative to the spans before" test "$(grep -c '"slow"' relative)" -gt 0
is "each is longer than its limit" "$(j relative "all(s['latency_ns'] > s['limit_ns'] for s in of('slow'))")" True
has "and text says how long the others were" "$("$NOPWATCH" trace --from "$sample" --slower p99 | head -n 1)" \
  '\(p99 so far: [0-9.]+[mnu]?s\)'
"$NOPWATCH" trace --from "$sample" --slower 1h >none 2>told
is "none is no error" "$?.$(wc -c <none)" 0.0
spans=$("$NOPWATCH" trace -j --from "$sample" --slower 1ns | grep -c '"type":"slow"')
longest=$("$NOPWATCH" trace -j --from "$sample" --slower 1ns >each && j each "'%.2fms' % (max(s['latency_ns'] for s in of('slow')) / 1e6)")
is "but is told, with how long the longest was" "$(cat told)" "nopwatch: $spans spans ended, none was so long; the longest took $longest"
is "so are spans of which none has ended" "$("$NOPWATCH" trace --from "$sample" --slower 1ns --span 'x=myserver:request__done..myserver:cache__evict,key=arg0' 2>&1)" \
  "nopwatch: no span has ended"
is "unless -q is given" "$("$NOPWATCH" trace -q --from "$sample" --slower 1h 2>&1)" ""
"$NOPWATCH" trace --from "$sample" | head -n 1 >/dev/null
without=${PIPESTATUS[0]}
"$NOPWATCH" trace --from "$sample" --slower 1us | head -n 1 >/dev/null
is "a reader that goes away ends it as it ends other traces" "${PIPESTATUS[0]}" "$without"

"$NOPWATCH" report -j --slowest 5 "$sample" >slowest
ok "--slowest has the five longest spans of each kind, the longest first, with their arguments" python3 - <<'PY'
import json
"""every span with its arguments: those of at least 1 ns"""
import os, subprocess
every = subprocess.run([os.environ["NOPWATCH"], "report", "-j", "--slower", "1ns", os.environ["sample"]],
                       stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
every = [row for row in map(json.loads, every) if row["type"] == "slow"]
got = [row for row in map(json.loads, open("slowest")) if row["type"] == "slow"]
names = sorted({row["span"] for row in every})
assert sorted({row["span"] for row in got}) == names and len(names) == 3
for name in names:
    ours = [row for row in got if row["span"] == name]
    assert [row["rank"] for row in ours] == [1, 2, 3, 4, 5]
    want = sorted((row for row in every if row["span"] == name), key=lambda row: (-row["latency_ns"], row["time_ns"]))[:5]
    assert [row["latency_ns"] for row in ours] == [row["latency_ns"] for row in want], name
    by_time = {row["time_ns"]: row for row in every if row["span"] == name}
    for row in ours:
        assert row["args"] == by_time[row["time_ns"]]["args"] and row["comm"] == "server"
        assert "limit_ns" not in row
PY
is "the summary is the same as without them" "$(grep -v '"slow"' slowest)" "$("$NOPWATCH" report -j "$sample")"
"$NOPWATCH" report --slowest 2 --spans-only "$sample" >text
is "text has a heading for each kind" "$(grep -c ', the 2 slowest:$' text)" 3
is "and a line for each span" "$(grep -Ec '^ +[0-9.]+ +[0-9]+ +server-[0-9]+ +myserver:.*  from .*  to ' text)" 6
"$NOPWATCH" report -f html --slowest 3 "$sample" >page.html 2>err
is "a page has them anyway" "$?$(cat err)" 0
"$NOPWATCH" report -f csv --slowest 3 "$sample" >/dev/null 2>err
is "CSV has no place for the slowest" "$? $(head -n 1 err)" "2 nopwatch: --slowest: -f csv cannot show single spans"
"$NOPWATCH" report --slowest 3 --slower 1ms "$sample" >/dev/null 2>err
is "--slowest and --slower do not go together" "$? $(head -n 1 err)" \
  "2 nopwatch: --slowest and --slower do not go together"

for wrong in 0 p p0 p100 fast -1; do
  "$NOPWATCH" report --slower "$wrong" "$sample" >/dev/null 2>err
  is "--slower $wrong is a mistake" $? 2
done
has "that says what would be right" "$(cat err)" "--slower '-1': not a duration such as 50ms, or a percentile such as p99"
"$NOPWATCH" report -f csv --slower 1ms "$sample" >/dev/null 2>err
is "CSV has no place for them" $? 2
has "and says so" "$(cat err)" '--slower: -f csv cannot show single spans'
"$NOPWATCH" report -f openmetrics --states "$sample" >/dev/null 2>err
is "each that has reports has a place for what threads do" "$? $(head -n 1 err)" \
  "2 nopwatch: there are no events of the scheduler that tell what threads do"
"$NOPWATCH" report --states "$sample" >/dev/null 2>err
is "which a recording may not have" $? 2
has "and it says what would" "$(cat err)" 'record with --states, too'
finish
