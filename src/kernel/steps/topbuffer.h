/* SPDX-License-Identifier: MIT */
/*
 * The top-level ring buffer, for kernels without instances, or whose uprobes record nowhere else
 * (before 3.15, and all of RHEL 7). It belongs to everybody: it is only taken when nobody uses it,
 * and all that was set is put back.
 */
#ifndef NOPWATCH_KERNEL_STEPS_TOPBUFFER_H
#define NOPWATCH_KERNEL_STEPS_TOPBUFFER_H

#include "journal.h"

/*
 * Take the buffer, if nobody uses it; *lock is held (a file descriptor) until it is closed.
 * EBUSY, with the reason: somebody does. force: take it all the same, unless it is another
 * session of ours.
 */
int nw_top_take(const struct nw_tracefs *fs, bool force, int *lock, struct nw_error *err);
/* Note in the journal what a file says, before it is changed. */
int nw_top_keep(const struct nw_tracefs *fs, const struct nw_journal *journal,
		const char *file);
/* Remove what has been recorded. */
void nw_top_clear(const struct nw_tracefs *fs);
/* Undo what the journal has to undo. Adds to stuck what could not be; returns -EBUSY then. */
int nw_session_restore(const struct nw_tracefs *fs, const struct nw_journal *journal,
		       nw_strings *stuck);

#endif
