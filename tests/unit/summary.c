// SPDX-License-Identifier: MIT
/* summary: hits become counts, gaps, spans, groups and intervals. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "measure/summary.h"
#include "open_spans.h"
#include "plan/plan.h"
#include "unit.h"

enum {
	START,
	DONE,
	FAIL,
	NEXT, /* ends one span and begins the next */
	DEEPEST = 1024
};
static const char plan_text[] = "nopwatch-plan 1\nimage /bin/app\n"
				"probe 0 0 app start app:start 1\narg id -\narg len -\n"
				"probe 0 0 app done app:done 1\narg - -\narg id -\n"
				"probe 0 0 app fail app:fail 1\narg id -\n"
				"probe 0 0 app next app:next 1\narg id -\n";

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static struct nw_span_def spans[2];

static void add_number(nw_vec_u32 *list, uint32_t number)
{
	uint32_t *slot = nw_vec_add(list);

	*slot = number;
}

/* One span: from START to DONE or FAIL, by that key. */
static void setup_options(struct nw_summary_options options, enum nw_span_key key)
{
	static const char *const keys[] = {[NW_KEY_TID] = "tid",
					   [NW_KEY_PID] = "pid",
					   [NW_KEY_CPU] = "cpu",
					   [NW_KEY_ARG] = "id"};

	int ret = nw_plan_load(plan_text, strlen(plan_text), &selection, &plan, NULL, NULL,
			       NULL, NULL);
	ck_assert_int_eq(ret, 0);
	spans[0] = (struct nw_span_def){.name = strdup("span"), .key = key};
	strcpy(spans[0].key_name, keys[key]);
	add_number(&spans[0].starts, START);
	add_number(&spans[0].ends, DONE);
	add_number(&spans[0].ends, FAIL);
	options.selection = &selection;
	options.spans = spans;
	options.span_count = options.span_count ? options.span_count : 1;
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
}

static void setup(enum nw_span_key key)
{
	setup_options((struct nw_summary_options){0}, key);
}

static void teardown(void)
{
	/* as a command does it, whose run has ended before it frees what was measured */
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	nw_summary_free(summary);
	summary = NULL;
	nw_span_def_free(&spans[0]);
	nw_span_def_free(&spans[1]);
}

static void hit_values(uint32_t probe, int32_t tid, uint64_t time, int64_t group,
		       const struct nw_value *values, size_t count)
{
	const struct nw_hit hit = {.time = time,
				   .tid = tid,
				   .probe = probe,
				   .planned = probe,
				   .values = values,
				   .value_count = (uint32_t)count};

	ck_assert_int_eq(nw_summary_hit(summary, &hit, tid / 10, group), 0);
}

static void hit(uint32_t probe, int32_t tid, uint64_t time)
{
	hit_values(probe, tid, time, 0, NULL, 0);
}

/* A hit whose argument "id" is this. */
static void hit_id(uint32_t probe, uint64_t time, struct nw_value id)
{
	const struct nw_value none = {.kind = NW_VALUE_MISSING, .text = "x"};
	const struct nw_value values[] = {probe == DONE ? none : id,
					  probe == DONE ? id : none};

	hit_values(probe, 1, time, 0, values, probe == START || probe == DONE ? 2 : 1);
}

static struct nw_value number(uint64_t value)
{
	return (struct nw_value){.kind = NW_VALUE_UNSIGNED, .bits = 64, .number = value};
}

static struct nw_value string(const char *text, size_t len)
{
	return (struct nw_value){
		.kind = NW_VALUE_STRING, .text = text, .len = (uint32_t)len};
}

/* "LATENCIES / unmatched starts, unmatched ends, discarded" */
static void expect_row(size_t span, size_t group, bool total, const char *wanted)
{
	const struct nw_span_row *row = nw_group_span(
		nw_summary_rows(summary, group, total), span);
	struct nw_buf seen = {0};
	struct nw_bucket bucket;
	unsigned int at = 0;

	while (nw_histogram_next(&row->latency, &at, &bucket))
		for (uint64_t i = 0; i < bucket.count; i++)
			nw_buf_printf(&seen, "%" PRIu64 " ",
				      bucket.low); /* exact below 64 */
	nw_buf_printf(&seen, "/ %" PRIu64 " %" PRIu64 " %" PRIu64, row->unmatched_starts,
		      row->unmatched_ends, row->discarded);
	ck_assert_str_eq(nw_buf_str(&seen), wanted);
	nw_buf_free(&seen);
}

