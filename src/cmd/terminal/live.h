/* SPDX-License-Identifier: MIT */
/*
 * A run's reports, live in the terminal: the engine has the numbers, top/ the picture of them and the
 * keys, and this is what goes on between both and the screen.
 */
#ifndef NOPWATCH_CMD_TERMINAL_LIVE_H
#define NOPWATCH_CMD_TERMINAL_LIVE_H

#include "nopwatch/reports.h"

enum {
	NW_LIVE_INTERVAL_NS = 500000000
};

struct nw_live_options {
	enum nw_sort sort;
	const char *by;	      /* as the reports are grouped at first */
	uint64_t interval_ns; /* of the reports */
	bool recorded; /* the source is a recording, which is looked at when it was read */
	bool net;      /* latencies are net of what the probes have cost */
	bool color;
	bool keeps_output; /* what CMD prints is shown at the end */
	/* Print a line for a person, when the screen is not ours. */
	void (*note)(const char *fmt, ...) nw_format(1, 2);
};

struct nw_live_view;

/* Nothing is drawn before all is armed. < 0: there is no terminal to draw on. */
int nw_live_open(const struct nw_live_options *options, struct nw_live_view **out);
/* For struct nw_reports_options, */
const struct nw_reports_live *nw_live_hooks(const struct nw_live_view *view);
/* and for struct nw_request. */
const int *nw_live_wake_fds(const struct nw_live_view *view, size_t *count);
void nw_live_notice(struct nw_live_view *view, const char *text);
/* The run has ended well: of a recording there is something to look at, until somebody has seen enough. */
void nw_live_browse(struct nw_live_view *view, const struct nw_run_result *result);
/* Give the screen back, and say what was kept. More than once. */
void nw_live_leave(struct nw_live_view *view);
void nw_live_close(struct nw_live_view *view);

#endif
