# shellcheck shell=bash
# top while it measures: in a terminal of tmux's, on a running server.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/tmux.sh
. "$TESTS_LIB/tmux.sh"
trap 'end_terminal; kill_jobs' EXIT

"$SERVER" -t 2 -p 300 >/dev/null & server=$!
begun $server "$SERVER"
spec="usdt:$SERVER:myserver:request__start' 'usdt:$SERVER:myserver:request__done(id,status)"
tracing() { [ "$(our_instances)" ]; }
no_longer() { ! tracing; }
modes() { tm display-message -p '#{cursor_flag} #{alternate_on}'; }

# ---- into a pipe: lines ----
"$NOPWATCH" top "usdt:$SERVER:myserver:*" -n 2 >lines 2>err
is "into a pipe it ends as stat does" $? 0
is "a table every half second, and the total" "$(grep -c '^PROBE ' lines)" 3
has "the last is of both" "$(tail -n 1 lines)" '^[0-9]+ hits? in [1-9][0-9]*\.[0-9]*s, 0 events lost'
hasnt "and nothing for a terminal in it" "$(cat lines)" "$(printf '\033')"

# ---- a live run ----
terminal 100 30
enter "stty -a >before; $NOPWATCH top '$spec'"
sees "rows with what is measured" '^myserver:request +[0-9.]+k?/s +[0-9.]+us '
sees "nothing lost, and what it costs" ' 0 lost .* cost [<0-9.]+'
tracing && pass "armed"
first=$(picture | head -n 1)
moved() { [ "$(picture | head -n 1)" != "$first" ]; }
ok "it goes on by itself" wait_for moved
press b
sees "b: the keys that there are" '^group by \(tid, pid, comm, cpu, title, id, status\): _'
press -l 'status'
press Enter
sees "in groups from now on" '^myserver:request__done 200 +[0-9.]+k?/s'
sees "and the title says so" ' by status'
press b
for _ in {1..6}; do press BSpace; done
press -l 'bytes'
press Enter
sees "what is not fetched is refused" "no probe has an argument of that name|'bytes' is not fetched"
press b
press -l ',cpu'
press Enter
sees "two keys" '^myserver:request__done [0-9]+,[0-9]+ '
press b
for _ in {1..10}; do press BSpace; done
press Enter
sees "and none again" '^myserver:request +[0-9.]+k?/s'
press ' '
sees "paused" PAUSED
# all of it: the terminal may not have been given the last lines yet
drawn() { paused=$(picture) && sleep 0.3 && [ "$(picture)" = "$paused" ]; }
wait_for drawn
press h
sees "and looked at" '^myserver:request: latency, '
press h
still() { [ "$(picture)" = "$paused" ]; }
ok "the rows stand still" wait_for still
press ' '
sees_no "and go on" PAUSED

# ---- sizes in mid-run ----
tm resize-window -x 200 -y 50
sees "200 x 50" '^SPAN +COUNT +RATE +MEAN '
press m
sees "with a heat map" '^myserver:request: latency over time'
tm resize-window -x 40 -y 10
sees "40 x 10" 'now$'
tm resize-window -x 100 -y 30
press m
sees "and back" '^SPAN +RATE +P50 +P99 +MAX '

# ---- suspended ----
press C-z
sees "Ctrl-Z: the shell" "$PROMPT"
is "on its own screen, with a cursor" "$(modes)" "1 0"
enter "clear; stty -a >stopped; echo 'now this'"
sees "which works" '^now this'
ok "in its own modes" cmp before stopped
tracing && pass "what was armed stays so"
enter fg
sees "fg: it is back" '^myserver:request +[0-9.]+k?/s'
is "on its screen" "$(modes)" "0 1"

# ---- a report in between, and the end ----
press w
for _ in {1..13}; do press BSpace; done
press -l 'seen.json'
press Enter
sees "w: written" '^written: seen\.json'
holds "which is a report" seen.json "span('myserver:request')['count'] > 10 and span('myserver:request')['unmatched_ends'] <= 2 + sum(r['events'] for r in of('loss'))"
press w
press Enter
sees "w: as a page, too" '^written: nopwatch\.html'
ok "which is one" grep -q '<html' nopwatch.html
press q
sees "q: stat's report" '^[0-9]+ hits? in .* events? lost'
enter "clear; stty -a >after; echo gone"
sees "and the shell" '^gone'
ok "the terminal is as it was" cmp before after
ok "nothing is armed any more" wait_for no_longer

# ---- signals ----
for signal in TERM HUP INT; do
  terminal 80 24
  enter "$NOPWATCH top '$spec'; echo ended \$?"
  waits "for rows" '^myserver:request +[0-9.]+k?/s'
  pkill -"$signal" -P "$(tm display-message -p '#{pane_pid}')" nopwatch
  sees "SIG$signal: it ends and reports" '^ended 0'
  is "SIG$signal: the terminal is given back" "$(modes)" "1 0"
  ok "SIG$signal: nothing is armed any more" wait_for no_longer
done
terminal 80 24
enter "$NOPWATCH top '$spec'; echo ended"
waits "for rows" '^myserver:request +[0-9.]+k?/s'
pkill -QUIT -P "$(tm display-message -p '#{pane_pid}')" nopwatch
sees "SIGQUIT: it dies" '^ended'
is "SIGQUIT: the terminal is given back" "$(modes)" "1 0"
"$NOPWATCH" clean >/dev/null 2>&1
ok "SIGQUIT: what it left goes with the next" no_longer

# ---- CMD ----
terminal 80 24
enter "$NOPWATCH top 'usdt:$SERVER:myserver:*' -o total.json -j -- sh -c 'echo said by it; $SERVER -t 1 -p 300 >counted & until [ -e enough ]; do sleep 0.1; done; kill \$!; wait; exit 3'; echo status \$?"
sees "CMD: rows" '^myserver:request +[0-9.]+k?/s'
shows 'said by it' && fail "CMD: what it prints waits" || pass "CMD: what it prints waits"
more_hits 10000
touch enough
sees "CMD: and comes at the end" '^said by it'
sees "CMD: its status is ours" '^status 3'
holds "CMD: -o -j: the report is there" total.json "span('myserver:request')['count'] + loss() >= $(sed -n 's/.*requests \([0-9]*\).*/\1/p' counted) > 100"

# ---- other groups: the report is of the time since ----
terminal 100 30
enter "$NOPWATCH top '$spec' -j -o since.json; echo status \$?"
sees "rows before they are grouped" '^myserver:request +[0-9.]+k?/s'
press b
press -l 'status'
press Enter
sees "groups" '^myserver:request__done 200 +[0-9.]+k?/s'
press q
sees "the end" '^status 0'
holds "the rows say how long they were counted, which is not the whole run" since.json \
  "all(0 < r['interval_ns'] < of('end')[0]['elapsed_ns'] for r in of('probe') + of('span')) and len(of('probe')) > 1"

# ---- -d, and a process that ends ----
terminal 80 24
enter "$NOPWATCH top '$spec' -d 1; echo status \$?"
sees "-d: it ends by itself" '^status 0'
"$SERVER" -t 1 -p 300 >/dev/null & short=$!
begun $short "$SERVER"
enter "clear; $NOPWATCH top -p $short 'myserver:*'; echo status \$?"
waits "for rows" '^myserver:request +[0-9.]+k?/s'
kill $short
sees "-p: with the last process" '^status 0'
end_terminal

kill $server
wait $server 2>/dev/null
ok "all is taken away" wait_for no_longer
unchanged
finish
