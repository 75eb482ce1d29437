// SPDX-License-Identifier: MIT
/* Adds what the kernel has counted by itself to the rows of a summary, which sees no hits then. */
#include <errno.h>

#include "count.h"

/* Returns the group; -1 is the unknown one, "?". NULL: no memory. */
static struct group *group_of(struct nw_summary *s, int64_t group)
{
	if (!s->options.grouped)
		group = 0;
	else if (group < 0)
		group = nw_summary_group(s, "?", 1);
	return group < 0 ? NULL : &s->groups.item[group];
}

int nw_summary_count_hits(struct nw_summary *s, int64_t group, uint32_t probe,
			  uint64_t hits)
{
	struct group *g = group_of(s, group);

	if (!g)
		return -ENOMEM;
	probe_row(s, g, probe)->hits += hits;
	return s->failed ? -ENOMEM : 0;
}

int nw_summary_count_arg(struct nw_summary *s, int64_t group, uint32_t probe, size_t arg,
			 const struct nw_counted *counted)
{
	struct group *g = group_of(s, group);

	if (!g)
		return -ENOMEM;
	struct nw_probe_row *row = probe_row(s, g, probe);
	if (row->args && arg < s->shape.args[probe])
		nw_histogram_add_summed(&row->args[arg], counted);
	return s->failed ? -ENOMEM : 0;
}

int nw_summary_count_span(struct nw_summary *s, int64_t group, uint32_t span,
			  const struct nw_counted *counted)
{
	struct group *g = group_of(s, group);

	if (!g)
		return -ENOMEM;
	nw_histogram_add_summed(&span_row(s, g, span)->latency, counted);
	return s->failed ? -ENOMEM : 0;
}

int nw_summary_count_unmatched(struct nw_summary *s, int64_t group, uint32_t span,
			       uint64_t starts, uint64_t ends)
{
	struct group *g = group_of(s, group);

	if (!g)
		return -ENOMEM;
	struct nw_span_row *row = span_row(s, g, span);
	row->unmatched_starts += starts;
	row->unmatched_ends += ends;
	return s->failed ? -ENOMEM : 0;
}
