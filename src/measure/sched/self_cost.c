// SPDX-License-Identifier: MIT
/*
 * Keeps a sum of the cost of all hits for each thread. The timestamp of a hit is taken somewhere inside of its cost,
 * so the sum at that moment includes only the first part of it. The second part comes behind the timestamp: it is
 * inside a span that the hit starts, and outside of one that it ends. Hits in between are inside with both parts,
 * whichever probe and span they belong to, so an outer span includes the cost of its inner spans. Each goroutine has
 * such a sum, too.
 */
#include "self_cost.h"

#include <errno.h>
#include <stdlib.h>

/* If two threads had the same number one after the other, the sum of the later one is the smaller one, however much
 * its hits cost. So the difference is never taken for the cost of one thread's hits. */
static const uint64_t FIRST_SUM = (uint64_t)1 << 62, SUM_ROOM = (uint64_t)1 << 40;

int nw_self_cost_open(const struct nw_hit_cost *cost, struct nw_self_cost **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->cost = cost;
	(*out)->next_sum = FIRST_SUM;
	for (size_t i = 0; i < NW_RECENT_COSTS; i++)
		(*out)->recent[i].tid = NW_NO_THREAD;
	return 0;
}

void nw_self_cost_free(struct nw_self_cost *self)
{
	if (!self)
		return;
	nw_hash_map_free(&self->threads);
	nw_hash_map_free(&self->goroutines);
	free(self);
}

/* Returns NULL if there is no room. */
static uint64_t *sum_of(struct nw_self_cost *self, struct nw_hash_map *map,
			struct nw_map_key key)
{
	uint64_t *sum = nw_hash_map_find(map, key);

	if (sum || map->entries.count >= NW_MOST_STARTS)
		return sum;
	sum = malloc(sizeof(*sum));
	if (!sum)
		return NULL;
	*sum = self->next_sum;
	self->next_sum -= nw_min64(self->next_sum, SUM_ROOM);
	return nw_hash_map_put(map, key, sum) < 0 ? NULL : sum;
}

uint64_t *nw_self_cost_sum(struct nw_self_cost *self, int32_t tid)
{
	size_t at = (uint32_t)tid % NW_RECENT_COSTS;

	uint64_t *sum = sum_of(self, &self->threads, nw_map_key_of_thread(tid));

	self->recent[at].tid = sum ? tid : NW_NO_THREAD;
	return self->recent[at].sum = sum;
}

uint64_t nw_self_cost_goroutine_hit(struct nw_self_cost *self, const struct nw_hit *hit,
				    int32_t pid)
{
	const struct nw_map_key key = {.time = hit->goroutine, .key = (uint32_t)pid};
	const struct nw_hit_cost *cost = &self->cost[hit->probe];

	/* The ends of goroutines are not reported. When the table is full, living goroutines get new sums. */
	if (self->goroutines.entries.count >= NW_MOST_STARTS)
		nw_hash_map_free(&self->goroutines);
	uint64_t *sum = sum_of(self, &self->goroutines, key);
	if (!sum)
		return 0;
	uint64_t spent = *sum + cost->before;
	*sum = spent + cost->after;
	return spent;
}

void nw_self_cost_exit(struct nw_self_cost *self, int32_t tid)
{
	free(nw_hash_map_take(&self->threads, nw_map_key_of_thread(tid)));
	self->recent[(uint32_t)tid % NW_RECENT_COSTS].tid = NW_NO_THREAD;
}
