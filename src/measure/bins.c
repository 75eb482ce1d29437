// SPDX-License-Identifier: MIT
/*
 * Counts by time and size. The rows of the summary hold the current bin; when it is over, its counts become cells
 * behind all others. When bins or buckets become twice as wide, pairs of cells are merged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bins_private.h"
#include "histogram.h"
#include "state.h"

enum {
	FIRST_WIDTH = 1000, /* ns */
	COLUMN = 3,	    /* memory of a column, in cells */
	STATES = 6,
	ALL_BUCKETS = NW_BLOCKS * NW_BUCKETS
};

/* ---- series ------------------------------------------------------------------------- */

static uint64_t hash_of(enum nw_series_kind kind, uint32_t number, uint32_t group)
{
	return nw_hash64((uint64_t)group << 32 | number << 1 | (kind == NW_SERIES_SPANS));
}

static struct nw_bin_series *find_series(const struct nw_bins *b, enum nw_series_kind kind,
					 uint32_t number, uint32_t group)
{
	nw_hash_each (&b->table, hash_of(kind, number, group), at) {
		struct nw_bin_series *s = b->series.item[at];
		if (s->kind == kind && s->number == number && s->group == group)
			return s;
	}
	return NULL;
}

/* Returns NULL if there are too many series, or without memory; *ret is -ENOMEM then. */
static nw_noinline struct nw_bin_series *add_series(struct nw_bins *b,
						    enum nw_series_kind kind,
						    uint32_t number, uint32_t group,
						    int *ret)
{
	if (b->series.count == NW_BINS_SERIES) {
		b->left_out = true;
		return NULL;
	}
	struct nw_bin_series *series = calloc(1, sizeof(*series));
	struct nw_bin_series **place = series ? nw_vec_add(&b->series) : NULL;
	if (!place) {
		free(series);
		*ret = -ENOMEM;
		return NULL;
	}
	*place = series;
	series->kind = kind;
	series->number = number;
	series->group = group;
	if (nw_hash_table_add(&b->table, hash_of(kind, number, group),
			      b->series.count - 1) < 0) {
		b->series.count--;
		free(series);
		*ret = -ENOMEM;
		return NULL;
	}
	if (group == 0)
		(kind == NW_SERIES_GAPS ? b->gaps : b->spans)[number] = series;
	return series;
}

static nw_noinline struct nw_bin_series *group_series(struct nw_bins *b,
						      enum nw_series_kind kind,
						      uint32_t number, uint32_t group,
						      int *ret)
{
	struct nw_bin_series *series = find_series(b, kind, number, group);

	return series ? series : add_series(b, kind, number, group, ret);
}

static nw_inlined struct nw_bin_series *series_of(struct nw_bins *b,
						  enum nw_series_kind kind, uint32_t number,
						  uint32_t group, int *ret)
{
	struct nw_bin_series *usual = (kind == NW_SERIES_GAPS ? b->gaps : b->spans)[number];

	return nw_likely(usual && group == 0) ? usual
					      : group_series(b, kind, number, group, ret);
}

/* ---- cells -------------------------------------------------------------------------- */

static uint32_t add_counts(uint64_t a, uint64_t b)
{
	return (uint32_t)nw_min64(nw_min64(a, UINT32_MAX) + nw_min64(b, UINT32_MAX),
				  UINT32_MAX);
}

/* Adds the column b to a. */
static void merge_columns(struct nw_bin_column *a, const struct nw_bin_column *b)
{
	bool a_has = a->max || a->min, b_has = b->max || b->min;

	if (b_has) {
		a->min = a_has ? nw_min64(a->min, b->min) : b->min;
		a->max = nw_max64(a->max, b->max);
	}
	a->others = add_counts(a->others, b->others);
}

/* Merges two runs of cells, each sorted by bucket, into `to`, which must not overlap either. Returns the number of
 * cells written. */
