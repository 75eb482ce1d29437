/* SPDX-License-Identifier: MIT */
/* A flight recorder leaves its events in the ring buffer until a trigger comes. This checks whether the buffer, at
 * the present rate of events, holds less than the time that is to be kept: then events have to be read before they
 * are overwritten. (A larger buffer would help, too, but the kernel drops events while it is being enlarged.) */
#ifndef NOPWATCH_RUN_FLIGHT_REACH_H
#define NOPWATCH_RUN_FLIGHT_REACH_H

#include "run/run.h"

struct nw_reach {
	uint64_t keep_ns; /* the time that the user wants to keep */
	/* The same plus a reserve for the time until a recording is written. */
	uint64_t wanted_ns;
	bool fixed; /* the user has chosen the size of the buffer, which is not read then */
	uint64_t looked_at; /* in time of the trace clock */
	bool is_short;	    /* the buffer is too small, and has to be read */
	uint64_t most;	    /* limit in bytes of pages that are kept then */
	bool told;	    /* the user was told that less is kept */
};

/* Must be called often. Returns true once a second, after checking the buffer. */
bool nw_reach_check(struct nw_reach *reach, const struct nw_run *run);
/* Returns why a recording that should begin at `from` begins later, and by how much. A page is cut at its begin, so a
 * small difference is not mentioned: NULL. */
const char *nw_reach_explain(uint64_t from, uint64_t armed, uint64_t begins,
			     uint64_t *late_ns);
/* Warns once that less is kept: only holds_ns, for the reason `why`. */
void nw_reach_warn(struct nw_reach *reach, const struct nw_run *run, uint64_t holds_ns,
		   const char *why);

#endif
