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
#ifndef NOPWATCH_MEASURE_SPANS_CALLS_H
#define NOPWATCH_MEASURE_SPANS_CALLS_H

#include "nopwatch/stream.h"
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

/* On whose stack the hit was. Field by field: what is copied whole, just after its parts were written, makes
 * the processor wait for these. */
static inline void nw_stack_owner_of(const struct nw_hit *hit, int32_t pid,
				     struct nw_stack_owner *out)
{
	out->number = (uint32_t)hit->tid;
	out->process = 0;
	out->again = false;
	out->base = 0;
	if (nw_unlikely(hit->goroutine)) {
		out->number = hit->goroutine;
		out->process = pid ? pid : -1;
		out->base = hit->base;
		out->again = hit->stack & NW_STACK_AGAIN;
	}
}

struct nw_call {
	uint64_t stack;
	struct nw_start start;
	uint32_t span;
	uint32_t site; /* frames: where it began */
	/* Its return is told by a return probe: the kernel omits those beyond
	 * NW_RETURNS_MOST. */
	bool limited;
	bool again; /* it seems to be gone, since the same site was hit in its frame */
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

/* owner: the number of its thread, or the address of its goroutine. */
typedef void nw_call_over(void *arg, uint64_t owner, const struct nw_call *call,
			  enum nw_call_fate fate);

enum {
	NW_CALLS_DEEPEST = 1 << 16 /* open calls a thread: deeper ones are not kept */
};

/* Of one thread, or goroutine. */
struct nw_calls_of {
	uint64_t number; /* as struct nw_stack_owner has them */
	int32_t process;
	bool used;
	/* What began last on it will begin once more; where the stack ended then. */
	bool again;
	uint64_t base;
	/* It has been seen to run on more than one stack. While it has not, the stack pointers
	 * of what is open never rise. */
	bool switches;
	uint32_t count, room;
	struct nw_call *open; /* in the order they began */
	uint64_t returned;    /* stack of the last event's call, if that returned; else 0 */
	uint32_t gone_count;
	uint64_t gone_bits;   /* one of these is set for each stack pointer in gone */
	struct nw_call *gone; /* GONE at most, in the order they began */
};

struct nw_calls {
	struct nw_calls_of *thread; /* open-addressed */
	size_t threads, used;
	unsigned int shift;
	size_t open, most; /* calls that have begun and neither returned nor gone */
	bool frames;
	uint64_t
		loss_until; /* what began before this may have ended unseen, and so may the rest of its
				stack: it is given up when its stack is met */
	nw_call_over *over;
	void *over_arg;
};

enum nw_call_end {
	NW_CALL_NONE,	/* of that thread and span, nothing has begun */
	NW_CALL_STALE,	/* something had, before events were lost */
	NW_CALL_MISFIT, /* something has, but not there */
	NW_CALL_RETURNED,
};

int nw_calls_init(struct nw_calls *calls, size_t most, bool frames, nw_call_over *over,
		  void *arg);
void nw_calls_free(struct nw_calls *calls);

/* ---- the usual way, inlined where hits are counted ----------------------------------- */

/* The entry of a thread or goroutine, or the free one where it would go. */
static inline struct nw_calls_of *nw_calls_find(const struct nw_calls *calls,
						uint64_t number, int32_t process)
{
	size_t at = (number * 0x9e3779b97f4a7c15u) >> calls->shift;

	for (;; at = (at + 1) & (calls->threads - 1)) {
		struct nw_calls_of *thread = &calls->thread[at];
		/* a free one is all zero, and may be taken for that of 0 */
		if (nw_likely(thread->number == number && thread->process == process) ||
		    !thread->used)
			return thread;
	}
}

static inline uint64_t nw_calls_bit(uint64_t stack)
{
	return (uint64_t)1 << ((stack * 0x9e3779b97f4a7c15u) >> 58);
}

/* Did something that is open begin before events were lost? */
static inline bool nw_calls_is_stale(const struct nw_calls *calls,
				     const struct nw_calls_of *thread)
{
	return thread->count && thread->open[0].start.time < calls->loss_until;
}

/* Of the innermost open call: is it gone, if another begins at this stack? */
static inline bool nw_calls_is_below(const struct nw_calls_of *thread, uint64_t stack)
{
	const struct nw_call *top = &thread->open[thread->count - 1];

	return top->stack <= stack || top->stack <= thread->returned;
}

/* May something at this stack be among what seemed to be gone, or would have to be looked for? */
static inline bool nw_calls_was_met(const struct nw_calls *calls,
				    const struct nw_calls_of *thread, uint64_t stack)
{
	return (thread->gone_bits && (thread->gone_bits & nw_calls_bit(stack))) ||
	       (thread->switches && calls->frames);
}

/* A call begins on a thread's stack, and nothing is to be seen to: the place to write it to; NULL: nothing is done. */
static nw_inlined struct nw_call *nw_calls_put(struct nw_calls *calls, int32_t tid,
					       uint64_t stack)
{
	struct nw_calls_of *thread = nw_calls_find(calls, (uint32_t)tid, 0);

	if (nw_unlikely(thread->count == thread->room || calls->open >= calls->most ||
			(thread->count && (nw_calls_is_stale(calls, thread) ||
					   nw_calls_is_below(thread, stack))) ||
			nw_calls_was_met(calls, thread, stack)))
		return NULL;
	thread->returned = 0;
	calls->open++;
	return &thread->open[thread->count++];
}

/* The innermost call of a thread, if it is of that span and stack, and nothing is to be seen to; NULL. */
static nw_inlined struct nw_calls_of *nw_calls_top(const struct nw_calls *calls,
						   int32_t tid, uint32_t span,
						   uint64_t stack,
						   const struct nw_call **out)
{
	struct nw_calls_of *thread = nw_calls_find(calls, (uint32_t)tid, 0);

	if (nw_unlikely(!thread->count))
		return NULL;
	const struct nw_call *top = &thread->open[thread->count - 1];
	*out = top;
	return nw_likely(top->stack == stack && top->span == span &&
			 !nw_calls_is_stale(calls, thread))
		       ? thread
		       : NULL;
}
/* It returns. */
static nw_inlined void nw_calls_drop_top(struct nw_calls *calls, struct nw_calls_of *thread)
{
	thread->count--;
	calls->open--;
	thread->returned = calls->frames ? 0 : thread->open[thread->count].stack;
}

/* ---- any way -------------------------------------------------------------------------- */

/* A call begins. 1: it is one that has begun already, and began once more; -ENOMEM. */
int nw_calls_begin(struct nw_calls *calls, const struct nw_stack_owner *owner,
		   const struct nw_call *call);
/* A call of that span returns; stack as hits have it. */
enum nw_call_end nw_calls_end(struct nw_calls *calls, const struct nw_stack_owner *owner,
			      uint32_t span, uint64_t stack, struct nw_call *out);
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
