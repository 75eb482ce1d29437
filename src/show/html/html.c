// SPDX-License-Identifier: MIT
/*
 * HTML: a report as one page that needs no other file. The page is report.html, with report.css, flame.js, report.js
 * and the data in it; docs/html.md describes the data.
 *
 * Names and strings of programs are in the data, which are JSON in an element that browsers do not run, without any
 * character that could end the element; the scripts show them as text. The table of the slowest spans has them, too,
 * with character references for what HTML could take for an element. The page's own Content-Security-Policy
 * allows these scripts and this one style sheet, by their hashes, and no request at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "show/rows/order.h"
#include "show/rows/report.h"
#include "show/text/text.h"

extern const char nw_html_page[], nw_html_style[], nw_html_flame[], nw_html_script[];

/* Embeds the files as they are, each with a NUL behind it. */
#define EMBED(name, file)                              \
	__asm__(".pushsection .rodata\n"               \
		".globl " #name "\n" #name ":\n"       \
		".incbin \"src/show/html/" file "\"\n" \
		".byte 0\n"                            \
		".popsection\n")
EMBED(nw_html_page, "report.html");
EMBED(nw_html_style, "report.css");
EMBED(nw_html_flame, "flame.js");
EMBED(nw_html_script, "report.js");

enum {
	MOST_BYTES = 1 << 20, /* bytes of the page */
	MOST_FLAME = 1 << 18, /* bytes of all stacks */
	MOST_ROWS = 1024,
};

/* How much of a report is written: fewer rows and pictures if all of them would be too much. */
struct page {
	const struct nw_report *report;
	struct nw_json json;
	size_t most_rows, most_pictures;
	size_t rows, pictures; /* written so far */
	bool left_out;	       /* the report has more */
};

/* ---- pictures ----------------------------------------------------------------------- */

void nw_html_columns(struct nw_json *json, const struct nw_bin_series *series)
{
	size_t next = 0;

	nw_json_key(json, "columns");
	nw_json_open(json, '[');
	nw_vec_each (&series->columns, column) {
		unsigned int before = 0;
		nw_json_open(json, '[');
		nw_json_u64(json, column->bin);
		nw_json_u64(json, column->others);
		nw_json_u64(json, column->min);
		nw_json_u64(json, column->max);
		for (; next < series->cells.count; next++) {
			const struct nw_bin_cell *cell = &series->cells.item[next];
			if (cell->bin != column->bin)
				break;
			nw_json_u64(json, cell->bucket - before);
			nw_json_u64(json, cell->count);
			before = cell->bucket;
		}
		nw_json_close(json, ']');
	}
	nw_json_close(json, ']');
}

static void slow_hit(struct page *page, const char *key, const struct nw_exemplar_hit *slow)
{
	const struct nw_hit *hit = slow->hit;
	const struct nw_probe *probe =
		hit->probe == NW_BINS_UNKNOWN
			? NULL
			: page->report->selection->probes.item[hit->probe];
	struct nw_json *json = &page->json;

	nw_json_key(json, key);
	nw_json_open(json, '{');
	nw_json_key_u64(json, "cpu", hit->cpu);
	nw_json_key(json, "tid");
	nw_json_i64(json, hit->tid);
	if (slow->pid) {
		nw_json_key(json, "pid");
		nw_json_i64(json, slow->pid);
	}
	if (*slow->comm)
		nw_json_key_text(json, "comm", slow->comm);
	if (probe)
		nw_json_key_text(json, "probe", probe->label);
	if (probe && hit->value_count) {
		nw_json_key(json, "args");
		nw_json_open(json, '{');
		for (size_t i = 0; i < hit->value_count; i++) {
			const struct nw_value *value = &hit->values[i];
			char name[NW_ARG_NAME];
			nw_arg_name(probe, i, name);
			nw_json_key(json, name);
			if (value->kind == NW_VALUE_MISSING)
				nw_json_text(json, value->text, strlen(value->text));
			else
				nw_value_json(value, json);
		}
		nw_json_close(json, '}');
	}
	nw_json_close(json, '}');
}

