/* SPDX-License-Identifier: MIT */
/* Adds a value to a histogram. The functions are inlined where hits are counted, because every hit does it. */
#ifndef NOPWATCH_MEASURE_HISTOGRAM_H
#define NOPWATCH_MEASURE_HISTOGRAM_H

#include "measure/summary.h"

/* Adds any value: also the first one, a new minimum or maximum, or one of a histogram without usual values. */
nw_cold void nw_histogram_add_unusual(struct nw_histogram *h, uint64_t value);
/* Counts a value whose bucket does not exist yet. */
nw_cold void nw_histogram_count_far(struct nw_histogram *h, struct nw_blocks *blocks,
				    unsigned int bucket, uint64_t times);

enum {
	NW_BUCKET_SHIFT = 5 /* log2 of NW_BUCKETS */
};

/*
 * Returns the number of a bucket. Block 0 holds the buckets of 0..31, block b > 0 those of [32 << (b-1), 64 <<
 * (b-1)), so a value below 64 is the number of its own bucket. There is no branch, because its prediction would often
 * be wrong.
 */
static nw_inlined unsigned int nw_histogram_bucket(uint64_t value)
{
	unsigned int top = 63 ^ (unsigned int)__builtin_clzll(value | NW_BUCKETS);
	unsigned int coarse = top - NW_BUCKET_SHIFT;

	return coarse * NW_BUCKETS + (unsigned int)(value >> coarse);
}

static inline void nw_histogram_count(struct nw_histogram *h, struct nw_blocks *blocks,
				      uint64_t magnitude, uint64_t times)
{
	unsigned int bucket = nw_histogram_bucket(magnitude), at = bucket - blocks->first;

	/* One comparison checks both ends: below `first`, the difference wraps. */
	if (nw_likely(at < blocks->used))
		blocks->count[at] += times;
	else
		nw_histogram_count_far(h, blocks, bucket, times);
}

static nw_inlined void nw_histogram_add_here(struct nw_histogram *h, uint64_t value)
{
	if (nw_unlikely(value - h->min >= h->usual)) {
		nw_histogram_add_unusual(h, value);
		return;
	}
	/* Usual values are below 1 << 32, so the sum of their squares seldom carries. */
	if (nw_unlikely(nw_add_overflows(h->squares, value * value, &h->squares)))
		h->squares_high++;
	h->count++;
	h->sum += value;
	if (nw_unlikely(h->sum >> 63))
		h->usual = 0;
	h->values.count[nw_histogram_bucket(value) - h->values.first]++;
}

/* Adds the same value `times` times, less than 1 << 31. */
void nw_histogram_add_times(struct nw_histogram *h, uint64_t value, uint32_t times);
void nw_histogram_add_signed(struct nw_histogram *h, int64_t value);
/* Returns the ends of the bucket of an unsigned value; its count is 0. */
struct nw_bucket nw_histogram_bucket_of(uint64_t value);
/*
 * Adds values of one bucket as `count` times their mean. Count and sum stay exact, but for a sum that stops at the largest number, as with
 * single values; min, max and deviation are off by less than the bucket's width.
 */
void nw_histogram_add_summed(struct nw_histogram *h, const struct nw_counted *counted);

#endif
