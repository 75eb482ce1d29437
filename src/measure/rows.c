// SPDX-License-Identifier: MIT
/* See rows.h. */
#include "rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "histogram.h"
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
	if (!row->args)
		return -ENOMEM;
	for (size_t i = 0; shape->linear[probe] && i < arg_count(shape, probe); i++) {
		const struct nw_linear_shape *linear = shape->linear[probe][i];
		row->args[i].linear = linear ? nw_linear_new(linear) : NULL;
		if (linear && !row->args[i].linear)
			return -ENOMEM;
	}
	return 0;
}

/* Counts a value in equal steps. Numbers beyond INT64_MAX are above every MAX. */
static void add_linear(struct nw_linear *linear, const struct nw_value *value)
{
	if (value->kind == NW_VALUE_SIGNED)
		nw_linear_add(linear, (int64_t)value->number);
	else if (value->kind == NW_VALUE_UNSIGNED || value->kind == NW_VALUE_HEX)
		nw_linear_add(linear, (int64_t)nw_min64(value->number, INT64_MAX));
	else if (value->kind == NW_VALUE_FLOAT && isfinite(value->real) &&
		 fabs(value->real) < 9.2e18)
		nw_linear_add(linear, (int64_t)floor(value->real));
}

void nw_row_add_args(struct nw_probe_row *row, const struct nw_hit *hit)
{
	for (size_t i = 0; i < hit->value_count; i++) {
		const struct nw_value *value = &hit->values[i];
		if (nw_unlikely(row->args[i].linear))
			add_linear(row->args[i].linear, value);
		if (value->kind == NW_VALUE_SIGNED)
			nw_histogram_add_signed(&row->args[i], (int64_t)value->number);
		else if (value->kind == NW_VALUE_UNSIGNED || value->kind == NW_VALUE_HEX)
			nw_histogram_add(&row->args[i], value->number);
		else if (value->kind == NW_VALUE_FLOAT && isfinite(value->real) &&
			 fabs(value->real) < 9.2e18)
			nw_histogram_add_signed(&row->args[i], llround(value->real));
	}
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

/* Adds a zeroed row of this size, which the table must not have yet. */
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

	struct nw_probe_row *row = make_args(rows->shape, &empty, probe) < 0
					   ? NULL
					   : add(&rows->some_probes, probe, sizeof(*row));
	if (row)
		*row = empty;
	else
		nw_row_free(NW_SUBJECT_PROBES, &empty, arg_count(rows->shape, probe));
	return row;
}

/* ---- all of a group ----------------------------------------------------------------- */

/* Finds the arguments of a probe that are counted in equal steps. Returns -ENOMEM on failure. */
static int shape_linear(struct nw_row_shape *shape, size_t number)
{
	const nw_hists *hists = shape->options->hists;
	const struct nw_probe *probe = shape->options->selection->probes.item[number];

	for (size_t i = hists ? hists->count : 0; i-- > 0;) {
		int arg = nw_arg_find(probe, hists->item[i].name);
		if (arg < 0 || (size_t)arg >= shape->args[number] ||
		    !hists->item[i].shape.buckets)
			continue;
		if (!shape->linear[number])
			shape->linear[number] = calloc(shape->args[number],
						       sizeof(**shape->linear));
		if (!shape->linear[number])
			return -ENOMEM;
		shape->linear[number][arg] = &hists->item[i].shape;
	}
	return 0;
}

