/* SPDX-License-Identifier: MIT */
/* A command of the user's that says whether all is well: run now and then, one at a time. */
#ifndef NOPWATCH_ENGINE_HEALTH_H
#define NOPWATCH_ENGINE_HEALTH_H

#include <sys/types.h>

#include "nopwatch/base.h"

struct nw_health {
	const char *command;
	uint64_t interval_ns; /* from its end until it is run again */
	uint64_t timeout_ns;  /* one that hangs says that something is wrong, too */
	pid_t pid;	 /* of the shell that runs it now, and its process group; 0: none */
	uint64_t began;	 /* CLOCK_MONOTONIC */
	uint64_t next;	 /* when it is run again */
	uint64_t runs;	 /* that have ended */
	bool failing;	 /* the last one did */
	char reason[64]; /* and how */
};

/* See to it, without waiting. 1: it fails, and did not before; 0; or an error: it cannot be run at all. */
int nw_health_check(struct nw_health *health, struct nw_error *err);
/* End what runs. */
void nw_health_stop(struct nw_health *health);

#endif
