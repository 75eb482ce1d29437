# Events that stay: add, enable, disable, remove, by spec and pattern; all or nothing; beside events,
# instances and readers of others, which survive.
# alone: it counts all events that stay, and all of tracefs
. "$(dirname "$0")/../lib/kernel.sh"

spec="usdt:$SERVER:myserver:*"
ours() { # the names of our events
  sed -n 's/^[pr]:\(sdt_[a-z]*\/[^ ]*\) .*/\1/p' "$TRACEFS/uprobe_events" | sort
}
enabled() { # enabled WHERE: what is enabled there ("" is the top level)
  sort "$TRACEFS/${1:+instances/$1/}set_event" | tr '\n' ' '
}

# others: an event at one of our places, an instance with a reader
place=$("$NOPWATCH" list -j "$SERVER" 'myserver:parse__start' | j /dev/stdin \
  "'%d(%d)' % (first['offset'], first['semaphore_offset'])")
offset=${place%(*}
echo "p:foreign/parse $SERVER:$place" >>"$TRACEFS/uprobe_events"
mkdir "$TRACEFS/instances/theirs"
echo 1 >"$TRACEFS/instances/theirs/events/foreign/parse/enable"
with_foreign=$(tracefs_state)
foreign_is_well() {
  is "${1:-what is not ours is as it was}" "$(state_since "$with_foreign")" "$with_foreign"
}

# ---- all or nothing: somebody's event stands at the last place with another semaphore
other=$("$NOPWATCH" list -j "$SERVER" 'myserver:request__start' | j /dev/stdin "first['offset']")
echo "p:foreign/clash $SERVER:$other($offset)" >>"$TRACEFS/uprobe_events"
before=$(tracefs_state)
said=$("$NOPWATCH" add --instance nwtest "$spec" 2>&1)
has "a clash of semaphores" "$? $said" \
  '^1 nopwatch: the kernel refused to define sdt_myserver:request__start at .*: .* another semaphore \(or had .*\)$'
is "undoes the definitions before it, and the instance" "$(state_since "$before")" "$before"
echo "-:foreign/clash" >>"$TRACEFS/uprobe_events"

# ---- add
said=$("$NOPWATCH" add "$spec")
is "add succeeds" $? 0
is "events are completed by their names" "$("$NOPWATCH" __complete remove sdt_myserver:lookup | cut -f1 | tr '\n' ' ')" \
  "sdt_myserver:lookup__done sdt_myserver:lookup__done_1 sdt_myserver:lookup__start "
is "an event a site" "$(ours | tr '\n' ' ')" "sdt_myserver/cache__evict sdt_myserver/lookup__done \
sdt_myserver/lookup__done_1 sdt_myserver/lookup__start sdt_myserver/parse__done sdt_myserver/parse__start \
sdt_myserver/request__done sdt_myserver/request__start "
is "each is named" "$(grep -c '^sdt_myserver:.*: added$' <<<"$said")" 8
is "nothing is enabled" "$(enabled '')" ""
has "semaphores are the kernel's" "$(cat "$TRACEFS/uprobe_events")" '^p:sdt_myserver/request__done [^ ]*\(0x[0-9a-f]+\) arg0='
defined=$(cat "$TRACEFS/uprobe_events")
said=$("$NOPWATCH" add -j "$spec")
is "again: nothing is added" "$? $(grep -c '"change":"there already"' <<<"$said")" "0 8"
is "and nothing is changed" "$(cat "$TRACEFS/uprobe_events")" "$defined"
said=$("$NOPWATCH" add "usdt:$SERVER:myserver:request__start(id, path:string)" 2>&1)
has "with other arguments it is refused" "$? $said" \
  '^1 nopwatch: sdt_myserver:request__start is there already, with other arguments: arg0='
"$NOPWATCH" add -q --group mine "usdt:$SERVER:myserver:request__start(id, path:string)"
has "in another group it is not" "$(cat "$TRACEFS/uprobe_events")" '^p:mine/request__start .* id=.* path=%..:x64 path_(chr|str)0=\+0\(%..\):x'
"$NOPWATCH" add -q --group mine -p $$ func:libc.so.6:qsort uretprobe:libc.so.6:bsearch
is "functions and their returns" "$(sed -n 's/^\([pr]:mine[^ ]*\).*/\1/p' "$TRACEFS/uprobe_events" | sort | tr '\n' ' ')" \
  "p:mine/qsort p:mine/request__start r:mine/bsearch__return r:mine/qsort__return "
"$NOPWATCH" add -q uprobe:libc.so.6:qsort
has "whose own group is perf's" "$(cat "$TRACEFS/uprobe_events")" '^p:probe_libc/qsort '
ok "a group goes" "$NOPWATCH" remove -q mine probe_libc:qsort
is "and no other" "$(cat "$TRACEFS/uprobe_events")" "$defined"

# ---- enable, disable
"$NOPWATCH" enable -q 'myserver:parse-*'
is "enable by probe" "$(enabled '')" "sdt_myserver:parse__done sdt_myserver:parse__start "
said=$(NOPWATCH_FEATURES=-instance_events "$NOPWATCH" enable --instance nwtest 'sdt_myserver/lookup*' 2>&1)
has "an instance that would stay empty is refused" "$? $said" "^1 nopwatch: probes of this kernel do not record in instances \('nwtest' would stay empty\)"
has "with what to do instead" "$said" "^nopwatch: in the top-level buffer they do: without --instance$"
said=$(NOPWATCH_FEATURES=-instance_events "$NOPWATCH" add --group nw_other --instance nwtest "$spec" 2>&1)
has "also for those that would be enabled there later" "$? $said" "^1 nopwatch: probes of this kernel do not record in instances"
"$NOPWATCH" enable -q --instance nwtest "usdt:$SERVER:myserver:parse__start" 'sdt_myserver/lookup*'
is "by spec and pattern, in an instance" "$(enabled nwtest)" \
  "sdt_myserver:lookup__done sdt_myserver:lookup__done_1 sdt_myserver:lookup__start sdt_myserver:parse__start "
has "which is made with a clock that compares" "$(cat "$TRACEFS/instances/nwtest/trace_clock")" '\[mono\]'
said=$("$NOPWATCH" enable sdt_myserver:parse__start)
is "again" "$? $said" "0 sdt_myserver:parse__start: enabled already"
"$SERVER" -t 1 >/dev/null & pid=$!
wait_for grep -q lookup__done "$TRACEFS/instances/nwtest/trace"
has "they record" "$(head -n 2000 "$TRACEFS/instances/nwtest/trace")" ' lookup__done(_1)?: \(0x[0-9a-f]+\) arg0='
kill $pid
wait $pid 2>/dev/null
"$NOPWATCH" disable -q --instance nwtest '*lookup*'
is "disable in one instance" "$(enabled nwtest)|$(enabled '')" \
  "sdt_myserver:parse__start |sdt_myserver:parse__done sdt_myserver:parse__start "
"$NOPWATCH" disable -q sdt_myserver
is "disable everywhere" "$(enabled nwtest)|$(enabled '')" "|"
said=$("$NOPWATCH" disable sdt_myserver:parse__start)
is "again" "$? $said" "0 sdt_myserver:parse__start: not enabled"

# ---- what is not ours
before=$(tracefs_state)
for verb in enable disable remove; do
  said=$("$NOPWATCH" $verb foreign:parse 2>&1)
  has "$verb refuses what is not ours" "$? $said" "^1 nopwatch: foreign:parse is not ours: \`nopwatch add\` has not made it"
done
said=$("$NOPWATCH" remove sdt_myserver:parse__done foreign:parse 2>&1)
is "one refusal refuses all" $? 1
is "and nothing is changed" "$(state_since "$before")" "$before"
echo 1 >"$TRACEFS/events/sdt_myserver/parse__done/enable"
echo 1 >"$TRACEFS/instances/theirs/events/sdt_myserver/parse__done/enable"
before=$(tracefs_state; enabled ''; enabled theirs)
said=$("$NOPWATCH" remove 'sdt_myserver:*' 2>&1)
has "an event that others have enabled stays, and is named" "$? $said" \
  "^1 nopwatch: sdt_myserver:parse__done is in use: somebody else has enabled it in the top-level buffer, instance 'theirs'$"
is "as does all that was asked for" "$(tracefs_state; enabled ''; enabled theirs)" "$before"
"$NOPWATCH" remove -q --force sdt_myserver:parse__done
is "unless forced" "$? $(ours | grep -c parse__done) $(enabled theirs)" "0 0 foreign:parse "

# ---- remove
"$NOPWATCH" enable -q --instance nwtest sdt_myserver:lookup__start
exec 9<"$TRACEFS/instances/nwtest/trace_pipe"
said=$("$NOPWATCH" remove 'myserver:*' 2>&1)
has "remove disables what is ours; an instance that somebody reads stays, and is named" "$? ${said//$'\n'/ }" \
  "^1 .*nopwatch: instance 'nwtest' stays: somebody reads from it"
exec 9<&-
is "the events are gone" "$(ours)" ""
"$NOPWATCH" add -q "usdt:$SERVER:myserver:parse__done"
"$NOPWATCH" remove -q '*'
foreign_is_well "all that was ours is gone, the instance with it"
said=$("$NOPWATCH" remove '*' 2>&1)
is "remove '*', when nothing of ours is left" "$? $said" \
  "0 nopwatch: nothing to do for '*': foreign:parse is not ours: \`nopwatch add\` has not made it"
is "a pattern in quiet" "$("$NOPWATCH" remove -q '*' 2>&1)" ""
echo "p:foreign/more $SERVER:$place" >>"$TRACEFS/uprobe_events"
said=$("$NOPWATCH" disable 'for*' 2>&1)
has "and with more of it" "$? $said" "^0 nopwatch: nothing to do for 'for\*': all 2 events that it fits are not ours \(foreign:"
said=$("$NOPWATCH" enable '*' 2>&1)
has "what is to be enabled has to be there" "$? $said" "^1 nopwatch: foreign:.* is not ours"
echo "-:foreign/more" >>"$TRACEFS/uprobe_events"
said=$("$NOPWATCH" remove "$spec" 'sdt_myserver:*' 2>&1)
has "remove again" "$? $said" "^0 nopwatch: no event is there for 'usdt:.*': nothing to do"
said=$("$NOPWATCH" enable 'sdt_myserver:*' 2>&1)
has "enable what is not there" "$? $said" "^1 nopwatch: no event is there for 'sdt_myserver:\*'"
"$NOPWATCH" remove -q --foreign foreign:parse 2>err
has "foreign, but enabled by others" "$? $(cat err)" "^1 nopwatch: foreign:parse is in use: .* instance 'theirs'"

# several sites of somebody's event: the kernel would not notice that it is in use
echo "p:foreign/two $SERVER:$place" >>"$TRACEFS/uprobe_events"
echo "p:foreign/two $SERVER:$((offset + 49))" >>"$TRACEFS/uprobe_events"
if need perf; then
  perf record -q -o perf.data -e foreign:two -a sleep 300 2>/dev/null & perf=$!
  wait_for perf_holds $perf
  said=$("$NOPWATCH" remove --foreign foreign:two 2>&1)
  has "an event of several sites that perf holds" "$? $said" '^1 nopwatch: foreign:two is in use: perf has it open'
  kill -INT $perf
  wait $perf
else
  skip "an event of several sites that perf holds" "perf is not installed"
fi
ok "nobody holds it" "$NOPWATCH" remove -q --foreign foreign:two
foreign_is_well

# ---- a path that the kernel's grammar cannot carry
mkdir 'a b#c'
cp "$PROGRAMS/counter" 'a b#c/counter'
"$NOPWATCH" add -q --enable "usdt:$PWD/a b#c/counter:counter:step__end"
'a b#c/counter' 5 >/dev/null
is "is reached through a link" "$(grep -c 'step__end: ' "$TRACEFS/trace")" 5
"$NOPWATCH" remove -q "usdt:$PWD/a b#c/counter:counter:*"
foreign_is_well "which goes with it"

# a file that was replaced: its events are still found by its spec
cp "$PROGRAMS/counter" program
"$NOPWATCH" add -q "usdt:./program:counter:step__*"
cp "$PROGRAMS/strings" program.new
mv program.new program
"$NOPWATCH" remove -q "usdt:$PWD/program:counter:step__*"
foreign_is_well "events of a file that was replaced are removed by its spec"

rmdir "$TRACEFS/instances/theirs"
echo "-:foreign/parse" >>"$TRACEFS/uprobe_events"
unchanged
finish
