# The installed library: its symbols are those of its headers and of its manual, C++ can use it, and it finds in a recording
# what the command finds. What it leaves in the kernel is for tests/kernel/library.sh.
. "$(dirname "$0")/../lib/tap.sh"
cd "$TEST_DIR" || exit 1
top=$(cd "$TESTS_LIB/../.." && pwd)
[ -x "$top/build/nopwatch" ] || skip_all "it has not been built in $top"
! sanitized || skip_all "what is installed has no sanitizers"
sample=$TESTS_LIB/../demo/sample.dat

ok "make install" env -u MAKEFLAGS -u MAKELEVEL make -s -C "$top" -o all "DESTDIR=$TEST_DIR/root" install
lib=$TEST_DIR/root/usr/local/lib include=$TEST_DIR/root/usr/local/include/nopwatch

gcc -E -P -I"$include/.." "$include/nopwatch.h" | grep -v '^typedef' | grep -oE '\bnopwatch_[a-z_]+\(' | tr -d '(' | sort -u >mentioned
nm -D --defined-only "$lib/libnopwatch.so.0" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort >exported
is "at most 65 functions are exported" "$(($(wc -l <exported) <= 65))" 1
nm -D --defined-only "$lib/libnopwatch.so.0" | grep -v ' A NOPWATCH_0$' | grep -cv '@@NOPWATCH_0$' >strange
is "and nothing else" "$(cat strange)" 0
is "each is declared by a header" "$(comm -13 mentioned exported)" ""
is "each is in the manual" "$(comm -13 <(grep -oE 'nopwatch_[a-z_]+' "$TEST_DIR/root/usr/local/share/man/man3/libnopwatch.3" | sort -u) exported)" ""
is "and what headers declare is there" "$(comm -23 mentioned exported)" ""
is "the static library has the same" \
  "$(nm "$lib/libnopwatch.a" | sed -n 's/^[0-9a-f]* [TDBR] \([a-z].*\)/\1/p' | sort)" "$(cat exported)"

cat >all.cc <<'CC'
#include <nopwatch/nopwatch.h>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failures;
static void check(bool ok, const char *what)
{
	failures += !ok;
	if (!ok)
		std::printf("wrong: %s\n", what);
}
static void refused(int ret, int code, nopwatch_error **error, const char *what)
{
	check(ret == -code && *error && nopwatch_error_code(*error) == code &&
		      *nopwatch_error_text(*error) && nopwatch_error_hint(*error),
	      what);
	nopwatch_error_free(*error);
	*error = nullptr;
}
struct seen {
	uint64_t events, begins, slow;
	uint64_t last;
};
static int take(void *arg, nopwatch_event *event)
{
	seen *s = static_cast<seen *>(arg);
	uint64_t value = 0;

	check(nopwatch_event_time(event) >= s->last, "events come in the order of time");
	s->last = nopwatch_event_time(event);
	s->begins += std::strcmp(nopwatch_event_probe(event), "myserver:request__start") == 0;
	const char *json = nopwatch_event_json(event);
	check(json && json[0] == '{' && json[std::strlen(json) - 1] == '}', "an event is an object");
	check(nopwatch_event_number(event, "nosuch", &value) == -2, "an unknown argument");
	check(nopwatch_event_tid(event) > 0 && nopwatch_event_pid(event) > 0 && *nopwatch_event_comm(event) && nopwatch_event_cpu(event) < 4096, "who");
	return ++s->events == s->slow;
}
static int output(void *arg, const char *text, size_t length)
{
	return std::fwrite(text, 1, length, static_cast<FILE *>(arg)) != length;
}
static int enough(void *, const char *, size_t)
{
	return 1;
}
static int count_found(void *arg, const char *json)
{
	check(json[0] == '{' && !std::strchr(json, '\n'), "a probe is an object on a line");
	return ++*static_cast<int *>(arg) == 3;
}

