// SPDX-License-Identifier: MIT
/* Callers: selects the probes that need stacks, and adds the stack to a hit. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* Architectures whose callers can be found (`unwind`). */
#define KNOWN "x86-64, i386, 32-bit and 64-bit ARM, riscv64, ppc64 and s390x"

/* Does the probe end spans and begin none? Its callers are those of the start. */
static bool only_ends(const nw_span_defs *spans, uint32_t probe)
{
	bool ends = false;

	nw_vec_each (spans, span) {
		nw_vec_each (&span->starts, start)
			if (*start == probe)
				return false;
		nw_vec_each (&span->ends, end)
			ends |= *end == probe;
	}
	return ends;
}

static void hint_probes(const struct nw_selection *selection, struct nw_error *err)
{
	enum {
		SHOWN = 8
	};
	struct nw_buf names = {0};
	size_t shown = 0;

	nw_vec_each (&selection->probes, it)
		if (!(*it)->hidden && shown++ < SHOWN)
			nw_buf_printf(&names, "%s%s", shown > 1 ? ", " : "", (*it)->label);
	nw_error_hint(err, "the probes are %s%s", nw_buf_str(&names),
		      shown > SHOWN ? ", ..." : "");
	nw_buf_free(&names);
}

/*
 * The list of callers that the kernel can write behind a tracepoint (options/userstacktrace) follows frame pointers
 * from the registers at the system call. The wrapper in the C library has no frame of its own, so the first frame is
 * that of its caller, and the return address in it belongs to the function before: the function that made the call is
 * missing. For code without frame pointers there is nothing.
 */
static const char no_callers[] =
	"the kernel's own list of callers at a tracepoint leaves out the function that made the call, and ends where code has no frame pointers";

static const char *why_no_callers(const struct nw_probe *probe)
{
	return probe->image
		       ? "at a function of the kernel the program's registers and stack cannot be fetched"
		       : no_callers;
}

static int refuse_tracepoint(const struct nw_probe *probe, struct nw_error *err)
{
	static const char enter[] = "sys_enter_";
	const char *call = strncmp(probe->name, enter, strlen(enter)) == 0
				   ? probe->name + strlen(enter)
				   : NULL;

	nw_fail(err, ENOTSUP, "--stack: %s has no callers: %s", probe->label,
		why_no_callers(probe));
	if (call)
		nw_error_hint(
			err,
			"the C library's function that makes the call has them: --stack 'uprobe:libc.so.6:%s'",
			call);
	else if (strcmp(probe->provider, "sched") == 0)
		nw_error_hint(
			err,
			"where spans sleep, and who called them, tells `nopwatch stat --states --stack func:FILE:FUNCTION`; the program's stack at each switch tells `perf record -e sched:sched_switch --call-graph dwarf -p PID`");
	else
		nw_error_hint(err, "uprobes and USDT probes have callers");
	return -ENOTSUP;
}

static bool is_meant(const struct nw_probe *probe, const char *glob, bool ends)
{
	if (probe->hidden)
		return false;
	/* The glob is compared with the label and with the name alone; an empty one matches all probes. */
	return *glob ? fnmatch(glob, probe->label, 0) == 0 ||
			       fnmatch(glob, probe->name, 0) == 0
		     : !ends;
}

static int mark(struct nw_run *run, const nw_span_defs *spans, const char *glob,
		struct nw_error *err)
{
	const struct nw_probe *tracepoint = NULL;
	size_t marked = 0;
	uint32_t number = 0;

	nw_vec_each (&run->result->selection.probes, it) {
		struct nw_probe *probe = *it;
		bool can = probe->image && probe->image->arch && probe->image->arch->unwind;
		bool ends = only_ends(spans, number++);
		if (!is_meant(probe, glob, ends))
			continue;
		if (nw_probe_in_kernel(probe)) {
			if (probe->image || nw_request_names(run->request, probe))
				tracepoint = probe;
			continue;
		}
		if (*glob && !can)
			return nw_fail(
				err, ENOTSUP,
				"--stack: nopwatch cannot find the callers of %s: it knows the stacks of " KNOWN,
				probe->label);
		probe->callers = can;
		marked += can;
	}
	if (tracepoint && (*glob || !marked))
		return refuse_tracepoint(tracepoint, err);
	if (tracepoint)
		nw_run_notice(run, "--stack: %s has no callers: %s", tracepoint->label,
			      why_no_callers(tracepoint));
	if (!marked && *glob) {
		nw_fail_usage(err, "--stack '%s': no probe has this name", glob);
		hint_probes(&run->result->selection, err);
		return -EINVAL;
	}
	return marked ? 0
		      : nw_fail(err, ENOTSUP,
				"--stack: only uprobes and USDT probes on " KNOWN
				" have callers, and no probe is one of these");
}

