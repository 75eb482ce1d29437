# why: the right place, but not in the process that is meant. Every cause is there for real.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/why.sh
. "$TESTS_LIB/why.sh"
target=$PROGRAMS/target

# the number
start thread
for tid in "/proc/$pid/task"/*; do tid=${tid##*/}; done
why -p "$tid" "usdt:$target:target:tick"
named "the number of a thread" 3 False thread-id
advises "the process" "-p $pid "
remedied "which hits" thread-id
why -d 0.4 -p $pid "usdt:$target:target:tick"
named "hits of a second thread are the process's" 0 True -
stop
gone=$pid
start idle
why -p $gone "usdt:$target:target:tick"
named "a process that is gone" 3 False process-gone
remedied "who runs it now" process-gone
stop
number=32000 # one that nobody has here
while [ -e /proc/$number ]; do number=$((number - 1)); done
"$TESTS_LIB/own_mounts" "exec unshare -p -f sh -c \"mount -t proc none /proc; echo $((number - 1)) >/proc/sys/kernel/ns_last_pid; '$target' plain & wait\"" \
  >/dev/null 2>&1 & outer=$!
find_inner() { inner=$(pgrep -P "$(pgrep -P $outer)") && [ "/proc/$inner/exe" -ef "$target" ]; }
wait_for find_inner
if [ "$(awk '/^NSpid:/ { print $NF }' "/proc/$inner/status")" = $number ]; then
  why -p $number "usdt:$target:target:tick"
  named "a number that is valid in a container only" 3 False inner-pid
  says "and the one here" "here it is $inner"
  remedied "which hits" inner-pid
else
  skip "a number that is valid in a container only" "the kernel cannot be told which number is next"
fi
kill -9 "$inner" $outer 2>/dev/null
wait $outer 2>/dev/null

# the process is another one
start idle && idle=$pid
start plain
why -d 0.4 -p $idle "usdt:$target:target:tick"
named "the wrong process" 3 False other-process
says "and the right one" "hits? in|[0-9]+ in process $pid \(target\)"
advises "by its number" "-p $pid "
remedied "which hits" other-process
kill -9 $idle
stop
start idle
why -d 0.4 -p $pid "usdt:$target:target:tick"
named "code that is not executed" 3 False not-executed
checked "although it is armed" armed pass
checked "and its semaphore is raised" semaphore pass
remedied "to look for longer" not-executed
stop
start fork
why -d 0.4 -p $pid "usdt:$target:target:tick"
named "a process whose children do the work" 3 False child
advises "--follow" 'stat --follow -p'
remedied "both hit" child
pkill -9 -P $pid
stop
cp /bin/sleep lazy
cp "$target" becoming
TARGET=$PWD/becoming start exec "$PWD/lazy" 60
why -d 4 -p $pid "usdt:$PWD/becoming:target:tick"
named "a process that becomes another program meanwhile" 3 False execed
why -p $pid "usdt:$target:target:tick"
named "a process that has become another program" 3 False other-program
says "and which" "runs $PWD/lazy"
lazy=$pid
start idle
remedied "who runs it" other-program
kill -9 $lazy
stop
cp "$target" idler
TARGET=$PWD/idler start idle
why -p $pid "usdt:$target:target:tick"
named "a process of another program" 3 False other-program
stop
why -d 0.4 "usdt:$PWD/idler:target:tick"
named "a program that nobody runs" 3 False not-running
meanwhile='./idler plain >/dev/null 2>&1 &' remedied "once it runs it hits" not-running
kill -9 $! 2>/dev/null

# the file is another one
cp "$target" mine
TARGET=$PWD/mine start plain
cp "$target" new
objcopy --add-section .more=/etc/hostname new
mv new mine
why -p $pid "usdt:$PWD/mine:target:tick"
named "a file that was replaced" 3 False file-replaced
remedied "what it runs hits" file-replaced
why "usdt:$PWD/mine:target:tick"
named "without -p, too" 3 False file-replaced
rm mine
why -p $pid "usdt:$PWD/mine:target:tick"
named "a file that was deleted" 3 False file-deleted
remedied "what it runs hits" file-deleted
stop
# as kernels before 3.18 have it after a rename over the file: the old one goes by the new one's former name
for old in 'kept;5f2c1a9b' kept.dpkg-new .kept.Ab12Cd sedAb12Cd; do
  cp "$target" kept
  TARGET=$PWD/kept start plain
  mv kept "$old"
  cp "$target" kept
  objcopy --add-section .more=/etc/hostname kept
  rm "$old"
  why -p $pid "usdt:$PWD/kept:target:tick"
  named "a file that was replaced and is called $old" 3 False file-replaced
  stop
  rm kept
