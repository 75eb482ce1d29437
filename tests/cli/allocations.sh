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

# Programs that lie when a call fails, each in its own manner. The judge has to see each lie, and to let pass who says the reason
# and claims nothing that is not so.
cat >liar.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *const answers[][4] = { /* name, message, answer, status */
	{"silent", "", "{\"type\":\"probe\",\"probe\":\"a\",\"hits\":1,\"state\":\"hit\"}", "0"},
	{"more", "Too many open files", "{\"type\":\"probe\",\"probe\":\"a\",\"hits\":21,\"state\":\"hit\"}", "0"},
	{"state", "Too many open files", "{\"type\":\"probe\",\"probe\":\"a\",\"hits\":0,\"state\":\"not-hit\"}", "0"},
	{"other", "Too many open files", "{\"type\":\"probe\",\"probe\":\"b\",\"hits\":20,\"state\":\"hit\"}", "0"},
	{"frames", "Too many open files", "{\"type\":\"stack\",\"probe\":\"a\",\"stack\":[\"g\"],\"count\":20}", "0"},
	{"text", "Too many open files", "no such probe", "0"},
	{"reason", "No such file", "", "1"},
	{"less", "Too many open files", "{\"type\":\"probe\",\"probe\":\"a\",\"hits\":3,\"state\":\"hit\"}", "0"},
	{"unnamed", "Too many open files", "{\"type\":\"stack\",\"probe\":\"a\",\"stack\":[\"[libc.so.6]\"],\"count\":20}", "0"},
	{"nothing", "Too many open files", "", "0"},
	{"error", "Too many open files", "no JSON", "1"},
};
int main(int argc, char **argv)
{
	int fd = open("/dev/null", O_RDONLY);
	if (fd >= 0) {
		puts("{\"type\":\"probe\",\"probe\":\"a\",\"hits\":20,\"state\":\"hit\"}");
		puts("{\"type\":\"stack\",\"probe\":\"a\",\"stack\":[\"f\"],\"count\":20}");
		return 0;
	}
	if (strcmp(argv[1], "hangs") == 0)
		pause();
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (strcmp(answers[i][0], argv[1]) == 0) {
			fprintf(stderr, "%s\n", answers[i][1]);
			printf("%s%s", answers[i][2], *answers[i][2] ? "\n" : "");
			return atoi(answers[i][3]);
		}
	return argc;
}
C
gcc -o liar liar.c 2>err
judged() { # HOW [OPTION...]: what the judge says of it
  env -u FIGURES FAULT_LIMIT=3 "$TESTS_LIB/faults" --call EMFILE "${@:2}" ./liar "$1" 2>&1 | sed -n 's/^call of caller [0-9a-f]*: //p'
}
is "a wrong answer without the reason" "$(judged silent --facts)" "another answer"
for how in more state other frames; do
  is "the reason, and what is not so ($how)" "$(judged $how --facts)" "the reason, and another answer"
done
is "the same in text" "$(judged text)" "the reason, and another answer"
is "an error for another reason" "$(judged reason --facts)" "status 1 without the reason"
is "who hangs" "$(judged hangs --facts)" "it hangs"
for how in less unnamed nothing error; do
  is "the reason, and less ($how)" "$(judged $how --facts)" ""
done

# The chains of 14 functions that an earlier command has met with the same error are left out: the choice goes to what a command has of its own.
[ -n "${ALL:-}" ] || choice=(--most 8 --seen "$PWD/seen")
fails_well "list" "$NOPWATCH" list "$SERVER"
fails_well "list -v" "$NOPWATCH" list -v "$SERVER"
fails_well "list -j" "$NOPWATCH" list -j "$SERVER"
fails_well "list of files by a pattern" "$NOPWATCH" list "${SERVER%/*}/*"
fails_well "list of some probes" "$NOPWATCH" list "$SERVER" 'myserver:p*'
fails_well "script" "$NOPWATCH" script "usdt:$SERVER:*"
# without types, values are words of the machine
fails_well "script of a function" --fallback "nw_id=|  nw_event r main_1 .*:u64 " "$NOPWATCH" script "func:$SERVER:main"
# The triggers by which the kernel would count, if nothing tells that it cannot: with a tracefs that cannot be written. (Calls that
# fail make the commands others that do the same.)
! "$TESTS_LIB/apart" true 2>/dev/null || FAULTS_IN=$TESTS_LIB/apart
fails_with "allocations of stat --engine=kernel --dry-run" "$NOPWATCH" stat --engine=kernel --dry-run --by id "usdt:$SERVER:myserver:parse__*(id)"
fails_with "allocations of add --engine=kernel --dry-run, by argument" "$NOPWATCH" add --engine=kernel --name night --dry-run \
  --span 's=parse__start..parse__done,key=id' "usdt:$SERVER:myserver:parse__*(id)"
FAULTS_IN=
fails_well "report" "$NOPWATCH" report "$sample"
fails_well "report --by" "$NOPWATCH" report -j --by comm,cpu --slower p90 "$sample"
fails_well "report -f csv" "$NOPWATCH" report -f csv -i 250ms "$sample"
fails_well "report -f html" "$NOPWATCH" report -f html "$sample"
fails_well "report -f openmetrics" "$NOPWATCH" report -f openmetrics "$sample"
fails_well "report -f otlp" "$NOPWATCH" report -f otlp "$sample"
fails_well "report --diff" "$NOPWATCH" report -q -j --diff "$sample" -- "$sample"
"$NOPWATCH" report -j --by comm -i 250ms "$sample" >saved.json 2>err
fails_well "report of JSON" "$NOPWATCH" report -q -j "$PWD/saved.json"
fails_well "trace --from" "$NOPWATCH" trace --from "$sample"
fails_well "trace -f perfetto" "$NOPWATCH" trace -f perfetto --from "$sample"
fails_well "why --error" --status 3 "$NOPWATCH" why --error 'Failed to write uprobe_events: Invalid argument'
fails_well "help" "$NOPWATCH" help stat
# a recipe that cannot be read has no description
fails_well "recipe" --fallback '[a-z0-9-]+ *$' "$NOPWATCH" recipe
finish
