// SPDX-License-Identifier: MIT
/* Lines below the table of spans: what its reader would take for something else. */
#include <inttypes.h>
#include <string.h>

#include "show/rows/report.h"
#include "text.h"

typedef uint64_t span_count(const struct nw_span_row *row);

static uint64_t abandoned(const struct nw_span_row *row)
{
	return row->abandoned;
}

static uint64_t omitted(const struct nw_span_row *row)
{
	return row->omitted;
}

/* In all groups. */
static uint64_t sum_of(const struct nw_report *report, size_t span, span_count *count)
{
	uint64_t sum = 0;

	for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
		sum += count(nw_group_span(nw_report_rows(report, g), span));
	return sum;
}

bool nw_text_has_abandoned(const struct nw_report *report)
{
	for (size_t i = 0; i < report->span_count; i++)
		if (sum_of(report, i, abandoned))
			return true;
	return false;
}

static uint64_t repeated(const struct nw_span_row *row)
{
	return row->repeated;
}

static uint64_t nested(const struct nw_span_row *row)
{
	return row->nested;
}

static uint64_t clamped(const struct nw_span_row *row)
{
	return row->clamped;
}

void nw_text_span_lines(const struct nw_report *report, struct nw_buf *out)
{
	static const struct {
		span_count *count;
		const char *text;
	} lines[] = {
		{abandoned,
		 "statements failed or were cancelled (ABANDONED): PostgreSQL tells no end of these"},
		{omitted,
		 "calls were not measured: the kernel omits return probes beyond 64 nested calls"},
		{repeated,
		 "hits of the entry were of calls that began once more, as Go's do when their stack is moved or others are to run"},
		{nested,
		 "measured spans had others of the same kind inside: so it is where they nest; where they do not, their own ends never came, and the latencies are not true (--span ...,nest=no gives such starts up); where one thread has several at a time, as coroutines do, --span ...,key=ARG pairs them by an argument"},
		{clamped,
		 "measured spans count as 0: what the probes themselves cost is more than they took"},
	};

	for (size_t i = 0; i < report->span_count; i++)
		for (size_t j = 0; j < NW_COUNT(lines); j++) {
			const char *name = report->spans[i].name;
			uint64_t calls = sum_of(report, i, lines[j].count);
			if (!calls || (lines[j].count == abandoned &&
				       !nw_report_is_statement(report, i)))
				continue;
			nw_buf_add_escaped(out, name, strlen(name));
			nw_buf_printf(out, ": %" PRIu64 " %s\n", calls, lines[j].text);
		}
}

/* Spans of a row that began and ended at one time; with --net, not those that the probes' cost has used up. */
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
