/* SPDX-License-Identifier: MIT */
/*
 * The triggers by which the kernel counts the hits of a session or a script by itself (Documentation/trace/histogram.rst), as data.
 * They keep the events armed, so the events are enabled only until they are set, and nothing of them is recorded.
 */
#ifndef NOPWATCH_PLAN_TRIGGERS_H
#define NOPWATCH_PLAN_TRIGGERS_H

#include "base/base.h"

/* A filter that no record passes: types of events begin at 1 (kernel/trace/trace_output.c, register_trace_event()). */
#define NW_FILTER_NOTHING "common_type == 0"

struct nw_hist_trigger {
	bool synthetic; /* of a synthetic event; else of an event of the group */
	char *event;
	char *text;   /* "hist:keys=common_pid:size=2048" */
	char *filter; /* "a0 < 64"; "": none */
	/* It is set paused, and goes on once all triggers are set, so that all begin to count at about the same time. The kernel
	 * pauses no trigger that has variables. */
	bool paused;
};

struct nw_triggers {
	/*
	 * Synthetic events, "NAME FIELDS". The first is called as the group, and the names of the others begin with
	 * that and "_": so a teardown finds them, and it looks for triggers only if there is the first.
	 */
	nw_strings synthetic;
	NW_VEC(struct nw_hist_trigger) list; /* in the order in which they are set */
};

/* Adds a trigger, which is a copy. Returns -ENOMEM on failure. */
int nw_triggers_add(struct nw_triggers *triggers, const struct nw_hist_trigger *trigger);
void nw_triggers_free(struct nw_triggers *triggers);

#endif
