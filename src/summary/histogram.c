// SPDX-License-Identifier: MIT
/* The log-linear histogram. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nopwatch/summary.h"

enum {
	SHIFT = 5
}; /* log2 of NW_BUCKETS */

/* Block 0 holds 0..31 one by one; block b > 0 holds [32 << (b-1), 64 << (b-1)). */
static inline unsigned int block_of(uint64_t value)
{
	return value < NW_BUCKETS ? 0
				  : (unsigned int)(63 - __builtin_clzll(value)) - SHIFT + 1;
}

static inline unsigned int bucket_of(uint64_t value, unsigned int block)
{
	return block ? (unsigned int)(value >> (block - 1)) & (NW_BUCKETS - 1)
		     : (unsigned int)value;
}

static uint64_t bucket_low(unsigned int block, unsigned int bucket)
{
	return block ? (uint64_t)(NW_BUCKETS + bucket) << (block - 1) : bucket;
}

static uint64_t bucket_high(unsigned int block, unsigned int bucket)
{
	return block ? bucket_low(block, bucket) + (((uint64_t)1 << (block - 1)) - 1)
		     : bucket;
}

/* Make room for one more block, at either end of those there are. */
static bool reach(struct nw_blocks *blocks, unsigned int block)
{
	unsigned int first = blocks->used && blocks->first < block ? blocks->first : block;
	unsigned int last = blocks->used && blocks->first + blocks->used - 1 > block
				    ? blocks->first + blocks->used - 1
				    : block;
	uint64_t *count = calloc((size_t)(last - first + 1) * NW_BUCKETS, sizeof(*count));

	if (!count)
		return false;
	if (blocks->used)
		memcpy(count + (size_t)(blocks->first - first) * NW_BUCKETS, blocks->count,
		       (size_t)blocks->used * NW_BUCKETS * sizeof(*count));
	free(blocks->count);
	blocks->count = count;
	blocks->first = first;
	blocks->used = last - first + 1;
	return true;
}

static inline void count_value(struct nw_histogram *h, struct nw_blocks *blocks,
			       uint64_t magnitude, uint64_t times)
{
	unsigned int block = block_of(magnitude);

	/* one comparison for both ends: below first, the difference wraps */
	if (nw_unlikely(block - blocks->first >= blocks->used) && !reach(blocks, block)) {
		h->failed = true;
		return;
	}
	blocks->count[(size_t)(block - blocks->first) * NW_BUCKETS +
		      bucket_of(magnitude, block)] += times;
}

static inline void add_moments(struct nw_histogram *h, double value)
{
	double shifted = value - h->origin;
	h->shifted_sum += shifted;
	h->shifted_squares += shifted * shifted;
}

/* What a value is among signed ones: what is too large counts as the largest. */
static inline uint64_t as_signed(uint64_t value)
{
	return nw_min64(value, INT64_MAX);
}

/* Arguments may be signed at one site of a probe and unsigned at another. */
static void become_signed(struct nw_histogram *h)
{
	struct nw_blocks *blocks = &h->values;
	unsigned int top = NW_BLOCKS - 1;
	uint64_t too_large = 0;

	h->is_signed = true;
	if (!h->count)
		return;
	h->min = as_signed(h->min);
	h->max = as_signed(h->max);
	h->sum = as_signed(h->sum);
	if (top - blocks->first >= blocks->used)
		return;
	for (unsigned int i = 0; i < NW_BUCKETS; i++) {
		uint64_t *count =
			&blocks->count[(size_t)(top - blocks->first) * NW_BUCKETS + i];
		too_large += *count;
		*count = 0;
	}
	if (too_large)
		count_value(h, blocks, INT64_MAX, too_large);
}

void nw_histogram_add(struct nw_histogram *h, uint64_t value)
{
	if (nw_unlikely(h->is_signed)) {
		nw_histogram_add_signed(h, (int64_t)as_signed(value));
		return;
	}
	if (nw_unlikely(h->count == 0)) {
		h->min = h->max = value;
		h->origin = (double)value;
	}
	add_moments(h, (double)value);
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	if (__builtin_add_overflow(h->sum, value, &h->sum))
		h->sum = UINT64_MAX;
	h->count++;
	count_value(h, &h->values, value, 1);
}

static void add_signed_sum(struct nw_histogram *h, int64_t value)
{
	int64_t sum;

	if (__builtin_add_overflow((int64_t)h->sum, value, &sum))
		sum = value < 0 ? INT64_MIN : INT64_MAX;
	h->sum = (uint64_t)sum;
}

void nw_histogram_add_signed(struct nw_histogram *h, int64_t value)
{
	if (nw_unlikely(!h->is_signed))
		become_signed(h);
	if (nw_unlikely(h->count == 0)) {
		h->min = h->max = (uint64_t)value;
		h->origin = (double)value;
	}
	add_moments(h, (double)value);
	if (value < (int64_t)h->min)
		h->min = (uint64_t)value;
	if (value > (int64_t)h->max)
		h->max = (uint64_t)value;
	add_signed_sum(h, value);
	h->count++;
	if (value < 0)
		count_value(h, &h->negatives, -(uint64_t)value, 1);
	else
		count_value(h, &h->values, (uint64_t)value, 1);
}

