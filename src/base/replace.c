// SPDX-License-Identifier: MIT
/* Files that are written: whole or not at all, and never through a link of somebody else's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nopwatch/base.h"

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

static int cannot_write(const char *path, int code, struct nw_error *err)
{
	return nw_fail(err, code, "cannot write '%s': %s", path, nw_strerror(code));
}

/*
 * What the path leads to, if it is a link: our own and root's are followed, and those that
 * anybody else has put there are not, since it would be he who chooses the file that is lost.
 * The caller frees; NULL: it is no link, or (and then -errno is in *ret) not to be followed.
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
		*ret = cannot_write(path, errno, err);
	return real;
}

/* /dev/stdout and its like: the very file that we have open for writing. -1: none of them. (A job in
 * the background has /dev/null for its input.) */
static int already_open(const struct stat *st)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat open;
		int flags = fcntl(fd, F_GETFL);
		if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY &&
		    fstat(fd, &open) == 0 && open.st_dev == st->st_dev &&
		    open.st_ino == st->st_ino)
			return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	}
	return -1;
}

int nw_output_open(const char *path, struct nw_error *err)
{
	struct stat st;
	int ret;

	if (stat(path, &st) == 0) {
		int fd = already_open(&st);
		if (fd >= 0)
			return fd;
	}
	nw_cleanup(nw_free_ptr) char *real = follow(path, &ret, err);
	if (ret < 0)
		return ret;
	int fd = open(real ? real : path,
		      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
		      0666);
	return fd < 0 ? cannot_write(path, errno, err) : fd;
}

/* ---- replacing ---------------------------------------------------------------------- */

/* A name that nobody can know before. */
static void pick_name(struct nw_replace *r, unsigned int tries)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t mix = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid() << 8 ^ tries;
	FILE *random = fopen("/dev/urandom", "re");
	if (random) {
		uint64_t noise;
		mix ^= fread(&noise, sizeof(noise), 1, random) == 1 ? noise : 0;
		fclose(random);
	}
	snprintf(r->temp, sizeof(r->temp), ".nopwatch.%016llx",
		 (unsigned long long)nw_hash64(mix));
}

/* A file without a name if there can be one, so that not even a kill leaves it behind. */
static int fresh_file(struct nw_replace *r)
{
	int fd = openat(r->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);

	r->temp[0] = '\0';
	for (unsigned int i = 0; fd < 0 && i < 16 && (i == 0 || errno == EEXIST); i++) {
		pick_name(r, i);
		fd = openat(r->dir, r->temp,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	}
	if (fd < 0)
		r->temp[0] = '\0';
	return fd;
}

static int open_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	nw_cleanup(nw_free_ptr) char *dir = slash ? strndup(path,
							    (size_t)(slash - path) + 1)
						  : strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	/* one that may be written and not read cannot be made safe on disk, that is all */
	if (fd < 0 && dir && errno == EACCES)
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

/* Is it something to be written to, and not a file that can be replaced? */
static bool is_direct(const struct stat *st)
{
	int fd = already_open(st);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || !S_ISREG(st->st_mode);
}

int nw_replace_try(const char *path, bool *direct, struct nw_error *err)
{
	struct nw_replace trial;
	struct stat st;

	*direct = stat(path, &st) == 0 && is_direct(&st);
	if (*direct)
		return access(path, W_OK) == 0 ? 0 : cannot_write(path, errno, err);
	int ret = nw_replace_begin(path, &trial, err);
	if (ret == 0)
		nw_replace_abort(&trial);
	return ret;
}

int nw_replace_begin(const char *path, struct nw_replace *out, struct nw_error *err)
{
	struct nw_replace r = {.fd = -1, .dir = -1};
	struct stat old = {0};
	int ret;

	*out = r;
	r.there = stat(path, &old) == 0;
	if (r.there && is_direct(&old)) {
		out->fd = nw_output_open(path, err);
		return out->fd < 0 ? out->fd : 0;
	}
	r.mode = old.st_mode & 0777;
	r.owner = old.st_uid;
	r.group = old.st_gid;
	char *real = follow(path, &ret, err);
	if (ret < 0)
		return ret;
	r.path = real ? real : strdup(path);
	if (!r.path)
		return nw_no_memory(err);
	const char *slash = strrchr(r.path, '/');
	r.name = slash ? slash + 1 : r.path;
	r.dir = open_dir(r.path);
	bool may = r.dir >= 0 && (!r.there || faccessat(r.dir, r.name, W_OK, 0) == 0);
	r.fd = may ? fresh_file(&r) : -1;
	if (r.fd < 0) {
		ret = cannot_write(path, errno, err);
		nw_replace_abort(&r);
		return ret;
	}
	*out = r;
	return 0;
}

/* Give the nameless file a name, beside the one that it replaces. */
static int name_it(struct nw_replace *r)
{
	char link[32];
	int ret = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", r->fd);
	for (unsigned int i = 0; !r->temp[0] || (ret < 0 && errno == EEXIST && i < 16);
	     i++) {
		pick_name(r, i);
		ret = linkat(AT_FDCWD, link, r->dir, r->temp, AT_SYMLINK_FOLLOW);
	}
	if (ret < 0)
		r->temp[0] = '\0';
	return ret;
}

int nw_replace_commit(struct nw_replace *r, struct nw_error *err)
{
	if (!r->path) { /* no file that could be replaced */
		nw_replace_abort(r);
		return 0;
	}
	/* whose it was and who might read it stays so; who may not give files away keeps it */
	if (r->there) {
		if (fchown(r->fd, r->owner, r->group) < 0)
			errno = 0;
		if (fchmod(r->fd, r->mode) < 0)
			errno = 0;
	}
	bool ok = (fsync(r->fd) == 0 || errno == EINVAL) && name_it(r) == 0 &&
		  renameat(r->dir, r->temp, r->dir, r->name) == 0;
	int ret = ok ? 0 : cannot_write(r->path, errno, err);
	if (ok) {
		r->temp[0] = '\0';
		fsync(r->dir);
	}
	nw_replace_abort(r);
	return ret;
}

/* A link does not replace what is there; where there are none (FAT), a rename does, so it is looked before. */
static int name_it_new(struct nw_replace *r)
{
	if (name_it(r) < 0)
		return -1;
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
	int ret = ok ? 0 : cannot_write(r->path ? r->path : "it", code, err);

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

int nw_replace_text(const char *path, const char *text, size_t len, struct nw_error *err)
{
	struct nw_replace file;
	int ret = nw_replace_begin(path, &file, err);

	if (ret < 0)
		return ret;
	ret = nw_write_all(file.fd, text, len);
	if (ret == 0)
		return nw_replace_commit(&file, err);
	nw_replace_abort(&file);
	return nw_fail(err, -ret, "cannot write '%s': %s", path, nw_strerror(-ret));
}
