/* SPDX-License-Identifier: MIT */
/*
 * The journal of persistent events, /run/nopwatch/kept.events, which outlives the commands that write it. (Names of
 * sessions have no dot, so the clean-up does not take it for a dead session's journal.) It is a snapshot, replaced
 * as a whole after each change. While a change is being made, it is followed by the undo of each step, in the
 * format of journal.h; the next command undoes the steps of a killed one. A command that changes something holds
 * the journal's lock.
 */
#ifndef NOPWATCH_KERNEL_RECOVERY_PERSISTENT_H
#define NOPWATCH_KERNEL_RECOVERY_PERSISTENT_H

#include "kernel/steps/journal.h"

struct nw_persistent {
	int fd; /* -1: open for reading, so nothing may be changed */
	NW_VEC(struct nw_persistent_event) events;
	nw_strings instances; /* instances that we have made */
	/* Undos of a change that was not finished, the first step first. */
	struct nw_steps pending;
	struct nw_steps left; /* undos that failed, for the next command to try */
	bool cut;	      /* its last line is incomplete */
};

/* Opens, locks (waits up to ten seconds) and loads the journal; makes it if it does not exist. */
int nw_persistent_open(struct nw_persistent *out, struct nw_error *err);
/* Loads the journal for reading only; it is empty if it does not exist. */
int nw_persistent_read(struct nw_persistent *out, struct nw_error *err);
/* Writes the undo of a step ahead of the step. arg is the struct nw_persistent. */
int nw_persistent_before(void *arg, const struct nw_action *back);
/*
 * Does the undos that a killed command has left, and those that failed before. Returns their number. Undos that fail
 * now stay in journal->left for the next command, or are added to stuck. (Breakpoints that the command has left in
 * programs are found by the journal of its session: leaked.c.)
 */
size_t nw_persistent_recover(struct nw_persistent *journal, const struct nw_tracefs *fs,
			     nw_strings *stuck);
/* Forgets events that others have removed, and removes things that only those events needed. Returns true if there
 * were any. */
bool nw_persistent_prune(struct nw_persistent *journal, const struct nw_tracefs *fs);
/*
 * For `clean`: does the undos that a killed command has left, unless a living one is at work, and counts the
 * persistent events. Adds undos that failed to stuck.
 */
int nw_persistent_settle(const struct nw_tracefs *fs, size_t *count, nw_strings *stuck,
			 struct nw_error *err);
/* Replaces the file by the state in memory. */
int nw_persistent_save(struct nw_persistent *journal, struct nw_error *err);
/* Returns to the saved state: forgets unsaved changes and all undos, except those in left, which it takes over. */
int nw_persistent_restore(struct nw_persistent *journal, struct nw_steps *left,
			  struct nw_error *err);
/* Releases the lock; an empty journal is removed. */
void nw_persistent_close(struct nw_persistent *journal);

struct nw_persistent_event *nw_persistent_find(const struct nw_persistent *journal,
					       const char *group, const char *name);
void nw_persistent_event_free(struct nw_persistent_event *event);
void nw_persistent_forget(struct nw_persistent *journal, struct nw_persistent_event *event);
/* Remove a place ("" or an instance) from the list of places in which we have enabled the event, or add it. */
void nw_persistent_off(struct nw_persistent_event *event, const char *where);
int nw_persistent_on(struct nw_persistent_event *event, const char *where);
void nw_strings_drop(nw_strings *list, const char *text);

#endif
