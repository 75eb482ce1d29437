/* SPDX-License-Identifier: MIT */
/* Rates of hits over the last second, from counters that only grow. */
#ifndef NOPWATCH_RUN_LIMITS_RATES_H
#define NOPWATCH_RUN_LIMITS_RATES_H

#include "base/base.h"

/* The samples of counters, which nw_rates_sample() adds. */
struct nw_rates;
enum {
	NW_RATES_NS = 100000000 /* least time between two samples */
};

int nw_rates_open(size_t probes, struct nw_rates **out); /* -ENOMEM */
void nw_rates_free(struct nw_rates *rates);
bool nw_rates_due(const struct nw_rates *rates, uint64_t time);
/* counts: an element per probe, read at some time from `begun` to `ended`, in ns. Must not be called before nw_rates_due()
 * returns true. */
void nw_rates_sample(struct nw_rates *rates, uint64_t begun, uint64_t ended,
		     const uint64_t *counts);
/* Was the probe hit more than `most` times within the last second? *rate: hits per second. */
bool nw_rates_over(const struct nw_rates *rates, size_t probe, uint64_t most, double *rate);

#endif
