// SPDX-License-Identifier: MIT
/*
 * An enabled event may not be armed, and an armed one may not be hit. This reads back the memory of processes right
 * after enabling, and collects facts about probes without hits (silent_why.c finds the reasons).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "silent.h"

/* The points of one silent probe, and what their memory shows. */
struct silence {
	struct nw_presence seen;
	uint64_t counted; /* hits that the kernel counted, and the consumer did not get */
};

void nw_presence_add(struct nw_presence *sum, const struct nw_presence *one)
{
	sum->mapped += one->mapped;
	sum->armed += one->armed;
	nw_armed_forms_add(&sum->forms, &one->forms);
	sum->unreadable += one->unreadable;
	if (one->unreadable)
		sum->unreadable_code = one->unreadable_code;
	sum->closed += one->closed;
	sum->unarmed_pid = one->unarmed_pid ? one->unarmed_pid : sum->unarmed_pid;
	sum->closed_pid = one->closed_pid ? one->closed_pid : sum->closed_pid;
}

/* Points, and their indexes in the plan. */
struct points {
	NW_VEC(const struct nw_point *) points;
	nw_vec_u32 planned;
};

static void free_points(struct points *points)
{
	nw_vec_free(&points->points);
	nw_vec_free(&points->planned);
}

static bool has_fired(const struct nw_run *run, size_t probe)
{
	return nw_run_probe_hits(run, probe) ||
	       (run->delivery.probe_filtered && run->delivery.probe_filtered[probe]);
}

/* Lists the armed points; with `silent`, only those of probes without hits. */
static int find_points(const struct nw_run *run, bool silent, struct points *out)
{
	for (uint32_t i = 0; i < run->result->plan.points.count; i++) {
		const struct nw_planned_point *planned = &run->result->plan.points.item[i];
		const struct nw_probe *probe =
			run->result->selection.probes.item[planned->probe];
		if (run->result->armed.points.item[i].failed || nw_probe_in_kernel(probe) ||
		    (silent && has_fired(run, planned->probe)))
			continue;
		const struct nw_point **slot = nw_vec_add(&out->points);
		uint32_t *number = slot ? nw_vec_add(&out->planned) : NULL;
		if (!number)
			return -ENOMEM;
		*slot = &probe->points.item[planned->point];
		*number = i;
	}
	return 0;
}

static int read_back(struct nw_run *run, const struct points *silent, struct silence *found,
		     struct nw_error *err)
{
	const uint64_t *before = run->live.profile, *after = run->live.counted;
	struct nw_presence *seen = calloc(silent->points.count + 1, sizeof(*seen));
	const pid_t *pids = run->request->pid_count ? run->request->pids : NULL;
	int ret = seen ? 0 : nw_no_memory(err);

	if (ret == 0)
		ret = nw_points_presence(silent->points.item, silent->points.count, pids,
					 run->request->pid_count, seen, err);
	for (size_t i = 0; ret == 0 && i < silent->points.count; i++) {
		uint32_t number = silent->planned.item[i];
		struct silence *s = &found[run->result->plan.points.item[number].probe];
		nw_presence_add(&s->seen, &seen[i]);
		if (before && after && after[number] > before[number])
			s->counted += after[number] - before[number];
	}
	free(seen);
	return ret;
}

/*
 * Explains hits that the kernel counted, but did not record. uprobe_profile counts the hits of all processes,
 * including those that are not traced, and hits that the kernel then dropped; which it was is unknown. Calls with a
 * return probe are counted when they begin (uprobe_dispatcher() of trace_uprobe.c), and may not have returned.
 */
static int explain_counted(struct nw_run *run, size_t probe, uint64_t hits,
			   struct nw_error *err)
{
	bool returns = nw_run_is_return(run, probe);
	int ret;

