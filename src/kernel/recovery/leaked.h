/* SPDX-License-Identifier: MIT */
/* Breakpoints and semaphores that a killed session has left in living programs. */
#ifndef NOPWATCH_KERNEL_RECOVERY_LEAKED_H
#define NOPWATCH_KERNEL_RECOVERY_LEAKED_H

#include "nopwatch/inventory.h"

#include "kernel/steps/journal.h"

/* The sites that the journal knows. -ENOMEM. */
int nw_leaked_find(const struct nw_journal_story *story, struct nw_inventory *out);
/*
 * Arm once more what is not enabled; the teardown that follows disarms it. The number that tells
 * whether there was any: 1, 0; or -errno.
 */
int nw_leaked_rearm(const struct nw_tracefs *fs, const struct nw_journal *journal,
		    const struct nw_journal_story *story, const struct nw_inventory *sites);
/* After the teardown: look at the sites in every process that maps them. Adds to stuck what is
 * there and nobody's event; returns -EBUSY then. bad: the names of their events (NULL: nobody asks). */
int nw_leaked_report(const struct nw_tracefs *fs, const struct nw_journal_story *story,
		     const struct nw_inventory *sites, nw_strings *stuck, nw_strings *bad);

#endif
