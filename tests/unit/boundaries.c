// SPDX-License-Identifier: MIT
/* measure: the classic buckets of metrics, against values counted one by one. */
#include <string.h>

#include "measure/boundaries.h"
#include "measure/histogram.h"
#include "measure/linear.h"
#include "unit.h"

static struct nw_boundaries parsed(const char *text)
{
	struct nw_boundaries boundaries;
	struct nw_error err;

	ck_assert_int_eq(nw_boundaries_parse(text, &boundaries, &err), 0);
	return boundaries;
}

static void refuse(const char *text, const char *why)
{
	struct nw_boundaries boundaries;
	struct nw_error err;

	ck_assert_int_lt(nw_boundaries_parse(text, &boundaries, &err), 0);
	ck_assert_msg(strstr(err.what, why), "%s: %s", text, err.what);
}

/* ---- the option --------------------------------------------------------------------- */

START_TEST(a_time_becomes_the_nearest_end_of_a_bucket)
{
	struct nw_boundaries list = parsed("63ns,1024ns,1050ns,1ms,2s");
	static const uint64_t wanted[] = {63, 1023, 1055, 999423, 2013265919};

	ck_assert_uint_eq(list.count, NW_COUNT(wanted));
	for (size_t i = 0; i < NW_COUNT(wanted); i++)
		ck_assert_uint_eq(list.last[i], wanted[i]);
	for (uint64_t time = 1; time < UINT64_C(1) << 62; time += time / 7 + 1) {
		nw_cleanup(nw_free_ptr) char *text = nw_text("%llu"
							     "ns",
							     (unsigned long long)time);
		list = parsed(text);
		uint64_t last = list.last[0],
			 away = last > time ? last - time : time - last;
		ck_assert_uint_le(away, time / 64 + 1);
		ck_assert_uint_eq(nw_histogram_bucket_of(last).high, last);
	}
}
END_TEST

START_TEST(a_range_has_equal_parts_of_each_doubling)
{
	struct nw_boundaries range = parsed("1us..4us/4");
	static const uint64_t wanted[] = {
		1023, 1279, 1535, 1791, 2047, 2559, 3071, 3583,
	};

	ck_assert_uint_eq(range.count, NW_COUNT(wanted));
	for (size_t i = 0; i < NW_COUNT(wanted); i++)
		ck_assert_uint_eq(range.last[i], wanted[i]);
	range = parsed(
		"1ns..64ns/32"); /* where buckets hold one value, and parts are no whole numbers */
	ck_assert_uint_eq(range.count, 6 - 1 + 32 + 1);
	ck_assert_uint_eq(range.last[0], 0);
	ck_assert_uint_eq(range.last[range.count - 1], 63);
	range = parsed("1ns..2500000h");
	ck_assert_uint_eq(range.count, 63);
	ck_assert_uint_eq(parsed("none").count, 0);
	ck_assert(parsed("none").given);
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
	refuse("", "a boundary is a time above 0");
	refuse("1ms,", "a boundary is a time above 0");
	refuse("1ms,x", "a boundary is a time above 0");
	refuse("0", "a boundary is a time above 0");
	refuse("5ms,1ms", "not in ascending order");
	refuse("1ms..", "a range is FROM..TO");
	refuse("..1ms", "a range is FROM..TO");
	refuse("1s..1ms", "a range is FROM..TO");
	refuse("1us..1s/3", "behind the / is 1, 2, 4");
	refuse("1us..1s/64", "behind the / is 1, 2, 4");
	refuse("1us..1s/", "behind the / is 1, 2, 4");
	refuse("1100ns..1900ns", "there is no boundary in that range");
	refuse("1ns..100h/32", "more than 256 boundaries");
}
END_TEST

/* ---- the counts --------------------------------------------------------------------- */

enum {
	VALUES = 2000
};

static uint64_t random_value(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (*state >> 8) >> (*state >> 59); /* of any magnitude */
}