	/* They were recorded behind the last hit that was wanted. */
	if (nw_run_is_cut_short(run)) {
		run->result->states[probe] = (struct nw_probe_state){NW_STATE_NOT_HIT,
								     NULL};
		return 0;
	}
	if (returns) /* the calls may have been left by exit(), longjmp() or an exception */
		ret = nw_run_set_state(
			run, probe, NW_STATE_NOT_HIT,
			nw_plural(
				hits,
				"no hit: the kernel counted %ju call in the whole system, and recorded no return of those that are traced",
				"no hit: the kernel counted %ju calls in the whole system, and recorded no return of those that are traced"),
			hits);
	else if (run->result->restricted)
		ret = nw_run_set_state(
			run, probe, NW_STATE_FILTERED,
			nw_plural(
				hits,
				"the kernel counted %ju hit in the whole system, but recorded none of the traced processes",
				"the kernel counted %ju hits in the whole system, but recorded none of the traced processes"),
			hits);
	else
		ret = nw_run_set_state(
			run, probe, NW_STATE_NOT_RECORDED,
			nw_plural(
				hits,
				"the kernel counted %ju hit in the whole system, but recorded none",
				"the kernel counted %ju hits in the whole system, but recorded none"),
			hits);
	return ret < 0 ? nw_no_memory(err) : 0;
}

/* Was none of the probe's points armed? The session has reported why. */
static bool is_left_out(const struct nw_run *run, size_t probe)
{
	const struct nw_run_result *result = run->result;
	bool any = false;

	for (size_t i = 0; i < result->plan.points.count; i++) {
		if (result->plan.points.item[i].probe != probe)
			continue;
		if (!result->armed.points.item[i].failed)
			return false;
		any = true;
	}
	return any;
}

static int explain_left_out(struct nw_run *run, size_t probe, struct nw_error *err)
{
	struct nw_run_result *result = run->result;
	const struct nw_probe *left = result->selection.probes.item[probe];
	const struct nw_point *at = NULL;
	const char *why = NULL;
	struct nw_buf where = {0};

	for (size_t i = 0; i < result->plan.points.count; i++) {
		const struct nw_planned_point *planned = &result->plan.points.item[i];
		if (planned->probe != probe || !result->armed.points.item[i].why)
			continue;
		at = &left->points.item[planned->point];
		why = result->armed.points.item[i].why;
	}
	if (at)
		nw_point_text(left, at, &where);
	int ret = why ? nw_run_set_state(run, probe, NW_STATE_NOT_ARMED,
					 "not armed: %s is left out: %s",
					 nw_buf_str(&where), why)
		      : nw_run_set_state(run, probe, NW_STATE_NOT_ARMED,
					 "not armed: it is left out");
	nw_buf_free(&where);
	return ret < 0 ? nw_no_memory(err) : 0;
}

static int explain(struct nw_run *run, const struct silence *found, struct nw_error *err)
{
	struct nw_silent silent;
	int ret = nw_silent_open(run, &silent, err);

	for (size_t i = 0; ret == 0 && i < run->result->selection.probes.count; i++) {
		if (has_fired(run, i) || nw_result_is_disabled(run->result, i) ||
		    run->result->states[i].text)
			continue;
		if (found[i].counted)
			ret = explain_counted(run, i, found[i].counted, err);
		else
			ret = nw_silent_why(&silent, run->result->selection.probes.item[i],
					    &found[i].seen, &run->result->states[i], err);
	}
	nw_silent_close(&silent);
	return ret;
}

