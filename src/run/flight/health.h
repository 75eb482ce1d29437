/* SPDX-License-Identifier: MIT */
/*
 * A command of the user's that says whether all is well: run now and then, one at a time. What it has started ends with
 * it, but for what has made itself a process group of its own; all that is below it, whatever group that is in, ends when
 * it has taken too long, when we are at the end, and when we are killed.
 */
#ifndef NOPWATCH_RUN_FLIGHT_HEALTH_H
#define NOPWATCH_RUN_FLIGHT_HEALTH_H

#include <sys/types.h>

#include "nopwatch/base.h"

struct nw_health {
	const char *command;
	uint64_t interval_ns; /* from its end until it is run again */
	uint64_t timeout_ns;  /* one that hangs says that something is wrong, too */
	pid_t pid;	      /* of the guard of the shell that runs it now; 0: none */
	bool late;	      /* it did not end in time, and is being ended */
	uint64_t began;	      /* CLOCK_MONOTONIC */
	uint64_t next;	      /* when it is run again */
	uint64_t runs;	      /* that have ended */
	bool failing;	      /* the last one did */
	char reason[64];      /* and how */
};

/* See to it, without waiting. 1: it fails, and did not before; 0; or an error: it cannot be run at all. */
int nw_health_check(struct nw_health *health, struct nw_error *err);
/* End what runs, and wait until it is gone, at most a second: its guard goes on if it cannot end now. */
void nw_health_stop(struct nw_health *health);

#endif