done
mkdir elsewhere
cp "$target" elsewhere/target
TARGET=$PWD/elsewhere/target start plain
why -p $pid "usdt:$target:target:tick"
named "another copy of the program" 3 False other-copy
says "and which" "runs $PWD/elsewhere/target"
remedied "that hits" other-copy
cp "$target" alone
mv elsewhere/target elsewhere/alone
why -d 0.4 "usdt:$PWD/alone:target:tick"
named "without -p a process that runs a copy elsewhere is not blamed" 3 False not-running
says "it is mentioned" "process $pid runs another file of this name: $PWD/elsewhere/alone"
advises "the copy is the second choice" "-p $pid 'usdt:$PWD/elsewhere/alone:target:tick'"
has "stat says so, too" "$("$NOPWATCH" stat -d 0.3 "usdt:$PWD/alone:target:tick" 2>&1)" \
  "^target:tick: no hit: no process has $PWD/alone loaded"
stop
mkdir -p root/bin
cp "$target" root/bin/inside
cp "$target" inside
ldd "$target" | grep -o '/[^ ]*' | while read -r lib; do
  mkdir -p "root$(dirname "$lib")" && cp "$lib" "root$lib"
done
chroot root /bin/inside plain >/dev/null 2>&1 & pid=$!
begun $pid root/bin/inside
why -p $pid usdt:/bin/inside:target:tick
named "a path inside a chroot" 3 False other-namespace
advises "by the root of the process" "'usdt:$PWD/root/bin/inside:target:tick'|/proc/$pid/root/bin/inside"
why -p $pid "usdt:$PWD/inside:target:tick"
named "the copy outside it" 3 False other-namespace
remedied "what it runs hits" other-namespace
stop
mkdir -p hidden
cp "$target" hidden/prog
"$TESTS_LIB/own_mounts" "mount -t tmpfs none hidden && cp '$target' hidden/prog && exec hidden/prog plain" >/dev/null 2>&1 & pid=$!
runs_hidden() { [ "$(readlink /proc/$pid/exe)" = "$PWD/hidden/prog" ]; }
wait_for runs_hidden
why -p $pid "usdt:$PWD/hidden/prog:target:tick"
named "a copy in another mount namespace" 3 False other-namespace
remedied "by what it advised it hits" other-namespace
stop
mkdir -p lower upper tmp merged
cp "$target" lower/prog
if mount -t tmpfs none tmp && mkdir tmp/upper tmp/work &&
  mount -t overlay -o "lowerdir=$PWD/lower,upperdir=$PWD/tmp/upper,workdir=$PWD/tmp/work" none merged 2>/dev/null; then
  TARGET=$PWD/merged/prog start plain
  why -d 0.4 -p $pid "usdt:$PWD/merged/prog:target:tick"
  named "a file on overlayfs" 0 True -
  chown daemon merged/prog # copied up: what runs is the layer below
  why -d 0.4 -p $pid "usdt:$PWD/merged/prog:target:tick"
  named "a file that overlayfs has copied up" 3 False overlay
  remedied "what it runs hits" overlay
  stop
  umount merged
else
  skip "a file on overlayfs" "the kernel has none"
  skip "a file that overlayfs has copied up" "the kernel has none"
fi
umount tmp

# libraries
gcc -shared -fPIC -O1 -o libwork.so -x c - <<<'int lib_work(int n) { return n + 1; }'
start dlopen "$PWD/libwork.so"
why -p $pid "uprobe:$PWD/libwork.so:lib_work"
named "a library that is not loaded yet" 3 False not-loaded
meanwhile="kill -USR1 $pid" remedied "once it is loaded it hits" not-loaded
wait_for grep -q libwork /proc/$pid/maps
why -d 0.4 -p $pid "uprobe:$PWD/libwork.so:lib_work"
named "and now it is" 0 True -
mkdir -p other
cp libwork.so other/libwork.so
why -p $pid "uprobe:$PWD/other/libwork.so:lib_work"
named "another library of the same name" 3 False other-copy
remedied "that hits" other-copy
stop

# the code is not where the file was mapped
start copy
why -p $pid "uprobe:$target:work"
named "code that was copied to anonymous memory" 3 False text-copied
remedied "words help there" text-copied
stop
start writable
if grep -q rwxp /proc/$pid/maps; then
  why -p $pid "uprobe:$target:work"
  named "code that is mapped writable" 3 False text-writable
  remedied "how it is mapped" text-writable
else
  skip "code that is mapped writable" "not allowed here"
fi
stop

