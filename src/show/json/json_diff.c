// SPDX-License-Identifier: MIT
/* A difference as JSON lines. Keys are fixed (docs/json.md). */
#include <math.h>
#include <string.h>

#include "json.h"

static void side_key(const struct nw_diff_report *report, enum nw_side side,
		     struct nw_json *json)
{
	const struct nw_diff_side *is = &report->side[side];

	nw_json_key(json, nw_side_names[side]);
	nw_json_open(json, '{');
	nw_json_key_u64(json, "runs", is->files);
	nw_json_key_u64(json, "elapsed_ns", is->elapsed_ns);
	nw_json_key_u64(json, "lost", is->lost);
	if (is->lost_is_least) {
		nw_json_key(json, "at_least");
		nw_json_bool(json, true);
	}
	if (report->sample != NW_SAMPLE_NONE)
		nw_json_key_u64(json, "samples", report->diff->unit_count[side]);
	nw_json_close(json, '}');
}

static void compared_line(const struct nw_diff_report *report, struct nw_buf *out)
{
	struct nw_json json = nw_json_start(out, "compared");

	for (int side = 0; side < NW_SIDES; side++)
		side_key(report, (enum nw_side)side, &json);
	if (report->group_by)
		nw_json_key_text(&json, "group_by", report->group_by);
	if (report->net) {
		nw_json_key(&json, "net");
		nw_json_bool(&json, true);
	}
	if (report->sample != NW_SAMPLE_NONE)
		nw_json_key_text(&json, "sample", nw_sample_names[report->sample]);
	if (report->sample == NW_SAMPLE_SLICES)
		nw_json_key_u64(&json, "slice_ns", report->slice_ns);
	if (report->no_interval)
		nw_json_key_text(&json, "text", report->no_interval);
	nw_json_key_u64(&json, "intervals", report->diff->compared);
	nw_json_key_u64(&json, "schema", NW_JSON_SCHEMA);
	nw_json_finish(&json);
}

/* Writes the name of a row, its keys and its group. */
static void row_keys(const struct nw_diff_report *report, const struct nw_diff_row *row,
		     struct nw_json *json)
{
	const bool is_span = row->subject == NW_SUBJECT_SPANS;
	nw_cleanup(nw_free_ptr) char *group = row->group ? strdup(row->group) : NULL;

	nw_json_key_text(json, is_span ? "span" : "probe", row->name);
	if (row->symbol)
		nw_json_key_text(json, "symbol", row->symbol);
	if (is_span)
		nw_json_key_text(json, "key", row->key);
	if (!row->group || !report->group_by)
		return;
	json->out->failed |= !group;
	for (char *at = group; at && (at = strchr(at, NW_GROUP_SEPARATOR)); at++)
		*at = ',';
	nw_json_key_text(json, "group", group ? group : "");
	if (strchr(report->group_by, ','))
		nw_json_group_parts(report->group_by, row->group, json);
}

/* Writes a ratio as a change in percent; null: it is infinite. */
static void percent_key(struct nw_json *json, const char *key, double ratio)
{
	nw_json_key(json, key);
	if (isinf(ratio))
		nw_json_null(json);
	else
		nw_json_real(json, (ratio - 1) * 100);
}

static void diff_line(const struct nw_diff_report *report, const struct nw_diff_row *row,
		      enum nw_metric m, struct nw_buf *out)
{
	const struct nw_diff_metric *metric = &row->metric[m];
	struct nw_json json = nw_json_start(out, "diff");
	double change;

	row_keys(report, row, &json);
	nw_json_key_text(&json, "metric", nw_metrics[m].name);
	nw_json_key_text(&json, "unit", m == NW_METRIC_RATE ? "1/s" : "ns");
	for (int side = 0; side < NW_SIDES; side++) {
		if (!metric->has[side])
			continue;
		nw_json_key(&json, nw_side_names[side]);
		nw_json_real(&json, metric->value[side]);
	}
	if (nw_diff_change(metric, &change))
		percent_key(&json, "change_percent", 1 + change);
	if (metric->is_compared) {
		percent_key(&json, "low_percent", metric->comparison.low);
		percent_key(&json, "high_percent", metric->comparison.high);
		percent_key(&json, "estimate_percent", metric->comparison.estimate);
		nw_json_key(&json, "noise");
		nw_json_bool(&json, metric->comparison.noise);
		nw_json_key_text(&json, "sample", nw_sample_names[report->sample]);
		nw_json_key(&json, "samples");
		nw_json_open(&json, '[');
		nw_json_u64(&json, metric->sample[NW_BEFORE].count);
		nw_json_u64(&json, metric->sample[NW_AFTER].count);
		nw_json_close(&json, ']');
	}
	nw_json_finish(&json);
}

static void condition_line(const struct nw_diff_check *check, struct nw_buf *out)
{
	struct nw_json json = nw_json_start(out, "condition");
	struct nw_buf text = {0};

	nw_json_key_text(&json, "condition", check->limit.text);
	nw_json_key_text(&json, "result", nw_verdict_words[check->verdict]);
	nw_diff_check_text(check, &text);
	nw_json_key_text(&json, "text", nw_buf_str(&text));
	out->failed |= text.failed;
	nw_buf_free(&text);
	nw_json_finish(&json);
}

void nw_json_diff(struct nw_output *output, const struct nw_diff_report *report)
{
	compared_line(report, &output->text);
	nw_vec_each (&report->diff->rows, row)
		for (int m = 0; nw_diff_shows(report, row) && m < NW_METRICS; m++)
			if (row->metric[m].has[NW_BEFORE] || row->metric[m].has[NW_AFTER])
				diff_line(report, row, (enum nw_metric)m, &output->text);
	for (size_t i = 0; i < report->check_count; i++)
		condition_line(&report->checks[i], &output->text);
}
