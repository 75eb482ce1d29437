// SPDX-License-Identifier: MIT
/* See measure/diff.h. */
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct nw_metric_kind nw_metrics[NW_METRICS] = {
	[NW_METRIC_RATE] = {"rate", 0},	 [NW_METRIC_MEAN] = {"mean", 0},
	[NW_METRIC_P50] = {"p50", 0.5},	 [NW_METRIC_P90] = {"p90", 0.9},
	[NW_METRIC_P99] = {"p99", 0.99}, [NW_METRIC_P999] = {"p99.9", 0.999},
	[NW_METRIC_MAX] = {"max", 0},
};
const char *const nw_side_names[NW_SIDES] = {"before", "after"};

enum {
	UNIT_NS =
		1000, /* of bins, which count time: a unit is as long as a bin is at first */
	/* rows, of which each has a series for each side */
	MOST_PICTURES = NW_BINS_SERIES / NW_SIDES,
	MOST_GAPS = MOST_PICTURES / 4
};

/* A row of one side, while it is added. */
struct source {
	struct nw_diff *diff;
	enum nw_side side;
	uint64_t ns;
	bool unit;
};

/* ---- rows --------------------------------------------------------------------------- */

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* Finds the row of a probe or span in a group, which is made if there is none. NULL: no memory. */
static struct nw_diff_row *row_of(struct nw_diff *diff, const struct nw_diff_row *like)
{
	struct nw_buf id = {0};

	nw_buf_printf(&id, "%d%s%c%c%s%c%c%s", like->subject, like->name,
		      NW_GROUP_SEPARATOR, NW_GROUP_SEPARATOR, like->key, NW_GROUP_SEPARATOR,
		      NW_GROUP_SEPARATOR, like->group ? like->group : "");
	int64_t at = id.failed ? -ENOMEM
			       : nw_index_add(&diff->row_names, nw_buf_str(&id), id.len);
	nw_buf_free(&id);
	if (at < 0)
		return NULL;
	if ((size_t)at < diff->rows.count)
		return &diff->rows.item[at];
	struct nw_diff_row *row = nw_vec_add(&diff->rows);
	if (!row)
		return NULL;
	row->subject = like->subject;
	row->number = diff->row_count[row->subject]++;
	row->name = copy_of(like->name);
	row->key = copy_of(like->key);
	row->symbol = copy_of(like->symbol);
	row->group = copy_of(like->group);
	bool copied = row->name && row->key && !row->symbol == !like->symbol &&
		      !row->group == !like->group;
	return copied ? row : NULL;
}

/* Finds the units that have measured a probe or span. */
static struct nw_diff_units *units_of(struct nw_diff *diff, const struct nw_diff_row *row)
{
	struct nw_buf id = {0};

	nw_buf_printf(&id, "%d%s%c%s", row->subject, row->name, NW_GROUP_SEPARATOR,
		      row->key);
	int64_t at = id.failed ? -ENOMEM
			       : nw_index_add(&diff->names, nw_buf_str(&id), id.len);
	nw_buf_free(&id);
	if (at < 0 || ((size_t)at == diff->units.count && !nw_vec_add(&diff->units)))
		return NULL;
	return &diff->units.item[at];
}

/* Returns a number of a distribution; NaN or less than 0: it has no such number, because somebody has made it up. */
static double metric_of(const struct nw_histogram *h, enum nw_metric metric)
{
	if (metric == NW_METRIC_MEAN)
		return nw_histogram_mean(h);
	const uint64_t value = metric == NW_METRIC_MAX
				       ? h->max
				       : nw_histogram_percentile(
						 h, nw_metrics[metric].percentile);
	return h->is_signed ? (double)(int64_t)value : (double)value;
}

/* Adds a number to a row's sample, or as its value. */
static int add_number(const struct source *s, struct nw_diff_metric *metric, double number)
{
	if (!isfinite(number) || number < 0)
		return 0;
	if (!s->unit) {
		metric->has[s->side] = true;
		metric->value[s->side] = number;
		return 0;
	}
	double *slot = nw_vec_add(&metric->sample[s->side]);
	if (slot)
		*slot = number;
	return slot ? 0 : -ENOMEM;
}

/* ---- pictures ----------------------------------------------------------------------- */

/* The times of a unit are added as a whole, so nothing is left to collect. */
static int collect_nothing(void *arg, struct nw_bins *bins)
{
	(void)arg;
	(void)bins;
	return 0;
}

