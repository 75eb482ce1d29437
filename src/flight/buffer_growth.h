/* SPDX-License-Identifier: MIT */
/* A flight recorder leaves its events in the ring buffer until one of its conditions is met. This makes the
 * buffer larger when, at the present rate of events, it holds less than the time that is to be kept. */
#ifndef NOPWATCH_FLIGHT_BUFFER_GROWTH_H
#define NOPWATCH_FLIGHT_BUFFER_GROWTH_H

#include "engine/run.h"

#include "page_history.h"

struct nw_buffer_growth {
	uint64_t keep_ns; /* the time that was asked for */
	uint64_t
		wanted_ns; /* the same and a reserve for what happens until it is written */
	bool fixed;	   /* the user has chosen the size, or it cannot be changed */
	uint64_t looked_at; /* trace clock */
	uint64_t target;    /* bytes a CPU; 0: it is large enough */
	uint64_t step; /* by how many bytes it grows at once; 0: it does not grow now */
	uint64_t
		missing_ns; /* for so long, in sum, events may have been dropped by growing */
	bool told;	    /* the user knows already that it is too small */
};

/* Call it often: once a second it looks at the buffer, which then grows by one step with each call. The kernel may
 * drop events while it does: that time becomes a hole of the history. -ENOMEM. */
int nw_buffer_growth_check(struct nw_buffer_growth *growth, struct nw_run *run,
			   struct nw_page_history *history);

#endif
