# list, in all its ways.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

"$NOPWATCH" list -j "$SERVER" >out.json
holds "one object a site" out.json "len(rows) >= 8 and {r['type'] for r in rows} == {'site'}"
holds "with the keys that are promised" out.json \
  "all({'provider', 'name', 'path', 'build_id', 'arch', 'vaddr', 'offset', 'semaphore_vaddr', 'semaphore_offset', 'nop', 'args'} <= set(r) for r in rows)"
holds "and its arguments" out.json \
  "all({'index', 'text', 'size', 'signed', 'float', 'kind', 'fetch'} <= set(a) for r in rows for a in r['args'])"
cat >readelf.py <<'P'
# The same, as readelf sees it.
import json, re, subprocess, sys
text = subprocess.run(["readelf", "-n", sys.argv[1]], capture_output=True, text=True).stdout
theirs = sorted((m[1], m[2], int(m[3], 16), int(m[4], 16), m[5].strip()) for m in re.finditer(
    r"Provider: (.*)\n\s*Name: (.*)\n\s*Location: 0x([0-9a-f]+), Base: 0x[0-9a-f]+, Semaphore: 0x([0-9a-f]+)\n\s*Arguments: ?(.*)", text))
ours = sorted((r["provider"], r["name"], r["vaddr"], r.get("semaphore_vaddr", 0),
               " ".join(a["text"] for a in r["args"])) for r in map(json.loads, open(sys.argv[2])))
assert theirs and ours == theirs, (ours[:3], theirs[:3])
P
ok "addresses, semaphores and operands are readelf's" python3 readelf.py "$SERVER" out.json
for file in /usr/lib/jvm/*/lib/server/libjvm.so /usr/lib/postgresql/*/bin/postgres /usr/bin/python3 \
  /usr/lib/*/libstdc++.so.6; do
  [ -f "$file" ] && readelf -n "$file" 2>/dev/null | grep -q stapsdt || continue
  "$NOPWATCH" list -j "$file" >other.json
  ok "the same for $file" python3 readelf.py "$file" other.json
done

# A terminal of 80 columns: rows below the file's name where whole specs do not fit.
deep=$PWD/a-folder-with-a-rather-long-name/and-one-more-below-it
mkdir -p "$deep"
cp "$SERVER" "$deep/server"
narrow=$(script -qec "stty cols 80 rows 99; PAGER=cat '$NOPWATCH' list '$deep/server'" /dev/null | tr -d '\r')
is "no row is wider than 80 columns" "$(grep -v "^usdt:$deep/server:$" <<<"$narrow" | awk 'length > 80')" ""
has "the file is named once" "$narrow" "^usdt:$deep/server:$"
has "and its probes below it" "$narrow" '^  myserver:lookup__done +2 +yes +2$'
has "and how whole specs are to be had" "$narrow" '^`nopwatch list -q` prints whole specs$'
is "a pipe gets whole specs" "$("$NOPWATCH" list "$deep/server" | grep -c "^usdt:$deep/server:myserver:.* yes ")" 7
has "--plain says it in sentences" "$("$NOPWATCH" list --plain "$SERVER")" '^Probe usdt:.*:myserver:lookup__done: sites 2, semaphore yes, args 2[.]$'

table=$("$NOPWATCH" list "$SERVER")
has "a header" "$(head -n 1 <<<"$table")" '^PROBE +SITES +SEMAPHORE +ARGS$'
has "a row a probe" "$table" "^usdt:$SERVER:myserver:parse__start +1 +yes +1$"
is "patterns choose" "$("$NOPWATCH" list -q "$SERVER" 'parse__*' | sort)" \
  "usdt:$SERVER:myserver:parse__done
usdt:$SERVER:myserver:parse__start"
mkdir globbed
cp "$SERVER" globbed/one
cp "$SERVER" globbed/two
echo text >globbed/three
is "a glob of paths lists what it finds" "$("$NOPWATCH" list -q 'globbed/*' 'parse__start')" \
  "usdt:globbed/one:myserver:parse__start
usdt:globbed/two:myserver:parse__start"
is "in a spec, too" "$("$NOPWATCH" list -q 'usdt:globbed/t*:myserver:parse__start')" "usdt:globbed/two:myserver:parse__start"
said=$("$NOPWATCH" list 'globbed/x*' 2>&1)
is "a glob that finds nothing fails" $? 1
has "and is named" "$said" "no file matches 'globbed/x\*'"
globbed/one -p 10000 >/dev/null & runs=$!
until [ "/proc/$runs/exe" -ef globbed/one ]; do sleep 0.05; done
# whatever else is run on this machine
is "usdt:* are the files that somebody runs" "$("$NOPWATCH" list -q 'usdt:*:myserver:parse__start' | grep -F "$PWD/")" \
  "usdt:$PWD/globbed/one:myserver:parse__start"
kill $runs
wait $runs
globbed/two >/dev/null &
running=$!
until grep -q globbed/two /proc/$running/maps; do sleep 0.1; done
has "and this one is" "$("$NOPWATCH" list -q 'usdt:*:myserver:parse__start')" "^usdt:.*/globbed/two:myserver:parse__start$"
has "for other commands, too" "$("$NOPWATCH" stat --dry-run 'usdt:*:myserver:parse__start' 2>&1)" 'globbed/two:0x'
kill $running
wait $running 2>/dev/null
# Any user may run a program by the name of a server, so what other users own is not found by its name alone.
if [ "$(id -u)" = 0 ]; then
  chmod 755 . .. # the other user has to get there
  cp "$SERVER" nowhere-else
  for owner in 4711 0; do
    chown $owner nowhere-else
    setpriv --reuid 4711 --regid 4711 --clear-groups ./nowhere-else >/dev/null &
    running=$!
    until [ "/proc/$running/exe" -ef nowhere-else ]; do sleep 0.05; done
    said=$(cd globbed && "$NOPWATCH" list -q usdt:nowhere-else:myserver:parse__start 2>&1)
    if [ $owner = 0 ]; then
      is "a bare name is found among what is run" "$said" "usdt:$PWD/nowhere-else:myserver:parse__start"
    else
      has "but not if the file is another user's" "$said" "no file with USDT notes was found in which .usdt:nowhere-else:"
    fi
    kill $running
    wait $running 2>/dev/null
  done
