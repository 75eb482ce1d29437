// SPDX-License-Identifier: MIT
/*
 * A report for Prometheus and similar collectors: OpenMetrics 1.0 text. The samples of a family are together,
 * durations are in seconds, counters and buckets only grow: the report is always of the whole run.
 *
 * The buckets of durations are the same in every report, because collectors compute rates from one report to the
 * next: powers of two from 128 ns to 17 s. Our buckets end one nanosecond before such a power, and `le` says so, so
 * that every count is exact.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "show/rows/order.h"
#include "show/rows/report.h"

enum {
	FIRST_BIT = 7,
	LAST_BIT = 34
};

/* ---- samples ------------------------------------------------------------------------ */

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

/* Writes a label: a backslash, a quote and a line feed are escaped (OpenMetrics, ABNF), and the text is UTF-8. */
static void label(const char *before, const char *name, const char *value,
		  struct nw_buf *out)
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
	nw_buf_printf(out, "%s%s=\"", before, name);
	for (const char *at = nw_buf_str(&shown); *at; at++) {
		if (*at == '\n')
			nw_buf_adds(out, "\\n");
		else if (strchr("\\\"", *at))
			nw_buf_printf(out, "\\%c", *at);
		else
			nw_buf_addc(out, *at);
	}
	nw_buf_addc(out, '"');
	out->failed |= shown.failed;
	nw_buf_free(&shown);
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
static void key_label(const char *keys, nw_strings *used, const char *key,
		      const char *value, struct nw_buf *out)
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
	out->failed |= nw_strings_add(used, nw_buf_str(&name), name.len) < 0;
	label(",", nw_buf_str(&name), value, out);
	out->failed |= name.failed;
	nw_buf_free(&name);
}

/* Writes one label for each key of --by. */
static void group_labels(const char *keys, const char *group, struct nw_buf *out)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(keys);
	char *rest = copy, *key;
	nw_strings used = {0};

	out->failed |= !copy;
	while (copy && (key = nw_split_keys(&rest))) {
		key_label(keys, &used, key, group, out);
		group = strchrnul(group, NW_GROUP_SEPARATOR);
		group += *group != '\0';
	}
	nw_strings_free(&used);
}

/* The subject of a sample: a probe or a span, an argument, a state or none, a group or none. */
struct subject {
	const struct nw_report *report;
	const char *kind, *name, *arg, *state;
	size_t group;
};

/* Writes "FAMILYSUFFIX{probe="..."", without its end. */
static void start(const char *family, const char *suffix, const struct subject *s,
		  struct nw_buf *out)
{
	nw_buf_printf(out, "nopwatch_%s%s", family, suffix);
	label("{", s->kind, s->name, out);
	if (s->arg)
		label(",", "arg", s->arg, out);
	if (s->state)
		label(",", "state", s->state, out);
	if (s->report->group_by)
		group_labels(s->report->group_by,
			     nw_summary_group_name(s->report->summary, s->group), out);
}

static void counter(const char *family, const struct subject *s, uint64_t value,
		    struct nw_buf *out)
{
	start(family, "_total", s, out);
	nw_buf_printf(out, "} %" PRIu64 "\n", value);
}

/* Writes the head of a family. In Prometheus's own text format a family has the name of its samples, and there are no
 * units and no end; in OpenMetrics the samples of a counter have a suffix that the family has not. */
static void family(const struct nw_report *report, const char *name, const char *type,
		   const char *unit, const char *help, struct nw_buf *out)
{
	const char *suffix = report->prometheus && strcmp(type, "counter") == 0 ? "_total"
										: "";

	nw_buf_printf(out, "# TYPE nopwatch_%s%s %s\n", name, suffix, type);
	if (unit && !report->prometheus)
		nw_buf_printf(out, "# UNIT nopwatch_%s %s\n", name, unit);
	nw_buf_printf(out, "# HELP nopwatch_%s%s %s\n", name, suffix, help);
}

/* ---- histograms --------------------------------------------------------------------- */

