# Allocations of a command fail, one in each run, and system calls that can give an error: the command ends with an error
# that says why, or with the right answer (tests/lib/faults). A choice of callers; ALL=1: each of them.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
# shellcheck source=../lib/faults.sh
. "$TESTS_LIB/faults.sh"

sample=$TESTS_LIB/../demo/sample.dat

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
said=$(env -u FIGURES "$TESTS_LIB/faults" ./careless 2>&1)
has "a wrong answer is seen" "$said" '^alloc of caller [0-9a-f]+: another answer'
has "so is a crash" "$said" '^alloc of caller [0-9a-f]+: it dies of signal'

fails_well "list" "$NOPWATCH" list "$SERVER"
fails_well "list -v" "$NOPWATCH" list -v "$SERVER"
fails_well "list -j" "$NOPWATCH" list -j "$SERVER"
fails_well "list of files by a pattern" "$NOPWATCH" list "${SERVER%/*}/*"
fails_well "list of some probes" "$NOPWATCH" list "$SERVER" 'myserver:p*'
fails_well "script" "$NOPWATCH" script "usdt:$SERVER:*"
fails_well "script of a function" "$NOPWATCH" script "func:$SERVER:main"
fails_well "report" "$NOPWATCH" report "$sample"
fails_well "report --by" "$NOPWATCH" report -j --by comm,cpu --slower p90 "$sample"
fails_well "report -f csv" "$NOPWATCH" report -f csv -i 250ms "$sample"
fails_well "report -f html" "$NOPWATCH" report -f html "$sample"
fails_well "report -f openmetrics" "$NOPWATCH" report -f openmetrics "$sample"
fails_well "report --diff" "$NOPWATCH" report -q -j --diff "$sample" -- "$sample"
fails_well "trace --from" "$NOPWATCH" trace --from "$sample"
fails_well "trace -f perfetto" "$NOPWATCH" trace -f perfetto --from "$sample"
fails_well "why --error" --status 3 "$NOPWATCH" why --error 'Failed to write uprobe_events: Invalid argument'
fails_well "help" "$NOPWATCH" help stat
fails_well "recipe" "$NOPWATCH" recipe
finish
