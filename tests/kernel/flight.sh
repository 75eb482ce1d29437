# record --until: what was before a slow request is recorded, whole, whatever happens meanwhile.
# in turn: it uses the top-level buffer
. "$(dirname "$0")/../lib/kernel.sh"

# requests from one slow one to the next in a buffer that is too small for them
every=${ALL:+60000} every=${every:-30000}
# shellcheck source=../lib/flight.sh
. "$TESTS_LIB/flight.sh"

# ---- a slow request

said=$("$NOPWATCH" record --until 'request > 50ms' --keep 1s -b 16M -o slow.dat "$ALL" -- "$RARE" 100000 12000 80 50 2>&1 >told)
is "a slow request ends it" $? 0
has "which says what it was" "$said" '^nopwatch: slow.dat: rare:request took [0-9.]+m?s in thread [0-9]+ \(rare\)( \(and [0-9]+ more\))?; the last [0-9.]+ s, [0-9]+ KiB, 0 events lost$'
hasnt "and that all of it is there" "$said" 'later than it should'
is "only its owner may read it" "$(stat -c %a slow.dat)" 600
ok "the recording has it, and each request of the second before" whole slow.dat 1 12000
is "and not the whole run" "$(grep -c '"args":{"arg0":1}' whole.json)" 0
readable slow.dat 12000

# ---- several, which overlap; what is there already stays

echo mine >over.dat
"$NOPWATCH" record --until 'rare:request >= 50ms' --times 3 -b 16M -o over.dat "$ALL" -- "$RARE" 100000 4000 80 50 2>said >told
is "three recordings end it" "$? $(ls over*.dat | tr '\n' ' ')" "0 over-2.dat over-3.dat over-4.dat over.dat "
is "and nothing is overwritten" "$(cat over.dat)" mine
ok "the first" whole over-2.dat 0 4000
ok "the second has its own time before it, which is in the first, too" whole over-3.dat 0 8000
ok "the third" whole over-4.dat 0 12000

# ---- without -b, a buffer that is too small is read before it is overwritten

# The second recording has what was read for the first, and while that was written. On one CPU, whose 2 MiB 20,000 requests fill.
cpu=$(own_cpus | head -n 1)
taskset -c "$cpu" "$NOPWATCH" record -v --until 'request > 50ms' --keep 1h --times 2 -o long.dat "$ALL" -- "$RARE" 200000 $every 80 50 2>said >told
has "a buffer that does not hold so much is read all the time" "$? $(grep -v 'slow spans' said)" '^0 nopwatch: the ring buffer \([1-9][0-9]* KiB per CPU\) holds the last [0-9.]+m?s only, at this rate: so it is read all the time from now on'
has "nothing is lost by that" "$(cat said)" '^nopwatch: long-2.dat: rare:request took .* KiB, 0 events lost$'
ok "the recording has the slow request, and every other one" whole long.dat 0 $every
ok "so has the second" whole long-2.dat 0 $every $((2 * every))
"$NOPWATCH" report -j long-2.dat >report.json
holds "the span that asked is measured" report.json "span('rare:request')['latency_ns']['max'] >= 5e7 and span('rare:request')['count'] >= 2 * $every"
holds "and no other is missing" report.json "of('loss')[0] == {'type': 'loss', 'events': 0, 'discarded_spans': 0}"

# ---- the end

all_cpus=0-$(($(nproc --all) - 1))
"$RARE" 1000000000 3000 80 100 >told &
rare=$!
begun $rare "$RARE"
"$NOPWATCH" record --until 'request > 50ms' --times 0 -o end.dat "$ALL" -p $rare 2>said &
run=$!
# what keeps the last seconds, and what looks out; the slow request that there is then may have begun before that
wait_for armed 2
seen=$(wc -l <told)
until [ "$(wc -l <told)" -gt $((seen + 1)) ]; do sleep 0.01; done
last=$(tail -n 1 told | cut -d ' ' -f 2)
kill $run
wait $run
is "SIGTERM just behind a slow request" $? 0
ok "which is recorded all the same" sh -c "for f in end*.dat; do $NOPWATCH trace -j --from \$f; done | grep -q 'request__done.*\"arg0\":$last\b'"

"$NOPWATCH" record --until-signal --keep 60s -b 16M --times 2 -o signal.dat --states "$ALL" -p $rare 2>said &
run=$!
wait_for armed
kill -USR2 $run
wait_for test -s signal.dat
wait_for hit 100
kill -USR2 $run
wait $run
is "SIGUSR2 asks for a recording, too" "$? $(ls signal*.dat | tr '\n' ' ')" "0 signal-2.dat signal.dat "
has "which says so" "$(cat said)" '^nopwatch: signal-2.dat: SIGUSR2; the last'
has "with the states of threads" "$("$NOPWATCH" stat --states --from signal-2.dat)" 'rare:request +running'

touch healthy
"$NOPWATCH" record --until-cmd 'test -e healthy' --keep 200ms -b 16M -o check.dat "$ALL" -p $rare 2>said &
run=$!
wait_for armed
is "as long as a command succeeds nothing is" "$(ls check.dat 2>&1)" "ls: cannot access 'check.dat': No such file or directory"
rm healthy
wait $run
is "when it fails, something is" "$? $(cut -d ';' -f 1 said)" "0 nopwatch: check.dat: 'test -e healthy' failed with status 1"
ok "all of it" whole check.dat 0

