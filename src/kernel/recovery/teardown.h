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

/*
 * Adds the steps that remove the kernel's own watch for spans (nw_span_watch, session.h), given the names of the
 * group's events; no steps if there is none. They have to come before all others.
 */
void nw_span_watch_steps(const struct nw_tracefs *fs, const char *group,
			 const nw_strings *events, struct nw_steps *out);
/* The fields of its synthetic event, in the format of synthetic_events. */
extern const char nw_span_watch_fields[];

#endif
