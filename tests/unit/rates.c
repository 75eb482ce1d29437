// SPDX-License-Identifier: MIT
/* summary: rates over the last second, and what a disabled probe does to its spans. */
#include <inttypes.h>

#include "measure/summary.h"
#include "open_spans.h"
#include "plan/plan.h"
#include "run/limits/rates.h"
#include "unit.h"

enum {
	MS = 1000000
};

/* ---- rates -------------------------------------------------------------------------- */

static bool over(const struct nw_rates *rates, uint64_t most, double *rate)
{
	return nw_rates_over(rates, 0, most, rate);
}

START_TEST(nothing_is_known_at_first)
{
	struct nw_rates *rates;
	uint64_t count = 1000000;
	double rate;

	ck_assert_int_eq(nw_rates_open(1, &rates), 0);
	ck_assert(nw_rates_due(rates, 0));
	ck_assert(!over(rates, 1, &rate));
	nw_rates_sample(rates, 5000 * (uint64_t)MS, 5000 * (uint64_t)MS, &count);
	ck_assert(!over(rates, 1, &rate));
	ck_assert(!nw_rates_due(rates, 5099 * (uint64_t)MS));
	ck_assert(nw_rates_due(rates, 5100 * (uint64_t)MS));
	nw_rates_free(rates);
	nw_rates_free(NULL);
}
END_TEST

/* Looks STEP ms apart with so many hits between; how many looks until it is over, 0: never. */
static unsigned int looks_until(uint64_t step, uint64_t hits, uint64_t most, double *rate)
{
	struct nw_rates *rates;
	unsigned int found = 0;

	ck_assert_int_eq(nw_rates_open(1, &rates), 0);
	for (uint64_t i = 0, count = 77; i < 100 && !found; i++, count += hits) {
		nw_rates_sample(rates, 1000 + i * step * MS, 1000 + i * step * MS, &count);
		if (over(rates, most, rate))
			found = (unsigned int)i;
	}
	nw_rates_free(rates);
	return found;
}

START_TEST(a_steady_rate)
{
	double rate = 0;

	/* 1000 hits a second */
	ck_assert_uint_eq(looks_until(100, 100, 1000, &rate), 0);
	ck_assert_uint_eq(looks_until(100, 100, 999, &rate), 10); /* after a whole second */
	ck_assert_double_eq_tol(rate, 1000, 0.001);
	ck_assert_uint_eq(looks_until(100, 100, 500, &rate), 6); /* 600 in 0.6 s */
	ck_assert_uint_eq(looks_until(100, 100, 50, &rate), 1);
	ck_assert_uint_eq(looks_until(300, 300, 999, &rate), 4);
	ck_assert_uint_eq(looks_until(300, 300, 1000, &rate), 0);
	ck_assert_uint_eq(looks_until(5000, 5000, 999, &rate), 1);
	ck_assert_uint_eq(looks_until(5000, 5000, 1000, &rate), 0);
	ck_assert_double_eq_tol(rate, 1000, 0.001);
	ck_assert_uint_eq(looks_until(100, 0, 1, &rate), 0);
}
END_TEST

START_TEST(a_burst)
{
	static const uint64_t counts[] = {0,   0,   0,	 900, 900, 900,	 900,  900,
					  900, 900, 900, 900, 900, 1800, 1800, 1900};
	struct nw_rates *rates;
	double rate;

	/* 900 at once, and again a second later, are 900 a second; 100 more are 1000 */
	ck_assert_int_eq(nw_rates_open(1, &rates), 0);
	for (uint64_t i = 0; i < NW_COUNT(counts); i++) {
		nw_rates_sample(rates, i * 100 * MS, i * 100 * MS, &counts[i]);
		ck_assert(!over(rates, 1000, &rate));
		ck_assert(over(rates, 999, &rate) == (i == 15));
	}
	nw_rates_free(rates);
}
END_TEST

START_TEST(every_probe_for_itself)
{
	struct nw_rates *rates;
	uint64_t counts[3] = {0};
	double rate;

	ck_assert_int_eq(nw_rates_open(3, &rates), 0);
	for (uint64_t i = 0; i < 50; i++) {
		nw_rates_sample(rates, i * 100 * MS, i * 100 * MS, counts);
		counts[1] += 1000;
		counts[2] += 3;
	}
	ck_assert(!nw_rates_over(rates, 0, 1, &rate) &&
		  !nw_rates_over(rates, 2, 30, &rate));
	ck_assert(nw_rates_over(rates, 1, 9999, &rate) &&
		  !nw_rates_over(rates, 1, 10000, &rate));
	ck_assert(nw_rates_over(rates, 2, 29, &rate));
	ck_assert_double_eq_tol(rate, 30, 0.001);
	nw_rates_free(rates);
}
END_TEST

START_TEST(a_counter_that_falls_is_no_rate)
{
	struct nw_rates *rates;
	uint64_t count = 1000000;
	double rate;

	ck_assert_int_eq(nw_rates_open(1, &rates), 0);
	nw_rates_sample(rates, 0, 0, &count);
	count = 5;
	nw_rates_sample(rates, 100 * MS, 100 * MS, &count);
	ck_assert(!over(rates, 1, &rate));
	nw_rates_sample(rates, 100 * MS, 100 * MS, &count); /* and no time is none */
	ck_assert(!over(rates, 1, &rate));
	nw_rates_free(rates);
}
END_TEST

