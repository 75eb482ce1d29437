// SPDX-License-Identifier: MIT
/*
 * A report for Prometheus and its kin: OpenMetrics 1.0 text. Families stand together, durations
 * are in seconds, counters and buckets only ever grow: what is shown is always the total.
 *
 * The buckets of durations are the same in every report, since rates are taken from one report
 * to the next: powers of two from 128 ns to 17 s. Ours end one nanosecond before such a power,
 * and `le` says so, so that every count is exact.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "show/rows/report.h"

enum {
	FIRST_BIT = 7,
	LAST_BIT = 34
};

/* ---- samples ------------------------------------------------------------------------ */

/* In a label, a backslash, a quote and a line feed are escaped (OpenMetrics, ABNF), and it is UTF-8.
 * Controls are as in text. */
static void label(const char *before, const char *name, const char *value,
		  struct nw_buf *out)
{
	const char separator[] = {NW_GROUP_SEPARATOR, '\0'};
	struct nw_buf shown = {0};

	for (size_t len = strcspn(value, separator), line; len;) {
		const char *newline = memchr(value, '\n', len);
		line = newline ? (size_t)(newline - value) : len;
		nw_buf_add_sentence(&shown, value, line);
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

/* A sample has a label once: a key that is called as one of ours is by_KEY, or by_by_KEY if there is a key of that name. */
static void key_label(const char *keys, const char *key, const char *value,
		      struct nw_buf *out)
{
	static const char *const ours[] = {"probe", "span", "arg", "state", "le"};
	struct nw_buf name = {0};
	bool taken = false;

	for (size_t i = 0; i < NW_COUNT(ours); i++)
		taken |= strcmp(ours[i], key) == 0;
	nw_buf_adds(&name, key);
	for (size_t i = 0; i < name.len; i++) /* sql(query): sql_query_ */
		if (strchr("()", name.data[i]))
			name.data[i] = '_';
	while (taken && !name.failed) {
		nw_cleanup(nw_free_ptr) char *longer = nw_text("by_%s", nw_buf_str(&name));
		nw_buf_clear(&name);
		nw_buf_adds(&name, longer ? longer : "");
		name.failed |= !longer;
		taken = has_key(keys, nw_buf_str(&name));
	}
	label(",", nw_buf_str(&name), value, out);
	out->failed |= name.failed;
	nw_buf_free(&name);
}

/* A label a key of --by. */
static void group_labels(const char *keys, const char *group, struct nw_buf *out)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(keys);
	char *rest = copy, *key;

	out->failed |= !copy;
	while (copy && (key = strsep(&rest, ","))) {
		key_label(keys, key, group, out);
		group = strchrnul(group, NW_GROUP_SEPARATOR);
		group += *group != '\0';
	}
}

/* What a sample is about: a probe or a span, an argument, a state or none, a group or none. */
struct subject {
	const struct nw_report *report;
	const char *kind, *name, *arg, *state;
	size_t group;
};

/* "FAMILYSUFFIX{probe="..."", without its end. */
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

/* Prometheus's own text format wants a family to be called as its samples are, and knows no units
 * and no end; in OpenMetrics the samples of a counter have a suffix that the family has not. */
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

/* Nanoseconds as seconds, exactly. */
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
	/* OpenMetrics gives no sum that may shrink, and no count without a sum. Who reads Prometheus's own format takes a
	 * sum that is missing for 0. */
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

/* Arguments may be anything: their buckets are those that hold something. */
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

typedef void show_probe(const struct subject *s, const struct nw_probe *probe,
			const struct nw_probe_row *row, struct nw_buf *out);
typedef void show_span(const struct subject *s, const struct nw_span_row *row,
		       struct nw_buf *out);

static void show_hits(const struct subject *s, const struct nw_probe *probe,
		      const struct nw_probe_row *row, struct nw_buf *out)
{
	(void)probe;
	counter("hits", s, row->hits, out);
}

static void show_gap(const struct subject *s, const struct nw_probe *probe,
		     const struct nw_probe_row *row, struct nw_buf *out)
{
	(void)probe;
	durations("gap_seconds", s, &row->gap, out);
}

static void show_args(const struct subject *s, const struct nw_probe *probe,
		      const struct nw_probe_row *row, struct nw_buf *out)
{
	for (size_t i = 0; row->args && i < probe->args.count; i++) {
		struct subject arg = *s;
		char name[32];
		if (!row->args[i].count)
			continue;
		nw_arg_name(probe, i, name);
		arg.arg = name;
		values("arg", &arg, &row->args[i], out);
	}
}

static void show_latency(const struct subject *s, const struct nw_span_row *row,
			 struct nw_buf *out)
{
	durations("latency_seconds", s, &row->latency, out);
}

static void show_cost(const struct subject *s, const struct nw_span_row *row,
		      struct nw_buf *out)
{
	if (!row->cost)
		return;
	start("probe_cost_seconds", "_total", s, out);
	nw_buf_adds(out, "} ");
	seconds(row->cost->sum, out);
	nw_buf_addc(out, '\n');
}

static void show_clamped(const struct subject *s, const struct nw_span_row *row,
			 struct nw_buf *out)
{
	if (s->report->net)
		counter("clamped_spans", s, row->clamped, out);
}

static void show_states(const struct subject *s, const struct nw_span_row *row,
			struct nw_buf *out)
{
	for (size_t i = 0; row->states && i < NW_TASK_STATES; i++) {
		struct subject state = *s;
		state.state = nw_task_state_names[i];
		durations("state_seconds", &state, &row->states[i], out);
	}
}

static void show_unsplit(const struct subject *s, const struct nw_span_row *row,
			 struct nw_buf *out)
{
	if (row->states || row->unsplit)
		counter("unsplit_spans", s, row->unsplit, out);
}

static void show_starts(const struct subject *s, const struct nw_span_row *row,
			struct nw_buf *out)
{
	counter("unmatched_starts", s, row->unmatched_starts, out);
}

static void show_ends(const struct subject *s, const struct nw_span_row *row,
		      struct nw_buf *out)
{
	counter("unmatched_ends", s, row->unmatched_ends, out);
}

static void show_discarded(const struct subject *s, const struct nw_span_row *row,
			   struct nw_buf *out)
{
	counter("discarded_spans", s, row->discarded, out);
}

static void show_abandoned(const struct subject *s, const struct nw_span_row *row,
			   struct nw_buf *out)
{
	counter("abandoned_spans", s, row->abandoned, out);
}

static void show_omitted(const struct subject *s, const struct nw_span_row *row,
			 struct nw_buf *out)
{
	counter("omitted_returns", s, row->omitted, out);
}

static void show_repeated(const struct subject *s, const struct nw_span_row *row,
			  struct nw_buf *out)
{
	counter("repeated_starts", s, row->repeated, out);
}

static void show_nested(const struct subject *s, const struct nw_span_row *row,
			struct nw_buf *out)
{
	counter("nested_spans", s, row->nested, out);
}

/* How the help of times goes on: with --net they are net. */
static const char *help_end(const struct nw_report *report, show_span *show)
{
	if (show != show_latency && show != show_states)
		return "";
	return report->net ? ", net of what the probes themselves have cost." : ".";
}

static const struct {
	const char *name, *type, *unit, *help;
	show_probe *probe;
	show_span *span;
} families[] = {
	{"hits", "counter", NULL, "Hits of a probe.", show_hits, NULL},
	{"gap_seconds", "histogram", "seconds", "From one hit of a probe to the next.",
	 show_gap, NULL},
	{"arg", "histogram", NULL, "Values of an argument.", show_args, NULL},
	{"latency_seconds", "histogram", "seconds", "From the start of a span to its end",
	 NULL, show_latency},
	{"probe_cost_seconds", "counter", "seconds",
	 "What the probes themselves have added to spans.", NULL, show_cost},
	{"clamped_spans", "counter", NULL,
	 "Spans for which the probes cost more than they took: they count as 0.", NULL,
	 show_clamped},
	{"state_seconds", "histogram", "seconds",
	 "How long the thread of a span was in a state", NULL, show_states},
	{"unsplit_spans", "counter", NULL,
	 "Spans that were measured, but what their threads did is not known.", NULL,
	 show_unsplit},
	{"unmatched_starts", "counter", NULL, "Starts that had no end.", NULL, show_starts},
	{"unmatched_ends", "counter", NULL, "Ends that had no start.", NULL, show_ends},
	{"discarded_spans", "counter", NULL,
	 "Spans that may have straddled a loss and were not measured.", NULL,
	 show_discarded},
	{"abandoned_spans", "counter", NULL, "Calls that never returned.", NULL,
	 show_abandoned},
	{"omitted_returns", "counter", NULL,
	 "Calls nested so deep that the kernel did not tell of their return.", NULL,
	 show_omitted},
	{"repeated_starts", "counter", NULL,
	 "Starts of calls that began once more, as Go's do when their stack is moved.",
	 NULL, show_repeated},
	{"nested_spans", "counter", NULL,
	 "Spans paired by order that had others of the same key inside.", NULL,
	 show_nested},
};

static void show_probes(const struct nw_report *report, show_probe *show,
			struct nw_buf *out)
{
	for (size_t i = 0; i < report->selection->probes.count; i++) {
		for (size_t g = 0; g < nw_summary_groups(report->summary); g++) {
			const struct nw_probe *probe = report->selection->probes.item[i];
			const struct nw_probe_row *row = nw_group_probe(
				nw_report_rows(report, g), i);
			const struct subject s = {.report = report,
						  .kind = "probe",
						  .name = probe->label,
						  .group = g};
			if (nw_report_has_probe(report, i, row))
				show(&s, probe, row, out);
		}
	}
}

static void show_spans(const struct nw_report *report, show_span *show, struct nw_buf *out)
{
	for (size_t i = 0; i < report->span_count; i++) {
		for (size_t g = 0; g < nw_summary_groups(report->summary); g++) {
			const struct nw_span_row *row = nw_group_span(
				nw_report_rows(report, g), i);
			const struct subject s = {.report = report,
						  .kind = "span",
						  .name = report->spans[i].name,
						  .group = g};
			if (nw_report_has_span(report, row))
				show(&s, row, out);
		}
	}
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	struct nw_buf *out = &output->text;

	for (size_t i = 0; i < NW_COUNT(families); i++) {
		struct nw_buf samples = {0};
		if (families[i].probe)
			show_probes(report, families[i].probe, &samples);
		else
			show_spans(report, families[i].span, &samples);
		nw_cleanup(nw_free_ptr) char *help = nw_text(
			"%s%s", families[i].help, help_end(report, families[i].span));
		if (samples.len) {
			family(report, families[i].name, families[i].type, families[i].unit,
			       help ? help : "", out);
			nw_buf_add(out, samples.data, samples.len);
		}
		out->failed |= samples.failed || !help;
		nw_buf_free(&samples);
	}
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
