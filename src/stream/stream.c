// SPDX-License-Identifier: MIT
/*
 * Lanes (one a CPU) merged by time.
 *
 *	read	 pages wait in each lane's queue, oldest first
 *	known	 up to when a lane is known: nothing older can still come from it. While it
 *		 has unread data, that is its last queued event; once it was found empty, the
 *		 moment before it was looked at
 *	merge	 a heap of the lanes that have events, by the time of their next one; the top
 *		 is handed out while it is not newer than the least `known` of all lanes
 *	losses	 stand before the event behind them, or in the heap by themselves: of what is
 *		 newer than a loss's beginning, nothing may be handed out before it
 *
 * Reading is by need: epoll names the lanes whose buffers have passed buffer_percent; the
 * others are looked at a few times a second, which is what moves their `known` on. So an idle
 * CPU costs next to nothing, and a slow probe is seen within SWEEP_NS.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "nopwatch/stream.h"

/* How often every lane is looked at, full or not. */
#define SWEEP_NS 100000000u

/* Pages a lane may take in one go, so that no CPU starves the others. */
enum {
	BURST = 64,
	RESERVED = 2,
	DEFAULT_BUDGET = 1024
};

struct slab { /* a page that was read, in a queue or free */
	struct slab *next;
	size_t len;
	uint64_t
		empty_since; /* the lane was known to be empty up to here before this page */
	unsigned char bytes[];
};

struct lane {
	int fd; /* -1: from memory */
	uint32_t cpu;
	const unsigned char *run, *run_end; /* from memory: pages to come */

	struct slab *first, *last; /* read, not yet walked; the first is being walked */
	size_t queued;		   /* how many these are */
	struct nw_page page;	   /* the walk over the first */
	bool open;		   /* page is valid */

	bool has_event; /* head, data and size are */
	bool has_loss;	/* a loss is to be handed out before the event */
	uint64_t head;	/* time of the next event */
	const unsigned char *data;
	uint32_t size;

	uint64_t last_time;   /* of the last event walked over */
	uint64_t last_queued; /* a lower bound for the newest event in the queue */
	uint64_t known;
	uint64_t empty_at; /* known to have been empty then */
	bool drained;	   /* and nothing has been read since */
	uint64_t loss_from, lost;
};

struct nw_stream {
	const struct nw_formats *formats;
	struct lane *lane;
	size_t lanes;
	unsigned int *heap; /* of lane numbers */
	size_t heap_count;
	bool advance; /* the top's event was handed out: move on first */
	bool finished;
	uint64_t limit; /* events up to here may be handed out */

	struct slab *free;
	size_t queued, budget; /* pages in queues, that may be there */
	int epoll;
	uint64_t swept; /* when all lanes were last looked at */
	uint64_t (*now)(void *arg);
	void *now_arg;
	int (*tap)(void *arg, uint32_t cpu, const unsigned char *page, size_t len);
	void *tap_arg;
	struct nw_stream_stats stats;
};

/* ---- pages -------------------------------------------------------------------------- */

/*
 * A page to read into; NULL when the budget is used up. Part of it is set aside, so that every
 * lane always gets RESERVED pages: as long as every lane can be looked at and moves on by a
 * page, the oldest events can be handed out, and pages become free.
 */
static struct slab *take_slab(struct nw_stream *s, const struct lane *lane)
{
	struct slab *slab = s->free;

	if (lane->queued >= RESERVED && s->queued >= s->budget - RESERVED * s->lanes)
		return NULL;
	if (!slab)
		return calloc(1, sizeof(*slab) + s->formats->page.size);
	s->free = slab->next;
	slab->next = NULL;
	return slab;
}

static void give_slab(struct nw_stream *s, struct slab *slab)
{
	slab->next = s->free;
	s->free = slab;
}

/* The page being walked is done with: on to the next. */
static void drop_page(struct nw_stream *s, struct lane *lane)
{
	struct slab *slab = lane->first;

	lane->open = false;
	if (!slab)
		return;
	lane->first = slab->next;
	if (!lane->first)
		lane->last = NULL;
	lane->queued--;
	s->queued--;
	give_slab(s, slab);
}

/* Events behind the last one that was seen are missing: so many, or 0 if nobody knows. */
static void add_loss(struct nw_stream *s, struct lane *lane, uint64_t lost)
{
	uint64_t empty = lane->first ? lane->first->empty_since : 0;

	if (!lane->has_loss) {
		lane->has_loss = true;
		lane->loss_from = nw_max64(lane->last_time, empty);
		lane->lost = 0;
	}
	lane->lost += lost;
	s->stats.lost += lost;
}

/* What stands on the rest of the page cannot be read: it is as good as lost. */
static void give_up_page(struct nw_stream *s, struct lane *lane)
{
	s->stats.damaged++;
	add_loss(s, lane, 0);
	lane->page = (struct nw_page){0};
}

