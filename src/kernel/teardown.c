// SPDX-License-Identifier: MIT
/*
 * Taking a session's things away, ours or a dead one's: what there is of it becomes a list of
 * steps, which is done or told.
 *
 * The order is forced by a fault of the kernel: unregister_trace_uprobe() skips its busy check
 * for an event that has siblings, so deleting an enabled event of several sites frees memory
 * that breakpoints still lead to (6.1, 6.12 and 7.2 seen). Hence: disable the group in every
 * instance, ours or not; read that back; shut the gate and prove that nobody else has the event
 * (gate.c); only then delete. What cannot be shown to be free stays, and is named.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal.h"

/* What there is of a session. */
struct survey {
	const struct nw_tracefs *fs;
	char group[NW_MAX_NAME + 1];
	nw_strings places; /* where the group is enabled: "" and instances */
	nw_strings events;
	bool has_instance;
};

/* ---- what there is ------------------------------------------------------------------ */

static void enable_file(const struct survey *s, const char *where, char out[512])
{
	snprintf(out, 512, "%s%.255s%sevents/%s/enable", *where ? "instances/" : "", where,
		 *where ? "/" : "", s->group);
}

static int survey_place(struct survey *s, const char *where)
{
	char file[512], state = '0';

	enable_file(s, where, file);
	int ret = nw_tracefs_state(s->fs, file, &state);
	if (ret == -ENOENT || ret == -ENODEV) /* the instance or the group is gone */
		return 0;
	if (ret < 0 || state == '0' || state == '?')
		return ret;
	return nw_strings_add(&s->places, where, strlen(where));
}

static int survey(struct survey *s)
{
	nw_strings instances = {0};
	char path[NW_MAX_NAME + 16];

	snprintf(path, sizeof(path), "events/%s", s->group);
	int ret = nw_tracefs_list_any(s->fs->root, path, "", &s->events);
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
}

/* ---- as steps ----------------------------------------------------------------------- */

static void steps_disable(const struct survey *s, struct nw_steps *out)
{
	nw_vec_each (&s->places, where) {
		char file[512];
		enable_file(s, *where, file);
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
	nw_vec_each (&s->events, name) {
		char event[2 * NW_MAX_NAME + 2];
		snprintf(event, sizeof(event), "%s/%.63s", s->group, *name);
		nw_steps_add(out, NW_DO_DELETE, "", event);
		nw_steps_what(out, NW_REFUSED_DELETION, "event %s cannot be deleted",
			      event);
	}
}

static void begin(const struct nw_tracefs *fs, const char *session, struct survey *out)
{
	*out = (struct survey){.fs = fs};
	snprintf(out->group, sizeof(out->group), "nopwatch_%.23s", session);
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
