/* SPDX-License-Identifier: MIT */
/*
 * Restricts the recording of scheduler events to selected threads, if the kernel cannot restrict an instance to
 * threads (set_event_pid, event-fork), or if there are no target processes; then the processes that map probed files
 * are the targets. Each of these events has a filter with names (comm) and with numbers of threads that have other
 * names. A new thread has the name of its parent, so nothing of it is missed. A thread with another name is added as
 * soon as the reader finds it; its earlier events are not recorded. So a log tells since when each thread is
 * selected. Once a filter is written, no CPU uses the former one (tracepoint_synchronize_unregister() in
 * kernel/trace/trace_events_filter.c), so all later switches of a thread are recorded. The same holds after an event
 * that cannot be recorded because of another thread: the thread's own sched_wakeup, or a switch from or to the idle
 * thread. The filter of sched_switch is written first.
 *
 * Kernel stacks of threads that go to sleep come from a trigger with a filter of its own. A trigger cannot be
 * changed, but only removed and set again, which takes 0.1 s without stacks. So its filter also has the numbers that
 * the next new threads will get.
 */
#ifndef NOPWATCH_KERNEL_SESSION_SCHEDFILTER_H
#define NOPWATCH_KERNEL_SESSION_SCHEDFILTER_H

#include "kernel/session/session.h"

struct nw_filtered_thread {
	pid_t tid;
	bool hits;   /* it has hit a probe */
	bool stacks; /* the current trigger has its number */
	/* Time on the session's clock since which the filters have it; 0: not yet */
	uint64_t from;
};

struct nw_sched_filter {
	bool wanted; /* it was requested, and is needed */
	bool active; /* the filters are in force */
	/* There are no target processes: threads that hit, and children of selected threads, are selected, too */
	bool anybody;
	bool stacks;		  /* stacks of threads that go to sleep are recorded */
	pid_t born_from, born_to; /* the trigger also has this range of numbers */
	size_t stack_comms;	  /* the trigger has so many of the names */
	/* Threads with these names, and their children, need not be selected by their numbers. */
	nw_strings comms;
	NW_VEC(uint64_t) comms_from; /* since when each of these names is in the filter */
	nw_pids pids;		     /* the target processes */
	const struct nw_pid_space *space; /* the numbers in /proc */
	NW_VEC(struct nw_filtered_thread) threads;
	/* Threads that are known to have hit, by the last bits of their numbers. */
	pid_t hit[64];
	nw_named_threads log;
	uint64_t written; /* time of the last writing, in nanoseconds */
	/* Since when the events of all threads are recorded, because filtering was given up; 0: it was not. */
	uint64_t everybody_from;
	/* Why the events of all threads are recorded; NULL: they are not, or it was not requested */
	char *refused;
};

struct nw_session;

/* Notes the target processes, if the kernel does not restrict the recording anyway. */
int nw_sched_filter_want(struct nw_session *session,
			 const struct nw_session_options *options);
/* Selects all threads of the target processes. Births are recorded by then, and the events are not. If it is
 * impossible, the events of all threads are recorded. Returns -ENOMEM on failure. */
int nw_sched_filter_begin(struct nw_session *session);
/* Selects threads that were found meanwhile, unless the filters were written a moment ago. */
void nw_sched_filter_update(struct nw_session *session);
/* Tells that a thread has ended: the next filters do not have it. */
void nw_sched_filter_gone(struct nw_session *session, pid_t tid);
void nw_sched_filter_free(struct nw_sched_filter *filter);

/*
 * Returns the trigger of sched_switch: for `condition`, and for selected threads and the next new threads only, or
 * for all threads. Notes which threads it has. NULL: no memory.
 */
char *nw_sched_filter_trigger(struct nw_sched_filter *filter, const char *condition);
/* Does the current trigger lack a selected thread? */
bool nw_sched_filter_lacks_stacks(const struct nw_sched_filter *filter);
/* The fields of an event with numbers and names of threads; the second ones may be NULL. */
struct nw_sched_fields {
	const char *pid[2], *comm[2];
};
/* Writes the filter of an event, by names and numbers of threads: comm=="app"||pid==1||pid==2. -E2BIG: it is longer
 * than the kernel accepts (a page: event_filter_write()). -ENOMEM. */
int nw_sched_filter_text(const struct nw_sched_filter *filter,
			 const struct nw_sched_fields *fields, struct nw_buf *out);

#endif
