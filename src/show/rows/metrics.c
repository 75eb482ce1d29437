// SPDX-License-Identifier: MIT
/* See metrics.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "order.h"

/* ---- labels ------------------------------------------------------------------------- */

/* Appends a part of a value without line feeds. Control characters are written as in text (\x1b), and a backslash that begins such a
 * text in the value is \x5c: two values never look the same, since a sample that is there twice costs the whole scrape. */
static void add_shown(const char *value, size_t len, struct nw_buf *out)
{
	for (size_t i = 0, from = 0; i <= len; i++) {
		bool end = i == len;
		if (!end &&
		    (value[i] != '\\' || i + 1 == len || !strchr("trx", value[i + 1])))
			continue;
		nw_buf_add_sentence(out, value + from, i - from);
		if (!end)
			nw_buf_adds(out, "\\x5c");
		from = i + 1;
	}
}

/* Returns the value of a label: text up to the end of one group key, line by line. NULL when out of memory. */
static char *shown_value(const char *value)
{
	const char separator[] = {NW_GROUP_SEPARATOR, '\0'};
	struct nw_buf shown = {0};

	for (size_t len = strcspn(value, separator), line; len;) {
		const char *newline = memchr(value, '\n', len);
		line = newline ? (size_t)(newline - value) : len;
		add_shown(value, line, &shown);
		if (newline)
			nw_buf_addc(&shown, '\n');
		value += line + (newline != NULL);
		len -= line + (newline != NULL);
	}
	char *text = shown.failed ? NULL : strdup(nw_buf_str(&shown));
	nw_buf_free(&shown);
	return text;
}

/* -ENOMEM. */
static int add_label(nw_labels *labels, const char *name, const char *value)
{
	struct nw_label *label = nw_vec_add(labels);

	if (!label)
		return -ENOMEM;
	label->name = strdup(name);
	label->value = shown_value(value);
	return label->name && label->value ? 0 : -ENOMEM;
}

/* Drops the labels from number `count` on. */
static void drop_labels(nw_labels *labels, size_t count)
{
	for (; labels->count > count; labels->count--) {
		free(labels->item[labels->count - 1].name);
		free(labels->item[labels->count - 1].value);
	}
}

static bool has_key(const char *keys, const char *name)
{
	for (size_t len; *keys; keys += len + (keys[len] == ',')) {
		len = strcspn(keys, ",");
		if (strlen(name) == len && strncmp(keys, name, len) == 0)
			return true;
	}
	return false;
}

/* Writes a label's name. A sample may have a label once only: a key with the name of one of our labels, or of a key
 * before it, is called by_KEY, or by_by_KEY if there is a key of that name. Names with two lines in front are Prometheus's own
 * (__name__ is the metric). */
static int add_key_label(const char *keys, nw_strings *used, const char *key,
			 const char *value, nw_labels *labels)
{
	static const char *const ours[] = {"probe", "span", "arg", "state", "le"};
	struct nw_buf name = {0};
	bool taken = false;

	for (size_t i = 0; i < NW_COUNT(ours); i++)
		taken |= strcmp(ours[i], key) == 0;
	nw_buf_adds(&name, key);
	for (size_t i = 0; i < name.len; i++) /* sql(query): sql_query_, a->b: a__b */
		if (!isalnum((unsigned char)name.data[i]))
			name.data[i] = '_';
	taken |= nw_strings_has(used, nw_buf_str(&name)) ||
		 strncmp(nw_buf_str(&name), "__", 2) == 0;
	while (taken && !name.failed) {
		nw_cleanup(nw_free_ptr) char *longer = nw_text("by_%s", nw_buf_str(&name));
		nw_buf_clear(&name);
		nw_buf_adds(&name, longer ? longer : "");
		name.failed |= !longer;
		taken = has_key(keys, nw_buf_str(&name)) ||
			nw_strings_has(used, nw_buf_str(&name));
	}
	int ret = name.failed ? -ENOMEM : nw_strings_add(used, nw_buf_str(&name), name.len);
	if (ret == 0)
		ret = add_label(labels, nw_buf_str(&name), value);
	nw_buf_free(&name);
	return ret;
}

