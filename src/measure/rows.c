// SPDX-License-Identifier: MIT
/* See rows.h. */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>

#include "measure/sched/sleeps.h"

/* ---- one row ------------------------------------------------------------------------ */

static size_t arg_count(const struct nw_row_shape *shape, size_t probe)
{
	return shape->args[probe];
}

static int make_args(const struct nw_row_shape *shape, struct nw_probe_row *row,
		     size_t probe)
{
	if (!arg_count(shape, probe))
		return 0;
	row->args = calloc(arg_count(shape, probe), sizeof(*row->args));
	return row->args ? 0 : -ENOMEM;
}

static void free_probe(const struct nw_row_shape *shape, struct nw_probe_row *row,
		       size_t probe)
{
	nw_histogram_free(&row->gap);
	for (size_t i = 0; row->args && i < arg_count(shape, probe); i++)
		nw_histogram_free(&row->args[i]);
	free(row->args);
}

static void merge_probe(const struct nw_row_shape *shape, struct nw_probe_row *into,
			const struct nw_probe_row *from, size_t probe)
{
	if (!from->hits) /* which most have not been in most bins */
		return;
	into->hits += from->hits;
	nw_histogram_merge(&into->gap, &from->gap);
	for (size_t i = 0; i < arg_count(shape, probe); i++)
		nw_histogram_merge(&into->args[i], &from->args[i]);
}

static void clear_probe(const struct nw_row_shape *shape, struct nw_probe_row *row,
			size_t probe)
{
	if (!row->hits)
		return;
	row->hits = 0;
	nw_histogram_clear(&row->gap);
	for (size_t i = 0; i < arg_count(shape, probe); i++)
		nw_histogram_clear(&row->args[i]);
}

bool nw_span_row_has(const struct nw_span_row *row)
{
	return row->latency.count || row->unmatched_starts || row->unmatched_ends ||
	       row->discarded || row->abandoned || row->omitted || row->repeated;
}

void nw_span_row_merge(struct nw_span_row *into, const struct nw_span_row *from)
{
	if (!nw_span_row_has(from))
		return;
	nw_histogram_merge(&into->latency, &from->latency);
	into->unmatched_starts += from->unmatched_starts;
	into->unmatched_ends += from->unmatched_ends;
	into->discarded += from->discarded;
	into->abandoned += from->abandoned;
	into->nested += from->nested;
	into->omitted += from->omitted;
	into->repeated += from->repeated;
	into->unsplit += from->unsplit;
	if (from->states && !into->states)
		into->states = calloc(NW_TASK_STATES, sizeof(*into->states));
	for (size_t i = 0; from->states && into->states && i < NW_TASK_STATES; i++)
		nw_histogram_merge(&into->states[i], &from->states[i]);
	into->latency.failed |= from->states && !into->states;
	into->clamped += from->clamped;
	if (from->cost && !into->cost)
		into->cost = calloc(1, sizeof(*into->cost));
	if (from->cost && into->cost)
		nw_histogram_merge(into->cost, from->cost);
	into->latency.failed |= from->cost && !into->cost;
	into->latency.failed |= !nw_sleeps_merge(&into->wakers, from->wakers) ||
				!nw_sleeps_merge(&into->channels, from->channels);
}

void nw_span_row_free(struct nw_span_row *row)
{
	nw_histogram_free(&row->latency);
	for (size_t i = 0; row->states && i < NW_TASK_STATES; i++)
		nw_histogram_free(&row->states[i]);
	free(row->states);
	row->states = NULL;
	if (row->cost)
		nw_histogram_free(row->cost);
	free(row->cost);
	row->cost = NULL;
	free(row->wakers);
	free(row->channels);
	row->wakers = row->channels = NULL;
}

static void clear_span(struct nw_span_row *row)
{
	struct nw_span_row empty = {.latency = row->latency,
				    .states = row->states,
				    .wakers = row->wakers,
				    .channels = row->channels};

	if (!nw_span_row_has(row))
		return;
	nw_histogram_clear(&empty.latency);
	for (size_t i = 0; empty.states && i < NW_TASK_STATES; i++)
		nw_histogram_clear(&empty.states[i]);
	empty.cost = row->cost;
	if (empty.cost)
		nw_histogram_clear(empty.cost);
	if (empty.wakers)
		empty.wakers->count = 0;
	if (empty.channels)
		empty.channels->count = 0;
	*row = empty;
}

static bool probe_failed(const struct nw_row_shape *shape, const struct nw_probe_row *row,
			 size_t probe)
{
	bool failed = row->gap.failed;

	for (size_t i = 0; row->args && i < arg_count(shape, probe); i++)
		failed |= row->args[i].failed;
	return failed;
}

static bool span_failed(const struct nw_span_row *row)
{
	bool failed = row->latency.failed || (row->cost && row->cost->failed);

	for (size_t i = 0; row->states && i < NW_TASK_STATES; i++)
		failed |= row->states[i].failed;
	return failed;
}

