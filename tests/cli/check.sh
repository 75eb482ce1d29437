# list --check: what is wrong with the notes of a file, made by hand and by every linker there is.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
for tool in gcc objcopy readelf strip; do
  command -v $tool >/dev/null || skip_all "no $tool"
done
[ "$(uname -m)" = x86_64 ] || skip_all "the assembler below is of x86_64"

# check FILE...: prints what is found, then the exit status
check() {
  "$NOPWATCH" list --check "$@" 2>&1
  echo "= $?"
}

# ---- notes made by hand ----------------------------------------------------------------

# note NAME SITE BASE SEMAPHORE ARGUMENTS
cat >made.S <<'S'
	.macro	note name, site, base, semaphore, args
	.pushsection .note.stapsdt,"","note"
	.balign	4
	.4byte	992f-991f, 994f-993f, 3
991:	.asciz	"stapsdt"
992:	.balign	4
993:	.8byte	\site, \base, \semaphore
	.asciz	"made"
	.asciz	"\name"
	.asciz	"\args"
994:	.balign	4
	.popsection
	.endm

	.section .stapsdt.base,"aG","progbits",.stapsdt.base,comdat
base:	.space	1
	.data
counter: .2byte	0
	.bss
zeroed:	.space	2
	.text
	.globl	main
main:	nop
	note	fine, main, base, counter, "-4@%edi 8@-8(%rbp) 4@$7"
push:	push	%rbp
	pop	%rbp
	ret
#ifdef BROKEN
	note	pushed, push, base, 0, ""
	note	outside, counter, base, 0, ""
	note	in_bss, main, base, zeroed, ""
	note	in_text, main, base, main, ""
	note	vector, main, base, 0, "8@%rdi 16@%xmm0 8@%rsi"
	note	thread, main, base, 0, "4@%fs:counter@tpoff"
	note	one_and_two, main, base, 0, "-4@%edi"
	note	one_and_two, main, base, 0, "-4@%edi 8@%rsi"
	note	one_and_two, main, base, 0, "-4@%edi 8@%rsi 8@%rdx"
	note	signs, main, base, 0, "-4@%edi 8f@8(%rsp)"
	note	signs, main, base, 0, "4@%edi 8f@8(%rsp)"
	note	signs, main, base, 0, "-4@%esi 8f@(%rsp)"
	note	baseless, main, 0, 0, ""
	.pushsection .note.stapsdt,"","note"
	.4byte	8, 4000, 3
	.asciz	"stapsdt"
	.popsection
#endif
	.section .note.GNU-stack,"",@progbits
S
gcc -c made.S -o made.o && gcc made.o -o fine || skip_all "cannot assemble"
is "a file that is right" "$(check fine)" "fine: 1 site of 1 probe, no problem
= 0"
gcc -c -DBROKEN made.S -o broken.o && gcc -no-pie broken.o -o broken
check broken >said
has "a site that is no nop" "$(cat said)" '^broken: made:pushed at 0x[0-9a-f]+: there is no nop at 0x[0-9a-f]+: the note does not belong to this code$'
has "a site that is no code" "$(cat said)" '^broken: made:outside at 0x[0-9a-f]+: address 0x[0-9a-f]+ is in no executable segment$'
has "a semaphore in .bss" "$(cat said)" '^broken: made:in_bss at 0x[0-9a-f]+: its semaphore lies past the file.s data \(\.bss\), where the kernel cannot count$'
has "a semaphore in the code" "$(cat said)" "^broken: made:in_text at 0x[0-9a-f]+: its semaphore's address is in no writable segment$"
has "an argument in a vector register" "$(cat said)" "^broken: made:vector at 0x[0-9a-f]+: arg1 '16@%xmm0' cannot be fetched: "
has "an argument of the thread" "$(cat said)" "^broken: made:thread at 0x[0-9a-f]+: arg0 '4@%fs:counter@tpoff' cannot be fetched: "
is "arguments that can be fetched are no problem" "$(grep -c "'.*' cannot be fetched" said)" 2
has "a name with different numbers of arguments" "$(cat said)" '^broken: made:one_and_two at 0x[0-9a-f]+: its arguments are s32, u64, but s32 at the site at 0x[0-9a-f]+: tracers take them for one probe$'
is "... is told once" "$(grep -c one_and_two said)" 1
has "a name with different signs" "$(cat said)" '^broken: made:signs at 0x[0-9a-f]+: its arguments are u32, f64, but s32, f64 at the site at 0x'
has "a note without a base" "$(cat said)" '^broken: a note does not say where \.stapsdt\.base was: '
has "a note that is cut off" "$(cat said)" '^broken: its sizes reach past the end of the section$'
is "the result" "$(tail -n 2 said)" "broken: 12 sites of 8 probes, 10 problems
= 1"
"$NOPWATCH" list --check -j broken >said.json
holds "JSON has the same kinds" said.json "[r['kind'] for r in rows[:-1]] == \
  ['semaphore', 'semaphore', 'argument', 'argument', 'duplicate', 'duplicate', 'site', 'site', 'note', 'base']"
