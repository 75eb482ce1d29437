// SPDX-License-Identifier: MIT
/* self_cost: what the probes have added to spans. */
#include "nopwatch/plan.h"
#include "nopwatch/summary.h"
#include "unit.h"

enum {
	START,
	DONE,
	OTHER,
	T = 7,
	U = 8
};

static const char plan_text[] = "nopwatch-plan 1\nimage /bin/app\n"
				"probe 0 0 app start app:start 0\n"
				"probe 0 0 app done app:done 0\n"
				"probe 0 0 app other app:other 0\n";
static const uint64_t cost[] = {[START] = 10, [DONE] = 20, [OTHER] = 100};

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static struct nw_span_def span;

static void open_with(const uint64_t *costs, enum nw_span_key key)
{
	ck_assert_int_eq(nw_plan_load(plan_text, strlen(plan_text), &selection, &plan, NULL,
				      NULL, NULL, NULL),
			 0);
	span = (struct nw_span_def){.name = strdup("span"), .key = key};
	*(uint32_t *)nw_vec_add(&span.starts) = START;
	*(uint32_t *)nw_vec_add(&span.ends) = DONE;
	const struct nw_summary_options options = {
		.selection = &selection, .spans = &span, .span_count = 1, .cost = costs};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
}

static void done(void)
{
	nw_summary_free(summary);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	nw_span_def_free(&span);
}

static void hit(uint32_t probe, int32_t tid, uint64_t time)
{
	const struct nw_hit one = {.time = time, .tid = tid, .probe = probe};

	ck_assert_int_eq(nw_summary_hit(summary, &one, 1, 0), 0);
}

static const struct nw_histogram *costs(void)
{
	return nw_group_span(nw_summary_rows(summary, 0, true), 0)->cost;
}

/* The start's rest and the end's first part are one hit; and what lies in between, nested or not. */
START_TEST(hits_inside_are_counted)
{
	open_with(cost, NW_KEY_TID);
	hit(OTHER, T, 90);
	hit(START, T, 100);
	hit(DONE, T, 200);
	ck_assert_uint_eq(costs()->sum, 20);
	hit(START, T, 300);
	hit(OTHER, T, 310);
	hit(OTHER, U, 315); /* another thread's */
	hit(START, T, 320);
	hit(OTHER, T, 330);
	hit(DONE, T, 340); /* 100 + 20 */
	ck_assert_uint_eq(costs()->sum, 20 + 120);
	hit(DONE, T, 350); /* 100 + 10 + 100 + 20 + 20 */
	ck_assert_uint_eq(costs()->sum, 20 + 120 + 250);
	ck_assert_uint_eq(costs()->count, 3);
	ck_assert_uint_eq(nw_group_span(nw_summary_rows(summary, 0, true), 0)->latency.sum,
			  100 + 20 + 50); /* latencies stay as they are */
	done();
}
END_TEST

/* Of a span that crosses threads only the halves of its own hits are known to be inside. */
START_TEST(across_threads)
{
	open_with(cost, NW_KEY_PID);
	hit(START, T, 100);
	hit(OTHER, U, 110);
	hit(DONE, U, 200);
	ck_assert_uint_eq(costs()->sum, 20);
	done();
}
END_TEST

START_TEST(nobody_asks)
{
	open_with(NULL, NW_KEY_TID);
	hit(START, T, 100);
	hit(DONE, T, 200);
	ck_assert_ptr_null(costs());
	done();
}
END_TEST

UNIT_MAIN("self_cost", hits_inside_are_counted, across_threads, nobody_asks)