/* ---- tables ------------------------------------------------------------------------- */

enum {
	LEAST_BITS = 3
};

static int grow(struct nw_row_table *table)
{
	unsigned int shift = table->slots ? table->shift - 1 : 32 - LEAST_BITS;
	struct nw_row_table larger = {
		.slots = (size_t)1 << (32 - shift), .used = table->used, .shift = shift};

	larger.slot = calloc(larger.slots, sizeof(*larger.slot));
	if (!larger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < table->slots; i++)
		if (table->slot[i].row)
			larger.slot[nw_row_slot(&larger, table->slot[i].number)] =
				table->slot[i];
	free(table->slot);
	*table = larger;
	return 0;
}

/* A new row of that many bytes, all zero, which is not there yet. */
static void *add(struct nw_row_table *table, uint32_t number, size_t size)
{
	void *row = table->used * 2 < table->slots || grow(table) == 0 ? calloc(1, size)
								       : NULL;
	if (!row)
		return NULL;
	size_t at = nw_row_slot(table, number);
	table->slot[at].number = number;
	table->slot[at].row = row;
	table->used++;
	return row;
}

static struct nw_probe_row *add_some_probe(struct nw_group_rows *rows, uint32_t probe)
{
	struct nw_probe_row empty = {0};

	if (make_args(rows->shape, &empty, probe) < 0)
		return NULL;
	struct nw_probe_row *row = add(&rows->some_probes, probe, sizeof(*row));
	if (row)
		*row = empty;
	else
		free(empty.args);
	return row;
}

/* ---- all of a group ----------------------------------------------------------------- */

int nw_row_shape_init(struct nw_row_shape *shape, const struct nw_summary_options *options)
{
	size_t most = 0, probes = options->selection->probes.count;

	*shape = (struct nw_row_shape){.options = options,
				       .probes = probes,
				       .args = calloc(probes + 1, sizeof(size_t))};
	if (!shape->args)
		return -ENOMEM;
	if (options->args == NW_ARGS_NONE)
		return 0;
	for (size_t i = 0; i < probes; i++) {
		const struct nw_probe *probe = options->selection->probes.item[i];
		if (options->args == NW_ARGS_ALL || probe->has_args)
			shape->args[i] = probe->args.count;
		most = probe->args.count > most ? probe->args.count : most;
	}
	shape->no_probe.args = calloc(most + 1, sizeof(struct nw_histogram));
	return shape->no_probe.args ? 0 : -ENOMEM;
}

void nw_row_shape_free(struct nw_row_shape *shape)
{
	free(shape->no_probe.args);
	free(shape->args);
}

int nw_rows_init(struct nw_group_rows *rows, const struct nw_row_shape *shape)
{
	int ret = 0;

	*rows = (struct nw_group_rows){.shape = shape};
	if (shape->options->grouped)
		return 0;
	rows->probes = calloc(shape->probes + 1, sizeof(*rows->probes));
	rows->spans = calloc(shape->options->span_count + 1, sizeof(*rows->spans));
	if (!rows->probes || !rows->spans)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < shape->probes; i++)
		ret = make_args(shape, &rows->probes[i], i);
	return ret;
}

void nw_rows_free(struct nw_group_rows *rows)
{
	for (size_t i = 0; rows->probes && i < rows->shape->probes; i++)
		free_probe(rows->shape, &rows->probes[i], i);
	for (size_t i = 0; rows->spans && i < rows->shape->options->span_count; i++)
		nw_span_row_free(&rows->spans[i]);
	free(rows->probes);
	free(rows->spans);
	for (size_t i = 0; i < rows->some_probes.slots; i++) {
		struct nw_probe_row *row = rows->some_probes.slot[i].row;
		if (row)
			free_probe(rows->shape, row, rows->some_probes.slot[i].number);
		free(row);
	}
	for (size_t i = 0; i < rows->some_spans.slots; i++) {
		struct nw_span_row *row = rows->some_spans.slot[i].row;
		if (row)
			nw_span_row_free(row);
		free(row);
	}
	free(rows->some_probes.slot);
	free(rows->some_spans.slot);
	*rows = (struct nw_group_rows){0};
}

struct nw_probe_row *nw_rows_add_probe(struct nw_group_rows *rows, uint32_t probe)
{
	if (rows->probes)
		return &rows->probes[probe];
	struct nw_probe_row *row = nw_row_find(&rows->some_probes, probe);
	return row ? row : add_some_probe(rows, probe);
}

struct nw_span_row *nw_rows_add_span(struct nw_group_rows *rows, uint32_t span)
{
	if (rows->spans)
		return &rows->spans[span];
	struct nw_span_row *row = nw_row_find(&rows->some_spans, span);
	return row ? row : add(&rows->some_spans, span, sizeof(*row));
}

