# --stack: who called. Programs whose calls are known have exactly these.
. "$(dirname "$0")/../lib/kernel.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "callers are found on x86-64 and arm64" ;;
esac
source=$TESTS_LIB/../programs/chain.cc

cat >same.py <<'PY'
"""same.py FILE DEPTH COUNT [WORD...]: every stack in it is the chain; in its frames' texts there is each WORD."""
import json, re, sys
file, depth, count, words = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
want = ["leaf"] + ["down"] * depth + ["geo::Shape::area(long, unsigned int) const", "between",
        "int top<int>(int, unsigned int, long)", "begin(long, long, unsigned int)", "main"]
got = [row for row in map(json.loads, open(file)) if row["type"] == "event"]
assert len(got) == count, len(got)
for row in got:
    names = [re.sub(r"(\+0x[0-9a-f]+)? \((inlined, )?/.*", "", text) for text in row["stack"]]
    names = [re.sub(r"^between\(.*", "between", name) for name in names]
    if "inlined" not in words:
        names = [name for name in names if name != "between"]
    at = names.index("main")
    expected = want if "inlined" in words else [name for name in want if name != "between"]
    assert names[:at + 1] == expected, (names, expected)
    assert names[-1] == "_start" and "stack_cut" not in row, row
    for word in words:
        assert any(word in text for text in row["stack"]), (word, row["stack"])
PY
# chain NAME DEPTH COUNT WORD...: the program ./NAME, probed in FILE (itself unless said).
chain() {
  local name=$1 depth=$2 count=$3
  shift 3
  "$NOPWATCH" trace -j --stack --stack-size 16K "uprobe:${FILE:-$PWD/$name}:leaf" -- "./$name" "$depth" "$count" >"$name.json"
  ok "$name, $depth deep" python3 same.py "$name.json" "$depth" "$count" "$@"
}

g++ -O2 -g -fomit-frame-pointer "$source" -o plain
chain plain 3 2 inlined chain.cc:
chain plain 8 1 inlined
chain plain 40 2 inlined
g++ -O0 -g -fno-omit-frame-pointer "$source" -o pointers
chain pointers 40 2
g++ -O2 -fno-omit-frame-pointer "$source" -o nolines
chain nolines 10 2
ok "where there is no DWARF, there are no lines" test "$(grep -c 'chain.cc:' nolines.json)" = 0
g++ -O2 -fomit-frame-pointer -g "$source" -o stripped
objcopy --only-keep-debug stripped stripped.debug
strip stripped && objcopy --add-gnu-debuglink=stripped.debug stripped
chain stripped 12 2 inlined chain.cc:
g++ -O2 -g -fPIC -shared -DLIBRARY "$source" -o libchain.so
g++ -O2 -g -DPROGRAM "$source" -o shared -L. -lchain -Wl,-rpath,"$PWD"
FILE=$PWD/libchain.so chain shared 20 2 inlined libchain.so
g++ -static -O2 -g "$source" -o static && chain static 5 1 inlined
no_32_bits=$(no_32_bits)
if [ "$no_32_bits" ]; then
  skip "a program of 32 bits" "$no_32_bits"
else
  ok "a program of 32 bits is built" \
    i686-linux-gnu-gcc -static -O2 -g -fomit-frame-pointer "$TESTS_LIB/../vm/tower.c" -o tower
  "$NOPWATCH" trace -j --stack "uprobe:$PWD/tower:leaf" -- ./tower 12 2 >tower.json
  holds "a program of 32 bits has exactly these" tower.json "[[t.split('+0x')[0] for t in row['stack'] if 'start' not in t] \
    for row in of('event')[:2]] == [['leaf'] + ['down'] * 12 + ['begin', 'main']] * 2"
  holds "from the first one on" tower.json "all(row['stack'][-1].startswith('_start+') and 'stack_cut' not in row for row in of('event'))"
fi

# ---- a span's, and a return probe's place on the stack ------------------------------------
"$NOPWATCH" stat -j --stack "func:$PWD/plain:down" -- ./plain 6 5 >span.json
holds "calls of a function that calls itself: six stacks" span.json "sorted((row['count'], len(row['stack'])) \
  for row in of('stack') if row['span'] == 'down') == sorted((5, len(of('stack')[0]['stack']) - \
  len([t for t in of('stack')[0]['stack'] if t.startswith('down')]) + i) for i in range(1, 7))"
