// SPDX-License-Identifier: MIT
/* Finds the places of the events that another tool records, which tracefs knows. */
#include <errno.h>
#include <string.h>

#include "kernel/tracefs/event_list.h"
#include "run/engine.h"

struct finder {
	struct nw_tool *tool;
	const char *group, *name; /* globs */
	size_t found;
};

/* Adds the file's USDT note at the event's place as a spec, because its semaphore matters. Returns false if there is
 * none. */
static bool add_note(struct finder *finder, const char *path, uint64_t offset, int *ret)
{
	struct nw_image *image;
	bool known = false;

	if (nw_image_open(path, true, &image, NULL) < 0)
		return false;
	nw_vec_each (&image->sites, site) {
		if (known || !nw_site_is_at(site, offset))
			continue;
		known = true;
		*ret = nw_strings_addf(&finder->tool->specs, "usdt:%s:%s:%s", path,
				       site->provider, site->name);
	}
	nw_image_free(image);
	return known;
}

static int take_line(void *arg, const struct nw_definition_line *line)
{
	struct finder *finder = arg;
	nw_cleanup(nw_free_ptr) char *path = strndup(line->path, line->path_len);
	int ret = 0;

	if (!nw_glob_match(finder->group, line->group) ||
	    !nw_glob_match(finder->name, line->name))
		return 0;
	if (!path)
		return -ENOMEM;
	finder->found++;
	if (line->is_return || !add_note(finder, path, line->offset, &ret))
		ret = nw_strings_addf(&finder->tool->specs, "%s:%s:0x%jx",
				      line->is_return ? "uretprobe" : "uprobe", path,
				      (uintmax_t)line->offset);
	return ret < 0 ? -ENOMEM : 0;
}

static int find_one(const struct nw_tracefs *fs, struct nw_tool *tool, const char *event,
		    size_t *found)
{
	const char *colon = strchr(event, ':');
	nw_cleanup(nw_free_ptr) char *group = strndup(event, colon ? (size_t)(colon - event)
								   : strlen(event));
	struct finder finder = {
		.tool = tool, .group = group, .name = colon ? colon + 1 : "*"};
	int ret = group ? nw_event_list_read(fs, NULL, take_line, &finder) : -ENOMEM;

	*found = finder.found;
	return ret;
}

int nw_tool_find_places(struct nw_tool *tool, nw_strings *missing, struct nw_error *err)
{
	struct nw_tracefs fs;
	int ret = nw_tracefs_open(&fs, err);

	if (ret < 0)
		return ret;
	nw_vec_each (&tool->events, event) {
		size_t found = 0;
		if (ret == 0)
			ret = find_one(&fs, tool, *event, &found);
		if (ret == 0 && !found)
			ret = nw_strings_add(missing, *event, strlen(*event));
	}
	nw_tracefs_close(&fs);
	return ret < 0 ? nw_fail(err, -ret, "cannot read the list of events: %s",
				 nw_strerror(-ret))
		       : 0;
}
