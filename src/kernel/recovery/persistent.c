// SPDX-License-Identifier: MIT
/*
 * See persistent.h, and journal.h for the format. This journal has these entries of its own:
 *
 * 	event GROUP NAME OFFSET RETURN DEV INO SIZE MTIME BUILD_ID MACHINE HOME LABEL FILE LINK
 * 	on GROUP NAME WHERE			we have enabled the event there
 * 	instance NAME				we have made the instance
 * 	left KIND FILE TEXT			an undo that failed and may succeed later
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/state.h"
#include "kernel/tracefs/event_list.h"

#include "inventory_private.h"
#include "persistent.h"

static const char file_name[] = "kept.events";
static const char fresh_name[] = "kept.events.new";

/* ---- events ------------------------------------------------------------------------- */

struct nw_persistent_event *nw_persistent_find(const struct nw_persistent *journal,
					       const char *group, const char *name)
{
	nw_vec_each (&journal->events, event)
		if (strcmp(event->group, group) == 0 && strcmp(event->name, name) == 0)
			return event;
	return NULL;
}

void nw_persistent_event_free(struct nw_persistent_event *event)
{
	free(event->label);
	free(event->file);
	free(event->home);
	free(event->link);
	nw_strings_free(&event->on);
}

void nw_persistent_forget(struct nw_persistent *journal, struct nw_persistent_event *event)
{
	size_t i = (size_t)(event - journal->events.item);

	nw_persistent_event_free(event);
	memmove(event, event + 1, (--journal->events.count - i) * sizeof(*event));
}

void nw_strings_drop(nw_strings *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->item[i], text) != 0)
			continue;
		free(list->item[i]);
		memmove(&list->item[i], &list->item[i + 1],
			(--list->count - i) * sizeof(*list->item));
		return;
	}
}

void nw_persistent_off(struct nw_persistent_event *event, const char *where)
{
	nw_strings_drop(&event->on, where);
}

int nw_persistent_on(struct nw_persistent_event *event, const char *where)
{
	return nw_strings_has(&event->on, where)
		       ? 0
		       : nw_strings_add(&event->on, where, strlen(where));
}

/* ---- loading ------------------------------------------------------------------------ */

static bool number(const struct nw_journal_line *line, size_t i, uint64_t *out)
{
	return nw_parse_u64(line->words[i], out) == 0;
}

static int load_event(struct nw_persistent *journal, const struct nw_journal_line *line)
{
	struct nw_persistent_event *event = nw_vec_add(&journal->events);
	uint64_t is_return, mtime, machine;

	if (!event)
		return -ENOMEM;
	snprintf(event->group, sizeof(event->group), "%s", line->words[1]);
	snprintf(event->name, sizeof(event->name), "%s", line->words[2]);
	if (!number(line, 3, &event->offset) || !number(line, 4, &is_return) ||
	    !number(line, 5, &event->dev) || !number(line, 6, &event->ino) ||
	    !number(line, 7, &event->size) || !number(line, 8, &mtime) ||
	    !number(line, 10, &machine))
		return -EBADMSG;
	event->is_return = is_return;
	event->mtime = (int64_t)mtime;
	event->machine = (unsigned int)machine;
	snprintf(event->build_id, sizeof(event->build_id), "%s", line->words[9]);
	event->home = strdup(line->words[11]);
	event->label = strdup(line->words[12]);
	event->file = strdup(line->words[13]);
	event->link = strdup(line->words[14]);
	return event->home && event->label && event->file && event->link ? 0 : -ENOMEM;
}

static int load_on(struct nw_persistent *journal, const struct nw_journal_line *line)
{
	struct nw_persistent_event *event = nw_persistent_find(journal, line->words[1],
							       line->words[2]);

	return event ? nw_persistent_on(event, line->words[3]) : -EBADMSG;
}

static int load_instance(struct nw_persistent *journal, const struct nw_journal_line *line)
{
	return nw_strings_add(&journal->instances, line->words[1], strlen(line->words[1]));
}

