# status: every uprobe event of the system, whose it is, what it stands for, where it is enabled, how
# often it was hit, where it is armed, and what became of its file.
# alone: status tells of all events of the machine
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/counter" program
ln -s "$SERVER" server
"$NOPWATCH" add -q "usdt:./program:counter:step__*" uprobe:libc.so.6:qsort
place=$("$NOPWATCH" list -j "$SERVER" 'myserver:parse__start' | j /dev/stdin \
  "'%d(%d)' % (first['offset'], first['semaphore_offset'])")
echo "p:nwother/parse $SERVER:$place number=%r12:u32" >>"$TRACEFS/uprobe_events"
main=$(readelf -sW "$PROGRAMS/spin" | awk '$8 == "main" { print $2; exit }')
echo "p:nwother/main $PROGRAMS/spin:0x$main" >>"$TRACEFS/uprobe_events"
echo "p:nwother/two $PROGRAMS/counter:0x10" >>"$TRACEFS/uprobe_events"
echo "p:nwother/two $PROGRAMS/counter:0x14" >>"$TRACEFS/uprobe_events"
echo 'number > 3' >"$TRACEFS/events/nwother/parse/filter"
"$NOPWATCH" enable -q --instance nwtest counter:step__end

./program 100000000 1000 >/dev/null & pid=$!
begun $pid program
"$SERVER" -p 200 >/dev/null & server=$!
begun $server "$SERVER"
"$NOPWATCH" stat -q -j -p $server 'myserver:parse__done' -o out.json & run=$!
wait_for armed
is_hit() { # the event that is enabled
  [ "$(awk '$2 == "step__end" { print $3 }' "$TRACEFS/uprobe_profile")" -gt 10 ]
}
wait_for is_hit
"$NOPWATCH" status -j >status
event() { # event NAME: its line
  echo "[s for s in of('status') if s['event'] == '$1'][0]"
}
holds "all events are there, ours, a session's and others'" status "sorted(s['event'] for s in of('status') if s['group'] in \
  ('nwother', 'sdt_counter', 'probe_libc')) == ['main', 'parse', 'qsort', 'step__begin', 'step__end', 'two']"
holds "ours" status "$(event step__end)['owner'] == 'nopwatch' and $(event step__end)['places'][0]['probe'] == 'counter:step__end'"
holds "are enabled in an instance" status "$(event step__end)['enabled_in'] == ['nwtest'] and $(event step__begin)['enabled_in'] == []"
holds "are hit" status "$(event step__end)['hits'] > 10 and $(event step__begin)['hits'] == 0"
holds "are armed in a process" status "$(event step__end)['armed_in'] == [$pid] and $(event step__begin)['armed_in'] == [] and $(event step__begin)['mapped_by'] == 1"
holds "their file is the same" status "$(event step__end)['file'] == 'same'"
holds "the session's" status "[(s['owner'], s['owner_pid'], s['places'][0]['probe'], s['armed_in']) for s in of('status') if s['group'].startswith('nopwatch_')] == [('session', $run, 'myserver:parse__done', [$server])]"
holds "others': a USDT probe, with a filter" status "$(event parse)['owner'] == 'foreign' and $(event parse)['places'][0]['probe'] == 'myserver:parse__start' and $(event parse)['filters'] == {'': 'number > 3'} and $(event parse)['places'][0]['fetch'] == 'number=%r12:u32'"
holds "a function" status "$(event main)['places'][0]['probe'].startswith('main') and $(event main)['file'] == 'present'"
holds "two places" status "[p['offset'] for p in $(event two)['places']] == [16, 20]"
text=$("$NOPWATCH" status -v)
has "the table has a head" "$(head -n 1 <<<"$text")" '^EVENT +PROBE +OWNER +ENABLED IN +FILTER +HITS +ARMED +FILE'
has "and rows" "$text" "^sdt_counter:step__end +counter:step__end +nopwatch +nwtest +- +[0-9]+ +$pid +same"
has "-v shows definitions" "$text" '^p:nwother/main /'
is "words choose" "$("$NOPWATCH" status 'nwother:*' | tail -n +2 | cut -d ' ' -f 1 | sort | tr '\n' ' ')" "nwother:main nwother:parse nwother:two "
is "a spec chooses by place" "$("$NOPWATCH" status "usdt:./server:myserver:parse__start" | tail -n +2 | cut -d ' ' -f 1)" "nwother:parse"
said=$("$NOPWATCH" status nothing 2>&1)
is "which must be there" "$? $said" "1 nopwatch: no event is there for 'nothing'"
kill -STOP $run
# it keeps its lock only if it stays on the file system
mkdir /run/nopwatch/aside
mv "$(find /run/nopwatch -name "${run}_*")" /run/nopwatch/aside/journal
has "a session without a journal here" "$("$NOPWATCH" status 'nopwatch_*')" "myserver:parse__done +unknown session "
said=$("$NOPWATCH" remove --foreign 'nopwatch_*' 2>&1)
has "is not touched" "$? $said" '^1 nopwatch: nopwatch_.* belongs to a nopwatch that has no journal here'
mv /run/nopwatch/aside/journal "/run/nopwatch/$(basename "$TRACEFS"/instances/nopwatch_* | sed s/nopwatch_//)"
rmdir /run/nopwatch/aside
said=$("$NOPWATCH" remove --foreign 'nopwatch_*' 2>&1)
has "nor is a living one" "$? $said" "^1 nopwatch: nopwatch_.* belongs to a nopwatch that is running \(process $run\)"
kill -9 $run
wait $run 2>/dev/null
has "a dead session" "$("$NOPWATCH" status 'nopwatch_*')" "myserver:parse__done +dead session $run "
"$NOPWATCH" clean -q

# files
touch -d '2001-01-01' program
has "a file that was changed" "$("$NOPWATCH" status step__end)" ' changed *$'
cp "$PROGRAMS/counter" program.new
mv program.new program
has "a file that was replaced; old processes still have the breakpoint" "$("$NOPWATCH" status step__end)" " $pid +replaced *$"
rm program
has "a file that is gone" "$("$NOPWATCH" status step__end)" "counter:step__end .* $pid +gone *$"
cp "$PROGRAMS/spin" spin
echo "p:nwother/gone $PWD/spin:0x$main" >>"$TRACEFS/uprobe_events"
rm spin
holds "others', gone" <("$NOPWATCH" status -j nwother:gone) "first['file'] == 'gone' and first['places'][0]['probe'] is None"

# an event of ours that others have removed is no longer ours
echo "-:sdt_counter/step__begin" >>"$TRACEFS/uprobe_events"
has "removed by others" "$("$NOPWATCH" clean)" '^2 events made by'

kill $pid $server
wait $pid $server 2>/dev/null
"$NOPWATCH" remove -q '*' 2>err
"$NOPWATCH" remove -q --foreign 'nwother:*'
unchanged
finish
