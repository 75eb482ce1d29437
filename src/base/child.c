// SPDX-License-Identifier: MIT
/* A process that was just forked gives up what belongs to its parent; and whether its parent is to end. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "nopwatch/base.h"

void nw_end_with_parent(pid_t parent, int signal)
{
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent)
		_exit(127);
}

bool nw_is_end_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
		sigismember(&pending, SIGHUP));
}

static bool has(const int *list, size_t count, int fd)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == fd)
			return true;
	return false;
}

/* Where /proc is missing, the numbers are tried one by one. */
static void close_others(const int *keep, size_t count, bool own_only)
{
	DIR *list = opendir("/proc/self/fd");
	int limit = list ? 0 : getdtablesize();
	struct dirent *entry = NULL;

	for (int next = 0; (list && (entry = readdir(list))) || next < limit; next++) {
		int fd = entry ? atoi(entry->d_name) : next;
		if (fd <= STDERR_FILENO || (list && fd == dirfd(list)) ||
		    has(keep, count, fd))
			continue;
		int flags = own_only ? fcntl(fd, F_GETFD) : FD_CLOEXEC;
		if (flags >= 0 && (flags & FD_CLOEXEC))
			close(fd);
	}
	if (list)
		closedir(list);
}

void nw_close_own_files(const int *keep, size_t count)
{
	close_others(keep, count, true);
}

void nw_close_all_files(const int *keep, size_t count)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close_others(keep, count, false);
}