static int load_action(struct nw_steps *steps, const struct nw_journal_line *line)
{
	struct nw_action action = {0};
	int ret = nw_journal_read_action(line, &action);

	if (ret == 0)
		nw_steps_add(steps, action.kind, action.file, action.text);
	nw_action_free(&action);
	return ret < 0 ? ret : steps->failed ? -ENOMEM : 0;
}

static int load_undo(struct nw_persistent *journal, const struct nw_journal_line *line)
{
	return load_action(&journal->pending, line);
}

static int load_left(struct nw_persistent *journal, const struct nw_journal_line *line)
{
	return load_action(&journal->left, line);
}

static const struct {
	const char *word;
	size_t count;
	int (*load)(struct nw_persistent *journal, const struct nw_journal_line *line);
} lines[] = {
	{"event", 15, load_event}, {"on", 4, load_on},	   {"instance", 2, load_instance},
	{"undo", 4, load_undo},	   {"left", 4, load_left},
};

static int load_line(void *arg, const struct nw_journal_line *line)
{
	for (size_t i = 0; i < NW_COUNT(lines); i++)
		if (strcmp(line->words[0], lines[i].word) == 0)
			return line->count == lines[i].count ? lines[i].load(arg, line)
							     : -EBADMSG;
	return -EBADMSG;
}

static int load(struct nw_persistent *journal, int fd, struct nw_error *err)
{
	struct nw_buf text = {0};
	unsigned int at = 0;
	int ret = nw_buf_read(&text, fd);

	if (ret == 0)
		ret = nw_journal_parse(&text, load_line, journal, &at, &journal->cut);
	nw_buf_free(&text);
	if (ret == -ESTALE) /* from another boot: tracefs has none of its events any more */
		return 0;
	if (ret == -EBADMSG) {
		nw_fail(err, EBADMSG, "line %u of the journal %s/%s is damaged", at,
			nw_journal_place(file_name), file_name);
		nw_error_hint(
			err,
			"remove that file; its events are then foreign: `nopwatch remove --foreign`");
	} else if (ret < 0) {
		nw_fail(err, -ret, "cannot read the journal %s/%s: %s",
			nw_journal_place(file_name), file_name, nw_strerror(-ret));
	}
	return ret;
}

/* ---- opening ------------------------------------------------------------------------ */

static bool is_still_there(int dir, int fd)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && fstatat(dir, file_name, &there, 0) == 0 &&
	       ours.st_ino == there.st_ino;
}

static int lock(int fd, int how)
{
	for (int i = 0; i < 200; i++) {
		if (flock(fd, how | LOCK_NB) == 0)
			return 0;
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	}
	return -EAGAIN;
}

/* Opens the directory that contains the journal, or that will contain it. */
static int open_its_dir(struct nw_error *err)
{
	const char *place = nw_journal_place(file_name);

	return strcmp(place, nw_journal_dir()) == 0 ? nw_journal_open_dir(err)
						    : nw_journal_open_place(place, err);
}

/* Accepts only a regular file as the journal. Anything else that root has put there, such as a FIFO, is an error,
 * and opening it does not block. */
static int check_kind(int fd, struct nw_error *err)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	nw_fail(err, EINVAL, "%s/%s is no regular file: not used",
		nw_journal_place(file_name), file_name);
	nw_error_hint(
		err,
		"remove it; it is nopwatch's own name, for the journal of what `add` has made");
	return -EINVAL;
}

/* Opens and locks the file. The process that held the lock before may have replaced or removed the file. */
static int open_locked(struct nw_error *err)
{
	for (int tries = 0; tries < 100; tries++) {
		int dir = open_its_dir(err);
		if (dir < 0)
			return dir;
		int fd = openat(dir, file_name,
				O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
				0600);
		int code = errno;
		int kind = fd >= 0 ? check_kind(fd, err) : 0;
		bool locked = fd >= 0 && kind == 0 && lock(fd, LOCK_EX) == 0;
		if (locked && is_still_there(dir, fd)) {
			close(dir);
			return fd;
		}
		close(dir);
		if (fd >= 0)
			close(fd);
		if (kind < 0)
			return kind;
		if (fd < 0 && code != ENOENT)
			return nw_fail(err, code, "cannot create %s/%s: %s",
				       nw_journal_place(file_name), file_name,
				       nw_strerror(code));
		if (fd >= 0 && !locked)
			break;
	}
	return nw_fail(
		err, EAGAIN,
		"another nopwatch has been changing events for 10 seconds: try again");
}

