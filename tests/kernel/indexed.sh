# base + index * scale, which no fetch argument can say: the elements at the base and the index are
# fetched, and the reader takes the one that is meant.
. "$(dirname "$0")/../lib/kernel.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "written for x86_64"
cat >indexed.c <<'END'
/* indexed N: for i in 0..N-1: app:at(table[i], of 4 bytes; the same by bytes) */
#include <stdlib.h>
static int table[256];
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 4;
	for (int i = 0; i < 256; i++)
		table[i] = 1000 - 7 * i;
	for (long i = 0; i < n; i++)
		__asm__ volatile("990: nop\n"
				 ".pushsection .note.stapsdt,\"\",\"note\"\n"
				 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
				 "991: .asciz \"stapsdt\"\n992: .balign 4\n"
				 "993: .8byte 990b, 0, 0\n"
				 ".asciz \"app\"\n.asciz \"at\"\n"
				 ".asciz \"-4@(%%rax,%%rbx,4) -4@(%%rax,%%rcx,1) 8@%%rbx 16@%%rbx\"\n"
				 "994: .balign 4\n.popsection\n"
				 :
				 : "a"(table), "b"(i), "c"(4 * i)
				 : "memory");
	return 0;
}
END
gcc -O2 -o indexed indexed.c

"$NOPWATCH" trace -j 'usdt:./indexed:app:at' -o out.json -- ./indexed 64 2>err
holds "elements are those of the program" out.json \
  "[r['args']['arg0'] for r in rows if r['type'] == 'event'] == [1000 - 7 * i for i in range(64)]"
holds "an index that counts bytes, too" out.json \
  "[r['args']['arg1'] for r in rows if r['type'] == 'event'] == [1000 - 7 * i for i in range(64)]"
has "half of a value is said to be half, though nobody named it" "$(cat err)" 'arg3 of app:at: the low half of it'
"$NOPWATCH" trace -j 'usdt:./indexed:app:at(value)' -o out.json -- ./indexed 70 2>err
holds "outside of what was fetched it is unknown" out.json \
  "[r['args']['value'] for r in rows if r['type'] == 'event'] == [1000 - 7 * i for i in range(64)] + [None] * 6"
"$NOPWATCH" stat -j 'usdt:./indexed:app:at(value)' -o out.json -- ./indexed 64 2>err
holds "it can be summed up" out.json "[probe('app:at')['args']['value'][k] for k in ('count', 'min', 'max')] == [64, 559, 1000]"
"$NOPWATCH" record -o x.dat 'usdt:./indexed:app:at' -- ./indexed 10 >/dev/null 2>&1
"$NOPWATCH" trace -j --from x.dat -o out.json
holds "and recorded" out.json \
  "[r['args']['arg0'] for r in rows if r['type'] == 'event'] == [1000 - 7 * i for i in range(10)]"

# elements of global arrays, as gcc writes them where addresses are fixed
cat >fixed.c <<'END'
/* fixed N: for i in 0..N-1: app:of(ints[i], shorts[i], ints[i + 1], i) */
#include <stdlib.h>
static int ints[65];
static short shorts[64];
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 4;
	for (int i = 0; i < 64; i++) {
		ints[i] = 1000 - 70 * i;
		shorts[i] = 3 * i - 20;
	}
	ints[64] = 7;
	for (long i = 0; i < n; i++)
		__asm__ volatile("990: nop\n"
				 ".pushsection .note.stapsdt,\"\",\"note\"\n"
				 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
				 "991: .asciz \"stapsdt\"\n992: .balign 4\n"
				 "993: .8byte 990b, 0, 0\n"
				 ".asciz \"app\"\n.asciz \"of\"\n"
				 ".asciz \"-4@ints(,%%rbx,4) -2@shorts(%%rbx,%%rbx) -4@ints(%%rcx,%%rbx,4) 8@%%rbx\"\n"
				 "994: .balign 4\n.popsection\n"
				 :
				 : "b"(i), "c"(4L), "m"(ints), "m"(shorts)
				 : "memory");
	return 0;
}
END
gcc -O2 -no-pie -fno-pie -o fixed fixed.c
"$NOPWATCH" trace -j 'usdt:./fixed:app:of' -o out.json -- ./fixed 64 2>err
holds "elements of a global array are those of the program" out.json \
  "[r['args']['arg0'] for r in rows if r['type'] == 'event'] == [1000 - 70 * i for i in range(64)]"
holds "also where the index is added twice" out.json \
  "[r['args']['arg1'] for r in rows if r['type'] == 'event'] == [3 * i - 20 for i in range(64)]"
holds "and beside a register" out.json \
  "[r['args']['arg2'] for r in rows if r['type'] == 'event'] == [930 - 70 * i for i in range(63)] + [7]"
"$NOPWATCH" record -o x.dat 'usdt:./fixed:app:of' -- ./fixed 10 >/dev/null 2>&1
"$NOPWATCH" trace -j --from x.dat -o out.json
holds "also of a recording" out.json \
  "[r['args']['arg1'] for r in rows if r['type'] == 'event'] == [3 * i - 20 for i in range(10)]"

unchanged
finish
