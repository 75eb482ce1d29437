/* SPDX-License-Identifier: MIT */
/*
 * measure/sched: the states of threads during spans, computed from the scheduler's events, and the threads that end
 * their sleeps.
 */
#ifndef NOPWATCH_MEASURE_SCHED_THREADS_H
#define NOPWATCH_MEASURE_SCHED_THREADS_H

#include "measure/spans/spans.h"

/* The states of a thread. */
enum nw_task_state {
	NW_TASK_RUNNING,
	NW_TASK_RUNNABLE, /* it can run, but the CPU runs another thread */
	/* Until it is woken: by a lock, a socket or a timer; or stopped */
	NW_TASK_SLEEPING,
	NW_TASK_DISK,	/* sleeping in a way that signals do not interrupt */
	NW_TASK_OTHERS, /* time of a span that ended on another thread */
	NW_TASK_STATES
};
extern const char *const nw_task_state_names[NW_TASK_STATES]; /* "running", ... */

/* The sleeps that one thread ended, or that happened in one wait channel: their number and total time. */
struct nw_sleep {
	/* For wakers: a thread number or NW_WAKER_*. For wait channels: the address of a kernel function, or
	 * NW_WAKER_UNKNOWN. For both: NW_SLEEP_OTHERS. */
	uint64_t key;
	uint64_t ns, count;
	char comm[16]; /* name of the waking thread when it first ended such a sleep */
	/* The wait channel; NULL: the table counts wakers, or it is unknown. */
	const char *function;
};

/* A timer or a device, or work that an interrupt started */
#define NW_WAKER_INTERRUPT ((uint64_t)1 << 32)
#define NW_WAKER_UNKNOWN   ((uint64_t)2 << 32) /* the events do not tell */
#define NW_SLEEP_OTHERS	   UINT64_MAX /* all sleeps for which the table had no entry */

enum {
	NW_MOST_SLEEPS = 16
};

/* In the order of the first sleep. The last entry of a full table is NW_SLEEP_OTHERS. */
struct nw_sleeps {
	struct nw_sleep item[NW_MOST_SLEEPS];
	size_t count;
};

/* Sorts by total time, the longest first and NW_SLEEP_OTHERS last. */
void nw_sleeps_sort(struct nw_sleeps *sleeps);
/* Writes "comm/tid", "(interrupt)", "pipe_read", "(not told)" or "(others)". */
void nw_sleep_text(const struct nw_sleep *sleep, struct nw_buf *out);

/* The time that a span's thread spent in each state. */
struct nw_span_states {
	/* Adds up to the latency. */
	uint64_t ns[NW_TASK_STATES];
	/* The sleeps in states SLEEPING and DISK, by waker and by wait channel. */
	struct nw_sleeps wakers, channels;
};

/* Is it one of the scheduler's events from which states are computed: sched_switch, sched_waking or sched_wakeup? */
bool nw_is_scheduler_probe(const struct nw_probe *probe);
/* Returns the name of one of these events without its system; NULL behind the last one. */
const char *nw_scheduler_event(size_t number);
/* Writes the event as a spec with the arguments that are needed: "tracepoint:sched:sched_wakeup(pid)". */
void nw_scheduler_spec(size_t number, struct nw_buf *out);

/* Translates numbers in the events to names. */
struct nw_thread_names {
	/* Writes the current name of a thread. NULL: names are unknown. */
	void (*comm)(void *arg, int32_t tid, char out[16]);
	/* Returns the wait channel of a kernel stack and the address of that function; NULL: it is unknown. The text
	 * must outlive the summary. The function pointer is NULL if kernel symbols are unknown. */
	const char *(*channel)(void *arg, const struct nw_value *callers,
			       uint64_t *function);
	void *arg;
};

#endif