/* Adds one label for each key of --by. */
static int add_group_labels(const struct nw_report *report, size_t group, nw_labels *labels)
{
	const char *keys = report->group_by,
		   *value = nw_summary_group_name(report->summary, group);
	nw_cleanup(nw_free_ptr) char *copy = strdup(keys);
	char *rest = copy, *key;
	nw_strings used = {0};
	int ret = copy ? 0 : -ENOMEM;

	while (ret == 0 && (key = nw_split_keys(&rest))) {
		ret = add_key_label(keys, &used, key, value, labels);
		value = strchrnul(value, NW_GROUP_SEPARATOR);
		value += *value != '\0';
	}
	nw_strings_free(&used);
	return ret;
}

/* ---- the walk ----------------------------------------------------------------------- */

struct walk {
	const struct nw_report *report;
	const struct nw_metrics_writer *writer;
	struct nw_family metric; /* the family */
	bool begun;		 /* the family has a sample */
	nw_labels labels;
	int failed;
};

static void emit(struct walk *w, uint64_t value, const struct nw_histogram *histogram)
{
	const struct nw_metric_sample sample = {
		.labels = &w->labels, .value = value, .histogram = histogram};

	if (w->failed)
		return;
	if (!w->begun)
		w->writer->family(w->writer->arg, &w->metric);
	w->begun = true;
	w->writer->sample(w->writer->arg, &w->metric, &sample);
}

static void end_family(struct walk *w)
{
	if (w->begun && w->writer->family_end)
		w->writer->family_end(w->writer->arg, &w->metric);
	w->begun = false;
	drop_labels(&w->labels, 0);
}

static void label(struct walk *w, const char *name, const char *value)
{
	if (!w->failed)
		w->failed = add_label(&w->labels, name, value);
}

/* Hands over the samples of one number of a row. */
static void show_number(struct walk *w, const struct nw_number *number,
			const struct nw_shown *shown)
{
	struct nw_named_times one;
	size_t at = 0;

	drop_labels(&w->labels, 0);
	label(w, shown->subject == NW_SUBJECT_PROBES ? "probe" : "span", shown->name);
	if (number->kind == NW_NUMBER_COUNT) {
		if (w->report->group_by && !w->failed)
			w->failed = add_group_labels(w->report, shown->group, &w->labels);
		emit(w, nw_number_count(number, shown->row), NULL);
		return;
	}
	while (nw_report_next_times(w->report, number, shown->index, shown->row, &at,
				    &one)) {
		drop_labels(&w->labels, 1);
		if (number->kind == NW_NUMBER_STATES || number->kind == NW_NUMBER_ARGS)
			label(w, number->kind == NW_NUMBER_ARGS ? "arg" : "state",
			      one.name);
		if (w->report->group_by && !w->failed)
			w->failed = add_group_labels(w->report, shown->group, &w->labels);
		if (number->kind == NW_NUMBER_COST)
			emit(w, one.times->sum, NULL);
		else
			emit(w, 0, one.times);
	}
}

/* Hands over one number of all probes or spans and their groups. */
static void show_rows(struct walk *w, enum nw_subject subject,
		      const struct nw_number *number)
{
	const struct nw_report *report = w->report;
	bool probes = subject == NW_SUBJECT_PROBES;
	size_t count = probes ? report->selection->probes.count : report->span_count;

	if (probes && report->view.spans_only)
		return;
	for (size_t i = 0; i < count; i++) {
		for (size_t g = 0; g < nw_summary_groups(report->summary); g++) {
			const struct nw_shown shown = nw_shown_in(report, subject, i, g);
			if (shown.row && nw_number_applies(number, shown.row, report->net))
				show_number(w, number, &shown);
		}
	}
}

static void show_family(struct walk *w, enum nw_subject subject,
			const struct nw_number *number)
{
	bool counts = number->kind == NW_NUMBER_COUNT || number->kind == NW_NUMBER_COST;
	/* with --net they are net */
	const char *end = !(number->is & NW_NUMBER_LATENCY) ? ""
			  : w->report->net		    ? ", net of the probe overhead."
							    : ".";
	nw_cleanup(nw_free_ptr) char *help = nw_text("%s%s", number->help, end);

	if (!help)
		w->failed = -ENOMEM;
	w->metric = (struct nw_family){
		.name = number->metric,
		.help = help,
		.kind = counts ? NW_FAMILY_COUNTER : NW_FAMILY_HISTOGRAM,
		.is_time = number->kind != NW_NUMBER_COUNT &&
			   number->kind != NW_NUMBER_ARGS,
	};
	show_rows(w, subject, number);
	end_family(w);
}

