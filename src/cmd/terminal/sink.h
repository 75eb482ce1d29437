/* SPDX-License-Identifier: MIT */
/* The destination of results: a file, standard output, or a pager. */
#ifndef NOPWATCH_CMD_TERMINAL_SINK_H
#define NOPWATCH_CMD_TERMINAL_SINK_H

#include <stdio.h>

#include "nopwatch/base.h"
#include "nopwatch/engine.h"
#include "nopwatch/output.h"

struct nw_sink {
	FILE *file;
	const char *path; /* NULL: stdout */
	const struct nw_output_format *format;
	bool replace; /* what is written replaces what the file held, in one step; no file */
	bool closed;  /* the reader has gone (EPIPE): no error, but an end */
	bool page;    /* what is longer than the screen goes through a pager, at the end */
	struct nw_buf held; /* for it */
	const struct nw_run_result
		*result; /* of the run that it is for; NULL: there is none */
	bool stalled; /* nobody has read for half a second, and a signal is to end the run */
};

/* path NULL: stdout. format: what is written is of it. */
int nw_sink_open(const char *path, const struct nw_output_format *format,
		 struct nw_sink *out, struct nw_error *err);
/* Write and empty the buffer. -EPIPE marks the sink closed. */
int nw_sink_write(struct nw_sink *sink, struct nw_buf *text, struct nw_error *err);
int nw_sink_close(struct nw_sink *sink, struct nw_error *err);
/* From here on all is kept for a pager, if the sink is a terminal and the format for people. */
void nw_sink_page(struct nw_sink *sink);
/* Show what was kept; nw_sink_close() does so, too. */
void nw_sink_show(struct nw_sink *sink);
/* The terminal's size in characters; 0: it is none. */
struct nw_screen {
	size_t columns, rows;
};
struct nw_screen nw_screen_of(FILE *stream);

#endif
