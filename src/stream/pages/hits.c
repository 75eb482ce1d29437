// SPDX-License-Identifier: MIT
/*
 * Takes several hits of one buffer at a time. For plain hits it does the same as nw_stream_next(), but keeps
 * everything at hand that stays the same from one event to the next. It stops at the first unusual event, which
 * nw_stream_next() handles.
 */
#include "cpu_buffer.h"

/* Returns the place of a whole hit; NULL: the event is something else. */
static inline const struct nw_hit_place *whole_hit(const struct nw_formats *formats,
						   const unsigned char *data, uint32_t size,
						   const struct nw_event_format **out)
{
	const struct nw_event_format *format = nw_event_format_of(formats, data, size);

	if (nw_unlikely(!format || format->kind != NW_EVENT_PROBE))
		return NULL;
	const struct nw_hit_place *place = nw_hit_place_of(format, data);
	*out = format;
	return nw_likely(place->whole) ? place : NULL;
}

/* Returns the length of the page's event, including its header, if it has 1..28 words; else 0. */
static inline uint32_t plain_length(const struct nw_page *page, uint32_t usual_length)
{
	if (nw_unlikely((size_t)(page->end - page->at) < usual_length))
		return 0;
	unsigned int words = nw_page_type(nw_load32(page->at));
	uint32_t length = 4 + 4 * words;
	if (nw_likely(length == usual_length))
		return length;
	return words - 1 < 28 && (size_t)(page->end - page->at) >= length ? length : 0;
}

/* Prefetch distance in bytes: events of a recording are fetched from memory before their turn. The address may be
 * beyond the page. */
enum {
	AHEAD = 512
};

/* stacks: some of the hits have a stack pointer. */
static nw_inlined size_t take_hits(struct nw_cpu_buffer *buffer,
				   const struct nw_formats *formats, uint64_t until,
				   struct nw_hit *out, size_t most, bool stacks,
				   bool *pending)
{
	struct nw_page page = buffer->page;
	const unsigned char *data = buffer->data;
	uint32_t size = buffer->size, length = page.usual_length;
	uint64_t time = buffer->head;
	size_t count = 0;

	*pending = true;
	for (;;) {
		const struct nw_event_format *format;
		const struct nw_hit_place *place = whole_hit(formats, data, size, &format);
		if (nw_unlikely(!place))
			break;
		struct nw_hit *hit = &out[count++];
		hit->time = time;
		hit->cpu = buffer->cpu;
		memcpy(&hit->tid, data + formats->pid_offset, sizeof(hit->tid));
		hit->probe = place->probe;
		hit->planned = place->planned;
		hit->values = NULL;
		hit->value_count = 0;
		hit->callers = 0;
		if (stacks && nw_likely(format->plain_stack)) {
			hit->stack = nw_load64(data + format->plain_stack) - place->pops;
			hit->goroutine = 0;
		} else if (stacks) {
			nw_hit_add_stack(formats, format, place->planned, data, hit);
		}

		uint32_t next = count < most ? plain_length(&page, length) : 0;
		if (nw_unlikely(!next)) {
			*pending = false;
			break;
		}
		length = next;
		__builtin_prefetch(page.at + AHEAD);
		page.time += nw_page_delta(nw_load32(page.at));
		data = page.at + 4;
		size = length - 4;
		page.at += length;
		time = nw_max64(time, page.time); /* as in nw_cpu_buffer_move() */
		if (nw_unlikely(time > until))
			break;
	}
	buffer->page.at = page.at;
	buffer->page.time = page.time;
	buffer->data = data;
	buffer->size = size;
	buffer->head = time;
	return count;
}

/* A separate function, so that hits without stack pointers do not pay for them. */
static nw_noinline size_t take_with_stacks(struct nw_cpu_buffer *buffer,
					   const struct nw_formats *formats, uint64_t until,
					   struct nw_hit *out, size_t most, bool *pending)
{
	return take_hits(buffer, formats, until, out, most, true, pending);
}

size_t nw_cpu_buffer_hits(struct nw_cpu_buffer *buffer, const struct nw_formats *formats,
			  uint64_t until, struct nw_hit *out, size_t most, bool *pending)
{
	if (nw_unlikely(formats->stacks))
		return take_with_stacks(buffer, formats, until, out, most, pending);
	return take_hits(buffer, formats, until, out, most, false, pending);
}
