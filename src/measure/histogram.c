// SPDX-License-Identifier: MIT
/* Log-linear histograms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"

/* Returns the smallest value of a bucket. */
static uint64_t bucket_low(unsigned int bucket)
{
	unsigned int block = bucket / NW_BUCKETS, in_block = bucket % NW_BUCKETS;

	return block ? (uint64_t)(NW_BUCKETS + in_block) << (block - 1) : bucket;
}

static uint64_t bucket_high(unsigned int bucket)
{
	unsigned int block = bucket / NW_BUCKETS;

	return block ? bucket_low(bucket) + (((uint64_t)1 << (block - 1)) - 1) : bucket;
}

struct nw_bucket nw_histogram_bucket_of(uint64_t value)
{
	unsigned int bucket = nw_histogram_bucket(value);

	return (struct nw_bucket){.low = bucket_low(bucket), .high = bucket_high(bucket)};
}

/* Makes room for a bucket and the rest of its block, at either end. */
static bool reach(struct nw_blocks *blocks, unsigned int bucket)
{
	unsigned int first = bucket / NW_BUCKETS * NW_BUCKETS, end = first + NW_BUCKETS;

	if (bucket - blocks->first < blocks->used)
		return true;
	if (blocks->used) {
		unsigned int known = blocks->first + blocks->used;
		first = blocks->first < first ? blocks->first : first;
		end = known > end ? known : end;
	}
	uint64_t *count = calloc(end - first, sizeof(*count));
	if (!count)
		return false;
	if (blocks->used)
		memcpy(count + (blocks->first - first), blocks->count,
		       blocks->used * sizeof(*count));
	free(blocks->count);
	blocks->count = count;
	blocks->first = first;
	blocks->used = end - first;
	return true;
}

void nw_histogram_count_far(struct nw_histogram *h, struct nw_blocks *blocks,
			    unsigned int bucket, uint64_t times)
{
	if (reach(blocks, bucket))
		blocks->count[bucket - blocks->first] += times;
	else
		h->failed = true;
}

/* ---- moments ------------------------------------------------------------------------ */

#define PLAIN (1ull << 32) /* squares of values below this fit into 64 bits */
#define EXACT \
	(1ull \
	 << 42) /* squares of values below this fit into 128 bits, however many there are */

/* A number of 128 bits, also on 32-bit machines. It wraps as unsigned numbers do. */
struct wide {
	uint64_t low, high;
};

static struct wide wide_product(uint64_t a, uint64_t b)
{
	uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b,
		 b_high = b >> 32;
	uint64_t low = a_low * b_low, cross = a_high * b_low + (low >> 32);
	uint64_t middle = a_low * b_high + (uint32_t)cross;

	return (struct wide){middle << 32 | (uint32_t)low,
			     a_high * b_high + (cross >> 32) + (middle >> 32)};
}

static struct wide wide_minus(struct wide a, struct wide b)
{
	uint64_t borrow = a.low < b.low;

	return (struct wide){a.low - b.low, a.high - b.high - borrow};
}

static void add_squares(struct nw_histogram *h, struct wide more)
{
	h->squares_high += more.high;
	h->squares_high += nw_add_overflows(h->squares, more.low, &h->squares);
}

/* Sums of (x - origin) and of its square. */
struct moments {
	double origin, sum, squares;
};

/*
 * Exact sums are moved to the mean without rounding: if o is the integer part of the mean, and r what the sum S
 * exceeds n o by, the sum of squares Q becomes Q - 2 o S + n o^2 = Q - o S - o r.
 */
static struct moments moments_of(const struct nw_histogram *h)
{
	struct wide squares = {h->squares, h->squares_high};