static void expect(const char *wanted)
{
	expect_row(0, 0, false, wanted);
}

/* ---- hits --------------------------------------------------------------------------- */

START_TEST(hits_and_gaps_are_counted_by_probe_whatever_the_thread)
{
	setup(NW_KEY_TID);
	for (uint64_t i = 0; i < 10; i++) {
		hit(DONE, (int32_t)i, 100 + i * 7);
		hit(NEXT, 5, 101 + i * 9);
	}
	const struct nw_probe_row *row = nw_group_probe(nw_summary_rows(summary, 0, false),
							0);
	ck_assert(row[START].hits == 0 && row[START].gap.count == 0);
	ck_assert(row[DONE].hits == 10 && row[DONE].gap.count == 9);
	ck_assert(row[DONE].gap.min == 7 && row[DONE].gap.max == 7);
	ck_assert(row[NEXT].gap.min == 9 && row[NEXT].gap.max == 9);
	ck_assert_ptr_null(row[DONE].args);
}
END_TEST

START_TEST(arguments_are_counted_by_their_kind)
{
	static const struct nw_value values[] = {
		{.kind = NW_VALUE_SIGNED, .number = (uint64_t)-3},
		{.kind = NW_VALUE_FLOAT, .real = -2.6},
		{.kind = NW_VALUE_FLOAT, .real = INFINITY},
		{.kind = NW_VALUE_FLOAT, .real = NAN},
		{.kind = NW_VALUE_FLOAT, .real = 1e19},
		{.kind = NW_VALUE_MISSING, .text = "(fault)"},
		{.kind = NW_VALUE_ARRAY, .len = 0},
		{.kind = NW_VALUE_STRING, .text = "9", .len = 1},
		{.kind = NW_VALUE_HEX, .number = 12},
		{.kind = NW_VALUE_UNSIGNED, .number = 5},
	};

	setup_options((struct nw_summary_options){.args = NW_ARGS_ALL}, NW_KEY_TID);
	for (size_t i = 0; i < NW_COUNT(values); i++) {
		const struct nw_value two[] = {values[i], number(i)};
		hit_values(START, 1, 10 + i, 0, two, 2);
	}
	const struct nw_histogram *args =
		nw_group_probe(nw_summary_rows(summary, 0, false), START)->args;
	ck_assert_uint_eq(args[0].count, 4);
	ck_assert_int_eq((int64_t)args[0].sum, -3 - 3 + 12 + 5);
	ck_assert((int64_t)args[0].min == -3 && (int64_t)args[0].max == 12);
	ck_assert_uint_eq(args[1].count, 10);
	ck_assert(!args[1].is_signed);
}
END_TEST

/* Where all are fetched for something else, those of probes that a spec has named are counted, and no others. */
START_TEST(arguments_that_are_named_are_counted)
{
	const struct nw_value two[] = {number(7), number(8)};

	setup(NW_KEY_TID);
	nw_summary_free(summary);
	summary = NULL;
	selection.probes.item[START]->has_args = true;
	selection.probes.item[DONE]->has_args = false;
	const struct nw_summary_options options = {.selection = &selection,
						   .args = NW_ARGS_NAMED};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	hit_values(START, 1, 10, 0, two, 2);
	hit_values(DONE, 1, 20, 0, two, 2);
	const struct nw_group_rows *rows = nw_summary_rows(summary, 0, false);
	ck_assert_uint_eq(nw_group_probe(rows, START)->args[1].sum, 8);
	ck_assert_uint_eq(nw_group_probe(rows, DONE)->hits, 1);
	ck_assert_ptr_null(nw_group_probe(rows, DONE)->args);
}
END_TEST

