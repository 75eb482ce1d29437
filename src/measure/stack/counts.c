// SPDX-License-Identifier: MIT
/* Counts stacks: a table by probe or span and by the stack's number. */
#include <errno.h>
#include <stdlib.h>

#include "measure/stack/stack.h"

enum {
	FIRST_SLOTS = 256,
	MOST_ROWS = 1 << 18, /* further stacks count as OTHERS */
	OTHERS = 1
};

static struct nw_stack_row *find(const struct nw_stack_counts *counts, uint32_t of,
				 uint32_t stack)
{
	size_t at = nw_hash64((uint64_t)of << 32 | stack) & (counts->slots - 1);

	while (counts->slot[at].count &&
	       (counts->slot[at].of != of || counts->slot[at].stack != stack))
		at = (at + 1) & (counts->slots - 1);
	return &counts->slot[at];
}

static int grow(struct nw_stack_counts *counts)
{
	struct nw_stack_counts bigger = {.slots = counts->slots ? 2 * counts->slots
								: FIRST_SLOTS,
					 .count = counts->count};

	bigger.slot = calloc(bigger.slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < counts->slots; i++)
		if (counts->slot[i].count)
			*find(&bigger, counts->slot[i].of,
			      counts->slot[i].stack) = counts->slot[i];
	free(counts->slot);
	*counts = bigger;
	return 0;
}

int nw_stack_count(struct nw_stack_counts *counts, uint32_t of, uint32_t stack, uint64_t ns)
{
	if (2 * counts->count >= counts->slots && grow(counts) < 0)
		return -ENOMEM;
	struct nw_stack_row *row = find(counts, of, stack);
	if (!row->count && counts->count >= MOST_ROWS) {
		stack = OTHERS;
		row = find(counts, of, stack);
	}
	counts->count += !row->count;
	row->of = of;
	row->stack = stack;
	row->count++;
	row->ns += ns;
	return 0;
}

/* Sorts spans before probes, and the stacks of each by frequency. */
static int by_owner(const void *a, const void *b)
{
	const struct nw_stack_row *x = a, *y = b;

	if (x->of != y->of)
		return (x->of ^ NW_STACK_OF_SPAN) < (y->of ^ NW_STACK_OF_SPAN) ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

int nw_stack_rows_list(const struct nw_stack_counts *counts, nw_stack_rows *out)
{
	for (size_t i = 0; i < counts->slots; i++) {
		if (!counts->slot[i].count)
			continue;
		struct nw_stack_row *row = nw_vec_add(out);
		if (!row)
			return -ENOMEM;
		*row = counts->slot[i];
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_owner);
	return 0;
}

void nw_stack_counts_free(struct nw_stack_counts *counts)
{
	free(counts->slot);
	*counts = (struct nw_stack_counts){0};
}
