// SPDX-License-Identifier: MIT
/* See user_events.h. The format of user_events_status is that of kernel/trace/trace_events_user.c: user_seq_show(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user_events.h"

int nw_user_events_check(const struct nw_tracefs *fs, struct nw_error *err)
{
	if (nw_tracefs_has(fs->root, "user_events_data"))
		return 0;
	nw_fail(err, EOPNOTSUPP,
		"this kernel has no user_events: it is older than Linux 6.4, or was built without CONFIG_USER_EVENTS");
	nw_error_hint(
		err,
		"USDT probes and functions of the program need no such kernel: `nopwatch list FILE`");
	return -EOPNOTSUPP;
}

/* Adds the event of a line, "NAME" or "NAME # Used by ftrace perf". */
static int add_event(char *line, nw_user_events *out)
{
	static const char used_by[] = " # Used by ";
	char *used = strstr(line, used_by);
	struct nw_user_event *slot = nw_vec_add(out);

	if (!slot)
		return -ENOMEM;
	*slot = (struct nw_user_event){
		.used = strdup(used ? used + sizeof(used_by) - 1 : "")};
	line[strcspn(line, " ")] = '\0';
	slot->name = strdup(line);
	return slot->name && slot->used ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct nw_user_event *)a)->name,
		      ((const struct nw_user_event *)b)->name);
}

int nw_user_events_read(const struct nw_tracefs *fs, nw_user_events *out,
			struct nw_error *err)
{
	struct nw_buf text = {0};
	int ret = nw_user_events_check(fs, err);

	*out = (nw_user_events){0};
	if (ret < 0)
		return ret;
	ret = nw_tracefs_read(fs->root, "user_events_status", &text);
	char *rest = text.data, *line;
	if (ret < 0)
		nw_fail(err, -ret, "cannot read %s/user_events_status: %s", fs->path,
			nw_strerror(-ret));
	/* The numbers of events stand behind an empty line. */
	while (ret == 0 && (line = strsep(&rest, "\n")) && *line)
		if (add_event(line, out) < 0)
			ret = nw_no_memory(err);
	nw_buf_free(&text);
	if (ret == 0 && out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_name);
	return ret;
}

void nw_user_events_free(nw_user_events *events)
{
	nw_vec_each (events, event) {
		free(event->name);
		free(event->used);
	}
	nw_vec_free(events);
}
