# Arguments by the names that they have in the source (DWARF). The truth is what the program prints about each call; what cannot be
# had says why, and is never another value.
. "$(dirname "$0")/../lib/kernel.sh"

grep -qa 'libdw\.so' "$NOPWATCH" || skip_all "built without libdw"
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "DWARF's registers of this architecture are not known" ;;
esac
cat >args.c <<'EOC'
#include <stdio.h>
#define K __attribute__((noinline, noclone))
enum color { BLUE = -3, RED = 0, GREEN = 7 };
struct peer { short port; const char *host; };
struct hidden;
struct request {
	int id;
	unsigned a : 3;
	int b : 5;
	unsigned long wide : 40;
	struct peer *peer;
	struct { unsigned char kind; union { long code; double real; }; };
	int sizes[4];
	float ratio;
	enum color color;
	struct request *next;
	_Bool ok;
	struct hidden *hidden;
	char text[8];
};
static int total = 40;
static __thread int local = 3;
static inline void use(const void *p) { __asm__ volatile("" ::"r"(p) : "memory"); }
K int handle(struct request *request, const char *name, unsigned char flag, long count)
{
	int later = request->id * 3;
	use(request), use(&local), use(&later);
	total += later + flag + (int)count + name[0];
	return total;
}
K long many(signed char a, double d, short b, float f, int c, long e, unsigned g, int h, long i, int j)
{
	long sum = (long)(a + d + b + f + c + e + g + h + i + j);
	use(&sum);
	return sum;
}
K struct request shifted(int n)
{
	struct request r = {.id = n};
	use(&r);
	return r;
}
K int after(struct peer p, int n) { use(&p); return p.port + n; }
K int kept(int n) { int *volatile p = &n; *p += 1; return n * 3; }
int main(void)
{
	for (int n = 1; n < 6; n++) {
		struct peer peer = {(short)(-100 * n), n % 2 ? "odd" : "even"};
		struct request next = {.id = -n};
		struct request r = {.id = n * 1000, .a = n & 7u, .b = -n, .wide = 1ul << (34 + n), .peer = &peer,
				    .kind = (unsigned char)(200 + n), .code = -5000000000l * n, .sizes = {n, -n, 3 * n, 4},
				    .ratio = (float)n / 4, .color = n == 3 ? (enum color)3 : n % 2 ? BLUE : GREEN, .next = &next, .ok = n % 2};
		char name[16];
		snprintf(r.text, sizeof(r.text), "text-%d-long", n);
		snprintf(name, sizeof(name), "name-%d", n);
		use(&r), use(&peer), use(&next);
		printf("handle %d|%u|%d|%lu|%d|%s|%u|%ld|%d|%d|%d|%d|%s|%s|%u|%d|%d|%g\n", r.id, r.a, r.b, (unsigned long)r.wide, peer.port,
		       peer.host, r.kind, r.code, r.sizes[1], r.color, r.ok, next.id, r.text, name, 250u + (unsigned)n, -n, total, r.ratio);
		handle(&r, name, (unsigned char)(250 + n), -n);
		printf("many %d|%d|%d|%d|%u|%d\n", -n, -2 * n, -3 * n, -4 * n, 4000000000u + (unsigned)n, -6 * n);
		many((signed char)-n, 1.5, (short)(-2 * n), 2.5f, -3 * n, -4l * n, 4000000000u + (unsigned)n, -6 * n, -7l * n, -8 * n);
		printf("kept %d\n", n * 5);
		kept(n * 5);
		r = shifted(n);
		after(peer, n);
	}
	return 0;
}
EOC
fields='request->id, request->a, request->b, request->wide, request->peer->port, request->peer->host, request->kind, request->code, request->sizes[1], request->color, request->ok, request->next->id, request->text, name, flag, count, total, request->ratio'
compilers=gcc
command -v clang >/dev/null && compilers="gcc clang"
for compiler in $compilers; do
  for level in 0 2; do
    program=$compiler$level
    "$compiler" -g -O$level -o "$program" args.c 2>err || { skip "$compiler -O$level" "it does not compile"; continue; }
    "$NOPWATCH" trace -j "uprobe:./$program:handle($fields)" "uprobe:./$program:many(a, b, c, e, g, h)" "uprobe:./$program:kept(n)" \
      -o out.json -- "./$program" >said 2>err
    for name in handle many kept; do
      printed=$(sed -n "s/^$name //p" said)
      holds "$compiler -O$level: the arguments of $name are what the program prints" out.json \
        "['|'.join('%g' % v if isinstance(v, float) else str(int(v) if isinstance(v, bool) else v) for v in r['args'].values()) \
          for r in rows if r['type'] == 'event' and r['probe'] == 'uprobe:$name'] == '''$printed'''.split('\n') and '''$printed'''.count('\n') == 4"
    done
    "$NOPWATCH" trace -j "func:./$program:many(d, a)" "uprobe:./$program:shifted(n)" "uprobe:./$program:after(n)" \
      "uprobe:./$program:handle(later, local, request->peer[0], request->hidden->x, count)" -o out.json -- "./$program" >said 2>err
    has "$compiler -O$level: floating point in a register says so" "$(cat err)" 'd of uprobe:many has no value: it is in a register that ftrace cannot read'
    has "$compiler -O$level: so does a structure" "$(cat err)" 'request->peer\[0\] of uprobe:handle has no value: it is a structure'
    has "$compiler -O$level: so does a type that is only declared" "$(cat err)" 'request->hidden->x of uprobe:handle has no value: its type is only declared'
    has "$compiler -O$level: so does what is thread-local" "$(cat err)" 'local of uprobe:handle has no value: (it is thread-local|no register)'
    has "$compiler -O$level: so does a variable of the body" "$(cat err)" 'later of uprobe:handle has no value: (it gets its value after|the compiler has optimised)'
    holds "$compiler -O$level: no value is a wrong one, and the others stay" out.json \
      "all(r['args'].get('n') in (None, k) for f in ('shifted', 'after') for k, r in enumerate([r for r in rows if r['type'] == 'event' and r['probe'] == 'uprobe:' + f], 1)) \
       and [r['args']['count'] for r in of('event') if r['probe'] == 'uprobe:handle'] == [-1, -2, -3, -4, -5] \
       and [r['args']['a'] for r in of('event') if r['probe'] == 'uprobe:many'] == [-1, -2, -3, -4, -5]"
  done
