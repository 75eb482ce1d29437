// SPDX-License-Identifier: MIT
/* Reports arguments that will have no value, once, before the first hit. */
#include <stdlib.h>
#include <string.h>

#include "guards.h"

/* Why a value is missing or incomplete. */
struct lack {
	const char *why; /* NULL: the value is complete */
	bool part;	 /* there is a part of the value */
};

/* Returns at how many points of the probe the argument has no value, and the reason of one of them. */
static size_t count_missing(const struct nw_run *run, size_t probe, size_t arg,
			    struct lack *example)
{
	const struct nw_run_result *result = run->result;
	size_t count = 0;

	for (size_t i = 0; i < result->plan.points.count; i++) {
		const struct nw_planned_point *planned = &result->plan.points.item[i];
		if (planned->probe != probe || result->armed.points.item[i].failed ||
		    arg >= planned->args.count)
			continue;
		const struct nw_source *source = &planned->args.item[arg];
		const char *problem = nw_armed_problem(&result->armed, i, source);
		const char *why = problem ? problem : source->fetch.remark;
		if (!why)
			continue;
		*example = (struct lack){why, !problem};
		count++;
	}
	return count;
}

/* Shows a line for each argument of the probe that is missing or incomplete. */
static void report_probe(const struct nw_run *run, size_t number)
{
	const struct nw_probe *probe = run->result->selection.probes.item[number];

	for (size_t arg = 0; arg < probe->args.count; arg++) {
		struct lack lack = {0};
		char name[NW_ARG_NAME];
		size_t missing = count_missing(run, number, arg, &lack);
		if (!missing)
			continue;
		nw_arg_name(probe, arg, name);
		bool some = missing < probe->points.count;
		if (lack.part && some)
			nw_run_notice(run,
				      "%s of %s is incomplete at some of its sites: %s",
				      name, probe->label, lack.why);
		else if (lack.part)
			nw_run_notice(run, "%s of %s is incomplete: %s", name, probe->label,
				      lack.why);
		else if (some)
			nw_run_notice(run, "%s of %s has no value at some of its sites: %s",
				      name, probe->label, lack.why);
		else
			nw_run_notice(run, "%s of %s has no value: %s", name, probe->label,
				      lack.why);
	}
}

/* A reason, for all arguments that the user did not name. */
struct reason {
	const char *text;
	size_t count, probe, arg; /* number of arguments; one of them */
};

typedef NW_VEC(struct reason) reasons;

static void add_reason(reasons *list, const char *text, size_t probe, size_t arg)
{
	struct reason *slot;

	nw_vec_each (list, known)
		if (strcmp(known->text, text) == 0) {
			known->count++;
			return;
		}
	slot = nw_vec_add(list);
	if (slot)
		*slot = (struct reason){text, 1, probe, arg};
}

/* Reports arguments that the user named one by one, and each reason of all others once; with -v all arguments. */
void nw_run_warn_missing(const struct nw_run *run)
{
	reasons unnamed = {0};

	for (size_t i = 0; i < run->result->selection.probes.count; i++) {
		const struct nw_probe *probe = run->result->selection.probes.item[i];
		struct lack lack = {0};
		if (probe->has_args || run->request->verbose) {
			report_probe(run, i);
			continue;
		}
		for (size_t arg = 0; arg < probe->args.count; arg++)
			if (count_missing(run, i, arg, &lack))
				add_reason(&unnamed, lack.why, i, arg);
	}
	/* Many values may be missing for few reasons, so each reason is one line. */
	nw_vec_each (&unnamed, reason) {
		const struct nw_probe *probe =
			run->result->selection.probes.item[reason->probe];
		char name[NW_ARG_NAME];
		nw_arg_name(probe, reason->arg, name);
		if (reason->count > 1)
			nw_run_notice(run, "%s of %s and %zu more (-v tells which): %s",
				      name, probe->label, reason->count - 1, reason->text);
		else
			nw_run_notice(run, "%s of %s: %s", name, probe->label,
				      reason->text);
	}
	nw_vec_free(&unnamed);
}
