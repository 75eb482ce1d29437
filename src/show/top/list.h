/* SPDX-License-Identifier: MIT */
/* What of a live view is shown, and in what order. */
#ifndef NOPWATCH_SHOW_TOP_LIST_H
#define NOPWATCH_SHOW_TOP_LIST_H

#include "nopwatch/top.h"

struct nw_top_ranked {
	const struct nw_top_row *row;
	double key;
};

/* Spans first, then probes; each in the order that is asked for. */
typedef NW_VEC(struct nw_top_ranked) nw_top_list;

int nw_top_list_make(const struct nw_top *top, const struct nw_top_view *view,
		     nw_top_list *out); /* -ENOMEM */
/* Which of them is under the cursor: the first, if there is none. */
size_t nw_top_list_cursor(const nw_top_list *list, const struct nw_top_view *view);
/* The numbers of a row that are looked at. */
const struct nw_top_numbers *nw_top_numbers_of(const struct nw_top_view *view,
					       const struct nw_top_row *row);
double nw_top_rate(const struct nw_top *top, const struct nw_top_view *view,
		   const struct nw_top_row *row);

#endif
