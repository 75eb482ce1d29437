// SPDX-License-Identifier: MIT
/*
 * Every uprobe event there is, ours and others'. uprobe_profile names neither group nor offset,
 * but lists the same places in the same order as uprobe_events (both walk dyn_event_list): line
 * N of one counts line N of the other, if the list was the same before and after.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gate.h"
#include "inventory.h"

static const char session_prefix[] = "nopwatch_";

/* ---- definitions -------------------------------------------------------------------- */

/* Split "p:GROUP/NAME PATH:0xOFFSET(0xREF) ARGS". False: not a line that we understand. */
static bool split_name(const char *line, char *kind, char group[NW_MAX_NAME + 1],
		       char name[NW_MAX_NAME + 1], const char **rest)
{
	const char *colon = strchr(line, ':');
	const char *slash = colon ? strchr(colon, '/') : NULL;
	const char *blank = slash ? strchr(slash, ' ') : NULL;

	if (!blank || slash - colon - 1 > NW_MAX_NAME || blank - slash - 1 > NW_MAX_NAME)
		return false;
	*kind = *line;
	snprintf(group, NW_MAX_NAME + 1, "%.*s", (int)(slash - colon - 1), colon + 1);
	snprintf(name, NW_MAX_NAME + 1, "%.*s", (int)(blank - slash - 1), slash + 1);
	*rest = blank + 1;
	return true;
}

/* The path may hold colons: the last one before the blank is the offset's. */
static bool split_place(const char *text, struct nw_definition *out)
{
	size_t len = strcspn(text, " ");
	const char *colon = memrchr(text, ':', len);
	char *end;

	if (!colon)
		return false;
	out->offset = strtoull(colon + 1, &end, 16);
	if (*end == '(')
		out->ref_ctr = strtoull(end + 1, NULL, 16);
	out->path = strndup(text, (size_t)(colon - text));
	out->args = strdup(text[len] ? text + len + 1 : "");
	return true;
}

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