int nw_persistent_open(struct nw_persistent *out, struct nw_error *err)
{
	struct nw_persistent journal = {.fd = open_locked(err)};

	if (journal.fd < 0)
		return journal.fd;
	struct stat st;
	int ret = load(&journal, journal.fd, err);
	/* The file gets a header at once, so that its boot is known. */
	if (ret == 0 && fstat(journal.fd, &st) == 0 && st.st_size == 0)
		ret = nw_persistent_save(&journal, err);
	if (ret < 0) {
		close(journal.fd); /* a journal that cannot be read must not be removed */
		journal.fd = -1;
		nw_persistent_close(&journal);
	} else {
		*out = journal;
	}
	return ret;
}

int nw_persistent_read(struct nw_persistent *out, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", nw_journal_place(file_name),
						     file_name);
	struct nw_persistent journal = {.fd = -1};
	struct stat st;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	int ret = !path ? nw_no_memory(err) : fd < 0 ? -errno : 0;

	if (ret < 0 && path && !nw_journal_has_none(ret))
		nw_fail(err, -ret, "cannot open the journal %s: %s", path,
			nw_strerror(-ret));
	else if (path && fd < 0)
		ret = 0; /* the file does not exist, or this user may not read it */
	/* Only a file of root, or of our own, is trusted. */
	if (fd >= 0 && fstat(fd, &st) == 0 && nw_is_trusted(st.st_uid)) {
		lock(fd, LOCK_SH); /* if a change is going on, its state is good enough */
		ret = load(&journal, fd, err);
	}
	if (fd >= 0)
		close(fd);
	if (ret < 0)
		nw_persistent_close(&journal);
	else
		*out = journal;
	return ret;
}

/* ---- changing ----------------------------------------------------------------------- */

int nw_persistent_before(void *arg, const struct nw_action *back)
{
	const struct nw_persistent *journal = arg;
	struct nw_buf line = {0};

	if (back->kind == NW_DO_NOTHING)
		return 0;
	nw_journal_action(&line, "undo", back);
	int ret = nw_journal_write(journal->fd, &line);
	nw_buf_free(&line);
	return ret;
}

/* Does this error mean that the step was never done or was undone before, so that nothing is left to undo? */
static bool is_undone(const struct nw_action *undo, int ret)
{
	bool makes = undo->kind == NW_DO_MKDIR || undo->kind == NW_DO_LINK ||
		     (undo->kind == NW_DO_APPEND && *undo->text != '-');

	if (makes) /* the definition exists already, perhaps enabled (EBUSY before 5.4) */
		return ret == -EEXIST || (ret == -EBUSY && undo->kind == NW_DO_APPEND);
	return ret == -ENOENT;
}

/* Does an undo. If it fails and may succeed later, it is added to left. */
static void undo_one(const struct nw_tracefs *fs, const struct nw_action *undo,
		     struct nw_steps *left, nw_strings *stuck)
{
	int ret = nw_action_do(fs, undo);

	if (ret == 0 || is_undone(undo, ret))
		return;
	if (nw_error_passes(ret))
		nw_steps_add(left, undo->kind, undo->file, undo->text);
	nw_strings_tell(stuck,
			"what a killed nopwatch had begun cannot be undone: %s%s%s: %s",
			undo->file, *undo->text ? ": " : "", undo->text, nw_strerror(-ret));
}

size_t nw_persistent_recover(struct nw_persistent *journal, const struct nw_tracefs *fs,
			     nw_strings *stuck)
{
	size_t count = journal->pending.list.count + journal->left.list.count;
	struct nw_steps left = {0};

	for (size_t i = journal->pending.list.count; i--;)
		undo_one(fs, &journal->pending.list.item[i].go, &left, stuck);
	nw_vec_each (&journal->left.list, step)
		undo_one(fs, &step->go, &left, stuck);
	nw_steps_free(&journal->pending);
	nw_steps_free(&journal->left);
	journal->pending = (struct nw_steps){0};
	journal->left = left;
	return count;
}

