# report with several results: one summary, which is the sum of its parts.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

sample=$TESTS_LIB/../demo/sample.dat
report() { "$NOPWATCH" report "$@"; }
# Print the rows of a kind as Python sees them, but for the keys that a merged report tells otherwise.
rows() { # FILE TYPE
  python3 - "$@" <<'PY'
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row["type"] == sys.argv[2]:
        for key in "rate_hz", "gap_ns", "state":
            row.pop(key, None)
        for dist in [row.get("latency_ns", {}), *row.get("args", {}).values()]:
            for key in "mean", "stddev":
                dist[key] = round(dist.get(key, 0), 3)
        print(json.dumps(row, sort_keys=True))
PY
}

# ---- parts and the whole -------------------------------------------------------------------

report -j "$sample" >whole.json
tids=$(report -j --by tid "$sample" | sed -n 's/.*"type":"span".*"group":"\([0-9]*\)".*/\1/p' | sort -u)
for tid in $tids; do report -j --filter "tid == $tid" "$sample" >"part-$tid.json"; done
if [ "$(ls part-*.json | wc -l)" -gt 1 ]; then pass "the sample has several threads"; else fail "the sample has several threads"; fi
report -j part-*.json >merged.json
is "spans of the parts are those of the whole" "$(rows merged.json span)" "$(rows whole.json span)"
# so many that the array of them does not stay where it was
for i in $(seq 40); do cp whole.json "copy$i.json"; done
report -j copy*.json >forty.json
is "forty files: status" $? 0
is "have forty times the spans" "$(j forty.json "[s['count'] for s in of('span')]")" "$(j whole.json "[40 * s['count'] for s in of('span')]")"
report -q -j --diff copy?.json -- copy[1-4]?.json >sides.json
is "nine files and thirty-one: status" $? 0
is "are compared" "$(j sides.json "[rows[0][side]['runs'] for side in ('before', 'after')]")" "[9, 31]"
rm copy*.json
is "and so are hits and arguments" "$(rows merged.json probe)" "$(rows whole.json probe)"
has "the first line says how many runs there are" "$(head -n 1 merged.json)" "\"runs\":$(ls part-*.json | wc -l)"
report -j merged.json >again.json
is "a merged result is read, too" "$(rows again.json span)" "$(rows whole.json span)"
report -j whole.json "$sample" >twice.json
report -j "$sample" whole.json >twice-2.json
is "recordings and JSON lines go together, in any order" "$(rows twice.json span)" "$(rows twice-2.json span)"
is "and counts are added" "$(j twice.json "sum(p['hits'] for p in of('probe'))")" \
  "$((2 * $(j whole.json "sum(p['hits'] for p in of('probe'))")))"
is "times are added, so rates are those of one run" "$(j twice.json "round(of('probe')[0]['rate_hz'], 3)")" \
  "$(j whole.json "round(of('probe')[0]['rate_hz'], 3)")"
has "text says of how many runs it is" "$(report "$sample" whole.json)" ' hits in [0-9.a-z]+ of 2 runs, 0 events lost$'
is "a pipe of JSON lines is read" "$(report -j <(cat whole.json) <(cat whole.json) | grep -c '"type":"span"')" \
  "$(rows whole.json span | wc -l)"
is "CSV has the same rows" "$(report -f csv "$sample" whole.json | cut -d, -f1 | sort | uniq -c | tr -s ' \n' ' ')" \
  "$(report -f csv "$sample" | cut -d, -f1 | sort | uniq -c | tr -s ' \n' ' ')"
report -f openmetrics "$sample" whole.json >metrics
has "OpenMetrics adds" "$(grep '^nopwatch_hits_total' metrics | head -n 1)" ' [1-9]'
is "one file of JSON lines is enough" "$(report -j whole.json | grep -c '"type":"span"')" "$(rows whole.json span | wc -l)"

sed 's/{"type":"loss","events":0,"discarded_spans":0/{"type":"loss","events":7,"discarded_spans":3/' whole.json >lossy.json
has "losses are added" "$(report lossy.json lossy.json "$sample")" ' of 3 runs, 14 events lost: 6 spans discarded, counts with a \+ are too low'

