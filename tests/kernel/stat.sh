# stat counts what a program does, exactly, by every way of naming and choosing it.
. "$(dirname "$0")/../lib/kernel.sh"

spec="usdt:$SERVER:myserver:*"
number() { sed -n "s/.*$1 \([0-9]*\).*/\1/p" "$2"; }

# -- CMD
"$NOPWATCH" stat -j "$spec" -o out.json -- "$SERVER" -t 4 -n 500 -p 0 >said
is "CMD's own exit status is passed on" $? 0
holds "requests are counted exactly" out.json "probe('myserver:request__done')['hits'] == $(number requests said)"
holds "both ends of the span, too" out.json \
  "span('myserver:request')['count'] == 2000 and span('myserver:lookup')['count'] == $(number lookups said)"
holds "a probe with several sites is one row" out.json \
  "probe('myserver:lookup__done')['hits'] == $(number lookups said)"
holds "a program that was waiting for its semaphore fires" out.json \
  "probe('myserver:request__start')['hits'] == 2000"
holds "nothing is unmatched, discarded or lost" out.json \
  "all(s['unmatched_starts'] == s['unmatched_ends'] == s['discarded'] == 0 for s in of('span')) and loss() == 0"
holds "the first line says how much is attached" out.json "first == {'type': 'attached', 'probes': 7, 'sites': first['sites'], 'host': '$(uname -n)', 'schema': 1} and first['sites'] >= 8"
holds "the last line says why it ended" out.json "last['reason'] == 'command' and last['elapsed_ns'] > 0"
holds "a nested span is shorter than what it is in" out.json \
  "span('myserver:parse')['latency_ns']['sum'] + span('myserver:lookup')['latency_ns']['sum'] < span('myserver:request')['latency_ns']['sum']"
holds "counts of buckets add up" out.json \
  "all(sum(b[2] for b in s['latency_ns']['buckets']) == s['count'] for s in of('span'))"

# recursion
"$NOPWATCH" stat -j 'counter:*' -o out.json -- "$PROGRAMS/counter" 1000 >said
holds "recursive calls pair from the inside out" out.json \
  "span('counter:inner')['count'] == 3000 and span('counter:inner')['unmatched_ends'] == 0"
holds "and a span may hold them" out.json "span('counter:step')['count'] == 1000"
"$NOPWATCH" stat 'counter:*' -- "$PROGRAMS/counter" 10 >text
has "text has a row a probe" "$(cat text)" '^counter:step__begin +10 '
has "and one a span" "$(cat text)" '^counter:inner +30 .* 0/0 +0$'
has "and says what was lost" "$(cat text)" '^80 hits in .*, 0 events lost$'
"$NOPWATCH" stat -f csv 'counter:*' -- "$PROGRAMS/counter" 10 >csv
is "csv has as many fields in every row" "$(grep -v ^steps csv | awk -F, '{ print NF }' | sort -u | wc -l)" 1

# exit status of CMD
"$NOPWATCH" stat -q counter:inner__entry -x "$PROGRAMS/counter" -- sh -c 'exit 7' >/dev/null
is "CMD's exit status is ours" $? 7
"$NOPWATCH" stat -q counter:inner__entry -x "$PROGRAMS/counter" -- sh -c 'kill -TERM $$' >/dev/null
is "CMD's death by signal is ours" $? 143

# -p: every thread, those made later included, and nobody else
"$SERVER" -t 3 -p 300 >said & server=$!
begun $server "$SERVER"
"$SERVER" -t 3 -p 300 >/dev/null & other=$!
begun $other "$SERVER"
wait_for has_threads $server 3
wait_for has_threads $other 3
"$NOPWATCH" stat -j 'myserver:request*' -p $server -n 300 -o out.json
holds "-p alone says where the probes are" out.json "probe('myserver:request__done')['hits'] > 100"
"$NOPWATCH" trace -j 'myserver:request__done' -p $server -o trace.json & run=$!
wait_for armed
each_answers $server 100
each_answers $other 100
kill $run
wait $run
holds "-p counts that process only" trace.json "{e['pid'] for e in of('event')} == {$server}"
holds "all its threads" trace.json "len({e['tid'] for e in of('event')}) == 3"
"$NOPWATCH" stat -j "usdt:$SERVER:myserver:request__done" -o both.json --by pid & run=$!
wait_for armed
each_answers $server 100
each_answers $other 100
kill $run
wait $run
holds "without -p everybody is counted" both.json \
  "{p['group'] for p in of('probe')} == {'$server', '$other'}"
