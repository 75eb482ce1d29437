// SPDX-License-Identifier: MIT
/* Tables, and histograms in bpftrace's rows. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

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
	nw_buf_add_sentence(&table->text, text, strlen(text));
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

enum {
	LEAST_NAME =
		24, /* characters of a name that are kept as long as columns can be left out */
	LEAST_CUT = 8, /* characters that are kept when no column is left to leave out */
	GAP = 2	       /* blanks between columns */
};

/* Returns the number of bytes of the first characters of UTF-8 text. */
static size_t bytes_of(const char *text, size_t len, size_t characters)
{
	size_t i = 0;

	for (; i < len; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && characters-- == 0)
			break;
	return i;
}

static void print_cell(const struct nw_table *table, size_t i, size_t width, bool last,
		       struct nw_buf *out)
{
	static const char ellipsis[] = "...";
	const struct nw_cell *cell = &table->cells.item[i];
	const char *text = nw_buf_str(&table->text) + cell->at;
	bool left = table->left[i % table->columns], cut = cell->width > width;
	size_t shown = cut ? width - (sizeof(ellipsis) - 1) : cell->width;
	size_t blanks = cut ? 0 : width - cell->width;

	if (!left)
		pad(blanks, out);
	nw_buf_add(out, text, cut ? bytes_of(text, cell->len, shown) : cell->len);
	if (cut)
		nw_buf_adds(out, ellipsis);
	if (!last && left)
		pad(blanks, out);
}

/* widths: 0 for columns that are left out. */
static void print_row(const struct nw_table *table, size_t from, const size_t *widths,
		      bool bold, struct nw_buf *out)
{
	size_t last = table->columns;

	while (last > 0 && !widths[last - 1])
		last--;
	if (bold)
		nw_buf_adds(out, "\033[1m");
	for (size_t column = 0, shown = 0; column < last; column++) {
		if (!widths[column])
			continue;
		pad(shown++ ? GAP : 0, out);
		print_cell(table, from + column, widths[column], column == last - 1, out);
	}
	nw_buf_adds(out, bold ? "\033[0m\n" : "\n");
}

static size_t width_of_line(const struct nw_table *table, const size_t *widths)
{
	size_t sum = 0;

	for (size_t i = 0; i < table->columns; i++)
		sum += widths[i] ? widths[i] + GAP : 0;
	return sum > GAP ? sum - GAP : 0;
}

/* Cuts names, the widest first, as far as needed and allowed by `least`. */
static void cut_names(const struct nw_table *table, size_t *widths, size_t least)
{
	for (;;) {
		size_t line = width_of_line(table, widths), widest = 0;
		for (size_t i = 0; i < table->columns; i++)
			if (table->left[i] && widths[i] > widths[widest])
				widest = i;
		if (line <= table->layout.width || !table->left[widest] ||
		    widths[widest] <= least)
			return;
		size_t over = line - table->layout.width;
		widths[widest] -= nw_min64(over, widths[widest] - least);
	}
}

/* Are all cells of a column nothing, as "0", "0/0", "0+" and "-" are? */
static bool is_zero(const struct nw_table *table, size_t column)
{
	for (size_t i = table->columns + column; i < table->cells.count;
	     i += table->columns) {
		const struct nw_cell *cell = &table->cells.item[i];
		if (strspn(nw_buf_str(&table->text) + cell->at, "0/+-") < cell->len)
			return false;
	}
	return true;
}

/* Gives up the column with this header, as give_up in struct nw_table names it. */
static void leave_out(const struct nw_table *table, size_t *widths, const char *header,
		      struct nw_buf *out)
{
	const bool if_zero = *header == '0';

	header += if_zero;
	for (size_t i = 0; i < table->columns; i++) {
		const struct nw_cell *cell = &table->cells.item[i];
		if (!widths[i] || strlen(header) != cell->len ||
		    memcmp(nw_buf_str(&table->text) + cell->at, header, cell->len) != 0 ||
		    (if_zero && !is_zero(table, i)))
			continue;
		widths[i] = 0;
		if (table->left_out && !nw_strings_has(table->left_out, header) &&
		    nw_strings_add(table->left_out, header, strlen(header)) < 0)
			out->failed = true;
	}
}

/* Narrows a table that is too wide: cuts names as far as they stay readable, then leaves out columns in the order of
 * give_up, then cuts names further. */
