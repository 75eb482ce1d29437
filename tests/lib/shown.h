/* SPDX-License-Identifier: MIT */
/* What a format writes, for the tests of the output room. */
#ifndef NOPWATCH_TESTS_SHOWN_H
#define NOPWATCH_TESTS_SHOWN_H

#include "show/rows/output.h"
#include "unit.h"

/* Append what call(&output) has written in the format to a buffer. */
#define SHOW(chosen, out, call)                                       \
	do {                                                          \
		struct nw_output output;                              \
		ck_assert_int_eq(nw_output_make(chosen, &output), 0); \
		call;                                                 \
		ck_assert(!output.text.failed);                       \
		nw_buf_add(out, output.text.data, output.text.len);   \
		nw_output_free(&output);                              \
	} while (0)

static inline void show_begin(const struct nw_output_format *format, size_t probes,
			      size_t sites, struct nw_buf *out)
{
	const struct nw_selection selection = {.probes.count = probes};
	const struct nw_begin begin = {.selection = &selection, .sites = sites};

	SHOW(format, out, nw_output_begin(&output, &begin));
}

/* A report, and if it is the last one, the end. */
static inline void show_report(const struct nw_output_format *format,
			       const struct nw_report *report, enum nw_end_reason reason,
			       struct nw_buf *out)
{
	const struct nw_end end = {
		.lost = report->lost,
		.discarded = nw_summary_discarded(report->summary),
		.dropped = report->dropped,
		.has_filter = report->has_filter,
		.filtered = report->filtered,
		.reason = reason,
		.elapsed_ns = report->elapsed_ns,
	};

	SHOW(format, out, nw_output_report(&output, report));
	if (!report->interval && !report->so_far)
		SHOW(format, out, nw_output_end(&output, &end));
}

#endif