/* Writes [[bin, ns in each state, ...], ...]. */
static void states_over_time(struct nw_json *json, const struct nw_bin_series *series)
{
	if (!series->states.count)
		return;
	nw_json_key(json, "states_over_time");
	nw_json_open(json, '[');
	nw_vec_each (&series->states, states) {
		nw_json_open(json, '[');
		nw_json_u64(json, states->bin);
		for (size_t i = 0; i < NW_TASK_STATES; i++)
			nw_json_u64(json, states->ns[i]);
		nw_json_close(json, ']');
	}
	nw_json_close(json, ']');
}

static void slowest(struct page *page, const struct nw_bin_series *series)
{
	uint64_t began = nw_bins_start(page->report->bins);
	struct nw_json *json = &page->json;

	nw_json_key(json, "slowest");
	nw_json_open(json, '[');
	nw_vec_each (&series->slowest, it) {
		const struct nw_exemplar *span = *it;
		nw_json_open(json, '{');
		nw_json_key_u64(json, "ns", span->latency);
		nw_json_key_u64(json, "end_ns", span->end - began);
		if (span->has_states) {
			nw_json_key(json, "states_ns");
			nw_json_open(json, '{');
			for (size_t i = 0; i < NW_TASK_STATES; i++)
				nw_json_key_u64(json, nw_task_state_names[i],
						span->states[i]);
			nw_json_close(json, '}');
		}
		if (span->began.hit)
			slow_hit(page, "start", &span->began);
		slow_hit(page, "end", &span->ended);
		nw_json_close(json, '}');
	}
	nw_json_close(json, ']');
}

/* Writes the probes of a span: when one of them was disabled, the span was not measured any more. */
static void ends_of(struct page *page, const struct nw_span_def *span)
{
	const nw_vec_u32 *const both[] = {&span->starts, &span->ends};

	nw_json_key(&page->json, "probes");
	nw_json_open(&page->json, '[');
	for (size_t i = 0; i < NW_COUNT(both); i++)
		for (size_t j = 0; j < both[i]->count; j++) {
			const char *label = page->report->selection->probes
						    .item[both[i]->item[j]]
						    ->label;
			nw_json_text(&page->json, label, strlen(label));
		}
	nw_json_close(&page->json, ']');
}

static void picture(struct page *page, enum nw_series_kind kind, size_t number,
		    size_t group)
{
	const struct nw_bin_series *series = page->report->bins
						     ? nw_bins_find(page->report->bins,
								    kind, (uint32_t)number,
								    (uint32_t)group)
						     : NULL;

	if (!series)
		return;
	if (page->pictures == page->most_pictures) {
		page->left_out = true;
		return;
	}
	page->pictures++;
	nw_html_columns(&page->json, series);
	states_over_time(&page->json, series);
	if (kind == NW_SERIES_SPANS)
		slowest(page, series);
}

/* ---- the slowest spans of all, which need no script ----------------------------------- */

enum {
	MOST_SLOW = 10
};

/* A slow span, and the span and group that it belongs to. */
struct slow {
	const struct nw_exemplar *span;
	size_t number, group;
};

void nw_html_text(struct nw_buf *out, const char *text)
{
	struct nw_buf shown = {0};

	nw_buf_add_sentence(&shown, text, strlen(text));
	for (const char *at = nw_buf_str(&shown); *at; at++)
		if (strchr("<>&\"'", *at))
			nw_buf_printf(out, "&#%d;", *at);
		else
			nw_buf_addc(out, *at);
	out->failed |= shown.failed;
	nw_buf_free(&shown);
}

static void text_cell(struct nw_buf *out, const char *class, const char *text)
{
	nw_buf_printf(out, "<td class=\"%s\">", class);
	nw_html_text(out, text);
	nw_buf_adds(out, "</td>");
}