/* ---- what others have removed ------------------------------------------------------- */

static bool is_linked(const struct nw_persistent *journal, const char *link)
{
	nw_vec_each (&journal->events, event)
		if (strcmp(event->link, link) == 0)
			return true;
	return false;
}

/* Removes an instance that we have made, unless it is in use. Call it when no event of ours is left in it. */
static bool prune_instance(struct nw_persistent *journal, const struct nw_tracefs *fs,
			   const char *name)
{
	struct nw_buf enabled = {0};
	char file[256];

	snprintf(file, sizeof(file), "instances/%.200s/set_event", name);
	int ret = nw_tracefs_read(fs->root, file, &enabled);
	bool in_use = enabled.len > 0;
	nw_buf_free(&enabled);
	snprintf(file, sizeof(file), "instances/%.200s", name);
	if (in_use)
		return false;
	if (ret != -ENOENT)
		ret = nw_instance_remove(fs, file, LOCK_EX);
	if (ret < 0 && ret != -ENOENT)
		return false;
	nw_strings_drop(&journal->instances, name);
	return true;
}

static int mark_defined(void *arg, const struct nw_definition_line *line)
{
	struct nw_persistent_event *event = nw_persistent_find(arg, line->group,
							       line->name);

	if (event)
		event->defined = true;
	return 0;
}

bool nw_persistent_prune(struct nw_persistent *journal, const struct nw_tracefs *fs)
{
	bool pruned = false;

	if (!journal->events.count && !journal->instances.count)
		return false;
	nw_vec_each (&journal->events, event)
		event->defined = false;
	if (nw_event_list_read(fs, NULL, mark_defined, journal) < 0)
		return false;
	for (size_t i = journal->events.count; i--;) {
		if (journal->events.item[i].defined)
			continue;
		nw_cleanup(nw_free_ptr) char *link = strdup(journal->events.item[i].link);

		nw_persistent_forget(journal, &journal->events.item[i]);
		if (link && *link && !is_linked(journal, link))
			unlink(link);
		pruned = true;
	}
	for (size_t i = journal->events.count ? 0 : journal->instances.count; i--;)
		pruned |= prune_instance(journal, fs, journal->instances.item[i]);
	return pruned;
}

