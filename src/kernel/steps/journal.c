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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/state.h"
#include "kernel/tracefs/expedite.h"

#include "gate.h"

const char *nw_journal_dir(void)
{
	return nw_state_new();
}

bool nw_session_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > 23)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
		    name[i] != '_')
			return false;
	return true;
}

/*
 * The directory must belong to us alone. In a place to which others can write, a link or another user's directory
 * of that name would let them choose what we remove.
 */
int nw_journal_open_place(const char *path, struct nw_error *err)
{
	mode_t writable = nw_state_is_shared(path) ? 077 : 022;
	struct stat st;
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0) {
		int ret = nw_fail(err, errno, "cannot open %s: %s", path,
				  nw_strerror(errno));
		nw_error_hint(err, "--state-dir DIR names another place");
		return ret;
	}
	if (fstat(dir, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & writable)) {
		close(dir);
		nw_fail(err, EPERM, "%s does not belong to us alone: not used", path);
		nw_error_hint(err, "--state-dir DIR names another place");
		return -EPERM;
	}
	return dir;
}

int nw_journal_open_dir(struct nw_error *err)
{
	const char *path = nw_journal_dir();

	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		int ret = nw_fail(err, errno, "cannot create %s: %s", path,
				  nw_strerror(errno));
		nw_error_hint(err, "--state-dir DIR names another place");
		return ret;
	}
	int dir = nw_journal_open_place(path, err);
	/* Older versions of nopwatch made it with 0755. */
	if (dir >= 0 && fchmod(dir, 0700) < 0)
		errno = 0;
	return dir;
}

const char *nw_journal_place(const char *name)
{
	const char *place;

	for (size_t i = 0; (place = nw_state_place(i)); i++) {
		int dir = nw_journal_open_place(place, NULL);
		bool has = dir >= 0 && faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
		if (dir >= 0)
			close(dir);
		if (has)
			return place;
	}
	return nw_journal_dir();
}

/* Creates the file, again if the end of another session has removed the directory meanwhile. */
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

/* Takes the exclusive lock unless a living session holds it (-EWOULDBLOCK). A nopwatch that only checks a session's
 * state holds the lock shared for a moment, so the call tries again then. Returns 0 or -errno. */
static int lock_unless_living(int fd)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int tries = 100; flock(fd, LOCK_EX | LOCK_NB) < 0; tries--) {
		if (!tries || errno != EWOULDBLOCK || flock(fd, LOCK_SH | LOCK_NB) < 0)
			return -errno;
		flock(fd, LOCK_UN);
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Creates the file and locks it. Before it is locked it looks like a dead session's journal, so another nopwatch
 * may remove it; then the call tries again. */
static int create_locked(const char *session, struct nw_error *err)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct stat st;

	for (int tries = 0; tries < 20; tries++) {
		int fd = create_file(session, err);
		if (fd < 0)
			return fd;
		for (int i = 0; i < 200 && lock_unless_living(fd) < 0; i++)
			nanosleep(&pause, NULL);
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
		    st.st_nlink > 0)
			return fd;
		bool taken = fstat(fd, &st) == 0 && st.st_nlink == 0;
		close(fd);
		if (!taken)
			break;
	}
	return nw_fail(err, EAGAIN, "another nopwatch is cleaning up: try again");
}

int nw_journal_create(const char *session, struct nw_journal *out, struct nw_error *err)
{
	struct nw_journal journal = {.fd = create_locked(session, err),
				     .dir = nw_journal_dir()};
	struct nw_buf head = {0};

	if (journal.fd < 0)
		return journal.fd;
	snprintf(journal.session, sizeof(journal.session), "%.23s", session);
	nw_journal_head(&head);
	nw_buf_printf(&head, "pid %d\n", (int)getpid());
	int ret = nw_journal_write(journal.fd, &head);
	nw_buf_free(&head);
	if (ret < 0) {
		nw_journal_remove(&journal);
		return nw_fail(err, -ret, "cannot write the journal: %s",
			       nw_strerror(-ret));
	}
	*out = journal;
	return 0;
}

void nw_journals_progress(int lock)
{
	if (lock >= 0)
		(void)futimens(lock, NULL);
}

