// SPDX-License-Identifier: MIT
/*
 * Deletes an event of several sites safely.
 *
 * The kernel does not check whether such an event is in use (unregister_trace_uprobe() skips its check for
 * siblings), and if it is, frees memory to which breakpoints lead. A check of our own just before would leave a
 * moment in which perf may open the event. So each such event has a *gate*: its first site is offset 4096 of a file
 * of the session that no process maps. Enabling an event registers its sites in order, for ftrace as for perf, and
 * uprobe_register() returns EINVAL for an offset beyond the end of the file:
 *
 * - shut (0 bytes): the event cannot be enabled any more, and no other site of it is touched;
 * - open (8192 bytes): the event can be enabled. The gate is open only while the session enables the event: if perf
 *    opens an event between two of its definitions, the kernel breaks, too (a site that is appended then is never
 *    registered, but applied and unregistered).
 *
 * Behind a shut gate perf_event_open() proves whether the event is free. EINVAL: nobody uses the event, and nobody
 * can. EINTR: ftrace uses it. Success: perf uses it already, because otherwise the call would have had to enable
 * it.
 *
 * An event whose gate is lost with its session's directory gets a gate that is always shut, behind its other sites,
 * while an instance of ours enables the event: then perf cannot open it.
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

#include "base/state.h"

#include "gate.h"

/* The dot keeps it apart from journals, whose names have none. */
static const char prefix[] = "gate.";

/* procfs has no page cache to probe (EIO), and the offset is beyond any file (EINVAL). */
#define ALWAYS_SHUT "/proc/version:0x7ffffffffffff000"

/* ---- the file ----------------------------------------------------------------------- */

void nw_gate_file(const char *session, char out[32])
{
	snprintf(out, 32, "%s%.23s", prefix, session);
}

int nw_gate_step(struct nw_step_runner *runner, const struct nw_journal *journal,
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
	char name[32], path[NW_STATE_PATH];

	nw_gate_file(journal->session, name);
	snprintf(path, sizeof(path), "%s/%s", journal->dir, name);
	return nw_step_runner_step(runner, moves[move].kind, path, moves[move].text, NULL);
}

int nw_gate_remove(const struct nw_journal *journal)
{
	char name[32], path[NW_STATE_PATH];

	nw_gate_file(journal->session, name);
	snprintf(path, sizeof(path), "%s/%s", journal->dir, name);
	return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
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

/* Tests by perf_event_open() whether an event with a shut gate is in use. 0: it is not; -EBUSY: it is; another
 * -errno: unknown. */
static int ask_perf(uint64_t id)
{
	/* The first version of the structure is known to every kernel. The event is opened for our own thread only,
	 * so that a success puts no breakpoint into another process. */
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

/* An attempt to enable an event in an instance that nobody else uses; the instance is made if it does not exist. */
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

	if (trial->made) { /* if it cannot be removed, a teardown finds it by its name */
		int gone = nw_do(trial->fs, NW_DO_RMDIR, trial->dir, "");
		ret = ret < 0 ? ret : gone;
	}
	return ret;
}

/* Tests by enabling an event in an instance whether it is in use (nw_event_holder()). shut: its gate is shut. */
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

/* Shuts the gate of the event's first definition. -ENOENT: it has no gate. */
static int shut(const struct nw_tracefs *fs, const struct nw_defined_event *d)
{
	return nw_is_gate(d->path) && strncmp(d->path, "/proc/", 6) != 0
		       ? nw_do(fs, NW_DO_RESIZE, d->path, "0")
		       : -ENOENT;
}

static int append_gate(const struct nw_tracefs *fs, const struct nw_defined_event *d,
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
		/* EEXIST: the event has this gate already, but could still be enabled. */
		answer = answer == -EEXIST ? 0 : answer;
	}
	int ret = nw_event_holder(answer, false), ended = end_trial(&trial);
	return ret < 0 ? ret : ended;
}

/* Proves that an event of several sites is not in use and cannot be enabled any more, so that it may be deleted.
 * Returns 0 then. */
static int prove_free(const struct nw_tracefs *fs, const struct nw_defined_event *d,
		      const char *group, const char *name)
{
	int ret = shut(fs, d);

	if (ret < 0)
		ret = append_gate(fs, d, group, name);
	if (ret < 0)
		return ret;
	uint64_t id = nw_event_id(fs, group, name);
	ret = id ? ask_perf(id) : -ENOSYS;
	/* If perf_event_open() is not permitted, enabling the event in ftrace gives the answer. */
	return ret == 0 || ret == -EBUSY ? ret : ask_ftrace(fs, group, group, name, true);
}

int nw_event_delete(const struct nw_tracefs *fs, struct nw_defined_events *definitions,
		    const char *list, const char *event)
{
	nw_cleanup(nw_free_ptr) char *line = nw_text("-:%s\n", event);
	const struct nw_defined_event *d;
	const char *slash = strchrnul(event, '/');
	char group[NW_MAX_NAME + 1];

	if (!line)
		return -ENOMEM;
	/* An event of the kernel's functions or events has one place, so the kernel itself sees that nobody uses it. */
	if (strcmp(list, NW_KPROBE_EVENTS) == 0 || strcmp(list, NW_DYNAMIC_EVENTS) == 0)
		return nw_tracefs_append(fs->root, list, line);
	snprintf(group, sizeof(group), "%.*s", (int)(slash - event), event);
	int ret = nw_defined_events_find(definitions, fs, event, &d);
	if (ret == 0 && d && d->count > 1)
		ret = prove_free(fs, d, group, *slash ? slash + 1 : "");
	return ret < 0 ? ret : nw_tracefs_append(fs->root, "uprobe_events", line);
}