holds "none is cut off, though return probes stand between them" span.json "not any('stack_cut' in row for row in of('stack'))"
"$NOPWATCH" stat --stack "func:$PWD/plain:down" -- ./plain 6 5 >span.txt
has "as a tree" "$(cat span.txt)" '^STACKS of down \(6 different\)'
has "where it forks, how many go on" "$(cat span.txt)" '^ +25 +83\.3% +[0-9.]+[mu]?s +down$'
ok "by function, without lines" test "$(grep -c 'chain.cc:' span.txt)" = 0
"$NOPWATCH" stat -v --stack "func:$PWD/plain:down" -- ./plain 6 5 >span.txt
has "-v: by places in functions, with file and line" "$(cat span.txt)" '^ +down\+0x[0-9a-f]+ \(.*/plain, chain\.cc:[0-9]+\)$'
has "callers, too" "$(cat span.txt)" '^ +main\+0x[0-9a-f]+ \(.*/plain, chain\.cc:[0-9]+\)$'
"$NOPWATCH" stat -j --slower 1ms --stack "func:$PWD/plain:leaf" -- ./plain 4 3 2 >slow.json
holds "each slow span has its stack" slow.json "len(of('slow')) == 3 and all(row['stack'][0].startswith('leaf+0x0 (') \
  and row['stack'][4].startswith('down+') for row in of('slow'))"
holds "and only these are counted" slow.json "[row['count'] for row in of('stack')] == [3]"
"$NOPWATCH" record -q --stack -o slow.dat "func:$PWD/plain:leaf" "func:$PWD/plain:down" -- ./plain 4 3 2
"$NOPWATCH" report --stack --slower 1ms slow.dat >slow.txt
has "which is said" "$(cat slow.txt)" '^STACKS of leaf, only of spans of at least 1\.00ms \(1 different\)$'
"$NOPWATCH" report -f html --stack --slower 1ms -o slow.html slow.dat
has "so is the flame graph of the page" "$(cat slow.html)" '"stacks_of":"spans of at least 1\.00ms".*"flame":\[\{"of":"leaf","total":3,'
"$NOPWATCH" stat -j --slower 1h --stack "func:$PWD/plain:leaf" -- ./plain 4 3 2 >slow.json
holds "none, where none is slow" slow.json "not of('stack') and not of('slow')"
has "text says that there were none" "$("$NOPWATCH" report --stack --slower 1s slow.dat)" \
  '^No STACKS of spans are shown: there were no spans of at least 1\.00s\.$'
has "or too few to tell" "$("$NOPWATCH" report --stack --slower p99 slow.dat)" \
  '^No STACKS of spans are shown: there were no spans longer than p99 of those before them\.$'
"$NOPWATCH" trace -j --stack=uprobe:down "uprobe:$PWD/plain:leaf" "uprobe:$PWD/plain:down" -- ./plain 4 1 >one.json
holds "one probe's only" one.json "[('stack' in row) for row in of('event')] == [True] * 4 + [False]"

# Tracepoints have none. What is offered in their place has the function that made the call.
"$NOPWATCH" stat -j --stack tracepoint:syscalls:sys_enter_read "uprobe:$PWD/plain:leaf" -- ./plain 2 1 >beside.json 2>said
has "a tracepoint beside others is told to have no callers" "$(cat said)" '^nopwatch: --stack: syscalls:sys_enter_read has no callers: '
holds "... and the others have theirs" beside.json "{row['probe'] for row in of('stack')} == {'uprobe:leaf'}"
"$NOPWATCH" stat -j --stack uprobe:libc.so.6:read -- "$PROGRAMS/upgrade" 1 </dev/null >read.json
holds "who called read() is known by the C library's function" read.json \
  "any(row['stack'][1].startswith('main+0x') for row in of('stack') if len(row['stack']) > 1)"

# ---- folded ------------------------------------------------------------------------------
"$NOPWATCH" stat -f folded --stack "uprobe:$PWD/plain:leaf" -- ./plain 2 7 >folded
has "a line a stack" "$(cat folded)" \
  '^_start;.*;main;begin\(long, long, unsigned int\);int top<int>\(int, unsigned int, long\);between[^;]*;geo::Shape::area\(long, unsigned int\) const;down;down;leaf 7$'
is "which is all" "$(wc -l <folded)" 1
"$NOPWATCH" trace -f folded --stack "uprobe:$PWD/plain:leaf" -- ./plain 2 7 >events
is "a line a hit" "$(sort -u events | sed 's/ 1$//')" "$(sed 's/ 7$//' folded)"
is "of every one" "$(wc -l <events)" 7

