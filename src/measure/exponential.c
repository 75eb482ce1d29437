// SPDX-License-Identifier: MIT
/* See exponential.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "exponential.h"

enum {
	PER_POWER = 1 << NW_EXPONENTIAL_SCALE
};

/* Returns the number of the bucket, at the finest scale, of the magnitudes low..high. */
static int32_t index_of(uint64_t low, uint64_t high)
{
	int power = 63 ^ __builtin_clzll(low);
	/* exact: below 2, in units of 2^power */
	double ratio = ldexp((double)low, -power);

	if (low == high && ratio == 1) /* the upper end belongs to the bucket */
		return power * PER_POWER - 1;
	if (low != high)
		ratio += ldexp((double)(high - low + 1), -power) / 2;
	return power * PER_POWER + (int32_t)floor(PER_POWER * log2(ratio));
}

/* The first and the last bucket of one side. */
struct range {
	int32_t first, last;
	bool any;
};

static void stretch(struct range *range, int32_t index)
{
	range->first = !range->any || index < range->first ? index : range->first;
	range->last = !range->any || index > range->last ? index : range->last;
	range->any = true;
}

/* A bucket of ours in an exponential histogram. */
struct part {
	bool negative, zero;
	int32_t index;
	uint64_t count;
};

static bool next_part(const struct nw_histogram *h, unsigned int *at, struct part *out)
{
	struct nw_bucket bucket;

	if (!nw_histogram_next(h, at, &bucket))
		return false;
	bool negative = h->is_signed && (int64_t)bucket.high < 0;
	uint64_t low = negative ? -bucket.high : bucket.low;
	uint64_t high = negative ? -bucket.low : bucket.high;
	*out = (struct part){.negative = negative, .zero = !high, .count = bucket.count};
	if (high)
		out->index = index_of(low, high);
	return true;
}

/* Returns by how many halvings of the scale a range has at most `most` buckets. A shift of a negative index rounds down. */
static int halvings(const struct range *range, size_t most)
{
	int down = 0;

	while (range->any &&
	       (size_t)((range->last >> down) - (range->first >> down)) >= most)
		down++;
	return down;
}

static int make_room(struct nw_exponential_side *side, const struct range *range, int down)
{
	side->offset = range->any ? range->first >> down : 0;
	for (int32_t i = range->first >> down; range->any && i <= range->last >> down; i++)
		if (!nw_vec_add(&side->counts))
			return -ENOMEM;
	return 0;
}

int nw_exponential_make(const struct nw_histogram *h, size_t most,
			struct nw_exponential *out)
{
	struct range positive = {0}, negative = {0};
	struct part part;

	*out = (struct nw_exponential){.scale = NW_EXPONENTIAL_SCALE};
	for (unsigned int at = 0; next_part(h, &at, &part);)
		if (!part.zero)
			stretch(part.negative ? &negative : &positive, part.index);
	int down = halvings(&positive, most), other = halvings(&negative, most);
	down = other > down ? other : down;
	out->scale -= down;
	if (make_room(&out->positive, &positive, down) < 0 ||
	    make_room(&out->negative, &negative, down) < 0) {
		nw_exponential_free(out);
		return -ENOMEM;
	}
	for (unsigned int at = 0; next_part(h, &at, &part);) {
		struct nw_exponential_side *side = part.negative ? &out->negative
								 : &out->positive;
		if (part.zero)
			out->zero += part.count;
		else
			side->counts.item[(part.index >> down) - side->offset] +=
				part.count;
	}
	return 0;
}

void nw_exponential_free(struct nw_exponential *exponential)
{
	nw_vec_free(&exponential->positive.counts);
	nw_vec_free(&exponential->negative.counts);
}