# a process that does not run, and what lets it run again
start plain
kill -STOP $pid
why -d 0.4 -p $pid "uprobe:$target:work"
named "a process that a signal has stopped" 3 False stopped
remedied "goes on when it is told to" stopped
why -d 0.4 -p $pid "uprobe:$target:work"
named "and is hit then" 0 True -
if command -v gdb >/dev/null; then
  gdb -nx -q -p $pid -batch -ex 'shell touch held; while [ ! -e go ]; do sleep 0.1; done' >/dev/null 2>&1 </dev/null &
  debugger=$!
  wait_for test -e held
  why -d 0.4 -p $pid "uprobe:$target:work"
  named "a process that a debugger holds" 3 False stopped
  says "by its number" "process $debugger traces it"
  remedied "who that is" stopped
  touch go
  wait $debugger
else
  skip "a process that a debugger holds" "there is no gdb"
fi
# Either version of the freezer, whichever there is.
group=
mkdir unified
if ! grep -qw cgroup2 /proc/self/mounts && mount -t cgroup2 none unified 2>/dev/null; then unified=yes; fi
for dir in $(awk '$3 == "cgroup2" || $4 ~ /freezer/ { print $2 }' /proc/self/mounts); do
  group=$dir/nw_why_$$
  mkdir "$group" 2>/dev/null && mkdir "$group/inner" && echo $pid >"$group/inner/cgroup.procs" 2>/dev/null || continue
  [ -e "$group/cgroup.freeze" ] && freeze=cgroup.freeze on=1 off=0 || freeze=freezer.state on=FROZEN off=THAWED
  [ -e "$group/$freeze" ] || { echo $pid >"$dir/cgroup.procs"; rmdir "$group/inner" "$group"; continue; }
  echo $on >"$group/$freeze"
  why -d 0.4 -p $pid "uprobe:$target:work"
  named "a process whose control group is frozen ($freeze)" 3 False stopped
  advises "the group that was told to" "$group/$freeze"
  remedied "goes on when it is told to" stopped
  echo $off >"$group/$freeze"
  why -d 0.4 -p $pid "uprobe:$target:work"
  named "and is hit then" 0 True -
  echo $pid >"$dir/cgroup.procs"
  rmdir "$group/inner" "$group"
  frozen=1
done
[ -z "${unified:-}" ] || umount unified
[ -n "${frozen:-}" ] || skip "a process whose control group is frozen" "no control groups"
stop

# calls that do not come back
cat >thrown.c <<'CODE'
#include <setjmp.h>
#include <unistd.h>
static jmp_buf back;
__attribute__((noinline)) void leave(void) { longjmp(back, 1); }
__attribute__((noinline)) int stay(int n) { __asm__ volatile(""); return n; }
int main(void) { for (volatile int i = 0; i < 200000; i++) { if (!setjmp(back)) leave(); stay(i); usleep(500); } }
CODE
gcc -O1 -o thrown thrown.c
TARGET=./thrown start
why -d 0.4 -p $pid "uretprobe:$PWD/thrown:leave"
named "a function that is left by longjmp" 3 False no-return
says "is called" "'leave' was called [0-9,]+ times and did not return"
remedied "at its entry it hits" no-return
why -d 0.4 -p $pid "uretprobe:$PWD/thrown:stay"
named "and one that returns" 0 True -
is "whose calls are no hits of it" "$(j why.json "[c['saw'].split(' at ')[1] for c in of('check') if c['name'] == 'hit'][0]")" "1 of 1 sites"
stop

# the breakpoint was there, and is not any more
start heals
why -d 1.5 -p $pid "uprobe:$target:work"
named "code that somebody has put back" 3 False not-armed
remedied "arming it again finds hits" not-armed
stop

# a file that is only there where the process is
if mkdir -p cell && unshare -m true 2>/dev/null; then
  # shellcheck disable=SC2016
  unshare -m sh -c 'mount -t tmpfs none cell && cp "$1" cell/inner && { cell/inner plain >/dev/null & } && exec sleep 1000' \
    sh "$target" &
  cell=$!
  is_inside() { [ -e "/proc/$cell/root$PWD/cell/inner" ] && [ "$(cat /proc/$cell/comm)" = sleep ]; }
  wait_for is_inside
  why -p $cell "uprobe:$PWD/cell/inner:work"
  named "a file that is not there for us" 3 False file-missing
  remedied "but where the process is, and hits" file-missing
  pkill -9 -P $cell
  kill -9 $cell
  wait $cell 2>/dev/null
else
  skip "a file that is only there where the process is" "no mount namespaces"
fi

unchanged
finish
