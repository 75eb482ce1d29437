// SPDX-License-Identifier: MIT
/*
 * Hits by place. uprobe_profile names only path and event, and an event has many places; but
 * it and uprobe_events list the same places in the same order (both walk dyn_event_list), so
 * line N of one tells which place line N of the other counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

struct lines {
	struct nw_buf text;
	NW_VEC(char *) line; /* into text */
};

static int read_lines(const struct nw_session *session, const char *file, struct lines *out)
{
	int ret = nw_tracefs_read(session->fs->root, file, &out->text);

	for (char *at = out->text.data; ret == 0 && at && *at;) {
		char *end = strchrnul(at, '\n');
		char **slot = nw_vec_add(&out->line);
		if (!slot)
			return -ENOMEM;
		*slot = at;
		at = *end ? end + 1 : end;
		*end = '\0';
	}
	return ret;
}

static void free_lines(struct lines *lines)
{
	nw_vec_free(&lines->line);
	nw_buf_free(&lines->text);
}

/* "p:GROUP/EVENT PATH:0xOFFSET..." of our group: the event's name and the offset. */
static bool parse_definition(const struct nw_session *session, const char *line,
			     char event[NW_MAX_NAME + 1], uint64_t *offset)
{
	size_t group_len = strlen(session->plan->group);
	const char *group = strchr(line, ':');

	if (!group || strncmp(group + 1, session->plan->group, group_len) != 0 ||
	    group[1 + group_len] != '/')
		return false;
	const char *name = group + 2 + group_len;
	size_t len = strcspn(name, " ");
	const char *path = name + len + (name[len] == ' ');
	const char *path_end = path + strcspn(path, " ");
	const char *colon = memrchr(path, ':', (size_t)(path_end - path));
	if (len > NW_MAX_NAME || !colon)
		return false;
	snprintf(event, NW_MAX_NAME + 1, "%.*s", (int)len, name);
	*offset = strtoull(colon + 1, NULL, 0);
	return true;
}

/* "  PATH EVENT   HITS", from the right, as the path may hold anything. */
static bool parse_profile(char *line, const char *event, uint64_t *hits)
{
	char *at = strrchr(line, ' ');

	if (!at || nw_parse_u64(at + 1, hits) < 0)
		return false;
	while (at > line && at[-1] == ' ')
		at--;
	*at = '\0';
	at = strrchr(line, ' ');
	return strcmp(at ? at + 1 : line, event) == 0;
}

static void add_hits(const struct nw_session *session, const char *name, uint64_t offset,
		     uint64_t count, uint64_t *hits)
{
	nw_vec_each (&session->plan->events, event) {
		if (*(*event)->system || strcmp((*event)->name, name) != 0)
			continue;
		uint16_t number = (*event)->by_low_bits[offset & 0xfff];
		if (number && (*event)->places.item[number - 1].part == 0)
			hits[(*event)->places.item[number - 1].planned] += count;
		return;
	}
}

static int match_lines(const struct nw_session *session, struct lines *events,
		       struct lines *profile, uint64_t *hits)
{
	if (events->line.count != profile->line.count)
		return -EAGAIN;
	for (size_t i = 0; i < events->line.count; i++) {
		char name[NW_MAX_NAME + 1];
		uint64_t offset, count;
		if (!parse_definition(session, events->line.item[i], name, &offset))
			continue;
		if (!parse_profile(profile->line.item[i], name, &count))
			return -EAGAIN;
		add_hits(session, name, offset, count, hits);
	}
	return 0;
}

int nw_session_profile(const struct nw_session *session, uint64_t *hits)
{
	struct lines events = {0}, profile = {0};

	memset(hits, 0, session->plan->points.count * sizeof(*hits));
	int ret = read_lines(session, "uprobe_events", &events);
	if (ret == 0)
		ret = read_lines(session, "uprobe_profile", &profile);
	if (ret == 0)
		ret = match_lines(session, &events, &profile, hits);
	free_lines(&events);
	free_lines(&profile);
	return ret;
}