int nw_row_shape_init(struct nw_row_shape *shape, const struct nw_summary_options *options)
{
	size_t most = 0, probes = options->selection->probes.count;

	*shape = (struct nw_row_shape){
		.options = options,
		.probes = probes,
		.args = calloc(probes + 1, sizeof(size_t)),
		.linear = calloc(probes + 1, sizeof(*shape->linear))};
	if (!shape->args || !shape->linear)
		return -ENOMEM;
	if (options->args == NW_ARGS_NONE)
		return 0;
	for (size_t i = 0; i < probes; i++) {
		const struct nw_probe *probe = options->selection->probes.item[i];
		if (options->args == NW_ARGS_ALL || probe->has_args)
			shape->args[i] = probe->args.count;
		most = probe->args.count > most ? probe->args.count : most;
		if (shape_linear(shape, i) < 0)
			return -ENOMEM;
	}
	shape->no_probe.args = calloc(most + 1, sizeof(struct nw_histogram));
	return shape->no_probe.args ? 0 : -ENOMEM;
}

void nw_row_shape_free(struct nw_row_shape *shape)
{
	for (size_t i = 0; shape->linear && i < shape->probes; i++)
		free(shape->linear[i]);
	free(shape->linear);
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
	if (!rows->probes || !rows->spans) {
		free(rows->probes);
		rows->probes =
			NULL; /* nw_rows_free() must not walk rows that do not exist */
		return -ENOMEM;
	}
	for (size_t i = 0; ret == 0 && i < shape->probes; i++)
		ret = make_args(shape, &rows->probes[i], i);
	return ret;
}

/* Returns how many argument distributions a row has. */
static size_t args_of(const struct nw_group_rows *rows, const struct nw_group_row *row)
{
	return row->subject == NW_SUBJECT_PROBES ? arg_count(rows->shape, row->number) : 0;
}

/* Removes the const of a row from nw_group_next(), if the rows belong to the caller. */
static void *own(const struct nw_group_row *row)
{
	return (void *)(uintptr_t)row->row;
}

void nw_rows_free(struct nw_group_rows *rows)
{
	struct nw_group_row row;
	size_t at = 0;

	while (rows->shape && nw_group_next(rows, &at, &row)) {
		nw_row_free(row.subject, own(&row), args_of(rows, &row));
		if (!rows->probes)
			free(own(&row));
	}
	free(rows->probes);
	free(rows->spans);
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

static struct nw_group_row row_at(enum nw_subject subject, size_t number, const void *row)
{
	return (struct nw_group_row){
		.subject = subject, .number = (uint32_t)number, .row = row};
}

static bool next_plain(const struct nw_group_rows *rows, size_t *at,
		       struct nw_group_row *out)
{
	size_t i = (*at)++, probes = rows->shape->probes;

	if (i >= probes + rows->shape->options->span_count)
		return false;
	*out = i < probes ? row_at(NW_SUBJECT_PROBES, i, &rows->probes[i])
			  : row_at(NW_SUBJECT_SPANS, i - probes, &rows->spans[i - probes]);
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
		*out = row_at(is_span ? NW_SUBJECT_SPANS : NW_SUBJECT_PROBES,
			      table->slot[slot].number, table->slot[slot].row);
		return true;
	}
	return false;
}

int nw_rows_merge(struct nw_group_rows *into, const struct nw_group_rows *from)
{
	struct nw_group_row row;
	size_t at = 0;

	while (nw_group_next(from, &at, &row)) {
		void *sum = row.subject == NW_SUBJECT_SPANS
				    ? (void *)nw_rows_add_span(into, row.number)
				    : nw_rows_add_probe(into, row.number);
		if (!sum)
			return -ENOMEM;
		nw_row_merge(row.subject, sum, row.row, args_of(from, &row));
	}
	return 0;
}

void nw_rows_clear(struct nw_group_rows *rows)
{
	struct nw_group_row row;
	size_t at = 0;

	while (nw_group_next(rows, &at, &row))
		nw_row_clear(row.subject, own(&row), args_of(rows, &row));
}

bool nw_rows_failed(const struct nw_group_rows *rows)
{
	struct nw_group_row row;
	bool failed = false;
	size_t at = 0;

	while (!failed && nw_group_next(rows, &at, &row))
		failed = nw_row_failed(row.subject, row.row, args_of(rows, &row));
	return failed;
}
