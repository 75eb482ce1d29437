// SPDX-License-Identifier: MIT
/* See native.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/exponential.h"
#include "native.h"
#include "show/rows/metrics.h"
#include "show/rows/protobuf.h"

/* Numbers of fields and of types. */
enum {
	FAMILY_NAME = 1,
	FAMILY_HELP = 2,
	FAMILY_TYPE = 3,
	FAMILY_METRIC = 4,
	TYPE_COUNTER = 0,
	TYPE_GAUGE = 1,
	TYPE_HISTOGRAM = 4,
	METRIC_LABEL = 1,
	METRIC_GAUGE = 2,
	METRIC_COUNTER = 3,
	METRIC_HISTOGRAM = 7,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	NUMBER_VALUE = 1, /* of a gauge and of a counter */
	HISTOGRAM_COUNT = 1,
	HISTOGRAM_SUM = 2,
	HISTOGRAM_BUCKET = 3,
	HISTOGRAM_SCHEMA = 5,
	HISTOGRAM_ZERO_THRESHOLD = 6,
	HISTOGRAM_ZERO_COUNT = 7,
	HISTOGRAM_NEGATIVE_SPAN = 9,
	HISTOGRAM_NEGATIVE_DELTA = 10,
	HISTOGRAM_POSITIVE_SPAN = 12,
	HISTOGRAM_POSITIVE_DELTA = 13,
	BUCKET_COUNT = 1,
	BUCKET_UPPER = 2,
	SPAN_OFFSET = 1,
	SPAN_LENGTH = 2
};

/* A family as it is written: which of the two kinds of buckets its histograms have, and their unit. */
struct message {
	struct nw_buf bytes;
	bool classic, native, nanoseconds;
};

struct writing {
	const struct nw_report *report;
	struct nw_buf *out;
	/* The family; and for durations a second one, of native histograms. */
	struct message first, second;
};

/* ---- histograms --------------------------------------------------------------------- */

static double in_unit(const struct message *m, const struct nw_family *family, double value)
{
	return family->is_time && !m->nanoseconds ? value / 1e9 : value;
}

static void classic(const struct writing *w, struct message *m,
		    const struct nw_family *family, const struct nw_histogram *h)
{
	nw_classic_buckets buckets = {0};

	if (nw_metric_buckets(w->report, family, h, &buckets) < 0)
		m->bytes.failed = true;
	nw_vec_each (&buckets, bucket) {
		size_t at = nw_pb_open(&m->bytes, HISTOGRAM_BUCKET);
		nw_pb_uint(&m->bytes, BUCKET_COUNT, bucket->count);
		nw_pb_double(&m->bytes, BUCKET_UPPER,
			     in_unit(m, family, (double)bucket->last));
		nw_pb_close(&m->bytes, at);
	}
	size_t at = nw_pb_open(&m->bytes, HISTOGRAM_BUCKET);
	nw_pb_uint(&m->bytes, BUCKET_COUNT, h->count);
	nw_pb_double(&m->bytes, BUCKET_UPPER, (double)INFINITY);
	nw_pb_close(&m->bytes, at);
	nw_vec_free(&buckets);
}

/*
 * Writes the buckets of one side: spans of buckets that are not empty, each with its distance from the one before, and of each of
 * these buckets the difference to the count of the one before. Prometheus calls bucket i what ends at 2^(i / 32).
 */
static void side(struct nw_buf *out, const struct nw_exponential_side *of,
		 unsigned int span_field, unsigned int delta_field)
{
	const uint64_t *count = of->counts.item;
	int64_t end = 0, before = 0; /* the bucket behind the last span; the last count */

	for (size_t i = 0, length; i < of->counts.count; i += length) {
		for (length = 0; i + length < of->counts.count && count[i + length];)
			length++;
		if (length) {
			int64_t index = of->offset + (int64_t)i + 1;
			size_t at = nw_pb_open(out, span_field);
			nw_pb_sint(out, SPAN_OFFSET, index - end);
			nw_pb_uint(out, SPAN_LENGTH, length);
			nw_pb_close(out, at);
			end = index + (int64_t)length;
		} else {
			length = 1;
		}
	}
	for (size_t i = 0; i < of->counts.count; i++) {
		if (!count[i])
			continue;
		nw_pb_sint(out, delta_field, (int64_t)count[i] - before);
		before = (int64_t)count[i];
	}
}

static void native(struct message *m, const struct nw_histogram *h)
{
	struct nw_exponential e;

	if (nw_exponential_make(h, SIZE_MAX, &e) < 0) {
		m->bytes.failed = true;
		return;
	}
	nw_pb_sint(&m->bytes, HISTOGRAM_SCHEMA, e.scale);
	/* The width of the zero bucket as clients have it; all our values are whole numbers. */
	nw_pb_double(&m->bytes, HISTOGRAM_ZERO_THRESHOLD, ldexp(1, -128));
	nw_pb_uint(&m->bytes, HISTOGRAM_ZERO_COUNT, e.zero);
	side(&m->bytes, &e.negative, HISTOGRAM_NEGATIVE_SPAN, HISTOGRAM_NEGATIVE_DELTA);
	side(&m->bytes, &e.positive, HISTOGRAM_POSITIVE_SPAN, HISTOGRAM_POSITIVE_DELTA);
	nw_exponential_free(&e);
}

