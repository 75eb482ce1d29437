// SPDX-License-Identifier: MIT
/*
 * Lanes (one a CPU) merged by time.
 *
 *	read	 pages wait in each lane's queue, oldest first
 *	known	 up to when a lane is known: nothing older can still come from it. While it
 *		 has unread data, that is its last queued event; once it was found empty, the
 *		 moment before it was looked at
 *	merge	 a heap of the lanes that have events, by the time of their next one; the top
 *		 is handed out while it is not newer than the least `known` of all lanes.
 *		 It stays the top, and the heap is not asked, until it passes the second
 *	losses	 stand before the event behind them, or in the heap by themselves: of what is
 *		 newer than a loss's beginning, nothing may be handed out before it
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
	return a->time != b->time ? a->time < b->time : a->lane < b->lane;
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

static void push(struct nw_stream *s, unsigned int lane)
{
	const struct nw_head rising = {nw_lane_time(&s->lane[lane]), lane};
	size_t at = s->heap_count++;

	for (; at > 0 && before(&rising, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = rising;
}

/* The top has a new head, or none: restore the heap. */
static void fix_top(struct nw_stream *s)
{
	const struct nw_lane *lane = &s->lane[s->heap[0].lane];

	if (lane->has_event || lane->has_loss)
		s->heap[0].time = nw_lane_time(lane);
	else if (--s->heap_count == 0)
		return;
	else
		s->heap[0] = s->heap[s->heap_count];
	sift_down(s, 0);
}

/* How far the top may go before another lane's turn comes. */
static uint64_t until_next(const struct nw_stream *s)
{
	const struct nw_head *second = &s->heap[1];

	if (s->heap_count < 2)
		return s->limit;
	if (s->heap_count > 2 && before(&s->heap[2], second))
		second = &s->heap[2];
	/* at the same time, the lane with the lower number goes first */
	bool after = second->lane < s->heap[0].lane && second->time;
	return nw_min64(s->limit, second->time - after);
}

/* Move on from the event handed out last. True: the same lane's turn has come again. */
static inline bool go_on(struct nw_stream *s)
{
	struct nw_lane *lane = s->current;

	if (nw_unlikely(!lane))
		return false;
	if (nw_unlikely(!nw_lane_next_here(lane)))
		nw_lane_next(s, lane);
	else if (nw_likely(lane->head <= s->until))
		return true;
	s->current = NULL;
	fix_top(s);
	return false;
}

/* The current lane has moved on, but the event there has not been handed out. */
static void end_turn(struct nw_stream *s)
{
	s->current = NULL;
	fix_top(s);
}

void nw_stream_advance(struct nw_stream *s)
{
	if (go_on(s))
		end_turn(s);
}

void nw_stream_wake(struct nw_stream *s, unsigned int number)
{
	struct nw_lane *lane = &s->lane[number];
	bool was_there = lane->has_event || lane->has_loss;

	if (!lane->has_event && nw_lane_next(s, lane) && !was_there)
		push(s, number);
}

/* ---- handing out -------------------------------------------------------------------- */

/* Of an event that tells of threads, and may be a hit, too. */
static nw_apart bool decode_task(const struct nw_event_format *format,
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

/* Fill out from the event at the head of a lane; false: it is of no interest. */
static inline bool decode(const struct nw_formats *formats, const struct nw_lane *lane,
			  struct nw_record *out)
{
	const unsigned char *data = lane->data;
	const struct nw_event_format *format = nw_event_format_of(formats, data,
								  lane->size);

	if (nw_unlikely(!format))
		return false;
	memcpy(&out->tid, data + formats->pid_offset, sizeof(out->tid));
	out->time = lane->head;
	out->cpu = lane->cpu;
	out->data = data;
	out->size = lane->size;
	out->format = format;
	out->values = NULL;
	out->value_count = 0;
	if (nw_unlikely(format->kind != NW_EVENT_PROBE))
		return decode_task(format, out);
	const struct nw_hit_place *place = nw_hit_place_of(format, data);
	out->kind = NW_RECORD_HIT;
	out->planned = place->planned;
	out->probe = place->probe;
	out->part = place->part;
	out->whole = place->whole;
	return place->known; /* else the address is none of our places */
}

/*
 * A loss with no event behind it ends where the lane was found empty afterwards; never, if
 * that is the end of a recording.
 */
static void take_loss(struct nw_lane *lane, struct nw_record *out)
{
	*out = (struct nw_record){
		.kind = NW_RECORD_LOSS,
		.time = lane->loss_from,
		.cpu = lane->cpu,
		.until = lane->has_event ? lane->head
			 : lane->fd >= 0 ? lane->empty_at
					 : UINT64_MAX,
		.lost = lane->lost,
	};
	lane->has_loss = false;
}

/* Can the top be handed out? A loss not while its end is unknown. */
static inline bool is_ready(const struct nw_stream *s)
{
	if (nw_unlikely(!s->heap_count))
		return false;
	const struct nw_lane *lane = &s->lane[s->heap[0].lane];
	return nw_lane_time(lane) <= s->limit &&
	       (lane->has_event || lane->fd < 0 || lane->drained);
}

/* All queued events of a finished stream are out: read what did not fit before. */
static bool refill(struct nw_stream *s)
{
	uint64_t pages = s->stats.pages;

	return s->finished && nw_stream_finish(s) == 0 &&
	       (is_ready(s) || s->stats.pages != pages);
}

/* The lane whose event is the next one becomes the current one. */
static inline void begin_turn(struct nw_stream *s)
{
	s->current = &s->lane[s->heap[0].lane];
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
			struct nw_lane *lane = &s->lane[s->heap[0].lane];
			if (nw_unlikely(lane->has_loss)) {
				take_loss(lane, out);
				fix_top(s);
				return 1;
			}
			begin_turn(s);
		}
		if (nw_likely(decode(s->formats, s->current, out))) {
			s->stats.records++;
			return 1;
		}
		s->stats.unknown++;
	}
}

