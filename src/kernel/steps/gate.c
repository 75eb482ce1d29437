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

#include "kernel/tracefs/event_list.h"
#include "kernel/tracefs/files.h"

#include "gate.h"

static const char prefix[] = "gate."; /* no session's journal has a dot */

/* procfs has no page cache to probe (EIO), and the offset is out of any range (EINVAL). */
#define ALWAYS_SHUT "/proc/version:0x7ffffffffffff000"

/* ---- the file ----------------------------------------------------------------------- */

void nw_gate_file(const char *session, char out[32])
{
	snprintf(out, 32, "%s%.23s", prefix, session);
}

int nw_gate_step(struct nw_doing *doing, const struct nw_journal *journal,
		 enum nw_gate_move move)
{
	static const struct {
		enum nw_action_kind kind;
		const char *text;
	} moves[] = {
		[NW_GATE_MAKE] = {NW_DO_CREATE, ""},
		[NW_GATE_OPEN] = {NW_DO_RESIZE, "8192"},
		[NW_GATE_SHUT] = {NW_DO_RESIZE, "0"},
	};
	_Static_assert(2 * NW_GATE_OFFSET == 8192, "a page beyond the gate's own offset");
	char name[32], path[128];

	nw_gate_file(journal->session, name);
	snprintf(path, sizeof(path), "%s/%s", journal->dir, name);
	return nw_doing_step(doing, moves[move].kind, path, moves[move].text, NULL);
}

void nw_gate_remove(const struct nw_journal *journal)
{
	char name[32], path[128];

	nw_gate_file(journal->session, name);
	snprintf(path, sizeof(path), "%s/%s", journal->dir, name);
	unlink(path);
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

int nw_event_holder(int answer, bool shut)
{
	switch (answer) {
	case -EINTR:
		return -EBUSY;
	case 0:
		return shut ? -EBUSY : 0;
	case -EINVAL:
	case -EIO:
		return 0;
	case -ENOTSUP:
	case -524:
		return shut ? answer : 0;
	default:
		return answer;
	}
}

/* Ask perf_event_open() about an event whose gate is shut. 0: nobody has the event; -EBUSY: somebody
 * has; another -errno: no answer. */
static int ask_perf(uint64_t id)
{
	/* the first version of the structure, which every kernel knows; for our own thread only,
	 * so that a success puts no breakpoint into another process */
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = PERF_ATTR_SIZE_VER0,
				       .config = id,
				       .disabled = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int answer = fd < 0 ? -errno : 0;

	if (fd >= 0)
		close((int)fd);
	return nw_event_holder(answer, true);
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
	int ret = nw_do(fs, NW_DO_MKDIR, trial->dir, "");
	trial->made = ret == 0;
	return ret == 0 || ret == -EEXIST ? nw_do(fs, NW_DO_WRITE, trial->file, "1") : ret;
}

static int end_trial(const struct trial *trial)
{
	int ret = nw_do(trial->fs, NW_DO_DISABLE, trial->file, "0");

	if (trial->made) { /* if it must stay, a teardown finds it by its name */
		int gone = nw_do(trial->fs, NW_DO_RMDIR, trial->dir, "");
		ret = ret < 0 ? ret : gone;
	}
	return ret;
}

/* Who has the event (nw_event_holder()), by enabling it in an instance. shut: behind a shut gate. */
static int ask_ftrace(const struct nw_tracefs *fs, const char *instance, const char *group,
		      const char *name, bool shut)
{
	struct trial trial;
	int ret = nw_event_holder(begin_trial(&trial, fs, instance, group, name), shut);
	int ended = end_trial(&trial);

	return ret < 0 ? ret : ended;
}

int nw_event_try_perf(const struct nw_tracefs *fs, const char *instance, const char *group,
		      const char *name)
{
	return ask_ftrace(fs, instance, group, name, false);
}

/* ---- deleting ----------------------------------------------------------------------- */

/* The lines of one event. */
struct definitions {
	size_t count;
	char kind;
	char *path, *args; /* of the first */
};

struct wanted {
	const char *event; /* "GROUP/NAME" */
	struct definitions *out;
};

static int take_definition(void *arg, const struct nw_definition_line *line)
{
	const struct wanted *l = arg;
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

/* Shut the gate that it was defined with: -ENOENT: it has none. */
static int shut(const struct nw_tracefs *fs, const struct definitions *d)
{
	return nw_is_gate(d->path) && strncmp(d->path, "/proc/", 6) != 0
		       ? nw_do(fs, NW_DO_RESIZE, d->path, "0")
		       : -ENOENT;
}

static int append_gate(const struct nw_tracefs *fs, const struct definitions *d,
		       const char *group, const char *name)
{
	nw_cleanup(nw_free_ptr) char *line = nw_text("%c:%s/%s " ALWAYS_SHUT "%s", d->kind,
						     group, name, d->args);
	struct trial trial;
	int answer = line ? begin_trial(&trial, fs, group, group, name) : -ENOMEM;

	if (!line)
		return answer;
	if (answer == 0) {
		answer = nw_do(fs, NW_DO_APPEND, "uprobe_events", line);
		/* EEXIST: it has such a gate already, and could still be enabled */
		answer = answer == -EEXIST ? 0 : answer;
	}
	int ret = nw_event_holder(answer, false), ended = end_trial(&trial);
	return ret < 0 ? ret : ended;
}

/* 0: nobody has an event of several sites, and nobody can get it any more: it may be deleted. */
static int prove_free(const struct nw_tracefs *fs, const struct definitions *d,
		      const char *group, const char *name)
{
	int ret = shut(fs, d);

	if (ret < 0)
		ret = append_gate(fs, d, group, name);
	if (ret < 0)
		return ret;
	uint64_t id = nw_event_id(fs, group, name);
	ret = id ? ask_perf(id) : -ENOSYS;
	/* where perf may not be asked, enabling tells, too */
	return ret == 0 || ret == -EBUSY ? ret : ask_ftrace(fs, group, group, name, true);
}

int nw_event_delete(const struct nw_tracefs *fs, const char *event)
{
	nw_cleanup(nw_free_ptr) char *line = nw_text("-:%s\n", event);
	char group[NW_MAX_NAME + 1];
	const char *slash = strchrnul(event, '/');
	struct definitions d = {0};
	struct wanted wanted = {event, &d};

	if (!line)
		return -ENOMEM;
	snprintf(group, sizeof(group), "%.*s", (int)(slash - event), event);
	int ret = nw_event_list_read(fs, NULL, take_definition, &wanted);
	if (ret == 0 && d.count > 1)
		ret = prove_free(fs, &d, group, *slash ? slash + 1 : "");
	free(d.path);
	free(d.args);
	return ret < 0 ? ret : nw_tracefs_append(fs->root, "uprobe_events", line);
}
