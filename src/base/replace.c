// SPDX-License-Identifier: MIT
/* Writes files as a whole or not at all, and never through another user's link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

int nw_write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t done = write(fd, at, len);
		if (done < 0 && errno != EINTR)
			return -errno;
		at += done > 0 ? done : 0;
		len -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

int nw_cannot_write(const char *path, int code, struct nw_error *err)
{
	return nw_fail(err, code, "cannot write '%s': %s", path,
		       code == ECANCELED ? "nobody reads from it" : nw_strerror(code));
}

/*
 * Follows a link: ours and root's are followed. Another user's link is not, since that user would choose the file
 * that is overwritten. Returns the target, which the caller frees. NULL: the path is no link, or (with -errno in
 * *ret) one that is not followed.
 */
static char *follow(const char *path, int *ret, struct nw_error *err)
{
	struct stat st;

	*ret = 0;
	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return NULL;
	if (st.st_uid != 0 && st.st_uid != geteuid()) {
		*ret = nw_fail(
			err, ELOOP,
			"cannot write '%s': it is a link that belongs to another user",
			path);
		nw_error_hint(err, "name the file itself");
		return NULL;
	}
	char *real = realpath(path, NULL);
	if (!real)
		*ret = nw_cannot_write(path, errno, err);
	return real;
}

/* ---- where it is -------------------------------------------------------------------- */

static int open_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	nw_cleanup(nw_free_ptr) char *dir = slash ? strndup(path,
							    (size_t)(slash - path) + 1)
						  : strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	/* a directory that may be written but not read cannot be synced; that does no other harm */
	if (fd < 0 && dir && errno == EACCES)
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

/* The file to write, in the directory that links lead to. */
struct target {
	char *path; /* after links were followed */
	const char *name;
	int dir;
	bool there;
	/* no other user can have put the old file there, so the new one gets its mode and owner */
	bool keep;
	struct stat old;
};

static void free_target(struct target *target)
{
	if (target->dir >= 0)
		close(target->dir);
	free(target->path);
	*target = (struct target){.dir = -1};
}

/*
 * Decides whether the old file may be replaced. In a directory that other users can write to, another user's file is
 * refused, because that user would get the new text. Our own file there may be a hard link, may have been moved
 * there, or may already be open for reading: the new file gets neither its mode nor its inode. In a directory that
 * only its owner can write to, the owner may read the new file anyway.
 */
static int judge_target(struct target *target, const struct stat *dir, struct nw_error *err)
{
	bool open_to_all = dir->st_mode & (S_IWGRP | S_IWOTH);
	bool of_owner = !open_to_all && target->there && target->old.st_uid == dir->st_uid;

	target->keep = of_owner || (!open_to_all && nw_is_trusted(dir->st_uid));
	if (!target->there || target->keep || nw_is_trusted(target->old.st_uid))
		return 0;
	int ret = nw_fail(
		err, EPERM,
		"cannot write '%s': it belongs to another user, and others can write to its directory",
		target->path);
	nw_error_hint(err, "remove it, or name another file");
	return ret;
}

/* May the user write it, without capabilities of ours that the user does not have otherwise (file capabilities)? faccessat(2) counts
 * those of root only. */
static bool may_write(const struct target *target)
{
	return (!target->there || faccessat(target->dir, target->name, W_OK, 0) == 0) &&
	       ((target->there && target->keep) ||
		faccessat(target->dir, ".", W_OK | X_OK, 0) == 0);
}

static int find_target(const char *path, struct target *out, struct nw_error *err)
{
	struct target target = {.dir = -1};
	struct stat dir;
	int ret;
	char *real = follow(path, &ret, err);

	if (ret < 0)
		return ret;
	target.path = real ? real : strdup(path);
	if (!target.path)
		return nw_no_memory(err);
	const char *slash = strrchr(target.path, '/');
	target.name = slash ? slash + 1 : target.path;
	target.dir = open_dir(target.path);
	if (target.dir < 0 || fstat(target.dir, &dir) < 0) {
		ret = nw_cannot_write(path, errno, err);
	} else {
		target.there = fstatat(target.dir, target.name, &target.old,
				       AT_SYMLINK_NOFOLLOW) == 0;
		ret = judge_target(&target, &dir, err);
		if (ret == 0 && !may_write(&target))
			ret = nw_cannot_write(path, errno, err);
	}
	if (ret < 0)
		free_target(&target);
	*out = target;
	return ret;
}