int nw_run_select_stacks(struct nw_run *run, struct nw_error *err)
{
	nw_span_defs spans = {0};
	int ret = 0;

	if (run->request->stack_count && run->consumer.needs.stacks &&
	    nw_request_spans(run->request, &run->result->selection, &spans) < 0)
		ret = nw_no_memory(err);
	for (size_t i = 0; ret == 0 && i < run->request->stack_count; i++)
		ret = mark(run, &spans, run->request->stacks[i], err);
	nw_spans_free(&spans);
	return ret;
}

/* Opens the stacks. With the host's /proc, perf events have other process numbers than hits. */
static int open_stacks(struct nw_run *run, struct nw_error *err)
{
	const bool live = run->source->live;
	char proc[32] = "/proc";

	if (live && run->live.space.foreign)
		snprintf(proc, sizeof(proc), "/proc/self/fd/%d", run->live.space.host);
	if (nw_stacks_open(live ? proc : NULL, &run->delivery.stacks) < 0)
		return nw_no_memory(err);
	if (run->request->no_demangle)
		nw_stacks_linked(run->delivery.stacks);
	run->result->stacks = run->delivery.stacks;
	enum nw_clock clock = live ? nw_session_clock(run->live.session) : NW_CLOCK_OTHER;
	if (clock == NW_CLOCK_OTHER || run->live.space.foreign || !nw_proc_is_ours())
		return 0;
	int ret = nw_stacks_watch(run->delivery.stacks, clock == NW_CLOCK_MONO
								? CLOCK_MONOTONIC
								: CLOCK_BOOTTIME);
	if (ret == -ENOMEM)
		return nw_no_memory(err);
	return ret < 0 ? nw_fail(err, -ret,
				 "--stack: the mappings of processes cannot be watched: %s",
				 nw_strerror(-ret))
		       : 0;
}

int nw_run_open_stacks(struct nw_run *run, struct nw_error *err)
{
	bool wanted = false;

	nw_vec_each (&run->result->plan.points, planned)
		wanted |= nw_planned_callers(planned) != NULL;
	if (!wanted && run->request->stack_count)
		return nw_fail(
			err, ENODATA,
			"--stack: there are none in it; 'nopwatch record --stack' keeps them");
	if (!wanted || run->delivery.stacks)
		return 0;
	errno = 0;
	const char *lack = nw_unwind_tables_lack();
	const int shortage = nw_shortage();
	if (lack && shortage < 0)
		return nw_fail(err, -shortage, "--stack: %s: %s", lack,
			       nw_strerror(-shortage));
	if (lack)
		nw_run_notice(
			run,
			"--stack: callers are found by frame pointers, not by unwind tables: %s",
			lack);
	return open_stacks(run, err);
}

int nw_run_add_callers(struct nw_run *run, struct nw_hit *hit)
{
	const struct nw_planned_point *planned =
		&run->result->plan.points.item[hit->planned];
	const struct nw_source *source = nw_planned_callers(planned);
	const struct nw_probe *probe = run->result->selection.probes.item[hit->probe];
	const struct nw_value *stack = nw_join_stack(run->delivery.join, hit);

	if (!stack)
		return 0;
	const struct nw_point *point = &probe->points.item[planned->point];
	const struct nw_stack_copy copy = {
		.arch = source->callers,
		.big_endian = source->big_endian,
		.bytes = (const unsigned char *)stack->text,
		.len = stack->len,
		.time = hit->time,
		.thread = hit->tid,
		.process = nw_tasks_get(run->delivery.tasks, hit->tid)->pid,
		.address = stack->number,
		.entry = probe->kind != NW_SPEC_USDT && !point->is_return,
	};
	int64_t number = nw_stacks_add(run->delivery.stacks, &copy);
	if (number < 0)
		return (int)number;
	hit->callers = (uint32_t)number;
	return 0;
}
