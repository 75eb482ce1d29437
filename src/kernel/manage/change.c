// SPDX-License-Identifier: MIT
/* enable, disable, remove. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/steps/gate.h"

#include "manager.h"

static int report(struct nw_manager *m, const struct nw_uprobe_event *event,
		  const char *where, enum nw_change_kind kind, struct nw_error *err)
{
	return nw_manager_change(m, event->group, event->name,
				 event->persistent ? event->persistent->label : "", where,
				 kind) < 0
		       ? nw_no_memory(err)
		       : 0;
}

/* Finds the event in the journal, to change it; NULL: the event is not ours. */
static struct nw_persistent_event *ours(struct nw_manager *m,
					const struct nw_uprobe_event *event)
{
	return event->persistent
		       ? nw_persistent_find(&m->persistent, event->group, event->name)
		       : NULL;
}

/* ---- enable, disable ---------------------------------------------------------------- */

static int enable(struct nw_manager *m, const struct nw_uprobe_event *event,
		  const char *where, struct nw_error *err)
{
	struct nw_persistent_event *persistent = ours(m, event);
	int ret = nw_manager_need_instance(m, where, err);

	if (ret < 0)
		return ret;
	if (nw_event_is_on(
		    event,
		    where)) /* the event keeps its owner, which may be another program */
		return report(m, event, where, NW_CHANGE_WAS_ENABLED, err);
	nw_vec_each (&event->places, place)
		nw_manager_arms(m, place->line, persistent);
	nw_manager_step_enable(m, where, event->group, event->name, true);
	if (persistent && nw_persistent_on(persistent, where) < 0)
		return nw_no_memory(err);
	return report(m, event, where, NW_CHANGE_ENABLED, err);
}

/* Lists the places in which an event is to be disabled, as copies, because the journal's list changes meanwhile. */
static int places_of(const struct nw_uprobe_event *event,
		     const struct nw_manager_options *options, nw_strings *out)
{
	const char *home = options->instance   ? options->instance
			   : event->persistent ? event->persistent->home
					       : "";
	int ret = nw_strings_add(out, home, strlen(home));

	if (options->instance || !event->persistent)
		return ret;
	nw_vec_each (&event->persistent->on, where)
		if (ret == 0 && !nw_strings_has(out, *where))
			ret = nw_strings_add(out, *where, strlen(*where));
	return ret;
}

static int disable(struct nw_manager *m, const struct nw_uprobe_event *event,
		   const nw_strings *places, struct nw_error *err)
{
	struct nw_persistent_event *persistent = ours(m, event);
	size_t done = 0;
	int ret = 0;

	nw_vec_each (places, where) {
		if (persistent)
			nw_persistent_off(persistent, *where);
		if (ret < 0 || !nw_event_is_on(event, *where))
			continue;
		nw_manager_step_enable(m, *where, event->group, event->name, false);
		ret = report(m, event, *where, NW_CHANGE_DISABLED, err);
		done++;
	}
	if (ret == 0 && !done)
		ret = report(m, event, places->item[0], NW_CHANGE_WAS_DISABLED, err);
	return ret;
}

int nw_manager_switch(struct nw_manager *m, const struct nw_uprobe_event *event, bool on,
		      const struct nw_manager_options *options, struct nw_error *err)
{
	nw_strings places = {0};
	int ret = nw_manager_may_touch(event, options, err);

	if (ret < 0)
		return ret;
	if (places_of(event, options, &places) < 0)
		ret = nw_no_memory(err);
	else if (on)
		ret = enable(m, event, places.item[0], err);
	else
		ret = disable(m, event, &places, err);
	nw_strings_free(&places);
	return ret;
}

/* ---- remove ------------------------------------------------------------------------- */

static int refuse_busy(const struct nw_uprobe_event *event, struct nw_error *err)
{
	struct nw_buf users = {0};
	int ret = 0;

	/* The text lists the places in which others have enabled the event; "": none. */
	nw_vec_each (&event->uses, use) {
		/* The journal does not know the event, so it is assumed to be ours. */
		bool is_ours = event->persistent
				       ? nw_strings_has(&event->persistent->on, use->where)
				       : event->owner == NW_OWNER_PERSISTENT;
		if (!use->on || is_ours)
			continue;
		nw_buf_adds(&users, users.len ? ", " : "");
		if (*use->where)
			nw_buf_printf(&users, "instance '%s'", use->where);
		else
			nw_buf_adds(&users, "the top-level buffer");
	}
	if (users.len) {
		ret = nw_fail(err, EBUSY,
			      "%s:%s is in use: somebody else has enabled it in %s",
			      event->group, event->name, nw_buf_str(&users));
		nw_error_hint(
			err,
			"`nopwatch disable %s:%s` (with --instance NAME in an instance) disables it; --force removes it all the same",
			event->group, event->name);
	}
	nw_buf_free(&users);
	return ret;
}

