// SPDX-License-Identifier: MIT
/* Pictures that are one line high: the course of a row, and the distribution of its times. */
#include <math.h>
#include <string.h>

#include "draw.h"

size_t nw_draw_text(const struct nw_drawing *d, size_t x, size_t y, size_t width,
		    uint8_t style, const char *text)
{
	return nw_canvas_text(d->canvas, x, y, width, style, d->view->ascii, text);
}

void nw_draw_number(const struct nw_drawing *d, size_t x, size_t y, size_t width,
		    uint8_t style, const char *text)
{
	size_t len = strlen(text);

	nw_draw_text(d, x + (len < width ? width - len : 0), y, width, style, text);
}

/* Returns a bar this many eighths of a cell high; 0: blank. */
static uint32_t level_bar(const struct nw_top_view *view, unsigned int eighths)
{
	static const char ascii[] = " .:-=+*#@";
	/* characters of code page 437, which the console's fonts have */
	static const uint32_t console[] = {' ',	   '_',	   '_',	   0x2584, 0x2584,
					   0x2584, 0x2588, 0x2588, 0x2588};

	if (eighths > 8)
		eighths = 8;
	if (view->ascii)
		return (unsigned char)ascii[eighths];
	if (view->console)
		return console[eighths];
	return eighths ? 0x2580 + eighths : ' ';
}

/* ---- the course --------------------------------------------------------------------- */

uint64_t nw_draw_slots(const struct nw_top *top)
{
	const uint64_t minute = 60000000000;
	enum {
		LEAST = 30
	};

	if (top->whole)
		return nw_min64(top->slot, NW_TOP_SLOTS);
	return nw_min64(nw_max64(minute / top->slot_ns, LEAST), NW_TOP_SLOTS);
}

const struct nw_top_slot *nw_draw_slot(const struct nw_top *top,
				       const struct nw_top_row *row, uint64_t ago)
{
	return row->slots && ago < top->slot ? &row->slots[(top->slot - ago) % NW_TOP_SLOTS]
					     : NULL;
}

/* Returns the value of a cell of the course: a sum of hits, or the worst p99. */
static uint64_t course_at(const struct nw_drawing *d, const struct nw_top_row *row,
			  size_t x, size_t width)
{
	uint64_t slots = nw_draw_slots(d->top), value = 0;
	uint64_t from = slots * x / width, to = slots * (x + 1) / width;

	for (uint64_t i = from; i < nw_max64(to, from + 1); i++) {
		const struct nw_top_slot *slot = nw_draw_slot(d->top, row, slots - 1 - i);
		if (slot && d->view->trend_p99)
			value = nw_max64(value, slot->p99);
		else if (slot)
			value += slot->count;
	}
	return value;
}

void nw_draw_course(const struct nw_drawing *d, const struct nw_top_row *row, size_t x,
		    size_t y, size_t width)
{
	uint64_t most = 0;

	for (size_t i = 0; i < width; i++)
		most = nw_max64(most, course_at(d, row, i, width));
	for (size_t i = 0; i < width; i++) {
		uint64_t value = course_at(d, row, i, width);
		double part = most ? (double)value / (double)most : 0;
		unsigned int level = value ? 1 + (unsigned int)(part * 7 + 0.5) : 0;
		nw_canvas_put(d->canvas, x + i, y, level_bar(d->view, level), NW_CYAN);
	}
}

/* ---- the distribution --------------------------------------------------------------- */

/* Returns the cell that a time falls into. */
static size_t cell_at(const struct nw_scale *scale, uint64_t ns, size_t cells)
{
	double part = (log2((double)ns + 1) - scale->low) / (scale->high - scale->low);

	if (part < 0 || !cells)
		return 0;
	size_t at = (size_t)(part * (double)cells);
	return at < cells ? at : cells - 1;
}

void nw_scale_labels(const struct nw_drawing *d, const struct nw_scale *scale, size_t x,
		     size_t y, size_t width, uint8_t style)
{
	size_t free_from = 0;

	for (uint64_t ns = 1; ns <= 1000000000000; ns *= 10) {
		double at = log2((double)ns + 1);
		char text[16];
		if (at < scale->low || at > scale->high)
			continue;
		/* "1us", not "1.00us" */
		nw_duration_text(ns, text);
		char *dot = strchr(text, '.');
		if (dot)
			memmove(dot, dot + 1 + strspn(dot + 1, "0"),
				strlen(dot + 1 + strspn(dot + 1, "0")) + 1);
		size_t cell = cell_at(scale, ns, width);
		if (cell < free_from || cell + strlen(text) > width)
			continue;
		nw_draw_text(d, x + cell, y, width - cell, style, text);
		free_from = cell + strlen(text) + 1;
	}
}

enum {
	WIDEST = 256 /* cells of a strip */
};

void nw_draw_strip(const struct nw_drawing *d, const struct nw_top_row *row,
		   const struct nw_scale *scale, size_t x, size_t y, size_t width)
{
	const struct nw_histogram *h = &nw_top_numbers_of(d->view, row)->times;
	uint64_t counts[WIDEST] = {0}, most = 0;
	struct nw_bucket bucket;
	unsigned int at = 0;

	width = nw_min64(width, WIDEST);
	if (!h->count)
		return;
	while (nw_histogram_next(h, &at, &bucket))
		counts[cell_at(scale, bucket.low, width)] += bucket.count;
	for (size_t i = 0; i < width; i++)
		most = nw_max64(most, counts[i]);
	size_t p50 = cell_at(scale, nw_histogram_percentile(h, 0.5), width);
	size_t p99 = cell_at(scale, nw_histogram_percentile(h, 0.99), width);
	for (size_t i = 0; i < width; i++) {
		/* logarithmic, so that the few slow ones are visible */
		double part = log2((double)counts[i] + 1) / log2((double)most + 1);
		unsigned int level = counts[i] ? 1 + (unsigned int)(part * 7 + 0.5) : 0;
		uint8_t style = i <= p50 ? NW_GREEN : i <= p99 ? NW_YELLOW : NW_RED;
		nw_canvas_put(d->canvas, x + i, y, level_bar(d->view, level), style);
	}
}
