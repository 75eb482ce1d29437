# Others disable or delete the events of a run, or switch its recording off: it notices, and says from when.
. "$(dirname "$0")/../lib/kernel.sh"

"$SERVER" -t 2 -p 200 >/dev/null & server=$!
begun $server "$SERVER"

# meddled COMMAND...: run it in the background as $run, and wait until it is armed, and has hits
meddled() {
  "$@" 2>err & run=$!
  wait_for armed
  instance=$(our_instances)
  group=$(basename "$instance")
  wait_for hit 1000
}

# The event that the definition of a probe's site is in: named after it in a recording.
event_of() {
  sed -n "s,^p:$group/\([^ ]*\) .*,\1,p" "$TRACEFS/uprobe_events" | grep "$1" | head -n 1
}

noticed() { # WHAT: its note comes within two looks
  wait_for grep -q "$1" err
}

meddled "$NOPWATCH" stat -j 'myserver:parse__*' -p $server -o out.json
echo 0 >"$instance/events/$group/enable"
ok "events that are disabled are noticed" noticed 'myserver:parse__start: disabled by another program, .* to .* after the start: hits since then are missing'
kill -INT $run
wait $run
is "the run ends well" $? 0
holds "and its result says so" out.json "probe('myserver:parse__start')['state'] == 'disabled-by-others' and probe('myserver:parse__start')['hits'] > 0"
holds "from when" out.json "0 < probe('myserver:parse__start')['disabled_ns'] < last['elapsed_ns']"
unchanged "nothing is left"

# the breakpoints are hit, and nothing is recorded of it
for who in "-p $server" "-x $SERVER"; do
  # shellcheck disable=SC2086 # two words
  meddled "$NOPWATCH" stat -j $who 'myserver:parse__*' -o out.json
  echo 0 >"$instance/tracing_on"
  wait_for hit 1000 "$(session_hits)"
  kill -INT $run
  wait $run
  holds "hits that the kernel counted and did not record are told ($who)" out.json "of('loss')[0].get('not_recorded', 0) > 10"
done
unchanged "nothing is left"

meddled "$NOPWATCH" stat --strict 'myserver:parse__*' -p $server -o out
echo 0 >"$instance/tracing_on"
ok "recording that is switched off is noticed" noticed 'recording was switched off by another program'
kill -INT $run
wait $run
is "with --strict that is a failure" $? 1
has "the text says so" "$(cat out)" 'recording was switched off by another program'
unchanged "nothing is left"

# one event of a recording, which has one event a probe
meddled "$NOPWATCH" record 'myserver:parse__*' -p $server -o rec.dat
echo 0 >"$instance/events/$group/$(event_of parse__start)/enable"
ok "a recording notices, too" noticed 'myserver:parse__start: disabled by another program'
kill -INT $run
wait $run
"$NOPWATCH" report -j rec.dat >out.json
holds "and keeps it" out.json "[probe('myserver:parse__' + name)['state'] for name in ('start', 'done')] == ['disabled-by-others', 'hit']"
holds "from when" out.json "probe('myserver:parse__start')['disabled_ns'] > 0 and 'disabled_ns' not in probe('myserver:parse__done')"

# an event of one place, disabled and deleted, as the kernel's own check allows
meddled "$NOPWATCH" trace -j 'myserver:parse__start' -p $server -o out.json
echo 0 >"$instance/events/$group/enable"
for event in "$TRACEFS/events/$group"/*/; do
  echo "-:$group/$(basename "$event")" >>"$TRACEFS/uprobe_events"
done
ok "an event that is deleted is noticed" noticed 'its event was deleted by another program'
kill -INT $run
wait $run
is "and the run ends well" $? 0
holds "trace has a line for it" out.json "[row['probe'] for row in of('disabled')] == ['myserver:parse__start'] and of('disabled')[0]['disabled_ns'] > 0"
unchanged "nothing is left"

# nobody meddles
"$NOPWATCH" stat -j 'myserver:parse__*' -p $server -d 2.5 -o out.json 2>err
is "nothing is noticed where there is nothing" "$? $(cat err)" "0 "
holds "nor said" out.json "probe('myserver:parse__start')['state'] == 'hit'"
kill $server
wait $server 2>/dev/null
unchanged
finish
