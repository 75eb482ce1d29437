// SPDX-License-Identifier: MIT
/* Reads all uprobe events: their definitions, the places in which they are enabled, and their owners. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/recovery/inventory.h"

#include "kernel/steps/gate.h"
#include "kernel/tracefs/files.h"

#include "inventory_private.h"

/* ---- definitions -------------------------------------------------------------------- */

static struct nw_uprobe_event *find(const struct nw_inventory *inventory, const char *group,
				    const char *name)
{
	nw_vec_each (&inventory->events, event)
		if (strcmp(event->name, name) == 0 && strcmp(event->group, group) == 0)
			return event;
	return NULL;
}

const struct nw_uprobe_event *nw_inventory_find(const struct nw_inventory *inventory,
						const char *group, const char *name)
{
	return find(inventory, group, name);
}

static void free_definition(struct nw_definition *place)
{
	free(place->line);
	free(place->path);
	free(place->args);
}

/* Returns the event of a line, which is added if it is new. */
static struct nw_uprobe_event *enter(struct nw_inventory *inventory,
				     const struct nw_definition_line *line)
{
	struct nw_uprobe_event *event = find(inventory, line->group, line->name);

	if (event || !(event = nw_vec_add(&inventory->events)))
		return event;
	memcpy(event->group, line->group, sizeof(event->group));
	memcpy(event->name, line->name, sizeof(event->name));
	event->is_return = line->is_return;
	return event;
}

static int add_line(void *arg, const struct nw_definition_line *line)
{
	struct nw_definition place = {.line = strdup(line->text),
				      .path = strndup(line->path, line->path_len),
				      .args = strdup(line->args),
				      .offset = line->offset,
				      .ref_ctr = line->ref_ctr,
				      .hits = line->hits};
	struct nw_definition *slot = NULL;

	/* A gate is not a place that anybody probes. */
	if (place.path && nw_is_gate(place.path)) {
		free_definition(&place);
		return 0;
	}
	if (place.line && place.path && place.args) {
		struct nw_uprobe_event *event = enter(arg, line);
		slot = event ? nw_vec_add(&event->places) : NULL;
	}
	if (slot)
		*slot = place;
	else
		free_definition(&place);
	return slot ? 0 : -ENOMEM;
}

int nw_inventory_add(struct nw_inventory *inventory, const char *text)
{
	struct nw_definition_line line;

	return nw_definition_line_parse(text, &line) ? add_line(inventory, &line) : 0;
}

/* Reads definitions and hits only, without uses and owners. Returns 0 or -errno. */
static int read_events(const struct nw_tracefs *fs, struct nw_inventory *out)
{
	struct nw_inventory inventory = {0};
	int ret = nw_event_list_read(fs, &inventory.has_hits, add_line, &inventory);

	if (ret < 0)
		nw_inventory_free(&inventory);
	else
		*out = inventory;
	return ret;
}

/* ---- what is enabled where ---------------------------------------------------------- */

/* Reads the filter; "": none. The caller frees. */
static int read_filter(const struct nw_tracefs *fs, const char *file, char **out)
{
	struct nw_buf text = {0};
	int ret = nw_tracefs_read(fs->root, file, &text);

	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	if (strcmp(nw_buf_str(&text), "none") == 0)
		nw_buf_clear(&text);
	nw_buf_adds(&text, "");
	*out = nw_buf_take(&text);
	return *out ? ret : -ENOMEM;
}

static int read_use(const struct nw_tracefs *fs, struct nw_uprobe_event *event,
		    const char *where)
{
	enum nw_enabled enabled = NW_ENABLED_NO;
	char file[512];

	nw_event_file(where, event->group, event->name, "enable", file);
	int ret = nw_enabled_read(fs->root, file, &enabled);
	bool on = ret == 0 && nw_enabled_arms(enabled);
	if (ret < 0 && nw_is_shortage(-ret))
		return ret;
	nw_event_file(where, event->group, event->name, "filter", file);
	nw_cleanup(nw_free_ptr) char *filter = NULL;
	ret = read_filter(fs, file, &filter);
	/* Another program has removed the event meanwhile, so it is used nowhere. */
	if (ret < 0 && nw_is_shortage(-ret))
		return ret;
	if (!on && !*filter)
		return 0;
	struct nw_event_use *use = nw_vec_add(&event->uses);
	if (!use)
		return -ENOMEM;
	*use = (struct nw_event_use){strdup(where), on, filter};
	filter = NULL;
	return use->where ? 0 : -ENOMEM;
}

