/* SPDX-License-Identifier: MIT */
/*
 * Counts how many different names there were, for the groups that get no rows of their own. Of a name only a hash
 * of 64 bits is kept, so it costs at most 32 bytes; counting stops at NW_MOST_OVERFLOW_GROUPS.
 */
#ifndef NOPWATCH_MEASURE_DISTINCT_H
#define NOPWATCH_MEASURE_DISTINCT_H

#include "nopwatch/summary.h"

/* Zeroed: an empty one. */
struct nw_distinct {
	uint64_t *slot; /* open-addressed: hashes of names, 0: free */
	size_t slots, count;
};

/* -ENOMEM. */
int nw_distinct_add(struct nw_distinct *distinct, const char *name, size_t len);
void nw_distinct_free(struct nw_distinct *distinct);

#endif