/* ---- directly ----------------------------------------------------------------------- */

/*
 * Finds a file that is open already: /dev/stdout, or a pipe that the shell opened for us (`-o >(COMMAND)`). -1: it is
 * none of them. (A background job has /dev/null for its input.)
 */
static int already_open(const struct stat *st)
{
	enum {
		MOST = 256 /* shells number such pipes down from 63 */
	};
	int most = S_ISFIFO(st->st_mode) ? MOST : STDERR_FILENO + 1;

	for (int fd = STDIN_FILENO; fd < most; fd++) {
		struct stat open;
		int flags = fcntl(fd, F_GETFL);
		if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH) &&
		    fstat(fd, &open) == 0 && open.st_dev == st->st_dev &&
		    open.st_ino == st->st_ino)
			return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	}
	return -1;
}

/* Is the file open already, or no regular file? Then it is written to, and not replaced. */
static bool is_direct(const struct stat *st)
{
	int fd = already_open(st);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || !S_ISREG(st->st_mode);
}

/* Opens a FIFO, and waits for its reader until a signal ends the run. */
static int open_special(const struct target *target, bool ended, struct nw_error *err)
{
	const struct timespec nap = {.tv_nsec = 20000000};
	const int flags = O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
	int fd;

	while ((fd = openat(target->dir, target->name, flags)) < 0 && errno == ENXIO &&
	       S_ISFIFO(target->old.st_mode)) {
		if (ended || nw_is_end_pending())
			return nw_fail(err, EINTR,
				       "cannot write '%s': nobody reads from it",
				       target->path);
		nanosleep(&nap, NULL);
	}
	if (fd < 0)
		return nw_cannot_write(target->path, errno, err);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* Truncates the file as the shell's `>` does: its inode stays, so `tail -f` continues to follow it. */
static int open_truncated(const struct target *target, unsigned int mode,
			  struct nw_error *err)
{
	struct stat st;
	int fd = openat(target->dir, target->name,
			O_WRONLY | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC,
			mode);

	if (fd < 0)
		return nw_cannot_write(target->path, errno, err);
	bool same = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    (!target->there ||
		     (st.st_dev == target->old.st_dev && st.st_ino == target->old.st_ino));
	if (same && ftruncate(fd, 0) == 0)
		return fd;
	int code = same ? errno : EBUSY;
	close(fd);
	return nw_cannot_write(target->path, code, err);
}

/* Replaces the old file at once by a new, empty one, which is then written. */
static int open_fresh(const char *path, unsigned int mode, struct nw_error *err)
{
	struct nw_replace r;
	int ret = nw_replace_begin(path, mode, false, &r, err);
	int fd = ret < 0 ? ret : fcntl(r.fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (ret == 0 && fd < 0) {
		fd = nw_cannot_write(path, errno, err);
		nw_replace_abort(&r);
	} else if (ret == 0 && (ret = nw_replace_commit(&r, err)) < 0) {
		close(fd);
		fd = ret;
	}
	return fd;
}

int nw_output_open(const char *path, unsigned int mode, bool ended, struct nw_error *err)
{
	struct target target;
	struct stat st;

	if (stat(path, &st) == 0) {
		int fd = already_open(&st);
		if (fd >= 0)
			return fd;
	}
	int fd = find_target(path, &target, err);
	if (fd < 0)
		return fd;
	if (target.there && !S_ISREG(target.old.st_mode))
		fd = open_special(&target, ended, err);
	else if (target.keep)
		fd = open_truncated(&target, mode, err);
	else
		fd = open_fresh(target.path, mode, err);
	free_target(&target);
	return fd;
}

/* ---- replacing ---------------------------------------------------------------------- */

#define TEMPORARY ".nopwatch."

/* Picks a random name, so that nobody can create that file first. */
static void pick_name(struct nw_replace *r, unsigned int tries)
{
	uint64_t mix = nw_clock_ns(CLOCK_MONOTONIC) << 32 ^ (uint64_t)getpid() << 8 ^ tries;
	FILE *random = fopen("/dev/urandom", "re");
	if (random) {
		uint64_t noise;
		mix ^= fread(&noise, sizeof(noise), 1, random) == 1 ? noise : 0;
		fclose(random);
	}
	snprintf(r->temp, sizeof(r->temp), TEMPORARY "%016llx",
		 (unsigned long long)nw_hash64(mix));
}

/*
 * Creates a file without a name where the file system can, so that even a kill leaves nothing behind. Elsewhere (NFS,
 * FAT) the file has a name and a lock; remove_leftovers() removes files that nobody has locked.
 */
static int fresh_file(struct nw_replace *r, unsigned int mode)
{
	int fd = openat(r->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);

	r->temp[0] = '\0';
	for (unsigned int i = 0; fd < 0 && i < 16 && (i == 0 || errno == EEXIST); i++) {
		pick_name(r, i);
		fd = openat(r->dir, r->temp,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	}
	if (fd < 0)
		r->temp[0] = '\0';
	else
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/* Could pick_name() have made this name? */
static bool is_temporary(const char *name)
{
	size_t prefix = strlen(TEMPORARY);

	return strncmp(name, TEMPORARY, prefix) == 0 && strlen(name) == prefix + 16 &&
	       strspn(name + prefix, "0123456789abcdef") == 16;
}

/* Removes a file that is ours, older than a minute, and locked by nobody: its writer was killed. */
static void remove_leftover(int dir, const char *name)
{
	enum {
		YOUNG = 60 /* seconds: a new file is locked a moment after it is made */
	};
	int fd = nw_open_regular(dir, name);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    st.st_mtime + YOUNG < time(NULL) && flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, name, 0);
	close(fd);
}

/* Removes the files that killed runs (SIGKILL, a power failure) left in this directory. */
static void remove_leftovers(int dir)
{
	enum {
		MOST = 65536 /* directory entries that are checked */
	};
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	for (int i = 0; list && i < MOST && (entry = readdir(list)); i++)
		if (is_temporary(entry->d_name))
			remove_leftover(dir, entry->d_name);
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
}

int nw_nameless_file(const char *path)
{
	struct nw_replace r = {.dir = open_dir(path)};
	int fd = r.dir < 0 ? -1 : fresh_file(&r, NW_FILE_PRIVATE);
	int code = errno;

	if (fd >= 0 && r.temp[0])
		unlinkat(r.dir, r.temp, 0);
	if (r.dir >= 0)
		close(r.dir);
	errno = code;
	return fd;
}

int nw_replace_try(const char *path, bool *direct, struct nw_error *err)
{
	struct nw_replace trial;
	struct stat st;

	*direct = stat(path, &st) == 0 && is_direct(&st);
	if (*direct)
		return access(path, W_OK) == 0 ? 0 : nw_cannot_write(path, errno, err);
	int ret = nw_replace_begin(path, NW_FILE_PRIVATE, false, &trial, err);
	if (ret < 0)
		return ret;
	remove_leftovers(trial.dir);
	nw_replace_abort(&trial);
	return 0;
}

int nw_replace_begin(const char *path, unsigned int mode, bool ended,
		     struct nw_replace *out, struct nw_error *err)
{
	struct nw_replace r = {.fd = -1, .dir = -1};
	struct target target;
	struct stat st;

	*out = r;
	if (stat(path, &st) == 0 && is_direct(&st)) {
		out->fd = nw_output_open(path, mode, ended, err);
		return out->fd < 0 ? out->fd : 0;
	}
	int ret = find_target(path, &target, err);
	if (ret < 0)
		return ret;
	r.path = target.path;
	r.name = target.name;
	r.dir = target.dir;
	r.keep = target.there && target.keep;
	r.mode = target.old.st_mode & 0777;
	r.owner = target.old.st_uid;
	r.group = target.old.st_gid;
	r.fd = fresh_file(&r, mode);
	if (r.fd < 0) {
		ret = nw_cannot_write(path, errno, err);
		nw_replace_abort(&r);
		return ret;
	}
	*out = r;
	return 0;
}

/* Give the nameless file a name: -1 and errno if it cannot have that one. */
static int link_as(const struct nw_replace *r, const char *name)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", r->fd);
	return linkat(AT_FDCWD, link, r->dir, name, AT_SYMLINK_FOLLOW);
}

/* Gives the nameless file a temporary name, from which it can be renamed. */
static int name_it(struct nw_replace *r)
{
	int ret = 0;

	for (unsigned int i = 0; !r->temp[0] || (ret < 0 && errno == EEXIST && i < 16);
	     i++) {
		pick_name(r, i);
		ret = link_as(r, r->temp);
	}
	if (ret < 0)
		r->temp[0] = '\0';
	return ret;
}

int nw_replace_commit(struct nw_replace *r, struct nw_error *err)
{
	if (!r->path) { /* a device or FIFO was written to directly */
		nw_replace_abort(r);
		return 0;
	}
	/* owner and mode stay as they were; without the right to change the owner, ours stays */
	if (r->keep) {
		if (fchown(r->fd, r->owner, r->group) < 0)
			errno = 0;
		if (fchmod(r->fd, r->mode) < 0)
			errno = 0;
	}
	bool ok = (fsync(r->fd) == 0 || errno == EINVAL) && name_it(r) == 0 &&
		  renameat(r->dir, r->temp, r->dir, r->name) == 0;
	int ret = ok ? 0 : nw_cannot_write(r->path, errno, err);
	if (ok) {
		r->temp[0] = '\0';
		fsync(r->dir);
	}
	nw_replace_abort(r);
	return ret;
}

/* Names the file only if no file has that name. link() never replaces a file; on file systems without links (FAT) a
 * rename would, so the name is checked first. */
static int name_it_new(struct nw_replace *r)
{
	if (!r->temp[0])
		return link_as(r, r->name);
	int ret = linkat(r->dir, r->temp, r->dir, r->name, 0);
	if (ret == 0 || (errno != EPERM && errno != EOPNOTSUPP))
		return ret;
	if (faccessat(r->dir, r->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	ret = renameat(r->dir, r->temp, r->dir, r->name);
	if (ret == 0)
		r->temp[0] = '\0';
	return ret;
}

int nw_replace_commit_new(struct nw_replace *r, struct nw_error *err)
{
	bool ok = r->path && (fsync(r->fd) == 0 || errno == EINVAL) && name_it_new(r) == 0;
	int code = ok ? 0 : r->path ? errno : EEXIST;
	int ret = ok ? 0 : nw_cannot_write(r->path ? r->path : "it", code, err);

	if (ok)
		fsync(r->dir);
	nw_replace_abort(r);
	return ret;
}

void nw_replace_abort(struct nw_replace *r)
{
	if (r->temp[0])
		unlinkat(r->dir, r->temp, 0);
	if (r->fd >= 0)
		close(r->fd);
	if (r->dir >= 0)
		close(r->dir);
	free(r->path);
	*r = (struct nw_replace){.fd = -1, .dir = -1};
}

int nw_replace_text(const char *path, unsigned int mode, bool ended, const char *text,
		    size_t len, struct nw_error *err)
{
	struct nw_replace file;
	int ret = nw_replace_begin(path, mode, ended, &file, err);

	if (ret < 0)
		return ret;
	struct nw_writer writer = {.fd = file.fd, .ended = ended};
	ret = nw_writer_put(&writer, text, len);
	nw_writer_close(&writer);
	if (ret == 0)
		return nw_replace_commit(&file, err);
	nw_replace_abort(&file);
	return nw_cannot_write(path, -ret, err);
}
