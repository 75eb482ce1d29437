# Recording is on before the first probe is: a program that waits for its semaphore and then hits at
# once loses nothing, whichever way the probe is armed. Four such programs for each, with ALL=1 ten.
# in turn: it uses the top-level buffer, and removes all events that stay
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/waits" waits
spec="usdt:$PWD/waits:waits:hit"

programs=${ALL:+10} programs=${programs:-4}
# MASK: of so many programs that wait, one after another, how many were recorded in part or not at all
lost() {
  local lost=0 pid
  for _ in $(seq $programs); do
    ./waits 50 >/dev/null & pid=$!
    begun $pid "$PWD/waits"
    NOPWATCH_FEATURES=$1 "$NOPWATCH" stat -j "$spec" -p $pid -o out.json 2>err ||
      { comment "$(cat err)" >&2; kill $pid; } # it would wait for its semaphore for ever
    wait $pid
    [ "$(j out.json "probe('waits:hit')['hits']")" = 50 ] || lost=$((lost + 1))
  done
  echo $lost
}
for mask in '' -multi_site -ref_ctr -instances -set_event_pid,-event_fork; do
  is "${mask:-unmasked}: all hits of $programs programs that wait" "$(lost "$mask")" 0
done
unchanged "nothing is left"

# all that is armed at once: the other events are enabled before or after
./waits 50 >/dev/null & pid=$!
begun $pid "$PWD/waits"
"$NOPWATCH" trace -j "$spec" 'tracepoint:sched:sched_process_fork' -p $pid -o out.json 2>/dev/null
holds "beside the kernel's own events" out.json "len([r for r in of('event') if r['probe'] == 'waits:hit']) == 50"
wait $pid

# events that stay
lost=0
for _ in $(seq $((programs / 2))); do
  ./waits 50 >/dev/null & pid=$!
  begun $pid "$PWD/waits"
  "$NOPWATCH" add -q --enable --instance tests_arming_$$ "$spec" || kill $pid
  wait $pid
  [ "$(grep -c ' hit: (0x' "$TRACEFS/instances/tests_arming_$$/trace")" = 50 ] || lost=$((lost + 1))
  "$NOPWATCH" remove -q '*'
done
is "add --enable" $lost 0

# no cause is stated that nobody has seen
"$PROGRAMS/counter" 100000000 1000 >/dev/null & other=$!
begun $other "$PROGRAMS/counter"
sleep 30 & idle=$!
"$NOPWATCH" stat "usdt:$PROGRAMS/counter:counter:step__end" -p $idle >said 2>&1 & run=$!
wait_for hit 10
kill -INT $run
wait $run
has "hits that nobody was handed are told as what they are" "$(cat said)" \
  'the kernel counted [0-9]+ hits in the whole system, but recorded none of the traced processes'
kill $other $idle
wait 2>/dev/null

unchanged
finish
