// SPDX-License-Identifier: MIT
/* The hits that open spans have begun with: a chained table, by span and time of the start. */
#include <errno.h>
#include <stdlib.h>

#include "nopwatch/summary.h"

struct kept {
	struct kept *next;
	uint64_t key, time;
	uint32_t span;
	struct nw_hit *hit;
};

enum {
	FIRST_SLOTS = 64
};

struct nw_starts {
	struct kept **slot;
	size_t slots, count;
	struct kept *last; /* what was handed out */
};

int nw_starts_open(struct nw_starts **out)
{
	struct nw_starts *starts = calloc(1, sizeof(*starts));

	if (starts) {
		starts->slots = FIRST_SLOTS;
		starts->slot = calloc(FIRST_SLOTS, sizeof(struct kept *));
	}
	if (!starts || !starts->slot) {
		free(starts);
		return -ENOMEM;
	}
	*out = starts;
	return 0;
}

static void free_kept(struct kept *kept)
{
	if (kept)
		free(kept->hit);
	free(kept);
}

void nw_starts_free(struct nw_starts *starts)
{
	if (!starts)
		return;
	for (size_t i = 0; i < starts->slots; i++) {
		for (struct kept *next, *it = starts->slot[i]; it; it = next) {
			next = it->next;
			free_kept(it);
		}
	}
	free_kept(starts->last);
	free(starts->slot);
	free(starts);
}

/* Not by the key: of calls that never return it is not told. */
static struct kept **slot_of(struct kept **slot, size_t slots, uint32_t span, uint64_t time)
{
	return &slot[nw_hash64(time ^ (uint64_t)span << 48) & (slots - 1)];
}

/* A larger table, if there is memory for it: longer chains are no error. */
static void grow(struct nw_starts *starts)
{
	size_t slots = starts->slots * 2;
	struct kept **slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return;
	for (size_t i = 0; i < starts->slots; i++) {
		for (struct kept *next, *it = starts->slot[i]; it; it = next) {
			struct kept **to = slot_of(slot, slots, it->span, it->time);
			next = it->next;
			it->next = *to;
			*to = it;
		}
	}
	free(starts->slot);
	starts->slot = slot;
	starts->slots = slots;
}

/* What cannot be kept is not known at the end. */
static void keep(struct nw_starts *starts, const struct nw_span_event *event)
{
	if (starts->count == NW_MOST_STARTS)
		return;
	struct kept *kept = malloc(sizeof(*kept));
	struct nw_hit *hit = nw_hit_copy(event->hit);
	if (!kept || !hit) {
		free(kept);
		free(hit);
		return;
	}
	if (starts->count == starts->slots)
		grow(starts);
	struct kept **slot = slot_of(starts->slot, starts->slots, event->span,
				     event->start);
	*kept = (struct kept){.next = *slot,
			      .key = event->key,
			      .time = event->start,
			      .span = event->span,
			      .hit = hit};
	*slot = kept;
	starts->count++;
}

const struct nw_hit *nw_starts_follow(struct nw_starts *starts,
				      const struct nw_span_event *event)
{
	free_kept(starts->last);
	starts->last = NULL;
	if (event->moment == NW_SPAN_BEGINS) {
		keep(starts, event);
		return NULL;
	}
	if (event->moment == NW_SPAN_ENDS_NOTHING)
		return NULL;
	struct kept **link = slot_of(starts->slot, starts->slots, event->span,
				     event->start);
	for (; *link; link = &(*link)->next) {
		struct kept *it = *link;
		if (it->span != event->span || it->time != event->start ||
		    (event->key && it->key != event->key))
			continue;
		*link = it->next;
		starts->last = it;
		starts->count--;
		return it->hit;
	}
	return NULL;
}
