// SPDX-License-Identifier: MIT
/* See health.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/run.h"

#include "health.h"

/* Runs the shell in a process group of its own, so that all its descendants can be ended. It dies with its guard. */
static void become(const char *command, pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	nw_end_with_parent(parent, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/*
 * Ends the shell and all its descendants, including those that have left its process group: a process that loses its
 * parent becomes the guard's child, so this comes to an end.
 */
static void end_all(pid_t shell, const sigset_t *awaited)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	struct nw_error ignored;

	kill(-shell, SIGKILL);
	for (;;) {
		nw_pids pids = {0};
		pid_t *self = nw_vec_add(&pids), ended;
		if (self)
			*self = getpid();
		nw_run_add_descendants(&pids, &ignored);
		for (size_t i = 1; i < pids.count; i++)
			kill(pids.item[i], SIGKILL);
		nw_vec_free(&pids);
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (ended < 0)
			return;
		sigtimedwait(awaited, NULL, &moment);
	}
}

/* Ends in the same way as the shell. */
static void end_like(int status)
{
	const struct rlimit no_core = {0, 0};
	sigset_t all;

	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	raise(WTERMSIG(status));
	_exit(128 + WTERMSIG(status));
}

/*
 * The guard is a process between us and the shell. It ends everything that the command has started, even if we are
 * killed with SIGKILL: the kernel then sends it SIGTERM, as we do to end it. It blocks all other signals.
 */
static void kill_with_parent(const char *command, pid_t parent)
{
	sigset_t all, awaited;
	int status = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGTERM);
	sigaddset(&awaited, SIGCHLD);
	setpgid(0, 0);
	nw_close_all_files(NULL, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	nw_end_with_parent(parent, SIGTERM);
	pid_t guard = getpid(), shell = fork();
	if (shell == 0)
		become(command, guard);
	if (shell < 0)
		_exit(126);
	setpgid(shell, shell); /* both processes do it, because either may be first */
	for (pid_t ended = 0; ended != shell;) {
		if (sigwaitinfo(&awaited, NULL) == SIGTERM) {
			end_all(shell, &awaited);
			_exit(0);
		}
		while (ended != shell && (ended = waitpid(-1, &status, WNOHANG)) > 0)
			;
	}
	/* A process with a group of its own is a daemon, and meant to stay. */
	kill(-shell, SIGKILL);
	end_like(status);
}

static int begin(struct nw_health *h, struct nw_error *err)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		kill_with_parent(h->command, parent);
	if (pid < 0)
		return nw_fail(err, errno, "--until-cmd '%s': cannot be started: %s",
			       h->command, nw_strerror(errno));
	h->pid = pid;
	h->late = false;
	h->began = nw_clock_ns(CLOCK_MONOTONIC);
	return 0;
}

/* Handles the end of the command. Status 127 of the first run means that the shell does not find it; later it may be
 * part of the trouble. */
static int judge(struct nw_health *h, int status, bool timed_out, struct nw_error *err)
{
	bool was = h->failing, first = h->runs++ == 0;

	h->failing = timed_out || status != 0;
	if (timed_out)
		snprintf(h->reason, sizeof(h->reason), "did not end within %.3g s",
			 (double)h->timeout_ns / 1e9);
	else if (WIFSIGNALED(status))
		snprintf(h->reason, sizeof(h->reason), "was killed by signal %d",
			 WTERMSIG(status));
	else
		snprintf(h->reason, sizeof(h->reason), "failed with status %d",
			 WEXITSTATUS(status));
	if (first && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		nw_fail(err, ENOENT, "--until-cmd '%s': the shell cannot find it",
			h->command);
		return -ENOENT;
	}
	return h->failing && !was;
}

int nw_health_check(struct nw_health *h, struct nw_error *err)
{
	int status = 0;

	if (!h->command)
		return 0;
	if (!h->pid)
		return nw_clock_ns(CLOCK_MONOTONIC) >= h->next ? begin(h, err) : 0;
	if (waitpid(h->pid, &status, WNOHANG) == h->pid) {
		h->pid = 0;
		h->next = nw_clock_ns(CLOCK_MONOTONIC) + h->interval_ns;
		return h->late ? 0 : judge(h, status, false, err);
	}
	if (h->late || nw_clock_ns(CLOCK_MONOTONIC) - h->began <= h->timeout_ns)
		return 0;
	/* A process that waits for a disk that is gone cannot be ended, and we must not wait for it. */
	h->late = true;
	kill(h->pid, SIGTERM);
	return judge(h, status, true, err);
}

void nw_health_stop(struct nw_health *h)
{
	const struct timespec moment = {.tv_nsec = 5000000};

	if (!h->pid)
		return;
	kill(h->pid, SIGTERM);
	for (int i = 0; i < 200 && waitpid(h->pid, NULL, WNOHANG) == 0; i++)
		nanosleep(&moment, NULL);
	h->pid = 0;
}