/* A number is an element of its own, which the style sheet keeps on one line. */
static void args_cell(const struct nw_report *report, const char *column,
		      const struct nw_hit *hit, struct nw_buf *out)
{
	char name[NW_ARG_NAME];

	nw_buf_printf(out, "<td class=\"text mono\" data-column=\"%s\">", column);
	for (size_t i = 0; hit && hit->probe != NW_BINS_UNKNOWN && i < hit->value_count;
	     i++) {
		const struct nw_value *value = &hit->values[i];
		const bool whole = value->kind != NW_VALUE_STRING &&
				   value->kind != NW_VALUE_ARRAY;
		struct nw_buf text = {0};

		const struct nw_probe *probe = report->selection->probes.item[hit->probe];
		nw_arg_name(probe, i, name);
		nw_buf_printf(&text, "%s=", name);
		nw_arg_print(probe, i, value, &text);
		nw_buf_printf(out, "%s%s", i ? " " : "", whole ? "<span>" : "");
		nw_html_text(out, nw_buf_str(&text));
		nw_buf_adds(out, whole ? "</span>" : "");
		out->failed |= text.failed;
		nw_buf_free(&text);
	}
	nw_buf_adds(out, "</td>");
}

void nw_html_duration(const char *text, char out[24])
{
	const size_t digits = strspn(text, "0123456789.");
	const char *unit = strcmp(text + digits, "us") == 0 ? "\xc2\xb5s" : text + digits;
	snprintf(out, 24, "%.*s %s", (int)digits, text, unit);
}

static void slow_row(const struct nw_report *report, const struct slow *slow,
		     struct nw_buf *out)
{
	const struct nw_exemplar *span = slow->span;
	nw_cleanup(nw_free_ptr) char *group = nw_report_group(report, slow->group);
	nw_cleanup(nw_free_ptr) char *name = nw_text("%s%s%s",
						     report->spans[slow->number].name,
						     group ? " " : "", group ? group : "");
	nw_cleanup(nw_free_ptr) char *thread = nw_text("%s%s%d", span->ended.comm,
						       *span->ended.comm ? "-" : "",
						       span->ended.hit->tid);
	char text[16], took[24];

	out->failed |= !name || !thread;
	nw_duration_text(span->latency, text);
	nw_html_duration(text, took);
	nw_buf_adds(out, "<tr>");
	text_cell(out, "number", took);
	text_cell(out, "", name ? name : "");
	nw_buf_printf(out, "<td class=\"number\" data-column=\"at\">%.6f s</td>",
		      (double)(span->end - nw_bins_start(report->bins)) / 1e9);
	text_cell(out, "", thread ? thread : "");
	args_cell(report, "Start", span->began.hit, out);
	args_cell(report, "End", span->ended.hit, out);
	nw_buf_adds(out, "</tr>\n");
}

/* Keeps the longest, the longest first. */
static void keep_slow(struct slow *kept, size_t *count, const struct slow *slow)
{
	size_t at = *count < MOST_SLOW ? (*count)++ : MOST_SLOW;

	for (; at && kept[at - 1].span->latency < slow->span->latency; at--)
		if (at < MOST_SLOW)
			kept[at] = kept[at - 1];
	if (at < MOST_SLOW)
		kept[at] = *slow;
}

/* Writes a table of the slowest spans, whatever their names. */
static void slowest_table(const struct nw_report *report, struct nw_buf *out)
{
	struct slow kept[MOST_SLOW];
	size_t count = 0;

	for (size_t i = 0; report->bins && i < report->span_count; i++)
		for (size_t g = 0; g < nw_summary_groups(report->summary); g++) {
			const struct nw_bin_series *series = nw_bins_find(
				report->bins, NW_SERIES_SPANS, (uint32_t)i, (uint32_t)g);
			for (size_t j = 0; series && j < series->slowest.count; j++)
				keep_slow(kept, &count,
					  &(struct slow){series->slowest.item[j], i, g});
		}
	if (!count)
		return;
	const char *spans = nw_plural(count, "span", "spans");
	nw_buf_printf(
		out,
		"<div id=\"slowest\"><h3>The %zu slowest %s</h3><div class=\"scroll\"><table><thead><tr>"
		"<th scope=\"col\" class=\"number\">Took</th><th scope=\"col\">Span</th>"
		"<th scope=\"col\" class=\"number\">Ended at</th><th scope=\"col\">Thread</th>"
		"<th scope=\"col\">Start</th><th scope=\"col\">End</th></tr></thead><tbody>\n",
		count, spans);
	for (size_t i = 0; i < count; i++)
		slow_row(report, &kept[i], out);
	nw_buf_adds(out, "</tbody></table></div></div>");
}

