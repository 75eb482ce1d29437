// SPDX-License-Identifier: MIT
/* summary: the same by groups, and in intervals whose sum is the whole. */
#include <inttypes.h>

#include "measure/rows.h"
#include "one_span.h"

enum {
	MOST_GROUPS = 16384
};
static uint64_t late_keys;

static void setup(bool grouped)
{
	setup_options((struct nw_summary_options){.args = NW_ARGS_ALL,
						  .grouped = grouped,
						  .late_keys = late_keys},
		      NW_KEY_TID);
}

static int64_t group(const char *name)
{
	int64_t number = nw_summary_group(summary, name, strlen(name));

	ck_assert_int_ge(number, 0);
	return number;
}

static void hit(uint32_t probe, int32_t tid, uint64_t time, int64_t of)
{
	const struct nw_value value = {.kind = NW_VALUE_UNSIGNED, .number = time % 7};
	const struct nw_hit hit = {.time = time,
				   .tid = tid,
				   .probe = probe,
				   .values = &value,
				   .value_count = 1};

	ck_assert_int_eq(nw_summary_hit(summary, &hit, 1, of), 0);
}

/* "NAME: HITS of start+done, COUNT=SUM of latencies, UNMATCHED STARTS, ENDS, DISCARDED" */
static void expect(size_t number, const char *wanted)
{
	const struct nw_group_rows *rows = nw_summary_rows(summary, number, false);
	const char *name = nw_summary_group_name(summary, number);
	struct nw_buf seen = {0};

	nw_buf_printf(
		&seen,
		"%s: %" PRIu64 "+%" PRIu64 ", %" PRIu64 "=%" PRIu64 ", %" PRIu64 " %" PRIu64
		" %" PRIu64,
		name ? name : "all", nw_group_probe(rows, START)->hits,
		nw_group_probe(rows, DONE)->hits, nw_group_span(rows, 0)->latency.count,
		nw_group_span(rows, 0)->latency.sum,
		nw_group_span(rows, 0)->unmatched_starts,
		nw_group_span(rows, 0)->unmatched_ends, nw_group_span(rows, 0)->discarded);
	ck_assert_str_eq(nw_buf_str(&seen), wanted);
	nw_buf_free(&seen);
}

START_TEST(without_groups_all_is_one)
{
	setup(false);
	ck_assert_uint_eq(nw_summary_groups(summary), 1);
	ck_assert_ptr_null(nw_summary_group_name(summary, 0));
	hit(START, 1, 100, 5); /* whatever the hit says */
	hit(DONE, 1, 107, -1);
	ck_assert_uint_eq(nw_summary_groups(summary), 1);
	expect(0, "all: 1+1, 1=7, 0 0 0");
}
END_TEST

/* Parts of a group's name stand behind each other, with NW_GROUP_SEPARATOR between them. */
START_TEST(each_key_is_from_the_end_where_the_start_does_not_have_it)
{
	setup(true);
	int64_t start = group("?\x1f"
			      "1\x1f?"),
		end = group("200\x1f"
			    "2\x1f?");
	for (uint64_t i = 0; i < 3; i++) { /* which is kept, and found again */
		hit(START, 1, 100 + i * 10, start);
		hit(DONE, 1, 107 + i * 10, end);
	}
	expect((size_t)start, "?\x1f"
			      "1\x1f?: 3+0, 0=0, 0 0 0");
	expect((size_t)end, "200\x1f"
			    "2\x1f?: 0+3, 0=0, 0 0 0");
	ck_assert_uint_eq(nw_summary_groups(summary), 3);
	expect(2, "200\x1f"
		  "1\x1f?: 0+0, 3=21, 0 0 0");
	/* what has no end, or no start, is where its own hit says */
	hit(DONE, 1, 200, end);
	hit(START, 1, 201, start);
	nw_summary_finish(summary);
	expect((size_t)start, "?\x1f"
			      "1\x1f?: 4+0, 0=0, 1 0 0");
	expect((size_t)end, "200\x1f"
			    "2\x1f?: 0+4, 0=0, 0 1 0");
}
END_TEST

