// SPDX-License-Identifier: MIT
/* summary: what happened when. Every event is in one cell, whatever has become wider since. */
#include <inttypes.h>

#include "nopwatch/bins.h"
#include "unit.h"

enum {
	SEEN = 200000
};

static struct nw_bins *bins;
static struct nw_span_def defs[3];
static uint64_t ended[SEEN], took[SEEN];
static size_t seen;
static const struct nw_task task = {.tid = 7, .pid = 5, .comm = "worker"};

static const struct nw_task *task_of(void *arg, int32_t tid)
{
	ck_assert_ptr_eq(arg, &task);
	return tid == task.tid ? &task : NULL;
}

static void open_bins(uint64_t start)
{
	const struct nw_bins_options options = {.probes = 2,
						.spans = defs,
						.span_count = 3,
						.start = start,
						.task = task_of,
						.task_arg = (void *)&task};

	ck_assert_int_eq(nw_bins_open(&options, &bins, NULL), 0);
	seen = 0;
}

/* A span of thread 7, as the summary tells of it, and the hit that ends it. */
static void span(uint32_t number, uint32_t group, uint64_t end, uint64_t ns)
{
	struct nw_hit hit = {.time = end - ns, .tid = task.tid, .cpu = 1};
	struct nw_span_event event = {.moment = NW_SPAN_BEGINS,
				      .span = number,
				      .key = 7,
				      .start = end - ns,
				      .hit = &hit};

	ck_assert_int_eq(nw_bins_span(bins, &event, group), 0);
	event.moment = NW_SPAN_ENDS;
	hit.time = end;
	hit.cpu = 2;
	hit.probe = 1;
	ck_assert_int_eq(nw_bins_span(bins, &event, group), 0);
	if (number == 0 && group == 0 && seen < SEEN) {
		ended[seen] = end;
		took[seen++] = ns;
	}
}

static void hit_at(uint64_t time, uint32_t probe)
{
	const struct nw_hit hit = {.time = time, .probe = probe};

	ck_assert_int_eq(nw_bins_hit(bins, &hit, 0), 0);
}

static unsigned int bucket_of(uint64_t value, unsigned int shift)
{
	struct nw_histogram h = {0};
	struct nw_bucket bucket;
	unsigned int at = 0, before = 0;

	/* its number: how many there are below it */
	nw_histogram_add(&h, value);
	nw_histogram_next(&h, &at, &bucket);
	before = at - 1 - NW_BLOCKS * NW_BUCKETS;
	nw_histogram_free(&h);
	return before >> shift;
}

/* All cells of span 0, against the spans themselves. */
static void check_cells(uint64_t start, uint64_t until)
{
	ck_assert_int_eq(nw_bins_look(bins, until), 0);
	const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_SPANS, 0, 0);
	unsigned int shift = nw_bins_shift(bins, NW_SERIES_SPANS);
	uint64_t width = nw_bins_width(bins);
	size_t i = 0, total = 0, column = 0;

	ck_assert_ptr_nonnull(s);
	ck_assert_uint_le(nw_bins_count(bins), NW_BINS_MOST);
	while (i < seen) { /* they are in the order of time, and so are cells */
		uint64_t bin = (ended[i] - start) / width, min = UINT64_MAX, max = 0;
		uint32_t count[NW_BLOCKS * NW_BUCKETS] = {0};
		for (; i < seen && (ended[i] - start) / width == bin; i++) {
			count[bucket_of(took[i], shift)]++;
			min = took[i] < min ? took[i] : min;
			max = took[i] > max ? took[i] : max;
		}
		ck_assert_uint_lt(column, s->columns.count);
		ck_assert_uint_eq(s->columns.item[column].bin, bin);
		ck_assert_uint_eq(s->columns.item[column].min, min);
		ck_assert_uint_eq(s->columns.item[column].max, max);
		column++;
		for (unsigned int b = 0; b < NW_COUNT(count); b++) {
			if (!count[b])
				continue;
			ck_assert_uint_lt(total, s->cells.count);
			ck_assert_uint_eq(s->cells.item[total].bin, bin);
			ck_assert_uint_eq(s->cells.item[total].bucket, b);
			ck_assert_uint_eq(s->cells.item[total].count, count[b]);
			total++;
		}
	}
	ck_assert_uint_eq(total, s->cells.count);
	ck_assert_uint_eq(column, s->columns.count);
}

START_TEST(each_span_is_in_the_cell_of_its_end_and_its_length)
{
	uint64_t state = 1, time = 1000000;

	open_bins(1000000);
	for (size_t i = 0; i < 30000; i++) {
		time += unit_random(&state) % 40000;
		span(0, 0, time + 5000000, 100 + unit_random(&state) % 4000000);
		if (i == 20 || i == 700 || i == 15000) /* a look at what is not over */
			check_cells(1000000, time + 5000000);
	}
	check_cells(1000000, time + 5000000);
	nw_bins_free(bins);
}
END_TEST

