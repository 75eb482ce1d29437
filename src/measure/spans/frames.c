// SPDX-License-Identifier: MIT
/*
 * Decides which spans of USDT probes are paired by frames.
 *
 * PostgreSQL's query__start and query__done are in one function, and when a statement fails, longjmp() leaves that
 * function before query__done. The next query__done ends the span of its own call, and not the one of the failed
 * call: so it must be known to which call a hit belongs. If a span begins in one function and ends in another, frames
 * tell nothing, and it is paired by order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/spans/spans.h"
#include "pairs.h"

typedef NW_VEC(uint64_t) functions;

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Finds the functions that contain these probes, sorted and without duplicates. Returns 0 if not all are known, or if
 * the probes are not USDT probes; else 1, or -ENOMEM. */
static int find_functions(const struct nw_selection *selection, const nw_vec_u32 *probes,
			  functions *out)
{
	size_t kept = 0;

	nw_vec_each (probes, number) {
		const struct nw_probe *probe = selection->probes.item[*number];
		nw_vec_each (&probe->points, point) {
			if (!point->frame.function || probe->kind != NW_SPEC_USDT)
				return 0;
			uint64_t *slot = nw_vec_add(out);
			if (!slot)
				return -ENOMEM;
			*slot = point->frame.function;
		}
	}
	if (!out->count)
		return 0;
	qsort(out->item, out->count, sizeof(*out->item), by_number);
	for (size_t i = 0; i < out->count; i++)
		if (i == 0 || out->item[i] != out->item[i - 1])
			out->item[kept++] = out->item[i];
	out->count = kept;
	return 1;
}

/* May the span be framed, as far as its definition tells? */
static bool may_be_framed(const struct nw_selection *selection,
			  const struct nw_span_def *def)
{
	if (!def->named || def->call || def->flat || def->outer || def->key != NW_KEY_TID ||
	    *def->end_key_name)
		return false;
	const struct nw_image *image = selection->probes.item[def->starts.item[0]]->image;
	/* Addresses of functions can only be compared within one image. */
	nw_vec_each (&def->starts, number)
		if (selection->probes.item[*number]->image != image)
			return false;
	nw_vec_each (&def->ends, number)
		if (selection->probes.item[*number]->image != image)
			return false;
	return true;
}

int nw_span_is_framed(const struct nw_selection *selection, const struct nw_span_def *def)
{
	functions starts = {0}, ends = {0};
	int framed = may_be_framed(selection, def);

	if (framed > 0)
		framed = find_functions(selection, &def->starts, &starts);
	if (framed > 0)
		framed = find_functions(selection, &def->ends, &ends);
	if (framed > 0)
		framed = starts.count == ends.count &&
			 memcmp(starts.item, ends.item,
				starts.count * sizeof(*starts.item)) == 0;

	nw_vec_free(&starts);
	nw_vec_free(&ends);
	return framed;
}

static void mark(const nw_vec_u32 *probes, bool *wanted)
{
	nw_vec_each (probes, number)
		wanted[*number] = true;
}

int nw_spans_find_frames(struct nw_selection *selection, const nw_span_defs *defs,
			 struct nw_error *err)
{
	size_t count = selection->probes.count;
	bool *wanted = calloc(count + 1, sizeof(*wanted));

	if (!wanted)
		return nw_no_memory(err);
	nw_vec_each (defs, def)
		if (may_be_framed(selection, def)) {
			mark(&def->starts, wanted);
			mark(&def->ends, wanted);
		}
	int ret = nw_selection_frames(selection, wanted, err);
	memset(wanted, 0, count * sizeof(*wanted));
	nw_vec_each (defs, def) {
		int framed = ret == 0 ? nw_span_is_framed(selection, def) : 0;
		ret = framed < 0 ? nw_no_memory(err) : ret;
		if (framed > 0) {
			mark(&def->starts, wanted);
			mark(&def->ends, wanted);
		}
	}
	for (size_t i = 0; ret == 0 && i < count; i++)
		if (!wanted[i])
			nw_vec_each (&selection->probes.item[i]->points, point)
				point->frame = (struct nw_frame){0};
	free(wanted);
	return ret;
}
