// SPDX-License-Identifier: MIT
/* One buffer: its queue of pages, and the walk over them. */
#include <stdlib.h>

#include "cpu_buffer.h"

/* Every buffer always gets so many pages, whatever the other buffers hold. */
enum {
	RESERVED = 2
};

/*
 * Returns a page to read into; NULL if the budget is used up. A part of the budget is reserved, so that every buffer
 * can always have RESERVED pages: as long as every buffer can be read and moves on by a page, the oldest events can
 * be handed out, and pages become free.
 */
struct nw_slab *nw_slab_take(struct nw_stream *s, const struct nw_cpu_buffer *buffer)
{
	struct nw_slab *slab = s->free;

	if (buffer->queued >= RESERVED && s->queued >= s->budget - RESERVED * s->buffers)
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

void nw_cpu_buffer_queue(struct nw_stream *s, struct nw_cpu_buffer *buffer,
			 struct nw_slab *slab)
{
	struct nw_page page;

	slab->empty_since = buffer->empty_at;
	if (buffer->last)
		buffer->last->next = slab;
	else
		buffer->first = slab;
	buffer->last = slab;
	buffer->queued++;
	s->queued++;
	/* No event of the page is older than its stamp, which is precise enough for `known`. */
	if (nw_page_open(&page, &s->formats->page, slab->bytes, slab->len) == 0)
		buffer->last_queued = nw_max64(buffer->last_queued, page.time);
	s->stats.pages++;
}

/* Drops the page being walked. */
void nw_cpu_buffer_drop_page(struct nw_stream *s, struct nw_cpu_buffer *buffer)
{
	struct nw_slab *slab = buffer->first;

	buffer->open = false;
	if (!slab)
		return;
	buffer->first = slab->next;
	if (!buffer->first)
		buffer->last = NULL;
	buffer->queued--;
	s->queued--;
	nw_slab_give(s, slab);
}

/* Notes that events behind the last one are lost. lost: how many; 0: unknown. */
static void add_loss(struct nw_stream *s, struct nw_cpu_buffer *buffer, uint64_t lost)
{
	uint64_t empty = buffer->first ? buffer->first->empty_since : 0;

	if (!buffer->has_loss) {
		buffer->has_loss = true;
		buffer->loss_from = nw_max64(buffer->head, empty);
		buffer->lost = 0;
		buffer->lost_is_least = false;
	}
	buffer->lost += lost;
	buffer->lost_is_least |= !lost;
	s->stats.lost += lost;
	s->stats.uncounted += !lost;
}

/* Gives up the rest of a damaged page: its events count as lost. */
static void give_up_page(struct nw_stream *s, struct nw_cpu_buffer *buffer)
{
	s->stats.damaged++;
	add_loss(s, buffer, 0);
	buffer->page.at = buffer->page.end;
}

/* Opens the next page of the buffer, if there is one. */
static bool open_page(struct nw_stream *s, struct nw_cpu_buffer *buffer)
{
	const struct nw_page_layout *layout = &s->formats->page;
	const unsigned char *bytes;
	size_t len;

	if (buffer->fd >= 0) {
		if (!buffer->first)
			return false;
		bytes = buffer->first->bytes;
		len = buffer->first->len;
	} else {
		if (buffer->run == buffer->run_end)
			return false;
		bytes = buffer->run;
		len = (size_t)(buffer->run_end - buffer->run);
		len = len < layout->size ? len : layout->size;
		buffer->run += len;
		s->stats.pages++;
	}
	buffer->open = true;
	if (nw_page_open(&buffer->page, layout, bytes, len) < 0) {
		give_up_page(s, buffer);
		return true;
	}
	s->stats.bytes += (uint64_t)(buffer->page.end - buffer->page.at);
	if (buffer->page.missed)
		add_loss(s, buffer, buffer->page.lost);
	return true;
}

/* Moves to the buffer's next event. Returns false if nothing is queued, not even a loss. */
bool nw_cpu_buffer_next(struct nw_stream *s, struct nw_cpu_buffer *buffer)
{
	buffer->has_event = false;
	while (buffer->open || open_page(s, buffer)) {
		int ret = nw_page_next(&buffer->page, &buffer->data, &buffer->size);
		if (ret > 0) {
			nw_cpu_buffer_move(buffer);
			return buffer->has_event = true;
		}
		if (ret < 0)
			give_up_page(s, buffer);
		nw_cpu_buffer_drop_page(s, buffer);
	}
	return buffer->has_loss;
}
