/* SPDX-License-Identifier: MIT */
/* The parts of Perfetto's format: its state, packets (perfetto_packet.c), spans (perfetto_span.c). */
#ifndef NOPWATCH_SHOW_PERFETTO_PERFETTO_H
#define NOPWATCH_SHOW_PERFETTO_PERFETTO_H

#include "perfetto_fields.h"
#include "show/rows/protobuf.h"
#include "show/text/text.h"

/* The kinds of tracks; a track's number is made of its kind and a number. */
enum nw_pf_kind {
	TRACK_OF_PROCESS = 1,
	TRACK_OF_THREAD,
	TRACK_BESIDE_THREAD, /* spans that do not nest */
	TRACK_OF_SPAN,	     /* spans whose key is not the thread */
	TRACK_OF_LOSS,
	TRACK_OF_HITS,
	TRACK_OF_LOST,
	TRACK_OF_GROUP,
};

/* A span that has begun. */
struct nw_pf_started {
	uint32_t span;
	size_t row; /* a span whose key is not the thread: its row among the open ones */
	uint64_t key, start;
	struct nw_buf args; /* the arguments of its start, as they are written */
};

typedef NW_VEC(struct nw_pf_started) nw_pf_open_spans;

/* Rows of slices that do not overlap: a tree of the times at which the last slice of each row ended. The root is
 * ends[1], the rows are the leaves, ends[count] and later ones; 0: no slice yet. A node has the earliest time below it. */
typedef struct {
	uint64_t *ends;
	size_t count; /* of rows: a power of two, or 0 */
} nw_pf_rows;

struct nw_pf_thread {
	int32_t tid, pid;
	char comm[16]; /* the name that was written last; "": none yet */
	nw_pf_open_spans open;
	nw_pf_rows beside;
};

struct nw_pf {
	struct nw_begin run;
	bool *is_end_or_start; /* by probe: it begins or ends a span */
	NW_VEC(struct nw_pf_thread) threads;
	struct nw_hash_table thread_table;
	/* processes that were written, by their numbers as text */
	struct nw_index processes;
	nw_pf_open_spans open;	   /* open spans whose key is not the thread */
	nw_pf_rows *rows;	   /* by span: UINT64_MAX if taken, 1 if free again */
	NW_VEC(nw_pf_rows) groups; /* by group number, if spans are grouped */
	struct nw_event_line line; /* the event that spans refer to */
	bool clock;		   /* the clock was written */
	/* the current second of the trace clock, and its hits */
	uint64_t second, hits;
	uint64_t lost;
};

/* ---- packets ------------------------------------------------------------------------ */

/* Begins a packet, which has no time yet; the caller closes it. Returns its place. */
size_t nw_pf_packet(struct nw_buf *out);
uint64_t nw_pf_track(enum nw_pf_kind kind, uint64_t a, uint64_t b);
void nw_pf_name_track(struct nw_buf *out, uint64_t uuid, uint64_t parent, const char *name,
		      bool counter);
/* A track event. */
struct nw_pf_event {
	size_t packet, event;
};
struct nw_pf_event nw_pf_open(struct nw_buf *out, uint64_t time, unsigned int type,
			      uint64_t track);
void nw_pf_close(struct nw_buf *out, struct nw_pf_event opened);
void nw_pf_counter(struct nw_buf *out, uint64_t time, enum nw_pf_kind kind, uint64_t value);
/* Adds an annotation to the open event. */
void nw_pf_note_number(struct nw_buf *out, const char *name, uint64_t number);
/* Adds the arguments of a hit, in an annotation with this name. */
void nw_pf_side(struct nw_buf *out, const char *name, const struct nw_event_line *line);
/* Writes a mark; state, line and notes may be NULL. */
void nw_pf_instant(struct nw_buf *out, uint64_t time, uint64_t track, const char *name,
		   const char *state, const struct nw_event_line *line,
		   const struct nw_buf *notes);

/* ---- threads ------------------------------------------------------------------------ */

uint64_t nw_pf_thread_track(const struct nw_pf_thread *thread);
/* Returns the thread with this number; NULL: it was not written yet. */
struct nw_pf_thread *nw_pf_find_thread(const struct nw_pf *p, int32_t tid);
/* Returns the thread of a hit, which is written if it is new or has another name; NULL: out of memory. */
struct nw_pf_thread *nw_pf_thread(struct nw_output *output,
				  const struct nw_event_line *line);

/* ---- spans -------------------------------------------------------------------------- */

void nw_pf_span(struct nw_output *output, const struct nw_span_event *event);
void nw_pf_free_started(struct nw_pf_started *list, size_t count);

#endif
