/* SPDX-License-Identifier: MIT */
/*
 * Whose scheduler events a part of a recording has whole, where births and new names are read only now and then
 * (flight.c): threads that have been called by the same name since a time, which has to be shown.
 *
 * Who is called so when somebody looks, before reading goes on, and of whom neither birth nor name is found in what is
 * then read, up to a time behind the look, was called so in all of it. In what was read earlier, too, if that was so then.
 */
#ifndef NOPWATCH_RUN_FLIGHT_STILL_NAMED_H
#define NOPWATCH_RUN_FLIGHT_STILL_NAMED_H

#include "nopwatch/session.h"

struct nw_still_named {
	nw_named_threads threads; /* by their numbers */
	uint64_t read;		  /* what has been read so far is older, all of it */
};

/* Look: reading begins, or goes on. `now` are those whose events are recorded (nw_session_named_now()). -ENOMEM */
int nw_still_named_look(struct nw_still_named *still, const nw_named_threads *now);
/* What is read is of a thread that is born, or gets another name. */
void nw_still_named_changed(struct nw_still_named *still, int32_t tid);
/* Reading stops, at a time by the session's clock. */
void nw_still_named_pause(struct nw_still_named *still, uint64_t now);
void nw_still_named_free(struct nw_still_named *still);

#endif
