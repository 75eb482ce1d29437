/* SPDX-License-Identifier: MIT */
/*
 * A command of the user that tells whether all is well. It is run now and then, one at a time. When it ends,
 * everything that it has started is ended, except processes with a process group of their own. If it takes too long,
 * at the end of the run, and if we are killed, all its descendants are ended, whatever their groups are.
 */
#ifndef NOPWATCH_RUN_FLIGHT_HEALTH_H
#define NOPWATCH_RUN_FLIGHT_HEALTH_H

#include <sys/types.h>

#include "base/base.h"

struct nw_health {
	const char *command;
	uint64_t interval_ns; /* time from the end of a run until the next one */
	uint64_t timeout_ns;  /* a command that hangs is a sign of trouble, too */
	pid_t pid;	      /* of the guard of the running shell; 0: none */
	bool late;	      /* it did not end in time, and is being ended */
	uint64_t began;	      /* CLOCK_MONOTONIC */
	uint64_t next;	      /* time of the next run */
	uint64_t runs;	      /* runs that have ended */
	bool failing;	      /* the last run failed */
	char reason[64];      /* how it failed */
};

/* Runs the command when it is due, without waiting. Returns 1: it fails, and did not fail before; 0; -errno: it
 * cannot be run at all. */
int nw_health_check(struct nw_health *health, struct nw_error *err);
/* Ends the running command and waits for at most a second. If it cannot end now, its guard stays. */
void nw_health_stop(struct nw_health *health);

#endif
