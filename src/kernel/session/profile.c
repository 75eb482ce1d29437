// SPDX-License-Identifier: MIT
/* Hits by place of a session's events: uprobe_profile, joined with uprobe_events (event_list.h), and kprobe_profile. */
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

/* Adds a line of kprobe_profile. It has no group, but names of events are those of one session. */
static void count_line(const struct counting *c, const char *line, uint64_t *missed)
{
	char name[NW_MAX_NAME + 1];
	uint64_t hits, lost;

	if (!nw_kernel_profile_line_parse(line, name, &hits, &lost))
		return;
	nw_vec_each (&c->armed->events, event) {
		const struct nw_event *planned = (*event)->planned;
		if (*planned->system || strcmp((*event)->name, name) != 0)
			continue;
		/* Before 4.14 each fetch that meets an absent page counts as missed (kprobe_fault_handler()), and at a
		 * system call's begin no other kprobe is under way. */
		*missed += *planned->attached ? 0 : lost;
		if (c->hits && planned->places.item[0].part == 0)
			c->hits[planned->places.item[0].planned] += hits;
	}
}

/* Reads the counts of probes in functions of the kernel. hits NULL: only the missed calls are wanted. */
static int count_kernel(const struct nw_session *session, uint64_t *hits, uint64_t *missed)
{
	const struct counting counting = {session->armed, hits};
	struct nw_buf text = {0};
	bool any = false;

	*missed = 0;
	nw_vec_each (&session->plan->events, event)
		any |= nw_event_in_function(session->plan, *event);
	int ret = any ? nw_tracefs_read(session->fs->root, "kprobe_profile", &text) : 0;
	char *rest = text.data, *line;
	while (ret == 0 && (line = strsep(&rest, "\n")))
		count_line(&counting, line, missed);
	nw_buf_free(&text);
	return ret;
}

int nw_session_profile(const struct nw_session *session, uint64_t *hits)
{
	struct counting counting = {session->armed, hits};
	uint64_t missed;
	bool joined;

	memset(hits, 0, session->plan->points.count * sizeof(*hits));
	int ret = nw_event_list_read(session->fs, &joined, count, &counting);
	if (ret == 0)
		ret = count_kernel(session, hits, &missed);
	return ret < 0 ? ret : joined ? 0 : -EAGAIN;
}

uint64_t nw_session_missed(const struct nw_session *session)
{
	uint64_t missed;

	return count_kernel(session, NULL, &missed) == 0 ? missed : 0;
}
