/* SPDX-License-Identifier: MIT */
/* Drawing into the cells of a canvas. */
#ifndef NOPWATCH_SHOW_TOP_CANVAS_H
#define NOPWATCH_SHOW_TOP_CANVAS_H

#include "nopwatch/top.h"

/* One cell; nothing where there is none. */
void nw_canvas_put(struct nw_canvas *canvas, size_t x, size_t y, uint32_t code,
		   uint8_t style);
/* Text, which must be fit for a terminal (nw_buf_add_escaped()), in at most so many cells from x on:
 * how many it took. ascii: what is not ASCII is '?'. */
size_t nw_canvas_text(struct nw_canvas *canvas, size_t x, size_t y, size_t width,
		      uint8_t style, bool ascii, const char *text);
/* What it shows, as lines of text without blanks at their ends. */
void nw_canvas_lines(const struct nw_canvas *canvas, struct nw_buf *out);
/* Add a style to so many cells. */
void nw_canvas_add_style(struct nw_canvas *canvas, size_t x, size_t y, size_t width,
			 uint8_t style);

#endif
