// SPDX-License-Identifier: MIT
/* summary: what happened when. Every event is in one cell, whatever has become wider since. */
#include <inttypes.h>

#include "measure/bins.h"
#include "measure/bins_private.h"
#include "plan/plan.h"
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

/* What a summary would know of the bin that is not over. */
struct row {
	uint32_t number, group;
	struct nw_histogram sizes;
	uint64_t others;
};
static NW_VEC(struct row) rows;

static int collect(void *arg, struct nw_bins *b)
{
	ck_assert_ptr_eq(arg, &rows);
	nw_vec_each (&rows, row) {
		if (row->sizes.count || row->others)
			ck_assert_int_eq(nw_bins_add(b, NW_SERIES_SPANS, row->number,
						     row->group, &row->sizes, row->others),
					 0);
		nw_histogram_clear(&row->sizes);
		row->others = 0;
	}
	return 0;
}

static void count_size(uint32_t number, uint32_t group, uint64_t ns)
{
	size_t i = 0;

	while (i < rows.count &&
	       (rows.item[i].number != number || rows.item[i].group != group))
		i++;
	if (i == rows.count) {
		struct row *row = nw_vec_add(&rows);
		ck_assert_ptr_nonnull(row);
		rows.item[i].number = number;
		rows.item[i].group = group;
	}
	nw_histogram_add(&rows.item[i].sizes, ns);
}

static void open_bins(uint64_t start)
{
	const struct nw_bins_options options = {.probes = 2,
						.spans = defs,
						.span_count = 3,
						.start = start,
						.task = task_of,
						.task_arg = (void *)&task,
						.collect = collect,
						.collect_arg = &rows};

	ck_assert_int_eq(nw_bins_open(&options, &bins, NULL), 0);
	seen = 0;
}

static void close_bins(void)
{
	nw_vec_each (&rows, row)
		nw_histogram_free(&row->sizes);
	nw_vec_free(&rows);
	nw_bins_free(bins);
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
	event.latency = end - event.start;
	hit.cpu = 2;
	hit.probe = 1;
	ck_assert_int_eq(nw_bins_reach(bins, end), 0);
	count_size(number, group, ns);
	ck_assert_int_eq(nw_bins_span(bins, &event, group), 0);
	if (number == 0 && group == 0 && seen < SEEN) {
		ended[seen] = end;
		took[seen++] = ns;
	}
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
	ck_assert_int_eq(nw_bins_update(bins, until), 0);
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
	close_bins();
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
	close_bins();
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
	}
	check_cells(0, time);
	ck_assert_uint_gt(nw_bins_shift(bins, NW_SERIES_SPANS), 0);
	size_t cells = 0;
	for (size_t i = 0; i < bins->series.count; i++)
		cells += bins->series.item[i]->cells.count;
	ck_assert_uint_le(cells, NW_BINS_CELLS);
	close_bins();
}
END_TEST

START_TEST(a_loss_touches_the_bins_that_it_lasts)
{
	open_bins(0);
	ck_assert_int_eq(nw_bins_reach(bins, 1), 0);
	nw_bins_loss(bins, 10000, 20000, 5);
	ck_assert_int_eq(nw_bins_reach(bins, 300000), 0);
	/* more than 600 bins of a microsecond */
	ck_assert_int_eq(nw_bins_reach(bins, 650000), 0);
	ck_assert_int_eq(nw_bins_update(bins, 650000), 0);
	ck_assert_uint_eq(nw_bins_width(bins), 2000);
	for (unsigned int i = 0; i < nw_bins_count(bins); i++)
		ck_assert_int_eq(nw_bins_losses(bins)[i].touched, i >= 5 && i <= 10);
	ck_assert_uint_eq(nw_bins_losses(bins)[5].events, 5);
	/* one that lasts to the end of a recording: nobody knows how long that is */
	nw_bins_loss(bins, 650000, UINT64_MAX, 0);
	ck_assert(nw_bins_losses(bins)[325].touched);
	close_bins();
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
	event.latency = hit.time - event.start;
	hit.tid = 9;
	ck_assert_int_eq(nw_bins_span(bins, &event, 0), 0);
	ck_assert_int_eq(nw_bins_update(bins, 600000), 0);
	const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_SPANS, 0, 0);
	const struct nw_exemplar *slow = s->slowest.item[0];
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
	close_bins();
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
		event.latency = i % 977;
		ck_assert_int_eq(nw_bins_span(bins, &event, (uint32_t)(i / 3 % 100)), 0);
	}
	ck_assert_int_eq(nw_bins_update(bins, 60000000), 0);
	ck_assert_uint_eq(bins->series.count, 300);
	for (size_t i = 0; i < 300; i++) {
		const struct nw_bin_series *s = bins->series.item[i];
		ck_assert_uint_ge(s->slowest.count, 1);
		for (size_t j = 0; j < s->slowest.count; j++) {
			const struct nw_value *v = s->slowest.item[j]->ended.hit->values;
			ck_assert_uint_eq(v->len, NW_BINS_STRING);
			ck_assert(v->cut);
			kept += 2 * v->len;
		}
	}
	ck_assert_uint_le(kept, NW_BINS_BYTES);
	close_bins();
}
END_TEST

