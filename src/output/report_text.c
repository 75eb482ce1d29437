// SPDX-License-Identifier: MIT
/* A report for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Names come from the program that is traced: escaped before they reach a terminal. */
static void name_cell(struct nw_table *table, const char *name)
{
	struct nw_buf text = {0};

	nw_buf_add_escaped(&text, name, strlen(name));
	nw_table_text(table, nw_buf_str(&text));
	nw_buf_free(&text);
}

static void group_cell(const struct nw_report *report, struct nw_table *table, size_t group)
{
	if (report->group_by)
		name_cell(table, nw_summary_group_name(report->summary, group));
}

static void figure_headers(struct nw_table *table)
{
	for (size_t i = 0; i < nw_figure_count; i++)
		nw_table_text(table, nw_figures[i].column);
}

static void duration_cells(struct nw_table *table, const struct nw_histogram *h)
{
	for (size_t i = 0; i < nw_figure_count; i++) {
		char text[16] = "-";
		if (h->count)
			nw_unit_duration(nw_figure_value(h, &nw_figures[i]), text);
		nw_table_text(table, text);
	}
}

/* Columns that hold text; the group's is the second, where there are groups. */
static const bool *left_columns(const struct nw_report *report)
{
	static const bool plain[32] = {true}, grouped[32] = {true, true};

	return report->group_by ? grouped : plain;
}

/* ---- probes ------------------------------------------------------------------------- */

static void probe_row(const struct nw_report *report, struct nw_table *table, size_t probe,
		      size_t group)
{
	const struct nw_probe_row *row = &nw_report_rows(report, group)->probes[probe];
	char rate[16];

	if (!nw_report_has_probe(report, row))
		return;
	nw_unit_rate(nw_report_rate(report, row->hits), rate);
	name_cell(table, report->selection->probes.item[probe]->label);
	group_cell(report, table, group);
	nw_table_number(table, row->hits);
	nw_table_text(table, rate);
	duration_cells(table, &row->gap);
}

static void probe_table(const struct nw_report *report, struct nw_buf *out)
{
	struct nw_table table = {.left = left_columns(report)};

	nw_table_text(&table, "PROBE");
	if (report->group_by)
		nw_table_cell(&table, "BY %s", report->group_by);
	nw_table_text(&table, "HITS");
	nw_table_text(&table, "RATE");
	nw_table_cell(&table, "GAP: %s", nw_figures[0].column);
	for (size_t i = 1; i < nw_figure_count; i++)
		nw_table_text(&table, nw_figures[i].column);
	table.columns = table.cells.count;
	for (size_t i = 0; i < report->selection->probes.count; i++)
		for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
			probe_row(report, &table, i, g);
	nw_table_print(&table, report->bold, out);
}

/* ---- spans -------------------------------------------------------------------------- */

static void span_row(const struct nw_report *report, struct nw_table *table, size_t span,
		     size_t group)
{
	const struct nw_span_row *row = &nw_report_rows(report, group)->spans[span];

	if (!nw_report_has_span(report, row))
		return;
	name_cell(table, report->spans[span].name);
	group_cell(report, table, group);
	nw_table_number(table, row->latency.count);
	duration_cells(table, &row->latency);
	nw_table_cell(table, "%" PRIu64 "/%" PRIu64, row->unmatched_starts,
		      row->unmatched_ends);
	nw_table_number(table, row->discarded);
}

static void span_table(const struct nw_report *report, struct nw_buf *out)
{
	struct nw_table table = {.left = left_columns(report)};

	if (!report->span_count)
		return;
	nw_buf_addc(out, '\n');
	nw_table_text(&table, "SPAN");
	if (report->group_by)
		nw_table_cell(&table, "BY %s", report->group_by);
	nw_table_text(&table, "COUNT");
	figure_headers(&table);
	nw_table_text(&table, "UNMATCHED");
	nw_table_text(&table, "DISCARDED");
	table.columns = table.cells.count;
	for (size_t i = 0; i < report->span_count; i++)
		for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
			span_row(report, &table, i, g);
	nw_table_print(&table, report->bold, out);
}

/* ---- arguments ---------------------------------------------------------------------- */

static void number_cell(struct nw_table *table, const struct nw_histogram *h,
			uint64_t value)
{
	if (!h->count)
		nw_table_text(table, "-");
	else if (h->is_signed)
		nw_table_cell(table, "%" PRId64, (int64_t)value);
	else
		nw_table_number(table, value);
}

static void arg_row(const struct nw_report *report, struct nw_table *table, size_t probe,
		    size_t arg, size_t group)
{
	const struct nw_probe *p = report->selection->probes.item[probe];
	const struct nw_probe_row *row = &nw_report_rows(report, group)->probes[probe];
	char name[32];

	if (!row->args || !row->args[arg].count)
		return;
	nw_arg_name(p, arg, name);
	nw_cleanup(nw_free_ptr) char *label = nw_text("%s %s", p->label, name);
	name_cell(table, label ? label : "");
	group_cell(report, table, group);
	nw_table_number(table, row->args[arg].count);
	for (size_t i = 0; i < nw_figure_count; i++)
		number_cell(table, &row->args[arg],
			    nw_figure_value(&row->args[arg], &nw_figures[i]));
}

