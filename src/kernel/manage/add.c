// SPDX-License-Identifier: MIT
/* add: defines persistent events. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/session/session_private.h"
#include "manager.h"

/* The events that `add` defines now. */
struct adding {
	struct nw_manager *m;
	const struct nw_plan *plan;
	const struct nw_manager_options *options;
	const struct nw_event *event;
	/* Of the event; a number is appended if the name is taken. */
	char name[NW_MAX_NAME + 1];
	const struct nw_event_site *place;
	const struct nw_point *point;
	const struct nw_probe *probe;
	struct nw_error *err;
};

/* ---- what is there ------------------------------------------------------------------ */

static uint64_t wanted_ref_ctr(const struct adding *a)
{
	return a->m->features->has[NW_FEATURE_REF_CTR] ? a->point->semaphore_offset : 0;
}

/* Is this the event's name, or its name with a number? Then it is an event of the same kind. */
static bool is_namesake(const struct adding *a, const char *name)
{
	size_t len = strlen(a->event->base);

	if (strncmp(name, a->event->base, len) != 0)
		return false;
	return !name[len] || (name[len] == '_' &&
			      name[len + 1 + strspn(name + len + 1, "0123456789")] == '\0');
}

/*
 * Finds the event of our group that is defined at this place. If its arguments are the requested ones, nothing has
 * to be defined; if they are others, the request is refused.
 */
static int find_defined(const struct adding *a, const struct nw_uprobe_event **out)
{
	*out = NULL;
	nw_vec_each (&a->m->inventory.events, event) {
		const struct nw_definition *place = event->places.item;
		if (strcmp(event->group, a->event->group) != 0 ||
		    !is_namesake(a, event->name) || !nw_event_is_at(event, a->point))
			continue;
		if (strcmp(place->args, a->place->fetches) == 0 &&
		    place->ref_ctr == wanted_ref_ctr(a)) {
			*out = event;
			return 0;
		}
		nw_fail(a->err, EEXIST, "%s:%s is there already, with other arguments: %s",
			event->group, event->name, *place->args ? place->args : "none");
		nw_error_hint(a->err,
			      "`nopwatch remove %s:%s`, or give yours another --group",
			      event->group, event->name);
		return -EEXIST;
	}
	return 0;
}

static bool is_taken(const struct adding *a)
{
	const struct nw_event *event = a->event;
	char dir[2 * NW_MAX_NAME + 16];

	nw_vec_each (&a->m->fresh, other)
		if (strcmp(other->name, a->name) == 0 &&
		    strcmp(other->group, event->group) == 0)
			return true;
	snprintf(dir, sizeof(dir), "events/%s/%s", event->group, a->name);
	return nw_inventory_find(&a->m->inventory, event->group, a->name) ||
	       (a->m->fs->root >= 0 && nw_tracefs_has(a->m->fs->root, dir));
}

/* ---- the file ----------------------------------------------------------------------- */

/*
 * Returns a path that the kernel's grammar allows and that stays valid: the file's own path, or that of a link to
 * it. (The descriptor that sessions use would be closed when this process ends.)
 */
static char *path_of(struct adding *a, char **link)
{
	const struct nw_image *image = a->point->image;
	char *path = nw_absolute_path(image->path);
	struct stat st;

	*link = NULL;
	if (!path || nw_path_will_do(a->m->features, path, image))
		return path;
	*link = nw_text("%s/file.%" PRIx64 ".%" PRIx64, nw_journal_dir(), image->dev,
			image->ino);
	bool known = *link && nw_path_will_do(a->m->features, *link, image);
	nw_vec_each (&a->m->fresh, other)
		known = known || (*link && strcmp(other->link, *link) == 0);
	if (*link && !known) {
		if (lstat(*link, &st) == 0)
			nw_steps_add(&a->m->steps, NW_DO_UNLINK, *link, "");
		nw_steps_add(&a->m->steps, NW_DO_LINK, *link, path);
		nw_steps_what(&a->m->steps, NW_REFUSED_OTHERWISE, "cannot make the link %s",
			      *link);
		nw_steps_back(&a->m->steps, NW_DO_UNLINK, *link, "");
	}
	free(path);
	return *link ? strdup(*link) : NULL;
}

static int fill(const struct adding *a, const char *link, struct nw_persistent_event *out)
{
	const struct nw_image *image = a->point->image;
	const char *home = a->options->instance ? a->options->instance : "";

	snprintf(out->group, sizeof(out->group), "%s", a->event->group);
	snprintf(out->name, sizeof(out->name), "%s", a->name);
	snprintf(out->build_id, sizeof(out->build_id), "%s", image->build_id);
	out->offset = a->point->offset;
	out->is_return = a->point->is_return;
	out->dev = image->dev;
	out->ino = image->ino;
	out->size = image->size;
	out->mtime = image->mtime;
	out->machine = image->machine;
	out->label = strdup(a->probe->label);
	out->file = nw_absolute_path(image->path);
	if (!out->file)
		return -errno;
	out->link = strdup(link ? link : "");
	out->home = strdup(home);
	if (a->options->enable && nw_persistent_on(out, home) < 0)
		return -ENOMEM;
	return out->label && out->link && out->home ? 0 : -ENOMEM;
}

static int no_path(const struct adding *a, int code)
{
	return nw_fail(a->err, code, "cannot find the path of %s: %s",
		       a->point->image->path, nw_strerror(code));
}

/* ---- one event ---------------------------------------------------------------------- */

