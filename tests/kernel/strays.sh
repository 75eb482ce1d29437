# Spans that end in another thread than they began in: it is said, and the argument is named by which they can be paired.
. "$(dirname "$0")/../lib/kernel.sh"

RELAY=$PROGRAMS/relay
"$NOPWATCH" stat -j "usdt:$RELAY:relay:begin(arg0,arg1,arg2)" 'relay:end(arg0,arg1,arg2)' --span 'job=relay:begin..relay:end' -o out.json \
  -- "$RELAY" 200 4 1000 2>said
holds "paired by thread, none is measured" out.json "span('job')['count'] == 0 and span('job')['unmatched_ends'] == 200"
holds "JSON has the key that fits" out.json "(lambda o: (o['key'], o['agree'] <= o['ends'] <= o['watched'], o['agree'] > 0))(span('job')['other_threads']) == ('arg1:arg0', True, True)"
has "that is said" "$(cat said)" '^nopwatch: job: [0-9]+ of [0-9]+ ends that were looked at come from other threads than their starts'
has "with the argument that fits" "$(cat said)" "^nopwatch: arg1:arg0 is the same at both ends of [0-9]+ of these: --span 'job=relay:begin\\.\\.relay:end,key=arg1:arg0'\$"
offered=$(sed -n "s/.*: --span '\\(.*\\)'\$/\\1/p" said)
"$NOPWATCH" stat -j "usdt:$RELAY:relay:*" --span "$offered" -o out.json -- "$RELAY" 200 4 1000 2>said
holds "by which all are measured" out.json "'other_threads' not in span('job') and span('job')['count'] == 200 and span('job')['unmatched_ends'] == span('job')['unmatched_starts'] == 0"
hasnt "and nothing is said" "$(cat said)" 'other threads'

"$NOPWATCH" stat -j "usdt:$RELAY:relay:*" --span 'job=relay:begin..relay:end' -o out.json -- "$RELAY" 200 4 1000 2>said
has "without values the way to find one is said" "$(cat said)" "pair them by an argument .*,key=ARG'; with --slowest 1, "
"$NOPWATCH" stat -j --slowest 1 "usdt:$RELAY:relay:*" --span 'job=relay:begin..relay:end' -o out.json -- "$RELAY" 200 4 1000 2>said
has "which leads to it" "$(cat said)" "key=arg1:arg0'\$"
"$NOPWATCH" record -q -o out.dat "usdt:$RELAY:relay:*" -- "$RELAY" 200 4 1000
"$NOPWATCH" report out.dat --span 'job=relay:begin..relay:end' >text 2>said
has "a report of a recording says it, too" "$(cat said)" 'come from other threads .*'
"$NOPWATCH" report out.dat --span 'job=relay:begin..relay:end' -j >report.json 2>said
holds "in JSON without a key, as no values were read" report.json "set(span('job')['other_threads']) == {'watched', 'ends'}"
"$NOPWATCH" report report.json -j >again.json
holds "a result that is read again keeps its counts" again.json "span('job')['unmatched_ends'] == 200"
"$NOPWATCH" report out.dat --span 'job=relay:begin..relay:end' --slowest 1 -j >report.json 2>said
holds "with it where they were" report.json "span('job')['other_threads']['key'] == 'arg1:arg0'"
"$NOPWATCH" report out.dat --span 'job=relay:begin..relay:end' --slowest 1 >text 2>said
has "and finds it in the values" "$(cat said)" "key=arg1:arg0'\$"

# spans that are open when it attaches have ends without starts, and nothing is wrong with that
"$SERVER" -t 4 -p 200 >/dev/null & server=$!
begun $server "$SERVER"
"$NOPWATCH" stat -n 2000 -p $server 'myserver:request__*' >/dev/null 2>said
hasnt "spans within a thread are not suspected" "$(cat said)" 'other threads'
kill $server
wait $server 2>/dev/null
unchanged "tracefs is as it was"
finish
