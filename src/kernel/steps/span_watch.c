// SPDX-License-Identifier: MIT
/*
 * The kernel itself finds slow spans: Documentation/trace/histogram.rst, "inter-event hist triggers". The start's
 * trigger keeps each thread's time, the end's takes the difference and hands it to a synthetic event, whose filter
 * lets through what has taken long enough. The events themselves are then not recorded any more, so there is nothing
 * to read.
 *
 * A thread's start is one variable, which a later start replaces and the end that reads it takes away: that is what
 * `nest=no` means, and nothing else.
 *
 * The synthetic event is called as the session's group, so whoever takes a dead session away finds it by its name. An
 * instance with such triggers cannot be removed (trace_events_hist.c, save_hist_vars() takes a reference), and that of
 * the start not before that of the end, which refers to it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/tracefs/event_list.h"
#include "kernel/tracefs/files.h"

#include "span_watch.h"

enum {
	MOST_THREADS = 2048 /* entries of a hist trigger, which are never given back */
};

/* ---- setting it up ------------------------------------------------------------------ */

/* The fields of the synthetic event, in the format of synthetic_events. */
static const char fields[] = "u64 took; u64 at";

static int set(const struct nw_span_watch *watch, const char *system, const char *event,
	       const char *file, const char *text)
{
	char path[512];

	nw_event_file(watch->group, system, event, file, path);
	return strcmp(file, "trigger") == 0 ? nw_tracefs_append(watch->fs->root, path, text)
					    : nw_tracefs_write(watch->fs->root, path, text);
}

static int set_trigger(const struct nw_span_watch *watch, const char *event,
		       const char *variables, const char *action)
{
	nw_cleanup(nw_free_ptr) char *text = nw_text(
		"hist:keys=common_pid:%s:size=%d:clock=%s%s", variables, MOST_THREADS,
		watch->clock, action);

	return text ? set(watch, watch->group, event, "trigger", text) : -ENOMEM;
}

static int record_both(const struct nw_span_watch *watch, const char *on)
{
	int ret = set(watch, watch->group, watch->start, "enable", on);
	int other = set(watch, watch->group, watch->end, "enable", on);

	return ret < 0 ? ret : other;
}

static int set_up(const struct nw_span_watch *watch, uint64_t least_ns)
{
	const char *group = watch->group;
	char filter[48];
	nw_cleanup(nw_free_ptr) char *synthetic = nw_text("%s %s", group, fields);
	nw_cleanup(nw_free_ptr) char *action = nw_text(
		":onmatch(%s.%s).trace(%s,$took,$at)", group, watch->start, group);

	if (!synthetic || !action)
		return -ENOMEM;
	snprintf(filter, sizeof(filter), "took >= %" PRIu64, least_ns);
	int ret = nw_tracefs_append(watch->fs->root, "synthetic_events", synthetic);
	if (ret == 0)
		ret = set(watch, "synthetic", group, "filter", filter);
	if (ret == 0)
		ret = set(watch, "synthetic", group, "enable", "1");
	if (ret == 0)
		ret = set_trigger(watch, watch->start, "began=common_timestamp", "");
	if (ret == 0)
		ret = set_trigger(watch, watch->end,
				  "took=common_timestamp-$began,at=common_timestamp",
				  action);
	/* The triggers keep the places armed: their recording ends here. */
	return ret < 0 ? ret : record_both(watch, "0");
}

/* Before Linux 5.1 hist triggers say it otherwise, and are too young to be relied on. */
static bool has_actions(const struct nw_tracefs *fs)
{
	struct nw_buf readme = {0};

	nw_tracefs_read(fs->root, "README", &readme);
	bool has = strstr(nw_buf_str(&readme), "trace(<synthetic_event>") != NULL;
	nw_buf_free(&readme);
	return has;
}

int nw_span_watch_begin(const struct nw_span_watch *watch, uint64_t least_ns)
{
	if (!has_actions(watch->fs))
		return -ENOTSUP;
	int ret = set_up(watch, least_ns);
	if (ret < 0)
		nw_span_watch_end(watch);
	return ret;
}

/* ---- what it has seen --------------------------------------------------------------- */

/* The number behind a word of the lines below "Totals:". */
static int read_totals(const struct nw_span_watch *watch, const char *event, uint64_t *hits,
		       uint64_t *dropped)
{
	struct nw_buf text = {0};
	char path[512];

	nw_event_file(watch->group, watch->group, event, "hist", path);
	int ret = nw_tracefs_read(watch->fs->root, path, &text);
	const char *totals = ret == 0 ? strstr(nw_buf_str(&text), "Totals:") : NULL;
	const char *drops = totals ? strstr(totals, "Dropped:") : NULL;
	const char *all = totals ? strstr(totals, "Hits:") : NULL;
	if (!drops || !all)
		ret = ret < 0 ? ret : -ENOENT;
	*hits = all ? strtoull(all + 5, NULL, 10) : 0;
	*dropped = drops ? strtoull(drops + 8, NULL, 10) : 0;
	nw_buf_free(&text);
	return ret;
}

