/* SPDX-License-Identifier: MIT */
/*
 * Steps: what is to be done to the kernel, as data, each with what undoes it. The same list is
 * done, or undone from any point on, or told as the shell commands that do the same.
 */
#ifndef NOPWATCH_KERNEL_STEPS_H
#define NOPWATCH_KERNEL_STEPS_H

#include "nopwatch/kernel.h"

enum nw_action_kind {
	NW_DO_NOTHING,
	NW_DO_WRITE,  /* text into file, in place of what it holds */
	NW_DO_APPEND, /* text to the end of file */
	NW_DO_MKDIR,
	NW_DO_RMDIR,
	NW_DO_LINK, /* a symbolic link, file, to text */
	NW_DO_UNLINK,
	NW_DO_SHELL, /* text as it is; only told, never done */
};

/* One thing to do. */
struct nw_action {
	enum nw_action_kind kind;
	char *file; /* below tracefs; absolute for links */
	char *text; /* without a final newline */
};

struct nw_step {
	struct nw_action go, back;
	char *what; /* "cannot define sdt_app:start"; NULL: it may fail */
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

/* 0 or -errno. */
int nw_action_do(const struct nw_tracefs *fs, const struct nw_action *action);
void nw_action_free(struct nw_action *action);

/*
 * Do them all, or none: what fails undoes what was done before it. before() hears of each undo
 * before its step is done (NULL: nobody does). Undos that fail are named in the error's hint.
 */
int nw_steps_do(const struct nw_tracefs *fs, const struct nw_steps *steps,
		int (*before)(void *arg, const struct nw_action *back), void *arg,
		struct nw_error *err);
/* Undo what was done before step count, in the opposite order. */
void nw_steps_undo(const struct nw_tracefs *fs, const struct nw_steps *steps, size_t count,
		   struct nw_error *err);
/* As commands for any POSIX shell. */
void nw_steps_tell(const char *tracefs, const struct nw_steps *steps, struct nw_buf *out);

#endif
