// SPDX-License-Identifier: MIT
/*
 * Fetches debug files by elfutils' libdebuginfod. The library, the one that it loads for HTTP, and the server's answer are
 * not trusted: a child without privileges fetches into a directory of its own, within limits of size and time, and
 * nopwatch takes the file only if it has the build ID that was asked for. The directory is removed at once.
 *
 * This file has state of the process: whether the user has asked for servers, and what they have answered.
 */
#include "debuginfod.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/library.h"
#include "base/state.h"
#include "elf.h"

enum {
	NOBODY = 65534,
	MOST_BYTES = 2, /* GiB of a file */
	SECONDS = 120,	/* for a file, unless $DEBUGINFOD_MAXTIME says otherwise */
	MOST_SECONDS = 3600,
	NO_LIBRARY = 120, /* exit status of the child; others are an errno */
	NOT_KNOWN = 121,
};

static const char prefix[] = "nopwatch-debuginfod-";

struct answer {
	char build_id[129];
	int fd; /* or -errno */
};

static struct {
	bool enabled;
	pid_t owner; /* other processes of ours only have what was fetched before them */
	NW_VEC(struct answer) answers;
	nw_strings notes;
} state;

int nw_debuginfod_enable(struct nw_error *err)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !urls[strspn(urls, " ")]) {
		nw_fail_usage(err, "--debuginfod: of which server?");
		nw_error_hint(
			err,
			"write DEBUGINFOD_URLS=https://SERVER in front of nopwatch, behind sudo");
		return -EINVAL;
	}
	state.enabled = true;
	state.owner = getpid();
	return 0;
}

const nw_strings *nw_debuginfod_notes(void)
{
	return &state.notes;
}

static unsigned int seconds(void)
{
	const char *text = getenv("DEBUGINFOD_MAXTIME");
	uint64_t wanted;

	return text && nw_parse_u64(text, &wanted) == 0 && wanted && wanted < MOST_SECONDS
		       ? (unsigned int)wanted
		       : SECONDS;
}

/* ---- the directory ------------------------------------------------------------------ */

static void remove_files(int dir, bool nested)
{
	DIR *list = fdopendir(dir);
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    unlinkat(dirfd(list), name, 0) == 0 || !nested)
			continue;
		int below = openat(dirfd(list), name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		remove_files(below, false);
		unlinkat(dirfd(list), name, AT_REMOVEDIR);
	}
	if (list)
		closedir(list);
	else
		close(dir);
}

static void remove_directory(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir >= 0)
		remove_files(dir, true);
	rmdir(path);
}

/* Removes directories of processes that were killed. Others may make such names, too: only what is nobody's or our own counts. */
static void remove_old(void)
{
	DIR *list = opendir(nw_state_tmp());
	struct dirent *entry;
	struct stat st;

	while (list && (entry = readdir(list))) {
		const char *name = entry->d_name;
		if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
		    fstatat(dirfd(list), name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode) || (st.st_uid != NOBODY && st.st_uid != geteuid()))
			continue;
		pid_t pid = (pid_t)atoi(name + sizeof(prefix) - 1);
		nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", nw_state_tmp(), name);
		if (path && pid > 0 && kill(pid, 0) < 0 && errno == ESRCH)
			remove_directory(path);
	}
	if (list)
		closedir(list);
}

/* ---- the child ---------------------------------------------------------------------- */

typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *build_id, int len, char **path);
struct library {
	begin_fn *begin;
	find_fn *find;
};

static void drop_privileges(void)
{
	const struct rlimit size = {(rlim_t)MOST_BYTES << 30, (rlim_t)MOST_BYTES << 30};
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_FSIZE, &size);
	setrlimit(RLIMIT_CORE, &none);
	if (nw_drop_privileges() < 0)
		_exit(EPERM);
}

static void set_limits(const char *directory)
{
	char text[24];

	setenv("DEBUGINFOD_CACHE_PATH", directory, 1);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)MOST_BYTES << 30);
	setenv("DEBUGINFOD_MAXSIZE", text, 0);
	snprintf(text, sizeof(text), "%u", seconds());
	setenv("DEBUGINFOD_MAXTIME", text, 1);
	setenv("DEBUGINFOD_TIMEOUT", text, 0);
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("DEBUGINFOD_VERBOSE");
}