/* ---- spans -------------------------------------------------------------------------- */

START_TEST(a_span_goes_from_a_start_to_any_of_its_ends)
{
	setup(NW_KEY_TID);
	hit(START, 1, 100);
	hit(DONE, 1, 105);
	hit(START, 1, 200);
	hit(FAIL, 1, 209);
	expect("5 9 / 0 0 0");
	hit(DONE, 1, 300); /* no start */
	hit(START, 1, 400);
	expect("5 9 / 0 1 0");
	nw_summary_finish(summary); /* no end */
	expect("5 9 / 1 1 0");
}
END_TEST

START_TEST(recursion_ends_last_in_first_out)
{
	setup(NW_KEY_TID);
	for (uint64_t i = 0; i < 20; i++)
		hit(START, 1, 100 + i);
	for (uint64_t i = 0; i < 20; i++)
		hit(DONE, 1, 120 + i);
	expect("1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 / 0 0 0");
}
END_TEST

START_TEST(threads_do_not_mix)
{
	setup(NW_KEY_TID);
	hit(START, 11, 100);
	hit(START, 12, 101);
	hit(START, 11, 102);
	hit(DONE, 12, 110); /* 9 */
	hit(DONE, 13, 111); /* none */
	hit(DONE, 11, 112); /* 10 */
	hit(DONE, 11, 120); /* 20 */
	expect("9 10 20 / 0 1 0");
}
END_TEST

START_TEST(a_process_may_be_the_key)
{
	setup(NW_KEY_PID);
	hit(START, 11, 100); /* process 1 */
	hit(DONE, 21, 101);  /* process 2 */
	hit(DONE, 19, 107);  /* process 1, another thread */
	expect("7 / 0 1 0");
	nw_summary_exit(summary, 1); /* a thread's end is not a process's */
}
END_TEST

static void hit_on(uint32_t probe, int32_t tid, uint32_t cpu, uint64_t time)
{
	const struct nw_hit hit = {
		.time = time, .tid = tid, .cpu = cpu, .probe = probe, .planned = probe};

	ck_assert_int_eq(nw_summary_hit(summary, &hit, tid / 10, 0), 0);
}

START_TEST(idle_threads_are_told_apart_by_their_cpus)
{
	static const enum nw_span_key keys[] = {NW_KEY_TID, NW_KEY_PID};

	for (size_t i = 0; i < NW_COUNT(keys); i++) {
		setup(keys[i]);
		hit_on(START, 0, 0, 100);
		hit_on(START, 0, 1, 101);
		hit_on(DONE, 0, 2, 102);
		hit_on(DONE, 0, 0, 107); /* 7 */
		hit_on(DONE, 0, 1, 110); /* 9 */
		expect("7 9 / 0 1 0");
		teardown();
	}
}
END_TEST

START_TEST(a_cpu_may_be_the_key)
{
	setup(NW_KEY_CPU);
	hit_on(START, 1, 0, 100);
	hit_on(START, 1, 1, 101);
	hit_on(DONE, 2, 0, 103);
	hit_on(DONE, 1, 2, 104);
	hit_on(DONE, 0, 1, 109);
	expect("3 8 / 0 1 0");
}
END_TEST

START_TEST(another_program_ends_nothing_of_the_one_before)
{
	setup(NW_KEY_TID);
	hit(START, 11, 100);
	hit(START, 12, 101);
	hit(START, 21, 102);
	nw_summary_exec(summary, 11, 12); /* by another thread than the first */
	hit(DONE, 11, 103);
	hit(DONE, 21, 104);
	expect("2 / 2 1 0");
	teardown();
	setup(NW_KEY_PID);
	hit(START, 19, 100); /* process 1 */
	nw_summary_exec(summary, 1, 1);
	hit(DONE, 11, 103);
	expect("/ 1 1 0");
}
END_TEST

