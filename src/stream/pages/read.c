// SPDX-License-Identifier: MIT
/*
 * Fills the buffers. epoll names the buffers that the kernel has filled past buffer_percent. All others are looked at
 * a few times a second, which moves their `known` on. So an idle CPU costs little, and a slow probe is seen within
 * NW_SWEEP_NS.
 */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cpu_buffer.h"

/* Limit of bytes that a buffer may deliver at once, so that no CPU starves the others. */
enum {
	BURST = 256 << 10
};

/*
 * Is this page the one that is being written? The kernel begins a new page when an event does not fit, so there is no
 * page behind it, and trying to read one does harm: a reader that has seen all of a page takes it for empty, and
 * later writes to it are lost silently if the writer leaves the page at the same moment (ring_buffer.c:
 * rb_get_reader_page() looks at the page's size, and then at the position of the writer; seen on 5.4 with virtual
 * CPUs that stand still for milliseconds in between). Before the next look, either there is a next page or nobody
 * writes.
 */
static bool is_newest(const struct nw_stream *s, struct nw_cpu_buffer *buffer,
		      const struct nw_slab *slab)
{
	enum {
		AROUND = 32 /* header, length, time extend, alignment */
	};
	const struct nw_page_layout *layout = &s->formats->page;
	size_t whole = layout->size - layout->data;
	struct nw_page page;

	if (!s->largest || s->finished ||
	    nw_page_open(&page, layout, slab->bytes, slab->len) < 0)
		return false;
	/* This may be the rest of a page that was read in part before. */
	size_t used = (size_t)(page.end - page.at);
	buffer->reached = buffer->reached + used <= whole ? buffer->reached + used : used;
	return whole - buffer->reached >= (size_t)s->largest + AROUND;
}

/* Notes that the buffer was empty at this time, so that all events to come from it are newer. */
static void note_drained(struct nw_cpu_buffer *buffer, uint64_t now)
{
	buffer->drained = true;
	buffer->known = buffer->empty_at = nw_max64(buffer->known, now);
}

/* Reads the buffer, at most BURST bytes. Returns 0 or -errno. */
static int read_buffer(struct nw_stream *s, unsigned int number)
{
	struct nw_cpu_buffer *buffer = &s->buffer[number];
	size_t page = s->formats->page.size;
	int ret = 0;

	buffer->drained = false;
	for (size_t i = 0; i < BURST && ret >= 0 && !buffer->drained; i += page) {
		uint64_t now = s->now(s->now_arg);
		struct nw_slab *slab = nw_slab_take(s, buffer);
		if (!slab)
			break;
		ssize_t got = read(buffer->fd, slab->bytes, page);
		if (got > 0) {
			slab->len = (size_t)got;
			nw_cpu_buffer_queue(s, buffer, slab);
			buffer->known = nw_max64(buffer->known, buffer->last_queued);
			if (s->tap)
				ret = s->tap(s->tap_arg, buffer->cpu, slab->bytes,
					     slab->len);
			if (is_newest(s, buffer, slab))
				note_drained(buffer, now);
			continue;
		}
		nw_slab_give(s, slab);
		/* ENODEV: the CPU was unplugged, and its buffer is gone. */
		if (got == 0 || errno == EAGAIN || errno == ENODEV)
			note_drained(buffer, now);
		else if (errno != EINTR)
			ret = -errno;
	}
	nw_stream_wake(s, number);
	return ret < 0 ? ret : 0;
}

/* Reads all buffers except those that were found empty since this time. */
static int sweep(struct nw_stream *s, uint64_t since)
{
	int ret = 0;

	s->swept = s->now(s->now_arg);
	for (unsigned int i = 0; i < s->buffers && ret == 0; i++) {
		const struct nw_cpu_buffer *buffer = &s->buffer[i];
		if (buffer->fd >= 0 && !(buffer->drained && buffer->empty_at >= since))
			ret = read_buffer(s, i);
	}
	return ret;
}

static void set_limit(struct nw_stream *s)
{
	uint64_t limit = UINT64_MAX;

	for (size_t i = 0; i < s->buffers; i++) {
		const struct nw_cpu_buffer *buffer = &s->buffer[i];
		uint64_t known = buffer->has_event ? nw_max64(buffer->known,
							      nw_cpu_buffer_time(buffer))
						   : buffer->known;
		if (buffer->fd < 0 || (s->finished && buffer->drained))
			continue; /* nothing more can come from it */
		limit = nw_min64(limit, known);
	}
	s->limit = limit;
}

int nw_stream_fill(struct nw_stream *s, int wake_fd, int timeout_ms)
{
	struct epoll_event ready[64];
	/* The caller has to find out why wake_fd wakes it. */
	struct pollfd wait[2] = {{.fd = s->epoll, .events = POLLIN},
				 {.fd = wake_fd, .events = POLLIN}};
	int most = (int)(s->sweep / 1000000), count = 0, ret = 0;

	if (timeout_ms < 0 || timeout_ms > most)
		timeout_ms = most;
	nw_stream_advance(s);
	uint64_t began = s->now(s->now_arg);
	if (poll(wait, wake_fd >= 0 ? 2 : 1, timeout_ms) > 0)
		count = epoll_wait(s->epoll, ready, (int)NW_COUNT(ready), 0);
	for (int i = 0; i < count && ret == 0; i++)
		ret = read_buffer(s, ready[i].data.u32);
	/* Events are handed out only up to the time that is known for every buffer. If too many pages wait for that,
	 * all buffers are looked at early. */
	if (ret == 0 &&
	    (s->now(s->now_arg) - s->swept >= s->sweep || s->queued * 2 >= s->budget))
		ret = sweep(s, began);
	set_limit(s);
	return ret;
}

int nw_stream_poll(struct nw_stream *s)
{
	nw_stream_advance(s);
	int ret = sweep(s, s->now(s->now_arg));
	set_limit(s);
	return ret;
}

bool nw_stream_emptied(const struct nw_stream *s, size_t buffer)
{
	return s->finished && s->buffer[buffer].drained;
}

int nw_stream_finish(struct nw_stream *s)
{
	int ret = 0;

	nw_stream_advance(s);
	s->finished = true;
	for (unsigned int i = 0; i < s->buffers && ret == 0; i++)
		if (s->buffer[i].fd >= 0)
			ret = read_buffer(s, i);
	set_limit(s);
	return ret;
}