/* A title may change while a span is open. */
START_TEST(late_keys_are_from_the_end_if_it_has_them)
{
	late_keys = 1 << 1;
	setup(true);
	int64_t start = group("a\x1f"
			      "old"),
		end = group("b\x1f"
			    "new"),
		unknown = group("b\x1f?");
	hit(START, 1, 100, start);
	hit(DONE, 1, 107, end);
	hit(START, 1, 200, start);
	hit(DONE, 1, 203, unknown);
	expect((size_t)start, "a\x1f"
			      "old: 2+0, 1=3, 0 0 0");
	expect(3, "a\x1f"
		  "new: 0+0, 1=7, 0 0 0");
	teardown();
	late_keys = 1;
	setup(true);
	hit(START, 1, 100, group("old"));
	hit(DONE, 1, 107, group("new"));
	expect(1, "new: 0+1, 1=7, 0 0 0");
	late_keys = 0;
}
END_TEST

/* A group that a span makes moves the others in memory. */
START_TEST(a_span_may_make_a_group_while_its_hit_is_taken)
{
	char of_start[16], of_end[16];

	setup(true);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(of_start, sizeof(of_start), "?\x1f%u", i);
		snprintf(of_end, sizeof(of_end), "%u\x1f?", i);
		hit(START, 1, 100 + i * 10, group(of_start));
		hit(DONE, 1, 103 + i * 10, group(of_end));
	}
	ck_assert_uint_eq(nw_summary_groups(summary), 600);
	expect(599, "199\x1f"
		    "199: 0+0, 1=3, 0 0 0");
}
END_TEST

START_TEST(a_latency_belongs_to_the_group_of_its_start)
{
	setup(true);
	ck_assert_uint_eq(nw_summary_groups(summary), 0);
	int64_t a = group("a"), b = group("b");
	ck_assert(a == 0 && b == 1 && group("a") == a);
	hit(START, 1, 100, a);
	hit(DONE, 1, 107, b); /* moved to another CPU, or an end without the argument */
	hit(START, 2, 200, b);
	hit(DONE, 2, 203, b);
	hit(DONE, 2, 204, a);
	expect(0, "a: 1+1, 1=7, 0 1 0");
	expect(1, "b: 1+2, 1=3, 0 0 0");
}
END_TEST

START_TEST(hits_that_cannot_say_their_group_have_one_of_their_own)
{
	setup(true);
	int64_t a = group("a");
	hit(DONE, 9, 90, -1);
	hit(START, 1, 100, -1);
	hit(DONE, 1, 107, a); /* the end can say it */
	hit(START, 1, 200, -1);
	hit(DONE, 1, 203, -1);
	hit(START, 1, 300, -1);
	nw_summary_finish(summary);
	ck_assert_uint_eq(nw_summary_groups(summary), 2);
	expect(0, "a: 0+1, 1=7, 0 0 0");
	expect(1, "?: 3+2, 1=3, 1 1 0");
	ck_assert_int_eq(group("?"), 1);
}
END_TEST

START_TEST(what_is_given_up_is_counted_where_it_began)
{
	setup(true);
	int64_t a = group("a"), b = group("b"), c = group("c");
	hit(START, 1, 100, a);
	hit(START, 1, 101, b);
	nw_summary_loss(summary, 200, 0);
	hit(START, 1, 210, c); /* meets the loss */
	expect(0, "a: 1+0, 0=0, 0 0 1");
	expect(1, "b: 1+0, 0=0, 0 0 1");
	nw_summary_exit(summary, 1);
	expect(2, "c: 1+0, 0=0, 1 0 0");
	hit(START, 2, 300, a);
	nw_summary_loss(summary, 400, 0);
	hit(DONE, 2, 410, b);
	expect(0, "a: 2+0, 0=0, 0 0 2");
	expect(1, "b: 1+1, 0=0, 0 0 1");
	ck_assert_uint_eq(nw_summary_discarded(summary), 3);
}
END_TEST

START_TEST(gaps_are_between_hits_of_one_group)
{
	setup(true);
	int64_t a = group("a"), b = group("b");
	hit(DONE, 1, 100, a);
	hit(DONE, 1, 103, b);
	hit(DONE, 1, 110, a);
	hit(DONE, 1, 111, b);
	ck_assert_uint_eq(nw_group_probe(nw_summary_rows(summary, 0, false), DONE)->gap.sum,
			  10);
	ck_assert_uint_eq(nw_group_probe(nw_summary_rows(summary, 1, false), DONE)->gap.sum,
			  8);
}
END_TEST

