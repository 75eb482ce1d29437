// SPDX-License-Identifier: MIT
/* Checks what becomes of the hits of other tools' events at the same place. */
#include <stdio.h>
#include <string.h>

#include "judge.h"

struct events {
	const struct nw_foreign_event *before, *after;
	uint64_t hits, recorded, dropped; /* while the probe was watched */
};

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static bool find_after(const struct nw_facts *facts, const struct nw_foreign_event *before,
		       struct events *out)
{
	const nw_foreign_events *list = facts->foreign_after ? facts->foreign_after
							     : facts->foreign;

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

enum {
	SMALL_KIB = 16 /* a few pages; the kernel's own default is 1408 KiB */
};

static bool is_off(const struct events *e)
{
	return !e->after->tracing_on;
}

static bool is_pid_filtered(const struct events *e)
{
	return e->after->pid_filtered;
}

static bool is_pid_excluded(const struct events *e)
{
	return e->after->pid_excluded;
}

static bool waits_for_trigger(const struct events *e)
{
	return e->after->waits;
}

static bool is_filtered(const struct events *e)
{
	return *e->after->filter && e->hits && !e->recorded;
}

static bool is_full(const struct events *e)
{
	return e->dropped && !e->after->overwrite;
}

static bool is_read(const struct events *e)
{
	return e->after->readers.count;
}

static bool lacks_cpus(const struct events *e)
{
	return e->after->cpus_left_out;
}

static bool is_small(const struct events *e)
{
	return e->after->buffer_kib && e->after->buffer_kib <= SMALL_KIB;
}

/*
 * Reasons why the hits of an enabled event are not recorded, or not read; the first that fits is told. In the texts
 * %e is the event, GROUP/NAME, %d the directory of its instance, %h its hits during the watch, %f its filter, %l the
 * events lost, %r the reader's process, %c the CPUs left out, %a the mask of all CPUs, %k the KiB of buffer for each
 * CPU.
 */
static const struct {
	bool (*seen)(const struct events *e);
	enum nw_cause cause;
	const char *saw, *text, *remedy[2];
} losses[] = {
	{is_off,
	 NW_CAUSE_TRACING_OFF,
	 "%e was hit %h times, but tracing_on is 0",
	 "%e was hit %h times while tracing_on is 0: nothing is recorded",
	 {"echo 1 > %d/tracing_on"}},
	{is_pid_filtered,
	 NW_CAUSE_PID_FILTER,
	 "set_event_pid of %d names other threads",
	 "set_event_pid of %d lets none of the threads of the process through, so %e records nothing of it",
	 {"echo > %d/set_event_pid"}},
	{is_pid_excluded,
	 NW_CAUSE_PID_FILTER,
	 "set_event_notrace_pid of %d names its threads",
	 "set_event_notrace_pid of %d keeps all threads of the process out, so %e records nothing of it",
	 {"echo > %d/set_event_notrace_pid"}},
	{waits_for_trigger,
	 NW_CAUSE_EVENT_DISABLED,
	 "%e waits for a trigger",
	 "%e is armed, but records only once a trigger of another event switches it on (enable says 0*)",
	 {"echo 1 > %d/events/%e/enable"}},
	{is_filtered,
	 NW_CAUSE_FILTER,
	 "%e was hit %h times, its filter `%f` let none through",
	 "%e was hit %h times, but its filter `%f` passes none of them",
	 {"echo 0 > %d/events/%e/filter"}},
	{is_full,
	 NW_CAUSE_BUFFER_FULL,
	 "the buffer is full and keeps the old events",
	 "the buffer that %e goes to is full and does not overwrite: %l events were dropped meanwhile",
	 {"echo > %d/trace", "echo 1 > %d/options/overwrite"}},
	/* newer kernels refuse a second reader (EBUSY), older ones share the events out */
	{is_read,
	 NW_CAUSE_SECOND_READER,
	 "process %r reads the trace_pipe that %e goes to",
	 "process %r reads the trace_pipe that %e goes to, and an event reaches one reader only: any other finds it busy or gets what is left",
	 {"ps -o pid,args -p %r"}},
	{lacks_cpus,
	 NW_CAUSE_CPU_MASK,
	 "tracing_cpumask of %d leaves out %c CPUs",
	 "tracing_cpumask of %d leaves out %c of the CPUs: what %e is hit by there is not recorded",
	 {"echo %a > %d/tracing_cpumask"}},
	{is_small,
	 NW_CAUSE_BUFFER_FULL,
	 "the buffer of %d has %k KiB a CPU",
	 "the buffer that %e goes to has %k KiB a CPU, so that events are gone before anybody reads them",
	 {"echo 1408 > %d/buffer_size_kb"}},
};

static void fill_in(const struct events *e, char letter, struct nw_buf *out)
{
	const struct nw_foreign_event *event = e->after;
	char hits[32], dir[NW_MAX_NAME + 48];

	nw_thousands(e->hits, hits);
	switch (letter) {
	case 'e':
		nw_buf_printf(out, "%s/%s", event->group, event->name);
		break;
	case 'd':
		nw_buf_adds(out, nw_instance_path(event, dir, sizeof(dir)));
		break;
	case 'h':
		nw_buf_adds(out, hits);
		break;
	case 'f':
		nw_buf_adds(out, event->filter);
		break;
	case 'l':
		nw_buf_printf(out, "%ju", e->dropped);
		break;
	case 'r':
		nw_buf_printf(out, "%d", (int)event->readers.item[0]);
		break;
	case 'c':
		nw_buf_printf(out, "%u", event->cpus_left_out);
		break;
	case 'a':
		nw_buf_adds(out, event->all_cpus ? event->all_cpus : "");
		break;
	case 'k':
		nw_buf_printf(out, "%ju", event->buffer_kib);
		break;
	}
}

/* Fills the values into a text of the table; the caller frees. */
static char *filled(const char *text, const struct events *e)
{
	struct nw_buf out = {0};

	for (const char *at = text; *at; at++)
		if (*at == '%')
			fill_in(e, *++at, &out);
		else
			nw_buf_addc(&out, *at);
	return nw_buf_take(&out);
}

/* Checks where the hits of an event go that is enabled, and was hit or may have been. */
static void check_enabled(struct judge *judge, const struct events *e)
{
	size_t i = 0;

	while (i < NW_COUNT(losses) && !losses[i].seen(e))
		i++;
	bool fine = i == NW_COUNT(losses);
	nw_cleanup(nw_free_ptr) char *saw = filled(
		fine ? "%e was hit %h times and records into %d" : losses[i].saw, e);
	nw_cleanup(nw_free_ptr) char *text = filled(fine ? "" : losses[i].text, e);
	if (!saw || !text) {
		judge->failed = true;
	} else if (fine) {
		nw_pass(judge, e->after->pid_filter ? "%s, of some threads only" : "%s",
			saw);
	} else {
		nw_fails(judge, "%s", saw);
		nw_blame(judge, losses[i].cause, "%s", text);
	}
	for (size_t r = 0; !fine && r < NW_COUNT(losses[i].remedy) && losses[i].remedy[r];
	     r++) {
		nw_cleanup(nw_free_ptr) char *remedy = filled(losses[i].remedy[r], e);
		if (remedy)
			nw_remedy(judge, "%s", remedy);
		else
			judge->failed = true;
	}
}

/* Looks only at events that existed before and after the watch; nopwatch's own are gone by now, or were never in the
 * list. */
void nw_check_recorded(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	size_t seen = 0;

	if (!facts->foreign)
		return;
	nw_vec_each (facts->foreign, before) {
		struct events e;
		if (before->session || !nw_point_at(facts, before->offset) ||
		    !find_after(facts, before, &e))
			continue;
		seen++;
		if (e.after->enabled) {
			check_enabled(judge, &e);
		} else if (facts->tool && facts->tool->by_event) {
			nw_pass(judge, "%s/%s is not enabled: %s does that when it records",
				before->group, before->name, facts->tool->program);
		} else if (e.hits == 0 && facts->spec->kind != NW_SPEC_URETPROBE) {
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