START_TEST(time_may_jump_by_years)
{
	uint64_t start = 5, time = 1000;

	open_bins(start);
	for (unsigned int i = 0; i < 55; i++) {
		span(0, 0, time, 10);
		time *= 2;
	}
	check_cells(start, time);
	nw_bins_free(bins);
}
END_TEST

START_TEST(too_many_cells_make_buckets_and_bins_wider)
{
	uint64_t state = 3, time = 1000000;

	open_bins(0);
	for (size_t i = 0; i < SEEN; i++) {
		time += 1000;
		uint64_t power = unit_random(&state) % 30;
		span(0, 0, time, unit_random(&state) % ((uint64_t)1 << power) % (time + 1));
		span(1, 0, time, unit_random(&state) % 1000000 % (time + 1));
		hit_at(time, 0);
	}
	check_cells(0, time);
	ck_assert_uint_gt(nw_bins_shift(bins, NW_SERIES_SPANS), 0);
	size_t cells = 0;
	for (size_t i = 0; i < nw_bins_series_count(bins); i++)
		cells += nw_bins_series(bins, i)->cells.count;
	ck_assert_uint_le(cells, NW_BINS_CELLS);
	nw_bins_free(bins);
}
END_TEST

START_TEST(gaps_are_those_of_the_summary)
{
	open_bins(0);
	hit_at(100, 0);
	hit_at(150, 0); /* 50 */
	hit_at(160, 1);
	nw_bins_loss(bins, 200, 300, 7);
	hit_at(310, 0); /* who knows what was between */
	hit_at(330, 0); /* 20 */
	ck_assert_int_eq(nw_bins_look(bins, 400), 0);
	const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_GAPS, 0, 0);
	ck_assert_uint_eq(s->cells.count, 2);
	ck_assert_uint_eq(s->cells.item[0].bucket, bucket_of(20, 0));
	ck_assert_uint_eq(s->cells.item[1].bucket, bucket_of(50, 0));
	ck_assert_uint_eq(s->columns.item[0].others, 2);
	ck_assert(nw_bins_losses(bins)[0].touched);
	ck_assert_uint_eq(nw_bins_losses(bins)[0].events, 7);
	nw_bins_free(bins);
}
END_TEST

START_TEST(a_loss_touches_the_bins_that_it_lasts)
{
	open_bins(0);
	hit_at(1, 0);
	nw_bins_loss(bins, 10000, 20000, 5);
	hit_at(300000, 0);
	hit_at(650000, 0); /* more than 600 bins of a microsecond */
	ck_assert_int_eq(nw_bins_look(bins, 650000), 0);
	ck_assert_uint_eq(nw_bins_width(bins), 2000);
	for (unsigned int i = 0; i < nw_bins_count(bins); i++)
		ck_assert_int_eq(nw_bins_losses(bins)[i].touched, i >= 5 && i <= 10);
	ck_assert_uint_eq(nw_bins_losses(bins)[5].events, 5);
	/* one that lasts to the end of a recording: nobody knows how long that is */
	nw_bins_loss(bins, 650000, UINT64_MAX, 0);
	ck_assert(nw_bins_losses(bins)[325].touched);
	nw_bins_free(bins);
}
END_TEST

START_TEST(the_slowest_are_kept_whole)
{
	struct nw_value value = {.kind = NW_VALUE_STRING, .text = "SELECT 1", .len = 8};
	struct nw_hit hit = {
		.time = 500, .tid = 7, .cpu = 3, .values = &value, .value_count = 1};
	struct nw_span_event event = {
		.moment = NW_SPAN_BEGINS, .key = 7, .start = 500, .hit = &hit};
	uint64_t state = 5;

	open_bins(0);
	ck_assert_int_eq(nw_bins_span(bins, &event, 0), 0);
	value.text = "INSERT 2"; /* what was there is not looked at any more */
	for (uint64_t time = 1000; time < 600000; time += 100)
		span(0, 0, time, unit_random(&state) % 500);
	event.moment = NW_SPAN_ENDS;
	hit.time = 600000;
	hit.tid = 9;
	ck_assert_int_eq(nw_bins_span(bins, &event, 0), 0);
	ck_assert_int_eq(nw_bins_look(bins, 600000), 0);
	const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_SPANS, 0, 0);
	const struct nw_kept_span *slow = s->slowest.item[0];
	ck_assert_uint_eq(slow->end - slow->start, 599500);
	ck_assert_ptr_nonnull(slow->began.hit);
	ck_assert_uint_eq(slow->began.hit->cpu, 3);
	ck_assert_int_eq(slow->began.pid, 5);
	ck_assert_str_eq(slow->began.comm, "worker");
	ck_assert_int_eq(slow->ended.hit->tid, 9);
	ck_assert_str_eq(slow->ended.comm, "");
	ck_assert_int_eq(memcmp(slow->began.hit->values->text, "SELECT 1", 8), 0);
	ck_assert_int_eq(memcmp(slow->ended.hit->values->text, "INSERT 2", 8), 0);
	/* the sixteen slowest, and those of each slice */
	uint64_t slowest = 0;
	for (size_t i = 0; i < seen; i++)
		slowest = took[i] > slowest ? took[i] : slowest;
	ck_assert_uint_eq(s->slowest.item[1]->end - s->slowest.item[1]->start, slowest);
	ck_assert_uint_ge(s->slowest.count, NW_BINS_SLOWEST);
	ck_assert_uint_le(s->slowest.count, NW_BINS_SLOWEST + NW_BINS_SLICES);
	for (size_t i = 1; i < s->slowest.count; i++)
		ck_assert_ptr_nonnull(s->slowest.item[i]->began.hit);
	nw_bins_free(bins);
}
END_TEST