static void histogram(const struct writing *w, struct message *m,
		      const struct nw_family *family, const struct nw_histogram *h)
{
	size_t at = nw_pb_open(&m->bytes, METRIC_HISTOGRAM);
	double sum = h->is_signed ? (double)(int64_t)h->sum : (double)h->sum;

	nw_pb_uint(&m->bytes, HISTOGRAM_COUNT, h->count);
	nw_pb_double(&m->bytes, HISTOGRAM_SUM, in_unit(m, family, sum));
	if (m->classic)
		classic(w, m, family, h);
	if (m->native)
		native(m, h);
	nw_pb_close(&m->bytes, at);
}

/* ---- families ----------------------------------------------------------------------- */

static void begin_message(struct message *m, const struct nw_family *family)
{
	static const unsigned int types[] = {[NW_FAMILY_COUNTER] = TYPE_COUNTER,
					     [NW_FAMILY_GAUGE] = TYPE_GAUGE,
					     [NW_FAMILY_HISTOGRAM] = TYPE_HISTOGRAM};
	static const char seconds[] = "seconds";
	size_t len = strlen(family->name) - (m->nanoseconds ? sizeof(seconds) - 1 : 0);
	char name[96];

	nw_buf_clear(&m->bytes);
	len = (size_t)snprintf(name, sizeof(name), "nopwatch_%.*s%s", (int)len,
			       family->name,
			       m->nanoseconds			   ? "nanoseconds"
			       : family->kind == NW_FAMILY_COUNTER ? "_total"
								   : "");
	nw_pb_string(&m->bytes, FAMILY_NAME, name, len);
	nw_pb_string(&m->bytes, FAMILY_HELP, family->help, strlen(family->help));
	nw_pb_uint(&m->bytes, FAMILY_TYPE, types[family->kind]);
}

static void family(void *arg, const struct nw_family *family)
{
	struct writing *w = arg;

	/* A value that is no time has no unit, so that one histogram can be both. */
	w->first.classic = true;
	w->first.native = !family->is_time;
	begin_message(&w->first, family);
	w->second.native = w->second.nanoseconds = true;
	if (family->kind == NW_FAMILY_HISTOGRAM && family->is_time)
		begin_message(&w->second, family);
}

static void add_metric(const struct writing *w, struct message *m,
		       const struct nw_family *family,
		       const struct nw_metric_sample *sample)
{
	struct nw_buf *out = &m->bytes;
	size_t metric = nw_pb_open(out, FAMILY_METRIC);

	nw_vec_each (sample->labels, label) {
		size_t at = nw_pb_open(out, METRIC_LABEL);
		nw_pb_string(out, LABEL_NAME, label->name, strlen(label->name));
		nw_pb_string(out, LABEL_VALUE, label->value, strlen(label->value));
		nw_pb_close(out, at);
	}
	if (family->kind == NW_FAMILY_HISTOGRAM) {
		histogram(w, m, family, sample->histogram);
	} else {
		bool counts = family->kind == NW_FAMILY_COUNTER;
		size_t at = nw_pb_open(out, counts ? METRIC_COUNTER : METRIC_GAUGE);
		nw_pb_double(out, NUMBER_VALUE, in_unit(m, family, (double)sample->value));
		nw_pb_close(out, at);
	}
	nw_pb_close(out, metric);
}

static void sample(void *arg, const struct nw_family *family,
		   const struct nw_metric_sample *one)
{
	struct writing *w = arg;

	add_metric(w, &w->first, family, one);
	if (family->kind == NW_FAMILY_HISTOGRAM && family->is_time)
		add_metric(w, &w->second, family, one);
}

static void end_message(struct nw_buf *out, struct message *m)
{
	nw_pb_delimited(out, m->bytes.data, m->bytes.len);
	out->failed |= m->bytes.failed;
	nw_buf_clear(&m->bytes);
}

static void family_end(void *arg, const struct nw_family *family)
{
	struct writing *w = arg;

	end_message(w->out, &w->first);
	if (family->kind == NW_FAMILY_HISTOGRAM && family->is_time)
		end_message(w->out, &w->second);
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	struct writing w = {.report = report, .out = &output->text};
	const struct nw_metrics_writer writer = {
		.arg = &w, .family = family, .sample = sample, .family_end = family_end};

	if (nw_metrics_walk(report, &writer) < 0)
		output->text.failed = true;
	nw_buf_free(&w.first.bytes);
	nw_buf_free(&w.second.bytes);
}

const struct nw_output_format nw_output_native = {
	.name = "protobuf",
	.shows = {[NW_SHOWS_REPORTS] = true},
	.cumulative = true,
	.binary = true,
	.report = report,
};
