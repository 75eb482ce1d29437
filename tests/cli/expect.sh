# expect without root: the file and its mistakes, provider files of DTrace, hostile input, and recordings.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
export NOPWATCH_TRACEFS=$PWD/none # so that nothing is armed
cp "$SERVER" server

# judged FILE...: what comes to standard output, and the exit status
judged() {
  "$NOPWATCH" expect "$@" 2>err
  echo "= $?"
}
# bad LINES PATTERN: this file is wrong, and the message matches
bad() {
  printf '%b\n' "$1" >bad.expect
  has "$1" "$(judged bad.expect -x server -- true) $(cat err)" "^= 2 nopwatch: bad.expect:$2"
  has "$1: what to type" "$(sed -n 2p err)" '^nopwatch: write '
}

# ---- mistakes --------------------------------------------------------------------------
bad 'app:a >= x' "1: 'x' is no number"
bad 'app:a >=' '1: a number is missing'
bad '\n# two\n  app:a >= 0' "3: '>= 0' always holds"
bad 'app:a < 0' "1: '< 0' never holds"
bad 'app:a > 18446744073709551616' "1: '18446744073709551616' is no number"
bad 'app:a maybe' "1: 'maybe' is not understood"
bad 'app:a ~ 5' "1: '~' is not understood"
bad 'app:a >= 1 5' "1: '5' is not understood"
bad 'app:a where' '1: a name is missing'
bad 'app:a where x = 3' "1: use '==' instead of '=' at column 3 of 'x = 3'"
bad 'app:a where (x == 3' '1: .*is missing at column'
bad 'app:a never always x == 1' "1: 'always' needs hits"
bad 'app:a there where x == 1' "1: 'where' needs hits"
bad 'app:a(x' "1: 'app:a\(x' is not a probe spec"
printf 'app:a(x:u17)\n' >bad.expect
has "a type" "$(judged bad.expect -x server) $(cat err)" "^= 2 nopwatch: bad.expect:1: .*an argument has an unknown type"
bad 'span' '1: the span is missing'
bad 'span q' '1: a comparison is missing'
bad 'span q < 50' "1: the time '50' has no unit: write 50ms or 50s"
bad 'span q < x' "1: 'x' is no time"
bad 'span q <' '1: a time is missing'
bad 'span q = 5ms' '1: a time is compared by'
bad 'span q p101 < 1s' "1: 'p101' is no number of a span"
bad 'span q worst < 1s' "1: 'worst' is no number of a span"
bad 'span q count < 1s' "1: '1s' is no number"
bad 'span q max < 5ms 7' "1: '7' is too much"
bad 'span a.. < 5ms' "1: 'a\.\.' is not a span"
printf '# nothing\n\n' >bad.expect
has "a file that expects nothing" "$(judged bad.expect -x server) $(cat err)" '^= 2 nopwatch: bad.expect: it expects nothing'
has "a file that is not there" "$(judged none.expect -x server) $(cat err)" "^= 2 nopwatch: cannot read 'none.expect': No such file"
mkfifo fifo && has "a pipe" "$(timeout 5 "$NOPWATCH" expect fifo -x server 2>&1)" 'it is not a regular file'
printf 'app:a\0b\n' >bad.expect
has "a NUL" "$(judged bad.expect -x server) $(cat err)" '^= 2 .*it holds a NUL'
head -c 1100000 /dev/zero | tr '\0' '#' >bad.expect
has "a large file" "$(judged bad.expect -x server) $(cat err)" "^= 2 nopwatch: cannot read 'bad.expect': File too large"
yes app:a | head -n 10001 >bad.expect
has "too many lines" "$(judged bad.expect -x server) $(cat err)" '^= 2 nopwatch: bad.expect:10001: there are more than 10000 expectations'
has "no file" "$(judged -x server) $(cat err)" '^= 2 nopwatch: no file of expectations is named'
printf 'myserver:request__start\n' >hits.expect
has "hits without a test" "$(judged hits.expect -x server) $(cat err)" '= 2 nopwatch: hits.expect expects hits, and nothing is run'
printf 'span request < 1s\n' >span.expect
has "a span without probes" "$(judged span.expect -x server -- true) $(cat err)" '= 2 nopwatch: span.expect names no probe'
has "no tracefs" "$(judged hits.expect -x server -- true)" '^Bail out! '
is "is a failure" "$(judged hits.expect -x server -- true | tail -n 1)" "= 1"

# ---- what is there ---------------------------------------------------------------------
cat >there.expect <<'E'
myserver:request__start(id, path:string) there # both
  myserver:request__* there