int nw_span_watch_check(const struct nw_span_watch *watch, uint64_t *ends,
			uint64_t *dropped)
{
	uint64_t starts, first, last;
	int ret = read_totals(watch, watch->start, &starts, &first);

	if (ret == 0)
		ret = read_totals(watch, watch->end, ends, &last);
	if (ret == 0)
		*dropped = first + last;
	return ret;
}

/* ---- taking it away ----------------------------------------------------------------- */

/* Linux 7.2 and 7.3 print the key common_cpu twice, and take no trigger back that is written so: "keys=common_cpucommon_cpu:". */
static void mend_key(char *trigger)
{
	static const char once[] = "common_cpu", twice[] = "=common_cpucommon_cpu:";
	char *at = strstr(trigger, twice);

	if (at)
		memmove(at + sizeof(once), at + sizeof(twice) - 2,
			strlen(at + sizeof(twice) - 2) + 1);
}

/* Adds steps that remove an event's hist triggers in the session's own instance: those that refer to others, or the
 * rest. Returns -errno if they cannot be read. */
static int steps_triggers(const struct nw_tracefs *fs, const char *file, bool referring,
			  struct nw_steps *out)
{
	struct nw_buf text = {0};
	char *at, *line;
	int ret = nw_tracefs_read(fs->root, file, &text);

	for (at = ret == 0 && text.len ? text.data : NULL;
	     at && (line = strsep(&at, "\n"));) {
		char *state = strstr(line, " [");
		if (strncmp(line, "hist:", 5) != 0 ||
		    (strstr(line, ":onmatch(") != NULL) != referring)
			continue;
		if (state)
			*state = '\0';
		mend_key(line);
		nw_cleanup(nw_free_ptr) char *undo = nw_text("!%s", line);
		out->failed |= !undo;
		nw_steps_add(out, NW_DO_APPEND, file, undo ? undo : "");
		nw_steps_what(out, NW_REFUSED_OTHERWISE, "a hist trigger stays in %s",
			      file);
	}
	out->failed |= text.failed;
	nw_buf_free(&text);
	return ret == -ENOENT ? 0 : ret;
}

/* Lists the synthetic events of a group: GROUP, GROUP_1, ... Without the first there are none. */
static int list_synthetic(const struct nw_tracefs *fs, const char *group, nw_strings *out)
{
	size_t len = strlen(group);
	nw_strings all = {0};
	int ret = nw_tracefs_list_any(fs->root, "events/synthetic", group, &all);

	nw_vec_each (&all, name) {
		const char *rest = *name + len;
		bool numbered = *rest == '_' &&
				rest[1 + strspn(rest + 1, "0123456789")] == '\0';
		if (ret == 0 && (!*rest || numbered))
			ret = nw_strings_add(out, *name, strlen(*name));
	}
	nw_strings_free(&all);
	return ret;
}

void nw_synthetic_steps(const struct nw_tracefs *fs, const char *group,
			struct nw_steps *out)
{
	nw_strings names = {0};

	out->failed |= list_synthetic(fs, group, &names) == -ENOMEM;
	nw_vec_each (&names, name) {
		nw_cleanup(nw_free_ptr) char *undo = nw_text("!%s", *name);
		out->failed |= !undo;
		nw_steps_add(out, NW_DO_APPEND, "synthetic_events", undo ? undo : "");
		nw_steps_what(out, NW_REFUSED_OTHERWISE, "the synthetic event %s stays",
			      *name);
	}
	nw_strings_free(&names);
}

int nw_span_watch_steps(const struct nw_tracefs *fs, const char *group,
			const nw_strings *events, struct nw_steps *out)
{
	nw_strings synthetic = {0};
	char file[512];
	int ret = list_synthetic(fs, group, &synthetic);

	nw_vec_each (&synthetic, name) {
		nw_event_file(group, "synthetic", *name, "enable", file);
		if (ret < 0 || !nw_tracefs_has(fs->root, file))
			continue;
		nw_steps_add(out, NW_DO_WRITE, file, "0");
		nw_steps_what(out, NW_REFUSED_OTHERWISE, "%s stays enabled", file);
		nw_event_file(group, "synthetic", *name, "trigger", file);
		ret = steps_triggers(fs, file, false, out);
	}
	for (int round = 0; synthetic.count && round < 2; round++)
		nw_vec_each (events, event) {
			nw_event_file(group, group, *event, "trigger", file);
			ret = ret < 0 ? ret : steps_triggers(fs, file, round == 0, out);
		}
	nw_strings_free(&synthetic);
	return ret;
}

void nw_span_watch_end(const struct nw_span_watch *watch)
{
	char *both[] = {(char *)(uintptr_t)watch->start, (char *)(uintptr_t)watch->end};
	const nw_strings events = {.item = both, .count = NW_COUNT(both)};
	struct nw_steps steps = {0};
	nw_strings stuck = {0};

	(void)record_both(watch, "1");
	(void)nw_span_watch_steps(watch->fs, watch->group, &events, &steps);
	nw_synthetic_steps(watch->fs, watch->group, &steps);
	/* A step that fails is tried again at the session's end, which tells of it. */
	(void)nw_steps_do_each(watch->fs, &steps, &stuck);
	nw_steps_free(&steps);
	nw_strings_free(&stuck);
}