START_TEST(groups_beyond_the_limit_share_one)
{
	char name[16];

	setup(true);
	for (int i = 0; i < MOST_GROUPS; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		ck_assert_int_eq(group(name), i);
	}
	ck_assert_int_eq(group("one more"), MOST_GROUPS);
	ck_assert_int_eq(group("and another"), MOST_GROUPS);
	ck_assert_int_eq(group("g7"), 7);
	hit(START, 1, 100, group("anything"));
	hit(START, 2, 100, group("else"));
	ck_assert_uint_eq(nw_summary_groups(summary), MOST_GROUPS + 1);
	expect(MOST_GROUPS, "(others): 2+0, 0=0, 0 0 0");
	ck_assert_uint_eq(nw_summary_overflow_groups(summary), 4);
	for (int i = 0; i < 2 * MOST_GROUPS; i++) { /* each twice */
		snprintf(name, sizeof(name), "h%d", i % MOST_GROUPS);
		ck_assert_int_eq(group(name), MOST_GROUPS);
	}
	ck_assert_uint_eq(nw_summary_overflow_groups(summary), MOST_GROUPS + 4);
}
END_TEST

/* ---- intervals ---------------------------------------------------------------------- */

START_TEST(an_interval_starts_from_zero_and_the_total_keeps_all)
{
	setup(false);
	hit(START, 1, 100, 0);
	hit(DONE, 1, 105, 0);
	hit(START, 1, 200, 0); /* open across the turn */
	ck_assert_int_eq(nw_summary_next_interval(summary), 0);
	expect(0, "all: 0+0, 0=0, 0 0 0");
	hit(DONE, 1, 209, 0); /* its latency is of the interval in which it ended */
	expect(0, "all: 0+1, 1=9, 0 0 0");
	ck_assert_uint_eq(nw_group_probe(nw_summary_rows(summary, 0, false), DONE)->gap.sum,
			  104);
	nw_summary_finish(summary);
	const struct nw_group_rows *total = nw_summary_rows(summary, 0, true);
	ck_assert(nw_group_probe(total, START)->hits == 2 &&
		  nw_group_probe(total, DONE)->hits == 2);
	ck_assert(nw_group_span(total, 0)->latency.count == 2 &&
		  nw_group_span(total, 0)->latency.sum == 14);
}
END_TEST

START_TEST(without_intervals_the_total_is_what_is_current)
{
	setup(false);
	hit(START, 1, 100, 0);
	nw_summary_finish(summary);
	ck_assert_ptr_eq(nw_summary_rows(summary, 0, true),
			 nw_summary_rows(summary, 0, false));
	expect(0, "all: 1+0, 0=0, 1 0 0");
}
END_TEST

/* The figures of a group, to be added up. */
struct sum {
	uint64_t hits[2], gaps, gap_sum, count, latency, starts, ends, discarded, args,
		arg_sum;
};

static void add_up(struct sum *sum, const struct nw_group_rows *rows)
{
	for (size_t i = 0; i < 2; i++) {
		sum->hits[i] += nw_group_probe(rows, i)->hits;
		sum->gaps += nw_group_probe(rows, i)->gap.count;
		sum->gap_sum += nw_group_probe(rows, i)->gap.sum;
		sum->args += nw_group_probe(rows, i)->args[0].count;
		sum->arg_sum += nw_group_probe(rows, i)->args[0].sum;
	}
	sum->count += nw_group_span(rows, 0)->latency.count;
	sum->latency += nw_group_span(rows, 0)->latency.sum;
	sum->starts += nw_group_span(rows, 0)->unmatched_starts;
	sum->ends += nw_group_span(rows, 0)->unmatched_ends;
	sum->discarded += nw_group_span(rows, 0)->discarded;
}

/* Random hits in random groups, with or without intervals. */
static void play(uint64_t seed, bool turns, struct sum sums[8])
{
	uint64_t state = seed, now = 1;

	setup(true);
	for (unsigned int i = 0; i < 5000; i++) {
		uint64_t r = unit_random(&state);
		char name[] = {(char)('a' + (r >> 8) % 7), '\0'};
		now += (r >> 16) % 100;
		/* groups appear as they come: some only in a late interval */
		hit(r & 1 ? START : DONE, 1 + (int32_t)((r >> 32) % 4), now,
		    i < 4000 && *name == 'g' ? group("a") : group(name));
		if (r >> 56 == 0)
			nw_summary_loss(summary, now + 50, 1);
		if (turns && (r >> 48) % 64 == 0) {
			for (size_t g = 0; g < nw_summary_groups(summary); g++)
				add_up(&sums[g], nw_summary_rows(summary, g, false));
			ck_assert_int_eq(nw_summary_next_interval(summary), 0);
		}
	}
	/* what finish adds is in no interval any more: look at it before */
	for (size_t g = 0; turns && g < nw_summary_groups(summary); g++)
		add_up(&sums[g], nw_summary_rows(summary, g, false));
}

