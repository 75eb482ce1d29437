// SPDX-License-Identifier: MIT
/* Lines below the table of spans, about counts that its reader could misunderstand. */
#include <inttypes.h>
#include <string.h>

#include "show/rows/report.h"
#include "text.h"

bool nw_text_has_abandoned(const struct nw_report *report)
{
	uint64_t sum = 0;

	nw_number_each (NW_SUBJECT_SPANS, number)
		for (size_t i = 0;
		     (number->is & NW_NUMBER_STATEMENTS) && i < report->span_count; i++)
			sum += nw_report_sum(report, i, number);
	return sum;
}

void nw_text_span_lines(const struct nw_report *report, struct nw_buf *out)
{
	for (size_t i = 0; i < report->span_count; i++)
		nw_number_each (NW_SUBJECT_SPANS, number) {
			const char *name = report->spans[i].name;
			uint64_t calls = number->text ? nw_report_sum(report, i, number)
						      : 0;
			if (!calls || ((number->is & NW_NUMBER_STATEMENTS) &&
				       !nw_report_is_statement(report, i)))
				continue;
			nw_buf_add_escaped(out, name, strlen(name));
			nw_buf_printf(out, ": %" PRIu64 " %s\n", calls, number->text);
		}
}

/* Counts the spans of a row that began and ended at the same time; with --net, not those whose time was all probe
 * overhead. */
static uint64_t count_unmeasured(const struct nw_span_row *row)
{
	struct nw_bucket first;
	unsigned int at = 0;

	if (!row->latency.count || row->latency.min ||
	    !nw_histogram_next(&row->latency, &at, &first) || first.high)
		return 0;
	return first.count - nw_min64(first.count, row->clamped);
}

void nw_text_unmeasured_line(const struct nw_report *report, struct nw_buf *out)
{
	uint64_t unmeasured = 0, count = 0;

	for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
		for (size_t i = 0; i < report->span_count; i++) {
			const struct nw_span_row *row = nw_group_span(
				nw_report_rows(report, g), i);
			unmeasured += count_unmeasured(row);
			count += row->latency.count;
		}
	if (unmeasured)
		nw_buf_printf(
			out,
			"\n%" PRIu64 " of %" PRIu64
			" spans have no length: the trace clock showed the same time at both of their ends (text has microseconds; the clock of a kernel without `mono` may stand still), so the mean and the low percentiles are too low\n",
			unmeasured, count);
}