# a name that writes from right to left, and a C1 control
cat >turned.c <<'C'
void turned(void) __asm__("a\xe2\x80\xae\xe2\x81\xa6\xc2\x9b");
__attribute__((noinline)) void leaf(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void turned(void) { leaf(); __asm__ volatile(""); }
int main(void) { turned(); return 0; }
C
if gcc -O1 -g -fno-optimize-sibling-calls -o turned turned.c 2>err; then
  for form in folded text json html; do
    "$NOPWATCH" stat -f $form --stack "uprobe:$PWD/turned:leaf" -- ./turned >turned.out
    is "names of functions are harmless, $form" "$("$TESTS_LIB/harmless" turned.out)" ""
  done
  "$NOPWATCH" stat -f folded --stack "uprobe:$PWD/turned:leaf" -- ./turned >turned.out
  has "and told in folded lines as in text" "$(cat turned.out)" ';main;a\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xc2\\x9b;leaf 1$'
else
  skip "names of functions are harmless" "the assembler takes no such name"
fi

# ---- it ends when it should ----------------------------------------------------------------
cat >often.c <<'C'
#include <unistd.h>
__attribute__((noinline)) void leaf(void) { __asm__ volatile("" ::: "memory"); }
int main(void) { for (;;) { leaf(); usleep(100); } }
C
gcc -O1 -o often often.c
./often &
often=$!
begun $often "$PWD/often"
timeout 120 "$NOPWATCH" stat -j --stack -i 20ms -n 3 "uprobe:$PWD/often:leaf" -p $often >often.json
is "after so many intervals" "$? $(grep -c '"type":"probe".*"interval":' often.json)" "0 3"
has "by their number" "$(tail -n 1 often.json)" '"reason":"count"'
timeout 120 "$NOPWATCH" stat -j --stack -i 20ms "uprobe:$PWD/often:leaf" -p $often 2>err | head -n 3 >/dev/null
is "when nobody reads it any more" "${PIPESTATUS[0]} $(cat err)" "0 "
# which size holds what was cut is said, by a recording, too; and that size does hold it
timeout 120 "$NOPWATCH" record -q --stack --stack-size 64 -n 20 -o cut.dat "uprobe:$PWD/often:leaf" -p $often
"$NOPWATCH" report cut.dat >cut.txt
has "the size that would do is said" "$(cat cut.txt)" '^ +[1-9][0-9]* of these: cut off: .*; --stack-size [1-9][0-9]*K is enough$'
enough=$(sed -n 's/.* --stack-size \([0-9]*K\) is enough$/\1/p' cut.txt)
timeout 120 "$NOPWATCH" stat --stack --stack-size "${enough:-64}" -n 20 "uprobe:$PWD/often:leaf" -p $often >whole.txt
is "and does" "$(grep -c 'of these: cut off' whole.txt) $(grep -c '_start$' whole.txt)" "0 1"
kill $often
wait $often 2>/dev/null

# ---- what is cut off is said ---------------------------------------------------------------
"$NOPWATCH" trace --stack --stack-size 256 "uprobe:$PWD/plain:leaf" -- ./plain 40 1 >cut.txt
has "the bytes that were fetched end" "$(cat cut.txt)" '^ +\[cut off: only so many bytes of the stack were fetched \(--stack-size\)\]$'
"$NOPWATCH" trace --plain --stack --stack-size 256 "uprobe:$PWD/plain:leaf" -- ./plain 40 1 >cut.txt
is "--plain says each caller in a sentence" "$(sed 's/ [^ ]*+0x.*/ X./; s/^At .*/At./' cut.txt | uniq | head -n 3)" $'At.\nIn X.\nCalled by X.'
has "and why there are no more" "$(cat cut.txt)" '^The stack ends here: cut off: only so many bytes of the stack were fetched \(--stack-size\)[.]$'
"$NOPWATCH" stat -f folded --stack --stack-size 256 "uprobe:$PWD/plain:leaf" -- ./plain 40 1 >cut.txt
has "folded lines do not begin at what is not the beginning" "$(cat cut.txt)" '^\[cut off\];down;'

# ---- recordings ----------------------------------------------------------------------------
"$NOPWATCH" record -q --stack -o rec.dat "func:$PWD/plain:down" -- ./plain 6 5
"$NOPWATCH" report -j rec.dat >again.json
stacks() {
  python3 -c 'import json, sys
print(sorted((r["count"], r["stack"]) for r in map(json.loads, open(sys.argv[1])) if r["type"] == "stack"))' "$1"
}
is "a recording keeps them" "$(stacks again.json)" "$(stacks span.json)"
"$NOPWATCH" report -f html -o page.html rec.dat
has "a flame graph in the page" "$(cat page.html)" '"flame":\[\{"of":"down","total":30,"stacks":\[\["_start;[^"]*;main;[^"]*;down;down",5\]|"of":"down","total":30'
is "the same as folded lines" "$("$NOPWATCH" report -f folded rec.dat | wc -l)" 6
"$NOPWATCH" record -q --stack -o more.dat "func:$PWD/plain:down" -- ./plain 6 10
is "the difference of two has both counts in a line" "$("$NOPWATCH" report -q -f folded --diff rec.dat -- more.dat | sort)" \
  "$("$NOPWATCH" report -f folded rec.dat | sed 's/ 5$/ 5 10/' | sort)"
is "and one by one" "$("$NOPWATCH" trace -j --from rec.dat | grep -c '"stack":\[')" 30
"$NOPWATCH" record -q -o none.dat "func:$PWD/plain:down" -- ./plain 6 5
"$NOPWATCH" report --stack none.dat >out 2>err
is "of one without them, that is said" "$? $(cat err)" \
  "1 nopwatch: --stack: there are none in it; 'nopwatch record --stack' keeps them"

# another program at the path of the recorded one, in the same inode; then a copy of the recorded one
for id in none sha1; do
  cat >relinked.c <<'C'
__attribute__((noinline)) void leaf(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void CALLER(void) { leaf(); __asm__ volatile(PADDING); }
int main(void) { CALLER(); return 0; }
C
  gcc -O1 -fno-optimize-sibling-calls -Wl,--build-id=$id -DCALLER=first -DPADDING='""' -o relinked relinked.c
  gcc -O1 -fno-optimize-sibling-calls -Wl,--build-id=$id -DCALLER=second -DPADDING='"nop"' -o second relinked.c
  "$NOPWATCH" record -q --stack -o relinked.dat "uprobe:$PWD/relinked:leaf" -- ./relinked
  cp relinked first && cat second >relinked
  "$NOPWATCH" stat --strict -j --from relinked.dat --stack >relinked.json 2>err
  is "--strict, of a program that was linked anew (build ID: $id)" "$?" 1
  holds "it has no names" relinked.json "[(row['stack'][0].endswith('/relinked)'), row['stack_cut']) for row in of('stack')] == [(True, 'unread')]"
  holds "which JSON says" relinked.json \
    "[(u['first'].split('/')[-1], u['missing'], u['text']) for u in of('loss')[0]['unread']] == [('relinked', 'names', 'it is not the file that was recorded')]"
  has "so does text" "$("$NOPWATCH" report --stack relinked.dat 2>&1)" "functions of '.*/relinked' have no names: it is not the file that was recorded"
  rm relinked && cp first relinked
  "$NOPWATCH" stat --strict -j --from relinked.dat --stack >relinked.json
  is "--strict, of a copy of it" "$?" 0
  holds "a copy of it will do" relinked.json "any(t.startswith('first+') for t in of('stack')[0]['stack'])"
done

# ---- what processes map, and when ----------------------------------------------------------
cat >unload.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW);
		long (*begin)(long, long, unsigned int) = library ? dlsym(library, "_Z5beginllj") : 0;
		if (!begin)
			return 1;
		begin(3, i, 0);
		dlclose(library);
	}
	return 0;
}
C
gcc -O2 unload.c -o unload -ldl && cp libchain.so other.so
"$NOPWATCH" trace -j --stack "uprobe:$PWD/libchain.so:leaf" "uprobe:$PWD/other.so:leaf" -- ./unload ./libchain.so ./other.so ./libchain.so >unload.json
holds "libraries that are unloaded before anybody looks" unload.json \
  "[[t.rsplit('/', 1)[1].split(',')[0].rstrip(')') for t in row['stack'][:4]] for row in of('event')] == \
  [['libchain.so'] * 4, ['other.so'] * 4, ['libchain.so'] * 4]"