START_TEST(an_argument_may_be_the_key_wherever_it_stands)
{
	setup(NW_KEY_ARG);
	hit_id(START, 100, number(1));
	hit_id(START, 101, number(2));
	hit_id(DONE, 104, number(1)); /* here "id" is the second one */
	hit_id(FAIL, 108, number(2));
	expect("4 7 / 0 0 0");
	hit_id(START, 200, string("ab", 2));
	hit_id(START, 201, string("abc", 2)); /* the same: its length says so */
	hit_id(DONE, 202, string("abc", 3));  /* not the same */
	hit_id(DONE, 210, string("ab", 2));
	expect("4 7 9 / 0 1 0");
	/* no key, no span */
	hit_id(START, 300, (struct nw_value){.kind = NW_VALUE_MISSING, .text = "(fault)"});
	hit_id(DONE, 301, (struct nw_value){.kind = NW_VALUE_ARRAY});
	hit(DONE, 1, 302);
	expect("4 7 9 / 1 3 0");
	nw_summary_finish(summary);
	expect("4 7 9 / 2 3 0");
}
END_TEST

START_TEST(a_probe_may_end_one_span_and_begin_the_next)
{
	struct nw_summary_options options = {.span_count = 2};

	spans[1] = (struct nw_span_def){.name = strdup("step"), .key = NW_KEY_TID};
	add_number(&spans[1].starts, NEXT);
	add_number(&spans[1].ends, NEXT);
	setup_options(options, NW_KEY_TID);
	for (uint64_t i = 0; i < 4; i++)
		hit(NEXT, 1, 100 + i * i);
	expect_row(1, 0, false, "1 3 5 / 0 1 0");
}
END_TEST

START_TEST(a_thread_that_exits_leaves_its_starts_unmatched)
{
	setup(NW_KEY_TID);
	hit(START, 1, 100);
	hit(START, 1, 101);
	hit(START, 2, 102);
	nw_summary_exit(summary, 1);
	expect("/ 2 0 0");
	hit(DONE, 1, 103); /* the number is used again */
	hit(DONE, 2, 104);
	expect("2 / 2 1 0");
}
END_TEST

START_TEST(time_that_runs_backwards_is_no_latency)
{
	setup(NW_KEY_TID);
	hit(START, 1, 100);
	hit(DONE, 1, 99);
	hit(DONE, 1, 98);
	expect("/ 0 1 1");
	const struct nw_probe_row *row = nw_group_probe(nw_summary_rows(summary, 0, false),
							0);
	ck_assert(row[DONE].hits == 2 && row[DONE].gap.count == 0);
}
END_TEST

/* Random hits of a few threads, each handed in by itself or all of them together. */
static void take_random(bool together)
{
	struct nw_hit hits[300];
	uint64_t state = 1, time = 1000;

	for (size_t i = 0; i < NW_COUNT(hits); i++) {
		uint64_t r = unit_random(&state);
		uint32_t probe = r % 4;
		time += (r >> 8) % 500;
		hits[i] = (struct nw_hit){.time = r % 50 ? time : time - 300,
					  .tid = (int32_t)(r >> 20) % 3,
					  .probe = probe,
					  .planned = probe};
		if (!together)
			hit(probe, hits[i].tid, hits[i].time);
	}
	if (together) {
		ck_assert_int_eq(nw_summary_hits(summary, hits, 200), 0);
		ck_assert_int_eq(nw_summary_hits(summary, hits + 200, 100), 0);
		ck_assert_int_eq(nw_summary_hits(summary, NULL, 0), 0);
	}
}

START_TEST(many_hits_at_a_time_are_the_same)
{
	struct nw_histogram gaps[4];
	struct nw_span_row alone = {0};

	for (int together = 0; together < 2; together++) {
		setup(NW_KEY_TID);
		take_random(together);
		const struct nw_group_rows *rows = nw_summary_rows(summary, 0, false);
		if (!together)
			alone = *nw_group_span(rows, 0);
		ck_assert_uint_gt(nw_group_span(rows, 0)->latency.count, 20);
		ck_assert_uint_eq(nw_group_span(rows, 0)->latency.count,
				  alone.latency.count);
		ck_assert_uint_eq(nw_group_span(rows, 0)->latency.sum, alone.latency.sum);
		ck_assert_uint_eq(nw_group_span(rows, 0)->unmatched_starts,
				  alone.unmatched_starts);
		ck_assert_uint_eq(nw_group_span(rows, 0)->unmatched_ends,
				  alone.unmatched_ends);
		for (size_t i = 0; i < 4; i++) {
			if (!together)
				gaps[i] = nw_group_probe(rows, i)->gap;
			ck_assert_uint_eq(nw_group_probe(rows, i)->gap.count,
					  gaps[i].count);
			ck_assert_uint_eq(nw_group_probe(rows, i)->gap.sum, gaps[i].sum);
		}
		teardown();
	}
}
END_TEST

