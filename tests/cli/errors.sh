# Wrong usage and bad input: one clear message, exit 2 for what was typed, 1 for what failed.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1

# says STATUS PATTERN WORD...: exits so, and the first line on stderr is so
says() {
  local status=$1 pattern=$2 said got
  shift 2
  said=$("$NOPWATCH" "$@" 2>&1 >/dev/null </dev/null)
  got=$?
  if [ $got = "$status" ] && grep -Eqx -- "nopwatch: $pattern" <<<"$(head -n 1 <<<"$said")"; then
    pass "$*"
  else
    fail "$*"
    comment "status $got, wanted $status; wanted: $pattern"
    comment "$said"
  fi
}

"$NOPWATCH" >/dev/null 2>&1
is "no command at all" $? 2
says 2 "there is no command 'frobnicate'" frobnicate
says 2 "ambiguous command 're': could be record, report, remove, recipe" re
says 2 "unknown option '-Z'" stat -Z
# the C library's regcomp() calls itself for each parenthesis: it ran out of stack
says 2 "--by '.*': the expression has 40000 characters, more than 1000" stat --by "title($(printf '%20000s' '' | tr ' ' '(')$(printf '%20000s' '' | tr ' ' ')'))" "usdt:$SERVER:*"
says 2 "unknown option '--frobnicate'" stat --frobnicate
says 2 "option '-d' needs a value: -d TIME" stat -d
says 2 "option '--quiet' takes no value" stat --quiet=yes x:y
says 2 "'list' has no option '-d'" list -d 1 "$SERVER"
says 2 "-d 'x': not a duration such as 10, 500ms or 2m" stat a:b -d x
says 2 "-d '0': not a duration such as 10, 500ms or 2m" stat a:b -d 0
says 2 "-i '1us': not a duration such as 1, 500ms or 2m \(at least 1ms\)" stat a:b -i 1us
says 2 "-n '-3': not a number above 0" stat a:b -n -3
says 2 "-p 'abc': not a process id" stat a:b -p abc
says 2 "-p '0': not a process id" stat a:b -p 1,0
says 2 "-b '1': not a size such as 512K or 8M \(4K to 4G\)" stat a:b -b 1
says 2 "--max-rate '0': not a number of hits per second" stat a:b --max-rate 0
says 2 "--max-rate '1k': not a number of hits per second" record a:b --max-rate 1k
says 2 "--until 'request': not a condition such as 'SPAN > 50ms'" record a:b --until request
says 2 "--until '> 5ms': not a condition such as 'SPAN > 50ms'" record a:b --until '> 5ms'
says 2 "--until: 'fast' is not a time such as 50ms, 1s or 2m" record a:b --until 'request > fast'
says 2 "--until: one condition at a time" record a:b --until 'a > 1s' --until 'b > 1s'
says 2 "--until-cmd ' ': not a command" record a:b --until-cmd ' '
says 2 "--keep '0': not a time such as 10, 500ms or 2m" record a:b --until 'a > 1s' --keep 0
says 2 "--keep goes with --until, --until-signal or --until-cmd" record a:b --keep 5s
says 2 "--times goes with --until, --until-signal or --until-cmd" record a:b --times 2
says 2 "--times 'x': not a number of recordings \\(0: no limit\\)" record a:b --times x
says 2 "-n counts hits, which --until does not: use --times for the number of recordings" record a:b --until 'a > 1s' -n 5
says 2 "-o '/dev/null': not a file, of which there may be several" record -x "$SERVER" 'myserver:*' --until-signal -o /dev/null
says 2 "--until 'reqest': there is no such span" record -x "$SERVER" 'myserver:*' --until 'reqest > 5ms'
says 2 "'stat' has no option '--until'" stat --until 'a > 1s' a:b
says 2 "'report' has no option '--max-rate'" report --max-rate 5 x
has "and which commands have it is said" "$("$NOPWATCH" top --stack-size=4K a:b 2>&1)" \
  "^nopwatch: 'top' has no option '--stack-size'"$'\n'"nopwatch: these commands have it: stat, trace, record, report$"
says 2 "--stack-size goes with --stack" stat --stack-size 4K a:b
says 1 "--stack: there are none in it; 'nopwatch record --stack' keeps them" report -f folded "$TESTS_LIB/../demo/sample.dat"
says 2 "-o -: a recording has to be a file" record -o - a:b
says 2 "-o -: a recording has to be a file" record --until-signal -o - a:b
is "other results go to standard output with it" "$("$NOPWATCH" list -o - "$SERVER" | head -n 1; ls ./- 2>&1)" \
  "$("$NOPWATCH" list "$SERVER" | head -n 1; ls ./- 2>&1)"
