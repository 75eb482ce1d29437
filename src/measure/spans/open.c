// SPDX-License-Identifier: MIT
/* See open.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "open.h"

enum {
	FIRST_BITS = 8,
	DEFAULT_MOST = 1 << 20
};

int nw_open_init(struct nw_open *open, size_t most)
{
	*open = (struct nw_open){.slots = 1 << FIRST_BITS,
				 .shift = 64 - FIRST_BITS,
				 .most = most ? most : DEFAULT_MOST};
	open->slot = calloc(open->slots, sizeof(*open->slot));
	return open->slot ? 0 : -ENOMEM;
}

void nw_open_free(struct nw_open *open)
{
	for (size_t i = 0; open->slot && i < open->slots; i++)
		free(open->slot[i].below);
	free(open->slot);
	*open = (struct nw_open){0};
}

/*
 * Makes a bigger table, or one of the same size if most keys have no open starts any more: keys that come only once
 * (request ids) are dropped here.
 */
static int rehash(struct nw_open *open)
{
	size_t live = 0;
	struct nw_open fresh = *open;

	for (size_t i = 0; i < open->slots; i++)
		live += open->slot[i].depth != 0;
	if (live * 4 > open->slots) {
		fresh.slots = open->slots * 2;
		fresh.shift = open->shift - 1;
	}
	fresh.slot = calloc(fresh.slots, sizeof(*fresh.slot));
	fresh.used = live;
	if (!fresh.slot)
		return -ENOMEM;
	for (size_t i = 0; i < open->slots; i++) {
		struct nw_open_slot *slot = &open->slot[i];
		if (slot->depth)
			*nw_open_find(&fresh, slot->span - 1, slot->key) = *slot;
		else
			free(slot->below);
	}
	free(open->slot);
	*open = fresh;
	return 0;
}

/* The result of making room for another start, if it is not -ENOMEM. */
enum sunk {
	SUNK,
	GIVEN_UP,
	GIVEN_UP_HIDDEN
};

static enum sunk give_up(struct nw_open *open, const struct nw_start *start)
{
	open->given_up = *start;
	open->gave_itself = false;
	return start->group == NW_HIDDEN ? GIVEN_UP_HIDDEN : GIVEN_UP;
}

/* Moves the innermost start down to make place for another one. */
static int sink_top(struct nw_open *open, struct nw_open_slot *slot, bool full)
{
	uint32_t below = slot->depth - 1;

	if (full || slot->depth == NW_DEEPEST) { /* the outermost start is given up */
		slot->outlived -= slot->outlived > 0;
		enum sunk sunk = give_up(open, below ? slot->below : &slot->top);
		if (below) {
			memmove(slot->below, slot->below + 1,
				(below - 1) * sizeof(*slot->below));
			slot->below[below - 1] = slot->top;
		}
		return (int)sunk;
	}
	if (below == slot->below_room) {
		uint32_t room = slot->below_room ? slot->below_room * 2 : 4;
		struct nw_start *grown = realloc(slot->below, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		slot->below = grown;
		slot->below_room = room;
	}
	slot->below[below] = slot->top;
	return SUNK;
}

int nw_open_push(struct nw_open *open, struct nw_open_slot *slot, uint32_t span,
		 uint64_t key, const struct nw_start *start)
{
	bool full = open->open >= open->most;
	int sunk = SUNK;

	if (nw_unlikely(full && !slot->depth)) {
		enum sunk itself = give_up(open, start);
		open->gave_itself = true;
		return itself == GIVEN_UP;
	}
	if (nw_unlikely(!slot->span)) { /* a free slot, which becomes the key's */
		if ((open->used + 1) * 2 > open->slots) {
			if (rehash(open) < 0)
				return -ENOMEM;
			slot = nw_open_find(open, span, key);
		}
		open->used++;
		slot->span = span + 1;
		slot->key = key;
	}
	if (nw_unlikely(slot->depth)) {
		sunk = sink_top(open, slot, full);
		if (sunk < 0)
			return sunk;
	}
	slot->top = *start;
	slot->depth += sunk == SUNK;
	open->open += sunk == SUNK;
	return sunk == GIVEN_UP;
}
