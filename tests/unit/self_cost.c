// SPDX-License-Identifier: MIT
/* self_cost: what the probes have added to spans, and the file that keeps what a hit costs. */
#include <string.h>

#include "kernel/session/feature_cache.h"
#include "measure/summary.h"
#include "plan/plan.h"
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
static const struct nw_hit_cost cost[] =
	{[START] = {.before = 1000, .after = 7}, [DONE] = {13, 2000}, [OTHER] = {40, 60}};

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static struct nw_span_def span;

static void open_with(const struct nw_hit_cost *costs, bool net, enum nw_span_key key)
{
	ck_assert_int_eq(nw_plan_load(plan_text, strlen(plan_text), &selection, &plan, NULL,
				      NULL, NULL, NULL),
			 0);
	span = (struct nw_span_def){.name = strdup("span"), .key = key};
	*(uint32_t *)nw_vec_add(&span.starts) = START;
	*(uint32_t *)nw_vec_add(&span.ends) = DONE;
	const struct nw_summary_options options = {
		.selection = &selection, .spans = &span, .span_count = 1};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	if (costs)
		ck_assert_int_eq(nw_summary_use_cost(summary, costs, net), 0);
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

static const struct nw_histogram *latencies(void)
{
	return &nw_group_span(nw_summary_rows(summary, 0, true), 0)->latency;
}

static void some_hits(void)
{
	hit(OTHER, T, 9000);
	hit(START, T, 10000);
	hit(DONE, T, 20000); /* 7 + 13 */
	hit(START, T, 30000);
	hit(OTHER, T, 31000);
	hit(OTHER, U, 31500); /* another thread's */
	hit(START, T, 32000);
	hit(OTHER, T, 33000);
	hit(DONE, T, 34000); /* 7 + 100 + 13 */
	hit(DONE, T, 37000); /* 7 + 100 + 1007 + 100 + 2013 + 13 */
}

/* The second part of the start, the first of the end, and all of what lies in between, nested or not. */
START_TEST(hits_inside_are_counted)
{
	open_with(cost, false, NW_KEY_TID);
	some_hits();
	ck_assert_uint_eq(costs()->count, 3);
	ck_assert_uint_eq(costs()->sum, 20 + 120 + 3240);
	ck_assert_uint_eq(costs()->min, 20);
	ck_assert_uint_eq(costs()->max, 3240);
	ck_assert_uint_eq(latencies()->sum, 10000 + 2000 + 7000); /* as they are */
	done();
}
END_TEST

START_TEST(many_at_once)
{
	const struct nw_hit hits[] = {{.time = 10000, .tid = T, .probe = START},
				      {.time = 11000, .tid = U, .probe = START},
				      {.time = 12000, .tid = T, .probe = OTHER},
				      {.time = 13000, .tid = U, .probe = DONE},
				      {.time = 14000, .tid = T, .probe = DONE}};
	open_with(cost, true, NW_KEY_TID);
	ck_assert_int_eq(nw_summary_hits(summary, hits, NW_COUNT(hits)), 0);
	ck_assert_uint_eq(costs()->sum, 20 + 120);
	ck_assert_uint_eq(latencies()->sum, 2000 + 4000 - 140);
	done();
}
END_TEST

static int one_by_one(const struct nw_hit *hits, size_t count)
{
	int ret = 0;

	for (size_t i = 0; i < count && ret == 0; i++)
		ret = nw_summary_hit(summary, &hits[i], 1, 0);
	return ret;
}

/* Spans of one cost, of others, and of that one again, in two threads, told in pieces of any length. */
START_TEST(many_at_once_are_as_one_by_one)
{
	static const uint32_t probes[] = {START, DONE,	START, DONE, START, OTHER,
					  DONE,	 START, START, DONE, DONE};
	struct nw_hit hits[1000] = {{0}};
	struct nw_histogram wanted = {0};

	for (size_t i = 0; i < NW_COUNT(hits); i++) {
		hits[i].time = 10000 * (i + 1);
		hits[i].tid = i / 40 % 2 ? T : U;
		hits[i].probe = probes[i % NW_COUNT(probes)];
	}
	open_with(cost, false, NW_KEY_TID);
	ck_assert_int_eq(one_by_one(hits, NW_COUNT(hits)), 0);
	nw_histogram_merge(&wanted, costs());
	done();
	ck_assert(wanted.count > 300 && wanted.min == 20 && wanted.max > 3000);
	for (size_t length = 1; length < 300; length += 7) {
		open_with(cost, false, NW_KEY_TID);
		for (size_t at = 0; at < NW_COUNT(hits); at += length)
			ck_assert_int_eq(nw_summary_hits(summary, hits + at,
							 NW_COUNT(hits) - at < length
								 ? NW_COUNT(hits) - at
								 : length),
					 0);
		ck_assert(costs()->count == wanted.count && costs()->sum == wanted.sum &&
			  costs()->min == wanted.min && costs()->max == wanted.max);
		ck_assert(nw_histogram_percentile(costs(), 50) ==
			  nw_histogram_percentile(&wanted, 50));
		done();
	}
	nw_histogram_free(&wanted);
}
END_TEST

START_TEST(net_latencies)
{
	open_with(cost, true, NW_KEY_TID);
	some_hits();
	ck_assert_uint_eq(latencies()->sum, 10000 + 2000 + 7000 - (20 + 120 + 3240));
	ck_assert_uint_eq(latencies()->min, 2000 - 120);
	ck_assert_uint_eq(nw_group_span(nw_summary_rows(summary, 0, true), 0)->clamped, 0);
	hit(START, T, 40000);
	hit(OTHER, T, 40010);
	hit(DONE, T, 40030); /* the probes are said to cost 120 */
	ck_assert_uint_eq(latencies()->min, 0);
	ck_assert_uint_eq(costs()->sum, 20 + 120 + 3240 + 120);
	ck_assert_uint_eq(nw_group_span(nw_summary_rows(summary, 0, true), 0)->clamped, 1);
	done();
}
END_TEST

/* A filter takes hits out of what counts, and their cost stays. */
START_TEST(filtered_hits_cost)
{
	const struct nw_hit other = {.time = 15000, .tid = T, .probe = OTHER};

	open_with(cost, false, NW_KEY_TID);
	hit(START, T, 10000);
	ck_assert_int_eq(nw_summary_filtered(summary, &other, 1), 0);
	hit(DONE, T, 20000);
	ck_assert_uint_eq(costs()->sum, 120);
	done();
}
END_TEST

/* Events of the scheduler are in no row, and cost whoever ran. */
START_TEST(scheduler_events_cost)
{
	const struct nw_hit mine = {.time = 15000, .tid = T, .probe = OTHER};
	const struct nw_hit others = {.time = 16000, .tid = U, .probe = OTHER};

	open_with(cost, true, NW_KEY_TID);
	hit(START, T, 10000);
	nw_summary_scheduled(summary, &mine);
	nw_summary_scheduled(summary, &others);
	hit(DONE, T, 20000);
	ck_assert_uint_eq(costs()->sum, 120);
	ck_assert_uint_eq(latencies()->sum, 10000 - 120);
	done();
}
END_TEST

/* A thread's number may come again. */
START_TEST(threads_end)
{
	open_with(cost, false, NW_KEY_TID);
	hit(OTHER, T, 9000);
	nw_summary_exit(summary, T);
	hit(START, T, 10000);
	hit(DONE, T, 20000);
	ck_assert_uint_eq(costs()->sum, 20);
	done();
}
END_TEST

/* Of a span that crosses threads only what its own hits cost is known to be inside. */
START_TEST(across_threads)
{
	open_with(cost, false, NW_KEY_PID);
	hit(START, T, 10000);
	hit(OTHER, U, 11000);
	hit(DONE, U, 20000);
	ck_assert_uint_eq(costs()->sum, 20);
	done();
}
END_TEST

/* A span by something else than the thread may wait while the thread it comes back to does other work. */
START_TEST(back_on_its_thread)
{
	open_with(cost, true, NW_KEY_PID);
	hit(START, T, 10000);
	hit(OTHER, T, 11000);
	hit(DONE, T, 20000);
	ck_assert_uint_eq(costs()->sum, 20);
	ck_assert_uint_eq(latencies()->sum, 10000 - 20);
	done();
}
END_TEST

START_TEST(nobody_asks)
{
	open_with(NULL, false, NW_KEY_TID);
	hit(START, T, 100);
	hit(DONE, T, 200);
	ck_assert_ptr_null(costs());
	done();
}
END_TEST

static const struct nw_machine_cost measured = {
	.kind = {[NW_COST_NOP] = {1, 2}, [NW_COST_RETURN_ALONE] = {3, 4}},
	.word_ps = 5,
	.times = 1};

static bool is_read(const char *text, const char *tracefs, struct nw_machine_cost *out)
{
	struct nw_buf copy = {0};

	nw_buf_adds(&copy, text);
	bool known = nw_machine_cost_read(&copy, tracefs, out);
	nw_buf_free(&copy);
	return known;
}

START_TEST(what_was_measured_is_kept)
{
	struct nw_machine_cost read = {0};
	struct nw_buf text = {0};

	nw_machine_cost_write(&measured, "/a b", &text);
	ck_assert(is_read(nw_buf_str(&text), "/a b", &read));
	ck_assert_mem_eq(&read, &measured, sizeof(read));
	ck_assert(!is_read(nw_buf_str(&text), "/a", &read));
	nw_buf_free(&text);
}
END_TEST

/* Slow moments of the machine are in no number that another measurement has less of; what was not measured is no number. */
START_TEST(of_measurements_the_least_counts)
{
	struct nw_machine_cost all = {.word_ps = 1}; /* of no measurement */
	const struct nw_machine_cost slow = {
		.kind = {[NW_COST_NOP] = {620, 320}, [NW_COST_RETURN_ALONE] = {3, 4}},
		.word_ps = 50000,
		.times = 1};
	const struct nw_machine_cost other = {.kind = {[NW_COST_NOP] = {440, 190},
						       [NW_COST_RETURN_ALONE] = {5, 6},
						       [NW_COST_EVENT] = {130, 170}},
					      .word_ps = 40000,
					      .times = 1};

	nw_machine_cost_add(&all, &slow);
	ck_assert_mem_eq(&all, &slow, sizeof(all));
	nw_machine_cost_add(&all, &other);
	nw_machine_cost_add(&all, &slow);
	ck_assert_uint_eq(all.times, 3);
	ck_assert_uint_eq(all.word_ps, 40000);
	ck_assert_uint_eq(all.kind[NW_COST_NOP].before, 440);
	ck_assert_uint_eq(all.kind[NW_COST_NOP].after, 190);
	ck_assert_uint_eq(all.kind[NW_COST_RETURN_ALONE].after, 4);
	ck_assert_uint_eq(all.kind[NW_COST_EVENT].before, 130);
}
END_TEST

/* A file without one of its lines, or with one of them twice, says nothing: it is measured again. */
START_TEST(what_was_kept_is_whole)
{
	struct nw_machine_cost read;
	struct nw_buf text = {0};
	size_t lines = 0;

	nw_machine_cost_write(&measured, "/t", &text);
	for (const char *line = nw_buf_str(&text); *line; lines++) {
		const char *next = strchr(line, '\n') + 1;
		int front = (int)(line - nw_buf_str(&text)), len = (int)(next - line);
		nw_cleanup(nw_free_ptr) char *less = nw_text("%.*s%s", front,
							     nw_buf_str(&text), next);
		nw_cleanup(nw_free_ptr) char *twice = nw_text(
			"%.*s%.*s%s", front, nw_buf_str(&text), len, line, line);
		ck_assert_msg(!is_read(less, "/t", &read), "without %.*s", len, line);
		ck_assert_msg(!is_read(twice, "/t", &read) ||
				      strncmp(line, "costs", 5) == 0,
			      "twice %.*s", len, line);
		line = next;
	}
	ck_assert_uint_eq(lines, 2 + NW_COST_KINDS + 3);
	nw_buf_free(&text);
}
END_TEST

UNIT_MAIN("self_cost", hits_inside_are_counted, many_at_once,
	  many_at_once_are_as_one_by_one, net_latencies, filtered_hits_cost,
	  scheduler_events_cost, threads_end, across_threads, back_on_its_thread,
	  nobody_asks, what_was_measured_is_kept, of_measurements_the_least_counts,
	  what_was_kept_is_whole)
