// SPDX-License-Identifier: MIT
/* The probes of files for people: a row a probe, or its sites below its name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/text/text.h"
#include "table.h"

/* Makes a table with its header only. */
static void begin_table(const struct nw_probe_table *list, struct nw_table *table)
{
	static const char *const headers[] = {"PROBE", "SITES", "SEMAPHORE", "ARGS"};
	static const bool left[NW_COUNT(headers)] = {true};
	static const char give_up[] = "SEMAPHORE\0SITES\0ARGS\0";

	*table = (struct nw_table){.columns = NW_COUNT(headers),
				   .left = left,
				   .layout = list->layout,
				   .give_up = give_up};
	for (size_t i = 0; i < NW_COUNT(headers); i++)
		nw_table_text(table, headers[i]);
}

void nw_probe_table_begin(struct nw_probe_table *list)
{
	list->table = calloc(1, sizeof(*list->table));
	if (list->table)
		begin_table(list, list->table);
	else
		list->output->text.failed = true;
}

/* Returns the length of "usdt:FILE:" in a cell with a spec. */
static size_t file_length(const char *spec, size_t len)
{
	for (int colons = 0; len; len--)
		if (spec[len - 1] == ':' && ++colons == 2)
			return len;
	return 0;
}

/* Prints the rows of each file below a line with its name, since the table with whole specs is too wide. */
static void print_by_file(const struct nw_probe_table *list)
{
	const struct nw_table *all = list->table;
	const char *text = nw_buf_str(&all->text), *file = NULL;
	struct nw_buf *out = &list->output->text;
	struct nw_table table = {0};
	size_t file_len = 0;

	for (size_t i = all->columns; i < all->cells.count; i++) {
		const struct nw_cell *cell = &all->cells.item[i];
		size_t skip = i % all->columns ? 0
					       : file_length(text + cell->at, cell->len);
		if (skip &&
		    (skip != file_len || memcmp(text + cell->at, file, skip) != 0)) {
			if (file)
				nw_table_print(&table, out);
			file = text + cell->at;
			file_len = skip;
			nw_buf_printf(out, "%s%.*s\n", i > all->columns ? "\n" : "",
				      (int)skip, file);
			begin_table(list, &table);
		}
		nw_buf_adds(&table.text, i % all->columns ? "" : "  ");
		nw_buf_add(&table.text, text + cell->at + skip, cell->len - skip);
		nw_table_end_cell(&table);
	}
	nw_table_print(&table, out);
	nw_buf_adds(out, "\n`nopwatch list -q` prints whole specs\n");
}

void nw_probe_table_end(struct nw_probe_table *list)
{
	if (!list->table)
		return;
	if (list->table->cells.count > list->table->columns && list->layout.width &&
	    !list->layout.plain && nw_table_width(list->table) > list->layout.width)
		print_by_file(list);
	else if (list->table->cells.count > list->table->columns)
		nw_table_print(list->table, &list->output->text);
	nw_table_free(list->table);
	free(list->table);
	list->table = NULL;
}

/* The sites with the same name. */
struct row {
	const struct nw_site *first;
	size_t last; /* number of the last site in the image */
	size_t sites;
	size_t semaphores; /* number of different semaphores */
	uint64_t last_semaphore;
};

static void spec_text(const struct nw_buf *start, const struct nw_site *site,
		      struct nw_buf *out)
{
	nw_buf_add(out, start->data, start->len);
	nw_buf_add_escaped(out, site->provider, strlen(site->provider));
	nw_buf_addc(out, ':');
	nw_buf_add_escaped(out, site->name, strlen(site->name));
}

static void print_row(struct nw_probe_table *list, const struct nw_buf *start,
		      const struct row *row)
{
	struct nw_table *table = list->table;

	if (list->names_only) {
		spec_text(start, row->first, &list->output->text);
		nw_buf_addc(&list->output->text, '\n');
		return;
	}
	if (!table)
		return;
	spec_text(start, row->first, &table->text);
	nw_table_end_cell(table);
	nw_table_number(table, row->sites);
	if (row->semaphores > 1)
		nw_table_number(table, row->semaphores);
	else
		nw_table_text(table, row->semaphores ? "yes" : "-");
	nw_table_number(table, nw_operands_count(row->first->args));
}

/* Collects the sites with the same name; the index keeps this linear (a hostile file has 30,000 names). next[site] is the
 * number of the next site with the same name, or 0. */
static int collect_rows(struct nw_probe_table *list, const struct nw_image *image,
			struct nw_index *index, struct row *rows, size_t *next)
{
	struct nw_buf key = {0};
	int64_t number = rows && next ? 0 : -ENOMEM;

	nw_vec_each (&image->sites, site) {
		if (number < 0)
			break;
		if (!nw_search_wants(list->search, site->provider, site->name))
			continue;
		list->matched++;
		nw_buf_clear(&key);
		nw_buf_adds(&key, site->provider);
		nw_buf_addc(&key, ':');
		nw_buf_adds(&key, site->name);
		number = key.failed ? -ENOMEM
				    : nw_index_add(index, nw_buf_str(&key), key.len);
		struct row *row = number >= 0 ? &rows[number] : NULL;
		if (!row)
			break;
		size_t at = (size_t)(site - image->sites.item);
		if (!row->first)
			row->first = site;
		else
			next[row->last] = at;
		row->last = at;
		row->sites++;
		if (site->semaphore_vaddr && site->semaphore_vaddr != row->last_semaphore) {
			row->semaphores++;
			row->last_semaphore = site->semaphore_vaddr;
		}
	}
	nw_buf_free(&key);
	return number < 0 ? (int)number : 0;
}

static void print_sites(struct nw_probe_table *list, struct nw_image *image,
			const struct nw_buf *start, const struct row *row,
			const size_t *next)
{
	struct nw_output *output = list->output;
	size_t at = (size_t)(row->first - image->sites.item);

	spec_text(start, row->first, &output->text);
	nw_buf_addc(&output->text, '\n');
	do {
		output->format->site(output, image, &image->sites.item[at], list->types);
		at = next[at];
	} while (at);
}

void nw_probe_table_add(struct nw_probe_table *list, struct nw_image *image)
{
	struct row *rows = calloc(image->sites.count + 1, sizeof(*rows));
	size_t *next = calloc(image->sites.count + 1, sizeof(*next));
	struct nw_index index = {0};
	struct nw_buf start = {0};

	if (collect_rows(list, image, &index, rows, next) < 0)
		list->output->text.failed = true;
	/* the beginning of the specs of all probes of a file */
	nw_buf_adds(&start, "usdt:");
	nw_buf_add_escaped(&start, image->path, strlen(image->path));
	nw_buf_addc(&start, ':');
	for (size_t i = 0; rows && next && i < index.text.count; i++) {
		if (list->sites)
			print_sites(list, image, &start, &rows[i], next);
		else
			print_row(list, &start, &rows[i]);
	}
	list->output->text.failed |= start.failed;
	free(rows);
	free(next);
	nw_buf_free(&start);
	nw_index_free(&index);
}