int nw_diff_keep_times(struct nw_diff *diff, struct nw_error *err)
{
	const struct nw_bins_options options = {
		.probes = NW_SIDES, .span_count = NW_SIDES, .collect = collect_nothing};

	return nw_bins_open(&options, &diff->bins, err);
}

static enum nw_series_kind series_kind(const struct nw_diff_row *row)
{
	return row->subject == NW_SUBJECT_SPANS ? NW_SERIES_SPANS : NW_SERIES_GAPS;
}

static int keep_times(const struct source *s, const struct nw_diff_row *row,
		      const struct nw_histogram *times)
{
	const uint32_t most = row->subject == NW_SUBJECT_SPANS ? MOST_PICTURES - MOST_GAPS
							       : MOST_GAPS;

	if (!s->diff->bins || !s->unit || !times->count || row->number >= most)
		return 0;
	return nw_bins_add(s->diff->bins, series_kind(row), s->side, row->number, times, 0);
}

const struct nw_bin_series *nw_diff_times(const struct nw_diff *diff,
					  const struct nw_diff_row *row, enum nw_side side)
{
	return nw_bins_find(diff->bins, series_kind(row), side, row->number);
}

unsigned int nw_diff_units_in_bin(const struct nw_diff *diff)
{
	return (unsigned int)(nw_bins_width(diff->bins) / UNIT_NS);
}

unsigned int nw_diff_first_bin(const struct nw_diff *diff, enum nw_side side)
{
	return side == NW_BEFORE ? 0
				 : (unsigned int)diff->unit_count[NW_BEFORE] /
					   nw_diff_units_in_bin(diff);
}

/* ---- adding ------------------------------------------------------------------------- */

static int add_row(const struct source *s, const struct nw_diff_row *like, const void *from)
{
	const struct nw_histogram *times = nw_row_times(like->subject, from);
	const uint64_t count = nw_row_count(like->subject, from);
	struct nw_diff_row *row = row_of(s->diff, like);
	int ret = 0;

	if (!row)
		return -ENOMEM;
	if (!s->unit) {
		row->has[s->side] = true;
		row->count[s->side] = count;
	}
	if (s->ns)
		ret = add_number(s, &row->metric[NW_METRIC_RATE],
				 (double)count * 1e9 / (double)s->ns);
	for (int m = NW_METRIC_MEAN; ret == 0 && times->count && m < NW_METRICS; m++)
		ret = add_number(s, &row->metric[m], metric_of(times, (enum nw_metric)m));
	return ret < 0 ? ret : keep_times(s, row, times);
}

/* Describes a probe or span of a side; false: the user did not ask for it. key: room for the key's text. */
static bool describe(const struct nw_merged *of, enum nw_subject subject, size_t number,
		     char key[NW_SPAN_KEY_TEXT], struct nw_diff_row *out)
{
	*key = '\0';
	if (subject == NW_SUBJECT_SPANS) {
		const struct nw_span_def *span = &of->spans.item[number];
		nw_span_key_text(span, key);
		*out = (struct nw_diff_row){
			.subject = subject, .name = span->name, .key = key};
		return true;
	}
	const struct nw_probe *probe = of->selection.probes.item[number];
	*out = (struct nw_diff_row){.subject = subject,
				    .name = probe->label,
				    .key = key,
				    .symbol = probe->symbol};
	return !probe->hidden;
}

/* Adds the rows of a probe or span, in each group that has some. */
static int add_rows(const struct source *s, const struct nw_merged *of,
		    struct nw_diff_row *like, size_t number)
{
	int ret = 0;

	for (size_t g = 0; ret == 0 && g < nw_summary_groups(of->summary); g++) {
		const struct nw_group_rows *rows = nw_summary_rows(of->summary, g, true);
		const void *row = like->subject == NW_SUBJECT_SPANS
					  ? (const void *)nw_group_span(rows, number)
					  : nw_group_probe(rows, number);
		if (s->diff->grouped && !nw_row_has(like->subject, row))
			continue;
		like->group = s->diff->grouped ? (char *)(uintptr_t)nw_summary_group_name(
							 of->summary, g)
					       : NULL;
		ret = add_row(s, like, row);
	}
	return ret;
}

