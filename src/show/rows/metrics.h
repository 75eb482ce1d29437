/* SPDX-License-Identifier: MIT */
/*
 * A report as metrics: families of samples with labels. Every format for collectors (OpenMetrics, OTLP, protobuf) walks
 * these, so that all of them have the same families, labels and values.
 */
#ifndef NOPWATCH_SHOW_ROWS_METRICS_H
#define NOPWATCH_SHOW_ROWS_METRICS_H

#include "show/rows/report.h"

enum nw_family_kind {
	NW_FAMILY_COUNTER,
	NW_FAMILY_GAUGE,
	NW_FAMILY_HISTOGRAM
};

struct nw_family {
	const char *name; /* "latency_seconds": without "nopwatch_", and without "_total" */
	const char *help;
	enum nw_family_kind kind;
	bool is_time; /* values are nanoseconds; the name ends in "_seconds" */
};

/* A label whose name is unique in its sample and no word of Prometheus's own, and whose value is UTF-8 without control
 * characters. */
struct nw_label {
	char *name, *value;
};
typedef NW_VEC(struct nw_label) nw_labels;

struct nw_metric_sample {
	const nw_labels *labels;
	uint64_t value;			      /* of a counter or gauge */
	const struct nw_histogram *histogram; /* of a histogram */
};

struct nw_metrics_writer {
	void *arg;
	/* Begins a family; it has one sample at least, and all of its samples follow. */
	void (*family)(void *arg, const struct nw_family *metric);
	void (*sample)(void *arg, const struct nw_family *metric,
		       const struct nw_metric_sample *sample);
	/* NULL: nothing ends a family */
	void (*family_end)(void *arg, const struct nw_family *metric);
};

/* Hands a report to a writer. -ENOMEM. */
int nw_metrics_walk(const struct nw_report *report, const struct nw_metrics_writer *writer);
/* Returns the classic buckets of a sample of a histogram: by --buckets, or the usual ones. -ENOMEM. */
int nw_metric_buckets(const struct nw_report *report, const struct nw_family *metric,
		      const struct nw_histogram *h, nw_classic_buckets *out);
/* Has the histogram a sum that only grows? It has none if a value is negative. */
bool nw_metric_sum_grows(const struct nw_histogram *h);

#endif
