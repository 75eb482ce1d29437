// SPDX-License-Identifier: MIT
/* See health.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "health.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The child: a process group of its own, so that all it starts can be ended. It goes with us. */
static void become(const char *command, pid_t parent)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static int begin(struct nw_health *h, struct nw_error *err)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		become(h->command, parent);
	if (pid < 0)
		return nw_fail(err, errno, "--until-cmd '%s': cannot be started: %s",
			       h->command, nw_strerror(errno));
	setpgid(pid, pid); /* whoever of us is first */
	h->pid = pid;
	h->began = now_ns();
	return 0;
}

/* 127 of the first run is a word that no shell finds; later it may be what has gone wrong. */
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
		return now_ns() >= h->next ? begin(h, err) : 0;
	bool ended = waitpid(h->pid, &status, WNOHANG) == h->pid;
	bool late = !ended && now_ns() - h->began > h->timeout_ns;
	if (!ended && !late)
		return 0;
	if (late) {
		kill(-h->pid, SIGKILL);
		waitpid(h->pid, &status, 0);
	}
	h->pid = 0;
	h->next = now_ns() + h->interval_ns;
	return judge(h, status, late, err);
}

void nw_health_stop(struct nw_health *h)
{
	int status;

	if (!h->pid)
		return;
	kill(-h->pid, SIGKILL);
	waitpid(h->pid, &status, 0);
	h->pid = 0;
}
