/* SPDX-License-Identifier: MIT */
/*
 * Open calls of functions, by thread. A return ends the call that began with the same stack pointer, and nothing
 * else. So a latency is never that of another call, whatever longjmp(), exceptions and coroutines do to the order.
 *
 * It remains to find the calls that will never return. If a thread has one stack, these are known:
 *
 *  - a call begins at a higher stack pointer than an open call: the frame of the open call is gone
 *  - a call returns: the frames of all deeper calls are gone
 *  - a call begins at the stack pointer of an open call: either the frame of the open call is gone, or the open call
 *    ended in a jump to the new call (a tail call), and then both return, one directly after the other
 *
 * But a thread may run on several stacks (coroutines, sigaltstack), and nothing tells them apart. So calls that seem
 * to be gone are kept for a while. If one of them does return, the thread is known to switch stacks, and no such
 * conclusions are drawn from its calls any more. A call is abandoned for certain when another one begins at the same
 * stack pointer.
 *
 * Each goroutine has a stack of its own and runs on any thread: its calls are kept by goroutine. A Go function that
 * finds its stack too small, or that is preempted at its entry, is entered again afterwards: the same call begins
 * twice.
 *
 * Pairs of probes inside functions are handled in the same way, by the addresses of their frames (`frames`). Several
 * spans may begin and end in one frame in any order, so only deeper ones are gone. A second start at the same site in
 * the same frame seems to be another call of the function, whose frame has the address of the last call's frame. If
 * the earlier start ends after all, the probes are in a loop that keeps several spans open, which frames cannot tell
 * apart: the end is reported as NW_CALL_MISFIT, and the owner decides.
 */
#ifndef NOPWATCH_MEASURE_SPANS_CALLS_H
#define NOPWATCH_MEASURE_SPANS_CALLS_H

#include "open.h"
#include "stream/pages/stream.h"

/* The owner of the stack that a call is on. */
struct nw_stack_owner {
	uint64_t number; /* number of the thread, or address of the goroutine */
	int32_t process; /* process of the goroutine; 0: the owner is a thread */
	bool again;	 /* the call that begins will begin again */
	uint64_t base;	 /* goroutine: where its stack ends now */
};

static inline struct nw_stack_owner nw_thread_stack(int32_t tid)
{
	return (struct nw_stack_owner){.number = (uint32_t)tid};
}

/* Returns the stack pointer. NW_STACK_AGAIN has this meaning only in hits of goroutines. */
static inline uint64_t nw_stack_of(const struct nw_hit *hit)
{
	return hit->goroutine ? hit->stack & ~NW_STACK_AGAIN : hit->stack;
}

/* Finds the owner of the stack that the hit was on. Written field by field: copying a struct directly after writing
 * its parts would make the processor wait for them. */
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
	uint32_t site; /* with frames: the site where it began */
	/* A return probe reports its return: the kernel omits those beyond NW_RETURNS_MOST. */
	bool limited;
	/* It seems to be gone, because the same site was hit again in its frame */
	bool again;
};

/* MAX_URETPROBE_DEPTH of include/linux/uprobes.h: open calls with return probes per thread. */
enum {
	NW_RETURNS_MOST = 64
};

enum nw_call_fate {
	NW_CALL_ABANDONED, /* it never returned */
	NW_CALL_OMITTED,   /* the kernel does not report its return */
	NW_CALL_OPEN,	   /* its return is unknown */
	/* The call has begun again before anything else happened on its stack: a goroutine's call does so when the
	 * stack is moved, and another call may do so if an exception ended this one. */
	NW_CALL_REPEATED,
	/* The same, but it is certainly the same call, which is not over */
	NW_CALL_ONCE_MORE,
};

/* owner: the number of the call's thread, or the address of its goroutine. */
typedef void nw_call_over(void *arg, uint64_t owner, const struct nw_call *call,
			  enum nw_call_fate fate);

enum {
	NW_CALLS_DEEPEST = 1 << 16 /* open calls per thread; deeper calls are not kept */
};

