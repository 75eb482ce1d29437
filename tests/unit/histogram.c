// SPDX-License-Identifier: MIT
/* summary: the log-linear histogram, its exact figures, its percentiles, and merging. */
#include <math.h>

#include "measure/histogram.h"
#include "measure/summary.h"
#include "unit.h"

static struct nw_histogram of(const uint64_t *values, size_t count)
{
	struct nw_histogram h = {0};

	for (size_t i = 0; i < count; i++)
		nw_histogram_add(&h, values[i]);
	return h;
}

static struct nw_histogram of_signed(const int64_t *values, size_t count)
{
	struct nw_histogram h = {0};

	for (size_t i = 0; i < count; i++)
		nw_histogram_add_signed(&h, values[i]);
	return h;
}

/* The one bucket of a histogram of one value. */
static struct nw_bucket bucket_of(uint64_t value)
{
	struct nw_histogram h = of(&value, 1);
	struct nw_bucket bucket, second;
	unsigned int at = 0;

	ck_assert(nw_histogram_next(&h, &at, &bucket));
	ck_assert(!nw_histogram_next(&h, &at, &second));
	ck_assert_uint_eq(bucket.count, 1);
	nw_histogram_free(&h);
	return bucket;
}

/* ---- buckets ------------------------------------------------------------------------ */

static void check_bucket(uint64_t value)
{
	struct nw_bucket bucket = bucket_of(value);
	uint64_t width = bucket.high - bucket.low; /* less one */

	ck_assert_msg(bucket.low <= value && value <= bucket.high, "%lu", value);
	ck_assert_msg(value < 64 ? width == 0 : width <= bucket.low / 32 - 1, "%lu", value);
	/* the next bucket begins where this one ends */
	if (bucket.high != UINT64_MAX)
		ck_assert_uint_eq(bucket_of(bucket.high + 1).low, bucket.high + 1);
	if (bucket.low)
		ck_assert_uint_eq(bucket_of(bucket.low - 1).high, bucket.low - 1);
}

START_TEST(every_value_is_in_a_narrow_bucket_next_to_others)
{
	uint64_t state = 1;

	for (unsigned int power = 0; power < 64; power++) {
		uint64_t value = (uint64_t)1 << power;
		check_bucket(value - 1);
		check_bucket(value);
		check_bucket(value + 1);
	}
	check_bucket(UINT64_MAX);
	for (int i = 0; i < 20000; i++)
		check_bucket(unit_random(&state) >> (unit_random(&state) % 64));
}
END_TEST

START_TEST(buckets_are_where_they_should_be)
{
	static const struct {
		uint64_t value, low, high;
	} cases[] = {
		{0, 0, 0},
		{31, 31, 31},
		{32, 32, 32},
		{63, 63, 63},
		{64, 64, 65},
		{65, 64, 65},
		{127, 126, 127},
		{128, 128, 131},
		{1000, 992, 1007},
		{1000000, 999424, 1015807},
		{UINT64_MAX, 0xfc00000000000000, UINT64_MAX},
		{(uint64_t)1 << 63, (uint64_t)1 << 63, 0x83ffffffffffffff},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_bucket bucket = bucket_of(cases[i].value);
		ck_assert_uint_eq(bucket.low, cases[i].low);
		ck_assert_uint_eq(bucket.high, cases[i].high);
	}
}
END_TEST

/* The walk is in order, without gaps in the count, and every bucket has something. */
static void check_walk(const struct nw_histogram *h)
{
	struct nw_bucket bucket;
	uint64_t sum = 0, last = 0;
	unsigned int at = 0;

	while (nw_histogram_next(h, &at, &bucket)) {
		ck_assert_uint_gt(bucket.count, 0);
		if (h->is_signed) {
			ck_assert_int_le((int64_t)bucket.low, (int64_t)bucket.high);
			ck_assert(!sum || (int64_t)bucket.low > (int64_t)last);
		} else {
			ck_assert_uint_le(bucket.low, bucket.high);
			ck_assert(!sum || bucket.low > last);
		}
		last = bucket.high;
		sum += bucket.count;
	}
	ck_assert_uint_eq(sum, h->count);
}

