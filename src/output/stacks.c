// SPDX-License-Identifier: MIT
/* See stacks.h. */
#include "stacks.h"

#include <string.h>

static bool has_rows(const struct nw_stack_counts *counts, uint32_t of)
{
	for (size_t i = 0; i < counts->slots; i++)
		if (counts->slot[i].count && counts->slot[i].of == of)
			return true;
	return false;
}

void nw_report_each_stack_owner(const struct nw_report *report,
				void (*show)(const struct nw_report *report,
					     const struct nw_stack_owner *of,
					     struct nw_buf *out),
				struct nw_buf *out)
{
	const struct nw_selection *selection = report->selection;

	if (!report->stacks || !report->stack_counts)
		return;
	for (uint32_t i = 0; i < report->span_count; i++) {
		const struct nw_stack_owner of = {NW_STACK_OF_SPAN | i, true,
						  report->spans[i].name};
		if (has_rows(report->stack_counts, of.number))
			show(report, &of, out);
	}
	for (uint32_t i = 0; i < selection->probes.count; i++) {
		const struct nw_stack_owner of = {i, false,
						  selection->probes.item[i]->label};
		if (has_rows(report->stack_counts, i))
			show(report, &of, out);
	}
}

static void count_owner(const struct nw_report *report, const struct nw_stack_owner *of,
			struct nw_buf *out)
{
	(void)report;
	(void)of;
	nw_buf_addc(out, '.');
}

size_t nw_report_stack_owners(const struct nw_report *report)
{
	struct nw_buf dots = {0};

	nw_report_each_stack_owner(report, count_owner, &dots);
	size_t count = dots.len;
	nw_buf_free(&dots);
	return count;
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

/* A line each, and ';' between functions: neither may be in a name. */
static void add_name(const char *name, struct nw_buf *out)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;
		nw_buf_addc(out, c == ';' ? ':' : c < ' ' || c == 0x7f ? '?' : *name);
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
		add_name(nw_stacks_frame(stacks, stack.frames[i]).function, out);
	}
}
