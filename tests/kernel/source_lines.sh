# Probes on lines of the source (DWARF). The truth is how often the program says that it was there; a debugger's breakpoint counts the same.
. "$(dirname "$0")/../lib/kernel.sh"

grep -qa 'libdw\.so' "$NOPWATCH" || skip_all "built without libdw"
mkdir one two
cat >lines.c <<'EOC'
#include <stdio.h>
#include "one/same.h"
static int seed = 7;
struct job { int id; long size; };
static inline __attribute__((always_inline)) int mix(int v)
{
	seed = seed * 31 + v;
	return seed & 0xff;
}
__attribute__((noinline)) static int work(struct job *job)
{
	int sum = 0;
	for (int i = 0; i < job->id; i++)
		if (i % 3 == 0)
			sum += mix(i);
	if (job->size > 40)
		sum += mix((int)job->size);
	return sum;
}
__attribute__((noinline)) static int unused(int n) { return n + same(n); }
int main(int argc, char **argv)
{
	int all = 0, mixed = 0, large = 0;
	for (int n = 1; n <= 20; n++) {
		struct job job = {n, n * 5L};
		for (int i = 0; i < n; i++)
			mixed += i % 3 == 0;
		large += job.size > 40;
		all += work(&job);
	}
	if (argc > 5)
		all += unused(argc);
	printf("mixed %d\nlarge %d\n", mixed + large, large);
	return all == -1 && argv[0] == 0;
}
EOC
echo 'static inline int same(int n) { return n * 3; }' >one/same.h
echo 'static inline int same(int n) { return n * 5; }' >two/same.h
cat >other.c <<'EOC'
#include "two/same.h"
__attribute__((noinline)) int other(int n);
int other(int n) { return same(n) + 1; }
EOC
line() { grep -n "$1" lines.c | head -n 1 | cut -d: -f1; }
mix=$(line 'seed = seed') in_large=$(line 'sum += mix((int)') result=$(line 'return sum')
compilers=gcc
command -v clang >/dev/null && compilers="gcc clang"
for compiler in $compilers; do
  for level in 0 2; do
    program=$compiler$level
    "$compiler" -g -O$level -o "$program" lines.c other.c || { not_ok "$compiler -O$level compiles"; continue; }
    "$NOPWATCH" stat -j "uprobe:./$program@lines.c:$mix" "uprobe:./$program@lines.c:$in_large" -o out.json -- "./$program" >said 2>err
    unrolled=$(grep -c "lines.c:$mix begins at [0-9]* more places" err)
    holds "$compiler -O$level: a line of an inlined function has a place in each of its copies, and each time is a hit (unrolled: $unrolled)" \
      out.json "[r['hits'] == $(sed -n 's/^mixed //p' said) or ($unrolled and 0 < r['hits'] < $(sed -n 's/^mixed //p' said)) \
        for r in of('probe') if r['probe'] == 'uprobe:lines.c:$mix'] == [True] and ('$program' == 'clang2' or not $unrolled)"
    "$NOPWATCH" trace -j "uprobe:./$program:mix(v)" -o inlined.json -- "./$program" >said 2>err
    holds "$compiler -O$level: so has the function, whose arguments have their names" inlined.json \
      "0 < len(of('event')) <= $(sed -n 's/^mixed //p' said) and {r['probe'] for r in of('event')} == {'uprobe:mix (inlined)'} \
        and all(r['args']['v'] in (None, *range(101)) for r in of('event')) and ('$program' == 'clang2' or len(of('event')) == $(sed -n 's/^mixed //p' said))"
    holds "$compiler -O$level: a line below an if is hit as often as it is true" out.json \
      "[r['hits'] for r in of('probe') if r['probe'] == 'uprobe:lines.c:$in_large'] == [$(sed -n 's/^large //p' said)]"
  done
done
"$NOPWATCH" trace -j "uprobe:./gcc0@lines.c:$in_large(job->size, sum, seed)" -o out.json -- ./gcc0 >said 2>err
holds "variables are those that the line sees, by their names" out.json \
  "[r['args']['job->size'] for r in of('event')] == [n * 5 for n in range(9, 21)] and len({r['args']['seed'] for r in of('event')}) > 6"
"$NOPWATCH" stat -j --span "work=./gcc0@lines.c:$(line 'int sum = 0').../gcc0@lines.c:$result" -o out.json -- ./gcc0 >said 2>err
holds "a span between two lines" out.json \
  "[(r['span'], r['count'], r['unmatched_starts'], r['unmatched_ends']) for r in of('span')] == [('work', 20, 0, 0)]"
