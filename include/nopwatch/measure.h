/* SPDX-License-Identifier: MIT */
/* Measurements: hits of probes, latencies of spans, by group. */
#ifndef NOPWATCH_MEASURE_H
#define NOPWATCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nopwatch/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A measurement is made, run once, read, and freed. */
struct nopwatch_measure;

/* Returns NULL if there is no memory. */
struct nopwatch_measure *nopwatch_measure_new(void);
void nopwatch_measure_free(struct nopwatch_measure *measure);

/* Groups by keys, as --by does: "tid", "method,pid". Groups are numbered from 0; without keys there is one group. */
int nopwatch_measure_set_by(struct nopwatch_measure *measure, const char *keys,
			    struct nopwatch_error **error);
/* Keeps the slowest spans of each kind with their arguments, for reports. */
void nopwatch_measure_set_slowest(struct nopwatch_measure *measure, size_t count);

enum nopwatch_measure_flag {
	NOPWATCH_STATES = 1, /* split spans by thread state, as --states does */
	NOPWATCH_NET = 2     /* subtract the overhead of the probes, as --net does */
};
int nopwatch_measure_set_flags(struct nopwatch_measure *measure, unsigned int flags,
			       struct nopwatch_error **error);

/*
 * Sets where reports go. format: "json", "csv", "openmetrics", "otlp", "html", "text", "folded". interval: nanoseconds between
 * reports; 0: one report at the end. The function receives pieces of output, not terminated by a zero, and returns 0,
 * or anything else to end the run. Fails with EINVAL if there is no such format.
 */
typedef int nopwatch_output_fn(void *arg, const char *text, size_t length);
int nopwatch_measure_set_output(struct nopwatch_measure *measure, const char *format,
				uint64_t interval, nopwatch_output_fn *output, void *arg,
				struct nopwatch_error **error);

/* Runs to the end. Fails with EBUSY if the measurement has run already. */
int nopwatch_measure_run(struct nopwatch_measure *measure, struct nopwatch_request *request,
			 struct nopwatch_error **error);

/* ---- what was measured: after nopwatch_measure_run() has succeeded. All of it is empty before. */

/* The result of the run; it belongs to the measurement. */
const struct nopwatch_result *nopwatch_measure_result(
	const struct nopwatch_measure *measure);
/* The number of groups, and the name of one; "" without keys. The parts of a name of several keys are separated by the byte
 * 0x1f. */
size_t nopwatch_measure_groups(const struct nopwatch_measure *measure);
const char *nopwatch_measure_group(const struct nopwatch_measure *measure, size_t group);

/* Rows: probes, whose distribution is that of the gaps between hits, or spans, whose distribution is that of their
 * latencies. Probes have the numbers of nopwatch_result_probe(). */
enum nopwatch_rows {
	NOPWATCH_PROBE_ROWS = 1,
	NOPWATCH_SPAN_ROWS
};
size_t nopwatch_measure_rows(const struct nopwatch_measure *measure,
			     enum nopwatch_rows rows);
const char *nopwatch_measure_name(const struct nopwatch_measure *measure,
				  enum nopwatch_rows rows, size_t row);
/*
 * A number of a row: "count", "min", "max", "sum" or "mean" of the distribution, or a count of docs/json.md: "hits" of
 * a probe; "unmatched_starts", "unmatched_ends", "discarded", "abandoned", ... of a span. Returns false if there
 * is no such row or number.
 */
bool nopwatch_measure_number(const struct nopwatch_measure *measure,
			     enum nopwatch_rows rows, size_t group, size_t row,
			     const char *key, uint64_t *value);
/* A percentile of the distribution: share is 0.5 for the median. The value is at most 1.6 % too small or too large. Returns false
 * if the distribution is empty. */
bool nopwatch_measure_percentile(const struct nopwatch_measure *measure,
				 enum nopwatch_rows rows, size_t group, size_t row,
				 double share, uint64_t *value);
/* Walks the distribution: *at begins at 0. Each call gives a bucket that is not empty, from low to high, both included.
 * Returns false at the end. */
bool nopwatch_measure_bucket(const struct nopwatch_measure *measure,
			     enum nopwatch_rows rows, size_t group, size_t row,
			     unsigned int *at, uint64_t *low, uint64_t *high,
			     uint64_t *count);

#ifdef __cplusplus
}
#endif

#endif
