# -f otlp: what OpenTelemetry's collector reads from a file.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
otlp() { "$TESTS_LIB/otlp" "$@" 2>&1; }
refuses() { # WHAT FILE: the checker does not say "fine"
  ok "the checker refuses $1" test "$(otlp "$2")" != fine
}

# ---- the checker ----
"$NOPWATCH" report -f otlp --spans-only "$sample" >out
is "metrics are OTLP" "$(otlp out)" fine
# it sees what is wrong: a number that is no string, an enumeration by name, an unknown field, a count that does not add up
for wrong in 's/"count":"913"/"count":913/' 's/"aggregationTemporality":2/"aggregationTemporality":"CUMULATIVE"/' \
  's/"scale":/"scales":/' 's/"count":"913"/"count":"914"/' 's/"timeUnixNano":"\([0-9]*\)"/"timeUnixNano":"1"/' 's/"key":"span"/"key":""/'; do
  sed "$wrong" out >bad
  refuses "$wrong" bad
done

# ---- metrics ----
"$NOPWATCH" report -j "$sample" >out.json
"$NOPWATCH" report -f otlp "$sample" >out
agree() { # FILE: each span's point has the numbers of our JSON, and the same counts at each power of two
  python3 - "$1" out.json <<'END'
import json, math, sys
spans = {o["span"]: o["latency_ns"] for o in map(json.loads, open(sys.argv[2])) if o["type"] == "span"}
line = json.loads(open(sys.argv[1]).readlines()[-1])
metrics = {m["name"]: m for m in line["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]}
assert metrics["nopwatch.latency"]["unit"] == "ns"
seen = 0
for point in metrics["nopwatch.latency"]["exponentialHistogram"]["dataPoints"]:
    ours = spans[point["attributes"][0]["value"]["stringValue"]]
    assert [int(point["count"]), point["sum"], point["min"], point["max"]] == [ours[k] for k in ("count", "sum", "min", "max")], point
    scale, offset, counts = point["scale"], point["positive"]["offset"], [int(c) for c in point["positive"]["bucketCounts"]]
    for power in range(40):
        theirs = sum(c for i, c in enumerate(counts, offset) if i < power << scale)
        assert theirs == sum(n for low, high, n in ours["buckets"] if high <= 2 ** power), (power, theirs)
        seen += 0 < theirs < int(point["count"])
    # any percentile is in a bucket that overlaps ours
    for p in ("p50", "p90", "p99", "p999"):
        rank, at = math.ceil(float("0." + p[1:]) * int(point["count"])), 0
        for i, c in enumerate(counts, offset):
            at += c
            if at >= rank:
                assert 2 ** (i / 2 ** scale) * 0.984 <= ours[p] <= 2 ** ((i + 1) / 2 ** scale) * 1.016, (p, ours[p], i)
                break
print(seen > 10)
END
}
is "histograms are ours, exact at powers of two" "$(otlp out) $(agree out)" "fine True"
is "counters" "$(otlp out '{labels(p)["probe"]: int(p["asInt"]) for p in last["nopwatch.hits"]}')" \
  "$(j out.json '{p["probe"]: p["hits"] for p in of("probe")}')"
is "gauges have no sum" "$(otlp out '[last[name][0]["asInt"] for name in ("nopwatch.lost_events", "nopwatch.lost_events_at_least")]')" "['0', '0']"
is "the resource" "$(otlp out '[resources[0].get(k) for k in ("service.name", "process.executable.name", "os.type")]')" "['server', 'server', 'linux']"
OTEL_SERVICE_NAME='shop "1"' "$NOPWATCH" report -f otlp "$sample" >named
is "the service by its own name" "$(otlp named 'resources[0]["service.name"]')" 'shop "1"'
is "time is the recording's" \
  "$(otlp out 'int(last["nopwatch.hits"][0]["timeUnixNano"]) - int(last["nopwatch.hits"][0]["startTimeUnixNano"])')" "$(j out.json 'last["elapsed_ns"]')"
"$NOPWATCH" stat -f otlp -i 250ms --from "$sample" --by tid >lines
is "with -i, a line a report, each of all until then" \
  "$(otlp lines '[len(metrics["nopwatch.lost_events"]), sorted(map(int, {p["timeUnixNano"] for p in metrics["nopwatch.elapsed"]})) == [int(p["timeUnixNano"]) for p in metrics["nopwatch.elapsed"]][:5]]')" "[5, True]"
is "they only grow" "$(otlp lines 'all(len(s) > 1 and s == sorted(s) for s in [[int(p["asInt"]) for p in metrics["nopwatch.hits"] if labels(p) == l] for l in map(labels, last["nopwatch.hits"])])')" True
is "groups are attributes" "$(otlp lines 'sum(int(p["count"]) for p in last["nopwatch.latency"] if labels(p)["span"] == "myserver:parse" and labels(p)["tid"])')" 913
"$NOPWATCH" report -f otlp --by tid -o file.otlp "$sample"
is "in a file" "$(otlp file.otlp) $(wc -l <file.otlp) $(stat -c %a file.otlp)" "fine 1 600"

# arguments of both signs, names from elsewhere, and a source that does not know the time of day
for at in 5 6 7; do
  printf '%16s-%-7d [%03d] ..... %12s: %s\n' 'a"b\c' 7 0 $at.0 "x_start: (0x1) probe=1 v=-$at u=18446744073709551615 s=\"a"$'\x01'"b\"" 'a"b\c' 7 0 $at.5 'x_done: (0x1) v=4'
done >text
"$NOPWATCH" stat -f otlp --by comm --hist v --from text >out
is "negative values" "$(otlp out 'str([(p["scale"], p["negative"]["offset"], p["negative"]["bucketCounts"], "sum" in p, p["min"], p["max"]) for p in points("nopwatch.arg", probe="x_start", arg="v", comm="a\"b\\c")])')" \
  "[(5, 74, ['1', '0', '0', '0', '0', '0', '0', '0', '1', '0', '0', '0', '0', '0', '0', '1'], False, -7, -5)]"
