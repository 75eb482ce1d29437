/* SPDX-License-Identifier: MIT */
/*
 * The classic buckets of a metric (--buckets): cumulative counts up to fixed boundaries, as Prometheus and OpenMetrics
 * have them. Every boundary is the end of one of the histogram's own buckets, so each count is exact.
 */
#ifndef NOPWATCH_MEASURE_BOUNDARIES_H
#define NOPWATCH_MEASURE_BOUNDARIES_H

#include "measure/summary.h"

enum {
	NW_MOST_BOUNDARIES = 256
};

/* Upper boundaries of durations, in nanoseconds, ascending: a bucket holds values up to its boundary, this one too. */
struct nw_boundaries {
	bool given;   /* the user has chosen them; else they are nw_boundaries_usual() */
	size_t count; /* 0: only the count of all */
	uint64_t last[NW_MOST_BOUNDARIES];
};

/*
 * Parses "none", "1ms,5ms,20ms", "1us..10s" (powers of two from the first to the last) or "1us..10s/4" (four in each
 * doubling: 1, 2, 4, 8, 16 or 32). A time of a list becomes the nearest end of a histogram's bucket, which is at most
 * 1.6 % away. A mistake is a usage error.
 */
int nw_boundaries_parse(const char *text, struct nw_boundaries *out, struct nw_error *err);
/* Powers of two from 128 ns to 17 s. */
void nw_boundaries_usual(struct nw_boundaries *out);

/* A classic bucket: how many values are not above `last`. */
struct nw_classic_bucket {
	int64_t last;
	uint64_t count;
};
typedef NW_VEC(struct nw_classic_bucket) nw_classic_buckets;

/* Counts durations up to each boundary. -ENOMEM. */
int nw_classic_durations(const struct nw_histogram *h,
			 const struct nw_boundaries *boundaries, nw_classic_buckets *out);
/* Counts values that are no durations: in the steps of --hist ARG:MIN:MAX:STEP, else up to each power of two below 1 << 33,
 * which is the same choice for every histogram of an argument. -ENOMEM. */
int nw_classic_values(const struct nw_histogram *h, nw_classic_buckets *out);

#endif
