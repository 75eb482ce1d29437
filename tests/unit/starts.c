// SPDX-License-Identifier: MIT
/* starts: the hits that open spans have begun with, found again when they end. */
#include "measure/summary.h"
#include "unit.h"

static struct nw_span_starts *starts;

static void begins(uint32_t span, uint64_t key, uint64_t time,
		   const struct nw_value *values, size_t count)
{
	const struct nw_hit hit = {.time = time,
				   .tid = (int32_t)key,
				   .values = values,
				   .value_count = (uint32_t)count};
	const struct nw_span_event event = {.moment = NW_SPAN_BEGINS,
					    .span = span,
					    .key = key,
					    .start = time,
					    .hit = &hit};

	ck_assert_ptr_null(nw_span_starts_follow(starts, &event, NULL));
}

static const struct nw_hit *over(enum nw_span_moment moment, uint32_t span, uint64_t key,
				 uint64_t time)
{
	const struct nw_span_event event = {
		.moment = moment, .span = span, .key = key, .start = time};

	return nw_span_starts_follow(starts, &event, NULL);
}

START_TEST(values_outlive_their_record)
{
	char text[] = "SELECT 1";
	unsigned char numbers[4] = {1, 2, 3, 4};
	const struct nw_value values[] = {
		{.kind = NW_VALUE_STRING, .text = text, .len = 8, .cut = true},
		{.kind = NW_VALUE_ARRAY,
		 .elements = numbers,
		 .element = NW_VALUE_UNSIGNED,
		 .bits = 16,
		 .len = 2},
		{.kind = NW_VALUE_SIGNED, .number = 42, .bits = 32},
		{.kind = NW_VALUE_STRING, .text = NULL, .len = 0},
	};

	ck_assert_int_eq(nw_span_starts_open(&starts), 0);
	begins(1, 7, 100, values, 4);
	memset(text, 'x', sizeof(text));
	memset(numbers, 0, sizeof(numbers));
	const struct nw_hit *hit = over(NW_SPAN_ENDS, 1, 7, 100);
	ck_assert_ptr_nonnull(hit);
	ck_assert_uint_eq(hit->time, 100);
	ck_assert_uint_eq(hit->value_count, 4);
	ck_assert_mem_eq(hit->values[0].text, "SELECT 1", 8);
	ck_assert(hit->values[0].cut);
	ck_assert_uint_eq(nw_value_element(&hit->values[1], 0), 0x0201);
	ck_assert_uint_eq(nw_value_element(&hit->values[1], 1), 0x0403);
	ck_assert_uint_eq(hit->values[2].number, 42);
	ck_assert_uint_eq(hit->values[3].len, 0);
	/* once taken, it is gone */
	ck_assert_ptr_null(over(NW_SPAN_ENDS, 1, 7, 100));
	nw_span_starts_free(starts);
}
END_TEST

START_TEST(each_start_has_its_own)
{
	enum {
		MANY = 1000
	};

	ck_assert_int_eq(nw_span_starts_open(&starts), 0);
	for (uint64_t i = 0; i < MANY; i++) {
		const struct nw_value value = {.kind = NW_VALUE_UNSIGNED, .number = i};
		/* two threads in the same nanosecond, and two spans */
		begins((uint32_t)(i & 1), 1 + (i & 3), 10 + i / 4, &value, 1);
	}
	for (uint64_t i = MANY; i-- > 0;) {
		enum nw_span_moment how = i % 3	  ? NW_SPAN_ENDS
					  : i % 2 ? NW_SPAN_NEVER_ENDS
						  : NW_SPAN_STILL_OPEN;
		const struct nw_hit *hit = over(how, (uint32_t)(i & 1), 1 + (i & 3),
						10 + i / 4);
		ck_assert_ptr_nonnull(hit);
		ck_assert_uint_eq(hit->values[0].number, i);
	}
	nw_span_starts_free(starts);
}
END_TEST

/* Of a call that never returns, the summary does not know the thread any more. */
/* 0 is a key like others. */
START_TEST(only_its_own_key_finds_it)
{
	ck_assert_int_eq(nw_span_starts_open(&starts), 0);
	begins(3, 9, 50, NULL, 0);
	begins(3, 0, 50, NULL, 0);
	begins(3, 8, 50, NULL, 0);
	ck_assert_ptr_null(over(NW_SPAN_NEVER_ENDS, 3, 9, 51));
	ck_assert_ptr_null(over(NW_SPAN_NEVER_ENDS, 2, 9, 50));
	ck_assert_ptr_null(over(NW_SPAN_ENDS_NOTHING, 3, 9, 0));
	ck_assert_ptr_nonnull(over(NW_SPAN_NEVER_ENDS, 3, 0, 50));
	ck_assert_ptr_null(over(NW_SPAN_NEVER_ENDS, 3, 0, 50));
	ck_assert_ptr_nonnull(over(NW_SPAN_NEVER_ENDS, 3, 9, 50));
	ck_assert_ptr_nonnull(over(NW_SPAN_NEVER_ENDS, 3, 8, 50));
	nw_span_starts_free(starts);
}
END_TEST

