/* SPDX-License-Identifier: MIT */
/*
 * Counts different names: the groups that get no rows of their own. Only a hash of 64 bits is kept of a name, so a
 * name costs at most 48 bytes. Counting stops at NW_MOST_OVERFLOW_GROUPS.
 */
#ifndef NOPWATCH_MEASURE_DISTINCT_H
#define NOPWATCH_MEASURE_DISTINCT_H

#include "measure/summary.h"

/* A zeroed one is empty and valid. */
struct nw_distinct {
	NW_VEC(uint64_t) hashes;
	struct nw_hash_table table;
};

/* Returns -ENOMEM on failure. */
int nw_distinct_add(struct nw_distinct *distinct, const char *name, size_t len);
void nw_distinct_free(struct nw_distinct *distinct);

#endif