/* Hands over times, and numbers that need an option; then counts. */
static void show_families(struct walk *w)
{
	nw_number_each (NW_SUBJECT_PROBES, number)
		show_family(w, NW_SUBJECT_PROBES, number);
	for (int plain = 0; plain < 2; plain++)
		nw_number_each (NW_SUBJECT_SPANS, number) {
			bool optional = number->is & (NW_NUMBER_NET | NW_NUMBER_SPLIT);
			bool is_plain = number->kind == NW_NUMBER_COUNT && !optional;
			if (number->metric && is_plain == plain)
				show_family(w, NW_SUBJECT_SPANS, number);
		}
}

/* --open: how many spans of each kind have not ended, and how old the oldest one is. */
static void show_open(struct walk *w)
{
	const struct nw_report *r = w->report;
	static const struct nw_family families[] = {
		{"open_spans", "Spans that have not ended.", NW_FAMILY_GAUGE, false},
		{"oldest_open_span_seconds", "How long the oldest span has not ended.",
		 NW_FAMILY_GAUGE, true},
	};

	for (size_t f = 0; r->asks_open && f < NW_COUNT(families); f++) {
		w->metric = families[f];
		for (size_t i = 0; i < r->span_count; i++) {
			const struct nw_slow_span *oldest = NULL;
			for (size_t j = 0; j < r->open_count && !oldest; j++)
				if (r->open[j].span == &r->spans[i])
					oldest = &r->open[j];
			drop_labels(&w->labels, 0);
			label(w, "span", r->spans[i].name);
			emit(w,
			     !oldest		   ? 0
			     : families[f].is_time ? oldest->latency
						   : oldest->open,
			     NULL);
		}
		end_family(w);
	}
}

/* Hands over what there is once in a report. */
static void show_whole(struct walk *w)
{
	const struct nw_report *r = w->report;
	const struct {
		struct nw_family metric;
		uint64_t value;
		bool shown;
	} whole[] = {
		{{"filtered_hits", "Hits that --filter took out.", NW_FAMILY_COUNTER,
		  false},
		 r->filtered,
		 r->has_filter},
		{{"lost_events", "Events that were lost.", NW_FAMILY_COUNTER, false},
		 r->lost,
		 true},
		{{"lost_events_at_least", "1: more events were lost than could be counted.",
		  NW_FAMILY_GAUGE, false},
		 r->lost_is_least,
		 true},
		{{"counts_at_least",
		  "1: events were lost, so what is counted is less than there was.",
		  NW_FAMILY_GAUGE, false},
		 r->at_least,
		 true},
		{{"elapsed_seconds", "Time watched.", NW_FAMILY_GAUGE, true},
		 r->elapsed_ns,
		 true},
	};

	for (size_t i = 0; i < NW_COUNT(whole); i++) {
		w->metric = whole[i].metric;
		if (whole[i].shown)
			emit(w, whole[i].value, NULL);
		end_family(w);
	}
}

int nw_metrics_walk(const struct nw_report *report, const struct nw_metrics_writer *writer)
{
	struct walk w = {.report = report, .writer = writer};

	show_families(&w);
	show_open(&w);
	show_whole(&w);
	nw_vec_free(&w.labels);
	return w.failed;
}

/* ---- histograms --------------------------------------------------------------------- */

int nw_metric_buckets(const struct nw_report *report, const struct nw_family *metric,
		      const struct nw_histogram *h, nw_classic_buckets *out)
{
	struct nw_boundaries boundaries;

	if (report->boundaries && report->boundaries->given)
		boundaries = *report->boundaries;
	else
		nw_boundaries_usual(&boundaries);
	if (metric->is_time)
		return nw_classic_durations(h, &boundaries, out);
	return boundaries.given && !boundaries.count ? 0 : nw_classic_values(h, out);
}

bool nw_metric_sum_grows(const struct nw_histogram *h)
{
	return !h->is_signed || !h->count || (int64_t)h->min >= 0;
}