START_TEST(an_empty_histogram_is_all_zero)
{
	struct nw_histogram h = {0};

	check_walk(&h);
	ck_assert_uint_eq(nw_histogram_percentile(&h, 0.5), 0);
	ck_assert(nw_histogram_mean(&h) == 0 && nw_histogram_stddev(&h) == 0);
	nw_histogram_free(&h);
}
END_TEST

/* ---- figures ------------------------------------------------------------------------ */

enum {
	MOST = 5000
};

static uint64_t random_value(uint64_t *state, unsigned int shape)
{
	uint64_t r = unit_random(state);

	switch (shape) {
	case 0: /* small */
		return r % 32;
	case 1: /* any size */
		return (r >> 8) >> (r % 56);
	case 2: /* times of some microseconds, and a slow one now and then */
		return 20000 + r % 5000 + (r >> 32) % 100 / 99 * 80000000;
	default: /* large with little difference */
		return ((uint64_t)1 << 50) + r % 1000;
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Rank ceil(p * count) without rounding: p in thousandths. */
static uint64_t exact_percentile(const uint64_t *sorted, uint64_t count,
				 uint64_t thousandths)
{
	uint64_t rank = (thousandths * count + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

START_TEST(figures_are_those_of_the_sorted_values)
{
	static const uint64_t p[] = {1, 10, 250, 500, 900, 990, 999, 1000};
	static uint64_t values[MOST];
	uint64_t state = 2;

	for (unsigned int round = 0; round < 200; round++) {
		size_t count = 1 + unit_random(&state) % (round % 4 ? 300 : MOST);
		uint64_t sum = 0;
		for (size_t i = 0; i < count; i++)
			sum += values[i] = random_value(&state, round % 4);
		struct nw_histogram h = of(values, count);
		qsort(values, count, sizeof(values[0]), compare);
		ck_assert_uint_eq(h.count, count);
		ck_assert_uint_eq(h.sum, sum);
		ck_assert_uint_eq(h.min, values[0]);
		ck_assert_uint_eq(h.max, values[count - 1]);
		check_walk(&h);
		for (size_t i = 0; i < NW_COUNT(p); i++) {
			uint64_t exact = exact_percentile(values, count, p[i]);
			uint64_t seen = nw_histogram_percentile(&h, (double)p[i] / 1000);
			uint64_t most = nw_histogram_percentile_most(&h,
								     (double)p[i] / 1000);
			uint64_t off = seen > exact ? seen - exact : exact - seen;
			/* half a bucket either way, and the upper end never below */
			ck_assert_uint_le(off, exact / 63);
			ck_assert_uint_ge(seen, h.min);
			ck_assert_uint_le(seen, most);
			ck_assert_uint_ge(most, exact);
			ck_assert_uint_le(most - exact, exact / 32);
			ck_assert_uint_le(most, h.max);
		}
		nw_histogram_free(&h);
	}
}
END_TEST

START_TEST(ranks_are_exact_for_every_count)
{
	static const uint64_t p[] = {500, 900, 990, 999};
	uint64_t values[MOST];
	struct nw_histogram h = {0};

	/* values of their own buckets: a rank that is off by one shows, at p50 of 1..31 ... */
	for (uint64_t count = 1; count <= 63; count++) {
		values[count - 1] = count - 1;
		nw_histogram_add(&h, count - 1);
		for (size_t i = 0; i < NW_COUNT(p); i++)
			ck_assert_uint_eq(nw_histogram_percentile(&h, (double)p[i] / 1000),
					  exact_percentile(values, count, p[i]));
	}
	nw_histogram_free(&h);
	/* ... and for larger counts where the last ranks have a value of their own */
	for (uint64_t count = 1000; count <= MOST; count += 1000) {
		for (size_t i = 0; i < NW_COUNT(p); i++) {
			uint64_t rank = (p[i] * count + 999) / 1000;
			for (uint64_t j = 0; j < count; j++)
				values[j] = j + 1 < rank ? 1 : j + 1 == rank ? 2 : 3;
			h = of(values, count);
			ck_assert_uint_eq(nw_histogram_percentile(&h, (double)p[i] / 1000),
					  2);
			nw_histogram_free(&h);
		}
	}
}
END_TEST

START_TEST(percentiles_stay_between_min_and_max)
{
	const uint64_t values[] = {1000001, 1000004, 1000009};
	struct nw_histogram h = of(values, 3);

	/* all are in [999424, 1015807]: the first and the last are known, and the middle of what is between them is */
	ck_assert_uint_eq(nw_histogram_percentile(&h, 0.001), 1000001);
	ck_assert_uint_eq(nw_histogram_percentile(&h, 0.5), 1000005);
	ck_assert_uint_eq(nw_histogram_percentile_most(&h, 0.5), 1000009);
	ck_assert_uint_eq(nw_histogram_percentile(&h, 1), 1000009);
	nw_histogram_free(&h);
	const uint64_t largest = UINT64_MAX;
	h = of(&largest, 1);
	ck_assert_uint_eq(nw_histogram_percentile(&h, 0.5), UINT64_MAX);
	nw_histogram_free(&h);
}
END_TEST

static void check_deviation(const struct nw_histogram *h, const uint64_t *values,
			    size_t count)
{
	long double mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		mean += (long double)values[i];
	mean /= (long double)count;
	for (size_t i = 0; i < count; i++)
		squares += ((long double)values[i] - mean) *
			   ((long double)values[i] - mean);
	double stddev = (double)sqrtl(squares / (long double)count);
	ck_assert_double_eq_tol(nw_histogram_mean(h), (double)mean, 1e-9 * (double)mean);
	ck_assert_double_eq_tol(nw_histogram_stddev(h), stddev, 1e-6 * stddev + 1e-6);
}

START_TEST(mean_and_deviation_are_those_of_two_passes)
{
	static uint64_t values[MOST];
	uint64_t state = 3;

	for (unsigned int shape = 0; shape < 4; shape++) {
		for (size_t i = 0; i < MOST; i++)
			values[i] = random_value(&state, shape);
		struct nw_histogram h = of(values, MOST);
		check_deviation(&h, values, MOST);
		nw_histogram_free(&h);
	}
	struct nw_histogram one = of(values, 1);
	ck_assert(nw_histogram_stddev(&one) == 0);
	nw_histogram_free(&one);
}
END_TEST

/* Values that lie close together, far from 0: exact sums below 1 << 42, relative ones above. */
START_TEST(a_small_deviation_of_large_values_is_found)
{
	static const unsigned int bases[] = {0, 31, 32, 33, 41, 42, 50};
	static uint64_t values[MOST];
	uint64_t state = 5;

	for (size_t i = 0; i < NW_COUNT(bases); i++) {
		for (size_t j = 0; j < MOST; j++)
			values[j] = ((uint64_t)1 << bases[i]) + unit_random(&state) % 1000;
		struct nw_histogram h = of(values, MOST);
		check_deviation(&h, values, MOST);
		for (size_t j = 0; j < 10; j++) /* what comes late and is far off */
			nw_histogram_add(&h, values[MOST - 10 + j] = (uint64_t)1 << 45);
		struct nw_histogram again = of(values, MOST - 10);
		for (size_t j = 0; j < 10; j++)
			nw_histogram_add(&again, (uint64_t)1 << 45);
		check_deviation(&again, values, MOST);
		nw_histogram_free(&again);
		nw_histogram_free(&h);
	}
}
END_TEST

/* The sum of the squares passes 64 bits; exactly, it has to stay as it was. */
START_TEST(squares_carry)
{
	const uint64_t values[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
				   1,	       UINT32_MAX, UINT32_MAX};

	struct nw_histogram h = of(values, NW_COUNT(values));
	ck_assert_uint_eq(h.squares_high, 5);
	ck_assert_uint_eq(h.squares, 1 - 6 * ((uint64_t)1 << 33) + 6);
	check_deviation(&h, values, NW_COUNT(values));
	nw_histogram_merge(&h, &h);
	ck_assert_uint_eq(h.squares_high, 11);
	ck_assert_uint_eq(h.count, 2 * NW_COUNT(values));
	check_deviation(&h, values, NW_COUNT(values));
	nw_histogram_free(&h);
}
END_TEST

/* Mean and deviation stay what they are when the sum has long reached its end. */
START_TEST(moments_outlive_the_sum)
{
	const uint64_t half = (uint64_t)1 << 41;
	const uint64_t values[] = {half, half + 7, half - 5, half + 100000, half / 2};

	struct nw_histogram h = of(values, NW_COUNT(values));
	for (unsigned int i = 0; i < 30; i++) {
		check_deviation(&h, values, NW_COUNT(values));
		nw_histogram_merge(&h, &h);
	}
	ck_assert_uint_eq(h.sum, UINT64_MAX);
	nw_histogram_free(&h);

	h = of(values, NW_COUNT(values));
	for (unsigned int i = 0; i < 19; i++) /* just below 1 << 63 */
		nw_histogram_merge(&h, &h);
	for (size_t i = 0; i < 9000000; i++)
		nw_histogram_add(&h, values[i % NW_COUNT(values)]);
	check_deviation(&h, values, NW_COUNT(values));
	nw_histogram_free(&h);
}
END_TEST

START_TEST(sums_stop_at_their_largest_value)
{
	const uint64_t large[] = {UINT64_MAX - 1, 1, 1, 7};
	const int64_t up[] = {INT64_MAX, 1}, down[] = {INT64_MIN, -1};

	struct nw_histogram h = of(large, 2), other = of(large, 4);
	ck_assert_uint_eq(h.sum, UINT64_MAX);
	ck_assert_uint_eq(other.sum, UINT64_MAX);
	nw_histogram_merge(&h, &other);
	ck_assert_uint_eq(h.sum, UINT64_MAX);
	nw_histogram_free(&h);
	nw_histogram_free(&other);
	h = of_signed(up, 2);
	ck_assert_int_eq((int64_t)h.sum, INT64_MAX);
	nw_histogram_free(&h);
	h = of_signed(down, 2);
	ck_assert_int_eq((int64_t)h.sum, INT64_MIN);
	nw_histogram_free(&h);
}
END_TEST

/* No value has its top bit set, but the sum gets there. */
START_TEST(sums_stop_that_grow_slowly)
{
	const uint64_t quarter = (uint64_t)1 << 62;
	const uint64_t large[] = {quarter, quarter, quarter, quarter, quarter};

	struct nw_histogram h = of(large, 3), other = of(large, 1);
	ck_assert_uint_eq(h.sum, 3 * quarter);
	nw_histogram_merge(&other, &h);
	ck_assert_uint_eq(other.sum, UINT64_MAX);
	nw_histogram_free(&other);
	other = of(large, 1);
	nw_histogram_add(&h, quarter - 1);
	ck_assert_uint_eq(h.sum, UINT64_MAX);
	nw_histogram_clear(&h);
	nw_histogram_add(&h, quarter);
	nw_histogram_add(&h, quarter);
	nw_histogram_merge(&other, &h);
	ck_assert_uint_eq(other.sum, 3 * quarter);
	nw_histogram_add(&other, quarter);
	ck_assert_uint_eq(other.sum, UINT64_MAX);
	nw_histogram_free(&h);
	nw_histogram_free(&other);
	h = of(large, 5);
	ck_assert_uint_eq(h.sum, UINT64_MAX);
	nw_histogram_free(&h);
}
END_TEST

START_TEST(clear_keeps_the_memory_and_nothing_else)
{
	const uint64_t values[] = {5, 1000, 70000}, again[] = {1000, 1000};
	struct nw_histogram h = of(values, 3);
	nw_histogram_add_signed(&h, -9);
	const struct nw_blocks kept = h.values;

	nw_histogram_clear(&h);
	ck_assert_ptr_eq(h.values.count, kept.count);
	ck_assert_uint_eq(h.values.used, kept.used);
	ck_assert(!h.count && !h.sum && !h.min && !h.max && !h.is_signed);
	ck_assert(nw_histogram_mean(&h) == 0);
	check_walk(&h);
	nw_histogram_add(&h, again[0]);
	nw_histogram_add(&h, again[1]);
	ck_assert_ptr_eq(h.values.count, kept.count);
	ck_assert(h.min == 1000 && h.max == 1000 && h.sum == 2000 && h.count == 2);
	ck_assert(nw_histogram_stddev(&h) == 0);
	check_walk(&h);
	nw_histogram_free(&h);
	ck_assert_ptr_null(h.values.count);
}
END_TEST

/* Everything that a histogram knows of its values. */
static void check_equal(const struct nw_histogram *a, const struct nw_histogram *b)
{
	struct nw_bucket of_a, of_b;
	unsigned int at_a = 0, at_b = 0;
	bool more;

	ck_assert(a->count == b->count && a->sum == b->sum && a->min == b->min &&
		  a->max == b->max);
	ck_assert(fabs(nw_histogram_stddev(a) - nw_histogram_stddev(b)) <=
		  nw_histogram_stddev(b) * 1e-9);
	do {
		more = nw_histogram_next(a, &at_a, &of_a);
		ck_assert(more == nw_histogram_next(b, &at_b, &of_b));
		ck_assert(!more || (of_a.low == of_b.low && of_a.count == of_b.count));
	} while (more);
}

START_TEST(the_same_value_is_added_many_times_at_once)
{
	/* usual ones, those whose squares or sums carry, and one that is never usual */
	static const uint64_t values[] = {
		0, 7, 1000, 70000, UINT32_MAX - 1, UINT32_MAX, 1ull << 32, 1ull << 41, 7};
	static const uint32_t times[] = {1, 2, 300, 5000};

	for (size_t i = 0; i < NW_COUNT(times); i++) {
		struct nw_histogram once = {0}, each = {0};
		for (size_t j = 0; j < NW_COUNT(values); j++) {
			nw_histogram_add_times(&once, values[j], times[i]);
			for (uint32_t left = times[i]; left; left--)
				nw_histogram_add(&each, values[j]);
			check_equal(&once, &each);
		}
		nw_histogram_free(&once);
		nw_histogram_free(&each);
	}
}
END_TEST

START_TEST(only_buckets_in_use_are_cleared_and_merged)
{
	/* a first value that leaves many empty buckets on either side, and values at both ends */
	static const uint64_t values[][4] = {{70000, 5, 1ull << 40, 5},
					     {3, 3, 3, 3},
					     {0, UINT64_MAX, 9, 1000},
					     {1ull << 40, 1ull << 41, 8, 64}};

	for (size_t i = 0; i < NW_COUNT(values); i++) {
		struct nw_histogram h = of(values[i], 4);
		nw_histogram_clear(&h);
		for (size_t j = 0; j < h.values.used; j++)
			ck_assert_uint_eq(h.values.count[j], 0);
		for (size_t j = 0; j < NW_COUNT(values); j++) {
			/* h keeps buckets for more values than it has */
			struct nw_histogram merged = of(values[j], 4),
					    all = of(values[j], 4);
			nw_histogram_clear(&h);
			for (size_t k = 1; k < 3; k++) {
				nw_histogram_add(&h, values[i][k]);
				nw_histogram_add(&all, values[i][k]);
			}
			nw_histogram_merge(&merged, &h);
			check_equal(&merged, &all);
			nw_histogram_free(&merged);
			nw_histogram_free(&all);
		}
		nw_histogram_free(&h);
	}
}
END_TEST

/* The sums of rows of equal width, as the kernel counts them, make the buckets of their values. */
START_TEST(sums_of_narrow_rows_are_as_good_as_values)
{
	struct nw_histogram values = {0}, rows = {0};

	for (uint64_t low = 4096; low < 262144; low += 128) {
		uint64_t sum = 0;
		for (uint64_t i = 0; i < 1 + low / 128 % 5; i++) {
			const uint64_t value = low + 127 - 11 * i;
			nw_histogram_add(&values, value);
			sum += value;
		}
		nw_histogram_add_summed(
			&rows, &(struct nw_counted){1 + low / 128 % 5, sum, low, false});
	}
	nw_histogram_add_summed(&rows, &(struct nw_counted){0});
	ck_assert_uint_eq(rows.count, values.count);
	ck_assert_uint_eq(rows.sum, values.sum);
	ck_assert_double_eq_tol(nw_histogram_mean(&rows), nw_histogram_mean(&values), 1e-6);
	ck_assert_double_eq_tol(nw_histogram_stddev(&rows), nw_histogram_stddev(&values),
				64);
	ck_assert_uint_le(rows.min - values.min, 128);
	ck_assert_uint_le(values.max - rows.max, 128);
	struct nw_bucket a, b;
	unsigned int at = 0, other = 0;
	while (nw_histogram_next(&values, &at, &a)) {
		ck_assert(nw_histogram_next(&rows, &other, &b));
		ck_assert_uint_eq(a.low, b.low);
		ck_assert_uint_eq(a.count, b.count);
	}
	ck_assert(!nw_histogram_next(&rows, &other, &b));
	nw_histogram_free(&values);
	nw_histogram_free(&rows);
}
END_TEST

START_TEST(sums_of_negative_values_are_added)
{
	static const int64_t some[] = {-7, -7, -7, 5, 5, INT64_MIN};
	struct nw_histogram values = of_signed(some, 6), rows = {0};
	const struct nw_counted counted[] = {
		{3, (uint64_t)-21, (uint64_t)-7, true},
		{2, 10, 5, true},
		{1, (uint64_t)INT64_MIN, (uint64_t)INT64_MIN, true}};

	for (size_t i = 0; i < NW_COUNT(counted); i++)
		nw_histogram_add_summed(&rows, &counted[i]);
	ck_assert_uint_eq(rows.count, 6);
	ck_assert_int_eq((int64_t)rows.min, INT64_MIN);
	ck_assert_int_eq((int64_t)rows.max, 5);
	ck_assert_uint_eq(rows.sum, values.sum);
	nw_histogram_free(&values);
	nw_histogram_free(&rows);
}
END_TEST

/* Two pointers, or three values of -1 without a sign, have a sum of more than 64 bits. */
START_TEST(sums_that_wrap_around_tell_their_values)
{
	static const struct {
		uint64_t low, last; /* values: `low` once and `last` for the rest */
		uint64_t count;
		bool is_signed;
	} some[] = {
		{UINT64_MAX, UINT64_MAX, 2, false},
		{UINT64_MAX, UINT64_MAX, 1000000, false},
		{UINT64_C(0xffff880000000000), UINT64_C(0xffff880000001000), 300, false},
		{UINT64_C(0x7f0000000000), UINT64_C(0x7f0000100000), 200000, false},
		{INT64_MAX, INT64_MAX, 5, true},
		{(uint64_t)INT64_MIN, (uint64_t)INT64_MIN, 3, true},
	};

	for (size_t i = 0; i < NW_COUNT(some); i++) {
		struct nw_histogram values = {0}, row = {0};
		struct nw_counted counted = {0, 0, some[i].low, some[i].is_signed};
		for (; counted.count < some[i].count; counted.count++) {
			uint64_t value = counted.count ? some[i].last : some[i].low;
			if (some[i].is_signed)
				nw_histogram_add_signed(&values, (int64_t)value);
			else
				nw_histogram_add(&values, value);
			counted.sum += value;
		}
		nw_histogram_add_summed(&row, &counted);
		ck_assert_uint_eq(row.count, values.count);
		ck_assert_uint_eq(row.sum, values.sum);
		ck_assert_uint_le(row.max, some[i].last);
		ck_assert_uint_ge(row.min, some[i].low);
		ck_assert_double_eq_tol(nw_histogram_mean(&row), nw_histogram_mean(&values),
					fabs(nw_histogram_mean(&values)) * 1e-12);
		struct nw_bucket a, b;
		unsigned int at = 0, other = 0;
		while (nw_histogram_next(&values, &at, &a)) {
			ck_assert(nw_histogram_next(&row, &other, &b));
			ck_assert_uint_eq(a.low, b.low);
			ck_assert_uint_eq(a.count, b.count);
		}
		nw_histogram_free(&values);
		nw_histogram_free(&row);
	}
}
END_TEST

UNIT_MAIN("histogram", sums_of_narrow_rows_are_as_good_as_values,
	  sums_that_wrap_around_tell_their_values, sums_of_negative_values_are_added,
	  only_buckets_in_use_are_cleared_and_merged,
	  the_same_value_is_added_many_times_at_once,
	  every_value_is_in_a_narrow_bucket_next_to_others,
	  buckets_are_where_they_should_be, an_empty_histogram_is_all_zero,
	  figures_are_those_of_the_sorted_values, ranks_are_exact_for_every_count,
	  percentiles_stay_between_min_and_max, mean_and_deviation_are_those_of_two_passes,
	  a_small_deviation_of_large_values_is_found, squares_carry,
	  moments_outlive_the_sum, sums_stop_at_their_largest_value,
	  sums_stop_that_grow_slowly, clear_keeps_the_memory_and_nothing_else)
