// SPDX-License-Identifier: MIT
/* The page of a difference: the table that text has, in HTML, and for the script the times of each run or slice of both sides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "show/text/text.h"

enum {
	MOST_TABLE = 512 << 10, /* bytes of the table */
};

/* Returns the group's name with commas between the values of several keys; NULL: there are no groups, or no memory, and then `out` has
 * failed. */
static char *group_text(const struct nw_diff_report *report, const struct nw_diff_row *row,
			struct nw_buf *out)
{
	const bool grouped = report->group_by && row->group;
	char *group = grouped ? strdup(row->group) : NULL;

	out->failed |= grouped && !group;
	for (char *at = group; at && (at = strchr(at, NW_GROUP_SEPARATOR)); at++)
		*at = ',';
	return group;
}

/* ---- the table ---------------------------------------------------------------------- */

/* Writes a cell with text of ours. The space in front of a percent sign breaks no line. */
static void number_cell(struct nw_buf *out, const char *class, const char *text)
{
	nw_buf_printf(out, "<td class=\"number%s\">", class);
	for (const char *at = text; *at; at++)
		if (at[0] == ' ' && at[1] == '%')
			nw_buf_adds(out, "&nbsp;");
		else
			nw_buf_addc(out, *at);
	nw_buf_adds(out, "</td>");
}

static void change_cells(const struct nw_diff_report *report,
			 const struct nw_diff_metric *metric, struct nw_buf *out)
{
	char text[48] = "-";
	double change;

	if (nw_diff_change(metric, &change))
		nw_change_text(change, text);
	number_cell(out, "", text);
	if (report->sample == NW_SAMPLE_NONE)
		return;
	const bool noise = metric->is_compared && metric->comparison.noise;
	strcpy(text, "-");
	if (metric->is_compared)
		nw_interval_text(&metric->comparison, text);
	nw_buf_printf(out, "<td>%s</td>", noise ? "<abbr title=\"noise\">~</abbr>" : "");
	number_cell(out, " interval", text);
}

static void metric_line(const struct nw_diff_report *report, const struct nw_diff_row *row,
			enum nw_metric m, struct nw_buf *out)
{
	const struct nw_diff_metric *metric = &row->metric[m];
	const bool gap = row->subject == NW_SUBJECT_PROBES && m != NW_METRIC_RATE;
	const bool noise = metric->is_compared && metric->comparison.noise;

	nw_buf_printf(out, "<tr%s><th scope=\"row\">%s%s</th>",
		      metric->is_compared && !noise ? " class=\"changed\"" : "",
		      gap ? "gap " : "", nw_metrics[m].name);
	for (int side = 0; side < NW_SIDES; side++) {
		char value[16], spaced[24];
		nw_diff_value_text(m, metric->value[side], value);
		nw_html_duration(value, spaced);
		number_cell(out, "", m == NW_METRIC_RATE ? value : spaced);
	}
	change_cells(report, metric, out);
	nw_buf_adds(out, "</tr>\n");
}

/* Writes the numbers of a row below its name. Returns false, and writes nothing, if it has none. */
static bool add_row(const struct nw_diff_report *report, const struct nw_diff_row *row,
		    struct nw_buf *out)
{
	nw_cleanup(nw_free_ptr) char *group = group_text(report, row, out);
	bool any = false;

	for (int m = 0; m < NW_METRICS; m++) {
		if (!nw_diff_shows_metric(report, row, (enum nw_metric)m))
			continue;
		if (!any) {
			nw_buf_printf(
				out,
				"<tbody data-row=\"%zu\"><tr><th scope=\"rowgroup\" colspan=\"%d\"><span>",
				(size_t)(row - report->diff->rows.item),
				report->sample == NW_SAMPLE_NONE ? 4 : 6);
			nw_html_text(out, row->name);
			nw_buf_adds(out, "</span>");
			if (group) {
				nw_buf_adds(out, " <span class=\"quiet\">");
				nw_html_text(out, *group ? group : "(empty)");
				nw_buf_adds(out, "</span>");
			}
			nw_buf_adds(out, "</th></tr>\n");
		}
		any = true;
		metric_line(report, row, (enum nw_metric)m, out);
	}
	if (any)
		nw_buf_adds(out, "</tbody>\n");
	return any;
}

