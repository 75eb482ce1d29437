// SPDX-License-Identifier: MIT
/* See wake.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "find/probe/probe.h"
#include "wake.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* ---- signals ------------------------------------------------------------------------ */

static void our_signals(unsigned int signals, sigset_t *set)
{
	struct sigaction hangup;

	sigemptyset(set);
	if (signals & NW_WAKE_CHILD)
		sigaddset(set, SIGCHLD);
	if (signals & NW_WAKE_SNAPSHOT)
		sigaddset(set, SIGUSR2);
	if (!(signals & NW_WAKE_END))
		return;
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGUSR1);
	/* nohup ignores it, and that stays so */
	if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

static int add_fd(struct nw_wake *wake, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(wake->fd, EPOLL_CTL_ADD, fd, &event);
}

int nw_wake_open(struct nw_wake *wake, unsigned int signals, struct nw_error *err)
{
	bool ends = signals & NW_WAKE_END;
	sigset_t set;

	*wake = (struct nw_wake){.fd = -1, .signals = -1, .end = -1, .restore = !ends};
	our_signals(signals, &set);
	if (ends)
		signal(SIGPIPE, SIG_IGN); /* a failing write tells the same */
	sigprocmask(SIG_BLOCK, &set, &wake->before);
	wake->fd = epoll_create1(EPOLL_CLOEXEC);
	wake->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (wake->fd < 0 || wake->signals < 0 || add_fd(wake, wake->signals) < 0)
		return nw_fail(err, errno, "cannot wait for signals: %s",
			       nw_strerror(errno));
	return 0;
}

void nw_wake_add(struct nw_wake *wake, int fd)
{
	if (fd >= 0)
		add_fd(wake, fd);
}

/* ---- processes ---------------------------------------------------------------------- */

/* Watches a process, or, with the process that it belongs to, a thread. */
static int watch(struct nw_wake *wake, pid_t process, pid_t tid, struct nw_error *err)
{
	struct nw_watched *watched = nw_vec_add(&wake->watched);
	const char *what = process ? "thread" : "process";
	char path[48];

	if (!watched)
		return nw_no_memory(err);
	if (process)
		snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)process, (int)tid);
	else
		snprintf(path, sizeof(path), "/proc/%d", (int)tid);
	watched->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = watched->dir < 0 ? errno : 0;
	/* System calls take our own numbers, and /proc may have others. Kernels before 6.9 do not watch a thread. */
	watched->fd = nw_proc_is_ours() ? (int)syscall(SYS_pidfd_open, tid,
						       process ? PIDFD_THREAD : 0)
					: -1;
	if (watched->fd >= 0)
		add_fd(wake, watched->fd);
	if (nw_is_shortage(code))
		return nw_fail(err, code, "cannot watch %s %d: %s", what, (int)tid,
			       nw_strerror(code));
	if (code)
		return nw_fail(err, ESRCH, "there is no %s %d", what, (int)tid);
	return 0;
}

int nw_wake_watch(struct nw_wake *wake, pid_t pid, struct nw_error *err)
{
	return watch(wake, 0, pid, err);
}

int nw_wake_watch_thread(struct nw_wake *wake, pid_t process, pid_t tid,
			 struct nw_error *err)
{
	return watch(wake, process, tid, err);
}

static bool is_gone(const struct nw_watched *watched)
{
	struct pollfd end = {.fd = watched->fd, .events = POLLIN};

	if (watched->fd >= 0)
		return poll(&end, 1, 0) > 0;
	return faccessat(watched->dir, "stat", F_OK, 0) < 0;
}