int nw_inventory_add(struct nw_inventory *inventory, const char *line, uint64_t hits)
{
	char kind, group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	struct nw_definition place = {.hits = hits};
	const char *rest;

	if (!split_name(line, &kind, group, name, &rest) || !split_place(rest, &place))
		return 0;
	if (nw_is_gate(place.path ? place.path : "")) { /* no place of anybody's */
		free(place.path);
		free(place.args);
		return 0;
	}
	struct nw_uprobe_event *event = find(inventory, group, name);
	if (!event && (event = nw_vec_add(&inventory->events))) {
		snprintf(event->group, sizeof(event->group), "%s", group);
		snprintf(event->name, sizeof(event->name), "%s", name);
		event->is_return = kind == 'r';
	}
	struct nw_definition *slot = event ? nw_vec_add(&event->places) : NULL;
	place.line = strdup(line);
	if (slot)
		*slot = place;
	if (slot && place.line && place.path && place.args)
		return 0;
	if (!slot) {
		free(place.line);
		free(place.path);
		free(place.args);
	}
	return -ENOMEM;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

/* "  PATH EVENT   HITS" */
static uint64_t hits_of(const char *line, size_t len)
{
	const char *blank = memrchr(line, ' ', len);

	return blank ? strtoull(blank + 1, NULL, 10) : 0;
}

static int add_lines(struct nw_inventory *inventory, char *events, const char *profile)
{
	int ret = 0;

	for (char *line = events, *end; ret == 0 && (end = strchr(line, '\n'));
	     line = end + 1) {
		*end = '\0';
		size_t len = strcspn(profile, "\n");
		ret = nw_inventory_add(inventory, line, hits_of(profile, len));
		profile += len + (profile[len] == '\n');
	}
	return ret;
}

/* uprobe_events and the profile that belongs to it; without profile when they change all the
 * time. */
static int read_lists(const struct nw_tracefs *fs, struct nw_buf *events,
		      struct nw_buf *profile, bool *has_hits)
{
	struct nw_buf again = {0};
	int ret = 0;

	*has_hits = false;
	for (int i = 0; i < 5 && ret == 0 && !*has_hits; i++) {
		nw_buf_clear(events);
		nw_buf_clear(profile);
		nw_buf_clear(&again);
		ret = nw_tracefs_read(fs->root, "uprobe_events", events);
		if (ret == 0 && nw_tracefs_read(fs->root, "uprobe_profile", profile) < 0)
			break;
		if (ret == 0)
			ret = nw_tracefs_read(fs->root, "uprobe_events", &again);
		*has_hits = ret == 0 &&
			    strcmp(nw_buf_str(events), nw_buf_str(&again)) == 0 &&
			    count_lines(nw_buf_str(events)) ==
				    count_lines(nw_buf_str(profile));
	}
	nw_buf_free(&again);
	if (!*has_hits)
		nw_buf_clear(profile);
	return ret;
}

/* ---- what is enabled where ---------------------------------------------------------- */

void nw_event_file(const char *where, const char *group, const char *name, const char *file,
		   char out[512])
{
	snprintf(out, 512, "%s%.255s%sevents/%s/%s/%s", *where ? "instances/" : "", where,
		 *where ? "/" : "", group, name, file);
}

static bool is_on(const struct nw_tracefs *fs, const char *file)
{
	char state = '0';

	return nw_tracefs_state(fs, file, &state) == 0 && state != '0' && state != '?';
}

/* The filter, "" if there is none. The caller frees. */
static char *read_filter(const struct nw_tracefs *fs, const char *file)
{
	struct nw_buf text = {0};

	nw_tracefs_read(fs->root, file, &text);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	if (strcmp(nw_buf_str(&text), "none") == 0)
		nw_buf_clear(&text);
	nw_buf_adds(&text, "");
	return nw_buf_take(&text);
}

static int read_use(const struct nw_tracefs *fs, struct nw_uprobe_event *event,
		    const char *where)
{
	char file[512];

	nw_event_file(where, event->group, event->name, "enable", file);
	bool on = is_on(fs, file);
	nw_event_file(where, event->group, event->name, "filter", file);
	char *filter = read_filter(fs, file);
	if (!filter)
		return -ENOMEM;
	if (!on && !*filter) {
		free(filter);
		return 0;
	}
	struct nw_event_use *use = nw_vec_add(&event->uses);
	if (!use) {
		free(filter);
		return -ENOMEM;
	}
	*use = (struct nw_event_use){strdup(where), on, filter};
	return use->where ? 0 : -ENOMEM;
}

static int read_uses(const struct nw_tracefs *fs, struct nw_inventory *inventory)
{
	/* a kernel without instances has none */
	int ret = nw_tracefs_list_any(fs->root, "instances", "", &inventory->instances);

	nw_vec_each (&inventory->events, event) {
		if (ret == 0)
			ret = read_use(fs, event, "");
		nw_vec_each (&inventory->instances, name)
			if (ret == 0)
				ret = read_use(fs, event, *name);
	}
	return ret;
}

/* ---- whose -------------------------------------------------------------------------- */

static void find_owner(const struct nw_persistent *persistent,
		       struct nw_uprobe_event *event)
{
	const struct nw_persistent_event *ours = nw_persistent_find(
		persistent, event->group, event->name);
	const char *session = event->group + sizeof(session_prefix) - 1;

	/* the name alone may be another's: somebody removed ours and made his own */
	if (ours && ours->offset == event->places.item[0].offset &&
	    ours->is_return == event->is_return && event->places.count == 1) {
		event->owner = NW_OWNER_PERSISTENT;
		event->persistent = ours;
	} else if (strncmp(event->group, session_prefix, sizeof(session_prefix) - 1) == 0 &&
		   nw_session_name_is_valid(session)) {
		static const enum nw_owner owners[] = {
			[NW_JOURNAL_LIVING] = NW_OWNER_SESSION,
			[NW_JOURNAL_DEAD] = NW_OWNER_DEAD,
			[NW_JOURNAL_GONE] = NW_OWNER_ORPHAN,
		};
		event->owner = owners[nw_journal_check(session)];
		event->owner_pid = event->owner == NW_OWNER_ORPHAN
					   ? 0
					   : (pid_t)strtol(session, NULL, 10);
	}
}

/* ---- the whole ---------------------------------------------------------------------- */

int nw_inventory_read(const struct nw_tracefs *fs, const struct nw_persistent *persistent,
		      struct nw_inventory *out, struct nw_error *err)
{
	struct nw_buf events = {0}, profile = {0};
	struct nw_inventory inventory = {0};
	int ret = read_lists(fs, &events, &profile, &inventory.has_hits);

	if (ret < 0 && ret != -ENOMEM)
		nw_fail(err, -ret, "cannot read %s/uprobe_events: %s", fs->path,
			nw_strerror(-ret));
	else if (ret == 0 && events.data)
		ret = add_lines(&inventory, events.data, nw_buf_str(&profile));
	nw_vec_each (&inventory.events, event)
		find_owner(persistent, event);
	if (ret == 0)
		ret = read_uses(fs, &inventory);
	nw_buf_free(&events);
	nw_buf_free(&profile);
	if (ret == -ENOMEM)
		nw_no_memory(err);
	if (ret < 0)
		nw_inventory_free(&inventory);
	else
		*out = inventory;
	return ret;
}

void nw_inventory_free(struct nw_inventory *inventory)
{
	nw_vec_each (&inventory->events, event) {
		nw_vec_each (&event->places, place) {
			free(place->line);
			free(place->path);
			free(place->args);
		}
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

bool nw_event_fits(const struct nw_uprobe_event *event, const char *pattern)
{
	nw_cleanup(nw_free_ptr) char *slash = nw_text("%s/%s", event->group, event->name);
	nw_cleanup(nw_free_ptr) char *colon = nw_text("%s:%s", event->group, event->name);

	if (!slash || !colon)
		return false;
	return nw_glob_match(pattern, colon) || nw_glob_match(pattern, slash) ||
	       (!strpbrk(pattern, ":/") && (nw_glob_match(pattern, event->group) ||
					    nw_glob_match(pattern, event->name))) ||
	       (event->persistent && nw_glob_match(pattern, event->persistent->label));
}

bool nw_event_is_at(const struct nw_uprobe_event *event, const struct nw_point *point)
{
	const struct nw_image *image = point->image;

	if (event->is_return != point->is_return)
		return false;
	if (event->persistent)
		return event->persistent->dev == image->dev &&
		       event->persistent->ino == image->ino &&
		       event->persistent->offset == point->offset;
	nw_vec_each (&event->places, place) {
		struct stat st;
		if (place->offset == point->offset && stat(place->path, &st) == 0 &&
		    st.st_dev == image->dev && st.st_ino == image->ino)
			return true;
	}
	return false;
}
