# Nobody reads what a run writes (a stopped pager, a reader of a FIFO that hangs): a signal ends it all the same, and what was
# armed is taken away.
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
  ok "$signal ends '$1 $2' whose output nobody reads" wait_for has_ended $tracer
  wait $tracer
  is "... with status 1" $? 1
  has "... which says so" "$(cat err)" 'cannot write the output: nobody reads it'
  unchanged "... and leaves nothing behind"
}
stalls TERM trace -q "uprobe:$modules:leaf"
stalls INT trace -j "uprobe:$modules:leaf"
stalls TERM stat -q -i 0.2 "uprobe:$modules:leaf"
stalls HUP stat -j "uprobe:$modules:leaf"
stalls TERM trace --output=full "uprobe:$modules:leaf"

# One who reads slowly gets all of it.
mkfifo slow
exec 4<>slow
"$NOPWATCH" trace -j "uprobe:$modules:leaf" -n 600 -p $target >slow 2>err 3>&- 4>&- &
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
kill -9 $target
unchanged
finish
