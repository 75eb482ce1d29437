// SPDX-License-Identifier: MIT
/*
 * Removes what tracefs contains of a session, ours or a dead one: it becomes a list of steps, which is done or
 * printed.
 *
 * A bug of the kernel dictates the order: unregister_trace_uprobe() skips its busy check for an event with
 * siblings, so deleting an enabled event of several sites frees memory to which breakpoints still lead (seen on
 * 6.1, 6.12 and 7.2). So the group is disabled in every instance, ours or not; this is read back; the gate is shut
 * to prove that nobody else uses the event (gate.c); and only then it is deleted. An event that may be in use
 * stays, and is reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/recovery/cleanup.h"

#include "kernel/steps/span_watch.h"
#include "kernel/steps/topbuffer.h"
#include "kernel/tracefs/event_list.h"
#include "kernel/tracefs/files.h"

#include "teardown.h"

/* The parts of a session that tracefs contains. */
struct survey {
	const struct nw_tracefs *fs;
	char group[NW_MAX_NAME + 1];
	nw_strings places; /* places in which the group is enabled: "" and instances */
	nw_strings events;
	nw_strings in_kernel; /* those of them that are at functions of the kernel */
	nw_strings followers; /* those that are behind events of the kernel */
	bool has_instance;
};

/* ---- what there is ------------------------------------------------------------------ */

static int survey_place(struct survey *s, const char *where)
{
	enum nw_enabled enabled = NW_ENABLED_NO;
	char file[512];

	nw_event_file(where, s->group, NULL, "enable", file);
	int ret = nw_enabled_read(s->fs->root, file, &enabled);
	if (ret == -ENOENT ||
	    ret == -ENODEV) /* the instance or the group does not exist any more */
		return 0;
	if (ret < 0 || !nw_enabled_arms(enabled))
		return ret;
	return nw_strings_add(&s->places, where, strlen(where));
}

static int add_in_kernel(void *arg, const char *list, const char *group, const char *name)
{
	struct survey *s = arg;
	nw_strings *out = strcmp(list, NW_KPROBE_EVENTS) == 0 ? &s->in_kernel
							      : &s->followers;

	return strcmp(group, s->group) == 0 ? nw_strings_add(out, name, strlen(name)) : 0;
}

/* Returns the list that an event of the session is deleted from; "": uprobe_events. */
static const char *list_of(const struct survey *s, const char *name)
{
	return nw_strings_has(&s->in_kernel, name)   ? NW_KPROBE_EVENTS
	       : nw_strings_has(&s->followers, name) ? NW_DYNAMIC_EVENTS
						     : "";
}

static int survey(struct survey *s)
{
	nw_strings instances = {0};
	char path[NW_MAX_NAME + 16];

	snprintf(path, sizeof(path), "events/%s", s->group);
	int ret = nw_tracefs_list_any(s->fs->root, path, "", &s->events);
	if (ret == 0 && s->events.count)
		ret = nw_kernel_event_list_read(s->fs, add_in_kernel, s);
	if (ret == 0)
		ret = nw_tracefs_list_any(s->fs->root, "instances", "", &instances);
	if (ret == 0)
		ret = survey_place(s, "");
	int lock = nw_instances_lock(s->fs, LOCK_SH);
	nw_vec_each (&instances, name)
		if (ret == 0)
			ret = survey_place(s, *name);
	if (lock >= 0)
		close(lock);
	s->has_instance = nw_strings_has(&instances, s->group);
	nw_strings_free(&instances);
	return ret;
}

static void free_survey(struct survey *s)
{
	nw_strings_free(&s->places);
	nw_strings_free(&s->events);
	nw_strings_free(&s->in_kernel);
	nw_strings_free(&s->followers);
}

/* ---- as steps ----------------------------------------------------------------------- */

static void steps_disable(const struct survey *s, struct nw_steps *out)
{
	nw_vec_each (&s->places, where) {
		char file[512];
		nw_event_file(*where, s->group, NULL, "enable", file);
		nw_steps_add(out, NW_DO_DISABLE, file, "0");
		nw_steps_what(out, NW_REFUSED_OTHERWISE,
			      "events of %s cannot be disabled in %s", s->group,
			      **where ? *where : "the top level");
	}
}

