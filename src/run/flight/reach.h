/* SPDX-License-Identifier: MIT */
/* A flight recorder leaves its events in the ring buffer until one of its conditions is met. This finds out when the
 * buffer, at the present rate of events, holds less than the time that is to be kept: then they have to be read before
 * they are overwritten. (A larger buffer would do, too, but the kernel drops events while it makes one larger.) */
#ifndef NOPWATCH_RUN_FLIGHT_REACH_H
#define NOPWATCH_RUN_FLIGHT_REACH_H

#include "run/run.h"

struct nw_reach {
	uint64_t keep_ns; /* the time that was asked for */
	uint64_t
		wanted_ns; /* the same and a reserve for what happens until it is written */
	bool fixed; /* the user has chosen the size of the buffer, which is to do without being read */
	uint64_t looked_at; /* trace clock */
	bool is_short;	    /* the buffer is too small, and has to be read */
	uint64_t most;	    /* bytes of what was read that may be kept then */
	bool told; /* the user knows already that less is kept than was asked for */
};

/* Call it often. True once a second, when it has looked at the buffer. */
bool nw_reach_check(struct nw_reach *reach, const struct nw_run *run);
/* Why a recording that was to begin at `from` begins later, and by how much. A page is cut where it begins, so a moment is no
 * difference worth a word: NULL. */
const char *nw_reach_explain(uint64_t from, uint64_t armed, uint64_t begins,
			     uint64_t *late_ns);
/* Say once that less is kept: so long, since there is no room for more. */
void nw_reach_warn(struct nw_reach *reach, const struct nw_run *run, uint64_t holds_ns,
		   const char *why);

#endif
