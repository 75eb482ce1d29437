/* SPDX-License-Identifier: MIT */
/* Removes what tracefs contains of a session. */
#ifndef NOPWATCH_KERNEL_RECOVERY_TEARDOWN_H
#define NOPWATCH_KERNEL_RECOVERY_TEARDOWN_H

#include "kernel/steps/steps.h"

/* Adds the sessions that tracefs contains something of, but that have no journal. */
int nw_clean_orphans(const struct nw_tracefs *fs, nw_strings *sessions);
/*
 * Removes what tracefs contains of a session: disables its group everywhere, removes its instance and deletes its
 * events. Adds things that had to stay to stuck, with the reason, and returns -EBUSY then. Returns 1 if only the
 * instance is left, empty and small, because of readers of other trace_pipes: the journal has to stay, and
 * nw_clean() tries again.
 */
int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck);
/* The steps of a teardown in the present state. */
int nw_teardown_steps(const struct nw_tracefs *fs, const char *session,
		      struct nw_steps *out, struct nw_error *err);

#endif
