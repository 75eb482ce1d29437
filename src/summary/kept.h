/* SPDX-License-Identifier: MIT */
/*
 * Something that is kept for each open span, until it ends: by the span and when it began, which is all
 * that is always known of it. A chained table; what is kept is memory for free(). (starts.c keeps hits in
 * a table of its own, which allocates nothing for most of them.)
 */
#ifndef NOPWATCH_SUMMARY_KEPT_H
#define NOPWATCH_SUMMARY_KEPT_H

#include "nopwatch/summary.h"

struct nw_kept_id {
	uint32_t span;
	uint64_t time;
	uint64_t key; /* 0: not known, any */
};

struct nw_kept_item;

struct nw_kept {
	struct nw_kept_item **slot;
	size_t slots, count;
};

/* Of what a span's event says. */
struct nw_kept_id nw_kept_id_of(const struct nw_span_event *event);
/* what is the table's from now on, whatever comes of it. -ENOMEM. */
int nw_kept_put(struct nw_kept *kept, struct nw_kept_id id, void *what);
/* NULL: there is none. */
void *nw_kept_find(const struct nw_kept *kept, struct nw_kept_id id);
/* The same, and it is the caller's to free. */
void *nw_kept_take(struct nw_kept *kept, struct nw_kept_id id);
void nw_kept_free(struct nw_kept *kept);

#endif
