// SPDX-License-Identifier: MIT
/* See stacks.h. */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool has_rows(const struct nw_stack_counts *counts, uint32_t of)
{
	for (size_t i = 0; i < counts->slots; i++)
		if (counts->slot[i].count && counts->slot[i].of == of)
			return true;
	return false;
}

static int add_owner(nw_stack_owners *list, const struct nw_report *report, uint32_t number,
		     bool span, const char *name, const struct nw_probe *function)
{
	struct nw_stack_owner *of = has_rows(report->stack_counts, number)
					    ? nw_vec_add(list)
					    : NULL;

	if (!of)
		return has_rows(report->stack_counts, number) ? -ENOMEM : 0;
	*of = (struct nw_stack_owner){number, span, name, function};
	return 0;
}

int nw_report_stack_owners(const struct nw_report *report, nw_stack_owners *out)
{
	const struct nw_selection *selection = report->selection;
	int ret = 0;

	if (!report->stacks || !report->stack_counts)
		return 0;
	for (uint32_t i = 0; ret == 0 && i < report->span_count; i++)
		ret = add_owner(out, report, NW_STACK_OF_SPAN | i, true,
				report->spans[i].name,
				nw_span_function(&report->spans[i], selection));
	for (uint32_t i = 0; ret == 0 && i < selection->probes.count; i++)
		ret = add_owner(out, report, i, false, selection->probes.item[i]->label,
				selection->probes.item[i]);
	return ret;
}

void nw_report_each_stack_owner(const struct nw_report *report,
				void (*show)(const struct nw_report *report,
					     const struct nw_stack_owner *of,
					     struct nw_buf *out),
				struct nw_buf *out)
{
	nw_stack_owners owners = {0};

	out->failed |= nw_report_stack_owners(report, &owners) < 0;
	nw_vec_each (&owners, of)
		show(report, of, out);
	nw_vec_free(&owners);
}

double nw_stack_percent(const nw_stack_rows *rows, uint64_t count)
{
	uint64_t all = 0;

	nw_vec_each (rows, row)
		all += row->count;
	return all ? 100.0 * (double)count / (double)all : 0;
}

uint32_t nw_slow_stack(const struct nw_slow_span *slow)
{
	return slow->began && slow->began->callers ? slow->began->callers
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

static int make_flame(const struct nw_report *report, const struct nw_stack_owner *of,
		      struct nw_flames *flames)
{
	struct nw_flame *flame = nw_vec_add(&flames->list);
	nw_stack_rows rows = {0};
	int ret = flame ? nw_stack_rows_of(report->stack_counts, of->number, &rows)
			: -ENOMEM;
	struct nw_folded *stacks = ret == 0 ? calloc(rows.count + 1, sizeof(*stacks))
					    : NULL;

	if (stacks) {
		flame->of = of->name;
		flame->stacks = stacks;
	}
	ret = stacks ? 0 : -ENOMEM;
	nw_vec_each (&rows, row) {
		struct nw_buf text = {0};
		if (ret < 0)
			break;
		nw_stack_fold(report->stacks, row->stack, &text);
		stacks[flame->count].text = nw_buf_take(&text);
		stacks[flame->count].count = row->count;
		ret = stacks[flame->count].text ? 0 : -ENOMEM;
		flame->count += ret == 0;
	}
	nw_vec_free(&rows);
	return ret;
}

int nw_flames_make(const struct nw_report *report, struct nw_flames *out)
{
	nw_stack_owners owners = {0};
	int ret = nw_report_stack_owners(report, &owners);

	*out = (struct nw_flames){0};
	nw_vec_each (&owners, of)
		if (ret == 0)
			ret = make_flame(report, of, out);
	nw_vec_free(&owners);
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
