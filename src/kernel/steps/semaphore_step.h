/* SPDX-License-Identifier: MIT */
/*
 * Steps that raise and lower USDT semaphores in the memory of processes. Their text is
 * 	DEV INO OFFSET ADDRESS BEFORE SIZE BUILD_ID START
 * in decimal numbers. BUILD_ID is hexadecimal ("-": not known). START is the start time of the process, field 22 of
 * /proc/PID/stat.
 */
#ifndef NOPWATCH_KERNEL_STEPS_SEMAPHORE_STEP_H
#define NOPWATCH_KERNEL_STEPS_SEMAPHORE_STEP_H

#include "steps.h"

struct nw_semaphore { /* a variable in a file */
	uint64_t dev, ino, size, offset;
	char build_id[129]; /* "": not known */
};

struct nw_semaphore_step { /* the variable in a process */
	struct nw_semaphore its;
	pid_t pid;
	uint64_t start;
	uint64_t at;
	uint16_t before; /* its value before it was raised */
};

/* Makes the action of a step. The caller may set go.process. Returns 0 or -ENOMEM. */
int nw_semaphore_action(enum nw_action_kind kind, const struct nw_semaphore_step *step,
			struct nw_action *out);
/* Reads a step from an action. Returns 0; -EBADMSG: the action is not such a step. */
int nw_semaphore_step_read(const struct nw_action *action, struct nw_semaphore_step *out);
/* Returns the address of the variable in a process; 0: it is not mapped. */
uint64_t nw_semaphore_at(const struct nw_semaphore *semaphore,
			 const struct nw_process *process);
/* Reads its value. Returns 0 or -errno; -ESRCH: the program has ended. */
int nw_semaphore_load(const struct nw_process *process, uint64_t at, uint16_t *value);

/* Does the step. Returns 0 or -errno; -ESRCH: the process or its mapping does not exist any more; -ERANGE: the
 * value is 0 and cannot be lowered, or is the largest and cannot be raised. */
int nw_semaphore_do(const struct nw_action *action);
/* Prints the action as shell commands. */
void nw_semaphore_print(const struct nw_action *action, struct nw_buf *out);

#endif
