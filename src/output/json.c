// SPDX-License-Identifier: MIT
/* A report for programs: JSON lines. Keys are fixed (docs/json.md). */
#include <string.h>

#include "order.h"
#include "report.h"

static void number(struct nw_json *json, const char *key, const struct nw_histogram *h,
		   uint64_t value)
{
	nw_json_key(json, key);
	if (h->is_signed)
		nw_json_i64(json, (int64_t)value);
	else
		nw_json_u64(json, value);
}

static void buckets(struct nw_json *json, const struct nw_histogram *h)
{
	struct nw_bucket bucket;
	unsigned int at = 0;

	nw_json_key(json, "buckets");
	nw_json_open(json, '[');
	while (nw_histogram_next(h, &at, &bucket)) {
		nw_json_open(json, '[');
		if (h->is_signed) {
			nw_json_i64(json, (int64_t)bucket.low);
			nw_json_i64(json, (int64_t)bucket.high);
		} else {
			nw_json_u64(json, bucket.low);
			nw_json_u64(json, bucket.high);
		}
		nw_json_u64(json, bucket.count);
		nw_json_close(json, ']');
	}
	nw_json_close(json, ']');
}

/* DIST; an empty one has only its count, and no buckets. */
static void distribution(struct nw_json *json, const char *key,
			 const struct nw_histogram *h)
{
	nw_json_key(json, key);
	nw_json_open(json, '{');
	nw_json_key_u64(json, "count", h->count);
	number(json, "sum", h, h->sum);
	if (h->count) {
		number(json, "min", h, h->min);
		nw_json_key(json, "mean");
		nw_json_real(json, nw_histogram_mean(h));
		nw_json_key(json, "stddev");
		nw_json_real(json, nw_histogram_stddev(h));
		for (size_t i = 0; i < nw_figure_count; i++)
			if (nw_figures[i].percentile > 0)
				number(json, nw_figures[i].key, h,
				       nw_figure_value(h, &nw_figures[i]));
		number(json, "max", h, h->max);
	}
	buckets(json, h);
	nw_json_close(json, '}');
}

static struct nw_json start(struct nw_buf *out, const char *type)
{
	struct nw_json json = {.out = out};

	nw_json_open(&json, '{');
	nw_json_key_text(&json, "type", type);
	return json;
}

static void finish(struct nw_json *json)
{
	nw_json_close(json, '}');
	nw_buf_addc(json->out, '\n');
}

/* {"method":"GET","status":"200"} */
static void group_parts(const struct nw_report *report, struct nw_json *json,
			const char *name)
{
	nw_cleanup(nw_free_ptr) char *keys = strdup(report->group_by);
	char *rest = keys, *key;

	nw_json_key(json, "by");
	nw_json_open(json, '{');
	while (keys && (key = strsep(&rest, ","))) {
		const char separator[] = {NW_GROUP_SEPARATOR, '\0'};
		size_t len = strcspn(name, separator);
		nw_json_key(json, key);
		nw_json_text(json, name, len);
		name += len + (name[len] != '\0');
	}
	nw_json_close(json, '}');
	json->out->failed |= !keys;
}

static void group_key(const struct nw_report *report, struct nw_json *json, size_t group)
{
	if (report->group_by) {
		nw_cleanup(nw_free_ptr) char *name = nw_report_group(report, group);
		nw_json_key_text(json, "group", name ? name : "");
		if (strchr(report->group_by, ','))
			group_parts(report, json,
				    nw_summary_group_name(report->summary, group));
	}
	if (report->interval)
		nw_json_key_u64(json, "interval", report->interval);
	if (report->interval && report->wall_ns) {
		char when[40];
		nw_json_key_text(json, "time", nw_report_time(report, when));
	}
}

static const char *state_word(const struct nw_report *report, size_t probe, uint64_t hits)
{
	const struct nw_probe_state *state = report->states ? &report->states[probe] : NULL;

	if (hits && !(report->disabled_at && report->disabled_at[probe]))
		return "hit";
	return state && state->word ? state->word : "not-hit";
}