/* ---- rows --------------------------------------------------------------------------- */

static void row(struct page *page, enum nw_subject subject, size_t number, size_t group)
{
	const struct nw_report *report = page->report;
	const struct nw_shown shown = nw_shown_in(report, subject, number, group);
	bool is_span = subject == NW_SUBJECT_SPANS;

	if (!shown.row)
		return;
	if (page->rows == page->most_rows) {
		page->left_out = true;
		return;
	}
	page->rows++;
	nw_json_open(&page->json, '{');
	nw_json_row(report, &shown, false, &page->json);
	if (is_span)
		ends_of(page, &report->spans[number]);
	picture(page, is_span ? NW_SERIES_SPANS : NW_SERIES_GAPS, number, group);
	nw_json_close(&page->json, '}');
}

/* Writes rows. By default, spans are in the order of their total time. */
static void rows(struct page *page, enum nw_subject subject)
{
	const struct nw_report *report = page->report;
	nw_ranking ranking = {0};
	enum nw_sort sort = report->view.sort;

	if (sort == NW_SORT_DEFAULT && subject == NW_SUBJECT_SPANS)
		sort = NW_SORT_TOTAL;
	bool ok = nw_rank(report, subject, sort, &ranking) == 0;

	nw_vec_each (&ranking, one) {
		nw_ranking groups = {0};
		ok &= nw_rank_groups(report, subject, one->index, sort, &groups) == 0;
		size_t most = report->view.top ? report->view.top : groups.count;
		for (size_t i = 0; i < groups.count && i < most; i++)
			row(page, subject, one->index, groups.item[i].index);
		nw_vec_free(&groups);
	}
	nw_vec_free(&ranking);
	page->json.out->failed |= !ok;
}

/* ---- the whole ---------------------------------------------------------------------- */

static void text_key(struct nw_json *json, const char *key, const char *text)
{
	if (text && *text)
		nw_json_key_text(json, key, text);
}

static void about(const struct nw_report *report, struct nw_json *json)
{
	const struct nw_about nothing = {0},
			      *about = report->about ? report->about : &nothing;

	nw_json_key(json, "about");
	nw_json_open(json, '{');
	nw_json_key_text(json, "nopwatch", NOPWATCH_VERSION);
	text_key(json, "command", about->command);
	text_key(json, "source", about->source);
	text_key(json, "host", about->host);
	text_key(json, "kernel", about->kernel);
	text_key(json, "machine", about->machine);
	text_key(json, "cost", about->cost);
	if (report->net) {
		nw_json_key(json, "net");
		nw_json_bool(json, true);
	}
	if (about->began_ns > 0)
		nw_json_key_u64(json, "began_ns", (uint64_t)about->began_ns);
	nw_json_key_u64(json, "elapsed_ns", report->elapsed_ns);
	nw_json_key_text(json, "reason", nw_end_reasons[about->reason]);
	nw_json_key_u64(json, "lost", report->lost);
	nw_json_key(json, "lost_is_least");
	nw_json_bool(json, report->lost_is_least);
	if (report->dropped) {
		nw_json_key_u64(json, "dropped", report->dropped);
		nw_json_key_text(json, "dropped_text", nw_dropped_text(report->restricted));
	}
	if (report->has_filter)
		nw_json_key_u64(json, "filtered", report->filtered);
	text_key(json, "by", report->group_by);
	if (report->flame_count)
		text_key(json, "stacks_of", report->stacks_of);
	nw_json_close(json, '}');
}

