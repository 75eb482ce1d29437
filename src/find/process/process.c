// SPDX-License-Identifier: MIT
/*
 * The mappings of processes, their threads, and the files of their code.
 *
 * A mapped file is opened by /proc/PID/map_files, which refers to the file itself even if it is deleted, replaced
 * or in another mount namespace. This takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; without them the path is
 * opened below /proc/PID/root.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proc.h"

int nw_process_file(pid_t pid, const char *name, struct nw_buf *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return nw_buf_read_file(out, AT_FDCWD, path);
}

/* Reports a process that is gone; the kernel answers ENOENT or ESRCH, depending on when it went. */
static int proc_fail(struct nw_error *err, pid_t pid, int ret, const char *what)
{
	if (ret == -ENOENT || ret == -ESRCH)
		return nw_fail(err, ESRCH, "there is no process %d", (int)pid);
	nw_fail(err, -ret, "cannot read %s of process %d: %s", what, (int)pid,
		nw_strerror(-ret));
	if (ret == -EACCES || ret == -EPERM)
		nw_error_hint(
			err, "%s",
			geteuid()
				? "run as root, as the user who owns the process, or with CAP_SYS_PTRACE"
				: "you are root, but without CAP_SYS_PTRACE here: a container, a user namespace or a security module forbids it");
	return ret;
}

/* ---- mappings ----------------------------------------------------------------------- */

/* Unescapes the path of a maps line: \012 is a newline. The suffix " (deleted)" is not part of the path. */
static char *mapping_path(const char *text, size_t len, bool *deleted)
{
	static const char mark[] = " (deleted)";
	size_t mark_len = sizeof(mark) - 1, used = 0;
	char *path;

	*deleted = len > mark_len && memcmp(text + len - mark_len, mark, mark_len) == 0;
	if (*deleted)
		len -= mark_len;
	path = malloc(len + 1);
	if (!path)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (len - i >= 4 && memcmp(text + i, "\\012", 4) == 0) {
			path[used++] = '\n';
			i += 3;
		} else {
			path[used++] = text[i];
		}
	}
	path[used] = '\0';
	return path;
}

/* Parses "start-end rwxp offset major:minor inode path". */
static int parse_mapping(const char *line, const char *end, struct nw_mapping *out)
{
	char flags[8] = "";
	unsigned int major, minor;
	int path_at = 0;

	if (sscanf(line, "%jx-%jx %7s %jx %x:%x %ju %n", &out->start, &out->end, flags,
		   &out->offset, &major, &minor, &out->ino, &path_at) < 7 ||
	    path_at == 0)
		return -EBADMSG;
	out->dev = makedev(major, minor);
	out->write = flags[1] == 'w';
	out->exec = flags[2] == 'x';
	out->shared = flags[3] == 's';
	if (line + path_at > end)
		path_at = (int)(end - line);
	out->path = mapping_path(line + path_at, (size_t)(end - line) - (size_t)path_at,
				 &out->deleted);
	return out->path ? 0 : -ENOMEM;
}

int nw_proc_maps(char *text, nw_mappings *out)
{
	for (char *line = text; line && *line;) {
		char *end = strchrnul(line, '\n');
		char *next = *end ? end + 1 : end;
		*end = '\0';
		struct nw_mapping *mapping = nw_vec_add(out);
		int ret = mapping ? parse_mapping(line, end, mapping) : -ENOMEM;
		if (ret == -EBADMSG && mapping)
			out->count--;
		if (ret == -ENOMEM) {
			nw_mappings_free(out);
			return ret;
		}
		line = next;
	}
	return 0;
}

int nw_process_maps_in(const char *proc, pid_t pid, nw_mappings *out, struct nw_error *err)
{
	struct nw_buf text = {0};
	char path[64];

	snprintf(path, sizeof(path), "%s/%d/maps", proc, (int)pid);
	int ret = nw_buf_read_file(&text, AT_FDCWD, path);

	if (ret < 0) {
		nw_buf_free(&text);
		return proc_fail(err, pid, ret, "the mappings");
	}
	ret = nw_proc_maps(text.data, out);
	nw_buf_free(&text);
	return ret < 0 ? nw_no_memory(err) : 0;
}

int nw_process_maps(pid_t pid, nw_mappings *out, struct nw_error *err)
{
	return nw_process_maps_in("/proc", pid, out, err);
}

void nw_mappings_free(nw_mappings *maps)
{
	nw_vec_each (maps, mapping)
		free(mapping->path);
	nw_vec_free(maps);
}

/* ---- threads and processes ---------------------------------------------------------- */

int nw_proc_numbers(int fd, nw_pids *out)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		int code = errno;
		close(fd);
		return -code;
	}
	errno = 0;
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid_t *pid = nw_vec_add(out);
		if (!pid) {
			closedir(dir);
			return -ENOMEM;
		}
		*pid = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	int ret = -errno;
	closedir(dir);
	return ret;
}

static int read_numbers(const char *path, nw_pids *out)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : nw_proc_numbers(fd, out);
}

