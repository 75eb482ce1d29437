// SPDX-License-Identifier: MIT
/* The groups of a summary and their intervals. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Adds the current rows of a group to its interval and its total, and clears them. */
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
			if (nw_row_has(row.subject, row.row))
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
	/* Rows have been added bin by bin; the current rows belong to the next interval. */
	if (s->options.bins) {
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

/* ---- the group of a hit, and of a span ----------------------------------------------- */

static const char unknown[] = "?";

/* Returns the length of the part of a group's name that begins here. */
static size_t part_len(const char *name, const char *end)
{
	const char *stop = memchr(name, NW_GROUP_SEPARATOR, (size_t)(end - name));

	return (size_t)((stop ? stop : end) - name);
}

static bool is_unknown(const char *part, size_t len)
{
	return len == sizeof(unknown) - 1 && *part == *unknown;
}

/* Does the name have several parts, one of which is unknown? */
static bool is_partial(const char *name, size_t len)
{
	const char *end = name + len;
	bool partial = false;

	if (!memchr(name, NW_GROUP_SEPARATOR, len))
		return false;
	for (size_t part; name <= end && !partial; name += part + 1) {
		part = part_len(name, end);
		partial = is_unknown(name, part);
	}
	return partial;
}

/* Joins the names of two groups of the same keys: each part is the start's, or the end's if the start's is unknown or if
 * the part is a late key. */
static int64_t join_names(struct nw_summary *s, const char *start, const char *end)
{
	const char *start_stop = start + strlen(start), *end_stop = end + strlen(end);
	struct nw_buf name = {0};
	uint64_t late = s->options.late_keys;

	for (; start <= start_stop && end <= end_stop; late >>= 1) {
		size_t len = part_len(start, start_stop);
		size_t end_len = part_len(end, end_stop);
		bool take_end = is_unknown(start, len) ||
				((late & 1) && !is_unknown(end, end_len));
		nw_buf_add(&name, take_end ? end : start, take_end ? end_len : len);
		start += len + 1;
		end += end_len + 1;
		if (start <= start_stop)
			nw_buf_addc(&name, NW_GROUP_SEPARATOR);
	}
	int64_t group = name.failed ? -ENOMEM
				    : nw_summary_group(s, nw_buf_str(&name), name.len);
	nw_buf_free(&name);
	return group;
}

int64_t nw_summary_span_group(struct nw_summary *s, int64_t start, int64_t end)
{
	if (start < 0)
		return end;
	if (start == end || end < 0 || !s->options.grouped ||
	    (!s->groups.item[start].partial && !s->options.late_keys))
		return start;
	if (!s->joined)
		s->joined = calloc(JOINED_GROUPS, sizeof(*s->joined));
	if (!s->joined)
		return -ENOMEM;
	uint64_t hash = nw_hash64((uint64_t)start << 32 ^ (uint64_t)end);
	struct joined_groups *joined = &s->joined[hash % JOINED_GROUPS];
	if (joined->group && joined->start == start && joined->end == end)
		return joined->group - 1;
	int64_t group = join_names(s, s->names.text.item[start], s->names.text.item[end]);
	if (group >= 0)
		*joined = (struct joined_groups){start, end, group + 1};
	return group;
}

int64_t nw_summary_group(struct nw_summary *s, const char *name, size_t len)
{
	int64_t known = nw_index_find(&s->names, name, len);

	/* If memory ran out earlier, the name may be known although its group was not made. */
	if (known >= 0)
		return (size_t)known < s->groups.count ? known : -ENOMEM;
	const size_t most = s->options.most_groups;
	if (s->names.text.count >= (most ? most : NW_MOST_GROUPS)) {
		if (nw_distinct_add(&s->overflow_names, name, len) < 0)
			return -ENOMEM;
		name = nw_group_overflow;
		len = sizeof(nw_group_overflow) - 1;
	}
	int64_t number = nw_index_add(&s->names, name, len);
	if (number < 0 || (size_t)number < s->groups.count)
		return number;
	if (nw_summary_add_group(s) < 0)
		return -ENOMEM;
	s->groups.item[number].partial = is_partial(name, len);
	return number;
}

size_t nw_summary_overflow_groups(const struct nw_summary *s)
{
	return s->overflow_names.hashes.count;
}

uint64_t nw_summary_crowded_out(const struct nw_summary *s, size_t *most)
{
	*most = s->open.most;
	return s->crowded_out;
}

void nw_summary_spare_bins(struct nw_summary *s)
{
	s->options.bins = false;
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