# ---- groups, and hosts -----------------------------------------------------------------------

report -j --by cpu,comm "$sample" >groups.json
report -j groups.json groups.json >groups-twice.json
is "JSON lines keep their groups" "$(rows groups-twice.json span | grep -o '"group": "[^"]*"' | sort)" \
  "$(rows groups.json span | grep -o '"group": "[^"]*"' | sort)"
is "and their keys" "$(head -n 1 groups-twice.json | grep -o '"group_by":"[^"]*"')" '"group_by":"cpu,comm"'
is "which a recording takes, too" "$(report -j groups.json "$sample" | grep -c '"group"')" "$(grep -c '"group"' groups.json)"
for host in web1 web2; do
  sed "1s/}\$/,\"host\":\"$host\"}/" whole.json >$host.json
  sed "1s/}\$/,\"host\":\"$host\"}/" groups.json >groups-$host.json
done
report -j --by host web1.json web2.json "$sample" >hosts.json
is "--by host groups by the machine, or by the file where it is unknown" "$(rows hosts.json span | grep -o '"group": "[^"]*"' | sort -u | tr '\n' ' ')" \
  "$(printf '"group": "%s"\n' "$sample" web1 web2 | sort | tr '\n' ' ')"
is "each with its own counts" "$(j hosts.json "[s['count'] for s in of('span') if s['group'] == 'web2' and s['span'] == 'myserver:parse']")" \
  "[$(j whole.json "[s['count'] for s in of('span') if s['span'] == 'myserver:parse'][0]")]"
report -j --by cpu,host,comm "$sample" groups-web2.json >three.json
is "the host stands where it was asked for" "$(j three.json "sorted(set(list(s['by'])[1] for s in of('span')))")" "['host']"
is "and all groups are there" "$(j three.json "len(of('span'))")" "$((2 * $(rows groups.json span | wc -l)))"
sed 's/"group_by":"cpu,/"group_by":"title(a,b),/;s/"by":{"cpu"/"by":{"title(a,b)"/' groups-web1.json >title.json
report -j --by 'host,title(a,b),comm' title.json title.json >titles.json
is "a comma in parentheses is part of a key" "$(j titles.json "sorted(set(len(s['by']) for s in of('span')))")" "[3]"
is "--by host goes with one file" "$(report -j --by host web2.json | grep -c '"group":"web2"')" "$(grep -cE '"type":"(span|probe)"' whole.json)"

# ---- what cannot be --------------------------------------------------------------------------

refused() { # WHAT STATUS PATTERN ARGUMENT...
  local what=$1 status=$2 pattern=$3 out
  shift 3
  out=$(report "$@" 2>&1 >/dev/null)
  is "$what: status" $? "$status"
  has "$what: reason" "$out" "$pattern"
}
refused "other groups" 2 "'whole.json' has rows without groups, which cannot be grouped by tid" --by tid whole.json "$sample"
has "with what to type" "$(report --by tid whole.json 2>&1)" 'nopwatch stat -j --by tid'
refused "groups and none" 2 "'groups.json' has rows grouped by cpu,comm, which cannot be grouped otherwise" "$sample" groups.json
refused "a filter" 2 "'whole.json' has rows that were measured without --filter" --filter 'tid > 1' "$sample" whole.json
refused "--net" 2 "'whole.json' has rows that were measured without --net" --net whole.json
refused "intervals" 2 '-i goes with one recording, not with several' -i 1 "$sample" "$sample"
refused "a page" 2 '-f html shows one recording' -f html -o x.html "$sample" "$sample"
refused "the slowest" 2 '--slowest needs a recording' --slowest 3 whole.json
refused "something else" 1 'neither a recording nor trace text' "$TESTS_LIB/tap.sh" "$sample"
refused "no such file" 1 "cannot read 'nowhere.dat'" "$sample" nowhere.dat
"$NOPWATCH" trace -j --from "$sample" >events.json
refused "hits" 1 "'events.json', line 2: a single hit: .report. reads what .nopwatch stat -j. has printed" events.json whole.json
report -j --top 1 "$sample" >top.json
refused "--top" 1 "'top.json', line [0-9]+: it was made with --top" top.json "$sample"
sed '$d' whole.json >short.json
refused "an unfinished file" 1 "'short.json' is not the whole output of .nopwatch stat -j.: its last line, \"end\", is missing" short.json whole.json

# ---- hostile lines ---------------------------------------------------------------------------

bad() { # WHAT PATTERN EDIT: a line of the whole changed by sed
  sed "$3" whole.json >bad.json
  if cmp -s whole.json bad.json; then fail "$1: the edit changes nothing"; fi
  refused "$1" 1 "'bad.json', line [0-9]+: $2" bad.json "$sample"
}
contradict='its numbers contradict each other'
bad "no JSON" 'not JSON: ' '2s/^{/[/'
bad "half a line" 'not JSON: it ends in the middle of a value' '2s/.\{20\}$//'
bad "another line" 'no line of JSON that nopwatch has printed' '2s/"type"/"kind"/'
bad "no name" 'the row has no name' '2s/"probe":"[^"]*"/"probe":7/'
bad "too few values" "$contradict" '/"type":"span"/s/"latency_ns":{"count":[0-9]*/"latency_ns":{"count":3/'
bad "more values than there can be" "$contradict" '/"type":"span"/s/"latency_ns":{"count":[0-9]*/"latency_ns":{"count":"18446744073709551615"/'
bad "a negative count" "$contradict" '/"type":"span"/s/"unmatched_ends":[0-9]*/"unmatched_ends":-1/'
bad "a bucket of other bounds" "$contradict" '/"type":"span"/s/"buckets":\[\[[0-9]*,/"buckets":[[7,/'
bad "min above max" "$contradict" '/"type":"span"/s/"min":[0-9]*/"min":"18446744073709551614"/'
bad "a mean above all values" "$contradict" '/"type":"span"/s/"mean":[0-9.]*/"mean":1e300/'
bad "a mean that is no number" 'not JSON: ' '/"type":"span"/s/"mean":[0-9.]*/"mean":NaN/'
bad "a mean without end" "$contradict" '/"type":"span"/s/"mean":[0-9.]*/"mean":1e999/'
bad "a deviation below zero" "$contradict" '/"type":"span"/s/"stddev":[0-9.]*/"stddev":-1/'
bad "a deviation that is larger than the range" "$contradict" '/"type":"span"/s/"stddev":[0-9.]*/"stddev":1e18/'
bad "buckets below the least value" "$contradict" '/"type":"span"/s/"min":[0-9]*/"min":16000000/;/"type":"span"/s/"max":[0-9]*/"max":16000001/;/"type":"span"/s/"mean":[0-9.]*/"mean":16000000/;/"type":"span"/s/"stddev":[0-9.]*/"stddev":0/'
bad "a text for a number" "$contradict" '/"type":"span"/s/"mean":[0-9.]*/"mean":"much"/'
bad "deep nesting" 'not JSON: ' "2s/\"args\":{}/\"args\":$(printf '[%.0s' {1..100})/;2s/\"state\"/\"x\":$(printf '[%.0s' {1..100}),\"state\"/"
sed '2p' whole.json >bad.json
refused "a row that is there twice" 1 "'bad.json', line [0-9]+: $contradict" bad.json "$sample"
sed 's/"probe":"myserver:[a-z_]*"/"probe":"\\u001b[31m\\u0000x"/' whole.json >bad.json
hasnt "escape sequences in names do not reach the terminal" "$(report bad.json "$sample" 2>&1)" "$(printf '\033')"
sed 's/"host":"[^"]*"/"host":"\\u001b[31mx"/' web1.json >bad.json
hasnt "nor in the name of a host" "$(report --by host bad.json "$sample" 2>&1)" "$(printf '\033')"

finish
