// SPDX-License-Identifier: MIT
/* The panes below the rows: the histogram or the heat map of a row, or help. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw.h"
#include "model.h"

enum {
	LABEL = 8 /* cells for the time at the beginning of a line */
};

/* ---- help --------------------------------------------------------------------------- */

static const char *const help[] = {
	"up, down, j, k      move the cursor; also page up, page down, home, end",
	"s, S, right, left   sort by the next, the previous column, which * marks",
	"i                   switch between the last interval and the whole run",
	"t                   switch between the rate and p99 over time",
	"space, p            pause the picture; measuring goes on",
	"enter, h            show the histogram of the row under the cursor",
	"m                   show its heat map: time to the right, latency upwards",
	"/                   show only names that contain a text or match a glob",
	"b, g                group by thread, process, CPU or arguments; empty: no groups",
	"w                   write a report to a file: .html, .json, .csv, .txt, .prom",
	"escape              close what is open, show all names",
	"q, Ctrl-C           quit; Ctrl-Z suspends; Ctrl-L draws again",
	"",
	"Times are latencies of spans, and gaps between hits of probes. The strip at the",
	"right is their distribution, with two logarithmic scales: green up to p50,",
	"yellow up to p99, red beyond.",
};

/* ---- what both have ----------------------------------------------------------------- */

static void caption(const struct nw_drawing *d, const struct nw_top_row *row,
		    const char *what, struct nw_area area)
{
	const struct nw_histogram *h = &nw_top_numbers_of(d->view, row)->times;
	static const struct {
		const char *name;
		double of;
	} percentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};
	struct nw_buf text = {0};
	char time[16];

	nw_buf_printf(&text, "%s%s%s: %s, %ju ", row->name, *row->group_name ? " " : "",
		      row->group_name, what, (uintmax_t)h->count);
	nw_buf_adds(&text, row->is_span ? nw_plural(h->count, "span", "spans")
					: nw_plural(h->count, "gap", "gaps"));
	for (size_t i = 0; h->count && i < NW_COUNT(percentiles); i++) {
		nw_duration_text(nw_histogram_percentile(h, percentiles[i].of), time);
		/* one that has no room would be cut in the middle of its number */
		if (text.len + strlen(", ") + strlen(percentiles[i].name) + strlen(" ") +
			    strlen(time) <=
		    area.columns)
			nw_buf_printf(&text, ", %s %s", percentiles[i].name, time);
	}
	nw_draw_text(d, area.x, area.y, area.columns, NW_GLYPH_BOLD, nw_buf_str(&text));
	nw_buf_free(&text);
}

/* Bins in lines: `step` of them in each, the first line from `low` on. */
struct bins {
	unsigned int low, step, lines;
};

/* Groups the bins into as many lines as fit, or fewer. */
static struct bins group_bins(unsigned int low, unsigned int high, size_t lines)
{
	struct bins bins = {low, 1, 0};
	unsigned int count = high - low + 1;

	while (count > bins.step * lines)
		bins.step++;
	bins.lines = (count + bins.step - 1) / bins.step;
	return bins;
}

static void time_label(const struct nw_drawing *d, unsigned int bin, size_t x, size_t y)
{
	char text[16];

	nw_duration_text(bin ? nw_top_bin_start(bin) : 0, text);
	nw_draw_number(d, x, y, LABEL - 1, NW_GLYPH_DIM, text);
}

/* ---- histogram ---------------------------------------------------------------------- */

/* Draws a bar over a part of the width, in eighths of a cell. */
static void bar(const struct nw_drawing *d, size_t x, size_t y, size_t width,
		double part_of, uint8_t style)
{
	size_t eighths = (size_t)(part_of * (double)width * 8 + 0.5);
	bool whole = d->view->ascii || d->view->console;

	if (part_of > 0 && eighths < (whole ? 8 : 1))
		eighths = whole ? 8 : 1;
	for (size_t i = 0; i < eighths / 8; i++)
		nw_canvas_put(d->canvas, x + i, y, d->view->ascii ? '#' : 0x2588, style);
	if (eighths % 8 && !whole)
		nw_canvas_put(d->canvas, x + eighths / 8, y,
			      0x2590 - (uint32_t)(eighths % 8), style);
}

/* Writes the percentiles that fall into a line. */
static void marks(const struct nw_histogram *h, unsigned int from, unsigned int to,
		  struct nw_buf *out)
{
	static const struct {
		const char *name;
		double of;
	} marked[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

	for (size_t i = 0; i < NW_COUNT(marked); i++) {
		unsigned int bin = nw_top_bin(nw_histogram_percentile(h, marked[i].of));
		if (bin >= from && bin < to)
			nw_buf_printf(out, " %s", marked[i].name);
	}
}

static void draw_histogram(const struct nw_drawing *d, const struct nw_top_row *row,
			   struct nw_area area)
{
	const struct nw_histogram *h = &nw_top_numbers_of(d->view, row)->times;
	uint64_t counts[NW_TOP_BINS] = {0}, lines[NW_TOP_BINS] = {0}, most = 0;
	unsigned int low = NW_TOP_BINS, high = 0, at = 0;
	enum {
		NUMBER = 9,
		MARKS = 12
	};
	struct nw_bucket bucket;

