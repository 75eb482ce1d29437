// SPDX-License-Identifier: MIT
/* Hits by place of a session's events: uprobe_profile, joined with uprobe_events (event_list.h). */
#include <errno.h>
#include <string.h>

#include "kernel/tracefs/event_list.h"

#include "session_private.h"

struct counting {
	const struct nw_armed *armed;
	uint64_t *hits;
};

static int count(void *arg, const struct nw_definition_line *line)
{
	const struct counting *c = arg;

	if (strcmp(line->group, c->armed->plan->group) != 0)
		return 0;
	nw_vec_each (&c->armed->events, event) {
		const struct nw_event *planned = (*event)->planned;
		if (*planned->system || strcmp((*event)->name, line->name) != 0)
			continue;
		uint16_t number = (*event)->by_low_bits[line->offset & 0xfff];
		if (number && planned->places.item[number - 1].part == 0)
			c->hits[planned->places.item[number - 1].planned] += line->hits;
		break;
	}
	return 0;
}

int nw_session_profile(const struct nw_session *session, uint64_t *hits)
{
	struct counting counting = {session->armed, hits};
	bool joined;

	memset(hits, 0, session->plan->points.count * sizeof(*hits));
	int ret = nw_event_list_read(session->fs, &joined, count, &counting);
	return ret < 0 ? ret : joined ? 0 : -EAGAIN;
}
