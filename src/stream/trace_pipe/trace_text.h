/* SPDX-License-Identifier: MIT */
/* stream/trace_pipe: reads the text of trace_pipe line by line. */
#ifndef NOPWATCH_STREAM_TRACE_PIPE_TRACE_TEXT_H
#define NOPWATCH_STREAM_TRACE_PIPE_TRACE_TEXT_H

#include "stream/pages/record.h"

/*
 * The text of trace_pipe and of trace files, from any kernel since 3.10, with any options and clock
 * (kernel/trace/trace_output.c: trace_print_context(), print_trace_line()):
 *
 * 	bash-4711  [003] d..2. 1234.567890: req: (0x401136) id=5 sql="x"
 * 	COMM-TID [ (TGID) ] [CPU] [FLAGS] TIME: EVENT: ARGUMENTS
 * 	CPU:3 [LOST 17 EVENTS]
 *
 * The text cannot be trusted: a thread may have any name, and a string may contain newlines and text that looks like
 * another line.
 */
enum nw_text_kind {
	NW_TEXT_EVENT,
	NW_TEXT_LOSS,
	NW_TEXT_HEADER,	 /* "#nw ...", written by our own script; see nw_script_make() */
	NW_TEXT_COMMENT, /* "# tracer: nop", or an empty line */
	NW_TEXT_BAD,
};

/* A reader: takes bytes and returns records in the order of time, as far as a window of so many lines can sort them
 * (trace_pipe prints lines as it finds them; a CPU that was just empty may come late). */
enum {
	NW_TEXT_WINDOW = 256
};
struct nw_text;

struct nw_text_stats {
	uint64_t lines;	 /* all lines, including those inside strings of earlier lines */
	uint64_t bad;	 /* lines that are no trace lines */
	uint64_t bad_at; /* number of the first such line */
	uint64_t other;	 /* events that are not in the plan */
	/* Lines that came too late for the window, and were handed out after later ones */
	uint64_t late;
	uint64_t lost;	      /* lost events, as told by lines and the header */
	bool lost_is_least;   /* there may be more, because the size of a loss is unknown */
	uint64_t now;	      /* latest time seen; 0: none */
	uint64_t start, stop; /* as told by our script; 0: it does not tell */
	bool ticks;	      /* times are not in nanoseconds */
	bool trailer_cut;     /* nw_text_trailer() is not all of it */
};

/* The thread of a record, as its line names it. */
struct nw_text_who {
	const char *comm;
	size_t comm_len;
	int32_t pid; /* 0: unknown */
};

/* Opens a reader for text that is fed to it, or for text in memory, which must outlive the reader. */
int nw_text_open(struct nw_text **out);
int nw_text_open_memory(const char *bytes, size_t len, struct nw_text **out);
void nw_text_free(struct nw_text *text);

/* Returns where to put more text, at least 64 KiB; NULL without memory. Pointers of earlier records become invalid.
 * nw_text_filled() tells how much was put there. */
char *nw_text_room(struct nw_text *text, size_t *room);
void nw_text_filled(struct nw_text *text, size_t len);
/* Hands out the lines in the window, because no text will come for a while. */
void nw_text_flush(struct nw_text *text);
/* Tells that the text has ended. */
void nw_text_finish(struct nw_text *text);

/* Finds out what kind of text it is. HEADER: our script's header is complete (nw_text_header()); EVENT: there is no
 * header; BAD: unknown before more text is fed (at the end of the text: nothing useful was found). */
enum nw_text_kind nw_text_begin(struct nw_text *text);
/* Returns the header, for nw_plan_load(). */
const struct nw_buf *nw_text_header(const struct nw_text *text);
/* Returns what the script has told of the kernel's counts at its end: lines "task TID PROCESS NAME", and "map SYSTEM EVENT" with the
 * lines of that map behind it. It is complete when the text is over, and valid until then. */
const struct nw_buf *nw_text_trailer(const struct nw_text *text);
/*
 * Sets the events to look for; there are no records before that. Fills `formats` for nw_join and nw_record_values,
 * which the caller frees after the reader. Without `values`, records have none.
 */
int nw_text_use(struct nw_text *text, const struct nw_armed *armed, bool values,
		struct nw_formats *formats);
/*
 * Makes a plan for text without a header: all its events, with the arguments that they have there. ENOENT: there are
 * none. source: name of the text.
 */
int nw_text_learn(const char *bytes, size_t len, const char *source,
		  struct nw_selection *selection, struct nw_plan *plan,
		  struct nw_armed *armed, struct nw_error *err);

/* Returns 1 with the next record; 0: none before more is fed; -ENOMEM. who may be NULL. */
int nw_text_next(struct nw_text *text, struct nw_record *out, struct nw_text_who *who);
struct nw_text_stats nw_text_stats(const struct nw_text *text);
/* Returns when our script stopped, by its mark among the events: later hits come from the time in which probes were
 * disarmed one after the other. UINT64_MAX: the mark has not come yet. */
uint64_t nw_text_over(const struct nw_text *text);

#endif