void nw_html_bins(const struct nw_bins *bins, struct nw_json *json)
{
	nw_json_key(json, "bins");
	nw_json_open(json, '{');
	nw_json_key_u64(json, "width_ns", nw_bins_width(bins));
	nw_json_key_u64(json, "count", nw_bins_count(bins));
	nw_json_key_u64(json, "probe_shift", nw_bins_shift(bins, NW_SERIES_GAPS));
	nw_json_key_u64(json, "span_shift", nw_bins_shift(bins, NW_SERIES_SPANS));
	/* write [[bin, events], ...] of the bins with losses */
	const struct nw_bin_loss *loss = nw_bins_losses(bins);
	nw_json_key(json, "losses");
	nw_json_open(json, '[');
	for (unsigned int i = 0; i < nw_bins_count(bins); i++) {
		if (!loss[i].touched)
			continue;
		nw_json_open(json, '[');
		nw_json_u64(json, i);
		nw_json_u64(json, loss[i].events);
		nw_json_close(json, ']');
	}
	nw_json_close(json, ']');
	nw_json_close(json, '}');
}

/* ---- stacks ------------------------------------------------------------------------- */

static int most_first(const void *a, const void *b)
{
	const struct nw_folded *const *x = a, *const *y = b;

	if ((*x)->count != (*y)->count)
		return (*x)->count < (*y)->count ? 1 : -1;
	return strcmp((*x)->text, (*y)->text);
}

/* Writes {"of", "total", "stacks": [["root;...;leaf", count], ...]}: the most frequent stacks first, as many as there
 * is room for. */
static void flame(const struct nw_flame *flame, struct nw_json *json, size_t most)
{
	nw_cleanup(nw_free_ptr)
		const struct nw_folded **sorted = calloc(flame->count + 1, sizeof(*sorted));
	size_t began = json->out->len;
	uint64_t total = 0;

	json->out->failed |= !sorted;
	for (size_t i = 0; sorted && i < flame->count; i++) {
		sorted[i] = &flame->stacks[i];
		total += flame->stacks[i].count;
	}
	if (sorted)
		qsort(sorted, flame->count, sizeof(*sorted), most_first);
	nw_json_open(json, '{');
	nw_json_key_text(json, "of", flame->of);
	nw_json_key_u64(json, "total", total);
	nw_json_key(json, "stacks");
	nw_json_open(json, '[');
	for (size_t i = 0; sorted && i < flame->count; i++) {
		if (json->out->len - began + strlen(sorted[i]->text) > most)
			continue;
		nw_json_open(json, '[');
		nw_json_text(json, sorted[i]->text, strlen(sorted[i]->text));
		nw_json_u64(json, sorted[i]->count);
		nw_json_close(json, ']');
	}
	nw_json_close(json, ']');
	nw_json_close(json, '}');
}

static void flames(const struct nw_report *report, struct nw_json *json)
{
	nw_json_key(json, "flame");
	nw_json_open(json, '[');
	for (size_t i = 0; i < report->flame_count; i++)
		flame(&report->flames[i], json, MOST_FLAME / report->flame_count);
	nw_json_close(json, ']');
}

void nw_html_unmeasured(struct nw_json *json)
{
	nw_json_key(json, "unmeasured");
	nw_json_open(json, '[');
	nw_number_each (NW_SUBJECT_SPANS, number)
		if (number->is & NW_NUMBER_UNMEASURED)
			nw_json_text(json, number->key, strlen(number->key));
	nw_json_close(json, ']');
}

