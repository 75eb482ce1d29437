// SPDX-License-Identifier: MIT
/*
 * Each thread has a sum of what its hits have cost. A hit's time is taken somewhere inside of it: what
 * comes behind that of the start, and in front of that of the end, is inside the span, which is one hit
 * together; and so are those in between, whichever probe and span they belong to. That is the sum at
 * the end, with the end, less the sum at the start, with the start; so an outer span has its inner ones'.
 */
#include "self_cost.h"

#include <errno.h>
#include <stdlib.h>

#include "hash_map.h"

struct mark {
	int32_t tid;
	uint64_t spent;
};

struct nw_self_cost {
	const uint64_t *cost;
	struct nw_hash_map threads; /* uint64_t: the sum */
	struct nw_hash_map marks;
};

int nw_self_cost_open(const uint64_t *cost, struct nw_self_cost **out)
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
	nw_hash_map_free(&self->marks);
	free(self);
}

static struct nw_map_key id_of(int32_t tid)
{
	return (struct nw_map_key){.time = (uint32_t)tid};
}

/* NULL: there is no room for it. */
static uint64_t *sum_of(struct nw_self_cost *self, int32_t tid)
{
	uint64_t *sum = nw_hash_map_find(&self->threads, id_of(tid));

	if (sum || self->threads.count >= NW_MOST_STARTS)
		return sum;
	sum = calloc(1, sizeof(*sum));
	return sum && nw_hash_map_put(&self->threads, id_of(tid), sum) == 0 ? sum : NULL;
}

void nw_self_cost_hit(struct nw_self_cost *self, const struct nw_hit *hit)
{
	uint64_t *sum = self->cost[hit->probe] ? sum_of(self, hit->tid) : NULL;

	if (sum)
		*sum += self->cost[hit->probe];
}

void nw_self_cost_exit(struct nw_self_cost *self, int32_t tid)
{
	free(nw_hash_map_take(&self->threads, id_of(tid)));
}

static void begin(struct nw_self_cost *self, const struct nw_span_event *event)
{
	const uint64_t *sum = sum_of(self, event->hit->tid);
	struct mark *mark = sum && self->marks.count < NW_MOST_STARTS
				    ? malloc(sizeof(*mark))
				    : NULL;

	if (!mark)
		return;
	*mark = (struct mark){.tid = event->hit->tid, .spent = *sum};
	nw_hash_map_put(&self->marks, nw_map_key_of_span(event), mark);
}

bool nw_self_cost_span(struct nw_self_cost *self, const struct nw_span_event *event,
		       uint64_t *ns)
{
	if (event->moment == NW_SPAN_BEGINS)
		begin(self, event);
	if (event->moment == NW_SPAN_BEGINS || event->moment == NW_SPAN_ENDS_NOTHING)
		return false;
	nw_cleanup(nw_free_ptr) struct mark *mark = nw_hash_map_take(&self->marks,
								 nw_map_key_of_span(event));
	if (event->moment != NW_SPAN_ENDS || !mark)
		return false;
	const uint64_t *sum = sum_of(self, event->hit->tid);
	if (mark->tid == event->hit->tid && sum && *sum >= mark->spent)
		*ns = *sum - mark->spent;
	else /* of another thread only what is known: the halves of its start and its end */
		*ns = self->cost[event->hit->probe];
	return true;
}