static void probe_object(const struct nw_report *report, size_t probe, size_t group,
			 struct nw_buf *out)
{
	const struct nw_probe *p = report->selection->probes.item[probe];
	const struct nw_probe_row *row = &nw_report_rows(report, group)->probes[probe];

	if (!nw_report_has_probe(report, row))
		return;
	struct nw_json json = start(out, "probe");
	nw_json_key_text(&json, "probe", p->label);
	group_key(report, &json, group);
	nw_json_key_u64(&json, "hits", row->hits);
	nw_json_key(&json, "rate_hz");
	nw_json_real(&json, nw_report_rate(report, row->hits));
	distribution(&json, "gap_ns", &row->gap);
	nw_json_key(&json, "args");
	nw_json_open(&json, '{');
	for (size_t i = 0; row->args && i < p->args.count; i++) {
		char name[32];
		nw_arg_name(p, i, name);
		if (row->args[i].count)
			distribution(&json, name, &row->args[i]);
	}
	nw_json_close(&json, '}');
	nw_json_key_text(&json, "state", state_word(report, probe, row->hits));
	if (report->disabled_at && report->disabled_at[probe])
		nw_json_key_u64(
			&json, "disabled_ns",
			report->disabled_at[probe] -
				nw_min64(report->start_ns, report->disabled_at[probe]));
	finish(&json);
}

static void span_object(const struct nw_report *report, size_t span, size_t group,
			struct nw_buf *out)
{
	const struct nw_span_row *row = &nw_report_rows(report, group)->spans[span];
	char key[72];

	if (!nw_report_has_span(report, row))
		return;
	struct nw_json json = start(out, "span");
	nw_json_key_text(&json, "span", report->spans[span].name);
	nw_span_key_text(&report->spans[span], key);
	nw_json_key_text(&json, "key", key);
	group_key(report, &json, group);
	nw_json_key_u64(&json, "count", row->latency.count);
	distribution(&json, "latency_ns", &row->latency);
	nw_json_key_u64(&json, "unmatched_starts", row->unmatched_starts);
	nw_json_key_u64(&json, "unmatched_ends", row->unmatched_ends);
	nw_json_key_u64(&json, "discarded", row->discarded);
	nw_json_key_u64(&json, "abandoned", row->abandoned);
	nw_json_key_u64(&json, "omitted", row->omitted);
	finish(&json);
}

/* The kernel counts the hits of all processes. */
const char *nw_dropped_text(bool restricted)
{
	return restricted ? "more hits counted by the kernel: of other processes, or not "
			    "recorded"
			  : "hits not recorded by the kernel";
}

void nw_end_print(uint64_t lost, uint64_t discarded, uint64_t dropped,
		  const uint64_t *filtered, const char *reason, uint64_t elapsed_ns,
		  struct nw_buf *out)
{
	struct nw_json json = start(out, "loss");

	nw_json_key_u64(&json, "events", lost);
	nw_json_key_u64(&json, "discarded_spans", discarded);
	if (dropped)
		nw_json_key_u64(&json, "not_recorded", dropped);
	finish(&json);
	json = start(out, "end");
	nw_json_key_text(&json, "reason", reason);
	nw_json_key_u64(&json, "elapsed_ns", elapsed_ns);
	if (filtered)
		nw_json_key_u64(&json, "filtered", *filtered);
	finish(&json);
}

void nw_report_json(const struct nw_report *report, struct nw_buf *out)
{
	nw_rank_each(report, NW_SUBJECT_PROBES, probe_object, out);
	nw_rank_each(report, NW_SUBJECT_SPANS, span_object, out);
	if (report->interval == 0)
		nw_end_print(report->lost, nw_summary_discarded(report->summary),
			     report->dropped, report->has_filter ? &report->filtered : NULL,
			     report->reason ? report->reason : "end", report->elapsed_ns,
			     out);
}
