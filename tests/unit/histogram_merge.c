// SPDX-License-Identifier: MIT
/* summary: histograms of signed values, of both kinds, and merged ones. */
#include <math.h>

#include "measure/histogram.h"
#include "measure/summary.h"
#include "unit.h"

/* The same figures and the same buckets, whatever memory stands behind them. */
static void expect_same(const struct nw_histogram *a, const struct nw_histogram *b)
{
	unsigned int x = 0, y = 0;
	struct nw_bucket left, right;

	ck_assert_uint_eq(a->count, b->count);
	ck_assert_uint_eq(a->sum, b->sum);
	ck_assert_uint_eq(a->min, b->min);
	ck_assert_uint_eq(a->max, b->max);
	ck_assert(a->is_signed == b->is_signed);
	ck_assert_double_eq_tol(nw_histogram_mean(a), nw_histogram_mean(b),
				1e-9 * fabs(nw_histogram_mean(b)) + 1e-9);
	ck_assert_double_eq_tol(nw_histogram_stddev(a), nw_histogram_stddev(b),
				1e-6 * nw_histogram_stddev(b) + 1e-6);
	while (nw_histogram_next(a, &x, &left)) {
		ck_assert(nw_histogram_next(b, &y, &right));
		ck_assert_uint_eq(left.low, right.low);
		ck_assert_uint_eq(left.high, right.high);
		ck_assert_uint_eq(left.count, right.count);
	}
	ck_assert(!nw_histogram_next(b, &y, &right));
}

/* A value that is signed or not; sums of a thousand stay far from the end. */
struct value {
	bool is_signed;
	uint64_t number;
};

static struct value random_value(uint64_t *state, bool may_be_signed, unsigned int bits)
{
	uint64_t r = unit_random(state), number = (r >> (64 - bits)) >> (r >> 1) % bits;

	if (!may_be_signed || r & 1)
		return (struct value){false, number};
	return (struct value){true, r & 256 ? -number : number};
}

static void add(struct nw_histogram *h, struct value value)
{
	if (value.is_signed)
		nw_histogram_add_signed(h, (int64_t)value.number);
	else
		nw_histogram_add(h, value.number);
}

enum {
	PIECES = 5,
	VALUES = 400
};

/* All orders of merging give what adding all values to one gives. */
static void check_merges(uint64_t seed, bool may_be_signed, unsigned int bits)
{
	struct nw_histogram piece[PIECES] = {0}, whole = {0}, left = {0}, right = {0};
	uint64_t state = seed;

	for (unsigned int i = 0; i < VALUES; i++) {
		/* the last piece stays empty, the first is of one kind only */
		unsigned int number = (unsigned int)(unit_random(&state) % (PIECES - 1));
		struct value value = random_value(&state, may_be_signed && number, bits);
		add(&piece[number], value);
		add(&whole, value);
	}
	for (unsigned int i = 0; i < PIECES; i++) /* (((0 + 1) + 2) + 3) + 4 */
		nw_histogram_merge(&left, &piece[i]);
	expect_same(&left, &whole);
	for (unsigned int i = PIECES; i-- > 1;) /* 0 + (1 + (2 + (3 + 4))) */
		nw_histogram_merge(&piece[i - 1], &piece[i]);
	expect_same(&piece[0], &whole);
	nw_histogram_merge(&right, &left); /* into an empty one */
	expect_same(&right, &whole);
	nw_histogram_clear(&right); /* and into one that was cleared */
	nw_histogram_merge(&right, &left);
	expect_same(&right, &whole);
	for (unsigned int i = 0; i < PIECES; i++)
		nw_histogram_free(&piece[i]);
	nw_histogram_free(&whole);
	nw_histogram_free(&left);
	nw_histogram_free(&right);
}

START_TEST(merging_in_any_order_is_adding_all)
{
	/* moments that are exact, hardly, and not */
	static const unsigned int bits[] = {31, 41, 50};

	for (size_t i = 0; i < NW_COUNT(bits); i++)
		for (uint64_t seed = 0; seed < 100; seed++)
			check_merges(seed, false, bits[i]);
}
END_TEST

