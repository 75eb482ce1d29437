// SPDX-License-Identifier: MIT
/* A report for spreadsheets: one header, one row a probe or span (RFC 4180). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show/rows/order.h"
#include "show/rows/report.h"

/* Is the text a negative number? A spreadsheet does not compute it. */
static bool is_negative_number(const char *text)
{
	static const char digits[] = "0123456789";
	size_t whole = *text == '-' ? strspn(text + 1, digits) : 0;
	const char *end = text + 1 + whole;

	if (whole && *end == '.' && strspn(end + 1, digits))
		end += 1 + strspn(end + 1, digits);
	return whole && !*end;
}

/* Does a spreadsheet take the text for a formula, by its first character or by its full-width form (U+FF0B, U+FF0D,
 * U+FF1D, U+FF20)? */
static bool is_formula(const char *text)
{
	static const char *const wide[] = {"\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\x9d",
					   "\xef\xbc\xa0"};
	bool found = *text && strchr("=+-@", *text);

	for (size_t i = 0; i < NW_COUNT(wide); i++)
		found |= strncmp(text, wide[i], 3) == 0;
	return found;
}

/*
 * Writes a field, in quotes if it needs them; its quotes are doubled. Control characters are written as in text,
 * since another program opens the file. A field that a spreadsheet would take for a formula gets a ' in front, unless
 * --raw was given; so does one with a formula after a semicolon, which separates cells where numbers have a decimal
 * comma, and where only a quote at the beginning of a cell quotes it.
 */
static void field(struct nw_buf *out, const char *name, bool raw)
{
	struct nw_buf shown = {0};

	nw_buf_add_sentence(&shown, name, strlen(name));
	const char *text = nw_buf_str(&shown);
	bool quoted = strpbrk(text, ",\"");
	bool begins = !raw && !is_negative_number(text);
	if (quoted)
		nw_buf_addc(out, '"');
	for (; *text; text++) {
		if (begins && is_formula(text))
			nw_buf_addc(out, '\'');
		begins = !raw && *text == ';';
		nw_buf_printf(out, "%s%c", *text == '"' ? "\"" : "", *text);
	}
	if (quoted)
		nw_buf_addc(out, '"');
	out->failed |= shown.failed;
	nw_buf_free(&shown);
}

/* The places of the columns of counts: before the argument and the time, after them, after all others (with --net). */
enum place {
	EARLY,
	LATE,
	LAST
};

static bool is_column(const struct nw_number *number, enum place place, bool net)
{
	const enum place its = number->is & NW_NUMBER_NET     ? LAST
			       : number->is & NW_NUMBER_EARLY ? EARLY
							      : LATE;

	return number->kind == NW_NUMBER_COUNT && number->csv && its == place &&
	       (net || its != LAST);
}

/* Writes the counts of a row in these columns, or their names; row NULL: empty columns. */
static void counts(const void *row, bool names, enum place place, bool net,
		   struct nw_buf *out)
{
	nw_number_each (NW_SUBJECT_SPANS, number) {
		if (!is_column(number, place, net))
			continue;
		nw_buf_addc(out, ',');
		if (names)
			nw_buf_adds(out, number->csv);
		else if (row)
			nw_buf_printf(out, "%" PRIu64, nw_number_count(number, row));
	}
}

static void begin(struct nw_output *output, const struct nw_begin *begin)
{
	struct nw_buf *out = &output->text;

	nw_buf_adds(out, "type,name,group,interval,count,rate_hz,sum_ns");
	for (size_t i = 0; i < nw_statistic_count; i++)
		nw_buf_printf(out, ",%s_ns", nw_statistics[i].key);
	counts(NULL, true, EARLY, begin->net, out);
	nw_buf_adds(out, ",arg,time");
	counts(NULL, true, LATE, begin->net, out);
	nw_buf_adds(out, ",at_least,symbol");
	counts(NULL, true, LAST, begin->net, out);
	nw_buf_addc(out, '\n');
	*(bool *)output->state = begin->net;
}

/* Writes the beginning of a row. For rows that --top leaves out, the group, or else the name, says how many they are. */
static void row_start(const struct nw_report *report, const char *type,
		      const struct nw_shown *shown, uint64_t count, struct nw_buf *out)
{
	nw_cleanup(nw_free_ptr) char *more = nw_text("(%zu more)", shown->more);
	nw_cleanup(nw_free_ptr) char *of = shown->more
						   ? NULL
						   : nw_report_group(report, shown->group);

	out->failed |= !more || (!of && !shown->more && report->group_by);
	nw_buf_printf(out, "%s,", type);
	field(out, shown->name ? shown->name : more ? more : "", report->view.raw);
	nw_buf_addc(out, ',');
	field(out,
	      of				   ? of
	      : shown->name && shown->more && more ? more
						   : "",
	      report->view.raw);
	nw_buf_addc(out, ',');
	if (report->interval)
		nw_buf_printf(out, "%" PRIu64, report->interval);
	nw_buf_printf(out, ",%" PRIu64 ",%.3f", count, nw_report_rate(report, count));
}

