// SPDX-License-Identifier: MIT
/*
 * Events that the kernel has anyway, its tracepoints: enabled in our own instance, which takes
 * them along when it goes. Nothing is defined for them, and nothing deleted.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "session.h"

int nw_tracefs_events(const struct nw_tracefs *fs, nw_strings *out, struct nw_error *err)
{
	struct nw_buf text = {0};
	int ret = nw_tracefs_read(fs->root, "available_events", &text);
	char *rest = text.data, *line;

	if (ret < 0)
		nw_fail(err, -ret, "cannot read %s/available_events: %s", fs->path,
			nw_strerror(-ret));
	while (ret == 0 && (line = strsep(&rest, "\n")))
		/* those of sessions, also of others, may go away at any moment */
		if (*line && !nw_group_session(line) &&
		    nw_strings_add(out, line, strlen(line)) < 0)
			ret = nw_no_memory(err);
	nw_buf_free(&text);
	return ret;
}

int nw_tracefs_format(const struct nw_tracefs *fs, const char *system, const char *event,
		      struct nw_buf *out)
{
	char file[256];

	if (strchr(system, '/') || strchr(event, '/') ||
	    snprintf(file, sizeof(file), "events/%s/%s/format", system, event) >=
		    (int)sizeof(file))
		return -ENAMETOOLONG;
	return nw_tracefs_read(fs->root, file, out);
}

/* ---- in a session ------------------------------------------------------------------- */

static int write_enable(struct nw_session *session, const struct nw_event *event,
			const char *value)
{
	char file[2 * NW_MAX_NAME + 32];

	snprintf(file, sizeof(file), "events/%s/%s/enable", event->system, event->name);
	return nw_session_set(session, file, value);
}

static void give_up(struct nw_session *session, struct nw_armed_event *armed, int ret)
{
	const struct nw_event *event = armed->planned;

	armed->defined = 0;
	nw_armed_refuse(session->armed, event->places.item, "it cannot be enabled");
	nw_strings_addf(&session->warnings,
			"tracepoint:%s:%s is left out: it cannot be enabled: %s",
			event->system, event->name, nw_strerror(-ret));
}

/* Does the kernel let it be enabled? Some that it lists cannot be. */
static int try_event(struct nw_session *session, const struct nw_event *event)
{
	char file[2 * NW_MAX_NAME + 32];

	if (strchr(event->system, '/') || strchr(event->name, '/'))
		return -EINVAL;
	if (session->doing.dry_run)
		return 0;
	snprintf(file, sizeof(file), "events/%s/%s/enable", event->system, event->name);
	return nw_tracefs_has(session->instance, file) ? 0 : -ENOENT;
}

size_t nw_session_find_tracepoints(struct nw_session *session)
{
	size_t found = 0;

	nw_vec_each (&session->armed->events, event) {
		if (!*(*event)->planned->system)
			continue;
		int ret = try_event(session, (*event)->planned);
		(*event)->defined = ret == 0;
		found += ret == 0;
		if (ret < 0)
			give_up(session, *event, ret);
	}
	return found;
}

size_t nw_session_enable_tracepoints(struct nw_session *session)
{
	size_t enabled = 0;

	nw_vec_each (&session->armed->events, event) {
		if (!*(*event)->planned->system || !(*event)->defined)
			continue;
		int ret = write_enable(session, (*event)->planned, "1");
		enabled += ret == 0;
		if (ret < 0)
			give_up(session, *event, ret);
	}
	return enabled;
}

int nw_session_disable_tracepoint(struct nw_session *session, const struct nw_event *event)
{
	char name[2 * NW_MAX_NAME + 2];

	snprintf(name, sizeof(name), "%s/%s", event->system, event->name);
	for (size_t i = 0; session->options.tasks && i < nw_task_event_count; i++)
		if (strcmp(name, nw_task_events[i]) == 0)
			return 0;
	return write_enable(session, event, "0");
}
