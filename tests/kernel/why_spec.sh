# why: the spec does not lead to the code that is meant. Every cause is there for real.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/why.sh
. "$TESTS_LIB/why.sh"
target=$PROGRAMS/target
libc=$(readlink -f "$(ldd "$target" | awk '/libc\.so/ { print $3 }')")

# nothing wrong at all
start plain
why -d 0.4 -p $pid "usdt:$target:target:tick"
named "nothing wrong" 0 True -
says "says how often" '^the probe fires \([0-9,]+ hits in [0-9]+(\.[0-9]+)? s\): nothing is wrong with it here'
why -d 0.4 "uprobe:$target:work"
named "a function, of everybody" 0 True -
why -d 0.4 -p $pid target:guarded
named "a semaphore that the kernel raises" 0 True -
checked "is looked at" semaphore pass

# the symbol
why "uprobe:$target:usleep"
named "a function that is only imported" 3 False symbol-imported
says "and where it is" "it is defined in .*libc\.so"
remedied "where it hits" symbol-imported
advises "with the right spec for nopwatch" "^nopwatch stat 'uprobe:.*libc\.so[^']*:usleep'"
advises "and for bpftrace" "^bpftrace -e 'uprobe:.*libc\.so[^']*:usleep \{"
why -p $pid "uprobe:$target:usleep"
advises "the file that the process has loaded" "'uprobe:$libc:usleep'"
why kprobe:vfs_raed
names "a function that the kernel does not have" symbol-missing
remedied "and how to look for it" symbol-missing
NOPWATCH_FEATURES=-kprobe_events why kprobe:vfs_read
named "a function of a kernel without kprobe_events" 3 False no-kprobes
remedied "and what remains" no-kprobes
if [ ! -e "$TRACEFS/user_events_data" ]; then
  why user_events:nwtest_start
  named "an event of a kernel without user_events" 3 False no-user-events
  remedied "and which kernels have them" no-user-events
fi
why "uprobe:$target:wrok"
named "a name that is misspelt" 3 False symbol-missing
says "and what is near it" 'near: .*work'
remedied "the names that there are" symbol-missing
why -d 0.4 -p $pid "uprobe:$target:folded"
named "a function of which only an unused copy is left" 3 False not-executed
names "and that was inlined" symbol-inlined
remedied "and what to do" symbol-inlined
why -- bpftrace -e "uprobe:$target:vanished { }"
if grep -qa 'libdw\.so' "$NOPWATCH"; then # linked, or the name that is opened
  named "a function that was inlined everywhere, for a tool that has no probes in copies" 3 False symbol-missing
  names "is named as inlined" symbol-inlined
else
  skip "a function that was inlined everywhere" "built without libdw"
fi
why "uprobe:$target@target.c:1"
named "a line of the source without code" 3 False no-such-line
remedied "where its files are told" no-such-line
why -d 0.4 -p $pid "uprobe:$target:chosen"
named "an ifunc" 3 False symbol-ifunc
says "and what became of it" 'what the process runs is fast$'
advises "by a spec" "'uprobe:$target:fast'"
remedied "which hits" symbol-ifunc
why "uprobe:$target:chosen"
named "an ifunc without a process" 3 False symbol-ifunc
remedied "where it is" symbol-ifunc
why "uprobe:$target:tick"
named "a USDT probe taken for a function" 3 False symbol-is-note
advises "how to spell it" "'usdt:$target:tick'"
remedied "so it hits" symbol-is-note
why "usdt:$target:work"
named "a function taken for a USDT probe" 3 False no-such-probe
says "what it is" "'work' is a function of .*: it takes uprobe:, not usdt:"
advises "how to spell that" "'uprobe:$target:work'"
remedied "so that hits" no-such-probe
printf '1000 10 int Made.work(int)\n' >"/tmp/perf-$pid.map"
why -p $pid "func:$target:Made.work"
named "a function that the process generates" 3 False generated-code
says "by its name there" "process $pid generates its code .*'int Made\.work\(int\)' in its /tmp/perf-$pid\.map"
why "func:$target:Made.work"
named "and if no process is named" 3 False generated-code
said=$("$NOPWATCH" stat -d 0.1 -p $pid "func:$target:Made.work" 2>&1)
has "stat says so, too" "$said" "process $pid generates it while it runs .*/tmp/perf-$pid\.map"
rm -f "/tmp/perf-$pid.map"
why -p $pid "func:$target:Made.work"
named "without the list nobody knows" 3 False symbol-missing
if need node; then
  node=$(readlink -f "$(command -v node)")
  "$node" -e 'let s = 0; function spinner() { for (let i = 0; i < 1e4; i++) s += i } setInterval(spinner, 20)' & program=$!
  wait_for sh -c "awk '\$2 ~ /x/ && NF == 5' /proc/$program/maps | grep -q ."
  why -p $program "func:$node:spinner"
  named "a function of a script that node runs" 3 False generated-code
  advises "how to make node list its functions" "node --perf-basic-prof"
  kill $program
  wait $program 2>/dev/null
