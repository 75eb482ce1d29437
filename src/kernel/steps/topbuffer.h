/* SPDX-License-Identifier: MIT */
/*
 * The top-level ring buffer, for kernels without instances or whose uprobes record nowhere else (before 3.15, and
 * all of RHEL 7). Every tracer on the machine shares it. So it is only taken while nobody uses it, and all settings
 * are restored.
 */
#ifndef NOPWATCH_KERNEL_STEPS_TOPBUFFER_H
#define NOPWATCH_KERNEL_STEPS_TOPBUFFER_H

#include "journal.h"

/*
 * Takes the buffer if nobody uses it. *lock: a descriptor, which holds the buffer until it is closed. EBUSY: it is
 * in use, and the error says by what. force: take it anyway, unless another nopwatch session has it.
 */
int nw_top_take(const struct nw_tracefs *fs, bool force, int *lock, struct nw_error *err);
/* Notes the content of a file in the journal, before it is changed. */
int nw_top_keep(const struct nw_tracefs *fs, const struct nw_journal *journal,
		const char *file);
/* Removes all records. */
void nw_top_clear(const struct nw_tracefs *fs);
/* Does the undos of the journal. Adds those that failed to stuck, and returns -EBUSY then. */
int nw_top_restore(const struct nw_tracefs *fs, const struct nw_journal *journal,
		   const struct nw_journal_contents *contents, nw_strings *stuck);

#endif
