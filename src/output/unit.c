// SPDX-License-Identifier: MIT
/* Numbers with units, tables, and histograms in bpftrace's rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nopwatch/output.h"

struct scale {
	double least; /* from here on */
	double unit;
	const char *name;
};

/* Three significant digits, as many decimals as that takes. */
static void scaled(double value, const struct scale *scales, size_t count, char out[16])
{
	size_t i = count - 1;

	while (i > 0 && value < scales[i].least)
		i--;
	double shown = value / scales[i].unit;
	int decimals = scales[i].unit == 1 || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
	snprintf(out, 16, "%.*f%s", decimals, shown, scales[i].name);
}

void nw_unit_duration(uint64_t ns, char out[16])
{
	static const struct scale scales[] = {{0, 1, "ns"},
					      {999.5, 1e3, "us"},
					      {999.5e3, 1e6, "ms"},
					      {999.5e6, 1e9, "s"}};

	scaled((double)ns, scales, NW_COUNT(scales), out);
}

void nw_unit_rate(double per_second, char out[16])
{
	static const struct scale scales[] = {{0, 1, "/s"},
					      {999.5, 1e3, "k/s"},
					      {999.5e3, 1e6, "M/s"},
					      {999.5e6, 1e9, "G/s"}};

	if (per_second > 0 && per_second < 9.995)
		snprintf(out, 16, "%.2f/s", per_second);
	else
		scaled(per_second, scales, NW_COUNT(scales), out);
}

/* ---- tables ------------------------------------------------------------------------- */

/* Characters, not bytes, so that names in UTF-8 line up. */
static size_t width_of(const char *text, size_t len)
{
	size_t width = 0;

	for (size_t i = 0; i < len; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

void nw_table_end_cell(struct nw_table *table)
{
	size_t count = table->cells.count;
	const struct nw_cell *last = count ? &table->cells.item[count - 1] : NULL;
	size_t at = last ? last->at + last->len : 0;
	struct nw_cell *cell = nw_vec_add(&table->cells);

	if (!cell) {
		table->text.failed = true;
		return;
	}
	cell->at = at;
	cell->len = table->text.len - at;
	cell->width = width_of(nw_buf_str(&table->text) + at, cell->len);
}

void nw_table_cell(struct nw_table *table, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&table->text, fmt, args);
	va_end(args);
	nw_table_end_cell(table);
}

void nw_table_text(struct nw_table *table, const char *text)
{
	nw_buf_adds(&table->text, text);
	nw_table_end_cell(table);
}

void nw_table_number(struct nw_table *table, uint64_t number)
{
	nw_buf_addu(&table->text, number);
	nw_table_end_cell(table);
}

static void pad(size_t count, struct nw_buf *out)
{
	static const char blanks[] = "                                ";

	for (size_t part; count; count -= part) {
		part = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;
		nw_buf_add(out, blanks, part);
	}
}

static void print_cell(const struct nw_table *table, size_t i, const size_t *widths,
		       struct nw_buf *out)
{
	const struct nw_cell *cell = &table->cells.item[i];
	size_t column = i % table->columns, blanks = widths[column] - cell->width;

	if (column)
		nw_buf_add(out, "  ", 2);
	if (!table->left[column])
		pad(blanks, out);
	nw_buf_add(out, nw_buf_str(&table->text) + cell->at, cell->len);
	if (column < table->columns - 1 && table->left[column])
		pad(blanks, out);
}

static void print_row(const struct nw_table *table, size_t from, const size_t *widths,
		      bool bold, struct nw_buf *out)
{
	if (bold)
		nw_buf_adds(out, "\033[1m");
	for (size_t column = 0; column < table->columns; column++)
		print_cell(table, from + column, widths, out);
	nw_buf_adds(out, bold ? "\033[0m\n" : "\n");
}

void nw_table_print(struct nw_table *table, bool bold_header, struct nw_buf *out)
{
	size_t *widths = calloc(table->columns + 1, sizeof(*widths));
	size_t rows = table->columns ? table->cells.count / table->columns : 0;

	if (!widths || table->text.failed) {
		out->failed = true;
		rows = 0;
	}
	for (size_t i = 0; i < rows * table->columns; i++) {
		size_t *width = &widths[i % table->columns];
		*width = nw_max64(*width, table->cells.item[i].width);
	}
	for (size_t row = 0; row < rows; row++)
		print_row(table, row * table->columns, widths, bold_header && row == 0,
			  out);
	free(widths);
	nw_table_free(table);
}

void nw_table_free(struct nw_table *table)
{
	nw_vec_free(&table->cells);
	nw_buf_free(&table->text);
}

/* ---- histograms --------------------------------------------------------------------- */

enum {
	BAR_WIDTH = 52,
	ROWS = 1 + 65
}; /* negatives, 0, 1, [2, 4), ... [2^63, 2^64) */

/* Row 0 is for what is below 0, row 1 for 0, row n for [2^(n-2), 2^(n-1)). */
static unsigned int row_of(const struct nw_bucket *bucket, bool is_signed)
{
	if (is_signed && (int64_t)bucket->low < 0)
		return 0;
	return bucket->low == 0 ? 1 : 65 - (unsigned int)__builtin_clzll(bucket->low);
}

/* 2^power, with bpftrace's letters: 512, 1K, 32K, 1M */
static void power_text(unsigned int power, char out[16])
{
	static const char letters[] = {'\0', 'K', 'M', 'G', 'T', 'P', 'E'};
	char letter[2] = {letters[power / 10], '\0'};

	snprintf(out, 16, "%u%s", 1u << power % 10, letter);
}

static void row_label(unsigned int row, char out[40])
{
	char low[16], high[16];

	if (row == 0) {
		snprintf(out, 40, "(..., 0)");
	} else if (row <= 2) {
		snprintf(out, 40, "[%u]", row - 1);
	} else {
		power_text(row - 2, low);
		power_text(row - 1, high);
		snprintf(out, 40, "[%s, %s)", low, high);
	}
}

void nw_histogram_print(const struct nw_histogram *h, struct nw_buf *out)
{
	uint64_t count[ROWS] = {0}, most = 0;
	unsigned int first = ROWS, last = 0, at = 0;
	struct nw_bucket bucket;

	while (nw_histogram_next(h, &at, &bucket))
		count[row_of(&bucket, h->is_signed)] += bucket.count;
	for (unsigned int row = 0; row < ROWS; row++) {
		if (!count[row])
			continue;
		first = first < row ? first : row;
		last = row;
		most = nw_max64(most, count[row]);
	}
	for (unsigned int row = first; row <= last && most; row++) {
		char label[40], bar[BAR_WIDTH + 1];
		/* float as in bpftrace: a double now and then gives a shorter bar */
		size_t len = (size_t)((float)count[row] / (float)most * BAR_WIDTH);
		memset(bar, '@', len);
		bar[len] = '\0';
		row_label(row, label);
		nw_buf_printf(out, "%-16s%8llu |%-52s|\n", label,
			      (unsigned long long)count[row], bar);
	}
}