static int read_uses(const struct nw_tracefs *fs, struct nw_inventory *inventory)
{
	int lock = nw_instances_lock(fs, LOCK_SH);
	/* A kernel without instances has no such directory. */
	int ret = nw_tracefs_list_any(fs->root, "instances", "", &inventory->instances);

	nw_vec_each (&inventory->events, event) {
		if (ret == 0)
			ret = read_use(fs, event, "");
		nw_vec_each (&inventory->instances, name)
			if (ret == 0)
				ret = read_use(fs, event, *name);
	}
	if (lock >= 0)
		close(lock);
	return ret;
}

/* Finds out to which session an event with its name belongs. Returns 0 or -errno. */
static int find_owner(struct nw_uprobe_event *event, const char *session)
{
	static const enum nw_owner owners[] = {
		[NW_JOURNAL_LIVING] = NW_OWNER_SESSION,
		[NW_JOURNAL_DEAD] = NW_OWNER_DEAD,
		[NW_JOURNAL_KEPT] = NW_OWNER_KEPT,
		[NW_JOURNAL_GONE] = NW_OWNER_ORPHAN,
	};
	int state = nw_journal_check(session);

	if (state < 0)
		return state;
	event->owner = owners[state];
	if (event->owner == NW_OWNER_SESSION || event->owner == NW_OWNER_DEAD)
		event->owner_pid = (pid_t)strtol(session, NULL, 10);
	return 0;
}

/* ---- the whole ---------------------------------------------------------------------- */

int nw_inventory_read(const struct nw_tracefs *fs, const struct nw_persistent *persistent,
		      struct nw_inventory *out, struct nw_error *err)
{
	struct nw_inventory inventory = {0};
	const char *place = fs->path, *what = "uprobe_events";
	int ret = read_events(fs, &inventory);

	nw_vec_each (&inventory.events, event) {
		const struct nw_persistent_event *ours = nw_persistent_find(
			persistent, event->group, event->name);
		const char *session = nw_group_session(event->group);

		/* The name is not enough, because another program may have removed our event and made one with the
		 * same name. */
		if (ours && ours->offset == event->places.item[0].offset &&
		    ours->is_return == event->is_return && event->places.count == 1) {
			event->owner = NW_OWNER_PERSISTENT;
			event->persistent = ours;
		} else if (ret == 0 && session && nw_session_name_is_valid(session)) {
			what = session;
			place = nw_journal_dir();
			ret = find_owner(event, session);
		}
	}
	if (ret == 0) {
		place = fs->path;
		what = "instances";
		ret = read_uses(fs, &inventory);
	}
	if (ret == 0) {
		*out = inventory;
		return 0;
	}
	nw_fail(err, -ret, "cannot read %s/%s: %s", place, what, nw_strerror(-ret));
	nw_inventory_free(&inventory); /* the session's name is a part of it */
	return ret;
}

void nw_inventory_free(struct nw_inventory *inventory)
{
	nw_vec_each (&inventory->events, event) {
		nw_vec_each (&event->places, place)
			free_definition(place);
		nw_vec_free(&event->places);
		nw_vec_each (&event->uses, use) {
			free(use->where);
			free(use->filter);
		}
		nw_vec_free(&event->uses);
	}
	nw_vec_free(&inventory->events);
	nw_strings_free(&inventory->instances);
}

/* ---- questions ---------------------------------------------------------------------- */

bool nw_event_is_on(const struct nw_uprobe_event *event, const char *where)
{
	nw_vec_each (&event->uses, use)
		if (strcmp(use->where, where) == 0)
			return use->on;
	return false;
}

bool nw_event_matches(const struct nw_uprobe_event *event, const char *pattern)
{
	char slash[2 * NW_MAX_NAME + 2], colon[2 * NW_MAX_NAME + 2];

	if (event->owner == NW_OWNER_KEPT) /* counts are one thing, with one name */
		return nw_glob_match(pattern, nw_group_session(event->group)) ||
		       nw_glob_match(pattern, event->group);
	snprintf(slash, sizeof(slash), "%s/%s", event->group, event->name);
	snprintf(colon, sizeof(colon), "%s:%s", event->group, event->name);
	return nw_glob_match(pattern, colon) || nw_glob_match(pattern, slash) ||
	       (!strpbrk(pattern, ":/") && (nw_glob_match(pattern, event->group) ||
					    nw_glob_match(pattern, event->name))) ||
	       (event->persistent && nw_glob_match(pattern, event->persistent->label));
}

bool nw_event_is_at(const struct nw_uprobe_event *event, const struct nw_point *point)
{
	const struct nw_image *image = point->image;

	if (!image || event->is_return != point->is_return)
		return false;
	if (event->persistent)
		return event->persistent->dev == image->dev &&
		       event->persistent->ino == image->ino &&
		       event->persistent->offset == point->offset;
	nw_vec_each (&event->places, place)
		if (place->offset == point->offset && nw_image_is_at(image, place->path))
			return true;
	return false;
}
