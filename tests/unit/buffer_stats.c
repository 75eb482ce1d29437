// SPDX-License-Identifier: MIT
/* What a CPU's stats say is lost. */
#include "kernel/session/session.h"
#include "unit.h"

static const char stats[] = "entries: 30\noverrun: 4000\ncommit overrun: 5\nbytes: 6\n"
			    "oldest event ts:  7.000008\nnow ts:  9.000010\n"
			    "dropped events: 11\nread events: 1200\n";

START_TEST(every_kind_of_loss_counts)
{
	ck_assert_uint_eq(nw_buffer_stats_lost(stats, false), 4000 + 5 + 11);
	ck_assert_uint_eq(nw_buffer_stats_lost("overrun: 1\n", false), 1);
	ck_assert_uint_eq(nw_buffer_stats_lost("", true), 0);
}
END_TEST

START_TEST(what_an_empty_buffer_is_said_to_hold_is_lost)
{
	ck_assert_uint_eq(nw_buffer_stats_lost(stats, true), 4000 + 5 + 11 + 30);
	ck_assert_uint_eq(nw_buffer_stats_lost("entries: 0\noverrun: 0\n", true), 0);
	ck_assert_uint_eq(nw_buffer_stats_lost("entries: -3\noverrun: 2\n", true), 2);
}
END_TEST

START_TEST(a_buffer_reaches_back_as_far_as_it_will_hold)
{
	static const char full[] =
		"overrun: 9\nbytes: 100000\noldest event ts:    10.500000\n"
		"now ts:    12.500000\n";
	static const char half[] =
		"overrun: 0\nbytes: 100000\noldest event ts:    10.500000\n"
		"now ts:    12.500000\n";
	static const char young[] =
		"overrun: 0\nbytes: 100000\noldest event ts:    12.400000\n"
		"now ts:    12.500000\n";
	static const char ticks[] =
		"overrun: 1\nbytes: 100000\noldest event ts: 10\nnow ts: 12\n";

	ck_assert_uint_eq(nw_buffer_stats_reach(full, 100000), 2000000000);
	ck_assert_uint_eq(nw_buffer_stats_reach(half, 200000), 4000000000);
	/* too little to tell, no times */
	ck_assert_uint_eq(nw_buffer_stats_reach(young, 200000), UINT64_MAX);
	ck_assert_uint_eq(nw_buffer_stats_reach(stats, 200000), UINT64_MAX);
	ck_assert_uint_eq(nw_buffer_stats_reach(ticks, 200000), UINT64_MAX);
	ck_assert_uint_eq(nw_buffer_stats_reach("", 200000), UINT64_MAX);
}
END_TEST

UNIT_MAIN("buffer_stats", every_kind_of_loss_counts,
	  what_an_empty_buffer_is_said_to_hold_is_lost,
	  a_buffer_reaches_back_as_far_as_it_will_hold)
