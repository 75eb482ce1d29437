// SPDX-License-Identifier: MIT
/*
 * If semaphores are raised by hand, CMD must be stopped after it has mapped the files with semaphores, and before it
 * runs their code. So it is traced (ptrace) from its exec through the system calls of the dynamic linker, and
 * released as soon as all files are mapped.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "wake.h"

/* Limit of the wait. A library that is loaded long after the start is loaded by the program itself. */
enum {
	NAP_NS = 20000,
	MOST_NAPS = 50000 /* a bit more than a second */
};

/* Waits for the next stop. Returns false if none comes for a long time. */
static bool next_stop(pid_t pid, int *naps, int *status)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	pid_t got;

	while ((got = waitpid(pid, status, __WALL | WNOHANG)) == 0) {
		if (++*naps > MOST_NAPS)
			return false;
		nanosleep(&nap, NULL);
	}
	return got == pid;
}

static void note_end(struct nw_child *child, int status)
{
	child->status = status;
	child->ended = true;
}

/* Continues the process from stop to stop until it is ready and detached, or has ended. Returns false if it is still
 * traced. */
static bool follow(struct nw_child *child, bool (*ready)(void *arg, pid_t pid), void *arg)
{
	bool running = false;
	int naps = 0, status;

	while (next_stop(child->pid, &naps, &status)) {
		if (!WIFSTOPPED(status)) {
			note_end(child, status);
			return true;
		}
		bool at_exec = status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
		bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
		running = running || at_exec;
		if (running && (at_exec || at_call) && ready(arg, child->pid)) {
			ptrace(PTRACE_DETACH, child->pid, NULL, NULL);
			return true;
		}
		/* A signal of the process is delivered; stops of ptrace are not signals. */
		long number = at_call || status >> 16 ? 0 : WSTOPSIG(status);
		ptrace(running ? PTRACE_SYSCALL : PTRACE_CONT, child->pid, NULL,
		       (void *)number);
	}
	return false;
}

int nw_child_release_until(struct nw_child *child, const char *name,
			   bool (*ready)(void *arg, pid_t pid), void *arg,
			   struct nw_error *err)
{
	void *options = (void *)(PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD);
	bool held = ptrace(PTRACE_SEIZE, child->pid, NULL, options) == 0;
	int ret = nw_child_go(child), status;

	/* A process that is still traced is stopped wherever it is, and detached. */
	if (ret == 0 && held && !follow(child, ready, arg)) {
		ptrace(PTRACE_INTERRUPT, child->pid, NULL, NULL);
		bool stopped = waitpid(child->pid, &status, __WALL) == child->pid;
		if (stopped && WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, child->pid, NULL, NULL);
		else if (stopped)
			note_end(child, status);
	}
	return nw_child_check(child, ret, name, err);
}