holds "... their probes" said.json "(rows[0]['type'], rows[0]['provider'], rows[0]['name']) == ('problem', 'made', 'in_bss') and \
  'vaddr' in rows[0] and 'name' not in rows[-2]"
holds "... and the result" said.json "rows[-1]['type'] == 'checked' and \
  (rows[-1]['probes'], rows[-1]['sites'], rows[-1]['problems']) == (8, 12, 10)"
is "a pattern chooses" "$(check broken fine 'made:fine' | grep -v base)" "broken: its sizes reach past the end of the section
broken: 1 site of 1 probe, 2 problems
fine: 1 site of 1 probe, no problem
= 1"
has "a pattern that nothing matches is an error" "$(check fine made:fin)" "did you mean|no probe"
is "... with its status" "$(check fine made:fin | tail -n 1)" "= 1"
has "a file without notes is an error" "$(check "$(command -v sleep)")" "no USDT notes in"
has "a file that is not linked is an error" "$(check made.o)" "'made.o' is not linked yet"
is "several files" "$(check fine broken | grep -E '^(fine|broken): [0-9]|^=')" "fine: 1 site of 1 probe, no problem
broken: 12 sites of 8 probes, 10 problems
= 1"
mkdir tree && cp fine tree/a && cp fine tree/b
is "a directory" "$(check tree | sort)" "= 0
tree/a: 1 site of 1 probe, no problem
tree/b: 1 site of 1 probe, no problem"
has "not with --functions" "$("$NOPWATCH" list --check --functions fine 2>&1; echo "= $?")" "--check"

# ---- what linkers and other tools do to notes ---------------------------------------------

cat >program.c <<'C'
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
__extension__ unsigned short app_dead_semaphore __attribute__((unused, section(".probes")));
__extension__ unsigned short app_live_semaphore __attribute__((unused, section(".probes")));
int unused(int x);
int both(int x);
int unused(int x)
{
	__asm__ volatile("mov %0, %0" : "+r"(x)); /* so that the site is not where its section begins */
	STAP_PROBE1(app, dead, x);
	return x + 1;
}
int both(int x)
{
	STAP_PROBE1(app, live, x);
	return x + app_live_semaphore;
}
int main(int argc, char **argv)
{
	(void)argv;
	STAP_PROBE1(app, live, argc);
	return both(argc);
}
C
gcc -O1 -fpie -ffunction-sections -c program.c -o program.o || skip_all "cannot compile"
whole=": 3 sites of 2 probes, no problem
= 0"
gone=": app:dead at 0x[0-9a-f]+: the linker dropped the code it stood in"
lost=": the linker dropped .stapsdt.base: addresses of notes are wrong if anything moves the code; link with -Wl,-u,_.stapsdt.base"

