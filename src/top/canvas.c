// SPDX-License-Identifier: MIT
/* Cells, and what has to be sent to a terminal so that it shows them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nopwatch/top.h"

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

static void add_utf8(struct nw_buf *out, uint32_t code)
{
	if (code < 0x80) {
		nw_buf_addc(out, (char)code);
	} else if (code < 0x800) {
		nw_buf_addc(out, (char)(0xc0 | code >> 6));
		nw_buf_addc(out, (char)(0x80 | (code & 0x3f)));
	} else {
		if (code < 0x10000) {
			nw_buf_addc(out, (char)(0xe0 | code >> 12));
		} else {
			nw_buf_addc(out, (char)(0xf0 | code >> 18));
			nw_buf_addc(out, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		nw_buf_addc(out, (char)(0x80 | (code >> 6 & 0x3f)));
		nw_buf_addc(out, (char)(0x80 | (code & 0x3f)));
	}
}

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

static bool same(const struct nw_glyph *a, const struct nw_glyph *b)
{
	return a->code == b->code && a->style == b->style;
}

/* How wide a terminal draws these is for it to say. */
static bool is_wide_maybe(uint32_t code)
{
	return code > 0x7e && (code < 0x2500 || code > 0x25ff);
}

void nw_canvas_diff(const struct nw_canvas *before, const struct nw_canvas *after,
		    bool color, struct nw_buf *out)
{
	static const struct nw_glyph blank;
	bool fresh = before->columns != after->columns || before->rows != after->rows;
	size_t count = after->columns * after->rows, next = SIZE_MAX;
	int style = -1; /* as the terminal has it */

	if (fresh)
		nw_buf_adds(out, "\033[0m\033[H\033[J");
	for (size_t i = 0; i < count; i++) {
		const struct nw_glyph *now = &after->glyph[i];
		if (same(now, fresh ? &blank : &before->glyph[i]))
			continue;
		/* where it is anyway, nothing has to be said; but no line goes on in the next */
		if (i != next || i % after->columns == 0)
			nw_buf_printf(out, "\033[%zu;%zuH", i / after->columns + 1,
				      i % after->columns + 1);
		if (style != now->style)
			add_style(out, now->style, color);
		style = now->style;
		add_utf8(out, now->code ? now->code : ' ');
		next = is_wide_maybe(now->code) ? SIZE_MAX : i + 1;
	}
	if (style > 0)
		nw_buf_adds(out, "\033[0m");
}

void nw_canvas_lines(const struct nw_canvas *canvas, struct nw_buf *out)
{
	for (size_t y = 0; y < canvas->rows; y++) {
		const struct nw_glyph *row = canvas->glyph + y * canvas->columns;
		size_t last = canvas->columns;
		while (last > 0 && !row[last - 1].code)
			last--;
		for (size_t x = 0; x < last; x++)
			add_utf8(out, row[x].code ? row[x].code : ' ');
		nw_buf_addc(out, '\n');
	}
}
