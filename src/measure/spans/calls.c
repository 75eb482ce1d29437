// SPDX-License-Identifier: MIT
/* See calls.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum {
	FIRST_BITS = 6,
	DEFAULT_MOST = 1 << 20,
	DEEPEST = NW_CALLS_DEEPEST,
	/* Limit of open calls of a thread that switches stacks, where no call is ever known to be gone. */
	SWITCHING = 1024,
	GONE = 256 /* limit of kept calls per thread that seem to be gone */
};

int nw_calls_init(struct nw_calls *calls, size_t most, bool frames, nw_call_over *over,
		  void *arg)
{
	*calls = (struct nw_calls){.threads = 1 << FIRST_BITS,
				   .shift = 64 - FIRST_BITS,
				   .most = most ? most : DEFAULT_MOST,
				   .frames = frames,
				   .over = over,
				   .over_arg = arg};
	calls->thread = calloc(calls->threads, sizeof(*calls->thread));
	return calls->thread ? 0 : -ENOMEM;
}

static void free_thread(struct nw_calls_of *thread)
{
	free(thread->open);
	free(thread->gone);
}

void nw_calls_free(struct nw_calls *calls)
{
	for (size_t i = 0; calls->thread && i < calls->threads; i++)
		free_thread(&calls->thread[i]);
	free(calls->thread);
	*calls = (struct nw_calls){0};
}

/* ---- threads ------------------------------------------------------------------------ */

/* Makes a bigger table, or one of the same size if most threads have nothing open. Threads without open calls are
 * dropped. */
static int rehash(struct nw_calls *calls)
{
	struct nw_calls fresh = *calls;
	size_t live = 0;

	fresh.recent = NULL;
	for (size_t i = 0; i < calls->threads; i++)
		live += calls->thread[i].count || calls->thread[i].gone_count;
	if (live * 4 > calls->threads) {
		fresh.threads = calls->threads * 2;
		fresh.shift = calls->shift - 1;
	}
	fresh.thread = calloc(fresh.threads, sizeof(*fresh.thread));
	fresh.used = live;
	if (!fresh.thread)
		return -ENOMEM;
	for (size_t i = 0; i < calls->threads; i++) {
		struct nw_calls_of *thread = &calls->thread[i];
		if (thread->count || thread->gone_count)
			*nw_calls_find(&fresh, thread->number, thread->process) = *thread;
		else
			free_thread(thread);
	}
	free(calls->thread);
	*calls = fresh;
	return 0;
}

/* ---- what is gone ------------------------------------------------------------------- */

static void remove_gone(struct nw_calls_of *thread, uint32_t at)
{
	memmove(&thread->gone[at], &thread->gone[at + 1],
		(--thread->gone_count - at) * sizeof(*thread->gone));
	thread->gone_bits = 0;
	for (uint32_t i = 0; i < thread->gone_count; i++)
		thread->gone_bits |= nw_calls_bit(thread->gone[i].stack);
}

/* Gives up one of the calls that seem to be gone. */
static void settle_gone(const struct nw_calls *calls, struct nw_calls_of *thread,
			uint32_t at)
{
	bool certain = !thread->switches || thread->gone[at].again;

	calls->over(calls->over_arg, thread->number, &thread->gone[at],
		    certain ? NW_CALL_ABANDONED : NW_CALL_OPEN);
	remove_gone(thread, at);
}

/*
 * Returns the index of the first open call for which the kernel has no return probe. Calls at the same stack pointer
 * count once: except for tail calls, all of them but the last have been abandoned.
 */
static uint32_t first_omitted(const struct nw_calls_of *thread)
{
	uint32_t depth = 0, i = 0;

	if (thread->count <= NW_RETURNS_MOST || thread->switches)
		return UINT32_MAX;
	for (; i < thread->count; i++) {
		depth += thread->open[i].limited &&
			 (i == 0 || thread->open[i].stack != thread->open[i - 1].stack);
		if (depth > NW_RETURNS_MOST)
			break;
	}
	return i;
}

