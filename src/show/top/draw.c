// SPDX-License-Identifier: MIT
/* Draws a live view: a title, rows in columns, a pane below them, and a line of keys. */
#include "draw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEAST_COLUMNS = 20,
	LEAST_ROWS = 5,
	LEAST_NAME = 10,
	MOST_NAME = 48,
	LEAST_STRIP = 10,
	LEAST_BOTH = 20, /* cells for the course and the strip together */
	MOST_COURSE = 60,
	MOST_STRIP = 96,
	NAMED_FROM = 100, /* columns: the title has the program's name */
	PANE_FROM = 16	  /* lines: on a smaller screen a pane replaces the rows */
};

/* ---- columns ------------------------------------------------------------------------ */

enum column_kind {
	COUNT,
	RATE,
	MEAN,
	P50,
	P90,
	P99,
	MAX,
	COLUMNS
};

static const struct {
	const char *title;
	enum nw_sort sort;
	size_t width;
	size_t from; /* the column is shown on screens with at least this many columns */
	double percentile;
} columns[COLUMNS] = {
	[COUNT] = {"COUNT", NW_SORT_HITS, 10, 110, 0},
	[RATE] = {"RATE", NW_SORT_RATE, 8, 30, 0},
	[MEAN] = {"MEAN", NW_SORT_MEAN, 7, 130, 0},
	[P50] = {"P50", NW_SORT_P50, 7, 48, 0.5},
	[P90] = {"P90", NW_SORT_DEFAULT, 7, 120, 0.9},
	[P99] = {"P99", NW_SORT_P99, 7, 0, 0.99},
	[MAX] = {"MAX", NW_SORT_MAX, 7, 40, 0},
};

/* The layout of columns: widths, 0 for columns that are left out. */
struct layout {
	size_t name, column[COLUMNS], course, strip;
	struct nw_scale scale[2]; /* of the strips of gaps, and of latencies */
};

static size_t cells_of(const char *text)
{
	size_t cells = 0;

	for (; *text; text++)
		cells += ((unsigned char)*text & 0xc0) != 0x80;
	return cells;
}

static size_t name_width(const struct nw_top_row *row)
{
	return cells_of(row->name) + (*row->group_name ? 1 + cells_of(row->group_name) : 0);
}

/* Chooses a scale of at least ten powers of two around all times, so that scales do not jump. */
static void find_scale(const struct nw_drawing *d, const nw_top_list *list, bool spans,
		       struct nw_scale *out)
{
	uint64_t low = UINT64_MAX, high = 0;

	nw_vec_each (list, ranked) {
		const struct nw_histogram *h =
			&nw_top_numbers_of(d->view, ranked->row)->times;
		if (ranked->row->is_span != spans || !h->count)
			continue;
		low = nw_min64(low, h->min);
		high = nw_max64(high, h->max);
	}
	if (low > high)
		low = high = 1000;
	out->low = floor(log2((double)low + 1));
	out->high = fmax(floor(log2((double)high + 1)) + 1, out->low + 10);
}

static struct layout lay_out(const struct nw_drawing *d, const nw_top_list *list)
{
	size_t width = d->canvas->columns, longest = LEAST_NAME;
	struct layout l = {.name = 0};

	nw_vec_each (list, ranked)
		longest = nw_max64(longest, name_width(ranked->row));
	size_t used = 0;
	for (size_t i = 0; i < COLUMNS; i++) {
		l.column[i] = width >= columns[i].from ? columns[i].width : 0;
		used += l.column[i] ? l.column[i] + 1 : 0;
	}
	l.name = nw_min64(longest,
			  nw_min64(nw_max64(width * 3 / 10, LEAST_NAME), MOST_NAME));
	size_t rest = width > l.name + used + 1 ? width - l.name - used - 1 : 0;
	if (rest >= LEAST_BOTH) {
		l.course = nw_min64(rest * 2 / 5, MOST_COURSE);
		l.strip = nw_min64(rest - l.course - 1, MOST_STRIP);
	} else if (rest >= LEAST_STRIP) {
		l.strip = rest;
	}
	/* the rest of the width is for names */
	used += (l.course ? l.course + 1 : 0) + (l.strip ? l.strip + 1 : 0);
	l.name = width > used + 1 ? nw_max64(l.name, nw_min64(longest, width - used))
				  : l.name;
	find_scale(d, list, false, &l.scale[0]);
	find_scale(d, list, true, &l.scale[1]);
	return l;
}

/* ---- the title ---------------------------------------------------------------------- */

