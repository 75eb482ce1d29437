// SPDX-License-Identifier: MIT
/* See journal.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"

/* /run where there is one; older systems have it below /var. */
const char *nw_journal_dir(void)
{
	static const char *const places[] = {"/run", "/var/run", "/tmp"};
	static const char *const dirs[] = {"/run/nopwatch", "/var/run/nopwatch",
					   "/tmp/nopwatch"};

	for (size_t i = 0; i < NW_COUNT(places); i++)
		if (access(places[i], W_OK | X_OK) == 0)
			return dirs[i];
	return dirs[0];
}

void nw_session_name(char out[24])
{
	struct timespec now;
	uint32_t mix;

	if (getrandom(&mix, sizeof(mix), GRND_NONBLOCK) != (ssize_t)sizeof(mix)) {
		clock_gettime(CLOCK_REALTIME, &now);
		mix = (uint32_t)nw_hash64((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec
									  << 30);
	}
	snprintf(out, 24, "%d_%06x", (int)getpid(), mix & 0xffffffu);
}

bool nw_session_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > 20)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
		    name[i] != '_')
			return false;
	return true;
}

/*
 * The directory must be ours alone: in a place that others can write to, a link or a foreign
 * directory of that name would let them choose what we remove.
 */
int nw_journal_open_dir(struct nw_error *err)
{
	const char *path = nw_journal_dir();
	struct stat st;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return nw_fail(err, errno, "cannot create %s: %s", path,
			       nw_strerror(errno));
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return nw_fail(err, errno, "cannot open %s: %s", path, nw_strerror(errno));
	if (fstat(dir, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(dir);
		return nw_fail(err, EPERM, "%s does not belong to us alone: not used",
			       path);
	}
	return dir;
}

/* Create the file; another session's end may remove the directory under us: try again. */
static int create_file(const char *session, struct nw_error *err)
{
	for (int tries = 0;; tries++) {
		int dir = nw_journal_open_dir(err);
		if (dir < 0)
			return dir;
		int fd = openat(dir, session,
				O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		int code = errno;
		close(dir);
		if (fd >= 0)
			return fd;
		if (code != ENOENT || tries == 8)
			return nw_fail(err, code, "cannot create %s/%s: %s",
				       nw_journal_dir(), session, nw_strerror(code));
	}
}

int nw_journal_create(const char *session, struct nw_journal *out, struct nw_error *err)
{
	struct nw_journal journal = {.fd = create_file(session, err)};
	struct stat st;

	if (journal.fd < 0)
		return journal.fd;
	snprintf(journal.session, sizeof(journal.session), "%.20s", session);
	/* Between these two lines a `clean` may have taken our young file for a dead one's. */
	if (flock(journal.fd, LOCK_EX | LOCK_NB) < 0 || fstat(journal.fd, &st) < 0 ||
	    st.st_nlink == 0) {
		close(journal.fd);
		return nw_fail(err, EAGAIN, "another nopwatch is cleaning up: try again");
	}
	*out = journal;
	return 0;
}

enum nw_journal_state nw_journal_seize(const char *session, struct nw_journal *out)
{
	struct nw_journal journal = {.fd = -1};
	struct stat st;
	int dir = nw_journal_open_dir(NULL);

	if (dir < 0)
		return NW_JOURNAL_GONE;
	snprintf(journal.session, sizeof(journal.session), "%.20s", session);
	journal.fd = openat(dir, session, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	close(dir);
	if (journal.fd < 0)
		return NW_JOURNAL_GONE;
	if (flock(journal.fd, LOCK_EX | LOCK_NB) < 0) {
		close(journal.fd);
		return NW_JOURNAL_LIVING;
	}
	if (fstat(journal.fd, &st) < 0 || st.st_nlink == 0) {
		close(journal.fd);
		return NW_JOURNAL_GONE;
	}
	*out = journal;
	return NW_JOURNAL_DEAD;
}

enum nw_journal_state nw_journal_look(const char *session)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", nw_journal_dir(), session);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	bool living = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;

	if (fd < 0)
		return NW_JOURNAL_GONE;
	close(fd);
	return living ? NW_JOURNAL_LIVING : NW_JOURNAL_DEAD;
}

int nw_journal_note(const struct nw_journal *journal, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int done = vdprintf(journal->fd, fmt, args);
	va_end(args);
	return done < 0 ? -errno : 0;
}

int nw_journal_text(const struct nw_journal *journal, struct nw_buf *out)
{
	if (lseek(journal->fd, 0, SEEK_SET) < 0)
		return -errno;
	return nw_buf_read(out, journal->fd);
}

void nw_journal_leave(struct nw_journal *journal)
{
	nw_expedite_end(journal);
	if (journal->fd >= 0)
		close(journal->fd);
	journal->fd = -1;
}

void nw_journal_remove(struct nw_journal *journal)
{
	nw_expedite_end(journal);
	int dir = journal->fd >= 0 ? nw_journal_open_dir(NULL) : -1;

	if (dir >= 0) {
		unlinkat(dir, journal->session, 0);
		close(dir);
		rmdir(nw_journal_dir()); /* fails while other sessions are there */
	}
	nw_journal_leave(journal);
}

int nw_journal_list(nw_strings *out)
{
	DIR *dir = opendir(nw_journal_dir());
	struct dirent *entry;
	int ret = 0;

	while (dir && ret == 0 && (entry = readdir(dir)))
		if (nw_session_name_is_valid(entry->d_name))
			ret = nw_strings_add(out, entry->d_name, strlen(entry->d_name));
	if (dir)
		closedir(dir);
	return ret;
}

int nw_tracefs_list(int dir, const char *path, const char *prefix, nw_strings *out)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	int ret = 0;

	if (!list)
		return -errno;
	while (ret == 0 && (entry = readdir(list)))
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR &&
		    strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			ret = nw_strings_add(out, entry->d_name, strlen(entry->d_name));
	closedir(list);
	return ret;
}