static void narrow(const struct nw_table *table, size_t *widths, struct nw_buf *out)
{
	if (!table->layout.width)
		return;
	cut_names(table, widths, LEAST_NAME);
	for (const char *header = table->give_up;
	     header && *header && width_of_line(table, widths) > table->layout.width;
	     header += strlen(header) + 1)
		leave_out(table, widths, header, out);
	/* names take the room that the last column has left */
	for (size_t i = 0; i < table->cells.count; i++)
		if (table->left[i % table->columns] && widths[i % table->columns])
			widths[i % table->columns] = nw_max64(widths[i % table->columns],
							      table->cells.item[i].width);
	cut_names(table, widths, LEAST_NAME);
	cut_names(table, widths, LEAST_CUT);
}

/* Writes a row as a sentence, "Span app:q: count 5, total 2.04s.", with the headers as words. Cells that say nothing
 * are left out. */
static void print_sentence(const struct nw_table *table, size_t from, struct nw_buf *out)
{
	const char *text = nw_buf_str(&table->text);

	for (size_t i = 0; i < table->columns; i++) {
		const struct nw_cell *word = &table->cells.item[i];
		const struct nw_cell *cell = &table->cells.item[from + i];
		if (!cell->len || (cell->len == 1 && text[cell->at] == '-'))
			continue;
		nw_buf_adds(out, i == 0 ? "" : i == 1 ? ": " : ", ");
		for (const char *at = text + word->at; at < text + word->at + word->len;
		     at++)
			if (*at != ':')
				nw_buf_addc(out, i || at > text ? (char)tolower(*at) : *at);
		nw_buf_addc(out, ' ');
		nw_buf_add(out, text + cell->at, cell->len);
	}
	nw_buf_adds(out, ".\n");
}

static void find_widths(const struct nw_table *table, size_t rows, size_t *widths)
{
	for (size_t i = 0; i < rows * table->columns; i++) {
		size_t *width = &widths[i % table->columns];
		*width = nw_max64(*width, table->cells.item[i].width);
	}
}

size_t nw_table_width(const struct nw_table *table)
{
	nw_cleanup(nw_free_ptr)
		size_t *widths = calloc(table->columns + 1, sizeof(*widths));

	if (!widths)
		return 0;
	find_widths(table, table->cells.count / table->columns, widths);
	return width_of_line(table, widths);
}

void nw_table_print(struct nw_table *table, struct nw_buf *out)
{
	size_t *widths = calloc(table->columns + 1, sizeof(*widths));
	size_t rows = table->columns ? table->cells.count / table->columns : 0;

	if (!widths || table->text.failed) {
		out->failed = true;
		rows = 0;
	}
	find_widths(table, rows, widths);
	if (rows && !table->layout.plain)
		narrow(table, widths, out);
	for (size_t row = table->layout.plain; row < rows; row++)
		if (table->layout.plain)
			print_sentence(table, row * table->columns, out);
		else
			print_row(table, row * table->columns, widths,
				  table->layout.bold && row == 0, out);
	free(widths);
	nw_table_free(table);
}

void nw_text_fill(struct nw_buf *out, size_t from, size_t width)
{
	size_t column = 0, blank = 0; /* blank: where the line may end; 0: nowhere */
	bool quoted = false;

	for (size_t i = from; width && !out->failed && i < out->len; i++) {
		const char c = out->data[i];
		quoted = c == '`' ? !quoted : quoted && c != '\n';
		column = c == '\n' ? 0 : column + width_of(&out->data[i], 1);
		if (c == '\n')
			blank = 0;
		else if (c == ' ' && !quoted && column > 1 &&
			 (column <= width + 1 || !blank))
			blank = i;
		if (column <= width || !blank)
			continue;
		out->data[blank] = '\n';
		column = width_of(&out->data[blank + 1], i - blank);
		blank = 0;
	}
}

void nw_table_left_out(const nw_strings *left_out, struct nw_buf *out)
{
	if (!left_out->count)
		return;
	nw_buf_adds(out, "\nleft out, since the terminal is narrow (-v shows all): ");
	nw_vec_each (left_out, name)
		nw_buf_printf(out, "%s%s", name == left_out->item ? "" : ", ", *name);
	nw_buf_addc(out, '\n');
}

void nw_table_free(struct nw_table *table)
{
	nw_vec_free(&table->cells);
	nw_buf_free(&table->text);
}

/* ---- histograms --------------------------------------------------------------------- */

enum {
	BAR_WIDTH = 52, /* bpftrace's; the rest of its line has 27 characters */
	REST_WIDTH = 27,
	LEAST_BAR = 8,
	MOST_BAR = 200,
	ROWS = 1 + 65
}; /* negatives, 0, 1, [2, 4), ... [2^63, 2^64) */

