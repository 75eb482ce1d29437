/* SPDX-License-Identifier: MIT */
/* The parts of Perfetto's format: what is kept, packets (perfetto_packet.c), spans (perfetto_span.c). */
#ifndef NOPWATCH_SHOW_PERFETTO_PERFETTO_H
#define NOPWATCH_SHOW_PERFETTO_PERFETTO_H

#include "nopwatch/text.h"
#include "perfetto_fields.h"
#include "protobuf.h"

/* The tracks' numbers: what they are of, and which. */
enum nw_pf_kind {
	TRACK_OF_PROCESS = 1,
	TRACK_OF_THREAD,
	TRACK_BESIDE_THREAD, /* spans that do not nest */
	TRACK_OF_SPAN,	     /* spans by something else than the thread */
	TRACK_OF_LOSS,
	TRACK_OF_HITS,
	TRACK_OF_LOST,
	TRACK_OF_GROUP,
};

/* A span that has begun. */
struct nw_pf_started {
	uint32_t span;
	uint32_t
		row; /* by something else than the thread: its place among those that are open */
	uint64_t key, start;
	struct nw_buf args; /* of its start, as they are written */
};

/* Tracks on which slices stand one behind the other: when the last of each ended. */
typedef NW_VEC(uint64_t) nw_pf_rows;

struct nw_pf_thread {
	bool known; /* else the slot is free: the idle threads have the number 0 */
	int32_t tid, pid;
	char comm[16]; /* as it was told last; "": not yet */
	NW_VEC(struct nw_pf_started) open;
	nw_pf_rows beside;
};

struct nw_pf {
	struct nw_begin run;
	bool *is_end_or_start;	     /* by probe: it is of a span */
	struct nw_pf_thread *thread; /* open-addressed */
	size_t threads, used;
	struct nw_index processes;	   /* that were told, by their numbers as text */
	NW_VEC(struct nw_pf_started) open; /* by something else than the thread */
	nw_vec_u32 *rows;		   /* by span: 1 if taken */
	NW_VEC(nw_pf_rows) groups;	   /* by number, if spans are grouped */
	struct nw_event_line line;	   /* that spans are told of */
	bool clock;			   /* was told */
	uint64_t second, hits;		   /* in that second of the trace clock */
	uint64_t lost;
};

/* ---- packets ------------------------------------------------------------------------ */

/* A packet, which has no time yet; the caller closes it. */
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
/* An annotation of the event that is open. */
void nw_pf_note_number(struct nw_buf *out, const char *name, uint64_t number);
/* The arguments of a hit, in an annotation of that name. */
void nw_pf_side(struct nw_buf *out, const char *name, const struct nw_event_line *line);
/* A mark; state, line and notes may be NULL. */
void nw_pf_instant(struct nw_buf *out, uint64_t time, uint64_t track, const char *name,
		   const char *state, const struct nw_event_line *line,
		   const struct nw_buf *notes);

/* ---- threads ------------------------------------------------------------------------ */

uint64_t nw_pf_thread_track(const struct nw_pf_thread *thread);
/* The thread of that number; NULL: there was none. */
struct nw_pf_thread *nw_pf_find_thread(const struct nw_pf *p, int32_t tid);
/* The thread of a hit, told of if it is new or has another name; NULL: out of memory. */
struct nw_pf_thread *nw_pf_thread(struct nw_output *output,
				  const struct nw_event_line *line);

/* ---- spans -------------------------------------------------------------------------- */

void nw_pf_span(struct nw_output *output, const struct nw_span_event *event);
void nw_pf_free_started(struct nw_pf_started *list, size_t count);

#endif
