/* SPDX-License-Identifier: MIT */
/* The parts of a live view's picture. */
#ifndef NOPWATCH_SHOW_TOP_DRAW_H
#define NOPWATCH_SHOW_TOP_DRAW_H

#include "canvas.h"
#include "list.h"

enum {
	NW_RED = NW_GLYPH_COLOR | 1,
	NW_GREEN = NW_GLYPH_COLOR | 2,
	NW_YELLOW = NW_GLYPH_COLOR | 3,
	NW_BLUE = NW_GLYPH_COLOR | 4,
	NW_CYAN = NW_GLYPH_COLOR | 6
};

struct nw_drawing {
	const struct nw_top *top;
	struct nw_top_view *view;
	struct nw_canvas *canvas;
};

/* A rectangle of the canvas. */
struct nw_area {
	size_t x, y, columns, rows;
};

size_t nw_draw_text(const struct nw_drawing *d, size_t x, size_t y, size_t width,
		    uint8_t style, const char *text);
/* Draws a number flush right. */
void nw_draw_number(const struct nw_drawing *d, size_t x, size_t y, size_t width,
		    uint8_t style, const char *text);
/* Returns the number of slots in the course: a minute's slots, or more if they are long. */
uint64_t nw_draw_slots(const struct nw_top *top);
/* Returns the slot of a row; NULL: it had no hits then. */
const struct nw_top_slot *nw_draw_slot(const struct nw_top *top,
				       const struct nw_top_row *row, uint64_t ago);
/* A range of times on a logarithmic scale. */
struct nw_scale {
	double low, high; /* log2 of nanoseconds */
};
/* Draws labels at powers of ten, as many as fit. */
void nw_scale_labels(const struct nw_drawing *d, const struct nw_scale *scale, size_t x,
		     size_t y, size_t width, uint8_t style);
void nw_draw_course(const struct nw_drawing *d, const struct nw_top_row *row, size_t x,
		    size_t y, size_t width);
void nw_draw_strip(const struct nw_drawing *d, const struct nw_top_row *row,
		   const struct nw_scale *scale, size_t x, size_t y, size_t width);

/* Draws the pane below the rows. */
void nw_draw_pane(const struct nw_drawing *d, const struct nw_top_row *row,
		  struct nw_area area);

#endif