/* Takes an event that is defined already as the requested one, whoever defined it. */
static int take_defined(struct adding *a, const struct nw_uprobe_event *event)
{
	if (nw_manager_change(a->m, event->group, event->name, a->probe->label, "",
			      NW_CHANGE_THERE) < 0)
		return nw_no_memory(a->err);
	struct nw_persistent_event *persistent = nw_persistent_find(
		&a->m->persistent, event->group, event->name);
	/* The event moves to another instance. */
	if (persistent && event->persistent && a->options->instance) {
		char *home = strdup(a->options->instance);
		if (!home)
			return nw_no_memory(a->err);
		free(persistent->home);
		persistent->home = home;
	}
	if (!a->options->enable)
		return 0;
	return nw_manager_switch(a->m, event, true, a->options, a->err);
}

static int add_event(struct adding *a)
{
	const struct nw_uprobe_event *defined;
	const char *danger = a->options->force ? NULL
					       : nw_point_hazard(a->m->features, a->point);
	const char *home = a->options->instance ? a->options->instance : "";

	if (danger)
		return nw_strings_addf(&a->m->notes, "%s at %s+0x%jx is left out: %s",
				       a->probe->label, a->point->image->path,
				       a->point->offset, danger) < 0
			       ? nw_no_memory(a->err)
			       : 0;
	int ret = find_defined(a, &defined);
	if (ret < 0)
		return ret;
	if (defined)
		return take_defined(a, defined);
	nw_cleanup(nw_free_ptr) char *link = NULL;
	nw_cleanup(nw_free_ptr) char *path = path_of(a, &link);
	if (!path)
		return no_path(a, errno);
	const struct nw_event *event = a->event;
	char delete[2 * NW_MAX_NAME + 8];
	struct nw_buf line = {0};

	for (unsigned int i = 0; i == 0 || is_taken(a); i++)
		nw_event_name(event, i, a->name);
	nw_plan_define_as(a->plan, event, a->name, a->place, path,
			  a->m->features->has[NW_FEATURE_REF_CTR], &line);
	snprintf(delete, sizeof(delete), "-:%s/%s", event->group, a->name);
	nw_steps_add(&a->m->steps, NW_DO_APPEND, "uprobe_events", nw_buf_str(&line));
	nw_steps_back(&a->m->steps, NW_DO_APPEND, "uprobe_events", delete);
	nw_steps_what(&a->m->steps, NW_REFUSED_DEFINITION,
		      "the kernel refused to define %s:%s at %s+0x%" PRIx64, event->group,
		      a->name, a->point->image->path, a->point->offset);
	a->m->steps.failed |= line.failed;
	struct nw_persistent_event *persistent = nw_vec_add(&a->m->fresh);
	int filled = persistent ? fill(a, link, persistent) : -ENOMEM;
	if (filled == 0 && a->options->enable)
		nw_manager_arms(a->m, nw_buf_str(&line), persistent);
	nw_buf_free(&line);
	if (filled < 0)
		return no_path(a, -filled);
	return nw_manager_change(a->m, a->event->group, a->name, a->probe->label,
				 a->options->enable ? home : "",
				 a->options->enable ? NW_CHANGE_ADDED_ENABLED
						    : NW_CHANGE_ADDED) < 0
		       ? nw_no_memory(a->err)
		       : 0;
}

/* Warns of values that cannot be fetched, and of semaphores that nobody will raise. */
static int warn(struct adding *a)
{
	const struct nw_planned_point *planned = &a->plan->points.item[a->place->planned];
	size_t i = 0;
	int ret = 0;

	if (a->place->part)
		return 0;
	nw_vec_each (&planned->args, source) {
		char name[NW_ARG_NAME];
		nw_arg_name(a->probe, i++, name);
		if (source->fetch.problem && ret == 0)
			ret = nw_strings_addf(&a->m->notes,
					      "%s at 0x%jx goes without %s: %s",
					      a->probe->label, a->point->vaddr, name,
					      source->fetch.problem);
	}
	if (ret == 0 && a->point->semaphore_offset && !wanted_ref_ctr(a))
		ret = nw_strings_addf(
			&a->m->notes,
			"%s has a semaphore, which this kernel does not raise: it may stay silent",
			a->probe->label);
	return ret < 0 ? nw_no_memory(a->err) : 0;
}

int nw_manager_add(struct nw_manager *m, const struct nw_plan *plan,
		   const struct nw_manager_options *options, struct nw_error *err)
{
	int ret = 0;

	if (options->instance)
		ret = nw_manager_need_instance(m, options->instance, err);
	nw_vec_each (&plan->events, slot) {
		if (*(*slot)->system)
			return nw_fail_usage(
				err,
				strcmp((*slot)->system, NW_USER_EVENTS) == 0
					? "%s:%s is a program's own: it is there while that program runs, without being added"
					: "tracepoint:%s:%s is the kernel's own: it is there without being added",
				(*slot)->system, (*slot)->name);
		if (nw_plan_point(plan, (*slot)->places.item)->image->kernel)
			return nw_fail_usage(
				err,
				"add is for probes in programs, not in functions of the kernel: `perf probe` adds those");
		struct adding a = {.m = m,
				   .plan = plan,
				   .options = options,
				   .event = *slot,
				   .place = (*slot)->places.item,
				   .point = nw_plan_point(plan, (*slot)->places.item),
				   .err = err};
		a.probe = plan->selection->probes
				  .item[plan->points.item[a.place->planned].probe];
		if (ret == 0)
			ret = warn(&a);
		if (ret == 0)
			ret = add_event(&a);
	}
	if (ret == 0 && options->enable) /* after all events are defined */
		nw_vec_each (&m->fresh, event)
			nw_manager_step_enable(m, event->home, event->group, event->name,
					       true);
	if (ret == 0 && !m->changes.count)
		ret = nw_fail(err, EPERM, "%s",
			      m->notes.count ? m->notes.item[m->notes.count - 1]
					     : "no probe could be added");
	return ret;
}
