# --span PROBE,duration=ARG:UNIT: durations that a program measures itself, from text and from the bundled recording.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

cat >calls.txt <<'T'
 app-10 [000] d... 100.000100: rpc: (0x55) took=50 op="get"
 app-10 [000] d... 100.000200: rpc: (0x55) took=1500 op="put"
 app-11 [001] d... 100.000300: rpc: (0x55) took=-3 op="get"
 app-11 [001] d... 100.000400: rpc: (0x55) took=100000401 op="get"
 app-11 [001] d... 100.000500: rpc: (0x55) took=0 op="get"
 app-11 [001] d... 100.000600: rpc: (0x55) op="odd"
 app-11 [001] d... 100.000700: rpc: (0x55) took=18446744073709551615 op="get"
 app-12 [001] d... 100.000800: other: (0x55) took=70 op="get"
T
stat() { "$NOPWATCH" stat --from calls.txt "$@"; }

stat -j --span 'rpc=rpc,duration=took:us' >out.json
holds "each hit is a span" out.json "(lambda d: (d['count'], d['min'], d['max'], d['sum']))(of('span')[0]['latency_ns']) == (3, 0, 1500000, 1550000)"
holds "what cannot be is counted: negative, longer than the machine has run, missing, more than a number holds" out.json \
  "of('span')[0]['invalid'] == 4 and of('span')[0]['unmatched_ends'] == 0"
has "and told" "$(stat --span 'rpc=rpc,duration=took:us')" '^rpc: 4 hits were not measured: the duration that they hand over is negative, no number, or longer than the machine has run \(is its unit right\?\)$'
for unit in '' ns us ms; do
  case $unit in us) max=1500000 ;; ms) max=1500000000 ;; *) max=100000401 ;; esac
  stat -j --span "rpc,duration=took${unit:+:$unit}" >out.json
  holds "unit '$unit'" out.json "of('span')[0]['latency_ns']['max'] == $max"
done
stat -j --span 'rpc,duration=took:s' >out.json
holds "unit 's'" out.json "of('span')[0]['latency_ns']['max'] == 50 * 10**9 and of('span')[0]['invalid'] == 5"
stat -j --span 'rpc|other,duration=took:us' --by op >out.json
holds "several probes, and --by" out.json "{r['group']: (r['count'], r['invalid']) for r in of('span')} == {'get': (3, 3), 'put': (1, 0), 'odd': (0, 1)}"
stat -j --slower 1ms --span 'rpc,duration=took:us' >out.json
holds "--slower" out.json "[(r['start_ns'], r['time_ns'], r['latency_ns'], r['tid'], r['args']) for r in of('slow')] == \
  [(99998700000, 100000200000, 1500000, 10, {'end': {'took': 1500, 'op': 'put'}})]"
has "--slowest" "$(stat --slowest 1 --span 'rpc,duration=took:us')" 'rpc +1\.50ms +to took=1500 op="put"'
stat -j --filter 'op == "put"' --span 'rpc,duration=took:us' >out.json
holds "--filter" out.json "(of('span')[0]['count'], of('span')[0]['invalid']) == (1, 0)"
sed 's/ 100\.000\(.\)00/ 100.00\1/' calls.txt >slowly.txt
"$NOPWATCH" stat --from slowly.txt -j -i 4ms --span 'rpc,duration=took:us' >out.json
holds "-i" out.json "[r['count'] for r in of('span') if r.get('interval')] == [3, 1]"
has "OpenMetrics" "$(stat -f openmetrics --span 'rpc,duration=took:us')" '^nopwatch_invalid_durations_total\{span="rpc"\} 4$'
has "CSV" "$(stat -f csv --span 'rpc,duration=took:us' | grep '^span')" '^span,rpc,,,3,.*,4,0?,$'
stat -f html --span 'rpc,duration=took:us' >page.html
ok "the page" grep -q '"invalid":4' page.html
stat -j --span 'rpc,duration=took:us' --span 'both=rpc..other' >out.json
holds "beside a span from start to end" out.json "{r['span']: r['count'] for r in of('span')} == {'rpc': 3, 'both': 0}"

refused() {
  stat --span "$1" 2>&1
  echo "= $?"
}
has "a unit that is none" "$(refused 'rpc,duration=took:h')" 'the unit of a duration is ns, us, ms or s'
has "an argument that is none" "$(refused 'rpc,duration=tok:us')" "span 'rpc' has the duration 'tok', but rpc has no argument of that name"
has "a start, too" "$(refused 'rpc..other,duration=took:us')" 'handed over by one probe, not from START to END'
has "a key, too" "$(refused 'rpc,key=op,duration=took:us')" 'needs no key'
has "nothing" "$(refused 'rpc,duration=')" 'the duration is not an argument'
has "no probe" "$(refused 'rcp,duration=took')" 'no probe that is traced hands it over'
is "all of them end with 2" "$(for span in 'rpc,duration=took:h' 'rpc..other,duration=took:us' 'rpc,duration='; do refused "$span" | tail -n 1; done | sort -u)" "= 2"

# a recording: arg0 of the sample's end is a number between 0 and 7 or so
sample=$TESTS_LIB/../demo/sample.dat
"$NOPWATCH" trace -j --from "$sample" >events
"$NOPWATCH" report -j --span 'n=myserver:request__done,duration=arg0:us' "$sample" >out.json
is "a recording" "$(j out.json "(lambda s: (s['count'], s['latency_ns']['sum'], s['latency_ns']['max']))(of('span')[0])")" \
  "$(j events "(lambda v: (len(v), 1000 * sum(v), 1000 * max(v)))([r['args']['arg0'] for r in of('event') if r['probe'] == 'myserver:request__done'])")"
finish