int nw_process_threads(pid_t pid, nw_pids *out, struct nw_error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	int ret = read_numbers(path, out);
	return ret < 0 ? proc_fail(err, pid, ret, "the threads") : 0;
}

int nw_proc_children(int proc, const char *file, nw_pids *out)
{
	struct nw_buf text = {0};
	char *end;
	int ret = nw_buf_read_file(&text, proc, file);

	for (const char *at = nw_buf_str(&text); ret == 0; at = end) {
		long number = strtol(at, &end, 10);
		pid_t *slot = end > at ? nw_vec_add(out) : NULL;
		if (end == at)
			break;
		if (slot)
			*slot = (pid_t)number;
		ret = slot ? 0 : -ENOMEM;
	}
	nw_buf_free(&text);
	return ret < 0 && nw_is_shortage(-ret) ? ret : 0;
}

int nw_process_children(pid_t pid, nw_pids *out)
{
	nw_pids threads = {0};
	char path[64];
	int ret = nw_process_threads(pid, &threads, NULL);

	nw_vec_each (&threads, tid) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
			 (int)*tid);
		if (ret == 0)
			ret = nw_proc_children(AT_FDCWD, path, out);
	}
	nw_vec_free(&threads);
	return ret;
}

int nw_process_all(nw_pids *out, struct nw_error *err)
{
	int ret = read_numbers("/proc", out);

	return ret < 0 ? nw_fail(err, -ret, "cannot read /proc: %s", nw_strerror(-ret)) : 0;
}

bool nw_process_has_open(pid_t pid, bool (*test)(const char *link, const void *arg),
			 const void *arg)
{
	char path[64], link[4096];
	struct dirent *entry;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = '\0';
		found = test(link, arg);
	}
	if (dir)
		closedir(dir);
	return found;
}

int nw_proc_task(int proc, const char *name, pid_t *process, char comm[16])
{
	struct nw_buf text = {0};
	const char *tgid = NULL;
	char path[64];

	snprintf(path, sizeof(path), "%s/status", name);
	int ret = nw_buf_read_file(&text, proc, path);

	if (ret == 0) {
		tgid = strstr(nw_buf_str(&text), "\nTgid:");
		ret = tgid ? 0 : -ESRCH;
	}
	if (ret == 0) {
		*process = (pid_t)strtol(tgid + 6, NULL, 10);
		nw_buf_clear(&text);
		/* The name in status is escaped, so comm is read. */
		snprintf(path, sizeof(path), "%s/comm", name);
		ret = nw_buf_read_file(&text, proc, path);
	}
	if (ret == 0) {
		size_t len = text.len ? text.len - 1
				      : 0; /* cuts the newline that the kernel appends */
		len = len < 15 ? len : 15;
		memcpy(comm, nw_buf_str(&text), len);
		comm[len] = '\0';
	}
	nw_buf_free(&text);
	/* The error depends on when the process went. */
	return ret == -ENOENT ? -ESRCH : ret;
}

int nw_process_task(pid_t tid, pid_t *process, char comm[16])
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d", (int)tid);
	return nw_proc_task(AT_FDCWD, name, process, comm);
}

/* proc(5): PID (NAME) STATE ...; field 9 has the flags, field 22 the start time. */
int nw_proc_stat(const char *text, struct nw_process_stat *out)
{
	enum {
		PF_EXITING = 0x4, /* include/linux/sched.h */
		PF_FORKNOEXEC = 0x40,
		PF_KTHREAD = 0x200000
	};
	unsigned int flags;
	/* The name may contain anything, even parentheses. */
	const char *rest = strrchr(text, ')');

	if (!rest ||
	    sscanf(rest,
		   ") %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %ju",
		   &flags, &out->start) != 2)
		return -ESRCH;
	out->exiting = flags & PF_EXITING;
	out->forked = flags & PF_FORKNOEXEC;
	out->kernel = flags & PF_KTHREAD;
	return 0;
}

int nw_process_stat(pid_t pid, struct nw_process_stat *out)
{
	struct nw_buf text = {0};
	int ret = nw_process_file(pid, "stat", &text);

	if (ret == 0)
		ret = nw_proc_stat(nw_buf_str(&text), out);
	nw_buf_free(&text);
	return ret == -ENOENT ? -ESRCH : ret;
}

/* ---- files -------------------------------------------------------------------------- */

static bool same_file(const char *path, const struct stat *st)
{
	struct stat other;

	return stat(path, &other) == 0 && other.st_dev == st->st_dev &&
	       other.st_ino == st->st_ino;
}

/* Returns a path by which this process can open the file; the caller frees. */
static char *reachable_path(pid_t pid, const struct nw_mapping *mapping,
			    const struct stat *st)
{
	char *path = nw_text("%s", mapping->path);

	if (path && !mapping->deleted && same_file(path, st))
		return path;
	free(path);
	path = nw_text("/proc/%d/root%s", (int)pid, mapping->path);
	if (path && !mapping->deleted && same_file(path, st))
		return path;
	free(path);
	path = nw_text("/proc/%d/exe", (int)pid);
	if (path && same_file(path, st))
		return path;
	free(path);
	return nw_text("/proc/%d/map_files/%jx-%jx", (int)pid, mapping->start,
		       mapping->end);
}

