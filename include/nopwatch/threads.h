/* SPDX-License-Identifier: MIT */
/*
 * measure/sched: the states of threads during spans, by the scheduler's events, and the threads that end their
 * sleeps.
 */
#ifndef NOPWATCH_THREADS_H
#define NOPWATCH_THREADS_H

#include "nopwatch/spans.h"

/* Where the time of a span goes. */
enum nw_task_state {
	NW_TASK_RUNNING,
	NW_TASK_RUNNABLE, /* it could run, but the CPU did something else */
	NW_TASK_SLEEPING, /* until it is woken: by a lock, a socket, a timer; or stopped */
	NW_TASK_DISK,	  /* the same, and signals do not wake it */
	NW_TASK_OTHERS,	  /* the span has ended on another thread */
	NW_TASK_STATES
};
extern const char *const nw_task_state_names[NW_TASK_STATES]; /* "running", ... */

/* Who ended sleeps, or where they were: so many of them, and how long they were together. */
struct nw_sleep {
	/* of whom: a thread's number, or one of NW_WAKER_*; of where: the address of a function of the
	 * kernel's, NW_WAKER_UNKNOWN; NW_SLEEP_OTHERS */
	uint64_t key;
	uint64_t ns, count;
	char comm[16]; /* the thread's name when it first woke one */
	const char *
		function; /* where they slept; NULL: that is not what is counted, or not known */
};

#define NW_WAKER_INTERRUPT ((uint64_t)1 << 32) /* a timer, a device, or what they set off */
#define NW_WAKER_UNKNOWN   ((uint64_t)2 << 32) /* the events do not say */
#define NW_SLEEP_OTHERS	   UINT64_MAX	       /* those for whom there was no room */

enum {
	NW_MOST_SLEEPS = 16
};

/* As they come; the last of a full one is NW_SLEEP_OTHERS. */
struct nw_sleeps {
	struct nw_sleep item[NW_MOST_SLEEPS];
	size_t count;
};

/* The longest first, and the others last. */
void nw_sleeps_sort(struct nw_sleeps *sleeps);
/* "comm/tid", "(interrupt)", "pipe_read", "(not told)", "(others)" */
void nw_sleep_text(const struct nw_sleep *sleep, struct nw_buf *out);

/* What became of a thread while its span was open. */
struct nw_span_states {
	uint64_t ns
		[NW_TASK_STATES]; /* so long in which state, which adds up to the latency */
	/* of what was sleeping or disk: who ended it, and where it was */
	struct nw_sleeps wakers, channels;
};

/* Is it one of the scheduler's events that tell this? sched_switch, sched_waking, sched_wakeup */
bool nw_is_scheduler_probe(const struct nw_probe *probe);
/* The number-th of them, without its system; NULL: there are no more. */
const char *nw_scheduler_event(size_t number);
/* As a spec with the arguments that tell it: "tracepoint:sched:sched_wakeup(pid)". */
void nw_scheduler_spec(size_t number, struct nw_buf *out);

/* How what the events have as numbers is called. */
struct nw_thread_names {
	/* The name of a thread, as of now; NULL: none are known. */
	void (*comm)(void *arg, int32_t tid, char out[16]);
	/* The wait channel of a stack of the kernel's, and the address of that function; NULL: it cannot be
	 * told. The text stays as long as the summary. NULL: none is known. */
	const char *(*channel)(void *arg, const struct nw_value *callers,
			       uint64_t *function);
	void *arg;
};

#endif
