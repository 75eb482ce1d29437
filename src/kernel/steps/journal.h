/* SPDX-License-Identifier: MIT */
/*
 * The journal /run/nopwatch/SESSION is written before the session changes anything in tracefs, and removed after
 * all of it was undone. The session holds a lock on it as long as it lives; the kernel releases the lock however
 * the process ends.
 *
 * The journal of persistent events (persistent.h) has the same format. Each entry is one line and one write();
 * words are written by nw_plan_word():
 *
 * 	nopwatch 2 BOOT			the boot for which the journal is valid
 * 	pid PID				the process that writes it
 * 	do KIND FILE TEXT		a definition that is about to be made, or a semaphore to be lowered
 * 	file PATH FILE			the file behind PATH, a descriptor of the writer
 * 	arming				from here on the session changes programs
 * 	undo KIND FILE TEXT		undoes the step that is about to be done
 * 	undone FILE			all undos of FILE up to here were done
 * 	with NAME TEXT			how kept counts are read (recovery/kept.c)
 * 	kept BEGAN PLAN			from here on the session needs no process
 * 	dropped				from here on it is a dead one again
 * 	event ..., on ..., instance ..., left ..., suspect ...	entries of persistent.c
 *
 * A last line without a newline was cut off by a death before its step began. A journal without a header, or one
 * written while the boot's ID could not be read, counts like any other, so that nothing in it is lost. A session's
 * group and instance in tracefs carry its name and need no entry.
 */
#ifndef NOPWATCH_KERNEL_STEPS_JOURNAL_H
#define NOPWATCH_KERNEL_STEPS_JOURNAL_H

#include "steps.h"

struct nw_journal {
	int fd; /* -1: none */
	char session[24];
	const char *dir; /* directory of its file */
	bool expedited;	 /* rcu_expedited is on, and this process switched it on */
};

/* Checks a session's name, which becomes part of file names: [a-z0-9_], up to 23 characters. */
bool nw_session_name_is_valid(const char *name);

/* Creates the journal of a new session, locks it and writes its header. */
int nw_journal_create(const char *session, struct nw_journal *out, struct nw_error *err);

enum nw_journal_state {
	NW_JOURNAL_LIVING, /* another process holds the lock */
	NW_JOURNAL_DEAD,   /* this process holds the lock now */
	NW_JOURNAL_KEPT, /* nobody holds it: what the session has made is to stay (recovery/kept.h) */
	NW_JOURNAL_GONE,
};
/*
 * Takes the lock under which one process at a time removes the remains of sessions, until the descriptor is closed.
 * Without it, a cleaner that holds a session's journal for a moment would look like that session to the next
 * cleaner, which would then leave the journal alone for good. Waits as long as those who hold it make progress (60 s at
 * most), and 5 s for one that makes none. Returns a descriptor or -errno.
 */
int nw_journals_lock(void);
/* Tells the processes that wait for the lock that the owner goes on. lock: its descriptor, or -errno. */
void nw_journals_progress(int lock);
/* Tries to take over the journal of a session that may be dead. Returns an enum nw_journal_state or -errno. */
int nw_journal_seize(const char *session, struct nw_journal *out);
/* Takes over the journal of a session that is kept: NW_JOURNAL_KEPT, this process holds the lock now. */
int nw_journal_seize_kept(const char *session, struct nw_journal *out);
/* Reads the journal of a session that is kept, without a lock. Returns its state, with its text if it is kept, or -errno. */
int nw_journal_read_kept(const char *session, struct nw_buf *out);

/* Returns the state, or -errno, without taking the journal over. */
int nw_journal_check(const char *session);
/* Return and open the directory in which new journals are made; it is made if it does not exist, and checked to
 * belong to us alone. */
const char *nw_journal_dir(void);
int nw_journal_open_dir(struct nw_error *err);
/* Returns the directory of the journal of that name, or of new journals if there is none. The two may differ, if
 * /run was read-only when the journal was made and is not now, or the other way round. */
const char *nw_journal_place(const char *name);
int nw_journal_open_place(const char *dir, struct nw_error *err);

/*
 * A file next to the journals, by its whole path, in a directory that is checked to belong to us alone:
 * nw_own_file_create() makes it empty (0 also if it exists), nw_own_file_resize() sets its size (-ENOENT: it does
 * not exist). Return 0 or -errno.
 */
int nw_own_file_create(const char *path);
int nw_own_file_resize(const char *path, off_t size);

/* Writes a line. */
int nw_journal_note(const struct nw_journal *journal, const char *fmt, ...) nw_format(2, 3);
/* Writes ahead of a step: the definition that it makes, and the action that undoes it. */
int nw_journal_step(const struct nw_journal *journal, const struct nw_action *go,
		    const struct nw_action *back);
/* Reads the whole journal. */
int nw_journal_text(const struct nw_journal *journal, struct nw_buf *out);
/* Removes the file and releases the lock. Returns 0, or -errno if the file stays: `clean` tries again. */
int nw_journal_remove(struct nw_journal *journal);
/* Releases the lock and keeps the file, because something of the session is left. */
void nw_journal_leave(struct nw_journal *journal);
/* Lists all sessions that have a journal. Returns 0 or -errno. */
int nw_journal_list(nw_strings *out);
/* Lists the files in a directory of journals with such names; none if it does not belong to us alone. */
int nw_journal_files(const char *path, bool (*is_wanted)(const char *name),
		     nw_strings *out);
/* With this error a directory has no journals: it does not exist, or does not belong to us alone. */
bool nw_journal_has_none(int ret);

/* ---- the format (journal_text.c) ---------------------------------------------------- */

enum {
	NW_JOURNAL_WORDS = 16
};
struct nw_journal_line {
	char *words[NW_JOURNAL_WORDS];
	size_t count;
};

void nw_journal_head(struct nw_buf *out);
/* Appends which file a path in later definitions means; the path is of no use after our death. */
void nw_journal_file(struct nw_buf *out, const char *path, const char *file);
/* Appends a line "WORD KIND FILE TEXT". */
void nw_journal_action(struct nw_buf *out, const char *word,
		       const struct nw_action *action);
/* Reads the action of such a line, with memory of its own. Returns 0, -EBADMSG or -ENOMEM. */
int nw_journal_read_action(const struct nw_journal_line *line, struct nw_action *out);
/* Writes the whole text at once. Returns 0 or -errno. */
int nw_journal_write(int fd, const struct nw_buf *text);
/*
 * Calls each() for every complete line but the header, until it returns an error. Changes the text. -ESTALE: the
 * journal is from another boot, and each() was not called. *number: the line of the error; *cut: the last line is
 * incomplete (both may be NULL).
 */
int nw_journal_parse(struct nw_buf *text,
		     int (*each)(void *arg, const struct nw_journal_line *line), void *arg,
		     unsigned int *number, bool *cut);

/* The content of a dead session's journal: its definitions, and the undos that are left. */
struct nw_journal_contents {
	struct nw_steps definitions; /* in the order in which it made them */
	struct nw_steps undos;	     /* the latest first */
	/* Semaphores that it raised (`back` undoes it) and lowered (`go` did it), the oldest first. */
	struct nw_steps semaphores;
	bool semaphore_last; /* the last of these is also the journal's last entry */
	/* go.file: a path of a descriptor; go.text: the file behind it. */
	struct nw_steps files;
	bool armed; /* it had begun to enable events */
};
/* Returns 0 or -errno; `out` is empty then. */
int nw_journal_read(const struct nw_journal *journal, struct nw_journal_contents *out);
void nw_journal_contents_free(struct nw_journal_contents *contents);

#endif