/* With a length of 0, the library takes the build ID as text. */
static void fetch(const char *build_id, const char *directory, pid_t parent)
{
	static const struct nw_library_function functions[] = {
		{"debuginfod_begin", offsetof(struct library, begin), NULL},
		{"debuginfod_find_debuginfo", offsetof(struct library, find), NULL}};
	struct library library;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	nw_close_all_files(NULL, 0);
	drop_privileges();
	nw_end_with_parent(parent, SIGKILL);
	set_limits(directory);
	if (!nw_library_open("libdebuginfod.so.1", functions, NW_COUNT(functions),
			     &library))
		_exit(NO_LIBRARY);
	void *client = library.begin();
	int fd = client ? library.find(client, (const unsigned char *)build_id, 0, NULL)
			: -ENOMEM;
	_exit(fd >= 0 ? 0 : -fd == ENOENT ? NOT_KNOWN : -fd < NO_LIBRARY ? -fd : EIO);
}

/* ---- the parent --------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Waits for the child. Returns its status, or -errno: ETIMEDOUT after the library's own limit, ECANCELED. */
static int wait_for(pid_t child)
{
	const uint64_t end = now_ns() + (uint64_t)(seconds() + 2) * 1000000000u;
	const struct timespec moment = {.tv_nsec = 10000000};
	int status = 0, ret = 0;

	while (ret == 0) {
		pid_t got = waitpid(child, &status, WNOHANG);
		if (got == child || (got < 0 && errno != EINTR))
			return got == child && WIFEXITED(status) ? WEXITSTATUS(status)
								 : EIO;
		nanosleep(&moment, NULL);
		ret = now_ns() > end ? -ETIMEDOUT : nw_is_end_pending() ? -ECANCELED : 0;
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return ret;
}

/* Opens what the child has fetched, if it is a plain file with that build ID. */
static int take_file(const char *directory, const char *build_id)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", directory, build_id);
	struct nw_image *image = NULL;
	struct stat st;

	int dir = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	int fd = dir < 0 ? -1
			 : openat(dir, "debuginfo",
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return -ENOENT;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || nw_is_hollow(fd) ||
	    nw_image_open_fd(fd, "", false, &image, NULL) < 0) {
		close(fd);
		return -ENOEXEC;
	}
	bool same = strcmp(image->build_id, build_id) == 0;
	image->fd = same ? -1 : fd;
	nw_image_free(image);
	return same ? fd : -ESTALE;
}

static int tell(const char *build_id, int ret)
{
	const char *why = ret == NO_LIBRARY  ? "libdebuginfod.so.1 cannot be opened"
			  : ret == NOT_KNOWN ? "the server does not have it"
			  : ret == -ENOEXEC  ? "the answer is no whole ELF file"
			  : ret == -ESTALE   ? "the answer has another build ID"
			  : ret == -ETIMEDOUT || ret == ETIME || ret == ETIMEDOUT
				  ? "it took too long"
			  : ret == EFBIG ? "the file is too large"
					 : nw_strerror(ret < 0 ? -ret : ret);

	return ret == 0
		       ? nw_strings_addf(
				 &state.notes,
				 "debuginfod: the debug information with build ID %s was fetched",
				 build_id)
		       : nw_strings_addf(
				 &state.notes,
				 "debuginfod: no debug information with build ID %s: %s",
				 build_id, why);
}

/* Returns a descriptor or -errno. */
static int ask(const char *build_id)
{
	nw_cleanup(nw_free_ptr) char *directory = nw_text("%s/%s%d-XXXXXX", nw_state_tmp(),
							  prefix, (int)getpid());
	const pid_t parent = getpid();

	remove_old();
	if (!directory || !mkdtemp(directory))
		return directory ? -errno : -ENOMEM;
	int ret = geteuid() == 0 && chown(directory, NOBODY, NOBODY) < 0 ? errno : 0;
	pid_t child = ret ? -1 : fork();
	if (child == 0)
		fetch(build_id, directory, parent);
	if (child > 0)
		ret = wait_for(child);
	else if (!ret)
		ret = errno;
	int fd = ret == 0 ? take_file(directory, build_id) : -ENOENT;
	remove_directory(directory);
	int told = tell(build_id, ret ? ret : fd < 0 ? fd : 0);
	if (told < 0 && fd >= 0)
		close(fd);
	return told < 0 ? told : fd < 0 ? -ENOENT : fd;
}

int nw_debuginfod_open(const char *build_id)
{
	struct answer *answer = NULL;

	if (!state.enabled || strlen(build_id) >= sizeof(answer->build_id))
		return -ENOENT;
	nw_vec_each (&state.answers, known)
		if (strcmp(known->build_id, build_id) == 0)
			answer = known;
	if (!answer && state.owner != getpid())
		return -ENOENT;
	if (!answer) {
		answer = nw_vec_add(&state.answers);
		if (!answer)
			return -ENOMEM;
		strcpy(answer->build_id, build_id);
		answer->fd = ask(build_id);
	}
	if (answer->fd < 0)
		return answer->fd;
	int fd = fcntl(answer->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}
