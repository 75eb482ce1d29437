/* SPDX-License-Identifier: MIT */
/*
 * Finds the threads whose scheduler events are complete in a part of a recording, when births and new names are read
 * only now and then (flight.c): threads that have had the same name since a time, which has to be proved.
 *
 * A thread that has a selected name when this is checked before reading goes on, and for which the records that are
 * then read, up to a time behind the check, contain neither birth nor new name, has had that name all the time. This
 * includes records that were read earlier, if it was true then.
 */
#ifndef NOPWATCH_RUN_FLIGHT_SCHED_FILTER_SNAPSHOT_H
#define NOPWATCH_RUN_FLIGHT_SCHED_FILTER_SNAPSHOT_H

#include "kernel/session/session.h"

struct nw_sched_filter_snapshot {
	nw_named_threads threads; /* by number */
	uint64_t read;		  /* all records that were read are older */
};

/* Checks when reading begins or goes on. `now`: the threads whose events are recorded (nw_session_named_now()).
 * Returns -ENOMEM on failure. */
int nw_sched_filter_snapshot_look(struct nw_sched_filter_snapshot *still,
				  const nw_named_threads *now);
/* Tells that a record of a birth or a new name of this thread was read. */
void nw_sched_filter_snapshot_changed(struct nw_sched_filter_snapshot *still, int32_t tid);
/* Tells that reading stops, at a time of the session's clock. */
void nw_sched_filter_snapshot_pause(struct nw_sched_filter_snapshot *still, uint64_t now);
void nw_sched_filter_snapshot_free(struct nw_sched_filter_snapshot *still);

#endif
