// SPDX-License-Identifier: MIT
/* A report for people. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "show/rows/order.h"
#include "show/rows/report.h"
#include "show/rows/stacks.h"
#include "text_private.h"

/* Adds the cell of a name. Names come from the target process, so they are escaped before they reach a terminal. */
static void name_cell(struct nw_table *table, const char *name)
{
	struct nw_buf text = {0};

	nw_buf_add_escaped(&text, name, strlen(name));
	nw_table_text(table, nw_buf_str(&text));
	table->text.failed |= text.failed;
	nw_buf_free(&text);
}

void nw_text_group(const char *name, struct nw_buf *out)
{
	for (size_t len; *name; name += len) {
		const char *end = strchrnul(name, NW_GROUP_SEPARATOR);
		len = (size_t)(end - name);
		nw_buf_add_escaped(out, name, len);
		if (*end) {
			nw_buf_addc(out, ',');
			len++;
		}
	}
}

/* A report while it is written. */
struct text {
	const struct nw_report *report;
	bool has_abandoned;  /* some calls were abandoned */
	nw_strings left_out; /* columns that were left out, for the terminal's width */
	/* by subject: rows that were neither hit nor begun nor ended */
	size_t silent[2];
	size_t active[2];	    /* by subject: all other rows */
	size_t beyond[2];	    /* by subject: active rows that --top cut off */
	size_t unsummarized;	    /* arguments that may be ids or pointers */
	size_t histograms, unshown; /* number of histograms, and of those not shown */
	struct nw_buf *out;
};

enum {
	FOLD = 5,	  /* silent rows that are shown one by one */
	MOST_GROUPS = 10, /* most rows and histograms of groups and spans without --top */
};

static size_t most_groups(const struct text *t)
{
	return t->report->view.top ? t->report->view.top : MOST_GROUPS;
}

static bool is_folded(const struct text *t, enum nw_subject subject, size_t index)
{
	return t->silent[subject] > FOLD && !t->report->view.all_rows &&
	       nw_is_silent(t->report, subject, index);
}

/* Returns the key that rows are sorted by. The gaps of a probe only add up to the time it was watched, so the total
 * of a probe is its hits. */
static enum nw_sort sort_of(const struct text *t, enum nw_subject subject, bool groups)
{
	enum nw_sort sort = t->report->view.sort;
	bool as_selected = subject == NW_SUBJECT_PROBES && !groups && !t->report->view.top;

	if (sort != NW_SORT_DEFAULT || as_selected)
		return sort;
	return subject == NW_SUBJECT_PROBES ? NW_SORT_HITS : NW_SORT_TOTAL;
}

static void rank(struct text *t, enum nw_subject subject, nw_ranking *out)
{
	if (nw_rank(t->report, subject, sort_of(t, subject, false), out) < 0)
		t->out->failed = true;
	t->beyond[subject] = t->active[subject];
	nw_vec_each (out, one)
		t->beyond[subject] -= !nw_is_silent(t->report, subject, one->index);
}

static void rank_groups(struct text *t, enum nw_subject subject, size_t index,
			nw_ranking *out)
{
	if (nw_rank_groups(t->report, subject, index, sort_of(t, subject, true), out) < 0)
		t->out->failed = true;
}

/* ---- cells -------------------------------------------------------------------------- */

/* The order in which columns are left out on a narrow terminal, those behind a 0 only if nothing was counted there.
 * Name, count and maximum always stay. */
static const char give_up[] = "P99.9\0P90\0MIN\0"
			      "0DISCARDED\0"
			      "0UNMATCHED\0RATE\0TOTAL\0SUM\0"
			      "UNMATCHED\0DISCARDED\0MEAN\0P50\0P99\0";

static struct nw_table new_table(struct text *t, const char *first)
{
	/* columns with text; the group's is the second, if there are groups */
	static const bool plain[32] = {true}, grouped[32] = {true, true};
	const char *by = t->report->group_by;
	struct nw_table table = {.left = by ? grouped : plain,
				 .layout = t->report->layout,
				 .give_up = give_up,
				 .left_out = &t->left_out};

