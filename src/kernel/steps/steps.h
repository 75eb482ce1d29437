/* SPDX-License-Identifier: MIT */
/*
 * Steps: what is to be done to the kernel, as data, each with what undoes it. The same list is
 * done, or undone from any point on, or told as the shell commands that do the same. Every
 * change that nopwatch makes to the kernel is one:
 *
 *  - `add`, `enable`, `disable`, `remove` know all steps before the first: nw_steps_do(), all or
 *    none;
 *  - a session goes on according to what the kernel answers (a place that is refused, a buffer
 *    that cannot be had), so its list is made while it is done: struct nw_doing;
 *  - a teardown goes on after what fails: nw_steps_do_each().
 *
 * nw_steps_print() prints any of them, journal.h has what is written ahead of them.
 */
#ifndef NOPWATCH_KERNEL_STEPS_STEPS_H
#define NOPWATCH_KERNEL_STEPS_STEPS_H

#include "nopwatch/features.h"

#include "kernel/tracefs/refusal.h"

enum nw_action_kind {
	NW_DO_NOTHING,
	NW_DO_WRITE,  /* text into file, in place of what it holds */
	NW_DO_APPEND, /* text to the end of file */
	NW_DO_MKDIR,
	NW_DO_RMDIR,
	NW_DO_LINK, /* a symbolic link, file, to text */
	NW_DO_UNLINK,
	NW_DO_SHELL,   /* text as it is; only told, never done */
	NW_DO_DISABLE, /* "0" into an enable file, and read back */
	NW_DO_DELETE,  /* the event text, GROUP/NAME, if nobody has it any more */
	NW_DO_CREATE,  /* file, of ours and empty, beside the journal; it may be there */
	NW_DO_RESIZE,  /* that file has text bytes */
	/* A USDT semaphore in a process's memory, one more or one less: file is the process's number,
	 * text what semaphore_step.h makes of the rest. */
	NW_DO_RAISE,
	NW_DO_LOWER,
}; /* journals hold these numbers: new ones go to the end */

/* One thing to do. */
struct nw_action {
	enum nw_action_kind kind;
	char *file; /* below tracefs; absolute for links */
	char *text; /* without a final newline */
	/* RAISE, LOWER: the process, looked at and held open; NULL: it is looked at anew */
	const struct nw_process *process;
};

struct nw_step {
	struct nw_action go, back;
	char *what; /* "cannot define sdt_app:start"; NULL: nobody is told if it fails */
	enum nw_refusal refusal;
};

typedef NW_VEC(struct nw_step) nw_step_list;

struct nw_steps {
	nw_step_list list;
	bool failed; /* out of memory: nothing may be done */
};

/* Add a step; go back with nw_steps_back(), else nothing undoes it. */
void nw_steps_add(struct nw_steps *steps, enum nw_action_kind kind, const char *file,
		  const char *text);
void nw_steps_back(struct nw_steps *steps, enum nw_action_kind kind, const char *file,
		   const char *text);
/* What to say when the last step fails. */
void nw_steps_what(struct nw_steps *steps, enum nw_refusal refusal, const char *fmt, ...)
	nw_format(3, 4);
void nw_steps_free(struct nw_steps *steps);

/*
 * 0 or -errno. Taking away (RMDIR, DELETE, APPEND of "-:...") is tried again for up to two
 * seconds while somebody holds what is to go: a `cat` in an instance, a `perf list`.
 */
int nw_action_do(const struct nw_tracefs *fs, const struct nw_action *action);
/* The same of its parts. */
int nw_do(const struct nw_tracefs *fs, enum nw_action_kind kind, const char *file,
	  const char *text);
void nw_action_free(struct nw_action *action);
/* An error that may be gone when it is tried another time: busy, out of memory or files. */
bool nw_error_passes(int ret);

/*
 * Do them all, or none: what fails undoes what was done before it. before() hears of each undo
 * before its step is done (NULL: nobody does). Undos that fail are named in the error's hint; those
 * that may succeed later are added to left (NULL: nobody asks).
 */
int nw_steps_do(const struct nw_tracefs *fs, const struct nw_steps *steps,
		int (*before)(void *arg, const struct nw_action *back), void *arg,
		struct nw_steps *left, struct nw_error *err);
/* Undo what was done before step count, in the opposite order. left: what was to be undone and
 * could not be now, but may be later (NULL: nobody asks); its actions are copies. */
void nw_steps_undo(const struct nw_tracefs *fs, const struct nw_steps *steps, size_t count,
		   struct nw_steps *left, struct nw_error *err);
/*
 * Do each of them, whatever becomes of the others. Adds to stuck what failed and has a `what`;
 * returns 0, or the first of their errors.
 */
int nw_steps_do_each(const struct nw_tracefs *fs, const struct nw_steps *steps,
		     nw_strings *stuck);

/* A list that is done as it is made. */
struct nw_journal;
struct nw_doing {
	const struct nw_tracefs *fs;
	const struct nw_journal *journal; /* hears of each undo first; NULL: nobody does */
	bool dry_run; /* nothing is done, all succeeds: the steps are to be printed */
	struct nw_steps steps; /* if dry_run: all of them */
};
/*
 * The next step, done at once: 0 or -errno, which the caller explains. back: what undoes it, NULL
 * if what is done before it will. A definition (APPEND) is written into the journal, too.
 */
int nw_doing_step(struct nw_doing *doing, enum nw_action_kind kind, const char *file,
		  const char *text, const struct nw_action *back);
/* The same of an action that says more. */
int nw_doing_action(struct nw_doing *doing, const struct nw_action *go,
		    const struct nw_action *back);
/* Only to be told: a line for the shell. */
void nw_doing_shell(struct nw_doing *doing, const char *fmt, ...) nw_format(2, 3);

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

/* One word for a shell. */
void nw_shell_word(struct nw_buf *out, const char *text);
/* As commands for any POSIX shell. */
void nw_steps_print(const char *tracefs, const struct nw_steps *steps, struct nw_buf *out);

#endif