	if (h->rough)
		return (struct moments){h->origin, h->shifted_sum, h->shifted_squares};
	if (!h->count)
		return (struct moments){0};
	uint64_t origin = h->sum / h->count, rest = h->sum % h->count;
	squares = wide_minus(squares, wide_product(origin, h->sum));
	squares = wide_minus(squares, wide_product(origin, rest));
	return (struct moments){(double)origin, (double)rest,
				(double)squares.high * 0x1p64 + (double)squares.low};
}

static void become_rough(struct nw_histogram *h)
{
	struct moments moments = moments_of(h);

	h->rough = true;
	h->usual = 0;
	h->origin = moments.origin;
	h->shifted_sum = moments.sum;
	h->shifted_squares = moments.squares;
}

static void add_rough(struct nw_histogram *h, double value)
{
	if (!h->rough)
		become_rough(h);
	if (!h->count)
		h->origin = value;
	double shifted = value - h->origin;
	h->shifted_sum += shifted;
	h->shifted_squares += shifted * shifted;
}

/* Adds exact sums if both histograms have them; otherwise moves the moments of `from` to the origin of `into`. */
static void merge_moments(struct nw_histogram *into, const struct nw_histogram *from)
{
	if (!into->rough && !from->rough && !((into->sum | from->sum) >> 63)) {
		add_squares(into, (struct wide){from->squares, from->squares_high});
		return;
	}
	struct moments other = moments_of(from);
	if (!into->rough)
		become_rough(into);
	if (!into->count)
		into->origin = other.origin;
	double move = other.origin - into->origin, n = (double)from->count;
	into->shifted_squares += other.squares + 2 * move * other.sum + n * move * move;
	into->shifted_sum += other.sum + n * move;
}

/* ---- values ------------------------------------------------------------------------- */

/* Converts an unsigned value to a signed one; a value that is too large becomes the largest. */
static inline uint64_t as_signed(uint64_t value)
{
	return nw_min64(value, INT64_MAX);
}

/* Converts the histogram: an argument may be signed at one site of a probe and unsigned at another. */
static void become_signed(struct nw_histogram *h)
{
	struct nw_blocks *blocks = &h->values;
	unsigned int top = (NW_BLOCKS - 1) * NW_BUCKETS;
	uint64_t too_large = 0;

	if (!h->rough)
		become_rough(h);
	h->is_signed = true;
	if (!h->count)
		return;
	h->min = as_signed(h->min);
	h->max = as_signed(h->max);
	h->sum = as_signed(h->sum);
	if (top - blocks->first >= blocks->used)
		return;
	for (unsigned int i = 0; i < NW_BUCKETS; i++) {
		uint64_t *count = &blocks->count[top - blocks->first + i];
		too_large += *count;
		*count = 0;
	}
	if (too_large)
		nw_histogram_count(h, blocks, INT64_MAX, too_large);
}

void nw_histogram_add_unusual(struct nw_histogram *h, uint64_t value)
{
	if (h->is_signed) {
		nw_histogram_add_signed(h, (int64_t)as_signed(value));
		return;
	}
	if (h->rough || value >= EXACT || h->sum >> 63)
		add_rough(h, (double)value);
	else
		add_squares(h, wide_product(value, value));
	h->min = h->count ? nw_min64(h->min, value) : value;
	h->max = nw_max64(h->max, value);
	if (nw_add_overflows(h->sum, value, &h->sum))
		h->sum = UINT64_MAX;
	h->count++;
	nw_histogram_count(h, &h->values, value, 1);
	/* All values between min and max have a bucket now, and adding one of them cannot wrap the sum. */
	bool none = h->rough || h->failed || h->sum >> 63 || h->min >= PLAIN;
	h->usual = none ? 0 : nw_min64(h->max, PLAIN - 1) - h->min + 1;
}

void nw_histogram_add(struct nw_histogram *h, uint64_t value)
{
	nw_histogram_add_here(h, value);
}