/* Keeps an open call that seems to be gone. Without memory the call is abandoned at once. */
static void keep_gone(const struct nw_calls *calls, struct nw_calls_of *thread,
		      const struct nw_call *call)
{
	if (!thread->gone)
		thread->gone = malloc(GONE * sizeof(*thread->gone));
	if (!thread->gone) {
		calls->over(calls->over_arg, thread->number, call, NW_CALL_ABANDONED);
		return;
	}
	if (thread->gone_count == GONE)
		settle_gone(calls, thread, 0);
	thread->gone[thread->gone_count++] = *call;
	thread->gone_bits |= nw_calls_bit(call->stack);
}

/* Closes the open calls from this index on, which cannot return any more unless the thread has several stacks. */
static void close_calls_above(struct nw_calls *calls, struct nw_calls_of *thread,
			      uint32_t first)
{
	uint32_t omitted = first_omitted(thread);

	for (uint32_t i = first; i < thread->count; i++) {
		if (i >= omitted &&
		    thread->open[i].limited) /* its return is not reported */
			calls->over(calls->over_arg, thread->number, &thread->open[i],
				    NW_CALL_OMITTED);
		else
			keep_gone(calls, thread, &thread->open[i]);
	}
	calls->open -= thread->count - first;
	thread->count = first;
}

static void remove_open(struct nw_calls *calls, struct nw_calls_of *thread, uint32_t at)
{
	memmove(&thread->open[at], &thread->open[at + 1],
		(--thread->count - at) * sizeof(*thread->open));
	calls->open--;
}

/* Closes all calls of a thread. fate: of open calls that are not known to be gone. */
static void abandon(struct nw_calls *calls, struct nw_calls_of *thread,
		    enum nw_call_fate fate)
{
	while (thread->gone_count)
		settle_gone(calls, thread, 0);
	uint32_t omitted = first_omitted(thread);
	for (uint32_t i = 0; i < thread->count; i++) {
		const struct nw_call *call = &thread->open[i];
		bool gone = call->stack <= thread->returned && !thread->switches;
		calls->over(calls->over_arg, thread->number, call,
			    i >= omitted && call->limited ? NW_CALL_OMITTED
			    : gone			  ? NW_CALL_ABANDONED
							  : fate);
	}
	calls->open -= thread->count;
	thread->count = 0;
	thread->returned = 0;
}

/* Closes all calls of a thread after a loss: any of them may have ended. */
static void abandon_stale(struct nw_calls *calls, struct nw_calls_of *thread)
{
	abandon(calls, thread, NW_CALL_OPEN);
	thread->switches = false;
}

/* ---- beginning ---------------------------------------------------------------------- */

/* Before a call begins at this stack pointer, closes the open calls that cannot be open any more. */
static nw_noinline void clear_way(struct nw_calls *calls, struct nw_calls_of *thread,
				  uint64_t stack)
{
	uint32_t first = thread->count, same;

	for (uint32_t i = thread->gone_count; i-- > 0;)
		if (thread->gone[i].stack == stack)
			settle_gone(calls, thread, i);
	if (thread->switches)
		return;
	/* The returns of a chain of tail calls come one directly after the other. A call that is still open after
	 * such a return was no part of the chain. */
	while (first && (thread->open[first - 1].stack < stack ||
			 thread->open[first - 1].stack <= thread->returned))
		first--;
	close_calls_above(calls, thread, first);
	same = first;
	while (same && thread->open[same - 1].stack == stack)
		same--;
	if (first - same < NW_RETURNS_MOST)
		return;
	calls->over(calls->over_arg, thread->number, &thread->open[same],
		    NW_CALL_ABANDONED);
	remove_open(calls, thread, same);
}

