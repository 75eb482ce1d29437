/* SPDX-License-Identifier: MIT */
/* The trigger of a flight recording, or several triggers that came close to each other (trigger.c). */
#ifndef NOPWATCH_RUN_FLIGHT_TRIGGER_H
#define NOPWATCH_RUN_FLIGHT_TRIGGER_H

#include "base/base.h"

struct nw_trigger {
	bool any;
	uint64_t from; /* time at which the recording has to begin, trace clock */
	uint64_t end;  /* time that the recording has to include */
	uint64_t more; /* number of further triggers */
	uint64_t longest;
	char text[160]; /* of the longest span */
};

/* Adds a trigger from start to end. The recording must include keep_ns before its start. */
void nw_trigger_add(struct nw_trigger *trigger, uint64_t start, uint64_t end,
		    uint64_t keep_ns, const char *text);
/* Is a trigger within the recording that is being read, so that no other recording is needed? */
bool nw_trigger_holds(const struct nw_trigger *reading, uint64_t start, uint64_t end,
		      uint64_t keep_ns);
/* May reading begin? Slow spans come together: reading waits for 0.1 s after the end of the last one. */
bool nw_trigger_is_due(const struct nw_trigger *trigger, uint64_t now);

#endif
