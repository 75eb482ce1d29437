// SPDX-License-Identifier: MIT
/* A forked child starts here: it closes its parent's descriptors, and arranges to end with its parent. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

void nw_end_with_parent(pid_t parent, int signal)
{
	prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != parent)
		_exit(127);
}

int nw_drop_privileges(void)
{
	enum {
		NOBODY = 65534
	};
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
	bool failed = false;

	if (geteuid() == 0) {
		/* each is tried, also if one before it fails */
		failed = setgroups(0, NULL) < 0;
		failed |= setresgid(NOBODY, NOBODY, NOBODY) < 0;
		failed |= setresuid(NOBODY, NOBODY, NOBODY) < 0;
	}
	/* also a user who is not root may have some (setcap(8)) */
	failed |= syscall(SYS_capset, &header, none) < 0;
	return failed ? -EPERM : 0;
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

/* The descriptors to close: those above `last` except `keep`; with own_only, of these only the ones that nopwatch
 * opened. */
struct closing {
	const int *keep;
	size_t count;
	int last;
	bool own_only;
};

static void close_one(const struct closing *closing, int fd)
{
	if (fd <= closing->last || has(closing->keep, closing->count, fd))
		return;
	int flags = closing->own_only ? fcntl(fd, F_GETFD) : FD_CLOEXEC;
	if (flags >= 0 && (flags & FD_CLOEXEC))
		close(fd);
}

/* Tries every descriptor number if /proc/self/fd cannot be listed to its end. */
static void close_others(const struct closing *closing)
{
	enum {
		MOST = 65536
	};
	DIR *list = opendir("/proc/self/fd");
	struct dirent *entry = NULL;

	while (list && (errno = 0, entry = readdir(list)))
		if (atoi(entry->d_name) != dirfd(list))
			close_one(closing, atoi(entry->d_name));
	int limit = list && !errno ? 0 : getdtablesize();
	if (list)
		closedir(list);
	for (int fd = 0; fd < limit && fd < MOST; fd++)
		close_one(closing, fd);
}

void nw_close_own_files(const int *keep, size_t count)
{
	close_others(&(struct closing){keep, count, STDERR_FILENO, true});
}

void nw_close_all_files(const int *keep, size_t count)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close_others(&(struct closing){keep, count, STDERR_FILENO, false});
}

void nw_close_files_above(int last)
{
	/* One call, where the kernel has it (Linux 5.9): closing each of thousands takes longer than the fork. */
#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned int)last + 1, ~0U, 0) == 0)
		return;
#endif
	close_others(&(struct closing){NULL, 0, last, false});
}
