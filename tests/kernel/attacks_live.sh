# Programs whose debugging information wants to harm who traces them with --stack (tests/lib/attacks): no file is opened that they
# name, a signal ends every run, time and memory are bounded, and what could not be read is said.
. "$(dirname "$0")/../lib/kernel.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "tests/lib/attacks writes for x86-64 and arm64" ;;
esac
need objcopy || skip_all "objcopy is not installed"
most=1024
! sanitized || most=1048576
gcc -O2 -fPIC -shared -DLIBRARY "$TESTS_LIB/../programs/modules.c" -o plain.so || exit 1
modules=$PROGRAMS/modules

# start NAME LIBRARY...: the program calls through these libraries until it is killed
start() {
  local said=$1.said
  shift
  "$modules" 0 "$@" >"$said" 2>&1 &
  target=$!
  wait_for grep -q ready "$said"
}
stop() {
  kill -9 $target
  wait $target 2>/dev/null
}

# bounded STATUS OUT WORD...: ends so, within four minutes, $most_seconds of processor time (40) and 1 GiB
bounded() {
  local status=$1 out=$2 got seconds size
  shift 2
  "$PROGRAMS/bounded" cost "${ATTACK_SECONDS:-240}" "$NOPWATCH" "$@" >"$out" 2>"$out.err"
  read -r got seconds size <cost
  if [ "$got" = "$status" ] && [ "$seconds" -le "${most_seconds:-40}" ] && [ "$size" -le $most ]; then
    pass "$* ($seconds s, $size MiB)"
  else
    fail "$*"
    comment "status $got, wanted $status; $seconds s of processor time, $size MiB"
    comment "$(head -c 1000 "$out.err")"
  fi
}

attack() { # KIND FILE [PATH]
  "$TESTS_LIB/attacks" "$1" plain.so "$2" step "${3:-}" || fail "$2 is made"
}

# named FILE COUNT: in its stacks, so many functions of libraries have their name, and main has
named() {
  holds "$1: all $2 functions are named" "$1" "bool(of('stack')) and all(len([t for t in row['stack'] if t.startswith('step+')]) == $2 and \
    any(t.startswith('main+') for t in row['stack']) for row in of('stack'))"
}

# without_lines FILE: its function is named, and the result says that its lines are missing, and why
without_lines() {
  named "$1" 1
  holds "$1: only its lines are missing, and it is said why" "$1" "[(it['files'], it['missing'], 'longer than' in it['text']) \
    for row in of('loss') for it in row.get('unread', [])] == [(1, 'lines', True)]"
}

# every other command that looks at the libraries of a process, and the report of what was recorded
opens_nothing_else() {
  local words got
  # (a recording's directory is opened, as it gets its name at the end; why looks where the linker would look)
  for words in "stat -q --stack --states -n 20 func:$modules:leaf -p $target" "trace -q --stack -n 20 uprobe:$modules:leaf -p $target" \
    "record -q --stack -n 20 -o named.dat uprobe:$modules:leaf -p $target" "report named.dat" "trace --from named.dat" \
    "stat -q -n 20 func:$PWD/zero.so:step(x) -p $target" "why -d 0.1 func:$PWD/zero.so:step -p $target"; do
    # shellcheck disable=SC2086 # words
    "$PROGRAMS/bounded" cost "${ATTACK_SECONDS:-240}" "${STRACE[@]}" -f -y -qq -e trace=open,openat,openat2 -o log "$NOPWATCH" $words >out 2>&1
    read -r got _ <cost
    is "$words: opens nothing that it should not" \
      "$got $("$TESTS_LIB/opened" log zero.so named.dat "$modules" "$NOPWATCH" . /dev/urandom /etc/ld.so.conf{,.d,.d/*})" "0 "
  done
}

# ---- files that it names ------------------------------------------------------------------
mkfifo fifo
attack alternate zero.so /dev/zero
attack alternate fifo.so "$PWD/fifo"
attack split split.so "$PWD/fifo"
for name in zero fifo split; do
  start $name "./$name.so"
  bounded 0 $name.json stat -j --stack -n 20 "uprobe:$modules:leaf" -p $target
  named $name.json 1
  case $name in zero) signals='INT TERM' ;; fifo) signals=INT ;; *) signals=TERM ;; esac
  for signal in $signals; do
    "$PROGRAMS/bounded" cost "${ATTACK_SECONDS:-240}" "$NOPWATCH" stat -j --stack "uprobe:$modules:leaf" -p $target >signal.json 2>signal.err &
    tracer=$!
    armed_and_hit 5
    kill -$signal $tracer
    wait $tracer
    is "$name: $signal ends it" $? 0
    named signal.json 1
  done
  if need strace && strace -o /dev/null true 2>/dev/null; then
    "$PROGRAMS/bounded" cost "${ATTACK_SECONDS:-240}" "${STRACE[@]}" -f -y -qq -e trace=open,openat,openat2 -o log \
      "$NOPWATCH" stat -q --stack -n 20 "uprobe:$modules:leaf" -p $target >out 2>&1
    is "$name: nothing is opened that should not be" "$("$TESTS_LIB/opened" log "$name.so" "$modules" "$NOPWATCH")" ""
    [ $name != zero ] || opens_nothing_else
  else
    skip "$name: which files are opened" "strace is not installed, or cannot trace"
  fi
  stop
done

