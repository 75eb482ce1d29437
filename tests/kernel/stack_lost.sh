# --stack: what processes map changes faster than nopwatch can read it. Processes are looked at again, and it is said.
. "$(dirname "$0")/../lib/kernel.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "callers are found on x86-64 and arm64" ;;
esac
source=$TESTS_LIB/../programs/chain.cc
for name in first.so other.so; do
  g++ -O2 -g -fPIC -shared -DLIBRARY "$source" -o $name
done
cp "$PROGRAMS/remap" remap

says() { [ "$(wc -l <places)" -ge "$1" ]; }
# lost FORMAT MAPPINGS COMMAND...: the reader stands while the program maps that often and exchanges the library.
lost() {
  local mappings=$1 tracer
  shift
  rm -f places feed && mkfifo feed
  "$@" "uprobe:$PWD/first.so:leaf" "uprobe:$PWD/other.so:leaf" -- \
    sh -c 'exec taskset -c 0 ./remap "$0" ./first.so ./other.so <feed >places' "$mappings" 2>err >out &
  tracer=$!
  exec 3>feed
  ok "it runs ($mappings)" wait_for says 1
  kill -STOP "$tracer"
  echo >&3
  ok "it has mapped much ($mappings)" wait_for says 2
  kill -CONT "$tracer"
  ok "it has read what there was ($mappings)" all_read "$tracer"
  echo >&3
  exec 3>&-
  wait "$tracer"
}
files="[t.rsplit('/', 1)[1].split(',')[0].rstrip(')') for t in row['stack'][:4]] for row in of('event')"
lost 20000 "$NOPWATCH" trace -j --stack
is "the other library is where the first one was" "$(sort -u places | wc -l)" 1
holds "each hit has the functions of the file that was there" out "[$files] == [['first.so'] * 4, ['other.so'] * 4, ['other.so'] * 4]"
holds "that changes were lost is told" out "of('loss')[0]['mappings_lost'] > 1000"
holds "and of how many stacks the functions may be others" out "of('loss')[0]['doubtful_stacks'] == 1"
has "in words, too" "$(cat err)" \
  'nopwatch: [0-9]+ changes of what processes map came too fast and were lost; processes were looked at again, but 1 stacks of that time may have wrong functions'
lost 20000 "$NOPWATCH" record -q --stack -o lost.dat
"$NOPWATCH" trace -j --from lost.dat >out 2>err
holds "a recording of it says so, too" out "of('loss')[0]['mappings_lost'] > 1000 and of('loss')[0]['doubtful_stacks'] == 1"
holds "and has the same files" out "[$files] == [['first.so'] * 4, ['other.so'] * 4, ['other.so'] * 4]"
lost 20 "$NOPWATCH" trace -j --stack
holds "of a few nothing is lost" out "[$files] == [['first.so'] * 4, ['other.so'] * 4, ['other.so'] * 4] and 'mappings_lost' not in of('loss')[0]"

# ---- recordings: what was where, and when --------------------------------------------------------
"$NOPWATCH" record -q --stack -o rec.dat "uprobe:$PWD/first.so:leaf" "uprobe:$PWD/other.so:leaf" -- \
  sh -c 'printf "\n\n" | ./remap 2 ./first.so ./other.so >places'
is "(both at the same place)" "$(sort -u places | wc -l)" 1
"$NOPWATCH" trace -j --from rec.dat >out
holds "a library that was another one later" out "[$files] == [['first.so'] * 4, ['other.so'] * 4, ['other.so'] * 4]"

# ---- hits that lack records ------------------------------------------------------------------------
cat >parity.c <<'C'
/*
 * Calls leaf(n) with n from 0 on, by even() or odd() as n is, whose frames are 4 KiB above. Now and then it waits, so that
 * somebody reads what is there before it is overwritten, also on a machine that has other things to do.
 */
#include <stdlib.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
APART long leaf(long n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
APART long far(long n)
{
	volatile char room[4096];
	room[n & 1] = 1;
	return leaf(n) + room[n & 1];
}
APART long even(long n) { return far(n) + 1; }
APART long odd(long n) { return far(n) - 1; }
int main(int argc, char **argv)
{
	long sum = argc;
	for (long n = 0; n < atol(argv[1]); n++) {
		sum += n % 2 ? odd(n) : even(n);
		if (n % 100 == 99)
			usleep(20000);
	}
	return sum == 42;
}
C
gcc -O1 -g parity.c -o parity
in_part="[row for row in of('event') if row['args']['n'] is None or 'stack_cut' in row]"
whole="[row for row in of('event') if row['args']['n'] is not None and 'stack_cut' not in row]"
"$NOPWATCH" record -q -b 64K --stack --stack-size 8K -o part.dat "uprobe:$PWD/parity:leaf(n:s64)" -- ./parity 15000
"$NOPWATCH" trace -j --from part.dat >part.json 2>err
holds "records are lost" part.json "of('loss')[0]['events'] > 0"
holds "hits that lack some are counted" part.json "len($in_part) <= of('loss')[0].get('incomplete_hits', 0)"
holds "the others have their own arguments and stack" part.json "len($whole) > 100 and \
  all(any(text.startswith(['even+', 'odd+'][row['args']['n'] % 2]) for text in row['stack']) for row in $whole)"
hasnt "their order is known" "$(cat err)" "next hit"
# As if an older nopwatch had recorded it, which did not know that order.
older() { # FILE: what was in it under these names is a line that nobody knows
  LC_ALL=C sed 's/^order \([0-9]*\)$/odder \1/; s/^armed \([0-9]*\)$/abmed \1/' "$1" >older.dat
  "$NOPWATCH" trace -j --from older.dat 2>&1 >/dev/null | grep -c "next hit"
}
is "of an older recording it is said once that stacks may be others" "$(older part.dat)" 1
"$NOPWATCH" record -q --stack --stack-size 8K -o few.dat "uprobe:$PWD/parity:leaf(n:s64)" -- ./parity 3
is "also if nothing was lost" "$(older few.dat)" 1
"$NOPWATCH" record -q -o single.dat "uprobe:$PWD/parity:leaf(n:s64)" -- ./parity 3
is "but not where hits are single records" "$(older single.dat)" 0
# As if the last event had been enabled at the very end: what came before in part is none of its hits.
stop=$(grep -aoP '^stop \K[0-9]+$' part.dat)
LC_ALL=C sed "s/^armed [0-9]*\$/armed $stop/" part.dat >late.dat
ok "(the time of arming is changed)" test "$(grep -aoP '^armed \K[0-9]+$' late.dat)" = "$stop"
"$NOPWATCH" trace -j --from late.dat >late.json
holds "hits of the time of arming have all records, or are none" late.json "not $in_part and 'incomplete_hits' not in of('loss')[0] and \
  len(of('event')) == len([row for row in map(json.loads, open('part.json')) if row['type'] == 'event']) - $(
  python3 -c "import json; print([row for row in map(json.loads, open('part.json')) if row['type'] == 'loss'][0].get('incomplete_hits', 0))")"

unchanged
finish
