/* SPDX-License-Identifier: MIT */
/*
 * stream: turns ring-buffer pages into records in time order, with losses marked where they happened. Touches only
 * the file descriptors that it is given.
 *
 * Order: the events of one CPU are in order already. Across CPUs they are merged, and an event is handed out only
 * when every CPU is known to have nothing older. A CPU that was found empty is known up to the moment before it was
 * looked at: an older event had been committed by then, or has no causal tie to the events that are handed out (a
 * thread commits its event before it can move on and cause another one elsewhere).
 */
#ifndef NOPWATCH_STREAM_H
#define NOPWATCH_STREAM_H

#include "nopwatch/page.h"
#include "nopwatch/record.h"
#include "nopwatch/tasks.h"

struct nw_stream;

struct nw_stream_stats {
	uint64_t records; /* handed out */
	uint64_t pages;	  /* read */
	uint64_t bytes;	  /* of their data */
	uint64_t lost;	  /* events the pages say were lost; */
	uint64_t
		uncounted; /* losses of which they do not say how large, one event at least */
	uint64_t unknown; /* events of a type or place that is not ours */
	uint64_t damaged; /* pages that had to be given up */
};

/*
 * A stream over per-CPU file descriptors of trace_pipe_raw, which stay the caller's. now()
 * tells the trace clock's time.
 */
struct nw_stream_options {
	const int *fds;	      /* one per buffer, non-blocking */
	const uint32_t *cpus; /* which CPU each buffer is */
	size_t buffers;
	uint64_t (*now)(void *arg);
	void *now_arg;
	size_t page_budget; /* pages held at most, 0: a default */
	/* Payload of the largest event that anybody writes into these buffers: a page with room for one more is the
	 * newest there is. 0 or UINT32_MAX: not known, a buffer is read until it is found empty. */
	uint32_t largest;
	/* Milliseconds between two looks at every buffer; 0: the kernel says which one is worth reading. Kernels
	 * without buffer_percent (before 5.0) would say so for every few events. */
	int poll_ms;
};
int nw_stream_open(const struct nw_formats *formats,
		   const struct nw_stream_options *options, struct nw_stream **out,
		   struct nw_error *err);

/* A stream over pages that lie in memory one behind the other, a run per CPU. */
struct nw_page_run {
	uint32_t cpu;
	const unsigned char *pages;
	size_t size; /* bytes; a cut-off last page is damaged */
};
/* Its formats have got more events (nw_formats_grow()). */
void nw_stream_grow(struct nw_stream *stream);
int nw_stream_open_memory(const struct nw_formats *formats, const struct nw_page_run *runs,
			  size_t count, struct nw_stream **out, struct nw_error *err);

void nw_stream_free(struct nw_stream *stream);

/* Wait until there is something to read or until wake_fd (-1: none) is readable or the time is
 * over, then read. Returns 0 or -errno. */
int nw_stream_fill(struct nw_stream *stream, int wake_fd, int timeout_ms);
/* The same without waiting, of every buffer: some 100 KiB of each; all, if it is called until
 * nw_stream_known() says so. */
int nw_stream_poll(struct nw_stream *stream);
/* Readable when a buffer is worth reading, where the kernel tells. The stream's to close. */
int nw_stream_fd(const struct nw_stream *stream);
/* Nothing more will be written: read what is left, hand out everything. */
int nw_stream_finish(struct nw_stream *stream);
/* Has this buffer been read until it was found empty, since the stream was finished? */
bool nw_stream_emptied(const struct nw_stream *stream, size_t buffer);
/* The next record in time order: 1, or 0: nothing yet (fill again). */
int nw_stream_next(struct nw_stream *stream, struct nw_record *out);
/*
 * The next records, many at a time, as long as they are hits with nothing more to them: whole,
 * and nobody wants their values. At most `most`. Returns how many; 0: nw_stream_next() has the
 * next one, if there is any.
 */
size_t nw_stream_hits(struct nw_stream *stream, struct nw_hit *out, size_t most);
/* Everything up to this time has been handed out, or will be before anything later. */
uint64_t nw_stream_known(const struct nw_stream *stream);
struct nw_stream_stats nw_stream_stats(const struct nw_stream *stream);
/* Sees every page as it was read, before it is decoded (recording). NULL: nobody. */
void nw_stream_tap(struct nw_stream *stream,
		   int (*tap)(void *arg, uint32_t cpu, const unsigned char *page,
			      size_t len),
		   void *arg);

#endif