	nw_table_text(&table, first);
	if (by)
		nw_table_cell(&table, "BY %s", by);
	return table;
}

static void statistic_headers(struct nw_table *table)
{
	for (size_t i = 0; i < nw_statistic_count; i++)
		nw_table_text(table, nw_statistics[i].column);
}

static void duration_cell(struct nw_table *table, const struct nw_histogram *h,
			  uint64_t value)
{
	char text[16] = "-";

	if (h->count)
		nw_duration_text(value, text);
	nw_table_text(table, text);
}

static void duration_cells(struct nw_table *table, const struct nw_histogram *h)
{
	for (size_t i = 0; i < nw_statistic_count; i++)
		duration_cell(table, h,
			      h->count ? nw_statistic_of(h, &nw_statistics[i]) : 0);
}

/* Adds the name of a row and of its group. more: the row stands for this many further groups or, without a name,
 * probes or spans. */
static void first_cells(const struct text *t, struct nw_table *table, const char *name,
			size_t group, size_t more)
{
	if (name)
		name_cell(table, name);
	else
		nw_table_cell(table, "(%zu more)", more);
	if (!t->report->group_by)
		return;
	if (name && more)
		nw_buf_printf(&table->text, "(%zu more)", more);
	else if (name)
		nw_text_group(nw_summary_group_name(t->report->summary, group),
			      &table->text);
	nw_table_end_cell(table);
}

/* ---- rows --------------------------------------------------------------------------- */

/* The subject of a row: a probe, a span, or an argument of a probe. */
struct row_of {
	size_t index, arg;
	/* NULL: the row is of all probes or spans that --top leaves out */
	const char *label;
};

/* The kind of rows of a table. */
struct row_kind {
	enum nw_subject subject;
	/* Returns the row of a group; NULL: there is none. */
	const void *(*find)(const struct nw_group_rows *rows, const struct row_of *of);
	bool is_arg;
	void (*print)(const struct text *t, struct nw_table *table, const struct row_of *of,
		      const void *row, size_t group, size_t more);
};

/* Adds one row for each group, as many as are shown, and one for all others. */
static void add_rows(struct text *t, struct nw_table *table, const struct row_kind *kind,
		     const struct row_of *of)
{
	struct nw_rest rest = {.subject = kind->subject};
	nw_ranking groups = {0};

	if (kind->subject == NW_SUBJECT_PROBES)
		rest.args = t->report->selection->probes.item[of->index]->args.count;
	rank_groups(t, kind->subject, of->index, &groups);
	for (size_t i = 0; i < groups.count; i++) {
		size_t group = groups.item[i].index;
		const void *row = kind->find(nw_report_rows(t->report, group), of);
		if (i >= most_groups(t))
			t->out->failed |= nw_rest_add(t->report, of->index, group, &rest) <
					  0;
		else if (row)
			kind->print(t, table, of, row, group, 0);
	}
	const void *row = !kind->is_arg		? (const void *)&rest.row
			  : rest.row.probe.args ? &rest.row.probe.args[of->arg]
						: NULL;
	if (rest.count && row)
		kind->print(t, table, of, row, 0, rest.count);
	nw_rest_free(&rest);
	nw_vec_free(&groups);
}

/* Adds the cell of a count. A + after it says that it would be larger if nothing had been lost. */
static void count_cell(const struct text *t, struct nw_table *table, uint64_t count)
{
	if (t->report->at_least)
		nw_table_cell(table, "%" PRIu64 "+", count);
	else
		nw_table_number(table, count);
}

/* ---- probes ------------------------------------------------------------------------- */

static void print_probe(const struct text *t, struct nw_table *table,
			const struct row_of *of, const void *probe, size_t group,
			size_t more)
{
	const struct nw_probe_row *row = probe;
	char rate[16];

	nw_rate_text(nw_report_rate(t->report, row->hits), rate);
	first_cells(t, table, of->label, group, more);
	count_cell(t, table, row->hits);
	nw_table_text(table, rate);
	duration_cells(table, &row->gap);
}

