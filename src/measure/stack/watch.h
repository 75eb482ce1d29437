/* SPDX-License-Identifier: MIT */
/* New mappings of processes, as the kernel tells them. */
#ifndef NOPWATCH_MEASURE_STACK_WATCH_H
#define NOPWATCH_MEASURE_STACK_WATCH_H

#include <time.h>

#include "nopwatch/process.h"

enum nw_change_kind {
	NW_CHANGE_MAPPED,  /* code, or what is allowed to be code */
	NW_CHANGE_STARTED, /* a program, in place of what the process was */
	NW_CHANGE_FORKED,
	NW_CHANGE_ENDED,
	NW_CHANGE_LOST, /* from this time on changes may be missing, of any process */
};

struct nw_map_change {
	enum nw_change_kind kind;
	uint64_t time;
	pid_t pid, parent;	   /* FORKED */
	struct nw_mapping mapping; /* MAPPED */
	uint64_t until, lost; /* LOST: to this time; changes, as far as they were counted */
};

struct nw_map_watch;

/* *out NULL: the kernel does not tell us, or has no such clock. -ENOMEM. */
int nw_map_watch_open(clockid_t clock, struct nw_map_watch **out);
void nw_map_watch_free(struct nw_map_watch *watch);
/* The next change up to this time: 1, and it is good until the next call; 0: there is none. -ENOMEM: one was lost. */
int nw_map_watch_next(struct nw_map_watch *watch, uint64_t until,
		      struct nw_map_change *out);

#endif
