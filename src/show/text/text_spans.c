// SPDX-License-Identifier: MIT
/* Lines below the table of spans, about counts that its reader could misunderstand. */
#include <inttypes.h>
#include <string.h>

#include "show/rows/report.h"
#include "text_private.h"

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

/* ---- probe overhead ----------------------------------------------------------------- */

enum {
	OVERHEAD_SHARE =
		5 /* the overhead is shown if it is more than this part of the P50 */
};

/* Returns the least overhead that a span has of its own two hits: what follows the start, and what precedes the end. */
static uint64_t overhead_of_ends(const struct nw_report *report,
				 const struct nw_span_def *span)
{
	uint64_t after = UINT64_MAX, before = UINT64_MAX;

	if (span->unit_ns) /* the program has measured it, before the probe */
		return 0;
	nw_vec_each (&span->starts, probe)
		after = nw_min64(after, report->hit_costs[*probe].after);
	nw_vec_each (&span->ends, probe)
		before = nw_min64(before, report->hit_costs[*probe].before);
	return span->starts.count && span->ends.count ? after + before : 0;
}

/* A row of spans, and how much of its P50 is probe overhead. */
struct overhead {
	size_t span, group;
	uint64_t overhead, p50;
	size_t rows; /* rows of which a fifth and more is overhead */
};

static void add_overhead(const struct nw_report *report, size_t span, size_t group,
			 struct overhead *worst)
{
	const struct nw_span_row *row = nw_group_span(nw_report_rows(report, group), span);

	if (!row->latency.count)
		return;
	uint64_t p50 = nw_histogram_percentile(&row->latency, 0.5);
	uint64_t overhead = row->cost ? nw_histogram_percentile(row->cost, 0.5)
				      : overhead_of_ends(report, &report->spans[span]);
	if (overhead <= p50 / OVERHEAD_SHARE)
		return;
	worst->rows++;
	overhead = nw_min64(overhead, p50);
	if (worst->p50 &&
	    (double)overhead * (double)worst->p50 <= (double)worst->overhead * (double)p50)
		return;
	*worst = (struct overhead){span, group, overhead, p50, worst->rows};
}

void nw_text_overhead_line(const struct nw_report *report, struct nw_buf *out)
{
	struct overhead worst = {0};
	char overhead[16], p50[16];

	if (!report->hit_costs || report->net || report->interval)
		return;
	for (size_t i = 0; i < report->span_count; i++)
		for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
			add_overhead(report, i, g, &worst);
	if (!worst.p50)
		return;
	const char *name = report->spans[worst.span].name;
	const struct nw_probe *start =
		report->selection->probes.item[report->spans[worst.span].starts.item[0]];
	nw_cleanup(nw_free_ptr) char *group = nw_report_group(report, worst.group);
	nw_duration_text(worst.overhead, overhead);
	nw_duration_text(worst.p50, p50);
	nw_buf_addc(out, '\n');
	nw_buf_add_escaped(out, name, strlen(name));
	if (group) {
		nw_buf_addc(out, ' ');
		nw_buf_add_escaped(out, group, strlen(group));
	}
	nw_buf_printf(out, ": %s of the P50 of %s (%.0f %%) is probe overhead", overhead,
		      p50, 100.0 * (double)worst.overhead / (double)worst.p50);
	if (worst.rows > 1)
		nw_buf_printf(out, ", and more than a fifth in %zu rows", worst.rows);
	nw_buf_adds(out, nw_probe_in_kernel_function(start) ? ", or more\n"
							    : "; --net subtracts it\n");
}