static int add_all(const struct source *s, const struct nw_merged *of)
{
	for (int subject = 0; subject < NW_SUBJECTS; subject++) {
		const size_t count = subject == NW_SUBJECT_SPANS
					     ? of->spans.count
					     : of->selection.probes.count;
		for (size_t i = 0; i < count; i++) {
			char key[NW_SPAN_KEY_TEXT];
			struct nw_diff_row like;
			if (!describe(of, (enum nw_subject)subject, i, key, &like))
				continue;
			struct nw_diff_units *units = units_of(s->diff, &like);
			if (!units)
				return -ENOMEM;
			units->of[s->side] += s->unit;
			if (add_rows(s, of, &like, i) < 0)
				return -ENOMEM;
		}
	}
	return nw_summary_failed(of->summary) ? -ENOMEM : 0;
}

int nw_diff_add_side(struct nw_diff *diff, enum nw_side side, const struct nw_merged *of,
		     uint64_t ns)
{
	return add_all(&(struct source){diff, side, ns, false}, of);
}

int nw_diff_add_unit(struct nw_diff *diff, enum nw_side side, const struct nw_merged *of,
		     uint64_t ns)
{
	const size_t number = diff->unit_count[NW_BEFORE] + diff->unit_count[NW_AFTER];

	diff->unit_count[side]++;
	if (diff->bins && nw_bins_reach(diff->bins, number * UNIT_NS) < 0)
		return -ENOMEM;
	return ns ? add_all(&(struct source){diff, side, ns, true}, of) : 0;
}

/* ---- comparing ---------------------------------------------------------------------- */

/* The k of samples of these sizes, which most rows have. */
struct ranks {
	bool parts;
	size_t m, n;
	long k;
};

static int compare_metric(struct nw_diff_metric *metric, struct ranks *ranks)
{
	const size_t m = metric->sample[NW_BEFORE].count;
	const size_t n = metric->sample[NW_AFTER].count;

	if (ranks->m != m || ranks->n != n)
		*ranks = (struct ranks){ranks->parts, m, n,
					ranks->parts ? nw_compare_parts_rank(m, n)
						     : nw_compare_rank(m, n)};
	if (ranks->k < 0)
		return -ENOMEM;
	metric->is_compared = ranks->k && metric->has[NW_BEFORE] && metric->has[NW_AFTER];
	return metric->is_compared ? nw_compare(metric->sample[NW_BEFORE].item, m,
						metric->sample[NW_AFTER].item, n,
						(size_t)ranks->k, &metric->comparison)
				   : 0;
}

int nw_diff_compare(struct nw_diff *diff, bool parts)
{
	struct ranks ranks = {.parts = parts};
	int ret = 0;

	nw_vec_each (&diff->rows, row) {
		const struct nw_diff_units *units = units_of(diff, row);
		struct nw_diff_metric *rate = &row->metric[NW_METRIC_RATE];
		for (int side = 0; units && side < NW_SIDES; side++)
			while (ret == 0 && rate->sample[side].count < units->of[side])
				ret = nw_vec_add(&rate->sample[side]) ? 0 : -ENOMEM;
		if (!units)
			ret = -ENOMEM;
		for (int i = 0; ret == 0 && i < NW_METRICS; i++) {
			ret = compare_metric(&row->metric[i], &ranks);
			diff->compared += row->metric[i].is_compared;
		}
	}
	return ret;
}

bool nw_diff_change(const struct nw_diff_metric *metric, double *out)
{
	const double before = metric->value[NW_BEFORE], after = metric->value[NW_AFTER];

	if (!metric->has[NW_BEFORE] || !metric->has[NW_AFTER] || (before == 0 && after > 0))
		return false;
	*out = before > 0 ? after / before - 1 : 0;
	return true;
}

void nw_diff_free(struct nw_diff *diff)
{
	nw_vec_each (&diff->rows, row) {
		free(row->name);
		free(row->key);
		free(row->symbol);
		free(row->group);
		for (int m = 0; m < NW_METRICS; m++)
			for (int side = 0; side < NW_SIDES; side++)
				nw_vec_free(&row->metric[m].sample[side]);
	}
	nw_vec_free(&diff->rows);
	nw_bins_free(diff->bins);
	nw_vec_free(&diff->units);
	nw_index_free(&diff->row_names);
	nw_index_free(&diff->names);
	*diff = (struct nw_diff){0};
}
