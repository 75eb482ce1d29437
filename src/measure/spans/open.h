/* SPDX-License-Identifier: MIT */
/*
 * Spans that have begun and not ended: for every (span, key) a stack, since functions recurse
 * and spans nest. An open-addressed table; the innermost start is in the table itself, so that
 * the usual case, one open span a key, allocates nothing.
 */
#ifndef NOPWATCH_MEASURE_SPANS_OPEN_H
#define NOPWATCH_MEASURE_SPANS_OPEN_H

#include "nopwatch/stream.h"

enum {
	NW_HIDDEN = -2,
	/* Whose time a span is, if not a thread's (idle ones have negative numbers, by CPU): its goroutine's, or, of a span
	 * by an argument, a process or a CPU, nobody's that is known. */
	NW_START_GOROUTINE = INT32_MIN,
	NW_START_NOBODYS
};

struct nw_start {
	uint64_t time;
	uint64_t spent; /* what the hits of `whose` had cost up to then; 0: nobody asks */
	uint32_t cpu;
	int32_t group; /* of the start's hit, -1: it could not say; NW_HIDDEN: a filter took
			  it out, and its end will not count either */
	int32_t whose; /* a thread's number, NW_START_GOROUTINE, NW_START_NOBODYS */
	uint32_t after; /* what the start's hit cost behind its timestamp */
};

struct nw_open_slot {
	uint64_t key;
	uint32_t span;	/* number + 1; 0: free */
	uint32_t depth; /* starts; 0: none now */
	struct nw_start top;
	struct nw_start *below; /* depth - 1 of them, outermost first */
	uint32_t below_room;
	uint32_t
		outlived; /* so many, from the outermost on, have had another inside that has ended */
};

struct nw_open {
	struct nw_open_slot *slot;
	size_t slots, used; /* used: taken, with or without open starts */
	unsigned int shift; /* 64 - log2(slots) */
	size_t open;	    /* starts in all */
	size_t most;
	/* The start that the last push had to give up, if it did; it may be the one that was pushed. */
	struct nw_start given_up;
	bool gave_itself;
};

int nw_open_init(struct nw_open *open, size_t most);
void nw_open_free(struct nw_open *open);

/* Starts kept for one key: a program that never ends its spans must not fill our memory. */
enum {
	NW_DEEPEST = 1024
};

/* The slot of a key, or the free one where it would go; until the next push. */
static inline struct nw_open_slot *nw_open_find(const struct nw_open *open, uint32_t span,
						uint64_t key)
{
	/* Fibonacci hashing: the top bits of a product with 2^64 / the golden ratio. Threads'
	 * numbers and spans do not meet in the factor. */
	size_t at = ((key ^ (uint64_t)span << 32) * 0x9e3779b97f4a7c15u) >> open->shift;

	for (;; at = (at + 1) & (open->slots - 1)) {
		struct nw_open_slot *slot = &open->slot[at];
		if (nw_likely(slot->key == key && slot->span == span + 1) || !slot->span)
			return slot;
	}
}

/*
 * Push a start into the key's slot. Returns how many starts had to be given up for it, not
 * counting hidden ones, or -ENOMEM. Of a key that is NW_DEEPEST deep, or when there are too many in all, it is the key's
 * outermost, so that those that stay still find their own ends; this one itself if it would be
 * the first of its key.
 */
int nw_open_push(struct nw_open *open, struct nw_open_slot *slot, uint32_t span,
		 uint64_t key, const struct nw_start *start);

/* The same where the key is known and nothing of it is open, as usual: the place to write the start to; NULL: nothing is
 * done. */
static inline struct nw_start *nw_open_put(struct nw_open *open, struct nw_open_slot *slot)
{
	if (nw_unlikely(slot->depth || !slot->span || open->open >= open->most))
		return NULL;
	slot->depth = 1;
	open->open++;
	return &slot->top;
}

/* Take the innermost start of a key; false: there is none. */
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

/* Is the innermost start of a key the only one, and has had no other inside? Then it may be taken like this. */
static inline bool nw_open_is_single(const struct nw_open_slot *slot)
{
	return slot->depth == 1 && !slot->outlived;
}
static inline void nw_open_drop_single(struct nw_open *open, struct nw_open_slot *slot)
{
	slot->depth = 0;
	open->open--;
}

/* After the innermost start was taken since its end has come: had it another inside that had ended? */
static inline bool nw_open_outlived(struct nw_open_slot *slot)
{
	if (nw_likely(!(slot->depth | slot->outlived)))
		return false;
	bool had = slot->outlived > slot->depth;
	slot->outlived = slot->depth;
	return had;
}

#endif
