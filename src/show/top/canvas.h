/* SPDX-License-Identifier: MIT */
/* Drawing into the cells of a canvas. */
#ifndef NOPWATCH_SHOW_TOP_CANVAS_H
#define NOPWATCH_SHOW_TOP_CANVAS_H

#include "show/top/top.h"

/* Draws one cell, if the canvas has it. */
void nw_canvas_put(struct nw_canvas *canvas, size_t x, size_t y, uint32_t code,
		   uint8_t style);
/* Draws text, which must be escaped for a terminal (nw_buf_add_escaped()), in at most this many cells from x on.
 * Returns the cells that it took. ascii: other characters become '?'. */
size_t nw_canvas_text(struct nw_canvas *canvas, size_t x, size_t y, size_t width,
		      uint8_t style, bool ascii, const char *text);
/* Adds a style to this many cells. */
void nw_canvas_add_style(struct nw_canvas *canvas, size_t x, size_t y, size_t width,
			 uint8_t style);

#endif