static void merge_blocks(struct nw_histogram *into, struct nw_blocks *to,
			 const struct nw_blocks *from, uint64_t most)
{
	for (unsigned int b = 0; b < from->used; b++) {
		for (unsigned int i = 0; i < NW_BUCKETS; i++) {
			uint64_t times = from->count[(size_t)b * NW_BUCKETS + i];
			if (times)
				count_value(into, to,
					    nw_min64(bucket_low(from->first + b, i), most),
					    times);
		}
	}
}

/* Bring the other's moments to our origin: sums of (x - o) and (x - o)^2. */
static void merge_moments(struct nw_histogram *into, const struct nw_histogram *from)
{
	if (into->count == 0)
		into->origin = from->origin;
	double move = from->origin - into->origin, n = (double)from->count;
	into->shifted_squares += from->shifted_squares + 2 * move * from->shifted_sum +
				 n * move * move;
	into->shifted_sum += from->shifted_sum + n * move;
}

static void merge_range(struct nw_histogram *into, const struct nw_histogram *from)
{
	bool first = into->count == 0;

	if (into->is_signed) {
		bool same = from->is_signed;
		int64_t min = (int64_t)(same ? from->min : as_signed(from->min));
		int64_t max = (int64_t)(same ? from->max : as_signed(from->max));
		if (first || min < (int64_t)into->min)
			into->min = (uint64_t)min;
		if (first || max > (int64_t)into->max)
			into->max = (uint64_t)max;
		add_signed_sum(into, (int64_t)(same ? from->sum : as_signed(from->sum)));
		return;
	}
	if (first || from->min < into->min)
		into->min = from->min;
	if (first || from->max > into->max)
		into->max = from->max;
	if (__builtin_add_overflow(into->sum, from->sum, &into->sum))
		into->sum = UINT64_MAX;
}

void nw_histogram_merge(struct nw_histogram *into, const struct nw_histogram *from)
{
	if (!from->count)
		return;
	if (from->is_signed && !into->is_signed)
		become_signed(into);
	into->failed |= from->failed;
	merge_moments(into, from);
	merge_range(into, from);
	into->count += from->count;
	merge_blocks(into, &into->values, &from->values,
		     into->is_signed ? INT64_MAX : UINT64_MAX);
	merge_blocks(into, &into->negatives, &from->negatives, UINT64_MAX);
}

static void clear_blocks(struct nw_blocks *blocks)
{
	if (blocks->used)
		memset(blocks->count, 0,
		       (size_t)blocks->used * NW_BUCKETS * sizeof(*blocks->count));
}

void nw_histogram_clear(struct nw_histogram *h)
{
	clear_blocks(&h->values);
	clear_blocks(&h->negatives);
	*h = (struct nw_histogram){.values = h->values, .negatives = h->negatives};
}

void nw_histogram_free(struct nw_histogram *h)
{
	free(h->values.count);
	free(h->negatives.count);
	*h = (struct nw_histogram){0};
}

double nw_histogram_mean(const struct nw_histogram *h)
{
	return h->count ? h->origin + h->shifted_sum / (double)h->count : 0;
}

double nw_histogram_stddev(const struct nw_histogram *h)
{
	if (!h->count)
		return 0;
	double n = (double)h->count, mean = h->shifted_sum / n;
	double variance = h->shifted_squares / n - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
}

/* Bucket number `at` counted from the smallest value: negatives backwards, then the rest. */
static bool bucket_at(const struct nw_histogram *h, unsigned int at, struct nw_bucket *out)
{
	const unsigned int all = NW_BLOCKS * NW_BUCKETS;
	bool is_negative = at < all;
	unsigned int number = is_negative ? all - 1 - at : at - all;
	unsigned int block = number / NW_BUCKETS, bucket = number % NW_BUCKETS;
	const struct nw_blocks *blocks = is_negative ? &h->negatives : &h->values;

	if (block - blocks->first >= blocks->used)
		return false;
	uint64_t count =
		blocks->count[(size_t)(block - blocks->first) * NW_BUCKETS + bucket];
	if (!count)
		return false;
	out->count = count;
	out->low = bucket_low(block, bucket);
	out->high = bucket_high(block, bucket);
	if (is_negative) { /* the last bucket holds nothing but INT64_MIN */
		uint64_t largest = nw_min64(out->high, (uint64_t)INT64_MAX + 1);
		out->high = -out->low;
		out->low = -largest;
	}
	return true;
}

bool nw_histogram_next(const struct nw_histogram *h, unsigned int *at,
		       struct nw_bucket *out)
{
	const unsigned int all = NW_BLOCKS * NW_BUCKETS;

	if (*at == 0 && !h->is_signed)
		*at = all;
	while (*at < 2 * all)
		if (bucket_at(h, (*at)++, out))
			return true;
	return false;
}

static uint64_t clamp(const struct nw_histogram *h, uint64_t value)
{
	if (h->is_signed) {
		if ((int64_t)value > (int64_t)h->max)
			return h->max;
		return (int64_t)value < (int64_t)h->min ? h->min : value;
	}
	return value > h->max ? h->max : value < h->min ? h->min : value;
}

uint64_t nw_histogram_percentile(const struct nw_histogram *h, double p)
{
	double exact = ceil(p * (double)h->count);
	uint64_t rank = exact < 1 ? 1 : (uint64_t)exact, seen = 0;
	struct nw_bucket bucket;
	unsigned int at = 0;

	if (!h->count)
		return 0;
	while (nw_histogram_next(h, &at, &bucket)) {
		seen += bucket.count;
		if (seen >= rank)
			return clamp(h, bucket.high);
	}
	return h->max;
}
