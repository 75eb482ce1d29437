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
	struct nw_buf bucket; /* the beginning of each line of its buckets */
};

/* ---- samples ------------------------------------------------------------------------ */

/* Writes a label: a backslash, a quote and a line feed are escaped (OpenMetrics, ABNF). */
static void label(const char *before, const char *name, const char *value,
		  struct nw_buf *out)
{
	nw_buf_printf(out, "%s%s=\"", before, name);
	for (size_t plain;; value += plain + 1) {
		plain = strcspn(value, "\n\\\"");
		nw_buf_add(out, value, plain);
		if (!value[plain])
			break;
		nw_buf_addc(out, '\\');
		nw_buf_addc(out, value[plain] == '\n' ? 'n' : value[plain]);
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
	w->out->failed |= w->labels.failed;
}

/* Writes `nopwatch_FAMILYSUFFIX{probe="..."`. A report has a hundred lines for each row, so this and what else is written for each line
 * does without formats. */
static void name(const struct writing *w, const struct nw_family *family,
		 const char *suffix, struct nw_buf *out)
{
	nw_buf_adds(out, "nopwatch_");
	nw_buf_adds(out, family->name);
	nw_buf_adds(out, suffix);
	nw_buf_add(out, nw_buf_str(&w->labels), w->labels.len);
}

/* Writes a sample's line up to its value: `nopwatch_FAMILYSUFFIX{probe="..."} `. */
static void start(const struct writing *w, const struct nw_family *family,
		  const char *suffix)
{
	name(w, family, suffix, w->out);
	nw_buf_adds(w->out, w->labels.len ? "} " : " ");
}

/* Writes nanoseconds as seconds, exactly. */
static void seconds(uint64_t ns, struct nw_buf *out)
{
	char fraction[] = ".000000000";
	uint64_t rest = ns % 1000000000u;

	for (size_t i = sizeof(fraction) - 2; rest; rest /= 10)
		fraction[i--] = (char)('0' + rest % 10);
	nw_buf_addu(out, ns / 1000000000u);
	nw_buf_add(out, fraction, sizeof(fraction) - 1);
}

static void value(const struct nw_family *metric, uint64_t number, struct nw_buf *out)
{
	if (metric->is_time)
		seconds(number, out);
	else
		nw_buf_addu(out, number);
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

/* Writes `nopwatch_FAMILY_bucket{probe="...",le="` once for all buckets of a sample. */
static void use_bucket(struct writing *w, const struct nw_family *family)
{
	nw_buf_clear(&w->bucket);
	name(w, family, "_bucket", &w->bucket);
	nw_buf_adds(&w->bucket, w->labels.len ? ",le=\"" : "{le=\"");
	w->out->failed |= w->bucket.failed;
}

/* Writes a whole number as a float, as `le` has to be (OpenMetrics, "canonical numbers"). */
static void whole(int64_t number, struct nw_buf *out)
{
	if (number < 0)
		nw_buf_addc(out, '-');
	nw_buf_addu(out, number < 0 ? -(uint64_t)number : (uint64_t)number);
	nw_buf_adds(out, ".0");
}

/* Writes the rest of a bucket's line, behind `le`. */
static void bucket_count(uint64_t count, struct nw_buf *out)
{
	nw_buf_adds(out, "\"} ");
	nw_buf_addu(out, count);
	nw_buf_addc(out, '\n');
}

static void bucket(const struct writing *w, const struct nw_family *family,
		   const struct nw_classic_bucket *one)
{
	nw_buf_add(w->out, nw_buf_str(&w->bucket), w->bucket.len);
	if (family->is_time)
		seconds((uint64_t)one->last, w->out);
	else
		whole(one->last, w->out);
	bucket_count(one->count, w->out);
}

static void count_and_sum(const struct writing *w, const struct nw_family *family,
			  const struct nw_histogram *h)
{
	bool negative = !nw_metric_sum_grows(h);

	nw_buf_add(w->out, nw_buf_str(&w->bucket), w->bucket.len);
	nw_buf_adds(w->out, "+Inf");
	bucket_count(h->count, w->out);
	/* OpenMetrics has no sum that may shrink, and no count without a sum. Readers of Prometheus's own format take
	 * a missing sum for 0. */
	if (negative && !w->report->prometheus)
		return;
	start(w, family, "_count");
	nw_buf_addu(w->out, h->count);
	nw_buf_addc(w->out, '\n');
	start(w, family, "_sum");
	if (negative)
		nw_buf_printf(w->out, "%" PRId64 "\n", (int64_t)h->sum);
	else
		value(family, h->sum, w->out);
}

static void histogram(struct writing *w, const struct nw_family *family,
		      const struct nw_histogram *h)
{
	nw_classic_buckets buckets = {0};

	if (nw_metric_buckets(w->report, family, h, &buckets) < 0)
		w->out->failed = true;
	use_bucket(w, family);
	nw_vec_each (&buckets, one)
		bucket(w, family, one);
	count_and_sum(w, family, h);
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
	start(w, family, family->kind == NW_FAMILY_COUNTER ? "_total" : "");
	value(family, one->value, w->out);
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	struct writing w = {.report = report, .out = &output->text};
	const struct nw_metrics_writer writer = {
		.arg = &w, .family = family, .sample = sample};

	if (nw_metrics_walk(report, &writer) < 0)
		output->text.failed = true;
	nw_buf_free(&w.labels);
	nw_buf_free(&w.bucket);
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
