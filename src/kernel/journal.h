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
#ifndef NOPWATCH_KERNEL_JOURNAL_H
#define NOPWATCH_KERNEL_JOURNAL_H

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
/* Keep what was tried until the next boot (proven.c); whole: it was everything. */
void nw_features_keep(const struct nw_tracefs *fs, const struct nw_features *features,
		      bool whole);
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

/*
 * Expedited grace periods: arming and disarming mostly wait until every CPU has passed through
 * the scheduler (setting the clock 25 ms, enabling 10, disabling 20 to 40 an event), unless
 * /sys/kernel/rcu_expedited tells the kernel to interrupt the CPUs instead: then it is a tenth of
 * that. It is set for those few milliseconds only. Not where CPUs are isolated: they are not to be
 * interrupted. The kernel takes any number for "yes" (kstrtoint() in kernel/ksysfs.c), so ours,
 * NW_EXPEDITED, says who set it: whoever finds it takes it over and puts it back, without any
 * journal (that of a container may be gone with its /run). Should its owner live, that owner only
 * waits a little longer.
 */
#define NW_EXPEDITED "28279" /* 0x6e77, "nw" */
bool nw_expedite_possible(void);
void nw_expedite_begin(const struct nw_features *features, struct nw_journal *journal);
void nw_expedite_end(struct nw_journal *journal);
/* Put it back, whoever of us has left it on. */
void nw_expedite_settle(void);

/* Sessions that tracefs has something of, but that have no journal; adds to sessions. */
int nw_clean_orphans(const struct nw_tracefs *fs, nw_strings *sessions);
/*
 * Take away what tracefs has of a session: disable its group everywhere, remove its instance,
 * delete its events. Adds to stuck what had to stay, and why; returns -EBUSY then. 1: all is gone
 * but its instance, empty and small, which readers of other trace_pipes keep: the journal has to
 * stay, and nw_clean() tries again.
 */
int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck);
/* The steps of that, as things stand. */
int nw_teardown_steps(const struct nw_tracefs *fs, const char *session,
		      struct nw_steps *out, struct nw_error *err);
/*
 * Does perf have the event open? Only told while nobody has enabled it: perf and ftrace exclude
 * each other, so enabling it (in an instance of that name, made for it if need be) answers EINTR
 * if perf has it. 0: no; -EBUSY: yes; else -errno: it cannot be told.
 */
int nw_event_try_perf(const struct nw_tracefs *fs, const char *instance, const char *group,
		      const char *name);
/* Delete "GROUP/NAME"; one of several sites only when it is shown that nobody has it. */
int nw_event_delete(const struct nw_tracefs *fs, const char *event);

/*
 * Up to 5.5 the kernel does not come to the end of removing an instance while anybody has a file open two levels below it,
 * and who opens one then waits for the locks that the removal holds: both for ever (tracefs_remove_recursive() goes
 * down into a directory as long as its list is not empty, which a file that is unlinked and open keeps so). None of us
 * does that to another of us: who looks into instances that may be others' takes this lock, who removes one takes it
 * alone. A descriptor, which close() lets go of; -EBUSY: others have it (after two seconds, if not alone); else another -errno,
 * and there is nothing to lock.
 */
int nw_instances_lock(const struct nw_tracefs *fs, bool alone);
/* Remove "instances/NAME" under it, tried once: 0 or -errno. */
int nw_instance_remove(const struct nw_tracefs *fs, const char *dir);
/* Append to a file of tracefs, which is never truncated: 0 or -errno. */
int nw_tracefs_append(int dir, const char *file, const char *text);
/* The names of the directories in a directory of tracefs that start with prefix ("" for all); 0 or
 * -errno, also when the listing broke off. */
int nw_tracefs_list(int dir, const char *path, const char *prefix, nw_strings *out);
/* The same, and a directory that is not there (-ENOENT) is an empty one. */
int nw_tracefs_list_any(int dir, const char *path, const char *prefix, nw_strings *out);
#endif
