// SPDX-License-Identifier: MIT
/*
 * Copies of the hits with which open spans have begun: an open-addressed table by span and time of the start. Most
 * hits have no values; then nothing is allocated.
 */
#include <errno.h>
#include <stdlib.h>

#include "measure/spans/spans.h"

struct start {
	uint64_t key;
	/* Of two starts that differ only in this, the later one ends first. */
	uint64_t serial;
	uint32_t span; /* number + 1; 0: the slot is free */
	struct nw_hit hit;
	struct nw_hit *copy; /* owns the values; NULL: the hit has none */
	struct nw_task task;
};

enum {
	FIRST_SLOTS = 256
};

struct nw_span_starts {
	struct start *slot;
	size_t slots, count;
	uint64_t serial;
	unsigned int shift; /* 64 - log2(slots) */
	struct start last;  /* the start that nw_span_starts_follow() returned last */
	bool failed;	    /* there was no memory for a start */
	bool left_out;	    /* there were too many starts */
};

static int use_slots(struct nw_span_starts *starts, size_t slots)
{
	struct start *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	starts->slot = slot;
	starts->slots = slots;
	for (starts->shift = 64; slots > 1; slots /= 2)
		starts->shift--;
	return 0;
}

int nw_span_starts_open(struct nw_span_starts **out)
{
	struct nw_span_starts *starts = calloc(1, sizeof(*starts));

	if (!starts || use_slots(starts, FIRST_SLOTS) < 0) {
		free(starts);
		return -ENOMEM;
	}
	*out = starts;
	return 0;
}

bool nw_span_starts_failed(const struct nw_span_starts *starts)
{
	return starts && starts->failed;
}

void nw_span_starts_free(struct nw_span_starts *starts)
{
	if (!starts)
		return;
	for (size_t i = 0; i < starts->slots; i++)
		free(starts->slot[i].copy);
	free(starts->last.copy);
	free(starts->slot);
	free(starts);
}

/* The key is not hashed, because few spans begin at the same time. */
static nw_inlined size_t home_of(const struct nw_span_starts *starts, uint32_t span,
				 uint64_t time)
{
	return (size_t)(((time ^ (uint64_t)span << 48) * 0x9e3779b97f4a7c15u) >>
			starts->shift);
}

/* Returns the free slot for a start. */
static nw_inlined struct start *free_slot(const struct nw_span_starts *starts,
					  uint32_t span, uint64_t time)
{
	size_t at = home_of(starts, span, time);

	while (starts->slot[at].span)
		at = (at + 1) & (starts->slots - 1);
	return &starts->slot[at];
}

/* Returns the start, or the latest one if several of the same key have begun at the same time; NULL: none. */
static nw_inlined struct start *find(const struct nw_span_starts *starts, uint32_t span,
				     uint64_t key, uint64_t time)
{
	struct start *found = NULL;
	size_t at = home_of(starts, span, time);

	for (;; at = (at + 1) & (starts->slots - 1)) {
		struct start *it = &starts->slot[at];
		if (!it->span)
			return found;
		if (it->hit.time == time && it->span == span + 1 && it->key == key &&
		    (!found || it->serial > found->serial))
			found = it;
	}
}

/* Makes a larger table; returns false without memory. */
static nw_noinline bool grow(struct nw_span_starts *starts)
{
	struct nw_span_starts old = *starts;

	if (use_slots(starts, old.slots * 2) < 0)
		return false;
	for (size_t i = 0; i < old.slots; i++) {
		const struct start *it = &old.slot[i];
		if (it->span)
			*free_slot(starts, it->span - 1, it->hit.time) = *it;
	}
	free(old.slot);
	return true;
}

/* Keeps a start. If the table is full, the start will be unknown when its span ends. */
static void add_start(struct nw_span_starts *starts, const struct nw_span_event *event,
		      const struct nw_task *task)
{
	struct nw_hit *copy = NULL;

	if (nw_unlikely(starts->count == NW_MOST_STARTS)) {
		starts->left_out = true;
		return;
	}
	if (nw_unlikely(2 * starts->count >= starts->slots) && !grow(starts)) {
		starts->failed = true;
		return;
	}
	if (nw_unlikely(event->hit->values)) {
		copy = nw_hit_copy(event->hit);
		if (!copy) {
			starts->failed = true;
			return;
		}
	}
	struct start *it = free_slot(starts, event->span, event->start);
	starts->count++;
	it->serial = ++starts->serial;
	it->key = event->key;
	it->span = event->span + 1;
	it->hit = *event->hit;
	it->copy = copy;
	it->task = task ? *task : (struct nw_task){0};
}

/* Frees a slot. Entries behind it move up if their search would end at the free slot. */
static void close_gap(struct nw_span_starts *starts, size_t gap)
{
	size_t mask = starts->slots - 1;

	for (size_t at = (gap + 1) & mask; starts->slot[at].span; at = (at + 1) & mask) {
		const struct start *it = &starts->slot[at];
		size_t home = home_of(starts, it->span - 1, it->hit.time);
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		starts->slot[gap] = *it;
		gap = at;
	}
	starts->slot[gap].span = 0;
	starts->slot[gap].copy = NULL;
}

bool nw_span_starts_left_out(const struct nw_span_starts *starts)
{
	return starts->left_out;
}

size_t nw_span_starts_oldest(const struct nw_span_starts *starts, uint32_t span,
			     bool (*is_open)(const void *arg, uint32_t span,
					     const struct nw_open_span *open),
			     const void *arg, struct nw_open_span *out, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i < starts->slots; i++) {
		const struct start *it = &starts->slot[i];
		const struct nw_open_span open = {it->key, it->copy ? it->copy : &it->hit,
						  &it->task};
		if (it->span != span + 1 || !is_open(arg, span, &open))
			continue;
		size_t at = nw_min64(count++, most);
		for (; at && out[at - 1].began->time > open.began->time; at--)
			if (at < most)
				out[at] = out[at - 1];
		if (at < most)
			out[at] = open;
	}
	return count;
}

const struct nw_hit *nw_span_starts_follow(struct nw_span_starts *starts,
					   const struct nw_span_event *event,
					   const struct nw_task *task)
{
	free(starts->last.copy);
	starts->last.copy = NULL;
	if (event->moment == NW_SPAN_BEGINS) {
		add_start(starts, event, task);
		return NULL;
	}
	if (event->moment == NW_SPAN_ENDS_NOTHING)
		return NULL;
	struct start *it = find(starts, event->span, event->key, event->start);
	if (!it)
		return NULL;
	starts->last = *it;
	starts->count--;
	close_gap(starts, (size_t)(it - starts->slot));
	return starts->last.copy ? starts->last.copy : &starts->last.hit;
}
