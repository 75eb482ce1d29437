# stat -v: what of the spans is the probes' own time.
# alone: it compares times
. "$(dirname "$0")/../lib/kernel.sh"
rm -f /run/nopwatch/hit.cost # as after a boot

"$NOPWATCH" stat -v -j -o out.json 'myserver:*' -- "$SERVER" -t 2 -n 300 >/dev/null 2>err
has "what a hit costs is told" "$(cat err)" 'a hit adds [0-9.]+[nu]s to [0-9.]+[nu]s to its thread.s time, by probe \(measured on this machine'
has "and what that is of each span" "$(cat err)" 'myserver:request: probe overhead is [0-9.]+[num]s of each span, [0-9.]+ % of its time'
holds "each measured span has a cost" out.json \
  "all(s['probe_cost_ns']['count'] == s['count'] for s in of('span') if s['count'])"
# parse has no probes inside, so all of its spans have one hit; requests have parse's and lookup's inside
holds "a span with nothing inside has the cost of one hit" out.json \
  "span('myserver:parse')['probe_cost_ns']['min'] == span('myserver:parse')['probe_cost_ns']['max'] > 0"
holds "one around others has theirs, too, exactly" out.json \
  "(lambda one, r: r['min'] >= 3 * one and r['sum'] % one == 0)(span('myserver:parse')['probe_cost_ns']['min'], span('myserver:request')['probe_cost_ns'])"
"$NOPWATCH" record -q -o net.dat 'myserver:*' -- "$SERVER" -t 2 -n 300 >/dev/null 2>err
"$NOPWATCH" report -j --net net.dat >net.json
share=$(j net.json "(lambda left, cost: '%.1f' % (100 * cost / (left + cost)))(*[span('myserver:parse')[key]['sum'] for key in ('latency_ns', 'probe_cost_ns')])")
"$NOPWATCH" report -v --net net.dat >/dev/null 2>err
has "--net: the share is of what was measured, not of what is left" "$(cat err)" \
  "myserver:parse: probe overhead is [0-9.]+[nu]s of each span, ${share/./\\.} % of its time"
"$NOPWATCH" stat -j --slower 1ns -o out.json 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
holds "JSON has it in any case" out.json "all('probe_cost_ns' in s for s in of('span') if s['count'])"
holds "of each slow span, too" out.json "of('slow') and all(s['probe_cost_ns'] > 0 for s in of('slow'))"
"$NOPWATCH" stat -f csv -o out.csv 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
has "so has CSV" "$(cat out.csv)" '^probe_cost,myserver:parse,,,60,.*,,,,$'
"$NOPWATCH" stat -f openmetrics -o out.om 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
has "so has OpenMetrics" "$(cat out.om)" '^nopwatch_probe_cost_seconds_total\{span="myserver:parse"\} 0\.00[0-9]+$'

# text: where the overhead is more than a fifth of a span's P50, the report says so, without -v and without a measurement
cp /run/nopwatch/hit.cost cost.kept
sed -i 's/^kind \(nop\|long_nop\) .*/kind \1 100000 100000/; s/^times .*/times 5/' /run/nopwatch/hit.cost
cp /run/nopwatch/hit.cost cost.large
"$NOPWATCH" stat -o out.txt 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
has "text tells of overhead that is more than a fifth of a P50" "$(cat out.txt)" \
  '^myserver:[a-z]+: [0-9.]+[num]s of the P50 of [0-9.]+[num]s \([0-9]+ %\) is probe overhead.*; --net subtracts it$'
is "which was not measured again" "$(cat /run/nopwatch/hit.cost)" "$(cat cost.large)"
"$NOPWATCH" stat --net -o out.txt 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
hasnt "with --net there is nothing to tell" "$(cat out.txt)" 'is probe overhead'
rm /run/nopwatch/hit.cost
"$NOPWATCH" stat -o out.txt 'func:libc.so.6:getppid' -- "$SERVER" -t 1 -n 1 >/dev/null 2>err
ok "without a short span nothing is measured" [ ! -e /run/nopwatch/hit.cost ]
"$NOPWATCH" features >features.txt 2>err
is "features measures it once" "$(awk '$1 == "times" { print $2 }' /run/nopwatch/hit.cost)" 1
has "and shows it" "$(cat features.txt)" '^a USDT probe  +[0-9.]+[nu]s$'
"$NOPWATCH" features >features.txt 2>err
is "and no second time" "$(awk '$1 == "times" { print $2 }' /run/nopwatch/hit.cost)" 1
"$NOPWATCH" features --plain >plain.txt
is "features --plain: a sentence for each" "$(grep -vE '^(Feature [a-z0-9_]+ is (here|not here|masked): .*[.] Found by .*[.] Without it: .*[.]|A hit costs [0-9.]+[nu]s: .*[.]|)$' plain.txt)" ""
is "with the figures of the tables" "$(sed -n 's/^A hit costs \([^:]*\): \(.*\)[.]$/\2 \1/p' plain.txt)" \
  "$(sed '1,/^PROBE/d; s/   */ /' features.txt)"
rm /run/nopwatch/hit.cost
"$NOPWATCH" stat -o out.txt 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
ok "the first report since boot measures it if a span is short" grep -q '^times 1$' /run/nopwatch/hit.cost
mv cost.kept /run/nopwatch/hit.cost

