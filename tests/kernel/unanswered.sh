# Libraries on a file system that does not answer any more (FUSE; NFS is the same): who opens one, closes it or asks for its
# size waits for ever, and cannot be killed meanwhile. A signal ends a run all the same, and what is known is shown.
. "$(dirname "$0")/../lib/kernel.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "stacks of tests/programs/modules.c are known on x86-64 and arm64" ;;
esac
modules=$PROGRAMS/modules
gcc -O2 -fPIC -shared -DLIBRARY "$TESTS_LIB/../programs/modules.c" -o plain.so || exit 1
mkdir gone

# start: the program is stopped, with its first library there
start() {
  rm -f served said
  "$PROGRAMS/unanswered" gone plain.so >served 2>&1 &
  server=$!
  wait_for grep -q . served
  grep -q ready served || skip_all "no FUSE: $(head -n 1 served)"
  "$modules" 0 gone/lib.so ./plain.so >said 2>&1 &
  target=$!
  wait_for has_called
  kill -STOP $target
}
# fall_silent: behind this the server answers nothing, and the program is hit
fall_silent() {
  wait_for armed
  kill -USR1 $server
  kill -CONT $target
  more_hits 5
}
# It sleeps after each call: by then it has all of its code in memory.
has_called() {
  grep -q ready said && [ "$(slept $target)" -ge 20 ]
}
# The server's end is an answer: what waits gets errors.
stop() {
  kill -9 "$server" "$target" 2>/dev/null
  wait $server $target 2>/dev/null
  umount -l gone
}
# has_shown STOP: what was traced is stopped; the tracer has ended well
has_shown() {
  $1
  wait $tracer
  is "... with status 0" $? 0
}
# gave_up JSON NAME: the result says that this file was not read, and why
gave_up() {
  holds "... and says which file was not read, and why" "$1" "any('$2' in str(it) and 'does not answer' in it['text'] \
    for row in of('loss') for it in row.get('unread', []))"
}
# The shell may have waited for it already.
has_ended() {
  ! grep -qs '^State:[^a-zA-Z]*[RSDTt]' "/proc/$1/status"
}

for signal in INT TERM; do
  start
  "$NOPWATCH" stat -j --stack "uprobe:$modules:leaf" -p $target >$signal.json 2>$signal.err &
  tracer=$!
  fall_silent
  kill -$signal $tracer
  ok "$signal ends a run while a file system does not answer" wait_for has_ended $tracer
  unchanged "... and tracefs is as it was"
  has_shown stop
  holds "... and functions of other files have their names" $signal.json "bool(of('stack')) and \
    all(any(t.startswith('main+') or t.startswith('leaf+') for t in row['stack']) for row in of('stack'))"
done

# So is the list of code that a program has generated. Who has the program's /tmp decides what answers there: here it is a file
# system of the program's own, as anybody may have one who may make namespaces.
if [ "$(uname -m)" = x86_64 ]; then
  cp "$PROGRAMS/generated" made
  echo '10000000 100 made at run time' >list
  # start_made: the list is read from a file system in the program's /tmp
  start_made() {
    rm -f served
    unshare -m --propagation private sh -c '
      mkdir -p /tmp; "$0" /tmp "$1" >served 2>&1 & echo $! >server
      until grep -q . served; do sleep 0.1; done
      exec ./made loop' "$PROGRAMS/unanswered" "$PWD/list" &
    target=$!
    begun $target ./made
    server=$(cat server)
  }
  stop_made() {
    kill -9 "$server" "$target"
    wait $target 2>/dev/null
  }
  start_made
  "$NOPWATCH" stat -j --stack -d 0.5 "uprobe:$PWD/made:hit" -p $target >made.json 2>made.err
  holds "a list in the program's /tmp is read" made.json "[t.split('+')[0] for t in of('stack')[0]['stack'][1:2]] == ['made at run time']"
  kill -USR1 $server
  "$NOPWATCH" stat -j --stack "uprobe:$PWD/made:hit" -p $target >made.json 2>made.err &
  tracer=$!
  armed_and_hit 5
  kill -TERM $tracer
  ok "TERM ends a run while nothing answers there" wait_for has_ended $tracer
  unchanged "... and tracefs is as it was"
  has_shown stop_made
  # (waiting for the list took all the time that there was for names)
  holds "... and with its stacks" made.json "bool(of('stack'))"
  start_made
  kill -USR1 $server
  "$NOPWATCH" stat -j --stack -d 1 "uprobe:$PWD/made:hit" -p $target >made.json 2>made.err &
  tracer=$!
  ok "without a signal, the list is given up" wait_for has_ended $tracer
  has_shown stop_made
  gave_up made.json perf-
fi

# Without a signal: the file is given up, and that is said, whether it cannot be opened (USR1) or not be read (USR2). A second
# program needs another file of that file system, which is not asked for.
for signal in USR1 USR2; do
  start
  "$modules" 0 gone/second.so ./plain.so >said 2>&1 &
  second=$!
  target=$second wait_for has_called
  kill -STOP $second
  "$NOPWATCH" stat -j --stack -n 300 "uprobe:$modules:leaf" -p $target,$second >late.json 2>late.err &
  tracer=$!
  wait_for armed
  kill -$signal $server
  kill -CONT $target $second
  ok "$signal: a run of 300 hits ends by itself" wait_for has_ended $tracer
  kill -9 $second
  has_shown stop
  gave_up late.json .so
  holds "... and so is the other one" late.json "[it['files'] for row in of('loss') for it in row['unread']] == [2]"
  is "... without asking for it" "$(sed -n 's/^\(asked\|read\) //p' served | sort -u | grep -c .)" 1
done

# If it is the file system of a debug file, functions have their names, of this file and of all others.
if need objcopy; then
  mkdir -p linked/.debug
  objcopy --add-gnu-debuglink=plain.so plain.so linked/lib.so
  "$PROGRAMS/unanswered" linked/.debug plain.so >served 2>&1 &
  server=$!
  wait_for grep -q ready served
  kill -USR1 $server
  "$modules" 0 linked/lib.so ./plain.so >said 2>&1 &
  target=$!
  wait_for has_called
  "$NOPWATCH" stat -j --stack -n 20 "uprobe:$modules:leaf" -p $target >debug.json 2>debug.err
  is "a debug file that does not answer is given up" $? 0
  kill -9 $server $target
  wait $server $target 2>/dev/null
  umount -l linked/.debug
  holds "... and functions have their names" debug.json "bool(of('stack')) and \
    all([t.split('+')[0] for t in row['stack'][:4]] == ['leaf', 'step', 'step', 'main'] for row in of('stack'))"
  holds "... and what is missing is said" debug.json "[(it['files'], it['missing'], 'debug file' in it['text']) \
    for row in of('loss') for it in row.get('unread', [])] == [(1, 'lines', True)]"
else
  skip "debug files that do not answer" "objcopy is not installed"
fi
unchanged
finish
