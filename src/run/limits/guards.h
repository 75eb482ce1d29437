/* SPDX-License-Identifier: MIT */
/* The guards of a live run, called by its source: they keep it from doing harm, and report what its result lacks. */
#ifndef NOPWATCH_RUN_LIMITS_GUARDS_H
#define NOPWATCH_RUN_LIMITS_GUARDS_H

#include "run/run.h"

/* max_rate (rate_limit.c): disables a probe that is hit too often. */
int nw_rate_limit_open(struct nw_run *run, struct nw_error *err);
int nw_rate_limit_check(struct nw_run *run, struct nw_error *err);
void nw_rate_limit_free(struct nw_run *run);
/* Notes that a probe was disabled at this time, in this run or while it was recorded, for the reason in `text`. */
int nw_run_mark_disabled(struct nw_run *run, size_t probe, enum nw_state state, uint64_t at,
			 const char *text, struct nw_error *err);
/* Watches the events that are armed now, and no others (external_changes.c): checks once a second and at the end what other programs
 * have done to them, and marks probes that are not recorded any more. */
int nw_external_changes_open(struct nw_run *run, struct nw_error *err);
int nw_external_changes_check(struct nw_run *run, bool at_end, struct nw_error *err);
/* Checks no more, because the run's owner disables events on purpose from here on. */
void nw_external_changes_close(struct nw_run *run);
/* Adds what these hits, by point, have cost the programs. */
void nw_run_count_cost(struct nw_run *run, const uint64_t *hits);
/* Shows a notice for each argument that will have no value, with the reason (missing.c). */
void nw_run_warn_missing(const struct nw_run *run);
/* Reads back, in the target processes (verbose: in all), what enabling has armed, and reports the rest (silent.c). */
int nw_run_read_back(struct nw_run *run, struct nw_error *err);
/* Updates the states of probes according to the hits that came. */
int nw_run_judge_hits(struct nw_run *run, struct nw_error *err);
/* Finds out why probes without hits have none. Must be called before disarming. */
int nw_run_explain(struct nw_run *run, struct nw_error *err);
/* Finds out why probes of a recording or a text have no hits. If it has no hit at all, each probe gets a sentence. */
int nw_run_explain_recorded(struct nw_run *run, struct nw_error *err);

/* ---- whose scheduler events are recorded (named.c) ---------------------------------- */

/* Are the scheduler's events recorded only for traced threads (named.c)? */
bool nw_run_only_their_switches(const struct nw_run *run);
/* Lists the processes that map a probed file, by the kernel's numbers, unless there are target processes; and the names
 * that programs of probed files will have. The plan is complete. */
int nw_run_list_users(const struct nw_run *run, nw_pids *processes, nw_strings *comms,
		      struct nw_error *err);
/* Without target processes, tells the session which threads will hit. Must be called after births are recorded, and
 * before arming. */
int nw_run_find_users(const struct nw_run *run, struct nw_error *err);
/* Does so again during the run, if births are not read all the time; seldom, and only after births. */
int nw_run_find_users_again(struct nw_run *run, struct nw_error *err);
/* Copies the threads that were selected since the last call to the result; tells the user once if all threads are
 * recorded. */
int nw_run_note_named(struct nw_run *run, struct nw_error *err);

#endif
