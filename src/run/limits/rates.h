/* SPDX-License-Identifier: MIT */
/* How often probes are hit: the last second of counters that only grow. */
#ifndef NOPWATCH_RUN_LIMITS_RATES_H
#define NOPWATCH_RUN_LIMITS_RATES_H

#include "nopwatch/base.h"

/* How often probes are hit, from counters that only grow, as nw_rates_sample() is told them. */
struct nw_rates;
enum {
	NW_RATES_NS = 100000000 /* between two looks, at least */
};

int nw_rates_open(size_t probes, struct nw_rates **out); /* -ENOMEM */
void nw_rates_free(struct nw_rates *rates);
bool nw_rates_due(const struct nw_rates *rates, uint64_t time);
/* counts: one a probe. Not before nw_rates_due(). */
void nw_rates_sample(struct nw_rates *rates, uint64_t time, const uint64_t *counts);
/* Was the probe hit more than most times within the last second? *rate: how often a second. */
bool nw_rates_over(const struct nw_rates *rates, size_t probe, uint64_t most, double *rate);

#endif