else
  skip "a bare name is not found in another user's file" "needs root"
fi
is "dashes are double underscores" "$("$NOPWATCH" list -q "$SERVER" parse-done)" "usdt:$SERVER:myserver:parse__done"
is "what it prints is a spec" "$("$NOPWATCH" list -q "usdt:$SERVER:myserver:parse__done")" "usdt:$SERVER:myserver:parse__done"
verbose=$("$NOPWATCH" list -v "$SERVER" myserver:cache__evict)
has "-v: address, offset, semaphore, nop, function" "$verbose" \
  '^    site 0x[0-9a-f]+  offset 0x[0-9a-f]+  semaphore 0x[0-9a-f]+ offset 0x[0-9a-f]+  nop  in [a-z]+'
has "-v: a global" "$verbose" 'cache_left\(%rip\) +\+[0-9]+\(%ip\):u32$'
"$NOPWATCH" list "$SERVER" nothing__like__it >/dev/null 2>&1
is "nothing matched is status 1" $? 1

mkdir -p tree/sub
cp "$SERVER" tree/sub/
cp "$PROGRAMS/counter" tree/
echo text >tree/notelf
ln -s loop tree/loop
mkfifo tree/fifo
is "a directory tree" "$("$NOPWATCH" list -q tree | cut -d: -f2 | sort -u)" "tree/counter
tree/sub/server"
is "several files" "$("$NOPWATCH" list -q tree/counter tree/sub/server '*start' | cut -d: -f3- | sort -u)" \
  "myserver:lookup__start
myserver:parse__start
myserver:request__start"

# processes: deleted files, other roots
cp "$SERVER" gone
./gone -p 1000 >/dev/null & pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
  grep -q gone /proc/$pid/maps 2>/dev/null && break
  sleep 0.1
done
is "what a process maps" "$("$NOPWATCH" list -q -p $pid 'myserver:parse*' | sort)" \
  "usdt:$PWD/gone:myserver:parse__done
usdt:$PWD/gone:myserver:parse__start"
rm gone
is "even when its file is deleted" "$("$NOPWATCH" list -q -p $pid 'myserver:parse*' | sort)" \
  "usdt:/proc/$pid/exe:myserver:parse__done
usdt:/proc/$pid/exe:myserver:parse__start"
kill $pid
wait $pid 2>/dev/null
# Where what is mapped cannot be opened (Linux before 4.3, or a user's own process), the program is opened as what runs.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
else
  user=()
fi
chmod 755 .
cp "$SERVER" gone
"${user[@]}" ./gone -p 1000 >/dev/null & pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
  grep -q gone /proc/$pid/maps 2>/dev/null && break
  sleep 0.1
done
rm gone
is "nobody needs root to list a deleted program of their own" "$("${user[@]}" "$NOPWATCH" list -q -p $pid 'myserver:parse*' | sort)" \
  "usdt:/proc/$pid/exe:myserver:parse__done