static size_t merge_runs(const struct nw_bin_cell *a, size_t a_count,
			 const struct nw_bin_cell *b, size_t b_count,
			 struct nw_bin_cell *to)
{
	size_t count = 0;

	while (a_count || b_count) {
		bool take_a = a_count && (!b_count || a->bucket <= b->bucket);
		bool take_b = b_count && (!a_count || b->bucket <= a->bucket);
		struct nw_bin_cell *cell = &to[count++];
		*cell = take_a ? *a : *b;
		if (take_a && take_b)
			cell->count = add_counts(a->count, b->count);
		a += take_a;
		a_count -= take_a;
		b += take_b;
		b_count -= take_b;
	}
	return count;
}

/* Returns how many cells from here on belong to the same bin. */
static size_t run_length(const struct nw_bin_cell *cell, size_t most)
{
	size_t count = 0;

	while (count < most && cell[count].bin == cell[0].bin)
		count++;
	return count;
}

/* Merges bins 2i and 2i + 1 into bin i. A merged run is never longer than both were, so the merge works in place. */
static void halve_cells(struct nw_bin_series *s)
{
	struct nw_bin_cell old[2 * ALL_BUCKETS];
	size_t from = 0, to = 0;

	nw_vec_each (&s->cells, cell)
		cell->bin /= 2;
	while (from < s->cells.count) {
		struct nw_bin_cell *run = &s->cells.item[from];
		size_t both = run_length(run, s->cells.count - from), first = 1;
		/* Buckets ascend in each of the two bins: the second bin begins where they descend. */
		while (first < both && run[first].bucket > run[first - 1].bucket)
			first++;
		memcpy(old, run, both * sizeof(*old));
		to += merge_runs(old, first, old + first, both - first, &s->cells.item[to]);
		from += both;
	}
	s->cells.count = to;
}

static void halve_columns(struct nw_bin_series *s)
{
	size_t to = 0;

	for (size_t i = 0; i < s->columns.count; i++) {
		struct nw_bin_column column = s->columns.item[i];
		column.bin /= 2;
		if (to && s->columns.item[to - 1].bin == column.bin)
			merge_columns(&s->columns.item[to - 1], &column);
		else
			s->columns.item[to++] = column;
	}
	s->columns.count = to;
}

static void merge_states(struct nw_bin_states *a, const struct nw_bin_states *b)
{
	for (size_t i = 0; i < NW_TASK_STATES; i++)
		a->ns[i] += b->ns[i];
}

static void halve_states(struct nw_bin_series *s)
{
	size_t to = 0;

	for (size_t i = 0; i < s->states.count; i++) {
		struct nw_bin_states states = s->states.item[i];
		states.bin /= 2;
		if (to && s->states.item[to - 1].bin == states.bin)
			merge_states(&s->states.item[to - 1], &states);
		else
			s->states.item[to++] = states;
	}
	s->states.count = to;
}

static void count_cells(struct nw_bins *b)
{
	b->cells = 0;
	nw_vec_each (&b->series, it)
		b->cells += (*it)->cells.count + COLUMN * (*it)->columns.count +
			    STATES * (*it)->states.count;
}

/* Makes bins twice as wide. */
static void halve(struct nw_bins *b)
{
	nw_vec_each (&b->series, it) {
		halve_cells(*it);
		halve_columns(*it);
		halve_states(*it);
	}
	for (size_t i = 0; i < NW_BINS_MOST / 2; i++) {
		const struct nw_bin_loss *two = &b->loss[2 * i];
		b->loss[i] = (struct nw_bin_loss){two[0].touched || two[1].touched,
						  two[0].events + two[1].events};
	}
	memset(&b->loss[NW_BINS_MOST / 2], 0, sizeof(b->loss) / 2);
	b->width *= 2;
	b->current /= 2;
	b->reached /= 2;
	count_cells(b);
	nw_slowest_judge(b);
}