static void steps_instance(const struct survey *s, struct nw_steps *out)
{
	char path[NW_MAX_NAME + 16];

	if (!s->has_instance)
		return;
	snprintf(path, sizeof(path), "instances/%s", s->group);
	nw_steps_add(out, NW_DO_RMDIR, path, "");
	nw_steps_what(out, NW_REFUSED_INSTANCE, "%s/%s cannot be removed", s->fs->path,
		      path);
}

/* Deletes the events that are behind others of the kernel (followers), or the rest. */
static void steps_delete(const struct survey *s, bool followers, struct nw_steps *out)
{
	nw_vec_each (&s->events, name) {
		char event[2 * NW_MAX_NAME + 2];
		if (nw_strings_has(&s->followers, *name) != followers)
			continue;
		snprintf(event, sizeof(event), "%s/%.63s", s->group, *name);
		nw_steps_add(out, NW_DO_DELETE, list_of(s, *name), event);
		nw_steps_what(out, NW_REFUSED_DELETION, "event %s cannot be deleted",
			      event);
	}
}

/*
 * Disables everything. A synthetic event cannot be deleted while an event probe is behind it, nor that while it is enabled;
 * the kernel refuses both then, so nothing breaks where disabling has failed. Returns 0, or -errno if triggers cannot be read.
 */
static int steps_quiet(const struct survey *s, struct nw_steps *out)
{
	int ret = nw_span_watch_steps(s->fs, s->group, &s->events, out);

	steps_disable(s, out);
	steps_delete(s, true, out);
	nw_synthetic_steps(s->fs, s->group, out);
	return ret;
}

static void begin(const struct nw_tracefs *fs, const char *session, struct survey *out)
{
	*out = (struct survey){.fs = fs};
	nw_session_group(session, out->group);
}

int nw_teardown_steps(const struct nw_tracefs *fs, const char *session,
		      struct nw_steps *out, struct nw_error *err)
{
	struct survey s;

	begin(fs, session, &s);
	int ret = survey(&s);
	if (ret < 0)
		nw_fail(err, -ret, "cannot look for what is left of %s: %s", s.group,
			nw_strerror(-ret));
	int triggers = steps_quiet(&s, out);
	if (ret == 0 && triggers < 0)
		ret = nw_fail(err, -triggers, "the triggers of %s cannot be read: %s",
			      s.group, nw_strerror(-triggers));
	steps_instance(&s, out);
	steps_delete(&s, false, out);
	free_survey(&s);
	return ret;
}

/* ---- doing it ----------------------------------------------------------------------- */

enum {
	LEAST_KIB = 8 /* two pages per CPU, the kernel's minimum */
};

static bool is_shrunk(const struct nw_tracefs *fs, const char *size_file)
{
	struct nw_buf text = {0};

	nw_tracefs_read(fs->root, size_file, &text);
	bool is = text.len && text.data[0] != 'X' &&
		  strtoul(nw_buf_str(&text), NULL, 10) <= LEAST_KIB;
	nw_buf_free(&text);
	return is;
}

static bool is_below(const char *link, const void *mark)
{
	return strstr(link, mark) != NULL;
}

/* Does any process that we can see have a file of the session's own instance open? With the lock, other nopwatch
 * processes that look at every instance for a moment do not count. */
static bool is_read(const struct survey *s)
{
	char mark[NW_MAX_NAME + 32];
	nw_pids all = {0};
	bool found = false;
	int lock = nw_instances_lock(s->fs, LOCK_EX);

	snprintf(mark, sizeof(mark), "/instances/%s/", s->group);
	(void)nw_process_all(&all, NULL);
	nw_vec_each (&all, pid)
		found = found || nw_process_has_open(*pid, is_below, mark);
	nw_vec_free(&all);
	if (lock >= 0)
		close(lock);
	return found;
}

/*
 * Removes the instance. Linux 4.1 to 5.8 count the readers of all trace_pipes together (on the nop tracer that all
 * instances share), so no instance can be removed while any trace_pipe is read. Such an instance is emptied and
 * made as small as possible, and its journal stays, so that the next clean-up removes it; then 1 is returned. An
 * instance for which a call has waited before is tried without waiting.
 */
