// SPDX-License-Identifier: MIT
/*
 * Where semaphores are raised by hand, CMD has to be held once it has mapped the files that hold
 * them, before it runs their code: it is traced (ptrace) from its exec through the system calls
 * of the dynamic linker, and let go as soon as everything is there.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "wake.h"

/* How long that may take; who loads a library much later than at its start loads it by itself. */
enum {
	NAP_NS = 20000,
	MOST_NAPS = 50000 /* a second, and some more */
};

/* Wait for its next stop; false: there is none for a long time. */
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

/* From stop to stop until it is ready, has ended, or is detached. False: it is still traced. */
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
		/* a signal of its own is handed on; stops of ptrace are none */
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

	/* if it is still traced, it is stopped wherever it is, and detached */
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
