/* SPDX-License-Identifier: MIT */
/* The part of a session's end that takes the kernel's own look-out for spans away (nw_span_watch, session.h). */
#ifndef NOPWATCH_KERNEL_SPAN_WATCH_H
#define NOPWATCH_KERNEL_SPAN_WATCH_H

#include "nopwatch/session.h"

#include "steps/steps.h"

/* What takes it away, to be done before anything else is, given the names of the group's events; nothing if there is none. */
void nw_span_watch_steps(const struct nw_tracefs *fs, const char *group,
			 const nw_strings *events, struct nw_steps *out);

#endif