# one whose root has gone with it
mkdir root && g++ -static -O2 -g "$source" -o root/program
"$NOPWATCH" trace -j --stack "uprobe:$PWD/root/program:leaf" -o gone.json -- chroot root /program 3 2 2>err
holds "a file that cannot be opened any more is to blame, not its call frame information" gone.json \
  "[(row['stack'][0].endswith('(/program)'), row['stack_cut']) for row in of('event')] == [(True, 'unread')] * 2"
has "which is said" "$(cat err)" "functions of '/program' have no names: the process has ended, and the file cannot be opened any more"

if [ "$(uname -m)" = x86_64 ]; then
  mkfifo gate
  made=$PROGRAMS/generated
  # shown FILE SPEC COMMAND...: into FILE; "cat gate" waits until its hit is there
  shown() {
    local json=$1 spec=$2
    shift 2
    "$NOPWATCH" trace -j --stack "$spec" -o "$json" -- "$@" & run=$!
    exec 3>gate
    wait_for grep -q '"event"' "$json"
    exec 3>&-
    wait $run
  }
  shown jit.json "uprobe:$made:hit" sh -c 'exec "$0" gate <gate' "$made"
  "$NOPWATCH" trace -j --stack "uprobe:$made:hit" -- "$made" end >jitend.json
  rm -f "/tmp/perf-$(j jitend.json "of('event')[0]['pid']").map"
  holds "also when it has ended, if its list is still there" jitend.json \
    "[t.split(' (')[0].split('+')[0] for t in of('event')[0]['stack'][:3]] == ['hit', 'made at run time', 'main']"
  shown zombie.json "uprobe:$made:hit" sh -c '"$0" end & exec cat gate' "$made"
  rm -f "/tmp/perf-$(j zombie.json "of('event')[0]['pid']").map"
  holds "and before its parent has asked how it ended" zombie.json \
    "[t.split(' (')[0].split('+')[0] for t in of('event')[0]['stack'][:3]] == ['hit', 'made at run time', 'main']"
  # the list is written when all has been read
  list=$("$NOPWATCH" stat -j --stack "uprobe:$made:hit" -o late.json -- "$made" late) && rm -f "$list"
  holds "a list that is written at the end" late.json "[[t.split(' (')[0].split('+')[0] for t in row['stack'][:3]] for row in of('stack')] == \
    [['hit', 'made at run time', 'main']]"
  "$NOPWATCH" stat --stack "uprobe:$made:hit" -- "$made" never >text
  has "one that tells none is unknown" "$(cat text)" '^ +\[unknown\]$'
  has "and where names would be is said" "$(cat text)" '^ +1 of these: functions that are in no file are \[unknown\]; runtimes list theirs in /tmp/perf-PID\.map'
  "$NOPWATCH" stat --stack "uprobe:$PWD/plain:leaf" -- ./plain 3 4 >text
  hasnt "and only there" "$(cat text)" 'perf-PID'
  holds "code that a program has made has the name that it tells" jit.json \
    "[t.split(' (')[0].split('+')[0] for t in of('event')[0]['stack'][:3]] == ['hit', 'made at run time', 'main']"
