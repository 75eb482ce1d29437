# Every way out takes everything away: signals, closed pipes, full disks, the end of the target.
. "$(dirname "$0")/../lib/kernel.sh"

"$SERVER" -t 2 -p 200 >/dev/null & server=$!
begun $server "$SERVER"

semaphore() { # the value of request__start's semaphore in the server
  local row at
  row=$("$NOPWATCH" list -j "$SERVER" 'request__start' | j /dev/stdin "first['semaphore_vaddr']")
  at=$(awk -v f="$(basename "$SERVER")" '$6 ~ f { split($1, a, "-"); print a[1]; exit }' /proc/$server/maps)
  python3 -c "
import sys
with open('/proc/$server/mem', 'rb') as m:
    m.seek(0x$at + $row); print(int.from_bytes(m.read(2), 'little'))"
}

is "nobody has raised the semaphore" "$(semaphore)" 0
for signal in INT TERM HUP; do
  "$NOPWATCH" stat -j 'myserver:*' -p $server -o out.json & run=$!
  wait_for armed
  [ $signal = INT ] && is "armed, it is raised" "$(semaphore)" 1
  more_hits 2000
  kill -$signal $run
  wait $run
  is "SIG$signal ends it with status 0" $? 0
  holds "and with its results" out.json "probe('myserver:parse__start')['hits'] > 100 and last['reason'] == 'signal'"
  unchanged "and nothing is left"
done
is "the semaphore is closed again" "$(semaphore)" 0

"$NOPWATCH" stat 'myserver:*' -p $server -o text & run=$!
armed_and_hit 2000
all_read $run
kill -USR1 $run
wait_for grep -qE ' hits? in ' text
has "SIGUSR1 prints what there is" "$(cat text)" '^myserver:parse__start +[1-9]'
kill $run
wait $run
is "and goes on until it is ended" "$(grep -cE ' hits? in ' text)" 2

"$NOPWATCH" stat 'myserver:*' -p $server -j -o so_far.json & run=$!
armed_and_hit 2000
all_read $run
kill -USR1 $run
wait_for grep -q '"so_far":true' so_far.json
more_hits 2000
kill $run
wait $run
holds "SIGUSR1 writes JSON in a -j run" so_far.json \
  "any(o.get('so_far') and o['time'] and o['hits'] > 0 for o in of('probe'))"
holds "the end is still the end" so_far.json "len(of('loss')) == 1 and last['type'] == 'end'"
holds "and has more" so_far.json \
  "sum(o['hits'] for o in of('probe') if o.get('so_far')) < sum(o['hits'] for o in of('probe') if not o.get('so_far'))"

"$NOPWATCH" trace 'myserver:parse__start' -p $server | head -n 3 >/dev/null
is "a closed pipe ends trace quietly" "${PIPESTATUS[0]}" 0
unchanged "nothing is left"

said=$("$NOPWATCH" trace 'myserver:parse__start' -p $server -n 5000 -o /dev/full 2>&1)
is "a full disk is a failure" $? 1
has "and is said" "$said" "^nopwatch: cannot write '/dev/full': No space left on device$"
said=$("$NOPWATCH" stat 'myserver:parse__start' -p $server -d 0.2 -o /dev/full 2>&1)
is "for stat, too" "$? $said" "1 nopwatch: cannot write '/dev/full': No space left on device"
said=$("$NOPWATCH" record 'myserver:parse__start' -p $server -d 0.2 -o /dev/full 2>&1)
is "and for record" "$? $said" "1 nopwatch: cannot write '/dev/full': No space left on device"
unchanged "nothing is left"

# a recording knows its events by the numbers that they had when they were armed
"$NOPWATCH" record -q 'myserver:parse__start(id)' 'myserver:parse__done' -p $server -d 0.2 -o ids.dat
ids=$(grep -a '^id ' ids.dat | cut -d' ' -f2)
is "each event has its number" "$(wc -w <<<"$ids")" "$(grep -ac '^event ' ids.dat)"
is "which is that of its format" "$(for id in $ids; do grep -ac "^ID: $id\$" ids.dat; done | sort -u)" 1

# a limit for files: the same as a full disk, and none of CMD's business
for command in 'trace -n 5000' 'stat -j -i 0.1 -n 30' 'record -d 0.5'; do
  # shellcheck disable=SC2086 # words
  said=$(limited 2048 "$NOPWATCH" $command 'myserver:parse__start' -p $server -o big 2>&1)
  is "a file at its limit, ${command%% *}" "$? $said" "1 nopwatch: cannot write 'big': File too large"
done
ignored=$(limited 100000 "$NOPWATCH" stat -q -o out "usdt:$SERVER:myserver:*" -- awk '/SigIgn/ { print $2 }' /proc/self/status)
is "CMD has SIGXFSZ as it was" $((0x$ignored >> 24 & 1)) 0
unchanged "nothing is left"

# a reader holds the instance for longer than anybody waits
"$NOPWATCH" stat -j 'myserver:parse__start' -p $server -o out.json 2>err & run=$!
wait_for armed
# shellcheck disable=SC2217 # sleep reads nothing: it only holds the file open
sleep 100 <"$(our_instances trace_pipe)" & reader=$!
wait_for test "/proc/$reader/exe" -ef "$(command -v sleep)"
kill -INT $run
wait $run
is "what has to stay is a failure" $? 1
has "and is named" "$(cat err)" '^nopwatch: .*instances/nopwatch_.* (cannot be removed|somebody)'
holds "the results are there all the same" out.json "last['reason'] == 'signal'"
kill $reader
wait $reader 2>/dev/null
ok "clean takes it away" "$NOPWATCH" clean -q
unchanged "nothing is left"

