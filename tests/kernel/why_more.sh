# why: what was wrong on busy hosts and in real programs; and every remedy is pasted and must work.
. "$(dirname "$0")/../lib/kernel.sh"
# shellcheck source=../lib/why.sh
. "$TESTS_LIB/why.sh"

# a symbol that assembly gave neither a type nor a size, and two names for one place
cat >names.c <<'CODE'
#include <stdio.h>
#include <unistd.h>
void bare(void);
__asm__(".text\n.globl bare\nbare:\nnop\nret\n");
__attribute__((noinline)) int real(int n) { __asm__ volatile(""); return n; }
int other(int n) __attribute__((alias("real")));
__attribute__((noinline, noclone)) int sum(const char *s) { return s[0]; }
int main(void) { for (int i = 0; i < 200000; i++) { bare(); real(i); other(i); usleep(500); } }
CODE
gcc -O1 -o names names.c
TARGET=./names start
why -d 0.4 -p $pid "uprobe:$PWD/names:bare"
named "a symbol without type and size is code" 0 True -
why -d 0.4 -p $pid "uprobe:$PWD/names:real"
named "a function with two names" 0 True -
has "and the other name is said" "$(j why.json "[c['saw'] for c in of('check') if c['name'] == 'symbol'][0]")" 'other at the same address'
stop

# what the compiler made of a function
gcc -O2 -c -o clones.o -x c - <<<'__attribute__((noinline)) static int handle(int a, int b) { for (int i = 0; i < a; i++) b ^= i * b; return b; }
int one(int a) { return handle(a, 7); } int two(int a) { return handle(a + 1, 7); }'
gcc -shared -o clones.so clones.o
if nm clones.so | grep -q 'handle\.'; then
  why "uprobe:$PWD/clones.so:handle"
  named "a function of which only a clone is left" 3 False symbol-missing
  advises "the clone's name" "uprobe:$PWD/clones.so:handle\."
  gcc -O1 -o clonehost -x c - -x none ./clones.so <<<'int one(int); int main(void) { volatile int n = 3; return one(n) * 0; }'
  meanwhile=./clonehost remedied "which hits" symbol-missing
else
  skip "a function of which only a clone is left" "this compiler made none"
fi

# a preloaded library takes the calls
gcc -shared -fPIC -o libfirst.so -x c - <<<'int shared_work(int n) { return n + 1; }'
gcc -shared -fPIC -o libsecond.so -x c - <<<'int shared_work(int n) { return n; }'
gcc -O1 -o caller -x c - -L. -lsecond -Wl,-rpath,"$PWD" <<<'#include <unistd.h>
int shared_work(int); int main(void) { for (int i = 0; i < 200000; i++) { shared_work(i); usleep(500); } }'
export LD_PRELOAD=$PWD/libfirst.so
TARGET=./caller start
unset LD_PRELOAD
why -d 0.4 -p $pid "uprobe:$PWD/libsecond.so:shared_work"
names "a preloaded function comes first" symbol-interposed
advises "it" "'uprobe:$PWD/libfirst.so:shared_work'"
remedied "and it is hit there" symbol-interposed
stop

# a program that has the function linked in does not load the library
gcc -O1 -o linked -x c - <<<'#include <unistd.h>
__attribute__((noinline)) int shared_work(int n) { __asm__ volatile(""); return n; }
int main(void) { for (int i = 0; i < 200000; i++) { shared_work(i); usleep(500); } }'
TARGET=./linked start
why -d 0.4 -p $pid "uprobe:$PWD/libsecond.so:shared_work"
named "a function that is linked into the program" 3 False not-loaded
says "which one it is" "its 'shared_work' is that of $PWD/linked"
remedied "and it is hit there" not-loaded
stop

# the order within LD_PRELOAD counts, too; and what is preloaded comes before what is needed
gcc -shared -fPIC -o libthird.so -x c - <<<'int shared_work(int n) { return n + 2; }'
export LD_PRELOAD="$PWD/libfirst.so $PWD/libthird.so"
TARGET=./caller start
unset LD_PRELOAD
why -d 0.4 -p $pid "uprobe:$PWD/libfirst.so:shared_work"
named "the preloaded library itself is the one that is called" 0 True -
checked "and nothing comes before it" symbol pass
why -d 0.4 -p $pid "uprobe:$PWD/libthird.so:shared_work"
names "the second of two preloaded ones is not" symbol-interposed
advises "but the first" "'uprobe:$PWD/libfirst.so:shared_work'"
stop
# libraries are preloaded by their links, mostly
mkdir linked_to
ln -s ../libthird.so linked_to/libother.so.3
ln -s libfirst.so libfirst.so.1
for preload in "$PWD/linked_to/libother.so.3" libfirst.so.1; do
  export LD_PRELOAD=$preload LD_LIBRARY_PATH=$PWD
  TARGET=./caller start
  unset LD_PRELOAD LD_LIBRARY_PATH
  first=$PWD/$(basename "$(readlink "$preload")")
  why -d 0.4 -p $pid "uprobe:$first:shared_work"
  named "a library that is preloaded by a link (${preload##*/}) is the one that is called" 0 True -
  checked "and nothing comes before it (${preload##*/})" symbol pass
  why -d 0.4 -p $pid "uprobe:$PWD/libsecond.so:shared_work"
  names "what it comes before is not (${preload##*/})" symbol-interposed
  stop