done
said=$("$NOPWATCH" stat 'uprobe:./gcc0:handle(request->nam)' -- ./gcc0 2>&1)
has "a field that is not there is an error" "$? $said" "^2 .*'request->nam' of .* cannot be found: the structure has no field 'nam'"
said=$("$NOPWATCH" stat 'uprobe:./gcc0:handle(reqest->id)' -- ./gcc0 2>&1)
has "so is a variable that is not there" "$? $said" "^2 .*the source has no argument or variable 'reqest'"
said=$("$NOPWATCH" trace 'uprobe:./gcc0:kept(number:s32)' -- ./gcc0 2>&1)
has "names that the source has not are given in order" "$said" 'number=25'
has "and it is said" "$said" "the names are given to the arguments in their order"
said=$("$NOPWATCH" trace 'uprobe:./gcc0:handle(request->text:string)' -- ./gcc0 2>&1)
has "an array of characters can be called a string" "$said" 'request->text="text-3-"'
"$NOPWATCH" trace -j 'uprobe:./gcc2:handle(request->color, count)' -o named.json -- ./gcc2 >/dev/null 2>err
holds "values of enumerations have their names in JSON, too" named.json \
  "[(r['args']['request->color'], r.get('names')) for r in of('event')] == [(v, {'request->color': w} if w else None) for v, w in \
    ((-3, 'BLUE'), (7, 'GREEN'), (3, ''), (7, 'GREEN'), (-3, 'BLUE'))]"
colors() { grep -o 'color=[^ ]*' | sort | uniq -c | awk '{ printf "%s %s;", $1, $2 }'; }
is "trace shows the name, and a value without one as a number" \
  "$("$NOPWATCH" trace 'uprobe:./gcc2:handle(request->color)' -- ./gcc2 2>/dev/null | colors)" '1 color=3;2 color=BLUE;2 color=GREEN;'
is "a type that the user gives is no enumeration" \
  "$("$NOPWATCH" trace 'uprobe:./gcc2:handle(request->color:s32)' -- ./gcc2 2>/dev/null | colors)" '2 color=-3;1 color=3;2 color=7;'
is "so do slow spans" \
  "$("$NOPWATCH" trace --slower 1ns 'func:./gcc2:handle(request->color)' -- ./gcc2 2>/dev/null | colors)" '1 color=3;2 color=BLUE;2 color=GREEN;'
"$NOPWATCH" record -o named.dat 'uprobe:./gcc2:handle(request->color, flag)' -- ./gcc2 >/dev/null 2>&1
is "and --by, of a recording" "$("$NOPWATCH" report -j --by request-\>color named.dat |
  sed -n 's/.*"group":"\([^"]*\)".*"hits":\([0-9]*\).*/\1 \2/p' | sort | tr '\n' ';')" '3 1;BLUE 2;GREEN 2;'
# The name is in the file, which may be anybody's: it is not of letters, digits and _ here.
LC_ALL=C sed 's/GREEN/G\x1b[1m/' gcc2 >evil && chmod +x evil
is "a name that is none is a number" \
  "$("$NOPWATCH" trace 'uprobe:./evil:handle(request->color)' -- ./evil 2>/dev/null | colors)" '1 color=3;2 color=7;2 color=BLUE;'
strip -g -o stripped gcc0
said=$("$NOPWATCH" stat 'uprobe:./stripped:handle(request->id)' -- ./stripped 2>&1)
has "without debugging information it says what is missing" "$? $said" "^2 .*there is no debugging information"
"$NOPWATCH" record -o args.dat 'func:./gcc2:handle(request->id, request->b, name)' -- ./gcc2 >/dev/null 2>err
"$NOPWATCH" trace -j --from args.dat -o out.json 2>err
holds "recordings have them, too" out.json \
  "[[str(v) for v in r['args'].values()] for r in of('event') if r['probe'] == 'uprobe:handle'] == [[str(n * 1000), str(-n), 'name-%d' % n] for n in range(1, 6)]"
is "filters take the names" "$("$NOPWATCH" trace --from args.dat --filter 'request->id > 3000' 2>&1 | grep -c 'uprobe:handle ')" 2
has "and so does --by" "$("$NOPWATCH" report --by 'request->b' args.dat 2>&1)" '^handle +-4 +1 '
unchanged
finish
