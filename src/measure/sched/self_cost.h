/* SPDX-License-Identifier: MIT */
/* The probe overhead in the threads' time; for the summary. */
#ifndef NOPWATCH_MEASURE_SCHED_SELF_COST_H
#define NOPWATCH_MEASURE_SCHED_SELF_COST_H

#include "hash_map.h"
#include "nopwatch/probe.h"

enum {
	NW_RECENT_COSTS = 16 /* a power of two */
};

struct nw_self_cost {
	const struct nw_hit_cost *cost;
	struct nw_hash_map threads;    /* uint64_t: the sum */
	struct nw_hash_map goroutines; /* the same of hits of Go's functions */
	uint64_t next_sum;	       /* with which that of the next thread begins */
	struct {
		uint64_t *sum; /* NULL: of nobody */
		int32_t tid;
	} recent[NW_RECENT_COSTS]; /* by the low bits of the thread's number */
};

/* cost: of a hit, by probe; stays the caller's. -ENOMEM. */
int nw_self_cost_open(const struct nw_hit_cost *cost, struct nw_self_cost **out);
void nw_self_cost_free(struct nw_self_cost *self);
/* The sum of a thread, which is recent from now on; NULL: there is no room for it. */
uint64_t *nw_self_cost_sum(struct nw_self_cost *self, int32_t tid);
/* A hit, of whatever span or none. What all hits of its thread have cost up to its timestamp: of two, the difference is
 * what the probes have added to the time between them. */
static inline uint64_t nw_self_cost_hit(struct nw_self_cost *self, const struct nw_hit *hit)
{
	const struct nw_hit_cost *cost = &self->cost[hit->probe];
	int32_t tid = nw_hit_thread(hit);
	size_t at = (uint32_t)tid % NW_RECENT_COSTS;
	uint64_t *sum = self->recent[at].sum;

	if (nw_unlikely(!sum || self->recent[at].tid != tid)) {
		sum = nw_self_cost_sum(self, tid);
		if (!sum)
			return 0;
	}
	uint64_t spent = *sum + cost->before;
	*sum = spent + cost->after;
	return spent;
}
/* The same of a hit of a function of Go's: what all such hits of its goroutine have cost, whichever threads they were on.
 * What threads do while it waits is not its own. */
uint64_t nw_self_cost_goroutine_hit(struct nw_self_cost *self, const struct nw_hit *hit,
				    int32_t pid);
void nw_self_cost_exit(struct nw_self_cost *self, int32_t tid);

#endif
