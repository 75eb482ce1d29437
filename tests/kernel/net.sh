# --net: latencies without the probe overhead, beside a program's own clock.
# alone: it compares times with those of another clock
. "$(dirname "$0")/../lib/kernel.sh"

nested=$PWD/own/nested
cp "$PROGRAMS/nested" "$nested"

# slope FILE SPAN [gross]: by how much each hit inside makes a span longer, at least: what else runs only adds to it. gross:
# with what --net has taken off (which is the same for all spans of a group)
slope() {
  J=$1 SPAN=$2 GROSS=${3:-} python3 - <<'END'
import json, os
rows = [json.loads(line) for line in open(os.environ["J"])]
least = {row["group"]: row["latency_ns"]["min"] + (row["probe_cost_ns"]["min"] if os.environ["GROSS"] else 0)
         for row in rows if row["type"] == "span" and row["span"] == os.environ["SPAN"]}
print((least["100"] - least["0"]) / 100)
END
}
# of the program's own lines
own_slope() { awk '$1 == 0 { none = $2 } $1 == 100 { print ($2 - none) / 100 }' "$1"; }
less() { awk "BEGIN { exit !($2 < $3) }" || { echo "# $1: $2 is not less than $3"; return 1; }; }
# measure SPEC...: the hits' cost, too: it is taken off a hundred times, so what disturbed it is in all that follows
measure() {
  rm -f /run/nopwatch/hit.cost
  "$NOPWATCH" stat -j --net --by n -o net.json "$@" -- "$nested" 400 $kind >/dev/null 2>err
  "$nested" 400 $kind >own.txt
  gross=$(slope net.json nested:outer gross) net=$(slope net.json nested:outer) own=$(own_slope own.txt)
}
# both NAME SPEC...: gross and net of one run, and the program without probes. A call costs ten times what it does itself, and what
# it costs is known to some percent; and a machine that is busy may be slower in one of the runs: then they are made again.
both() {
  local name=$1
  shift
  for _ in 1 2 3 4 5; do
    measure "$@"
    less "net" "$own / 2" "$net" && less "net" "$net" "$own + ($gross - $own) / 2" && break
  done
  echo "# $name: a hit inside takes $gross ns, net $net ns, without probes $own ns"
  ok "$name: a hit inside makes a span longer by less than half of what it does gross" \
    less "net" "$net" "$own + ($gross - $own) / 2"
  ok "$name: but not by less than half of what it is without probes" less "own" "$own / 2" "$net"
  for n in 0 1 10 100; do
    holds "$name: $n inside: what is left and the cost make the whole, or nothing is left" net.json \
      "all(s['net'] and s['clamped'] >= 0 and s['probe_cost_ns']['count'] == s['count'] for s in of('span') if s['group'] == '$n')"
  done
}

kind=
both "USDT probes" 'nested:outer__start(n)' nested:outer__done nested:inner
kind=call
both "calls" 'nested:outer__start(n)' nested:outer__done "func:$nested:inner_call"

"$NOPWATCH" record -q -o trace.dat 'nested:outer__start(n)' nested:outer__done nested:inner -- "$nested" 100 >/dev/null 2>err
"$NOPWATCH" report -j --by n trace.dat >gross.json
"$NOPWATCH" report -j --net --by n trace.dat >net.json
ok "a recording knows what to take off" less "net" "$(slope net.json nested:outer)" "$(slope gross.json nested:outer)"
python3 - <<'END' && echo ok >sums
import json
def spans(name):
    return {r["group"]: r for r in map(json.loads, open(name)) if r["type"] == "span" and r["count"]}
gross, net = spans("gross.json"), spans("net.json")
assert gross.keys() == net.keys() and gross
for group, row in net.items():
    whole = gross[group]["latency_ns"]["sum"]
    assert row["probe_cost_ns"] == gross[group]["probe_cost_ns"]
    rest = row["latency_ns"]["sum"] + row["probe_cost_ns"]["sum"]
    assert rest == whole if not row["clamped"] else rest > whole, (group, rest, whole)
END
is "what is left and what is taken off is the whole" "$(cat sums)" ok

# a span is slow by what is left
limit=$(python3 -c 'import json; print(max(json.loads(l)["latency_ns"]["max"] for l in open("net.json") if json.loads(l)["type"] == "span"))')
"$NOPWATCH" trace -j --net --slower "${limit}ns" --from trace.dat >slow.json
holds "--slower compares what is left" slow.json \
  "len(of('slow')) == 1 and of('slow')[0]['net'] and of('slow')[0]['latency_ns'] == $limit and of('slow')[0]['probe_cost_ns'] > 0"
"$NOPWATCH" trace --slower "${limit}ns" --from trace.dat >gross.txt
"$NOPWATCH" trace --net --slower "${limit}ns" --from trace.dat | grep -v Latencies >net.txt
ok "and without it the whole" less "spans" "$(("$(wc -l <net.txt)" - 1))" "$(wc -l <gross.txt)"

# who wrote the recording may be anybody: a probe that there is not
LC_ALL=C sed 's/^hit_cost 0 /hit_cost 9 /' trace.dat >odd.dat
is "costs of probes that there are not are no harm" "$("$NOPWATCH" report -j odd.dat | grep -c '"type":"span"')" \
  "$("$NOPWATCH" report -j trace.dat | grep -c '"type":"span"')"

