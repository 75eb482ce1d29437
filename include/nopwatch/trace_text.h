/* SPDX-License-Identifier: MIT */
/* stream/trace_pipe: reads the text of trace_pipe line by line. */
#ifndef NOPWATCH_TRACE_TEXT_H
#define NOPWATCH_TRACE_TEXT_H

#include "nopwatch/record.h"

/*
 * The text of trace_pipe and of trace files, of any kernel since 3.10, whatever its options
 * and clock (kernel/trace/trace_output.c: trace_print_context(), print_trace_line()):
 *
 *	            bash-4711  [003] d..2.  1234.567890: req: (0x401136) id=5 sql="x"
 *	COMM-TID [ (TGID) ] [CPU] [FLAGS] TIME: EVENT: ARGUMENTS
 *	CPU:3 [LOST 17 EVENTS]
 *
 * Nothing in it can be trusted: a thread may call itself anything, and a string may hold
 * newlines and what looks like another line.
 */
enum nw_text_kind {
	NW_TEXT_EVENT,
	NW_TEXT_LOSS,
	NW_TEXT_HEADER,	 /* "#nw ...": of our own script, see nw_script_make() */
	NW_TEXT_COMMENT, /* "# tracer: nop", or nothing at all */
	NW_TEXT_BAD,
};

/* A reader: bytes in, records out, in the order of time as far as a window of so many lines
 * can put them (trace_pipe prints what it finds; a CPU that was just empty may come late). */
enum {
	NW_TEXT_WINDOW = 256
};
struct nw_text;

struct nw_text_stats {
	uint64_t lines;	      /* all, also what belongs to the string of the line before */
	uint64_t bad;	      /* that are no trace lines */
	uint64_t bad_at;      /* number of the first of them */
	uint64_t other;	      /* events that are not ours */
	uint64_t late;	      /* lines beyond the window: handed out after what was later */
	uint64_t lost;	      /* events, as lines and header say; */
	bool lost_is_least;   /* or more: of some losses nobody says how large */
	uint64_t now;	      /* latest time seen; 0: none */
	uint64_t start, stop; /* as our script tells; 0: it does not */
	bool ticks;	      /* times are no nanoseconds */
};

/* Who the thread of a record is, as its line says. */
struct nw_text_who {
	const char *comm;
	size_t comm_len;
	int32_t pid; /* 0: not told */
};

/* A reader of what is fed, or of text that lies in memory for as long as the reader lives. */
int nw_text_open(struct nw_text **out);
int nw_text_open_memory(const char *bytes, size_t len, struct nw_text **out);
void nw_text_free(struct nw_text *text);

/* Where to put more text: at least 64 KiB; NULL when out of memory. Pointers of earlier
 * records die. Then say how much was put there. */
char *nw_text_room(struct nw_text *text, size_t *room);
void nw_text_filled(struct nw_text *text, size_t len);
/* Nothing will come for a while: hand out what is in the window. */
void nw_text_flush(struct nw_text *text);
/* Nothing more will come. */
void nw_text_finish(struct nw_text *text);

/* What kind of text is it? HEADER: our script's header is complete, nw_text_header() has it;
 * EVENT: there is none; BAD: cannot be told before more is fed (or at its end: none). */
enum nw_text_kind nw_text_begin(struct nw_text *text);
/* The header, as nw_plan_load() takes it. */
const struct nw_buf *nw_text_header(const struct nw_text *text);
/*
 * The events to look for. Makes formats for nw_join and nw_record_values, to be freed by the
 * caller after the reader. Before it, there are no records. Without values, they have none.
 */
int nw_text_use(struct nw_text *text, const struct nw_armed *armed, bool values,
		struct nw_formats *formats);
/*
 * For text without a header: a plan of all events in it, with the arguments they have there.
 * ENOENT: there are none. source names the text.
 */
int nw_text_learn(const char *bytes, size_t len, const char *source,
		  struct nw_selection *selection, struct nw_plan *plan,
		  struct nw_armed *armed, struct nw_error *err);

/* The next record: 1; 0: none before more is fed; -ENOMEM. who may be NULL. */
int nw_text_next(struct nw_text *text, struct nw_record *out, struct nw_text_who *who);
struct nw_text_stats nw_text_stats(const struct nw_text *text);
/* When our script stopped, by its mark among the events: what is later was hit while the probes were
 * disarmed, one after the other. UINT64_MAX: no mark has come yet. */
uint64_t nw_text_over(const struct nw_text *text);

#endif