/* Parts in a line, one after the other. One that does not fit is left out, or begins the next line, up to `last`. */
struct line {
	const struct nw_drawing *d;
	size_t x, y, last;
};

static void part(struct line *line, uint8_t style, const char *text)
{
	size_t width = line->d->canvas->columns, gap = line->x ? 2 : 0;

	if (line->x + gap + cells_of(text) > width && line->y < line->last) {
		line->y++;
		line->x = gap = 0;
	}
	if (line->x + gap + cells_of(text) <= width)
		line->x += gap + nw_draw_text(line->d, line->x + gap, line->y, width, style,
					      text);
}

static void cost_part(struct line *line)
{
	double percent = line->d->top->cost * 100;
	char text[64];

	if (percent < 0)
		return;
	if (percent < 0.1 && percent > 0)
		snprintf(text, sizeof(text), "cost < 0.1 %% of a CPU");
	else
		snprintf(text, sizeof(text), "cost %.1f %% of a CPU", percent);
	part(line, 0, text);
}

/* Returns whether a column of this screen has the mark of the sort key. */
static bool shows_sort(const struct nw_drawing *d)
{
	bool found = d->view->sort == NW_SORT_DEFAULT || d->view->sort == NW_SORT_NAME;

	for (size_t i = 0; i < COLUMNS; i++)
		found |= columns[i].sort == d->view->sort &&
			 d->canvas->columns >= columns[i].from;
	return found;
}

/* Draws the title in one line, or in two on a screen that is high enough for a pane. Returns the number of lines. */
static size_t title(const struct nw_drawing *d)
{
	const struct nw_top *top = d->top;
	const struct nw_top_view *view = d->view;
	struct line line = {d, 0, 0, d->canvas->rows >= PANE_FROM};
	uint64_t elapsed = top->end - nw_min64(top->began, top->end);
	char number[16], text[96];

	if (d->canvas->columns >= NAMED_FROM)
		part(&line, NW_GLYPH_BOLD, "nopwatch top");
	nw_duration_text(elapsed, number);
	part(&line, 0, number);
	snprintf(text, sizeof(text), "%ju lost", (uintmax_t)top->lost);
	part(&line, top->lost ? NW_GLYPH_BOLD | NW_RED : 0, text);
	if (view->paused)
		part(&line, NW_GLYPH_BOLD | NW_YELLOW, "PAUSED");
	if (top->over)
		part(&line, NW_GLYPH_BOLD, "END");
	nw_rate_text(elapsed ? (double)top->hits * 1e9 / (double)elapsed : 0, number);
	snprintf(text, sizeof(text), nw_plural(top->hits, "%ju hit, %s", "%ju hits, %s"),
		 (uintmax_t)top->hits, number);
	part(&line, 0, text);
	cost_part(&line);
	nw_duration_text(top->end - nw_min64(top->start, top->end), number);
	snprintf(text, sizeof(text), "the last %s", number);
	part(&line, 0, view->interval ? text : "the whole run");
	if (!shows_sort(d)) {
		snprintf(text, sizeof(text), "sorted by %s", nw_sort_names[view->sort]);
		part(&line, 0, text);
	}
	if (view->net)
		part(&line, 0, "net of the probes' own time");
	if (view->by) {
		snprintf(text, sizeof(text), "by %.80s", view->by);
		part(&line, 0, text);
	}
	if (top->unwatched) {
		snprintf(text, sizeof(text), "%ju more rows not watched",
			 (uintmax_t)top->unwatched);
		part(&line, NW_YELLOW, text);
	}
	return line.y + 1;
}

/* ---- rows --------------------------------------------------------------------------- */

static const char *course_title(const struct nw_drawing *d, size_t width)
{
	static const char *const titles[2][2] = {{"MINUTE", "LAST MINUTE"},
						 {"P99", "P99, MINUTE"}};

	if (d->top->whole)
		return d->view->trend_p99 ? "P99" : "RATE";
	return titles[d->view->trend_p99][width >= 11];
}

static void header(const struct nw_drawing *d, const struct layout *l, bool spans, size_t y)
{
	const uint8_t style = NW_GLYPH_BOLD, styles[] = {style, style | NW_GLYPH_REVERSE};
	enum nw_sort sort = d->view->sort;
	bool sorted = sort == NW_SORT_NAME;
	size_t x = l->name;
	char text[16];

	snprintf(text, sizeof(text), "%s%s",
		 spans		 ? "SPAN"
		 : l->name >= 13 ? "PROBE (GAPS)"
				 : "PROBE",
		 sorted ? "*" : "");
	nw_draw_text(d, 0, y, l->name, styles[sorted], text);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!l->column[i])
			continue;
		sorted = sort && columns[i].sort == sort;
		snprintf(text, sizeof(text), "%s%s", columns[i].title, sorted ? "*" : "");
		nw_draw_number(d, x + 1, y, l->column[i], styles[sorted], text);
		x += l->column[i] + 1;
	}
	if (l->course)
		nw_draw_text(d, x + 1, y, l->course, style, course_title(d, l->course));
	x += l->course ? l->course + 1 : 0;
	if (l->strip)
		nw_scale_labels(d, &l->scale[spans], x + 1, y, l->strip, style);
}