usdt:/proc/$pid/exe:myserver:parse__start"
kill $pid
wait $pid 2>/dev/null

spaces="a file: with #blanks"
cp "$PROGRAMS/counter" "$spaces"
is "odd file names" "$("$NOPWATCH" list -q "./$spaces" step__end)" "usdt:./$spaces:counter:step__end"

# functions
cp "$PROGRAMS/target" target
is "functions" "$("$NOPWATCH" list 'func:./target:w*k')" "func:./target:work"
is "asked for as uprobes, too" "$("$NOPWATCH" list 'uprobe:./target:w*k')" "func:./target:work"
is "in JSON, too" "$("$NOPWATCH" list -j 'func:./target:work' | grep -o '"type":"function","name":"work","symbol":"work","path":"./target"')" \
  '"type":"function","name":"work","symbol":"work","path":"./target"'
said=$("$NOPWATCH" list func:./target:nosuch 2>&1)
is "a function that is not there" "$? $said" "1 nopwatch: there is no function 'nosuch' in ./target
nopwatch: \`nopwatch list --functions ./target\` lists those that are there"
said=$("$NOPWATCH" list func:./nofile:nosuch 2>&1)
has "nor the file" "$? $said" "^1 nopwatch: .*'./nofile'.*No such file"
if cp "$PROGRAMS/names" names 2>/dev/null && "$NOPWATCH" list 'func:./names:app::*' >out 2>/dev/null; then
  is "functions of C++ by their names; overloads with both names" "$(sort out)" "func:./names:_ZN3app7handlerEd  app::handler(double)
func:./names:_ZN3app7handlerEi  app::handler(int)
func:./names:app::Server::serve
func:./names:app::twice<double>
func:./names:app::twice<int>"
  is "with --no-demangle by the linker's" "$("$NOPWATCH" list --no-demangle 'func:./names:app::Server::*')" "func:./names:_ZNK3app6Server5serveEPKcl"
else
  skip "functions of C++" "no C++ compiler, or no libstdc++"
fi
# --functions, against nm and the source
cat >sizes.c <<'C'
int sized_one(int n);
int sized_one(int n)
{
	return n * 3;
}

int sized_two(int n);
int sized_two(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += sized_one(i ^ sum);
	return sum;
}
int main(int argc, char **argv) { return argv[0][0] == sized_two(argc); }
C
gcc -g -O0 -fno-inline -o sizes sizes.c
nm -S sizes | while read -r _ size _ name; do
  case $name in sized_*) echo "$name $((16#$size))" ;; esac
done | sort >wanted
"$NOPWATCH" list -j --functions ./sizes 'sized_*' >out.json
is "--functions: sizes as nm has them" "$(j out.json "'\n'.join('%s %d' % (r['name'], r['size']) for r in rows)")" "$(cat wanted)"
size() { sed -n "s/^$1 //p" wanted; }
if grep -qa 'libdw\.so' "$NOPWATCH"; then
  is "and the lines of the source" "$("$NOPWATCH" list --functions ./sizes 'sized_*' | sed "s|$PWD/||; s|  *|  |g")" \
    "func:./sizes:sized_one  $(size sized_one)  bytes  sizes.c:3
func:./sizes:sized_two  $(size sized_two)  bytes  sizes.c:9"
  is "in JSON, too" "$(j out.json "[(r['file'].split('/')[-1], r['line']) for r in rows]")" "[('sizes.c', 3), ('sizes.c', 9)]"
else
  skip "and the lines of the source" "built without libdw"
  skip "in JSON, too" "built without libdw"
fi
# The arguments of functions, and what can be had of them
cat >typed.c <<'C'
struct pair { long a, b, c; };
enum kind { ONE, TWO };
int typed_all(const char *name, struct pair *pair, enum kind kind, unsigned char flag, double ratio, struct pair whole, int last);
int typed_all(const char *name, struct pair *pair, enum kind kind, unsigned char flag, double ratio, struct pair whole, int last)
{
	return name[0] + (int)pair->a + kind + flag + (int)ratio + (int)whole.c + last;
}
int typed_none(void);
int typed_none(void) { return 3; }
int main(void) { struct pair p = {0, 0, 0}; return typed_all("", &p, ONE, 1, 1.0, p, 2) + typed_none(); }
C
case $(uname -m)$(grep -qa 'libdw\.so' "$NOPWATCH" && echo libdw) in
x86_64libdw | aarch64libdw)
  gcc -g -O1 -fno-inline -o typed typed.c
  is "-v: arguments with their types, and why one has no value" "$("$NOPWATCH" list -v --functions ./typed 'typed_*' | sed 's/^f[^:]*:[^:]*:\([^ ]*\) .*/\1/; s/^  */ /')" \
    "typed_all
 name: const char *
 pair: struct pair *
 kind: enum kind
 flag: unsigned char
 ratio: double  (no value: it is in a register that ftrace cannot read, such as one for floating point)
 whole: struct pair  (no value: it is a structure: name one of its fields)
 last: int
typed_none"
  "$NOPWATCH" list -vj --functions ./typed 'typed_*' >out.json
  is "and in JSON" "$(j out.json "[[(a['name'], a['type'], 'problem' in a) for a in r.get('args', [])][1:5:3] for r in rows]")" \
    "[[('pair', 'struct pair *', False), ('ratio', 'double', True)], []]"
  hasnt "without -v there are none" "$("$NOPWATCH" list --functions ./typed 'typed_*')" "struct pair"
  # A name in DWARF that is none is left out, and a type is escaped.
  LC_ALL=C sed 's/ratio/\x1b[31m/; s/unsigned char/unsigned\x1b[31m/' typed >evil
  hasnt "names and types of a file are escaped" "$("$NOPWATCH" list -v --functions ./evil 'typed_*')" $'\x1b'
  ;;
*) skip "-v: arguments with their types" "DWARF's registers of this architecture are not known, or no libdw" ;;
esac
is "-q: only specs" "$("$NOPWATCH" list -q --functions -x ./sizes sized_two main)" "func:./sizes:sized_two
func:./sizes:main"
has "without a pattern all" "$("$NOPWATCH" list -q --functions ./sizes)" "func:./sizes:main"
cp sizes stripped
strip --strip-debug stripped
is "without debugging information: no lines" "$("$NOPWATCH" list --functions ./stripped sized_one)" \
  "$(printf 'func:./stripped:sized_one  %7d bytes' "$(size sized_one)")"
is "of CMD" "$("$NOPWATCH" list -q --functions -- ./sizes | grep -c '^func:./sizes:sized')" 2
said=$("$NOPWATCH" list --functions 2>&1)
has "no file" "$? $said" "^2 nopwatch: --functions: of which file\?"
said=$("$NOPWATCH" list --functions ./sizes sized_tow 2>&1 | tr '\n' ' ')
has "no such function" "$said" "^nopwatch: there is no function 'sized_tow' in ./sizes.*did you mean.*sized_two"
said=$("$NOPWATCH" stat --dry-run 'func:./sizes:sized_*' 2>&1 >/dev/null | grep matches)
is "a pattern says which functions it matches" "$said" "nopwatch: func:./sizes:sized_* matches 2 functions: sized_one, sized_two"
hasnt "a name says nothing" "$("$NOPWATCH" stat --dry-run func:./sizes:sized_one 2>&1 >/dev/null)" matches
# a terminal of 80 columns
cp sizes "$deep/sizes"
printf 'int a_function_whose_name_is_longer_than_its_column_is_wide(int n) { return n; }\nint main(void) { return 0; }\n' >long.c
(cd "$deep" && gcc -g -o long "$OLDPWD/long.c")
narrow=$(script -qec "stty cols 80 rows 99; PAGER=cat '$NOPWATCH' list --functions '$deep/sizes' 'sized_*'; PAGER=cat '$NOPWATCH' list --functions '$deep/long' 'a_*' main" /dev/null | tr -d '\r')
is "functions: no row is wider than 80 columns" "$(grep -v "^func:$deep/[a-z]*:$" <<<"$narrow" | awk 'length > 80')" ""
has "functions: the file is named once" "$(tr '\n' ' ' <<<"$narrow")" "func:$deep/sizes:   sized_one  "
has "functions: a long name has a line of its own" "$narrow" '^  a_function_whose_name_is_longer_than_its_column_is_wide$'
has "functions: with its size below" "$(tr -s '\n ' '  ' <<<"$narrow")" "_wide [0-9]+ bytes ([^ ]*long\.c:1 )?func:$deep/long: main"
is "functions: a pipe gets whole specs" "$("$NOPWATCH" list --functions "$deep/sizes" 'sized_*' | grep -c "^func:$deep/sizes:sized_")" 2
is "functions of all that CMD loads" "$("$NOPWATCH" list 'func:*:w*k' -- ./target | grep -F ./target)" "func:./target:work"
has "of which none has it" "$("$NOPWATCH" list 'func:*:no-such' -- ./target 2>&1)" "no function 'no-such' in any of the [0-9]+ files"
said=$("$NOPWATCH" list 'func:*:work' 2>&1)
has "but all files of the machine are too many" "$? $said" "^1 nopwatch: no file for probe 'func:\*:work'"

# what CMD has, and the programs of scripts
cp "$PROGRAMS/counter" counter
is "what the program of CMD has" "$("$NOPWATCH" list -q 'step__*' -- ./counter 5 | sort)" "usdt:./counter:counter:step__begin
usdt:./counter:counter:step__end"
said=$("$NOPWATCH" list -- ./no-such 2>&1)
has "a CMD that is not there" "$? $said" "^1 nopwatch: .*'./no-such'.*No such file"
has "one without probes is named" "$("$NOPWATCH" list -- true 2>&1)" "^nopwatch: no USDT notes in '/.*/true', nor in a library that it loads$"
mkdir -p scripts my.pyenv/shims my.pyenv/versions/3.9/bin my.pyenv/versions/3.8/bin
printf '#!/bin/sh\nX=1 # a wrapper\nexec "%s" "$@"\n' "$PWD/counter" >scripts/wrapped
printf '#!/usr/bin/env bash\nexec "/pyenv/libexec/pyenv" exec "$program" "$@"\n' >my.pyenv/shims/shimmed
cp counter my.pyenv/versions/3.9/bin/shimmed
cp counter my.pyenv/versions/3.8/bin/shimmed
chmod +x scripts/wrapped my.pyenv/shims/shimmed
PATH=$PWD/scripts:$PWD/my.pyenv/shims:$PATH
is "a script means the program that it starts" "$("$NOPWATCH" list -q usdt:wrapped:counter:step__end)" "usdt:$PWD/counter:counter:step__end"
is "also as CMD" "$("$NOPWATCH" list -q step__end -- wrapped 5)" "usdt:$PWD/counter:counter:step__end"
# an interpreter that ignores the script, whose line names another program
cp "$PROGRAMS/target" target
printf '#!%s 3\nexec %s\n' "$PWD/counter" "$PWD/target" >scripts/both
chmod +x scripts/both
is "CMD is a script: what it starts, and its interpreter" "$("$NOPWATCH" list -q step__end tick -- both | sort)" \
  "$(printf 'usdt:%s:counter:step__end\nusdt:%s:target:tick' "$PWD/counter" "$PWD/target")"
for command in "list scripts/wrapped" "list usdt:scripts/wrapped:counter:step__end" "stat --dry-run usdt:scripts/wrapped:counter:step__end" "stat --dry-run func:scripts/wrapped:main"; do
  # shellcheck disable=SC2086 # words
  has "the path of a script is not its program, which is named: $command" "$("$NOPWATCH" $command 2>&1 >out)" "it is a script that starts $PWD/counter: name that file"
done
has "which is said" "$("$NOPWATCH" stat --dry-run usdt:wrapped:counter:step__end 2>&1 >out)" "wrapped is a script .*: the probes are those of $PWD/counter"
unset PYENV_VERSION # set where a shim of pyenv started these tests
echo 3.9 >my.pyenv/version
is "a shim means the version that is chosen" "$("$NOPWATCH" list -q usdt:shimmed:counter:step__end)" \
  "usdt:$PWD/my.pyenv/versions/3.9/bin/shimmed:counter:step__end"
printf '3.7\n3.8\n' >.python-version
is "in this directory" "$("$NOPWATCH" list -q usdt:shimmed:counter:step__end)" \
  "usdt:$PWD/my.pyenv/versions/3.8/bin/shimmed:counter:step__end"
is "or by a variable" "$(PYENV_VERSION=3.9:3.8 "$NOPWATCH" list -q usdt:shimmed:counter:step__end)" \
  "usdt:$PWD/my.pyenv/versions/3.9/bin/shimmed:counter:step__end"
mkdir -p jvm/bin jvm/lib/server
cp counter jvm/bin/java
cp counter jvm/lib/server/libjvm.so
# where no JVM runs, whose library would be meant
where_none_runs() {
  local as=
  [ "$(id -u)" = 0 ] || as=-r
  PATH=$PWD/jvm/bin:$PATH unshare $as -mpf --mount-proc "$@" 2>&1
}
is "java means the JVM that it loads" "$(where_none_runs "$NOPWATCH" list -q usdt:java:counter:step__end)" \
  "usdt:$PWD/jvm/lib/server/libjvm.so:counter:step__end"
is "as a word, too" "$(where_none_runs "$NOPWATCH" list -q java step__end)" "usdt:$PWD/jvm/lib/server/libjvm.so:counter:step__end"
printf '!<arch>\n' >some.a
has "an archive is no program" "$("$NOPWATCH" list ./some.a 2>&1)" "'./some.a' is an archive, .*: name the program"
finish