# what was measured is kept until the next boot, and recordings have it; the first five runs measure
rm /run/nopwatch/hit.cost
for times in 1 2 3 4 5 5; do
  least=$(awk '$2 == "nop" { print $3 + $4 }' /run/nopwatch/hit.cost 2>/dev/null)
  "$NOPWATCH" stat -v 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
  is "measurement $times is counted" "$(awk '$1 == "times" { print $2 }' /run/nopwatch/hit.cost)" "$times"
  now=$(awk '$2 == "nop" { print $3 + $4 }' /run/nopwatch/hit.cost)
  ok "and no number is more than before" [ "$now" -le "${least:-$now}" ]
done
kept=$(cat /run/nopwatch/hit.cost)
has "what was measured is kept" "$kept" '^kind nop [0-9]+ [0-9]+$'
"$NOPWATCH" record -q -o trace.dat 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
"$NOPWATCH" report -j trace.dat >out.json 2>err
holds "a recording has the costs of its machine" out.json \
  "all(s['probe_cost_ns']['count'] == s['count'] for s in of('span') if s['count'])"
"$NOPWATCH" report -v trace.dat >out.txt 2>err
has "and its report tells them" "$(cat err)" 'measured on the machine of the recording'
is "nothing was measured again" "$(cat /run/nopwatch/hit.cost)" "$kept"
sed -i 's/^end$/ned/' /run/nopwatch/hit.cost
"$NOPWATCH" stat -j -o out.json 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
holds "what cannot be read is measured again" out.json "all('probe_cost_ns' in s for s in of('span') if s['count'])"
has "and kept" "$(cat /run/nopwatch/hit.cost)" '^end$'
# say COST: as if the event of the scheduler had been measured with that
say() { sed -i "s/^kind event .*/kind event $1/; s/^times .*/times 5/" /run/nopwatch/hit.cost; }
"$NOPWATCH" stat -v --states 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
has "what the events for --states have cost is told" "$(cat err)" "--states recorded [1-9][0-9]* scheduler events"
event=$(awk '$2 == "event" { print $3 + $4 }' /run/nopwatch/hit.cost)
case ${event:-0} in
0) event=350ns what="the usual cost: it could not be measured here" ;;
????*) event='[0-9.]+us' what="measured on this machine since it was booted" ;;
*) event=${event}ns what="measured on this machine since it was booted" ;;
esac
has "and that each has taken what was measured" "$(cat err)" "scheduler events, which cost their threads about $event each \($what\)"
say '0 0'
"$NOPWATCH" stat -v --states 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
has "where it could not be measured, what is usual" "$(cat err)" "cost their threads about 350ns each \(the usual cost: it could not be measured here\)"
say '1234 4321'
"$NOPWATCH" record -q --states -o states.dat 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
"$NOPWATCH" report -v --states states.dat >out.txt 2>err
has "a recording has what its machine measured" "$(cat err)" "cost their threads about 5\.5[0-9]+us each \(as the recording has it\)"
sed -i '/^kind event /d' /run/nopwatch/hit.cost
"$NOPWATCH" stat -v --states 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
has "what an earlier version has kept is measured again" "$(cat /run/nopwatch/hit.cost)" "^kind event [0-9]+ [0-9]+$"
# where who hits a probe that is taken away dies, it is measured, too
rm /run/nopwatch/hit.cost
NOPWATCH_FEATURES=-disarm_safe "$NOPWATCH" stat --net 'myserver:*' -- "$SERVER" -t 2 -n 30 >out 2>err
is "where a probe's end may kill it is measured, too" "$? $(grep -c '^end$' /run/nopwatch/hit.cost)" "0 1"
# The probes of one that measures trap in all others, too, whose calls "without probes" then take as long as those with them.
rm /run/nopwatch/hit.cost
python3 -c 'import fcntl, sys, time; readme = open(sys.argv[1]); fcntl.flock(readme, fcntl.LOCK_EX); time.sleep(60)' "$TRACEFS/README" & holder=$!
until ! flock -n "$TRACEFS/README" true; do sleep 0.05; done
"$NOPWATCH" stat -v 'myserver:*' -- "$SERVER" -t 2 -n 30 >out 2>err
has "it is measured by one at a time" "$? $(cat err)" '^0 .*another nopwatch has been measuring it for two seconds'
ok "so nothing is kept" [ ! -e /run/nopwatch/hit.cost ]
kill $holder
wait $holder
probed=$PWD/own/probed
cp "$(readlink -f "$NOPWATCH")" "$probed"
"$NOPWATCH" record -q -o probed.dat "uprobe:$probed:nw_cost_nop" & recorder=$!
wait_for armed
rm -f /run/nopwatch/hit.cost # it measures first
"$probed" stat -v 'myserver:*' -- "$SERVER" -t 2 -n 30 >out 2>err
has "while another has a probe there it cannot be measured" "$? $(cat err)" \
  '^0 .*the probe overhead in spans is not known: others have probes at the functions that it is measured with'
ok "and nothing is kept" [ ! -e /run/nopwatch/hit.cost ]
kill -INT $recorder
wait $recorder
rm -f /run/nopwatch/hit.cost
"$probed" stat -v 'myserver:*' -- "$SERVER" -t 2 -n 30 >out 2>err
ok "and then it is measured" grep -q '^times 1$' /run/nopwatch/hit.cost
NOPWATCH_FEATURES=-instances "$NOPWATCH" stat -v 'myserver:*' -- "$SERVER" -t 2 -n 30 >/dev/null 2>err
has "where it cannot be measured that is said" "$(cat err)" 'the probe overhead in spans is not known'
unchanged
finish