static void data(struct page *page, struct nw_buf *out)
{
	page->json = (struct nw_json){.out = out};
	page->rows = page->pictures = 0;
	page->left_out = page->report->bins && nw_bins_left_out(page->report->bins);
	nw_json_open(&page->json, '{');
	nw_json_key_u64(&page->json, "version", 1);
	about(page->report, &page->json);
	if (page->report->bins)
		nw_html_bins(page->report->bins, &page->json);
	nw_json_key(&page->json, "rows");
	nw_json_open(&page->json, '[');
	rows(page, NW_SUBJECT_SPANS);
	rows(page, NW_SUBJECT_PROBES);
	nw_json_close(&page->json, ']');
	if (page->report->flames)
		flames(page->report, &page->json);
	nw_html_unmeasured(&page->json);
	nw_json_key(&page->json, "left_out");
	nw_json_bool(&page->json, page->left_out);
	nw_json_close(&page->json, '}');
}

/* <, > and & become \uNNNN, so that nothing can end the element with the data: in JSON these characters are in strings only. (The JSON writer does the same with Unicode's line separators, which end lines of scripts.) */
void nw_html_harmless(struct nw_buf *out, const struct nw_buf *json)
{
	const char *at = nw_buf_str(json);

	while (*at) {
		size_t plain = strcspn(at, "<>&");
		nw_buf_add(out, at, plain);
		at += plain;
		if (*at)
			nw_buf_printf(out, "\\u%04x", *at++);
	}
}

/* Appends the page up to a mark, which is one word in curly brackets; *at is moved behind the mark. */
static void add_until(struct nw_buf *out, const char **at, const char *mark)
{
	const char *found = strstr(*at, mark);

	nw_buf_add(out, *at, (size_t)(found - *at));
	*at = found + strlen(mark);
}

size_t nw_html_room(void)
{
	return MOST_BYTES - strlen(nw_html_page) - strlen(nw_html_style) -
	       strlen(nw_html_flame) - strlen(nw_html_script);
}

static void add_part(struct nw_buf *out, const char **at, const char *mark,
		     const struct nw_buf *part)
{
	add_until(out, at, mark);
	if (part && part->len)
		nw_buf_add(out, part->data, part->len);
	out->failed |= part && part->failed;
}

void nw_html_page_write(const struct nw_html_parts *parts, struct nw_buf *out)
{
	const char *at = nw_html_page;

	add_until(out, &at, "{style}");
	nw_buf_adds(out, nw_html_style);
	add_until(out, &at, "{kind}");
	nw_buf_adds(out, parts->kind);
	add_part(out, &at, "{diff}", parts->diff);
	add_part(out, &at, "{slowest}", parts->slowest);
	add_part(out, &at, "{data}", parts->data);
	add_until(out, &at, "{flame}");
	nw_buf_adds(out, nw_html_flame);
	add_until(out, &at, "{script}");
	nw_buf_adds(out, nw_html_script);
	nw_buf_adds(out, at);
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	size_t room = nw_html_room();
	struct page page = {
		.report = report, .most_rows = MOST_ROWS, .most_pictures = NW_BINS_SERIES};
	struct nw_buf json = {0}, harmless = {0}, slow = {0};

	slowest_table(report, &slow);
	room -= nw_min64(slow.len, room);
	for (;;) {
		data(&page, &json);
		nw_html_harmless(&harmless, &json);
		if (json.failed || harmless.len <= room || page.most_rows <= 1)
			break;
		/* the last pictures matter least, and take the most space */
		if (page.pictures > 1)
			page.most_pictures = page.pictures / 2;
		else
			page.most_rows = page.rows / 2;
		nw_buf_clear(&json);
		nw_buf_clear(&harmless);
	}
	nw_html_page_write(&(struct nw_html_parts){"report", NULL, &slow, &harmless},
			   &output->text);
	output->text.failed |= json.failed;
	nw_buf_free(&json);
	nw_buf_free(&harmless);
	nw_buf_free(&slow);
}

const struct nw_output_format nw_output_html = {
	.name = "html",
	.costs = true,
	.shows = {[NW_SHOWS_REPORTS] = true},
	.cumulative = true,
	.bins = true,
	.states = true,
	.stacks = true,
	.binary = true,
	.whole = true,
	.report = report,
	.diff = nw_html_diff,
};
