/* SPDX-License-Identifier: MIT */
/* Removes breakpoints and semaphores that a killed session has left in living programs. */
#ifndef NOPWATCH_KERNEL_RECOVERY_LEAKED_H
#define NOPWATCH_KERNEL_RECOVERY_LEAKED_H

#include "kernel/recovery/inventory.h"

#include "kernel/steps/journal.h"

/*
 * Finds the sites in the journal, and arms those again that are not enabled; the teardown that follows disarms them.
 * Returns 1 if there were any, 0 if not, or -errno.
 */
int nw_leaked_rearm(const struct nw_tracefs *fs, const struct nw_journal *journal,
		    const struct nw_journal_contents *contents, struct nw_inventory *sites);
/* After the teardown, checks the sites in every process that maps them. Adds breakpoints that belong to no event to
 * stuck, and returns -EBUSY then. */
int nw_leaked_report(const struct nw_tracefs *fs,
		     const struct nw_journal_contents *contents,
		     const struct nw_inventory *sites, nw_strings *stuck);

#endif
