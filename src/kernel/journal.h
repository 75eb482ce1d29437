/* SPDX-License-Identifier: MIT */
/*
 * The journal: /run/nopwatch/SESSION, written before anything of that session exists in
 * tracefs and removed after all of it is gone. Its lock is the session's pulse: the kernel
 * lets go of it however the owner dies.
 */
#ifndef NOPWATCH_KERNEL_JOURNAL_H
#define NOPWATCH_KERNEL_JOURNAL_H

#include "nopwatch/kernel.h"

struct nw_journal {
	int fd; /* -1: none */
	char session[24];
};

/* A session's name as it may stand in a file name and in tracefs: [a-z0-9_], up to 20. */
bool nw_session_name_is_valid(const char *name);

/* Create the journal of a new session and take its lock. */
int nw_journal_create(const char *session, struct nw_journal *out, struct nw_error *err);

enum nw_journal_state {
	NW_JOURNAL_LIVING, /* somebody holds the lock */
	NW_JOURNAL_DEAD,   /* we hold it now */
	NW_JOURNAL_GONE,
};
/* Try to take over the journal of a session that may be dead. */
enum nw_journal_state nw_journal_seize(const char *session, struct nw_journal *out);

/* Write a line ahead of a step. */
int nw_journal_note(const struct nw_journal *journal, const char *fmt, ...) nw_format(2, 3);
/* Remove the file and let go of the lock. */
void nw_journal_remove(struct nw_journal *journal);
/* Let go of the lock, keep the file: something of the session is still there. */
void nw_journal_leave(struct nw_journal *journal);
/* All sessions that have a journal. */
int nw_journal_list(nw_strings *out);

/*
 * Take away what tracefs has of a session: disable its group everywhere, delete its events,
 * remove its instance. Adds to stuck what had to stay, and why; returns -EBUSY then.
 */
int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck);
/* The names in a directory of tracefs that start with prefix ("" for all). */
int nw_tracefs_list(int dir, const char *path, const char *prefix, nw_strings *out);

#endif
