/* SPDX-License-Identifier: MIT */
/* Tables and histograms, for people. */
#ifndef NOPWATCH_SHOW_TEXT_TABLE_H
#define NOPWATCH_SHOW_TEXT_TABLE_H

#include "base/base.h"
#include "show/rows/output.h"

/* ---- tables ------------------------------------------------------------------------- */

/* The place of a cell's text in the table's text, and its number of characters. */
struct nw_cell {
	size_t at, len, width;
};

/*
 * Rows of cells, columns as wide as they need to be; numbers to the right. Where the terminal is
 * narrower (layout.width), names are cut, with "...", down to 24 characters; then the columns that
 * give_up names are left out one by one (behind a 0: only if every count in them is 0); then names are cut further.
 */
struct nw_table {
	struct nw_buf text; /* the text of all cells, one after the other */
	NW_VEC(struct nw_cell) cells;
	size_t columns;
	const bool *left; /* per column: text, flush left; else flush right */
	struct nw_layout layout;
	const char *
		give_up; /* headers, each ended by a NUL, an empty one at the end; or NULL */
	/* receives the headers of columns that were left out; or NULL */
	nw_strings *left_out;
};

/* Adds the next cell. If memory runs out, the table fails, and so does the buffer that it is printed into. */
void nw_table_cell(struct nw_table *table, const char *fmt, ...) nw_format(2, 3);
void nw_table_text(struct nw_table *table, const char *text);
void nw_table_number(struct nw_table *table, uint64_t number);
/* Ends a cell whose text the caller has added to table->text. */
void nw_table_end_cell(struct nw_table *table);
/* The first row is the header. A plain layout has a sentence a row instead. Frees the cells. */
void nw_table_print(struct nw_table *table, struct nw_buf *out);
/* Returns the characters of the table's longest line, if nothing is cut. */
size_t nw_table_width(const struct nw_table *table);
/* Makes lines of at most `width` characters (0: any) of the sentences behind `from`, if their words and what is in
 * backquotes allow it. */
void nw_text_fill(struct nw_buf *out, size_t from, size_t width);
/* Writes which columns were left out. */
void nw_table_left_out(const nw_strings *left_out, struct nw_buf *out);
void nw_table_free(struct nw_table *table);

/* ---- histograms --------------------------------------------------------------------- */

/* Writes bpftrace's rows (its src/output/text.cpp: "%-16s%8llu |%-52s|"), one per power of two from the first to the
 * last that is not empty. is_time: the labels are durations as in the tables. Without a width, lines are as wide as bpftrace's; a plain layout
 * has the row's label and count only. */
void nw_histogram_print(const struct nw_histogram *h, bool is_time,
			const struct nw_layout *layout, struct nw_buf *out);
/* Does the same for equal steps, from the first row to the last one that is not empty: "(..., MIN)", "[LOW, HIGH)", "[MAX, ...)". */
void nw_linear_print(const struct nw_linear *linear, const struct nw_layout *layout,
		     struct nw_buf *out);

#endif