int nw_journals_lock(void)
{
	enum {
		PAUSE_MS = 5,
		PATIENCE =
			5000 /
			PAUSE_MS, /* with a process that holds the lock and makes no progress */
		MOST = 60000 / PAUSE_MS
	};
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
	int dir = nw_journal_open_place(nw_journal_dir(), NULL);
	struct timespec last = {0};
	struct stat st;

	for (int tries = 0, still = 0; dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) < 0;
	     tries++) {
		bool moved = fstat(dir, &st) == 0 && (st.st_mtim.tv_sec != last.tv_sec ||
						      st.st_mtim.tv_nsec != last.tv_nsec);
		last = st.st_mtim;
		still = moved ? 0 : still + 1;
		if (still > PATIENCE || tries > MOST) {
			close(dir);
			return -EBUSY;
		}
		nanosleep(&pause, NULL);
	}
	nw_journals_progress(dir);
	return dir;
}

bool nw_journal_has_none(int ret)
{
	return ret == -ENOENT || ret == -EPERM || ret == -ENOTDIR || ret == -ELOOP ||
	       ret == -EACCES;
}

/* Is this a regular file with a name? Returns 0, -ENOENT if not, or -errno. */
static int check_journal(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && st.st_nlink ? 0 : -ENOENT;
}

