// SPDX-License-Identifier: MIT
/* Events of others at the same place, and what becomes of their hits. */
#include <stdio.h>
#include <string.h>

#include "judge.h"

static bool is_return(const struct nw_facts *facts)
{
	return facts->spec->kind == NW_SPEC_URETPROBE;
}

/* The point of the probe where the event is, too. */
static const struct nw_point *point_of(const struct nw_facts *facts,
				       const struct nw_foreign_event *event)
{
	const struct nw_point *at;
	size_t probe = 0, point = 0;

	while ((at = nw_next_point(facts, &probe, &point)))
		if (at->offset == event->offset)
			return at;
	return NULL;
}

/* The point whose address somebody took for an offset. */
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

static void blame_clash(struct judge *judge, const struct nw_foreign_event *event,
			const struct nw_point *at)
{
	if (event->dead_owner)
		nw_blame(judge, NW_CAUSE_STALE_EVENT,
			 "event %s/%s of a dead tool (process %d is gone) is still there "
			 "and holds the place without its semaphore: the kernel refuses "
			 "the probe with it until that is removed",
			 event->group, event->name, (int)event->dead_owner);
	else
		nw_blame(judge, NW_CAUSE_PLACE_TAKEN,
			 "event %s/%s holds the place with reference counter 0x%jx instead "
			 "of 0x%jx: the kernel refuses any other probe there",
			 event->group, event->name, event->ref_ctr, at->semaphore_offset);
	nw_remedy(judge, "echo 0 > /sys/kernel/tracing/events/%s/%s/enable", event->group,
		  event->name);
	nw_remedy(judge, "echo '-:%s/%s' >> /sys/kernel/tracing/uprobe_events",
		  event->group, event->name);
	nw_remedy_spec(judge, NULL, NULL, 0);
}

static void blame_closed(struct judge *judge, const struct nw_foreign_event *event,
			 const struct nw_point *at)
{
	nw_blame(judge, NW_CAUSE_SEMAPHORE,
		 "event %s/%s is armed, but was defined without the probe's reference "
		 "counter, so its semaphore stays 0 and the program skips it",
		 event->group, event->name);
	nw_remedy(judge, "echo 0 > /sys/kernel/tracing/events/%s/%s/enable", event->group,
		  event->name);
	nw_remedy(judge, "echo '-:%s/%s' >> /sys/kernel/tracing/uprobe_events",
		  event->group, event->name);
	nw_remedy(judge,
		  "echo 'p:%s/%s %s:0x%jx(0x%jx)' >> /sys/kernel/tracing/uprobe_events",
		  event->group, event->name, event->path, at->offset, at->semaphore_offset);
}

/* Only a stale one, which is named before it hurts. */
static void blame_stale(struct judge *judge, const struct nw_foreign_event *event)
{
	nw_fails(judge, "event %s/%s of process %d, which is gone, is %s", event->group,
		 event->name, (int)event->dead_owner,
		 event->enabled ? "still enabled" : "left over");
}

static void check_place(struct judge *judge, const struct nw_foreign_event *event,
			const struct nw_point *at)
{
	/* the kernel compares with every definition, enabled or not */
	bool clash = judge->facts->ref_ctr && event->ref_ctr != at->semaphore_offset;

	if (event->dead_owner)
		blame_stale(judge, event);
	if (!clash) {
		if (!event->dead_owner)
			nw_pass(judge, "%s/%s is at the same place, %s", event->group,
				event->name, event->enabled ? "enabled" : "not enabled");
		return;
	}
	nw_fails(judge,
		 "%s/%s is enabled at 0x%jx with reference counter 0x%jx, the note "
		 "has 0x%jx",
		 event->group, event->name, at->offset, event->ref_ctr,
		 at->semaphore_offset);
	if (event->enabled && !event->ref_ctr && !event->dead_owner)
		blame_closed(judge, event, at);
	blame_clash(judge, event, at);
}

