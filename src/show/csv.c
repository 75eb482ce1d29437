// SPDX-License-Identifier: MIT
/* A report for spreadsheets: one header, one row a probe or span (RFC 4180). */
#include <inttypes.h>
#include <string.h>

#include "show/rows/order.h"
#include "show/rows/report.h"

/* A negative number, which a spreadsheet does not compute. */
static bool is_negative_number(const char *text)
{
	static const char digits[] = "0123456789";
	size_t whole = *text == '-' ? strspn(text + 1, digits) : 0;
	const char *end = text + 1 + whole;

	if (whole && *end == '.' && strspn(end + 1, digits))
		end += 1 + strspn(end + 1, digits);
	return whole && !*end;
}

/* Does a spreadsheet take text for a formula that begins so? Also by the full-width forms of these characters (U+FF0B,
 * U+FF0D, U+FF1D, U+FF20). */
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
 * Quoted if need be; quotes doubled. Controls are as in text: who opens it is somebody's program. What a spreadsheet would
 * take for a formula has a ' in front, unless --raw asks for it as it is: also behind a semicolon, which separates cells
 * where the comma is in numbers, and there nothing is quoted that does not begin with a quote.
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

enum {
	BEHIND = 11 /* columns behind the statistics */
};

static void begin(struct nw_output *output, const struct nw_begin *begin)
{
	struct nw_buf *out = &output->text;

	nw_buf_adds(out, "type,name,group,interval,count,rate_hz,sum_ns");
	for (size_t i = 0; i < nw_statistic_count; i++)
		nw_buf_printf(out, ",%s_ns", nw_statistics[i].key);
	nw_buf_adds(
		out,
		",unmatched_starts,unmatched_ends,discarded,arg,time,abandoned,omitted,repeated,nested,at_least,symbol");
	nw_buf_adds(out, begin->net ? ",net_clamped\n" : "\n");
	*(bool *)output->state = begin->net;
}

/* Of several that --top leaves out, the group, or else the name, says how many they are. */
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

/* The columns behind the statistics. arg: "" for probes and spans. span: NULL for all else. function: NULL, if the row is
 * not of one. */
static void row_end(const struct nw_report *report, const char *arg,
		    const struct nw_span_row *span, const struct nw_probe *function,
		    struct nw_buf *out)
{
	char when[40];

	nw_buf_addc(out, ',');
	field(out, arg, report->view.raw);
	nw_buf_printf(out, ",%s", nw_report_time(report, when));
	if (span)
		nw_buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			      span->abandoned, span->omitted, span->repeated, span->nested);
	else
		nw_buf_adds(out, ",,,,");
	nw_buf_adds(out, report->at_least ? ",1," : ",,");
	if (function && function->symbol)
		field(out, function->symbol, report->view.raw);
	if (report->net && span)
		nw_buf_printf(out, ",%" PRIu64 "\n", span->clamped);
	else
		nw_buf_adds(out, report->net ? ",\n" : "\n");
}

static void probe_lines(const struct nw_report *report, const struct nw_shown *shown,
			struct nw_buf *out)
{
	const struct nw_probe *p = report->selection->probes.item[shown->index];
	const struct nw_probe *function = shown->name ? p : NULL;
	const struct nw_probe_row *row = shown->row;

	row_start(report, "probe", shown, row->hits, out);
	statistics(&row->gap, out);
	nw_buf_adds(out, ",,,");
	row_end(report, "", NULL, function, out);
	for (size_t i = 0; row->args && i < p->args.count; i++) {
		char name[32];
		if (!row->args[i].count)
			continue;
		nw_arg_name(p, i, name);
		row_start(report, "arg", shown, row->args[i].count, out);
		statistics(&row->args[i], out);
		nw_buf_adds(out, ",,,");
		row_end(report, name, NULL, function, out);
	}
}

static void span_line(const struct nw_report *report, const struct nw_shown *shown,
		      struct nw_buf *out)
{
	const struct nw_span_row *row = shown->row;
	const struct nw_probe *function = shown->name
						  ? nw_span_function(
							    &report->spans[shown->index],
							    report->selection)
						  : NULL;

	row_start(report, "span", shown, row->latency.count, out);
	statistics(&row->latency, out);
	nw_buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->unmatched_starts,
		      row->unmatched_ends, row->discarded);
	row_end(report, "", row, function, out);
	if (row->cost) {
		row_start(report, "probe_cost", shown, row->cost->count, out);
		statistics(row->cost, out);
		nw_buf_adds(out, ",,,");
		row_end(report, "", NULL, function, out);
	}
	for (size_t i = 0; row->states && i < NW_TASK_STATES; i++) {
		row_start(report, "state", shown, row->states[i].count, out);
		statistics(&row->states[i], out);
		nw_buf_adds(out, ",,,");
		row_end(report, nw_task_state_names[i], NULL, function, out);
	}
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	nw_rank_each(report, NW_SUBJECT_PROBES, probe_lines, &output->text);
	nw_rank_each(report, NW_SUBJECT_SPANS, span_line, &output->text);
}

static void line_end(struct nw_output *output)
{
	nw_buf_adds(&output->text, *(const bool *)output->state ? ",\n" : "\n");
}

/* The number of intervals stands where the others have their count. */
static void quiet(struct nw_output *output, uint64_t first, uint64_t count)
{
	struct nw_buf *out = &output->text;

	nw_buf_printf(out, "quiet,,,%" PRIu64 ",%" PRIu64 ",,", first, count);
	for (size_t i = 0; i < nw_statistic_count + BEHIND; i++)
		nw_buf_addc(out, ',');
	line_end(output);
}

static void end(struct nw_output *output, const struct nw_end *end)
{
	if (end->has_filter) {
		nw_buf_printf(&output->text, "filtered,,,,%" PRIu64 ",,,,,,,,,,,,,,,,,,,,",
			      end->filtered);
		line_end(output);
	}
	nw_buf_printf(&output->text, "loss,,,,%" PRIu64 ",,,,,,,,,,,,%" PRIu64 ",,,,,,,%s,",
		      end->lost, end->discarded, end->lost_is_least ? "1" : "");
	line_end(output);
}

const struct nw_output_format nw_output_csv = {
	.name = "csv",
	.state_size = sizeof(bool), /* are latencies net? */
	.costs = true,
	.states = true,
	.shows = {[NW_SHOWS_REPORTS] = true},
	.begin = begin,
	.report = report,
	.quiet = quiet,
	.end = end,
};
