// SPDX-License-Identifier: MIT
/* Facts of a process that change while it runs, by the kernel's number: its title, and the paths of its descriptors. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

enum {
	PROC_PATH = 64,
	MOST_SEARCHED = 4096 /* descriptors that are searched for a ring of io_uring */
};

/* Writes the path of a file of /proc/PID, and returns the directory that it is below; -ESRCH: no /proc shows the
 * kernel's numbers. */
static int place(const struct nw_pid_space *space, pid_t pid, const char *file,
		 char path[PROC_PATH])
{
	if (space->foreign && space->host < 0)
		return -ESRCH;
	snprintf(path, PROC_PATH, "%s%d/%s", space->foreign ? "" : "/proc/", (int)pid,
		 file);
	return space->foreign ? space->host : AT_FDCWD;
}

/* Marks a text that fills its room: its end is missing. */
static void mark_cut(char *text, size_t len, size_t size)
{
	if (len + 1 == size && len >= 3)
		memcpy(text + len - 3, "...", 3);
}

/* Writes "[NAME]", as ps does, for a thread of the kernel and a program that has cleared its arguments. A process that
 * is ending has no arguments either, and -ESRCH. */
static int title_of_name(const struct nw_pid_space *space, pid_t pid, char *out,
			 size_t size)
{
	struct nw_process_stat stat = {0};
	struct nw_buf text = {0};
	char path[PROC_PATH], comm[16];
	struct stat exe;
	pid_t process;

	int dir = place(space, pid, "exe", path);
	bool runs = fstatat(dir, path, &exe, 0) == 0;
	if (!runs) {
		dir = place(space, pid, "stat", path);
		runs = nw_buf_read_file(&text, dir, path) == 0 &&
		       nw_proc_stat(nw_buf_str(&text), &stat) == 0 && stat.kernel;
		nw_buf_free(&text);
	}
	if (!runs || nw_pid_space_task(space, pid, &process, comm) < 0)
		return -ESRCH;
	snprintf(out, size, "[%s]", comm);
	return 0;
}

int nw_pid_space_title(const struct nw_pid_space *space, pid_t pid, char *out, size_t size)
{
	char path[PROC_PATH];
	int dir = place(space, pid, "cmdline", path);
	int fd = dir == -ESRCH ? -1 : openat(dir, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return dir == -ESRCH ? -ESRCH : -errno;
	ssize_t len = read(fd, out, size - 1);
	int ret = len < 0 ? -errno : 0;
	close(fd);
	if (ret < 0)
		return ret;
	mark_cut(out, (size_t)len, size);
	/* PostgreSQL fills the rest of its arguments with NULs. */
	while (len > 0 && (out[len - 1] == '\0' || out[len - 1] == ' '))
		len--;
	if (len == 0)
		return title_of_name(space, pid, out, size);
	for (ssize_t i = 0; i < len; i++)
		if (!out[i])
			out[i] = ' ';
	out[len] = '\0';
	return 0;
}

/* Reads a file of /proc/PID. */
static int read_file(const struct nw_pid_space *space, pid_t pid, const char *file,
		     struct nw_buf *out)
{
	char path[PROC_PATH];
	int dir = place(space, pid, file, path);

	nw_buf_clear(out);
	return dir == -ESRCH ? -ESRCH : nw_buf_read_file(out, dir, path);
}

int nw_pid_space_cgroup(const struct nw_pid_space *space, pid_t pid, pid_t tid,
			uint64_t *start, struct nw_buf *out)
{
	const pid_t numbers[] = {pid, tid};
	int ret = -ESRCH;

	for (size_t i = 0; i < NW_COUNT(numbers); i++) {
		struct nw_process_stat stat = {0};
		struct nw_buf text = {0};
		if (i && tid == pid)
			break;
		if (read_file(space, numbers[i], "cgroup", out) < 0)
			continue;
		/* stat is read behind it: a process that is not ending then was not ending before */
		bool known = read_file(space, numbers[i], "stat", &text) == 0 &&
			     nw_proc_stat(nw_buf_str(&text), &stat) == 0;
		nw_buf_free(&text);
		*start = i ? 0 : stat.start;
		ret = known && !stat.exiting ? 0 : -EAGAIN;
		if (ret == 0)
			break;
	}
	return ret;
}

int nw_pid_space_path(const struct nw_pid_space *space, pid_t pid, int32_t fd, char *out,
		      size_t size)
{
	char path[PROC_PATH], file[32];

	snprintf(file, sizeof(file), "fd/%" PRId32, fd);
	int dir = place(space, pid, file, path);
	ssize_t len = dir == -ESRCH ? -1 : readlinkat(dir, path, out, size - 1);
	if (len < 0)
		return dir == -ESRCH ? -ESRCH : -errno;
	mark_cut(out, (size_t)len, size);
	out[len] = '\0';
	return 0;
}

static bool is_narrow(int dir, const char *path)
{
	unsigned char ident[EI_NIDENT];
	/* The file is being executed: it is a regular one. */
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t len = fd < 0 ? -1 : read(fd, ident, sizeof(ident));

	if (fd >= 0)
		close(fd);
	return len != sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	       ident[EI_CLASS] != (sizeof(long) == 8 ? ELFCLASS64 : ELFCLASS32);
}

/* Is there a ring, or more descriptors than are searched? */
static bool has_ring(int at, const char *path)
{
	static const char ring[] = "anon_inode:[io_uring]";
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	bool found = !dir;
	const struct dirent *entry;

	for (size_t i = 0; dir && !found && (entry = readdir(dir)); i++) {
		char text[sizeof(ring)] = "";
		ssize_t len = readlinkat(fd, entry->d_name, text, sizeof(text));
		found = i >= MOST_SEARCHED || (len == (ssize_t)sizeof(ring) - 1 &&
					       memcmp(text, ring, sizeof(ring) - 1) == 0);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return found;
}

bool nw_pid_space_closes_unseen(const struct nw_pid_space *space, pid_t pid)
{
	char path[PROC_PATH];
	int dir = place(space, pid, "exe", path);

	if (dir == -ESRCH || is_narrow(dir, path))
		return true;
	dir = place(space, pid, "fd", path);
	return has_ring(dir, path);
}
