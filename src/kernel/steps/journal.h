/* SPDX-License-Identifier: MIT */
/*
 * The journal: /run/nopwatch/SESSION, written before anything of that session exists in
 * tracefs and removed after all of it is gone. Its lock is the session's pulse: the kernel
 * lets go of it however the owner dies.
 *
 * That of what stays (persistent.h) has the same format. One thing a line, a line a write(), words as
 * nw_plan_word() writes them:
 *
 *	nopwatch 2 BOOT			what it says is of no use after another boot
 *	pid PID				who writes it
 *	do KIND FILE TEXT		a definition that is about to be made, a semaphore to be lowered
 *	file PATH FILE			what PATH, a descriptor of the writer's, stands for
 *	arming				from here on programs are changed
 *	undo KIND FILE TEXT		what undoes the step that is about to be done
 *	undone FILE			what was to be undone in FILE up to here has been
 *	event ..., on ..., instance ..., left ..., suspect ...	persistent.c's
 *
 * A last line without its newline was cut by a death before its step was begun. A journal
 * without a header, or one written where the boot's name could not be read, counts like any
 * other: nothing that it says may be lost. What a session has in tracefs (group, instance) bears
 * its name and needs no line.
 */
#ifndef NOPWATCH_KERNEL_STEPS_JOURNAL_H
#define NOPWATCH_KERNEL_STEPS_JOURNAL_H

#include "steps.h"

struct nw_journal {
	int fd; /* -1: none */
	char session[24];
	const char *dir; /* where its file is */
	bool expedited;	 /* rcu_expedited is on, and it was us */
};

/* A session's name as it may stand in a file name and in tracefs: [a-z0-9_], up to 23. */
bool nw_session_name_is_valid(const char *name);

/* Create the journal of a new session, take its lock, write its header. */
int nw_journal_create(const char *session, struct nw_journal *out, struct nw_error *err);

enum nw_journal_state {
	NW_JOURNAL_LIVING, /* somebody holds the lock */
	NW_JOURNAL_DEAD,   /* we hold it now */
	NW_JOURNAL_GONE,
};
/*
 * Only one process at a time takes away what sessions have left: whoever holds this lock, until the descriptor is closed.
 * Without it, a cleaner that holds the journal of a session for a moment looks like the session itself to the next one,
 * which then leaves it alone, though nobody will come back to it. Waits 5 s at most. A descriptor, or -errno.
 */
int nw_journals_lock(void);
/* Try to take over the journal of a session that may be dead. */
enum nw_journal_state nw_journal_seize(const char *session, struct nw_journal *out);

/* How it is, without taking it over. */
enum nw_journal_state nw_journal_check(const char *session);
/* Where new journals are made, and that directory, made if need be and found to be ours alone. */
const char *nw_journal_dir(void);
int nw_journal_open_dir(struct nw_error *err);
/* Where a journal of that name is; where it would be made if there is none. /run may have been
 * read-only when it was made, or only now. */
const char *nw_journal_place(const char *name);
int nw_journal_open_place(const char *dir, struct nw_error *err);

/*
 * A file beside the journals, by its whole path, in a directory that is found to be ours alone: make
 * it, empty (0 also if it is there); give it a size (-ENOENT if it is not). 0 or -errno.
 */
int nw_own_file_create(const char *path);
int nw_own_file_resize(const char *path, off_t size);

/* Write a line. */
int nw_journal_note(const struct nw_journal *journal, const char *fmt, ...) nw_format(2, 3);
/* Ahead of a step: the definition that it makes, and what undoes it. */
int nw_journal_step(const struct nw_journal *journal, const struct nw_action *go,
		    const struct nw_action *back);
/* What a path in the definitions that come stands for, once we are dead. */
int nw_journal_file(const struct nw_journal *journal, const char *path, const char *file);
/* All that has been noted. */
int nw_journal_text(const struct nw_journal *journal, struct nw_buf *out);
/* Remove the file and let go of the lock. */
void nw_journal_remove(struct nw_journal *journal);
/* Let go of the lock, keep the file: something of the session is still there. */
void nw_journal_leave(struct nw_journal *journal);
/* All sessions that have a journal; -errno if that cannot be told. */
int nw_journal_list(nw_strings *out);

/* ---- the format (journal_text.c) ---------------------------------------------------- */

enum {
	NW_JOURNAL_WORDS = 16
};
struct nw_journal_line {
	char *words[NW_JOURNAL_WORDS];
	size_t count;
};

void nw_journal_head(struct nw_buf *out);
/* A line "WORD KIND FILE TEXT". */
void nw_journal_action(struct nw_buf *out, const char *word,
		       const struct nw_action *action);
/* Its action, of its own memory; -EBADMSG, -ENOMEM. */
int nw_journal_read_action(const struct nw_journal_line *line, struct nw_action *out);
/* Write all of text at once: 0 or -errno. */
int nw_journal_write(int fd, const struct nw_buf *text);
/*
 * Hand each whole line but the header to each(), until it returns an error. text is taken
 * apart. -ESTALE: of another boot; nothing was handed out. *number: the line of the error;
 * *cut: its last line is none (both may be NULL).
 */
int nw_journal_parse(struct nw_buf *text,
		     int (*each)(void *arg, const struct nw_journal_line *line), void *arg,
		     unsigned int *number, bool *cut);

/* What a dead session's journal says of definitions, and of what is to be put back. */
struct nw_journal_story {
	struct nw_steps definitions; /* as it has made them, the oldest first */
	struct nw_steps undos;	     /* the latest first */
	/* Raised by hand (back undoes it) and lowered (go does it), the oldest first. */
	struct nw_steps semaphores;
	bool semaphore_last;   /* the last of them is the last that was written */
	struct nw_steps files; /* go.file: a descriptor of its own; go.text: the file */
	bool armed;	       /* it had begun to enable */
	bool stale;	       /* of another boot: nothing of it is there any more */
};
int nw_journal_read(const struct nw_journal *journal, struct nw_journal_story *out);
void nw_journal_story_free(struct nw_journal_story *story);

#endif
