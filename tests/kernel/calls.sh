# Calls that do not return, and calls on other stacks: what func: measures and counts is what the
# program itself knows, live, from recordings, from a script's text, and by old kernels' ways.
# in turn: it uses the top-level buffer
programs=$(cd "$(dirname "$0")/../programs" && pwd)
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/leaves" leaves
# WAY FUNCTION: what is known of the latencies l beside how many they are, by c iterations
ways=("return step True" "longjmp step l['min']>=1000000" "same step True" "exit step l['count']==0"
  "deep step l['min']>=1000000" "coroutine step l['min']>=1000000" "coroutines step True"
  "altstack step l['sum']>=1000000*c" "pops give l['sum']>=1000000*c" "tail hop l['min']>=1000000")
truth() { sed -n "s/.*$1 \([0-9]*\).*/\1/p" said; }

# NAME WAY FUNCTION KNOWN FILE: the kernel tells of 64 nested returns, of the 200 of "deep"
exact() {
  local told
  told=$(truth returned)
  [ "$2" = deep ] && told=$((told * 64 / 200))
  holds "$1: $2: what returned is measured, $told" "$5" \
    "(lambda l, c: l['count'] == $told and $4)(span('$3')['latency_ns'], 20)"
  holds "$1: $2: no call without a return is a hit that was not recorded" "$5" "'not_recorded' not in of('loss')[0]"
  holds "$1: $2: what did not is counted, $(truth abandoned)" "$5" \
    "(lambda s: (s['abandoned'], s['omitted'], s['unmatched_starts'], s['unmatched_ends'], s['discarded']))(span('$3')) == ($(truth abandoned), $(($(truth returned) - told)), 0, 0, 0)"
}

for row in "${ways[@]}"; do
  read -r way function known <<<"$row"
  "$NOPWATCH" stat -j "func:$PWD/leaves:$function" -o out.json -- ./leaves "$way" 20 >said
  exact live "$way" "$function" "$known" out.json
done
# exit() leaves the function: that no call has returned is not that others had called it
"$NOPWATCH" stat -j "func:$PWD/leaves:step" -o out.json -- ./leaves exit 20 >said
holds "without any return the probe is not hit" out.json \
  "[p['state'] for p in of('probe') if p['probe'].startswith('uretprobe:')] == ['not-hit']"
has "and text says why" "$("$NOPWATCH" stat -v "func:$PWD/leaves:step" -- ./leaves exit 20 2>&1)" \
  'no hit: the kernel counted [0-9]+ calls? in the whole system, and recorded no return of those that are traced'
"$NOPWATCH" stat "func:$PWD/leaves:step" -- ./leaves deep >text
has "text says what the kernel omits" "$(cat text)" \
  '^step: 136 calls were not measured: the kernel omits return probes beyond 64 nested calls$'
"$NOPWATCH" stat "func:$PWD/leaves:step" -- ./leaves longjmp 5 >text
has "text has a column for what was abandoned" "$(cat text)" '^SPAN .* ABANDONED +UNMATCHED +DISCARDED$'
has "and how many they were" "$(cat text)" '^step +15 .* 10 +0/0 +0$'
"$NOPWATCH" stat "func:$PWD/leaves:step" -- ./leaves return 5 >text
hasnt "which is not there where all calls return" "$(cat text)" ABANDONED

# where hits are looked at one by one
for row in "--by tid" "--by comm" "-i 60"; do
  read -r option value <<<"$row"
  "$NOPWATCH" stat -j "$option" "$value" "func:$PWD/leaves:step" -o out.json -- ./leaves longjmp 20 >said
  exact "$row" longjmp step "l['min'] >= 1000000" out.json
done

