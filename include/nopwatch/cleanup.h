/* SPDX-License-Identifier: MIT */
/*
 * kernel/recovery: removes what killed sessions left: breakpoints and semaphores in living programs, events,
 * instances, files. Living sessions stay, and so does everything that is not nopwatch's. inventory.h lists what
 * exists.
 */
#ifndef NOPWATCH_CLEANUP_H
#define NOPWATCH_CLEANUP_H

#include "nopwatch/tracefs.h"

struct nw_clean_report {
	unsigned int living;  /* sessions left alone */
	unsigned int removed; /* dead sessions taken away */
	unsigned int
		waiting;    /* whose empty instance stays while others read a trace_pipe */
	size_t persistent;  /* events that `add` made: they stay */
	nw_strings stuck;   /* what could not be removed, and why */
	nw_strings orphans; /* nopwatch_* in tracefs that no journal speaks of */
};

/* Remove what dead sessions left. orphans_too: also what has no journal. */
int nw_clean(const struct nw_tracefs *fs, bool orphans_too, struct nw_clean_report *out,
	     struct nw_error *err);
/* What nw_clean() would do, as shell commands. */
int nw_clean_dry_run(const struct nw_tracefs *fs, bool orphans_too, struct nw_buf *out,
		     struct nw_error *err);
void nw_clean_report_free(struct nw_clean_report *report);

#endif
