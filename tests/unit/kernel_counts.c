// SPDX-License-Identifier: MIT
/* kernel_counts: rows that were read from the kernel's maps become rows of a summary, and nested spans are found. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/summary.h"
#include "plan/plan.h"
#include "run/consumers/kernel_counts.h"
#include "unit.h"

enum {
	START,
	DONE
};
static const char plan_text[] = "nopwatch-plan 1\nimage /bin/app\n"
				"probe 0 0 app start app:start 1\narg id -\n"
				"probe 0 0 app done app:done 1\narg id -\n";

static struct nw_run run;
static struct nw_run_result result;
static struct nw_request request;
static struct nw_by by;
static nw_span_defs spans;
static struct nw_summary *summary;
static struct nw_kernel_counts counts;

static void add_number(nw_vec_u32 *list, uint32_t number)
{
	*(uint32_t *)nw_vec_add(list) = number;
}

/* A span from START to DONE, by thread or by `id`. */
static void setup(bool keyed)
{
	int ret = nw_plan_load(plan_text, strlen(plan_text), &result.selection,
			       &result.plan, NULL, NULL, NULL, NULL);

	ck_assert_int_eq(ret, 0);
	struct nw_span_def *def = nw_vec_add(&spans);
	*def = (struct nw_span_def){.name = strdup("span"),
				    .key = keyed ? NW_KEY_ARG : NW_KEY_TID};
	strcpy(def->key_name, keyed ? "id" : "tid");
	add_number(&def->starts, START);
	add_number(&def->ends, DONE);
	struct nw_summary_options options = {
		.selection = &result.selection, .spans = spans.item, .span_count = 1};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	run = (struct nw_run){.request = &request, .result = &result};
	counts = (struct nw_kernel_counts){.run = &run,
					   .spans = &spans,
					   .by = &by,
					   .framed = calloc(1, sizeof(bool)),
					   .hits = calloc(3, sizeof(uint64_t)),
					   .others = calloc(3, sizeof(uint64_t))};
}

static void teardown(void)
{
	nw_kernel_counts_close(&counts);
	nw_summary_free(summary);
	nw_span_def_free(&spans.item[0]);
	nw_vec_free(&spans);
	nw_plan_free(&result.plan);
	nw_selection_free(&result.selection);
}

static size_t add_map(enum nw_counted_what what, uint32_t probe, int thread)
{
	struct nw_counted_map *map = nw_vec_add(&counts.maps);

	*map = (struct nw_counted_map){
		.what = what, .probe = probe, .thread = thread, .by = -1, .value = -1};
	return counts.maps.count - 1;
}

static void add_row(size_t map, uint64_t key, uint64_t hits)
{
	struct nw_kernel_map_row *row = nw_vec_add(&counts.maps.item[map].now.rows);

	*row = (struct nw_kernel_map_row){.key[0] = {key, key}, .hits = hits};
}

static void end(void)
{
	struct nw_error err = {0};

	ck_assert_int_eq(nw_kernel_counts_add(&counts, summary, true, &err), 0);
}

static const struct nw_span_row *span(void)
{
	return nw_group_span(nw_summary_rows(summary, 0, true), 0);
}

/* Thread 7 begins `starts` times, ends `ends` times, and of these, `matched` had a start and `dropped` more were not counted. */
static void play_thread(uint64_t starts, uint64_t ends, uint64_t matched, uint64_t dropped)
{
	setup(false);
	add_row(add_map(NW_COUNTED_HITS, START, 0), 7, starts);
	add_row(add_map(NW_COUNTED_HITS, DONE, 0), 7, ends);
	const size_t map = add_map(NW_COUNTED_ENDS, DONE, 0);
	add_row(map, 7, matched);
	counts.maps.item[map].now.dropped = dropped;
	end();
	ck_assert_uint_eq(counts.hits[START], starts);
	ck_assert_uint_eq(counts.hits[DONE], ends);
	ck_assert_uint_eq(span()->unmatched_starts, starts - matched);
	ck_assert_uint_eq(span()->unmatched_ends, ends - matched);
}

START_TEST(starts_and_ends_without_the_other_are_counted)
{
	struct nw_error err = {0};

	play_thread(9, 8, 8, 0); /* one is open at the end */
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), 0);
	teardown();
	play_thread(9, 9, 8,
		    0); /* one was open at the beginning, another one is at the end */
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), 0);
	teardown();
}
END_TEST

START_TEST(nested_spans_are_refused)
{
	struct nw_error err = {0};

	play_thread(9, 9, 7, 0);
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.what, "in one thread, 2 times"));
	teardown();
}
END_TEST

