// SPDX-License-Identifier: MIT
/*
 * summary: calls of functions are paired by their stack pointers, whatever order they end in.
 *
 * What happens is written as words: "FUNCTION+STACK" is a call that begins, "FUNCTION-STACK" one
 * that returns, each a unit of time after the other; "x" is the end of the thread, "!" events that
 * are missing, "@N" goes on in thread N; "~STACK" is a return that may have popped arguments.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "nopwatch/plan.h"
#include "nopwatch/summary.h"
#include "unit.h"

static const char plan_text[] = "nopwatch-plan 1\nimage /bin/app\n"
				"probe 0 1 uprobe f uprobe:f 0\n"
				"probe 0 2 uretprobe f uretprobe:f 0\n"
				"probe 0 1 uprobe g uprobe:g 0\n"
				"probe 0 2 uretprobe g uretprobe:g 0\n";

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static nw_span_defs spans;
static uint64_t now;
static int32_t tid;

static void setup(bool stacks, bool unlimited)
{
	const char *text = plan_text;

	ck_assert_int_eq(
		nw_plan_load(text, strlen(text), &selection, &plan, NULL, NULL, NULL), 0);
	ck_assert_int_eq(nw_spans_by_name(&selection, &spans), 0);
	ck_assert_uint_eq(spans.count, 2);
	ck_assert(spans.item[0].call && spans.item[1].call);
	spans.item[0].unlimited = spans.item[1].unlimited = unlimited;
	const struct nw_summary_options options = {
		.selection = &selection, .spans = spans.item, .span_count = spans.count};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	if (stacks)
		nw_summary_use_stacks(summary);
	now = 0;
	tid = 1;
}

static void teardown(void)
{
	nw_summary_free(summary);
	nw_spans_free(&spans);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	spans = (nw_span_defs){0};
}

static void hit(char function, bool is_return, uint64_t stack)
{
	const struct nw_hit it = {.time = now,
				  .tid = tid,
				  .probe = (function == 'g' ? 2u : 0u) + is_return,
				  .stack = stack};

	ck_assert_int_eq(nw_summary_hit(summary, &it, tid, 0), 0);
}

static void happen(const char *words)
{
	while (*words) {
		char what = *words++, how;
		char *end;
		if (isspace((unsigned char)what))
			continue;
		now++;
		if (what == 'x') {
			nw_summary_exit(summary, tid);
		} else if (what == '!') {
			nw_summary_loss(summary, now, 1);
		} else if (what == '@') {
			tid = (int32_t)strtol(words, &end, 10);
			words = end;
		} else {
			how = *words++;
			uint64_t stack = strtoull(words, &end, 10);
			words = end;
			hit(what, how != '+', how == '~' ? stack | NW_STACK_LOOSE : stack);
		}
	}
}

/* "LATENCIES / abandoned, omitted, unmatched starts and ends, discarded" of a span. */
static void expect_span(size_t span, const char *wanted, const char *what)
{
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, true),
						      span);
	struct nw_buf seen = {0};
	struct nw_bucket bucket;
	unsigned int at = 0;

	while (nw_histogram_next(&row->latency, &at, &bucket))
		for (uint64_t i = 0; i < bucket.count; i++)
			nw_buf_printf(&seen, "%" PRIu64 " ", bucket.low);
	nw_buf_printf(&seen, "/ %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		      row->abandoned, row->omitted, row->unmatched_starts,
		      row->unmatched_ends, row->discarded);
	ck_assert_msg(strcmp(nw_buf_str(&seen), wanted) == 0, "%s: %s, not %s", what,
		      nw_buf_str(&seen), wanted);
	nw_buf_free(&seen);
}

