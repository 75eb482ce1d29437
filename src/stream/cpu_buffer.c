// SPDX-License-Identifier: MIT
/* One lane: its queue of pages, and the walk over them. */
#include <stdlib.h>

#include "cpu_buffer.h"

/* Pages that every lane always gets, whatever the others hold. */
enum {
	RESERVED = 2
};

/*
 * A page to read into; NULL when the budget is used up. Part of it is set aside, so that every
 * lane always gets RESERVED pages: as long as every lane can be looked at and moves on by a
 * page, the oldest events can be handed out, and pages become free.
 */
struct nw_slab *nw_slab_take(struct nw_stream *s, const struct nw_lane *lane)
{
	struct nw_slab *slab = s->free;

	if (lane->queued >= RESERVED && s->queued >= s->budget - RESERVED * s->lanes)
		return NULL;
	if (!slab)
		return calloc(1, sizeof(*slab) + s->formats->page.size);
	s->free = slab->next;
	slab->next = NULL;
	return slab;
}

void nw_slab_give(struct nw_stream *s, struct nw_slab *slab)
{
	slab->next = s->free;
	s->free = slab;
}

void nw_lane_queue(struct nw_stream *s, struct nw_lane *lane, struct nw_slab *slab)
{
	struct nw_page page;

	slab->empty_since = lane->empty_at;
	if (lane->last)
		lane->last->next = slab;
	else
		lane->first = slab;
	lane->last = slab;
	lane->queued++;
	s->queued++;
	/* its stamp bounds what follows from below; good enough for `known` */
	if (nw_page_open(&page, &s->formats->page, slab->bytes, slab->len) == 0)
		lane->last_queued = nw_max64(lane->last_queued, page.time);
	s->stats.pages++;
}

/* The page being walked is done with: on to the next. */
void nw_lane_drop_page(struct nw_stream *s, struct nw_lane *lane)
{
	struct nw_slab *slab = lane->first;

	lane->open = false;
	if (!slab)
		return;
	lane->first = slab->next;
	if (!lane->first)
		lane->last = NULL;
	lane->queued--;
	s->queued--;
	nw_slab_give(s, slab);
}

/* Events behind the last one that was seen are missing: so many, or 0 if nobody knows. */
static void add_loss(struct nw_stream *s, struct nw_lane *lane, uint64_t lost)
{
	uint64_t empty = lane->first ? lane->first->empty_since : 0;

	if (!lane->has_loss) {
		lane->has_loss = true;
		lane->loss_from = nw_max64(lane->head, empty);
		lane->lost = 0;
	}
	lane->lost += lost;
	s->stats.lost += lost;
}

/* What stands on the rest of the page cannot be read: it is as good as lost. */
static void give_up_page(struct nw_stream *s, struct nw_lane *lane)
{
	s->stats.damaged++;
	add_loss(s, lane, 0);
	lane->page.at = lane->page.end;
}

/* Start on the next page of the lane, if there is one. */
static bool open_page(struct nw_stream *s, struct nw_lane *lane)
{
	const struct nw_page_layout *layout = &s->formats->page;
	const unsigned char *bytes;
	size_t len;

	if (lane->fd >= 0) {
		if (!lane->first)
			return false;
		bytes = lane->first->bytes;
		len = lane->first->len;
	} else {
		if (lane->run == lane->run_end)
			return false;
		bytes = lane->run;
		len = (size_t)(lane->run_end - lane->run);
		len = len < layout->size ? len : layout->size;
		lane->run += len;
		s->stats.pages++;
	}
	lane->open = true;
	if (nw_page_open(&lane->page, layout, bytes, len) < 0) {
		give_up_page(s, lane);
		return true;
	}
	s->stats.bytes += (uint64_t)(lane->page.end - lane->page.at);
	if (lane->page.missed)
		add_loss(s, lane, lane->page.lost);
	return true;
}

/* Move to the lane's next event; false when nothing is queued, not even a loss. */
bool nw_lane_next(struct nw_stream *s, struct nw_lane *lane)
{
	lane->has_event = false;
	while (lane->open || open_page(s, lane)) {
		int ret = nw_page_next(&lane->page, &lane->data, &lane->size);
		if (ret > 0) {
			nw_lane_move(lane);
			return lane->has_event = true;
		}
		if (ret < 0)
			give_up_page(s, lane);
		nw_lane_drop_page(s, lane);
	}
	return lane->has_loss;
}
