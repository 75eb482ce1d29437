// SPDX-License-Identifier: MIT
/* What becomes of a session's events by other hands: disabled, deleted, recording switched off. */
#include <errno.h>
#include <stdio.h>

#include "session.h"

/* The first character of a file of the instance; 0: it cannot be read, *gone: it is not there. */
static char first_of(const struct nw_session *session, const char *file, bool *gone)
{
	struct nw_buf text = {0};
	int ret = nw_tracefs_read(session->instance, file, &text);
	char first = ret == 0 && text.len ? text.data[0] : 0;

	*gone = ret == -ENOENT;
	nw_buf_free(&text);
	return first;
}

bool nw_session_records(const struct nw_session *session)
{
	bool gone;

	return first_of(session, "tracing_on", &gone) != '0';
}

enum nw_event_state nw_session_event_state(const struct nw_session *session,
					   const struct nw_event *event)
{
	char file[2 * NW_MAX_NAME + 32];
	bool gone;

	snprintf(file, sizeof(file), "events/%s/%s/enable",
		 nw_event_group(session->plan, event), event->name);
	switch (first_of(session, file, &gone)) {
	case '0':
		return NW_EVENT_OFF;
	case '1':
		return NW_EVENT_ON;
	default:
		return gone ? NW_EVENT_GONE : NW_EVENT_UNKNOWN;
	}
}
