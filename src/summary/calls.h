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

/* A call begins. -ENOMEM. */
int nw_calls_begin(struct nw_calls *calls, int32_t tid, const struct nw_call *call);
/* A call of that span returns; stack as hits have it. */
enum nw_call_end nw_calls_end(struct nw_calls *calls, int32_t tid, uint32_t span,
			      uint64_t stack, struct nw_call *out);
/* Is something open that began before this time? */
bool nw_calls_has_older(const struct nw_calls *calls, int32_t tid, uint64_t time);
/* Everything of the thread that is open is over: it has ended, or events are missing. */
void nw_calls_abandon(struct nw_calls *calls, int32_t tid, enum nw_call_fate fate);
/* Forget a span, and hand out what of it has not ended, in the order it began, by thread. -ENOMEM. */
int nw_calls_take(struct nw_calls *calls, uint32_t span,
		  int (*take)(void *arg, int32_t tid, const struct nw_call *call),
		  void *arg);
/* Everything is. */
void nw_calls_finish(struct nw_calls *calls);

#endif
