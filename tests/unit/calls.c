// SPDX-License-Identifier: MIT
/*
 * summary: calls of functions are paired by their stack pointers, whatever order they end in.
 *
 * What happens is written as words: "FUNCTION+STACK" is a call that begins, "FUNCTION-STACK" one
 * that returns, each a unit of time after the other; "x" is the end of the thread, "!" events that
 * are missing, "@N" goes on in thread N; "~STACK" is a return that may have popped arguments.
 *
 * Of USDT probes it is the same with frames; a capital letter is another site of the same start.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "measure/spans/pairs.h"
#include "measure/summary.h"
#include "open_spans.h"
#include "plan/plan.h"
#include "unit.h"

static const char plan_text[] = "nopwatch-plan 1\nimage /bin/app\n"
				"probe 0 1 uprobe f uprobe:f 0\n"
				"probe 0 2 uretprobe f uretprobe:f 0\n"
				"probe 0 1 uprobe g uprobe:g 0\n"
				"probe 0 2 uretprobe g uretprobe:g 0\n";

/* Pairs that stand in one function. */
static const char frames_text[] = "nopwatch-plan 1\nimage /bin/app\n"
				  "probe 0 0 app f__start app:f__start 0\npoint 1 1 0\n"
				  "probe 0 0 app f__done app:f__done 0\npoint 2 2 0\n"
				  "probe 0 0 app g__start app:g__start 0\npoint 3 3 0\n"
				  "probe 0 0 app g__done app:g__done 0\npoint 4 4 0\n"
				  "planned 0 0 1 0\nframe 0 16 4096\n"
				  "planned 1 0 1 0\nframe 0 16 4096\n"
				  "planned 2 0 1 0\nframe 0 18446744073709551608 4096\n"
				  "planned 3 0 1 0\nframe 0 16 4096\n";

static const char *text = plan_text;
static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static nw_span_defs spans;
static uint64_t now;
static int32_t tid;

