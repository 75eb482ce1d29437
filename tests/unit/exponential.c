// SPDX-License-Identifier: MIT
/* measure: exponential histograms, against values that are counted one by one. */
#include <math.h>

#include "measure/exponential.h"
#include "measure/histogram.h"
#include "unit.h"

enum {
	VALUES = 3000
};

static uint64_t random_value(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (*state >> 8) >> (*state >> 59);
}

/* How many values of a side are not above the end of bucket `index`. */
static uint64_t count_to(const struct nw_exponential_side *side, int32_t index)
{
	uint64_t count = 0;

	for (int32_t i = side->offset;
	     i <= index && i < side->offset + (int32_t)side->counts.count; i++)
		count += side->counts.item[i - side->offset];
	return count;
}

/* Compares one side with its magnitudes. */
static void check_side(const struct nw_exponential *e,
		       const struct nw_exponential_side *side, const uint64_t *values,
		       size_t count)
{
	const int32_t end = side->offset + (int32_t)side->counts.count;
	const double steps = ldexp(1, e->scale);
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += values[i] != 0;
	ck_assert_uint_eq(count_to(side, INT32_MAX - 1), all);
	if (side->counts.count) { /* no room is wasted */
		ck_assert_uint_gt(side->counts.item[0], 0);
		ck_assert_uint_gt(side->counts.item[side->counts.count - 1], 0);
	}
	for (int32_t i = side->offset; i < end; i++) {
		/* nothing that is counted up to this end is 1.6 % above it, and nothing below by that is left out */
		double edge = exp2((i + 1) / steps);
		uint64_t surely = 0, maybe = 0, seen = count_to(side, i);
		for (size_t j = 0; j < count; j++) {
			surely += values[j] && (double)values[j] <= edge / (1 + 1.0 / 63);
			maybe += values[j] && (double)values[j] <= edge * (1 + 1.0 / 63);
		}
		ck_assert_msg(surely <= seen && seen <= maybe, "up to %g: %lu, %lu..%lu",
			      edge, (unsigned long)seen, (unsigned long)surely,
			      (unsigned long)maybe);
	}
	/* powers of two are exact: what is below them; and where values have a bucket each, also what is equal */
	for (int power = 0; power < 63; power++) {
		uint64_t edge = UINT64_C(1) << power, below = 0;
		int32_t index = (int32_t)(power * steps) - 1;
		if (power * steps != floor(power * steps))
			continue;
		for (size_t j = 0; j < count; j++)
			below += values[j] &&
				 (edge < 64 ? values[j] <= edge : values[j] < edge);
		ck_assert_msg(count_to(side, index) == below, "2^%d: %lu, not %lu", power,
			      (unsigned long)count_to(side, index), (unsigned long)below);
	}
}

static void check(bool is_signed, uint64_t least, uint64_t most_value, size_t most,
		  int scale)
{
	struct nw_histogram h = {0};
	struct nw_exponential e;
	static uint64_t positive[VALUES], negative[VALUES];
	uint64_t state = least + 5, zero = 0;

	for (size_t i = 0; i < VALUES; i++) {
		uint64_t value = least + random_value(&state) % (most_value - least);
		if (i % 5 == 0) /* powers of two, and their neighbours */
			value = (UINT64_C(1) << i % 63) + i / 63 % 3 - 1;
		value = value < least || value > most_value ? least : value;
		bool minus = is_signed && i % 3 == 0;
		positive[i] = minus ? 0 : value;
		negative[i] = minus ? value : 0;
		zero += value == 0;
		if (is_signed)
			nw_histogram_add_signed(&h,
						minus ? -(int64_t)value : (int64_t)value);
		else
			nw_histogram_add(&h, value);
	}
	ck_assert_int_eq(nw_exponential_make(&h, most, &e), 0);
	ck_assert_int_eq(e.scale, scale);
	ck_assert_uint_eq(e.zero, zero);
	ck_assert_uint_le(e.positive.counts.count, most);
	ck_assert_uint_le(e.negative.counts.count, most);
	check_side(&e, &e.positive, positive, VALUES);
	check_side(&e, &e.negative, negative, VALUES);
	nw_exponential_free(&e);
	nw_histogram_free(&h);
}

START_TEST(counts_at_powers_of_two_are_exact_and_others_near)
{
	check(false, 0, UINT64_C(1) << 62, SIZE_MAX, 5);
	check(false, 1000, 20000, NW_OTLP_BUCKETS, 5);
	check(false, 0, 100, SIZE_MAX, 5);
}
END_TEST

START_TEST(the_scale_is_the_finest_that_fits)
{
	check(false, 1000, 100000, NW_OTLP_BUCKETS, 4);
	check(false, 1000, 10000000, NW_OTLP_BUCKETS, 3);
	check(false, 0, UINT64_C(1) << 62, NW_OTLP_BUCKETS, 1);
	check(false, 0, UINT64_C(1) << 62, 65, 0);
}
END_TEST

START_TEST(both_signs_have_the_same_scale)
{
	check(true, 0, 1 << 20, NW_OTLP_BUCKETS, 2);
	check(true, 0, UINT64_C(1) << 62, SIZE_MAX, 5);
}
END_TEST

START_TEST(single_values_are_where_they_should_be)
{
	static const struct {
		uint64_t value;
		int32_t index;
	} cases[] = {{1, -1},	{2, 31},   {3, 50},	{4, 63},
		     {33, 161}, {63, 191}, {1023, 319}, {1025, 320}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_histogram h = {0};
		struct nw_exponential e;
		nw_histogram_add(&h, cases[i].value);
		ck_assert_int_eq(nw_exponential_make(&h, SIZE_MAX, &e), 0);
		ck_assert_uint_eq(e.positive.counts.count, 1);
		ck_assert_msg(e.positive.offset == cases[i].index, "%lu: %d",
			      (unsigned long)cases[i].value, e.positive.offset);
		nw_exponential_free(&e);
		nw_histogram_free(&h);
	}
	struct nw_histogram none = {0};
	struct nw_exponential e;
	ck_assert_int_eq(nw_exponential_make(&none, 160, &e), 0);
	ck_assert_uint_eq(e.positive.counts.count + e.negative.counts.count + e.zero, 0);
	nw_exponential_free(&e);
}
END_TEST

UNIT_MAIN("exponential", counts_at_powers_of_two_are_exact_and_others_near,
	  the_scale_is_the_finest_that_fits, both_signs_have_the_same_scale,
	  single_values_are_where_they_should_be)