# pages of the ring buffer
if [ -e "$TRACEFS/buffer_subbuf_size_kb" ]; then
  for how in "stat 16" "trace $(cat "$TRACEFS/buffer_subbuf_size_kb")" "record $(cat "$TRACEFS/buffer_subbuf_size_kb")" "stat -b 512K $(cat "$TRACEFS/buffer_subbuf_size_kb")"; do
    # shellcheck disable=SC2086 # words
    "$NOPWATCH" ${how% *} 'myserver:*' -p $server -o out >/dev/null & run=$!
    wait_for armed
    is "${how% *}: KiB a page" "$(of_instances buffer_subbuf_size_kb)" "${how##* }"
    kill $run
    wait $run
  done
fi

# CMD
said=$("$NOPWATCH" stat -q 'myserver:*' -p $server -- /no/such/command 2>&1)
has "a command that is not there" "$? $said" '^1 nopwatch: .*/no/such/command.*No such file'
printf '#!/no/such/interpreter\n' >script
chmod +x script
said=$("$NOPWATCH" stat -q "usdt:$SERVER:myserver:*" -- ./script 2>&1)
has "a command that cannot be executed" "$? $said" "^1 nopwatch: cannot run './script': No such file"
unchanged "nothing is left"
"$NOPWATCH" stat -j "usdt:$SERVER:myserver:*" -o out.json -- true
holds "a program that exits at once" out.json "last['reason'] == 'command'"
cp "$(command -v sleep)" own/nap
own/nap 100 & sleeper=$! # nobody else's
begun $sleeper own/nap
"$NOPWATCH" stat -q "usdt:$SERVER:myserver:*" -d 0.3 -o out.json -- "$PWD/own/nap" 101
is "-d ends CMD" "$? $(pgrep -fx 'own/nap 100') $(pgrep -fx "$PWD/own/nap 101")" "0 $sleeper "
kill $sleeper

# two at once, and the target's death
"$NOPWATCH" stat -j 'myserver:*' -p $server -o one.json & one=$!
wait_for armed
"$NOPWATCH" stat -j 'myserver:*' -p $server -o two.json & two=$!
wait_for armed 2
more_hits 10000 # of both, and parse__start is one of the seven
kill $one $two
wait $one $two
holds "two sessions on the same probes both count" one.json "probe('myserver:parse__start')['hits'] > 200"
holds "each of them" two.json "probe('myserver:parse__start')['hits'] > 200"
"$NOPWATCH" trace -q 'myserver:*' -p $server -o out.json -j & run=$!
wait_for armed
kill -9 $server
wait $run
is "the target's death ends it" $? 0
holds "and is the reason" out.json "last['reason'] == 'process'"

# on a busy machine another nopwatch may look at all instances for seconds, with their lock held
"$NOPWATCH" stat -q -j -a "usdt:$SERVER:*" -o out.json -- \
  sh -c 'flock -s "$0" sleep 6 & while flock -xn "$0" true; do :; done' "$TRACEFS/instances" 2>err & run=$!
wait $run
is "a lock that others hold for seconds leaves no instance behind" "$? $(cat err) $(echo "$TRACEFS"/instances/nopwatch_${run}_*)" \
  "0  $TRACEFS/instances/nopwatch_${run}_*"

# A journal that cannot be removed is named, with status 1, also that of the session which measures what a hit costs; `clean` takes it.
cat >stay.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
int unlink(const char *path)
{
	static int count;
	int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
	if (++count != atoi(getenv("STAYS")))
		return real(path);
	errno = EIO;
	return -1;
}
C
stays="^1 nopwatch: the journal '/run/nopwatch/[0-9]+_[0-9a-f]{6}' cannot be removed: Input/output error"
if gcc -shared -fPIC -o stay.so stay.c -ldl 2>err && readelf -d "$NOPWATCH" | grep -q NEEDED; then
  cp "$PROGRAMS/rare" own/rare
  # a gate and a journal of the session, and of the one that measures
  for number in 1 2 3 4; do
    rm -f /run/nopwatch/hit.cost
    STAYS=$number ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/stay.so "$NOPWATCH" stat -q 'usdt:own/rare:*' -- own/rare 20 1000 1 0 >out 2>err
    has "file $number of a session that stays is named" "$? $(cat err)" "$stays"
    "$NOPWATCH" clean >out 2>&1
    is "... and there is nothing behind one clean" "$(cd /run/nopwatch && ls -d -- *[0-9]_* 2>/dev/null)" ""
  done
  # Each removes a gate and a journal for each session, also the trials of `features`; the answer of `why` is there all the same.
  for number in 1 2 3 4; do
    STAYS=$number ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/stay.so "$NOPWATCH" features -j >out 2>err
    has "file $number of a trial that stays is named" "$? $(cat err)" "$stays"
    "$NOPWATCH" clean >out 2>&1
    is "... and there is nothing behind one clean" "$(cd /run/nopwatch && ls -d -- *[0-9]_* 2>/dev/null)" ""
  done
  own/rare 1000000 1 1 2000 >/dev/null & rare=$!
  for number in 1 2; do
    STAYS=$number ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/stay.so "$NOPWATCH" why -d 100ms "usdt:$PWD/own/rare:rare:step" -p $rare >out 2>err
    has "file $number of a diagnosis that stays is named" "$? $(cat err)" "$stays"
    has "... with the answer" "$(cat out)" 'the probe fires'
    "$NOPWATCH" clean >out 2>&1
    is "... and there is nothing behind one clean" "$(cd /run/nopwatch && ls -d -- *[0-9]_* 2>/dev/null)" ""
  done
  kill $rare
else
  skip "a journal that cannot be removed" "nothing can be preloaded"
fi

unchanged
finish