/*
 * Deleting an event of several sites while it is in use frees memory that is in use, because the kernel skips its
 * check. So the check is made here. perf cannot have an event open that ftrace has enabled.
 */
static int check_shared(struct nw_manager *m, const struct nw_uprobe_event *event,
			struct nw_error *err)
{
	struct nw_journal journal;
	char session[24], name[NW_MAX_NAME + 1];

	nw_vec_each (&event->uses, use)
		if (use->on)
			return 0;
	if (event->places.count < 2 || m->read_only)
		return 0;
	/* The check enables the event in an instance of our own. A journal names the instance as long as it exists. */
	nw_session_name(session);
	int ret = nw_journal_create(session, &journal, err);
	if (ret < 0)
		return ret;
	nw_session_group(session, name);
	ret = nw_event_try_perf(m->fs, name, event->group, event->name);
	nw_journal_remove(&journal);
	if (ret == -EBUSY)
		return nw_fail(err, EBUSY, "%s:%s is in use: perf has it open",
			       event->group, event->name);
	return ret < 0 ? nw_fail(err, -ret, "cannot tell whether perf has %s:%s open: %s",
				 event->group, event->name, nw_strerror(-ret))
		       : 0;
}

/* Counts that stay go as a whole, after all steps. */
static int remove_counts(struct nw_manager *m, const struct nw_uprobe_event *event,
			 struct nw_error *err)
{
	const char *name = nw_group_session(event->group);

	if (nw_strings_has(&m->gone_counts, name))
		return 0;
	if (nw_strings_add(&m->gone_counts, name, strlen(name)) < 0 ||
	    nw_manager_change(m, event->group, "*", "", "", NW_CHANGE_REMOVED) < 0)
		return nw_no_memory(err);
	return 0;
}

int nw_manager_remove(struct nw_manager *m, const struct nw_uprobe_event *event,
		      const struct nw_manager_options *options, struct nw_error *err)
{
	char text[2 * NW_MAX_NAME + 2];

	if (event->owner == NW_OWNER_KEPT)
		return remove_counts(m, event, err);
	int ret = nw_manager_may_touch(event, options, err);

	if (ret == 0 && !options->force)
		ret = refuse_busy(event, err);
	if (ret == 0)
		ret = check_shared(m, event, err);
	if (ret < 0)
		return ret;
	nw_vec_each (&event->uses, use)
		if (use->on)
			nw_manager_step_enable(m, use->where, event->group, event->name,
					       false);
	/* Deleting an event also deletes its filters and its other sites, so undoing it has to restore them. */
	char file[512], line[2 * NW_MAX_NAME + 8];

	nw_vec_each (&event->uses, use) {
		if (!*use->filter)
			continue;
		nw_event_file(use->where, event->group, event->name, "filter", file);
		nw_steps_add(&m->steps, NW_DO_NOTHING, "", "");
		nw_steps_back(&m->steps, NW_DO_WRITE, file, use->filter);
	}
	for (size_t i = event->places.count; --i > 0;) {
		nw_steps_add(&m->steps, NW_DO_NOTHING, "", "");
		nw_steps_back(&m->steps, NW_DO_APPEND, "uprobe_events",
			      event->places.item[i].line);
	}
	snprintf(line, sizeof(line), "%s/%s", event->group, event->name);
	nw_steps_add(&m->steps, NW_DO_DELETE, "", line);
	nw_steps_back(&m->steps, NW_DO_APPEND, "uprobe_events", event->places.item[0].line);
	nw_steps_what(&m->steps, NW_REFUSED_DELETION, "cannot remove %s:%s", event->group,
		      event->name);
	nw_event_text(event->group, event->name, text);
	if (nw_strings_add(&m->gone, text, strlen(text)) < 0)
		return nw_no_memory(err);
	return report(m, event, "", NW_CHANGE_REMOVED, err);
}