/* Closes the calls that a start in this frame has ended: those of deeper frames, and one that the same site began here. */
static nw_noinline void clear_frame(struct nw_calls *calls, struct nw_calls_of *thread,
				    const struct nw_call *call)
{
	uint32_t first = thread->count;

	for (uint32_t i = thread->gone_count; i-- > 0;)
		if (thread->gone[i].stack == call->stack &&
		    thread->gone[i].span == call->span &&
		    thread->gone[i].site == call->site)
			settle_gone(calls, thread, i);
	while (!thread->switches && first && thread->open[first - 1].stack < call->stack)
		first--;
	close_calls_above(calls, thread, first);
	for (uint32_t i = thread->count; i-- > 0;) {
		struct nw_call old = thread->open[i];
		if (old.stack != call->stack || old.span != call->span ||
		    old.site != call->site)
			continue;
		old.again = true;
		remove_open(calls, thread, i);
		keep_gone(calls, thread, &old);
		break;
	}
}

/* Makes room for another call. Returns false if the call cannot be kept; it is over then. */
static nw_noinline bool make_room(struct nw_calls *calls, struct nw_calls_of *thread,
				  const struct nw_call *call, int *ret)
{
	if (thread->switches && thread->count >= SWITCHING) {
		calls->over(calls->over_arg, thread->number, &thread->open[0],
			    NW_CALL_OPEN);
		remove_open(calls, thread, 0);
	}
	if (thread->count == DEEPEST || calls->open >= calls->most) {
		bool deep = call->limited && thread->count >= NW_RETURNS_MOST;
		calls->over(calls->over_arg, thread->number, call,
			    deep ? NW_CALL_OMITTED : NW_CALL_OPEN);
		return false;
	}
	if (thread->count < thread->room)
		return true;
	uint32_t room = thread->room ? thread->room * 2 : 8;
	struct nw_call *grown = realloc(thread->open, room * sizeof(*grown));
	if (!grown) {
		*ret = -ENOMEM;
		return false;
	}
	thread->open = grown;
	thread->room = room;
	return true;
}

/*
 * Has the goroutine's last call begun again? It has for certain if its stack was seen to be too small; then it has
 * been running since its first begin. If only the stack has moved, the call may have begun again, or a function that
 * is not measured has moved the stack and an exception has ended the last call: then the call is measured from now.
 */
static nw_noinline bool begins_again(const struct nw_calls *calls,
				     struct nw_calls_of *thread,
				     const struct nw_stack_owner *owner,
				     const struct nw_call *call, int *ret)
{
	struct nw_call *top = &thread->open[thread->count - 1];
	bool certain = thread->again;

	if (!owner->base || thread->returned || top->stack != call->stack ||
	    top->span != call->span || (!certain && thread->base == owner->base))
		return false;
	calls->over(calls->over_arg, thread->number, top,
		    certain ? NW_CALL_ONCE_MORE : NW_CALL_REPEATED);
	if (!certain)
		*top = *call;
	*ret = certain;
	return true;
}

/* Notes facts of the call that begins, for the next one. */
static void note_owner(struct nw_calls_of *thread, const struct nw_stack_owner *owner)
{
	thread->returned = 0;
	thread->base = owner->base;
	thread->again = owner->again;
}

int nw_calls_begin(struct nw_calls *calls, const struct nw_stack_owner *owner,
		   const struct nw_call *call)
{
	struct nw_calls_of *thread = nw_calls_find(calls, owner->number, owner->process);
	int ret = 0;

	if (!thread->used) { /* a free entry, which becomes the thread's */
		if ((calls->used + 1) * 2 > calls->threads) {
			if (rehash(calls) < 0)
				return -ENOMEM;
			thread = nw_calls_find(calls, owner->number, owner->process);
		}
		calls->used++;
		*thread = (struct nw_calls_of){
			.used = true, .number = owner->number, .process = owner->process};
	}
	if (nw_calls_is_stale(calls, thread))
		abandon_stale(calls, thread);
	if ((thread->count && nw_calls_is_below(thread, call->stack)) ||
	    nw_calls_was_met(calls, thread, call->stack)) {
		if (thread->count && begins_again(calls, thread, owner, call, &ret)) {
			note_owner(thread, owner);
			return ret;
		}
		if (calls->frames)
			clear_frame(calls, thread, call);
		else
			clear_way(calls, thread, call->stack);
	}
	note_owner(thread, owner);
	if ((thread->count == thread->room || thread->count == DEEPEST ||
	     calls->open >= calls->most) &&
	    !make_room(calls, thread, call, &ret))
		return ret;
	thread->open[thread->count++] = *call;
	calls->open++;
	return 0;
}