static void number(const struct nw_drawing *d, const struct nw_top_row *row, size_t which,
		   size_t x, size_t y)
{
	const struct nw_top_numbers *of = nw_top_numbers_of(d->view, row);
	const struct nw_histogram *h = &of->times;
	char text[24] = "-";

	if (which == COUNT)
		snprintf(text, sizeof(text), "%ju", (uintmax_t)of->count);
	else if (which == RATE)
		nw_rate_text(nw_top_rate(d->top, d->view, row), text);
	else if (h->count)
		nw_duration_text(which == MAX	 ? h->max
				 : which == MEAN ? (uint64_t)nw_histogram_mean(h)
						 : nw_histogram_percentile(
							   h, columns[which].percentile),
				 text);
	nw_draw_number(d, x, y, columns[which].width, row->disabled ? NW_GLYPH_DIM : 0,
		       text);
}

/* Draws a name. A group keeps its own name; the name of its probe or span is cut first. */
static void name(const struct nw_drawing *d, const struct nw_top_row *row, size_t y,
		 size_t width)
{
	uint8_t style = row->disabled ? NW_GLYPH_DIM : 0;
	size_t group = cells_of(row->group_name), own = cells_of(row->name);
	size_t for_group = group ? nw_min64(group, width > 8 ? width - 8 : width) : 0;
	size_t room = for_group ? width - nw_min64(for_group + 1, width) : width;

	nw_draw_text(d, 0, y, room, style, row->name);
	if (own > room && room > 0)
		nw_canvas_put(d->canvas, room - 1, y, '~', style);
	size_t at = nw_min64(own, room);
	if (for_group)
		nw_draw_text(d, at ? at + 1 : 0, y, for_group, style | NW_YELLOW,
			     row->group_name);
	if (group > for_group && for_group > 0)
		nw_canvas_put(d->canvas, at + for_group, y, '~', style);
}

/* Returns the column in which names and numbers end. */
static size_t numbers_end(const struct layout *l)
{
	size_t x = l->name;

	for (size_t i = 0; i < COLUMNS; i++)
		x += l->column[i] ? l->column[i] + 1 : 0;
	return x;
}

static void draw_row(const struct nw_drawing *d, const struct layout *l,
		     const struct nw_top_row *row, size_t y)
{
	size_t x = l->name;

	name(d, row, y, l->name);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!l->column[i])
			continue;
		number(d, row, i, x + 1, y);
		x += l->column[i] + 1;
	}
	if (l->course)
		nw_draw_course(d, row, x + 1, y, l->course);
	x += l->course ? l->course + 1 : 0;
	if (l->strip)
		nw_draw_strip(d, row, &l->scale[row->is_span], x + 1, y, l->strip);
}

/* Returns how many rows fit from this one on, with a header where spans or probes begin. */
static size_t rows_that_fit(const nw_top_list *list, size_t first, size_t lines)
{
	size_t used = 0, i = first;

	for (; i < list->count; i++) {
		bool begins = i == first ||
			      list->item[i].row->is_span != list->item[i - 1].row->is_span;
		used += begins ? 2 : 1;
		if (used > lines)
			break;
	}
	return i - first;
}

static void rows(const struct nw_drawing *d, const nw_top_list *list, struct nw_area area)
{
	struct layout l = lay_out(d, list);
	size_t cursor = nw_top_list_cursor(list, d->view), y = area.y;

	/* the first row on the screen moves only as far as the cursor needs */
	if (d->view->first > cursor)
		d->view->first = cursor;
	while (d->view->first < cursor &&
	       cursor >= d->view->first + rows_that_fit(list, d->view->first, area.rows))
		d->view->first++;
	while (d->view->first > 0 &&
	       d->view->first - 1 + rows_that_fit(list, d->view->first - 1, area.rows) >=
		       list->count)
		d->view->first--;
	d->view->page = rows_that_fit(list, d->view->first, area.rows);
	for (size_t i = d->view->first; i < d->view->first + d->view->page; i++) {
		const struct nw_top_row *row = list->item[i].row;
		if (i == d->view->first || row->is_span != list->item[i - 1].row->is_span)
			header(d, &l, row->is_span, y++);
		draw_row(d, &l, row, y);
		if (i == cursor)
			nw_canvas_add_style(d->canvas, 0, y, numbers_end(&l),
					    NW_GLYPH_REVERSE);
		y++;
	}
	if (!list->count)
		nw_draw_text(d, 0, y, d->canvas->columns, NW_GLYPH_DIM,
			     !d->top->rows.count ? d->top->over ? "nothing has happened"
								: "nothing has happened yet"
						 : "no name is like that");
}

