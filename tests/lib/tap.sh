# shellcheck shell=bash
# For test scripts: TAP output, and checks that say what they saw.
#
#	ok "what" COMMAND...		passes if the command does
#	is "what" GOT WANTED		passes if they are the same text
#	has "what" TEXT PATTERN		passes if the text matches the extended regular expression
#	skip "what" "why"		counts as skipped
#
# $NOPWATCH is the binary, $PROGRAMS the directory of programs to trace, $SERVER the sample
# server, $TEST_DIR an empty directory that goes away afterwards.

tests=0
failures=0
# Does nopwatch have sanitizers in it (SAN=1)? It has another malloc(), maps terabytes, and is not what is installed.
sanitized() {
  nm "$NOPWATCH" 2>/dev/null | grep -q __asan_init
}

# A list, for behind another command. LeakSanitizer cannot work in a program that is traced.
# shellcheck disable=SC2034 # for the tests
STRACE=(env ASAN_OPTIONS=detect_leaks=0 strace)

# before anybody changes the directory
TESTS_LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

pass() {
  tests=$((tests + 1))
  echo "ok $tests - $1"
}

fail() {
  tests=$((tests + 1)) failures=$((failures + 1))
  echo "not ok $tests - $1"
}

skip() {
  tests=$((tests + 1))
  echo "ok $tests - $1 # SKIP $2"
}

# Skip everything and end.
skip_all() {
  skip "all of it" "$1"
  exit 0
}

comment() {
  sed 's/^/# /' <<<"$1" | head -n 60
}

ok() {
  local what=$1 output status
  shift
  output=$("$@" 2>&1)
  status=$?
  if [ $status = 0 ]; then
    pass "$what"
  else
    fail "$what"
    comment "status $status of: $*"
    comment "$output"
  fi
}

is() {
  if [ "$2" = "$3" ]; then
    pass "$1"
  else
    fail "$1"
    comment "got:    $2"
    comment "wanted: $3"
  fi
}

has() {
  if grep -Eq -- "$3" <<<"$2"; then
    pass "$1"
  else
    fail "$1"
    comment "got:"
    comment "$2"
    comment "which has nothing like: $3"
  fi
}

hasnt() {
  if grep -Eq -- "$3" <<<"$2"; then
    fail "$1"
    comment "got:"
    comment "$2"
  else
    pass "$1"
  fi
}

# limited BYTES COMMAND...: no file may become larger; with SIGXFSZ as a shell's child has it, which Python,
# and who was started by it, ignores
limited() {
  python3 -c '
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execvp(sys.argv[2], sys.argv[2:])' "$@"
}

# Python takes ten times as long to start as it takes for a question: the first one starts a process that answers all of them
# (tests/lib/j). It is no job of ours, so `wait` does not wait for it, and it ends with us.
judge=$TEST_DIR.judge
begin_judge() {
  local pid
  mkdir "$judge" && mkfifo "$judge/ask" "$judge/answer" || return
  {
    (exec python3 "$TESTS_LIB/j" --serve "$judge" $$ </dev/null >/dev/null 2>&1 &)
    IFS= read -r -t 300 -d '' pid # it listens
    echo "$pid" >"$judge/pid"
  } <>"$judge/answer"
}

# j FILE EXPRESSION: a Python expression over JSON lines, printed; see tests/lib/j. One question at a time: not in a background job.
j() {
  local pid status=none said='' wrong=''
  # a pipe of ours, or standard input, is nothing to that process
  case $1 in
  /dev/* | /proc/*) ;;
  *)
    [ -d "$judge" ] || begin_judge
    # Who opens a pipe for both does not wait for its other end: if that process was killed, nothing is answered.
    if read -r pid <"$judge/pid" && [ -e "/proc/$pid/exe" ]; then
      printf '%s\0' "$PWD" "$1" "$2" 1<>"$judge/ask"
      { IFS= read -r -t 300 -d '' status && IFS= read -r -d '' said && IFS= read -r -d '' wrong; } <>"$judge/answer" || kill -9 "$pid"
    fi 2>/dev/null
    ;;
  esac
  case $status in
  [01])
    printf %s "$said"
    printf %s "$wrong" >&2
    return "$status"
    ;;
  esac
  python3 "$TESTS_LIB/j" "$@"
}

# holds "what" FILE EXPRESSION: the expression is true of those JSON lines.
holds() {
  local got
  got=$(j "$2" "$3" 2>&1)
  if [ "$got" = True ]; then
    pass "$1"
  else
    fail "$1"
    comment "not true: $3"
    comment "$got"
    comment "$(head -c 1000 "$2")"
  fi
}

finish() {
  [ $failures = 0 ]
  exit
}

# Put sys/sdt.h into ./include: cross compilers do not look where it is, and it fits them all.
copy_sdt() {
  local header
  mkdir -p include/sys
  for header in sdt.h sdt-config.h; do
    echo "#include <sys/$header>" | gcc -E -x c - 2>/dev/null |
      sed -n 's,^# 1 "\(/.*/sys/'$header'\)".*,\1,p' | head -n 1 | xargs -r cp -t include/sys
  done
}