START_TEST(long_arguments_do_not_fill_memory)
{
	static char text[4096];
	struct nw_value value = {
		.kind = NW_VALUE_STRING, .text = text, .len = sizeof(text)};
	size_t kept = 0;

	memset(text, 'x', sizeof(text));
	open_bins(0);
	for (uint64_t i = 0; i < 60000; i++) {
		struct nw_hit hit = {.time = i * 1000, .values = &value, .value_count = 1};
		struct nw_span_event event = {.moment = NW_SPAN_BEGINS,
					      .span = (uint32_t)(i % 3),
					      .start = i * 1000,
					      .hit = &hit};
		ck_assert_int_eq(nw_bins_span(bins, &event, (uint32_t)(i / 3 % 100)), 0);
		event.moment = NW_SPAN_ENDS;
		hit.time += i % 977;
		ck_assert_int_eq(nw_bins_span(bins, &event, (uint32_t)(i / 3 % 100)), 0);
	}
	ck_assert_int_eq(nw_bins_look(bins, 60000000), 0);
	ck_assert_uint_eq(nw_bins_series_count(bins), 300);
	for (size_t i = 0; i < 300; i++) {
		const struct nw_bin_series *s = nw_bins_series(bins, i);
		ck_assert_uint_ge(s->slowest.count, 1);
		for (size_t j = 0; j < s->slowest.count; j++) {
			const struct nw_value *v = s->slowest.item[j]->ended.hit->values;
			ck_assert_uint_eq(v->len, NW_BINS_STRING);
			ck_assert(v->cut);
			kept += 2 * v->len;
		}
	}
	ck_assert_uint_le(kept, NW_BINS_KEPT);
	nw_bins_free(bins);
}
END_TEST

START_TEST(what_comes_too_late_for_a_series_is_left_out)
{
	open_bins(0);
	for (uint32_t group = 0; group < NW_BINS_SERIES + 9; group++)
		span(0, group, 1000 + group, 10);
	ck_assert_int_eq(nw_bins_look(bins, 9000), 0);
	ck_assert_uint_eq(nw_bins_series_count(bins), NW_BINS_SERIES);
	ck_assert(nw_bins_left_out(bins));
	ck_assert_ptr_nonnull(nw_bins_find(bins, NW_SERIES_SPANS, 0, NW_BINS_SERIES - 1));
	ck_assert_ptr_null(nw_bins_find(bins, NW_SERIES_SPANS, 0, NW_BINS_SERIES));
	nw_bins_free(bins);
}
END_TEST

START_TEST(starts_without_ends_are_forgotten)
{
	open_bins(0);
	for (uint64_t i = 1; i < 100000; i++) {
		const struct nw_hit hit = {.time = i, .tid = (int32_t)i};
		const struct nw_span_event event = {
			.moment = NW_SPAN_BEGINS, .key = i, .start = i, .hit = &hit};
		ck_assert_int_eq(nw_bins_span(bins, &event, 0), 0);
	}
	const struct nw_span_event gone = {.moment = NW_SPAN_NEVER_ENDS,
					   .key = 99999,
					   .start = 99999,
					   .why = "unmatched"};
	ck_assert_int_eq(nw_bins_span(bins, &gone, 0), 0);
	span(0, 0, 200000, 20);
	ck_assert_int_eq(nw_bins_look(bins, 200000), 0);
	const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_SPANS, 0, 0);
	ck_assert_uint_eq(s->cells.count, 1);
	ck_assert_uint_eq(s->columns.count, 2);
	ck_assert_uint_eq(s->columns.item[0].others, 1); /* the one that is gone */
	nw_bins_free(bins);
}
END_TEST

UNIT_MAIN("bins", each_span_is_in_the_cell_of_its_end_and_its_length,
	  time_may_jump_by_years, too_many_cells_make_buckets_and_bins_wider,
	  gaps_are_those_of_the_summary, a_loss_touches_the_bins_that_it_lasts,
	  the_slowest_are_kept_whole, long_arguments_do_not_fill_memory,
	  what_comes_too_late_for_a_series_is_left_out, starts_without_ends_are_forgotten)
