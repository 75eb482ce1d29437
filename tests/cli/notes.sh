# Notes as linkers and other tools leave them: moved files, lost sections, several sections.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
for tool in gcc objcopy readelf; do
  command -v $tool >/dev/null || skip_all "no $tool"
done

cat >one.c <<'C'
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
__extension__ unsigned short notes_one_semaphore __attribute__((unused, section(".probes")));
__extension__ unsigned short notes_two_semaphore __attribute__((unused, section(".probes")));
int other(int x);
int main(int argc, char **argv)
{
	(void)argv;
	STAP_PROBE1(notes, one, argc);
	return other(argc);
}
C
cat >two.c <<'C'
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
extern unsigned short notes_two_semaphore;
int other(int x);
int other(int x)
{
	STAP_PROBE1(notes, two, x);
	return x;
}
C
gcc -O1 -fno-pie -no-pie one.c two.c -o whole || skip_all "cannot compile"
"$NOPWATCH" list -j whole >whole.json

# As prelink moved libraries: sections and segments, but not what the notes say.
if objcopy --adjust-vma=0x100000 whole moved 2>/dev/null && readelf -lW moved | grep -q '0x0*50[0-9a-f]* .* R E'; then
  "$NOPWATCH" list -j moved >moved.json
  moved=$(python3 -c '
import json
a, b = ([json.loads(line) for line in open(name)] for name in ("whole.json", "moved.json"))
print(len(a) == len(b) == 2 and all(
    y["vaddr"] == x["vaddr"] + 0x100000 and y["offset"] == x["offset"] and y["nop"] == "nop" and
    y["semaphore_vaddr"] == x["semaphore_vaddr"] + 0x100000 and y["semaphore_offset"] == x["semaphore_offset"] and
    y["args"] == x["args"] and y["function"] == x["function"] for x, y in zip(a, b)))')
  is "a moved file: sites and semaphores move with .stapsdt.base" "$moved" True
  objcopy -R .stapsdt.base moved gone
  "$NOPWATCH" list -j gone >gone.json 2>err
  holds "without .stapsdt.base: every note is put aside, and says why" gone.json \
    "len(rows) == 2 and all(r['type'] == 'skipped' and r['problem'].endswith('(the file\'s .stapsdt.base is gone)') for r in rows)"
  has "and the user is told" "$(cat err)" 'skipped the note of notes:one: address 0x[0-9a-f]+ is in no executable segment'
else
  skip "a moved file" "this objcopy does not move segments"
fi
objcopy -R .stapsdt.base whole unmoved
"$NOPWATCH" list -j unmoved >unmoved.json
is "without .stapsdt.base, but not moved: all is well" "$(sed 's/"path":"[^"]*"//' unmoved.json)" \
  "$(sed 's/"path":"[^"]*"//' whole.json)"

gcc -O1 -Wl,--unique=.note.stapsdt one.c two.c -o several
if [ "$(readelf -SW several | grep -c '\.note\.stapsdt')" -gt 1 ]; then
  is "several note sections" "$("$NOPWATCH" list -q several | cut -d: -f3-)" "notes:one
notes:two"
else
  skip "several note sections" "this linker makes one of them"
fi
gcc -O1 -c one.c -o one.o
said=$("$NOPWATCH" list one.o 2>&1)
has "an object file is not linked yet" "$? $said" "^1 nopwatch: 'one.o' is not linked yet"
strip -s whole -o stripped
is "strip leaves the notes" "$("$NOPWATCH" list -q stripped | cut -d: -f3- | tr '\n' ' ')" "notes:one notes:two "

# perf puts "sdt_" before a provider's name; one that is called so is meant first
cat >prefix.c <<'C'
#include <sys/sdt.h>
int main(void)
{
	DTRACE_PROBE(sdt_app, tick);
	DTRACE_PROBE(app, tick);
	DTRACE_PROBE(app, tock);
	return 0;
}
C
gcc -O1 prefix.c -o prefix
attaches() { "$NOPWATCH" stat --dry-run -v -x ./prefix "$1" 2>&1 | grep -oE '^echo .p:[^ ]+ [^ ]*prefix:0x[0-9a-f]+' | sed 's|.*:||'; }
place() { "$NOPWATCH" list -j ./prefix | sed -n "s/.*\"provider\":\"$1\",\"name\":\"$2\".*\"offset\":\([0-9]*\).*/\1/p"; }
at() { printf '0x%x' "$(place "$1" "$2")"; }
is "the literal provider comes first" "$(attaches sdt_app:tick)" "$(at sdt_app tick)"
is "also with perf's %" "$(attaches %sdt_app:tick)" "$(at sdt_app tick)"
is "else it is perf's prefix" "$(attaches sdt_app:tock)" "$(at app tock)"
is "the other is found by its own name" "$(attaches app:tick)" "$(at app tick)"
# each file is read once, however many probes are in it
if ! strace -o /dev/null true 2>/dev/null; then
  skip "how often a file is opened" "strace is not installed, or may not trace"
else
  opened() {
    LC_ALL=C strace -f -qq -e trace=open,openat,openat2 -o log "$NOPWATCH" stat --dry-run "$@" >out 2>&1
    grep -c '/prefix"' log
  }
  one=$(opened "usdt:$PWD/prefix:app:tock")
  ok "a file is opened" test "$one" -gt 0
  is "... and not again for other probes" "$(opened "usdt:$PWD/prefix:app:tock" "usdt:$PWD/prefix:app:tick" "usdt:$PWD/pre*:sdt_app:*")" "$one"
  is "all of them are there" "$(grep -c '^echo .p:' out)" 3
fi
is "and the literal one behind its path" "$("$NOPWATCH" list -q ./prefix | grep -c ':sdt_app:tick$')" 1
finish