static void number(struct nw_buf *out, const struct nw_histogram *h, uint64_t value)
{
	if (h->is_signed)
		nw_buf_printf(out, ",%" PRId64, (int64_t)value);
	else
		nw_buf_printf(out, ",%" PRIu64, value);
}

static void statistics(const struct nw_histogram *h, struct nw_buf *out)
{
	number(out, h, h->sum);
	for (size_t i = 0; i < nw_statistic_count; i++) {
		if (h->count)
			number(out, h, nw_statistic_of(h, &nw_statistics[i]));
		else
			nw_buf_addc(out, ',');
	}
}

/* Writes the columns after the statistics. arg: "" for probes and spans. span: NULL for all else. */
static void row_end(const struct nw_report *report, const struct nw_shown *shown,
		    const char *arg, const struct nw_span_row *span, struct nw_buf *out)
{
	const struct nw_probe *function =
		!shown->name ? NULL
		: shown->subject == NW_SUBJECT_SPANS
			? nw_span_function(&report->spans[shown->index], report->selection)
			: report->selection->probes.item[shown->index];
	char when[40];

	counts(span, false, EARLY, report->net, out);
	nw_buf_addc(out, ',');
	field(out, arg, report->view.raw);
	nw_buf_printf(out, ",%s", nw_report_time(report, when));
	counts(span, false, LATE, report->net, out);
	nw_buf_adds(out, report->at_least ? ",1," : ",,");
	if (function && function->symbol)
		field(out, function->symbol, report->view.raw);
	counts(span, false, LAST, report->net, out);
	nw_buf_addc(out, '\n');
}

/* Writes a line of a bucket, with its lowest and highest value as min_ns and max_ns; NULL: it has no such limit. */
static void linear_line(const struct nw_report *report, const struct nw_shown *shown,
			const char *arg, const int64_t *low, const int64_t *high,
			uint64_t count, struct nw_buf *out)
{
	row_start(report, "bucket", shown, count, out);
	nw_buf_addc(out, ',');
	for (size_t i = 0; i < nw_statistic_count; i++) {
		const char *key = nw_statistics[i].key;
		const int64_t *limit = strcmp(key, "min") == 0	 ? low
				       : strcmp(key, "max") == 0 ? high
								 : NULL;
		nw_buf_addc(out, ',');
		if (limit)
			nw_buf_printf(out, "%" PRId64, *limit);
	}
	row_end(report, shown, arg, NULL, out);
}

/* Writes the counts in equal steps, also those that are 0, as a spreadsheet draws them. */
static void linear_lines(const struct nw_report *report, const struct nw_shown *shown,
			 const struct nw_named_times *one, struct nw_buf *out)
{
	const struct nw_linear *linear = one->times->linear;
	const struct nw_linear_shape *shape = &linear->shape;
	const int64_t before = shape->min - (shape->min > INT64_MIN);

	if (linear->below)
		linear_line(report, shown, one->name, NULL, &before, linear->below, out);
	for (size_t i = 0; i < shape->buckets; i++) {
		const int64_t low = nw_linear_low(shape, i);
		const int64_t high = nw_linear_low(shape, i + 1) - 1;
		linear_line(report, shown, one->name, &low, &high, linear->count[i], out);
	}
	if (linear->above)
		linear_line(report, shown, one->name, &shape->max, NULL, linear->above,
			    out);
}

static void lines(const struct nw_report *report, const struct nw_shown *shown,
		  struct nw_buf *out)
{
	bool is_span = shown->subject == NW_SUBJECT_SPANS;
	struct nw_named_times one;

	row_start(report, is_span ? "span" : "probe", shown,
		  nw_row_count(shown->subject, shown->row), out);
	statistics(nw_row_times(shown->subject, shown->row), out);
	row_end(report, shown, "", is_span ? shown->row : NULL, out);
	nw_number_each (shown->subject, number) {
		size_t at = 0;
		if (!number->csv || number->kind == NW_NUMBER_COUNT)
			continue;
		while (nw_report_next_times(report, number, shown->index, shown->row, &at,
					    &one)) {
			row_start(report, number->csv, shown, one.times->count, out);
			statistics(one.times, out);
			row_end(report, shown, one.name, NULL, out);
			if (one.times->linear)
				linear_lines(report, shown, &one, out);
		}
	}
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	nw_rank_each(report, NW_SUBJECT_PROBES, lines, &output->text);
	nw_rank_each(report, NW_SUBJECT_SPANS, lines, &output->text);
}