void nw_wake_poll(struct nw_wake *wake)
{
	struct signalfd_siginfo info;

	while (read(wake->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			wake->child_ended = true;
		else if (info.ssi_signo == SIGUSR1)
			wake->report = true;
		else if (info.ssi_signo == SIGUSR2)
			wake->snapshot = true;
		else
			wake->stop = true;
	}
	struct pollfd end = {.fd = wake->end, .events = POLLIN};
	if (wake->end >= 0 && poll(&end, 1, 0) > 0)
		wake->stop = true;
	nw_vec_each (&wake->watched, watched) {
		if (watched->gone || !is_gone(watched))
			continue;
		watched->gone = true;
		if (watched->fd >= 0) /* it would be readable for ever */
			epoll_ctl(wake->fd, EPOLL_CTL_DEL, watched->fd, NULL);
	}
}

bool nw_wake_all_gone(const struct nw_wake *wake)
{
	nw_vec_each (&wake->watched, watched)
		if (!watched->gone)
			return false;
	return wake->watched.count > 0;
}

void nw_wake_close(struct nw_wake *wake)
{
	nw_vec_each (&wake->watched, watched) {
		if (watched->fd >= 0)
			close(watched->fd);
		if (watched->dir >= 0)
			close(watched->dir);
	}
	nw_vec_free(&wake->watched);
	if (wake->signals >= 0)
		close(wake->signals);
	if (wake->fd >= 0)
		close(wake->fd);
	if (wake->fd >= 0 && wake->restore)
		sigprocmask(SIG_SETMASK, &wake->before, NULL);
	wake->fd = wake->signals = -1;
}

/* ---- CMD ---------------------------------------------------------------------------- */

/* Runs in the child: waits to be released, and then executes CMD. */
static void become(char *const *argv, int release, int failure)
{
	const int keep[] = {release, failure};
	sigset_t none;
	char go;

	nw_close_own_files(keep, NW_COUNT(keep));
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	ssize_t told = read(release, &go, 1);
	if (told == 0) /* nopwatch has given up or died */
		_exit(127);
	if (told > 0)
		execvp(argv[0], argv);
	int code = errno;
	if (write(failure, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

int nw_child_start(char *const *argv, struct nw_child *out, struct nw_error *err)
{
	int release[2], failure[2];

	*out = (struct nw_child){.release = -1, .failure = -1};
	if (pipe2(release, O_CLOEXEC) < 0)
		return nw_fail(err, errno, "cannot make a pipe: %s", nw_strerror(errno));
	if (pipe2(failure, O_CLOEXEC) < 0) {
		close(release[0]);
		close(release[1]);
		return nw_fail(err, errno, "cannot make a pipe: %s", nw_strerror(errno));
	}
	pid_t pid = fork();
	int code = errno;
	if (pid == 0)
		become(argv, release[0], failure[1]);
	close(release[0]);
	close(failure[1]);
	if (pid < 0) {
		close(release[1]);
		close(failure[0]);
		return nw_fail(err, code, "cannot start '%s': %s", argv[0],
			       nw_strerror(code));
	}
	out->pid = pid;
	out->release = release[1];
	out->failure = failure[0];
	return 0;
}

int nw_child_go(struct nw_child *child)
{
	char go = 1;
	int code = write(child->release, &go, 1) == 1 ? 0 : errno;

	close(child->release);
	child->release = -1;
	return -code;
}

int nw_child_check(const struct nw_child *child, int ret, const char *name,
		   struct nw_error *err)
{
	int code = -ret, told;

	/* The pipe closes when exec succeeds or the child has gone (EPIPE); if exec fails, the child writes the
	 * reason. */
	if (!code || code == EPIPE) {
		ssize_t len = read(child->failure, &told, sizeof(told));
		code = len > 0 ? told : len < 0 ? errno : code;
	}
	if (!code)
		return 0;
	return nw_fail(err, code, "cannot run '%s': %s", name, nw_strerror(code));
}

int nw_child_release(struct nw_child *child, const char *name, struct nw_error *err)
{
	return nw_child_check(child, nw_child_go(child), name, err);
}

bool nw_child_reap(struct nw_child *child)
{
	if (child->pid && !child->ended &&
	    waitpid(child->pid, &child->status, WNOHANG) == child->pid)
		child->ended = true;
	return child->ended;
}

void nw_child_stop(struct nw_child *child)
{
	const struct timespec moment = {.tv_nsec = 10000000};

	if (child->release >= 0)
		close(child->release);
	if (child->failure >= 0)
		close(child->failure);
	child->release = child->failure = -1;
	if (!child->pid || nw_child_reap(child))
		return;
	kill(child->pid, SIGTERM);
	for (int i = 0; i < 200 && !nw_child_reap(child); i++)
		nanosleep(&moment, NULL);
	if (child->ended)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, &child->status, 0);
	child->ended = true;
}
