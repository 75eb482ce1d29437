# Every allocation of a command that arms probes fails in turn: it ends with an error that says why, or with the right answer, and
# leaves nothing behind (tests/lib/faults). A choice of them; FAULTS=callers: one for each caller, FAULTS=all: all.
. "$(dirname "$0")/../lib/kernel.sh"
FAULTS_LIB=$PWD/faults.so
export FAULTS_LIB
case $(nm "$NOPWATCH" 2>/dev/null) in
*__asan_init*) skip_all "a sanitizer has its own malloc()" ;;
esac
gcc -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC -o faults.so "$TESTS_LIB/faults.c" -ldl 2>err ||
  skip_all "no shared library of glibc's can be made here"
readelf -d "$NOPWATCH" 2>/dev/null | grep -q NEEDED || skip_all "nothing can be preloaded into a static program"

# a program of its own, which hits each probe 20 times and says nothing
cp "$PROGRAMS/rare" rare
printf '#!/bin/sh\nexec %s 20 1000 1 0 >/dev/null\n' "$PWD/rare" >load
chmod +x load
rare=$PWD/rare load=$PWD/load

run() { # WHAT OPTION... COMMAND...
  local what=$1
  shift
  ok "allocations of $what" "$TESTS_LIB/faults" --tracefs --most 30 "$@"
}
run "stat" --facts "$NOPWATCH" stat -q -j "usdt:$rare:*" -- "$load"
run "stat of a function" --facts "$NOPWATCH" stat -q -j "func:$rare:request" -- "$load"
run "trace" --facts "$NOPWATCH" trace -q -j "usdt:$rare:*" -- "$load"
run "record" --facts --then "'$NOPWATCH' report -j a.dat" "$NOPWATCH" record -q -o a.dat "usdt:$rare:*" -- "$load"
run "features" --facts "$NOPWATCH" features -j
run "status" --facts "$NOPWATCH" status -j
unchanged
finish