static const void *find_probe(const struct nw_group_rows *rows, const struct row_of *of)
{
	return nw_group_probe(rows, of->index);
}

static void add_probe(struct text *t, struct nw_table *table, size_t probe)
{
	static const struct row_kind kind = {NW_SUBJECT_PROBES, find_probe, false,
					     print_probe};

	add_rows(t, table, &kind,
		 &(struct row_of){probe, 0,
				  t->report->selection->probes.item[probe]->label});
}

/* ---- spans -------------------------------------------------------------------------- */

static void print_span(const struct text *t, struct nw_table *table,
		       const struct row_of *of, const void *span, size_t group, size_t more)
{
	const struct nw_span_row *row = span;

	first_cells(t, table, of->label, group, more);
	count_cell(t, table, row->latency.count);
	duration_cell(table, &row->latency, row->latency.sum);
	duration_cells(table, &row->latency);
	if (t->has_abandoned)
		nw_table_number(table, row->abandoned);
	nw_table_cell(table, "%" PRIu64 "/%" PRIu64, row->unmatched_starts,
		      row->unmatched_ends);
	nw_table_number(table, row->discarded);
}

static const void *find_span(const struct nw_group_rows *rows, const struct row_of *of)
{
	return nw_group_span(rows, of->index);
}

static void add_span(struct text *t, struct nw_table *table, size_t span)
{
	static const struct row_kind kind = {NW_SUBJECT_SPANS, find_span, false,
					     print_span};

	add_rows(t, table, &kind, &(struct row_of){span, 0, t->report->spans[span].name});
}

/* Adds the rest that --top leaves out, so that the rows add up. */
static void add_beyond(struct text *t, struct nw_table *table, enum nw_subject subject,
		       const nw_ranking *shown)
{
	struct nw_rest rest = {.subject = subject};

	if (t->beyond[subject] && nw_rest_of(t->report, shown, &rest) < 0)
		t->out->failed = true;
	if (rest.count && subject == NW_SUBJECT_PROBES)
		print_probe(t, table, &(struct row_of){0}, &rest.row, 0, rest.count);
	else if (rest.count)
		print_span(t, table, &(struct row_of){0}, &rest.row, 0, rest.count);
	nw_rest_free(&rest);
}

static void probe_table(struct text *t)
{
	struct nw_table table = new_table(t, "PROBE");
	nw_ranking ranking = {0};

	nw_table_text(&table, "HITS");
	nw_table_text(&table, "RATE");
	nw_table_cell(&table, "GAP: %s", nw_statistics[0].column);
	for (size_t i = 1; i < nw_statistic_count; i++)
		nw_table_text(&table, nw_statistics[i].column);
	table.columns = table.cells.count;
	rank(t, NW_SUBJECT_PROBES, &ranking);
	nw_vec_each (&ranking, probe)
		if (!is_folded(t, NW_SUBJECT_PROBES, probe->index))
			add_probe(t, &table, probe->index);
	add_beyond(t, &table, NW_SUBJECT_PROBES, &ranking);
	nw_table_print(&table, t->out);
	nw_vec_free(&ranking);
}