/* Writes nanoseconds as seconds, exactly. */
static void seconds(uint64_t ns, struct nw_buf *out)
{
	nw_buf_printf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

static void bucket(const char *name, const struct subject *s, const char *le,
		   uint64_t count, struct nw_buf *out)
{
	start(name, "_bucket", s, out);
	nw_buf_printf(out, ",le=\"%s\"} %" PRIu64 "\n", le, count);
}

static void count_and_sum(const char *name, const struct subject *s,
			  const struct nw_histogram *h, bool is_time, struct nw_buf *out)
{
	bool negative = h->is_signed && h->count && (int64_t)h->min < 0;

	bucket(name, s, "+Inf", h->count, out);
	/* OpenMetrics has no sum that may shrink, and no count without a sum. Readers of Prometheus's own format take
	 * a missing sum for 0. */
	if (negative && !s->report->prometheus)
		return;
	start(name, "_count", s, out);
	nw_buf_printf(out, "} %" PRIu64 "\n", h->count);
	start(name, "_sum", s, out);
	nw_buf_adds(out, "} ");
	if (is_time)
		seconds(h->sum, out);
	else if (negative)
		nw_buf_printf(out, "%" PRId64, (int64_t)h->sum);
	else
		nw_buf_printf(out, "%" PRIu64, h->sum);
	nw_buf_addc(out, '\n');
}

static void durations(const char *name, const struct subject *s,
		      const struct nw_histogram *h, struct nw_buf *out)
{
	struct nw_bucket next;
	unsigned int at = 0;
	uint64_t count = 0;
	bool more = nw_histogram_next(h, &at, &next);

	for (unsigned int bit = FIRST_BIT; bit <= LAST_BIT; bit++) {
		uint64_t most = ((uint64_t)1 << bit) - 1;
		struct nw_buf le = {0};
		while (more && next.high <= most) {
			count += next.count;
			more = nw_histogram_next(h, &at, &next);
		}
		seconds(most, &le);
		bucket(name, s, nw_buf_str(&le), count, out);
		out->failed |= le.failed;
		nw_buf_free(&le);
	}
	count_and_sum(name, s, h, true, out);
}

/* Writes the values of an argument, which may be anything: only buckets that hold something are written. */
static void values(const char *name, const struct subject *s, const struct nw_histogram *h,
		   struct nw_buf *out)
{
	struct nw_bucket next;
	unsigned int at = 0;
	uint64_t count = 0;
	char le[32];

	while (nw_histogram_next(h, &at, &next)) {
		count += next.count;
		if (h->is_signed)
			snprintf(le, sizeof(le), "%" PRId64 ".0", (int64_t)next.high);
		else
			snprintf(le, sizeof(le), "%" PRIu64 ".0", next.high);
		bucket(name, s, le, count, out);
	}
	count_and_sum(name, s, h, false, out);
}

/* ---- families ----------------------------------------------------------------------- */

/* Writes the samples of one number of a row. */
static void show(const struct subject *s, const struct nw_number *number, size_t index,
		 const void *row, struct nw_buf *out)
{
	struct nw_named_times one;
	size_t at = 0;

	if (number->kind == NW_NUMBER_COUNT) {
		counter(number->metric, s, nw_number_count(number, row), out);
		return;
	}
	while (nw_report_next_times(s->report, number, index, row, &at, &one)) {
		struct subject part = *s;
		part.state = number->kind == NW_NUMBER_STATES ? one.name : NULL;
		part.arg = number->kind == NW_NUMBER_ARGS ? one.name : NULL;
		if (number->kind == NW_NUMBER_COST) {
			start(number->metric, "_total", s, out);
			nw_buf_adds(out, "} ");
			seconds(one.times->sum, out);
			nw_buf_addc(out, '\n');
		} else {
			(part.arg ? values : durations)(number->metric, &part, one.times,
							out);
		}
	}
}

/* Writes one number of all probes or spans and their groups. */
static void show_all(const struct nw_report *report, enum nw_subject subject,
		     const struct nw_number *number, struct nw_buf *out)
{
	bool probes = subject == NW_SUBJECT_PROBES;
	size_t count = probes ? report->selection->probes.count : report->span_count;

	if (probes && report->view.spans_only)
		return;
	for (size_t i = 0; i < count; i++) {
		for (size_t g = 0; g < nw_summary_groups(report->summary); g++) {
			const struct nw_shown shown = nw_shown_in(report, subject, i, g);
			const struct subject s = {.report = report,
						  .kind = probes ? "probe" : "span",
						  .name = shown.name,
						  .group = g};
			if (shown.row && nw_number_applies(number, shown.row, report->net))
				show(&s, number, i, shown.row, out);
		}
	}
}

static void show_family(const struct nw_report *report, enum nw_subject subject,
			const struct nw_number *number, struct nw_buf *out)
{
	bool counts = number->kind == NW_NUMBER_COUNT || number->kind == NW_NUMBER_COST;
	bool is_time = number->kind != NW_NUMBER_COUNT && number->kind != NW_NUMBER_ARGS;
	/* with --net they are net */
	const char *end = !(number->is & NW_NUMBER_LATENCY) ? ""
			  : report->net			    ? ", net of the probe overhead."
							    : ".";
	nw_cleanup(nw_free_ptr) char *help = nw_text("%s%s", number->help, end);
	struct nw_buf samples = {0};

	show_all(report, subject, number, &samples);
	if (samples.len) {
		family(report, number->metric, counts ? "counter" : "histogram",
		       is_time ? "seconds" : NULL, help ? help : "", out);
		nw_buf_add(out, samples.data, samples.len);
	}
	out->failed |= samples.failed || !help;
	nw_buf_free(&samples);
}

/* Writes times, and numbers that need an option; then counts. */
static void show_families(const struct nw_report *report, struct nw_buf *out)
{
	nw_number_each (NW_SUBJECT_PROBES, number)
		show_family(report, NW_SUBJECT_PROBES, number, out);
	for (int plain = 0; plain < 2; plain++)
		nw_number_each (NW_SUBJECT_SPANS, number) {
			bool optional = number->is & (NW_NUMBER_NET | NW_NUMBER_SPLIT);
			bool is_plain = number->kind == NW_NUMBER_COUNT && !optional;
			if (number->metric && is_plain == plain)
				show_family(report, NW_SUBJECT_SPANS, number, out);
		}
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	struct nw_buf *out = &output->text;

	show_families(report, out);
	if (report->has_filter) {
		family(report, "filtered_hits", "counter", NULL,
		       "Hits that --filter took out.", out);
		nw_buf_printf(out, "nopwatch_filtered_hits_total %" PRIu64 "\n",
			      report->filtered);
	}
	family(report, "lost_events", "counter", NULL, "Events that were lost.", out);
	nw_buf_printf(out, "nopwatch_lost_events_total %" PRIu64 "\n", report->lost);
	family(report, "lost_events_at_least", "gauge", NULL,
	       "1: more events were lost than could be counted.", out);
	nw_buf_printf(out, "nopwatch_lost_events_at_least %d\n", report->lost_is_least);
	family(report, "counts_at_least", "gauge", NULL,
	       "1: events were lost, so what is counted is less than there was.", out);
	nw_buf_printf(out, "nopwatch_counts_at_least %d\n", report->at_least);
	family(report, "elapsed_seconds", "gauge", "seconds", "Time watched.", out);
	nw_buf_adds(out, "nopwatch_elapsed_seconds ");
	seconds(report->elapsed_ns, out);
	nw_buf_adds(out, report->prometheus ? "\n" : "\n# EOF\n");
}

const struct nw_output_format nw_output_openmetrics = {
	.name = "openmetrics",
	.costs = true,
	.shows = {[NW_SHOWS_REPORTS] = true},
	.cumulative = true,
	.states = true,
	.whole = true,
	.for_collectors = true,
	.report = report,
};
