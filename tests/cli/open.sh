# --open: the spans that have not ended, from the bundled recording. Few of its requests evict something, so a span from the end of
# a request to an eviction of the same key is open nearly always.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

export sample=$TESTS_LIB/../demo/sample.dat
span='idle=myserver:request__done..myserver:cache__evict,key=arg0'
"$NOPWATCH" trace -j --from "$sample" >events
"$NOPWATCH" report -j --open --span "$span" "$sample" >open.json
cat >judge.py <<'PY'
"""judge.py ROWS [END]: are these the open spans of the events (before END), the oldest first?"""
import json, sys
rows = [row for row in map(json.loads, open(sys.argv[1])) if row["type"] == "open"]
events = [row for row in map(json.loads, open("events")) if row["type"] == "event"]
end = int(sys.argv[2]) if len(sys.argv) > 2 else None
starts = {}
for event in events:
    if end and event["time_ns"] >= end:
        break
    stack = starts.setdefault(event["args"]["arg0"], [])
    if event["probe"] == "myserver:request__done":
        stack.append(event)
    elif event["probe"] == "myserver:cache__evict" and stack:
        stack.pop()
want = sorted((event for stack in starts.values() for event in stack), key=lambda event: event["time_ns"])
assert len(want) > 10 and len(rows) == 10, (len(want), len(rows))
for rank, (row, event) in enumerate(zip(rows, want), 1):
    assert row["span"] == "idle" and row["rank"] == rank and row["open"] == len(want), (row, len(want))
    assert row["start_ns"] == event["time_ns"] and row["args"] == {"start": event["args"]}, (row, event)
    assert all(row[key] == event[key] for key in ("cpu", "pid", "tid", "comm")), (row, event)
    assert "end" not in row and "latency_ns" not in row and "open_is_least" not in row
now = {row["start_ns"] + row["open_ns"] for row in rows}
assert len(now) == 1 and now.pop() >= (end or events[-1]["time_ns"]), "they are open until the report"
PY
ok "the ten oldest, with the arguments and the thread of their start, and how many there are" python3 judge.py open.json
is "the rest of the report is the same as without them" "$(grep -v '"type":"open"' open.json)" \
  "$("$NOPWATCH" report -j --span "$span" "$sample")"
first=$(python3 -c 'import json
for line in open("events"):
    row = json.loads(line)
    if row["type"] == "event":
        print(row["time_ns"]); break')
"$NOPWATCH" report -j --open -i 300ms --span "$span" "$sample" | grep '"type":"open"' >rows.json
grep '"interval":1,' rows.json >first.json
is "rows of an interval have its number, and those of the whole run have none" \
  "$(sed 's/.*"interval":\([0-9]*\),.*/\1/; t; s/.*/-/' rows.json | uniq | tr '\n' ' ')" "1 2 3 4 - "
end=$(python3 -c 'import json
for row in map(json.loads, open("first.json")):
    if row["type"] == "open":
        print(row["start_ns"] + row["open_ns"]); break')
ok "a report of an interval has those of its end" python3 judge.py first.json "$end"
ok "which is that of the interval" test $((end - first)) -lt 310000000
"$NOPWATCH" report --open --spans-only --span "$span" "$sample" >text
has "text has a heading" "$(grep 'idle, ' text | head -n 1)" '^idle, [0-9]+ open, the 10 oldest:$'
is "and a line for each, of the time of its start" \
  "$(grep -Ec '^ +[0-9.]+ +[01] server-[0-9]+ +idle open for [0-9.]+m?s  from arg0=[0-9]+ ' text)" 10
has "without any it says so" "$("$NOPWATCH" report --open "$sample")" '^No span is open[.]$'
has "with the slowest of them it has both" "$("$NOPWATCH" report --open --slowest 1 --spans-only "$sample")" 'the slowest:'
"$NOPWATCH" report --open --slower 1ms --span "$span" "$sample" >both
is "beside slow spans, too" "$(grep -c 'open for' both)" 10
# What began before a loss may have ended in it; its start is told all the same. Whose frame is gone has ended.
line() { printf '%16s-%-7d [000] ..... %11s: %s\n' app "$1" "$2" "$3"; }
{
  line 6 0.900001 'work__start: (0x401136) id=6'
  line 6 0.900002 'work__done: (0x401136) id=6'
  line 7 1.000001 'work__start: (0x401136) id=7'
  line 8 1.000002 'work__start: (0x401136) id=8'
  echo 'CPU:0 [LOST 17 EVENTS]'
  line 8 2.000001 'work__start: (0x401136) id=9'
} >lost.txt
"$NOPWATCH" report -j --open lost.txt >lost.json
is "a loss makes it uncertain whether a span is open" \
  "$(j lost.json "[(o['tid'], o['args']['start']['id'], o.get('end_may_be_lost', False)) for o in of('open')]")" \
  "[(7, 7, True), (8, 9, False)]"
has "text says so, too" "$("$NOPWATCH" report --open lost.txt)" 'work open for 1[.]00s \(or its end is lost\)  from id=7$'
"$NOPWATCH" report -f openmetrics --open lost.txt >out
is "openmetrics has how many there are, and the age of the oldest" \
  "$("$TESTS_LIB/openmetrics" out 'nopwatch_open_spans{span="work"}') $("$TESTS_LIB/openmetrics" out 'nopwatch_oldest_open_span_seconds{span="work"}')" "2 1"
"$NOPWATCH" report -f otlp --open lost.txt >out
is "otlp, too" "$("$TESTS_LIB/otlp" out '[last["nopwatch." + n][0]["asInt"] for n in ("open_spans", "oldest_open_span")]')" "['2', '1000000000']"
for format in csv html; do
  "$NOPWATCH" report -f "$format" --open "$sample" >/dev/null 2>err
  is "$format has no place for them, and says so" "$? $(head -n 1 err)" "2 nopwatch: --open: -f $format cannot show single spans"
done
"$NOPWATCH" report --open --span 'x=myserver:nothing..myserver:no' "$sample" >/dev/null 2>err
is "a span without probes is a mistake" $? 2

# more open spans than a run keeps
awk 'BEGIN { print "  app-1  [000] ..... 0.000000: op__done: (0x2) arg0=-1"
  for (i = 0; i < 1048581; i++) printf "  app-1  [000] ..... 1.%06d: op__start: (0x1) arg0=%d\n", i % 1000000, i }' |
  "$NOPWATCH" stat --span 'op=op__start..op__done,key=arg0' --from - >out 2>/dev/null
has "a sentence says how many starts were given up" "$(cat out)" '^5 starts were given up, since 1048576 spans were open: they count as unmatched$'