# by return instructions, of which the kernel omits none; a jump to another function is an end, too
if "$NOPWATCH" stat --dry-run "func:$PWD/leaves:step,returns=insn" 2>/dev/null | grep -q 'p:.*leaves:'; then
  for row in "${ways[@]}"; do
    read -r way function known <<<"$row"
    [ "$way" = tail ] && continue
    "$NOPWATCH" stat -j "func:$PWD/leaves:$function,returns=insn" -o out.json -- ./leaves "$way" 20 >said
    known=${known/>=1000000/>=0}
    holds "return instructions: $way: what returned is measured" out.json \
      "(lambda l, c: l['count'] == $(truth returned) and $known)(span('$function')['latency_ns'], 20)"
    holds "return instructions: $way: what did not is counted" out.json \
      "(lambda s: (s['abandoned'], s['omitted'], s['unmatched_starts'], s['unmatched_ends']))(span('$function')) == ($(truth abandoned), 0, 0, 0)"
  done
else
  skip "return instructions" "they cannot be told here"
fi

# the same from elsewhere
for row in "${ways[@]}"; do
  read -r way function known <<<"$row"
  "$NOPWATCH" record -o out.dat "func:$PWD/leaves:$function" -- ./leaves "$way" 20 >said 2>/dev/null
  "$NOPWATCH" report -j out.dat >out.json
  exact recorded "$way" "$function" "$known" out.json
done
is_armed() { grep -q armed told; }
"$NOPWATCH" script "func:$PWD/leaves:step" "func:$PWD/leaves:give" >script.sh
for way in longjmp pops deep; do
  : >told
  sh script.sh >text 2>told & script=$!
  wait_for is_armed
  ./leaves $way 20 >said
  kill $script
  wait $script
  "$NOPWATCH" stat -j --from text >out.json
  function=step
  [ $way = pops ] && function=give
  exact "script's text" $way $function "l['sum'] >= 1000000 * c" out.json
done
for mask in -instances -multi_site -instances,-multi_site,-ref_ctr,-set_event_pid; do
  NOPWATCH_FEATURES=$mask "$NOPWATCH" stat -j "func:$PWD/leaves:step" -o out.json -- ./leaves longjmp 20 >said
  exact "NOPWATCH_FEATURES=$mask" longjmp step "l['min'] >= 1000000" out.json
done

# where the kernel's return probes kill who leaves a function by longjmp(), there are none
said=$(NOPWATCH_FEATURES=-longjmp "$NOPWATCH" stat "func:$PWD/leaves:step" -- ./leaves longjmp 20 2>&1)
has "NOPWATCH_FEATURES=-longjmp: return probes are refused, and it is said what to do" "$? $said" \
  "^1 nopwatch: no call can be timed: uretprobe:step is left out: its file calls longjmp\(\).*,returns=insn"
for command in "add" "stat -d 0.1"; do
  # shellcheck disable=SC2086 # words
  has "$command: so is uretprobe:" "$(NOPWATCH_FEATURES=-longjmp "$NOPWATCH" $command "uretprobe:$PWD/leaves:step" 2>&1)" \
    "is left out: its file calls longjmp"
done

# a library's function is left by who calls it, or is called by it: a program that does so
cat >twice.c <<'CODE'
__attribute__((noinline)) int twice(int (*act)(int), int n) { return act(n) + act(n + 1); }
CODE
cat >jumps.c <<'CODE'
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>
int twice(int (*act)(int), int n);
#ifdef JUMPS
static jmp_buf back;
static int act(int n) { if (n % 2) longjmp(back, 1); return n; }
#define TRY !setjmp(back)
#else
static int act(int n) { return n; }
#define TRY 1
#endif
int main(int argc, char **argv)
{
	(void)argv;
	for (volatile int i = 0; i < 20 || argc > 1; i++) { if (TRY) twice(act, i); if (argc > 1) usleep(1000); }
	puts("lived");
}
CODE
gcc -shared -fPIC -O1 -o libtwice.so twice.c
gcc -O1 -DJUMPS -o jumping jumps.c -L. -ltwice -Wl,-rpath,"$PWD"
gcc -O1 -o straight jumps.c -L. -ltwice -Wl,-rpath,"$PWD"
refused="is left out: [^ ]*/jumping calls longjmp\(\), and a return probe of this kernel kills .*,returns=insn"
export NOPWATCH_FEATURES=-longjmp
has "of a library that CMD's program calls, too" "$("$NOPWATCH" stat "func:$PWD/libtwice.so:twice" -- ./jumping 2>&1)" "$refused"
"$NOPWATCH" stat -j "func:$PWD/libtwice.so:twice" -o out.json -- ./straight >said 2>&1
holds "but not if the program does not" out.json "span('twice')['count'] == 20"
./straight on >/dev/null & straight=$!
begun $straight "$PWD/straight"
./jumping on >/dev/null & jumping=$!
begun $jumping "$PWD/jumping"
maps_library() { grep -q libtwice "/proc/$1/maps"; }
wait_for maps_library $straight && wait_for maps_library $jumping
has "nor of one that is asked for" "$("$NOPWATCH" stat -d 0.1 -p $jumping "func:$PWD/libtwice.so:twice" 2>&1)" "$refused"
has "nor beside another that maps it: probes are armed in both" \
  "$("$NOPWATCH" stat -d 0.1 -p $straight "func:$PWD/libtwice.so:twice" 2>&1)" "$refused"
