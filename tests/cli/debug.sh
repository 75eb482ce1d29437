# Separate debug files: the notes of a stripped program, the symbols of its debug file.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
for tool in gcc objcopy strip; do
  command -v $tool >/dev/null || skip_all "no $tool"
done

cat >program.c <<'C'
#include <sys/sdt.h>
static volatile int hidden;
__attribute__((noinline)) static void quiet(void) { STAP_PROBE1(debug, probe, hidden); }
int main(int argc, char **argv)
{
	(void)argv;
	hidden = argc;
	quiet();
	return 0;
}
C
gcc -O2 -g -fPIE -pie -Wl,--build-id program.c -o whole || skip_all "cannot compile"
readelf -n whole | grep -q 'hidden(%rip)' || skip_all "this compiler puts the global elsewhere"
build_id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
objcopy --only-keep-debug whole program.debug
wanted=$("$NOPWATCH" list -j whole | sed 's/"path":"[^"]*"//')

# has_symbols WHAT FILE: what list says is what it says of the whole program
has_symbols() {
  is "$1" "$("$NOPWATCH" list -j "$2" | sed 's/"path":"[^"]*"//')" "$wanted"
}

holds "the whole program: a global and a function" <("$NOPWATCH" list -j whole) \
  "rows[0]['function'] == 'quiet' and rows[0]['args'][0]['kind'] == 'global' and 'problem' not in rows[0]['args'][0]"

# stripped DIRECTORY: a program without symbols, and no debug file
stripped() {
  mkdir -p "$1"
  cp whole "$1/program"
  strip -s "$1/program"
}

linked() {
  stripped "$1"
  (cd "$1" && cp ../program.debug . && objcopy --add-gnu-debuglink=program.debug program && rm program.debug)
}

stripped none
has "without: the argument's problem is named" "$("$NOPWATCH" list -v none/program)" \
  'arg0  -4@hidden\(%rip\) +cannot be fetched: the symbol is in no symbol table of this file \(stripped\?\)$'

# a stripped program still has .eh_frame, which says where functions begin and end
if [ "$(uname -m)" = x86_64 ]; then
  gcc -x assembler -o framed - <<'S'
.globl work
work:
  .cfi_startproc
  mov $0x1234567, %eax
  ret
  .cfi_endproc
.globl main
main:
  .cfi_startproc
  call work
  xor %eax, %eax
  ret
  .cfi_endproc
.section .note.GNU-stack,"",@progbits
S
  work=$("$NOPWATCH" stat --dry-run uprobe:./framed:work 2>/dev/null | sed -n 's/.*framed:\(0x[0-9a-f]*\).*/\1/p' | head -n 1)
  strip -s framed
  has "stripped: a function's beginning is known by .eh_frame" \
    "$("$NOPWATCH" stat --dry-run "uprobe:./framed:$work" 2>&1)" "framed:$work' "
  said=$("$NOPWATCH" stat --dry-run "uprobe:./framed:$(printf 0x%x $((work + 5)))" 2>&1)
  if echo "$said" | grep -q disassembler; then
    skip "and so are its instructions" "built without capstone"
  else
    has "and so are its instructions" "$said" "framed:$(printf 0x%x $((work + 5)))' "
    has "also where none begins" "$("$NOPWATCH" stat --dry-run "uprobe:./framed:$(printf 0x%x $((work + 1)))" 2>&1)" \
      "it is inside an instruction: '0x[0-9a-f]+' has one of 5 bytes at \+0x0"
  fi
else
  skip "stripped: a function's beginning is known by .eh_frame" "the test is in x86's assembler"
fi

linked beside
cp program.debug beside/
has_symbols ".gnu_debuglink: beside the program" beside/program
mkdir links
ln -s ../beside/program links/program
has_symbols ".gnu_debuglink: beside what a link points to" links/program
linked below
mkdir below/.debug
cp program.debug below/.debug/
has_symbols ".gnu_debuglink: in .debug" below/program
linked wrong
cp program.debug wrong/
echo more >>wrong/program.debug
has "a wrong checksum: not its symbols" "$("$NOPWATCH" list -v wrong/program)" 'no symbol table of this file'
linked other
echo 'not even ELF' >other/program.debug
has "no ELF file: no symbols" "$("$NOPWATCH" list -v other/program)" 'no symbol table of this file'
linked itself
cp itself/program itself/program.debug
has "a name that leads elsewhere is not followed" "$("$NOPWATCH" list -v itself/program)" 'no symbol table of this file'
linked fifo
mkfifo fifo/program.debug
has "a FIFO does not hold it up" "$(timeout 10 "$NOPWATCH" list -v fifo/program)" 'no symbol table of this file'

debug=/usr/lib/debug
if [ "$(id -u)" = 0 ]; then
  kept=$(mktemp)
  record() { find "$debug" 2>/dev/null | sort >"$kept.$1"; }
  record before
  place=$debug/.build-id/${build_id:0:2}
  fresh=$([ -d "$place" ] || echo yes)
  mkdir -p "$place"
  cp program.debug "$place/${build_id:2}.debug"
  has_symbols "by build-id" none/program
  rm -f "$place/${build_id:2}.debug"
  [ -z "$fresh" ] || rmdir -p "$place" 2>/dev/null
  linked far
  mkdir -p "$debug$PWD/far"
  cp program.debug "$debug$PWD/far/"
  has_symbols ".gnu_debuglink: below $debug" far/program
  rm -f "$debug$PWD/far/program.debug"
  rmdir -p "$debug$PWD/far" 2>/dev/null
  mkdir -p "$(dirname "$debug")"
  record after
  ok "$debug is as it was" diff <(grep -v "^$debug$" "$kept.before") <(grep -v "^$debug$" "$kept.after")
  rm -f "$kept" "$kept".*
else
  skip "by build-id" "needs root"
fi

# MiniDebugInfo, as rpmbuild makes it
if command -v xz >/dev/null && grep -qa 'liblzma\.so' "$NOPWATCH"; then # linked, or the name that is opened
  stripped mini
  objcopy -S --keep-symbol=quiet whole symbols 2>/dev/null
  objcopy --only-keep-debug symbols symbols.debug
  xz -k symbols.debug
  objcopy --add-section .gnu_debugdata=symbols.debug.xz mini/program
  has ".gnu_debugdata: functions" "$("$NOPWATCH" list -v mini/program)" ' in quiet\+0x'
  stripped torn
  head -c 100 symbols.debug.xz >torn.xz
  objcopy --add-section .gnu_debugdata=torn.xz torn/program
  has ".gnu_debugdata: a torn one is none" "$("$NOPWATCH" list -v torn/program)" 'no symbol table of this file'
else
  skip ".gnu_debugdata" "no xz, or built without liblzma"
fi

# func: specs; found before tracefs is looked for
NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" stat -d 1 func:none/program:quiet 2>err
has "func: without symbols" "$(cat err)" "there is no function 'quiet' in"
NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" stat -d 1 func:beside/program:quiet 2>err
hasnt "func: a function that only the debug file knows" "$(cat err)" "there is no function"

# What two programs have in common is in a file that both name (dwz -m, as distributions make their debug packages). It lies below
# the root of the process.
share() { # DIRECTORY FIELD: the programs a and b in a root of their own; a structure of both has this field
  mkdir -p "$1/usr/lib/debug/.dwz"
  cat >shared.h <<C
struct both_programs_have { int one, two; long $2; struct both_programs_have *next; char name[16]; };
struct both_have_this { struct both_programs_have inner; long number_of_times, number_of_errors; };
C
  for program in a b; do
    cat >$program.c <<C
#include <unistd.h>
#include "shared.h"
__attribute__((noinline)) long handle_$program(struct both_have_this *it) { __asm__ volatile("" : : : "memory"); return it->inner.two; }
int main(void) { static struct both_have_this it; for (;;) { handle_$program(&it); usleep(100000); } }
C
    gcc -O1 -g -static -Wl,--build-id -o "$1/$program" $program.c || return 1
  done
  dwz -m "$1/usr/lib/debug/.dwz/shared" -M /usr/lib/debug/.dwz/shared "$1/a" "$1/b"
}
if [ "$(id -u)" = 0 ]; then
  ok "two programs share debugging information" share root three
  holds_altlink() { readelf -SW root/a | grep -q gnu_debugaltlink; }
  ok "and name the file that has it" holds_altlink
  chroot root /a & target=$!
  for _ in {1..300}; do # it has its root before it has its program
    [ "/proc/$target/exe" -ef root/a ] && break
    sleep 0.1
  done
  spec="func:/proc/$target/root/a:handle_a(it->inner.two, it->number_of_errors)"
  NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" stat --dry-run "$spec" >run 2>err
  has "fields of a structure in it are found" "$(cat run err)" ' a0=\+4\(%di\):s32 a1=\+48\(%di\):s64 '
  ok "two others do" share others third
  mv others/usr/lib/debug/.dwz/shared root/usr/lib/debug/.dwz/shared
  NOPWATCH_TRACEFS=/nowhere "$NOPWATCH" stat --dry-run "$spec" >run 2>err
  hasnt "nothing is believed of a file with another build ID" "$(cat run)" ' a0='
  has "... and the function is probed all the same" "$(cat run)" ':0x[0-9a-f]+ sp='
  kill $target
fi
finish
