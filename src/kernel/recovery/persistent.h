/* SPDX-License-Identifier: MIT */
/*
 * The journal of what stays: /run/nopwatch/kept.events, which outlives the commands that write
 * it. (No session may have a name with a dot, so no janitor takes it for a dead session's.)
 * It is a snapshot, replaced as a whole after each change, and behind it, while a change is
 * going on, how to undo each of its steps (the format is journal.h's): what a killed command had begun is undone by the
 * next. Whoever changes something holds its lock.
 */
#ifndef NOPWATCH_KERNEL_RECOVERY_PERSISTENT_H
#define NOPWATCH_KERNEL_RECOVERY_PERSISTENT_H

#include "kernel/steps/steps.h"

struct nw_persistent {
	int fd; /* -1: nothing may be changed */
	NW_VEC(struct nw_persistent_event) events;
	nw_strings instances; /* that we made */
	struct nw_steps
		pending;      /* undos of a change that was not finished, the first first */
	struct nw_steps left; /* undos that could not be done yet: for the next to try */
	struct nw_steps
		suspects; /* definitions (text, of file) whose places did not read back */
	bool cut;	  /* its last line was not finished */
};

/* Open, lock (waiting up to ten seconds) and load; made if it is not there. */
int nw_persistent_open(struct nw_persistent *out, struct nw_error *err);
/* Load it as it is now, for looking only; empty if there is none. */
int nw_persistent_read(struct nw_persistent *out, struct nw_error *err);
/* Write ahead of a step how to undo it. arg is the struct nw_persistent. */
int nw_persistent_before(void *arg, const struct nw_action *back);
/*
 * Undo what a killed command had begun, and what could not be undone before; places that it may have left armed
 * are armed and disarmed once more, and read back. The number of undos; what cannot be undone now either stays in
 * journal->left or journal->suspects for the next to try, and is said in stuck.
 */
size_t nw_persistent_recover(struct nw_persistent *journal, const struct nw_tracefs *fs,
			     nw_strings *stuck);
/* Forget events that others have removed, and take away what only they needed. True: some. */
bool nw_persistent_prune(struct nw_persistent *journal, const struct nw_tracefs *fs);
/*
 * For the janitor: undo what a killed command had begun, unless a living one is at it, and tell
 * how many events stay. Adds to stuck what could not be undone.
 */
int nw_persistent_settle(const struct nw_tracefs *fs, size_t *count, nw_strings *stuck,
			 struct nw_error *err);
/* Replace the file by what is in memory. */
int nw_persistent_save(struct nw_persistent *journal, struct nw_error *err);
/* Forget what was not saved, and the undos of steps that have been undone, but for those that
 * are left; takes left. */
int nw_persistent_restore(struct nw_persistent *journal, struct nw_steps *left,
			  struct nw_error *err);
/* Let go; an empty journal goes away. */
void nw_persistent_close(struct nw_persistent *journal);

struct nw_persistent_event *nw_persistent_find(const struct nw_persistent *journal,
					       const char *group, const char *name);
void nw_persistent_event_free(struct nw_persistent_event *event);
void nw_persistent_forget(struct nw_persistent *journal, struct nw_persistent_event *event);
/* A place, "" or an instance: taken from, or added to, where we have enabled it. */
void nw_persistent_off(struct nw_persistent_event *event, const char *where);
int nw_persistent_on(struct nw_persistent_event *event, const char *where);
void nw_strings_drop(nw_strings *list, const char *text);

#endif
