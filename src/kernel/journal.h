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
	bool expedited; /* rcu_expedited is 1, and it was us */
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

/* How it is, without taking it over. */
enum nw_journal_state nw_journal_look(const char *session);
/* Where journals are, and that directory, made if need be and found to be ours alone. */
const char *nw_journal_dir(void);
int nw_journal_open_dir(struct nw_error *err);

/* Write a line ahead of a step. */
int nw_journal_note(const struct nw_journal *journal, const char *fmt, ...) nw_format(2, 3);
/* All that has been noted. */
int nw_journal_text(const struct nw_journal *journal, struct nw_buf *out);
/* Remove the file and let go of the lock. */
void nw_journal_remove(struct nw_journal *journal);
/* Let go of the lock, keep the file: something of the session is still there. */
void nw_journal_leave(struct nw_journal *journal);
/* All sessions that have a journal. */
int nw_journal_list(nw_strings *out);

/*
 * Expedited grace periods: arming and disarming mostly wait until every CPU has passed through
 * the scheduler (setting the clock 25 ms, enabling 10, disabling 20 to 40 an event), unless
 * /sys/kernel/rcu_expedited tells the kernel to interrupt the CPUs instead: then it is a tenth of
 * that. It is set for those few milliseconds only, noted in the journal, and put back by whoever
 * cleans up if we die in between. Not where CPUs are isolated: they are not to be interrupted.
 */
bool nw_expedite_possible(void);
void nw_expedite_begin(const struct nw_features *features, struct nw_journal *journal);
void nw_expedite_end(struct nw_journal *journal);
/* Put it back for a dead session, if its journal says that it may be on. */
void nw_expedite_recover(const struct nw_journal *journal);

/* Sessions that tracefs has something of, but that have no journal; adds to sessions. */
int nw_clean_orphans(const struct nw_tracefs *fs, nw_strings *sessions);
/*
 * Take away what tracefs has of a session: disable its group everywhere, delete its events,
 * remove its instance. Adds to stuck what had to stay, and why; returns -EBUSY then.
 */
int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck);
/* The names in a directory of tracefs that start with prefix ("" for all). */
int nw_tracefs_list(int dir, const char *path, const char *prefix, nw_strings *out);

#endif
