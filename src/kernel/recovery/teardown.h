/* SPDX-License-Identifier: MIT */
/* Taking away what tracefs has of a session. */
#ifndef NOPWATCH_KERNEL_RECOVERY_TEARDOWN_H
#define NOPWATCH_KERNEL_RECOVERY_TEARDOWN_H

#include "kernel/steps/steps.h"

/* Sessions that tracefs has something of, but that have no journal; adds to sessions. */
int nw_clean_orphans(const struct nw_tracefs *fs, nw_strings *sessions);
/*
 * Take away what tracefs has of a session: disable its group everywhere, remove its instance,
 * delete its events. Adds to stuck what had to stay, and why; returns -EBUSY then. 1: all is gone
 * but its instance, empty and small, which readers of other trace_pipes keep: the journal has to
 * stay, and nw_clean() tries again.
 */
int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck);
/* The steps of that, as things stand. */
int nw_teardown_steps(const struct nw_tracefs *fs, const char *session,
		      struct nw_steps *out, struct nw_error *err);

/*
 * The part of that which takes the kernel's own look-out for spans away (nw_span_watch, session.h), to be done before
 * anything else is, given the names of the group's events; nothing if there is none.
 */
void nw_span_watch_steps(const struct nw_tracefs *fs, const char *group,
			 const nw_strings *events, struct nw_steps *out);
/* What its synthetic event holds, as synthetic_events has it. */
extern const char nw_span_watch_fields[];

#endif