# every header says it
net_text='net of the probe overhead'
has "text" "$("$NOPWATCH" report --net trace.dat)" "^Latencies are $net_text \\(--net\\)\\.$"
has "lines of slow spans" "$("$NOPWATCH" trace --net --slower 1ns --from trace.dat | head -1)" "$net_text"
has "JSON" "$("$NOPWATCH" report -j --net trace.dat | head -1)" '"net":true'
has "CSV" "$("$NOPWATCH" report -f csv --net trace.dat | head -1)" ',nested,inner,invalid,at_least,symbol,net_clamped$'
"$NOPWATCH" report -f csv --net trace.dat >net.csv
is "and all its rows have that column" "$(python3 -c 'import csv; print(len({len(r) for r in csv.reader(open("net.csv"))}))')" 1
has "OpenMetrics" "$("$NOPWATCH" report -f openmetrics --net trace.dat)" "^# HELP nopwatch_latency_seconds .*$net_text"
has "the page" "$("$NOPWATCH" report -f html --net trace.dat)" '"net":true'
"$NOPWATCH" trace -f perfetto --net -o net.pf --from trace.dat
ok "the timeline, at each span" grep -aq net_ns net.pf
# A recording in which hits cost nothing: what --net then changes is what says that latencies are net. With stacks and states, so
# that each format has all that it can show.
"$NOPWATCH" record -q --stack --states -o all.dat 'nested:outer__start(n)' nested:outer__done -- "$nested" 10 >/dev/null 2>err
LC_ALL=C perl -pe 's/^(hit_cost [0-9]+ )([0-9 ]+)$/$1 . $2 =~ tr,0-9,0,r/e' all.dat >free.dat # as long as before
is "(hits cost nothing)" "$(grep -ac '^hit_cost [0-9]* 0* 0*$' free.dat)" "$(grep -ac '^hit_cost ' all.dat)"
says_net() { # WHAT FORMAT COMMAND...
  local what=$1
  shift
  "$@" >gross.out 2>err
  "$@" --net >net.out 2>>err
  is "$what: takes --net" "$?" 0
  # the page has its command
  diff -a gross.out <(LC_ALL=C sed 's/ --net//' net.out) | grep -a '^>' >says.out
  ok "$what: says it" grep -Eaq '(^|[^a-z])net([^a-z]|$)' says.out
}
for format in $("$NOPWATCH" __complete report -f '' | cut -f1); do
  slower="--slower 1ns"
  # some have no place for single spans
  # shellcheck disable=SC2086
  "$NOPWATCH" report -f "$format" $slower free.dat >/dev/null 2>&1 || slower=
  # shellcheck disable=SC2086
  says_net "report -f $format" "$NOPWATCH" report -f "$format" $slower free.dat
done
for format in $("$NOPWATCH" __complete trace -f '' | cut -f1); do
  slower="--slower 1ns"
  [ "$format" != perfetto ] || slower= # draws all of them
  # shellcheck disable=SC2086
  says_net "trace -f $format" "$NOPWATCH" trace -f "$format" $slower --from free.dat
done
"$NOPWATCH" report -j --net --slower 1ns free.dat >net.json
holds "each line that has a latency says so by itself" net.json \
  "all(row['net'] for row in rows if 'latency_ns' in row) and len(of('slow')) > 0 and len(of('span')) > 0"
"$NOPWATCH" report --net --slower 1ns free.dat >net.txt
is "so do lines of slow spans" "$(grep -c 'nested:outer [0-9.]*[num]*s net' net.txt)" "$(j net.json "len(of('slow'))")"
is "folded lines count a slow span once" "$("$NOPWATCH" report -f folded --slower 1ns free.dat | awk '{ n += $NF } END { print n }')" \
  "$(j net.json "len(of('slow'))")"
is "nobody says it who was not asked" "$("$NOPWATCH" report -j trace.dat | grep -c '"net"')" 0

# the parts of a span still add up to what is left
"$NOPWATCH" stat -j --net --states --slower 1ns -o states.json 'nested:*' -- "$nested" 50 >/dev/null 2>err
holds "states add up to what is left" states.json \
  "of('slow') and all(sum(s['states_ns'].values()) == s['latency_ns'] for s in of('slow') if 'states_ns' in s)"

# Spans that know their own lengths: what is left of the shortest of 10 us is no shorter than it was, but for a quarter of what was
# taken off; and it is nearer to its own length than gross. A machine that is busy may be slower in one of the runs.
lengths=$PWD/own/lengths
cp "$PROGRAMS/lengths" "$lengths"
for _ in 1 2 3 4 5; do
  rm -f /run/nopwatch/hit.cost
  "$NOPWATCH" stat -j --net -o net.json "usdt:$lengths:lengths:*" -- "$lengths" 10000 1000 >own.txt 2>err
  near=$(j net.json "(lambda apart, cost: -cost / 4 < apart < cost / 2)(span('lengths:span')['latency_ns']['min'] - $(cut -d ' ' -f 1 own.txt), span('lengths:span')['probe_cost_ns']['min'])")
  [ "$near" != True ] || break
done
comment "the least of 10 us: $(cat own.txt) by its own clock, $(j net.json "span('lengths:span')['latency_ns']['min'], span('lengths:span')['probe_cost_ns']['min']") net, and what was taken off"
is "the shortest span is as long as the program says" "$near" True
unchanged
finish
