// SPDX-License-Identifier: MIT
/* A difference for people. */
#include <inttypes.h>
#include <string.h>

#include "text_private.h"

/* ---- the table ---------------------------------------------------------------------- */

static void value_cell(struct nw_table *table, enum nw_metric metric, double value)
{
	char text[16];

	nw_diff_value_text(metric, value, text);
	nw_table_text(table, text);
}

static void change_cells(struct nw_table *table, const struct nw_diff_report *report,
			 const struct nw_diff_metric *metric)
{
	char text[48] = "-";
	double change;

	if (nw_diff_change(metric, &change))
		nw_change_text(change, text);
	nw_table_text(table, text);
	if (report->sample == NW_SAMPLE_NONE)
		return;
	const bool noise = metric->is_compared && metric->comparison.noise;
	nw_table_text(table, !noise ? "" : report->layout.plain ? "yes" : "~");
	strcpy(text, "-");
	if (metric->is_compared)
		nw_interval_text(&metric->comparison, text);
	nw_table_text(table, text);
}

static void name_cells(struct nw_table *table, const struct nw_diff_report *report,
		       const struct nw_diff_row *row, bool again)
{
	if (!again)
		nw_buf_add_escaped(&table->text, row->name, strlen(row->name));
	nw_table_end_cell(table);
	if (!report->group_by)
		return;
	if (!again && row->group)
		nw_text_group(row->group, &table->text);
	nw_table_end_cell(table);
}

static void print_row(struct nw_table *table, const struct nw_diff_report *report,
		      const struct nw_diff_row *row)
{
	bool again = false;

	for (int m = 0; m < NW_METRICS; m++) {
		const struct nw_diff_metric *metric = &row->metric[m];
		if (!nw_diff_shows_metric(report, row, (enum nw_metric)m))
			continue;
		name_cells(table, report, row, again);
		again = !report->layout.plain;
		nw_table_cell(table, "%s%s",
			      row->subject == NW_SUBJECT_PROBES && m != NW_METRIC_RATE
				      ? "gap "
				      : "",
			      nw_metrics[m].name);
		for (int side = 0; side < NW_SIDES; side++)
			value_cell(table, (enum nw_metric)m, metric->value[side]);
		change_cells(table, report, metric);
	}
}

static void print_table(const struct nw_diff_report *report, enum nw_subject subject,
			struct nw_buf *out)
{
	static const bool plain[8] = {true, true};
	static const bool grouped[8] = {true, true, true};
	struct nw_table table = {.left = report->group_by ? grouped : plain,
				 .layout = report->layout};

	nw_table_text(&table, subject == NW_SUBJECT_SPANS ? "SPAN" : "PROBE");
	if (report->group_by)
		nw_table_cell(&table, "BY %s", report->group_by);
	nw_table_text(&table, "METRIC");
	nw_table_text(&table, "BEFORE");
	nw_table_text(&table, "AFTER");
	nw_table_text(&table, "CHANGE");
	if (report->sample != NW_SAMPLE_NONE) {
		nw_table_text(&table, report->layout.plain ? "NOISE" : "~");
		nw_table_text(&table, "95 % INTERVAL");
	}
	table.columns = table.cells.count;
	nw_vec_each (&report->diff->rows, row)
		if (row->subject == subject && nw_diff_shows(report, row))
			print_row(&table, report, row);
	if (table.columns && table.cells.count > table.columns) {
		nw_table_print(&table, out);
		nw_buf_addc(out, '\n');
	}
	out->failed |= table.text.failed;
	nw_table_free(&table);
}

/* ---- the lines below it --------------------------------------------------------------- */

enum {
	MOST_NAMES = 5
};

/* Names the rows that only one side has. */
static void print_missing(const struct nw_diff_report *report, enum nw_side has,
			  struct nw_buf *out)
{
	const enum nw_side lacks = has == NW_BEFORE ? NW_AFTER : NW_BEFORE;
	size_t count = 0;

	nw_vec_each (&report->diff->rows, row) {
		if (row->has[lacks] || !row->has[has] || !nw_diff_shows(report, row))
			continue;
		if (count++ >= MOST_NAMES)
			continue;
		if (count == 1)
			nw_buf_printf(out, "only %s:", nw_side_names[has]);
		nw_buf_adds(out, count == 1 ? " " : ", ");
		nw_buf_add_escaped(out, row->name, strlen(row->name));
		if (!row->group)
			continue;
		nw_buf_addc(out, '[');
		nw_text_group(row->group, out);
		nw_buf_addc(out, ']');
	}
	if (count > MOST_NAMES)
		nw_buf_printf(out, " and %zu more", count - MOST_NAMES);
	if (count)
		nw_buf_addc(out, '\n');
}

static void print_side(const struct nw_diff_report *report, enum nw_side side,
		       struct nw_buf *out)
{
	const struct nw_diff_side *is = &report->side[side];
	char elapsed[16], lost[48];

	nw_duration_text(is->elapsed_ns, elapsed);
	nw_lost_text(is->lost, is->lost_is_least, lost);
	nw_buf_printf(
		out,
		nw_plural(is->files, "%s: %zu run, %s, %s\n", "%s: %zu runs, %s, %s\n"),
		nw_side_names[side], is->files, elapsed, lost);
}

static void print_sample(const struct nw_diff_report *report, struct nw_buf *out)
{
	const struct nw_diff *diff = report->diff;
	const size_t before = diff->unit_count[NW_BEFORE];
	const size_t after = diff->unit_count[NW_AFTER];
	char length[16];

	if (report->no_interval)
		nw_buf_printf(out, "no intervals: %s\n", report->no_interval);
	if (report->sample == NW_SAMPLE_SLICES) {
		nw_duration_text(report->slice_ns, length);
		nw_buf_printf(
			out,
			"The samples are slices of time (%zu before, %zu after, of about %s), each taken for a run: an interval holds 98 %% of the ratios of a slice after to a slice before. That is weaker evidence than runs, which differ for other reasons, too. Give 4 runs or more a side.\n",
			before, after, length);
	}
	if (report->sample == NW_SAMPLE_RUNS)
		nw_buf_printf(out, "The samples are runs: %zu before, %zu after.\n", before,
			      after);
	if (report->sample != NW_SAMPLE_NONE)
		nw_buf_adds(
			out,
			"~ is noise: the interval includes no change. By chance, about 1 in 20 intervals leaves it out.\n");
}

static void print_checks(const struct nw_diff_report *report, struct nw_buf *out)
{
	for (size_t i = 0; i < report->check_count; i++) {
		nw_buf_printf(out, "%s ", nw_verdict_words[report->checks[i].verdict]);
		nw_diff_check_text(&report->checks[i], out);
		nw_buf_addc(out, '\n');
	}
}

void nw_text_diff_notes(const struct nw_diff_report *report, struct nw_buf *out)
{
	for (int side = 0; side < NW_SIDES; side++)
		print_side(report, (enum nw_side)side, out);
	print_missing(report, NW_BEFORE, out);
	print_missing(report, NW_AFTER, out);
	print_sample(report, out);
	print_checks(report, out);
}

void nw_text_diff(struct nw_output *output, const struct nw_diff_report *report)
{
	struct nw_buf *out = &output->text;

	if (report->net)
		nw_buf_printf(out, "%s\n", nw_net_text);
	print_table(report, NW_SUBJECT_SPANS, out);
	print_table(report, NW_SUBJECT_PROBES, out);
	size_t from = out->len;
	nw_text_diff_notes(report, out);
	nw_text_fill(out, from, report->layout.width);
}