static void span_table(struct text *t)
{
	struct nw_table table = new_table(t, "SPAN");
	nw_ranking ranking = {0};

	nw_table_text(&table, "COUNT");
	nw_table_text(&table, "TOTAL");
	statistic_headers(&table);
	t->has_abandoned = nw_text_has_abandoned(t->report);
	if (t->has_abandoned)
		nw_table_text(&table, "ABANDONED");
	nw_table_text(&table, "UNMATCHED");
	nw_table_text(&table, "DISCARDED");
	table.columns = table.cells.count;
	rank(t, NW_SUBJECT_SPANS, &ranking);
	nw_vec_each (&ranking, span)
		if (!is_folded(t, NW_SUBJECT_SPANS, span->index))
			add_span(t, &table, span->index);
	add_beyond(t, &table, NW_SUBJECT_SPANS, &ranking);
	if (table.cells.count > table.columns)
		nw_table_print(&table, t->out);
	nw_table_free(&table);
	nw_vec_free(&ranking);
	nw_text_span_lines(t->report, t->out);
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

static void statistic_cell(struct nw_table *table, const struct nw_histogram *h,
			   const struct nw_statistic *statistic)
{
	double mean = nw_histogram_mean(h);

	/* the mean of small integers is seldom an integer */
	if (strcmp(statistic->key, "mean") == 0 && fabs(mean) < 1e6 && mean != floor(mean))
		nw_table_cell(table, "%.2f", mean);
	else
		number_cell(table, h, nw_statistic_of(h, statistic));
}

static void print_arg(const struct text *t, struct nw_table *table, const struct row_of *of,
		      const void *arg, size_t group, size_t more)
{
	const struct nw_histogram *h = arg;

	if (!h->count)
		return;
	first_cells(t, table, of->label, group, more);
	count_cell(t, table, h->count);
	number_cell(table, h, h->sum);
	for (size_t i = 0; i < nw_statistic_count; i++)
		statistic_cell(table, h, &nw_statistics[i]);
}

static const void *find_arg(const struct nw_group_rows *rows, const struct row_of *of)
{
	const struct nw_probe_row *row = nw_group_probe(rows, of->index);

	return row->args ? &row->args[of->arg] : NULL;
}

static void add_arg(struct text *t, struct nw_table *table, size_t probe, size_t arg)
{
	static const struct row_kind kind = {NW_SUBJECT_PROBES, find_arg, true, print_arg};
	const struct nw_probe *p = t->report->selection->probes.item[probe];
	char name[NW_ARG_NAME];

	nw_arg_name(p, arg, name);
	nw_cleanup(nw_free_ptr) char *label = nw_text("%s %s", p->label, name);
	const struct row_of of = {probe, arg, label ? label : ""};
	add_rows(t, table, &kind, &of);
}

static bool is_shown(const struct nw_report *report, const struct nw_probe *probe,
		     size_t arg)
{
	for (size_t i = 0; report->hists && i < report->hists->count; i++)
		if (nw_arg_find(probe, report->hists->item[i].name) == (int)arg)
			return true;
	return false;
}

/*
 * Does the argument's name say that it is a size, a count or a duration? Sums and percentiles of others (ids, pointers, group keys)
 * would mean nothing.
 */
static bool is_quantity(const char *name)
{
	static const char *const words[] = {
		"size",	   "len",     "length", "count", "bytes", "rows", "duration",
		"latency", "elapsed", "ns",	"us",	 "usec",  "ms",	  "msec"};
	const char *last = strrchr(name, '_');
	const char *word = last ? last + 1 : name;

	for (size_t i = 0; i < NW_COUNT(words); i++)
		if (strcasecmp(word, words[i]) == 0 ||
		    ((*word == 'n' || *word == 'N') && strcasecmp(word + 1, words[i]) == 0))
			return true;
	return false;
}

static bool is_summarized(const struct text *t, size_t probe, size_t arg)
{
	const struct nw_report *report = t->report;
	const struct nw_probe *p = report->selection->probes.item[probe];
	char name[NW_ARG_NAME];

	nw_arg_name(p, arg, name);
	return is_shown(report, p, arg) ||
	       (is_quantity(name) &&
		(!report->group_by || strcmp(report->group_by, name) != 0));
}

static bool has_numbers(const struct text *t, size_t probe, size_t arg)
{
	const struct nw_report *report = t->report;
	bool has = false;

	for (size_t g = 0; !has && g < nw_summary_groups(report->summary); g++) {
		const struct nw_probe_row *row = nw_group_probe(nw_report_rows(report, g),
								probe);
		has = row->args && row->args[arg].count;
	}
	return has && report->selection->probes.item[probe]->named;
}

static void arg_table(struct text *t)
{
	struct nw_table table = new_table(t, "ARGUMENT");
	nw_ranking ranking = {0};

	nw_table_text(&table, "COUNT");
	nw_table_text(&table, "SUM");
	statistic_headers(&table);
	table.columns = table.cells.count;
	rank(t, NW_SUBJECT_PROBES, &ranking);
	nw_vec_each (&ranking, probe)
		for (size_t arg = 0;
		     arg < t->report->selection->probes.item[probe->index]->args.count;
		     arg++)
			if (is_summarized(t, probe->index, arg))
				add_arg(t, &table, probe->index, arg);
			else
				t->unsummarized += has_numbers(t, probe->index, arg);
	if (table.cells.count > table.columns) {
		nw_buf_addc(t->out, '\n');
		nw_table_print(&table, t->out);
	}
	nw_table_free(&table);
	nw_vec_free(&ranking);
}

/* ---- histograms --------------------------------------------------------------------- */

static void histogram(struct text *t, const char *name, const char *what, bool is_time,
		      size_t group, const struct nw_histogram *h)
{
	const struct nw_report *report = t->report;

	if (!h->count)
		return;
	nw_buf_addc(t->out, '\n');
	nw_buf_add_escaped(t->out, name, strlen(name));
	if (report->group_by) {
		nw_buf_printf(t->out, ", %s ", report->group_by);
		nw_text_group(nw_summary_group_name(report->summary, group), t->out);
	}
	nw_buf_printf(t->out, ", %s:\n", what);
	if (h->linear)
		nw_linear_print(h->linear, &report->layout, t->out);
	else
		nw_histogram_print(h, is_time, &report->layout, t->out);
}

static void probe_histograms(struct text *t, size_t index, size_t group)
{
	const struct nw_probe *probe = t->report->selection->probes.item[index];
	const struct nw_probe_row *row = nw_group_probe(nw_report_rows(t->report, group),
							index);

	if (t->report->gaps)
		histogram(t, probe->label, "time between hits", true, group, &row->gap);
	for (size_t i = 0; row->args && i < probe->args.count; i++) {
		char name[NW_ARG_NAME];
		nw_arg_name(probe, i, name);
		if (is_shown(t->report, probe, i))
			histogram(t, probe->label, name, false, group, &row->args[i]);
	}
}

static void span_histogram(struct text *t, size_t index, size_t group)
{
	const struct nw_histogram *h =
		&nw_group_span(nw_report_rows(t->report, group), index)->latency;

	if (!h->count)
		return;
	if (t->histograms++ < most_groups(t) || t->report->view.all_rows)
		histogram(t, t->report->spans[index].name, "latency", true, group, h);
	else
		t->unshown++;
}

static void histograms(struct text *t, enum nw_subject subject,
		       void (*show)(struct text *t, size_t index, size_t group))
{
	nw_ranking ranking = {0};

	rank(t, subject, &ranking);
	nw_vec_each (&ranking, one) {
		nw_ranking groups = {0};
		rank_groups(t, subject, one->index, &groups);
		for (size_t i = 0; i < groups.count && i < most_groups(t); i++)
			show(t, one->index, groups.item[i].index);
		nw_vec_free(&groups);
	}
	nw_vec_free(&ranking);
}

/* ---- single spans: the slowest, and those that are open ----------------------------- */

static void heading(const struct nw_slow_span *first, size_t count, struct nw_buf *out)
{
	nw_buf_addc(out, '\n');
	nw_buf_add_escaped(out, first->span->name, strlen(first->span->name));
	if (first->open)
		nw_buf_printf(out,
			      first->open_is_least ? ", at least %zu open" : ", %zu open",
			      first->open);
	if (first->open > count)
		nw_buf_printf(out, ", the %zu oldest", count);
	else if (!first->open && count > 1)
		nw_buf_printf(out, ", the %zu slowest", count);
	else if (!first->open)
		nw_buf_adds(out, ", the slowest");
	nw_buf_adds(out, ":\n");
}

static void single_spans(struct nw_output *output, const struct nw_slow_span *spans,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t kind = 1;
		while (i + kind < count && spans[i + kind].rank > 1)
			kind++;
		if (spans[i].rank == 1)
			heading(&spans[i], kind, &output->text);
		output->format->slow(output, &spans[i]);
	}
}

