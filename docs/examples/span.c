/* SPDX-License-Identifier: MIT */
/* Measure spans with libnopwatch: how long the calls of a function take, or what is between two probes, while a
 * command runs. As root:
 *
 *	span func:/lib/x86_64-linux-gnu/libc.so.6:qsort sort /etc/services
 *	span 'usdt:./server:app:request__*' ./server */
#include <inttypes.h>
#include <stdio.h>

#include <nopwatch/nopwatch.h>

static uint64_t number(const struct nopwatch_measure *m, size_t span, const char *key)
{
	uint64_t value = 0;

	nopwatch_measure_number(m, NOPWATCH_SPAN_ROWS, 0, span, key, &value);
	return value;
}

static void print_span(const struct nopwatch_measure *m, size_t span)
{
	uint64_t half, count = number(m, span, "count");

	printf("%s: %" PRIu64 " times", nopwatch_measure_name(m, NOPWATCH_SPAN_ROWS, span),
	       count);
	if (nopwatch_measure_percentile(m, NOPWATCH_SPAN_ROWS, 0, span, 0.5, &half))
		printf(", from %" PRIu64 " to %" PRIu64 " ns, half of them in %" PRIu64
		       " ns",
		       number(m, span, "min"), number(m, span, "max"), half);
	printf("; %" PRIu64 " did not end\n",
	       number(m, span, "unmatched_starts") + number(m, span, "abandoned"));
}

int main(int argc, char **argv)
{
	struct nopwatch_request *request = nopwatch_request_new();
	struct nopwatch_measure *m = nopwatch_measure_new();
	struct nopwatch_error *error = NULL;
	int ret = argc < 3 || !request || !m;

	if (ret == 0)
		ret = nopwatch_request_add_probe(request, argv[1], &error);
	if (ret == 0)
		ret = nopwatch_request_set_command(request, (const char *const *)argv + 2,
						   &error);
	if (ret == 0)
		ret = nopwatch_measure_run(m, request, &error);
	for (size_t i = 0; ret == 0 && i < nopwatch_measure_rows(m, NOPWATCH_SPAN_ROWS);
	     i++)
		print_span(m, i);
	if (ret == 0)
		printf("%" PRIu64 " hits, %" PRIu64 " events lost\n",
		       nopwatch_result_count(nopwatch_measure_result(m), NOPWATCH_HITS),
		       nopwatch_result_count(nopwatch_measure_result(m), NOPWATCH_LOST));
	else
		fprintf(stderr, "span: %s\n",
			error ? nopwatch_error_text(error)
			      : "usage: span SPEC COMMAND [ARGUMENT...]");
	nopwatch_error_free(error);
	nopwatch_measure_free(m);
	nopwatch_request_free(request);
	return argc < 3 ? 2 : ret != 0;
}
