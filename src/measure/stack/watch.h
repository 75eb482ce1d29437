/* SPDX-License-Identifier: MIT */
/* New mappings of processes, as the kernel reports them. */
#ifndef NOPWATCH_MEASURE_STACK_WATCH_H
#define NOPWATCH_MEASURE_STACK_WATCH_H

#include <time.h>

#include "find/process/process.h"

enum nw_change_kind {
	NW_CHANGE_MAPPED,  /* code, or memory that may become code */
	NW_CHANGE_STARTED, /* a process executes a program */
	NW_CHANGE_FORKED,
	NW_CHANGE_ENDED,
	NW_CHANGE_LOST, /* from this time on changes of any process may be missing */
};

struct nw_map_change {
	enum nw_change_kind kind;
	uint64_t time;
	pid_t pid, parent;	   /* FORKED */
	struct nw_mapping mapping; /* MAPPED */
	/* LOST: the end of the loss; and how many changes, as far as they were counted */
	uint64_t until, lost;
};

struct nw_map_watch;

/* *out NULL: the kernel does not report mappings to us, or not with this clock. Returns -errno of what is short:
 * memory, or descriptors. */
int nw_map_watch_open(clockid_t clock, struct nw_map_watch **out);
void nw_map_watch_free(struct nw_map_watch *watch);
/* Returns 1 with the next change up to this time, which is valid until the next call; 0: there is none; -ENOMEM: a
 * change was lost. */
int nw_map_watch_next(struct nw_map_watch *watch, uint64_t until,
		      struct nw_map_change *out);

#endif