/* ---- the end ------------------------------------------------------------------------ */

/* Writes how many probes and spans --top has cut off. */
static void more_lines(size_t probes, size_t spans, struct nw_buf *out)
{
	if (!probes && !spans)
		return;
	nw_buf_addc(out, '\n');
	if (probes)
		nw_buf_printf(out, "%zu more %s", probes,
			      nw_plural(probes, "probe", "probes"));
	if (spans)
		nw_buf_printf(out, "%s%zu more %s", probes ? " and " : "", spans,
			      nw_plural(spans, "span", "spans"));
	nw_buf_printf(out, "; a larger --top shows %s\n",
		      nw_plural(probes + spans, "it", "them"));
}

/* Writes which rows are not shown, and which option shows them. */
static void folded_lines(const struct text *t)
{
	const struct nw_report *report = t->report;
	size_t probes = t->silent[NW_SUBJECT_PROBES], spans = t->silent[NW_SUBJECT_SPANS];

	if (t->unshown)
		nw_buf_printf(t->out,
			      "\n%zu more histograms; --top N or --all-rows shows them\n",
			      t->unshown);
	if (report->view.tables_only)
		nw_buf_adds(t->out, "\n-v shows the histograms and all rows\n");
	else
		more_lines(t->beyond[NW_SUBJECT_PROBES], t->beyond[NW_SUBJECT_SPANS],
			   t->out);
	if (t->unsummarized)
		nw_buf_printf(
			t->out,
			"\n%zu %s not summarized, since numbers may be ids or pointers; --hist ARG shows one\n",
			t->unsummarized,
			nw_plural(t->unsummarized, "argument is", "arguments are"));
	if (probes > FOLD && !report->view.all_rows)
		nw_buf_printf(t->out, "\n%zu probes were not hit; --all-rows shows them\n",
			      probes);
	if (spans > FOLD && !report->view.all_rows)
		nw_buf_printf(t->out,
			      "%zu spans neither began nor ended; --all-rows shows them\n",
			      spans);
	size_t beyond = nw_summary_overflow_groups(report->summary);
	if (beyond)
		nw_buf_printf(t->out, "%s: %zu %sgroups beyond the first %zu\n",
			      nw_group_overflow, beyond,
			      beyond >= (size_t)NW_MOST_OVERFLOW_GROUPS ? "or more " : "",
			      nw_summary_groups(report->summary) - 1);
	size_t most;
	uint64_t crowded = nw_summary_crowded_out(report->summary, &most);
	if (crowded)
		nw_buf_printf(
			t->out,
			nw_plural(
				crowded,
				"%" PRIu64
				" start was given up, since %zu spans were open: it counts as unmatched\n",
				"%" PRIu64
				" starts were given up, since %zu spans were open: they count as unmatched\n"),
			crowded, most);
	nw_table_left_out(&t->left_out, t->out);
}

