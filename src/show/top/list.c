// SPDX-License-Identifier: MIT
/* See list.h. */
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct nw_top_numbers *nw_top_numbers_of(const struct nw_top_view *view,
					       const struct nw_top_row *row)
{
	return view->interval ? &row->last : &row->total;
}

double nw_top_rate(const struct nw_top *top, const struct nw_top_view *view,
		   const struct nw_top_row *row)
{
	uint64_t from = view->interval ? top->start : top->began;

	return top->end > from ? (double)nw_top_numbers_of(view, row)->count * 1e9 /
					 (double)(top->end - from)
			       : 0;
}

/* ---- order -------------------------------------------------------------------------- */

static double key_of(const struct nw_top_view *view, const struct nw_top_row *row)
{
	const struct nw_top_numbers *of = nw_top_numbers_of(view, row);
	const struct nw_histogram *times = &of->times;

	switch (view->sort) {
	case NW_SORT_HITS:
	case NW_SORT_RATE:
		return (double)of->count;
	case NW_SORT_MEAN:
		return times->count ? nw_histogram_mean(times) : -1;
	case NW_SORT_P50:
		return times->count ? (double)nw_histogram_percentile(times, 0.5) : -1;
	case NW_SORT_P99:
		return times->count ? (double)nw_histogram_percentile(times, 0.99) : -1;
	case NW_SORT_MAX:
		return times->count ? (double)times->max : -1;
	case NW_SORT_NAME:
		return 0;
	default: /* the gaps of a probe add up to nothing but the time it was watched */
		return row->is_span ? (double)times->sum : (double)of->count;
	}
}

/* Compares two rows: spans before probes, the largest first, then by name, so that rows keep their places. */
static int compare(const void *one, const void *other)
{
	const struct nw_top_ranked *a = one, *b = other;
	int order;

	if (a->row->is_span != b->row->is_span)
		return a->row->is_span ? -1 : 1;
	if (a->key < b->key || a->key > b->key)
		return a->key < b->key ? 1 : -1;
	order = strcmp(a->row->name, b->row->name);
	if (!order)
		order = strcmp(a->row->group_name, b->row->group_name);
	return order ? order : a->row->index < b->row->index ? -1 : 1;
}

/* A part of the name is enough, a glob must fit all of it. */
static bool name_matches(const char *filter, const char *text)
{
	return nw_has_glob(filter) ? nw_glob_match(filter, text)
				   : strstr(text, filter) != NULL;
}

int nw_top_list_make(const struct nw_top *top, const struct nw_top_view *view,
		     nw_top_list *out)
{
	nw_vec_each (&top->rows, row) {
		if (*view->filter && !name_matches(view->filter, (*row)->name) &&
		    !name_matches(view->filter, (*row)->group_name))
			continue;
		struct nw_top_ranked *ranked = nw_vec_add(out);
		if (!ranked)
			return -ENOMEM;
		*ranked = (struct nw_top_ranked){*row, key_of(view, *row)};
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), compare);
	return 0;
}

size_t nw_top_list_cursor(const nw_top_list *list, const struct nw_top_view *view)
{
	for (size_t i = 0; view->has_cursor && i < list->count; i++) {
		const struct nw_top_row *row = list->item[i].row;
		if (row->is_span == view->cursor_is_span &&
		    row->index == view->cursor_index && row->group == view->cursor_group)
			return i;
	}
	return 0;
}
