# --max-rate: a probe that is hit too often is disabled in the kernel, the others stay.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/page.sh
. "$TESTS_LIB/page.sh"

# enabled PID: which of a session's events are enabled: "1" or "0" a line. Each instance has the events of all sessions,
# those of others disabled.
enabled() {
  cat "$TRACEFS"/instances/nopwatch_"$1"_*/events/nopwatch_"$1"_*/e*_*/enable
}
some_disabled() {
  enabled "$1" | grep -q '^0' && enabled "$1" | grep -q '^1'
}

# requests come by the thousand a second
"$SERVER" -t 1 -p 50 -d 600 >/dev/null & server=$!
begun $server "$SERVER"
"$NOPWATCH" stat -j 'myserver:*' -p $server --max-rate 100 -o all.json 2>said & stat=$!
wait_for grep -q 'request__done: disabled' said
kill -INT $stat
wait $stat
holds "all that is too fast is disabled" all.json "probe('myserver:request__done')['state'] == 'disabled'"
holds "what came before is counted" all.json "all(p['hits'] > 0 for p in of('probe') if p['state'] == 'disabled')"
has "each is told, when and at what rate" "$(cat said)" \
  '^nopwatch: myserver:request__done: disabled after [0-9.]+(ms|s): [0-9.k]+/s, more than --max-rate 100$'
is "once" "$(grep -c 'request__done: disabled' said)" 1
"$NOPWATCH" stat -f html 'myserver:*' -p $server --max-rate 100 -o page.html 2>said & stat=$!
wait_for grep -q 'request__done: disabled' said
sleep 1 # of the page's time, which is grey
kill -INT $stat
wait $stat
if has_browser; then
  tap_of "$TESTS_LIB/html_grey" page.html myserver:request
else
  skip "the page in a browser" "chromium and chromedriver are not installed"
fi
holds "open starts are discarded; unmatched is but what began before us" all.json \
  "all(s['unmatched_starts'] == 0 and s['unmatched_ends'] <= 1 for s in of('span'))"
kill $server
wait $server 2>/dev/null

# One program, of two probes one is fast: at most 200 steps a second, with a hundred calls each, so that on a machine that is
# slower by far, too, only these are too many.
limited_run() { # COMMAND...: until both of them are disabled, and the others hit behind that
  "$@" & stat=$!
  wait_for eval '[ "$(grep -c "counter:inner__.*: disabled" said)" = 2 ]'
  wait_for hit 20 "$(session_hits)"
  kill -INT $stat
  wait $stat
}
"$PROGRAMS/counter" 200000 5000 100 >/dev/null & counter=$!
begun $counter "$PROGRAMS/counter"
"$NOPWATCH" stat -j 'counter:step__*' 'counter:inner*' -p $counter --max-rate 250 -o out.json 2>said & stat=$!
ok "its event is disabled, others stay enabled" wait_for some_disabled $stat
wait_for hit 20 "$(session_hits)"
kill -INT $stat
wait $stat
is "it ends as ever" $? 0
kill $counter
wait $counter 2>/dev/null
holds "the fast probe says so" out.json \
  "{p['state'] for p in of('probe') if 'inner' in p['probe']} == {'disabled'}"
holds "the slow one goes on" out.json "{p['state'] for p in of('probe') if 'step' in p['probe']} == {'hit'}"
holds "its span is whole" out.json "span('counter:step')['count'] > 0 and span('counter:step')['unmatched_ends'] <= 1"
holds "that of the fast one has nothing unmatched but what began before us" out.json \
  "span('counter:inner')['unmatched_starts'] == 0"

# exactly
"$NOPWATCH" stat -j 'counter:*' --max-rate 1000000 -o out.json -- "$PROGRAMS/counter" 100 >/dev/null
holds "a limit that is not reached changes nothing" out.json \
  "probe('counter:inner__entry')['hits'] == 300 and probe('counter:inner__entry')['state'] == 'hit' and span('counter:inner')['count'] == 300"

# text, and the cost
"$PROGRAMS/counter" 200000 5000 100 >/dev/null & counter=$!
begun $counter "$PROGRAMS/counter"
limited_run "$NOPWATCH" stat -v 'counter:step__*' 'counter:inner*' -p $counter --max-rate 250 >text 2>said
has "text says it behind the table" "$(cat text)" '^counter:inner__entry: disabled after .*, more than --max-rate 250$'
has "-v tells what it cost" "$(cat said)" '(about|less than) [0-9.]+ % of one CPU in the traced processes: [0-9]+ hits, an estimated [0-9.]+[nu]s each'

# trace and record
limited_run "$NOPWATCH" trace -j 'counter:step__*' 'counter:inner*' -p $counter --max-rate 250 -o out.json 2>said
has "trace says it" "$(cat said)" 'counter:inner__entry: disabled after'
is "once, too" "$(grep -c 'inner__entry: disabled' said)" 1
holds "and goes on with the others" out.json "of('event')[-1]['probe'].startswith('counter:step')"
limited_run "$NOPWATCH" record 'counter:step__*' 'counter:inner*' -p $counter --max-rate 250 -o out.dat 2>said
has "record says it" "$(cat said)" 'counter:inner__entry: disabled after'
kill $counter
wait $counter 2>/dev/null
"$NOPWATCH" report -j out.dat >out.json
holds "a recording knows it" out.json \
  "probe('counter:inner__entry')['state'] == 'disabled' and probe('counter:step__end')['state'] == 'hit'"
holds "and nothing in it is unmatched" out.json "span('counter:inner')['unmatched_starts'] == 0"
has "and says it" "$("$NOPWATCH" report out.dat)" '^counter:inner__entry: disabled after .*, more than --max-rate 250$'

# without uprobe_events that hold several sites
NOPWATCH_FEATURES=-multi_site "$NOPWATCH" stat -q -j "usdt:$SERVER:myserver:*" --max-rate 1000 -o out.json -- "$SERVER" -t 2 -p 0 -n 100000 >/dev/null 2>said
holds "a probe of several events loses them all" out.json "probe('myserver:lookup__done')['state'] == 'disabled'"
is "-q says nothing" "$(cat said)" ""
unchanged
finish
