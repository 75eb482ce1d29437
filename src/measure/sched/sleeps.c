// SPDX-License-Identifier: MIT
/* Tables of sleeps by waker and by wait channel, of limited size, in the order of their first sleep. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sleeps.h"

/* Returns the entry of a key, made if there is room; otherwise the entry NW_SLEEP_OTHERS. */
static struct nw_sleep *find(struct nw_sleeps *sleeps, const struct nw_sleep *like)
{
	size_t named = nw_min64(sleeps->count, NW_MOST_SLEEPS - 1);
	struct nw_sleep *others = &sleeps->item[NW_MOST_SLEEPS - 1];

	for (size_t i = 0; i < named && like->key != NW_SLEEP_OTHERS; i++)
		if (sleeps->item[i].key == like->key)
			return &sleeps->item[i];
	if (like->key != NW_SLEEP_OTHERS && named < NW_MOST_SLEEPS - 1) {
		struct nw_sleep *slot = &sleeps->item[sleeps->count++];
		*slot = *like;
		slot->ns = slot->count = 0;
		return slot;
	}
	if (sleeps->count == NW_MOST_SLEEPS)
		return others;
	/* Merging may add the entry NW_SLEEP_OTHERS before the table is full. */
	for (size_t i = 0; i < named; i++)
		if (sleeps->item[i].key == NW_SLEEP_OTHERS)
			return &sleeps->item[i];
	struct nw_sleep *slot = &sleeps->item[sleeps->count++];
	*slot = (struct nw_sleep){.key = NW_SLEEP_OTHERS};
	return slot;
}

void nw_sleeps_add(struct nw_sleeps *sleeps, const struct nw_sleep *more)
{
	struct nw_sleep *to = find(sleeps, more);

	to->ns += more->ns;
	to->count += more->count;
}

bool nw_sleeps_merge(struct nw_sleeps **into, const struct nw_sleeps *from)
{
	if (!from || !from->count)
		return true;
	if (!*into)
		*into = calloc(1, sizeof(**into));
	for (size_t i = 0; *into && i < from->count; i++)
		nw_sleeps_add(*into, &from->item[i]);
	return *into;
}

static int longest_first(const void *a, const void *b)
{
	const struct nw_sleep *x = a, *y = b;
	bool x_others = x->key == NW_SLEEP_OTHERS, y_others = y->key == NW_SLEEP_OTHERS;

	if (x_others != y_others)
		return x_others - y_others;
	return (x->ns < y->ns) - (x->ns > y->ns);
}

void nw_sleeps_sort(struct nw_sleeps *sleeps)
{
	qsort(sleeps->item, sleeps->count, sizeof(*sleeps->item), longest_first);
}

void nw_sleep_text(const struct nw_sleep *sleep, struct nw_buf *out)
{
	if (sleep->function) {
		nw_buf_add_escaped(out, sleep->function, strlen(sleep->function));
	} else if (sleep->key == NW_WAKER_INTERRUPT) {
		nw_buf_adds(out, "(interrupt)");
	} else if (sleep->key == NW_WAKER_UNKNOWN) {
		nw_buf_adds(out, "(not told)");
	} else if (sleep->key == NW_SLEEP_OTHERS) {
		nw_buf_adds(out, "(others)");
	} else {
		nw_buf_add_escaped(out, sleep->comm, strnlen(sleep->comm, 16));
		nw_buf_printf(out, "/%" PRIu64, sleep->key);
	}
}