START_TEST(merging_signed_and_unsigned_values_is_adding_all)
{
	for (uint64_t seed = 0; seed < 100; seed++)
		check_merges(seed, true, 50);
}
END_TEST

START_TEST(signed_values_are_walked_from_the_smallest)
{
	static const int64_t values[] = {5,   -1,	0,  -64,       -65,
					 100, -1000000, -1, INT64_MIN, INT64_MAX};
	static const struct {
		int64_t low, high;
		uint64_t count;
	} wanted[] = {
		{INT64_MIN, INT64_MIN, 1},
		{-1015807, -999424, 1},
		{-65, -64, 2},
		{-1, -1, 2},
		{0, 0, 1},
		{5, 5, 1},
		{100, 101, 1},
		{0x7e00000000000000, INT64_MAX, 1},
	};
	struct nw_histogram h = {0};
	struct nw_bucket bucket;
	unsigned int at = 0;

	for (size_t i = 0; i < NW_COUNT(values); i++)
		nw_histogram_add_signed(&h, values[i]);
	ck_assert_int_eq((int64_t)h.min, INT64_MIN);
	ck_assert_int_eq((int64_t)h.max, INT64_MAX);
	for (size_t i = 0; i < NW_COUNT(wanted); i++) {
		ck_assert(nw_histogram_next(&h, &at, &bucket));
		ck_assert_int_eq((int64_t)bucket.low, wanted[i].low);
		ck_assert_int_eq((int64_t)bucket.high, wanted[i].high);
		ck_assert_uint_eq(bucket.count, wanted[i].count);
	}
	ck_assert(!nw_histogram_next(&h, &at, &bucket));
	nw_histogram_free(&h);
}
END_TEST

START_TEST(percentiles_of_signed_values_are_signed)
{
	static const struct {
		double p;
		int64_t value;
	} cases[] = {{0.1, -1000}, {0.2, -65}, {0.4, -1}, {0.5, 0}, {0.7, 5}, {1, 100}};
	static const int64_t values[] = {-1000, -65, -1, -1, 0, 5, 5, 100, 100, 100};
	struct nw_histogram h = {0};

	for (size_t i = 0; i < NW_COUNT(values); i++)
		nw_histogram_add_signed(&h, values[i]);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		int64_t seen = (int64_t)nw_histogram_percentile(&h, cases[i].p);
		/* the first rank is known exactly; -65 and the others have buckets of at most two */
		ck_assert_int_eq(seen, cases[i].value);
	}
	ck_assert_int_eq((int64_t)h.sum, -1000 - 65 - 2 + 310);
	ck_assert_double_eq_tol(nw_histogram_mean(&h), -75.7, 1e-9);
	nw_histogram_free(&h);
	nw_histogram_add_signed(&h, -1000); /* the bound is cut to the largest value */
	ck_assert_int_eq((int64_t)nw_histogram_percentile(&h, 0.5), -1000);
	nw_histogram_free(&h);
}
END_TEST

/* What an argument is that is signed at one site of its probe and unsigned at another. */
START_TEST(signed_and_unsigned_values_live_side_by_side)
{
	static const struct value values[][3] = {
		{{true, (uint64_t)-5}, {false, 3}, {false, 100}},
		{{false, 3}, {true, (uint64_t)-5}, {false, 100}},
		{{false, 100}, {false, 3}, {true, (uint64_t)-5}},
	};

	for (size_t i = 0; i < NW_COUNT(values); i++) {
		struct nw_histogram h = {0};
		for (size_t j = 0; j < 3; j++)
			add(&h, values[i][j]);
		ck_assert(h.is_signed);
		ck_assert_int_eq((int64_t)h.min, -5);
		ck_assert_int_eq((int64_t)h.max, 100);
		ck_assert_int_eq((int64_t)h.sum, 98);
		ck_assert_int_eq((int64_t)nw_histogram_percentile(&h, 0.5), 3);
		nw_histogram_free(&h);
	}
}
END_TEST

