/* SPDX-License-Identifier: MIT */
/* How much of the threads' time the probes have taken themselves; for the summary. */
#ifndef NOPWATCH_SUMMARY_SELF_COST_H
#define NOPWATCH_SUMMARY_SELF_COST_H

#include "nopwatch/summary.h"

struct nw_self_cost;

/* cost: of a hit, by probe; stays the caller's. -ENOMEM. */
int nw_self_cost_open(const struct nw_hit_cost *cost, struct nw_self_cost **out);
void nw_self_cost_free(struct nw_self_cost *self);
/* A hit, of whatever span or none. What all hits of its thread have cost up to its timestamp: of two, the difference is
 * what the probes have added to the time between them. */
uint64_t nw_self_cost_hit(struct nw_self_cost *self, const struct nw_hit *hit);
void nw_self_cost_exit(struct nw_self_cost *self, int32_t tid);

#endif