else
  skip "a function of a script that node runs" "node is not installed"
fi
strip -o stripped "$target"
why "uprobe:$PWD/stripped:work"
named "a stripped program" 3 False symbol-stripped
remedied "words help there" symbol-stripped
# a file of debug information, by any kind of probe
objcopy --only-keep-debug "$target" target.debug
cp "$target" target
for spec in "usdt:$PWD/target.debug:target:tick" "uprobe:$PWD/target.debug:work"; do
  why "$spec"
  named "a file without code (${spec%%:*})" 3 False debug-file
  says "and whose it is" "holds the debug information of $PWD/target and no code"
  hit=
  meanwhile='./target plain >/dev/null 2>&1 & hit=$!' remedied "where it hits" debug-file
  [ -z "$hit" ] || kill -9 "$hit" 2>/dev/null
done
# a glob, or what Go's names look like
for name in 'nosuch*' 'main.(*T).f'; do
  why "uprobe:$target:$name"
  named "nothing fits $name" 3 False symbol-missing
  remedied "what there is" symbol-missing
done
# a Go name, whose '*' is no glob: inlined, and without its package
gcc -g -O2 -S -o go.s -x c - <<<'static inline __attribute__((always_inline)) int gone(int n) { __asm__ volatile("nop" : "+r"(n)); return n * 7; }
__attribute__((noinline)) int left(int n) { __asm__ volatile(""); return n; }
int main(int argc, char **argv) { (void)argv; volatile int n = argc; return gone(n) + gone(n + 1) + left(n); }'
sed -i 's/\(\.string\|\.asciz\)\([[:space:]]*\)"gone"/\1\2"main.(*T).gone"/' go.s
gcc -o go go.s && objcopy --redefine-sym 'left=main.(*T).left' go
why "uprobe:$PWD/go:main.(*T).gone"
says "a name with an asterisk that was inlined" "'main.\(\*T\).gone' has no code of its own"
why "uprobe:$PWD/go:(*T).left"
says "a name without its package" 'near: main\.\(\*T\)\.left'
# Rust's names: another build's hash, and one that was inlined
gcc -o rust -x c - <<<'void _ZN3app5serve17h4d65aabbccddeeffE(void) {} int main(void) { _ZN3app5serve17h4d65aabbccddeeffE(); }'
why "uprobe:$PWD/rust:_ZN3app5serve17h2e3aaabbccddeeffE"
named "a Rust name of another build" 3 False symbol-missing
says "and this build's" 'differs by its hash only'
meanwhile=./rust remedied "by which it hits" symbol-missing
gcc -shared -fPIC -x c -o libelse.so - <<<'#include <sys/sdt.h>
void f(void); void f(void) { DTRACE_PROBE(inlib, tick); }'
gcc -x c -o linked - -L. -lelse -Wl,-rpath,"$PWD" <<<'void f(void); int main(void) { f(); return 0; }'
why "usdt:$PWD/linked:inlib:tick"
named "a probe that a library of the program has" 3 False no-such-probe
says "... which is named" "has no such probe; another file of the program has it: probe $PWD/libelse.so"
advises "... and what to type" "usdt:$PWD/libelse.so:inlib:tick"
why "usdt:$PWD/linked:*"
named "any probe of a program without notes is not one of libc's" 3 False no-notes
g++ -x c++ -g -O2 -o inl - <<<'namespace i { static inline __attribute__((always_inline)) int hello(int n) { asm volatile("nop" : "+r"(n)); return n * 7; } }
int main(int argc, char **) { volatile int n = argc; return i::hello(n) + i::hello(n + 1); }'
why -- bpftrace -e "uprobe:$PWD/inl:i::hello { }"
says "a name with its namespace that was inlined" "'i::hello' has no code of its own"
g++ -x c++ -g -o cxx - <<<'namespace app { __attribute__((noinline)) int serve(int n) { asm volatile(""); return n; } }
int main() { return app::serve(0) * 0; }'
why "uprobe:$PWD/cxx:app::serve"
if "$NOPWATCH" stat --dry-run "uprobe:$PWD/cxx:app::serve" 2>&1 | grep -q 'there is no function'; then
  named "a C++ name as the source has it, without libstdc++" 3 False symbol-mangled
