// SPDX-License-Identifier: MIT
/* Shared by all formats that show differences. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "show/rows/output.h"

const char *const nw_sample_names[] = {
	[NW_SAMPLE_NONE] = NULL,
	[NW_SAMPLE_RUNS] = "run",
	[NW_SAMPLE_SLICES] = "slice",
};
const char *const nw_verdict_words[] = {
	[NW_VERDICT_PASSED] = "passed",
	[NW_VERDICT_NOISE] = "noise",
	[NW_VERDICT_FAILED] = "failed",
	[NW_VERDICT_UNKNOWN] = "unknown",
};

bool nw_diff_shows(const struct nw_diff_report *report, const struct nw_diff_row *row)
{
	if (report->view.spans_only && row->subject == NW_SUBJECT_PROBES)
		return false;
	return report->view.all_rows || row->count[NW_BEFORE] || row->count[NW_AFTER];
}

bool nw_diff_shows_metric(const struct nw_diff_report *report,
			  const struct nw_diff_row *row, enum nw_metric metric)
{
	if (row->subject == NW_SUBJECT_PROBES && metric != NW_METRIC_RATE && !report->gaps)
		return false;
	return row->metric[metric].has[NW_BEFORE] && row->metric[metric].has[NW_AFTER];
}

void nw_diff_value_text(enum nw_metric metric, double value, char out[16])
{
	if (metric == NW_METRIC_RATE)
		nw_rate_text(value, out);
	else
		nw_duration_text(value < 1.8e19 ? (uint64_t)(value + 0.5) : UINT64_MAX,
				 out);
}

/* Writes a change in percent without the sign for it; what rounds to 0 has no sign. */
static void percent_text(double change, char out[24])
{
	const double percent = change * 100;

	if (fabs(percent) < 0.05)
		snprintf(out, 24, "0.0");
	else if (fabs(percent) < 9999.5)
		snprintf(out, 24, "%+.1f", percent);
	else
		snprintf(out, 24, "%+.3g", percent);
}

void nw_change_text(double change, char out[24])
{
	char number[24];

	percent_text(change, number);
	snprintf(out, 24, "%.20s %%", number);
}

void nw_interval_text(const struct nw_comparison *comparison, char out[48])
{
	char low[24], high[24];

	percent_text(comparison->low - 1, low);
	percent_text(comparison->high - 1, high);
	if (isinf(comparison->low) || (comparison->low == 0 && isinf(comparison->high)))
		snprintf(out, 48, "-");
	else if (isinf(comparison->high))
		snprintf(out, 48, "%.19s %% or more", low);
	else
		snprintf(out, 48, "%.19s to %.19s %%", low, high);
}

void nw_diff_check_text(const struct nw_diff_check *check, struct nw_buf *out)
{
	const struct nw_diff_metric *metric =
		check->row ? &check->row->metric[check->limit.metric] : NULL;
	char change[24], interval[48];
	double observed;

	nw_buf_add_escaped(out, check->limit.text, strlen(check->limit.text));
	if (check->why || !metric || !nw_diff_change(metric, &observed)) {
		nw_buf_printf(out, ": it cannot be told, since %s",
			      check->why ? check->why : "memory ran out");
		return;
	}
	nw_change_text(observed, change);
	nw_interval_text(&metric->comparison, interval);
	nw_buf_printf(out,
		      check->verdict == NW_VERDICT_NOISE ? ": %s, which is noise (%s)"
							 : ": %s (%s)",
		      change, interval);
}
