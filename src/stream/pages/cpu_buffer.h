/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of this room: the buffers of a stream, one for each CPU, and the pages that wait in them.
 * cpu_buffer.c moves along a buffer, read.c fills it, stream.c merges them all by time.
 */
#ifndef NOPWATCH_STREAM_PAGES_CPU_BUFFER_H
#define NOPWATCH_STREAM_PAGES_CPU_BUFFER_H

#include "load.h"
#include "nopwatch/stream.h"

/* How often every buffer is looked at, full or not. */
#define NW_SWEEP_NS 100000000u

struct nw_slab { /* a page that was read, in a queue or free */
	struct nw_slab *next;
	size_t len;
	uint64_t
		empty_since; /* the buffer was known to be empty up to here before this page */
	unsigned char bytes[];
};

struct nw_cpu_buffer {
	int fd; /* -1: from memory */
	uint32_t cpu;
	const unsigned char *run, *run_end; /* from memory: pages to come */

	struct nw_slab *first, *last; /* read, not yet walked; the first is being walked */
	size_t queued;		      /* how many these are */
	struct nw_page page;	      /* the walk over the first */
	bool open;		      /* page is valid */

	bool has_event; /* head, data and size are */
	bool has_loss;	/* a loss is to be handed out before the event */
	uint64_t head;	/* time of the event; without one, of the last there was */
	const unsigned char *data;
	uint32_t size;

	uint64_t last_queued; /* a lower bound for the newest event in the queue */
	uint64_t known;
	uint64_t empty_at; /* known to have been empty then */
	bool drained;	   /* and nothing has been read since */
	uint64_t loss_from, lost;
	bool lost_is_least;
	size_t reached; /* how far the kernel's page has been read, at most */
};

struct nw_head { /* a buffer that has something to offer, and from when that is */
	uint64_t time;
	uint32_t buffer;
};

struct nw_stream {
	const struct nw_formats *formats;
	struct nw_cpu_buffer *buffer;
	size_t buffers;
	struct nw_head *heap;
	size_t heap_count;
	/* The buffer at the top, once its event was handed out: it is still to move on. What it
	 * has up to `until` may be handed out without asking the heap. */
	struct nw_cpu_buffer *current;
	uint64_t until;
	bool finished;
	uint64_t limit; /* events up to here may be handed out */

	struct nw_slab *free;
	size_t queued, budget; /* pages in queues, that may be there */
	int epoll;
	uint32_t largest; /* payload of the largest event, 0: not known */
	bool polls;	  /* the kernel does not tell which buffers to look at */
	uint64_t sweep;	  /* nanoseconds between looks at all buffers */
	uint64_t swept;	  /* when all buffers were last looked at */
	uint64_t (*now)(void *arg);
	void *now_arg;
	int (*tap)(void *arg, uint32_t cpu, const unsigned char *page, size_t len);
	void *tap_arg;
	struct nw_stream_stats stats;
};

/* ---- cpu_buffer.c ------------------------------------------------------------------------- */

/* A page to read into; NULL when the budget is used up, or there is no memory. */
struct nw_slab *nw_slab_take(struct nw_stream *s, const struct nw_cpu_buffer *buffer);
void nw_slab_give(struct nw_stream *s, struct nw_slab *slab);
/* A page that was read goes to the end of the buffer's queue. */
void nw_cpu_buffer_queue(struct nw_stream *s, struct nw_cpu_buffer *buffer,
			 struct nw_slab *slab);
/* The page being walked is done with. */
void nw_cpu_buffer_drop_page(struct nw_stream *s, struct nw_cpu_buffer *buffer);
/* To the time of the page's event. A CPU's time does not go back: where a damaged recording
 * says so, it stands still. */
static inline void nw_cpu_buffer_move(struct nw_cpu_buffer *buffer)
{
	buffer->head = nw_max64(buffer->head, buffer->page.time);
}

/* Move to the buffer's next event; false when nothing is queued, not even a loss. */
bool nw_cpu_buffer_next(struct nw_stream *s, struct nw_cpu_buffer *buffer);

/* The same on the page that is being walked only; false: use nw_cpu_buffer_next(). */
static inline bool nw_cpu_buffer_next_here(struct nw_cpu_buffer *buffer)
{
	if (nw_unlikely(!buffer->open ||
			nw_page_next(&buffer->page, &buffer->data, &buffer->size) <= 0))
		return false;
	nw_cpu_buffer_move(buffer);
	return true;
}

/*
 * Take whole hits, from the buffer's event on as they follow each other on its page, not newer
 * than `until`. Returns how many, at most `most`; *pending: the buffer has moved on to an event
 * that is not among them (it has not: the last of them is still its event).
 */
size_t nw_cpu_buffer_hits(struct nw_cpu_buffer *buffer, const struct nw_formats *formats,
			  uint64_t until, struct nw_hit *out, size_t most, bool *pending);

/* What the buffer has to offer next: a loss stands before the event behind it. */
static inline uint64_t nw_cpu_buffer_time(const struct nw_cpu_buffer *buffer)
{
	return buffer->has_loss ? buffer->loss_from : buffer->head;
}

/* ---- an event ----------------------------------------------------------------------- */

/* What the event is, if it is of a known type and long enough for it; NULL. */
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

/* Which of its places the event of kind PROBE is from. */
static inline const struct nw_hit_place *nw_hit_place_of(
	const struct nw_event_format *format, const unsigned char *data)
{
	uint16_t low = nw_load16(data + format->address) & 0xfff;

	return &format->places.item[format->by_low_bits[low]];
}

/* The stack pointer of an event of kind PROBE, which is of this point. */
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

/* Whose stack it is, if it is a goroutine's: see NW_STACK_AGAIN. */
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

/* Something was put into a buffer, or may have been: see that it stands in the heap. */
void nw_stream_wake(struct nw_stream *s, unsigned int buffer);
/* Move on from the event that was handed out last. Before anything else changes the heap. */
void nw_stream_advance(struct nw_stream *s);

#endif
