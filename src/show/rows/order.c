// SPDX-License-Identifier: MIT
/* See order.h. */
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

const char *const nw_sort_names[NW_SORT_COUNT] = {
	[NW_SORT_HITS] = "hits",
	[NW_SORT_RATE] = "rate",
	[NW_SORT_TOTAL] = "total",
	[NW_SORT_MIN] = "min",
	[NW_SORT_MEAN] = "mean",
	[NW_SORT_P50] = "p50",
	[NW_SORT_P90] = "p90",
	[NW_SORT_P99] = "p99",
	[NW_SORT_P999] = "p99.9",
	[NW_SORT_MAX] = "max",
	[NW_SORT_ABANDONED] = "abandoned",
	[NW_SORT_UNMATCHED] = "unmatched",
	[NW_SORT_DISCARDED] = "discarded",
	[NW_SORT_NAME] = "name",
};

static const void *row_in(const struct nw_report *report, enum nw_subject subject,
			  size_t index, size_t group)
{
	const struct nw_group_rows *rows = nw_report_rows(report, group);

	return subject == NW_SUBJECT_PROBES ? (const void *)nw_group_probe(rows, index)
					    : nw_group_span(rows, index);
}

static bool has_row(const struct nw_report *report, enum nw_subject subject, size_t index,
		    size_t group)
{
	return nw_report_has(report, subject, index, row_in(report, subject, index, group));
}

static bool is_hidden(const struct nw_report *report, enum nw_subject subject, size_t index)
{
	return subject == NW_SUBJECT_PROBES &&
	       report->selection->probes.item[index]->hidden;
}

bool nw_is_silent(const struct nw_report *report, enum nw_subject subject, size_t index)
{
	if (is_hidden(report, subject, index)) /* a hidden row is not shown */
		return false;
	for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
		if (nw_row_has(subject, row_in(report, subject, index, g)))
			return false;
	return true;
}

/* ---- keys --------------------------------------------------------------------------- */

/* Returns what a row is ordered by. The keys from NW_SORT_MIN to NW_SORT_MAX are the statistics, in their order. */
static double key_of(enum nw_sort sort, enum nw_subject subject, const void *row)
{
	const struct nw_histogram *times = nw_row_times(subject, row);
	const struct nw_span_row *span = subject == NW_SUBJECT_SPANS ? row : NULL;

	if (sort >= NW_SORT_MIN && sort <= NW_SORT_MAX)
		return times->count ? (double)nw_statistic_of(
					      times, &nw_statistics[sort - NW_SORT_MIN])
				    : 0;
	switch (sort) {
	case NW_SORT_TOTAL:
		return (double)times->sum;
	case NW_SORT_ABANDONED:
		return span ? (double)span->abandoned : 0;
	case NW_SORT_UNMATCHED:
		return span ? (double)(span->unmatched_starts + span->unmatched_ends) : 0;
	case NW_SORT_DISCARDED:
		return span ? (double)span->discarded : 0;
	default:
		return (double)nw_row_count(subject, row);
	}
}

/* Returns the key of a probe or span over all of its groups. */
static double key_of_all(const struct nw_report *report, enum nw_subject subject,
			 size_t index, enum nw_sort sort)
{
	size_t groups = nw_summary_groups(report->summary);
	struct nw_rest sum = {.subject = subject};

	if (groups == 1)
		return key_of(sort, subject, row_in(report, subject, index, 0));
	for (size_t g = 0; g < groups; g++)
		nw_row_merge(subject, &sum.row, row_in(report, subject, index, g), 0);
	double key = key_of(sort, subject, &sum.row);
	nw_rest_free(&sum);
	return key;
}

/* ---- ranking ------------------------------------------------------------------------ */

