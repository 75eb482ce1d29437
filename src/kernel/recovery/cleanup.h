/* SPDX-License-Identifier: MIT */
/*
 * kernel/recovery: removes what killed sessions have left: breakpoints and semaphores in living programs, events,
 * instances and files. Living sessions and things of others stay. inventory.h lists events with their owners.
 */
#ifndef NOPWATCH_KERNEL_RECOVERY_CLEANUP_H
#define NOPWATCH_KERNEL_RECOVERY_CLEANUP_H

#include "kernel/tracefs/tracefs.h"

struct nw_clean_report {
	unsigned int living;  /* running sessions, which are not touched */
	unsigned int removed; /* dead sessions that were removed */
	/* Dead sessions whose empty instance stays while others read a trace_pipe. */
	unsigned int waiting;
	unsigned int kept;  /* counts that stay (kept.h) */
	size_t persistent;  /* events that `add` has defined, which stay */
	nw_strings stuck;   /* things that could not be removed, and the reasons */
	nw_strings orphans; /* names nopwatch_* in tracefs without a journal */
};

/* Removes what dead sessions have left. orphans_too: also things without a journal. */
int nw_clean(const struct nw_tracefs *fs, bool orphans_too, struct nw_clean_report *out,
	     struct nw_error *err);
/* Cleans before something is armed. Notes what dead sessions and killed commands have left and cannot be removed. */
void nw_clean_before(const struct nw_tracefs *fs, nw_strings *notes);
/* Appends the shell commands that do the same as nw_clean() would now. */
int nw_clean_dry_run(const struct nw_tracefs *fs, bool orphans_too, struct nw_buf *out,
		     struct nw_error *err);
void nw_clean_report_free(struct nw_clean_report *report);

#endif