/* The calls of a thread or goroutine. */
struct nw_calls_of {
	uint64_t number; /* as in struct nw_stack_owner */
	int32_t process;
	bool used;
	/* The last call on the stack will begin again; `base` is where the stack ended then. */
	bool again;
	uint64_t base;
	/* The thread has been seen on more than one stack. While it has not, the stack pointers of open calls never
	 * rise. */
	bool switches;
	uint32_t count, room;
	struct nw_call *open; /* in the order of their begin */
	uint64_t
		returned; /* stack pointer of the last event's call if that event was its return; else 0 */
	uint32_t gone_count;
	uint64_t gone_bits;   /* a Bloom filter of the stack pointers in `gone` */
	struct nw_call *gone; /* at most GONE, in the order of their begin */
};

struct nw_calls {
	struct nw_calls_of *thread; /* open-addressed */
	size_t threads, used;
	struct nw_calls_of
		*recent; /* entry of the thread that was searched last; NULL: it had none */
	unsigned int shift;
	int32_t recent_tid;
	size_t open, most; /* open calls that do not seem to be gone, and their limit */
	bool frames;
	/* Calls that began before this may have ended in a loss, as may all other calls on their stack: all of them
	 * are given up at the next event on that stack. */
	uint64_t loss_until;
	nw_call_over *over;
	void *over_arg;
};

enum nw_call_end {
	NW_CALL_NONE,	/* the span has no start in this thread */
	NW_CALL_STALE,	/* it had a start before a loss */
	NW_CALL_MISFIT, /* it has a start, but not in this frame */
	NW_CALL_RETURNED,
};

int nw_calls_init(struct nw_calls *calls, size_t most, bool frames, nw_call_over *over,
		  void *arg);
void nw_calls_free(struct nw_calls *calls);

/* ---- the usual way, inlined where hits are counted ----------------------------------- */

/* Returns the entry of a thread or goroutine, or the free entry where it belongs. */
static inline struct nw_calls_of *nw_calls_find(const struct nw_calls *calls,
						uint64_t number, int32_t process)
{
	size_t at = (number * 0x9e3779b97f4a7c15u) >> calls->shift;

	for (;; at = (at + 1) & (calls->threads - 1)) {
		struct nw_calls_of *thread = &calls->thread[at];
		/* A free entry is all zero, and may be taken for that of thread 0. */
		if (nw_likely(thread->number == number && thread->process == process) ||
		    !thread->used)
			return thread;
	}
}

/* Returns the entry of a thread, or the free one where it would go. Most hits have the same thread as the hit before. */
static nw_inlined struct nw_calls_of *nw_calls_of_thread(struct nw_calls *calls,
							 int32_t tid)
{
	if (nw_likely(calls->recent && calls->recent_tid == tid))
		return calls->recent;
	struct nw_calls_of *thread = nw_calls_find(calls, (uint32_t)tid, 0);
	/* A free entry may become that of another thread. */
	calls->recent = thread->used ? thread : NULL;
	calls->recent_tid = tid;
	return thread;
}

static inline uint64_t nw_calls_bit(uint64_t stack)
{
	return (uint64_t)1 << ((stack * 0x9e3779b97f4a7c15u) >> 58);
}

/* Did an open call begin before events were lost? */
static inline bool nw_calls_is_stale(const struct nw_calls *calls,
				     const struct nw_calls_of *thread)
{
	return thread->count && thread->open[0].start.time < calls->loss_until;
}

/* Is the innermost open call gone if another one begins at this stack pointer? */
static inline bool nw_calls_is_below(const struct nw_calls_of *thread, uint64_t stack)
{
	const struct nw_call *top = &thread->open[thread->count - 1];

	return top->stack <= stack || top->stack <= thread->returned;
}

/* May a call at this stack pointer be among the calls that seem to be gone, or is a search needed? */
static nw_inlined bool nw_calls_was_met(const struct nw_calls *calls,
					const struct nw_calls_of *thread, uint64_t stack)
{
	return (thread->gone_bits && (thread->gone_bits & nw_calls_bit(stack))) ||
	       (thread->switches && calls->frames);
}

