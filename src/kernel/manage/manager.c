// SPDX-License-Identifier: MIT
/* Changes to persistent events: they are collected as steps and then made together. The verbs are in add.c and
 * change.c. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/recovery/cleanup.h"
#include "kernel/recovery/kept.h"
#include "kernel/recovery/teardown.h"
#include "kernel/tracefs/expedite.h"

#include "manager.h"

/* ---- names -------------------------------------------------------------------------- */

static bool is_sessions(const char *name)
{
	return nw_group_session(name) != NULL;
}

int nw_instance_name_check(const char *name, struct nw_error *err)
{
	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) > 200)
		return nw_fail_usage(
			err,
			"--instance '%s': not the name of an instance (no '/', no '.' in front)",
			name);
	if (is_sessions(name))
		return nw_fail_usage(
			err,
			"--instance '%s': names that begin with nopwatch_ belong to running sessions",
			name);
	return 0;
}

int nw_group_name_check(const char *name, struct nw_error *err)
{
	bool good = *name && !isdigit((unsigned char)*name) && strlen(name) <= NW_MAX_NAME;

	for (const char *at = name; *at; at++)
		good = good && (isalnum((unsigned char)*at) || *at == '_');
	if (!good)
		return nw_fail_usage(
			err,
			"--group '%s': not a name that the kernel takes (letters, digits and _, no digit in front, up to %d characters)",
			name, NW_MAX_NAME);
	if (is_sessions(name))
		return nw_fail_usage(
			err,
			"--group '%s': names that begin with nopwatch_ belong to running sessions",
			name);
	return 0;
}

void nw_event_text(const char *group, const char *name, char out[2 * NW_MAX_NAME + 2])
{
	snprintf(out, 2 * NW_MAX_NAME + 2, "%.63s:%.63s", group, name);
}

/* ---- opening ------------------------------------------------------------------------ */

/* Undoes the changes that a killed manager had begun, and forgets events that others have removed. */
static int recover(struct nw_manager *m, struct nw_error *err)
{
	bool changed = m->persistent.cut;
	size_t undone = nw_persistent_recover(&m->persistent, m->fs, &m->notes);

	changed |= nw_persistent_prune(&m->persistent, m->fs) || undone;
	nw_clean_before(m->fs, &m->notes);
	if (undone)
		nw_strings_tell(&m->notes,
				"undid what a killed nopwatch had begun to change");
	return changed ? nw_persistent_save(&m->persistent, err) : 0;
}

int nw_manager_open(const struct nw_tracefs *fs, const struct nw_features *features,
		    bool read_only, struct nw_manager **out, struct nw_error *err)
{
	struct nw_manager *m = calloc(1, sizeof(*m));

	if (!m)
		return nw_no_memory(err);
	*m = (struct nw_manager){.fs = fs,
				 .features = features,
				 .read_only = read_only,
				 .persistent = {.fd = -1}};
	int ret = read_only ? nw_persistent_read(&m->persistent, err)
			    : nw_persistent_open(&m->persistent, err);
	if (ret == 0 && !read_only)
		ret = recover(m, err);
	if (ret == 0 && fs->root >= 0)
		ret = nw_inventory_read(fs, &m->persistent, &m->inventory, err);
	if (ret < 0)
		nw_manager_close(m);
	else
		*out = m;
	return ret;
}

void nw_manager_close(struct nw_manager *m)
{
	if (!m)
		return;
	nw_steps_free(&m->steps);
	nw_buf_free(&m->arming);
	nw_inventory_free(&m->inventory);
	nw_vec_each (&m->fresh, event)
		nw_persistent_event_free(event);
	nw_vec_free(&m->fresh);
	nw_strings_free(&m->gone);
	nw_strings_free(&m->gone_counts);
	nw_strings_free(&m->fresh_instances);
	nw_strings_free(&m->notes);
	nw_strings_free(&m->left);
	nw_vec_each (&m->changes, change) {
		free(change->label);
		free(change->where);
	}
	nw_vec_free(&m->changes);
	nw_persistent_close(&m->persistent);
	free(m);
}

static int assume_use(struct nw_uprobe_event *event, const char *where)
{
	struct nw_event_use *use = nw_vec_add(&event->uses);

	if (!use)
		return -ENOMEM;
	*use = (struct nw_event_use){strdup(where), true, strdup("")};
	return use->where && use->filter ? 0 : -ENOMEM;
}