/* Makes buckets twice as wide. */
static void coarsen(struct nw_bins *b, enum nw_series_kind kind)
{
	b->shift[kind]++;
	nw_vec_each (&b->series, it) {
		struct nw_bin_series *s = *it;
		size_t to = 0;
		for (size_t i = 0; s->kind == kind && i < s->cells.count; i++) {
			struct nw_bin_cell cell = s->cells.item[i];
			struct nw_bin_cell *last = to ? &s->cells.item[to - 1] : NULL;
			cell.bucket /= 2;
			if (last && last->bin == cell.bin && last->bucket == cell.bucket)
				last->count = add_counts(last->count, cell.count);
			else
				s->cells.item[to++] = cell;
		}
		if (s->kind == kind)
			s->cells.count = to;
	}
	count_cells(b);
}

/*
 * Reduces resolution, in this order, while there are too many cells. Gaps come first, because they are wide and
 * people look at spans; buckets come before bins, since a picture does not show the finest ones anyway.
 */
static void squeeze(struct nw_bins *b)
{
	static const enum {
		GAPS = NW_SERIES_GAPS,
		SPANS = NW_SERIES_SPANS,
		TIME
	} steps[] = {GAPS, GAPS, SPANS, TIME,  GAPS, SPANS, TIME,  SPANS,
		     TIME, GAPS, TIME,	SPANS, TIME, GAPS,  SPANS, TIME};

	while (b->cells > NW_BINS_CELLS && b->squeezed < NW_COUNT(steps)) {
		if (steps[b->squeezed] != TIME)
			coarsen(b, (enum nw_series_kind)steps[b->squeezed]);
		else
			b->most /= 2;
		while (b->current >= b->most)
			halve(b);
		b->squeezed++;
	}
}

/* ---- the bin that is not over ------------------------------------------------------- */

/* Writes the cells of a distribution, by bucket, and returns how many. */
static size_t make_run(const struct nw_blocks *sizes, unsigned int bin, unsigned int shift,
		       struct nw_bin_cell *to)
{
	size_t count = 0;

	for (unsigned int i = 0; i < sizes->used; i++) {
		uint16_t bucket = (uint16_t)((sizes->first + i) >> shift);
		if (!sizes->count[i])
			continue;
		if (!count || to[count - 1].bucket != bucket)
			to[count++] = (struct nw_bin_cell){.bin = (uint16_t)bin,
							   .bucket = bucket};
		to[count - 1].count = add_counts(to[count - 1].count, sizes->count[i]);
	}
	return count;
}

/* Removes the cells and the column of the current bin, which exist if nw_bins_update() added them before the bin was
 * over. Returns how many cells there were. */
static size_t take_back(struct nw_bins *b, struct nw_bin_series *s,
			struct nw_bin_column *column, struct nw_bin_cell *to)
{
	size_t first = s->cells.count;

	if (!s->columns.count || s->columns.item[s->columns.count - 1].bin != b->current)
		return 0;
	merge_columns(column, &s->columns.item[--s->columns.count]);
	while (first && s->cells.item[first - 1].bin == b->current)
		first--;
	size_t count = s->cells.count - first;
	if (count)
		memcpy(to, &s->cells.item[first], count * sizeof(*to));
	s->cells.count = first;
	b->cells -= COLUMN + count;
	return count;
}

int nw_bins_add(struct nw_bins *b, enum nw_series_kind kind, uint32_t number,
		uint32_t group, const struct nw_histogram *sizes, uint64_t others)
{
	struct nw_bin_cell now[ALL_BUCKETS], before[ALL_BUCKETS], both[2 * ALL_BUCKETS];
	struct nw_bin_column column = {.bin = (uint16_t)b->current,
				       .others = add_counts(others, 0),
				       .min = sizes->count ? sizes->min : 0,
				       .max = sizes->count ? sizes->max : 0};
	int ret = sizes->failed ? -ENOMEM : 0;
	struct nw_bin_series *s = ret < 0 ? NULL : series_of(b, kind, number, group, &ret);

	if (!s)
		return ret;
	size_t old = take_back(b, s, &column, before);
	size_t count = make_run(&sizes->values, b->current, b->shift[s->kind], now);
	count = merge_runs(before, old, now, count, both);
	for (size_t i = 0; i < count; i++) {
		struct nw_bin_cell *cell = nw_vec_add(&s->cells);
		if (!cell)
			return -ENOMEM;
		*cell = both[i];
	}
	struct nw_bin_column *last = nw_vec_add(&s->columns);
	if (!last)
		return -ENOMEM;
	*last = column;
	b->cells += count + COLUMN;
	return 0;
}

