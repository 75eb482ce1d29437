// SPDX-License-Identifier: MIT
/* A report as OTLP's metrics: sums, gauges and exponential histograms, all cumulative. Durations are in nanoseconds. */
#include <stdio.h>
#include <string.h>

#include "measure/exponential.h"
#include "otlp.h"
#include "show/rows/metrics.h"

enum {
	CUMULATIVE = 2 /* AGGREGATION_TEMPORALITY_CUMULATIVE */
};

struct writing {
	struct nw_json json;
	uint64_t began, now; /* nanoseconds since 1970 */
};

/* ---- data points -------------------------------------------------------------------- */

/* Begins a data point: attributes and times. */
static void begin_point(struct writing *w, const struct nw_metric_sample *sample)
{
	struct nw_json *json = &w->json;

	nw_json_open(json, '{');
	nw_json_key(json, "attributes");
	nw_json_open(json, '[');
	nw_vec_each (sample->labels, label)
		nw_otlp_text(json, label->name, label->value, strlen(label->value));
	nw_json_close(json, ']');
	nw_otlp_key_u64(json, "startTimeUnixNano", w->began);
	nw_otlp_key_u64(json, "timeUnixNano", w->now);
}

static void side(struct nw_json *json, const char *key,
		 const struct nw_exponential_side *of)
{
	if (!of->counts.count)
		return;
	nw_json_key(json, key);
	nw_json_open(json, '{');
	nw_json_key(json, "offset");
	nw_json_i64(json, of->offset);
	nw_json_key(json, "bucketCounts");
	nw_json_open(json, '[');
	nw_vec_each (&of->counts, count)
		nw_otlp_u64(json, *count);
	nw_json_close(json, ']');
	nw_json_close(json, '}');
}

static double real_of(const struct nw_histogram *h, uint64_t value)
{
	return h->is_signed ? (double)(int64_t)value : (double)value;
}

static void histogram(struct nw_json *json, const struct nw_histogram *h)
{
	struct nw_exponential e;

	if (nw_exponential_make(h, NW_OTLP_BUCKETS, &e) < 0) {
		json->out->failed = true;
		return;
	}
	nw_otlp_key_u64(json, "count", h->count);
	if (nw_metric_sum_grows(h)) { /* a sum that may shrink is left out */
		nw_json_key(json, "sum");
		nw_json_real(json, (double)h->sum);
	}
	nw_json_key(json, "scale");
	nw_json_i64(json, e.scale);
	nw_otlp_key_u64(json, "zeroCount", e.zero);
	side(json, "positive", &e.positive);
	side(json, "negative", &e.negative);
	if (h->count) {
		nw_json_key(json, "min");
		nw_json_real(json, real_of(h, h->min));
		nw_json_key(json, "max");
		nw_json_real(json, real_of(h, h->max));
	}
	nw_exponential_free(&e);
}

static void sample(void *arg, const struct nw_family *family,
		   const struct nw_metric_sample *one)
{
	struct writing *w = arg;

	begin_point(w, one);
	if (family->kind == NW_FAMILY_HISTOGRAM)
		histogram(&w->json, one->histogram);
	else
		nw_otlp_key_u64(&w->json, "asInt", one->value);
	nw_json_close(&w->json, '}');
}

/* ---- metrics ------------------------------------------------------------------------ */

static void family(void *arg, const struct nw_family *family)
{
	static const char *const kinds[] = {[NW_FAMILY_COUNTER] = "sum",
					    [NW_FAMILY_GAUGE] = "gauge",
					    [NW_FAMILY_HISTOGRAM] = "exponentialHistogram"};
	static const char unit[] = "_seconds";
	struct writing *w = arg;
	struct nw_json *json = &w->json;
	size_t len = strlen(family->name) - (family->is_time ? sizeof(unit) - 1 : 0);
	char name[64];

	snprintf(name, sizeof(name), "nopwatch.%.*s", (int)len, family->name);
	nw_json_open(json, '{');
	nw_json_key_text(json, "name", name);
	nw_json_key_text(json, "description", family->help);
	nw_json_key_text(json, "unit", family->is_time ? "ns" : "1");
	nw_json_key(json, kinds[family->kind]);
	nw_json_open(json, '{');
	if (family->kind != NW_FAMILY_GAUGE)
		nw_json_key_u64(json, "aggregationTemporality", CUMULATIVE);
	if (family->kind == NW_FAMILY_COUNTER) {
		nw_json_key(json, "isMonotonic");
		nw_json_bool(json, true);
	}
	nw_json_key(json, "dataPoints");
	nw_json_open(json, '[');
}

static void family_end(void *arg, const struct nw_family *family)
{
	struct writing *w = arg;

	(void)family;
	nw_json_close(&w->json, ']');
	nw_json_close(&w->json, '}');
	nw_json_close(&w->json, '}');
}

void nw_otlp_report(struct nw_output *output, const struct nw_report *report)
{
	/* A source that does not know the time of day counts from the start of its machine, and so do these. */
	int64_t wall = report->about ? report->about->began_ns : 0;
	struct writing w = {.began = wall ? (uint64_t)wall : report->start_ns};
	const struct nw_metrics_writer writer = {
		.arg = &w, .family = family, .sample = sample, .family_end = family_end};

	w.now = w.began + report->elapsed_ns;
	w.json = nw_otlp_begin(output, "resourceMetrics", "scopeMetrics", "metrics");
	if (nw_metrics_walk(report, &writer) < 0)
		output->text.failed = true;
	nw_otlp_end(&w.json);
}