START_TEST(what_comes_too_late_for_a_series_is_left_out)
{
	open_bins(0);
	for (uint32_t group = 0; group < NW_BINS_SERIES + 9; group++)
		span(0, group, 1000 + group, 10);
	ck_assert_int_eq(nw_bins_update(bins, 9000), 0);
	ck_assert_uint_eq(bins->series.count, NW_BINS_SERIES);
	ck_assert(nw_bins_left_out(bins));
	ck_assert_ptr_nonnull(nw_bins_find(bins, NW_SERIES_SPANS, 0, NW_BINS_SERIES - 1));
	ck_assert_ptr_null(nw_bins_find(bins, NW_SERIES_SPANS, 0, NW_BINS_SERIES));
	close_bins();
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
	ck_assert_int_eq(nw_bins_update(bins, 200000), 0);
	const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_SPANS, 0, 0);
	ck_assert_uint_eq(s->cells.count, 1);
	ck_assert_uint_eq(s->columns.count, 1);
	close_bins();
}
END_TEST

START_TEST(states_are_added_up_by_bin)
{
	struct nw_histogram states[NW_TASK_STATES] = {0};

	open_bins(0);
	for (size_t i = 0; i < NW_TASK_STATES; i++)
		nw_histogram_add(&states[i], 10 * (i + 1));
	for (uint64_t time = 500; time < 1000000; time += 1000) { /* so bins become wider */
		ck_assert_int_eq(nw_bins_reach(bins, time), 0);
		count_size(0, 0, 150);
		ck_assert_int_eq(nw_bins_add_states(bins, 0, 0, states), 0);
		ck_assert_int_eq(nw_bins_add_states(bins, 0, 0, states), 0);
	}
	ck_assert_int_eq(nw_bins_update(bins, 1000000), 0);
	const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_SPANS, 0, 0);
	ck_assert_uint_eq(nw_bins_width(bins), 2000);
	ck_assert_uint_eq(s->states.count, 500);
	for (size_t i = 0; i < s->states.count; i++) {
		ck_assert_uint_eq(s->states.item[i].bin, i);
		ck_assert_uint_eq(s->states.item[i].ns[NW_TASK_RUNNING], 4 * 10);
		ck_assert_uint_eq(s->states.item[i].ns[NW_TASK_OTHERS], 4 * 50);
	}
	for (size_t i = 0; i < NW_TASK_STATES; i++)
		nw_histogram_free(&states[i]);
	close_bins();
}
END_TEST

/* ---- with a summary ----------------------------------------------------------------- */

enum {
	START,
	DONE
};
static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;

static void listen(void *arg, const struct nw_span_event *event)
{
	ck_assert_ptr_eq(arg, &bins);
	ck_assert_int_eq(nw_bins_span(bins, event, (uint32_t)event->group), 0);
}

