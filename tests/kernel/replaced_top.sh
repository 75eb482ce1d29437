# shellcheck shell=bash
# A probed file is replaced while top shows it: what is shown goes on, and the file is named when top has ended.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/tmux.sh
. "$TESTS_LIB/tmux.sh"
trap 'end_terminal; kill_jobs' EXIT

build() { # NUMBER: of the build, which comes to the path as packages do it
  gcc -O1 -DBUILD="$1" "$TESTS_LIB/../programs/upgrade.c" -o prog.new && mv prog.new prog
}
work() { # N: so many spans, twice
  ./prog "$1" </dev/null
}
# How many sites are armed, once all events are enabled. What top has to say on stderr comes when it has ended.
places() { session_probes 'nopwatch_[^ /]*' | wc -l; }
more_than() { # N
  [ "$(places)" -gt "$1" ] && armed
}
ended() { [ -s status ]; }

build 1
terminal 100 24
enter "$NOPWATCH top 'usdt:./prog:upgrade:*' 2>err; echo \$? >status"
sees "top waits for hits" '^nothing has happened yet'
work 5
sees "hits of the first build" ' 20 hits, '
before=$(places)
build 2
ok "the new file is armed, too" wait_for more_than "$before"
sees "the picture stands without hits" ' 20 hits, '
work 6
sees "hits of the second one are in the same rows" ' 44 hits, '
is "... which are as many as before" "$(picture | grep -c '^upgrade:work')" 3

press ' '
sees "paused" PAUSED
before=$(places)
build 3
ok "a file that is replaced meanwhile is armed, too" wait_for more_than "$before"
work 7
press ' '
sees "and what it did is shown afterwards" ' 72 hits, '
press b
press -l tid
press Enter
sees "grouped from now on" ' by tid'
work 8
sees "in groups" '^upgrade:work__start +[0-9]+ '
press q
ok "top ends" wait_for ended
is "... well" "$(cat status)" 0
sees "with the hits since they are grouped" '^32 hits in .*, 0 events lost'
is "and has named the file each time" "$(grep -c 'prog was replaced: its 2 probes are armed in the new file, too' err)" 2
end_terminal
unchanged

# ---- in a pipe ----
build 1
"$NOPWATCH" top -j 'usdt:./prog:upgrade:*' >out 2>err & run=$!
wait_for armed
work 5
build 2
ok "in a pipe: a file that is replaced is noticed" wait_for grep -q 'prog was replaced: its 2 probes are armed in the new file, too' err
work 6
kill -INT $run
wait $run
is "... and the run ends well" $? 0
holds "... with the hits of both" out "sum(r['hits'] for r in of('probe') if 'interval' not in r) == 44"
unchanged
finish