"$NOPWATCH" record -o lines.dat "uprobe:./gcc0@lines.c:$in_large(job->id)" -- ./gcc0 >/dev/null 2>err
"$NOPWATCH" trace -j --from lines.dat -o out.json 2>err
holds "recordings have them, too" out.json "[r['args']['job->id'] for r in of('event')] == list(range(9, 21))"
refused() { # WHAT SPEC MESSAGE
  said=$("$NOPWATCH" stat "$2" -- ./gcc0 2>&1)
  has "$1" "$? $said" "$3"
}
refused "a line without code says which is the next" "uprobe:./gcc0@lines.c:4" '^1 .*line 4 of .*lines.c has no code in ./gcc0'
has "and the next one that has" "$said" 'the next line that has code is 7'
refused "so does the name of no source file" 'uprobe:./gcc0@line.c:4' "^1 .*no source file of ./gcc0 is called 'line.c'"
refused "and one that two files have" 'uprobe:./gcc0@same.h:1' "^1 .*several source files of ./gcc0 are called 'same.h': .*one/same.h and .*two/same.h"
refused "a variable that is not there" "uprobe:./gcc0@lines.c:$result(sun)" "^2 .*'sun' of .* cannot be found: the source has no argument or variable 'sun'"
refused "the end of an inlined function" "func:./gcc0:mix" "^1 .*'mix' of ./gcc0 has no code of its own, only 2 inlined copies"
refused "a line has no return" "func:./gcc0@lines.c:$result" '^2 .*a line of the source has no return: write uprobe:'
said=$("$NOPWATCH" stat -v 'uprobe:./gcc0@two/same.h:1' -- ./gcc0 2>&1)
has "more of the path tells them apart" "$? $said" 'uprobe:same.h:1 +0 '

# A function that has code of its own, and is inlined, too. gdb's breakpoint is at all of these places.
cat >both.c <<'EOC'
#include <stdio.h>
#define K __attribute__((noinline))
extern volatile int sink;
int both(int v);
K int first(int n);
K int second(int n);
#ifndef CALLERS
volatile int sink;
int both(int v)
{
	sink = v * 3;
	return v % 7 ? v + sink : 1;
}
#endif
#ifndef CALLED
static int (*volatile pointer)(int) = both;
int first(int n) { return both(n) + 1; }
int second(int n) { return both(n + 1) - both(sink); }
int main(void)
{
	int sum = 0;
	for (int n = 0; n < 10; n++)
		sum += first(n) + second(n) + (n % 2 ? pointer(n) : 0);
	printf("%d\n", sum);
	return 0;
}
#endif
EOC
for compiler in $compilers; do
  "$compiler" -g -O2 -o both both.c
  "$NOPWATCH" stat -j uprobe:./both:both 'uprobe:./both:both (inlined)(v)' -o out.json -- ./both >/dev/null 2>err
  holds "$compiler: a function's own code and its inlined copies are counted" out.json \
    "{r['probe']: r['hits'] for r in of('probe')} == {'uprobe:both': 5, 'uprobe:both (inlined)': 30}"
  has "$compiler: the notice says that they are not, and what counts them" "$(cat err)" \
    "3 inlined copies of 'both' in ./both are not counted: 'uprobe:./both:both \(inlined\)' counts them"
  if need gdb; then
    has "$compiler: gdb stops as often at all of them" \
      "$(gdb -nx -q -batch -ex 'break both' -ex 'ignore 1 1000' -ex run -ex 'info breakpoints' ./both 2>&1)" 'already hit 35 times'
  else
    skip "$compiler: gdb stops as often at all of them" "no gdb"
  fi
done
said=$("$NOPWATCH" stat func:./both:both -- ./both 2>&1)
has "spans have the notice, too" "$? $said" '^0 .*3 inlined copies of .both. in ./both are not counted'
said=$("$NOPWATCH" stat 'func:./both:both (inlined)' -- ./both 2>&1)
has "the spans of copies are refused" "$? $said" "^1 .*where the inlined copies of 'both' in ./both end is not known \(there are 3\)"
said=$("$NOPWATCH" stat 'uprobe:./both:first (inlined)' -- ./both 2>&1)
has "a function without copies says so" "$? $said" "^1 .*the debugging information \(DWARF\) of ./both has no inlined copy of 'first'"
said=$("$NOPWATCH" stat uprobe:./both:first -- ./both 2>&1)
ok "and has no notice" test "${said/inlined/}" = "$said"

# The entry with the function's name may be in another unit than its copies, or in a file that several programs share.
gcc -g -O2 -flto -DCALLED -c -o called.o both.c
gcc -g -O2 -flto -DCALLERS -c -o callers.o both.c
gcc -g -O2 -flto -o linked called.o callers.o
cp both apart1 && cp both apart2 && dwz -m shared -r apart1 apart2
for file in linked apart1; do
  has "$file: copies in another unit are known" "$("$NOPWATCH" stat --dry-run "uprobe:./$file:both" 2>&1 >/dev/null)" \
    "3 inlined copies of 'both' in ./$file are not counted"
done
strip -g -o stripped gcc0
said=$("$NOPWATCH" stat 'uprobe:./stripped@lines.c:7' -- ./stripped 2>&1)
has "without debugging information it says what is missing" "$? $said" '^1 .*there is no debugging information \(DWARF\) for ./stripped'
has "why knows the copies of an inlined function" "$("$NOPWATCH" why "uprobe:./gcc0:mix" 2>&1)" "ok +symbol +'mix' has no code of its own; the probe is in 2 inlined copies"
has "why knows the places of a line" "$("$NOPWATCH" why "uprobe:./gcc2@lines.c:$mix" 2>&1)" "line $mix of 'lines.c' begins at 2 places"
unchanged
finish
