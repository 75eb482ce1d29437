/* SPDX-License-Identifier: MIT */
/* Removes what tracefs contains of a session. */
#ifndef NOPWATCH_KERNEL_RECOVERY_TEARDOWN_H
#define NOPWATCH_KERNEL_RECOVERY_TEARDOWN_H

#include "kernel/steps/journal.h"
#include "kernel/steps/semaphore.h"

/* Adds the sessions that tracefs contains something of, but that have no journal. */
int nw_clean_orphans(const struct nw_tracefs *fs, nw_strings *sessions);
/*
 * Removes what tracefs contains of a session: disables its group everywhere, removes its instance and deletes its
 * events. Adds things that had to stay to stuck, with the reason, and returns -EBUSY then. Returns 1 if only the
 * instance is left, empty and small, because of readers of other trace_pipes: the journal has to stay, and
 * nw_clean() tries again.
 */
int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck);
/*
 * Takes away everything of a session whose journal we hold: lowers its semaphores, those of `living`, which is freed,
 * or if that is NULL those in the journal; tears down; does the undos of the journal. An error in one part does not
 * prevent the others. Returns as nw_teardown() does.
 */
int nw_session_undo(const struct nw_tracefs *fs, const struct nw_journal *journal,
		    const struct nw_journal_contents *contents,
		    struct nw_semaphores *living, nw_strings *stuck);
/*
 * Ends the journal of a session for which one of these returned `ret`: removes it if nothing is left; otherwise it stays
 * for nw_clean(). Frees `stuck`. Returns 0, or -EUCLEAN: the error says what of which session is left, and why.
 */
int nw_session_settle(struct nw_journal *journal, int ret, nw_strings *stuck,
		      struct nw_error *err);
/* The steps of a teardown in the present state. */
int nw_teardown_steps(const struct nw_tracefs *fs, const char *session,
		      struct nw_steps *out, struct nw_error *err);

#endif
