/* SPDX-License-Identifier: MIT */
/* Slow spans that the kernel itself finds, by hist triggers and a synthetic event (histogram.rst), for an armed session. */
#ifndef NOPWATCH_KERNEL_STEPS_SPAN_WATCH_H
#define NOPWATCH_KERNEL_STEPS_SPAN_WATCH_H

#include "steps.h"

struct nw_span_watch {
	const struct nw_tracefs *fs;
	/* The session's group, which its instance and the synthetic event are called after, too. */
	const char *group;
	const char *start, *end; /* names of two events of the group */
	const char *clock;	 /* the session's: "mono" or "boot" */
};

/*
 * From here on the two events are not recorded. In their place there is a record for each span that takes at least so
 * long: from the start to the next end of the same thread, where a later start replaces an earlier one. It is a record of
 * the event `group` of the system "synthetic", with the fields common_pid (s32, the thread by the kernel's number), took
 * and at (u64: the duration, and the time of the end by the session's clock). Returns 0, or -errno with everything as it
 * was before.
 */
int nw_span_watch_begin(const struct nw_span_watch *watch, uint64_t least_ns);
/* Tells the number of ends, and of hits that the triggers had no room for. Returns -errno if somebody has removed them. */
int nw_span_watch_check(const struct nw_span_watch *watch, uint64_t *ends,
			uint64_t *dropped);
/* The two events are recorded again, and the triggers are removed. The session's teardown does the same. */
void nw_span_watch_end(const struct nw_span_watch *watch);
/*
 * Adds the steps that remove the triggers of these events of a group, and of its synthetic events GROUP, GROUP_1, ...: those of
 * a span watch, those by which the kernel counts (session/triggers.h), and those that keep arguments (session/carried.c).
 * Without a synthetic event there are no triggers. They have to come before all other steps of a teardown. Returns 0, or -errno
 * if the triggers cannot be read; then nothing that follows can succeed.
 */
int nw_span_watch_steps(const struct nw_tracefs *fs, const char *group,
			const nw_strings *events, struct nw_steps *out);
/* Adds the steps that remove the group's synthetic events, once the event probes behind them are deleted. */
void nw_synthetic_steps(const struct nw_tracefs *fs, const char *group,
			struct nw_steps *out);

#endif
