/* SPDX-License-Identifier: MIT */
/* Adds a value to a histogram; inlined where hits are counted, since every hit does it. */
#ifndef NOPWATCH_MEASURE_HISTOGRAM_H
#define NOPWATCH_MEASURE_HISTOGRAM_H

#include "nopwatch/summary.h"

/* Any value: the first, the least or the largest so far, or one in a histogram where none is usual. */
nw_cold void nw_histogram_add_unusual(struct nw_histogram *h, uint64_t value);
/* In a bucket for which there is no room yet. */
nw_cold void nw_histogram_count_far(struct nw_histogram *h, struct nw_blocks *blocks,
				    unsigned int bucket, uint64_t times);

enum {
	NW_BUCKET_SHIFT = 5 /* log2 of NW_BUCKETS */
};

/*
 * Buckets are numbered through: block 0 holds 0..31 one by one, block b > 0 holds
 * [32 << (b-1), 64 << (b-1)), so a value below 64 is its own number. No branch: it would be a
 * wrong guess every other time.
 */
static inline unsigned int nw_histogram_bucket(uint64_t value)
{
	unsigned int top = 63 ^ (unsigned int)__builtin_clzll(value | NW_BUCKETS);
	unsigned int coarse = top - NW_BUCKET_SHIFT;

	return coarse * NW_BUCKETS + (unsigned int)(value >> coarse);
}

static inline void nw_histogram_count(struct nw_histogram *h, struct nw_blocks *blocks,
				      uint64_t magnitude, uint64_t times)
{
	unsigned int bucket = nw_histogram_bucket(magnitude), at = bucket - blocks->first;

	/* one comparison for both ends: below first, the difference wraps */
	if (nw_likely(at < blocks->used))
		blocks->count[at] += times;
	else
		nw_histogram_count_far(h, blocks, bucket, times);
}

static inline void nw_histogram_add_here(struct nw_histogram *h, uint64_t value)
{
	if (nw_unlikely(value - h->min >= h->usual)) {
		nw_histogram_add_unusual(h, value);
		return;
	}
	/* usual values are below 1 << 32, and their squares' sum seldom carries */
	if (nw_unlikely(nw_add_overflows(h->squares, value * value, &h->squares)))
		h->squares_high++;
	h->count++;
	h->sum += value;
	if (nw_unlikely(h->sum >> 63))
		h->usual = 0;
	h->values.count[nw_histogram_bucket(value) - h->values.first]++;
}

void nw_histogram_add_signed(struct nw_histogram *h, int64_t value);

#endif
