# Programs whose debugging information wants to harm who reads it (tests/lib/attacks): no file is opened that they name, and
# every command ends soon, with little memory, with the answer that it gives where there is no such information.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "tests/lib/attacks writes for x86-64 and arm64" ;;
esac
command -v objcopy >/dev/null || skip_all "objcopy is not installed"
memory=1572864 most=400
! sanitized || memory=unlimited most=1048576
# names that no file of a process on this machine has: `why` would look at those, too
gcc -O2 -fPIC -shared -DLIBRARY "$TESTS_LIB/../programs/modules.c" -o plain.lib || exit 1

# bounded STATUS WORD...: ends so, within a minute's processor time and 400 MiB. If $traced is set, what it opens goes to one more of the $logs.
traced='' logs=()
bounded() {
  local status=$1 got
  shift
  [ -z "$traced" ] || logs+=("$traced.${#logs[@]}")
  (ulimit -v "$memory"; LC_ALL=C "$PROGRAMS/bounded" cost "${ATTACK_SECONDS:-240}" ${traced:+"${tracing[@]}" "${logs[-1]}"} "$NOPWATCH" "$@" >out 2>&1)
  read -r got seconds size <cost
  if [ "$got" = "$status" ] && [ "$seconds" -le 30 ] && [ "$size" -le $most ]; then
    pass "$* ($seconds s, $size MiB)"
  else
    fail "$*"
    comment "status $got, wanted $status; $seconds s of processor time, $size MiB"
    comment "$(head -c 1000 out)"
  fi
}

# every_command FILE [BUT]: what looks at a file. BUT are the commands of which each takes seconds there, and asks what another one
# asks of this file, too: they are tried with ALL=1.
every_command() {
  local but=" ${2:-} "
  tried() { [ -n "${ALL:-}" ] || [[ $but != *" $1 "* ]]; }
  bounded 1 list "$1"
  bounded 1 list -v "$1"
  ! tried stat || bounded 0 stat --dry-run "func:$1:step"
  ! tried trace || bounded 0 trace --dry-run --stack "uprobe:$1:step"
  ! tried script || bounded 0 script "func:$1:step"
  ! tried arguments || bounded 0 stat --dry-run "func:$1:step(x)" # by the names of the source
  ! tried why || bounded 3 why "func:$1:step"
  # a line of the source, for which the reader may take its 512 MiB
  most=$((most + 200)) bounded 1 stat --dry-run "uprobe:$1@other.c:1"
}

attack() { # KIND FILE [PATH]
  "$TESTS_LIB/attacks" "$1" plain.lib "$2" step "${3:-}" || fail "$2 is made"
}

# ---- files that it names ------------------------------------------------------------------
every_command ./plain.lib
mkfifo fifo zero.fifo
ln -s /dev/zero zero
attack alternate zero.lib /dev/zero
attack alternate fifo.lib "$PWD/fifo"
attack alternate beside.lib zero
attack split split.lib /dev/zero
attack split dwo.lib "$PWD/fifo"
attack link link.lib fifo
attack link linked.lib zero
printf secret >secret
attack alternate secret.lib "$PWD/secret"
attack supplement supplement.lib /dev/zero
named="zero fifo beside split dwo link linked secret supplement"
tracing=()
if ! command -v strace >/dev/null; then
  skip "which files are opened" "strace is not installed"
elif ! strace -o /dev/null true 2>/dev/null; then
  skip "which files are opened" "this machine lets nobody trace"
else
  tracing=("${STRACE[@]}" -f -y -qq -e "trace=open,openat,openat2" -o)
  # the list is one that finds something: a command that opens what it names
  LC_ALL=C "${tracing[@]}" log cat secret >/dev/null 2>&1
  is "the list has not everything" "$("$TESTS_LIB/opened" log)" "'$PWD/secret'"
  LC_ALL=C "${tracing[@]}" log head -c 1 /dev/zero >/dev/null 2>&1
  is "... and no device" "$("$TESTS_LIB/opened" log)" "'/dev/zero'"
fi
for name in $named; do
  logs=()
  traced=${tracing[0]:+log} # bounded() writes log.1, log.2, ...
  every_command "./$name.lib"
  traced=
  [ ${#tracing[@]} = 0 ] || is "no command opens what it should not of ./$name.lib (${#logs[@]} commands)" "$(cat "${logs[@]}" | "$TESTS_LIB/opened" /dev/stdin "$name.lib")" ""
done

# ---- time and memory ----------------------------------------------------------------------
# each command meets one of the first four, and each of these at least one command
for kind in ranges units attributes nested cycle imports rows files zeros; do
  attack $kind $kind.lib
  case $kind in
  ranges) but="script arguments" ;;
  units) but="script why" ;;
  attributes) but="stat arguments why" ;;
  nested) but="trace script arguments why" ;;
  *) but="" ;;
  esac
  every_command ./$kind.lib "$but"
done
has "lines that cannot be read: the file, and what needs none" "$("$NOPWATCH" stat --dry-run uprobe:./rows.lib@other.c:1 2>&1 | tr '\n' ' ')" \
  "^nopwatch: cannot read the source lines of './rows.lib': .*uprobe:./rows.lib:FUNCTION does not need them"

# ---- sections without an end --------------------------------------------------------------
for kind in str line line_str info; do
  attack $kind $kind.lib
  every_command ./$kind.lib
done
finish
