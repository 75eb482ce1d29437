// SPDX-License-Identifier: MIT
/* Arguments that will have no value, and why: said once, before the first hit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* What a value lacks. */
struct lack {
	const char *why; /* NULL: nothing */
	bool part;	 /* there is a value, but it is not all */
};

/* Why a value cannot be had, or is not all that it should be. */
static struct lack lack_of(const struct nw_run *run, size_t planned,
			   const struct nw_source *source)
{
	const char *problem = nw_armed_problem(&run->result->armed, planned, source);

	return (struct lack){problem ? problem : source->fetch.remark, !problem};
}

/* How many points of the probe have no value for an argument; one's reason. */
static size_t count_missing(const struct nw_run *run, size_t probe, size_t arg,
			    struct lack *example)
{
	const struct nw_run_result *result = run->result;
	size_t count = 0;

	for (size_t i = 0; i < result->plan.points.count; i++) {
		const struct nw_planned *planned = &result->plan.points.item[i];
		if (planned->probe != probe || result->armed.points.item[i].failed ||
		    arg >= planned->args.count)
			continue;
		const struct lack lack = lack_of(run, i, &planned->args.item[arg]);
		if (!lack.why)
			continue;
		*example = lack;
		count++;
	}
	return count;
}

static void tell_probe(const struct nw_run *run, size_t number)
{
	const struct nw_probe *probe = run->result->selection.probes.item[number];

	for (size_t arg = 0; arg < probe->args.count; arg++) {
		struct lack lack = {0};
		char name[32];
		size_t missing = count_missing(run, number, arg, &lack);
		if (!missing)
			continue;
		nw_arg_name(probe, arg, name);
		nw_run_notice(run, "%s of %s %s%s: %s", name, probe->label,
			      lack.part ? "is not all of it" : "has no value",
			      missing < probe->points.count ? " at some of its sites" : "",
			      lack.why);
	}
}

/* One reason, of all the arguments that nobody has named. */
struct reason {
	const char *text;
	size_t count, probe, arg; /* how many; one of them */
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

/* Many probes may lack many values, for few reasons: each reason is one line. */
static void tell_reasons(const struct nw_run *run, const reasons *list)
{
	nw_vec_each (list, reason) {
		const struct nw_probe *probe =
			run->result->selection.probes.item[reason->probe];
		char name[32], more[64] = "";
		nw_arg_name(probe, reason->arg, name);
		if (reason->count > 1)
			snprintf(more, sizeof(more), " and %zu more (-v tells which)",
				 reason->count - 1);
		nw_run_notice(run, "%s of %s%s: %s", name, probe->label, more,
			      reason->text);
	}
}

/* Those that the user named, one by one; of others each reason once, with -v all. */
void nw_run_tell_missing(const struct nw_run *run)
{
	reasons others = {0};

	for (size_t i = 0; i < run->result->selection.probes.count; i++) {
		const struct nw_probe *probe = run->result->selection.probes.item[i];
		struct lack lack = {0};
		if (probe->has_args || run->request->verbose) {
			tell_probe(run, i);
			continue;
		}
		for (size_t arg = 0; arg < probe->args.count; arg++)
			if (count_missing(run, i, arg, &lack))
				add_reason(&others, lack.why, i, arg);
	}
	tell_reasons(run, &others);
	nw_vec_free(&others);
}