START_TEST(among_signed_values_too_large_ones_count_as_the_largest)
{
	/* unsigned values first, last, and merged from either side */
	struct nw_histogram h[4] = {0}, large = {0}, small = {0};

	nw_histogram_add(&large, UINT64_MAX - 7);
	nw_histogram_add(&large, 3);
	nw_histogram_add_signed(&small, -5);
	nw_histogram_add(&h[0], UINT64_MAX - 7);
	nw_histogram_add(&h[0], 3);
	nw_histogram_add_signed(&h[0], -5);
	nw_histogram_add_signed(&h[1], -5);
	nw_histogram_add(&h[1], UINT64_MAX - 7);
	nw_histogram_add(&h[1], 3);
	nw_histogram_merge(&h[2], &large);
	nw_histogram_merge(&h[2], &small);
	nw_histogram_merge(&h[3], &small);
	nw_histogram_merge(&h[3], &large);
	for (size_t i = 0; i < NW_COUNT(h); i++) {
		struct nw_bucket bucket;
		unsigned int at = 0;
		while (nw_histogram_next(&h[i], &at, &bucket))
			;
		ck_assert_int_eq((int64_t)bucket.high, INT64_MAX);
		ck_assert_uint_eq(bucket.count, 1);
		ck_assert_int_eq((int64_t)h[i].min, -5);
		ck_assert_int_eq((int64_t)h[i].max, INT64_MAX);
		ck_assert_uint_eq(h[i].count, 3);
		ck_assert_int_eq((int64_t)nw_histogram_percentile(&h[i], 0.5), 3);
		ck_assert_int_eq((int64_t)nw_histogram_percentile(&h[i], 1), INT64_MAX);
		nw_histogram_free(&h[i]);
	}
	nw_histogram_free(&large);
	nw_histogram_free(&small);
}
END_TEST

/* Makes a histogram of what can be read from another one, bucket by bucket. */
static struct nw_histogram copy_of(const struct nw_histogram *h)
{
	struct nw_histogram copy = {.count = h->count,
				    .sum = h->sum,
				    .min = h->min,
				    .max = h->max,
				    .is_signed = h->is_signed};
	struct nw_bucket bucket;
	unsigned int at = 0;

	nw_histogram_restore(&copy, nw_histogram_mean(h), nw_histogram_stddev(h));
	while (nw_histogram_next(h, &at, &bucket))
		ck_assert(nw_histogram_restore_bucket(&copy, &bucket));
	return copy;
}

START_TEST(a_restored_histogram_merges_like_the_one_that_was_printed)
{
	uint64_t state = 7;

	for (int round = 0; round < 200; round++) {
		struct nw_histogram whole = {0}, part = {0}, other = {0};
		bool is_signed = round % 2;
		for (int i = 0; i < 300; i++) {
			uint64_t value = nw_hash64(state++) >> (round % 64);
			struct nw_histogram *to = i % 3 ? &part : &other;
			add(&whole, (struct value){is_signed, value});
			add(to, (struct value){is_signed, value});
		}
		struct nw_histogram restored = copy_of(&part);
		nw_histogram_merge(&restored, &other);
		expect_same(&restored, &whole);
		nw_histogram_free(&whole);
		nw_histogram_free(&part);
		nw_histogram_free(&other);
		nw_histogram_free(&restored);
	}
}
END_TEST

START_TEST(a_bucket_with_other_bounds_is_refused)
{
	static const struct nw_bucket wrong[] = {
		{7, 8, 1}, {64, 64, 1}, {65, 66, 1}, {0, UINT64_MAX, 1}, {1024, 1056, 1}};
	struct nw_histogram h = {.count = 1, .min = 7, .max = 7};

	for (size_t i = 0; i < NW_COUNT(wrong); i++)
		ck_assert(!nw_histogram_restore_bucket(&h, &wrong[i]));
	nw_histogram_free(&h);
}
END_TEST

UNIT_MAIN("histogram_merge", merging_in_any_order_is_adding_all,
	  merging_signed_and_unsigned_values_is_adding_all,
	  signed_values_are_walked_from_the_smallest,
	  percentiles_of_signed_values_are_signed,
	  signed_and_unsigned_values_live_side_by_side,
	  among_signed_values_too_large_ones_count_as_the_largest,
	  a_restored_histogram_merges_like_the_one_that_was_printed,
	  a_bucket_with_other_bounds_is_refused)
