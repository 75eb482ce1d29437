// SPDX-License-Identifier: MIT
/* The groups of a summary, and their intervals. */
#include <errno.h>

#include "state.h"

const char nw_group_others[] = "(others)";

int nw_summary_add_group(struct nw_summary *s)
{
	struct group *group = nw_vec_add(&s->groups);

	return group ? nw_rows_init(&group->current, &s->shape) : -ENOMEM;
}

int nw_summary_next_interval(struct nw_summary *s)
{
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

	if (known >= 0)
		return known;
	if (s->names.text.count >= NW_MOST_GROUPS) {
		if (nw_others_add(&s->others, name, len) < 0)
			return -ENOMEM;
		name = nw_group_others;
		len = sizeof(nw_group_others) - 1;
	}
	int64_t number = nw_index_add(&s->names, name, len);
	if (number >= 0 && (size_t)number == s->groups.count && nw_summary_add_group(s) < 0)
		return -ENOMEM;
	return number;
}

size_t nw_summary_others(const struct nw_summary *s)
{
	return s->others.count;
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

	return total && g->has_total ? &g->total : &g->current;
}
