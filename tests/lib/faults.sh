# shellcheck shell=bash
# For tests that make allocations and system calls of a command fail in turn (tests/lib/faults): builds what is preloaded.
# Use after tap.sh or kernel.sh, in the test's own directory.
#
#	fails_well NAME OPTION... COMMAND...	an allocation fails, and then a call, with each error that a machine gives
#	fails_with NAME OPTION... COMMAND...	what the options say fails
FAULTS_LIB=$PWD/faults.so
export FAULTS_LIB
! sanitized || skip_all "a sanitizer has its own malloc()"
gcc -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC -o faults.so "$TESTS_LIB/faults.c" -ldl 2>err ||
  skip_all "no shared library of glibc's can be made here"
readelf -d "$NOPWATCH" 2>/dev/null | grep -q NEEDED || skip_all "nothing can be preloaded into a static program"

# One error after the other, command by command: each is tried somewhere in a check, all of them with ALL=1. How often a
# command that arms probes calls what depends on what else runs, so its calls ($live) are only tried with ALL=1.
# COMMANDS=PATTERN tries those whose names match, ERRORS="memory EIO" only these errors (memory: of allocations). What the
# judge says of wrong answers is cut to some lines; SAID=FILE gets all of it, and the figures.
errors=(EMFILE EIO ENOMEM EINTR EAGAIN)
next_error=0
live=
choice=() # options for all commands
export FIGURES=$PWD/figures

fails_with() { # NAME OPTION... COMMAND...
  local what=$1 said status
  shift
  # shellcheck disable=SC2086 # none, or one word
  said=$(${FAULTS_IN:-} "$TESTS_LIB/faults" "${choice[@]}" "$@" 2>&1)
  status=$?
  case $status in
  0) pass "$what" ;;
  3) ;; # the command calls nothing that can give this error, or each caller has been tried
  *)
    fail "$what"
    comment "$said"
    [ -z "${SAID:-}" ] || echo "$said" >>"$SAID"
    ;;
  esac
  sed "s|^|# $what: |" "$FIGURES" 2>/dev/null | tee -a "${SAID:-/dev/null}"
  rm -f "$FIGURES"
}

# is_asked_for ERROR: does $ERRORS, if it is set, have it?
is_asked_for() {
  [[ " ${ERRORS:-$1} " == *" $1 "* ]]
}

fails_well() {
  local what=$1 error tried=("${errors[next_error++ % ${#errors[@]}]}")
  shift
  # shellcheck disable=SC2053 # a pattern
  [[ $what == ${COMMANDS:-*} ]] || return
  [ -z "$live" ] || tried=()
  if [ "${ALL:-}${EVERY:-}" ]; then tried=("${errors[@]}"); fi
  if is_asked_for memory; then fails_with "allocations of $what" "$@"; fi
  for error in "${tried[@]}"; do
    if is_asked_for "$error"; then fails_with "calls of $what with $error" --call "$error" "$@"; fi
  done
}