/* One span, START to DONE, of thread by thread. above: only slow ones are told. */
static void open_summary(bool grouped, bool above)
{
	static const char text[] = "nopwatch-plan 1\nimage /bin/app\n"
				   "probe 0 0 app start app:start 1\narg id -\n"
				   "probe 0 0 app done app:done 1\narg id -\n";
	struct nw_summary_options options = {.selection = &selection,
					     .spans = defs,
					     .span_count = 1,
					     .grouped = grouped,
					     .listener = listen,
					     .listener_arg = &bins,
					     .lazy = true,
					     .bins = true,
					     .intervals = true};

	ck_assert_int_eq(
		nw_plan_load(text, strlen(text), &selection, &plan, NULL, NULL, NULL, NULL),
		0);
	defs[0] = (struct nw_span_def){.name = strdup("span"), .key = NW_KEY_TID};
	*(uint32_t *)nw_vec_add(&defs[0].starts) = START;
	*(uint32_t *)nw_vec_add(&defs[0].ends) = DONE;
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	const struct nw_bins_options binned = {.probes = 2,
					       .spans = defs,
					       .span_count = 1,
					       .collect = nw_bins_of_summary,
					       .collect_arg = summary};
	ck_assert_int_eq(nw_bins_open(&binned, &bins, NULL), 0);
	if (above)
		nw_summary_emit_above(summary, nw_bins_least(bins));
}

static void close_summary(void)
{
	nw_bins_free(bins);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	nw_summary_free(summary);
	nw_span_def_free(&defs[0]);
}

static void hits_at(uint64_t time, uint32_t probe, int32_t tid)
{
	const struct nw_hit hit = {.time = time, .probe = probe, .tid = tid};

	ck_assert_int_eq(nw_bins_reach(bins, time), 0);
	ck_assert_int_eq(nw_summary_hits(summary, &hit, 1), 0);
}

START_TEST(gaps_are_those_of_the_summary)
{
	open_summary(false, true);
	hits_at(100, START, 1);
	hits_at(150, START, 2); /* 50 */
	ck_assert_int_eq(nw_bins_update(bins, 0), 0);
	hits_at(160, DONE, 1); /* looked at, and not over */
	nw_bins_loss(bins, 200, 300, 7);
	nw_summary_loss(summary, 300, 7);
	hits_at(310, START, 1);		       /* who knows what was between */
	hits_at(330, START, 3);		       /* 20 */
	for (int look = 0; look < 2; look++) { /* which changes nothing */
		ck_assert_int_eq(nw_bins_update(bins, 400), 0);
		const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_GAPS, 0, 0);
		ck_assert_uint_eq(s->cells.count, 2);
		ck_assert_uint_eq(s->columns.count, 1);
		ck_assert_uint_eq(s->cells.item[0].bucket, bucket_of(20, 0));
		ck_assert_uint_eq(s->cells.item[1].bucket, bucket_of(50, 0));
		ck_assert_uint_eq(s->columns.item[0].others, 2);
		ck_assert_uint_eq(s->columns.item[0].min, 20);
		ck_assert_uint_eq(s->columns.item[0].max, 50);
	}
	ck_assert(nw_bins_losses(bins)[0].touched);
	ck_assert_uint_eq(nw_bins_losses(bins)[0].events, 7);
	nw_summary_finish(summary);
	ck_assert_int_eq(nw_bins_update(bins, 0), 0);
	const struct nw_bin_series *spans = nw_bins_find(bins, NW_SERIES_SPANS, 0, 0);
	ck_assert_uint_eq(spans->cells.count, 1);
	ck_assert_uint_eq(spans->columns.item[0].others,
			  3); /* of which the end never came */
	close_summary();
}
END_TEST

