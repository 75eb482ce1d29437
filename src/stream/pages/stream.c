// SPDX-License-Identifier: MIT
/*
 * Merges the buffers of all CPUs by time.
 *
 *   read    pages wait in each buffer's queue, the oldest first
 *   known   for each buffer, a time: no older event can still come from it. While there is
 *           unread data, it is the time of the last queued event; when the buffer was found
 *           empty, the moment before that
 *   merge   a heap has the buffers with events, by the time of their next event. The top is
 *           handed out while it is not newer than the least `known` of all buffers. The top
 *           does not change, and the heap is not used, until its time passes the second
 *   losses  precede the event behind them, or are in the heap alone: no event that is newer
 *           than the begin of a loss may be handed out before the loss
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cpu_buffer.h"

enum {
	DEFAULT_BUDGET = 4 << 20 /* bytes */
};

/* ---- heap --------------------------------------------------------------------------- */

static inline bool before(const struct nw_head *a, const struct nw_head *b)
{
	return a->time != b->time ? a->time < b->time : a->buffer < b->buffer;
}

static void sift_down(struct nw_stream *s, size_t at)
{
	const struct nw_head sinking = s->heap[at];

	for (size_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
		if (child + 1 < s->heap_count &&
		    before(&s->heap[child + 1], &s->heap[child]))
			child++;
		if (!before(&s->heap[child], &sinking))
			break;
		s->heap[at] = s->heap[child];
	}
	s->heap[at] = sinking;
}