static void last_line(const struct nw_report *report, struct nw_buf *out)
{
	char elapsed[16], lost[48];
	uint64_t discarded = nw_summary_discarded(report->summary), hits = 0;

	for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
		for (size_t i = 0; i < report->selection->probes.count; i++)
			hits += nw_group_probe(nw_report_rows(report, g), i)->hits;
	nw_duration_text(report->elapsed_ns, elapsed);
	nw_buf_printf(
		out, nw_plural(hits, "\n%" PRIu64 " hit in %s", "\n%" PRIu64 " hits in %s"),
		hits, elapsed);
	if (report->runs)
		nw_buf_printf(out, nw_plural(report->runs, " of %zu run", " of %zu runs"),
			      report->runs);
	nw_buf_adds(out, ", ");
	if (report->has_filter)
		nw_buf_printf(out, "%" PRIu64 " filtered out, ", report->filtered);
	nw_lost_text(report->lost, report->lost_is_least, lost);
	nw_buf_adds(out, lost);
	if (report->lost || discarded)
		nw_buf_printf(out,
			      nw_plural(discarded, "%s%" PRIu64 " span discarded",
					"%s%" PRIu64 " spans discarded"),
			      report->lost ? ": " : "; ", discarded);
	if (report->lost)
		nw_buf_printf(out, ", counts with a + are too low%s",
			      report->interval || report->by_kernel
				      ? ""
				      : " (a larger -b helps)");
	if (report->dropped)
		nw_buf_printf(out, "; %" PRIu64 " %s", report->dropped,
			      nw_dropped_text(report->restricted));
	if (report->by_kernel)
		nw_buf_adds(
			out,
			report->by_eighths
				? "; counted by the kernel: percentiles, MIN and MAX are off by up to 12.5 %"
				: "; counted by the kernel: MIN and MAX are off by up to 3.2 %");
	nw_buf_addc(out, '\n');
}

