/* SPDX-License-Identifier: MIT */
/* Measure spans with libnopwatch: how long the calls of a function take, or what is between two probes, while a
 * command runs. As root:
 *
 *	span func:/lib/x86_64-linux-gnu/libc.so.6:qsort sort /etc/services
 *	span 'usdt:./server:app:request__*' ./server */
#include <inttypes.h>
#include <stdio.h>

#include "run/engine.h"

static void notice(void *arg, const char *text)
{
	fprintf(stderr, "%s: %s\n", (const char *)arg, text);
}

static void print_span(const char *name, const struct nw_span_row *row)
{
	const struct nw_histogram *h = &row->latency;

	printf("%s: %" PRIu64 " times", name, h->count);
	if (h->count)
		printf(", from %" PRIu64 " to %" PRIu64 " ns, half of them in %" PRIu64
		       " ns",
		       h->min, h->max, nw_histogram_percentile(h, 0.5));
	printf("; %" PRIu64 " did not end\n", row->unmatched_starts + row->abandoned);
}

int main(int argc, char **argv)
{
	const struct nw_measure_options options = {0}; /* the spans that names say */
	const struct nw_request request = {.specs = (const char *const *)(argv + 1),
					   .spec_count = 1,
					   .command = argv + 2,
					   .notice = notice,
					   .notice_arg = argv[0]};
	struct nw_measure m = {0};
	struct nw_run_result result = {0};
	struct nw_error err;
	int ret = argc < 3 ? nw_fail_usage(&err, "usage: span SPEC COMMAND [ARGUMENT...]")
			   : nw_measure_open(&options, &m, &err);

	if (ret == 0) {
		const struct nw_consumer consumer = nw_measure_consumer(&m);
		ret = nw_run(&request, &consumer, &result, &err);
	}
	if (ret == 0) {
		nw_summary_finish(m.summary); /* what is still open did not end */
		for (size_t i = 0; i < m.spans.count; i++)
			print_span(m.spans.item[i].name,
				   nw_group_span(nw_summary_rows(m.summary, 0, true), i));
		printf("%" PRIu64 " hits, %" PRIu64 " events lost\n", result.hits,
		       result.lost);
	} else {
		notice(argv[0], err.what);
	}
	nw_measure_close(&m);
	nw_result_free(&result);
	return ret == 0 ? 0 : argc < 3 ? 2 : 1;
}
