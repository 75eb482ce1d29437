/* SPDX-License-Identifier: MIT */
/*
 * Spans that have begun and not ended: a stack for every (span, key), since functions recurse and spans nest. The
 * table is open-addressed. The innermost start is in the table itself, so that the usual case, one open span per key,
 * allocates nothing.
 */
#ifndef NOPWATCH_MEASURE_SPANS_OPEN_H
#define NOPWATCH_MEASURE_SPANS_OPEN_H

#include "stream/pages/stream.h"

enum {
	NW_HIDDEN = -2,
	/* The owner of a span's time, if it is no thread (idle threads have negative numbers, by CPU): a goroutine,
	 * or, for a span keyed by an argument, a process or a CPU, no known owner. */
	NW_START_GOROUTINE = INT32_MIN,
	NW_START_NOBODYS,
	NW_START_HANDED /* the program measured the span itself, so no probe was inside */
};

struct nw_start {
	uint64_t time;
	uint64_t spent; /* cost of all hits of `whose` up to then; 0: not requested */
	uint32_t cpu;
	/* Group of the start's hit. -1: unknown; NW_HIDDEN: a filter has dropped the hit, and the end does not count
	 * either. */
	int32_t group;
	int32_t whose;	/* a thread number, or one of NW_START_... */
	uint32_t probe; /* of the start's hit */
};

struct nw_open_slot {
	uint64_t key;
	uint32_t span;	/* number + 1; 0: the slot is free */
	uint32_t depth; /* number of open starts */
	struct nw_start top;
	struct nw_start *below; /* depth - 1 starts, the outermost first */
	uint32_t below_room;
	/* How many starts, from the outermost on, had another span inside that has ended. With nest=outer: how many starts
	 * inside the only one have not ended. */
	uint32_t outlived;
};

struct nw_open {
	struct nw_open_slot *slot;
	size_t slots, used; /* used: slots that are taken, with or without open starts */
	unsigned int shift; /* 64 - log2(slots) */
	size_t open;	    /* number of all open starts */
	size_t most;
	/* The start that the last push gave up, if it did. gave_itself: it is the start that was to be pushed. */
	struct nw_start given_up;
	bool gave_itself;
};

int nw_open_init(struct nw_open *open, size_t most);
void nw_open_free(struct nw_open *open);

/* Limit of starts for one key: a program that never ends its spans must not fill our memory. */
enum {
	NW_DEEPEST = 1024
};

/* Returns the slot of a key, or the free slot where it belongs. Valid until the next push. */
static inline struct nw_open_slot *nw_open_find(const struct nw_open *open, uint32_t span,
						uint64_t key)
{
	/* Fibonacci hashing: the top bits of a product with 2^64 / the golden ratio. Thread numbers and span numbers
	 * use different bits of the factor. */
	size_t at = ((key ^ (uint64_t)span << 32) * 0x9e3779b97f4a7c15u) >> open->shift;

	for (;; at = (at + 1) & (open->slots - 1)) {
		struct nw_open_slot *slot = &open->slot[at];
		if (nw_likely(slot->key == key && slot->span == span + 1) || !slot->span)
			return slot;
	}
}

/*
 * Pushes a start into the slot of its key. Returns how many starts had to be given up for it, without hidden ones, or
 * -ENOMEM. If the key has NW_DEEPEST starts, or if there are too many starts in all, the outermost start of the key
 * is given up, so that the remaining starts still find their own ends; or the new start if it would be the first of
 * its key.
 */
int nw_open_push(struct nw_open *open, struct nw_open_slot *slot, uint32_t span,
		 uint64_t key, const struct nw_start *start);

/* Does the same in the usual case: the key is known and has no open start. Returns the place to write the start to;
 * NULL: it is another case, and nothing was changed. */
static inline struct nw_start *nw_open_put(struct nw_open *open, struct nw_open_slot *slot)
{
	if (nw_unlikely(slot->depth || !slot->span || open->open >= open->most))
		return NULL;
	slot->depth = 1;
	open->open++;
	return &slot->top;
}

/* Is the key known, without an open start, and has it room for one? */
static inline bool nw_open_is_idle(const struct nw_open *open,
				   const struct nw_open_slot *slot)
{
	return nw_likely(!slot->depth && slot->span && !slot->outlived &&
			 open->open < open->most);
}

/* Removes the innermost start of a key. Returns false if there is none. */
static inline bool nw_open_pop(struct nw_open *open, struct nw_open_slot *slot,
			       struct nw_start *out)
{
	if (!slot->depth)
		return false;
	*out = slot->top;
	open->open--;
	if (nw_unlikely(--slot->depth))
		slot->top = slot->below[slot->depth - 1];
	return true;
}

/* Has the key a single start, without a span that ended inside? Then nw_open_drop_single() may remove it. */
static inline bool nw_open_is_single(const struct nw_open_slot *slot)
{
	return slot->depth == 1 && !slot->outlived;
}
static inline void nw_open_drop_single(struct nw_open *open, struct nw_open_slot *slot)
{
	slot->depth = 0;
	open->open--;
}

/* To be called after the innermost start was removed by its end: had it another span inside that has ended? */
static inline bool nw_open_outlived(struct nw_open_slot *slot)
{
	if (nw_likely(!(slot->depth | slot->outlived)))
		return false;
	bool had = slot->outlived > slot->depth;
	slot->outlived = slot->depth;
	return had;
}

#endif
