// SPDX-License-Identifier: MIT
/* Detects external changes of a session's events: disabled, deleted, recording switched off. */
#include <errno.h>
#include <stdio.h>

#include "kernel/tracefs/event_list.h"

#include "session_private.h"

bool nw_session_records(const struct nw_session *session)
{
	struct nw_buf text = {0};
	bool off = nw_tracefs_read(session->instance, "tracing_on", &text) == 0 &&
		   nw_buf_str(&text)[0] == '0';

	nw_buf_free(&text);
	return !off;
}

/* Returns the state of an event. An event that a trigger keeps from being recorded counts as disabled. */
enum nw_event_state nw_session_event_state(const struct nw_session *session,
					   const struct nw_armed_event *event)
{
	static const enum nw_event_state states[] = {[NW_ENABLED_NO] = NW_EVENT_OFF,
						     [NW_ENABLED_YES] = NW_EVENT_ON,
						     [NW_ENABLED_SOFT] = NW_EVENT_OFF,
						     [NW_ENABLED_MIXED] = NW_EVENT_ON,
						     [NW_ENABLED_NONE] = NW_EVENT_UNKNOWN};
	enum nw_enabled enabled = NW_ENABLED_NONE;
	char file[512];

	nw_event_file("", nw_event_group(session->plan, event->planned), event->name,
		      "enable", file);
	int ret = nw_enabled_read(session->instance, file, &enabled);
	return ret == -ENOENT ? NW_EVENT_GONE
	       : ret < 0      ? NW_EVENT_UNKNOWN
			      : states[enabled];
}
