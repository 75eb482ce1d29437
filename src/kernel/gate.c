// SPDX-License-Identifier: MIT
/*
 * Deleting an event of several sites without a window.
 *
 * The kernel does not look whether such an event is in use (unregister_trace_uprobe() skips its
 * check for siblings), and frees memory that breakpoints lead to if it is. A look of our own just
 * before leaves a moment in which perf may open it. So each of them has a *gate*: its first site is
 * offset 4096 of a file of the session's, which nobody maps. Enabling an event registers its sites in
 * order, for ftrace as for perf, and uprobe_register() answers EINVAL for an offset beyond the end
 * of the file:
 *
 *  - shut (0 bytes): nobody can enable the event any more, and no other site is touched;
 *  - open (8192 bytes): it can be enabled. It is open only while the session does so: perf that
 *    opens an event between two of its definitions breaks the kernel, too (a site that is appended
 *    then is never registered, but applied and unregistered).
 *
 * Behind a shut gate perf_event_open() proves whether the event is free: EINVAL: nobody has it,
 * and nobody can; EINTR: ftrace has; success: perf has, or it would have had to enable it.
 *
 * An event without a gate (its session's directory is gone) gets one that is always shut, behind
 * its other sites, while an instance of ours has it enabled: perf is locked out then.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gate.h"
#include "inventory.h"

static const char prefix[] = "gate."; /* no session's journal has a dot */

/* procfs has no page cache to probe (EIO), and the offset is out of any range (EINVAL). */
#define ALWAYS_SHUT "/proc/version:0x7ffffffffffff000"

/* ---- the file ----------------------------------------------------------------------- */

void nw_gate_file(const char *session, char out[32])
{
	snprintf(out, 32, "%s%.23s", prefix, session);
}

int nw_gate_make(const struct nw_journal *journal)
{
	int dir = nw_journal_open_place(journal->dir, NULL);
	char name[32];

	if (dir < 0)
		return dir;
	nw_gate_file(journal->session, name);
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	int ret = fd < 0 && errno != EEXIST ? -errno : 0;
	if (fd >= 0)
		close(fd);
	close(dir);
	return ret;
}

void nw_gate_remove(const struct nw_journal *journal, int dir)
{
	char name[32];

	nw_gate_file(journal->session, name);
	unlinkat(dir, name, 0);
}

static int set_size(const char *place, const char *name, off_t size)
{
	int dir = nw_journal_open_place(place, NULL);
	int fd = dir < 0 ? -1
			 : openat(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	int ret = dir < 0 ? dir : fd < 0 || ftruncate(fd, size) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return ret;
}

int nw_gate_set(const struct nw_journal *journal, bool open)
{
	char name[32];

	nw_gate_file(journal->session, name);
	return set_size(journal->dir, name, open ? (off_t)2 * NW_GATE_OFFSET : 0);
}

char *nw_gate_line(const struct nw_journal *journal, const char *event, bool is_return,
		   const char *fetches)
{
	char name[32];

	nw_gate_file(journal->session, name);
	return nw_text("%c:%s %s/%s:0x%x%s%s", is_return ? 'r' : 'p', event, journal->dir,
		       name, NW_GATE_OFFSET, *fetches ? " " : "", fetches);
}

bool nw_is_gate(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash && strncmp(slash + 1, prefix, sizeof(prefix) - 1) == 0) ||
	       strcmp(path, "/proc/version") == 0;
}

/* ---- who has it --------------------------------------------------------------------- */

/* The event's id for perf, 0: none. */
static uint64_t id_of(const struct nw_tracefs *fs, const char *group, const char *name)
{
	struct nw_buf text = {0};
	uint64_t id = 0;
	char file[512];

	nw_event_file("", group, name, "id", file);
	if (nw_tracefs_read(fs->root, file, &text) == 0)
		id = strtoull(nw_buf_str(&text), NULL, 10);
	nw_buf_free(&text);
	return id;
}

/* 0: nobody, behind a shut gate; -EBUSY: somebody; else it is not told. */
static int ask_perf(uint64_t id)
{
	/* the first form of it, that every kernel knows; of our own thread, never system-wide: what
	 * it succeeds with puts no breakpoint anywhere else */
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = PERF_ATTR_SIZE_VER0,
				       .config = id,
				       .disabled = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int code = errno;

	if (fd >= 0)
		close((int)fd);
	if (fd >= 0 || code == EINTR)
		return -EBUSY;
	return code == EINVAL || code == EIO ? 0 : -code;
}

/* "1" into the enable file of an instance that nobody else uses, which is made if need be. */
struct trial {
	const struct nw_tracefs *fs;
	char dir[NW_MAX_NAME + 16], file[512];
	bool made;
};

static int begin_trial(struct trial *trial, const struct nw_tracefs *fs,
		       const char *instance, const char *group, const char *name)
{
	*trial = (struct trial){.fs = fs};
	snprintf(trial->dir, sizeof(trial->dir), "instances/%.63s", instance);
	nw_event_file(instance, group, name, "enable", trial->file);
	trial->made = mkdirat(fs->root, trial->dir, 0700) == 0;
	return trial->made || errno == EEXIST ? nw_tracefs_write(fs->root, trial->file, "1")
					      : -errno;
}

