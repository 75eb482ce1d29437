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
	struct nw_buf labels; /* of the sample that is written */
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

/* Writes `{probe="...",v="..."` once for all lines of a sample; "" without labels. */
static void use_labels(struct writing *w, const struct nw_metric_sample *sample)
{
	const char *before = "{";

	nw_buf_clear(&w->labels);
	nw_vec_each (sample->labels, one) {
		label(before, one->name, one->value, &w->labels);
		before = ",";
	}
}

/* Writes `FAMILYSUFFIX{probe="...",le="..."} `; le: NULL if it has none. A report has a hundred lines for each row, so this
 * does without formats. */
static void start(const struct writing *w, const struct nw_family *family,
		  const char *suffix, const char *le)
{
	struct nw_buf *out = w->out;

	nw_buf_adds(out, "nopwatch_");
	nw_buf_adds(out, family->name);
	nw_buf_adds(out, suffix);
	nw_buf_add(out, nw_buf_str(&w->labels), w->labels.len);
	if (le) {
		nw_buf_adds(out, w->labels.len ? ",le=\"" : "{le=\"");
		nw_buf_adds(out, le);
		nw_buf_addc(out, '"');
	}
	nw_buf_adds(out, w->labels.len || le ? "} " : " ");
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

static void bucket(const struct writing *w, const struct nw_family *family, const char *le,
		   uint64_t count)
{
	start(w, family, "_bucket", le);
	nw_buf_addu(w->out, count);
	nw_buf_addc(w->out, '\n');
}

static void count_and_sum(const struct writing *w, const struct nw_family *family,
			  const struct nw_histogram *h)
{
	bool negative = !nw_metric_sum_grows(h);

	bucket(w, family, "+Inf", h->count);
	/* OpenMetrics has no sum that may shrink, and no count without a sum. Readers of Prometheus's own format take
	 * a missing sum for 0. */
	if (negative && !w->report->prometheus)
		return;
	start(w, family, "_count", NULL);
	nw_buf_addu(w->out, h->count);
	nw_buf_addc(w->out, '\n');
	start(w, family, "_sum", NULL);
	if (negative)
		nw_buf_printf(w->out, "%" PRId64 "\n", (int64_t)h->sum);
	else
		value(family, h->sum, w->out);
}

static void histogram(const struct writing *w, const struct nw_family *family,
		      const struct nw_histogram *h)
{
	nw_classic_buckets buckets = {0};
	struct nw_buf le = {0};

	if (nw_metric_buckets(w->report, family, h, &buckets) < 0)
		w->out->failed = true;
	nw_vec_each (&buckets, one) {
		nw_buf_clear(&le);
		if (family->is_time)
			seconds((uint64_t)one->last, &le);
		else
			nw_buf_printf(&le, "%" PRId64 ".0", one->last);
		bucket(w, family, nw_buf_str(&le), one->count);
	}
	count_and_sum(w, family, h);
	w->out->failed |= le.failed;
	nw_buf_free(&le);
	nw_vec_free(&buckets);
}

static void sample(void *arg, const struct nw_family *family,
		   const struct nw_metric_sample *one)
{
	struct writing *w = arg;

	use_labels(w, one);
	if (family->kind == NW_FAMILY_HISTOGRAM) {
		histogram(w, family, one->histogram);
		return;
	}
	start(w, family, family->kind == NW_FAMILY_COUNTER ? "_total" : "", NULL);
	value(family, one->value, w->out);
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	struct writing w = {.report = report, .out = &output->text};
	const struct nw_metrics_writer writer = {
		.arg = &w, .family = family, .sample = sample};

	if (nw_metrics_walk(report, &writer) < 0)
		output->text.failed = true;
	output->text.failed |= w.labels.failed;
	nw_buf_free(&w.labels);
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