/* Start on the next page of the lane, if there is one. */
static bool open_page(struct nw_stream *s, struct lane *lane)
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
static bool next_event(struct nw_stream *s, struct lane *lane)
{
	lane->has_event = false;
	while (lane->open || open_page(s, lane)) {
		int ret = nw_page_next(&lane->page, &lane->data, &lane->size);
		if (ret > 0) {
			lane->head = lane->last_time = lane->page.time;
			return lane->has_event = true;
		}
		if (ret < 0)
			give_up_page(s, lane);
		drop_page(s, lane);
	}
	return lane->has_loss;
}

/* ---- heap --------------------------------------------------------------------------- */

/* What the lane has to offer next: a loss stands before the event behind it. */
static inline uint64_t head_time(const struct lane *lane)
{
	return lane->has_loss ? lane->loss_from : lane->head;
}

static inline bool before(const struct nw_stream *s, unsigned int a, unsigned int b)
{
	uint64_t x = head_time(&s->lane[a]), y = head_time(&s->lane[b]);

	return x != y ? x < y : a < b;
}

static void sift_down(struct nw_stream *s, size_t at)
{
	for (;;) {
		size_t least = at, left = 2 * at + 1;
		if (left < s->heap_count && before(s, s->heap[left], s->heap[least]))
			least = left;
		if (left + 1 < s->heap_count &&
		    before(s, s->heap[left + 1], s->heap[least]))
			least = left + 1;
		if (least == at)
			return;
		unsigned int swap = s->heap[at];
		s->heap[at] = s->heap[least];
		s->heap[least] = swap;
		at = least;
	}
}

static void push(struct nw_stream *s, unsigned int lane)
{
	size_t at = s->heap_count++;

	s->heap[at] = lane;
	while (at > 0 && before(s, s->heap[at], s->heap[(at - 1) / 2])) {
		unsigned int swap = s->heap[at];
		s->heap[at] = s->heap[(at - 1) / 2];
		s->heap[(at - 1) / 2] = swap;
		at = (at - 1) / 2;
	}
}

/* The top has a new head, or none: restore the heap. */
static void fix_top(struct nw_stream *s)
{
	const struct lane *lane = &s->lane[s->heap[0]];

	if (!lane->has_event && !lane->has_loss)
		s->heap[0] = s->heap[--s->heap_count];
	sift_down(s, 0);
}

/* The top's event was handed out: move on. Before anything else changes the heap. */
static void advance(struct nw_stream *s)
{
	if (!s->advance)
		return;
	s->advance = false;
	next_event(s, &s->lane[s->heap[0]]);
	fix_top(s);
}

/* ---- reading ------------------------------------------------------------------------ */

static void queue_page(struct nw_stream *s, struct lane *lane, struct slab *slab)
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

/* The lane has, or gets, something to offer: see that it stands in the heap. */
static void wake_lane(struct nw_stream *s, unsigned int number)
{
	struct lane *lane = &s->lane[number];
	bool was_there = lane->has_event || lane->has_loss;

	if (!lane->has_event && next_event(s, lane) && !was_there)
		push(s, number);
}

/* Read what the lane has, up to BURST pages. Returns 0 or -errno. */
static int read_lane(struct nw_stream *s, unsigned int number)
{
	struct lane *lane = &s->lane[number];
	int ret = 0;

	lane->drained = false;
	for (unsigned int i = 0; i < BURST && ret >= 0 && !lane->drained; i++) {
		uint64_t now = s->now(s->now_arg);
		struct slab *slab = take_slab(s, lane);
		if (!slab)
			break;
		ssize_t got = read(lane->fd, slab->bytes, s->formats->page.size);
		if (got > 0) {
			slab->len = (size_t)got;
			queue_page(s, lane, slab);
			lane->known = nw_max64(lane->known, lane->last_queued);
			if (s->tap)
				ret = s->tap(s->tap_arg, lane->cpu, slab->bytes, slab->len);
			continue;
		}
		give_slab(s, slab);
		/* ENODEV: the CPU was unplugged, and its buffer with it */
		lane->drained = got == 0 || errno == EAGAIN || errno == ENODEV;
		if (lane->drained)
			lane->known = lane->empty_at = nw_max64(lane->known, now);
		else if (errno != EINTR)
			ret = -errno;
	}
	wake_lane(s, number);
	return ret < 0 ? ret : 0;
}

static int sweep(struct nw_stream *s)
{
	s->swept = s->now(s->now_arg);
	for (unsigned int i = 0; i < s->lanes; i++) {
		int ret = s->lane[i].fd >= 0 ? read_lane(s, i) : 0;
		if (ret < 0)
			return ret;
	}
	return 0;
}

static void set_limit(struct nw_stream *s)
{
	uint64_t limit = UINT64_MAX;

	for (size_t i = 0; i < s->lanes; i++) {
		const struct lane *lane = &s->lane[i];
		uint64_t known = lane->has_event ? nw_max64(lane->known, head_time(lane))
						 : lane->known;
		if (lane->fd < 0 || (s->finished && lane->drained))
			continue; /* nothing more can come */
		limit = nw_min64(limit, known);
	}
	s->limit = limit;
}