static int by_key(const void *one, const void *other)
{
	const struct nw_ranked *a = one, *b = other;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int by_name(const void *one, const void *other)
{
	const struct nw_ranked *a = one, *b = other;
	int order = strcmp(a->name, b->name);

	return order ? order : by_key(one, other);
}

static int add(nw_ranking *out, size_t index, double key, const char *name)
{
	struct nw_ranked *ranked = nw_vec_add(out);

	if (!ranked)
		return -ENOMEM;
	*ranked = (struct nw_ranked){index, key, name};
	return 0;
}

static void order(nw_ranking *ranking, enum nw_sort sort)
{
	if (ranking->count && sort != NW_SORT_DEFAULT)
		qsort(ranking->item, ranking->count, sizeof(*ranking->item),
		      sort == NW_SORT_NAME ? by_name : by_key);
}

/* Was the probe hit, and has it an argument of that name? */
static bool has_values(const struct nw_report *report, size_t probe, const char *name)
{
	return !nw_is_silent(report, NW_SUBJECT_PROBES, probe) &&
	       nw_arg_find(report->selection->probes.item[probe], name) >= 0;
}

/* Cuts the ranking of probes after the first view.top. If none of these has an argument that --hist asks for, the best one
 * that has it stays, too. */
static void cut(const struct nw_report *report, enum nw_subject subject,
		nw_ranking *ranking)
{
	size_t top = report->view.top;

	if (!top || ranking->count <= top)
		return;
	size_t hists = subject == NW_SUBJECT_PROBES && report->hists ? report->hists->count
								     : 0;
	size_t kept = top;

	for (size_t h = 0; h < hists; h++) {
		const char *name = report->hists->item[h].name;
		size_t i = 0;
		while (i < ranking->count &&
		       !has_values(report, ranking->item[i].index, name))
			i++;
		if (i >= kept && i < ranking->count) {
			struct nw_ranked asked = ranking->item[i];
			memmove(&ranking->item[kept + 1], &ranking->item[kept],
				(i - kept) * sizeof(asked));
			ranking->item[kept++] = asked;
		}
	}
	ranking->count = kept;
}

int nw_rank(const struct nw_report *report, enum nw_subject subject, enum nw_sort sort,
	    nw_ranking *out)
{
	bool keyed = sort != NW_SORT_DEFAULT && sort != NW_SORT_NAME;
	bool probes = subject == NW_SUBJECT_PROBES;
	/* a probe or span without a row takes no place among the first ones, if there are groups */
	bool only_hit = report->view.top && report->group_by;
	size_t count = probes ? report->selection->probes.count : report->span_count;
	int ret = 0;

	if (probes && report->view.spans_only)
		return 0;
	for (size_t i = 0; ret == 0 && i < count; i++)
		if (!is_hidden(report, subject, i) &&
		    !(only_hit && nw_is_silent(report, subject, i)))
			ret = add(out, i, keyed ? key_of_all(report, subject, i, sort) : 0,
				  probes ? report->selection->probes.item[i]->label
					 : report->spans[i].name);
	order(out, sort);
	cut(report, subject, out);
	return ret;
}

int nw_rank_groups(const struct nw_report *report, enum nw_subject subject, size_t index,
		   enum nw_sort sort, nw_ranking *out)
{
	int ret = 0;

	for (size_t g = 0; ret == 0 && g < nw_summary_groups(report->summary); g++) {
		if (has_row(report, subject, index, g))
			ret = add(out, g,
				  key_of(sort, subject, row_in(report, subject, index, g)),
				  nw_summary_group_name(report->summary, g));
	}
	order(out, sort);
	return ret;
}

/* ---- what is left out --------------------------------------------------------------- */

static const char *name_of(const struct nw_report *report, enum nw_subject subject,
			   size_t index)
{
	return subject == NW_SUBJECT_PROBES ? report->selection->probes.item[index]->label
					    : report->spans[index].name;
}

int nw_rest_add(const struct nw_report *report, size_t index, size_t group,
		struct nw_rest *rest)
{
	rest->count++;
	nw_row_merge(rest->subject, &rest->row, row_in(report, rest->subject, index, group),
		     rest->args);
	return nw_row_times(rest->subject, &rest->row)->failed ? -ENOMEM : 0;
}

void nw_rest_free(struct nw_rest *rest)
{
	nw_row_free(rest->subject, &rest->row, rest->args);
}

int nw_rest_of(const struct nw_report *report, const nw_ranking *shown, struct nw_rest *out)
{
	size_t count = out->subject == NW_SUBJECT_PROBES ? report->selection->probes.count
							 : report->span_count;

	if (out->subject == NW_SUBJECT_PROBES && report->view.spans_only)
		return 0;
	nw_cleanup(nw_free_ptr) bool *is_shown = calloc(count + 1, sizeof(*is_shown));
	int ret = is_shown ? 0 : -ENOMEM;

	nw_vec_each (shown, one)
		if (is_shown)
			is_shown[one->index] = true;
	for (size_t i = 0; ret == 0 && i < count; i++) {
		if (is_shown[i] || is_hidden(report, out->subject, i) ||
		    nw_is_silent(report, out->subject, i))
			continue;
		size_t before = out->count;
		for (size_t g = 0; ret == 0 && g < nw_summary_groups(report->summary); g++)
			ret = nw_rest_add(report, i, g, out);
		out->count = before + 1;
	}
	return ret;
}

/* ---- one row after the other -------------------------------------------------------- */

typedef void show_row(const struct nw_report *report, const struct nw_shown *row,
		      struct nw_buf *out);

struct nw_shown nw_shown_in(const struct nw_report *report, enum nw_subject subject,
			    size_t index, size_t group)
{
	return (struct nw_shown){subject,
				 name_of(report, subject, index),
				 index,
				 group,
				 0,
				 has_row(report, subject, index, group)
					 ? row_in(report, subject, index, group)
					 : NULL};
}

static void show_rest(const struct nw_report *report, size_t index, const char *name,
		      const struct nw_rest *rest, show_row *show, struct nw_buf *out)
{
	const struct nw_shown shown = {rest->subject, name,	 index, 0,
				       rest->count,   &rest->row};

	if (rest->count)
		show(report, &shown, out);
}

/* Shows one row for each group, and one for all groups beyond the first ones. */
static int show_groups(const struct nw_report *report, enum nw_subject subject,
		       size_t index, show_row *show, struct nw_buf *out)
{
	size_t top = report->view.top;
	nw_ranking groups = {0};
	struct nw_rest rest = {
		.subject = subject,
		.args = subject == NW_SUBJECT_PROBES
				? report->selection->probes.item[index]->args.count
				: 0};
	int ret = nw_rank_groups(report, subject, index, report->view.sort, &groups);

	for (size_t i = 0; ret == 0 && i < groups.count; i++) {
		size_t group = groups.item[i].index;
		if (top && i >= top) {
			ret = nw_rest_add(report, index, group, &rest);
			continue;
		}
		struct nw_shown shown = nw_shown_in(report, subject, index, group);
		show(report, &shown, out);
	}
	show_rest(report, index, name_of(report, subject, index), &rest, show, out);
	nw_rest_free(&rest);
	nw_vec_free(&groups);
	return ret;
}

void nw_rank_each(const struct nw_report *report, enum nw_subject subject, show_row *show,
		  struct nw_buf *out)
{
	nw_ranking ranking = {0};
	struct nw_rest rest = {.subject = subject};
	int ret = nw_rank(report, subject, report->view.sort, &ranking);

	nw_vec_each (&ranking, one)
		if (ret == 0)
			ret = show_groups(report, subject, one->index, show, out);
	if (ret == 0 && report->view.top)
		ret = nw_rest_of(report, &ranking, &rest);
	show_rest(report, 0, NULL, &rest, show, out);
	out->failed |= ret < 0;
	nw_rest_free(&rest);
	nw_vec_free(&ranking);
}
