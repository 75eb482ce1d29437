/* SPDX-License-Identifier: MIT */
/* Which rows of a live view are shown, and in what order. */
#ifndef NOPWATCH_SHOW_TOP_LIST_H
#define NOPWATCH_SHOW_TOP_LIST_H

#include "show/top/top.h"

struct nw_top_ranked {
	const struct nw_top_row *row;
	double key;
};

/* Rows: spans first, then probes, each in the order that the user chose. */
typedef NW_VEC(struct nw_top_ranked) nw_top_list;

int nw_top_list_make(const struct nw_top *top, const struct nw_top_view *view,
		     nw_top_list *out); /* -ENOMEM */
/* Returns the number of the row under the cursor; the first, if the cursor's row is not in the list. */
size_t nw_top_list_cursor(const nw_top_list *list, const struct nw_top_view *view);
/* Returns the numbers of a row that the view shows: of the interval, or of the whole run. */
const struct nw_top_numbers *nw_top_numbers_of(const struct nw_top_view *view,
					       const struct nw_top_row *row);
double nw_top_rate(const struct nw_top *top, const struct nw_top_view *view,
		   const struct nw_top_row *row);

#endif