static const struct {
	const char *what, *words, *f, *g;
} stories[] = {
	{"nested", "f+90 f+80 f-80 f-90", "1 3 / 0 0 0 0 0", NULL},
	{"a longjmp past two", "f+90 f+80 f+70 f-90", "3 / 2 0 0 0 0", NULL},
	{"a longjmp past another function", "f+90 g+80 f-90", "2 / 0 0 0 0 0",
	 "/ 1 0 0 0 0"},
	{"left, and called again at the same place", "f+90 f+90 f+90 f-90", "1 / 2 0 0 0 0",
	 NULL},
	{"left, and called again higher", "f+80 f+90 f-90", "1 / 1 0 0 0 0", NULL},
	{"left, and never anything again", "f+90", "/ 0 0 1 0 0", NULL},
	{"left, and called again deeper, as if nested", "f+90 f+80 f-80", "1 / 0 0 1 0 0",
	 NULL},
	{"the thread ends", "f+90 f+80 x", "/ 2 0 0 0 0", NULL},
	{"a tail call", "f+90 g+90 g-90 f-90", "3 / 0 0 0 0 0", "1 / 0 0 0 0 0"},
	{"a tail call to itself", "f+90 f+90 f-90 f-90", "1 3 / 0 0 0 0 0", NULL},
	{"it was no tail call, as is seen by the next one", "f+90 f+90 f-90 f+80 f-80",
	 "1 1 / 1 0 0 0 0", NULL},
	{"a return without a call", "f-90 f+90 f-90", "1 / 0 0 0 1 0", NULL},
	{"threads are apart", "f+90 @2 f+80 f-80 @1 f-90", "1 5 / 0 0 0 0 0", NULL},
	{"events are missing", "f+90 g+80 ! g-80 f-90", "/ 0 0 0 1 1", "/ 0 0 0 0 1"},
	{"a missing return and the same place again", "f+90 ! f-90 f+90 f-90",
	 "1 / 0 0 0 0 1", NULL},

	/* stacks of their own: B's, at 1000, and C's, at 2000, A's is at 9000 */
	{"another stack, in order", "f+9000 f+1000 f-1000 f-9000", "1 3 / 0 0 0 0 0", NULL},
	{"another stack ends last", "f+1000 f+900 f-1000 f-900", "2 2 / 0 0 0 0 0", NULL},
	{"the stack that is higher ends first", "f+1000 f+2000 f-2000 f-1000",
	 "1 3 / 0 0 0 0 0", NULL},
	{"three stacks in turn", "f+1000 f+2000 f+9000 f-1000 f-2000 f-9000",
	 "3 3 3 / 0 0 0 0 0", NULL},
	{"a thread that switches: nothing is known of what did not return",
	 "f+1000 f+2000 f-1000 f-2000 f+900 f-900 f+800 f+1000 f-1000",
	 "1 1 2 2 / 0 0 1 0 0", NULL},
	{"a loop on a stack, after each of which another is resumed",
	 "f+1000 f+2000 f-1000 f+1000 f-2000 f+2000 f-1000 f-2000", "2 2 3 3 / 0 0 0 0 0",
	 NULL},

	/* ret N */
	{"a function pops its arguments", "f+90 f+70 f~78 f~94", "1 3 / 0 0 0 0 0", NULL},
	{"the same, and one was left", "f+90 f+70 f+60 f~94", "3 / 2 0 0 0 0", NULL},
	{"it pops, and is called again", "f+90 f~98 f+90 f~98", "1 1 / 0 0 0 0 0", NULL},
	{"what lies higher was not it", "f+90 f~80 f~90", "2 / 0 0 0 1 0", NULL},
};

START_TEST(calls_end_with_their_own_return)
{
	for (size_t i = 0; i < NW_COUNT(stories); i++) {
		setup(true, false);
		happen(stories[i].words);
		nw_summary_finish(summary);
		expect_span(0, stories[i].f, stories[i].what);
		if (stories[i].g)
			expect_span(1, stories[i].g, stories[i].what);
		ck_assert_uint_eq(nw_summary_open_spans(summary), 0);
		teardown();
	}
}
END_TEST

/* Recordings of before, and text without it. */
START_TEST(without_stack_pointers_the_last_in_is_the_first_out)
{
	setup(false, false);
	happen("f+90 f+80 f+70 f-90 f-80 f-70");
	nw_summary_finish(summary);
	expect_span(0, "1 3 5 / 0 0 0 0 0", "");
	teardown();
	setup(true, false);
	happen("f+0 f+0 f-0 f-0");
	nw_summary_finish(summary);
	expect_span(0, "1 3 / 0 0 0 0 0", "");
	teardown();
}
END_TEST

static void nest(uint64_t depth, uint64_t returns)
{
	for (uint64_t i = 0; i < depth; i++, now++)
		hit('f', false, ((uint64_t)1 << 32) - i * 64);
	for (uint64_t i = returns; i-- > 0; now++)
		hit('f', true, ((uint64_t)1 << 32) - i * 64);
}