static int remove_instance(const struct survey *s, nw_strings *stuck)
{
	char path[NW_MAX_NAME + 16], size[NW_MAX_NAME + 32], trace[NW_MAX_NAME + 32];

	if (!s->has_instance)
		return 0;
	snprintf(path, sizeof(path), "instances/%s", s->group);
	snprintf(size, sizeof(size), "%s/buffer_size_kb", path);
	snprintf(trace, sizeof(trace), "%s/trace", path);
	bool waited = is_shrunk(s->fs, size);
	int ret = waited ? nw_instance_remove(s->fs, path, LOCK_EX)
			 : nw_do(s->fs, NW_DO_RMDIR, path, "");
	if (ret == 0 || ret == -ENOENT)
		return 0;
	bool held = (ret == -EBUSY || ret == -EAGAIN) && !is_read(s);
	if (held && !waited) {
		(void)nw_do(s->fs, NW_DO_WRITE, trace, "");
		(void)nw_do(s->fs, NW_DO_WRITE, size, "1");
	}
	if (held && is_shrunk(s->fs, size))
		return 1;
	nw_strings_tell(stuck, "%s/%s cannot be removed: %s", s->fs->path, path,
			nw_refusal_text(NW_REFUSED_INSTANCE, -ret));
	return ret;
}

static int take_away(const struct survey *s, nw_strings *stuck)
{
	struct nw_steps disable = {0}, rest = {0};

	if (s->has_instance) {
		/* The records of the instance are of no use any more. If the instance has to stay, the kernel's own
		 * events in it must not cost any time. */
		char file[NW_MAX_NAME + 48];
		snprintf(file, sizeof(file), "instances/%s/tracing_on", s->group);
		(void)nw_do(s->fs, NW_DO_WRITE, file, "0");
		snprintf(file, sizeof(file), "instances/%s/events/enable", s->group);
		(void)nw_do(s->fs, NW_DO_WRITE, file, "0");
	}
	/* Nothing is deleted that may still be enabled, as by a trigger. */
	int ret = steps_quiet(s, &disable);
	if (ret < 0)
		nw_strings_tell(stuck, "the triggers of %s cannot be read: %s", s->group,
				nw_strerror(-ret));
	steps_delete(s, false, &rest);
	ret = ret < 0 ? ret : nw_steps_do_each(s->fs, &disable, stuck);
	if (ret == 0) {
		int instance = remove_instance(s, stuck);
		ret = nw_steps_do_each(s->fs, &rest, stuck);
		ret = ret < 0 ? ret : instance;
	}
	nw_steps_free(&disable);
	nw_steps_free(&rest);
	return ret;
}

static int teardown_once(const struct nw_tracefs *fs, const char *session,
			 nw_strings *stuck)
{
	struct survey s;

	begin(fs, session, &s);
	int ret = survey(&s);
	if (ret < 0)
		nw_strings_tell(stuck, "what is left of %s cannot be looked at: %s",
				s.group, nw_strerror(-ret));
	else
		ret = take_away(&s, stuck);
	free_survey(&s);
	return ret;
}

int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck)
{
	int ret = teardown_once(fs, session, stuck);

	/* A shortage may be over: the failed attempt has freed its memory. */
	if (ret < 0 && nw_is_shortage(-ret)) {
		nw_strings_free(stuck);
		ret = teardown_once(fs, session, stuck);
	}
	return ret < 0 ? -EBUSY : ret;
}

int nw_session_undo(const struct nw_tracefs *fs, const struct nw_journal *journal,
		    const struct nw_journal_contents *contents,
		    struct nw_semaphores *living, nw_strings *stuck)
{
	int lowered = living ? nw_semaphores_close(living, stuck)
			     : nw_semaphores_recover(journal, contents, stuck);
	int gone = nw_teardown(fs, journal->session, stuck);
	int restored = nw_top_restore(fs, journal, contents, stuck);

	return lowered < 0 ? lowered : gone < 0 ? gone : restored < 0 ? restored : gone;
}

int nw_session_settle(struct nw_journal *journal, int ret, nw_strings *stuck,
		      struct nw_error *err)
{
	const bool undone = ret == 0;

	if (undone)
		ret = nw_journal_remove(journal);
	if (ret < 0) {
		if (undone)
			nw_fail(err, EUCLEAN, "the journal '%s/%s' cannot be removed: %s",
				journal->dir, journal->session, nw_strerror(-ret));
		else
			nw_fail(err, EUCLEAN,
				"not everything of session %s could be taken away: %s",
				journal->session,
				stuck->count ? stuck->item[0] : nw_strerror(-ret));
		nw_error_hint(err, "`nopwatch clean` tries again");
	}
	nw_journal_leave(journal);
	nw_strings_free(stuck);
	return ret < 0 ? -EUCLEAN : 0;
}