int nw_manager_assume(struct nw_manager *m, const struct nw_plan *plan, bool on,
		      const char *instance, struct nw_error *err)
{
	int ret = 0;

	nw_vec_each (&plan->events, event) {
		const struct nw_event_site *place = (*event)->places.item;
		struct nw_buf line = {0};
		if (*(*event)->system)
			continue;
		nw_plan_define(plan, *event, place, nw_plan_point(plan, place)->image->path,
			       m->features->has[NW_FEATURE_REF_CTR], &line);
		if (ret == 0)
			ret = line.failed
				      ? -ENOMEM
				      : nw_inventory_add(&m->inventory, nw_buf_str(&line));
		nw_buf_free(&line);
	}
	nw_vec_each (&m->inventory.events, event) {
		event->owner = NW_OWNER_PERSISTENT;
		if (ret == 0 && on)
			ret = assume_use(event, instance ? instance : "");
	}
	return ret < 0 ? nw_no_memory(err) : 0;
}

const struct nw_inventory *nw_manager_inventory(const struct nw_manager *m)
{
	return &m->inventory;
}

const nw_changes *nw_manager_changes(const struct nw_manager *m)
{
	return &m->changes;
}

const nw_strings *nw_manager_notes(const struct nw_manager *m)
{
	return &m->notes;
}

const nw_strings *nw_manager_left(const struct nw_manager *m)
{
	return &m->left;
}

/* ---- what verbs share --------------------------------------------------------------- */

const char *const nw_change_words[] = {
	[NW_CHANGE_ADDED] = "added",
	[NW_CHANGE_ADDED_ENABLED] = "added and enabled",
	[NW_CHANGE_THERE] = "there already",
	[NW_CHANGE_ENABLED] = "enabled",
	[NW_CHANGE_WAS_ENABLED] = "enabled already",
	[NW_CHANGE_DISABLED] = "disabled",
	[NW_CHANGE_WAS_DISABLED] = "not enabled",
	[NW_CHANGE_REMOVED] = "removed",
};

int nw_manager_change(struct nw_manager *m, const char *group, const char *name,
		      const char *label, const char *where, enum nw_change_kind kind)
{
	struct nw_change *change = nw_vec_add(&m->changes);

	if (!change)
		return -ENOMEM;
	nw_event_text(group, name, change->event);
	change->label = strdup(label);
	change->where = strdup(where);
	change->kind = kind;
	return change->label && change->where ? 0 : -ENOMEM;
}

/* Makes an instance with the clock that sessions use, so that times of different CPUs can be compared, and times of
 * sessions with them. */
int nw_manager_need_instance(struct nw_manager *m, const char *name, struct nw_error *err)
{
	char file[256];

	if (*name && !m->features->has[NW_FEATURE_INSTANCE_EVENTS]) {
		/* An event that is enabled in an instance without records would be silent for no visible reason. */
		nw_fail(err, ENOTSUP,
			"probes of this kernel do not record in instances ('%s' would stay empty)",
			name);
		nw_error_hint(err, "in the top-level buffer they do: without --instance");
		return -ENOTSUP;
	}
	if (!*name || nw_strings_has(&m->inventory.instances, name) ||
	    nw_strings_has(&m->fresh_instances, name))
		return 0;
	if (nw_strings_add(&m->fresh_instances, name, strlen(name)) < 0)
		return nw_no_memory(err);
	snprintf(file, sizeof(file), "instances/%s", name);
	nw_steps_add(&m->steps, NW_DO_MKDIR, file, "");
	nw_steps_what(&m->steps, NW_REFUSED_INSTANCE, "cannot make the instance '%s'",
		      name);
	nw_steps_back(&m->steps, NW_DO_RMDIR, file, "");
	if (m->features->has[NW_FEATURE_CLOCK_MONO]) {
		snprintf(file, sizeof(file), "instances/%s/trace_clock", name);
		nw_steps_add(&m->steps, NW_DO_WRITE, file, "mono");
	}
	return 0;
}

void nw_manager_arms(struct nw_manager *m, const char *definition,
		     const struct nw_persistent_event *persistent)
{
	const struct nw_action define = {.kind = NW_DO_APPEND,
					 .file = (char[]){"uprobe_events"},
					 .text = (char *)definition};

	if (persistent && *persistent->link)
		nw_journal_file(&m->arming, persistent->link, persistent->file);
	nw_journal_action(&m->arming, "do", &define);
}

