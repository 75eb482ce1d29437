/* SPDX-License-Identifier: MIT */
/*
 * USDT semaphores on kernels before 4.20, which do not know (REF_CTR). A program tests this counter before it
 * reaches a probe. nopwatch raises it by one in the memory of each process (/proc/PID/mem), and lowers it at the
 * end.
 *
 * The processes are all those that map the file. Processes that start later are found by fanotify, which reports
 * who opens a file with semaphores, and by scans of /proc at intervals. A fork inherits the raised value, so there
 * it is only lowered.
 *
 * Raising and lowering are steps that are written into the journal first. After a killed session, the clean-up
 * lowers the semaphores in processes that still have the same mapping.
 */
#ifndef NOPWATCH_KERNEL_STEPS_SEMAPHORE_H
#define NOPWATCH_KERNEL_STEPS_SEMAPHORE_H

#include "journal.h"
#include "semaphore_step.h"

struct nw_raised {	    /* a semaphore in a process */
	uint32_t semaphore; /* index into nw_semaphores.all */
	uint64_t at;
	/* Its value before it was raised, and after it was lowered. */
	uint16_t before, after;
	bool lowered;
	/* The session was killed while raising or lowering it, so only its value tells. */
	bool unsure;
};

struct nw_target { /* a process that was inspected */
	pid_t pid;
	struct nw_process_stat stat;
	NW_VEC(struct nw_raised) raised;
};

/* A process that has opened a file and may map it soon. */
struct nw_opener {
	pid_t pid;
	uint64_t came, next,
		/* In ns: time of the opening, of the next inspection, and the delay after that. */
		step;
};

struct nw_semaphores {
	struct nw_step_runner runner; /* does the steps */
	NW_VEC(struct nw_semaphore) all;
	NW_VEC(struct nw_target) targets;
	NW_VEC(struct nw_opener) openers;
	nw_strings problems;
	size_t raises; /* how often a semaphore was raised or found to be raised */
	bool closing;  /* nothing is raised any more */
	int watch;     /* descriptor of fanotify; -1: none */
	uint64_t scanned;
};

/* Opens the semaphores of all points of the plan that are not left out; *out is NULL if there are none. If *out is
 * open already, the new ones are added. watch: let the kernel report processes that open the files. */
int nw_semaphores_open(const struct nw_armed *armed, const struct nw_journal *journal,
		       bool watch, struct nw_semaphores **out, struct nw_error *err);
/* Raises them in all processes that were not inspected before; again: in all processes. Returns 0 or -ENOMEM. */
int nw_semaphores_scan(struct nw_semaphores *set, bool again) nw_must_check;
/* Raises them in one process. */
void nw_semaphores_raise(struct nw_semaphores *set, pid_t pid);
/* Are all semaphores of these images raised in the process? */
bool nw_semaphores_has(const struct nw_semaphores *set, pid_t pid, const nw_images *images);
/* Is one of the semaphores in one of these images? */
bool nw_semaphores_in(const struct nw_semaphores *set, const nw_images *images);
/* Lowers them all, also in forks of processes in which they were raised, and frees the set. Adds semaphores that
 * could not be lowered to stuck, and returns -EBUSY then. */
int nw_semaphores_close(struct nw_semaphores *set, nw_strings *stuck);
/* Lowers semaphores that a dead session has raised. Adds those that could not be lowered to stuck, and returns
 * -EBUSY then. */
int nw_semaphores_recover(const struct nw_journal *journal,
			  const struct nw_journal_contents *contents, nw_strings *stuck);

/* Starts to watch for processes that map the files later (semaphore_watch.c). */
void nw_semaphores_watch(struct nw_semaphores *set, const struct nw_plan *plan);
/* Handles such processes. Returns in how many milliseconds to call it again. */
int nw_semaphores_poll(struct nw_semaphores *set);

#endif