else
  checked "a C++ name as the source has it is found" symbol pass
  for name in '"app::serve(int)"' 'cpp:"app::serve(int)"'; do
    why -- bpftrace -e "uprobe:$PWD/cxx:$name { @ = count(); }"
    checked "... so it is by bpftrace ($name)" symbol pass
  done
fi
why "uprobe:$PWD/cxx:serve"
named "a C++ name" 3 False symbol-mangled
says "and how it is really called" "_ZN3app5serveEi"
meanwhile=./cxx remedied "so it hits" symbol-mangled
for twice in 1 2; do
  echo "static int __attribute__((noinline)) pick(int n) { __asm__ volatile(\"\"); return n + $twice; }
    int use$twice(int n) { return pick(n); }" >pick$twice.c
done
gcc -O1 -o picks -x c pick1.c pick2.c - <<<'int use1(int); int use2(int); int main(void) { return use1(0) * use2(0) * 0; }'
why "uprobe:$PWD/picks:pick"
named "two functions of one name" 3 False symbol-ambiguous
remedied "where they are" symbol-ambiguous
stop

# the note
why "usdt:/bin/true:a:b"
named "a program without notes" 3 False no-notes
remedied "as others see it" no-notes
why "usdt:$target:target:tok"
named "a probe that is not there" 3 False no-such-probe
says "and what is" 'did you mean target:tick'
remedied "all that are" no-such-probe
start plain
why -p $pid target:tok
named "a probe that is in no file of the process" 3 False no-such-probe
stop
# what ld.gold, lld and mold do with --gc-sections: the base is gone, the notes' addresses stay,
# and prelink or a later step has moved the code
objcopy --dump-section .note.stapsdt=notes "$target" /dev/null
python3 - <<'PYTHON'
import struct
notes = bytearray(open("notes", "rb").read())
at = 0
while at < len(notes):  # every pc is moved, no base
    name, desc, kind = struct.unpack_from("<III", notes, at)
    pc, base, sem = struct.unpack_from("<QQQ", notes, at + 20)
    struct.pack_into("<QQQ", notes, at + 20, pc + 3, 0, sem)
    at += 12 + (name + 3 & ~3) + (desc + 3 & ~3)
open("notes", "wb").write(notes)
PYTHON
objcopy --update-section .note.stapsdt=notes --remove-section .stapsdt.base "$target" damaged
chmod +x damaged
why "usdt:$PWD/damaged:target:tick"
named "notes with a lost .stapsdt.base" 3 False note-damaged
says "and how that is seen" 'no nop at 0x'
remedied "words help there" note-damaged
cp "$target" trapped
offset=$("$NOPWATCH" list -j trapped target:tick | j /dev/stdin "first['offset']")
printf '\xcc' | dd of=trapped bs=1 seek="$offset" conv=notrunc status=none
why "usdt:$PWD/trapped:target:tick"
named "a breakpoint in the file" 3 False breakpoint-in-file
remedied "words help there" breakpoint-in-file