static void setup(bool stacks, bool unlimited)
{
	ck_assert_int_eq(
		nw_plan_load(text, strlen(text), &selection, &plan, NULL, NULL, NULL, NULL),
		0);
	ck_assert_int_eq(nw_spans_by_name(&selection, &spans), 0);
	ck_assert_uint_eq(spans.count, 2);
	bool framed = text == frames_text;
	for (size_t i = 0; i < 2; i++) {
		ck_assert(spans.item[i].call == !framed);
		ck_assert(nw_span_is_framed(&selection, &spans.item[i]) == framed);
	}
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
				  .probe = (tolower(function) == 'g' ? 2u : 0u) + is_return,
				  .planned = (uint32_t)function,
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

struct story {
	const char *what, *words, *f, *g;
};

static const struct story stories[] = {
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
	{"what seemed to be gone does not return over a hole", "f+90 f+80 f-90 ! f-80",
	 "2 / 0 0 0 0 1", NULL},
	{"nor does it show that the thread switches",
	 "f+90 f+80 f-90 ! f-80 f+70 f+90 f-90", "1 2 / 1 0 0 0 1", NULL},
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

static void tell(const struct story *story)
{
	setup(true, false);
	happen(story->words);
	nw_summary_finish(summary);
	expect_span(0, story->f, story->what);
	if (story->g)
		expect_span(1, story->g, story->what);
	ck_assert_uint_eq(open_spans(summary), 0);
	teardown();
}

START_TEST(calls_end_with_their_own_return)
{
	for (size_t i = 0; i < NW_COUNT(stories); i++)
		tell(&stories[i]);
}
END_TEST

/* Which calls a report in the middle of the run calls open: those of f that begin at these times. A "?": its end may be
 * lost. */
static const struct {
	const char *what, *words, *open;
} moments[] = {
	{"nested", "f+90 f+80", "1 2"},
	{"one has returned", "f+90 f+80 f-80", "1"},
	{"its frame is gone by a return", "f+90 f+80 f+70 f-90", ""},
	{"its frame is gone by a call", "f+90 f+80 f+70 f+85", "1 4"},
	{"a tail call, and one of them has returned", "f+90 f+90 f-90", ""},
	{"the thread has ended", "f+90 f+80 x", ""},
	{"events are lost", "f+90 f+80 ! @2 f+70", "1? 2? 5"},
	{"and the next event says that nothing is known", "f+90 f+80 ! f+70", "4"},
	{"another function's frames", "g+90 f+80 g+70", "2"},
	{"a thread that switches stacks: whose frame seemed to be gone may return",
	 "f+1000 f+2000 f-1000 f-2000 f+900 f+2000 f+1900 f+950", "5 6 7 8"},
	{"a frame that seemed to be gone before the thread was seen to switch",
	 "f+1000 f+900 f+2000 f-1000", "2 3"},
};

static void note_open(const char *words, struct nw_buf *out)
{
	const struct nw_task task = {.pid = 1};
	uint64_t time = 0;
	int32_t of = 1;

	for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ') {
		time++;
		if (*at == '@') {
			of = atoi(at + 1);
			continue;
		}
		const struct nw_hit began = {
			.time = time,
			.tid = of,
			.stack = strtoull(at + 2 * (*at != 'x'), NULL, 10)};
		const struct nw_open_span open = {1, &began, &task};
		if (strncmp(at, "f+", 2) == 0 && nw_summary_is_open(summary, 0, &open))
			nw_buf_printf(out, "%s%" PRIu64 "%s", out->len ? " " : "", time,
				      nw_summary_end_may_be_lost(summary, 0, &open) ? "?"
										    : "");
	}
}

START_TEST(calls_whose_frames_are_gone_are_not_open)
{
	for (size_t i = 0; i < NW_COUNT(moments); i++) {
		struct nw_buf seen = {0};
		setup(true, false);
		happen(moments[i].words);
		note_open(moments[i].words, &seen);
		ck_assert_msg(strcmp(nw_buf_str(&seen), moments[i].open) == 0,
			      "%s: %s, not %s", moments[i].what, nw_buf_str(&seen),
			      moments[i].open);
		nw_buf_free(&seen);
		teardown();
	}
}
END_TEST

/* The table of threads grows, and takes in goroutines, between two hits of one thread. */
START_TEST(a_thread_is_found_again_among_others)
{
	enum {
		GOROUTINES = 700
	};

	setup(true, false);
	for (uint32_t i = 1; i <= GOROUTINES; i++) {
		const struct nw_hit begins = {.time = now,
					      .tid = 3,
					      .planned = 'f',
					      .stack = 50,
					      .goroutine = i,
					      .base = 10};
		tid = 1;
		happen("f+90");
		ck_assert_int_eq(nw_summary_hit(summary, &begins, 7, 0), 0);
		happen("f-90");
		tid = (int32_t)(100 + i);
		happen("f-90"); /* of it, nothing has begun */
		ck_assert_int_eq(nw_summary_hit(summary, &begins, 8, 0), 0);
		happen("f+80 f-80");
	}
	const struct nw_span_row *f = nw_group_span(nw_summary_rows(summary, 0, true), 0);
	ck_assert_uint_eq(f->latency.count, 2 * GOROUTINES);
	ck_assert_uint_eq(f->unmatched_ends, GOROUTINES);
	ck_assert_uint_eq(f->unmatched_starts + f->abandoned, 0);
	teardown();
}
END_TEST

static const struct story framed[] = {
	{"nested", "f+90 f+80 f-80 f-90", "1 3 / 0 0 0 0 0", NULL},
	{"the inner one fails", "f+90 f+80 f-90", "2 / 1 0 0 0 0", NULL},
	{"statements that fail, one after the other", "f+90 f+90 f+90 f-90",
	 "1 / 2 0 0 0 0", NULL},
	{"and an end without a start: it does not take what was left",
	 "f+90 f+90 f-90 f-90", "1 / 1 0 0 1 0", NULL},
	{"nor one in a frame that is deeper, or higher", "f+90 f+90 f-90 f-80",
	 "1 / 1 0 0 1 0", NULL},
	{"another failed, and this one began before our time", "f+80 f-90", "/ 0 0 1 1 0",
	 NULL},
	{"two kinds in one frame", "f+90 g+90 g-90 f-90", "3 / 0 0 0 0 0", "1 / 0 0 0 0 0"},
	{"that overlap", "f+90 g+90 f-90 g-90", "2 / 0 0 0 0 0", "2 / 0 0 0 0 0"},
	{"one again and again within the other", "f+90 g+90 g-90 g+90 g-90 f-90",
	 "5 / 0 0 0 0 0", "1 1 / 0 0 0 0 0"},
	{"what is deeper is gone when something begins higher", "f+80 g+90 g-90",
	 "/ 1 0 0 0 0", "1 / 0 0 0 0 0"},
	{"two sites in one frame: of a function that was put into itself",
	 "f+90 F+90 f-90 f-90", "1 3 / 0 0 0 0 0", NULL},
	{"two sites, and then the same again", "f+90 F+90 f+90 F+90 f-90 f-90",
	 "1 3 / 2 0 0 0 0", NULL},
	{"the thread ends", "f+90 f+80 x", "/ 2 0 0 0 0", NULL},
	{"events are missing", "f+90 ! f-90 f+90 f-90", "1 / 0 0 0 0 1", NULL},
	{"two stacks, and the higher one ends first", "f+1000 f+2000 f-2000 f-1000",
	 "1 3 / 0 0 0 0 0", NULL},
	{"two stacks, in any order", "f+1000 f+2000 f-1000 f+1000 f-2000 f-1000",
	 "2 2 3 / 0 0 0 0 0", NULL},
	{"two stacks, and one that fails",
	 "f+1000 f+2000 f-1000 f-2000 f+2000 f+2000 f-2000", "1 2 2 / 1 0 0 0 0", NULL},

	/* what frames do not fit, is paired by order once that is seen */
	{"nested in one frame",
	 "f+90 f+90 f-90 f-90 f+90 f+90 f-90 f-90 f+90 f+90 f-90 f-90",
	 "1 1 1 3 3 / 1 0 0 1 0", NULL},
	{"from one call into another, which is deeper", "f+90 f-80 f+90 f-80 f+90 f-80",
	 "1 1 / 0 0 1 1 0", NULL},
};

START_TEST(pairs_in_one_function_end_in_their_own_frame)
{
	text = frames_text;
	for (size_t i = 0; i < NW_COUNT(framed); i++)
		tell(&framed[i]);
	text = plan_text;
}
END_TEST

/* An end here and there that has no start is no reason to doubt. */
START_TEST(few_misfits_change_nothing)
{
	text = frames_text;
	setup(true, false);
	for (int i = 0; i < 100; i++) {
		happen("f+90 f+90 f-90 f-90");
		for (int j = 0; j < 16; j++)
			happen("f+90 f-90");
	}
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, false),
						      0);
	ck_assert_uint_eq(row->latency.count, 1700);
	ck_assert_uint_eq(row->unmatched_ends, 100);
	nw_summary_finish(summary);
	ck_assert_uint_eq(row->abandoned, 100);
	teardown();
	text = plan_text;
}
END_TEST