/* Opens the file at a path in the process's root, if it is the file that is mapped. */
static int open_found(const struct nw_process *process, const char *path,
		      const struct nw_mapping *mapping)
{
	struct stat st;
	int fd = nw_open_regular(process->dir, path);

	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_ino == mapping->ino))
		return fd;
	close(fd); /* another file has that path now */
	return -ENOENT;
}

/* Opens a mapped file by map_files. Where the kernel does not offer this (before 4.3, or to a user), the file is
 * opened by its path, and the program itself, which may have been deleted, by /proc/PID/exe. */
static int open_mapping(const struct nw_process *process, const struct nw_mapping *mapping)
{
	nw_cleanup(nw_free_ptr) char *file = nw_text("map_files/%jx-%jx", mapping->start,
						     mapping->end);
	nw_cleanup(nw_free_ptr) char *root = nw_text("root%s", mapping->path);
	int fd = file ? nw_open_regular(process->dir, file) : -ENOMEM;

	/* A mapped device is no program. All other errors mean that a right is missing. */
	if ((fd != -EPERM && fd != -EACCES && fd != -ENOENT) || !root)
		return fd;
	if (!mapping->deleted)
		fd = open_found(process, root, mapping);
	return fd < 0 ? open_found(process, "exe", mapping) : fd;
}

struct nw_image *nw_images_find(const nw_images *images, uint64_t dev, uint64_t ino)
{
	nw_vec_each (images, image)
		if ((*image)->dev == dev && (*image)->ino == ino)
			return *image;
	return NULL;
}

/* Adds the file of a mapping. A file that cannot be opened or is not ELF is ignored. */
static int add_mapped(const struct nw_process *process, const struct nw_mapping *mapping,
		      struct nw_index *seen, bool without_notes, bool force, nw_images *out,
		      struct nw_error *err)
{
	struct nw_image *image;
	struct stat st;
	char key[40];
	/* Most files are mapped several times, and some programs map a file tens of thousands of times. */
	size_t len = (size_t)snprintf(key, sizeof(key), "%" PRIx64 " %" PRIx64,
				      mapping->dev, mapping->ino);

	if (nw_index_find(seen, key, len) >= 0)
		return 0;
	int fd = open_mapping(process, mapping);
	if (fd < 0)
		return 0;
	if (nw_index_add(seen, key, len) < 0) {
		close(fd);
		return nw_no_memory(err);
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    nw_images_find(out, st.st_dev, st.st_ino)) {
		close(fd);
		return 0;
	}
	nw_cleanup(nw_free_ptr) char *path = reachable_path(process->pid, mapping, &st);
	int ret = nw_image_open_fd(fd, path ? path : mapping->path, force, &image, err);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	if (image->notes != NW_NOTES_FOUND && !without_notes) {
		nw_image_free(image);
		return 0;
	}
	struct nw_image **slot = nw_vec_add(out);
	if (!slot) {
		nw_image_free(image);
		return nw_no_memory(err);
	}
	*slot = image;
	return 0;
}

static int add_process(pid_t pid, struct nw_index *seen, bool without_notes, bool force,
		       nw_images *out, struct nw_error *err)
{
	struct nw_process process;
	int ret = nw_process_open(pid, NW_PROCESS_READ, &process);

	if (ret < 0)
		return ret == -ENOMEM ? nw_no_memory(err)
				      : proc_fail(err, pid, ret, "the mappings");
	nw_vec_each (&process.maps, mapping)
		if (ret == 0 && mapping->exec && mapping->ino && mapping->path[0] == '/')
			ret = add_mapped(&process, mapping, seen, without_notes, force, out,
					 err);
	nw_process_close(&process);
	return ret;
}

int nw_process_images(pid_t pid, bool without_notes, bool force, nw_images *out,
		      struct nw_error *err)
{
	struct nw_index seen = {0};
	int ret = add_process(pid, &seen, without_notes, force, out, err);

	nw_index_free(&seen);
	return ret;
}

int nw_running_images(bool force, nw_images *out, struct nw_error *err)
{
	struct nw_index seen = {0};
	struct nw_error ignored; /* the process is gone, or belongs to another user */
	nw_pids pids = {0};
	int ret = nw_process_all(&pids, err);

	nw_vec_each (&pids, pid)
		if (ret == 0 &&
		    add_process(*pid, &seen, false, force, out, &ignored) == -ENOMEM)
			ret = nw_no_memory(err);
	nw_vec_free(&pids);
	nw_index_free(&seen);
	return ret;
}

void nw_images_free(nw_images *images)
{
	nw_vec_each (images, image)
		nw_image_free(*image);
	nw_vec_free(images);
}
