/* SPDX-License-Identifier: MIT */
/*
 * Measure spans with libnopwatch: how long the calls of a function take, or what is between two
 * probes, while a command runs. As root:
 *
 *	span func:/lib/x86_64-linux-gnu/libc.so.6:qsort sort /etc/services
 *	span 'usdt:./server:app:request__*' ./server
 */
#include <inttypes.h>
#include <stdio.h>

#include "nopwatch/engine.h"

static void tell(void *arg, const char *text)
{
	fprintf(stderr, "%s: %s\n", (const char *)arg, text);
}

static void print_spans(const struct nw_measure *measure,
			const struct nw_run_result *result)
{
	const struct nw_group_rows *rows = nw_summary_rows(measure->summary, 0, true);

	for (size_t i = 0; i < measure->spans.count; i++) {
		const struct nw_span_row *row = nw_group_span(rows, i);
		const struct nw_histogram *latency = &row->latency;
		printf("%s: %" PRIu64 " times", measure->spans.item[i].name,
		       latency->count);
		if (latency->count)
			printf(", from %" PRIu64 " to %" PRIu64
			       " ns, half of them in %" PRIu64 " ns",
			       latency->min, latency->max,
			       nw_histogram_percentile(latency, 0.5));
		printf("; %" PRIu64 " did not end\n",
		       row->unmatched_starts + row->abandoned);
	}
	printf("%" PRIu64 " hits, %" PRIu64 " events lost\n", result->hits, result->lost);
}

int main(int argc, char **argv)
{
	const struct nw_measure_options options = {0}; /* the spans that names say */
	const struct nw_request request = {
		.specs = (const char *const *)(argv + 1),
		.spec_count = 1,
		.command = argv + 2,
		.notice = tell,
		.notice_arg = argv[0],
	};
	struct nw_measure measure;
	struct nw_run_result result = {0};
	struct nw_error err;

	if (argc < 3) {
		fprintf(stderr, "usage: %s SPEC COMMAND [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	if (nw_measure_open(&options, &measure, &err) < 0) {
		tell(argv[0], err.what);
		return 1;
	}
	const struct nw_consumer consumer = nw_measure_consumer(&measure);
	int ret = nw_run(&request, &consumer, &result, &err);
	if (ret == 0) {
		nw_summary_finish(measure.summary);
		print_spans(&measure, &result);
	} else {
		tell(argv[0], err.what);
	}
	nw_measure_close(&measure);
	nw_result_free(&result);
	return ret == 0 ? 0 : 1;
}