/* A start in one function and its end in another: nothing is known of frames. */
START_TEST(frames_are_for_one_function)
{
	static const struct {
		const char *what, *from, *to;
		bool framed;
	} rows[] = {
		{"as it is", "", "", true},
		{"another function's end", "frame 0 16 4096\nplanned 2",
		 "frame 0 16 8192\nplanned 2", false},
		{"a site of unknown frame", "frame 0 16 4096\nplanned 1", "planned 1",
		 false},
		{"no end by its name", "f__done app:f__done", "f__hello app:f__hello",
		 false},
	};

	for (size_t i = 0; i < NW_COUNT(rows); i++) {
		const char *at = strstr(frames_text, rows[i].from);
		nw_cleanup(nw_free_ptr) char *changed = nw_text(
			"%.*s%s%s", (int)(at - frames_text), frames_text, rows[i].to,
			at + strlen(rows[i].from));
		struct nw_span_def def;
		struct nw_error err;
		int ret = nw_plan_load(changed, strlen(changed), &selection, &plan, NULL,
				       NULL, NULL, &err);
		ck_assert_msg(ret == 0, "%s: %s", rows[i].what, err.what);
		const char *span = i == 3 ? "app:f__start..app:f__hello"
					  : "app:f__start..app:f__done";
		ck_assert_int_eq(nw_span_parse(span, &selection, &def, &err), 0);
		ck_assert_msg(nw_span_is_framed(&selection, &def) == rows[i].framed, "%s",
			      rows[i].what);
		nw_span_def_free(&def);
		nw_plan_free(&plan);
		nw_selection_free(&selection);
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

/*
 * By order, an end without a start of its own takes whatever has been left. Nothing tells that from a
 * span with another inside, so it is measured and said; or the user knows that they do not nest.
 */
START_TEST(by_order_what_had_others_inside_is_counted)
{
	static const struct {
		const char *words, *nested, *flat;
		uint64_t outlived;
	} rows[] = {
		{"f+0 f-0 f+0 f-0", "1 1 / 0 0 0 0 0", "1 1 / 0 0 0 0 0", 0},
		{"f+0 f+0 f-0 f-0", "1 3 / 0 0 0 0 0", "1 / 1 0 0 1 0", 1},
		/* what is left, pairs, and an end that has no start */
		{"f+0 f+0 f-0 f+0 f-0 f-0", "1 1 5 / 0 0 0 0 0", "1 1 / 1 0 0 1 0", 1},
		{"f+0 f+0 f+0 f-0 f-0 f-0", "1 3 5 / 0 0 0 0 0", "1 / 2 0 0 2 0", 2},
		{"f+0 f+0 f-0 f+0 f+0 f-0 f-0 f-0 f+0 f-0", "1 1 1 3 7 / 0 0 0 0 0",
		 "1 1 1 / 2 0 0 2 0", 2},
		/* of two that are left, the inner one has had none inside */
		{"f+0 f+0 f-0 f+0", "1 / 0 0 2 0 0", "1 / 1 0 1 0 0", 0},
		{"f+0 f+0 f-0 x f+0 f-0", "1 1 / 0 0 1 0 0", "1 1 / 1 0 0 0 0", 0},
		{"f+0 f+0 f-0 ! f+0 f-0 f-0", "1 1 / 0 0 0 1 1", "1 1 / 1 0 0 1 0", 0},
	};

	text = frames_text;
	for (size_t i = 0; i < 2 * NW_COUNT(rows); i++) {
		bool flat = i % 2;
		setup(false, false);
		spans.item[0].flat = flat;
		ck_assert(nw_span_is_framed(&selection, &spans.item[0]) == !flat);
		happen(rows[i / 2].words);
		nw_summary_finish(summary);
		expect_span(0, flat ? rows[i / 2].flat : rows[i / 2].nested,
			    rows[i / 2].words);
		ck_assert_uint_eq(
			nw_group_span(nw_summary_rows(summary, 0, true), 0)->nested,
			flat ? 0 : rows[i / 2].outlived);
		teardown();
	}
	text = plan_text;
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
	ck_assert_uint_lt(open_spans(summary), 100);
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

/* ---- goroutines --------------------------------------------------------------------- */

/* Function f of goroutine g in a process, on whatever thread, at a stack that ends at base. */
static void go(uint64_t g, int32_t process, bool is_return, uint64_t base, bool once_more)
{
	const struct nw_hit it = {.time = ++now,
				  .tid = ++tid,
				  .probe = is_return,
				  .stack = (uint64_t)-80 | (once_more ? NW_STACK_AGAIN : 0),
				  .goroutine = g,
				  .base = base};

	ck_assert_int_eq(nw_summary_hit(summary, &it, process, 0), 0);
}

/* A return that nothing began leaves the place of its thread free. In a small table some goroutine takes that very place before
 * the thread's next hit. */
START_TEST(a_free_place_is_not_remembered_as_a_threads_own)
{
	enum {
		ROUNDS = 20000
	};

	setup(true, false);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const int32_t thread = (int32_t)(10 + 3 * i);
		tid = thread;
		happen("f-90");
		go(1 + i, 7, false, 10, false);
		tid = thread;
		happen("f+90");
		go(1 + i, 7, true, 10, false);
		tid = thread;
		happen("f-90");
	}
	const struct nw_span_row *f = nw_group_span(nw_summary_rows(summary, 0, true), 0);
	ck_assert_uint_eq(f->latency.count, 2 * ROUNDS);
	ck_assert_uint_eq(f->unmatched_ends, ROUNDS);
	ck_assert_uint_eq(f->unmatched_starts + f->abandoned, 0);
	teardown();
}
END_TEST

/* What has become of f: as expect_span(), and how often a call began once more. */
static void expect_go(const char *wanted, uint64_t repeated)
{
	expect_span(0, wanted, "");
	ck_assert_uint_eq(nw_group_span(nw_summary_rows(summary, 0, true), 0)->repeated,
			  repeated);
	teardown();
}

static void setup_go(void)
{
	setup(true, true);
	nw_summary_free(summary);
	spans.item[0].goroutines = true;
	const struct nw_summary_options options = {
		.selection = &selection, .spans = spans.item, .span_count = spans.count};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	nw_summary_use_stacks(summary);
}

START_TEST(goroutines_keep_their_calls)
{
	setup_go(); /* on other threads, where the stack has moved; two at once */
	go(64, 7, false, 1000, false);
	go(128, 7, false, 3000, false);
	go(64, 7, true, 2000, false);
	go(128, 7, true, 3000, false);
	expect_go("2 2 / 0 0 0 0 0", 0);
	setup_go(); /* goroutines of two processes have the same address */
	go(64, 7, false, 1000, false);
	go(64, 8, false, 1000, false);
	go(64, 7, true, 1000, false);
	go(64, 8, true, 1000, false);
	expect_go("2 2 / 0 0 0 0 0", 0);
	setup_go(); /* the process ends */
	go(64, 7, false, 1000, false);
	go(64, 8, false, 1000, false);
	nw_summary_exit(summary, 7);
	nw_summary_finish(summary);
	expect_go("/ 1 0 1 0 0", 0);
}
END_TEST

START_TEST(a_call_whose_stack_is_too_small_begins_once_more)
{
	setup_go();
	go(64, 7, false, 1000, true);
	go(64, 7, false, 2000, false);
	go(64, 7, true, 2000, false);
	go(64, 7, false, 2000, true); /* others are to run: the stack stays */
	go(64, 7, false, 2000, true);
	go(64, 7, false, 2000, false);
	go(64, 7, true, 2000, false);
	nw_summary_finish(summary);
	expect_go("2 3 / 0 0 0 0 0", 3);
	setup_go(); /* it could not be seen, but the stack was moved: it counts from then */
	go(64, 7, false, 1000, false);
	go(64, 7, false, 2000, false);
	go(64, 7, true, 2000, false);
	expect_go("1 / 0 0 0 0 0", 1);
	setup_go(); /* a panic has ended it */
	go(64, 7, false, 1000, false);
	go(64, 7, false, 1000, false);
	go(64, 7, true, 1000, false);
	nw_summary_finish(summary);
	expect_go("1 / 1 0 0 0 0", 0);
}
END_TEST

/* What the probes have cost a goroutine's call is what its own hits have: not those of others on its threads meanwhile. */
START_TEST(goroutines_pay_for_their_own_hits)
{
	static const struct nw_hit_cost cost[] = {{1000, 7}, {13, 2000}};

	setup_go();
	ck_assert_int_eq(nw_summary_use_cost(summary, cost, false), 0);
	for (int round = 0; round < 3; round++) {
		tid = 100;
		go(64, 7, false, 1000, false);
		for (uint64_t other = 128; other < 256; other += 64) {
			tid = 100;
			go(other, 7, false, 1000, false);
			tid = 100;
			go(other, 7, true, 1000, false);
			go(64, 8, false, 1000, false); /* its namesake in another process */
			go(64, 8, true, 1000, false);
		}
		tid = 100 + round; /* on the same thread, and on others */
		go(64, 7, true, 1000, false);
	}
	const struct nw_histogram *costs =
		nw_group_span(nw_summary_rows(summary, 0, true), 0)->cost;
	ck_assert_uint_eq(costs->count, 15);
	ck_assert_uint_eq(costs->min, 20);
	ck_assert_uint_eq(costs->max, 20);
	teardown();
}
END_TEST

START_TEST(goroutines_have_no_states)
{
	struct nw_summary *split = NULL;
	struct nw_error err = {0};

	setup_go();
	nw_vec_each (&spans, span)
		span->goroutines = true;
	const struct nw_summary_options options = {.selection = &selection,
						   .spans = spans.item,
						   .span_count = spans.count,
						   .states = true};
	ck_assert_int_eq(nw_summary_open(&options, &split, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "calls of Go functions"));
	teardown();
}
END_TEST

struct noted {
	struct nw_span_starts *starts;
	struct nw_buf cpus;
};

/* Keeps the starts, and notes the CPU of each measured call's own. */
static void note_start(void *arg, const struct nw_span_event *event)
{
	struct noted *noted = arg;
	const struct nw_hit *began = nw_span_starts_follow(noted->starts, event, NULL);

	if (event->moment == NW_SPAN_ENDS)
		nw_buf_printf(&noted->cpus, "%u ", began->cpu);
}

START_TEST(calls_that_begin_at_the_same_time_keep_their_own_starts)
{
	static const struct {
		const char *what;
		uint64_t end[2];
		const char *cpus;
	} cases[] = {
		{"nested", {80, 90}, "1 0 "},
		{"the inner one never returns", {90, 0}, "0 "},
		{"two stacks", {90, 80}, "0 1 "},
	};
	struct noted noted = {0};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		setup(true, false);
		nw_summary_free(summary);
		ck_assert_int_eq(nw_span_starts_open(&noted.starts), 0);
		const struct nw_summary_options options = {.selection = &selection,
							   .spans = spans.item,
							   .span_count = spans.count,
							   .listener = note_start,
							   .listener_arg = &noted};
		ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
		nw_summary_use_stacks(summary);
		for (uint32_t cpu = 0; cpu < 2; cpu++) { /* the CPU tells the hits apart */
			const struct nw_hit it = {
				.time = 1, .tid = 1, .cpu = cpu, .stack = 90 - 10 * cpu};
			ck_assert_int_eq(nw_summary_hit(summary, &it, 1, 0), 0);
		}
		now = 2;
		for (size_t end = 0; end < 2 && cases[i].end[end]; end++)
			hit('f', true, cases[i].end[end]);
		ck_assert_msg(strcmp(nw_buf_str(&noted.cpus), cases[i].cpus) == 0,
			      "%s: %s, not %s", cases[i].what, nw_buf_str(&noted.cpus),
			      cases[i].cpus);
		nw_buf_free(&noted.cpus);
		nw_span_starts_free(noted.starts);
		teardown();
	}
}
END_TEST

UNIT_MAIN("calls", calls_that_begin_at_the_same_time_keep_their_own_starts,
	  a_thread_is_found_again_among_others,
	  a_free_place_is_not_remembered_as_a_threads_own, goroutines_keep_their_calls,
	  goroutines_pay_for_their_own_hits, goroutines_have_no_states,
	  a_call_whose_stack_is_too_small_begins_once_more,
	  pairs_in_one_function_end_in_their_own_frame, few_misfits_change_nothing,
	  frames_are_for_one_function, calls_end_with_their_own_return,
	  calls_whose_frames_are_gone_are_not_open,
	  without_stack_pointers_the_last_in_is_the_first_out,
	  by_order_what_had_others_inside_is_counted, beyond_64_calls_returns_are_omitted,
	  what_is_left_over_and_over_does_not_pile_up, coroutines_end_in_any_order,
	  a_filter_takes_out_whole_calls, a_probe_that_is_disabled_discards_what_is_open)
