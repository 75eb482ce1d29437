// SPDX-License-Identifier: MIT
/* summary: hits that a filter has taken out keep their place in the pairing, and no other. */
#include <inttypes.h>

#include "one_span.h"

static void setup(enum nw_span_key key)
{
	setup_options((struct nw_summary_options){0}, key);
}

static void play(bool counts, uint32_t probe, int32_t tid, uint64_t key, uint64_t time)
{
	const struct nw_value value = {.kind = key ? NW_VALUE_UNSIGNED : NW_VALUE_MISSING,
				       .number = key,
				       .text = "(fault)"};
	const struct nw_hit hit = {.time = time,
				   .tid = tid,
				   .probe = probe,
				   .values = &value,
				   .value_count = 1};
	int ret = counts ? nw_summary_hit(summary, &hit, 1, 0)
			 : nw_summary_filtered(summary, &hit, 1);

	ck_assert_int_eq(ret, 0);
}

static void hit(uint32_t probe, uint64_t time)
{
	play(true, probe, 1, 0, time);
}

static void filtered(uint32_t probe, uint64_t time)
{
	play(false, probe, 1, 0, time);
}

/* Hits of both probes; spans measured, their sum; unmatched starts, ends, and discarded. */
static void expect(uint64_t hits, uint64_t count, uint64_t sum, uint64_t starts,
		   uint64_t ends, uint64_t discarded)
{
	nw_summary_finish(summary);
	const struct nw_group_rows *rows = nw_summary_rows(summary, 0, true);
	const struct nw_span_row *row = nw_group_span(rows, 0);

	ck_assert_uint_eq(
		nw_group_probe(rows, START)->hits + nw_group_probe(rows, DONE)->hits, hits);
	ck_assert_uint_eq(row->latency.count, count);
	ck_assert_uint_eq(row->latency.sum, sum);
	ck_assert_uint_eq(row->unmatched_starts, starts);
	ck_assert_uint_eq(row->unmatched_ends, ends);
	ck_assert_uint_eq(row->discarded, discarded);
	ck_assert_uint_eq(open_spans(summary), 0);
	teardown();
}

START_TEST(a_filtered_end_takes_its_start_away)
{
	setup(NW_KEY_TID);
	hit(START, 100);
	filtered(DONE, 110);
	hit(START, 200);
	hit(DONE, 203);
	expect(3, 1, 3, 0, 0, 0);
}
END_TEST

START_TEST(a_filtered_start_silences_its_end)
{
	setup(NW_KEY_TID);
	filtered(START, 100);
	hit(DONE, 110);
	hit(DONE, 120); /* this one never had a start */
	expect(2, 0, 0, 0, 1, 0);
}
END_TEST

START_TEST(both_filtered)
{
	setup(NW_KEY_TID);
	filtered(START, 100);
	filtered(DONE, 110);
	filtered(DONE, 120);
	filtered(START, 130);
	expect(0, 0, 0, 0, 0, 0);
}
END_TEST

START_TEST(recursion_keeps_its_pairs)
{
	setup(NW_KEY_TID);
	hit(START, 100);
	filtered(START, 110);
	hit(START, 120);
	hit(DONE, 121);
	hit(DONE, 135);	     /* of the filtered one */
	filtered(DONE, 140); /* of the first */
	hit(START, 200);
	hit(START, 210);
	filtered(DONE, 211);
	hit(DONE, 250);
	expect(7, 2, 51, 0, 0, 0);
}
END_TEST

START_TEST(keys_are_looked_at)
{
	setup(NW_KEY_ARG);
	play(true, START, 1, 5, 100);
	play(true, START, 1, 6, 101);
	play(false, DONE, 2, 5, 102);
	play(false, DONE, 2, 0, 103); /* cannot say its key */
	play(false, START, 2, 0, 104);
	play(true, DONE, 2, 6, 105);
	expect(3, 1, 4, 0, 0, 0);
}
END_TEST

START_TEST(a_loss_over_hidden_starts_discards_nothing)
{
	setup(NW_KEY_TID);
	filtered(START, 100);
	nw_summary_loss(summary, 150, 3);
	hit(DONE, 160);
	filtered(START, 170);
	nw_summary_loss(summary, 180, 3);
	filtered(DONE, 190);
	hit(START, 200);
	nw_summary_loss(summary, 210, 3);
	filtered(DONE, 220); /* whose start it was cannot be said */
	expect(2, 0, 0, 0, 0, 1);
}
END_TEST

START_TEST(gaps_are_between_hits_that_count)
{
	setup(NW_KEY_TID);
	hit(START, 100);
	filtered(START, 110);
	hit(START, 130);
	const struct nw_histogram *gap =
		&nw_group_probe(nw_summary_rows(summary, 0, false), 0)->gap;
	ck_assert_uint_eq(gap->count, 1);
	ck_assert_uint_eq(gap->sum, 30);
	teardown();
}
END_TEST

START_TEST(a_thread_that_exits_leaves_no_hidden_starts)
{
	setup(NW_KEY_TID);
	filtered(START, 100);
	hit(START, 110);
	nw_summary_exit(summary, 1);
	expect(1, 0, 0, 1, 0, 0);
}
END_TEST

START_TEST(hidden_starts_that_are_given_up_are_not_unmatched)
{
	setup_options((struct nw_summary_options){.most_open = 3}, NW_KEY_TID);
	filtered(START, 100);
	filtered(START, 110);
	hit(START, 120);
	hit(START, 130);	       /* gives up the first */
	filtered(START, 140);	       /* and the second */
	filtered(START, 150);	       /* and 120, which counted */
	play(false, START, 2, 0, 160); /* is the first of its key, and given up itself */
	hit(DONE, 161);
	hit(DONE, 162);
	hit(DONE, 163); /* of 130 */
	expect(5, 1, 33, 1, 0, 0);
}
END_TEST

START_TEST(no_group_is_made_for_them)
{
	setup_options((struct nw_summary_options){.grouped = true}, NW_KEY_TID);
	filtered(START, 100);
	filtered(DONE, 110);
	filtered(START, 120);
	nw_summary_finish(summary);
	ck_assert_uint_eq(nw_summary_groups(summary), 0);
	teardown();
}
END_TEST

UNIT_MAIN("summary_filter", a_filtered_end_takes_its_start_away,
	  a_filtered_start_silences_its_end, both_filtered, recursion_keeps_its_pairs,
	  keys_are_looked_at, a_loss_over_hidden_starts_discards_nothing,
	  gaps_are_between_hits_that_count, a_thread_that_exits_leaves_no_hidden_starts,
	  hidden_starts_that_are_given_up_are_not_unmatched, no_group_is_made_for_them)