START_TEST(a_key_that_a_probe_does_not_have_is_an_error)
{
	struct nw_error err = {0};
	struct nw_summary *none = NULL;

	setup(NW_KEY_TID);
	spans[0].key = NW_KEY_ARG;
	strcpy(spans[0].key_name, "len");
	const struct nw_summary_options options = {
		.selection = &selection, .spans = spans, .span_count = 1};
	ck_assert_int_eq(nw_summary_open(&options, &none, &err), -EINVAL);
	ck_assert_ptr_null(none);
	ck_assert(err.usage);
	ck_assert_str_eq(err.what, "span 'span' has the key 'len', but app:done has no "
				   "argument of that name");
	ck_assert_str_eq(err.hint,
			 "name it in the spec: 'app:done(..., len)', or use arg0, "
			 "arg1, ...");
}
END_TEST

/* ---- limits ------------------------------------------------------------------------- */

START_TEST(the_outermost_of_too_many_starts_is_given_up)
{
	setup(NW_KEY_TID);
	for (uint64_t i = 0; i < DEEPEST + 7; i++)
		hit(START, 1, 1000 + i);
	ck_assert_uint_eq(open_spans(summary), DEEPEST);
	for (uint64_t i = 0; i < DEEPEST + 7; i++)
		hit(DONE, 1, 1000 + DEEPEST + 7 + i);
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, false),
						      0);
	ck_assert_uint_eq(row->latency.count, DEEPEST);
	ck_assert_uint_eq(row->latency.sum,
			  (uint64_t)DEEPEST * DEEPEST); /* 1 + 3 + 5 ... */
	ck_assert_uint_eq(row->latency.max, 2 * DEEPEST - 1);
	ck_assert(row->unmatched_starts == 7 && row->unmatched_ends == 7);
}
END_TEST

START_TEST(too_many_open_spans_never_make_a_wrong_latency)
{
	size_t most;

	setup_options((struct nw_summary_options){.most_open = 3}, NW_KEY_TID);
	hit(START, 1, 100);
	hit(START, 1, 110);
	hit(START, 2, 120);
	hit(START, 3, 130); /* one too many, and the first of its key: given up itself */
	hit(START, 1, 140); /* one too many: 100 is given up for it */
	ck_assert_uint_eq(open_spans(summary), 3);
	hit(DONE, 1, 141); /* 1 */
	hit(DONE, 3, 142); /* none */
	hit(DONE, 1, 143); /* 33 */
	hit(DONE, 1, 144); /* none */
	hit(DONE, 2, 145); /* 25 */
	expect("1 25 33 / 2 2 0");
	hit(START, 4, 200);
	hit(START, 5, 200);
	hit(START, 6, 200);
	hit(START, 6, 210); /* the only one of its key gives way */
	hit(DONE, 6, 211);
	hit(DONE, 6, 212);
	expect("1 1 25 33 / 3 3 0");
	ck_assert_uint_eq(nw_summary_crowded_out(summary, &most), 3);
	ck_assert_uint_eq(most, 3);
}
END_TEST

START_TEST(keys_that_come_once_are_forgotten)
{
	setup(NW_KEY_ARG);
	for (uint64_t i = 0; i < 100000; i++) {
		hit_id(START, 2 * i + 1, number(i * 977));
		hit_id(START, 2 * i + 1, number(7)); /* one that stays */
		hit_id(DONE, 2 * i + 2, number(i * 977));
		hit_id(DONE, 2 * i + 2, number(7));
	}
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, false),
						      0);
	ck_assert_uint_eq(row->latency.count, 200000);
	ck_assert(row->latency.min == 1 && row->latency.max == 1);
}
END_TEST