myserver:request__start(id, path, more) there
usdt:./server:myserver:gone there
func:./server:main there
E
is "what is there" "$(judged there.expect -x server | grep -v '^  ')" "TAP version 13
1..5
ok 1 - myserver:request__start(id, path:string) there
ok 2 - myserver:request__* there
not ok 3 - myserver:request__start(id, path, more) there
not ok 4 - usdt:./server:myserver:gone there
ok 5 - func:./server:main there
= 1"
judged there.expect -x server >out
has "too many arguments" "$(cat out)" "message: \"myserver:request__start\(id, path, more\) has 3 arguments in there.expect, but 2 at 0x"
has "-o FILE" "$(judged there.expect -x server -o out2; diff out2 <(head -n -1 out) && echo same)" same
has "a file that is no program" "$(judged hits.expect -x hits.expect) $(cat err)" '= 2 .*nothing is run'
printf 'myserver:a # SKIP\nmyserver:request__start there \\#\n' >skip.expect
printf 'usdt:./server#1:a:b there\n' >skip.expect
has "a # is no directive" "$(judged skip.expect -x server)" 'not ok 1 - usdt:./server\\#1:a:b there'

# ---- provider files --------------------------------------------------------------------
cat >app.d <<'D'
#define Oid unsigned int
typedef int Status;
provider myserver {
	probe request__start(int, char *);
	probe request__done(int id, Status status, Oid bytes : uint32_t);
	probe parse__start(int, int);
	probe parse__done();
	probe gone(void);
};
D
is "a provider file" "$(judged app.d -x server | grep -v '^  ')" "TAP version 13
1..5
ok 1 - myserver:request__start
ok 2 - myserver:request__done
not ok 3 - myserver:parse__start
not ok 4 - myserver:parse__done
not ok 5 - myserver:gone
= 1"
judged app.d -x server >out
has "the number of arguments" "$(cat out)" 'message: "myserver:parse__start has 2 arguments in app.d, but 1 at 0x'
has "a probe that is gone" "$(cat out)" "message: \"no probe 'myserver:gone' in server\""
printf 'provider myserver { probe request__start(int, char *); };' >good.d
is "all of them" "$(judged good.d -x server | tail -n 1)" "= 0"
has "a damaged one" "$(printf 'provider x { probe' >cut.d; judged cut.d -x server) $(cat err)" '^= 2 nopwatch: cut.d:1: '
has "one with a recording" "$(judged good.d --from "$TESTS_LIB/../demo/sample.dat") $(cat err)" '= 2 .*which a recording does not tell'

# ---- a recording -----------------------------------------------------------------------
sample=$TESTS_LIB/../demo/sample.dat
hits=$("$NOPWATCH" report -j "$sample" 2>/dev/null | sed -n 's/.*"type":"probe","probe":"myserver:request__start".*"hits":\([0-9]*\).*/\1/p')
printf 'myserver:request__start = %s\nmyserver:request__start > %s\nspan request max < 1h\n' "$hits" "$hits" >rec.expect
is "a recording: its hits are those of report" "$(judged rec.expect --from "$sample" | grep -v '^  ')" "TAP version 13
1..3
ok 1 - myserver:request__start = $hits
not ok 2 - myserver:request__start > $hits
ok 3 - span request max < 1h
= 1"

# ---- anything --------------------------------------------------------------------------
cat >any.py <<'PY'
import random, subprocess, sys
random.seed(7)
words = ["myserver:request__start", "span", "(id", "id,", ")", "where", "always", ">= 1", "= 3", "never", "there", "status", "== 4", "&&", "(", "p99", "max", "< 5ms",
         "request", "a..b", ",key=id", ",duration=x", "\"", "'", "#", "\\", "\xff", "\x1b[2J", "[", "[a-", "*", "%n", "\t", "{", "=", "!" * 40, "(" * 100]
for case in range(400):
    with open("any.expect", "wb") as file:
        for _ in range(random.randint(1, 6)):
            file.write(" ".join(random.choice(words) for _ in range(random.randint(1, 8))).encode("latin1") + b"\n")
    done = subprocess.run([sys.argv[1], "expect", "any.expect", "-x", "server", "--from", sys.argv[2]] if case % 2 else
                          [sys.argv[1], "expect", "any.expect", "-x", "server"], capture_output=True, timeout=20)
    if done.returncode not in (0, 1, 2) or b"\x1b" in done.stdout + done.stderr or (done.returncode == 2 and not done.stderr):
        sys.exit(f"case {case}: status {done.returncode}\n{open('any.expect', 'rb').read()}\n{done.stderr}")
PY
ok "400 files of anything end with a judgement or a message" python3 any.py "$NOPWATCH" "$sample"
finish