kill $server $other
wait $server $other 2>/dev/null

# the death of the last -p ends the run
"$SERVER" >/dev/null & server=$!
begun $server "$SERVER"
"$NOPWATCH" stat -j 'myserver:request__done' -p $server -o out.json & run=$!
wait_for armed
kill $server
wait $server $run
holds "the death of the last -p ends it" out.json "last['reason'] == 'process'"

# intervals
# it goes on until so many are written: late, there are fewer
"$NOPWATCH" stat -j -i 100ms "usdt:$PROGRAMS/counter:counter:*" -o out.json -- \
  sh -c '"$1" 60 10000; for i in $(seq 600); do ! grep -q "\"interval\":4" out.json || break; sleep 0.1; done' sh "$PROGRAMS/counter" >said
holds "interval reports add up to the total" out.json \
  "sum(p['hits'] for p in of('probe') if p['probe'] == 'counter:inner__entry' and 'interval' in p) == probe('counter:inner__entry')['hits'] == 180"
holds "there are several" out.json "max(p.get('interval', 0) for p in of('probe')) >= 4"
"$NOPWATCH" stat -j -i 50ms -n 3 "usdt:$PROGRAMS/counter:counter:*" -o out.json -- "$PROGRAMS/counter" 100000 5000 >/dev/null
# the program may begin late: several intervals in which nothing happens are one row
holds "-n with -i ends after so many reports" out.json \
  "max([p.get('interval', 0) for p in of('probe')] + [q['last'] for q in of('quiet')]) == 3 and last['reason'] == 'count'"
"$NOPWATCH" stat -j -n 25 "usdt:$PROGRAMS/counter:counter:step__end" -o out.json -- "$PROGRAMS/counter" 100000 1000 >/dev/null
holds "-n without -i ends after so many hits" out.json "probe('counter:step__end')['hits'] == 25"

# arguments, groups, spans of one's own
"$NOPWATCH" stat -j 'counter:step__end(i, square)' -o out.json -- "$PROGRAMS/counter" 100 >/dev/null
holds "named arguments are summarised" out.json \
  "probe('counter:step__end')['args']['i'] | {} == probe('counter:step__end')['args']['i'] and (lambda a: (a['i']['min'], a['i']['max'], a['i']['sum'], a['square']['max']))(probe('counter:step__end')['args']) == (0, 99, 4950, 9801)"
"$NOPWATCH" stat -j 'counter:inner__entry(depth)' --by depth -o out.json -- "$PROGRAMS/counter" 100 >/dev/null
holds "groups by an argument" out.json \
  "sorted((p['group'], p['hits']) for p in of('probe')) == [('1', 100), ('2', 100), ('3', 100)]"
"$NOPWATCH" stat -j 'counter:step__begin(i)' 'counter:step__end(i)' \
  --span 'mine=counter:step__begin..counter:step__end,key=i' -o out.json -- "$PROGRAMS/counter" 50 >/dev/null
holds "a span by an argument" out.json "span('mine')['count'] == 50 and span('mine')['key'] == 'i'"