static void add_table(const struct nw_diff_report *report, enum nw_subject subject,
		      struct nw_buf *out)
{
	size_t left_out = 0, from = out->len;
	bool any = false;

	nw_buf_printf(
		out,
		"<div class=\"scroll\"><table class=\"diff\"><thead><tr><th scope=\"col\">%s</th>"
		"<th scope=\"col\" class=\"number\">Before</th><th scope=\"col\" class=\"number\">After</th>"
		"<th scope=\"col\" class=\"number\">Change</th>%s</tr></thead>\n",
		subject == NW_SUBJECT_SPANS ? "Span" : "Probe",
		report->sample == NW_SAMPLE_NONE
			? ""
			: "<th scope=\"col\"><abbr title=\"noise\">~</abbr></th><th scope=\"col\" class=\"number\">95 % interval</th>");
	nw_vec_each (&report->diff->rows, row) {
		if (row->subject != subject || !nw_diff_shows(report, row))
			continue;
		if (out->len > MOST_TABLE)
			left_out++;
		else
			any |= add_row(report, row, out);
	}
	if (!any && !left_out) {
		out->len = from;
		return;
	}
	nw_buf_adds(out, "</table></div>\n");
	if (left_out)
		nw_buf_printf(
			out,
			nw_plural(
				left_out,
				"<p class=\"quiet\">%zu more row is left out: -f json has all.</p>\n",
				"<p class=\"quiet\">%zu more rows are left out: -f json has all.</p>\n"),
			left_out);
}

/* Writes each line as a paragraph. */
static void add_notes(const struct nw_diff_report *report, struct nw_buf *out)
{
	struct nw_buf notes = {0};
	char *rest, *line;

	if (report->net)
		nw_buf_printf(&notes, "%s\n", nw_net_text);
	nw_text_diff_notes(report, &notes);
	nw_buf_addc(&notes, '\0');
	out->failed |= notes.failed;
	rest = notes.failed ? NULL : notes.data;
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		nw_buf_adds(out, "<p>");
		nw_html_text(out, line);
		nw_buf_adds(out, "</p>\n");
	}
	nw_buf_free(&notes);
}

/* ---- the data of the pictures ------------------------------------------------------- */

static void times(const struct nw_diff_row *row, enum nw_side side, uint64_t count,
		  struct nw_json *json)
{
	static const struct {
		const char *key;
		enum nw_metric metric;
	} keys[] = {{"p50", NW_METRIC_P50},
		    {"p90", NW_METRIC_P90},
		    {"p99", NW_METRIC_P99},
		    {"max", NW_METRIC_MAX}};

	nw_json_key(json, row->subject == NW_SUBJECT_SPANS ? "latency_ns" : "gap_ns");
	nw_json_open(json, '{');
	nw_json_key_u64(json, "count", count);
	for (size_t i = 0; i < NW_COUNT(keys); i++) {
		if (!row->metric[keys[i].metric].has[side])
			continue;
		nw_json_key(json, keys[i].key);
		nw_json_real(json, row->metric[keys[i].metric].value[side]);
	}
	nw_json_close(json, '}');
}

/* Writes a row with the columns of both sides. */
static void row_data(const struct nw_diff_report *report, const struct nw_diff_row *row,
		     const struct nw_bin_series *const series[NW_SIDES],
		     struct nw_json *json)
{
	const bool is_span = row->subject == NW_SUBJECT_SPANS;
	nw_cleanup(nw_free_ptr) char *group = group_text(report, row, json->out);

	nw_json_open(json, '{');
	nw_json_key_u64(json, "row", (uint64_t)(row - report->diff->rows.item));
	nw_json_key_text(json, "type", is_span ? "span" : "probe");
	nw_json_key_text(json, is_span ? "span" : "probe", row->name);
	if (group)
		nw_json_key_text(json, "group", group);
	for (int side = 0; side < NW_SIDES; side++) {
		uint64_t count = 0;
		for (size_t i = 0; i < series[side]->cells.count; i++)
			count += series[side]->cells.item[i].count;
		nw_json_key(json, nw_side_names[side]);
		nw_json_open(json, '{');
		times(row, (enum nw_side)side, count, json);
		nw_html_columns(json, series[side]);
		nw_json_close(json, '}');
	}
	nw_json_close(json, '}');
}