fi

if ! need rustc; then
  skip "Rust" "rustc is not installed"
else
  cat >rust.rs <<'RS'
mod shop {
    pub struct Till;
    impl Till {
        #[inline(never)]
        pub fn sell(&self, n: u32) -> u32 { super::probe_here(n) + 1 }
    }
    #[inline(always)]
    pub fn second(n: u32) -> u32 { Till.sell(n) + 3 }
    #[inline(always)]
    pub fn first(n: u32) -> u32 { second(n) + 4 }
}
#[inline(never)]
#[no_mangle]
pub extern "C" fn probe_here(n: u32) -> u32 { unsafe { std::ptr::read_volatile(&n) } }
#[inline(never)]
fn through<T: Into<u32>>(x: T) -> u32 { shop::first(x.into()) + 2 }
fn main() { std::process::exit((through(3u16) == 0) as i32) }
RS
  for mangling in '' v0; do
    ok "rustc builds it (mangling: ${mangling:-default})" \
      rustc -O -g ${mangling:+-C symbol-mangling-version=$mangling} rust.rs -o "rust$mangling"
    "$NOPWATCH" trace -j --stack --stack-size 8K "uprobe:$PWD/rust$mangling:probe_here" -- "./rust$mangling" >rust.json
    holds "Rust, its names as in its source, inlined ones within inlined ones, too (mangling: ${mangling:-default})" rust.json \
      "[t.split('+0x')[0].split(' (')[0] for t in of('event')[0]['stack'] if 'core::' not in t][:6] in \
      (['probe_here', '<rust::shop::Till>::sell', 'rust::shop::second', 'rust::shop::first', 'rust::through::<u16>', 'rust::main'], \
      ['probe_here', 'rust::shop::Till::sell', 'rust::shop::second', 'rust::shop::first', 'rust::through', 'rust::main'])"
  done
