/* SPDX-License-Identifier: MIT */
/* user_events: trace events that programs register by themselves, through user_events_data in tracefs. */
#ifndef NOPWATCH_KERNEL_TRACEFS_USER_EVENTS_H
#define NOPWATCH_KERNEL_TRACEFS_USER_EVENTS_H

#include "tracefs.h"

struct nw_user_event {
	char *name;
	char *used; /* "ftrace perf": which tools have it enabled; "": none */
};
typedef NW_VEC(struct nw_user_event) nw_user_events;

/* Can programs of this kernel register events? EOPNOTSUPP: no, with the reason. */
int nw_user_events_check(const struct nw_tracefs *fs, struct nw_error *err);
/* Lists the events that are registered now, by their names, from user_events_status. The caller frees them, also after an error. */
int nw_user_events_read(const struct nw_tracefs *fs, nw_user_events *out,
			struct nw_error *err);
void nw_user_events_free(nw_user_events *events);

#endif