static void check_offset(struct judge *judge, const struct nw_foreign_event *event,
			 const struct nw_point *at)
{
	nw_fails(judge, "%s/%s is at offset 0x%jx, which is the address", event->group,
		 event->name, event->offset);
	nw_blame(judge, NW_CAUSE_EVENT_OFFSET,
		 "event %s/%s uses 0x%jx as its offset; that is the address, the file "
		 "offset is 0x%jx",
		 event->group, event->name, event->offset, at->offset);
	nw_remedy(judge, "echo '-:%s/%s' >> /sys/kernel/tracing/uprobe_events",
		  event->group, event->name);
	nw_remedy(judge, "echo '%c:%s/%s %s:0x%jx' >> /sys/kernel/tracing/uprobe_events",
		  event->is_return ? 'r' : 'p', event->group, event->name, event->path,
		  at->offset);
}

void nw_check_events(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	size_t near = 0;

	if (!facts->others)
		return;
	nw_vec_each (facts->others, event) {
		const struct nw_point *at = point_of(facts, event);
		const struct nw_point *by_address = at ? NULL
						       : point_by_address(facts, event);
		near += at || by_address;
		if (at)
			check_place(judge, event, at);
		else if (by_address)
			check_offset(judge, event, by_address);
	}
	if (!near)
		nw_pass(judge, "no event of others at this place");
}

/* ---- are its hits recorded? --------------------------------------------------------- */

struct events {
	const struct nw_foreign_event *before, *after;
	uint64_t hits, recorded, dropped; /* while it was watched */
};

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static bool find_after(const struct nw_facts *facts, const struct nw_foreign_event *before,
		       struct events *out)
{
	const nw_foreign_events *list = facts->others_after ? facts->others_after
							    : facts->others;

	nw_vec_each (list, after) {
		if (strcmp(after->group, before->group) != 0 ||
		    strcmp(after->name, before->name) != 0 ||
		    after->offset != before->offset)
			continue;
		*out = (struct events){
			.before = before,
			.after = after,
			.hits = grown(before->hits, after->hits),
			.recorded = grown(before->recorded, after->recorded),
			.dropped = grown(before->dropped, after->dropped),
		};
		return true;
	}
	return false;
}

static const char *instance_path(const struct nw_foreign_event *event, char out[128])
{
	snprintf(out, 128, "/sys/kernel/tracing%s%s", *event->instance ? "/instances/" : "",
		 event->instance);
	return out;
}

/* Newer kernels refuse a second reader (EBUSY), older ones share the events out. */
static void blame_readers(struct judge *judge, const struct nw_foreign_event *event)
{
	int reader = (int)event->readers.item[0];

	nw_fails(judge, "process %d reads the trace_pipe that %s/%s goes to", reader,
		 event->group, event->name);
	nw_blame(judge, NW_CAUSE_SECOND_READER,
		 "process %d reads the trace_pipe that %s/%s goes to, and an event reaches "
		 "one "
		 "reader only: any other finds it busy or gets what is left",
		 reader, event->group, event->name);
	nw_remedy(judge, "ps -o pid,args -p %d", reader);
}

enum {
	SMALL_KIB = 16 /* a few pages; the kernel's own default is 1408 KiB */
};

static void blame_cpus(struct judge *judge, const struct nw_foreign_event *event,
		       const char *dir)
{
	nw_fails(judge, "tracing_cpumask of %s leaves out %u CPUs", dir,
		 event->cpus_left_out);
	nw_blame(judge, NW_CAUSE_CPU_MASK,
		 "tracing_cpumask of %s leaves out %u of the CPUs: what %s/%s is hit by "
		 "there "
		 "is not recorded",
		 dir, event->cpus_left_out, event->group, event->name);
	nw_remedy(judge, "echo %s > %s/tracing_cpumask", event->all_cpus, dir);
}