int nw_bins_add_states(struct nw_bins *b, uint32_t span, uint32_t group,
		       const struct nw_histogram *states)
{
	int ret = 0;
	struct nw_bin_series *s = series_of(b, NW_SERIES_SPANS, span, group, &ret);
	struct nw_bin_states now = {.bin = (uint16_t)b->current};

	if (!s || !states[0].count)
		return ret;
	for (size_t i = 0; i < NW_TASK_STATES; i++)
		now.ns[i] = states[i].sum;
	struct nw_bin_states *last = s->states.count ? &s->states.item[s->states.count - 1]
						     : NULL;
	if (last && last->bin == now.bin) {
		merge_states(last, &now);
		return 0;
	}
	last = nw_vec_add(&s->states);
	if (!last)
		return -ENOMEM;
	*last = now;
	b->cells += STATES;
	return 0;
}

/* Adds a row of a summary. "others" are hits without a gap and spans that were not measured. */
static int add_row(void *arg, size_t group, const struct nw_group_row *row)
{
	bool is_span = row->subject == NW_SUBJECT_SPANS;
	const struct nw_histogram *times = nw_row_times(row->subject, row->row);
	int ret = nw_bins_add(
		arg, is_span ? NW_SERIES_SPANS : NW_SERIES_GAPS, row->number,
		(uint32_t)group, times,
		is_span ? nw_row_sum(row->subject, row->row, NW_NUMBER_UNMEASURED)
			: row->probe->hits - times->count);

	return ret == 0 && is_span && row->span->states
		       ? nw_bins_add_states(arg, row->number, (uint32_t)group,
					    row->span->states)
		       : ret;
}

int nw_bins_of_summary(void *summary, struct nw_bins *b)
{
	return nw_summary_next_bin(summary, add_row, b);
}

static int collect(struct nw_bins *b)
{
	return b->options.collect(b->options.collect_arg, b);
}

static nw_cold int advance(struct nw_bins *b, uint64_t time)
{
	int ret = collect(b);

	if (ret < 0)
		return ret;
	squeeze(b);
	uint64_t since = time > b->options.start ? time - b->options.start : 0;
	unsigned int slice = b->current >> b->slice_shift;
	while (since / b->width >= b->most)
		halve(b);
	unsigned int bin = (unsigned int)(since / b->width);
	b->current = bin > b->current ? bin : b->current;
	b->reached = b->reached > b->current ? b->reached : b->current;
	if (b->current >> b->slice_shift != slice)
		nw_slowest_judge(b);
	uint64_t end = b->options.start + (b->current + 1) * b->width;
	b->end = end > b->options.start ? end : UINT64_MAX;
	return 0;
}

int nw_bins_reach(struct nw_bins *b, uint64_t time)
{
	return nw_likely(time < b->end) ? 0 : advance(b, time);
}

/* ---- events ------------------------------------------------------------------------- */

size_t nw_bins_together(const struct nw_bins *b, const struct nw_hit *hits, size_t count)
{
	size_t together = 1;

	if (nw_likely(hits[count - 1].time < b->end))
		return count;
	while (together < count && hits[together].time < b->end)
		together++;
	return together;
}

