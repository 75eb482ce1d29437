/* SPDX-License-Identifier: MIT */
/*
 * Whose scheduler events are recorded where the kernel cannot restrict an instance to threads
 * (set_event_pid, event-fork), and where nobody has said which processes are meant: it is those then that map what is
 * probed. A filter on each of these events tells whose they are: by names (comm), which who is born has from its parent, so that
 * nothing of it is missed; and by the numbers of threads with another name. These are named as soon as the reader has met
 * them; what they did before is not
 * recorded. So there is a log of who is named since when. Once a filter is written no CPU goes by the one before any more
 * (tracepoint_synchronize_unregister() in kernel/trace/trace_events_filter.c), so all switches of a thread are recorded from
 * then on; and as soon as an event of its is there that cannot be there for another thread's sake: its own sched_wakeup, or a switch
 * from or to the idle thread. The filter of sched_switch is the first to be written.
 * The kernel's stacks of who goes to sleep come of a trigger, which has a filter of its own. That one cannot be changed, only
 * taken away and set anew, which takes the kernel 0.1 s each time, in which there are no stacks. So it also tells the numbers
 * that will be given next: who is born is in there already.
 */
#ifndef NOPWATCH_KERNEL_SESSION_SCHEDFILTER_H
#define NOPWATCH_KERNEL_SESSION_SCHEDFILTER_H

#include "nopwatch/kernel.h"
#include "nopwatch/session.h"

struct nw_filtered_thread {
	pid_t tid;
	bool hits;     /* it has hit a probe */
	bool stacks;   /* the trigger has its number, since it was set the last time */
	uint64_t from; /* by the session's clock: it is in the filters since; 0: not yet */
};

struct nw_sched_filter {
	bool wanted; /* the session was asked for it, and needs it */
	bool active; /* the filters are in force */
	bool anybody; /* no processes were given: who hits, and is born of whom is named, is named, too */
	bool stacks;		  /* the stacks of who goes to sleep are recorded: */
	pid_t born_from, born_to; /* also of who has one of these numbers, */
	size_t stack_comms;	  /* and of so many of the names */
	nw_strings
		comms; /* threads that are called so need not be named each, nor those that they create: */
	NW_VEC(uint64_t) comms_from;	  /* one after the other, since these times */
	nw_pids pids;			  /* the processes, */
	const struct nw_pid_space *space; /* and whose numbers /proc has */
	NW_VEC(struct nw_filtered_thread) threads;
	pid_t hit
		[64]; /* of these it is known that they have hit, by the last bits of their numbers */
	nw_named_threads log;
	uint64_t written; /* when the filters were, nanoseconds */
	uint64_t
		everybody_from; /* everybody's events are recorded, since it was given up; 0: it was not */
	char *refused; /* why everybody's events are recorded; NULL: they are not, or nobody has asked */
};

struct nw_session;

/* Take note of who is to be named, if the kernel does not restrict the recording anyway. */
int nw_sched_filter_want(struct nw_session *session,
			 const struct nw_session_options *options);
/* Name all threads of the processes that there are; births are recorded already, the events are not.
 * Where that cannot be, everybody's are recorded. -ENOMEM */
int nw_sched_filter_begin(struct nw_session *session);
/* Name the threads that were met meanwhile, unless the filters were written just before. */
void nw_sched_filter_update(struct nw_session *session);
/* A thread has ended: it is left out when the filters are written again. */
void nw_sched_filter_gone(struct nw_session *session, pid_t tid);
void nw_sched_filter_free(struct nw_sched_filter *filter);

/*
 * What a trigger of sched_switch fires for: `condition`, of the threads that are named and of those that will be born next, or of
 * everybody. The filter takes note of whom it has. NULL: no memory.
 */
char *nw_sched_filter_trigger(struct nw_sched_filter *filter, const char *condition);
/* Is there somebody whom the trigger does not have, as it was made the last time? */
bool nw_sched_filter_lacks_stacks(const struct nw_sched_filter *filter);
/* Where an event has the numbers and the names of threads; the second ones may be NULL. */
struct nw_sched_fields {
	const char *pid[2], *comm[2];
};
/* The filter of an event that tells of threads, by
 * their names and numbers: comm=="app"||pid==1||pid==2. -E2BIG: longer than the kernel takes (Documentation/trace/events.rst
 * does not tell: event_filter_write() refuses a page). -ENOMEM */
int nw_sched_filter_text(const struct nw_sched_filter *filter,
			 const struct nw_sched_fields *fields, struct nw_buf *out);

#endif
