// SPDX-License-Identifier: MIT
/* The groups of a summary, and their intervals. */
#include <errno.h>

#include "state.h"

const char nw_group_overflow[] = "(others)";

int nw_summary_add_group(struct nw_summary *s)
{
	struct group *group = nw_vec_add(&s->groups);

	if (!group || nw_rows_init(&group->current, &s->shape) < 0)
		return -ENOMEM;
	if (!s->options.bins)
		return 0;
	group->has_total = true;
	return nw_rows_init(&group->total, &s->shape) < 0 ||
			       nw_rows_init(&group->interval, &s->shape) < 0
		       ? -ENOMEM
		       : 0;
}

/* Add the current rows of a group to its interval and its total. */
static int fold(struct nw_summary *s, struct group *group)
{
	if (nw_rows_merge(&group->total, &group->current) < 0 ||
	    (s->options.intervals && nw_rows_merge(&group->interval, &group->current) < 0))
		return -ENOMEM;
	nw_rows_clear(&group->current);
	group->touched = false;
	return 0;
}

int nw_summary_next_bin(struct nw_summary *s,
			int (*take)(void *arg, size_t group,
				    const struct nw_group_row *row),
			void *arg)
{
	int ret = 0;

	nw_vec_each (&s->touched, number) {
		struct nw_group_row row;
		size_t at = 0;
		while (ret == 0 &&
		       nw_group_next(&s->groups.item[*number].current, &at, &row))
			if (row.is_span ? nw_span_row_has(row.span) : row.probe->hits > 0)
				ret = take(arg, *number, &row);
	}
	nw_vec_each (&s->touched, number)
		if (ret == 0)
			ret = fold(s, &s->groups.item[*number]);
	if (ret == 0)
		s->touched.count = 0;
	return ret;
}

uint64_t nw_summary_probe_hits(const struct nw_summary *s, size_t probe)
{
	const struct group *group = &s->groups.item[0];

	return nw_group_probe(&group->current, probe)->hits +
	       (group->has_total ? nw_group_probe(&group->total, probe)->hits : 0);
}

int nw_summary_next_interval(struct nw_summary *s)
{
	if (s->options
		    .bins) { /* its rows have been added up bin by bin; what is current belongs to the next */
		nw_vec_each (&s->groups, group)
			nw_rows_clear(&group->interval);
		return 0;
	}
	s->has_intervals = true;
	nw_vec_each (&s->groups, group) {
		if (!group->has_total && nw_rows_init(&group->total, &s->shape) < 0)
			return -ENOMEM;
		group->has_total = true;
		if (nw_rows_merge(&group->total, &group->current) < 0)
			return -ENOMEM;
		nw_rows_clear(&group->current);
	}
	return 0;
}

int64_t nw_summary_group(struct nw_summary *s, const char *name, size_t len)
{
	int64_t known = nw_index_find(&s->names, name, len);

	if (known >=
	    0) /* without memory, a name may be known whose group could not be made */
		return (size_t)known < s->groups.count ? known : -ENOMEM;
	if (s->names.text.count >= NW_MOST_GROUPS) {
		if (nw_distinct_add(&s->overflow_names, name, len) < 0)
			return -ENOMEM;
		name = nw_group_overflow;
		len = sizeof(nw_group_overflow) - 1;
	}
	int64_t number = nw_index_add(&s->names, name, len);
	if (number >= 0 && (size_t)number == s->groups.count && nw_summary_add_group(s) < 0)
		return -ENOMEM;
	return number;
}

size_t nw_summary_overflow_groups(const struct nw_summary *s)
{
	return s->overflow_names.count;
}

size_t nw_summary_groups(const struct nw_summary *s)
{
	return s->groups.count;
}

const char *nw_summary_group_name(const struct nw_summary *s, size_t group)
{
	return s->options.grouped ? s->names.text.item[group] : NULL;
}

const struct nw_group_rows *nw_summary_rows(const struct nw_summary *s, size_t group,
					    bool total)
{
	const struct group *g = &s->groups.item[group];

	if (!total && s->options.bins)
		return s->options.intervals ? &g->interval : &g->total;
	return total && g->has_total ? &g->total : &g->current;
}

bool nw_summary_failed(const struct nw_summary *s)
{
	bool failed = s->failed;

	for (size_t i = 0; i < s->groups.count; i++)
		failed = failed || nw_rows_failed(nw_summary_rows(s, i, true)) ||
			 nw_rows_failed(nw_summary_rows(s, i, false));
	return failed;
}