START_TEST(beyond_64_calls_returns_are_omitted)
{
	setup(true, false);
	nest(200, 64);
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, false),
						      0);
	ck_assert_uint_eq(row->latency.count, 64);
	ck_assert_uint_eq(row->latency.min, 137);
	ck_assert_uint_eq(row->latency.max, 137 + 2 * 63);
	ck_assert(row->omitted == 136 && !row->abandoned);
	nest(64, 64); /* as deep as it goes */
	ck_assert(row->latency.count == 128 && row->omitted == 136);
	nest(100, 0); /* the thread ends there */
	nw_summary_exit(summary, tid);
	ck_assert(row->omitted == 136 + 36 && row->abandoned == 64);
	nest(200000, 64); /* more than are kept */
	ck_assert_uint_eq(row->latency.count, 192);
	ck_assert_uint_eq(row->omitted, 136 + 36 + 199936);
	nw_summary_finish(summary);
	ck_assert(!row->unmatched_starts && !row->unmatched_ends);
	teardown();
	setup(true, true);
	nest(200, 200);
	nw_summary_finish(summary);
	row = nw_group_span(nw_summary_rows(summary, 0, false), 0);
	ck_assert(row->latency.count == 200 && !row->omitted);
	teardown();
}
END_TEST

/* Whoever leaves by longjmp() for ever must not be taken for who nests, nor fill the memory. */
START_TEST(what_is_left_over_and_over_does_not_pile_up)
{
	setup(true, false);
	hit('f', false, 5000);
	for (int i = 0; i < 100000; i++, now++)
		hit('f', false, 4000 - (uint64_t)(i % 7) * 16);
	ck_assert_uint_lt(nw_summary_open_spans(summary), 100);
	now = 200000;
	hit('f', true, 5000);
	nw_summary_finish(summary);
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, false),
						      0);
	ck_assert(row->latency.count == 1 && row->latency.min == 200000);
	ck_assert(row->abandoned == 100000 && !row->unmatched_starts && !row->omitted);
	teardown();
}
END_TEST

/* As many stacks as one likes, in any order: each call is that of its own stack. */
START_TEST(coroutines_end_in_any_order)
{
	enum {
		STACKS = 200
	};
	uint64_t state = 1, began[STACKS] = {0}, sum = 0, count = 0;

	setup(true, true);
	for (int i = 0; i < 50000; i++) {
		size_t which = unit_random(&state) % STACKS;
		uint64_t stack = (which + 1) * 65536;
		now++;
		hit('f', began[which] != 0, stack);
		if (began[which]) {
			sum += now - began[which];
			count++;
		}
		began[which] = began[which] ? 0 : now;
	}
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, false),
						      0);
	ck_assert_uint_eq(row->latency.count, count);
	ck_assert_uint_eq(row->latency.sum, sum);
	ck_assert(!row->unmatched_ends && !row->abandoned);
	teardown();
}
END_TEST

START_TEST(a_filter_takes_out_whole_calls)
{
	const struct nw_hit out = {.tid = 1, .probe = 0, .stack = 80};

	setup(true, false);
	happen("f+90");
	ck_assert_int_eq(nw_summary_filtered(summary, &out, 1), 0);
	happen("f-80 f-90");
	nw_summary_finish(summary);
	expect_span(0, "2 / 0 0 0 0 0", "");
	teardown();
}
END_TEST

START_TEST(a_probe_that_is_disabled_discards_what_is_open)
{
	setup(true, false);
	happen("f+90 g+80");
	nw_summary_disabled(summary, 1, now + 1);
	happen("g-80 f-90 f+90");
	nw_summary_finish(summary);
	expect_span(0, "/ 0 0 0 0 1", "");
	expect_span(1, "1 / 0 0 0 0 0", "");
	teardown();
}
END_TEST

UNIT_MAIN("calls", calls_end_with_their_own_return,
	  without_stack_pointers_the_last_in_is_the_first_out,
	  beyond_64_calls_returns_are_omitted, what_is_left_over_and_over_does_not_pile_up,
	  coroutines_end_in_any_order, a_filter_takes_out_whole_calls,
	  a_probe_that_is_disabled_discards_what_is_open)
