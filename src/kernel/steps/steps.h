/* SPDX-License-Identifier: MIT */
/*
 * Steps: changes to the kernel as data, each with the action that undoes it. A list of steps can be done, undone
 * from any step on, or printed as shell commands. Every change that nopwatch makes to the kernel is a step:
 *
 * - `add`, `enable`, `disable` and `remove` know all steps in advance: nw_steps_do() does all or none;
 * - a session continues according to the kernel's answers (a place that is refused, a buffer that cannot be
 *    allocated), so its list is made while it is done: struct nw_step_runner;
 * - a teardown continues after an error: nw_steps_do_each().
 *
 * nw_steps_print() prints the steps. journal.h describes what is written before each of them.
 */
#ifndef NOPWATCH_KERNEL_STEPS_STEPS_H
#define NOPWATCH_KERNEL_STEPS_STEPS_H

#include "kernel/tracefs/features.h"

#include "kernel/tracefs/refusal.h"

enum nw_action_kind {
	NW_DO_NOTHING,
	NW_DO_WRITE,  /* writes text to file, replacing its content */
	NW_DO_APPEND, /* appends text to file */
	NW_DO_MKDIR,
	NW_DO_RMDIR,
	NW_DO_LINK, /* makes the symbolic link `file`, to text */
	NW_DO_UNLINK,
	/* Text is a shell command, which is only printed and never executed. */
	NW_DO_SHELL,
	NW_DO_DISABLE, /* writes "0" to an enable file, and reads it back */
	/* Deletes the event text, GROUP/NAME, if nobody uses it. file: the list that has it; "": uprobe_events. */
	NW_DO_DELETE,
	/* Creates `file`, empty, next to the journal; it may exist already. */
	NW_DO_CREATE,
	NW_DO_RESIZE, /* gives that file a size of text bytes */
	/* Raise or lower a USDT semaphore in a process's memory. file: the number of the process; text: the other
	 * facts, see semaphore_step.h. */
	NW_DO_RAISE,
	NW_DO_LOWER,
}; /* journals contain these numbers, so new ones go to the end */

/* One change. */
struct nw_action {
	enum nw_action_kind kind;
	char *file; /* relative to tracefs; links have an absolute path */
	char *text; /* without a final newline */
	/* RAISE, LOWER: the open process; NULL: it is opened by its number. */
	const struct nw_process *process;
};

struct nw_step {
	struct nw_action go, back;
	/* For the error: "cannot define sdt_app:start"; NULL: an error is not reported. */
	char *what;
	enum nw_refusal refusal;
};

typedef NW_VEC(struct nw_step) nw_step_list;

struct nw_steps {
	nw_step_list list;
	bool failed; /* out of memory: the steps must not be done */
};

/* nw_steps_add() adds a step, and nw_steps_back() the action that undoes it. Without the latter nothing undoes the
 * step. */
void nw_steps_add(struct nw_steps *steps, enum nw_action_kind kind, const char *file,
		  const char *text);
void nw_steps_back(struct nw_steps *steps, enum nw_action_kind kind, const char *file,
		   const char *text);
/* Sets the text of the error for the last step. */
void nw_steps_what(struct nw_steps *steps, enum nw_refusal refusal, const char *fmt, ...)
	nw_format(3, 4);
void nw_steps_free(struct nw_steps *steps);

/*
 * Does an action. Returns 0 or -errno. A removal (RMDIR, DELETE, APPEND of "-:...") is tried for up to two seconds
 * while another program uses the thing, such as a `cat` in an instance or a `perf list`.
 */
int nw_action_do(const struct nw_tracefs *fs, const struct nw_action *action);
/* Does an action that is given by its parts. */
int nw_do(const struct nw_tracefs *fs, enum nw_action_kind kind, const char *file,
	  const char *text);
void nw_action_free(struct nw_action *action);
/* Is this an error that another attempt may not meet: busy, or short of memory or files? */
bool nw_error_passes(int ret);

/*
 * Does all steps or none: an error undoes the steps that were done. before() is called before each step with the
 * action that undoes it (may be NULL). Undos that fail are named in the error's hint; those that may succeed later
 * are added to left (may be NULL).
 */
int nw_steps_do(const struct nw_tracefs *fs, const struct nw_steps *steps,
		int (*before)(void *arg, const struct nw_action *back), void *arg,
		struct nw_steps *left, struct nw_error *err);
/* Undoes the steps before number `count`, in reverse order. left: gets copies of undos that failed and may succeed
 * later (may be NULL). */
void nw_steps_undo(const struct nw_tracefs *fs, const struct nw_steps *steps, size_t count,
		   struct nw_steps *left, struct nw_error *err);
/*
 * Does each step, also after an error. Adds steps that failed and have a `what` to stuck. Returns 0 or the first
 * error.
 */
int nw_steps_do_each(const struct nw_tracefs *fs, const struct nw_steps *steps,
		     nw_strings *stuck);

/* Does steps one by one, while the list is made. */
struct nw_journal;
struct nw_step_runner {
	const struct nw_tracefs *fs;
	/* Gets each undo before the step is done; NULL: there is no journal. */
	const struct nw_journal *journal;
	/* Nothing is done and every step succeeds, so that the steps can be printed. */
	bool dry_run;
	bool unwritten; /* the journal could not be written, so a step was not done */
	struct nw_steps steps; /* with dry_run: all steps so far */
};
/*
 * Does a step at once. Returns 0 or -errno, which the caller explains. back: the action that undoes it; NULL: the
 * undo of an earlier step does. A definition (APPEND) is written into the journal, too.
 */
int nw_step_runner_step(struct nw_step_runner *runner, enum nw_action_kind kind,
			const char *file, const char *text, const struct nw_action *back);
/* Does a step that is given as an action. */
int nw_step_runner_action(struct nw_step_runner *runner, const struct nw_action *go,
			  const struct nw_action *back);
/* Tells whether a step failed for a shortage of memory or descriptors, or because the journal could not be written.
 * Then the kernel may well be able to do what the step asks for. */
bool nw_step_runner_is_short(const struct nw_step_runner *runner, int error);
/* Adds a shell command that is only printed. */
void nw_step_runner_shell(struct nw_step_runner *runner, const char *fmt, ...)
	nw_format(2, 3);

/*
 * Takes the lock on instances. Up to 5.5 the kernel cannot finish the removal of an instance while a process has a
 * file open two levels below it: tracefs_remove_recursive() enters a directory as long as its list is not empty,
 * and an unlinked file that is open stays in the list. A process that opens such a file then waits for the locks of
 * the removal, so both wait for ever. The lock prevents this between nopwatch processes: a process that reads
 * instances of others takes LOCK_SH, a process that removes one takes LOCK_EX. Returns a descriptor; close()
 * releases the lock. -EBUSY: others hold it (after two seconds; at once with LOCK_NB); another -errno: there is nothing
 * to lock.
 */
int nw_instances_lock(const struct nw_tracefs *fs, int how);
/* Removes "instances/NAME" under the lock (how: see above), in one attempt. Returns 0 or -errno; -EAGAIN: others hold the
 * lock. */
int nw_instance_remove(const struct nw_tracefs *fs, const char *dir, int how);

/* Appends one word, quoted for a shell. */
void nw_shell_word(struct nw_buf *out, const char *text);
/* Prints the steps as commands for any POSIX shell. */
void nw_steps_print(const char *tracefs, const struct nw_steps *steps, struct nw_buf *out);

#endif
