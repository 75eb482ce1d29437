# record --until when the disk is full, slow or gone, and nopwatch is ended meanwhile: what was promised is there.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/flight.sh
. "$TESTS_LIB/flight.sh"

mkdir small && mount -t tmpfs -o size=64k none small || skip_all "cannot mount a tmpfs"
trap 'kill_jobs; umount "$TEST_DIR/small" 2>/dev/null' EXIT

# ---- a full disk, and a second match meanwhile

"$NOPWATCH" record --until 'request > 50ms' --times 2 -b 16M -o small/full.dat "$ALL" -- "$RARE" 100000000 5000 80 50 2>said >told &
run=$!
wait_for grep -q 'cannot write' said
has "a full disk is said" "$(cat said)" "cannot write 'small/full.dat': No space left on device: it stays in memory, and is tried again every 5 s"
is "and nothing half done is there" "$(ls -A small)" ""
wait_for grep -q 'slow 15000' told
mount -o remount,size=64m small
wait $run
is "with room, all is written" "$? $(ls small | tr '\n' ' ')" "0 full-2.dat full.dat "
ok "the first is whole" whole small/full.dat 0 5000
ok "and the second, which was met meanwhile" whole small/full-2.dat 0 10000
rm small/*
rm said # not to be taken for what the next one says
mount -o remount,size=64k small
"$NOPWATCH" record --until 'request > 50ms' -o small/full.dat "$ALL" -- "$RARE" 100000000 5000 80 50 2>said >told &
run=$!
wait_for grep -q 'cannot write' said
kill $run
wait $run
is "who cannot wait is told that it failed" "$? $(tail -n 1 said)" "1 nopwatch: cannot write 'small/full.dat': No space left on device"
is "and there is nothing" "$(ls -A small)" ""

# ---- a slow disk: what is written is there when the file `hold` has gone, and not before

cat >slow.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
/* NFS and FAT have no files without a name */
int openat(int dir, const char *path, int flags, ...)
{
	int (*real)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
	va_list args;
	va_start(args, flags);
	int mode = va_arg(args, int);
	va_end(args);
	if ((flags & O_TMPFILE) == O_TMPFILE && getenv("NO_TMPFILE")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return real(dir, path, flags, mode);
}
/* the first thing that is opened: the program has begun, and goes on when `hold` has gone */
int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	va_list args;
	va_start(args, flags);
	int mode = va_arg(args, int);
	va_end(args);
	if (getenv("HOLD_START") && access("begun", F_OK) != 0 && symlink("now", "begun") == 0)
		while (access("hold", F_OK) == 0)
			usleep(1000);
	return real(path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));
int fsync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	for (; access("hold", F_OK) == 0; usleep(1000))
		if (access("writing", F_OK) != 0)
			symlink("now", "writing");
	return real(fd);
}
C
if ! gcc -shared -fPIC -o slow.so slow.c -ldl 2>err; then
  skip "a slow disk" "no compiler"
  unchanged
  finish
fi

# begin_slow TIMES: the first recording is being written, and a second slow request has been seen meanwhile
begin_slow() {
  rm -rf writing out said told
  mkdir out
  touch hold
  ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/slow.so "$NOPWATCH" record --until 'request > 50ms' --keep 400ms \
    --times "$1" -b 16M -o out/slow.dat "$ALL" -- "$RARE" 100000000 5000 80 50 2>said >told &
  run=$!
  wait_for test -L writing
  wait_for grep -q 'slow 10000' told
  sleep 0.2
  is "nothing is there before all of it is" "$(ls -A out)" ""
}

begin_slow 2
rm hold
wait $run
is "a slow disk, and a second match meanwhile" "$? $(ls out | tr '\n' ' ')" "0 slow-2.dat slow.dat "
ok "the first is whole" whole out/slow.dat 0.4 5000
ok "and the second" whole out/slow-2.dat 0.4 10000
readable out/slow.dat 5000

begin_slow 0
kill $run
sleep 0.3
ok "SIGTERM waits for what is being written" kill -0 $run
rm hold
wait $run
is "and for what was met by then" $? 0
ok "the first is whole after SIGTERM" whole out/slow.dat 0.4 5000
ok "and the second after SIGTERM" whole out/slow-2.dat 0.4 10000
is "nothing else was made" "$(find out -type f ! -name 'slow*.dat' | wc -l)" 0
readable out/slow-2.dat 10000

begin_slow 2
kill -9 "$(pgrep -P $run -x nopwatch)"
rm hold
wait $run
is "a writer that is killed" "$? $(ls out | tr '\n' ' ')" "0 slow-2.dat slow.dat "
has "which is said" "$(cat said)" "^nopwatch: 'out/slow.dat' is not written, since its writer was killed by signal 9: it stays in memory"
ok "the first is written all the same" whole out/slow.dat 0.4 5000
ok "and the second behind it" whole out/slow-2.dat 0.4 10000

