/* SPDX-License-Identifier: MIT */
/*
 * stream: turns ring-buffer pages into records in time order, with losses marked where they happened. It uses only
 * the file descriptors that it is given.
 *
 * Order: the events of one CPU are in order already. The CPUs are merged, and an event is handed out only when no CPU
 * can have an older one. A CPU that was found empty is known up to the moment before it was looked at: an older event
 * was committed by then, or has no causal connection with the events that are handed out (a thread commits its event
 * before it can move on and cause another event on another CPU).
 */
#ifndef NOPWATCH_STREAM_PAGES_STREAM_H
#define NOPWATCH_STREAM_PAGES_STREAM_H

#include "stream/pages/page.h"
#include "stream/pages/record.h"
#include "stream/pages/tasks.h"

struct nw_stream;

struct nw_stream_stats {
	uint64_t records; /* records that were handed out */
	uint64_t pages;	  /* pages that were read */
	uint64_t bytes;	  /* of their data */
	uint64_t lost;	  /* lost events, as far as the pages tell their number */
	/* Losses whose size the pages do not tell; each has lost at least one event. */
	uint64_t uncounted;
	uint64_t unknown; /* events of a type or place that is not in the formats */
	uint64_t damaged; /* damaged pages */
};

/*
 * Options of a stream over per-CPU file descriptors of trace_pipe_raw, which stay the caller's. now() returns the
 * time of the trace clock.
 */
struct nw_stream_options {
	const int *fds;	      /* one per buffer, non-blocking */
	const uint32_t *cpus; /* the CPU of each buffer */
	size_t buffers;
	uint64_t (*now)(void *arg);
	void *now_arg;
	size_t page_budget; /* limit of pages in memory; 0: the default */
	/* Payload of the largest event in these buffers: a page with room for another one is the newest. 0 or
	 * UINT32_MAX: unknown; then a buffer is read until it is found empty. */
	uint32_t largest;
	/* Milliseconds between two looks at every buffer; 0: the kernel tells which buffers are worth reading.
	 * Kernels without buffer_percent (before 5.0) would do so every few events. */
	int poll_ms;
};
int nw_stream_open(const struct nw_formats *formats,
		   const struct nw_stream_options *options, struct nw_stream **out,
		   struct nw_error *err);

/* The pages of one CPU, one behind the other in memory. */
struct nw_page_run {
	uint32_t cpu;
	const unsigned char *pages;
	size_t size; /* in bytes; an incomplete last page counts as damaged */
};
/* Tells a stream that its formats have more events (nw_formats_grow()). */
void nw_stream_grow(struct nw_stream *stream);
int nw_stream_open_memory(const struct nw_formats *formats, const struct nw_page_run *runs,
			  size_t count, struct nw_stream **out, struct nw_error *err);

void nw_stream_free(struct nw_stream *stream);

/* Waits until there is something to read, or wake_fd is readable (-1: none), or the time is over; then reads. Returns
 * 0 or -errno. */
int nw_stream_fill(struct nw_stream *stream, int wake_fd, int timeout_ms);
/* Reads every buffer without waiting, some 100 KiB of each. To read everything, call it until nw_stream_known() has
 * reached the desired time. */
int nw_stream_poll(struct nw_stream *stream);
/* Returns a descriptor that is readable when a buffer is worth reading, if the kernel tells. The stream owns it. */
int nw_stream_fd(const struct nw_stream *stream);
/* Tells that nothing more will be written: reads the rest, so that everything can be handed out. */
int nw_stream_finish(struct nw_stream *stream);
/* Was this buffer found empty since the stream was finished? */
bool nw_stream_emptied(const struct nw_stream *stream, size_t buffer);
/* Returns 1 with the next record in time order; 0: none yet (fill again). */
int nw_stream_next(struct nw_stream *stream, struct nw_record *out);
/*
 * Takes the next records, at most `most`, as long as they are whole hits whose values nobody needs. Returns how many.
 * 0: nw_stream_next() returns the next record, if there is one.
 */
size_t nw_stream_hits(struct nw_stream *stream, struct nw_hit *out, size_t most);
/* Returns the watermark: records up to this time were handed out, or will be before all later ones. */
uint64_t nw_stream_known(const struct nw_stream *stream);
struct nw_stream_stats nw_stream_stats(const struct nw_stream *stream);
typedef int nw_page_tap(void *arg, uint32_t cpu, const unsigned char *page, size_t len);
/* Calls `tap` with every page that was read, before it is decoded, for recordings. NULL: no calls. */
void nw_stream_tap(struct nw_stream *stream, nw_page_tap *tap, void *arg);

#endif