# processes
"$NOPWATCH" stat -j 'counter:inner__entry' -o out.json -- "$PROGRAMS/counter" 10 >/dev/null &
"$PROGRAMS/counter" 500 1000 >/dev/null
wait $!
holds "CMD's own probes are counted in CMD only" out.json "probe('counter:inner__entry')['hits'] == 30"
"$NOPWATCH" stat -j "usdt:$PROGRAMS/counter:counter:inner__entry" -o out.json -- sh -c "$PROGRAMS/counter 10; $PROGRAMS/counter 10" >/dev/null
holds "a load in another program counts everybody" out.json "probe('counter:inner__entry')['hits'] == 60"

# what is named is fetched and shown, and nothing else
"$NOPWATCH" stat -j 'counter:step__end(i)' -o out.json -- "$PROGRAMS/counter" 10 >/dev/null
holds "only the arguments that were named" out.json "list(probe('counter:step__end')['args']) == ['i']"
"$NOPWATCH" stat -j 'counter:step__end(i)' --hist arg1 -o out.json -- "$PROGRAMS/counter" 10 >/dev/null
holds "and those that something else names" out.json "list(probe('counter:step__end')['args']) == ['i', 'arg1']"
"$NOPWATCH" stat -j 'counter:step__end(i)' 'counter:step__begin' --slower 1h -o out.json -- "$PROGRAMS/counter" 10 >/dev/null
holds "and none of those that are fetched only to be shown with slow spans" out.json \
  "list(probe('counter:step__end')['args']) == ['i'] and probe('counter:step__begin')['args'] == {}"
# an argument that has a name has its number, too, wherever one is said
for how in "--by arg0" "--by i"; do
  # shellcheck disable=SC2086
  "$NOPWATCH" stat -j 'counter:step__end(i)' $how -o "${how#* }.json" -- "$PROGRAMS/counter" 10 >/dev/null
done
is "--by: by its number as by its name" "$(j arg0.json "sorted((p['group'], p['hits']) for p in of('probe'))")" \
  "$(j i.json "sorted((p['group'], p['hits']) for p in of('probe'))")"
is "--filter" "$("$NOPWATCH" stat -j 'counter:step__end(i)' --filter 'arg0 == 3' -- "$PROGRAMS/counter" 10 2>/dev/null | grep -o '"hits":[0-9]*')" \
  "$("$NOPWATCH" stat -j 'counter:step__end(i)' --filter 'i == 3' -- "$PROGRAMS/counter" 10 2>/dev/null | grep -o '"hits":[0-9]*')"
has "--hist, under its name" "$("$NOPWATCH" stat 'counter:step__end(i)' --hist arg0 -- "$PROGRAMS/counter" 10 2>/dev/null)" '^counter:step__end, i:$'
"$NOPWATCH" stat -j 'counter:step__begin(i)' 'counter:step__end(i)' --span 'counter:step__begin..counter:step__end,key=arg0' -o key.json -- "$PROGRAMS/counter" 10 >/dev/null
holds "a span's key" key.json "of('span')[0]['count'] > 0 and of('span')[0]['unmatched_ends'] == 0"
"$NOPWATCH" trace -j 'counter:step__begin()' 'counter:step__end' -n 8 -o out.json -- "$PROGRAMS/counter" 10 >/dev/null
holds "none, if none are" out.json "{len(e['args']) for e in of('event') if 'begin' in e['probe']} == {0} and {len(e['args']) for e in of('event') if 'end' in e['probe']} == {2}"
said=$("$NOPWATCH" stat 'counter:step__end(i)' --hist j -- "$PROGRAMS/counter" 10 2>&1)
has "--hist of what no probe has" "$? $said" "^2 nopwatch: --hist 'j': no probe has an argument of that name"
said=$("$NOPWATCH" stat 'counter:step__end(i)' --by j -- "$PROGRAMS/counter" 10 2>&1)
has "--by of what no probe has" "$? $said" "^2 nopwatch: --by 'j': no probe has an argument of that name"
has "a mean keeps its fraction" "$("$NOPWATCH" stat --hist i 'counter:step__end(i)' -- "$PROGRAMS/counter" 10 2>/dev/null)" 'step__end i .* 4\.50 '

unchanged
finish
