/* SPDX-License-Identifier: MIT */
/* The guards of a live run, called by its source: they keep it from doing harm, and report what its result lacks. */
#ifndef NOPWATCH_RUN_LIMITS_GUARDS_H
#define NOPWATCH_RUN_LIMITS_GUARDS_H

#include "run/run.h"

/* max_rate (rate_limit.c): look whether a probe is hit too often, and disable it. */
int nw_rate_limit_open(struct nw_run *run, struct nw_error *err);
int nw_rate_limit_check(struct nw_run *run, struct nw_error *err);
void nw_rate_limit_free(struct nw_run *run);
/* A probe was disabled at this time, now or while it was recorded, as text says. */
int nw_run_mark_disabled(struct nw_run *run, size_t probe, enum nw_state state, uint64_t at,
			 const char *text, struct nw_error *err);
/* Watch over the events that are armed now (meddling.c); look, once a second and at the end, what
 * others have done to them, and mark the probes that are not recorded any more. */
int nw_meddling_open(struct nw_run *run, struct nw_error *err);
int nw_meddling_check(struct nw_run *run, bool at_end, struct nw_error *err);
/* What these hits, by point, have cost the programs. */
void nw_run_count_cost(struct nw_run *run, const uint64_t *hits);
/* A notice on each argument that will have no value, and why (missing.c). */
void nw_run_warn_missing(const struct nw_run *run);
/* Read back, in the processes that are meant (verbose: in all), what enabling has armed; tell what
 * not (silent.c). */
int nw_run_read_back(struct nw_run *run, struct nw_error *err);
/* What the hits that came say about the states of probes. */
int nw_run_judge_hits(struct nw_run *run, struct nw_error *err);
/* Why probes without hits have none. Before disarming. */
int nw_run_explain(struct nw_run *run, struct nw_error *err);

/* ---- longjmp() (jumps.c) ------------------------------------------------------------ */

/* Whom it is asked of, besides whoever maps a probe's file: processes, by the numbers of /proc, and CMD, or NULL. */
struct nw_jumpers {
	const pid_t *pids;
	size_t pid_count;
	const char *command;
};

/* Where return probes kill who leaves a function by longjmp(): those that are in danger get that as their hazard. */
int nw_find_jumps(const struct nw_features *features, const struct nw_jumpers *who,
		  struct nw_selection *selection, struct nw_error *err);

/* ---- whose scheduler events are recorded (named.c) ---------------------------------- */

/* Are the scheduler's events to be recorded of the traced threads only (named.c)? */
bool nw_run_only_their_switches(const struct nw_run *run);
/* Tell the session who they will be, where no processes are meant: after births are recorded, before it is armed. */
int nw_run_find_users(const struct nw_run *run, struct nw_error *err);
/* The same while it goes on, where births are not read all the time. Seldom, and only if somebody was born. */
int nw_run_find_users_again(struct nw_run *run, struct nw_error *err);
/* Take note of who was named since the last call, and say it if everybody's are recorded. */
int nw_run_note_named(struct nw_run *run, struct nw_error *err);

#endif