/* Is the next record an event? Then it is that of the current lane. */
static bool find_event(struct nw_stream *s)
{
	if (go_on(s))
		return true;
	if (!is_ready(s) || s->lane[s->heap[0].lane].has_loss)
		return false;
	begin_turn(s);
	return true;
}

size_t nw_stream_hits(struct nw_stream *s, struct nw_hit *out, size_t most)
{
	size_t count = 0, got = 1;
	bool pending;

	while (got && count < most && find_event(s)) {
		got = nw_lane_hits(s->current, s->formats, s->until, out + count,
				   most - count, &pending);
		count += got;
		if (pending)
			end_turn(s);
	}
	s->stats.records += count;
	return count;
}

uint64_t nw_stream_known(const struct nw_stream *s)
{
	return s->limit;
}

struct nw_stream_stats nw_stream_stats(const struct nw_stream *stream)
{
	return stream->stats;
}

void nw_stream_tap(struct nw_stream *s,
		   int (*tap)(void *arg, uint32_t cpu, const unsigned char *page,
			      size_t len),
		   void *arg)
{
	s->tap = tap;
	s->tap_arg = arg;
}

/* ---- opening ------------------------------------------------------------------------ */

static struct nw_stream *new_stream(const struct nw_formats *formats, size_t lanes)
{
	struct nw_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->formats = formats;
	s->epoll = -1;
	s->lanes = lanes;
	s->lane = calloc(lanes + 1, sizeof(*s->lane));
	s->heap = calloc(lanes + 1, sizeof(*s->heap));
	if (!s->lane || !s->heap) {
		nw_stream_free(s);
		return NULL;
	}
	return s;
}

static int watch_lanes(struct nw_stream *s, struct nw_error *err)
{
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return nw_fail(err, errno, "cannot create an epoll: %s",
			       nw_strerror(errno));
	for (unsigned int i = 0; !s->polls && i < s->lanes; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->lane[i].fd, &event) < 0)
			return nw_fail(err, errno,
				       "cannot watch the ring buffer of CPU %u: %s",
				       s->lane[i].cpu, nw_strerror(errno));
	}
	return 0;
}

int nw_stream_open(const struct nw_formats *formats,
		   const struct nw_stream_options *options, struct nw_stream **out,
		   struct nw_error *err)
{
	struct nw_stream *s = new_stream(formats, options->lanes);

	if (!s)
		return nw_no_memory(err);
	s->now = options->now;
	s->now_arg = options->now_arg;
	s->polls = options->poll_ms > 0;
	s->sweep = s->polls ? (uint64_t)options->poll_ms * 1000000u : NW_SWEEP_NS;
	s->budget = options->page_budget ? options->page_budget
					 : DEFAULT_BUDGET / formats->page.size;
	if (s->budget < 4 * s->lanes)
		s->budget = 4 * s->lanes;
	for (size_t i = 0; i < s->lanes; i++) {
		s->lane[i].fd = options->fds[i];
		s->lane[i].cpu = options->cpus[i];
	}
	int ret = watch_lanes(s, err);
	if (ret < 0) {
		nw_stream_free(s);
		return ret;
	}
	*out = s;
	return 0;
}

int nw_stream_open_memory(const struct nw_formats *formats, const struct nw_page_run *runs,
			  size_t count, struct nw_stream **out, struct nw_error *err)
{
	struct nw_stream *s = new_stream(formats, count);

	if (!s)
		return nw_no_memory(err);
	s->limit = UINT64_MAX;
	for (unsigned int i = 0; i < count; i++) {
		struct nw_lane *lane = &s->lane[i];
		lane->fd = -1;
		lane->cpu = runs[i].cpu;
		lane->run = runs[i].pages;
		lane->run_end = runs[i].pages + runs[i].size;
		if (nw_lane_next(s, lane))
			push(s, i);
	}
	*out = s;
	return 0;
}

void nw_stream_free(struct nw_stream *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->lane && i < s->lanes; i++)
		while (s->lane[i].first)
			nw_lane_drop_page(s, &s->lane[i]);
	while (s->free) {
		struct nw_slab *next = s->free->next;
		free(s->free);
		s->free = next;
	}
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->lane);
	free(s->heap);
	free(s);
}
