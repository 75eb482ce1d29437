// SPDX-License-Identifier: MIT
/*
 * Each thread has a sum of what its hits have cost. A hit's time is taken somewhere inside of it, so the sum at
 * that moment has its first part only, and its second one is behind it: inside a span that it starts, outside of
 * one that it ends. Hits in between are inside with both, whichever probe and span they belong to; so an outer
 * span has its inner ones', too.
 */
#include "self_cost.h"

#include <errno.h>
#include <stdlib.h>

#include "hash_map.h"

struct nw_self_cost {
	const struct nw_hit_cost *cost;
	struct nw_hash_map threads; /* uint64_t: the sum */
	int32_t last;		    /* the thread of the last hit, */
	uint64_t *last_sum;	    /* and its sum; NULL: there was none, or it has gone */
};

int nw_self_cost_open(const struct nw_hit_cost *cost, struct nw_self_cost **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->cost = cost;
	return 0;
}

void nw_self_cost_free(struct nw_self_cost *self)
{
	if (!self)
		return;
	nw_hash_map_free(&self->threads);
	free(self);
}

/* NULL: there is no room for it. */
static nw_apart uint64_t *find_sum(struct nw_self_cost *self, int32_t tid)
{
	uint64_t *sum = nw_hash_map_find(&self->threads, nw_map_key_of_thread(tid));

	if (!sum && self->threads.count < NW_MOST_STARTS) {
		sum = calloc(1, sizeof(*sum));
		if (sum &&
		    nw_hash_map_put(&self->threads, nw_map_key_of_thread(tid), sum) < 0)
			sum = NULL;
	}
	self->last = tid;
	self->last_sum = sum;
	return sum;
}

uint64_t nw_self_cost_hit(struct nw_self_cost *self, const struct nw_hit *hit)
{
	const struct nw_hit_cost *cost = &self->cost[hit->probe];
	uint64_t *sum = nw_likely(self->last_sum && self->last == hit->tid)
				? self->last_sum
				: find_sum(self, hit->tid);

	if (nw_unlikely(!sum))
		return 0;
	uint64_t at = *sum + cost->before;
	*sum = at + cost->after;
	return at;
}

void nw_self_cost_exit(struct nw_self_cost *self, int32_t tid)
{
	free(nw_hash_map_take(&self->threads, nw_map_key_of_thread(tid)));
	self->last_sum = NULL;
}
