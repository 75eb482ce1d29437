// SPDX-License-Identifier: MIT
/* See stacks.h. */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tables {
	NW_VEC(struct nw_stack_table) list;
	nw_stack_rows rows; /* of all of them */
};

static void free_tables(struct tables *tables)
{
	nw_vec_free(&tables->list);
	nw_vec_free(&tables->rows);
}

/* The table of the rows that begin here. */
static struct nw_stack_table table_of(const struct nw_report *report,
				      const struct nw_stack_row *first)
{
	const uint32_t number = first->key.of;
	struct nw_stack_table of = {.span = first->key.of_span, .row = first};

	if (of.span) {
		of.name = report->spans[number].name;
		of.function = nw_span_function(&report->spans[number], report->selection);
	} else {
		of.function = report->selection->probes.item[number];
		of.name = of.function->label;
	}
	return of;
}

static int find_tables(const struct nw_report *report, struct tables *out)
{
	struct nw_stack_table *of = NULL;

	*out = (struct tables){0};
	if (!report->stacks || !report->stack_counts)
		return 0;
	if (nw_stack_rows_list(report->stack_counts, &out->rows) < 0)
		return -ENOMEM;
	nw_vec_each (&out->rows, row) {
		if (!of || of->row->key.of_span != row->key.of_span ||
		    of->row->key.of != row->key.of) {
			of = nw_vec_add(&out->list);
			if (!of)
				return -ENOMEM;
			*of = table_of(report, row);
		}
		of->count++;
		of->total += row->count;
	}
	if (out->list.count == 1)
		out->list.item[0].alone = true;
	return 0;
}

size_t nw_report_each_stack_table(const struct nw_report *report,
				  void (*show)(const struct nw_report *report,
					       const struct nw_stack_table *of,
					       struct nw_buf *out),
				  struct nw_buf *out)
{
	struct tables tables;

	out->failed |= find_tables(report, &tables) < 0;
	const size_t count = tables.list.count;
	nw_vec_each (&tables.list, of)
		show(report, of, out);
	free_tables(&tables);
	return count;
}

uint32_t nw_slow_stack(const struct nw_slow_span *slow)
{
	return slow->began && (slow->began->callers || !slow->ended) ? slow->began->callers
								     : slow->ended->callers;
}

const char *nw_stack_root(enum nw_stack_end end)
{
	return end == NW_STACK_WHOLE	? NULL
	       : end == NW_STACK_OTHERS ? "[others]"
	       : end == NW_STACK_NONE	? "[unknown]"
					: "[cut off]";
}

void nw_stack_fold_name(const char *name, struct nw_buf *out)
{
	while (*name) {
		size_t len = strcspn(name, ";");
		nw_buf_add_sentence(out, name, len);
		name += len;
		if (*name == ';')
			nw_buf_addc(out, ':');
		name += *name == ';';
	}
}

void nw_stack_fold(const struct nw_stacks *stacks, uint32_t number, struct nw_buf *out)
{
	const struct nw_stack stack = nw_stacks_get(stacks, number);
	const char *root = nw_stack_root(stack.end);

	nw_buf_adds(out, root ? root : "");
	for (size_t i = stack.count; i-- > 0;) {
		if (root || i + 1 < stack.count)
			nw_buf_addc(out, ';');
		nw_stack_fold_name(nw_stacks_frame(stacks, stack.frames[i]).function, out);
	}
}

/* ---- flame graphs ------------------------------------------------------------------- */

static int make_flame(const struct nw_report *report, const struct nw_stack_table *of,
		      struct nw_flames *flames)
{
	struct nw_flame *flame = nw_vec_add(&flames->list);
	struct nw_folded *stacks = flame ? calloc(of->count, sizeof(*stacks)) : NULL;

	if (!stacks)
		return -ENOMEM;
	flame->of = of->name;
	flame->stacks = stacks;
	for (; flame->count < of->count; flame->count++) {
		const struct nw_stack_row *row = &of->row[flame->count];
		struct nw_buf text = {0};
		nw_stack_fold(report->stacks, row->key.stack, &text);
		stacks[flame->count].text = nw_buf_take(&text);
		stacks[flame->count].count = row->count;
		if (!stacks[flame->count].text)
			return -ENOMEM;
	}
	return 0;
}

int nw_flames_make(const struct nw_report *report, struct nw_flames *out)
{
	struct tables tables;
	int ret = find_tables(report, &tables);

	*out = (struct nw_flames){0};
	nw_vec_each (&tables.list, of)
		if (ret == 0)
			ret = make_flame(report, of, out);
	free_tables(&tables);
	return ret;
}

void nw_flames_free(struct nw_flames *flames)
{
	nw_vec_each (&flames->list, flame) {
		for (size_t i = 0; i < flame->count; i++)
			free((char *)(uintptr_t)flame->stacks[i].text);
		free((void *)(uintptr_t)flame->stacks);
	}
	nw_vec_free(&flames->list);
}