/* Compares the buckets with values counted one by one. */
static void compare(const nw_classic_buckets *buckets, const int64_t *values)
{
	nw_vec_each (buckets, bucket) {
		uint64_t count = 0;
		for (size_t i = 0; i < VALUES; i++)
			count += values[i] <= bucket->last;
		ck_assert_msg(count == bucket->count, "up to %lld: %llu, not %llu",
			      (long long)bucket->last, (unsigned long long)bucket->count,
			      (unsigned long long)count);
	}
}

static void check_durations(const char *text)
{
	struct nw_boundaries boundaries;
	struct nw_histogram h = {0};
	nw_classic_buckets buckets = {0};
	int64_t values[VALUES];
	uint64_t state = 7;

	if (text)
		boundaries = parsed(text);
	else
		nw_boundaries_usual(&boundaries);
	for (size_t i = 0; i < VALUES; i++) {
		/* the boundaries themselves, too, and their neighbours */
		uint64_t edge = boundaries.last[i % boundaries.count];
		values[i] = (int64_t)(i % 3 ? random_value(&state)
					    : edge + i / 3 % 3 - (edge > 0));
		nw_histogram_add(&h, (uint64_t)values[i]);
	}
	ck_assert_int_eq(nw_classic_durations(&h, &boundaries, &buckets), 0);
	ck_assert_uint_eq(buckets.count, boundaries.count);
	compare(&buckets, values);
	nw_vec_free(&buckets);
	nw_histogram_free(&h);
}

START_TEST(counts_at_each_boundary_are_exact)
{
	check_durations(NULL);
	check_durations("1us..10s");
	check_durations("1us..100ms/8");
	check_durations("1ns..1us/32");
	check_durations("3ns,77ns,1ms,5ms,10ms,25ms,50ms,100ms,250ms,1,2.5,10,1h");
}
END_TEST

/* linear: NULL, or the steps that are asked for */
static void check_values(bool is_signed, const struct nw_linear_shape *linear, size_t count)
{
	struct nw_histogram h = {0};
	nw_classic_buckets buckets = {0};
	int64_t values[VALUES];
	uint64_t state = 11;

	if (linear)
		h.linear = nw_linear_new(linear);
	for (size_t i = 0; i < VALUES; i++) {
		values[i] = (int64_t)random_value(&state);
		if (i % 4 == 0)
			values[i] = INT64_C(1) << i % 40;
		if (linear)
			nw_linear_add(h.linear, values[i] = values[i] % 50);
		if (is_signed && i % 2)
			values[i] = -values[i];
		if (is_signed)
			nw_histogram_add_signed(&h, values[i]);
		else
			nw_histogram_add(&h, (uint64_t)values[i]);
	}
	ck_assert_int_eq(nw_classic_values(&h, &buckets), 0);
	ck_assert_uint_eq(buckets.count, count);
	compare(&buckets, values);
	for (size_t i = 1; i < buckets.count; i++)
		ck_assert_int_lt(buckets.item[i - 1].last, buckets.item[i].last);
	nw_vec_free(&buckets);
	nw_histogram_free(&h);
}

START_TEST(values_have_powers_of_two_or_the_steps_asked_for)
{
	struct nw_linear_shape shape, lowest;

	ck_assert_int_eq(nw_linear_make(-10, 40, 10, &shape), NW_LINEAR_RIGHT);
	ck_assert_int_eq(nw_linear_make(INT64_MIN, INT64_MIN + 20, 10, &lowest),
			 NW_LINEAR_RIGHT);
	check_values(false, NULL, 33);
	check_values(true, NULL, 66);
	check_values(false, &shape, 6);
	check_values(false, &lowest, 2); /* nothing is below INT64_MIN */
}
END_TEST

UNIT_MAIN("boundaries", a_time_becomes_the_nearest_end_of_a_bucket,
	  a_range_has_equal_parts_of_each_doubling, what_is_wrong_is_said,
	  counts_at_each_boundary_are_exact,
	  values_have_powers_of_two_or_the_steps_asked_for)
