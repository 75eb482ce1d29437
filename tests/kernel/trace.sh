# trace prints what the program said, with names, types and escapes.
. "$(dirname "$0")/../lib/kernel.sh"

"$NOPWATCH" trace -j 'counter:step__begin(i, text:string)' 'counter:step__end(i, square:x64)' \
  -o out.json -- "$PROGRAMS/counter" 300 >/dev/null
holds "numbers and strings are the program's own" out.json \
  "[e['args'] for e in of('event') if 'begin' in e['probe']] == [{'i': i, 'text': 'step \"%d\"\t\\\\' % i} for i in range(300)]"
holds "both arguments of the other probe" out.json \
  "[e['args'] for e in of('event') if 'end' in e['probe']] == [{'i': i, 'square': i * i} for i in range(300)]"
holds "events come in the order of time" out.json \
  "[e['time_ns'] for e in of('event')] == sorted(e['time_ns'] for e in of('event'))"
holds "who it was" out.json "{e['comm'] for e in of('event')} == {'counter'} and all(e['pid'] == e['tid'] for e in of('event'))"

"$NOPWATCH" trace 'counter:step__begin(i, text:string)' 'counter:step__end(i, square:x64)' -n 2 -o text -- \
  "$PROGRAMS/counter" 3 >/dev/null
is "-n ends after so many events" "$(wc -l <text)" 2
has "strings are escaped for the terminal" "$(cat text)" 'counter:step__begin i=0 text="step \\"0\\"\\t\\\\"$'
"$NOPWATCH" trace 'counter:*' -n 1 -o text -- "$PROGRAMS/counter" 100000 1000 >/dev/null 2>said # over by -n, for sure
hasnt "nothing is said of what was hit behind the last one" "$(cat said)" 'recorded none|recorded no return|more hits counted'
# also if CMD is over before anybody reads, as it is beside a tracer that has to wait for its CPU
realtime=
chrt -f 50 true 2>/dev/null && realtime="taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[-,].*//') chrt -f 50"
# shellcheck disable=SC2086 # words
$realtime "$NOPWATCH" trace 'counter:*' -n 1 -o text -- "$PROGRAMS/counter" 1000 >/dev/null 2>said
hasnt "nor where it was not known yet" "$(cat said)" 'recorded none|recorded no return|more hits counted'
hour=$(date +%H)
"$NOPWATCH" trace -T counter:step__end -n 1 -o text -- "$PROGRAMS/counter" 1 >/dev/null
has "-T shows the time of day" "$(cat text)" "^($hour|$(date +%H)):[0-5][0-9]:[0-5][0-9]\.[0-9]{6} "
"$NOPWATCH" trace counter:inner__entry -n 1000 -- "$PROGRAMS/counter" 1000 | head -n 1 >text
is "a closed pipe is a quiet end" "${PIPESTATUS[0]} $(wc -l <text)" "0 1"

# types over the note's
"$NOPWATCH" trace -j 'counter:step__end(i:u8, square:u16)' -o out.json -- "$PROGRAMS/counter" 400 >/dev/null
holds "a narrower type cuts" out.json \
  "[(e['args']['i'], e['args']['square']) for e in of('event')] == [(i % 256, i * i % 65536) for i in range(400)]"
"$NOPWATCH" trace -j 'counter:step__begin(i, text:u8[6])' -o out.json -- "$PROGRAMS/counter" 2 >/dev/null
holds "arrays behind a pointer" out.json "of('event')[0]['args']['text'] == list(b'step \"')"

# attaching: from the first hit that is recorded on, every one is
"$PROGRAMS/counter" 1000000 20 >/dev/null &
pid=$!
begun $pid "$PROGRAMS/counter"
for i in 1 2 3; do
  "$NOPWATCH" trace -j -p $pid 'counter:step__end(i)' 'counter:step__begin(i)' -n 5000 -b 16M -o out.json
  holds "no gap behind the beginning ($i)" out.json \
    "(lambda i: len(i) > 100 and i == list(range(i[0], i[0] + len(i))))([e['args']['i'] for e in of('event') if 'end' in e['probe']])"
done
kill $pid
wait $pid 2>/dev/null

# several strings, and some that need companions at the same place, joined again
"$NOPWATCH" trace -j 'strings:three(a:string, n, b:string, c:string)' -o out.json -- \
  "$PROGRAMS/strings" 4 500 >/dev/null
holds "three strings of one hit come together" out.json \
  "len(of('event')) == 2000 and all(e['args'] == {'a': 'a%d' % e['args']['n'], 'n': e['args']['n'], 'b': 'b%d' % e['args']['n'], 'c': 'c%d' % e['args']['n']} for e in of('event'))"
"$NOPWATCH" trace -j --string-size 16K 'strings:three(a:string, n, b:string, c:string)' -o out.json -- \
  "$PROGRAMS/strings" 4 20 >/dev/null
holds "also if they take many events" out.json \
  "len(of('event')) == 80 and all(e['args'] == {'a': 'a%d' % e['args']['n'], 'n': e['args']['n'], 'b': 'b%d' % e['args']['n'], 'c': 'c%d' % e['args']['n']} for e in of('event'))"
"$NOPWATCH" trace -j --string-size 3008 'strings:long(s:string)' -o out.json -- "$PROGRAMS/strings" 1 1 >/dev/null
holds "a long string is whole" out.json "of('event')[0]['args']['s'] == 'x' * 3000 and 'cut' not in of('event')[0]"
"$NOPWATCH" trace -j 'strings:bad(s:string, n)' -o out.json -- "$PROGRAMS/strings" 1 1 >/dev/null
holds "a wild pointer is null, its neighbour is right" out.json "of('event')[0]['args'] == {'s': None, 'n': 7}"

# threads that are born and die while it runs, and processes
"$NOPWATCH" trace -j "usdt:$PROGRAMS/forker:forker:work" -p $$ --follow -o out.json &
run=$!
wait_for armed
"$PROGRAMS/forker" 20 >said
kill $run
wait $run
holds "children are followed with --follow, and named as they were" out.json \
  "len(of('event')) == 40 and {e['comm'] for e in of('event')} == {'kid', 'forker'} and len({e['pid'] for e in of('event')}) == 21" || cat said

# a FIFO that nobody reads is waited for, with the signals blocked that end a run
mkfifo nobody
for form in text perfetto; do
  "$NOPWATCH" trace -f $form 'counter:*' -o nobody -- "$PROGRAMS/counter" 3 >/dev/null 2>said &
  run=$!
  ended() { ! kill -0 $run 2>/dev/null; }
  wait_for grep -q hrtimer_nanosleep /proc/$run/wchan
  kill $run
  ok "SIGTERM ends that, $form" wait_for ended
  kill -9 $run 2>/dev/null
  wait $run
  has "which is said, $form" "$? $(cat said)" "^(143 |1 nopwatch: cannot write 'nobody': nobody reads from it)$"
done

# threads that are older than the run, and gone before their hits are read
"$SERVER" -t 3 -p 2000 >/dev/null & old=$!
begun $old "$SERVER"
wait_for has_threads $old 3
"$NOPWATCH" trace -j "usdt:$SERVER:myserver:request__start" -o out.json & run=$!
wait_for armed
each_answers $old 20
kill -STOP $run
each_answers $old 20
kill -9 $old
wait $old 2>/dev/null
kill -CONT $run
kill $run
wait $run
holds "all have their names and processes" out.json \
  "{(e['comm'], e['pid']) for e in of('event')} == {('server', $old)} and len({e['tid'] for e in of('event')}) == 3"

unchanged
finish
