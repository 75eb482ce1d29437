// SPDX-License-Identifier: MIT
/* See event_list.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_list.h"

/* ---- a line ------------------------------------------------------------------------- */

/* Copies the text up to end into out, if it is a valid name, since it becomes a part of paths. */
static bool take_name(const char *text, const char *end, char out[NW_MAX_NAME + 1])
{
	size_t len = (size_t)(end - text);

	if (!len || len > NW_MAX_NAME || *text == '.' || memchr(text, '/', len))
		return false;
	memcpy(out, text, len);
	out[len] = '\0';
	return true;
}

/* Takes a number such as "0x1f" that ends in one of `ends`. Kernels print no other form. */
static bool take_hex(const char *text, const char *ends, uint64_t *out, const char **after)
{
	char *stop;

	if (text[0] != '0' || text[1] != 'x' || !isxdigit((unsigned char)text[2]))
		return false;
	errno = 0;
	*out = strtoull(text + 2, &stop, 16);
	*after = stop;
	return errno == 0 && (!*stop || strchr(ends, *stop));
}

bool nw_definition_line_parse(const char *text, struct nw_definition_line *out)
{
	*out = (struct nw_definition_line){.text = text, .is_return = text[0] == 'r'};
	if ((text[0] != 'p' && text[0] != 'r') || text[1] != ':')
		return false;
	const char *name_end = text + strcspn(text, " ");
	const char *slash = memchr(text, '/', (size_t)(name_end - text));
	if (!*name_end || !slash || !take_name(text + 2, slash, out->group) ||
	    !take_name(slash + 1, name_end, out->name))
		return false;
	const char *place = name_end + 1, *end = place + strcspn(place, " ");
	out->args = *end ? end + 1 : end;
	/* The place is "PATH:0xOFFSET(0xREF_CTR)". The path may contain colons, so the last one is taken. A bad
	 * reference counter is ignored, so that the event is still listed. */
	const char *colon = memrchr(place, ':', (size_t)(end - place)), *after;

	if (!colon || colon == place || !take_hex(colon + 1, " (", &out->offset, &after))
		return false;
	if (*after == '(' && !take_hex(after + 1, ")", &out->ref_ctr, &after))
		out->ref_ctr = 0;
	out->path = place;
	out->path_len = (size_t)(colon - place);
	return true;
}

bool nw_profile_line_parse(const char *text, const struct nw_definition_line *event,
			   uint64_t *hits)
{
	const char *number = strrchr(text, ' '), *end = number;

	if (!number || nw_parse_u64(number + 1, hits) < 0)
		return false;
	while (end > text && end[-1] == ' ')
		end--;
	const char *name = end;
	while (name > text && name[-1] != ' ')
		name--;
	const char *path = text + strspn(text, " ");
	return (size_t)(end - name) == strlen(event->name) &&
	       strncmp(name, event->name, (size_t)(end - name)) == 0 && path < name &&
	       (size_t)(name - 1 - path) == event->path_len &&
	       strncmp(path, event->path, event->path_len) == 0;
}

/* ---- all of them -------------------------------------------------------------------- */

typedef NW_VEC(char *) line_list;

static int split(char *text, line_list *out)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char **slot = *line ? nw_vec_add(out) : &line;
		if (!slot)
			return -ENOMEM;
		*slot = line;
	}
	return 0;
}

/*
 * Lines of uprobe_profile have neither group nor offset. Both files list the same places in the same order (both
 * walk dyn_event_list), so line N of uprobe_profile counts the hits of line N of uprobe_events.
 */
static bool belong_together(const line_list *events, const line_list *profile)
{
	struct nw_definition_line event;
	uint64_t hits;

	if (events->count != profile->count)
		return false;
	for (size_t i = 0; i < events->count; i++)
		if (nw_definition_line_parse(events->item[i], &event) &&
		    !nw_profile_line_parse(profile->item[i], &event, &hits))
			return false;
	return true;
}

static int hand_out(const line_list *events, const line_list *profile,
		    nw_event_line_fn *each, void *arg)
{
	int ret = 0;

	for (size_t i = 0; i < events->count && ret == 0; i++) {
		struct nw_definition_line event;
		if (!nw_definition_line_parse(events->item[i], &event))
			continue;
		if (profile)
			nw_profile_line_parse(profile->item[i], &event, &event.hits);
		ret = each(arg, &event);
	}
	return ret;
}

int nw_event_list_walk(char *events, char *profile, bool *joined, nw_event_line_fn *each,
		       void *arg)
{
	line_list lines = {0}, counts = {0};
	int ret = events ? split(events, &lines) : 0;

	if (ret == 0 && profile)
		ret = split(profile, &counts);
	bool join = ret == 0 && joined && belong_together(&lines, &counts);
	if (joined)
		*joined = join;
	if (ret == 0)
		ret = hand_out(&lines, join ? &counts : NULL, each, arg);
	nw_vec_free(&lines);
	nw_vec_free(&counts);
	return ret;
}

/* Reads the profile, and the list before and after it until both lists are the same. */
static int read_profile(const struct nw_tracefs *fs, struct nw_buf *events,
			struct nw_buf *profile)
{
	struct nw_buf before = {0};
	bool same = false;
	int ret = 0;

