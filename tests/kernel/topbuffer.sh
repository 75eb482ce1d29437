# Without instances the top-level buffer is used: only if nobody else does, and put back as it was.
# alone: it changes settings of the top-level buffer
. "$(dirname "$0")/../lib/kernel.sh"
export NOPWATCH_FEATURES=-instances

"$SERVER" -t 2 -p 300 >/dev/null & server=$!
begun $server "$SERVER"
armed_on_top() { grep -qs 1 "$TRACEFS"/events/nopwatch_*/enable; }
settings() {
  local file
  for file in tracing_on trace_clock buffer_size_kb options/event-fork options/overwrite buffer_percent set_event \
    set_event_pid current_tracer per_cpu/cpu0/buffer_size_kb; do
    echo "$file: $(cat "$TRACEFS/$file" 2>/dev/null)"
  done
}
stat_q() { "$NOPWATCH" stat -q -d 0.3 'myserver:parse__start' -p $server -o "$1" 2>&1; }

things() { ls "$TRACEFS/instances"; ls -A -I hit.cost /run/nopwatch 2>/dev/null; cat "$TRACEFS/uprobe_events"; }
things_before=$(things)
instances_before=$(ls "$TRACEFS/instances")

# settings of somebody's own
old_size=$(sed 's/.*expanded: \([0-9]*\).*/\1/' "$TRACEFS/buffer_size_kb")
old_clock=$(sed 's/.*\[\(.*\)\].*/\1/' "$TRACEFS/trace_clock")
echo 512 >"$TRACEFS/buffer_size_kb"
echo 300 >"$TRACEFS/per_cpu/cpu0/buffer_size_kb"
echo global >"$TRACEFS/trace_clock"
[ -e "$TRACEFS/buffer_percent" ] && echo 33 >"$TRACEFS/buffer_percent"
with_settings=$(settings)

"$NOPWATCH" stat -j 'myserver:*' -p $server -o out.json & run=$!
wait_for armed_on_top
is "no instance is made" "$(ls "$TRACEFS/instances")" "$instances_before"
has "its clock is ours" "$(cat "$TRACEFS/trace_clock")" '\[mono\]'
has "only the process is recorded" "$(cat "$TRACEFS/set_event_pid")" "^$server$"
said=$(stat_q two.json)
has "a second session is refused" "$? $said" '^1 nopwatch: this kernel has one ring buffer for all sessions, and another nopwatch uses it$'
more_hits 2000
kill $run
wait $run
holds "hits are counted" out.json "probe('myserver:parse__start')['hits'] > 100 and of('loss')[0]['events'] == 0"
is "all settings are put back" "$(settings)" "$with_settings"
is "nothing of ours is left" "$(things)" "$things_before"

# kill -9, at any moment
for i in $(seq 8); do
  "$NOPWATCH" stat -q 'myserver:*' -p $server -o out.json & run=$!
  sleep "0.$(printf '%03d' $((i * 8)))"
  kill -9 $run
  wait $run 2>/dev/null
  if [ $((i % 2)) = 0 ]; then
    "$NOPWATCH" clean -q
  else
    stat_q out.json >/dev/null
  fi
  [ "$(settings)" = "$with_settings" ] || break
done
is "after kill -9 the next run or clean puts all back" "$(settings)" "$with_settings"

# somebody else uses it
refused() { # WHAT PATTERN
  said=$(stat_q out.json)
  has "$1: refused, with the reason" "$? $said" "^1 nopwatch: there is one ring buffer for all, and it is in use: $2"
}
now=$(settings)
echo 1 >"$TRACEFS/events/sched/sched_process_exec/enable"
refused "an enabled event" 'events are enabled there \(sched:sched_process_exec\)$'
has "and the way out" "$said" '^nopwatch: end that, or use --force: what others record there is lost then$'
"$NOPWATCH" stat -q --force -n 21 'myserver:parse__start' -p $server -j -o out.json
holds "--force takes it" out.json "probe('myserver:parse__start')['hits'] > 20"
is "and leaves the event enabled" "$(cat "$TRACEFS/events/sched/sched_process_exec/enable")" 1
echo 0 >"$TRACEFS/events/sched/sched_process_exec/enable"
echo 1 >"$TRACEFS/set_event_pid"
refused "set_event_pid" 'it is restricted to threads'
"$NOPWATCH" stat -q --force -d 0.3 'myserver:parse__start' -p $server -j -o out.json
is "--force keeps it" "$(cat "$TRACEFS/set_event_pid")" 1
echo >"$TRACEFS/set_event_pid"
echo 0 >"$TRACEFS/tracing_on"
refused "tracing_on" 'somebody has stopped it'
"$NOPWATCH" stat -q --force -n 21 'myserver:parse__start' -p $server -j -o out.json
holds "--force starts it" out.json "probe('myserver:parse__start')['hits'] > 20"
is "and stops it again" "$(cat "$TRACEFS/tracing_on")" 0
echo 1 >"$TRACEFS/tracing_on"
echo "a mark" >"$TRACEFS/trace_marker"
refused "unread records" 'it holds 1 records that nobody has read$'
has "they are still there" "$(cat "$TRACEFS/trace")" 'a mark'
echo >"$TRACEFS/trace"
is "all is as before" "$(settings)" "$now"

# record, CMD and everybody, in the top-level buffer
"$NOPWATCH" record -q -o rec.dat 'counter:*' -- "$PROGRAMS/counter" 100 >/dev/null
"$NOPWATCH" report -j rec.dat >out.json
holds "record works on it" out.json "probe('counter:step__begin')['hits'] == 100"
is "settings are as before" "$(settings)" "$with_settings"

echo "$old_size" >"$TRACEFS/buffer_size_kb"
echo "$old_clock" >"$TRACEFS/trace_clock"
[ -e "$TRACEFS/buffer_percent" ] && echo 50 >"$TRACEFS/buffer_percent"
kill $server
unchanged
finish