static void push(struct nw_stream *s, unsigned int buffer)
{
	const struct nw_head rising = {nw_cpu_buffer_time(&s->buffer[buffer]), buffer};
	size_t at = s->heap_count++;

	for (; at > 0 && before(&rising, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = rising;
}

/* Restores the heap after the top has a new event, or none. */
static void fix_top(struct nw_stream *s)
{
	const struct nw_cpu_buffer *buffer = &s->buffer[s->heap[0].buffer];

	if (buffer->has_event || buffer->has_loss)
		s->heap[0].time = nw_cpu_buffer_time(buffer);
	else if (--s->heap_count == 0)
		return;
	else
		s->heap[0] = s->heap[s->heap_count];
	sift_down(s, 0);
}

/* Returns the time up to which no other buffer has an older event than the top. */
static uint64_t until_next(const struct nw_stream *s)
{
	const struct nw_head *second = &s->heap[1];

	if (s->heap_count < 2)
		return s->limit;
	if (s->heap_count > 2 && before(&s->heap[2], second))
		second = &s->heap[2];
	/* at the same time, the buffer with the lower number goes first */
	bool after = second->buffer < s->heap[0].buffer && second->time;
	return nw_min64(s->limit, second->time - after);
}

/* Moves on from the event handed out last. Returns true if the same buffer has the next event, too. */
static inline bool go_on(struct nw_stream *s)
{
	struct nw_cpu_buffer *buffer = s->current;

	if (nw_unlikely(!buffer))
		return false;
	if (nw_unlikely(!nw_cpu_buffer_next_here(buffer)))
		nw_cpu_buffer_next(s, buffer);
	else if (nw_likely(buffer->head <= s->until))
		return true;
	s->current = NULL;
	fix_top(s);
	return false;
}

/* Leaves the current buffer, which has moved on to an event that has not been handed out. */
static void leave_top(struct nw_stream *s)
{
	s->current = NULL;
	fix_top(s);
}

void nw_stream_advance(struct nw_stream *s)
{
	if (go_on(s))
		leave_top(s);
}

void nw_stream_wake(struct nw_stream *s, unsigned int number)
{
	struct nw_cpu_buffer *buffer = &s->buffer[number];
	bool was_there = buffer->has_event || buffer->has_loss;

	if (!buffer->has_event && nw_cpu_buffer_next(s, buffer) && !was_there)
		push(s, number);
}

/* ---- handing out -------------------------------------------------------------------- */

/* Decodes an event of threads (born, renamed, ended), which also is a hit if the user traces that event. */
static nw_noinline bool decode_task(const struct nw_event_format *format,
				    struct nw_record *out)
{
	const struct nw_hit_place *place;

	out->kind = NW_RECORD_TASK;
	if (format->kind != NW_EVENT_BOTH)
		return true;
	place = &format->places.item[1];
	out->kind = NW_RECORD_BOTH;
	out->planned = place->planned;
	out->probe = place->probe;
	out->part = place->part;
	out->whole = place->whole;
	return true;
}

/* Decodes the event at the head of a buffer. Returns false if the event is not needed. */
static inline bool decode(const struct nw_formats *formats,
			  const struct nw_cpu_buffer *buffer, struct nw_record *out)
{
	const unsigned char *data = buffer->data;
	const struct nw_event_format *format = nw_event_format_of(formats, data,
								  buffer->size);

	if (nw_unlikely(!format))
		return false;
	memcpy(&out->tid, data + formats->pid_offset, sizeof(out->tid));
	out->time = buffer->head;
	out->cpu = buffer->cpu;
	out->data = data;
	out->size = buffer->size;
	out->format = format;
	out->values = NULL;
	out->value_count = 0;
	out->callers = 0;
	if (nw_unlikely(format->kind != NW_EVENT_PROBE))
		return decode_task(format, out);
	const struct nw_hit_place *place = nw_hit_place_of(format, data);
	out->kind = NW_RECORD_HIT;
	out->planned = place->planned;
	out->probe = place->probe;
	out->part = place->part;
	out->whole = place->whole;
	return place->known; /* false: no probe is at this address */
}

/*
 * Takes a loss. If no event follows, it ends when the buffer was next found empty; at the end of a recording, never.
 */
static void take_loss(struct nw_cpu_buffer *buffer, struct nw_record *out)
{
	*out = (struct nw_record){
		.kind = NW_RECORD_LOSS,
		.time = buffer->loss_from,
		.cpu = buffer->cpu,
		.until = buffer->has_event ? buffer->head
			 : buffer->fd >= 0 ? buffer->empty_at
					   : UINT64_MAX,
		.lost = buffer->lost,
		.lost_is_least = buffer->lost_is_least,
	};
	buffer->has_loss = false;
}

/* May the top be handed out? A loss must wait until its end is known. */
static inline bool is_ready(const struct nw_stream *s)
{
	if (nw_unlikely(!s->heap_count))
		return false;
	const struct nw_cpu_buffer *buffer = &s->buffer[s->heap[0].buffer];
	return nw_cpu_buffer_time(buffer) <= s->limit &&
	       (buffer->has_event || buffer->fd < 0 || buffer->drained);
}

/* After all queued events of a finished stream were handed out, reads what did not fit before. */
static bool refill(struct nw_stream *s)
{
	uint64_t pages = s->stats.pages;

	return s->finished && nw_stream_finish(s) == 0 &&
	       (is_ready(s) || s->stats.pages != pages);
}

/* Makes the buffer with the next event the current one. */
static inline void enter_top(struct nw_stream *s)
{
	s->current = &s->buffer[s->heap[0].buffer];
	s->until = until_next(s);
}

int nw_stream_next(struct nw_stream *s, struct nw_record *out)
{
	for (;;) {
		if (nw_unlikely(!go_on(s))) {
			if (nw_unlikely(!is_ready(s))) {
				if (refill(s))
					continue;
				return 0;
			}
			struct nw_cpu_buffer *buffer = &s->buffer[s->heap[0].buffer];
			if (nw_unlikely(buffer->has_loss)) {
				take_loss(buffer, out);
				fix_top(s);
				return 1;
			}
			enter_top(s);
		}
		if (nw_likely(decode(s->formats, s->current, out))) {
			s->stats.records++;
			return 1;
		}
		s->stats.unknown++;
	}
}

/* Is the next record an event? Then the current buffer has it. */
static bool find_event(struct nw_stream *s)
{
	if (go_on(s))
		return true;
	if (!is_ready(s) || s->buffer[s->heap[0].buffer].has_loss)
		return false;
	enter_top(s);
	return true;
}

size_t nw_stream_hits(struct nw_stream *s, struct nw_hit *out, size_t most)
{
	size_t count = 0, got = 1;
	bool pending;

	while (got && count < most && find_event(s)) {
		got = nw_cpu_buffer_hits(s->current, s->formats, s->until, out + count,
					 most - count, &pending);
		count += got;
		if (pending)
			leave_top(s);
	}
	s->stats.records += count;
	return count;
}

int nw_stream_fd(const struct nw_stream *s)
{
	return s->epoll;
}

uint64_t nw_stream_known(const struct nw_stream *s)
{
	return s->limit;
}

struct nw_stream_stats nw_stream_stats(const struct nw_stream *stream)
{
	return stream->stats;
}

void nw_stream_tap(struct nw_stream *s, nw_page_tap *tap, void *arg)
{
	s->tap = tap;
	s->tap_arg = arg;
}

/* ---- opening ------------------------------------------------------------------------ */

static struct nw_stream *new_stream(const struct nw_formats *formats, size_t buffers)
{
	struct nw_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->formats = formats;
	s->epoll = -1;
	s->buffers = buffers;
	s->buffer = calloc(buffers + 1, sizeof(*s->buffer));
	s->heap = calloc(buffers + 1, sizeof(*s->heap));
	if (!s->buffer || !s->heap) {
		nw_stream_free(s);
		return NULL;
	}
	return s;
}

int nw_stream_open(const struct nw_formats *formats,
		   const struct nw_stream_options *options, struct nw_stream **out,
		   struct nw_error *err)
{
	struct nw_stream *s = new_stream(formats, options->buffers);

	if (!s)
		return nw_no_memory(err);
	s->now = options->now;
	s->now_arg = options->now_arg;
	s->largest = options->largest == UINT32_MAX ? 0 : options->largest;
	s->polls = options->poll_ms > 0;
	s->sweep = s->polls ? (uint64_t)options->poll_ms * 1000000u : NW_SWEEP_NS;
	s->budget = options->page_budget ? options->page_budget
					 : DEFAULT_BUDGET / formats->page.size;
	if (s->budget < 4 * s->buffers)
		s->budget = 4 * s->buffers;
	for (size_t i = 0; i < s->buffers; i++) {
		s->buffer[i].fd = options->fds[i];
		s->buffer[i].cpu = options->cpus[i];
	}
	int ret = 0;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		ret = nw_fail(err, errno, "cannot create an epoll: %s", nw_strerror(errno));
	for (unsigned int i = 0; ret == 0 && !s->polls && i < s->buffers; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->buffer[i].fd, &event) < 0)
			ret = nw_fail(err, errno,
				      "cannot watch the ring buffer of CPU %u: %s",
				      s->buffer[i].cpu, nw_strerror(errno));
	}
	if (ret < 0) {
		nw_stream_free(s);
		return ret;
	}
	*out = s;
	return 0;
}