# offsets
gcc -O1 -no-pie -o fixed -x c - <<<'#include <unistd.h>
__attribute__((noinline)) int serve(int n) { asm volatile(""); return n; }
int main(void) { for (int i = 0; i < 100000; i++) { serve(i); usleep(1000); } }'
address=0x$(nm fixed | awk '$3 == "serve" { print $1 }' | sed 's/^0*//')
why "uprobe:$PWD/fixed:$address"
named "an address used as offset" 3 False address-as-offset
says "and the offset" "0x[0-9a-f]+ is the address in .*, not the file offset, which is 0x[0-9a-f]+"
TARGET=./fixed start
remedied "where it hits" address-as-offset
stop
why "uprobe:$PWD/fixed:0x7fffffff"
named "an offset that is none" 3 False bad-offset
remedied "where code is" bad-offset
start plain
function=$(nm "$target" | awk '$3 == "work" { print "0x" $1 }')
why -d 0.4 -p $pid "uprobe:$target:$(printf '0x%x' $((function + 1)))"
named "a place that may be within an instruction is not armed" 4 None inside-function
checked "and that is said" armed unknown
ok "the target is unharmed" kill -0 $pid
remedied "who insists gets an answer" inside-function # which may be the end of it
stop

# a 32-bit program
if i686-linux-gnu-gcc -nostdlib -static -o small -x c - <<<'void work(void) { __asm__ volatile("nop"); }
void _start(void) { for (;;) work(); }' 2>/dev/null; then
  why "uprobe:$PWD/small:work"
  checked "a 32-bit program" bits fail
  if ./small & then
    pid=$!
    wait_for is_target # it runs, or the kernel refused it and it is gone
    if kill -0 $pid 2>/dev/null; then
      why -d 0.4 -p $pid "uprobe:$PWD/small:work"
      named "its probe fires, but not for libbpf" 0 True bits32
      stop
    else
      skip "its probe fires, but not for libbpf" "the kernel runs no 32-bit programs"
    fi
  fi
else
  skip "a 32-bit program" "no compiler for it"
fi

# arguments: a note by hand, since compilers seldom pass what tools refuse
note() { # SITE ARGUMENTS: a program that hits app:ratio all the time
  sed -e "s|SITE|$1|" -e "s|ARGUMENTS|$2|" <<'CODE'
#include <sys/sdt.h>
#include <unistd.h>
int main(void) {
  for (int i = 0; i < 20000; i++) {
    __asm__ volatile("990: SITE\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n"
      ".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"
      "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n.asciz \"app\"\n"
      ".asciz \"ratio\"\n.asciz \"ARGUMENTS\"\n994: .balign 4\n.popsection\n" : : "x"(1.5));
    STAP_PROBE(app, other);
    usleep(2000);
  }
}
CODE
}
if [ "$(uname -m)" = x86_64 ]; then
  note nop 8f@%%xmm0 | gcc -O1 -o floats -x c -
  TARGET=./floats start
  why -d 0.4 -p $pid "usdt:$PWD/floats:app:ratio"
  named "an operand that BPF tools refuse" 0 True bpf-operand
  says "and which" 'argument 0 is `8f@%xmm0`'
  remedied "what takes it" bpf-operand
  stop
  note '.byte 0x0f,0x1f,0x44,0,0' 8@%%rax | gcc -O1 -o longs -x c -
  TARGET=./longs start
  NOPWATCH_FEATURES=-nop5_safe why -p $pid "usdt:$PWD/longs:app:ratio"
  named "a 5-byte nop where the kernel is not safe is not armed" 4 None nop5
  remedied "who insists gets an answer" nop5
  stop
else
  skip "an operand that BPF tools refuse" "written for x86_64"
fi

# what may not be armed
objcopy --add-section .go.buildinfo=/etc/hostname "$target" golike
why "uretprobe:$PWD/golike:_start" # which never returns
named "a return probe in Go code" 3 False return-go
meanwhile='./golike plain >/dev/null 2>&1 &' remedied "its entry hits" return-go
kill -9 $! 2>/dev/null
cp "$PROGRAMS/exits" exits
why func:./exits:_start
names "a return probe where exceptions pass through" return-exception
meanwhile='./exits 3 >/dev/null &' remedied "its entry hits" return-exception
start seccomp
why -p $pid "uretprobe:$target:work"
named "a return probe under seccomp is not armed" 4 None return-seccomp
checked "and is not tried" armed unknown
remedied "its entry hits" return-seccomp
ok "nothing happened to it" kill -0 $pid
why -d 0.4 -p $pid "uprobe:$target:work"
named "the entry is harmless" 0 True -
stop

why "usdt:/no/such/file:a:b"
named "a file that is not there" 3 False file-missing
unchanged
finish