START_TEST(the_sum_of_the_intervals_is_the_total)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct sum parts[8] = {0}, total[8] = {0}, whole[8] = {0};
		size_t groups;

		play(seed, true, parts);
		ck_assert_int_eq(nw_summary_next_interval(summary), 0);
		groups = nw_summary_groups(summary);
		ck_assert_uint_eq(groups, 7);
		for (size_t g = 0; g < groups; g++)
			add_up(&total[g], nw_summary_rows(summary, g, true));
		ck_assert_mem_eq(parts, total, sizeof(parts));
		teardown();

		play(seed, false, NULL); /* the same without intervals */
		for (size_t g = 0; g < groups; g++)
			add_up(&whole[g], nw_summary_rows(summary, g, true));
		ck_assert_mem_eq(whole, total, sizeof(whole));
		ck_assert_uint_gt(whole[0].count + whole[0].discarded, 10);
		teardown();
	}
}
END_TEST

/* Each group hits few of many probes: what it costs goes by those, not by all that there are. */
START_TEST(groups_have_rows_only_of_what_they_hit)
{
	enum {
		PROBES = 500,
		GROUPS = 300
	};
	struct nw_buf text = {0};
	struct nw_summary_options options = {
		.selection = &selection, .args = NW_ARGS_ALL, .grouped = true};
	size_t rows = 0;

	nw_buf_adds(&text, "nopwatch-plan 1\nimage /bin/app\n");
	for (int i = 0; i < PROBES; i++)
		nw_buf_printf(&text, "probe 0 0 app p%d app:p%d 1\narg id -\n", i, i);
	ck_assert_int_eq(nw_plan_load(nw_buf_str(&text), text.len, &selection, &plan, NULL,
				      NULL, NULL, NULL),
			 0);
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t g = 0; g < GROUPS; g++)
			for (uint32_t i = 0; i < 9; i++) {
				char name[16];
				snprintf(name, sizeof(name), "g%u", g);
				hit((g * 7 + i % 3 * 41) % PROBES, 1,
				    1 + turn * 10000 + g * 10 + i, group(name));
			}
		ck_assert_int_eq(nw_summary_next_interval(summary), 0);
	}
	for (size_t g = 0; g < GROUPS; g++) {
		const struct nw_group_rows *total = nw_summary_rows(summary, g, true);
		uint64_t hits = 0;
		struct nw_group_row kept;
		for (size_t at = 0; nw_group_next(total, &at, &kept);)
			rows++;
		for (uint32_t i = 0; i < PROBES; i++) {
			const struct nw_probe_row *row = nw_group_probe(total, i);
			bool is_hit = false;
			for (uint32_t j = 0; j < 3; j++)
				is_hit |= (g * 7 + j * 41) % PROBES == i;
			ck_assert_uint_eq(row->hits, is_hit ? 6 : 0);
			ck_assert_uint_eq(row->args[0].count, row->hits);
			ck_assert_uint_eq(row->gap.count, is_hit ? 5 : 0);
			hits += row->hits;
		}
		ck_assert_uint_eq(hits, 18);
	}
	ck_assert_uint_eq(rows, 3 * GROUPS);
	nw_summary_free(summary);
	summary = NULL;
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	nw_buf_free(&text);
}
END_TEST

UNIT_MAIN_WITH("summary_group", NULL, teardown, groups_have_rows_only_of_what_they_hit,
	       without_groups_all_is_one, a_latency_belongs_to_the_group_of_its_start,
	       each_key_is_from_the_end_where_the_start_does_not_have_it,
	       late_keys_are_from_the_end_if_it_has_them,
	       a_span_may_make_a_group_while_its_hit_is_taken,
	       hits_that_cannot_say_their_group_have_one_of_their_own,
	       what_is_given_up_is_counted_where_it_began,
	       gaps_are_between_hits_of_one_group, groups_beyond_the_limit_share_one,
	       an_interval_starts_from_zero_and_the_total_keeps_all,
	       without_intervals_the_total_is_what_is_current,
	       the_sum_of_the_intervals_is_the_total)