static void arg_table(const struct nw_report *report, struct nw_buf *out)
{
	struct nw_table table = {.left = left_columns(report)};

	nw_table_text(&table, "ARGUMENT");
	if (report->group_by)
		nw_table_cell(&table, "BY %s", report->group_by);
	nw_table_text(&table, "COUNT");
	figure_headers(&table);
	table.columns = table.cells.count;
	for (size_t i = 0; i < report->selection->probes.count; i++)
		for (size_t j = 0; j < report->selection->probes.item[i]->args.count; j++)
			for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
				arg_row(report, &table, i, j, g);
	if (table.cells.count > table.columns) {
		nw_buf_addc(out, '\n');
		nw_table_print(&table, report->bold, out);
	}
	nw_table_free(&table);
}

/* ---- histograms --------------------------------------------------------------------- */

static void histogram(const struct nw_report *report, const char *name, const char *what,
		      size_t group, const struct nw_histogram *h, struct nw_buf *out)
{
	if (!h->count)
		return;
	nw_buf_addc(out, '\n');
	nw_buf_add_escaped(out, name, strlen(name));
	if (report->group_by) {
		const char *of = nw_summary_group_name(report->summary, group);
		nw_buf_printf(out, ", %s ", report->group_by);
		nw_buf_add_escaped(out, of, strlen(of));
	}
	nw_buf_printf(out, ", %s:\n", what);
	nw_histogram_print(h, out);
}

static bool is_shown(const struct nw_report *report, const char *arg)
{
	for (size_t i = 0; i < report->hist_arg_count; i++)
		if (strcmp(report->hist_args[i], arg) == 0)
			return true;
	return false;
}

static void probe_histograms(const struct nw_report *report, size_t group,
			     struct nw_buf *out)
{
	const struct nw_group_rows *rows = nw_report_rows(report, group);

	for (size_t i = 0; i < report->selection->probes.count; i++) {
		const struct nw_probe *probe = report->selection->probes.item[i];
		if (report->gaps)
			histogram(report, probe->label, "ns between hits", group,
				  &rows->probes[i].gap, out);
		for (size_t j = 0; rows->probes[i].args && j < probe->args.count; j++) {
			char name[32];
			nw_arg_name(probe, j, name);
			if (is_shown(report, name))
				histogram(report, probe->label, name, group,
					  &rows->probes[i].args[j], out);
		}
	}
}

static void histograms(const struct nw_report *report, struct nw_buf *out)
{
	for (size_t g = 0; g < nw_summary_groups(report->summary); g++) {
		const struct nw_group_rows *rows = nw_report_rows(report, g);
		for (size_t i = 0; i < report->span_count; i++)
			histogram(report, report->spans[i].name, "latency in ns", g,
				  &rows->spans[i].latency, out);
		probe_histograms(report, g, out);
	}
}

/* ---- the end ------------------------------------------------------------------------ */

static uint64_t all_hits(const struct nw_report *report)
{
	uint64_t hits = 0;

	for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
		for (size_t i = 0; i < report->selection->probes.count; i++)
			hits += nw_report_rows(report, g)->probes[i].hits;
	return hits;
}

static void silent_probes(const struct nw_report *report, struct nw_buf *out)
{
	for (size_t i = 0; report->states && i < report->selection->probes.count; i++) {
		const char *label = report->selection->probes.item[i]->label;
		if (!report->states[i].text)
			continue;
		nw_buf_add_escaped(out, label, strlen(label));
		nw_buf_printf(out, ": %s\n", report->states[i].text);
	}
}

static void last_line(const struct nw_report *report, struct nw_buf *out)
{
	char elapsed[16];
	uint64_t discarded = nw_summary_discarded(report->summary);

	nw_unit_duration(report->elapsed_ns, elapsed);
	nw_buf_printf(out, "\n%" PRIu64 " hits in %s, ", all_hits(report), elapsed);
	if (report->has_filter)
		nw_buf_printf(out, "%" PRIu64 " filtered out, ", report->filtered);
	nw_buf_printf(out, "%s%" PRIu64 " events lost",
		      report->lost_is_least ? "at least " : "", report->lost);
	if (report->lost)
		nw_buf_printf(out, ": %" PRIu64 " spans discarded, counts are too low%s",
			      discarded, report->interval ? "" : " (a larger -b helps)");
	else if (discarded)
		nw_buf_printf(out, "; %" PRIu64 " spans discarded", discarded);
	if (report->dropped)
		nw_buf_printf(out, "; %" PRIu64 " hits not recorded by the kernel",
			      report->dropped);
	nw_buf_addc(out, '\n');
}

void nw_report_text(const struct nw_report *report, struct nw_buf *out)
{
	if (report->interval)
		nw_buf_printf(out, "%s--- report %" PRIu64 " ---\n",
			      report->interval > 1 ? "\n" : "", report->interval);
	probe_table(report, out);
	span_table(report, out);
	arg_table(report, out);
	histograms(report, out);
	last_line(report, out);
	if (!report->interval)
		silent_probes(report, out);
}
