// SPDX-License-Identifier: MIT
/* Arguments that will have no value, and why: said once, before the first hit. */
#include <stdlib.h>

#include "run.h"

/* How many points of the probe have no value for an argument; one's reason. */
static size_t count_missing(const struct nw_run *run, size_t probe, size_t arg,
			    const char **why)
{
	size_t count = 0;

	nw_vec_each (&run->plan.points, planned) {
		if (planned->probe != probe || planned->failed ||
		    arg >= planned->args.count)
			continue;
		const char *problem = planned->args.item[arg].fetch.problem;
		if (problem)
			*why = problem;
		count += problem != NULL;
	}
	return count;
}

static void tell_probe(const struct nw_run *run, size_t number)
{
	const struct nw_probe *probe = run->selection.probes.item[number];

	for (size_t arg = 0; arg < probe->args.count; arg++) {
		const char *why = NULL;
		char name[32];
		size_t missing = count_missing(run, number, arg, &why);
		if (!missing)
			continue;
		nw_arg_name(probe, arg, name);
		nw_note("%s of %s has no value%s: %s", name, probe->label,
			missing < probe->points.count ? " at some of its sites" : "", why);
	}
}

/* Those that the user named; with -v all. */
void nw_run_tell_missing(const struct nw_run *run)
{
	for (size_t i = 0; i < run->selection.probes.count && !run->args->quiet; i++)
		if (run->selection.probes.item[i]->has_args || run->args->verbose)
			tell_probe(run, i);
}
