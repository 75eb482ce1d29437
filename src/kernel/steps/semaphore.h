/* SPDX-License-Identifier: MIT */
/*
 * USDT semaphores on kernels before 4.20, which know nothing of (REF_CTR): the counter that a
 * program asks before it reaches a probe is raised by one in each process's own memory
 * (/proc/PID/mem), and lowered again at the end.
 *
 * Which processes: all that map the file, as the kernel itself has it.
 *  - those that there are, and those that start later: fanotify tells who opens a file that
 *    holds semaphores, and now and then /proc is looked through;
 *  - forks inherit what was raised before, so they are only lowered.
 * Both are steps, which the journal knows before they are done: what a killed session has raised is
 * lowered by whoever cleans up, where process and mapping are still the same.
 */
#ifndef NOPWATCH_KERNEL_STEPS_SEMAPHORE_H
#define NOPWATCH_KERNEL_STEPS_SEMAPHORE_H

#include "journal.h"
#include "semaphore_step.h"

struct nw_raised {	    /* and in a process */
	uint32_t semaphore; /* index into nw_semaphores.all */
	uint64_t at;
	uint16_t before, after; /* its value before it was raised, after it was lowered */
	bool lowered;
	bool unsure; /* killed while it was raised or lowered: only its value tells */
};

struct nw_target { /* a process that has been looked at */
	pid_t pid;
	struct nw_process_stat stat;
	NW_VEC(struct nw_raised) raised;
};

/* A process that has opened a file: it may be about to map it. */
struct nw_opener {
	pid_t pid;
	uint64_t came, next,
		step; /* nanoseconds: since when, when to look, how long to wait */
};

struct nw_semaphores {
	struct nw_doing doing; /* the steps */
	NW_VEC(struct nw_semaphore) all;
	NW_VEC(struct nw_target) targets;
	NW_VEC(struct nw_opener) openers;
	nw_strings problems;
	size_t raises; /* how often one was raised, or found to be */
	bool closing;  /* nothing is raised any more */
	int watch;     /* fanotify, -1: none */
	uint64_t scanned;
};

/* All semaphores of the plan's points that are not left out; *out is NULL if there are none. One that is open
 * already gets those that are new.
 * watch: let the kernel tell who opens the files. */
int nw_semaphores_open(const struct nw_armed *armed, const struct nw_journal *journal,
		       bool watch, struct nw_semaphores **out, struct nw_error *err);
/* Raise them in all processes that have not been looked at; again: in all. -ENOMEM. */
int nw_semaphores_scan(struct nw_semaphores *set, bool again) nw_must_check;
/* Raise them in one process. */
void nw_semaphores_raise(struct nw_semaphores *set, pid_t pid);
/* Does the process have all those that are in these images? */
bool nw_semaphores_has(const struct nw_semaphores *set, pid_t pid, const nw_images *images);
/* Is one of them in one of these images? */
bool nw_semaphores_in(const struct nw_semaphores *set, const nw_images *images);
/* Lower them all, in forks of raised processes, too, and free. Adds to stuck what could not be;
 * returns -EBUSY then. */
int nw_semaphores_close(struct nw_semaphores *set, nw_strings *stuck);
/* Lower what a dead session raised. Adds to stuck what could not be; returns -EBUSY then. */
int nw_semaphores_recover(const struct nw_journal *journal, nw_strings *stuck);

/* Those who come later (semaphore_watch.c). */
void nw_semaphores_watch(struct nw_semaphores *set, const struct nw_plan *plan);
/* Look after them. Returns after how many milliseconds to call again. */
int nw_semaphores_poll(struct nw_semaphores *set);

#endif
