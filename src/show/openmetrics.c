// SPDX-License-Identifier: MIT
/*
 * A report for Prometheus and similar collectors: OpenMetrics 1.0 text. The samples of a family are together,
 * durations are in seconds, counters and buckets only grow: the report is always of the whole run.
 *
 * The buckets of a histogram are the same in every report, because collectors compute rates from one report to the
 * next. They end one nanosecond before a boundary of our own buckets, and `le` says so, so that every count is exact.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "show/rows/metrics.h"

struct writing {
	const struct nw_report *report;
	struct nw_buf *out;
};

/* ---- samples ------------------------------------------------------------------------ */

/* Writes a label: a backslash, a quote and a line feed are escaped (OpenMetrics, ABNF). */
static void label(const char *before, const char *name, const char *value,
		  struct nw_buf *out)
{
	nw_buf_printf(out, "%s%s=\"", before, name);
	for (; *value; value++) {
		if (*value == '\n')
			nw_buf_adds(out, "\\n");
		else if (strchr("\\\"", *value))
			nw_buf_printf(out, "\\%c", *value);
		else
			nw_buf_addc(out, *value);
	}
	nw_buf_addc(out, '"');
}

/* Writes "FAMILYSUFFIX{probe="...",le="..."} "; le: NULL if it has none. */
static void start(const struct nw_family *metric, const char *suffix,
		  const struct nw_metric_sample *sample, const char *le, struct nw_buf *out)
{
	const char *before = "{";

	nw_buf_printf(out, "nopwatch_%s%s", metric->name, suffix);
	nw_vec_each (sample->labels, one) {
		label(before, one->name, one->value, out);
		before = ",";
	}
	if (le)
		label(before, "le", le, out);
	nw_buf_adds(out, sample->labels->count || le ? "} " : " ");
}

/* Writes nanoseconds as seconds, exactly. */
static void seconds(uint64_t ns, struct nw_buf *out)
{
	nw_buf_printf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

static void value(const struct nw_family *metric, uint64_t number, struct nw_buf *out)
{
	if (metric->is_time)
		seconds(number, out);
	else
		nw_buf_printf(out, "%" PRIu64, number);
	nw_buf_addc(out, '\n');
}

/* Writes the head of a family. In Prometheus's own text format a family has the name of its samples, and there are no
 * units and no end; in OpenMetrics the samples of a counter have a suffix that the family has not. */
static void family(void *arg, const struct nw_family *metric)
{
	static const char *const kinds[] = {[NW_FAMILY_COUNTER] = "counter",
					    [NW_FAMILY_GAUGE] = "gauge",
					    [NW_FAMILY_HISTOGRAM] = "histogram"};
	const struct writing *w = arg;
	bool prometheus = w->report->prometheus;
	const char *suffix = prometheus && metric->kind == NW_FAMILY_COUNTER ? "_total"
									     : "";

	nw_buf_printf(w->out, "# TYPE nopwatch_%s%s %s\n", metric->name, suffix,
		      kinds[metric->kind]);
	if (metric->is_time && !prometheus)
		nw_buf_printf(w->out, "# UNIT nopwatch_%s seconds\n", metric->name);
	nw_buf_printf(w->out, "# HELP nopwatch_%s%s %s\n", metric->name, suffix,
		      metric->help);
}

/* ---- histograms --------------------------------------------------------------------- */

static void bucket(const struct nw_family *metric, const struct nw_metric_sample *sample,
		   const struct nw_classic_bucket *classic, struct nw_buf *out)
{
	struct nw_buf le = {0};

	if (metric->is_time)
		seconds((uint64_t)classic->last, &le);
	else
		nw_buf_printf(&le, "%" PRId64 ".0", classic->last);
	start(metric, "_bucket", sample, nw_buf_str(&le), out);
	nw_buf_printf(out, "%" PRIu64 "\n", classic->count);
	out->failed |= le.failed;
	nw_buf_free(&le);
}

static void count_and_sum(const struct writing *w, const struct nw_family *metric,
			  const struct nw_metric_sample *sample)
{
	const struct nw_histogram *h = sample->histogram;
	bool negative = !nw_metric_sum_grows(h);
	struct nw_buf *out = w->out;

	start(metric, "_bucket", sample, "+Inf", out);
	nw_buf_printf(out, "%" PRIu64 "\n", h->count);
	/* OpenMetrics has no sum that may shrink, and no count without a sum. Readers of Prometheus's own format take
	 * a missing sum for 0. */
	if (negative && !w->report->prometheus)
		return;
	start(metric, "_count", sample, NULL, out);
	nw_buf_printf(out, "%" PRIu64 "\n", h->count);
	start(metric, "_sum", sample, NULL, out);
	if (negative)
		nw_buf_printf(out, "%" PRId64 "\n", (int64_t)h->sum);
	else
		value(metric, h->sum, out);
}

static void histogram(const struct writing *w, const struct nw_family *metric,
		      const struct nw_metric_sample *sample)
{
	nw_classic_buckets buckets = {0};

	if (nw_metric_buckets(w->report, metric, sample->histogram, &buckets) < 0)
		w->out->failed = true;
	nw_vec_each (&buckets, one)
		bucket(metric, sample, one, w->out);
	count_and_sum(w, metric, sample);
	nw_vec_free(&buckets);
}

static void sample(void *arg, const struct nw_family *metric,
		   const struct nw_metric_sample *one)
{
	const struct writing *w = arg;

	if (metric->kind == NW_FAMILY_HISTOGRAM) {
		histogram(w, metric, one);
		return;
	}
	start(metric, metric->kind == NW_FAMILY_COUNTER ? "_total" : "", one, NULL, w->out);
	value(metric, one->value, w->out);
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	struct writing w = {.report = report, .out = &output->text};
	const struct nw_metrics_writer writer = {
		.arg = &w, .family = family, .sample = sample};

	if (nw_metrics_walk(report, &writer) < 0)
		output->text.failed = true;
	if (!report->prometheus)
		nw_buf_adds(&output->text, "# EOF\n");
}

const struct nw_output_format nw_output_openmetrics = {
	.name = "openmetrics",
	.costs = true,
	.shows = {[NW_SHOWS_REPORTS] = true},
	.cumulative = true,
	.states = true,
	.whole = true,
	.for_collectors = true,
	.open = true,
	.buckets = true,
	.report = report,
};