/* ---- the last line ------------------------------------------------------------------ */

static const char *const prompts[] = {
	[NW_PROMPT_FILTER] = "names like: ",
	[NW_PROMPT_GROUP] = "group by",
	[NW_PROMPT_REPORT] = "write a report to: ",
};

static void prompt(const struct nw_drawing *d, size_t y)
{
	const struct nw_top_view *view = d->view;
	struct nw_buf text = {0};

	nw_buf_adds(&text, prompts[view->prompt]);
	if (view->prompt == NW_PROMPT_GROUP)
		nw_buf_printf(&text, " (%s): ", view->keys ? view->keys : "");
	nw_buf_add_sentence(&text, view->input, strlen(view->input));
	/* the end of the typed text is visible, however long the text is */
	const char *shown = nw_buf_str(&text);
	size_t cells = cells_of(shown), room = d->canvas->columns - 1;
	for (; cells > room; shown++)
		cells -= ((unsigned char)shown[1] & 0xc0) != 0x80;
	size_t used = nw_draw_text(d, 0, y, room, NW_GLYPH_BOLD, shown);
	nw_canvas_put(d->canvas, used, y, '_', NW_GLYPH_BOLD);
	nw_buf_free(&text);
}

static void keys(const struct nw_drawing *d, size_t y)
{
	static const char *const known[] = {"q quit",	  "? help",	 "s sort",
					    "i interval", "space pause", "/ filter",
					    "b group by", "h histogram", "m heat map",
					    "w report",	  "t rate/p99"};
	struct line line = {d, 0, y, y};
	char filter[96];

	if (*d->view->filter) {
		snprintf(filter, sizeof(filter), "like '%s'", d->view->filter);
		part(&line, NW_YELLOW, filter);
	}
	for (size_t i = 0; i < NW_COUNT(known); i++)
		part(&line, NW_GLYPH_DIM, known[i]);
}

static void last_line(const struct nw_drawing *d, size_t y)
{
	struct nw_buf text = {0};

	if (d->view->prompt) {
		prompt(d, y);
	} else if (*d->view->message) {
		nw_buf_add_sentence(&text, d->view->message, strlen(d->view->message));
		nw_draw_text(d, 0, y, d->canvas->columns, NW_GLYPH_BOLD, nw_buf_str(&text));
	} else {
		keys(d, y);
	}
	nw_buf_free(&text);
}

/* ---- all of it ---------------------------------------------------------------------- */

int nw_top_draw(const struct nw_top *top, struct nw_top_view *view,
		struct nw_canvas *canvas)
{
	const struct nw_drawing d = {top, view, canvas};
	nw_top_list list = {0};

	if (canvas->columns < LEAST_COLUMNS || canvas->rows < LEAST_ROWS) {
		char text[80];
		snprintf(text, sizeof(text), "too small: %zux%zu of %dx%d",
			 d.canvas->columns, d.canvas->rows, LEAST_COLUMNS, LEAST_ROWS);
		nw_draw_text(&d, 0, 0, d.canvas->columns, 0, text);
		return 0;
	}
	int ret = nw_top_list_make(top, view, &list);
	size_t cursor = nw_top_list_cursor(&list, view);
	const struct nw_top_row *row = list.count ? list.item[cursor].row : NULL;
	bool alone = view->pane == NW_PANE_HELP || canvas->rows < PANE_FROM;
	size_t above = title(&d);
	struct nw_area all = {0, above, canvas->columns, canvas->rows - above - 1};
	size_t below = !view->pane ? 0 : alone ? all.rows : all.rows / 2;
	const struct nw_area pane = {0, all.y + all.rows - below, all.columns, below};
	all.rows -= below;
	if (all.rows)
		rows(&d, &list, all);
	if (below)
		nw_draw_pane(&d, row, pane);
	last_line(&d, canvas->rows - 1);
	nw_vec_free(&list);
	return ret;
}
