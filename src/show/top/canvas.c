// SPDX-License-Identifier: MIT
/* Cells, and the bytes that make a terminal show them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "show/top/top.h"

int nw_canvas_reset(struct nw_canvas *canvas, size_t columns, size_t rows)
{
	size_t count = columns * rows;

	if (canvas->columns != columns || canvas->rows != rows || !canvas->glyph) {
		struct nw_glyph *glyph = calloc(count + 1, sizeof(*glyph));
		if (!glyph)
			return -ENOMEM;
		free(canvas->glyph);
		canvas->columns = columns;
		canvas->rows = rows;
		canvas->glyph = glyph;
	}
	memset(canvas->glyph, 0, count * sizeof(*canvas->glyph));
	return 0;
}

void nw_canvas_free(struct nw_canvas *canvas)
{
	free(canvas->glyph);
	*canvas = (struct nw_canvas){0};
}

void nw_canvas_put(struct nw_canvas *canvas, size_t x, size_t y, uint32_t code,
		   uint8_t style)
{
	if (x < canvas->columns && y < canvas->rows)
		canvas->glyph[y * canvas->columns + x] = (struct nw_glyph){
			.code = code == ' ' ? 0 : code, .style = style};
}

size_t nw_canvas_text(struct nw_canvas *canvas, size_t x, size_t y, size_t width,
		      uint8_t style, bool ascii, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t len = strlen(text), used = 0;

	for (; len && used < width; used++) {
		uint32_t code;
		size_t bytes = nw_utf8_decode(at, len, &code);
		if (!bytes || nw_is_control(code) || (ascii && code > 0x7e))
			code = '?';
		nw_canvas_put(canvas, x + used, y, code, style);
		bytes = bytes ? bytes : 1;
		at += bytes;
		len -= bytes;
	}
	return used;
}

void nw_canvas_add_style(struct nw_canvas *canvas, size_t x, size_t y, size_t width,
			 uint8_t style)
{
	for (size_t i = x; i < x + width && i < canvas->columns && y < canvas->rows; i++)
		canvas->glyph[y * canvas->columns + i].style |= style;
}

/* ---- to a terminal ------------------------------------------------------------------ */

static void add_style(struct nw_buf *out, uint8_t style, bool color)
{
	nw_buf_adds(out, "\033[0");
	if (style & NW_GLYPH_BOLD)
		nw_buf_adds(out, ";1");
	if (style & NW_GLYPH_DIM)
		nw_buf_adds(out, ";2");
	if (style & NW_GLYPH_REVERSE)
		nw_buf_adds(out, ";7");
	if (color && style & NW_GLYPH_COLOR)
		nw_buf_printf(out, ";3%d", style & 7);
	nw_buf_addc(out, 'm');
}

void nw_canvas_diff(const struct nw_canvas *before, const struct nw_canvas *after,
		    bool color, struct nw_buf *out)
{
	static const struct nw_glyph blank;
	bool fresh = before->columns != after->columns || before->rows != after->rows;
	size_t count = after->columns * after->rows, next = SIZE_MAX;
	int style = -1; /* the terminal's current style */
	char bytes[4];

	if (fresh)
		nw_buf_adds(out, "\033[0m\033[H\033[J");
	for (size_t i = 0; i < count; i++) {
		const struct nw_glyph *now = &after->glyph[i];
		const struct nw_glyph *shown = fresh ? &blank : &before->glyph[i];
		if (now->code == shown->code && now->style == shown->style)
			continue;
		/* the cursor is moved unless it is in place; it does not continue from one line to the next */
		if (i != next || i % after->columns == 0)
			nw_buf_printf(out, "\033[%zu;%zuH", i / after->columns + 1,
				      i % after->columns + 1);
		if (style != now->style)
			add_style(out, now->style, color);
		style = now->style;
		nw_buf_add(out, bytes, nw_utf8_encode(now->code ? now->code : ' ', bytes));
		/* Terminals disagree about the width of other characters, so the cursor's place after one is not
		 * known. Box drawings and blocks (U+2500..U+25FF) are one cell wide. */
		bool narrow = now->code <= 0x7e ||
			      (now->code >= 0x2500 && now->code <= 0x25ff);
		next = narrow ? i + 1 : SIZE_MAX;
	}
	if (style > 0)
		nw_buf_adds(out, "\033[0m");
}