says 2 "--slower: -f html cannot show single spans as they end" stat -f html --slower 50ms a:b
# which they are, tests/unit/output.c says
says 2 "-f 'xml': not text, json, csv, [a-z0-9_, ]+ or [a-z0-9_]+" stat a:b -f xml
says 2 "trace writes text, json, [a-z0-9_, ]+ only" trace a:b -f csv
says 2 "--by: -f json shows hits, not spans" trace a:b -j --by tid
says 2 "--color 'blue': not auto, always or never" list --color blue x
says 2 "no command follows --" stat a:b --
says 2 "no probe is named" stat
says 2 "no probe is named" trace
for verb in add enable disable remove; do says 2 "no probe is named" $verb; done
says 2 "--group 'a b': not a name that the kernel takes .*" add --group 'a b' -x "$SERVER" 'myserver:*'
says 2 "--group '1a': not a name that the kernel takes .*" add --group 1a -x "$SERVER" 'myserver:*'
says 2 "--group '': not a name that the kernel takes .*" add --group '' -x "$SERVER" 'myserver:*'
says 2 "--group 'nopwatch_x': names that begin with nopwatch_ belong to running sessions" add --group nopwatch_x a:b
says 2 "--instance 'nopwatch_x': names that begin with nopwatch_ belong to running sessions" enable --instance nopwatch_x a:b
for name in . .. a/b ''; do
  says 2 "--instance '$name': not the name of an instance .*" enable --instance "$name" a:b
done
says 2 "nothing to look into: give files, directories, -p PID or -- CMD" list
says 2 "no file for probe 'app:req'" stat app:req
says 2 "'usdt:' is not a probe spec: it names no probe" stat usdt:
says 2 "'' is not a probe spec: it is empty" stat ''
says 2 "'a:b\(x:u7\)' is not a probe spec: an argument has an unknown type" stat "a:b(x:u7)" -x "$SERVER"
says 2 "'a:b\(1x\)' is not a probe spec: an argument's name is a C identifier of up to 31 characters" stat "a:b(1x)" -x "$SERVER"
says 2 "'usdt:.*:myserver:parse__start\(a,b,c\)' names 3 arguments, but myserver:parse__start has 1" \
  stat "usdt:$SERVER:myserver:parse__start(a,b,c)"
says 2 "'x..' is not a span: START or END is missing" stat --span 'x..' -x "$SERVER" 'myserver:*'
says 2 "'xy' is not a span: START..END is missing" stat --span 'xy' -x "$SERVER" 'myserver:*'
says 2 "'a..b' is not a span: no probe that is traced is its START" stat --span 'a..b' -x "$SERVER" 'myserver:*'
says 2 "--by 'nothing': no probe has an argument of that name" stat --by nothing -x "$SERVER" 'myserver:*'
says 2 "a recording holds its own probes: --from goes without SPEC, -p, --cgroup and CMD" stat --from x a:b
says 1 "cannot read 'a': No such file or directory" report a b

says 1 "cannot open '/no/such/file': No such file or directory" list /no/such/file
says 1 "cannot open '/no/such/file': No such file or directory" stat usdt:/no/such/file:a:b
echo text >text.file
says 1 "'text.file' is not an ELF file" list text.file
: >empty
says 1 "'./empty' is not an ELF file" list ./empty
mkdir dir
says 1 "no USDT notes found" list dir
says 1 "no USDT notes in '/bin/true'" list /bin/true
is "what to do is said once for many files" \
  "$("$NOPWATCH" list /bin/true /bin/false /bin/true 2>&1 | grep -c -e 'no USDT notes in' -e 'built without them')" 4
says 1 "no USDT notes in '/bin/true'" stat usdt:/bin/true:a:b
says 1 "cannot find a program or library called 'no-such-program'" stat usdt:no-such-program:a:b
says 1 "no probe '.*myserver:request__strat' in $SERVER" stat "usdt:$SERVER:myserver:request__strat"
has "near names are offered" "$("$NOPWATCH" stat "usdt:$SERVER:myserver:request__strat" 2>&1)" \
  'did you mean myserver:request__start'
says 1 "no probe '.*myserver:zzz\*' in $SERVER" stat "usdt:$SERVER:myserver:zzz*"
says 1 "there is no process 4194303" list -p 4194303
says 1 "there is no process 4194303" stat -p 4194303 'a:b'
says 1 "cannot read '/no/such/recording': No such file or directory" report /no/such/recording
says 1 "text.file is neither a recording nor trace text" report text.file
head -c 3000 "$TESTS_LIB/../demo/sample.dat" >cut.dat
says 1 "cut.dat: the recording is damaged or cut off" report cut.dat

# ELF files that somebody has been at
cp "$SERVER" nosections
printf '\0\0\0\0\0\0\0\0' | dd of=nosections bs=1 seek=40 conv=notrunc status=none
printf '\0\0' | dd of=nosections bs=1 seek=60 conv=notrunc status=none
says 1 "the section headers of '.*nosections' are gone, and its USDT notes with them" list ./nosections
head -c 2000 "$SERVER" >cutoff
says 1 ".*'./cutoff'.*" list ./cutoff

# without privileges
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  chmod 777 .
  said=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$NOPWATCH" stat -d 1 -x "$SERVER" 'myserver:*' 2>&1)
  status=$?
  if grep -q "not mounted" <<<"$said"; then
    has "no root and no tracefs: what to do" "$status $said" '^1 nopwatch: tracefs is not mounted'
  else
    has "no root: what to do" "$status $said" '^1 nopwatch: may not use tracefs at [^ ]+: Permission denied'
  fi
  has "and how" "$said" 'run as root|mount -t tracefs'
else
  skip "without root" "not root, or no setpriv"
fi

"$NOPWATCH" list "$SERVER" >/dev/full 2>err
is "a full disk for list" "$? $(cat err)" "1 nopwatch: cannot write the output: No space left on device"
said=$(limited 0 "$NOPWATCH" list "$SERVER" 2>&1 >out)
is "and a file at its limit" "$? $said" "1 nopwatch: cannot write the output: File too large"
finish
