// SPDX-License-Identifier: MIT
/* Checks whether an event of another tool at the same place is in the way. */
#include <stdio.h>
#include <string.h>

#include "judge.h"

/* Returns the point whose address the event has as its offset. */
static const struct nw_point *point_by_address(const struct nw_facts *facts,
					       const struct nw_foreign_event *event)
{
	const struct nw_point *at;
	size_t probe = 0, point = 0;

	while ((at = nw_next_point(facts, &probe, &point)))
		if (at->vaddr == event->offset && at->vaddr != at->offset)
			return at;
	return NULL;
}

/* ---- is one in the way? ------------------------------------------------------------- */

/* Offers to delete the event, which must be disabled first where it is enabled. */
static void remedy_delete(struct judge *judge, const struct nw_foreign_event *event)
{
	char dir[NW_MAX_NAME + 48];

	if (event->enabled)
		nw_remedy(judge, "echo 0 > %s/events/%s/%s/enable",
			  nw_instance_path(event, dir, sizeof(dir)), event->group,
			  event->name);
	nw_remedy(judge, "echo '-:%s/%s' >> /sys/kernel/tracing/uprobe_events",
		  event->group, event->name);
}

/* Offers to define the event again with its arguments, at the right place and with its reference counter. */
static void remedy_define(struct judge *judge, const struct nw_foreign_event *event,
			  const struct nw_point *at)
{
	struct nw_buf line = {0};
	char dir[NW_MAX_NAME + 48];

	nw_buf_printf(&line, "%c:%s/%s %s:0x%jx", event->is_return ? 'r' : 'p',
		      event->group, event->name, event->path, at->offset);
	if (at->semaphore_offset && judge->facts->ref_ctr)
		nw_buf_printf(&line, "(0x%jx)", at->semaphore_offset);
	nw_remedy_file(judge, "echo", nw_buf_str(&line),
		       " >> /sys/kernel/tracing/uprobe_events");
	if (event->enabled)
		nw_remedy(judge, "echo 1 > %s/events/%s/%s/enable",
			  nw_instance_path(event, dir, sizeof(dir)), event->group,
			  event->name);
	nw_buf_free(&line);
}

static void check_place(struct judge *judge, const struct nw_foreign_event *event,
			const struct nw_point *at)
{
	/* the kernel compares reference counters with every definition, enabled or not */
	bool clash = judge->facts->ref_ctr && event->ref_ctr != at->semaphore_offset;

	if (event->session) {
		nw_pass(judge,
			"a session of nopwatch has a probe at the same place, too (%s)",
			event->group);
		return;
	}
	if (event->dead_owner) {
		/* an event of a dead tool is named even where it does no harm yet */
		nw_fails(
			judge,
			event->enabled
				? "event %s/%s of process %d, which is gone, is still enabled"
				: "event %s/%s of process %d, which is gone, is left over",
			event->group, event->name, (int)event->dead_owner);
	}
	if (!clash) {
		if (!event->dead_owner)
			nw_pass(judge,
				event->enabled ? "%s/%s is at the same place, enabled"
					       : "%s/%s is at the same place, not enabled",
				event->group, event->name);
		return;
	}
	nw_fails(judge,
		 "%s/%s is at 0x%jx with reference counter 0x%jx, the note has 0x%jx",
		 event->group, event->name, at->offset, event->ref_ctr,
		 at->semaphore_offset);
	if (event->enabled && !event->ref_ctr && !event->dead_owner) {
		nw_blame(
			judge, NW_CAUSE_SEMAPHORE,
			"event %s/%s is armed, but was defined without the probe's reference counter, so its semaphore stays 0 and the program skips it",
			event->group, event->name);
		remedy_delete(judge, event);
		remedy_define(judge, event, at);
	}
	if (event->dead_owner)
		nw_blame(
			judge, NW_CAUSE_STALE_EVENT,
			"event %s/%s of a dead tool (process %d is gone) is still there and holds the place without its semaphore: the kernel refuses the probe with it until that is removed",
			event->group, event->name, (int)event->dead_owner);
	else
		nw_blame(
			judge, NW_CAUSE_PLACE_TAKEN,
			"event %s/%s holds the place with reference counter 0x%jx instead of 0x%jx: the kernel refuses any other probe there",
			event->group, event->name, event->ref_ctr, at->semaphore_offset);
	remedy_delete(judge, event);
	nw_remedy_spec(judge, NULL, NULL, 0);
}

void nw_check_events(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	size_t near = 0;

	if (!facts->foreign)
		return;
	nw_vec_each (facts->foreign, event) {
		const struct nw_point *at = nw_point_at(facts, event->offset);
		const struct nw_point *by_address = at ? NULL
						       : point_by_address(facts, event);
		near += at || (by_address && !event->session);
		if (at)
			check_place(judge, event, at);
		else if (by_address && !event->session) {
			nw_fails(judge, "%s/%s is at offset 0x%jx, which is the address",
				 event->group, event->name, event->offset);
			nw_blame(
				judge, NW_CAUSE_EVENT_OFFSET,
				"event %s/%s uses 0x%jx as its offset; that is the address, the file offset is 0x%jx",
				event->group, event->name, event->offset,
				by_address->offset);
			remedy_delete(judge, event);
			remedy_define(judge, event, by_address);
		}
	}
	if (!near && facts->held && facts->held->armed)
		nw_pass(judge,
			"no event of others in tracefs at this place, but a breakpoint of theirs in memory: a tool that attaches through perf or BPF links is there");
	else if (!near)
		nw_pass(judge, "no event of others at this place");
}
