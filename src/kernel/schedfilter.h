/* SPDX-License-Identifier: MIT */
/*
 * Whose scheduler events are recorded where the kernel cannot restrict an instance to threads
 * (set_event_pid, event-fork): a filter on each of these events names the threads. A thread that is born
 * later is named as soon as the reader has met its birth; what it did before is not recorded. Who reads
 * the records knows such a thread by its birth, and may rely on its events only from the first on that cannot be there for
 * another thread's sake: not from a sched_switch between it and another that is named, but from its own sched_wakeup, or a switch
 * from or to the idle thread. The filter of sched_switch is the first to be written.
 */
#ifndef NOPWATCH_KERNEL_SCHEDFILTER_H
#define NOPWATCH_KERNEL_SCHEDFILTER_H

#include "nopwatch/kernel.h"
#include "nopwatch/session.h"

struct nw_filtered_thread {
	pid_t tid;
	bool named; /* in the filters as they are now */
};

struct nw_sched_filter {
	bool wanted;			  /* the session was asked for it, and needs it */
	bool active;			  /* the filters are in force */
	nw_pids pids;			  /* the processes, */
	const struct nw_pid_space *space; /* and whose numbers /proc has */
	NW_VEC(struct nw_filtered_thread) threads;
	uint64_t written; /* when the filters were, nanoseconds */
	char *refused; /* why everybody's events are recorded; NULL: they are not, or nobody has asked */
};

struct nw_session;

/* Take note of who is to be named, if the kernel does not restrict the recording anyway. */
int nw_sched_filter_want(struct nw_session *session,
			 const struct nw_session_options *options);
/* Name all threads of the processes that there are; births are recorded already, the events are not.
 * Where that cannot be, everybody's are recorded. -ENOMEM */
int nw_sched_filter_begin(struct nw_session *session);
/* Name the threads that were born meanwhile, unless the filters were written just before. */
void nw_sched_filter_update(struct nw_session *session);
/* A thread has ended: it is left out when the filters are written again. */
void nw_sched_filter_gone(struct nw_session *session, pid_t tid);
void nw_sched_filter_free(struct nw_sched_filter *filter);

/* The filter of an event that tells of the threads in these fields (the second may be NULL), by
 * their numbers: "pid==1||pid==2". -E2BIG: longer than the kernel takes (Documentation/trace/events.rst
 * does not tell: event_filter_write() refuses a page). -ENOMEM */
int nw_sched_filter_text(const struct nw_sched_filter *filter, const char *const fields[2],
			 struct nw_buf *out);

#endif