int main(int, char **argv)
{
	nopwatch_error *error = nullptr;
	nopwatch_request *request = nopwatch_request_new();
	nopwatch_result *result = nullptr;

	refused(nopwatch_request_add_probe(request, "usdt:", &error), 22, &error, "a spec that is none");
	refused(nopwatch_request_add_pid(request, -1, &error), 22, &error, "a number that is no process's");
	refused(nopwatch_request_set_filter(request, "x >", &error), 22, &error, "half a filter");
	refused(nopwatch_request_add_types(request, "/missing", &error), 2, &error, "types that are not there");
	refused(nopwatch_request_set_flags(request, 1u << 20, &error), 22, &error, "an unknown flag");
	refused(nopwatch_request_set_limit(request, static_cast<nopwatch_limit>(99), 1, &error), 22, &error, "an unknown limit");
	refused(nopwatch_request_set_limit(request, NOPWATCH_STACK_SIZE, 1 << 20, &error), 22, &error, "a stack of a MiB");
	refused(nopwatch_request_set_recording(request, "/missing.dat", &error), 2, &error, "a recording that is not there");
	check(nopwatch_request_add_probe(request, "usdt:", nullptr) == -22, "nobody need take the error");
	check(nopwatch_request_set_recording(request, argv[1], &error) == 0, "the recording is read");

	seen all = {}, few = {};
	few.slow = 5;
	check(nopwatch_run(request, take, &all, &result, &error) == 0, "a run");
	check(nopwatch_result_count(result, NOPWATCH_HITS) == all.events, "all hits come");
	check(nopwatch_result_count(result, NOPWATCH_PROBES) == 7 && nopwatch_result_probe(result, 6) && !nopwatch_result_probe(result, 7), "its probes");
	check(nopwatch_result_probe_state(result, 0) && !nopwatch_result_probe_state(result, 7), "their states");
	check(!nopwatch_result_left(result) && !nopwatch_result_command_status(result), "nothing is left");
	check(!std::strcmp(nopwatch_result_reason(result), "end of recording"), "why it ended");
	nopwatch_result_free(result);
	check(nopwatch_run(request, take, &few, nullptr, &error) == 0 && few.events == 5, "a callback ends a run");
	std::printf("events %" PRIu64 " %" PRIu64 "\n", all.events, all.begins);

	nopwatch_measure *m = nopwatch_measure_new();
	FILE *json = std::fopen("reports.json", "w");
	refused(nopwatch_measure_set_output(m, "trace.dat", 0, output, json, &error), 22, &error, "no format of reports");
	refused(nopwatch_measure_set_flags(m, 64, &error), 22, &error, "an unknown flag of measurements");
	check(nopwatch_measure_groups(m) == 0 && nopwatch_measure_rows(m, NOPWATCH_SPAN_ROWS) == 0, "it is empty before");
	check(nopwatch_measure_set_output(m, "json", 0, output, json, &error) == 0, "json");
	check(nopwatch_measure_run(m, request, &error) == 0, "it runs");
	std::fclose(json);
	refused(nopwatch_measure_run(m, request, &error), 16, &error, "once");
	for (size_t i = 0; i < nopwatch_measure_rows(m, NOPWATCH_SPAN_ROWS); i++) {
		uint64_t count = 0, half = 0, low, high, in_bucket, sum = 0;
		unsigned int at = 0;
		check(nopwatch_measure_number(m, NOPWATCH_SPAN_ROWS, 0, i, "count", &count), "count");
		check(nopwatch_measure_percentile(m, NOPWATCH_SPAN_ROWS, 0, i, 0.5, &half), "median");
		check(!nopwatch_measure_number(m, NOPWATCH_SPAN_ROWS, 1, i, "count", &low), "no other group");
		check(!nopwatch_measure_number(m, NOPWATCH_SPAN_ROWS, 0, i, "nosuch", &low), "no other number");
		check(!nopwatch_measure_percentile(m, NOPWATCH_SPAN_ROWS, 0, i, 1.5, &low), "no such share");
		while (nopwatch_measure_bucket(m, NOPWATCH_SPAN_ROWS, 0, i, &at, &low, &high, &in_bucket))
			sum += in_bucket;
		check(sum == count, "the buckets hold all");
		std::printf("%s %" PRIu64 " %" PRIu64 "\n", nopwatch_measure_name(m, NOPWATCH_SPAN_ROWS, i), count, half);
	}
	check(nopwatch_measure_groups(m) == 1 && !nopwatch_measure_group(m, 1), "one group");
	check(nopwatch_result_count(nopwatch_measure_result(m), NOPWATCH_HITS) == all.events, "its result");
	nopwatch_measure_free(m);

	m = nopwatch_measure_new();
	check(nopwatch_measure_set_by(m, "nosuch", &error) == 0, "keys are checked by the run");
	refused(nopwatch_measure_run(m, request, &error), 22, &error, "an unknown key");
	nopwatch_measure_free(m);
	m = nopwatch_measure_new();
	check(nopwatch_measure_set_by(m, "tid", &error) == 0 && nopwatch_measure_set_output(m, "csv", 100000000, enough, nullptr, &error) == 0, "by thread");
	check(nopwatch_measure_run(m, request, &error) == 0, "output that nobody takes ends it without an error");
	nopwatch_measure_free(m);

	int found = 0;
	check(nopwatch_list(nullptr, argv[2], count_found, &found, &error) == 0 && found == 3, "three functions are listed, and no more");
	refused(nopwatch_list(nullptr, "func::", count_found, &found, &error), 22, &error, "no functions");
	nopwatch_answer *answer = nullptr;
	check(nopwatch_why_error("ERROR: Probe does not exist: usdt:./server:a:b", &answer, &error) == 0, "an error is explained");
	char *text = nopwatch_answer_json(answer);
	check(text && *text == '{' && nopwatch_answer_fires(answer) == -1 && *nopwatch_answer_text(answer), "the answer");
	check(nopwatch_answer_causes(answer) > 0 && nopwatch_answer_cause(answer, 0) && nopwatch_answer_cause_text(answer, 0) && !nopwatch_answer_cause(answer, 99), "its causes");
	std::free(text);
	nopwatch_answer_free(answer);
	nopwatch_error_free(nullptr);
	nopwatch_answer_free(nullptr);
	nopwatch_measure_free(nullptr);
	nopwatch_result_free(nullptr);
	nopwatch_request_stop(request);
	nopwatch_request_free(request);
	std::printf("version %s\n", nopwatch_version());
	return failures != 0;
}
CC
# of a library that is installed elsewhere
pkg() { PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TEST_DIR/root pkg-config "$@" nopwatch; }
is "pkg-config knows the version" "$(pkg --modversion)" "$("$NOPWATCH" --version | sed '1s/nopwatch \([0-9.]*\).*/\1/;q')"
# shellcheck disable=SC2046 # they are words
ok "a C++ program is built with it" g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror all.cc $(pkg --cflags --libs) -o all
LD_LIBRARY_PATH=$lib ./all "$sample" 'func:libc.so.6:*' >out
is "it ends well" $? 0
is "it gets what it expects" "$(grep '^wrong' out)" ""
"$NOPWATCH" report -f json "$sample" >expected.json
is "the reports are those of the command" "$(cat reports.json)" "$(cat expected.json)"
is "so are the numbers" "$(grep ^myserver: out)" "$(python3 - expected.json <<'PY'
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    if row["type"] == "span":
        print(row["span"], row["count"], row["latency_ns"]["p50"])
PY
)"
is "so are the events" "$(grep ^events out)" "events $("$NOPWATCH" trace -f json --from "$sample" | grep -c '"type":"event"') 913"
# shellcheck disable=SC2046
ok "each header can be included by itself" sh -c 'for header in "$1"/*.h; do
  printf "#include <nopwatch/%s>\n" "${header##*/}" | gcc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$1/.." -x c - || exit 1; done' - "$include"
for example in "$top"/docs/examples/*.c; do
  # shellcheck disable=SC2046
  ok "the example ${example##*/} is built with it" \
    gcc -std=gnu11 -Wall -Wextra -Werror "$example" $(pkg --cflags --libs) -o "$(basename "$example" .c)"
done
is "the example lists what the command lists" "$(LD_LIBRARY_PATH=$lib ./probes 'func:libc.so.6:mal*')" \
  "$("$NOPWATCH" list -j 'func:libc.so.6:mal*')"
finish
