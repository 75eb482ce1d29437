// SPDX-License-Identifier: MIT
/*
 * Taking a session's things away, ours or a dead one's.
 *
 * The order is forced by a fault of the kernel: unregister_trace_uprobe() skips its busy check
 * for an event that has siblings, so deleting an enabled event of several sites frees memory
 * that breakpoints still lead to (usdt-args 3.5; 6.1, 6.12 and 7.2 seen). Hence: disable the
 * group in every instance, ours or not; read that back; make sure that perf does not hold the
 * event either; only then delete. What cannot be shown to be free stays, and is named.
 *
 * perf and ftrace exclude each other (probe_event_enable(): EINTR), so an event that was found
 * enabled in ftrace cannot be held by perf. One that was not is tried: enabling it answers
 * EINTR if perf has it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal.h"

struct teardown {
	const struct nw_tracefs *fs;
	char group[NW_MAX_NAME + 1];
	char instance[NW_MAX_NAME + 32]; /* "instances/nopwatch_X" */
	nw_strings events;
	bool *was_enabled; /* by event */
	bool *is_shared;   /* by event: it has several sites */
	nw_strings *stuck;
};

/* ---- enable files ------------------------------------------------------------------- */

/* "" for the top level, "instances/NAME/" else. */
static void event_file(const struct teardown *t, const char *where, const char *event,
		       char out[512])
{
	snprintf(out, 512, "%sevents/%s/%s%senable", where, t->group, event,
		 *event ? "/" : "");
}

/* What an enable file says: '0', '1', 'X' for mixed; "0*" (soft) counts as enabled; 0: gone. */
static char read_enable(const struct teardown *t, const char *file)
{
	struct nw_buf text = {0};
	char state = 0;

	if (nw_tracefs_read(t->fs->root, file, &text) == 0 && text.len)
		state = text.data[0] == '0' && text.len > 1 && text.data[1] == '*'
				? '1'
				: text.data[0];
	nw_buf_free(&text);
	return state;
}

/* Note which events are enabled here. */
static void note_enabled(struct teardown *t, const char *where)
{
	char file[512];

	for (size_t i = 0; i < t->events.count; i++) {
		event_file(t, where, t->events.item[i], file);
		t->was_enabled[i] |= read_enable(t, file) == '1';
	}
}

/* Disable the group here and read it back. */
static bool disable_in(struct teardown *t, const char *where)
{
	char file[512];

	event_file(t, where, "", file);
	char state = read_enable(t, file);
	if (state == '0' || state == '?' || state == 0)
		return true;
	note_enabled(t, where);
	int ret = nw_tracefs_write(t->fs->root, file, "0");
	if (read_enable(t, file) == '0')
		return true;
	nw_strings_addf(t->stuck, "events of %s cannot be disabled in %s: %s", t->group,
			*where ? where : "the top level",
			ret < 0 ? nw_strerror(-ret) : "they stay enabled");
	return false;
}

static bool disable_everywhere(struct teardown *t)
{
	nw_strings instances = {0};
	bool all = disable_in(t, "");

	nw_tracefs_list(t->fs->root, "instances", "", &instances);
	nw_vec_each (&instances, name) {
		char where[320];
		snprintf(where, sizeof(where), "instances/%.255s/", *name);
		all = disable_in(t, where) && all;
	}
	nw_strings_free(&instances);
	return all;
}

/* ---- perf --------------------------------------------------------------------------- */

/* Which events have more than one line in uprobe_events. */
static void note_shared(struct teardown *t)
{
	struct nw_buf lines = {0};

	nw_tracefs_read(t->fs->root, "uprobe_events", &lines);
	for (size_t i = 0; i < t->events.count; i++) {
		char wanted[2 * NW_MAX_NAME + 4];
		unsigned int count = 0;
		snprintf(wanted, sizeof(wanted), ":%s/%.63s ", t->group, t->events.item[i]);
		for (const char *at = nw_buf_str(&lines); (at = strstr(at, wanted)); at++)
			count++;
		t->is_shared[i] = count != 1;
	}
	nw_buf_free(&lines);
}

/* Does perf hold the event? Tried in our own instance, which is made again if need be. */
static bool held_by_perf(struct teardown *t, size_t i)
{
	char where[NW_MAX_NAME + 40], file[512];
	bool made = mkdirat(t->fs->root, t->instance, 0700) == 0;

	snprintf(where, sizeof(where), "%s/", t->instance);
	event_file(t, where, t->events.item[i], file);
	int ret = nw_tracefs_write(t->fs->root, file, "1");
	if (ret == 0)
		nw_tracefs_write(t->fs->root, file, "0");
	bool held = ret == -EINTR || (ret == 0 && read_enable(t, file) != '0');
	if (made)
		unlinkat(t->fs->root, t->instance, AT_REMOVEDIR);
	return held;
}

/* ---- deleting ----------------------------------------------------------------------- */

static void delete_event(struct teardown *t, size_t i)
{
	char line[2 * NW_MAX_NAME + 8];
	const char *event = t->events.item[i];

	if (t->is_shared[i] && !t->was_enabled[i] && held_by_perf(t, i)) {
		nw_strings_addf(t->stuck,
				"event %s/%s is in use by perf: end that, then run "
				"`nopwatch clean`",
				t->group, event);
		return;
	}
	snprintf(line, sizeof(line), "-:%s/%.63s\n", t->group, event);
	int ret = nw_tracefs_append(t->fs->root, "uprobe_events", line);
	if (ret < 0 && ret != -ENOENT)
		nw_strings_addf(t->stuck, "event %s/%s cannot be deleted: %s", t->group,
				event, nw_refusal_text(NW_REFUSED_DELETION, -ret));
}

/* With it go the kernel's own events that it has enabled; should it have to stay, they must not
 * cost anybody anything. */
static void remove_instance(struct teardown *t)
{
	char file[2 * NW_MAX_NAME];

	snprintf(file, sizeof(file), "%s/events/enable", t->instance);
	nw_tracefs_write(t->fs->root, file, "0");
	if (unlinkat(t->fs->root, t->instance, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return;
	nw_strings_addf(t->stuck, "%s/%s cannot be removed: %s%s", t->fs->path, t->instance,
			nw_strerror(errno),
			errno == EBUSY ? " (somebody reads from it)" : "");
}

int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck)
{
	struct teardown t = {.fs = fs, .stuck = stuck};
	size_t before = stuck->count;
	char group_dir[NW_MAX_NAME + 16];

	snprintf(t.group, sizeof(t.group), "nopwatch_%.20s", session);
	snprintf(t.instance, sizeof(t.instance), "instances/%s", t.group);
	snprintf(group_dir, sizeof(group_dir), "events/%s", t.group);
	nw_tracefs_list(fs->root, group_dir, "", &t.events);
	t.was_enabled = calloc(t.events.count + 1, sizeof(bool));
	t.is_shared = calloc(t.events.count + 1, sizeof(bool));
	if (!t.was_enabled || !t.is_shared) {
		nw_strings_addf(stuck, "out of memory");
	} else if (disable_everywhere(&t)) {
		note_shared(&t);
		remove_instance(&t);
		for (size_t i = 0; i < t.events.count; i++)
			delete_event(&t, i);
	}
	free(t.was_enabled);
	free(t.is_shared);
	nw_strings_free(&t.events);
	return stuck->count == before ? 0 : -EBUSY;
}