/* Row 0 is for values below 0, row 1 for 0, row n for [2^(n-2), 2^(n-1)). */
static unsigned int row_of(const struct nw_bucket *bucket, bool is_signed)
{
	if (is_signed && (int64_t)bucket->low < 0)
		return 0;
	return bucket->low == 0 ? 1 : 65 - (unsigned int)__builtin_clzll(bucket->low);
}

/* Writes 2^power with bpftrace's letters: 512, 1K, 32K, 1M. */
static void power_text(unsigned int power, char out[16])
{
	static const char letters[] = {'\0', 'K', 'M', 'G', 'T', 'P', 'E'};
	char letter[2] = {letters[power / 10], '\0'};

	snprintf(out, 16, "%u%s", 1u << power % 10, letter);
}

/* Writes "512ns-1.02us", or "1.05-2.10ms" if both ends have the same unit. */
static void time_label(unsigned int row, char out[40])
{
	char low[16], high[16];
	uint64_t end = row < ROWS - 1 ? UINT64_C(1) << (row - 1) : UINT64_MAX;

	nw_duration_text(row <= 2 ? row - 1 : UINT64_C(1) << (row - 2), low);
	nw_duration_text(end, high);
	size_t digits = strspn(low, "0123456789.");
	if (row > 2 && strcmp(low + digits, high + strspn(high, "0123456789.")) == 0)
		low[digits] = '\0';
	snprintf(out, 40, row <= 2 ? "%s" : "%s-%s", low, high);
}

static void row_label(unsigned int row, bool is_time, char out[40])
{
	char low[16], high[16];

	if (row == 0) {
		snprintf(out, 40, "(..., 0)");
	} else if (is_time) {
		time_label(row, out);
	} else if (row <= 2) {
		snprintf(out, 40, "[%u]", row - 1);
	} else {
		power_text(row - 2, low);
		power_text(row - 1, high);
		snprintf(out, 40, "[%s, %s)", low, high);
	}
}

/* Writes one row; its bar shows the share of the largest count. */
static void histogram_row(const char *label, uint64_t count, uint64_t most,
			  const struct nw_layout *layout, struct nw_buf *out)
{
	const size_t width = layout->width;
	const size_t room = nw_min64(width > REST_WIDTH ? width - REST_WIDTH : 0, MOST_BAR);
	const size_t most_bar = width ? nw_max64(room, LEAST_BAR) : BAR_WIDTH;
	/* float, as in bpftrace: a double would make some bars shorter */
	size_t len = (size_t)((float)count / (float)most * (float)most_bar);
	char bar[MOST_BAR + 1];

	if (layout->plain) {
		if (count)
			nw_buf_printf(out, "%s: %" PRIu64 "\n", label, count);
		return;
	}
	memset(bar, '@', len);
	bar[len] = '\0';
	nw_buf_printf(out, "%-16s%8llu |%-*s|\n", label, (unsigned long long)count,
		      (int)most_bar, bar);
}

void nw_histogram_print(const struct nw_histogram *h, bool is_time,
			const struct nw_layout *layout, struct nw_buf *out)
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
		char label[40];
		row_label(row, is_time, label);
		histogram_row(label, count[row], most, layout, out);
	}
}

/* Returns the count of a row: 0 is below MIN, and the last one is from MAX on. */
static uint64_t linear_count(const struct nw_linear *linear, size_t row)
{
	return row == 0			      ? linear->below
	       : row <= linear->shape.buckets ? linear->count[row - 1]
					      : linear->above;
}

static void linear_label(const struct nw_linear_shape *shape, size_t row, char out[48])
{
	if (row == 0)
		snprintf(out, 48, "(..., %" PRId64 ")", shape->min);
	else if (row <= shape->buckets)
		snprintf(out, 48, "[%" PRId64 ", %" PRId64 ")",
			 nw_linear_low(shape, row - 1), nw_linear_low(shape, row));
	else
		snprintf(out, 48, "[%" PRId64 ", ...)", shape->max);
}

void nw_linear_print(const struct nw_linear *linear, const struct nw_layout *layout,
		     struct nw_buf *out)
{
	const size_t rows = linear->shape.buckets + 2;
	size_t first = rows, last = 0;
	uint64_t most = 0;

	for (size_t row = 0; row < rows; row++) {
		if (!linear_count(linear, row))
			continue;
		first = first < row ? first : row;
		last = row;
		most = nw_max64(most, linear_count(linear, row));
	}
	for (size_t row = first; row <= last && most; row++) {
		char label[48];
		linear_label(&linear->shape, row, label);
		histogram_row(label, linear_count(linear, row), most, layout, out);
	}
}