/* Random spans of some threads; their slowest, as text. */
static void play(bool above, bool argument, struct nw_buf *out)
{
	const struct nw_value id = {.kind = NW_VALUE_UNSIGNED, .bits = 64, .number = 4711};
	uint64_t state = 9, time = 1;

	open_summary(false, above);
	for (unsigned int i = 0; i < 50000; i++) {
		uint64_t r = unit_random(&state);
		time += r % 64 ? r % 2000 : r % 200000;
		struct nw_hit hit = {
			.time = time, .tid = (int32_t)(r >> 32) % 5, .probe = r >> 20 & 1};
		ck_assert_int_eq(nw_bins_reach(bins, time), 0);
		if (argument && r >> 24 & 1) {
			hit.values = &id;
			hit.value_count = 1;
			ck_assert_int_eq(nw_summary_hit(summary, &hit, 0, 0), 0);
		} else {
			ck_assert_int_eq(nw_summary_hits(summary, &hit, 1), 0);
		}
	}
	nw_summary_finish(summary);
	ck_assert_int_eq(nw_bins_update(bins, time), 0);
	const struct nw_bin_series *s = nw_bins_find(bins, NW_SERIES_SPANS, 0, 0);
	nw_vec_each (&s->slowest, it)
		nw_buf_printf(out, "%" PRIu64 "..%" PRIu64 " %u\n", (*it)->start,
			      (*it)->end, (*it)->began.hit->value_count);
	close_summary();
}

START_TEST(who_is_told_of_slow_spans_only_misses_none)
{
	for (int argument = 0; argument < 2; argument++) {
		struct nw_buf all = {0}, slow = {0};
		play(false, argument, &all);
		play(true, argument, &slow);
		ck_assert_uint_gt(all.len, 1000);
		ck_assert_str_eq(nw_buf_str(&all), nw_buf_str(&slow));
		nw_buf_free(&all);
		nw_buf_free(&slow);
	}
}
END_TEST

/* What is in the cells of all groups, what the intervals add up to, and the total are the same. */
START_TEST(bins_and_intervals_add_up_to_the_total)
{
	uint64_t state = 11, time = 1, measured = 0, in_intervals = 0, total = 0, cells = 0;

	open_summary(true, false);
	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t r = unit_random(&state);
		char name[2] = {(char)('a' + (r >> 40) % 20), '\0'};
		const struct nw_hit hit = {.time = time += r % 3000,
					   .tid = (int32_t)(r >> 32) % 5,
					   .probe = r >> 20 & 1};
		ck_assert_int_eq(nw_bins_reach(bins, time), 0);
		ck_assert_int_eq(nw_summary_hit(summary, &hit, 0,
						nw_summary_group(summary, name, 1)),
				 0);
		if (i % 777 && i != 19999)
			continue;
		ck_assert_int_eq(nw_bins_update(bins, 0), 0);
		for (size_t g = 0; g < nw_summary_groups(summary); g++)
			in_intervals += nw_group_span(nw_summary_rows(summary, g, false), 0)
						->latency.count;
		ck_assert_int_eq(nw_summary_next_interval(summary), 0);
	}
	for (size_t g = 0; g < nw_summary_groups(summary); g++) {
		const struct nw_group_rows *rows_of = nw_summary_rows(summary, g, true);
		total += nw_group_probe(rows_of, START)->hits +
			 nw_group_probe(rows_of, DONE)->hits;
		measured += nw_group_span(rows_of, 0)->latency.count;
	}
	for (size_t i = 0; i < bins->series.count; i++)
		nw_vec_each (&bins->series.item[i]->cells, cell)
			cells += bins->series.item[i]->kind == NW_SERIES_SPANS ? cell->count
									       : 0;
	ck_assert_uint_eq(total, 20000);
	ck_assert_uint_gt(measured, 1000);
	ck_assert_uint_eq(measured, in_intervals);
	ck_assert_uint_eq(measured, cells);
	close_summary();
}
END_TEST

UNIT_MAIN("bins", each_span_is_in_the_cell_of_its_end_and_its_length,
	  time_may_jump_by_years, too_many_cells_make_buckets_and_bins_wider,
	  states_are_added_up_by_bin, gaps_are_those_of_the_summary,
	  who_is_told_of_slow_spans_only_misses_none,
	  bins_and_intervals_add_up_to_the_total, a_loss_touches_the_bins_that_it_lasts,
	  the_slowest_are_kept_whole, long_arguments_do_not_fill_memory,
	  what_comes_too_late_for_a_series_is_left_out, starts_without_ends_are_forgotten)