static void title(const struct nw_report *report, struct nw_buf *out)
{
	char when[32] = "";
	time_t seconds = (time_t)(report->wall_ns / 1000000000);
	struct tm local;

	if (report->wall_ns && localtime_r(&seconds, &local))
		strftime(when, sizeof(when), ", %Y-%m-%d %H:%M:%S", &local);
	nw_buf_printf(out, "%s--- report %" PRIu64 "%s", report->interval > 1 ? "\n" : "",
		      report->interval, when);
	if (report->short_ns) {
		char length[16];
		nw_duration_text(report->short_ns, length);
		nw_buf_printf(out, ", only %s", length);
	}
	nw_buf_adds(out, " ---\n");
}

static size_t count_silent(const struct nw_report *report, enum nw_subject subject,
			   size_t count)
{
	size_t silent = 0;

	for (size_t i = 0; i < count; i++)
		silent += nw_is_silent(report, subject, i);
	return silent;
}

void nw_text_report(struct nw_output *output, const struct nw_report *report)
{
	struct nw_buf *out = &output->text;
	struct text t = {.report = report, .out = out};

	output->plain = report->layout.plain;
	if (!report->view.spans_only)
		t.silent[NW_SUBJECT_PROBES] = count_silent(report, NW_SUBJECT_PROBES,
							   report->selection->probes.count);
	t.silent[NW_SUBJECT_SPANS] = count_silent(report, NW_SUBJECT_SPANS,
						  report->span_count);
	if (!report->view.spans_only)
		t.active[NW_SUBJECT_PROBES] = report->selection->probes.count -
					      nw_selection_hidden(report->selection) -
					      t.silent[NW_SUBJECT_PROBES];
	t.active[NW_SUBJECT_SPANS] = report->span_count - t.silent[NW_SUBJECT_SPANS];
	if (report->interval)
		title(report, out);
	if (report->net)
		nw_buf_printf(out, "%s\n\n", nw_net_text);
	const size_t before = out->len;
	span_table(&t);
	nw_text_states(report, &t.left_out, out);
	if (!report->view.spans_only) {
		if (out->len > before)
			nw_buf_addc(out, '\n');
		probe_table(&t);
		arg_table(&t);
	}
	single_spans(output, report->slowest, report->slowest_count);
	if (report->asks_open && !report->open_count)
		nw_buf_adds(&output->text, "\nNo span is open.\n");
	single_spans(output, report->open, report->open_count);
	if (!report->interval)
		nw_text_stacks(report, out);
	if (!report->view.tables_only) {
		histograms(&t, NW_SUBJECT_SPANS, span_histogram);
		histograms(&t, NW_SUBJECT_PROBES, probe_histograms);
	}
	const size_t sentences = out->len;
	folded_lines(&t);
	nw_text_unmeasured_line(report, out);
	nw_text_overhead_line(report, out);
	last_line(report, out);
	if (!report->interval)
		nw_text_silent_lines(report->selection, report->states,
				     report->view.all_rows, out);
	nw_text_fill(out, sentences, report->layout.plain ? 0 : report->layout.width);
	nw_strings_free(&t.left_out);
}