void nw_manager_step_enable(struct nw_manager *m, const char *where, const char *group,
			    const char *name, bool on)
{
	char file[512];

	nw_event_file(where, group, name, "enable", file);
	nw_steps_add(&m->steps, NW_DO_WRITE, file, on ? "1" : "0");
	nw_steps_back(&m->steps, NW_DO_WRITE, file, on ? "0" : "1");
	enum nw_refusal refusal = on ? NW_REFUSED_ENABLING : NW_REFUSED_OTHERWISE;
	if (*where)
		nw_steps_what(&m->steps, refusal,
			      on ? "cannot enable %s:%s in instance %s"
				 : "cannot disable %s:%s in instance %s",
			      group, name, where);
	else
		nw_steps_what(&m->steps, refusal,
			      on ? "cannot enable %s:%s" : "cannot disable %s:%s", group,
			      name);
}

int nw_manager_may_touch(const struct nw_uprobe_event *event,
			 const struct nw_manager_options *options, struct nw_error *err)
{
	switch (event->owner) {
	case NW_OWNER_PERSISTENT:
		return 0;
	case NW_OWNER_SESSION:
		return nw_fail(err, EPERM,
			       "%s:%s belongs to a nopwatch that is running (process %d)",
			       event->group, event->name, (int)event->owner_pid);
	case NW_OWNER_DEAD:
		nw_fail(err, EPERM, "%s:%s was left by a nopwatch that was killed",
			event->group, event->name);
		nw_error_hint(err, "`nopwatch clean` removes it");
		return -EPERM;
	case NW_OWNER_KEPT:
		nw_fail(err, EPERM, "%s:%s belongs to counts that stay", event->group,
			event->name);
		nw_error_hint(err, "`nopwatch remove %s` takes them away",
			      nw_group_session(event->group));
		return -EPERM;
	case NW_OWNER_ORPHAN:
		nw_fail(err, EPERM,
			"%s:%s belongs to a nopwatch that has no journal here: a script, or one in a container",
			event->group, event->name);
		nw_error_hint(err, "if it is dead, `nopwatch clean --force` removes it");
		return -EPERM;
	case NW_OWNER_FOREIGN:
		break;
	}
	if (options->foreign)
		return 0;
	nw_fail(err, EPERM, "%s:%s is not ours: `nopwatch add` has not made it",
		event->group, event->name);
	nw_error_hint(err, "use --foreign to change events of other programs, too");
	return -EPERM;
}

/* ---- tidying ------------------------------------------------------------------------ */

static bool is_gone(const struct nw_manager *m, const char *group, const char *name)
{
	char text[2 * NW_MAX_NAME + 2];

	nw_event_text(group, name, text);
	return nw_strings_has(&m->gone, text);
}

/* Does a persistent event need the instance, or is any event enabled in it? */
static bool needs_instance(const struct nw_manager *m, const char *name)
{
	struct nw_buf enabled = {0};
	char file[256];
	bool needed = false;

	nw_vec_each (&m->persistent.events, event)
		needed = needed || (!is_gone(m, event->group, event->name) &&
				    (strcmp(event->home, name) == 0 ||
				     nw_strings_has(&event->on, name)));
	snprintf(file, sizeof(file), "instances/%s/set_event", name);
	nw_tracefs_read(m->fs->root, file, &enabled); /* lines "GROUP:NAME" */
	for (char *at = enabled.data, *end; !needed && at && (end = strchr(at, '\n'));
	     at = end + 1) {
		*end = '\0';
		needed = !nw_strings_has(&m->gone, at);
	}
	nw_buf_free(&enabled);
	return needed;
}

static bool needs_link(const struct nw_manager *m, const char *link)
{
	nw_vec_each (&m->persistent.events, event)
		if (!is_gone(m, event->group, event->name) &&
		    strcmp(event->link, link) == 0)
			return true;
	return false;
}

