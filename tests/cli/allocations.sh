# Every allocation of a command that fails in turn, and every call that opens, reads or lists: the command ends with an error
# that says why, or with the right answer (tests/lib/faults). A minute's choice of them; FAULTS=all: each one.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
FAULTS_LIB=$PWD/faults.so
export FAULTS_LIB
case $(nm "$NOPWATCH" 2>/dev/null) in
*__asan_init*) skip_all "a sanitizer has its own malloc()" ;;
esac
gcc -std=gnu11 -D_GNU_SOURCE -O2 -shared -fPIC -o faults.so "$TESTS_LIB/faults.c" -ldl 2>err ||
  skip_all "no shared library of glibc's can be made here"
readelf -d "$NOPWATCH" 2>/dev/null | grep -q NEEDED || skip_all "nothing can be preloaded into a static program"

sample=$TESTS_LIB/../demo/sample.dat
faults() { "$TESTS_LIB/faults" "$@"; }

# what looks for wrong answers finds them
cat >careless.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	char *word = strdup("word"), *other = malloc(10);
	puts(word ? word : "nothing");
	strcpy(other, "other");
	return 0;
}
C
gcc -o careless careless.c 2>err
said=$(faults ./careless 2>&1)
has "a wrong answer is seen" "$said" '^alloc 1 of [23]: another answer'
has "so is a crash" "$said" '^alloc 2 of [23]: it dies of signal'

run() { # WHAT COMMAND...
  local what=$1
  shift
  ok "allocations of $what" faults "$@"
}
run "list" "$NOPWATCH" list "$SERVER"
run "list -v" "$NOPWATCH" list -v "$SERVER"
run "list -j" "$NOPWATCH" list -j "$SERVER"
run "list of files by a pattern" "$NOPWATCH" list "${SERVER%/*}/*"
run "list of some probes" "$NOPWATCH" list "$SERVER" 'myserver:p*'
# each different one: the process that reads files and the message that says so may both have no memory
FAULTS=${FAULTS:-callers} run "script" "$NOPWATCH" script "usdt:$SERVER:*"
run "script of a function" "$NOPWATCH" script "func:$SERVER:main"
run "report" "$NOPWATCH" report "$sample"
run "report --by" "$NOPWATCH" report -j --by comm,cpu --slower p90 "$sample"
run "report -f csv" "$NOPWATCH" report -f csv -i 250ms "$sample"
run "report -f html" "$NOPWATCH" report -f html "$sample"
run "report -f openmetrics" "$NOPWATCH" report -f openmetrics "$sample"
run "trace --from" "$NOPWATCH" trace --from "$sample"
run "trace -f perfetto" "$NOPWATCH" trace -f perfetto --from "$sample"
run "why --error" "$NOPWATCH" why --error 'Failed to write uprobe_events: Invalid argument'
run "help" "$NOPWATCH" help stat
finish
