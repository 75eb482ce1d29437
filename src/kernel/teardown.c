// SPDX-License-Identifier: MIT
/*
 * Taking a session's things away, ours or a dead one's: what there is of it becomes a list of
 * steps, which is done or told.
 *
 * The order is forced by a fault of the kernel: unregister_trace_uprobe() skips its busy check
 * for an event that has siblings, so deleting an enabled event of several sites frees memory
 * that breakpoints still lead to (6.1, 6.12 and 7.2 seen). Hence: disable the group in every
 * instance, ours or not; read that back; make sure that perf does not hold the event either; only
 * then delete. What cannot be shown to be free stays, and is named.
 *
 * perf and ftrace exclude each other (probe_event_enable(): EINTR), so an event that was found
 * enabled in ftrace cannot be held by perf. One that was not is tried: enabling it answers
 * EINTR if perf has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inventory.h"
#include "journal.h"

/* What there is of a session. */
struct survey {
	const struct nw_tracefs *fs;
	char group[NW_MAX_NAME + 1];
	nw_strings places; /* where the group is enabled: "" and instances */
	nw_strings events;
	bool *was_enabled; /* by event, in any place */
	bool has_instance;
};

/* ---- what there is ------------------------------------------------------------------ */

/* Of the whole group, if event is "". */
static void enable_file(const struct survey *s, const char *where, const char *event,
			char out[512])
{
	if (*event)
		nw_event_file(where, s->group, event, "enable", out);
	else
		snprintf(out, 512, "%s%.255s%sevents/%s/enable", *where ? "instances/" : "",
			 where, *where ? "/" : "", s->group);
}

static int survey_place(struct survey *s, const char *where)
{
	char file[512], state = '0';

	enable_file(s, where, "", file);
	int ret = nw_tracefs_state(s->fs, file, &state);
	if (ret == -ENOENT || ret == -ENODEV) /* the instance or the group is gone */
		return 0;
	if (ret < 0 || state == '0' || state == '?')
		return ret;
	for (size_t i = 0; i < s->events.count; i++) {
		enable_file(s, where, s->events.item[i], file);
		s->was_enabled[i] |= nw_tracefs_state(s->fs, file, &state) == 0 &&
				     state == '1';
	}
	return nw_strings_add(&s->places, where, strlen(where));
}

static int survey(struct survey *s)
{
	nw_strings instances = {0};
	char path[NW_MAX_NAME + 16];

	snprintf(path, sizeof(path), "events/%s", s->group);
	int ret = nw_tracefs_list_any(s->fs->root, path, "", &s->events);
	s->was_enabled = calloc(s->events.count + 1, sizeof(bool));
	if (ret == 0 && !s->was_enabled)
		ret = -ENOMEM;
	if (ret == 0)
		ret = nw_tracefs_list_any(s->fs->root, "instances", "", &instances);
	if (ret == 0)
		ret = survey_place(s, "");
	nw_vec_each (&instances, name)
		if (ret == 0)
			ret = survey_place(s, *name);
	s->has_instance = nw_strings_has(&instances, s->group);
	nw_strings_free(&instances);
	return ret;
}

static void free_survey(struct survey *s)
{
	nw_strings_free(&s->places);
	nw_strings_free(&s->events);
	free(s->was_enabled);
}

/* ---- as steps ----------------------------------------------------------------------- */