/* Text has microseconds only. */
START_TEST(of_several_at_one_time_the_latest_ends_first)
{
	const struct nw_value values[] = {{.kind = NW_VALUE_UNSIGNED, .number = 1},
					  {.kind = NW_VALUE_UNSIGNED, .number = 2}};

	ck_assert_int_eq(nw_span_starts_open(&starts), 0);
	for (size_t i = 0; i < 1000; i++) { /* the table grows */
		begins(1, 7, 100 + i, &values[0], 1);
		begins(1, 7, 100 + i, &values[1], 1);
	}
	for (size_t i = 0; i < 1000; i++)
		for (uint64_t number = 2; number; number--) {
			const struct nw_hit *hit = over(NW_SPAN_ENDS, 1, 7, 100 + i);
			ck_assert_ptr_nonnull(hit);
			ck_assert_uint_eq(hit->values[0].number, number);
		}
	ck_assert_ptr_null(over(NW_SPAN_ENDS, 1, 7, 100));
	nw_span_starts_free(starts);
}
END_TEST

START_TEST(what_never_ends_is_bounded)
{
	ck_assert_int_eq(nw_span_starts_open(&starts), 0);
	for (uint64_t i = 0; i <= NW_MOST_STARTS; i++)
		begins(0, 1, i, NULL, 0);
	ck_assert(nw_span_starts_left_out(starts));
	ck_assert_ptr_null(over(NW_SPAN_ENDS, 0, 1, NW_MOST_STARTS));
	ck_assert_ptr_nonnull(over(NW_SPAN_ENDS, 0, 1, NW_MOST_STARTS - 1));
	/* now there is room for one more */
	begins(0, 1, NW_MOST_STARTS, NULL, 0);
	ck_assert_ptr_nonnull(over(NW_SPAN_ENDS, 0, 1, NW_MOST_STARTS));
	nw_span_starts_free(starts);
}
END_TEST

/* Key 99 is that of a span that is known to be over, though no event has said so. */
static bool is_open(const void *arg, uint32_t span, const struct nw_open_span *open)
{
	ck_assert_ptr_null(arg);
	ck_assert_uint_ge(span, 2);
	return open->key != 99;
}

static size_t oldest_of(uint32_t span, struct nw_open_span out[4])
{
	return nw_span_starts_oldest(starts, span, is_open, NULL, out, 4);
}

START_TEST(the_oldest_come_first)
{
	static const uint64_t times[] = {50, 20, 90, 20, 70, 10, 60};
	struct nw_open_span oldest[4];

	ck_assert_int_eq(nw_span_starts_open(&starts), 0);
	for (uint64_t i = 0; i < NW_COUNT(times); i++)
		begins(2, i, times[i], NULL, 0);
	begins(2, 99, 5, NULL, 0);
	begins(3, 9, 1, NULL, 0); /* another kind */
	ck_assert_uint_eq(oldest_of(2, oldest), NW_COUNT(times));
	ck_assert_uint_eq(oldest[0].key, 5);
	ck_assert_uint_eq(oldest[0].began->time, 10);
	ck_assert_uint_eq(oldest[1].began->time, 20);
	ck_assert_uint_eq(oldest[2].began->time, 20);
	ck_assert_uint_eq(oldest[1].key + oldest[2].key, 1 + 3);
	ck_assert_uint_eq(oldest[3].key, 0);
	/* what has ended is not open, in whatever way it did */
	ck_assert_ptr_nonnull(over(NW_SPAN_ENDS, 2, 5, 10));
	ck_assert_ptr_nonnull(over(NW_SPAN_NEVER_ENDS, 2, 1, 20));
	ck_assert_uint_eq(oldest_of(2, oldest), 5);
	ck_assert_uint_eq(oldest[0].key, 3);
	ck_assert_uint_eq(oldest_of(3, oldest), 1);
	ck_assert_uint_eq(oldest_of(4, oldest), 0);
	nw_span_starts_free(starts);
}
END_TEST

UNIT_MAIN("starts", values_outlive_their_record, each_start_has_its_own,
	  only_its_own_key_finds_it, of_several_at_one_time_the_latest_ends_first,
	  what_never_ends_is_bounded, the_oldest_come_first)
