/* SPDX-License-Identifier: MIT */
/* The definitions in uprobe_events by event, read once for the deletion of many events. */
#ifndef NOPWATCH_KERNEL_STEPS_DEFINITIONS_H
#define NOPWATCH_KERNEL_STEPS_DEFINITIONS_H

#include "kernel/tracefs/tracefs.h"

/* The definitions of one event. */
struct nw_defined_event {
	char *event;  /* "GROUP/NAME" */
	size_t count; /* number of its sites */
	char kind;    /* 'p' or 'r' */
	char *path;   /* of the first site */
	char *args;   /* of the first site: "" or " a=%di:s32" */
};

/* A zeroed one is valid, and has not been read. */
struct nw_defined_events {
	NW_VEC(struct nw_defined_event) events;
	struct nw_hash_table table;
	int64_t read_ns; /* CLOCK_MONOTONIC; 0: not read, or changed by us since */
};

/*
 * Finds an event. uprobe_events is read if it has not been read for a second, in which somebody else may have changed it,
 * and before an event is said to be missing. Returns 0, with *out NULL if there is no such event, or -errno. *out is valid
 * until the next call.
 */
int nw_defined_events_find(struct nw_defined_events *definitions,
			   const struct nw_tracefs *fs, const char *event,
			   const struct nw_defined_event **out);
void nw_defined_events_free(struct nw_defined_events *definitions);

#endif