void nw_stream_grow(struct nw_stream *stream)
{
	if (stream->largest)
		stream->largest = stream->formats->largest == UINT32_MAX
					  ? 0
					  : stream->formats->largest;
}

int nw_stream_open_memory(const struct nw_formats *formats, const struct nw_page_run *runs,
			  size_t count, struct nw_stream **out, struct nw_error *err)
{
	struct nw_stream *s = new_stream(formats, count);

	if (!s)
		return nw_no_memory(err);
	s->limit = UINT64_MAX;
	for (unsigned int i = 0; i < count; i++) {
		struct nw_cpu_buffer *buffer = &s->buffer[i];
		buffer->fd = -1;
		buffer->cpu = runs[i].cpu;
		buffer->run = runs[i].pages;
		buffer->run_end = runs[i].pages + runs[i].size;
		if (nw_cpu_buffer_next(s, buffer))
			push(s, i);
	}
	*out = s;
	return 0;
}

void nw_stream_free(struct nw_stream *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->buffer && i < s->buffers; i++)
		while (s->buffer[i].first)
			nw_cpu_buffer_drop_page(s, &s->buffer[i]);
	while (s->free) {
		struct nw_slab *next = s->free->next;
		free(s->free);
		s->free = next;
	}
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->buffer);
	free(s->heap);
	free(s);
}