fi

# ---- room for large ones --------------------------------------------------------------------
# room SIZE: KiB of the kernel's buffer by CPU in a session whose stacks have that size
room() {
  local run
  "$NOPWATCH" stat --stack --stack-size "$1" "uprobe:$PWD/often:leaf" -o /dev/null 2>/dev/null &
  run=$!
  wait_for armed
  sed 's/ .*//' "$TRACEFS/instances/nopwatch_${run}_"*/buffer_size_kb
  kill -INT $run
  wait $run
}
small=$(room 2K) large=$(room 4K)
share=$((524288 / $(getconf _NPROCESSORS_CONF)))
wanted=$((2 * small < share ? 2 * small : share))
# the kernel makes whole pages of it
ok "stacks of 4 KiB have twice the room, if all CPUs have it" test "$large" -ge "$(((wanted > small ? wanted : small) - 64))"

# ---- what it costs ------------------------------------------------------------------------
"$NOPWATCH" stat -v --stack --stack-size 2048 "uprobe:$PWD/plain:leaf" -- ./plain 3 4 >/dev/null 2>err
each=$(sed -n 's/.* hits, an estimated \([0-9.]*\)us each.*/\1/p' err)
word=$(sed -n 's/^word //p' /run/nopwatch/hit.cost) # in ps, as it was measured on this machine
ok "each word of the stack is counted in what hits cost" test "$(awk "BEGIN { print int(${each:-0} * 1000000) }")" -ge "$((2048 / 8 * word))"

# ---- what cannot be -----------------------------------------------------------------------
fails() { # NAME STATUS PATTERN WORD...
  local name=$1 status=$2 pattern=$3
  shift 3
  "$NOPWATCH" "$@" >out 2>err
  is "$name: status" "$?" "$status"
  has "$name" "$(cat err)" "$pattern"
}
fails "a probe that is not there" 2 "--stack 'nobody': no probe has this name" \
  trace --stack=nobody "uprobe:$PWD/plain:leaf" -- ./plain 1 1
fails "folded lines of nothing" 2 "-f folded shows only stacks, and requires --stack" stat "uprobe:$PWD/plain:leaf" -f folded
fails "a table that has no place for them" 2 "--stack: -f csv has no place for stacks" stat --stack "uprobe:$PWD/plain:leaf" -f csv
fails "too much of a stack" 2 "--stack-size .17K.: not a number of bytes such as 512 or 8K \(64 to 16K\)" \
  stat --stack --stack-size 17K "uprobe:$PWD/plain:leaf"
NOPWATCH_FEATURES=-memory fails "a kernel before 3.14" 1 "--stack: this kernel's probes only read registers \(before 3\.14\)" \
  trace --stack "uprobe:$PWD/plain:leaf" -- ./plain 1 1
fails "a flight recorder" 2 "--stack: with --until nobody reads the hits as they come" record --until-signal --stack "uprobe:$PWD/plain:leaf"
late=$(strings -a "$NOPWATCH" | grep -oxE 'libdw\.so\.[0-9]+')
if [ -n "$late" ]; then # a file of that name that is none stands before it
  mkdir broken && echo none >"broken/$late"
  LD_LIBRARY_PATH=$PWD/broken "$NOPWATCH" trace --stack "uprobe:$PWD/plain:leaf" -- ./plain 1 1 >out 2>err
  is "without the library that reads unwind tables it goes on: status" "$?" 0
  has "and it is said" "$(cat err)" \
    "--stack: callers are found by frame pointers, not by unwind tables: the library that reads them \($late\) is missing"
else
  skip "without the library that reads unwind tables" "built without it, or it is linked"
fi
fails "an event of the kernel" 1 "--stack: sched:sched_process_fork has no callers: the kernel's own list of callers" \
  trace --stack 'tracepoint:sched:sched_process_fork' -- ./plain 1 1
fails "... and what tells who was switched away from" 1 "nopwatch stat --states --stack func:FILE:FUNCTION" \
  trace --stack tracepoint:sched:sched_switch -- ./plain 1 1
fails "... that is asked for by name" 1 "the C library's function that makes the call has them: --stack 'uprobe:libc.so.6:read'" \
  trace --stack='syscalls:*' tracepoint:syscalls:sys_enter_read "uprobe:$PWD/plain:leaf" -- ./plain 1 1

unchanged