START_TEST(hits_that_the_kernel_has_dropped_are_no_nested_spans)
{
	struct nw_error err = {0};

	play_thread(9, 9, 7, 2);
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), 0);
	ck_assert_uint_eq(run.live.uncounted, 2);
	teardown();
}
END_TEST

/* Thread 7 has frames 0x10 and 0x20; `call`: of a function's call. */
static void play_frames(bool call, const uint64_t starts[2], const uint64_t ends[2],
			const uint64_t matched[2])
{
	setup(false);
	counts.framed[0] = true;
	spans.item[0].call = call;
	const size_t maps[] = {add_map(NW_COUNTED_STARTS, START, -1),
			       add_map(NW_COUNTED_ALL_ENDS, DONE, -1),
			       add_map(NW_COUNTED_ENDS, DONE, -1)};
	const uint64_t *hits[] = {starts, ends, matched};
	for (size_t map = 0; map < NW_COUNT(maps); map++)
		for (size_t frame = 0; frame < 2; frame++) {
			add_row(maps[map], 7, hits[map][frame]);
			struct nw_kernel_map *now = &counts.maps.item[maps[map]].now;
			const uint64_t address = 0x10 + 0x10 * frame;
			now->rows.item[frame].key[1] = (struct nw_kernel_map_key){address,
										  address};
			now->keys = 2;
		}
	end();
}

START_TEST(spans_by_frame_may_nest)
{
	struct nw_error err = {0};

	/* the deeper one was abandoned three times */
	play_frames(false, (uint64_t[]){9, 9}, (uint64_t[]){9, 6}, (uint64_t[]){9, 6});
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), 0);
	ck_assert_uint_eq(span()->unmatched_starts, 3);
	teardown();
	play_frames(false, (uint64_t[]){9, 9}, (uint64_t[]){9, 9}, (uint64_t[]){9, 7});
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.what, "in one call frame, 2 times"));
	teardown();
}
END_TEST

START_TEST(spans_that_end_in_another_frame_are_refused)
{
	const uint64_t starts[] = {9, 3}, ends[] = {5, 7}, matched[] = {5, 3};
	struct nw_error err = {0};

	play_frames(false, starts, ends, matched);
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.what, "does not begin and end in one call"));
	teardown();
	/* Returns belong to their calls: some were open when the run began, others are when it ends. */
	play_frames(true, starts, ends, matched);
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), 0);
	ck_assert_uint_eq(span()->unmatched_starts, 4);
	ck_assert_uint_eq(span()->unmatched_ends, 4);
	teardown();
}
END_TEST

/* A map has up to 131,072 keys: each is met three times. */
START_TEST(each_of_many_keys_is_judged_by_itself)
{
	enum {
		KEYS = 131072
	};
	struct nw_error err = {0};

	setup(true);
	size_t starts = add_map(NW_COUNTED_STARTS, START, -1);
	size_t all = add_map(NW_COUNTED_ALL_ENDS, DONE, -1);
	size_t ends = add_map(NW_COUNTED_ENDS, DONE, -1);
	for (uint64_t key = 0; key < KEYS; key++) {
		add_row(starts, key, 3);
		add_row(all, key, 3);
		add_row(ends, key, key == KEYS - 5 ? 1 : 3);
	}
	end();
	ck_assert_uint_eq(span()->unmatched_starts, 2);
	ck_assert_uint_eq(span()->unmatched_ends, 2);
	ck_assert_int_eq(nw_kernel_counts_check(&counts, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.what, "with one key, 2 times"));
	teardown();
}
END_TEST

/* A map is read again and again: what has come since counts, once. */
START_TEST(a_map_that_is_read_twice_counts_once)
{
	struct nw_error err = {0};

	setup(false);
	size_t map = add_map(NW_COUNTED_HITS, START, 0);
	add_row(map, 8, 4);
	ck_assert_int_eq(nw_kernel_counts_add(&counts, summary, false, &err), 0);
	add_row(map, 9, 1);
	add_row(map, 8, 6);
	end();
	ck_assert_uint_eq(counts.hits[START], 7);
	ck_assert_uint_eq(nw_summary_probe_hits(summary, START), 7);
	end(); /* nothing comes behind the last reading */
	ck_assert_uint_eq(counts.hits[START], 7);
	teardown();
}
END_TEST

UNIT_MAIN("kernel_counts", starts_and_ends_without_the_other_are_counted,
	  nested_spans_are_refused, hits_that_the_kernel_has_dropped_are_no_nested_spans,
	  spans_by_frame_may_nest, spans_that_end_in_another_frame_are_refused,
	  each_of_many_keys_is_judged_by_itself, a_map_that_is_read_twice_counts_once)