# Whoever it starts holds nothing of its journal: who is killed leaves a dead session at once, though they live on.
"$NOPWATCH" record --until-cmd 'sleep 1234.25' --keep 1s -b 1M -o never.dat "$ALL" -- "$RARE" 100000000 1000 80 50 >/dev/null 2>said &
run=$!
wait_for armed
wait_for pgrep -fx 'sleep 1234\.25'
# descendants PID: their numbers
descendants() {
  local child
  for child in $(pgrep -P "$1"); do
    echo "$child"
    descendants "$child"
  done
}
all_started() { started=$(descendants $run) && [ "$(wc -w <<<"$started")" -ge 3 ]; } # the guard comes within a second
ok "it has started a guard, a shell or its command, and CMD" wait_for all_started
is "of whom none holds its journal" "$(for pid in $started; do readlink "/proc/$pid"/fd/*; done | grep /run/nopwatch)" ""
cmd=$(pgrep -P $run -x rare)
kill -9 $run
wait $run 2>/dev/null
has "when it is killed, clean takes its session away while CMD goes on" "$("$NOPWATCH" clean; kill -0 "$cmd" && echo alive)" \
  $'^1 dead session removed.*\nalive$'
kill "$cmd"

"$NOPWATCH" record --until-cmd 'sleep 1234.5 & wait' -d 0.3 -o none.dat "$ALL" -p $rare 2>said
is "what is not met records nothing" "$? $(cat said) $(ls none.dat 2>/dev/null)" "0 nopwatch: nothing recorded: the condition was not met "
is_over() { ! pgrep -fx 'sleep 1234\.5'; } # who is killed takes a moment to go
ok "the command does not outlive it" wait_for is_over
"$NOPWATCH" record --until 'request > 1h' -o none.dat "$ALL" -p $rare 2>said &
run=$!
wait_for armed 2
wait_for hit 1000 "$(session_hits)"
kill -INT $run
wait $run
has "nor does a span" "$? $(cat said)" '^0 nopwatch: nothing recorded: [1-9][0-9]* spans ended, none was so long; the longest took [0-9.]+[mu]?s$'
FLAT='rare:request__start..rare:request__done,nest=no'
said=$(NOPWATCH_FEATURES=-hist "$NOPWATCH" record -v -d 0.3 --until "$FLAT > 1h" -o none.dat "$ALL" -p $rare 2>&1)
has "without hist triggers the two events are read, which -v says" "$said" \
  'slow spans are found by reading their two events: this kernel has no hist triggers, or no synthetic events'
said=$("$NOPWATCH" record -v -d 0.3 --until 'request > 1h' -o none.dat "$ALL" -p $rare 2>&1)
has "so are those that may nest, or there are none" "$said" \
  'reading their two events: (the kernel keeps one start a thread, which is right only for spans with nest=no|this kernel has no)'
said=$("$NOPWATCH" record --until 'reqest > 1s' "$ALL" -p $rare 2>&1)
is "a span that is none" "$? $said" "2 nopwatch: --until 'reqest': there is no such span
nopwatch: the spans of these probes are rare:request"
has "--dry-run sets the buffer up" "$("$NOPWATCH" record --until 'request > 1s' --dry-run "$ALL" 2>said)" 'options/overwrite'
has "and says what it leaves out" "$(cat said)" "a second session watches 'request' by its two ends"
said=$("$NOPWATCH" record --until-cmd 'no-such-command' "$ALL" -p $rare 2>&1)
is "a command that is none" "$? $said" "1 nopwatch: --until-cmd 'no-such-command': the shell cannot find it"
NOPWATCH_FEATURES=-instances "$NOPWATCH" record --until 'request > 50ms' "$ALL" -p $rare 2>said
has "without instances" "$? $(head -n 1 said)" '^1 nopwatch: this kernel has one ring buffer for all probes, and --until takes two'
# on one CPU: what is in the buffer of one that it has left is as old as that
taskset -acp "$(taskset -cp $rare | sed 's/.*[ ,-]//')" $rare >/dev/null
"$NOPWATCH" record -v -b 8K --until 'request > 50ms' -o short.dat "$ALL" -p $rare 2>said
taskset -acp "$all_cpus" $rare >/dev/null
has "too small a buffer is said" "$? $(cat said)" 'short.dat begins [0-9.]+ s later than it should: the ring buffer holds no more \(see -b\)'
"$NOPWATCH" record --until-cmd false --keep 60s -b 16M -o young.dat "$ALL" -p $rare 2>said
has "one that begins when the probes were armed says that" "$? $(cat said)" 'young.dat begins [1-9][0-9.]+ s later than it should: the probes were armed only then'
hasnt "and blames no buffer" "$(cat said)" 'the ring buffer'

# both of its sessions, and the file as another one: who is killed leaves places armed in this one
cp "$RARE" own/killed
own/killed 1000000000 3000 80 100 >/dev/null &
killed=$!
begun $killed own/killed
"$NOPWATCH" record --until 'request > 1h' "usdt:$PWD/own/killed:rare:*" -p $killed 2>said &
run=$!
wait_for armed
kill -9 $run
wait $run 2>/dev/null
ok "after kill -9, clean takes both sessions away" "$NOPWATCH" clean
kill $killed $rare
wait 2>/dev/null

unchanged
finish
