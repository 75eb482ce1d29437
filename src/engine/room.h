/* SPDX-License-Identifier: MIT */
/* Room in a ring buffer that nobody reads, for what is to be kept in it. */
#ifndef NOPWATCH_ENGINE_ROOM_H
#define NOPWATCH_ENGINE_ROOM_H

#include "kept_pages.h"
#include "run.h"

struct nw_room {
	uint64_t keep_ns,
		wanted_ns;   /* what is asked for, and with some for what comes after */
	bool fixed;	     /* its size is not ours to change, or cannot be */
	uint64_t looked_at;  /* trace clock */
	uint64_t target;     /* bytes a CPU; 0: what it has will do */
	uint64_t step;	     /* by which it grows; 0: none yet */
	uint64_t missing_ns; /* while it grew */
	bool told;	     /* that it is too small */
};

/* Now and then: see that there is room. The buffer grows a little with each call, and what the kernel may have dropped
 * meanwhile is a hole in what is kept. -ENOMEM. */
int nw_room_keep(struct nw_room *room, struct nw_run *run, struct nw_kept_pages *kept);

#endif
