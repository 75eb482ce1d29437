/* SPDX-License-Identifier: MIT */
/*
 * The events that end a run or wake it: signals, the end of CMD, the end of the last -p process. All of them are file
 * descriptors behind one epoll, so that nothing happens inside a signal handler and every way out goes through the
 * same teardown.
 */
#ifndef NOPWATCH_RUN_WAKE_H
#define NOPWATCH_RUN_WAKE_H

#include <signal.h>
#include <sys/types.h>

#include "nopwatch/base.h"

struct nw_watched {
	pid_t pid;
	int fd;	 /* pidfd; -1: looked at now and then (before Linux 5.3) */
	int dir; /* /proc/PID: the process, not the number */
	bool gone;
};

struct nw_wake {
	int fd; /* readable when something has happened */
	int signals;
	sigset_t before; /* what was blocked */
	bool restore;
	NW_VEC(struct nw_watched) watched;
	bool stop;	  /* SIGINT, SIGTERM or SIGHUP came */
	bool child_ended; /* SIGCHLD came */
	bool report;	  /* SIGUSR1 came; whoever reports clears it */
	bool snapshot;	  /* SIGUSR2 came; the same */
};

/* Signals that a run is told of. */
enum nw_wake_signals {
	NW_WAKE_CHILD = 1,    /* SIGCHLD */
	NW_WAKE_END = 2,      /* those that end it, and SIGUSR1 */
	NW_WAKE_SNAPSHOT = 4, /* SIGUSR2 */
};

/* signals: of enum nw_wake_signals; 0: none, as for a run inside of another. */
int nw_wake_open(struct nw_wake *wake, unsigned int signals, struct nw_error *err);
/* Watch a process; ESRCH if it is gone already. */
int nw_wake_watch(struct nw_wake *wake, pid_t pid, struct nw_error *err);
/* Wake when this becomes readable, too; -1: nothing. */
void nw_wake_add(struct nw_wake *wake, int fd);
/* Find out what has happened, without waiting. */
void nw_wake_poll(struct nw_wake *wake);
/* All watched processes are gone (and there were some). */
bool nw_wake_all_gone(const struct nw_wake *wake);
void nw_wake_close(struct nw_wake *wake);

/* CMD: started, but held before its exec until it is released. */
struct nw_child {
	pid_t pid;	      /* 0: none */
	int release, failure; /* pipes */
	bool ended;
	int status; /* of waitpid() */
};

int nw_child_start(char *const *argv, struct nw_child *out, struct nw_error *err);
/* Let it run. ENOENT and others if it could not be executed. */
int nw_child_release(struct nw_child *child, const char *name, struct nw_error *err);
/* The two halves of that: let it go (0 or -errno), and, behind its exec, see what became of it. */
int nw_child_go(struct nw_child *child);
int nw_child_check(const struct nw_child *child, int ret, const char *name,
		   struct nw_error *err);
/*
 * The same, but stop it at every system call, from its exec on, and call ready(), until that
 * returns true: what it is waited for has been mapped then, and before it runs any of it.
 */
int nw_child_release_until(struct nw_child *child, const char *name,
			   bool (*ready)(void *arg, pid_t pid), void *arg,
			   struct nw_error *err);
/* Has it ended? Does not wait. */
bool nw_child_reap(struct nw_child *child);
/* End it (SIGTERM, and SIGKILL after two seconds) if it still runs, and free what it took. */
void nw_child_stop(struct nw_child *child);

#endif
