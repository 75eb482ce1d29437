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

#include "base/base.h"

struct nw_watched {
	int fd; /* pidfd; -1: the process is checked now and then (before Linux 5.3) */
	int dir; /* /proc/PID, or /proc/PID/task/TID: it belongs to the process, not to the number */
	bool gone;
};

struct nw_wake {
	int fd; /* readable when something has happened */
	int signals;
	int end;	 /* readable: the run is to end; -1: none */
	sigset_t before; /* signals that were blocked before */
	bool restore;
	NW_VEC(struct nw_watched) watched;
	bool stop;	  /* SIGINT, SIGTERM or SIGHUP has come */
	bool child_ended; /* SIGCHLD has come */
	bool report;	  /* SIGUSR1 has come; the code that reports clears it */
	bool snapshot; /* SIGUSR2 has come; the code that writes the snapshot clears it */
};

/* Signals that wake a run. */
enum nw_wake_signals {
	NW_WAKE_CHILD = 1,    /* SIGCHLD */
	NW_WAKE_END = 2,      /* the signals that end the run, and SIGUSR1 */
	NW_WAKE_SNAPSHOT = 4, /* SIGUSR2 */
};

/* signals: bits of enum nw_wake_signals; 0: none, as for a run inside another one. */
int nw_wake_open(struct nw_wake *wake, unsigned int signals, struct nw_error *err);
/* Watches a process. ESRCH: it is gone already. */
int nw_wake_watch(struct nw_wake *wake, pid_t pid, struct nw_error *err);
/* Watches one thread of a process, which counts as a process then. */
int nw_wake_watch_thread(struct nw_wake *wake, pid_t process, pid_t tid,
			 struct nw_error *err);
/* Also wakes when this descriptor is readable; -1: none. */
void nw_wake_add(struct nw_wake *wake, int fd);
/* Finds out what has happened, without waiting. */
void nw_wake_poll(struct nw_wake *wake);
/* Are all watched processes gone (and there were some)? */
bool nw_wake_all_gone(const struct nw_wake *wake);
void nw_wake_close(struct nw_wake *wake);

/* CMD, which is started, but held before its exec until it is released. */
struct nw_child {
	pid_t pid;	      /* 0: none */
	int release, failure; /* pipes */
	bool ended;
	int status; /* from waitpid() */
};

int nw_child_start(char *const *argv, struct nw_child *out, struct nw_error *err);
/* Releases CMD. Returns ENOENT and others if it cannot be executed. */
int nw_child_release(struct nw_child *child, const char *name, struct nw_error *err);
/* The two halves of nw_child_release(): releases CMD (0 or -errno), and then checks its exec. */
int nw_child_go(struct nw_child *child);
int nw_child_check(const struct nw_child *child, int ret, const char *name,
		   struct nw_error *err);
/*
 * Releases CMD, but stops it at every system call from its exec on and calls ready(), until that returns true: the
 * awaited files are mapped then, and CMD has not run any of their code.
 */
int nw_child_release_until(struct nw_child *child, const char *name,
			   bool (*ready)(void *arg, pid_t pid), void *arg,
			   struct nw_error *err);
/* Has it ended? Does not wait. */
bool nw_child_reap(struct nw_child *child);
/* Ends it if it still runs (SIGTERM, and SIGKILL after two seconds), and frees its resources. */
void nw_child_stop(struct nw_child *child);

#endif
