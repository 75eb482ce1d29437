# A script that is killed: its helper, the next script, clean or the next run takes everything away.
# alone: a dead script is known by its name, so the next command of anybody takes its things away
. "$(dirname "$0")/../lib/kernel.sh"

first=dash
need $first || first="bash --posix"
spec="usdt:$SERVER:myserver:*"
reads_on() { # one of ours
  local file pid
  for file in /proc/[0-9]*/fd/0; do
    pid=${file#/proc/} pid=${pid%%/*}
    [[ $(readlink "$file") != */trace_pipe ]] || ! is_ours "$pid" || return 0
  done
  false
}
has_no_reader() { ! reads_on; }
is_armed() { grep -q armed "$1"; } # the file is emptied before each start
"$NOPWATCH" script "$spec" >script.sh
"$NOPWATCH" script -d 1 "$spec" >short.sh
"$SERVER" -t 2 -p 200 >/dev/null & server=$!
begun $server "$SERVER"
# somebody else's event at one of the places survives
place=$("$NOPWATCH" list -j "$SERVER" parse__start | j /dev/stdin "hex(first['offset'])")
echo "p:foreign_$$/mine $SERVER:$place" >>"$TRACEFS/uprobe_events"
foreign=$(tracefs_state)

# kill -9 of the script alone: its helper takes everything away, the reader, too
as_before() { [ "$(state_since "$foreign")" = "$foreign" ]; }
for top in '' 1; do
  : >said
  NOPWATCH_TOP=$top $first script.sh >text 2>said & script=$!
  wait_for is_armed said
  ok "its reader is seen${top:+ (top)}" reads_on
  kill -9 $script
  wait $script 2>/dev/null
  wait_for as_before
  is "a script that is killed is buried by its helper${top:+, also in the top-level buffer}" "$(state_since "$foreign")" "$foreign"
  wait_for has_no_reader
  ok "and no reader is left${top:+ (top)}" has_no_reader
done

# killed at the moment when it has started its reader, and nothing else
mkdir early
printf '#!/bin/sh\ncase $(readlink /proc/$$/fd/0) in */trace_pipe) kill -9 $PPID ;; esac\nexec %s "$@"\n' "$(command -v cat)" >early/cat
chmod +x early/cat
for top in '' 1; do
  NOPWATCH_TOP=$top PATH=$PWD/early:$PATH $first script.sh >text 2>said
  is "a script can be killed while it starts its reader${top:+ (top)}" $? 137
  wait_for as_before
  is "which is taken away, too${top:+ (top)}" "$(state_since "$foreign")" "$foreign"
  wait_for has_no_reader
  ok "and does not read on${top:+ (top)}" has_no_reader
done

# ended at the moment when it has made its instance, and nothing else: the top-level buffer records on
mkdir late
printf '#!/bin/sh\n%s "$@" || exit\ncase $* in */instances/*) kill -TERM $PPID ;; esac\n' "$(command -v mkdir)" >late/mkdir
chmod +x late/mkdir
PATH=$PWD/late:$PATH $first script.sh >text 2>said
is "a script that is ended while it makes its instance ends as it would later" $? 0
is "and leaves all as it was" "$(cat "$TRACEFS/tracing_on") $(state_since "$foreign")" "1 $foreign"
echo 1 >"$TRACEFS/tracing_on"

# kill -9 of everything: the next script removes what it left, and so does nopwatch
"$NOPWATCH" script -p $$ "$spec" >own.sh # restricts the top-level buffer to threads
for by in script clean run; do
  for top in '' 1; do
    : >said
    if [ -z "$top" ]; then killed=script.sh; else killed=own.sh; fi
    NOPWATCH_TOP=$top $first $killed >text 2>said & script=$!
    wait_for is_armed said
    # shellcheck disable=SC2046 # a list
    kill -9 $(pgrep -P $script) $script
    wait $script 2>/dev/null
    case $by in
    script) $first short.sh >text 2>said ;;
    clean) "$NOPWATCH" clean >text 2>said ;;
    run) "$NOPWATCH" stat -q -d 0.1 "$spec" -o out.json ;;
    esac
    [ $by != script ] || has "the next script removes what a killed one left${top:+ (top)}" "$(cat said)" '^nopwatch: removed what nopwatch_sh'
    is "$by: all of it${top:+, and the settings of the top-level buffer}" "$(state_since "$foreign")" "$foreign"
  done
done
# the reader alone survives
: >said
$first script.sh >text 2>said & script=$!
wait_for is_armed said
reader=$(pgrep -P $script cat)
# shellcheck disable=SC2046 # a list
kill -9 $(pgrep -P $script | grep -vx "$reader") $script
wait $script 2>/dev/null
"$NOPWATCH" clean >said 2>&1
is "clean ends the reader that a killed script left, and removes the rest" "$(state_since "$foreign")" "$foreign"
echo "-:foreign_$$/mine" >>"$TRACEFS/uprobe_events"
kill $server
unchanged
finish