static int end_trial(const struct trial *trial)
{
	const struct nw_action off = {NW_DO_DISABLE, (char *)trial->file, (char *)"0"};
	const struct nw_action away = {NW_DO_RMDIR, (char *)trial->dir, (char *)""};
	int ret = nw_action_do(trial->fs, &off);

	if (trial->made) { /* if it must stay, a teardown finds it by its name */
		int gone = nw_action_do(trial->fs, &away);
		ret = ret < 0 ? ret : gone;
	}
	return ret;
}

/* Where perf may not be asked: enabling is refused behind a shut gate if nobody has it. */
static int ask_ftrace(const struct nw_tracefs *fs, const char *group, const char *name)
{
	struct trial trial;
	int ret = begin_trial(&trial, fs, group, group, name);
	int ended = end_trial(&trial);

	if (ret == -EINVAL || ret == -EIO)
		return ended;
	return ret == 0 || ret == -EINTR ? -EBUSY : ret;
}

static int prove_free(const struct nw_tracefs *fs, const char *group, const char *name)
{
	uint64_t id = id_of(fs, group, name);
	int ret = id ? ask_perf(id) : -ENOSYS;

	return ret == 0 || ret == -EBUSY ? ret : ask_ftrace(fs, group, name);
}

int nw_event_try_perf(const struct nw_tracefs *fs, const char *instance, const char *group,
		      const char *name)
{
	struct trial trial;
	int ret = begin_trial(&trial, fs, instance, group, name);
	int ended = end_trial(&trial);

	/* the kernel looks for perf first: what has come as far as the sites is not perf's */
	if (ret == 0 || ret == -EINVAL || ret == -ENOTSUP || ret == -EIO || ret == -524)
		return ended;
	return ret == -EINTR ? -EBUSY : ret;
}

/* ---- deleting ----------------------------------------------------------------------- */

/* The lines of one event. */
struct definitions {
	size_t count;
	char kind;
	char *path, *args; /* of the first */
};

static void free_definitions(struct definitions *d)
{
	free(d->path);
	free(d->args);
}

struct looking {
	const char *event; /* "GROUP/NAME" */
	struct definitions *out;
};

static int take_definition(void *arg, const struct nw_event_line *line)
{
	const struct looking *l = arg;
	size_t group = strlen(line->group);
	struct definitions *d = l->out;

	if (strncmp(l->event, line->group, group) != 0 || l->event[group] != '/' ||
	    strcmp(l->event + group + 1, line->name) != 0 || d->count++)
		return 0;
	d->kind = line->is_return ? 'r' : 'p';
	d->path = strndup(line->path, line->path_len);
	d->args = nw_text("%s%s", *line->args ? " " : "", line->args);
	return d->path && d->args ? 0 : -ENOMEM;
}

static int find_definitions(const struct nw_tracefs *fs, const char *event,
			    struct definitions *out)
{
	struct looking looking = {event, out};

	*out = (struct definitions){0};
	return nw_event_list_read(fs, NULL, take_definition, &looking);
}

/* Shut the gate that it was defined with: -ENOENT: it has none. */
static int shut(const struct definitions *d)
{
	const char *slash = nw_is_gate(d->path) ? strrchr(d->path, '/') : NULL;
	nw_cleanup(nw_free_ptr) char *place = slash ? strndup(d->path,
							      (size_t)(slash - d->path))
						    : NULL;

	return place ? set_size(place, slash + 1, 0) : -ENOENT;
}

static int append_gate(const struct nw_tracefs *fs, const struct definitions *d,
		       const char *group, const char *name)
{
	nw_cleanup(nw_free_ptr) char *line = nw_text("%c:%s/%s " ALWAYS_SHUT "%s\n",
						     d->kind, group, name, d->args);
	struct trial trial;
	int ret = line ? begin_trial(&trial, fs, group, group, name) : -ENOMEM;

	if (!line)
		return ret;
	if (ret == 0)
		ret = nw_tracefs_append(fs->root, "uprobe_events", line);
	int ended = end_trial(&trial);
	/* EEXIST: it has had one, or was enabled in spite of it */
	return ret == 0 || ret == -EEXIST || ret == -EIO || ret == -EINVAL ? ended
	       : ret == -EINTR						   ? -EBUSY
									   : ret;
}

static int delete_shared(const struct nw_tracefs *fs, const struct definitions *d,
			 const char *group, const char *name)
{
	int ret = shut(d);

	if (ret < 0)
		ret = append_gate(fs, d, group, name);
	return ret < 0 ? ret : prove_free(fs, group, name);
}

int nw_event_delete(const struct nw_tracefs *fs, const char *event)
{
	nw_cleanup(nw_free_ptr) char *line = nw_text("-:%s\n", event);
	char group[NW_MAX_NAME + 1];
	const char *slash = strchrnul(event, '/');
	struct definitions d;

	snprintf(group, sizeof(group), "%.*s", (int)(slash - event), event);
	int ret = line ? find_definitions(fs, event, &d) : -ENOMEM;
	if (!line)
		return ret;
	if (ret == 0 && d.count > 1)
		ret = delete_shared(fs, &d, group, *slash ? slash + 1 : "");
	free_definitions(&d);
	return ret < 0 ? ret : nw_tracefs_append(fs->root, "uprobe_events", line);
}
