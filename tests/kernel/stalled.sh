# Nobody reads what a run writes or says (a stopped pager, a reader of a FIFO that hangs): a signal ends it all the same, and what
# was armed is taken away.
. "$(dirname "$0")/../lib/kernel.sh"

modules=$PROGRAMS/modules
gcc -O2 -fPIC -shared -DLIBRARY "$TESTS_LIB/../programs/modules.c" -o plain.so || exit 1
"$modules" 0 ./plain.so >said 2>&1 &
target=$!
wait_for grep -q ready said
# a pipe that is full, with a reader who does not read
mkfifo full
exec 3<>full
dd if=/dev/zero bs=4096 count=1024 oflag=nonblock >&3 2>/dev/null

# The shell may have waited for it already.
has_ended() {
  ! grep -qs '^State:[^a-zA-Z]*[RSDTt]' "/proc/$1/status"
}
# stalls SIGNAL WORD...: with standard output to nobody
stalls() {
  local signal=$1 tracer
  shift
  "$NOPWATCH" "$@" >full 2>err 3>&- &
  tracer=$!
  armed_and_hit 20
  kill "-$signal" $tracer
  wait_for has_ended $tracer || kill -9 $tracer
  wait $tracer
  is "$signal ends '$1 $2' whose output nobody reads, with status 1" $? 1
  has "... which says so" "$(cat err)" 'cannot write the output: nobody reads it'
  unchanged "... and leaves nothing behind"
}
stalls TERM trace -q "uprobe:$modules:leaf"
stalls INT trace -j "uprobe:$modules:leaf"
stalls TERM stat -q -i 0.2 "uprobe:$modules:leaf"
stalls HUP stat -j "uprobe:$modules:leaf"
stalls TERM trace --output=full "uprobe:$modules:leaf"

# A recording is written when the run is over, and the signal has been taken. unread SIGNALS FIFO
mkfifo unopened
unread() {
  local signals=$1 fifo=$2 signal tracer
  "$NOPWATCH" record -q -p $target "uprobe:$modules:leaf" -o "$fifo" 2>err 3>&- &
  tracer=$!
  armed_and_hit 20
  for signal in $signals; do
    kill "-$signal" $tracer 2>/dev/null
    sleep 0.1
  done
  wait_for has_ended $tracer || kill -9 $tracer
  wait $tracer
  is "$signals ends 'record -o $fifo', with status 1" "$? $(cat err)" "1 nopwatch: cannot write '$fifo': nobody reads from it"
  unchanged "... and leaves nothing behind"
}
unread TERM unopened
unread "INT INT" unopened
unread HUP full
unread "INT INT" full

# mute SIGNAL UNTIL WORD...: with messages to nobody
mute() {
  local signal=$1 until=$2 tracer
  shift 2
  "$NOPWATCH" "$@" >out 2>full 3>&- &
  tracer=$!
  wait_for "$until"
  kill "-$signal" $tracer
  wait_for has_ended $tracer || kill -9 $tracer
  wait $tracer
  is "$signal ends '$1 $2' whose messages nobody reads" $? 0
  ok "... and with its result" test -s out
  unchanged "... and leaves nothing behind"
}
# The message that a probe was disabled comes while another one is armed.
is_disabled() {
  local dir
  for dir in "$TRACEFS"/instances/nopwatch_*; do
    is_our_session "${dir##*/nopwatch_}" || continue
    grep -q X "$dir/events/${dir##*/}/enable" && return
  done 2>/dev/null
  false
}
is_hit() {
  armed && hit 20
}
mute TERM is_disabled stat --max-rate 1 "uprobe:$modules:leaf" "uprobe:$modules:main"
mute INT is_disabled trace -j --max-rate 1 "uprobe:$modules:leaf" "uprobe:$modules:main"
mute TERM is_hit stat -v "uprobe:$modules:leaf"

# A pager that nobody leaves, behind a run: a signal ends both.
for signal in TERM HUP; do
  PAGER='echo paged; echo $$ >pager; exec sleep 1000' TERM=xterm timeout -s KILL 200 python3 - "$signal" "$NOPWATCH" stat -d 0.1 \
    "uprobe:$modules:leaf" >said 2>err 3>&- <<'PY'
import fcntl, os, pty, signal, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 2, 80, 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
text = b""
while b"paged" not in text:
    text += os.read(fd, 4096)
os.kill(pid, getattr(signal, "SIG" + sys.argv[1]))
print(signal.Signals(os.WTERMSIG(os.waitpid(pid, 0)[1])).name)
PY
  is "$signal ends nopwatch while its pager is up" "$(cat said err)" "SIG$signal"
  ok "... and the pager" wait_for has_ended "$(cat pager)"
done

# One who reads slowly gets all of it.
mkfifo slow
exec 4<>slow
"$NOPWATCH" trace -j "uprobe:$modules:leaf" "uprobe:$PWD/plain.so:step" -n 600 -p $target >slow 2>err 3>&- 4>&- &
tracer=$!
wait_for armed
timeout 100 python3 -c '
import os, sys, time
fd, got = os.open("slow", os.O_RDONLY), 0
os.set_inheritable(fd, True)
text = b""
while b"\"end\"" not in text:
    part = os.read(fd, 3000)
    text += part
    time.sleep(0.005)
open("slow.json", "wb").write(text)' || fail "the reader gets an end"
wait $tracer
is "a slow reader: status" $? 0
holds "a slow reader gets every event" slow.json "len(of('event')) == 600"

# ... and all of a recording, which is written after a signal.
"$NOPWATCH" record -q -p $target "uprobe:$modules:leaf" -o slow 2>err 4>&- 3>&- &
tracer=$!
armed_and_hit 20
timeout 100 python3 -c '
import os, time
fd, text = os.open("slow", os.O_RDONLY | os.O_NONBLOCK), b""
os.set_blocking(fd, True)
open("reads", "w").close()
# There is no writer before the end of the run, which looks like an end.
while (part := os.read(fd, 3000)) or not text:
    text += part
    time.sleep(0.01)
open("slow.dat", "wb").write(text)' 4>&- &
reader=$!
wait_for test -e reads
exec 4>&-
kill -TERM $tracer
wait $tracer
is "a signal, and a slow reader of the recording: status" "$? $(cat err)" "0 "
wait $reader
"$NOPWATCH" trace -j --from slow.dat >slow.json
holds "the reader gets all of it" slow.json "len(of('event')) >= 20"
kill -9 $target
unchanged
finish
