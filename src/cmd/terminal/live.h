/* SPDX-License-Identifier: MIT */
/*
 * Shows a run's reports live in the terminal. The engine has the numbers, src/show/top draws them and interprets
 * keys, and this file connects both with the screen.
 */
#ifndef NOPWATCH_CMD_TERMINAL_LIVE_H
#define NOPWATCH_CMD_TERMINAL_LIVE_H

#include "run/consumers/reports.h"

enum {
	NW_LIVE_INTERVAL_NS = 500000000
};

struct nw_live_options {
	enum nw_sort sort;
	const char *by;	      /* the grouping at the start */
	uint64_t interval_ns; /* interval between two reports */
	bool recorded; /* the source is a recording, which is shown after it was read */
	bool net;      /* latencies exclude the probe overhead */
	bool color;
	bool keeps_output; /* CMD's output is kept and shown at the end */
	/* Prints a note when the view does not use the screen. */
	void (*note)(const char *fmt, ...) nw_format(1, 2);
};

struct nw_live_view;

/* Opens the view. It draws nothing before all probes are armed. < 0: there is no terminal to draw on. */
int nw_live_open(const struct nw_live_options *options, struct nw_live_view **out);
/* Returns the hooks for struct nw_reports_options. */
const struct nw_reports_live *nw_live_hooks(const struct nw_live_view *view);
/* Returns whether the picture is on the terminal. */
bool nw_live_is_shown(const struct nw_live_view *view);
/* Returns the descriptors for struct nw_request. */
const int *nw_live_wake_fds(const struct nw_live_view *view, size_t *count);
void nw_live_notice(struct nw_live_view *view, const char *text);
/* Shows the result of a recording after a successful run, until the user quits. */
void nw_live_browse(struct nw_live_view *view, const struct nw_run_result *result);
/* Restores the screen and prints the kept output. May be called again. */
void nw_live_leave(struct nw_live_view *view);
void nw_live_close(struct nw_live_view *view);

#endif