/* ---- who is told of each span ------------------------------------------------------- */

static struct {
	size_t count[NW_SPAN_STILL_OPEN + 1];
	uint64_t gone; /* when the last began that never ends */
} told;

static void listen(void *arg, const struct nw_span_event *event)
{
	(void)arg;
	told.count[event->moment]++;
	if (event->moment != NW_SPAN_NEVER_ENDS)
		return;
	told.gone = event->start;
	ck_assert_str_eq(event->why, "unmatched");
}

START_TEST(what_is_given_up_is_told)
{
	setup_options((struct nw_summary_options){.listener = listen}, NW_KEY_TID);
	for (uint64_t i = 1; i <= DEEPEST + 5; i++)
		hit(START, 1, i);
	ck_assert_uint_eq(told.count[NW_SPAN_BEGINS], DEEPEST + 5);
	ck_assert_uint_eq(told.count[NW_SPAN_NEVER_ENDS], 5);
	ck_assert_uint_eq(told.gone, 5); /* the outermost */
	for (uint64_t i = 0; i < DEEPEST; i++)
		hit(DONE, 1, 5000 + i);
	ck_assert_uint_eq(told.count[NW_SPAN_ENDS], DEEPEST);
	hit(DONE, 1, 9000);
	ck_assert_uint_eq(told.count[NW_SPAN_ENDS_NOTHING], 1);
	nw_summary_finish(summary);
	ck_assert_uint_eq(told.count[NW_SPAN_STILL_OPEN], 0);
	const struct nw_span_row *row = nw_group_span(nw_summary_rows(summary, 0, false),
						      0);
	ck_assert_uint_eq(row->unmatched_starts, told.count[NW_SPAN_NEVER_ENDS]);
}
END_TEST

START_TEST(what_is_too_much_is_told)
{
	setup_options((struct nw_summary_options){.listener = listen, .most_open = 2},
		      NW_KEY_TID);
	hit(START, 1, 10);
	hit(START, 2, 20);
	hit(START, 3, 30); /* the first of its key: it goes itself */
	ck_assert_uint_eq(told.count[NW_SPAN_BEGINS], 3);
	ck_assert_uint_eq(told.count[NW_SPAN_NEVER_ENDS], 1);
	ck_assert_uint_eq(told.gone, 30);
	hit(START, 1, 40); /* the outermost of the key does */
	ck_assert_uint_eq(told.count[NW_SPAN_NEVER_ENDS], 2);
	ck_assert_uint_eq(told.gone, 10);
	nw_summary_finish(summary);
	ck_assert_uint_eq(told.count[NW_SPAN_STILL_OPEN], 2);
}
END_TEST

UNIT_MAIN_WITH("summary", NULL, teardown,
	       hits_and_gaps_are_counted_by_probe_whatever_the_thread,
	       arguments_are_counted_by_their_kind, arguments_that_are_named_are_counted,
	       a_span_goes_from_a_start_to_any_of_its_ends,
	       recursion_ends_last_in_first_out, threads_do_not_mix,
	       a_process_may_be_the_key, idle_threads_are_told_apart_by_their_cpus,
	       a_cpu_may_be_the_key, another_program_ends_nothing_of_the_one_before,
	       an_argument_may_be_the_key_wherever_it_stands,
	       a_probe_may_end_one_span_and_begin_the_next,
	       a_thread_that_exits_leaves_its_starts_unmatched,
	       time_that_runs_backwards_is_no_latency, many_hits_at_a_time_are_the_same,
	       a_key_that_a_probe_does_not_have_is_an_error,
	       the_outermost_of_too_many_starts_is_given_up,
	       too_many_open_spans_never_make_a_wrong_latency,
	       keys_that_come_once_are_forgotten, what_is_given_up_is_told,
	       what_is_too_much_is_told)