/* On a busy machine counts are read long after they were asked for: 200 hits a second stay 200. */
START_TEST(a_sample_that_takes_long_does_not_raise_the_rate)
{
	struct nw_rates *rates;
	double rate;

	ck_assert_int_eq(nw_rates_open(1, &rates), 0);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t begun = i * 400 * MS, ended = begun + i % 2 * 390 * MS;
		uint64_t count = ended / MS / 5;
		nw_rates_sample(rates, begun, ended, &count);
		ck_assert(!over(rates, 200, &rate));
	}
	nw_rates_free(rates);
}
END_TEST

/* ---- disabled probes ---------------------------------------------------------------- */

enum {
	START,
	DONE,
	FAIL,
	OTHER
};
static const char plan_text[] =
	"nopwatch-plan 1\nimage /bin/app\n"
	"probe 0 0 app start app:start 0\nprobe 0 0 app done app:done 0\n"
	"probe 0 0 app fail app:fail 0\nprobe 0 0 app other app:other 0\n";

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static struct nw_span_def spans[2];

static void add_number(nw_vec_u32 *list, uint32_t number)
{
	*(uint32_t *)nw_vec_add(list) = number;
}

/* start..done|fail, and done..other */
static void setup(enum nw_span_key key)
{
	const struct nw_summary_options options = {
		.selection = &selection, .spans = spans, .span_count = 2};
	int ret = nw_plan_load(plan_text, strlen(plan_text), &selection, &plan, NULL, NULL,
			       NULL, NULL);

	ck_assert_int_eq(ret, 0);
	for (size_t i = 0; i < 2; i++)
		spans[i] = (struct nw_span_def){.name = strdup("span"), .key = key};
	add_number(&spans[0].starts, START);
	add_number(&spans[0].ends, DONE);
	add_number(&spans[0].ends, FAIL);
	add_number(&spans[1].starts, DONE);
	add_number(&spans[1].ends, OTHER);
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
}

static void hit(uint32_t probe, int32_t tid, uint64_t time)
{
	const struct nw_hit one = {.time = time, .tid = tid, .probe = probe};

	ck_assert_int_eq(nw_summary_hit(summary, &one, tid, 0), 0);
}

static void expect(size_t span, uint64_t count, uint64_t sum, uint64_t unmatched,
		   uint64_t discarded)
{
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, true),
						      span);

	ck_assert_uint_eq(row->latency.count, count);
	ck_assert_uint_eq(row->latency.sum, sum);
	ck_assert_uint_eq(row->unmatched_starts + row->unmatched_ends, unmatched);
	ck_assert_uint_eq(row->discarded, discarded);
}

static void teardown(void)
{
	nw_summary_free(summary);
	nw_span_def_free(&spans[0]);
	nw_span_def_free(&spans[1]);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

static void play_disabled_end(enum nw_span_key key)
{
	setup(key);
	hit(START, 1, 100);
	hit(DONE, 1, 103);
	hit(START, 1, 200);
	hit(START, 2, 210);
	nw_summary_disabled(summary, DONE, 250);
	hit(FAIL, 2, 240); /* came late, but was before it */
	hit(FAIL, 1, 260); /* may belong to a start whose end was not seen */
	hit(START, 1, 300);
	hit(OTHER, 1, 310);
	nw_summary_exit(summary, 1);
	nw_summary_finish(summary);
	expect(0, 2, 33, 0, 1);
	expect(1, 0, 0, 0, 1);
	ck_assert_uint_eq(nw_group_probe(nw_summary_rows(summary, 0, true), START)->hits,
			  4);
	ck_assert_uint_eq(nw_summary_discarded(summary), 2);
	ck_assert_uint_eq(open_spans(summary), 0);
	teardown();
}

START_TEST(a_disabled_end)
{
	play_disabled_end(NW_KEY_TID);
	play_disabled_end(NW_KEY_PID);
}
END_TEST

START_TEST(a_disabled_start)
{
	setup(NW_KEY_TID);
	hit(START, 1, 100);
	hit(START, 1, 110);
	nw_summary_disabled(summary, START, 120);
	hit(DONE, 1, 130);
	hit(DONE, 1, 140);
	hit(DONE, 1, 150);
	hit(OTHER, 1, 155); /* of a span that is whole */
	nw_summary_finish(summary);
	expect(0, 0, 0, 0, 2);
	expect(1, 1, 5, 2, 0);
	teardown();
}
END_TEST

START_TEST(the_first_of_several_counts)
{
	setup(NW_KEY_TID);
	hit(START, 1, 100);
	nw_summary_disabled(summary, FAIL, 200);
	nw_summary_disabled(summary, DONE, 300);
	hit(DONE, 1, 250);
	hit(OTHER, 1, 260);
	nw_summary_finish(summary);
	expect(0, 0, 0, 0, 1);
	expect(1, 1, 10, 0, 0);
	teardown();
}
END_TEST

START_TEST(filtered_hits_know_of_it_too)
{
	const struct nw_hit late = {.time = 210, .tid = 1, .probe = DONE};

	setup(NW_KEY_TID);
	hit(START, 1, 100);
	nw_summary_disabled(summary, FAIL, 200);
	ck_assert_int_eq(nw_summary_filtered(summary, &late, 1), 0);
	nw_summary_finish(summary);
	expect(0, 0, 0, 0, 1);
	teardown();
}
END_TEST

UNIT_MAIN("rates", nothing_is_known_at_first, a_steady_rate, a_burst,
	  every_probe_for_itself, a_counter_that_falls_is_no_rate,
	  a_sample_that_takes_long_does_not_raise_the_rate, a_disabled_end,
	  a_disabled_start, the_first_of_several_counts, filtered_hits_know_of_it_too)
