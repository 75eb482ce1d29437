# What a function returns has the size and the sign of its type in the source (DWARF), and what cannot be had says why.
# The truth is what the program prints.
. "$(dirname "$0")/../lib/kernel.sh"

grep -qa 'libdw\.so' "$NOPWATCH" || skip_all "built without libdw"
cat >results.c <<'EOC'
#include <stdbool.h>
#include <stdio.h>
struct pair { long a, b, c; };
enum color { BLUE = -3, RED = 0 };
typedef const short step;
#define K __attribute__((noinline, noclone))
K int minus(int n) { return -n; }
K unsigned char byte(int n) { return (unsigned char)(n + 250); }
K signed char tiny(int n) { return (signed char)(n - 120); }
K step small(int n) { return (short)(n - 7); }
K bool even(int n) { return n % 2 == 0; }
K enum color shade(int n) { return n ? BLUE : RED; }
K unsigned long wide(int n) { return 1ul << (60 + n); }
K long least(int n) { return -5000000000l - n; }
K struct pair both(int n) { struct pair p = {n, n, n}; return p; }
K void nothing(int n) { __asm__ volatile("" ::"r"(n)); }
int main(void)
{
	for (int n = 1; n < 4; n++) {
		struct pair p = both(n);
		nothing((int)p.a);
		printf("minus %d\nbyte %d\ntiny %d\nsmall %d\neven %d\nshade %d\nwide %lu\nleast %ld\n", minus(n),
		       byte(n), tiny(n), small(n), even(n), shade(n), wide(n), least(n));
	}
	return 0;
}
EOC
names='minus byte tiny small even shade wide least'
for level in 0 2; do
  gcc -g -O$level -o results$level results.c
  specs=$(for name in $names both nothing; do echo "uretprobe:./results$level:$name"; done)
  # shellcheck disable=SC2086 # a word a spec
  "$NOPWATCH" trace -j $specs -o out.json -- ./results$level >said 2>err
  for name in $names; do
    printed=$(sed -n "s/^$name //p" said | tr '\n' ' ')
    holds "-O$level: $name is what the program prints" out.json \
      "[str(r['args']['arg0']) for r in rows if r['type'] == 'event' and r['probe'] == 'uretprobe:$name'] == '$printed'.split()"
  done
  has "-O$level: a structure says why it has no value" "$(cat err)" 'arg0 of uretprobe:both: the function returns a structure'
  has "-O$level: nothing is said to be nothing" "$(cat err)" 'arg0 of uretprobe:nothing: the function returns nothing'
done
finish