/* Writes a line about the whole run, from its count on. discarded, least: those columns. */
static void whole_line(struct nw_output *output, uint64_t count, const uint64_t *discarded,
		       bool least)
{
	const bool net = *(const bool *)output->state;
	struct nw_buf *out = &output->text;

	nw_buf_printf(out, "%" PRIu64 ",,", count);
	for (size_t i = 0; i < nw_statistic_count; i++)
		nw_buf_addc(out, ',');
	nw_number_each (NW_SUBJECT_SPANS, number) {
		if (!is_column(number, EARLY, net))
			continue;
		nw_buf_addc(out, ',');
		if (discarded && number->at == offsetof(struct nw_span_row, discarded))
			nw_buf_printf(out, "%" PRIu64, *discarded);
	}
	nw_buf_adds(out, ",,");
	counts(NULL, false, LATE, net, out);
	nw_buf_adds(out, least ? ",1," : ",,");
	counts(NULL, false, LAST, net, out);
	nw_buf_addc(out, '\n');
}

/* Writes a line for quiet intervals; their number is in the column of counts. */
static void quiet(struct nw_output *output, uint64_t first, uint64_t count)
{
	nw_buf_printf(&output->text, "quiet,,,%" PRIu64 ",", first);
	whole_line(output, count, NULL, false);
}

static void end(struct nw_output *output, const struct nw_end *end)
{
	if (end->has_filter) {
		nw_buf_adds(&output->text, "filtered,,,,");
		whole_line(output, end->filtered, NULL, false);
	}
	nw_buf_adds(&output->text, "loss,,,,");
	whole_line(output, end->lost, &end->discarded, end->lost_is_least);
}

/* ---- differences ---------------------------------------------------------------------- */

/* Writes a ratio as a change in percent; infinite: an empty field. */
static void percent(struct nw_buf *out, bool has, double ratio)
{
	nw_buf_addc(out, ',');
	if (has && !isinf(ratio))
		nw_buf_printf(out, "%.3f", (ratio - 1) * 100);
}

static void diff_line(const struct nw_diff_report *report, const struct nw_diff_row *row,
		      enum nw_metric m, struct nw_buf *out)
{
	const struct nw_diff_metric *metric = &row->metric[m];
	const struct nw_comparison *is = &metric->comparison;
	nw_cleanup(nw_free_ptr) char *group = strdup(row->group ? row->group : "");
	double change = 0;
	bool changed = nw_diff_change(metric, &change);

	out->failed |= !group;
	for (char *at = group; at && (at = strchr(at, NW_GROUP_SEPARATOR)); at++)
		*at = ',';
	nw_buf_adds(out, row->subject == NW_SUBJECT_SPANS ? "span," : "probe,");
	field(out, row->name, report->view.raw);
	nw_buf_addc(out, ',');
	field(out, group ? group : "", report->view.raw);
	nw_buf_printf(out, ",%s,%s", nw_metrics[m].name,
		      m == NW_METRIC_RATE ? "1/s" : "ns");
	for (int side = 0; side < NW_SIDES; side++) {
		nw_buf_addc(out, ',');
		if (metric->has[side])
			nw_buf_printf(out, "%.3f", metric->value[side]);
	}
	percent(out, changed, 1 + change);
	percent(out, metric->is_compared, is->low);
	percent(out, metric->is_compared, is->high);
	if (metric->is_compared)
		nw_buf_printf(
			out, ",%d,%s,%zu,%zu\n", is->noise, nw_sample_names[report->sample],
			metric->sample[NW_BEFORE].count, metric->sample[NW_AFTER].count);
	else
		nw_buf_adds(out, ",,,,\n");
}

static void diff(struct nw_output *output, const struct nw_diff_report *report)
{
	nw_buf_adds(
		&output->text,
		"type,name,group,metric,unit,before,after,change_percent,low_percent,high_percent,noise,sample,samples_before,samples_after\n");
	nw_vec_each (&report->diff->rows, row)
		for (int m = 0; nw_diff_shows(report, row) && m < NW_METRICS; m++)
			if (row->metric[m].has[NW_BEFORE] || row->metric[m].has[NW_AFTER])
				diff_line(report, row, (enum nw_metric)m, &output->text);
}

const struct nw_output_format nw_output_csv = {
	.name = "csv",
	.state_size = sizeof(bool), /* true: latencies are net of probe overhead */
	.costs = true,
	.states = true,
	.shows = {[NW_SHOWS_REPORTS] = true},
	.begin = begin,
	.report = report,
	.diff = diff,
	.quiet = quiet,
	.end = end,
};
