/* SPDX-License-Identifier: MIT */
/*
 * Shared by the source files of this folder: the buffers of a stream, one for each CPU, and the pages that wait in
 * them. cpu_buffer.c moves along a buffer, read.c fills it, stream.c merges all buffers by time.
 */
#ifndef NOPWATCH_STREAM_PAGES_CPU_BUFFER_H
#define NOPWATCH_STREAM_PAGES_CPU_BUFFER_H

#include "base/load.h"
#include "stream/pages/stream.h"

/* Time between two looks at every buffer, full or not. */
#define NW_SWEEP_NS 100000000u

/* A page that was read; it is in a queue or free. */
struct nw_slab {
	struct nw_slab *next;
	size_t len;
	/* The buffer was known to be empty at this time, before this page. */
	uint64_t empty_since;
	unsigned char bytes[];
};

struct nw_cpu_buffer {
	int fd; /* -1: the pages are in memory */
	uint32_t cpu;
	const unsigned char *run, *run_end; /* memory that is not walked yet */

	/* Pages that were read; the first one is being walked */
	struct nw_slab *first, *last;
	size_t queued;	     /* length of the queue */
	struct nw_page page; /* the walk over the first page */
	bool open;	     /* `page` is valid */

	bool has_event; /* head, data and size belong to an event */
	bool has_loss;	/* a loss is to be handed out before the event */
	uint64_t head;	/* time of the event, or of the last one if there is none */
	const unsigned char *data;
	uint32_t size;

	uint64_t last_queued; /* a lower bound for the time of the newest queued event */
	uint64_t known;
	uint64_t empty_at; /* time at which it was found empty */
	bool drained;	   /* it was found empty, and nothing has been read since */
	uint64_t loss_from, lost;
	bool lost_is_least;
	size_t reached; /* how far the kernel's page has been read, at most */
};

/* A buffer that has an event or a loss, and its time. */
struct nw_head {
	uint64_t time;
	uint32_t buffer;
};

struct nw_stream {
	const struct nw_formats *formats;
	struct nw_cpu_buffer *buffer;
	size_t buffers;
	struct nw_head *heap;
	size_t heap_count;
	/* The buffer at the top of the heap after its event was handed out: it still has to move on. Its events up to
	 * `until` may be handed out without using the heap. */
	struct nw_cpu_buffer *current;
	uint64_t until;
	bool finished;
	uint64_t limit; /* events up to this time may be handed out */

	struct nw_slab *free;
	size_t queued, budget; /* pages in all queues, and their limit */
	int epoll;
	uint32_t largest; /* payload of the largest event; 0: unknown */
	bool polls;	  /* the kernel does not tell which buffers are worth reading */
	uint64_t sweep;	  /* nanoseconds between looks at all buffers */
	uint64_t swept;	  /* time of the last look at all buffers */
	uint64_t (*now)(void *arg);
	void *now_arg;
	nw_page_tap *tap;
	void *tap_arg;
	struct nw_stream_stats stats;
};

/* ---- cpu_buffer.c ------------------------------------------------------------------------- */

/* Returns a page to read into; NULL if the budget is used up or without memory. */
struct nw_slab *nw_slab_take(struct nw_stream *s, const struct nw_cpu_buffer *buffer);
void nw_slab_give(struct nw_stream *s, struct nw_slab *slab);
/* Appends a page to the buffer's queue. */
void nw_cpu_buffer_queue(struct nw_stream *s, struct nw_cpu_buffer *buffer,
			 struct nw_slab *slab);
/* Drops the page being walked. */
void nw_cpu_buffer_drop_page(struct nw_stream *s, struct nw_cpu_buffer *buffer);
/* Sets the buffer's time to that of the page's event. The time of a CPU does not go back: if a damaged recording says
 * so, it stands still. */
static inline void nw_cpu_buffer_move(struct nw_cpu_buffer *buffer)
{
	buffer->head = nw_max64(buffer->head, buffer->page.time);
}

/* Moves to the buffer's next event. Returns false if nothing is queued, not even a loss. */
bool nw_cpu_buffer_next(struct nw_stream *s, struct nw_cpu_buffer *buffer);

/* Does the same, but only on the page being walked. Returns false if nw_cpu_buffer_next() is needed. */
static inline bool nw_cpu_buffer_next_here(struct nw_cpu_buffer *buffer)
{
	if (nw_unlikely(!buffer->open ||
			nw_page_next(&buffer->page, &buffer->data, &buffer->size) <= 0))
		return false;
	nw_cpu_buffer_move(buffer);
	return true;
}

/*
 * Takes whole hits that follow each other on the buffer's page, from its current event on, up to time `until`.
 * Returns how many, at most `most`. *pending: the buffer has moved on to an event that is not among them; otherwise
 * the last hit is still its current event.
 */
size_t nw_cpu_buffer_hits(struct nw_cpu_buffer *buffer, const struct nw_formats *formats,
			  uint64_t until, struct nw_hit *out, size_t most, bool *pending);

/* Returns the time of the buffer's next record: a loss precedes the event behind it. */
static inline uint64_t nw_cpu_buffer_time(const struct nw_cpu_buffer *buffer)
{
	return buffer->has_loss ? buffer->loss_from : buffer->head;
}

/* ---- an event ----------------------------------------------------------------------- */

/* Returns the format of the event if its type is known and the event is long enough; else NULL. */
static inline const struct nw_event_format *nw_event_format_of(
	const struct nw_formats *formats, const unsigned char *data, uint32_t size)
{
	const struct nw_event_format *format;

	if (nw_unlikely(size < formats->least))
		return NULL;
	uint32_t id = nw_load16(data + formats->type_offset);
	format = nw_likely(id < formats->ids) ? formats->by_id[id] : NULL;
	return nw_likely(format && size >= format->size) ? format : NULL;
}

/* Returns the place of an event of kind PROBE. */
static inline const struct nw_hit_place *nw_hit_place_of(
	const struct nw_event_format *format, const unsigned char *data)
{
	uint16_t low = nw_load16(data + format->address) & 0xfff;

	return &format->places.item[format->by_low_bits[low]];
}

/* Returns the stack pointer of an event of kind PROBE at this point. */
static inline uint64_t nw_hit_stack(const struct nw_formats *formats,
				    const struct nw_event_format *format, uint32_t planned,
				    const unsigned char *data)
{
	uint64_t stack;

	if (nw_likely(format->stack_size == 8))
		stack = nw_load64(data + format->stack);
	else if (format->stack_size == 4)
		stack = nw_load32(data + format->stack);
	else
		return 0;
	uint64_t pops = (uint64_t)formats->plan->points.item[planned].stack.pops;
	return (stack - pops) | format->stack_loose;
}

/* Sets the goroutine of the hit if the stack is a goroutine's; see NW_STACK_AGAIN. */
void nw_hit_goroutine(const struct nw_event_format *format, const unsigned char *data,
		      struct nw_hit *hit);

static inline void nw_hit_add_stack(const struct nw_formats *formats,
				    const struct nw_event_format *format, uint32_t planned,
				    const unsigned char *data, struct nw_hit *hit)
{
	hit->stack = nw_hit_stack(formats, format, planned, data);
	hit->goroutine = 0;
	if (nw_unlikely(format->goroutine[0]))
		nw_hit_goroutine(format, data, hit);
}

/* ---- stream.c ----------------------------------------------------------------------- */

/* Puts the buffer into the heap if it has an event now. */
void nw_stream_wake(struct nw_stream *s, unsigned int buffer);
/* Moves on from the event that was handed out last. Must be called before any other change of the heap. */
void nw_stream_advance(struct nw_stream *s);

#endif
