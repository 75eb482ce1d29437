// SPDX-License-Identifier: MIT
/* slower: which spans are slow, by a time or by those that came before them. */
#include <math.h>

#include "run/consumers/slower.h"

#include "unit.h"

START_TEST(a_limit_is_a_time_or_a_percentile)
{
	struct nw_slower slower;

	ck_assert_int_eq(nw_slower_parse("50ms", &slower), 0);
	ck_assert_uint_eq(slower.ns, 50000000);
	ck_assert_int_eq(nw_slower_parse("p99.9", &slower), 0);
	ck_assert_uint_eq(slower.ns, 0);
	ck_assert(fabs(slower.percentile - 0.999) < 1e-9);
	static const char *const wrong[] = {"",	    "0",   "-1",   "p",	   "p0",
					    "p100", "p-5", "p99x", "pnan", "50 ms",
					    "p1e9", "99p", "p0x1p"};
	for (size_t i = 0; i < NW_COUNT(wrong); i++)
		ck_assert_msg(nw_slower_parse(wrong[i], &slower) < 0, "%s", wrong[i]);
}
END_TEST

static struct nw_slow_watch *watch;
static struct nw_slow_span slow;

/* A span of that kind, by thread 1, that begins at a time of its own. */
static bool span(uint32_t kind, uint64_t latency)
{
	static uint64_t now;
	const struct nw_value value = {.kind = NW_VALUE_UNSIGNED, .number = latency};
	const struct nw_hit start = {
		.time = now += 1000, .tid = 1, .values = &value, .value_count = 1};
	const struct nw_hit end = {.time = now + latency, .tid = 1};
	struct nw_span_event event = {.moment = NW_SPAN_BEGINS,
				      .span = kind,
				      .key = 1,
				      .start = now,
				      .hit = &start};

	ck_assert(!nw_slow_watch_span(watch, &event, &slow));
	event.moment = NW_SPAN_ENDS;
	event.hit = &end;
	event.latency = end.time - event.start;
	return nw_slow_watch_span(watch, &event, &slow);
}

START_TEST(by_time)
{
	const struct nw_slower slower = {.ns = 100};

	ck_assert_int_eq(nw_slow_watch_open(&slower, 1, &watch), 0);
	ck_assert(!span(0, 99));
	ck_assert(span(0, 100));
	ck_assert_uint_eq(slow.latency, 100);
	ck_assert_uint_eq(slow.least, 100);
	ck_assert_ptr_nonnull(slow.began);
	ck_assert_uint_eq(slow.began->values[0].number, 100);
	ck_assert(span(0, UINT32_MAX));
	nw_slow_watch_free(watch);
}
END_TEST

START_TEST(by_those_before_it)
{
	const struct nw_slower slower = {.percentile = 0.99};

	ck_assert_int_eq(nw_slow_watch_open(&slower, 2, &watch), 0);
	/* of the first hundred nobody can say which is the slowest of a hundred */
	for (unsigned int i = 0; i < 99; i++)
		ck_assert(!span(0, 1000 + i));
	ck_assert(!span(0, 1000000));
	ck_assert(!span(0, 500));
	ck_assert(span(0, 2000));
	ck_assert_uint_ge(slow.least, 1000);
	ck_assert_uint_lt(slow.least, 2000);
	/* each kind has a limit of its own */
	for (unsigned int i = 0; i < 100; i++)
		ck_assert(!span(1, 10));
	ck_assert(span(1, 100));
	ck_assert(!span(0, 100));
	nw_slow_watch_free(watch);
}
END_TEST

/* All alike: none is slower than the others. */
START_TEST(none_of_equals_is_slow)
{
	const struct nw_slower slower = {.percentile = 0.5};

	ck_assert_int_eq(nw_slow_watch_open(&slower, 1, &watch), 0);
	for (unsigned int i = 0; i < 1000; i++)
		ck_assert(!span(0, 12345));
	nw_slow_watch_free(watch);
}
END_TEST

UNIT_MAIN("slower", a_limit_is_a_time_or_a_percentile, by_time, by_those_before_it,
	  none_of_equals_is_slow)