static void steps_disable(const struct survey *s, struct nw_steps *out)
{
	nw_vec_each (&s->places, where) {
		char file[512];
		enable_file(s, *where, "", file);
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

static void steps_delete(const struct survey *s, struct nw_steps *out)
{
	for (size_t i = 0; i < s->events.count; i++) {
		nw_cleanup(nw_free_ptr) char *event = nw_text("%s/%.63s", s->group,
							      s->events.item[i]);
		nw_cleanup(nw_free_ptr) char *line = nw_text("-:%s", event ? event : "");
		if (!event || !line) {
			out->failed = true;
			return;
		}
		if (s->was_enabled[i])
			nw_steps_add(out, NW_DO_APPEND, "uprobe_events", line);
		else
			nw_steps_add(out, NW_DO_DELETE, "", event);
		nw_steps_what(out, NW_REFUSED_DELETION, "event %s cannot be deleted",
			      event);
	}
}

static void begin(const struct nw_tracefs *fs, const char *session, struct survey *out)
{
	*out = (struct survey){.fs = fs};
	snprintf(out->group, sizeof(out->group), "nopwatch_%.20s", session);
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
	steps_disable(&s, out);
	steps_instance(&s, out);
	steps_delete(&s, out);
	free_survey(&s);
	return ret;
}

/* ---- doing it ----------------------------------------------------------------------- */

/* What the instance records is of no use to anybody any more; and should it have to stay, the
 * kernel's own events in it must not cost anybody anything. */
static void silence_instance(const struct survey *s)
{
	char file[NW_MAX_NAME + 48];

	snprintf(file, sizeof(file), "instances/%s/tracing_on", s->group);
	nw_tracefs_write(s->fs->root, file, "0");
	snprintf(file, sizeof(file), "instances/%s/events/enable", s->group);
	nw_tracefs_write(s->fs->root, file, "0");
}

static int take_away(const struct survey *s, nw_strings *stuck)
{
	struct nw_steps disable = {0}, rest = {0};

	if (s->has_instance)
		silence_instance(s);
	steps_disable(s, &disable);
	steps_instance(s, &rest);
	steps_delete(s, &rest);
	/* nothing is deleted that may still be enabled */
	int ret = nw_steps_do_each(s->fs, &disable, stuck);
	if (ret == 0)
		ret = nw_steps_do_each(s->fs, &rest, stuck);
	nw_steps_free(&disable);
	nw_steps_free(&rest);
	return ret;
}

int nw_teardown(const struct nw_tracefs *fs, const char *session, nw_strings *stuck)
{
	struct survey s;

	begin(fs, session, &s);
	int ret = survey(&s);
	if (ret < 0)
		nw_strings_addf(stuck, "what is left of %s cannot be looked at: %s",
				s.group, nw_strerror(-ret));
	else
		ret = take_away(&s, stuck);
	free_survey(&s);
	return ret < 0 ? -EBUSY : 0;
}

/* ---- perf --------------------------------------------------------------------------- */

int nw_event_try_perf(const struct nw_tracefs *fs, const char *instance, const char *group,
		      const char *name)
{
	char dir[NW_MAX_NAME + 16], file[512], state = '0';

	snprintf(dir, sizeof(dir), "instances/%.63s", instance);
	nw_event_file(instance, group, name, "enable", file);
	bool made = mkdirat(fs->root, dir, 0700) == 0;
	int ret = made || errno == EEXIST ? nw_tracefs_write(fs->root, file, "1") : -errno;
	if (ret == 0) {
		nw_tracefs_write(fs->root, file, "0");
		ret = nw_tracefs_state(fs, file, &state);
		ret = ret == 0 && state != '0' ? -EBUSY : ret;
	} else if (ret == -EINTR) {
		ret = -EBUSY;
	} else if (ret == -EINVAL || ret == -ENOTSUP || ret == -EIO || ret == -524) {
		ret = 0; /* the kernel has come as far as the sites, so perf has it not */
	}
	if (made)
		unlinkat(fs->root, dir, AT_REMOVEDIR);
	return ret;
}

static int count_sites(const struct nw_tracefs *fs, const char *event, size_t *count)
{
	nw_cleanup(nw_free_ptr) char *wanted = nw_text(":%s ", event);
	struct nw_buf lines = {0};
	int ret = wanted ? nw_tracefs_read(fs->root, "uprobe_events", &lines) : -ENOMEM;

	*count = 0;
	if (ret == 0)
		for (const char *at = nw_buf_str(&lines); (at = strstr(at, wanted)); at++)
			++*count;
	nw_buf_free(&lines);
	return ret;
}

int nw_event_delete(const struct nw_tracefs *fs, const char *event)
{
	nw_cleanup(nw_free_ptr) char *line = nw_text("-:%s\n", event);
	const char *slash = strchr(event, '/');
	size_t sites;
	int ret = line && slash ? count_sites(fs, event, &sites) : -ENOMEM;

	if (ret == 0 && sites > 1) {
		nw_cleanup(nw_free_ptr) char *group = strndup(event,
							      (size_t)(slash - event));
		ret = group ? nw_event_try_perf(fs, group, group, slash + 1) : -ENOMEM;
	}
	return ret < 0 ? ret : nw_tracefs_append(fs->root, "uprobe_events", line);
}
