// SPDX-License-Identifier: MIT
/*
 * Stacks as a tree, for people: callers above, what they call further in. Functions in a row without a fork stand
 * one below the other; at a fork, the most frequent first. With -v a line is a place in a function.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text_private.h"

enum {
	LEAST_PERMILLE = 5, /* permille of all stacks: a smaller branch is not shown */
	DEEPEST = 2 * NW_DEEPEST_STACK
};

/* A stack, from its first function on. */
struct branch {
	const char **name;
	size_t count;
	uint64_t hits, ns;
	enum nw_stack_end end;
	bool nameless; /* one of its functions has no name */
};

struct tree {
	struct branch *branch;
	size_t count;
	uint64_t all, hidden;
	bool span, whole; /* has latencies; no branch is left out */
	uint64_t needed;  /* nw_stacks_needed() */
	struct nw_buf *out;
};

static const char *name_at(const struct branch *branch, size_t depth)
{
	return depth < branch->count ? branch->name[depth] : NULL;
}

static int by_names(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	for (size_t i = 0; i < x->count && i < y->count; i++) {
		int order = strcmp(x->name[i], y->name[i]);
		if (order)
			return order;
	}
	return x->count < y->count ? -1 : x->count > y->count;
}

/* Branches that continue with the same function. */
struct fork {
	size_t from, to;
	uint64_t hits, ns;
};
typedef NW_VEC(struct fork) forks;