# an alternate file that its owner makes shorter while it is read
"$TESTS_LIB/attacks" plain plain.so whole step
cp whole shrinks
attack alternate shrinks.so "$PWD/shrinks"
start shrinks ./shrinks.so
"$PROGRAMS/bounded" cost "${ATTACK_SECONDS:-240}" "$NOPWATCH" stat -j --stack "uprobe:$modules:leaf" -p $target >shrinks.json 2>shrinks.err &
tracer=$!
armed_and_hit 20
: >shrinks
more_hits 20
stop
wait $tracer
is "a file that became shorter does not end it" $? 0
named shrinks.json 1

# ---- time and memory ----------------------------------------------------------------------
# 3 s of processor time are a question's; the 10 s that it may take at all would be more on an idle machine
# (in every check `slow` below meets both limits; the three tell with ALL=1 which parts of DWARF can take so long)
for kind in ranges units attributes; do
  attack $kind $kind.so
  [ "${ALL:-}" ] || continue
  start $kind ./$kind.so
  most_seconds=8 bounded 0 $kind.json stat -j --stack -n 20 "uprobe:$modules:leaf" -p $target
  without_lines $kind.json
  stop
done

for kind in nested cycle imports rows files supplement; do
  attack $kind $kind.so /dev/zero
done
start deep ./{nested,cycle,imports,rows,files,supplement}.so
bounded 0 deep.json stat -j --stack -n 20 "uprobe:$modules:leaf" -p $target
named deep.json 6
stop

# so many that their lines would take all the time there is, beside a good one: every function is named
for i in $(seq 12); do cp ranges.so "s$i.so"; done
cp plain.so good.so
start slow ./s{1..12}.so ./good.so
bounded 0 slow.json stat -j --stack -n 20 --stack-size 16K "uprobe:$modules:leaf" -p $target
named slow.json 13
# (a machine with other work meets a third limit, of 10 s of time, too)
is "slow.json: only lines are missing, and both reasons are said, of one and of all" \
  "$(j slow.json "'; '.join(sorted({it['missing'] + ': ' + it['text'] for row in of('loss') for it in row['unread'] if it['text'] != 'reading it took longer than 10 s'}))")" \
  "lines: reading it took longer than 3 s of processor time; lines: reading source lines took longer than 10 s of processor time altogether"
stop

attack zeros zeros.so
for i in $(seq 40); do cp zeros.so "z$i.so"; done
start zeros ./z{1..40}.so
bounded 0 zeros.json stat -j --stack -n 20 --stack-size 16K "uprobe:$modules:leaf" -p $target
named zeros.json 40
stop

# ---- what cannot be opened ----------------------------------------------------------------
for i in $(seq 120); do cp plain.so "l$i.so"; done
start many ./l{1..120}.so
for limit in 64:64 64:4096; do
  bounded_files() { prlimit --nofile=$limit "$PROGRAMS/bounded" cost "${ATTACK_SECONDS:-240}" "$NOPWATCH" "$@" >many.json 2>many.err; }
  bounded_files stat -j --stack -n 20 --stack-size 16K "uprobe:$modules:leaf" -p $target
  is "files: $limit" $? 0
  named many.json 120
done
stop

# a process that has 5,000 files in its stacks, each once
if [ "$(uname -m)" = x86_64 ]; then
  mkdir crowd && mkfifo go
  "$TESTS_LIB/crowd" crowd ./plain.so 5000 <go >crowd.said 2>&1 &
  target=$!
  exec 3>go
  wait_for grep -q ready crowd.said
  "$PROGRAMS/bounded" cost "${ATTACK_SECONDS:-240}" "$NOPWATCH" stat -j --stack -b 64M "uprobe:$PWD/plain.so:step" -p $target >crowd.json 2>crowd.err &
  tracer=$!
  wait_for armed
  echo >&3
  wait_for grep -q "done" crowd.said
  wait_for hit 5000
  stop
  exec 3>&-
  wait $tracer
  is "5,000 files in stacks: it ends" $? 0
  read -r _ seconds size <cost
  ok "... without much time and memory: $seconds s, $size MiB" test "$seconds" -le 40 -a "$size" -le $most
  holds "... and everybody's function is named" crowd.json "sum(row['count'] for row in of('stack')) == 5000 and \
    all(row['stack'][0].startswith('step+0x0 ') and '/crowd/m' in row['stack'][1] for row in of('stack'))"
else
  skip "a process with 5,000 files in its stacks" "tests/lib/crowd is written for x86-64"
fi

# ---- sections without an end --------------------------------------------------------------
for kind in str line line_str info; do
  attack $kind $kind.so
  start $kind ./$kind.so
  bounded 0 $kind.json stat -j --stack -n 20 "uprobe:$modules:leaf" -p $target
  named $kind.json 1
  stop
done

# ---- recordings ---------------------------------------------------------------------------
# the file is what it was, when it was recorded, and then something else, at its own place
cp plain.so changes.so
start changes ./changes.so
"$NOPWATCH" record -q --stack -o rec.dat -n 20 "uprobe:$modules:leaf" -p $target 2>record.err
is "it is recorded" $? 0
stop
# (those that are quadratic to read take seconds: with ALL=1)
for name in zero fifo split ${ALL:+ranges units attributes} zeros str line line_str info; do
  cat $name.so >changes.so
  bounded 0 report.json report -j rec.dat
  case $name in ranges | units | attributes) without_lines report.json ;; *) named report.json 1 ;; esac
done
unchanged
finish
