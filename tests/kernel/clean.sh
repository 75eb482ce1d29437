# After kill -9 at any moment, the next run or `clean` leaves tracefs exactly as before, and what
# belongs to others is untouched and still enabled.
. "$(dirname "$0")/../lib/kernel.sh"

"$SERVER" -t 2 -p 100 >/dev/null & server=$!
begun $server "$SERVER"
offset=$("$NOPWATCH" list -j "$SERVER" 'myserver:parse__start' | j /dev/stdin "first['offset']")

# somebody else's probe, on the same place, enabled
echo "p:foreign/parse $SERVER:$offset" >>"$TRACEFS/uprobe_events"
echo 1 >"$TRACEFS/events/foreign/parse/enable"
foreign_lives() {
  grep -q "^p:foreign/parse " "$TRACEFS/uprobe_events" &&
    [ "$(cat "$TRACEFS/events/foreign/parse/enable")" = 1 ]
}
with_foreign=$(tracefs_state)

left=0
for i in $(seq 20); do
  "$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
  # from before its first step to well after it is armed
  sleep "0.$(printf '%03d' $((RANDOM % 60 * (i % 4))))"
  kill -9 $run
  wait $run 2>/dev/null
  [ "$(tracefs_state)" = "$with_foreign" ] || left=$((left + 1))
  if [ $((i % 2)) = 0 ]; then
    "$NOPWATCH" clean -q
  else
    "$NOPWATCH" stat -q -n 1 'myserver:parse__start' -p $server >/dev/null
  fi
  [ "$(tracefs_state)" = "$with_foreign" ] || break
done
is "tracefs is as before after each of 20 kills" "$(tracefs_state)" "$with_foreign"
[ $left -gt 0 ] && pass "some of the kills did leave something to clean ($left)" ||
  fail "some of the kills did leave something to clean"
ok "the foreign event is there and enabled" foreign_lives
ok "the server is alive" kill -0 $server

# a living session is left alone
"$NOPWATCH" stat -j 'myserver:parse__done' -p $server -d 2 -o out.json & run=$!
wait_for armed
session=$(ls "$TRACEFS/instances")
has "clean says that it leaves a living session alone" "$("$NOPWATCH" clean)" '0 dead sessions removed, 1 living left alone'
is "and does" "$(ls "$TRACEFS/instances")" "$session"
wait $run
holds "and that session counted on" out.json "probe('myserver:parse__done')['hits'] > 100"

# a session whose journal is gone is named, and only removed by force
"$NOPWATCH" stat -q 'myserver:parse__done' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
kill -9 $run
wait $run 2>/dev/null
rm /run/nopwatch/*
has "an orphan is named" "$("$NOPWATCH" clean 2>&1)" 'nopwatch_[0-9a-z_]+ has no journal'
is "and kept" "$(ls -d "$TRACEFS"/instances/nopwatch_* | wc -l)" 1
"$NOPWATCH" clean -q --force
is "--force removes it" "$(tracefs_state)" "$with_foreign"

# somebody enabled our events elsewhere, reads our instance: what cannot go is named, and goes later
mkdir "$TRACEFS/instances/foreign"
"$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
session=$(basename "$TRACEFS"/instances/nopwatch_*)
echo 1 >"$TRACEFS/instances/foreign/events/$session/enable"
kill -9 $run
wait $run 2>/dev/null
ok "events that another instance has enabled are disabled there, and removed" "$NOPWATCH" clean -q
rmdir "$TRACEFS/instances/foreign"
is "nothing is left of them" "$(tracefs_state)" "$with_foreign"

"$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
exec 9<"$(ls -d "$TRACEFS"/instances/nopwatch_*)/trace_pipe"
kill -9 $run
wait $run 2>/dev/null
said=$("$NOPWATCH" clean 2>&1)
has "an instance that somebody reads is named" "$said" 'cannot be removed: Device or resource busy \(somebody reads from it\)'
exec 9<&-
ok "and goes once nobody does" "$NOPWATCH" clean -q
is "tracefs is as before" "$(tracefs_state)" "$with_foreign"

if need perf; then
  "$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
  wait_for armed
  session=$(basename "$TRACEFS"/instances/nopwatch_*)
  kill -STOP $run
  echo 0 >"$TRACEFS/instances/$session/events/$session/enable"
  event=$(basename "$(find "$TRACEFS/events/$session" -mindepth 1 -maxdepth 1 -type d | head -n 1)")
  perf record -q -o perf.data -e "$session:$event" -a sleep 4 2>/dev/null & perf=$!
  sleep 1.5
  kill -9 $run
  wait $run 2>/dev/null
  said=$("$NOPWATCH" clean 2>&1)
  has "an event that perf holds stays, and is named" "$said" "event $session/$event (is in use by perf|cannot be deleted)"
  wait $perf
  ok "and goes once perf is gone" "$NOPWATCH" clean -q
  is "tracefs is as before, too" "$(tracefs_state)" "$with_foreign"
else
  skip "an event that perf holds" "perf is not installed"
fi

echo 0 >"$TRACEFS/events/foreign/parse/enable"
echo "-:foreign/parse" >>"$TRACEFS/uprobe_events"
kill $server
unchanged
finish