/* Lanes that epoll names; a wake_fd among them is somebody else's business. */
static int read_ready(struct nw_stream *s, int wake_fd, int timeout_ms)
{
	struct epoll_event ready[64];
	struct pollfd wait[2] = {{.fd = s->epoll, .events = POLLIN},
				 {.fd = wake_fd, .events = POLLIN}};

	if (poll(wait, wake_fd >= 0 ? 2 : 1, timeout_ms) <= 0)
		return 0;
	int count = epoll_wait(s->epoll, ready, (int)NW_COUNT(ready), 0);
	for (int i = 0; i < count; i++) {
		int ret = read_lane(s, ready[i].data.u32);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int nw_stream_fill(struct nw_stream *s, int wake_fd, int timeout_ms)
{
	int most = (int)(SWEEP_NS / 1000000);

	if (timeout_ms < 0 || timeout_ms > most)
		timeout_ms = most;
	advance(s);
	int ret = read_ready(s, wake_fd, timeout_ms);
	/* Pages that wait for lanes nobody has looked at pile up: then look early. */
	if (ret == 0 &&
	    (s->now(s->now_arg) - s->swept >= SWEEP_NS || s->queued * 2 >= s->budget))
		ret = sweep(s);
	set_limit(s);
	return ret;
}

int nw_stream_finish(struct nw_stream *s)
{
	int ret = 0;

	advance(s);
	s->finished = true;
	for (unsigned int i = 0; i < s->lanes && ret == 0; i++)
		if (s->lane[i].fd >= 0)
			ret = read_lane(s, i);
	set_limit(s);
	return ret;
}

/* ---- handing out -------------------------------------------------------------------- */

static inline uint16_t load16(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Fill a HIT from an event of ours; false: the address is none of our places. */
static inline bool decode_hit(const struct nw_formats *formats, struct nw_record *out)
{
	const struct nw_event *event = out->format->event;
	uint16_t low = load16(out->data + out->format->address) & 0xfff;
	uint16_t number = event->by_low_bits[low];

	if (!number)
		return false;
	const struct nw_place *place = &event->places.item[number - 1];
	out->planned = place->planned;
	out->part = place->part;
	out->probe = (uint32_t)formats->plan->points.item[place->planned].probe;
	return true;
}

/* Fill out from the event at the head of a lane; false: it is of no interest. */
static inline bool decode(struct nw_stream *s, const struct lane *lane,
			  struct nw_record *out)
{
	const struct nw_formats *formats = s->formats;
	uint32_t id;

	if (lane->size < formats->pid_offset + 4 || lane->size < formats->type_offset + 2)
		return false;
	id = load16(lane->data + formats->type_offset);
	if (id >= formats->ids || !formats->by_id[id])
		return false;
	out->format = formats->events.item[formats->by_id[id] - 1];
	if (lane->size < out->format->size)
		return false;
	memcpy(&out->tid, lane->data + formats->pid_offset, sizeof(out->tid));
	out->time = lane->head;
	out->cpu = lane->cpu;
	out->data = lane->data;
	out->size = lane->size;
	out->kind = out->format->kind == NW_EVENT_PROBE ? NW_RECORD_HIT : NW_RECORD_TASK;
	return out->kind == NW_RECORD_TASK || decode_hit(formats, out);
}

/*
 * A loss with no event behind it ends where the lane was found empty afterwards; never, if
 * that is the end of a recording.
 */
static void take_loss(struct lane *lane, struct nw_record *out)
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
	const struct lane *lane = &s->lane[s->heap[0]];
	return head_time(lane) <= s->limit &&
	       (lane->has_event || lane->fd < 0 || lane->drained);
}

/* All queued events of a finished stream are out: read what did not fit before. */
static bool refill(struct nw_stream *s)
{
	uint64_t pages = s->stats.pages;

	return s->finished && nw_stream_finish(s) == 0 &&
	       (is_ready(s) || s->stats.pages != pages);
}

int nw_stream_next(struct nw_stream *s, struct nw_record *out)
{
	for (;;) {
		advance(s);
		if (nw_unlikely(!is_ready(s))) {
			if (refill(s))
				continue;
			return 0;
		}
		struct lane *lane = &s->lane[s->heap[0]];
		if (nw_unlikely(lane->has_loss)) {
			take_loss(lane, out);
			fix_top(s);
			return 1;
		}
		s->advance = true;
		if (decode(s, lane, out)) {
			s->stats.records++;
			return 1;
		}
		s->stats.unknown++;
	}
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
	for (unsigned int i = 0; i < s->lanes; i++) {
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
	s->budget = options->page_budget ? options->page_budget : DEFAULT_BUDGET;
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
		struct lane *lane = &s->lane[i];
		lane->fd = -1;
		lane->cpu = runs[i].cpu;
		lane->run = runs[i].pages;
		lane->run_end = runs[i].pages + runs[i].size;
		if (next_event(s, lane))
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
			drop_page(s, &s->lane[i]);
	while (s->free) {
		struct slab *next = s->free->next;
		free(s->free);
		s->free = next;
	}
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->lane);
	free(s->heap);
	free(s);
}