static void side_data(const struct nw_diff_report *report, enum nw_side side,
		      struct nw_json *json)
{
	const unsigned int units = nw_diff_units_in_bin(report->diff);

	nw_json_key(json, nw_side_names[side]);
	nw_json_open(json, '{');
	nw_json_key_u64(json, "first", nw_diff_first_bin(report->diff, side));
	nw_json_key_u64(json, "count",
			(report->diff->unit_count[side] + units - 1) / units);
	nw_json_close(json, '}');
}

/* Writes pictures of that many rows at most. Returns how many there are. */
static size_t pictures(const struct nw_diff_report *report, size_t most, bool *left_out,
		       struct nw_json *json)
{
	size_t count = 0;

	*left_out |= nw_bins_left_out(report->diff->bins);
	nw_json_key(json, "rows");
	nw_json_open(json, '[');
	for (int subject = NW_SUBJECTS - 1; subject >= 0; subject--)
		nw_vec_each (&report->diff->rows, row) {
			const struct nw_bin_series *const series[] = {
				nw_diff_times(report->diff, row, NW_BEFORE),
				nw_diff_times(report->diff, row, NW_AFTER)};
			const struct nw_diff_metric *middle = &row->metric[NW_METRIC_P50];
			if ((int)row->subject != subject || !nw_diff_shows(report, row) ||
			    !middle->has[NW_BEFORE] || !middle->has[NW_AFTER])
				continue;
			if (count >= most || !series[NW_BEFORE] || !series[NW_AFTER]) {
				*left_out = true;
				continue;
			}
			row_data(report, row, series, json);
			count++;
		}
	nw_json_close(json, ']');
	return count;
}

/* Writes the data with the pictures of that many rows at most. Returns how many there are. */
static size_t add_data(const struct nw_diff_report *report, size_t most, struct nw_buf *out)
{
	struct nw_json json = {.out = out};
	bool left_out = false;

	nw_json_open(&json, '{');
	nw_json_key_u64(&json, "version", 1);
	nw_json_key(&json, "about");
	nw_json_open(&json, '{');
	nw_json_key_text(&json, "nopwatch", NOPWATCH_VERSION);
	if (report->group_by)
		nw_json_key_text(&json, "by", report->group_by);
	nw_json_close(&json, '}');
	nw_html_bins(report->diff->bins, &json);
	nw_json_key(&json, "compared");
	nw_json_open(&json, '{');
	nw_json_key_text(&json, "units", report->sliced ? "slice" : "run");
	if (report->sliced)
		nw_json_key_u64(&json, "slice_ns", report->slice_ns);
	nw_json_key_u64(&json, "units_in_bin", nw_diff_units_in_bin(report->diff));
	for (int side = 0; side < NW_SIDES; side++)
		side_data(report, (enum nw_side)side, &json);
	nw_json_close(&json, '}');
	size_t count = pictures(report, most, &left_out, &json);
	nw_html_unmeasured(&json);
	nw_json_key(&json, "left_out");
	nw_json_bool(&json, left_out);
	nw_json_close(&json, '}');
	return count;
}

void nw_html_diff(struct nw_output *output, const struct nw_diff_report *report)
{
	struct nw_buf table = {0}, json = {0}, harmless = {0};
	size_t count = SIZE_MAX, most;

	nw_buf_adds(&table, "<section id=\"diff\" aria-label=\"What has changed\">\n");
	add_table(report, NW_SUBJECT_SPANS, &table);
	add_table(report, NW_SUBJECT_PROBES, &table);
	add_notes(report, &table);
	nw_buf_adds(&table, "</section>\n");
	const size_t room = nw_html_room() - nw_min64(table.len, nw_html_room());
	do {
		nw_buf_clear(&json);
		nw_buf_clear(&harmless);
		most = count / 2;
		count = add_data(report, most, &json);
		nw_html_harmless(&harmless, &json);
	} while (!json.failed && count && harmless.len > room);
	nw_html_page_write(&(struct nw_html_parts){"diff", &table, NULL, &harmless},
			   &output->text);
	output->text.failed |= json.failed;
	nw_buf_free(&table);
	nw_buf_free(&json);
	nw_buf_free(&harmless);
}