int nw_run_explain(struct nw_run *run, struct nw_error *err)
{
	size_t probes = run->result->selection.probes.count;
	struct silence *found = calloc(probes + 1, sizeof(*found));
	struct points silent = {0};
	int ret = 0;

	if (!found || nw_run_make_states(run) < 0 || find_points(run, true, &silent) < 0)
		ret = nw_no_memory(err);
	/* Probes in the kernel are not armed in processes, so there is nothing to read back. */
	for (size_t i = 0; ret == 0 && i < probes; i++) {
		const struct nw_probe *probe = run->result->selection.probes.item[i];
		if (nw_probe_in_kernel(probe) && !nw_result_is_disabled(run->result, i))
			run->result->states[i] = (struct nw_probe_state){
				NW_STATE_NOT_HIT,
				probe->image
					? "no hit: the function was not called, or not by a traced process"
					: "no hit: the event is enabled, but has not come"};
	}
	/* Probes that a hazard, or the kernel, has kept from being armed. */
	for (size_t i = 0; ret == 0 && i < probes; i++)
		if (run->result->selection.probes.item[i]->kind != NW_SPEC_TRACEPOINT &&
		    is_left_out(run, i))
			ret = explain_left_out(run, i, err);
	if (ret == 0 && silent.points.count)
		ret = read_back(run, &silent, found, err);
	if (ret == 0 && silent.points.count)
		ret = explain(run, found, err);
	free(found);
	free_points(&silent);
	return ret;
}

int nw_run_judge_hits(struct nw_run *run, struct nw_error *err)
{
	size_t probes = run->result->selection.probes.count;

	if (nw_run_make_states(run) < 0)
		return nw_no_memory(err);
	for (size_t i = 0; i < probes; i++) {
		if (nw_result_is_disabled(run->result, i))
			continue;
		if (nw_run_probe_hits(run, i))
			run->result->states[i] = (struct nw_probe_state){NW_STATE_HIT,
									 NULL};
		else if (has_fired(run, i))
			run->result->states[i] = (struct nw_probe_state){
				NW_STATE_FILTERED,
				"hit, but --filter took out all of its hits"};
		else if (
			run->had_enough && /* it was unknown when the probe was explained */
			(run->result->states[i].state == NW_STATE_FILTERED ||
			 run->result->states[i].state == NW_STATE_NOT_RECORDED ||
			 nw_run_is_return(run, i)))
			run->result->states[i] = (struct nw_probe_state){NW_STATE_NOT_HIT,
									 NULL};
	}
	return 0;
}

int nw_run_explain_recorded(struct nw_run *run, struct nw_error *err)
{
	struct nw_run_result *result = run->result;
	bool whole = result->reason == NW_END_RECORDING || result->reason == NW_END_TEXT;
	int ret = nw_run_judge_hits(run, err);

	if (ret < 0 || !whole || result->hits || result->filtered || result->lost)
		return ret;
	for (size_t i = 0; i < result->selection.probes.count; i++)
		if (!result->states[i].text)
			result->states[i] = (struct nw_probe_state){
				NW_STATE_NOT_HIT,
				"the recording has no hit of it, and does not say why; `nopwatch why` looks for the reason in running programs"};
	return 0;
}

static void report_unarmed(const struct nw_run *run, const struct points *all,
			   const struct nw_presence *seen)
{
	for (size_t i = 0; i < all->points.count; i++) {
		const struct nw_point *point = all->points.item[i];
		const struct nw_planned_point *planned =
			&run->result->plan.points.item[all->planned.item[i]];
		if (seen[i].mapped > seen[i].armed + seen[i].unreadable)
			nw_run_notice(
				run,
				"%s at %s+0x%jx is enabled, but not armed in process %d",
				run->result->selection.probes.item[planned->probe]->label,
				point->image->path, point->offset,
				(int)seen[i].unarmed_pid);
	}
}

int nw_run_read_back(struct nw_run *run, struct nw_error *err)
{
	const pid_t *pids = run->request->pid_count ? run->request->pids : NULL;
	struct points all = {0};
	int ret = 0;

	if ((!pids && !run->request->verbose) || !run->request->notice)
		return 0;
	struct nw_presence *seen = calloc(run->result->plan.points.count + 1,
					  sizeof(*seen));
	if (!seen || find_points(run, false, &all) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_points_presence(all.points.item, all.points.count, pids,
					 run->request->pid_count, seen, err);
	if (ret == 0)
		report_unarmed(run, &all, seen);
	free(seen);
	free_points(&all);
	return ret;
}