void nw_histogram_add_times(struct nw_histogram *h, uint64_t value, uint32_t times)
{
	/* The first value sets the least and the largest one and makes the bucket. */
	for (bool first = true; times && (first || value - h->min >= h->usual);
	     first = false) {
		nw_histogram_add_here(h, value);
		times--;
	}
	if (!times)
		return;
	add_squares(h, wide_product(value * value, times));
	h->count += times;
	h->sum += value * times;
	if (h->sum >> 63)
		h->usual = 0;
	nw_histogram_count(h, &h->values, value, times);
}

static void add_signed_sum(struct nw_histogram *h, int64_t value)
{
	int64_t sum;

	if (nw_add_overflows_signed((int64_t)h->sum, value, &sum))
		sum = value < 0 ? INT64_MIN : INT64_MAX;
	h->sum = (uint64_t)sum;
}

void nw_histogram_add_signed(struct nw_histogram *h, int64_t value)
{
	if (nw_unlikely(!h->is_signed))
		become_signed(h);
	add_rough(h, (double)value);
	if (!h->count)
		h->min = h->max = (uint64_t)value;
	if (value < (int64_t)h->min)
		h->min = (uint64_t)value;
	if (value > (int64_t)h->max)
		h->max = (uint64_t)value;
	add_signed_sum(h, value);
	h->count++;
	if (value < 0)
		nw_histogram_count(h, &h->negatives, -(uint64_t)value, 1);
	else
		nw_histogram_count(h, &h->values, (uint64_t)value, 1);
}

/* Would the sum of these values, which are `above` more than `count` times `low`, be too large for its type? */
static bool sum_wraps(const struct nw_counted *c, uint64_t above)
{
	const bool negative = c->is_signed && (int64_t)c->low < 0;
	uint64_t size;

	return nw_mul_overflows(negative ? -c->low : c->low, c->count, &size) ||
	       (!negative && nw_add_overflows(size, above, &size)) ||
	       (c->is_signed && size > (uint64_t)INT64_MAX + negative);
}

void nw_histogram_add_summed(struct nw_histogram *h, const struct nw_counted *c)
{
	if (!c->count)
		return;
	/* A sum that has wrapped around still tells this: it is less than the bucket's width, `count` times. */
	const uint64_t above = c->sum - c->count * c->low, more = c->count - 1;
	const uint64_t mean = c->low + above / c->count;
	const bool negative = c->is_signed && (int64_t)mean < 0;

	if (c->is_signed)
		nw_histogram_add_signed(h, (int64_t)mean);
	else
		nw_histogram_add_unusual(h, mean);
	h->usual = 0; /* the next value sets it */
	if (!h->rough)
		become_rough(h);
	const double low = c->is_signed ? (double)(int64_t)c->low : (double)c->low;
	const double middle = c->is_signed ? (double)(int64_t)mean : (double)mean;
	const double from_origin = middle - h->origin;
	h->shifted_sum += (low - h->origin) * (double)more +
			  (double)(above - above / c->count);
	h->shifted_squares += from_origin * from_origin * (double)more;
	h->count += more;
	uint64_t rest = c->sum - mean;
	if (sum_wraps(c, above))
		rest = !c->is_signed ? UINT64_MAX : (uint64_t)INT64_MAX + negative;
	if (h->is_signed)
		add_signed_sum(h, (int64_t)rest);
	else if (nw_add_overflows(h->sum, rest, &h->sum))
		h->sum = UINT64_MAX;
	if (more)
		nw_histogram_count(h, negative ? &h->negatives : &h->values,
				   negative ? -mean : mean, more);
}

/* The buckets between the least and the largest value. All others are empty, and after a single large value they are many. */
static struct nw_blocks buckets_in_use(const struct nw_histogram *h)
{
	struct nw_blocks part = h->values;

	if (h->is_signed)
		return part;
	unsigned int low = nw_histogram_bucket(h->min), high = nw_histogram_bucket(h->max);
	unsigned int end = part.first + part.used;
	if (!h->count || low >= end || high < part.first)
		return (struct nw_blocks){0};
	low = low > part.first ? low : part.first;
	part.count += low - part.first;
	part.used = (high < end ? high + 1 : end) - low;
	part.first = low;
	return part;
}