/* Opens the file. Returns 1 if it exists, 0 if not, or -errno. */
static int open_to_settle(struct nw_persistent *journal, bool *ours, struct nw_error *err)
{
	const char *place = nw_journal_place(file_name);
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", place, file_name);
	struct stat st;

	if (path && lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	int dir = nw_journal_open_place(place, err);
	if (dir < 0)
		return dir;
	journal->fd = openat(dir, file_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int ret = journal->fd >= 0 ? check_kind(journal->fd, err)
		  : errno == ENOENT
			  ? 0
			  : nw_fail(err, errno, "cannot open the journal %s/%s: %s", place,
				    file_name, nw_strerror(errno));
	*ours = ret == 0 && journal->fd >= 0 &&
		flock(journal->fd, LOCK_EX | LOCK_NB) == 0 &&
		is_still_there(dir, journal->fd);
	close(dir);
	return ret < 0 ? ret : journal->fd >= 0;
}

int nw_persistent_settle(const struct nw_tracefs *fs, size_t *count, nw_strings *stuck,
			 struct nw_error *err)
{
	struct nw_persistent journal = {.fd = -1};
	bool ours = false;
	int ret = open_to_settle(&journal, &ours, err);

	if (ret > 0)
		ret = load(&journal, journal.fd, err);
	if (ours && ret == 0) {
		bool changed = nw_persistent_recover(&journal, fs, stuck) > 0 ||
			       journal.cut;
		if (nw_persistent_prune(&journal, fs) || changed)
			ret = nw_persistent_save(&journal, err);
	} else if (journal.fd >= 0) { /* the file is not ours to remove */
		close(journal.fd);
		journal.fd = -1;
	}
	*count = journal.events.count;
	nw_persistent_close(&journal);
	return ret;
}

static void save_event(const struct nw_persistent_event *event, struct nw_buf *out)
{
	nw_buf_adds(out, "event");
	nw_plan_word(out, event->group);
	nw_plan_word(out, event->name);
	nw_buf_printf(out, " %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
		      event->offset, event->is_return, event->dev, event->ino, event->size,
		      (uint64_t)event->mtime);
	nw_plan_word(out, event->build_id);
	nw_buf_printf(out, " %u", event->machine);
	nw_plan_word(out, event->home);
	nw_plan_word(out, event->label);
	nw_plan_word(out, event->file);
	nw_plan_word(out, event->link);
	nw_buf_addc(out, '\n');
	nw_vec_each (&event->on, where) {
		nw_buf_adds(out, "on");
		nw_plan_word(out, event->group);
		nw_plan_word(out, event->name);
		nw_plan_word(out, *where);
		nw_buf_addc(out, '\n');
	}
}

/* Writes the new file, and locks it before it takes the old one's name. */
static int write_fresh(int dir, const struct nw_buf *text)
{
	unlinkat(dir, fresh_name, 0);
	int fd = openat(dir, fresh_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND,
			0600);

	if (fd < 0)
		return -errno;
	ssize_t done = write(fd, text->data, text->len);
	int ret = done < 0 ? -errno : (size_t)done != text->len ? -ENOSPC : 0;
	if (ret == 0 && (flock(fd, LOCK_EX | LOCK_NB) < 0 ||
			 renameat(dir, fresh_name, dir, file_name) < 0))
		ret = -errno;
	if (ret < 0) {
		unlinkat(dir, fresh_name, 0);
		close(fd);
	}
	return ret < 0 ? ret : fd;
}

int nw_persistent_save(struct nw_persistent *journal, struct nw_error *err)
{
	struct nw_buf text = {0};
	int dir = open_its_dir(err);

	if (dir < 0)
		return dir;
	nw_journal_head(&text);
	nw_vec_each (&journal->events, event)
		save_event(event, &text);
	nw_vec_each (&journal->instances, name) {
		nw_buf_adds(&text, "instance");
		nw_plan_word(&text, *name);
		nw_buf_addc(&text, '\n');
	}
	nw_vec_each (&journal->left.list, step)
		nw_journal_action(&text, "left", &step->go);
	int ret = text.failed ? -ENOMEM : write_fresh(dir, &text);
	close(dir);
	nw_buf_free(&text);
	if (ret < 0)
		return nw_fail(err, -ret, "cannot write the journal %s/%s: %s",
			       nw_journal_place(file_name), file_name, nw_strerror(-ret));
	close(journal->fd);
	journal->fd = ret;
	return 0;
}

static void forget_all(struct nw_persistent *journal)
{
	nw_vec_each (&journal->events, event)
		nw_persistent_event_free(event);
	nw_vec_free(&journal->events);
	nw_strings_free(&journal->instances);
	nw_steps_free(&journal->pending);
	nw_steps_free(&journal->left);
	journal->pending = journal->left = (struct nw_steps){0};
}

int nw_persistent_restore(struct nw_persistent *journal, struct nw_steps *left,
			  struct nw_error *err)
{
	forget_all(journal);
	if (lseek(journal->fd, 0, SEEK_SET) < 0)
		return nw_fail(err, errno, "cannot read the journal: %s",
			       nw_strerror(errno));
	int ret = load(journal, journal->fd, err);
	nw_steps_free(&journal->pending);
	journal->pending = (struct nw_steps){0};
	nw_vec_each (&left->list, step)
		nw_steps_add(&journal->left, step->go.kind, step->go.file, step->go.text);
	nw_steps_free(left);
	*left = (struct nw_steps){0};
	return ret < 0 ? ret : nw_persistent_save(journal, err);
}

void nw_persistent_close(struct nw_persistent *journal)
{
	const char *place = nw_journal_place(file_name);
	bool empty = !journal->events.count && !journal->instances.count &&
		     !journal->pending.list.count && !journal->left.list.count;
	char path[NW_STATE_PATH];

	if (journal->fd >= 0 && empty) {
		snprintf(path, sizeof(path), "%s/%s", place, file_name);
		unlink(path);
		rmdir(place); /* fails while the directory contains other files */
	}
	if (journal->fd >= 0)
		close(journal->fd);
	journal->fd = -1;
	forget_all(journal);
}
