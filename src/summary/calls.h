/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions that have begun and not returned, by thread. A return ends the call that began
 * with the same stack pointer, and nothing else: so a latency is never that of another call,
 * whatever longjmp(), exceptions and coroutines do to the order.
 *
 * What remains is to tell which of the others will never return. On one stack that is known:
 *
 *	- a call at a higher stack pointer than one that is open: that one's frame is gone
 *	- a return: so are the frames of everything that began deeper
 *	- a call at the same one: either its frame is gone, or it ended in a jump to the new call
 *	  (a tail call), and then both return, one right after the other
 *
 * A thread may run on several stacks, though (coroutines, sigaltstack), and nothing tells them
 * apart. So what seems to be gone is kept for a while. If it does return, the thread is known to
 * switch, and of none of its calls is anything concluded any more. It is abandoned for certain
 * when another call begins at the same place.
 *
 * Goroutines have one stack each, which nothing else runs on, and run on any thread: their calls are
 * kept by goroutine, not by thread. A function that finds its stack too small, or that others are
 * to run, is called once more when that is done: the same call begins twice.
 *
 * The same holds of pairs of probes inside functions, by the addresses of their frames (`frames`).
 * There, much may begin and end in one frame, in any order, so only what is deeper is gone; but what
 * begins at the same site in the same frame again seems to be another call of that function, whose
 * frame lies where that of the last one was. Should the last one end after all, the probes are in a
 * loop that keeps several open, and frames do not tell these apart: that is no end of it
 * (NW_CALL_MISFIT), and it is for the owner to see that it does not fit.
 */
#ifndef NOPWATCH_SUMMARY_CALLS_H
#define NOPWATCH_SUMMARY_CALLS_H

#include "nopwatch/summary.h"
#include "open.h"

/* Whose stack a call is on. */
struct nw_stack_owner {
	uint64_t number; /* of the thread, or the address of the goroutine, */
	int32_t process; /* in this process; 0: it is a thread */
	bool again;	 /* the call that begins will begin once more */
	uint64_t base;	 /* goroutine: where its stack ends now */
};

static inline struct nw_stack_owner nw_thread_stack(int32_t tid)
{
	return (struct nw_stack_owner){.number = (uint32_t)tid};
}

/* NW_STACK_AGAIN is said of goroutines' only; a thread's bit is another. */
static inline uint64_t nw_stack_of(const struct nw_hit *hit)
{
	return hit->goroutine ? hit->stack & ~NW_STACK_AGAIN : hit->stack;
}

/* On whose stack the hit was. */
static inline struct nw_stack_owner nw_stack_owner_of(const struct nw_hit *hit, int32_t pid)
{
	struct nw_stack_owner owner = nw_thread_stack(hit->tid);

	if (nw_unlikely(hit->goroutine)) {
		owner.number = hit->goroutine;
		owner.process = pid ? pid : -1;
		owner.base = hit->base;
		owner.again = hit->stack & NW_STACK_AGAIN;
	}
	return owner;
}

struct nw_call {
	uint64_t stack;
	struct nw_start start;
	uint32_t span;
	uint32_t site : 30; /* frames: where it began */
	/* Its return is told by a return probe: the kernel omits those beyond
	 * NW_RETURNS_MOST. */
	bool limited : 1;
	bool again : 1; /* it seems to be gone, since the same site was hit in its frame */
};

/* MAX_URETPROBE_DEPTH of include/linux/uprobes.h: open calls with return probes a thread. */
enum {
	NW_RETURNS_MOST = 64
};

enum nw_call_fate {
	NW_CALL_ABANDONED, /* it never returned */
	NW_CALL_OMITTED,   /* the kernel does not tell of its return */
	NW_CALL_OPEN,	   /* nothing is known of its return */
	/* It has begun once more before anything else happened on its stack: as a goroutine's call does
	 * when that stack is moved, or as another one does if an exception ended this one. */
	NW_CALL_REPEATED,
	NW_CALL_ONCE_MORE, /* the same, but this is the same call for certain: it is not over */
};

typedef void nw_call_over(void *arg, const struct nw_call *call, enum nw_call_fate fate);

struct nw_calls_of;

struct nw_calls {
	struct nw_calls_of *thread; /* open-addressed */
	size_t threads, used;
	unsigned int shift;
	size_t open, most; /* calls that have begun and neither returned nor gone */
	bool frames;
	nw_call_over *over;
	void *over_arg;
};

enum nw_call_end {
	NW_CALL_NONE,	/* of that thread and span, nothing has begun */
	NW_CALL_MISFIT, /* something has, but not there */
	NW_CALL_RETURNED,
};

int nw_calls_init(struct nw_calls *calls, size_t most, bool frames, nw_call_over *over,
		  void *arg);
void nw_calls_free(struct nw_calls *calls);

/* A call begins. 1: it is one that has begun already, and began once more; -ENOMEM. */
int nw_calls_begin(struct nw_calls *calls, const struct nw_stack_owner *owner,
		   const struct nw_call *call);
/* A call of that span returns; stack as hits have it. */
enum nw_call_end nw_calls_end(struct nw_calls *calls, const struct nw_stack_owner *owner,
			      uint32_t span, uint64_t stack, struct nw_call *out);
/* Is something open that began before this time? */
bool nw_calls_has_older(const struct nw_calls *calls, const struct nw_stack_owner *owner,
			uint64_t time);
/* Everything of the owner that is open is over: it has ended, or events are missing. */
void nw_calls_abandon(struct nw_calls *calls, const struct nw_stack_owner *owner,
		      enum nw_call_fate fate);
/* So is that of all goroutines of a process. */
void nw_calls_abandon_process(struct nw_calls *calls, int32_t process);
/* Forget a span, and hand out what of it has not ended, in the order it began, by thread. -ENOMEM. */
int nw_calls_take(struct nw_calls *calls, uint32_t span,
		  int (*take)(void *arg, int32_t tid, const struct nw_call *call),
		  void *arg);
/* Everything is. */
void nw_calls_finish(struct nw_calls *calls);

#endif
