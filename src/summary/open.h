/* SPDX-License-Identifier: MIT */
/*
 * Spans that have begun and not ended: for every (span, key) a stack, since functions recurse
 * and spans nest. An open-addressed table; the innermost start is in the table itself, so that
 * the usual case, one open span a key, allocates nothing.
 */
#ifndef NOPWATCH_SUMMARY_OPEN_H
#define NOPWATCH_SUMMARY_OPEN_H

#include "nopwatch/summary.h"

struct nw_start {
	uint64_t time;
	int64_t group; /* of the start's hit, -1: it could not say */
};

struct nw_open_slot {
	uint64_t key;
	uint32_t span;	/* number + 1; 0: free */
	uint32_t depth; /* starts; 0: none now */
	struct nw_start top;
	struct nw_start *below; /* depth - 1 of them, outermost first */
	uint32_t below_room;
};

struct nw_open {
	struct nw_open_slot *slot;
	size_t slots, used; /* used: taken, with or without open starts */
	size_t open;	    /* starts in all */
	size_t most;
};

int nw_open_init(struct nw_open *open, size_t most);
void nw_open_free(struct nw_open *open);

/* Starts kept for one key: a program that never ends its spans must not fill our memory. */
enum {
	NW_DEEPEST = 1024
};

/*
 * Push a start. Returns how many starts had to be given up for it (the outermost of a key that
 * is NW_DEEPEST deep; 1 for this one itself if there are too many in all), or -ENOMEM.
 */
int nw_open_push(struct nw_open *open, uint32_t span, uint64_t key, struct nw_start start);
/* Take the innermost start of a key; false: there is none. */
bool nw_open_pop(struct nw_open *open, uint32_t span, uint64_t key, struct nw_start *out);
/* Drop all starts of a key that began at or before `until`, if the innermost did: they may
 * have ended in a loss. Returns how many. */
uint32_t nw_open_drop_stale(struct nw_open *open, uint32_t span, uint64_t key,
			    uint64_t until);
/* Drop all starts of a key. Returns how many. */
uint32_t nw_open_drop(struct nw_open *open, uint32_t span, uint64_t key);

#endif
