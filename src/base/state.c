// SPDX-License-Identifier: MIT
/* Where nopwatch keeps files of its own. See state.h. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Every text has room for the longest name that is put behind it. */
enum {
	OWN_BYTES = NW_STATE_MOST + sizeof("/nopwatch-4294967295")
};

static const char variable[] = "NOPWATCH_STATE_DIR";

const char *nw_state_dir(void)
{
	const char *dir = getenv(variable);

	return dir && *dir && nw_state_check(dir, NULL) == 0 ? dir : NULL;
}

int nw_state_set(const char *dir, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *path = realpath(dir, NULL);

	if (!path)
		return nw_fail(err, errno, "cannot keep files in '%s': %s", dir,
			       nw_strerror(errno));
	int ret = nw_state_check(path, err);
	if (ret == 0 && setenv(variable, path, 1) < 0)
		ret = nw_no_memory(err);
	return ret;
}

/*
 * Checks each directory of a path, from the root on: whoever owns one, or can write to it without the sticky bit, can put another
 * directory in the place of what is below it. named: as the user has it, for the error.
 */
static int check_owners(const char *named, const char *path, struct nw_error *err)
{
	for (size_t len = 1;;
	     len += strspn(path + len, "/"), len += strcspn(path + len, "/")) {
		nw_cleanup(nw_free_ptr) char *part = nw_text("%.*s", (int)len, path);
		struct stat st;
		if (!part)
			return nw_no_memory(err);
		if (stat(part, &st) < 0)
			return nw_fail(err, errno, "cannot keep files in '%s': %s: %s",
				       named, part, nw_strerror(errno));
		if (nw_is_trusted(st.st_uid) &&
		    (!nw_others_may_write(&st) || (st.st_mode & S_ISVTX))) {
			if (!path[len])
				return 0;
			continue;
		}
		nw_fail(err, EPERM,
			"cannot keep files in '%s': other users can rename what is in %s",
			named, strcmp(part, named) == 0 ? "it" : part);
		nw_error_hint(
			err,
			"take a directory of yours or of root, below such directories, that others cannot write to, or chmod +t it");
		return -EPERM;
	}
}

int nw_state_check(const char *dir, struct nw_error *err)
{
	struct stat st;

	if (*dir != '/')
		return nw_fail(err, EINVAL,
			       "cannot keep files in '%s': the path does not begin with /",
			       dir);
	if (strlen(dir) > NW_STATE_MOST)
		return nw_fail(err, ENAMETOOLONG,
			       "cannot keep files in '%s': the path has more than %d bytes",
			       dir, NW_STATE_MOST);
	/* The kernel reads paths of this directory in definitions of events, as words (trace_uprobe.c). */
	for (const char *c = dir; *c; c++)
		if (*c == '#' || *c == '\\' || *c == '"' || *c == '\'' ||
		    (unsigned char)*c <= ' ')
			return nw_fail(
				err, EINVAL,
				"cannot keep files in '%s': the path has a blank, a quote, \\ or #, which events cannot have",
				dir);
	if (stat(dir, &st) < 0)
		return nw_fail(err, errno, "cannot keep files in '%s': %s", dir,
			       nw_strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return nw_fail(err, ENOTDIR,
			       "cannot keep files in '%s': it is no directory", dir);
	nw_cleanup(nw_free_ptr) char *real = realpath(dir, NULL);
	int ret = real ? check_owners(dir, dir, err)
		       : nw_fail(err, errno, "cannot keep files in '%s': %s", dir,
				 nw_strerror(errno));
	return ret == 0 ? check_owners(dir, real, err) : ret;
}

int nw_state_check_given(struct nw_error *err)
{
	const char *dir = getenv(variable);

	return dir && *dir ? nw_state_check(dir, err) : 0;
}

/* Keeps a text that callers point to; it changes only if the user or the variable does. */
static const char *keep(char kept[OWN_BYTES], const char *parent)
{
	char fresh[OWN_BYTES];

	snprintf(fresh, sizeof(fresh), "%s/nopwatch-%u", parent, (unsigned int)geteuid());
	if (strcmp(fresh, kept) != 0)
		memcpy(kept, fresh, sizeof(fresh));
	return kept;
}

const char *nw_state_place(size_t number)
{
	static char given[OWN_BYTES], temporary[OWN_BYTES];
	const char *dir = nw_state_dir();
	size_t next = number - (dir ? 1 : 0);

	if (dir && number == 0)
		return keep(given, dir);
	return next == 0   ? "/run/nopwatch"
	       : next == 1 ? "/var/run/nopwatch"
	       : next == 2 ? keep(temporary, "/tmp")
			   : NULL;
}

/* Can the directory be used, or made? */
static bool is_usable(const char *place)
{
	nw_cleanup(nw_free_ptr) char *parent = nw_text(
		"%.*s", (int)(strrchr(place, '/') - place), place);

	return access(place, W_OK | X_OK) == 0 ||
	       (errno != EROFS && parent && access(parent, W_OK | X_OK) == 0);
}

const char *nw_state_new(void)
{
	const char *place;

	if (nw_state_dir())
		return nw_state_place(0);
	for (size_t i = 0; (place = nw_state_place(i)); i++)
		if (is_usable(place))
			return place;
	return nw_state_place(0);
}

bool nw_state_is_temporary(const char *place)
{
	return strncmp(place, "/tmp/", 5) == 0;
}

bool nw_state_is_shared(const char *place)
{
	return strcmp(place, "/run/nopwatch") != 0 &&
	       strcmp(place, "/var/run/nopwatch") != 0;
}

const char *nw_state_tmp(void)
{
	const char *dir = nw_state_dir();

	return dir ? dir : "/tmp";
}

static int open_memory(const char *name)
{
#ifdef SYS_memfd_create /* C libraries before glibc 2.27 do not have this function. */
	enum {
		CLOSE_ON_EXEC = 1 /* MFD_CLOEXEC */
	};

	return (int)syscall(SYS_memfd_create, name, CLOSE_ON_EXEC);
#else
	(void)name;
	return -1;
#endif
}

static int open_unlinked(void)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/nopwatch-XXXXXX", nw_state_tmp());
	int fd = path ? mkostemp(path, O_CLOEXEC) : -1;

	if (fd >= 0)
		unlink(path);
	return fd;
}

int nw_memory_file(const char *name)
{
	int fd = open_memory(name);

	return fd < 0 ? open_unlinked() : fd; /* before Linux 3.17 */
}

FILE *nw_temporary_file(void)
{
	int fd = open_unlinked();

	if (fd < 0)
		fd = open_memory("nopwatch");
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!file && fd >= 0)
		close(fd);
	return file;
}