static int by_hits(const void *a, const void *b)
{
	const struct fork *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static void find_forks(const struct tree *tree, size_t from, size_t to, size_t depth,
		       forks *out)
{
	const char *last = NULL;

	for (size_t i = from; i < to; i++) {
		const struct branch *branch = &tree->branch[i];
		const char *name = name_at(branch, depth);
		if (!name)
			continue;
		struct fork *fork = last && strcmp(last, name) == 0
					    ? &out->item[out->count - 1]
					    : nw_vec_add(out);
		if (!fork) {
			tree->out->failed = true;
			return;
		}
		if (!fork->hits)
			fork->from = i;
		fork->to = i + 1;
		fork->hits += branch->hits;
		fork->ns += branch->ns;
		last = name;
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_hits);
}

static void print_line(const struct tree *tree, const struct fork *fork, const char *name,
		       size_t indent, bool numbers)
{
	char text[16] = "";

	if (!numbers) {
		nw_buf_printf(tree->out, "%*s", tree->span ? 28 : 18, "");
	} else {
		nw_buf_printf(tree->out, "%10" PRIu64 " %5.1f%% ", fork->hits,
			      100.0 * (double)fork->hits / (double)tree->all);
		nw_duration_text(fork->ns, text);
		if (tree->span)
			nw_buf_printf(tree->out, "%9s ", text);
	}
	nw_buf_printf(tree->out, "%*s", (int)(2 * indent), "");
	nw_buf_add_escaped(tree->out, name, strlen(name));
	nw_buf_addc(tree->out, '\n');
}

static void print_forks(struct tree *tree, size_t from, size_t to, size_t depth,
			size_t indent, uint64_t above)
{
	forks list = {0};

	find_forks(tree, from, to, depth, &list);
	nw_vec_each (&list, fork) {
		bool alone = list.count == 1 && fork->hits == above;
		if (!tree->whole && fork->hits * 1000 < tree->all * LEAST_PERMILLE) {
			tree->hidden += fork->hits;
			continue;
		}
		size_t in = alone ? indent : indent + (depth > 0);
		print_line(tree, fork, name_at(&tree->branch[fork->from], depth), in,
			   !alone);
		print_forks(tree, fork->from, fork->to, depth + 1, in, fork->hits);
	}
	nw_vec_free(&list);
}

static int make_branch(const struct nw_report *report, const struct nw_stack_row *row,
		       struct branch *out)
{
	const struct nw_stacks *stacks = report->stacks;
	const struct nw_stack stack = nw_stacks_get(stacks, row->key.stack);
	const char *root = nw_stack_root(stack.end);

	*out = (struct branch){.hits = row->count, .ns = row->ns, .end = stack.end};
	out->name = calloc(stack.count + 2, sizeof(*out->name));
	if (!out->name)
		return -1;
	if (root)
		out->name[out->count++] = root;
	for (size_t i = stack.count; i-- > 0 && out->count < DEEPEST;) {
		const struct nw_stack_frame frame = nw_stacks_frame(stacks,
								    stack.frames[i]);
		out->name[out->count++] = report->view.frames ? frame.text : frame.function;
		out->nameless |= strcmp(frame.function, NW_STACK_NAMELESS) == 0;
	}
	return 0;
}

/* Writes which size holds all of the stacks that were cut, if that is known and there is such a size. */
static void size_that_does(uint64_t needed, struct nw_buf *out)
{
	if (needed && needed <= NW_MAX_STACK_BYTES)
		nw_buf_printf(out, "; --stack-size %" PRIu64 "K is enough",
			      (needed + 1023) / 1024);
	else if (needed)
		nw_buf_printf(out, "; --stack-size %dK is the largest",
			      NW_MAX_STACK_BYTES / 1024);
}

/* Writes why some stacks are not whole, or have functions without names. */
static void list_gaps(const struct tree *tree)
{
	uint64_t nameless = 0;

	for (size_t i = 0; i < tree->count; i++)
		nameless += tree->branch[i].nameless ? tree->branch[i].hits : 0;
	if (nameless)
		nw_buf_printf(
			tree->out,
			"%10" PRIu64
			" of these: functions that are in no file are " NW_STACK_NAMELESS
			"; runtimes list theirs in /tmp/perf-PID.map if they are asked"
			" (java: jcmd PID Compiler.perfmap; node: --perf-basic-prof; python3: -X perf)\n",
			nameless);
	for (int end = 0; end < NW_STACK_ENDS; end++) {
		uint64_t hits = 0;
		for (size_t i = 0; i < tree->count; i++)
			hits += tree->branch[i].end == (enum nw_stack_end)end
					? tree->branch[i].hits
					: 0;
		if (!hits || !nw_stack_end_texts[end])
			continue;
		nw_buf_printf(tree->out, "%10" PRIu64 " of these: %s", hits,
			      nw_stack_end_texts[end]);
		if (end == NW_STACK_SIZE)
			size_that_does(tree->needed, tree->out);
		nw_buf_addc(tree->out, '\n');
	}
	if (tree->hidden)
		nw_buf_printf(
			tree->out,
			"%10" PRIu64
			" of these in branches of less than 0.5%%; --all-rows shows them\n",
			tree->hidden);
}

static void print_tree(const struct nw_report *report, const struct nw_stack_table *of,
		       struct nw_buf *out)
{
	struct tree tree = {.span = of->span, .whole = report->view.all_rows, .out = out};

	tree.branch = calloc(of->count, sizeof(*tree.branch));
	out->failed |= !tree.branch;
	for (; !out->failed && tree.count < of->count; tree.count++)
		out->failed |= make_branch(report, &of->row[tree.count],
					   &tree.branch[tree.count]) < 0;
	tree.all = of->total;
	tree.needed = nw_stacks_needed(report->stacks);
	nw_buf_printf(out, "\n%s", report->layout.bold ? "\033[1m" : "");
	nw_buf_printf(out, "STACKS of ");
	nw_buf_add_escaped(out, of->name, strlen(of->name));
	if (of->span && report->stacks_of)
		nw_buf_printf(out, ", only of %s", report->stacks_of);
	nw_buf_printf(out, " (%zu different)%s\n", of->count,
		      report->layout.bold ? "\033[0m" : "");
	if (tree.count) {
		qsort(tree.branch, tree.count, sizeof(*tree.branch), by_names);
		print_forks(&tree, 0, tree.count, 0, 0, UINT64_MAX);
		list_gaps(&tree);
	}
	for (size_t i = 0; i < tree.count; i++)
		free(tree.branch[i].name);
	free(tree.branch);
}

void nw_text_stacks(const struct nw_report *report, struct nw_buf *out)
{
	size_t owners = nw_report_each_stack_table(report, print_tree, out);

	if (report->stacks && report->stacks_of && !owners)
		nw_buf_printf(out, "\nNo STACKS of spans are shown: there were no %s.\n",
			      report->stacks_of);
}