done
TARGET=./caller start
why -d 0.4 -p $pid "uprobe:$PWD/libsecond.so:shared_work"
named "without it nothing is in the way" 0 True -
stop

# Two file systems number their files alike; and what was mounted over a path has not replaced the file below.
mkdir -p one two over
if mount -t tmpfs none one && mount -t tmpfs none two; then
  gcc -O1 -Wl,--build-id -o one/prog names.c
  cp one/prog two/prog
  while [ "$(stat -c %i one/prog)" -gt "$(stat -c %i two/prog)" ]; do rm two/prog && cp one/prog two/prog; done
  while [ "$(stat -c %i one/prog)" -lt "$(stat -c %i two/prog)" ]; do cp one/prog one/new && mv one/new one/prog; done
  is "both have one inode number" "$(stat -c %i one/prog)" "$(stat -c %i two/prog)"
  TARGET=./two/prog start
  why -d 0.4 -p $pid "uprobe:$PWD/one/prog:real"
  named "the same number and build-id on another file system" 3 False other-copy
  advises "is another file" "uprobe:$PWD/two/prog:real"
  why -d 0.4 -p $pid "uprobe:$PWD/two/prog:real"
  named "and the right one is the right one" 0 True -
  stop
  cp names over/prog
  TARGET=./over/prog start
  mount --bind one/prog over/prog
  why -d 0.4 -p $pid "uprobe:$PWD/over/prog:real"
  named "a file below what was mounted over it" 3 False other-copy
  says "was not replaced" 'something was mounted over it'
  remedied "and can be probed" other-copy
  umount over/prog
  stop
else
  skip "two file systems" "tmpfs cannot be mounted"
fi
umount one two 2>/dev/null

# everybody uses libc: what others do says nothing about this process
libc=$(ldd names | awk '/libc\.so/ { print $3 }')
TARGET=./caller start
./names &
busy=$!
( while kill -0 $busy 2>/dev/null; do cat /dev/null; done ) &
users=$!
why -d 0.4 -p $pid "uprobe:$libc:posix_fadvise64"
named "others' use of a shared library is no answer" 3 False not-executed
is "and nobody unrelated is offered" "$(grep -c 'is that the one you mean' why.json)" 0
kill $busy
wait $busy $users 2>/dev/null
stop

# a script in place of the program; the library that has the probe in place of the program
printf '#!/bin/sh\nexec "%s" "$@"\n' "$PWD/names" >wrapper
chmod +x wrapper
TARGET=./wrapper start
wait_for is_target
why -d 0.4 -p $pid "uprobe:$PWD/wrapper:real"
named "a script in place of the program" 3 False script
remedied "the program itself is offered" script
stop
why -d 0.4 "uprobe:$PWD/wrapper:real"
named "without -p, too, the script is followed" 3 False script
says "to the program that it starts" "wrapper is a script .*, here $PWD/names"
advises "which is offered" "nopwatch stat 'uprobe:$PWD/names:real'"
cat >probed.c <<'CODE'
#include <sys/sdt.h>
void probed(int n) { if (n >= 0) STAP_PROBE1(inside, tick, n); else STAP_PROBE1(php, request__startup, n); }
CODE
gcc -shared -fPIC -O1 -o libprobed.so probed.c
gcc -O1 -o host -x c - -L. -lprobed -Wl,-rpath,"$PWD" <<<'#include <unistd.h>
void probed(int); int main(void) { for (int i = 0; i < 200000; i++) { probed(i); usleep(500); } }'
TARGET=./host start
why -d 0.4 -p $pid "usdt:$PWD/host:inside:tick"
named "a provider sought in the wrong file of a process" 3 False no-such-probe
remedied "is found in the right one" no-such-probe

# a program that fires only when told to
why -d 0.4 -p $pid "usdt:$PWD/libprobed.so:php:request__startup"
named "a probe that the program switches on" 3 False switched-off
says "and how" 'USE_ZEND_DTRACE=1'
remedied "words help there" switched-off
stop
export USE_ZEND_DTRACE=1
TARGET=./host start
unset USE_ZEND_DTRACE
why -d 0.4 -p $pid "usdt:$PWD/libprobed.so:php:request__startup"
named "not blamed where it is on" 3 False not-executed
stop

# a program that is translated
if command -v valgrind >/dev/null; then
  valgrind -q --tool=none ./names >/dev/null 2>&1 &
  pid=$!
  wait_for grep -q names /proc/$pid/maps
  why -d 0.4 -p $pid "uprobe:$PWD/names:real"
  named "a program under valgrind" 3 False translated
  remedied "words help there" translated
  stop
else
  skip "a program under valgrind" "there is none"
fi
unchanged
finish
