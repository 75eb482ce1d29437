/* SPDX-License-Identifier: MIT */
/*
 * The steps that raise and lower USDT semaphores in processes' own memory: what they say as text,
 *	DEV INO OFFSET ADDRESS BEFORE SIZE BUILD_ID START
 * (numbers in decimal; BUILD_ID in hexadecimal, "-": not known; START: when the process was
 * started, field 22 of /proc/PID/stat), and how they are done.
 */
#ifndef NOPWATCH_KERNEL_STEPS_SEMAPHORE_STEP_H
#define NOPWATCH_KERNEL_STEPS_SEMAPHORE_STEP_H

#include "steps.h"

struct nw_semaphore { /* a variable in a file */
	uint64_t dev, ino, size, offset;
	char build_id[129]; /* "": not known */
};

struct nw_semaphore_step { /* and in a process */
	struct nw_semaphore its;
	pid_t pid;
	uint64_t start;
	uint64_t at;
	uint16_t before; /* its value before it was raised */
};

/* As the action of a step; go.process is the caller's to set. -ENOMEM. */
int nw_semaphore_action(enum nw_action_kind kind, const struct nw_semaphore_step *step,
			struct nw_action *out);
/* -EBADMSG: it is none. */
int nw_semaphore_step_read(const struct nw_action *action, struct nw_semaphore_step *out);
/* Where the variable is in a process; 0: it is not mapped. */
uint64_t nw_semaphore_at(const struct nw_semaphore *semaphore,
			 const struct nw_process *process);
/* Its value: 0 or -errno; -ESRCH: the program has gone meanwhile. */
int nw_semaphore_load(const struct nw_process *process, uint64_t at, uint16_t *value);

/* Do it: 0 or -errno; -ESRCH: the process, or its mapping, is not there any more. What is 0 is not
 * lowered (-ERANGE), nor raised what cannot be more. */
int nw_semaphore_do(const struct nw_action *action);
/* For a shell. */
void nw_semaphore_print(const struct nw_action *action, struct nw_buf *out);

#endif
