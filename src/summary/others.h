/* SPDX-License-Identifier: MIT */
/*
 * How many groups there are beyond those that are kept. Of their names nothing is kept but a number, so
 * that they cost 16 bytes each, and no more are told apart than NW_OTHERS_MOST.
 */
#ifndef NOPWATCH_SUMMARY_OTHERS_H
#define NOPWATCH_SUMMARY_OTHERS_H

#include "nopwatch/summary.h"

struct nw_others {
	uint64_t *slot; /* open-addressed: hashes of names, 0: free */
	size_t slots, count;
};

/* A group of that name was met. -ENOMEM. */
int nw_others_add(struct nw_others *others, const char *name, size_t len);
void nw_others_free(struct nw_others *others);

#endif
