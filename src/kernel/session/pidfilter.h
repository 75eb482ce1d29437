/* SPDX-License-Identifier: MIT */
/*
 * Which threads are recorded. With set_event_pid and event-fork the kernel knows exactly: the
 * processes of -p, and what they create. Without, everything is recorded and sorted by the
 * reader, which loses nothing; but strangers that hit much are kept out of the buffer by a filter
 * (common_pid != TID), as soon as they have been seen.
 */
#ifndef NOPWATCH_KERNEL_SESSION_PIDFILTER_H
#define NOPWATCH_KERNEL_SESSION_PIDFILTER_H

#include "nopwatch/kernel.h"
#include "nopwatch/session.h"

enum {
	NW_STRANGERS = 1024 /* threads that are counted at a time; a power of two */
};

struct nw_pid_filter {
	bool active; /* the kernel does not restrict the recording */
	bool dirty;  /* excluded has changed since the filter was written */
	bool failed;
	uint64_t written; /* when it was, nanoseconds */
	nw_pids excluded;
	struct {
		pid_t tid;
		unsigned int hits;
	} seen[NW_STRANGERS];
};

struct nw_session;

/* Let the kernel restrict the recording, or make ready to do without. After the definitions:
 * event files that are made later would ignore it on kernels before 5.16. */
int nw_pid_filter_begin(struct nw_session *session,
			const struct nw_session_options *options, struct nw_error *err);
/* Write the filter, if it has changed and was not written just before. */
void nw_pid_filter_update(struct nw_session *session);

#endif