/* Merges buckets one by one, after making room for all of them. */
static bool merge_same(struct nw_blocks *to, const struct nw_blocks *from)
{
	if (!from->used)
		return true;
	if (!reach(to, from->first) || !reach(to, from->first + from->used - 1))
		return false;
	uint64_t *count = to->count + (from->first - to->first);
	for (unsigned int i = 0; i < from->used; i++)
		count[i] += from->count[i];
	return true;
}

static void merge_blocks(struct nw_histogram *into, struct nw_blocks *to,
			 const struct nw_blocks *from, uint64_t most)
{
	if (nw_likely(most == UINT64_MAX) && merge_same(to, from))
		return;
	for (unsigned int i = 0; i < from->used; i++)
		if (from->count[i])
			nw_histogram_count(into, to,
					   nw_min64(bucket_low(from->first + i), most),
					   from->count[i]);
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
	if (nw_add_overflows(into->sum, from->sum, &into->sum))
		into->sum = UINT64_MAX;
}

/* Without equal steps of all values there are none: those of some would be too few. */
static void merge_linear(struct nw_histogram *into, const struct nw_histogram *from)
{
	const struct nw_linear_shape *shape = from->linear ? &from->linear->shape : NULL;
	bool fits = shape && (into->linear ? nw_linear_is_same(&into->linear->shape, shape)
					   : !into->count);

	if (fits && !into->linear) {
		into->linear = nw_linear_new(shape);
		into->failed |= !into->linear;
	}
	if (fits && into->linear) {
		nw_linear_merge(into->linear, from->linear);
	} else {
		free(into->linear);
		into->linear = NULL;
	}
}

void nw_histogram_merge(struct nw_histogram *into, const struct nw_histogram *from)
{
	if (!from->count)
		return;
	merge_linear(into, from);
	if (from->is_signed && !into->is_signed)
		become_signed(into);
	into->failed |= from->failed;
	into->usual = 0; /* the next value sets it */
	merge_moments(into, from);
	merge_range(into, from);
	into->count += from->count;
	const struct nw_blocks values = buckets_in_use(from);
	merge_blocks(into, &into->values, &values,
		     into->is_signed ? INT64_MAX : UINT64_MAX);
	merge_blocks(into, &into->negatives, &from->negatives, UINT64_MAX);
}

void nw_histogram_restore(struct nw_histogram *h, double mean, double stddev)
{
	h->rough = true;
	h->origin = mean;
	h->shifted_squares = stddev * stddev * (double)h->count;
}

bool nw_histogram_restore_bucket(struct nw_histogram *h, const struct nw_bucket *bucket)
{
	bool is_negative = h->is_signed && (int64_t)bucket->high < 0;
	uint64_t low = is_negative ? -bucket->high : bucket->low;
	uint64_t high = is_negative ? -bucket->low : bucket->high;
	unsigned int number = nw_histogram_bucket(low);
	uint64_t end = bucket_high(number);

	if (is_negative)
		end = nw_min64(end, (uint64_t)INT64_MAX + 1);
	if (bucket_low(number) != low || end != high)
		return false;
	nw_histogram_count(h, is_negative ? &h->negatives : &h->values, low, bucket->count);
	return true;
}

static void clear_blocks(struct nw_blocks *blocks)
{
	if (blocks->used)
		memset(blocks->count, 0, blocks->used * sizeof(*blocks->count));
}

void nw_histogram_clear(struct nw_histogram *h)
{
	struct nw_blocks values = buckets_in_use(h);

	clear_blocks(&values);
	clear_blocks(&h->negatives);
	if (h->linear)
		nw_linear_clear(h->linear);
	*h = (struct nw_histogram){
		.values = h->values, .negatives = h->negatives, .linear = h->linear};
}

