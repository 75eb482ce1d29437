/* SPDX-License-Identifier: MIT */
/*
 * Restricts the recording to threads. With set_event_pid and event-fork the kernel does it exactly: for the processes
 * of -p and their descendants. For threads that are named (--tid) set_event_pid alone does it, or else an event filter
 * that names them, which the kernel evaluates after it has fetched the arguments. Otherwise everything is recorded and the reader drops hits of untraced threads, which
 * loses nothing; but untraced threads with many hits are excluded by a filter (common_pid != TID) as soon as they are
 * noticed.
 */
#ifndef NOPWATCH_KERNEL_SESSION_PIDFILTER_H
#define NOPWATCH_KERNEL_SESSION_PIDFILTER_H

#include "kernel/session/session.h"

enum {
	NW_STRANGERS = 1024 /* threads that are counted at a time; a power of two */
};

struct nw_pid_filter {
	bool active; /* the kernel does not restrict the recording */
	bool named;  /* an event filter names the threads, so none is excluded */
	bool dirty;  /* `excluded` has changed since the filter was written */
	bool failed;
	uint64_t written; /* time of the last writing, in nanoseconds */
	nw_pids excluded;
	struct {
		pid_t tid;
		unsigned int hits;
	} seen[NW_STRANGERS];
};

struct nw_session;

/* Lets the kernel restrict the recording, or prepares to do without. Must be called after the definitions: event
 * files that are made later ignore the restriction on kernels before 5.16. */
int nw_pid_filter_begin(struct nw_session *session,
			const struct nw_session_options *options, struct nw_error *err);
/* Writes the filter if it has changed and was not written a moment ago. */
void nw_pid_filter_update(struct nw_session *session);

#endif
