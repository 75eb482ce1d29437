// SPDX-License-Identifier: MIT
/* Opens files that another user may have put there: their type is checked before they are opened. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/base.h"
#include "old_headers.h"

/* If the file is a FIFO or a terminal after all, open() does not wait, and the terminal does not become our
 * controlling terminal. */
#define HARMLESS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int regular(int fd, struct stat *st)
{
	if (fstat(fd, st) < 0)
		return -errno;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	return S_ISREG(st->st_mode) ? 0 : -ENXIO;
}

/* Without /proc the path is opened again, and must still lead to the file that was checked. */
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

/* Opens the file that was found by O_PATH, and closes that descriptor. */
static int open_found(int seen, int dir, const char *path)
{
	struct stat st;
	int ret = regular(seen, &st);

	if (ret == 0) {
		/* The descriptor's link in /proc leads to the file that was checked, wherever its path leads now. */
		char link[32];

		snprintf(link, sizeof(link), "/proc/self/fd/%d", seen);
		int fd = open(link, HARMLESS);
		ret = fd < 0 ? -errno : fd;
	}
	if (ret == -ENOENT && access("/proc/self/fd", F_OK) < 0)
		ret = open_again(dir, path, &st);
	close(seen);
	return ret;
}

int nw_open_input(const char *path)
{
	int seen = open(path, O_PATH | O_CLOEXEC);
	struct stat st = {0};
	char link[32];

	if (seen < 0)
		return -errno;
	int ret = regular(seen, &st);
	if (ret == 0 || !S_ISFIFO(st.st_mode))
		return open_found(seen, AT_FDCWD, path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", seen);
	int fd = open(link, O_RDONLY | O_CLOEXEC); /* a FIFO: waits for its writer */
	ret = fd < 0 ? -errno : fd;
	close(seen);
	return ret;
}

int nw_open_regular(int dir, const char *path)
{
	int seen = openat(dir, path, O_PATH | O_CLOEXEC);

	return seen < 0 ? -errno : open_found(seen, dir, path);
}

/* openat2(2), Linux 5.6: the C library may not have it yet. -1 with ENOSYS before. */
static int find_in_root(int root, const char *path)
{
#ifdef SYS_openat2
	enum {
		IN_ROOT = 0x10 /* include/uapi/linux/openat2.h: RESOLVE_IN_ROOT */
	};
	const struct {
		uint64_t flags, mode, resolve;
	} how = {.flags = O_PATH | O_CLOEXEC, .resolve = IN_ROOT};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
#else
	(void)root, (void)path;
	errno = ENOSYS;
	return -1;
#endif
}

int nw_open_regular_in(const char *root, const char *path)
{
	if (!*root)
		return nw_open_regular(AT_FDCWD, path);
	int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	int seen = find_in_root(top, path), code = errno;
	while (*path == '/')
		path++;
	/* an old kernel, or a seccomp filter that does not know this system call */
	if (seen < 0 && (code == ENOSYS || code == EPERM)) {
		seen = openat(top, path, O_PATH | O_CLOEXEC);
		code = errno;
	}
	int ret = seen < 0 ? -code : open_found(seen, top, path);
	close(top);
	return ret;
}

bool nw_is_trusted(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

bool nw_others_may_write(const struct stat *st)
{
	bool own_group = st->st_uid == geteuid() && st->st_gid == getegid();

	return st->st_mode & (own_group ? S_IWOTH : S_IWGRP | S_IWOTH);
}

bool nw_is_overlay(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (unsigned long)fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

bool nw_is_hollow(int fd)
{
	enum {
		SMALL = 64 << 20,
		TIMES = 64,
		BLOCK = 512 /* of st_blocks: stat(2) */
	};
	struct stat st;
	bool known = fstat(fd, &st) == 0;
	uint64_t size = known && st.st_size > 0 ? (uint64_t)st.st_size : 0;

	if (size <= SMALL || (uint64_t)st.st_blocks >= size / TIMES / BLOCK)
		return false;
	/* a file system that does not count blocks reports no holes, either */
	off_t hole = lseek(fd, 0, SEEK_HOLE);
	return hole >= 0 && (uint64_t)hole < size;
}