int nw_bins_span(struct nw_bins *b, const struct nw_span_event *event, uint32_t group)
{
	const struct nw_hit *began = NULL;
	int ret = 0;

	b->has_starts |= event->moment == NW_SPAN_BEGINS;
	if (nw_unlikely(b->has_starts))
		began = nw_span_starts_follow(b->starts, event, NULL);
	if (nw_span_starts_failed(b->starts))
		return -ENOMEM;
	if (event->moment != NW_SPAN_ENDS)
		return 0;
	struct nw_bin_series *s = series_of(b, NW_SERIES_SPANS, event->span, group, &ret);
	if (nw_likely(!s || event->latency <= s->least))
		return ret;
	return nw_slowest_add(b, s, began, event);
}

const uint64_t *nw_bins_least(const struct nw_bins *b)
{
	return b->least;
}

void nw_bins_loss(struct nw_bins *b, uint64_t from, uint64_t until, uint64_t events)
{
	const uint64_t start = b->options.start;

	if (nw_bins_reach(b, from) < 0)
		return;
	/* A loss up to the end of a recording has an unknown end, so only its first bin is marked. */
	uint64_t to = until == UINT64_MAX ? from : nw_max64(from, until);
	while (to > start && (to - start) / b->width >= b->most)
		halve(b);
	uint64_t first = from > start ? (from - start) / b->width : 0;
	uint64_t last = to > start ? (to - start) / b->width : 0;
	b->loss[first].events += events;
	for (uint64_t i = first; i <= last; i++)
		b->loss[i].touched = true;
}

/* ---- results ------------------------------------------------------------------------ */

int nw_bins_update(struct nw_bins *b, uint64_t until)
{
	int ret = nw_bins_reach(b, until);

	if (ret == 0)
		ret = collect(b);
	if (ret == 0)
		squeeze(b);
	return ret;
}

uint64_t nw_bins_start(const struct nw_bins *b)
{
	return b->options.start;
}

uint64_t nw_bins_width(const struct nw_bins *b)
{
	return b->width;
}

unsigned int nw_bins_count(const struct nw_bins *b)
{
	return b->reached + 1;
}

unsigned int nw_bins_shift(const struct nw_bins *b, enum nw_series_kind kind)
{
	return b->shift[kind];
}

const struct nw_bin_series *nw_bins_find(const struct nw_bins *b, enum nw_series_kind kind,
					 uint32_t number, uint32_t group)
{
	return find_series(b, kind, number, group);
}

bool nw_bins_left_out(const struct nw_bins *b)
{
	return b->left_out;
}

const struct nw_bin_loss *nw_bins_losses(const struct nw_bins *b)
{
	return b->loss;
}

/* ---- life --------------------------------------------------------------------------- */

int nw_bins_open(const struct nw_bins_options *options, struct nw_bins **out,
		 struct nw_error *err)
{
	struct nw_bins *b = calloc(1, sizeof(*b));

	if (!b)
		return nw_no_memory(err);
	b->options = *options;
	b->width = FIRST_WIDTH;
	b->most = NW_BINS_MOST;
	b->end = options->start + b->width;
	b->slowest = NW_BINS_SLOWEST;
	while (NW_BINS_MOST >> b->slice_shift > NW_BINS_SLICES)
		b->slice_shift++;
	b->gaps = calloc(options->probes + 1, sizeof(struct nw_bin_series *));
	b->spans = calloc(options->span_count + 1, sizeof(struct nw_bin_series *));
	b->least = calloc(options->span_count + 1, sizeof(*b->least));
	if (!b->gaps || !b->spans || !b->least || nw_span_starts_open(&b->starts) < 0) {
		nw_bins_free(b);
		return nw_no_memory(err);
	}
	*out = b;
	return 0;
}

void nw_bins_free(struct nw_bins *b)
{
	if (!b)
		return;
	nw_vec_each (&b->series, it) {
		nw_vec_free(&(*it)->cells);
		nw_vec_free(&(*it)->columns);
		nw_vec_free(&(*it)->states);
		nw_slowest_free(*it);
		free(*it);
	}
	nw_vec_free(&b->series);
	nw_span_starts_free(b->starts);
	free(b->gaps);
	free(b->spans);
	free(b->least);
	nw_hash_table_free(&b->table);
	free(b);
}