const struct nw_probe_row *nw_group_probe(const struct nw_group_rows *rows, size_t probe)
{
	if (rows->probes)
		return &rows->probes[probe];
	const struct nw_probe_row *row = nw_row_find(&rows->some_probes, (uint32_t)probe);
	return row ? row : &rows->shape->no_probe;
}

const struct nw_span_row *nw_group_span(const struct nw_group_rows *rows, size_t span)
{
	if (rows->spans)
		return &rows->spans[span];
	const struct nw_span_row *row = nw_row_find(&rows->some_spans, (uint32_t)span);
	return row ? row : &rows->shape->no_span;
}

size_t nw_group_row_count(const struct nw_group_rows *rows)
{
	return rows->probes ? rows->shape->probes + rows->shape->options->span_count
			    : rows->some_probes.used + rows->some_spans.used;
}

static struct nw_group_row probe_at(uint32_t number, const struct nw_probe_row *row)
{
	return (struct nw_group_row){.number = number, .probe = row};
}

static struct nw_group_row span_at(uint32_t number, const struct nw_span_row *row)
{
	return (struct nw_group_row){.is_span = true, .number = number, .span = row};
}

static bool next_plain(const struct nw_group_rows *rows, size_t *at,
		       struct nw_group_row *out)
{
	size_t i = (*at)++, probes = rows->shape->probes;

	if (i >= probes + rows->shape->options->span_count)
		return false;
	*out = i < probes ? probe_at((uint32_t)i, &rows->probes[i])
			  : span_at((uint32_t)(i - probes), &rows->spans[i - probes]);
	return true;
}

bool nw_group_next(const struct nw_group_rows *rows, size_t *at, struct nw_group_row *out)
{
	if (rows->probes)
		return next_plain(rows, at, out);
	size_t probes = rows->some_probes.slots;
	for (size_t i = *at; i < probes + rows->some_spans.slots; i++) {
		bool is_span = i >= probes;
		const struct nw_row_table *table = is_span ? &rows->some_spans
							   : &rows->some_probes;
		size_t slot = is_span ? i - probes : i;
		if (!table->slot[slot].row)
			continue;
		*at = i + 1;
		*out = is_span ? span_at(table->slot[slot].number, table->slot[slot].row)
			       : probe_at(table->slot[slot].number, table->slot[slot].row);
		return true;
	}
	return false;
}

static int merge_some(struct nw_group_rows *into, const struct nw_group_rows *from)
{
	for (size_t i = 0; i < from->some_probes.slots; i++) {
		const struct nw_probe_row *row = from->some_probes.slot[i].row;
		uint32_t probe = from->some_probes.slot[i].number;
		struct nw_probe_row *sum = row ? nw_rows_add_probe(into, probe) : NULL;
		if (row && !sum)
			return -ENOMEM;
		if (row)
			merge_probe(from->shape, sum, row, probe);
	}
	for (size_t i = 0; i < from->some_spans.slots; i++) {
		const struct nw_span_row *row = from->some_spans.slot[i].row;
		struct nw_span_row *sum = row ? nw_rows_add_span(
							into,
							from->some_spans.slot[i].number)
					      : NULL;
		if (row && !sum)
			return -ENOMEM;
		if (row)
			nw_span_row_merge(sum, row);
	}
	return 0;
}

int nw_rows_merge(struct nw_group_rows *into, const struct nw_group_rows *from)
{
	for (size_t i = 0; from->probes && i < from->shape->probes; i++)
		merge_probe(from->shape, &into->probes[i], &from->probes[i], i);
	for (size_t i = 0; from->spans && i < from->shape->options->span_count; i++)
		nw_span_row_merge(&into->spans[i], &from->spans[i]);
	return merge_some(into, from);
}

void nw_rows_clear(struct nw_group_rows *rows)
{
	const struct nw_row_shape *shape = rows->shape;

	for (size_t i = 0; rows->probes && i < shape->probes; i++)
		clear_probe(shape, &rows->probes[i], i);
	for (size_t i = 0; rows->spans && i < shape->options->span_count; i++)
		clear_span(&rows->spans[i]);
	for (size_t i = 0; i < rows->some_probes.slots; i++)
		if (rows->some_probes.slot[i].row)
			clear_probe(shape, rows->some_probes.slot[i].row,
				    rows->some_probes.slot[i].number);
	for (size_t i = 0; i < rows->some_spans.slots; i++)
		if (rows->some_spans.slot[i].row)
			clear_span(rows->some_spans.slot[i].row);
}

bool nw_rows_failed(const struct nw_group_rows *rows)
{
	struct nw_group_row row;
	bool failed = false;
	size_t at = 0;

	while (!failed && nw_group_next(rows, &at, &row))
		failed = row.is_span ? span_failed(row.span)
				     : probe_failed(rows->shape, row.probe, row.number);
	return failed;
}