/* Removes the instances and links that nopwatch made for events, after the last of these events. */
static void tidy(struct nw_manager *m)
{
	nw_strings links = {0};
	char file[256];

	if (m->tidied || !m->gone.count)
		return;
	m->tidied = true;
	nw_vec_each (&m->persistent.instances, name) {
		if (needs_instance(m, *name))
			continue;
		snprintf(file, sizeof(file), "instances/%s", *name);
		nw_steps_add(&m->steps, NW_DO_RMDIR, file, "");
		nw_steps_back(&m->steps, NW_DO_MKDIR, file, "");
	}
	nw_vec_each (&m->persistent.events, event) {
		if (!*event->link || nw_strings_has(&links, event->link) ||
		    needs_link(m, event->link))
			continue;
		if (nw_strings_add(&links, event->link, strlen(event->link)) < 0)
			m->steps.failed = true;
		nw_steps_add(&m->steps, NW_DO_UNLINK, event->link, "");
		nw_steps_back(&m->steps, NW_DO_LINK, event->link, event->file);
	}
	nw_strings_free(&links);
}

/* ---- doing -------------------------------------------------------------------------- */

/* Updates the journal after the changes were made. */
static int accept_changes(struct nw_manager *m)
{
	nw_vec_each (&m->gone, text) {
		nw_vec_each (&m->persistent.events, event) {
			char its[2 * NW_MAX_NAME + 2];
			nw_event_text(event->group, event->name, its);
			if (strcmp(its, *text) == 0) {
				nw_persistent_forget(&m->persistent, event);
				break;
			}
		}
	}
	nw_vec_each (&m->fresh, event) {
		struct nw_persistent_event *slot = nw_vec_add(&m->persistent.events);
		if (!slot)
			return -ENOMEM;
		*slot = *event;
		*event = (struct nw_persistent_event){0};
	}
	nw_vec_each (&m->fresh_instances, name)
		if (nw_strings_add(&m->persistent.instances, *name, strlen(*name)) < 0)
			return -ENOMEM;
	return 0;
}

/* Reports instances that should be gone and still exist; forgets those that others have removed. */
static int check_instances(struct nw_manager *m)
{
	for (size_t i = m->persistent.instances.count; i--;) {
		const char *name = m->persistent.instances.item[i];
		char file[256];
		snprintf(file, sizeof(file), "instances/%s", name);
		if (!nw_tracefs_has(m->fs->root, file))
			nw_strings_drop(&m->persistent.instances, name);
		else if (m->tidied && !needs_instance(m, name) &&
			 nw_strings_addf(&m->left,
					 "instance '%s' stays: somebody reads from it",
					 name) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Does all steps and saves their result, or undoes them all. left: undos that failed. */
static int do_steps(struct nw_manager *m, struct nw_journal *session, struct nw_steps *left,
		    struct nw_error *err)
{
	nw_buf_adds(&m->arming, m->arming.len ? "arming\n" : "");
	int ret = nw_journal_write(session->fd, &m->arming);

	if (ret < 0)
		return nw_fail(err, -ret, "cannot write the journal: %s",
			       nw_strerror(-ret));
	nw_expedite_begin(m->features, &session->expedited);
	ret = nw_steps_do(m->fs, &m->steps, nw_persistent_before, &m->persistent, left,
			  err);
	if (ret < 0)
		return ret;
	nw_inventory_free(&m->inventory); /* it points into the lists that change now */
	if (accept_changes(m) < 0 || check_instances(m) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_persistent_save(&m->persistent, err);
	if (ret < 0)
		nw_steps_undo(m->fs, &m->steps, m->steps.list.count, left, err);
	return ret;
}

int nw_manager_do(struct nw_manager *m, struct nw_error *err)
{
	struct nw_steps left = {0};
	struct nw_journal journal;
	char session[24];

	tidy(m);
	nw_session_name(session);
	int ret = nw_journal_create(session, &journal, err);
	if (ret == 0) {
		ret = do_steps(m, &journal, &left, err);
		int kept = nw_journal_remove(&journal);
		if (kept < 0)
			nw_strings_tell(&m->notes, "the journal of session %s stays: %s",
					session, nw_strerror(-kept));
	}
	if (ret < 0)
		nw_persistent_restore(&m->persistent, &left, NULL);
	nw_vec_each (&m->gone_counts, name)
		if (ret == 0)
			ret = nw_kept_remove(m->fs, *name, err);
	return ret;
}

void nw_manager_print(const struct nw_manager *manager, struct nw_buf *out)
{
	struct nw_manager *m = (struct nw_manager *)manager;

	tidy(m);
	nw_vec_each (&m->gone_counts, name)
		if (nw_teardown_steps(m->fs, *name, &m->steps, NULL) < 0)
			m->steps.failed = true;
	nw_steps_print(m->fs->path, &m->steps, out);
}