# link LINKER OUTPUT FLAG...
link() {
  local linker=$1 output=$2
  shift 2
  gcc -fuse-ld="$linker" "$@" -o "$output" 2>"$output.err"
}
for linker in bfd gold lld mold; do
  if ! command -v ld.$linker >/dev/null; then
    skip "the linker $linker" "it is not installed"
    continue
  fi
  for how in "" -no-pie -static-pie; do
    if link $linker $linker$how $how program.o; then
      is "ld.$linker $how keeps the notes" "$(check $linker$how)" "$linker$how$whole"
    else
      has "ld.$linker $how: it cannot do that" "$linker $how $(cat $linker$how.err)" '^gold -static-pie .*unknown option'
    fi
  done
  strip $linker && objcopy --strip-all $linker-no-pie
  is "... strip, too" "$(check $linker)" "$linker$whole"
  is "... and objcopy" "$(check $linker-no-pie)" "$linker-no-pie$whole"
  objcopy -R .stapsdt.base $linker baseless
  has "... without .stapsdt.base" "$(check baseless)" 'baseless: its notes were written for a .stapsdt.base, which is gone: '
  if link $linker $linker-r.o -r -nostdlib program.o; then
    ok "ld.$linker -r: the object is linked" gcc $linker-r.o -o $linker-r
    is "... and has the notes" "$(check $linker-r)" "$linker-r$whole"
  else
    # mold 1.10 aborts over the group of .stapsdt.base
    has "ld.$linker -r: it cannot do that" "$linker $(cat $linker-r.o.err)" '^mold .*Assertion'
  fi
  if ! link $linker $linker-gc -Wl,--gc-sections program.o; then
    has "ld.$linker --gc-sections: it cannot do that" "$linker $(cat $linker-gc.err)" '^gold .*discarded section'
  elif [ "$(check $linker-gc)" = "$linker-gc$whole" ]; then
    is "ld.$linker --gc-sections keeps code that has a note" $linker bfd
  else
    check $linker-gc >said
    has "ld.$linker --gc-sections drops the code" "$(sed -n 1p said)" "^$linker-gc$gone$"
    is "... and .stapsdt.base" "$(sed -n 2p said)" "$linker-gc$lost"
    is "... and nothing else" "$(sed -n '3,$p' said)" "$linker-gc: 2 sites of 1 probe, 2 problems
= 1"
    link $linker $linker-gc -Wl,--gc-sections -Wl,-u,_.stapsdt.base program.o
    hasnt "... the latter not with what is advised" "$(check $linker-gc)" "stapsdt.base"
    has "the site that is left can be used" "$("$NOPWATCH" stat --dry-run -x ./$linker-gc app:live 2>&1)" "p:.*$linker-gc:0x"
    # a site of the same name is left
    sed 's/app, dead/app, live/' program.c >same.c
    gcc -O1 -fpie -ffunction-sections -c same.c -o same.o
    link $linker $linker-same -Wl,--gc-sections -Wl,-u,_.stapsdt.base same.o
    is "dropped code is no problem where the probe has other sites" "$(check $linker-same)" "$linker-same: 2 sites of 1 probe, no problem
= 0"
  fi
done
if command -v llvm-strip >/dev/null; then
  cp bfd stripped && llvm-strip stripped
  has "llvm-strip takes the notes away" "$(check stripped)" "no USDT notes in 'stripped'"
else
  skip "llvm-strip" "it is not installed"
fi
objcopy --only-keep-debug fine fine.debug
has "a debug file" "$(check fine.debug)" "problem|no USDT notes"

# ---- the examples of the documents ----------------------------------------------------------

top=$(cd "$TESTS_LIB/../.." && pwd)
# example LANGUAGE: the block of that language
example() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$top/docs/placing.md" | grep -v '^```'
}
mkdir build-test && cd build-test || exit 1
cp ../program.c server.c
mkdir -p path && ln -s "$NOPWATCH" path/nopwatch
export PATH=$PWD/path:$PATH
example cmake >CMakeLists.txt
example meson >meson.build
sed 's/return x + 1;/STAP_PROBE2(app, live, x, x); return x + 1;/' server.c >wrong.c
for source in server wrong; do
  [ $source = server ] || cp wrong.c server.c
  if command -v cmake >/dev/null; then
    (cmake -B cmake-$source && cmake --build cmake-$source && ctest --test-dir cmake-$source -V) >log 2>&1
    is "CMake: the test of $source.c" "$? $(grep -oE 'no problem|[0-9]+ problem' log)" "$([ $source = server ] && echo 0 no problem || echo 8 1 problem)"
  else
    skip "CMake: the test of $source.c" "cmake is not installed"
  fi
  if command -v meson >/dev/null; then
    (meson setup meson-$source && meson test -v -C meson-$source) >log 2>&1
    is "Meson: the test of $source.c" "$? $(grep -m1 -oE 'no problem|[0-9]+ problem' log)" "$([ $source = server ] && echo 0 no problem || echo 1 1 problem)"
  else
    skip "Meson: the test of $source.c" "meson is not installed"
  fi
done
finish
