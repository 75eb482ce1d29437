# What a session leaves whose journal is gone is only taken away by force, and a hurry that a killed one left is put back.
# alone: --force takes away whatever session has no journal here, and rcu_expedited is one for all
OWN_RUN=no # what another session has a journal for is left alone
. "$(dirname "$0")/../lib/kernel.sh"
[ -z "$("$NOPWATCH" clean 2>&1 | grep 'has no journal')" ] || skip_all "somebody else's session has no journal here"

"$SERVER" -t 2 -p 100 >/dev/null & server=$!
begun $server "$SERVER"

# a session whose journal is gone is named, and only removed by force
"$NOPWATCH" stat -q 'myserver:parse__done' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
kill -9 $run
wait $run 2>/dev/null
rm /run/nopwatch/*"${run}_"*
has "an orphan is named" "$("$NOPWATCH" clean 2>&1)" 'nopwatch_[0-9a-z_]+ has no journal'
is "and kept" "$(our_instances | wc -l)" 1
"$NOPWATCH" clean -q --force
is "--force removes it" "$(state_since "$state_before")" "$state_before"
# with events of several sites: their gate is gone with the journal, and they get another
"$NOPWATCH" stat -q 'myserver:*' -p $server >/dev/null 2>&1 & run=$!
wait_for armed
kill -9 $run
wait $run 2>/dev/null
ok "events of several sites have a gate" grep -q '^p:nopwatch_.* /run/nopwatch/gate\.' "$TRACEFS/uprobe_events"
rm /run/nopwatch/*"${run}_"*
"$NOPWATCH" clean -q --force
is "--force removes such events, too" "$(state_since "$state_before")" "$state_before"

# a killed run's hurry is put back, though its /run is gone; somebody else's is left alone
if expedited=$(cat /sys/kernel/rcu_expedited 2>/dev/null) && [[ $expedited == [01] ]] &&
  echo 28279 2>/dev/null >/sys/kernel/rcu_expedited; then
  "$NOPWATCH" clean -q
  is "a killed run's rcu_expedited is put back" "$(cat /sys/kernel/rcu_expedited)" 0
  echo 1 >/sys/kernel/rcu_expedited
  "$NOPWATCH" stat -q -n 1 'myserver:parse__start' -p $server >/dev/null
  "$NOPWATCH" clean -q
  is "somebody else's stays" "$(cat /sys/kernel/rcu_expedited)" 1
  echo "$expedited" >/sys/kernel/rcu_expedited
else
  skip "a killed run's rcu_expedited" "it cannot be set here"
fi

kill $server
unchanged
finish