	for (int i = 0; i < 5 && ret == 0 && !same; i++) {
		struct nw_buf now = *events;
		*events = before;
		before = now;
		nw_buf_clear(events);
		nw_buf_clear(profile);
		if (nw_tracefs_read(fs->root, "uprobe_profile", profile) < 0)
			nw_buf_clear(profile);
		ret = nw_tracefs_read(fs->root, "uprobe_events", events);
		same = ret == 0 && strcmp(nw_buf_str(events), nw_buf_str(&before)) == 0;
	}
	if (!same)
		nw_buf_clear(profile);
	nw_buf_free(&before);
	return ret;
}

int nw_event_list_read(const struct nw_tracefs *fs, bool *joined, nw_event_line_fn *each,
		       void *arg)
{
	struct nw_buf events = {0}, profile = {0};
	int ret = nw_tracefs_read(fs->root, "uprobe_events", &events);

	if (ret == 0 && joined)
		ret = read_profile(fs, &events, &profile);
	if (ret == 0)
		ret = nw_event_list_walk(events.data, profile.data, joined, each, arg);
	nw_buf_free(&events);
	nw_buf_free(&profile);
	return ret;
}

static int add_name(void *arg, const struct nw_definition_line *line)
{
	nw_cleanup(nw_free_ptr) char *name = nw_text("%s:%s", line->group, line->name);

	return name ? nw_strings_add(arg, name, strlen(name)) : -ENOMEM;
}

int nw_uprobe_names(const struct nw_tracefs *fs, nw_strings *out)
{
	return nw_event_list_read(fs, NULL, add_name, out);
}

/* ---- functions of the kernel --------------------------------------------------------- */

/* Hands out the events of a list whose lines begin with one of these letters. */
static int read_list(const struct nw_tracefs *fs, const char *list, const char *letters,
		     nw_kernel_event_fn *each, void *arg)
{
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	struct nw_buf text = {0};
	int ret = nw_tracefs_read(fs->root, list, &text);
	char *rest = text.data, *line;

	while (ret == 0 && (line = strsep(&rest, "\n"))) {
		if (!*line || !strchr(letters, *line))
			continue;
		const char *colon = strchr(line, ':'), *end = strchrnul(line, ' ');
		const char *slash = colon ? memchr(colon, '/', (size_t)(end - colon))
					  : NULL;
		if (slash && take_name(colon + 1, slash, group) &&
		    take_name(slash + 1, end, name))
			ret = each(arg, list, group, name);
	}
	nw_buf_free(&text);
	return ret == -ENOENT ? 0 : ret;
}

int nw_kernel_event_list_read(const struct nw_tracefs *fs, nw_kernel_event_fn *each,
			      void *arg)
{
	int ret = read_list(fs, NW_KPROBE_EVENTS, "pr", each, arg);

	return ret < 0 ? ret : read_list(fs, NW_DYNAMIC_EVENTS, "e", each, arg);
}

int nw_kernel_traceable(const struct nw_tracefs *fs, struct nw_buf *out)
{
	return nw_tracefs_read(fs->root, "available_filter_functions", out);
}

bool nw_kernel_profile_line_parse(const char *text, char *name, uint64_t *hits,
				  uint64_t *missed)
{
	char format[32];

	snprintf(format, sizeof(format), " %%%ds %%" SCNu64 " %%" SCNu64, NW_MAX_NAME);
	return sscanf(text, format, name, hits, missed) == 3;
}

/* ---- enabled or not ----------------------------------------------------------------- */

enum nw_enabled nw_enabled_parse(const char *text)
{
	switch (*text) {
	case '0':
		return text[1] == '*' ? NW_ENABLED_SOFT : NW_ENABLED_NO;
	case '1':
		return NW_ENABLED_YES;
	case 'X':
		return NW_ENABLED_MIXED;
	default:
		return NW_ENABLED_NONE;
	}
}

int nw_enabled_read(int dir, const char *file, enum nw_enabled *out)
{
	struct nw_buf text = {0};
	int ret = nw_tracefs_read(dir, file, &text);

	if (ret == 0 && !text.len)
		ret = -EIO;
	if (ret == 0)
		*out = nw_enabled_parse(nw_buf_str(&text));
	nw_buf_free(&text);
	return ret;
}

bool nw_enabled_arms(enum nw_enabled enabled)
{
	return enabled != NW_ENABLED_NO && enabled != NW_ENABLED_NONE;
}

void nw_event_file(const char *where, const char *group, const char *name, const char *file,
		   char out[512])
{
	snprintf(out, 512, "%s%.255s%sevents/%s/%s%s%s", *where ? "instances/" : "", where,
		 *where ? "/" : "", group, name ? name : "", name ? "/" : "", file);
}

uint32_t nw_event_id(const struct nw_tracefs *fs, const char *group, const char *name)
{
	struct nw_buf text = {0};
	uint32_t id = 0;
	char file[512];

	nw_event_file("", group, name, "id", file);
	if (nw_tracefs_read(fs->root, file, &text) == 0)
		id = (uint32_t)strtoul(nw_buf_str(&text), NULL, 10);
	nw_buf_free(&text);
	return id;
}