/* ---- returning ---------------------------------------------------------------------- */

/*
 * Returns the index of the open call that returned, or -1: of several at the same stack pointer, the newest. loose:
 * the function may have popped its arguments. The arguments of its callers are above it, and calls that are below it
 * and older are gone, so the outermost possible call is taken.
 */
static int64_t find_open(const struct nw_calls_of *thread, uint32_t span, uint64_t stack,
			 bool loose)
{
	for (uint32_t i = thread->count; i-- > 0;)
		if (thread->open[i].stack == stack && thread->open[i].span == span)
			return i;
	for (uint32_t i = 0; loose && !thread->switches && i < thread->count; i++) {
		const struct nw_call *call = &thread->open[i];
		if (call->span == span && call->stack < stack &&
		    stack - call->stack <= NW_MOST_POPS)
			return i;
	}
	return -1;
}

/*
 * A call that seemed to be gone returns: its thread switches between several stacks. If events were lost meanwhile, the
 * return may be that of another call, whose entry is among them: such a call is discarded.
 */
static enum nw_call_end end_gone(const struct nw_calls *calls, struct nw_calls_of *thread,
				 uint32_t span, uint64_t stack, struct nw_call *out)
{
	for (uint32_t i = thread->gone_count; i-- > 0;) {
		const struct nw_call *call = &thread->gone[i];
		if (call->stack != stack || call->span != span || call->again)
			continue;
		*out = *call;
		remove_gone(thread, i);
		if (out->start.time < calls->loss_until) {
			calls->over(calls->over_arg, thread->number, out, NW_CALL_OPEN);
			return NW_CALL_STALE;
		}
		thread->switches = true;
		return NW_CALL_RETURNED;
	}
	return NW_CALL_NONE;
}

/* Has the span a start without an end? */
static bool has_span(const struct nw_calls_of *thread, uint32_t span)
{
	for (uint32_t i = 0; i < thread->count; i++)
		if (thread->open[i].span == span)
			return true;
	for (uint32_t i = 0; i < thread->gone_count; i++)
		if (thread->gone[i].span == span)
			return true;
	return false;
}

enum nw_call_end nw_calls_end(struct nw_calls *calls, const struct nw_stack_owner *owner,
			      uint32_t span, uint64_t stack, struct nw_call *out)
{
	struct nw_calls_of *thread = nw_calls_find(calls, owner->number, owner->process);
	bool loose = stack & NW_STACK_LOOSE;

	stack &= ~NW_STACK_LOOSE;
	if (!thread->used)
		return NW_CALL_NONE;
	if (nw_calls_is_stale(calls, thread)) {
		abandon_stale(calls, thread);
		return NW_CALL_STALE;
	}
	int64_t found = find_open(thread, span, stack, loose);
	if (found < 0) {
		enum nw_call_end ended = end_gone(calls, thread, span, stack, out);
		return ended == NW_CALL_NONE && calls->frames && has_span(thread, span)
			       ? NW_CALL_MISFIT
			       : ended;
	}
	uint32_t at = (uint32_t)found, first = at + 1;
	*out = thread->open[at];
	/* Calls that began later have been left without a return. In one frame, however, several spans may be open
	 * and end in any order. */
	while (calls->frames && first < thread->count &&
	       thread->open[first].stack == out->stack)
		first++;
	if (!thread->switches)
		close_calls_above(calls, thread, first);
	remove_open(calls, thread, at);
	thread->returned = calls->frames ? 0 : out->stack;
	return NW_CALL_RETURNED;
}

