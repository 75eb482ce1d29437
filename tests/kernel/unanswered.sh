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
  stop
  wait $tracer
  is "... with status 0" $? 0
  holds "... and functions of other files have their names" $signal.json "bool(of('stack')) and \
    all(any(t.startswith('main+') or t.startswith('leaf+') for t in row['stack']) for row in of('stack'))"
done

# Without a signal: the file is given up, and that is said.
start
"$NOPWATCH" stat -j --stack -d 2 "uprobe:$modules:leaf" -p $target >late.json 2>late.err &
tracer=$!
fall_silent
ok "a run of two seconds ends by itself" wait_for has_ended $tracer
stop
wait $tracer
is "... with status 0" $? 0
holds "... and says which file was not read, and why" late.json "any('lib.so' in str(it) and 'does not answer' in it['text'] \
  for row in of('loss') for it in row.get('unread', []))"
unchanged
finish
