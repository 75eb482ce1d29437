/* SPDX-License-Identifier: MIT */
/*
 * Exponential histograms, as OpenTelemetry and Prometheus (native histograms) have them: at scale s, bucket i holds values
 * of (2^(i / 2^s), 2^((i + 1) / 2^s)].
 *
 * They are made of our own buckets, of which there are 32 in each power of two: at scale 5 there are as many. A value of our
 * bucket [low, high] counts where the middle of that bucket is, so it is at most half a bucket (1.6 %) on the wrong side of a
 * boundary. Boundaries that are powers of two are exact, but for their inclusive end: a value of exactly 2^k is counted
 * as above 2^k, unless it has a bucket to itself (below 64).
 */
#ifndef NOPWATCH_MEASURE_EXPONENTIAL_H
#define NOPWATCH_MEASURE_EXPONENTIAL_H

#include "measure/summary.h"

enum {
	NW_EXPONENTIAL_SCALE = 5, /* the finest scale */
	NW_OTLP_BUCKETS = 160	  /* the usual limit of OpenTelemetry's histograms */
};

/* The buckets from number `offset` on; empty ones in between, too. */
struct nw_exponential_side {
	int32_t offset;
	NW_VEC(uint64_t) counts;
};

struct nw_exponential {
	int scale;
	uint64_t zero; /* values that are 0 */
	struct nw_exponential_side positive, negative;
};

/* most: the limit of buckets on each side, above 64; the scale is the finest that keeps it. -ENOMEM. */
int nw_exponential_make(const struct nw_histogram *h, size_t most,
			struct nw_exponential *out);
void nw_exponential_free(struct nw_exponential *exponential);

#endif