/* ---- what is open ------------------------------------------------------------------- */

/* Returns the index of the first call of the list that began then or later. */
static uint32_t since(const struct nw_call *list, uint32_t count, uint64_t time)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = low + (count - low) / 2;
		if (list[middle].start.time < time)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

static const struct nw_call *find_begun(const struct nw_call *list, uint32_t count,
					uint32_t span, uint64_t stack, uint64_t time)
{
	for (uint32_t i = since(list, count, time); i < count; i++) {
		if (list[i].start.time != time)
			return NULL;
		if (list[i].span == span && list[i].stack == stack)
			return &list[i];
	}
	return NULL;
}

bool nw_calls_has(const struct nw_calls *calls, const struct nw_stack_owner *owner,
		  uint32_t span, uint64_t stack, uint64_t time)
{
	const struct nw_calls_of *thread = nw_calls_find(calls, owner->number,
							 owner->process);

	if (find_begun(thread->open, thread->count, span, stack, time))
		return thread->switches || stack > thread->returned;
	for (uint32_t i = 0; thread->switches && i < thread->gone_count; i++)
		if (!thread->gone[i].again &&
		    find_begun(&thread->gone[i], 1, span, stack, time))
			return true;
	return false;
}

/* ---- the end ------------------------------------------------------------------------ */

void nw_calls_abandon(struct nw_calls *calls, const struct nw_stack_owner *owner,
		      enum nw_call_fate fate)
{
	struct nw_calls_of *thread = nw_calls_find(calls, owner->number, owner->process);

	abandon(calls, thread, fate);
	thread->switches = false;
}

void nw_calls_abandon_process(struct nw_calls *calls, int32_t process)
{
	for (size_t i = 0; i < calls->threads; i++)
		if (calls->thread[i].used && calls->thread[i].process == process)
			abandon(calls, &calls->thread[i], NW_CALL_ABANDONED);
}

void nw_calls_finish(struct nw_calls *calls)
{
	for (size_t i = 0; i < calls->threads; i++)
		abandon(calls, &calls->thread[i], NW_CALL_OPEN);
}

/* ---- giving away -------------------------------------------------------------------- */

/* Moves the calls of a span from a list to the end of another one. Returns how many calls stay. */
static uint32_t take_from(struct nw_call *list, uint32_t count, uint32_t span,
			  struct nw_call *out, uint32_t *taken)
{
	uint32_t stay = 0;

	for (uint32_t i = 0; i < count; i++)
		if (list[i].span == span)
			out[(*taken)++] = list[i];
		else
			list[stay++] = list[i];
	return stay;
}

static int by_start(const void *a, const void *b)
{
	const struct nw_call *x = a, *y = b;

	return x->start.time < y->start.time ? -1 : x->start.time > y->start.time;
}

static int take_of(struct nw_calls *calls, struct nw_calls_of *thread, uint32_t span,
		   int (*take)(void *arg, int32_t tid, const struct nw_call *call),
		   void *arg)
{
	uint32_t before = thread->count, taken = 0;
	struct nw_call *list = calloc(before + thread->gone_count + 1, sizeof(*list));
	int ret = 0;

	if (!list)
		return -ENOMEM;
	thread->gone_count = take_from(thread->gone, thread->gone_count, span, list,
				       &taken);
	thread->count = take_from(thread->open, before, span, list, &taken);
	calls->open -= before - thread->count;
	qsort(list, taken, sizeof(*list), by_start);
	for (uint32_t i = 0; i < taken && ret == 0; i++)
		ret = take(arg, (int32_t)thread->number, &list[i]);
	free(list);
	return ret;
}

int nw_calls_take(struct nw_calls *calls, uint32_t span,
		  int (*take)(void *arg, int32_t tid, const struct nw_call *call),
		  void *arg)
{
	int ret = 0;

	for (size_t i = 0; i < calls->threads && ret == 0; i++)
		if (calls->thread[i].used)
			ret = take_of(calls, &calls->thread[i], span, take, arg);
	return ret;
}
