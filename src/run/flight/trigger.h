/* SPDX-License-Identifier: MIT */
/* The trigger of a flight recording, or several that came close to each other (trigger.c). */
#ifndef NOPWATCH_RUN_FLIGHT_TRIGGER_H
#define NOPWATCH_RUN_FLIGHT_TRIGGER_H

#include "nopwatch/base.h"

struct nw_trigger {
	bool any;
	uint64_t from; /* the recording is to begin here, trace clock */
	uint64_t end;  /* and to go at least so far */
	uint64_t more; /* others in it */
	uint64_t longest;
	char text[160]; /* of the longest */
};

/* Take in another one, from start to end; the recording is to have keep_ns in front of its start. */
void nw_trigger_add(struct nw_trigger *trigger, uint64_t start, uint64_t end,
		    uint64_t keep_ns, const char *text);
/* Is it within the recording that is being read, so that no other is needed? */
bool nw_trigger_holds(const struct nw_trigger *reading, uint64_t start, uint64_t end,
		      uint64_t keep_ns);
/* May reading begin? Slow spans come together: others have 0.1 s from the end of the last one to end, too. */
bool nw_trigger_is_due(const struct nw_trigger *trigger, uint64_t now);

#endif
