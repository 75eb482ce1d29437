// SPDX-License-Identifier: MIT
/* The table of thread states in spans, for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "show/rows/order.h"
#include "show/rows/report.h"
#include "text_private.h"

enum {
	MOST_GROUPS = 10 /* most groups without --top */
};

static const char give_up[] = "P99.9\0P90\0MIN\0MEAN\0P50\0P99\0";

static void add_name(const struct nw_report *report, size_t span, size_t group,
		     struct nw_table *table)
{
	const char *name = report->spans[span].name;
	nw_cleanup(nw_free_ptr) char *by = nw_report_group(report, group);

	nw_buf_add_escaped(&table->text, name, strlen(name));
	nw_table_end_cell(table);
	if (!report->group_by)
		return;
	nw_buf_add_escaped(&table->text, by ? by : "", by ? strlen(by) : 0);
	nw_table_end_cell(table);
}

/* Adds a row for each state in which the span has spent time. */
static void add_rows(const struct nw_report *report, size_t span, size_t group,
		     struct nw_table *table)
{
	const struct nw_span_row *row = nw_group_span(nw_report_rows(report, group), span);
	uint64_t sum = 0;

	for (size_t i = 0; row->states && i < NW_TASK_STATES; i++)
		sum += row->states[i].sum;
	for (size_t i = 0; sum && i < NW_TASK_STATES; i++) {
		const struct nw_histogram *h = &row->states[i];
		char text[16];
		if (!h->sum)
			continue;
		add_name(report, span, group, table);
		nw_table_text(table, nw_task_state_names[i]);
		nw_table_cell(table, "%.1f%%", 100.0 * (double)h->sum / (double)sum);
		nw_duration_text(h->sum, text);
		nw_table_text(table, text);
		for (size_t j = 0; j < nw_statistic_count; j++) {
			nw_duration_text(nw_statistic_of(h, &nw_statistics[j]), text);
			nw_table_text(table, text);
		}
	}
}

/* ---- where they slept, and who woke them -------------------------------------------- */

enum {
	MOST_SLEEPS = 8 /* most sleeps of a span and group; one more row has all others */
};

static void add_sleeps(const struct nw_report *report, size_t span, size_t group,
		       const struct nw_sleeps *list, struct nw_table *table)
{
	struct nw_sleeps sleeps = {.count = 0};
	uint64_t sum = 0;
	char text[16];

	if (list)
		sleeps = *list;
	nw_sleeps_sort(&sleeps);
	for (; sleeps.count > MOST_SLEEPS; sleeps.count--) {
		struct nw_sleep *last = &sleeps.item[sleeps.count - 1];
		last[-1].ns += last->ns;
		last[-1].count += last->count;
		last[-1].key = NW_SLEEP_OTHERS;
		last[-1].function = NULL;
	}
	for (size_t i = 0; i < sleeps.count; i++)
		sum += sleeps.item[i].ns;
	for (size_t i = 0; i < sleeps.count; i++) {
		const struct nw_sleep *sleep = &sleeps.item[i];
		add_name(report, span, group, table);
		nw_sleep_text(sleep, &table->text);
		nw_table_end_cell(table);
		nw_table_cell(table, "%.1f%%",
			      sum ? 100.0 * (double)sleep->ns / (double)sum : 0.0);
		nw_duration_text(sleep->ns, text);
		nw_table_text(table, text);
		nw_table_number(table, sleep->count);
	}
}

static void add_channels(const struct nw_report *report, size_t span, size_t group,
			 struct nw_table *table)
{
	add_sleeps(report, span, group,
		   nw_group_span(nw_report_rows(report, group), span)->channels, table);
}

static void add_wakers(const struct nw_report *report, size_t span, size_t group,
		       struct nw_table *table)
{
	add_sleeps(report, span, group,
		   nw_group_span(nw_report_rows(report, group), span)->wakers, table);
}

typedef void add_group(const struct nw_report *report, size_t span, size_t group,
		       struct nw_table *table);

static void count_unsplit(const struct nw_report *report, size_t span, struct nw_buf *out)
{
	const char *name = report->spans[span].name;
	uint64_t unsplit = 0;

	nw_number_each (NW_SUBJECT_SPANS, number)
		if (number->at == offsetof(struct nw_span_row, unsplit))
			unsplit = nw_report_sum(report, span, number);
	if (!unsplit)
		return;
	nw_buf_add_escaped(out, name, strlen(name));
	nw_buf_printf(
		out,
		report->spans[span].goroutines
			? ": %" PRIu64
			  " calls are not in there: while a goroutine waits, its thread runs others, and the kernel tells only of threads\n"
			: ": %" PRIu64
			  " spans are not in there: not all that their threads did was recorded\n",
		unsplit);
}

/* Writes a table over all spans, if it has any rows. */
static void print(const struct nw_report *report, const nw_ranking *ranking,
		  enum nw_sort sort, add_group *add, struct nw_table *table,
		  struct nw_buf *out)
{
	size_t most = report->view.top ? report->view.top : MOST_GROUPS;

	table->columns = table->cells.count;
	nw_vec_each (ranking, span) {
		nw_ranking groups = {0};
		if (nw_rank_groups(report, NW_SUBJECT_SPANS, span->index, sort, &groups) <
		    0)
			table->text.failed = true;
		for (size_t i = 0; i < groups.count && i < most; i++)
			add(report, span->index, groups.item[i].index, table);
		nw_vec_free(&groups);
	}
	if (table->cells.count > table->columns) {
		nw_buf_addc(out, '\n');
		nw_table_print(table, out);
	}
	nw_table_free(table);
}

static void begin_table(const struct nw_report *report, const char *title,
			struct nw_table *table)
{
	nw_table_text(table, "SPAN");
	if (report->group_by)
		nw_table_cell(table, "BY %s", report->group_by);
	nw_table_text(table, title);
	nw_table_text(table, "SHARE");
	nw_table_text(table, "TOTAL");
}

void nw_text_states(const struct nw_report *report, nw_strings *left_out,
		    struct nw_buf *out)
{
	static const bool plain[32] = {true, true}, grouped[32] = {true, true, true};
	static const struct {
		const char *title;
		add_group *add;
	} sleeps[] = {{"SLEPT IN", add_channels}, {"WOKEN BY", add_wakers}};
	enum nw_sort sort = report->view.sort == NW_SORT_DEFAULT ? NW_SORT_TOTAL
								 : report->view.sort;
	struct nw_table states = {.left = report->group_by ? grouped : plain,
				  .layout = report->layout,
				  .give_up = give_up,
				  .left_out = left_out};
	nw_ranking ranking = {0};

	if (nw_rank(report, NW_SUBJECT_SPANS, sort, &ranking) < 0)
		out->failed = true;
	begin_table(report, "STATE", &states);
	for (size_t i = 0; i < nw_statistic_count; i++)
		nw_table_text(&states, nw_statistics[i].column);
	print(report, &ranking, sort, add_rows, &states, out);
	for (size_t i = 0; i < NW_COUNT(sleeps); i++) {
		struct nw_table table = {.left = states.left, .layout = states.layout};
		begin_table(report, sleeps[i].title, &table);
		nw_table_text(&table, "COUNT");
		print(report, &ranking, sort, sleeps[i].add, &table, out);
	}
	nw_vec_each (&ranking, span)
		count_unsplit(report, span->index, out);
	nw_vec_free(&ranking);
}
