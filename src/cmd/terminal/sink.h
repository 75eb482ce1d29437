/* SPDX-License-Identifier: MIT */
/* The destination of results: a file, standard output, or a pager. */
#ifndef NOPWATCH_CMD_TERMINAL_SINK_H
#define NOPWATCH_CMD_TERMINAL_SINK_H

#include <stdio.h>

#include "base/base.h"
#include "run/engine.h"
#include "show/rows/output.h"

struct nw_sink {
	FILE *file;
	const char *path; /* NULL: standard output */
	const struct nw_output_format *format;
	/* Each result replaces the file's content in one step, so no file is open. */
	bool replace;
	bool closed; /* the reader has closed the pipe (EPIPE), which is no error */
	bool page;   /* a text longer than the screen is shown in a pager at the end */
	struct nw_buf held; /* text for the pager */
	struct nw_writer to;
};

/* Opens a sink for results of this format. path NULL: standard output. */
int nw_sink_open(const char *path, const struct nw_output_format *format,
		 struct nw_sink *out, struct nw_error *err);
/* Lets no sink wait for a reader for longer than half a second once a signal has ended this run. It has to stay until the next
 * call; NULL: there is no run any more. */
void nw_sinks_follow(const struct nw_run_result *run);
/* Writes these bytes now. Returns false with errno; ECANCELED: the reader stalls. */
bool nw_sink_put(struct nw_sink *sink, const char *bytes, size_t len);
/* Writes and empties the buffer. -EPIPE marks the sink closed. */
int nw_sink_write(struct nw_sink *sink, struct nw_buf *text, struct nw_error *err);
int nw_sink_close(struct nw_sink *sink, struct nw_error *err);
/* Writes the last text if ret is 0, and closes the sink. Returns ret or the first error; 0 if the reader has closed the pipe. */
int nw_sink_finish(struct nw_sink *sink, int ret, struct nw_buf *text,
		   struct nw_error *err);
/* Keeps all text for a pager from now on, if the sink is a terminal and the format is for people. */
void nw_sink_page(struct nw_sink *sink);
/* Shows the kept text. nw_sink_close() does so, too. */
void nw_sink_show(struct nw_sink *sink);
/* Returns the terminal's size in characters; 0: it is no terminal. */
struct nw_screen {
	size_t columns, rows;
};
struct nw_screen nw_screen_of(FILE *stream);

#endif