/* The event is enabled and was hit, or nothing tells against it: where do its hits go? */
static void check_enabled(struct judge *judge, const struct events *e)
{
	const struct nw_foreign_event *event = e->after;
	char hits[32], dir[128];

	nw_thousands(e->hits, hits);
	instance_path(event, dir);
	if (!event->tracing_on) {
		nw_fails(judge, "%s/%s was hit %s times, but tracing_on is 0", event->group,
			 event->name, hits);
		nw_blame(
			judge, NW_CAUSE_TRACING_OFF,
			"%s/%s was hit %s times while tracing_on is 0: nothing is recorded",
			event->group, event->name, hits);
		nw_remedy(judge, "echo 1 > %s/tracing_on", dir);
	} else if (event->pid_filtered) {
		nw_fails(judge, "set_event_pid of %s names other threads", dir);
		nw_blame(judge, NW_CAUSE_PID_FILTER,
			 "set_event_pid of %s lets none of the threads of the process "
			 "through, so %s/%s records nothing of it",
			 dir, event->group, event->name);
		nw_remedy(judge, "echo > %s/set_event_pid", dir);
	} else if (event->pid_excluded) {
		nw_fails(judge, "set_event_notrace_pid of %s names its threads", dir);
		nw_blame(judge, NW_CAUSE_PID_FILTER,
			 "set_event_notrace_pid of %s keeps all threads of the process "
			 "out, so "
			 "%s/%s records nothing of it",
			 dir, event->group, event->name);
		nw_remedy(judge, "echo > %s/set_event_notrace_pid", dir);
	} else if (event->waits) {
		nw_fails(judge, "%s/%s waits for a trigger", event->group, event->name);
		nw_blame(judge, NW_CAUSE_EVENT_DISABLED,
			 "%s/%s is armed, but records only once a trigger of another event "
			 "switches it on (enable says 0*)",
			 event->group, event->name);
		nw_remedy(judge, "echo 1 > %s/events/%s/%s/enable", dir, event->group,
			  event->name);
	} else if (*event->filter && e->hits && !e->recorded) {
		nw_fails(judge, "%s/%s was hit %s times, its filter `%s` let none through",
			 event->group, event->name, hits, event->filter);
		nw_blame(judge, NW_CAUSE_FILTER,
			 "%s/%s was hit %s times, but its filter `%s` passes none of them",
			 event->group, event->name, hits, event->filter);
		nw_remedy(judge, "echo 0 > %s/events/%s/%s/filter", dir, event->group,
			  event->name);
	} else if (e->dropped && !event->overwrite) {
		nw_fails(judge, "the buffer is full and keeps the old events");
		nw_blame(judge, NW_CAUSE_BUFFER_FULL,
			 "the buffer that %s/%s goes to is full and does not overwrite: "
			 "%ju events were dropped meanwhile",
			 event->group, event->name, e->dropped);
		nw_remedy(judge, "echo > %s/trace", dir);
		nw_remedy(judge, "echo 1 > %s/options/overwrite", dir);
	} else if (event->readers.count) {
		blame_readers(judge, event);
	} else if (event->cpus_left_out) {
		blame_cpus(judge, event, dir);
	} else if (event->buffer_kib && event->buffer_kib <= SMALL_KIB) {
		nw_fails(judge, "the buffer of %s has %ju KiB a CPU", dir,
			 event->buffer_kib);
		nw_blame(judge, NW_CAUSE_BUFFER_FULL,
			 "the buffer that %s/%s goes to has %ju KiB a CPU, so that events "
			 "are "
			 "gone before anybody reads them",
			 event->group, event->name, event->buffer_kib);
		nw_remedy(judge, "echo 1408 > %s/buffer_size_kb", dir);
	} else {
		nw_pass(judge, "%s/%s was hit %s times and records into %s%s", event->group,
			event->name, hits, dir,
			event->pid_filter ? ", of some threads only" : "");
	}
}

/* Of events that were here all the time; ours are gone by now or were never in the list. */
void nw_check_recorded(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	size_t seen = 0;

	if (!facts->others)
		return;
	nw_vec_each (facts->others, before) {
		struct events e;
		if (!point_of(facts, before) || !find_after(facts, before, &e))
			continue;
		seen++;
		if (e.after->enabled) {
			check_enabled(judge, &e);
		} else if (e.hits == 0 && !is_return(facts)) {
			nw_fails(judge, "%s/%s is not enabled", before->group,
				 before->name);
			nw_blame(judge, NW_CAUSE_EVENT_DISABLED,
				 "event %s/%s is defined there but not enabled",
				 before->group, before->name);
			nw_remedy(judge, "echo 1 > /sys/kernel/tracing/events/%s/%s/enable",
				  before->group, before->name);
		}
	}
	const struct nw_watch *watch = facts->watch;
	if (!seen && watch && watch->done)
		nw_pass(judge, "%ju of %ju hits were recorded in our own buffer",
			watch->recorded, watch->counted);
}
