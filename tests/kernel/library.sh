# A program of 60 lines that measures with the library, as the documentation shows it: what it counts is
# what the traced program itself knows, and it leaves nothing behind.
. "$(dirname "$0")/../lib/kernel.sh"

cp "$PROGRAMS/leaves" leaves
"$EXAMPLES/span" "func:$PWD/leaves:step" ./leaves longjmp 20 >out 2>notes
returned=$(sed -n 's/.*returned \([0-9]*\).*/\1/p' out) abandoned=$(sed -n 's/.*abandoned \([0-9]*\).*/\1/p' out)
has "it counts what returned and what did not" "$(cat out)" \
  "^step: $returned times, from [0-9]+ to [0-9]+ ns, half of them in [0-9]+ ns; $abandoned did not end$"
has "and says what was lost" "$(cat out)" '^[0-9]+ hits, 0 events lost$'
ok "the half is between the least and the most" \
  sh -c "sed -n 's/.*from \([0-9]*\) to \([0-9]*\) ns, half of them in \([0-9]*\).*/[ \1 -le \3 ] \&\& [ \3 -le \2 ]/p' out | sh"
is "there is nothing to note" "$(cat notes)" ""

"$EXAMPLES/span" "func:$PWD/leaves:nosuch" ./leaves return 1 >out 2>notes
is "an error ends it" $? 1
has "which is one line" "$(cat notes)" 'span: .*nosuch'
"$EXAMPLES/span" "func:$PWD/leaves:step" ./missing >out 2>notes
is "so does a command that is not there" $? 1
has "which is told, too" "$(cat notes)" 'missing'
"$EXAMPLES/span" >out 2>notes
is "without arguments it tells how to use it" $? 2
is "a function that is not there is a cause" "$("$EXAMPLES/ask" "func:$PWD/leaves:nosuch" | grep -c '^symbol-missing: ')" 1
is "a probe without a file has no answer" "$("$EXAMPLES/ask" nothing 2>&1 | grep -c '^ask: ')" 1

# A run without an end is ended by another thread, whether or not it has begun; and a recording has what was recorded.
cat >stop.c <<'C'
#include <nopwatch/nopwatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

static struct nopwatch_request *request;
static uint64_t events, recorded;
static struct nopwatch_result *result;
static struct nopwatch_error *error;

static int take(void *arg, struct nopwatch_event *event)
{
	(void)arg;
	(void)event;
	events++;
	return 0;
}

static void *stop(void *arg)
{
	nopwatch_request_stop(request);
	return arg;
}

static int check(int ret, const char *what)
{
	if (ret == 0)
		printf("%s: %s, %" PRIu64 "\n", what, nopwatch_result_reason(result),
		       nopwatch_result_count(result, NOPWATCH_HITS));
	else
		printf("%s: %s\n", what, error ? nopwatch_error_text(error) : "?");
	return ret != 0;
}

int main(int argc, char **argv)
{
	const char *const command[] = {argv[argc - 1], "return", "20", NULL};
	pthread_t thread;

	request = nopwatch_request_new();
	nopwatch_request_add_probe(request, argv[1], NULL);
	pthread_create(&thread, NULL, stop, NULL);
	if (check(nopwatch_run(request, take, NULL, &result, &error), "ended"))
		return 1;
	pthread_join(thread, NULL);
	nopwatch_result_free(result);
	nopwatch_request_set_command(request, command, NULL);
	if (check(nopwatch_record(request, "some.dat", &result, &error), "recorded"))
		return 1;
	recorded = nopwatch_result_count(result, NOPWATCH_HITS);
	nopwatch_result_free(result);
	nopwatch_request_set_recording(request, "some.dat", NULL);
	events = 0;
	if (check(nopwatch_run(request, take, NULL, &result, &error), "read"))
		return 1;
	printf("the same: %d\n", events && events == recorded);
	nopwatch_result_free(result);
	nopwatch_request_free(request);
	return 0;
}
C
api=$BUILT/api/libnopwatch.a
# shellcheck disable=SC2046 # they are words
if [ ! -f "$api" ]; then
  skip "stopping and recording" "this build has no library for other programs"
elif ok "a program is built with the static library" gcc -Wall -Wextra -Werror -I"$(dirname "$TESTS_LIB")/../include" stop.c "$api" \
  $(pkg-config --libs libelf libtracefs libtraceevent) -lm -ldl -pthread -o stop; then
  ./stop "func:$PWD/leaves:step" "$PWD/leaves" >out
  is "another thread ends a run" "$(sed -n 's/^ended: \([a-z]*\), .*/\1/p' out)" signal
  is "a command ends a recording" "$(sed -n 's/^recorded: \([a-z]*\), .*/\1/p' out)" command
  is "which is read as it was recorded" "$(grep '^the same' out)" "the same: 1"
fi
unchanged
finish
