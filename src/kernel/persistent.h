/* SPDX-License-Identifier: MIT */
/*
 * The journal of what stays: /run/nopwatch/kept.events, which outlives the commands that write
 * it. (No session may have a name with a dot, so no janitor takes it for a dead session's.)
 * It is a snapshot, replaced as a whole after each change, and behind it, while a change is
 * going on, how to undo each of its steps (the format is journal.h's): what a killed command had begun is undone by the
 * next. Whoever changes something holds its lock.
 */
#ifndef NOPWATCH_KERNEL_PERSISTENT_H
#define NOPWATCH_KERNEL_PERSISTENT_H

#include "steps.h"

struct nw_kept {
	int fd; /* -1: nothing may be changed */
	NW_VEC(struct nw_kept_event) events;
	nw_strings instances; /* that we made */
	struct nw_steps
		pending;      /* undos of a change that was not finished, the first first */
	struct nw_steps left; /* undos that could not be done yet: for the next to try */
	bool cut;	      /* its last line was not finished */
};

/* Open, lock (waiting up to ten seconds) and load; made if it is not there. */
int nw_kept_open(struct nw_kept *out, struct nw_error *err);
/* Load it as it is now, for looking only; empty if there is none. */
int nw_kept_peek(struct nw_kept *out, struct nw_error *err);
/* Write ahead of a step how to undo it. arg is the struct nw_kept. */
int nw_kept_before(void *arg, const struct nw_action *back);
/*
 * Undo what a killed command had begun, and what could not be undone before. The number of undos;
 * what cannot be undone now either stays in kept->left, and is said in stuck (NULL: nowhere).
 */
size_t nw_kept_recover(struct nw_kept *kept, const struct nw_tracefs *fs,
		       nw_strings *stuck);
/* Forget events that others have removed, and take away what only they needed. True: some. */
bool nw_kept_prune(struct nw_kept *kept, const struct nw_tracefs *fs);
/*
 * For the janitor: undo what a killed command had begun, unless a living one is at it, and tell
 * how many events stay. Adds to stuck what could not be undone.
 */
int nw_kept_settle(const struct nw_tracefs *fs, size_t *count, nw_strings *stuck);
/* Replace the file by what is in memory. */
int nw_kept_save(struct nw_kept *kept, struct nw_error *err);
/* Forget what was not saved, and the undos of steps that have been undone, but for those that
 * are left; takes left. */
int nw_kept_restore(struct nw_kept *kept, struct nw_steps *left, struct nw_error *err);
/* Let go; an empty journal goes away. */
void nw_kept_close(struct nw_kept *kept);

struct nw_kept_event *nw_kept_find(const struct nw_kept *kept, const char *group,
				   const char *name);
void nw_kept_event_free(struct nw_kept_event *event);
void nw_kept_forget(struct nw_kept *kept, struct nw_kept_event *event);
/* A place, "" or an instance: taken from, or added to, where we have enabled it. */
void nw_kept_off(struct nw_kept_event *event, const char *where);
int nw_kept_on(struct nw_kept_event *event, const char *where);
void nw_strings_drop(nw_strings *list, const char *text);

#endif