has "nor one of \`add\`, which is for all processes" "$("$NOPWATCH" add --group jumps "uretprobe:$PWD/libtwice.so:twice" 2>&1)" "$refused"
has "why says so" "$("$NOPWATCH" why -d 0.1 -p $straight "uretprobe:$PWD/libtwice.so:twice" 2>&1)" "$PWD/jumping calls longjmp\(\), and a return probe"
has "and of a program's own functions" "$("$NOPWATCH" why -d 0.1 "uretprobe:$PWD/leaves:step" 2>&1)" "its file calls longjmp\(\), and a return probe"
kill $straight $jumping
wait $straight $jumping 2>/dev/null
unset NOPWATCH_FEATURES
cp "$PROGRAMS/counter" counter
NOPWATCH_FEATURES=-longjmp "$NOPWATCH" stat --dry-run "func:$PWD/counter:main" >said 2>&1
hasnt "of other programs they are armed" "$(cat said)" "left out"

# beside other probes, with arguments, as a span of one's own
"$NOPWATCH" stat -j "func:$PWD/leaves:step(act, level:s32)" "uprobe:$PWD/leaves:rest" -o out.json -- ./leaves longjmp 20 >said
exact "with arguments" longjmp step "l['min'] >= 1000000" out.json
holds "which are the function's own" out.json "probe('uprobe:step')['args']['level']['max'] == 5 and 'sp' not in probe('uprobe:step')['args']"
"$NOPWATCH" stat -j "uprobe:$PWD/leaves:step" "uretprobe:$PWD/leaves:step" -o out.json \
  --span "mine=uprobe:$PWD/leaves:step..uretprobe:$PWD/leaves:step" -- ./leaves longjmp 20 >said
exact "a span of one's own" longjmp mine "l['min'] >= 1000000" out.json
"$NOPWATCH" trace -j "func:$PWD/leaves:step(act, level)" -o out.json -- ./leaves return 2 >said
holds "trace shows no stack pointer" out.json "len(of('event')) == 4 and not any('sp' in e['args'] for e in of('event'))"

# 32 bits: a function that returns a structure pops the pointer to it
no_32_bits=$(no_32_bits)
if [ -z "$no_32_bits" ]; then
  i686-linux-gnu-gcc -static -std=gnu11 -D_GNU_SOURCE -O2 -pthread "$programs/leaves.c" -o leaves32
  # what was linked with it throws exceptions, and gets no return probes by itself
  objcopy -N _Unwind_RaiseException leaves32
  for row in "${ways[@]}"; do
    read -r way function known <<<"$row"
    "$NOPWATCH" stat -j "func:$PWD/leaves32:$function" -o out.json -- ./leaves32 "$way" 20 >said
    exact "32 bits" "$way" "$function" "$known" out.json
  done
else
  skip "32-bit programs" "$no_32_bits"
fi

unchanged
finish
