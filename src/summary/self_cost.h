/* SPDX-License-Identifier: MIT */
/* How much of the spans' time the probes have added themselves; for the summary. */
#ifndef NOPWATCH_SUMMARY_SELF_COST_H
#define NOPWATCH_SUMMARY_SELF_COST_H

#include "nopwatch/summary.h"

struct nw_self_cost;

/* cost: ns of a hit, by probe; stays the caller's. -ENOMEM. */
int nw_self_cost_open(const uint64_t *cost, struct nw_self_cost **out);
void nw_self_cost_free(struct nw_self_cost *self);
/* A hit, of whatever span or none, before what becomes of its spans. */
void nw_self_cost_hit(struct nw_self_cost *self, const struct nw_hit *hit);
void nw_self_cost_exit(struct nw_self_cost *self, int32_t tid);
/* What becomes of a span. True: it has ended, and so much of it was the probes'. */
bool nw_self_cost_span(struct nw_self_cost *self, const struct nw_span_event *event,
		       uint64_t *ns);

#endif