/* Is it the usual case if a call begins at this stack pointer? Then no other call is affected, and there is room. */
static nw_inlined bool nw_calls_has_way(const struct nw_calls *calls,
					const struct nw_calls_of *thread, uint64_t stack)
{
	return nw_likely(thread->count != thread->room && calls->open < calls->most &&
			 (!thread->count || (!nw_calls_is_stale(calls, thread) &&
					     !nw_calls_is_below(thread, stack))) &&
			 !nw_calls_was_met(calls, thread, stack));
}

/* Begins a call on a thread's own stack in the usual case. Returns the place to write the call to; NULL: it is
 * another case, and nothing was changed. */
static nw_inlined struct nw_call *nw_calls_put(struct nw_calls *calls, int32_t tid,
					       uint64_t stack)
{
	struct nw_calls_of *thread = nw_calls_of_thread(calls, tid);

	if (nw_unlikely(!nw_calls_has_way(calls, thread, stack)))
		return NULL;
	thread->returned = 0;
	calls->open++;
	return &thread->open[thread->count++];
}

/* Passes a call on a thread's own stack by, in the usual case: it begins, and the thread's next event is its end.
 * Returns false if it is another case; then nothing was changed. */
static nw_inlined bool nw_calls_pass(struct nw_calls *calls, int32_t tid, uint64_t stack,
				     uint64_t time)
{
	struct nw_calls_of *thread = nw_calls_of_thread(calls, tid);

	if (nw_unlikely(!nw_calls_has_way(calls, thread, stack) ||
			(!thread->count && time < calls->loss_until)))
		return false;
	thread->returned = calls->frames ? 0 : stack;
	return true;
}

/* Returns the thread if its innermost call has this span and stack pointer and is not stale; else NULL. */
static nw_inlined struct nw_calls_of *nw_calls_top(struct nw_calls *calls, int32_t tid,
						   uint32_t span, uint64_t stack,
						   const struct nw_call **out)
{
	struct nw_calls_of *thread = nw_calls_of_thread(calls, tid);

	if (nw_unlikely(!thread->count))
		return NULL;
	const struct nw_call *top = &thread->open[thread->count - 1];
	*out = top;
	return nw_likely(top->stack == stack && top->span == span &&
			 !nw_calls_is_stale(calls, thread))
		       ? thread
		       : NULL;
}
/* Ends the innermost call. */
static nw_inlined void nw_calls_drop_top(struct nw_calls *calls, struct nw_calls_of *thread)
{
	thread->count--;
	calls->open--;
	thread->returned = calls->frames ? 0 : thread->open[thread->count].stack;
}

/* ---- any way -------------------------------------------------------------------------- */

/* Begins a call. Returns 1 if it is an open call that began again; -ENOMEM. */
int nw_calls_begin(struct nw_calls *calls, const struct nw_stack_owner *owner,
		   const struct nw_call *call);
/* Ends a call of that span. stack: as in hits. */
enum nw_call_end nw_calls_end(struct nw_calls *calls, const struct nw_stack_owner *owner,
			      uint32_t span, uint64_t stack, struct nw_call *out);
/* Has the call that began there then not returned, as far as is known? If its frame is gone it has, unless its thread
 * switches stacks. */
bool nw_calls_has(const struct nw_calls *calls, const struct nw_stack_owner *owner,
		  uint32_t span, uint64_t stack, uint64_t time);
/* Closes everything that is open on the owner's stack: the thread or goroutine has ended, or events are lost. */
void nw_calls_abandon(struct nw_calls *calls, const struct nw_stack_owner *owner,
		      enum nw_call_fate fate);
/* Does so for all goroutines of a process. */
void nw_calls_abandon_process(struct nw_calls *calls, int32_t process);
/* Removes a span, and passes its open calls to `take`, by thread and in the order of their begin. Returns -ENOMEM on
 * failure. */
int nw_calls_take(struct nw_calls *calls, uint32_t span,
		  int (*take)(void *arg, int32_t tid, const struct nw_call *call),
		  void *arg);
/* Closes all calls: the run is over. */
void nw_calls_finish(struct nw_calls *calls);

#endif