/* Opens the journal in one of the directories. Returns -ENOENT if there is none. */
static int open_journal(const char *session, int flags, const char **place)
{
	const char *at;
	int fd = -ENOENT;

	for (size_t i = 0; fd == -ENOENT && (at = nw_state_place(i)); i++) {
		int dir = nw_journal_open_place(at, NULL);
		if (nw_journal_has_none(dir))
			continue;
		if (dir < 0)
			return dir;
		fd = openat(dir, session, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			fd = errno == ELOOP || errno == ENXIO || errno == EISDIR ? -ENOENT
										 : -errno;
		close(dir);
		*place = at;
	}
	int ret = fd < 0 ? fd : check_journal(fd);
	if (fd >= 0 && ret < 0)
		close(fd);
	return ret < 0 ? ret : fd;
}

/* A session that died while writing a line had not begun that line's step. The rest of the line is cut off, so that
 * the next one begins on a line of its own. */
static int cut_last_line(int fd)
{
	struct nw_buf text = {0};
	int ret = nw_buf_read(&text, fd);
	const char *last = text.len ? memrchr(text.data, '\n', text.len) : NULL;
	off_t whole = last ? last + 1 - text.data : 0;

	if (ret == 0 && (size_t)whole != text.len && ftruncate(fd, whole) < 0)
		ret = -errno;
	if (ret == 0 && lseek(fd, whole, SEEK_SET) < 0)
		ret = -errno;
	nw_buf_free(&text);
	return ret;
}

/* Notes in *arg whether the session is kept. */
static int find_kept(void *arg, const struct nw_journal_line *line)
{
	bool *kept = arg;

	if (strcmp(line->words[0], "kept") == 0 && line->count == 3)
		*kept = true;
	if (strcmp(line->words[0], "dropped") == 0)
		*kept = false;
	return 0;
}

/* Is the session of a journal that nobody has locked to stay? It is not if its boot is over. Returns 1, 0 or -errno. */
static int is_kept(int fd)
{
	struct nw_buf text = {0};
	bool kept = false;
	int ret = lseek(fd, 0, SEEK_SET) < 0 ? -errno : nw_buf_read(&text, fd);

	if (ret == 0)
		ret = nw_journal_parse(&text, find_kept, &kept, NULL, NULL);
	nw_buf_free(&text);
	return ret == -ESTALE ? 0 : ret < 0 ? ret : kept;
}

/* Takes over the journal if its session is kept, or if it is dead. Returns the state or -errno. */
static int seize(const char *session, bool kept, struct nw_journal *out)
{
	struct nw_journal journal = {0};

	snprintf(journal.session, sizeof(journal.session), "%.23s", session);
	journal.fd = open_journal(session, O_RDWR, &journal.dir);
	if (journal.fd < 0)
		return journal.fd == -ENOENT ? NW_JOURNAL_GONE : journal.fd;
	int ret = lock_unless_living(journal.fd);
	/* The session may have removed its journal before it released the lock. */
	if (ret == 0)
		ret = check_journal(journal.fd);
	if (ret == 0)
		ret = cut_last_line(journal.fd);
	if (ret == 0)
		ret = is_kept(journal.fd);
	const int state = ret == -EWOULDBLOCK ? (int)NW_JOURNAL_LIVING
			  : ret == -ENOENT    ? (int)NW_JOURNAL_GONE
			  : ret < 0	      ? ret
			  : ret		      ? (int)NW_JOURNAL_KEPT
					      : (int)NW_JOURNAL_DEAD;
	if (state == (kept ? NW_JOURNAL_KEPT : NW_JOURNAL_DEAD))
		*out = journal;
	else
		close(journal.fd);
	return state;
}

int nw_journal_seize(const char *session, struct nw_journal *out)
{
	return seize(session, false, out);
}

int nw_journal_seize_kept(const char *session, struct nw_journal *out)
{
	return seize(session, true, out);
}

int nw_journal_read_kept(const char *session, struct nw_buf *out)
{
	const char *place;
	int fd = open_journal(session, O_RDONLY, &place);

	if (fd < 0)
		return fd == -ENOENT ? NW_JOURNAL_GONE : fd;
	int state = flock(fd, LOCK_SH | LOCK_NB) == 0 ? NW_JOURNAL_DEAD
		    : errno == EWOULDBLOCK	      ? NW_JOURNAL_LIVING
						      : -errno;
	int kept = state == NW_JOURNAL_DEAD ? is_kept(fd) : 0;
	if (kept > 0)
		state = NW_JOURNAL_KEPT;
	if (kept > 0 && out)
		kept = lseek(fd, 0, SEEK_SET) < 0 ? -errno : nw_buf_read(out, fd);
	close(fd);
	return kept < 0 ? kept : state;
}

int nw_journal_check(const char *session)
{
	return nw_journal_read_kept(session, NULL);
}

int nw_journal_note(const struct nw_journal *journal, const char *fmt, ...)
{
	struct nw_buf text = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	int ret = nw_journal_write(journal->fd, &text);
	nw_buf_free(&text);
	return ret;
}

int nw_journal_text(const struct nw_journal *journal, struct nw_buf *out)
{
	if (lseek(journal->fd, 0, SEEK_SET) < 0)
		return -errno;
	return nw_buf_read(out, journal->fd);
}

/* Opens a file of one of our directories, in which nobody else can place a link. */
static int open_own(const char *path, int flags)
{
	const char *slash = strrchr(path, '/');
	nw_cleanup(nw_free_ptr) char *place = slash ? strndup(path, (size_t)(slash - path))
						    : NULL;
	int dir = place ? nw_journal_open_place(place, NULL) : slash ? -ENOMEM : -EINVAL;

	if (dir < 0)
		return dir;
	int fd = openat(dir, slash + 1,
			flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	int code = errno;
	close(dir);
	return fd < 0 ? -code : fd;
}

int nw_own_file_create(const char *path)
{
	int fd = open_own(path, O_CREAT | O_EXCL);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EEXIST ? 0 : fd;
}

int nw_own_file_resize(const char *path, off_t size)
{
	int fd = open_own(path, 0);
	int ret = fd < 0 ? fd : ftruncate(fd, size) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

void nw_journal_leave(struct nw_journal *journal)
{
	nw_expedite_end(&journal->expedited);
	if (journal->fd >= 0)
		close(journal->fd);
	journal->fd = -1;
}

int nw_journal_remove(struct nw_journal *journal)
{
	char path[NW_STATE_PATH];
	int ret = 0;

	nw_expedite_end(&journal->expedited);
	/* By path, because a removal must not fail for lack of a descriptor. */
	if (journal->fd >= 0) {
		snprintf(path, sizeof(path), "%s/%s", journal->dir, journal->session);
		ret = nw_gate_remove(journal);
		if (ret == 0 && unlink(path) < 0 && errno != ENOENT)
			ret = -errno;
		rmdir(journal->dir); /* fails while other sessions have journals */
	}
	nw_journal_leave(journal);
	return ret;
}

int nw_journal_files(const char *path, bool (*is_wanted)(const char *name), nw_strings *out)
{
	int fd = nw_journal_open_place(path, NULL);

	if (nw_journal_has_none(fd))
		return 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int ret = fd < 0 ? fd : dir ? 0 : -errno;
	struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (ret == 0 && (errno = 0, entry = readdir(dir)))
		if (is_wanted(entry->d_name) && !nw_strings_has(out, entry->d_name))
			ret = nw_strings_add(out, entry->d_name, strlen(entry->d_name));
	if (ret == 0)
		ret = -errno;
	if (dir)
		closedir(dir);
	return ret;
}

int nw_journal_list(nw_strings *out)
{
	const char *place;
	int ret = 0;

	for (size_t i = 0; ret == 0 && (place = nw_state_place(i)); i++)
		ret = nw_journal_files(place, nw_session_name_is_valid, out);
	return ret;
}
