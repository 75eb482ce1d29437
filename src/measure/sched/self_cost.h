/* SPDX-License-Identifier: MIT */
/* The probe overhead in each thread's time, for the summary. */
#ifndef NOPWATCH_MEASURE_SCHED_SELF_COST_H
#define NOPWATCH_MEASURE_SCHED_SELF_COST_H

#include "find/probe/probe.h"
#include "measure/spans/hash_map.h"

enum {
	NW_RECENT_COSTS = 16, /* a power of two */
	NW_NO_THREAD = INT32_MIN
};

struct nw_self_cost {
	const struct nw_hit_cost *cost;
	struct nw_hash_map threads; /* values are uint64_t: the sum of a thread */
	/* The same for goroutines, of hits of Go functions */
	struct nw_hash_map goroutines;
	uint64_t next_sum; /* the first value of the next thread's sum */
	struct {
		uint64_t *sum;
		int32_t tid;	   /* NW_NO_THREAD: the entry is free */
	} recent[NW_RECENT_COSTS]; /* by the low bits of the thread's number */
};

/* cost: of a hit, by probe; it stays the caller's. Returns -ENOMEM on failure. */
int nw_self_cost_open(const struct nw_hit_cost *cost, struct nw_self_cost **out);
void nw_self_cost_free(struct nw_self_cost *self);
/* Returns the sum of a thread and notes it as recent; NULL: there is no room. */
uint64_t *nw_self_cost_sum(struct nw_self_cost *self, int32_t tid);
/* Takes a hit of any span or none, whose thread is `tid` (nw_hit_thread()). Returns the cost of all hits of that thread up to
 * the hit's timestamp: the difference between two hits is the probe overhead in the time between them. */
static inline uint64_t nw_self_cost_hit(struct nw_self_cost *self, const struct nw_hit *hit,
					int32_t tid)
{
	const struct nw_hit_cost *cost = &self->cost[hit->probe];
	size_t at = (uint32_t)tid % NW_RECENT_COSTS;
	uint64_t *sum = self->recent[at].sum;

	if (nw_unlikely(self->recent[at].tid != tid)) {
		sum = nw_self_cost_sum(self, tid);
		if (!sum)
			return 0;
	}
	uint64_t spent = *sum + cost->before;
	*sum = spent + cost->after;
	return spent;
}
/* Takes two hits of a thread that follow each other. */
static nw_inlined void nw_self_cost_pair(struct nw_self_cost *self,
					 const struct nw_hit *first,
					 const struct nw_hit *second, int32_t tid)
{
	const struct nw_hit_cost *a = &self->cost[first->probe];
	const struct nw_hit_cost *b = &self->cost[second->probe];
	size_t at = (uint32_t)tid % NW_RECENT_COSTS;
	uint64_t *sum = self->recent[at].sum;

	if (nw_unlikely(self->recent[at].tid != tid))
		sum = nw_self_cost_sum(self, tid);
	if (nw_likely(sum))
		*sum += (uint64_t)a->before + a->after + b->before + b->after;
}
/* Does the same for a hit of a Go function: returns the cost of all such hits of its goroutine, on whichever threads.
 * The cost of other hits on a thread while the goroutine waits is not included. */
uint64_t nw_self_cost_goroutine_hit(struct nw_self_cost *self, const struct nw_hit *hit,
				    int32_t pid);
void nw_self_cost_exit(struct nw_self_cost *self, int32_t tid);

#endif