# ---- a signal in the first moment asks for a recording, too

touch hold
rm -f begun
HOLD_START=1 ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/slow.so "$NOPWATCH" record --until-signal -b 1M -o early.dat "$ALL" \
  -- "$RARE" 100000000 5000 80 50 2>said >told &
run=$!
wait_for test -L begun
kill -USR2 $run
rm hold
wait $run
is "SIGUSR2 before anything has begun" "$? $(grep -o 'early.dat: SIGUSR2' said)" "0 early.dat: SIGUSR2"

# ---- nopwatch is killed meanwhile: its writer goes with it, and has never held what makes a session a living one

# held PID: what it has open that is neither /dev/null, nor in memory, nor the recording that it writes
held() { readlink "/proc/$1"/fd/* | grep -v -e '^/dev/null$' -e '^/memfd:' -e "^$PWD/out" | sort -u; }

for NO_TMPFILE in "" 1; do
  if [ -n "$NO_TMPFILE" ]; then export NO_TMPFILE; else unset NO_TMPFILE; fi
  rm -rf writing out said told
  mkdir out
  touch hold
  ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/slow.so "$NOPWATCH" record --until 'request > 50ms' --keep 400ms \
    -b 16M -o out/slow.dat "$ALL" -- "$RARE" 100000000 5000 80 50 2>said >told &
  run=$!
  wait_for test -L writing
  writer=$(pgrep -P $run -x nopwatch)
  rare=$(pgrep -P $run -x rare)
  is "the writer holds nothing of the session${NO_TMPFILE:+, without nameless files}" "$(held "$writer")" ""
  kill -9 $run
  wait $run 2>/dev/null
  has_gone() { ! kill -0 "$writer" 2>/dev/null; }
  ok "the writer ends with nopwatch" wait_for has_gone
  "$NOPWATCH" clean >said.clean 2>&1
  is "and clean takes the session away at once" "$? $(echo "$TRACEFS"/instances/nopwatch_${run}_*)" "0 $TRACEFS/instances/nopwatch_${run}_*"
  rm hold
  kill "$rare"
done
left=$(cd out && echo .nopwatch.????????????????)
ok "without nameless files it leaves one of a name of its own" test -f "out/$left"
touch -d '2 minutes ago' "out/$left"
unset NO_TMPFILE
"$NOPWATCH" record -q -d 0.1 -o out/other.dat "$ALL" 2>said
is "which goes when something is written there again" "$(ls -A out)" "other.dat"

# ---- a file system that stands still: its writer cannot be killed, and keeps nothing of the session alive

frozen() {
  truncate -s 64M frozen.img && mkfs.ext4 -q -F frozen.img && mkdir -p frozen && mount -o loop frozen.img frozen
}
thaw() {
  fsfreeze -u frozen
  umount frozen
}
if need fsfreeze && need mkfs.ext4 && frozen 2>err; then
  trap 'kill_jobs; thaw 2>/dev/null; umount "$TEST_DIR/small" 2>/dev/null' EXIT
  for signal in -9 -TERM; do
    "$NOPWATCH" record --until 'request > 50ms' --keep 400ms -b 16M -o frozen/f.dat "$ALL" -- "$RARE" 100000000 5000 80 50 2>said >told &
    run=$!
    wait_for armed
    fsfreeze -f frozen
    stands_still() {
      writer=$(pgrep -P $run -x nopwatch) && grep -q '^State:[^a-zA-Z]*D' "/proc/$writer/status"
    }
    ok "a writer stands still" wait_for stands_still
    rare=$(pgrep -P $run -x rare)
    writer=$(pgrep -P $run -x nopwatch)
    # nopwatch is killed, and its writer with it; or it was told to end, and waited for its writer
    [ $signal = -9 ] || { kill $signal $run && sleep 0.3; }
    kill -9 $run "$writer"
    wait $run 2>/dev/null
    ok "it lives on when nopwatch is killed ($signal)" kill -0 "$writer"
    "$NOPWATCH" clean >said.clean 2>&1
    is "and clean takes the session away at once" "$? $(echo "$TRACEFS"/instances/nopwatch_${run}_*)" "0 $TRACEFS/instances/nopwatch_${run}_*"
    has "and calls nobody living" "$(cat said.clean)" "^[1-9] dead sessions? removed, 0 living left alone"
    has "nothing is left for a second time" "$("$NOPWATCH" clean 2>&1)" "^0 dead sessions removed, 0 living left alone"
    kill "$rare"
    fsfreeze -u frozen
    has_gone() { ! kill -0 "$writer" 2>/dev/null; }
    ok "then the writer ends" wait_for has_gone
    is "and leaves no file" "$(find frozen -type f)" ""
  done
  umount frozen
else
  skip "a file system that stands still" "none can be frozen: $(head -n 1 err 2>/dev/null)"
fi

unchanged
finish