is "time counts from the start of the machine" "$(otlp out 'last["nopwatch.hits"][0]["startTimeUnixNano"]')" 5000000000
"$NOPWATCH" stat -f otlp --by v,probe --from text >out
is "labels that would collide" "$(otlp out)" fine

# ---- spans ----
"$NOPWATCH" trace -f otlp --slower 1ms --from "$sample" >spans
"$NOPWATCH" trace -j --slower 1ms --from "$sample" >slow.json
is "slow spans are spans of traces" "$(otlp spans)" fine
is "they are those of JSON" "$(otlp spans '[[s["name"], int(s["endTimeUnixNano"]) - int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"]), labels(s)["thread.id"]] for s in spans]')" \
  "$(j slow.json '[[s["span"], s["latency_ns"], int(s["wall_ns"]), s["tid"]] for s in of("slow")]')"
is "with their arguments" "$(otlp spans '[labels(s)["nopwatch.end.arg1"] for s in spans]')" "$(j slow.json '[s["args"]["end"]["arg1"] for s in of("slow")]')"
is "each has identifiers of its own" "$(otlp spans 'len({s["traceId"] for s in spans}) == len({s["spanId"] for s in spans}) == len(spans) > 50')" True
"$NOPWATCH" trace -f otlp --slower 1ms --from "$sample" >again
ok "the same span has the same ones again" cmp spans again
sed '1s/"kind":1/"kind":"SPAN_KIND_INTERNAL"/' spans >bad
refuses "a kind by its name" bad
sed '1s/"traceId":"[0-9a-f]*"/"traceId":"00000000000000000000000000000000"/' spans >bad
refuses "an identifier of zeroes" bad
"$NOPWATCH" trace -f otlp --slower 1ns --from text >spans
is "values of each kind" "$(otlp spans '[labels(spans[0])["nopwatch.start." + k] for k in "vus"]')" "[-5, '18446744073709551615', 'a\\x01b']"

# ---- one signal a file ----
refused() { # WHAT LINE COMMAND...
  local what=$1 line=$2
  shift 2
  "$NOPWATCH" "$@" >said 2>&1
  is "$what" "$? $(head -n 1 said)" "2 nopwatch: $line"
}
refused "hits are no signal" "-f otlp shows slow spans, not hits" trace -f otlp --from "$sample"
refused "spans do not go between metrics" "--slower: -f otlp of 'report' has metrics only, since a file has one signal" report -f otlp --slower 1ms "$sample"
refused "nor the slowest ones" "--slowest: -f otlp of 'report' has metrics only, since a file has one signal" report -f otlp --slowest 3 "$sample"
refused "nor stacks" "--stack: -f otlp of 'stat' has metrics only, since a file has one signal" stat -f otlp --stack --from "$sample"
refused "several runs have no time of theirs" "-f otlp shows one recording, without --by host" report -f otlp "$sample" "$sample"
refused "buckets are its own" "--buckets goes with -f openmetrics, and with serve" report -f otlp --buckets 1ms "$sample"
finish
