// SPDX-License-Identifier: MIT
/* Files that others have put where they are: looked at before they are opened. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nopwatch/base.h"

/* Nothing waits, and a terminal does not become ours, should it be one after all. */
#define HARMLESS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int regular(int fd, struct stat *st)
{
	if (fstat(fd, st) < 0)
		return -errno;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	return S_ISREG(st->st_mode) ? 0 : -ENXIO;
}

/* Without /proc: the same path again, where the same file must still be. */
static int open_again(int dir, const char *path, const struct stat *seen)
{
	int fd = openat(dir, path, HARMLESS);
	struct stat st;

	if (fd < 0)
		return -errno;
	int ret = regular(fd, &st);
	if (ret == 0 && (st.st_dev != seen->st_dev || st.st_ino != seen->st_ino))
		ret = -ESTALE;
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

/* The link of a descriptor leads to the very file that was looked at, wherever its path leads
 * by now. */
static int open_seen(int seen)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", seen);
	int fd = open(link, HARMLESS);
	return fd < 0 ? -errno : fd;
}

int nw_open_regular(int dir, const char *path)
{
	int seen = openat(dir, path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (seen < 0)
		return -errno;
	int ret = regular(seen, &st);
	if (ret == 0)
		ret = open_seen(seen);
	if (ret == -ENOENT && access("/proc/self/fd", F_OK) < 0)
		ret = open_again(dir, path, &st);
	close(seen);
	return ret;
}