void nw_histogram_free(struct nw_histogram *h)
{
	free(h->values.count);
	free(h->negatives.count);
	free(h->linear);
	*h = (struct nw_histogram){0};
}

double nw_histogram_mean(const struct nw_histogram *h)
{
	struct moments moments = moments_of(h);

	return h->count ? moments.origin + moments.sum / (double)h->count : 0;
}

double nw_histogram_stddev(const struct nw_histogram *h)
{
	if (!h->count)
		return 0;
	struct moments moments = moments_of(h);
	double n = (double)h->count, mean = moments.sum / n;
	double variance = moments.squares / n - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
}

/* Reads bucket number `at`, counted from the smallest value: negative buckets backwards, then the others. */
static bool bucket_at(const struct nw_histogram *h, unsigned int at, struct nw_bucket *out)
{
	const unsigned int all = NW_BLOCKS * NW_BUCKETS;
	bool is_negative = at < all;
	unsigned int bucket = is_negative ? all - 1 - at : at - all;
	const struct nw_blocks *blocks = is_negative ? &h->negatives : &h->values;

	if (bucket - blocks->first >= blocks->used ||
	    !blocks->count[bucket - blocks->first])
		return false;
	out->count = blocks->count[bucket - blocks->first];
	out->low = bucket_low(bucket);
	out->high = bucket_high(bucket);
	if (is_negative) { /* the last negative bucket holds only INT64_MIN */
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
	if (*at >= all) { /* skips empty buckets, of which there are many */
		const struct nw_blocks *blocks = &h->values;
		unsigned int i = *at - all > blocks->first ? *at - all - blocks->first : 0;
		while (i < blocks->used && !blocks->count[i])
			i++;
		*at = i < blocks->used ? all + blocks->first + i : 2 * all;
	}
	while (*at < 2 * all)
		if (bucket_at(h, (*at)++, out))
			return true;
	return false;
}

/* Cuts a bucket to the range of the values: none is below min or above max. */
static void cut_to_range(const struct nw_histogram *h, struct nw_bucket *bucket)
{
	bool is_signed = h->is_signed;

	if (is_signed ? (int64_t)bucket->low < (int64_t)h->min : bucket->low < h->min)
		bucket->low = h->min;
	if (is_signed ? (int64_t)bucket->high > (int64_t)h->max : bucket->high > h->max)
		bucket->high = h->max;
}

/* Returns the range of values in the bucket that holds a rank. Rank 1 is the smallest value. */
static struct nw_bucket bucket_of_rank(const struct nw_histogram *h, uint64_t rank)
{
	struct nw_bucket bucket = {.low = h->max, .high = h->max};
	unsigned int at = 0;
	uint64_t seen = 0;

	if (rank == h->count)
		return bucket;
	if (rank == 1)
		return (struct nw_bucket){.low = h->min, .high = h->min};
	while (nw_histogram_next(h, &at, &bucket)) {
		seen += bucket.count;
		if (seen < rank)
			continue;
		cut_to_range(h, &bucket);
		return bucket;
	}
	return (struct nw_bucket){.low = h->max, .high = h->max};
}

static uint64_t rank_of(const struct nw_histogram *h, double p)
{
	/* stored, so that it has 53 bits on i386, too: with the 64 of its registers 0.9 * 20 is more than 18 */
	const volatile double product = p * (double)h->count;
	const double exact = ceil(product);

	return exact < 1 ? 1 : (uint64_t)exact;
}

uint64_t nw_histogram_percentile(const struct nw_histogram *h, double p)
{
	struct nw_bucket bucket = {0};

	if (h->count)
		bucket = bucket_of_rank(h, rank_of(h, p));
	return bucket.low + (bucket.high - bucket.low) / 2;
}

uint64_t nw_histogram_percentile_most(const struct nw_histogram *h, double p)
{
	return h->count ? bucket_of_rank(h, rank_of(h, p)).high : 0;
}