	caption(d, row, row->is_span ? "latency" : "gaps between hits", area);
	while (nw_histogram_next(h, &at, &bucket))
		counts[nw_top_bin(bucket.low)] += bucket.count;
	for (unsigned int i = 0; i < NW_TOP_BINS; i++) {
		low = counts[i] && low == NW_TOP_BINS ? i : low;
		high = counts[i] ? i : high;
	}
	if (!h->count || area.rows < 2 || area.columns < LABEL + NUMBER + MARKS + 4)
		return;
	const struct bins bins = group_bins(low, high, area.rows - 1);
	for (unsigned int i = low; i <= high; i++)
		lines[(i - low) / bins.step] += counts[i];
	for (unsigned int i = 0; i < bins.lines; i++)
		most = nw_max64(most, lines[i]);
	for (unsigned int i = 0; i < bins.lines; i++) {
		unsigned int from = low + i * bins.step;
		size_t y = area.y + 1 + i;
		struct nw_buf text = {0};
		time_label(d, from, area.x, y);
		nw_buf_addu(&text, lines[i]);
		nw_draw_number(d, area.x + LABEL, y, NUMBER, 0, nw_buf_str(&text));
		bar(d, area.x + LABEL + NUMBER + 1, y,
		    area.columns - LABEL - NUMBER - MARKS - 2,
		    (double)lines[i] / (double)most, NW_CYAN);
		nw_buf_clear(&text);
		marks(h, from, from + bins.step, &text);
		nw_draw_text(d, area.x + area.columns - MARKS, y, MARKS, NW_YELLOW,
			     nw_buf_str(&text));
		nw_buf_free(&text);
	}
}

/* ---- heat map ----------------------------------------------------------------------- */

/* Adds up a row's bins over the slots of one cell. */
static void heat_column(const struct nw_drawing *d, const struct nw_top_row *row, size_t x,
			size_t width, uint64_t counts[NW_TOP_BINS])
{
	uint64_t slots = nw_draw_slots(d->top);
	uint64_t from = slots * x / width, to = slots * (x + 1) / width;

	memset(counts, 0, NW_TOP_BINS * sizeof(*counts));
	for (uint64_t i = from; i < nw_max64(to, from + 1); i++) {
		const struct nw_top_slot *slot = nw_draw_slot(d->top, row, slots - 1 - i);
		for (unsigned int bin = 0; slot && bin < NW_TOP_BINS; bin++)
			counts[bin] += nw_top_unshade(slot->bins[bin]);
	}
}

static void heat_cell(const struct nw_drawing *d, size_t x, size_t y, uint64_t count,
		      uint64_t most)
{
	static const uint32_t shades[] = {0x2591, 0x2592, 0x2593, 0x2588};
	static const char ascii[] = ".+*#";
	static const uint8_t styles[] = {NW_BLUE, NW_CYAN, NW_YELLOW, NW_RED};

	if (!count)
		return;
	double part = log2((double)count + 1) / log2((double)most + 1);
	size_t shade = nw_min64((uint64_t)(part * NW_COUNT(shades)), NW_COUNT(shades) - 1);
	nw_canvas_put(d->canvas, x, y,
		      d->view->ascii ? (unsigned char)ascii[shade] : shades[shade],
		      styles[shade]);
}

/* Finds the range of bins with counts, and the largest count of a cell. */
static void heat_range(const struct nw_drawing *d, const struct nw_top_row *row,
		       size_t width, unsigned int *low, unsigned int *high, uint64_t *most)
{
	uint64_t counts[NW_TOP_BINS];

	*low = NW_TOP_BINS;
	*high = 0;
	*most = 0;
	for (size_t x = 0; x < width; x++) {
		heat_column(d, row, x, width, counts);
		for (unsigned int i = 0; i < NW_TOP_BINS; i++) {
			if (!counts[i])
				continue;
			*low = i < *low ? i : *low;
			*high = i > *high ? i : *high;
			*most = nw_max64(*most, counts[i]);
		}
	}
}

static void draw_heat(const struct nw_drawing *d, const struct nw_top_row *row,
		      struct nw_area area)
{
	size_t width = area.columns > LABEL ? area.columns - LABEL : 0;
	uint64_t counts[NW_TOP_BINS], lines[NW_TOP_BINS], most;
	unsigned int low, high;

	caption(d, row, row->is_span ? "latency over time" : "gaps over time", area);
	heat_range(d, row, width, &low, &high, &most);
	if (low > high || area.rows < 3)
		return;
	const struct bins bins = group_bins(low, high, area.rows - 2);
	for (unsigned int i = 0; i < bins.lines; i++)
		time_label(d, low + i * bins.step, area.x, area.y + bins.lines - i);
	for (size_t x = 0; x < width; x++) {
		memset(lines, 0, sizeof(lines));
		heat_column(d, row, x, width, counts);
		for (unsigned int i = low; i <= high; i++)
			lines[(i - low) / bins.step] += counts[i];
		for (unsigned int i = 0; i < bins.lines; i++)
			heat_cell(d, area.x + LABEL + x, area.y + bins.lines - i, lines[i],
				  most);
	}
	/* the axis of time below it */
	size_t y = area.y + bins.lines + 1;
	char text[24], length[16];
	nw_duration_text(nw_draw_slots(d->top) * d->top->slot_ns, length);
	snprintf(text, sizeof(text), "-%s", length);
	nw_draw_text(d, area.x + LABEL, y, area.columns, NW_GLYPH_DIM, text);
	nw_draw_number(d, area.x, y, area.columns, NW_GLYPH_DIM, "now");
}

/* ---- whichever it is ---------------------------------------------------------------- */

void nw_draw_pane(const struct nw_drawing *d, const struct nw_top_row *row,
		  struct nw_area area)
{
	if (d->view->pane == NW_PANE_HELP) {
		for (size_t i = 0; i < NW_COUNT(help) && i < area.rows; i++)
			nw_draw_text(d, area.x, area.y + i, area.columns, 0, help[i]);
	} else if (row && d->view->pane == NW_PANE_HISTOGRAM) {
		draw_histogram(d, row, area);
	} else if (row) {
		draw_heat(d, row, area);
	}
}
