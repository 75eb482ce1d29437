// SPDX-License-Identifier: MIT
/* Counts stacks: a table by probe or span and by the stack's number. */
#include <errno.h>
#include <stdlib.h>

#include "measure/stack/stack.h"

enum {
	MOST_ROWS = 1 << 18, /* further stacks count as OTHERS */
	OTHERS = 1
};

static uint64_t hash_of(const struct nw_stack_key *key)
{
	return nw_hash64((uint64_t)key->of << 33 | (uint64_t)key->of_span << 32 |
			 key->stack);
}

static struct nw_stack_row *find(const struct nw_stack_counts *counts,
				 const struct nw_stack_key *key)
{
	nw_hash_each (&counts->table, hash_of(key), number) {
		struct nw_stack_row *row = &counts->rows.item[number];
		if (row->key.of_span == key->of_span && row->key.of == key->of &&
		    row->key.stack == key->stack)
			return row;
	}
	return NULL;
}

static struct nw_stack_row *add(struct nw_stack_counts *counts,
				const struct nw_stack_key *key)
{
	struct nw_stack_row *row = nw_vec_add(&counts->rows);

	if (!row)
		return NULL;
	row->key = *key;
	if (nw_hash_table_add(&counts->table, hash_of(key), counts->rows.count - 1) == 0)
		return row;
	counts->rows.count--;
	return NULL;
}

int nw_stack_count(struct nw_stack_counts *counts, struct nw_stack_key key, uint64_t ns)
{
	struct nw_stack_row *row = find(counts, &key);

	if (!row && counts->rows.count >= MOST_ROWS) {
		key.stack = OTHERS;
		row = find(counts, &key);
	}
	if (!row)
		row = add(counts, &key);
	if (!row)
		return -ENOMEM;
	row->count++;
	row->ns += ns;
	return 0;
}

/* Sorts spans before probes, and the stacks of each by frequency. */
static int by_owner(const void *a, const void *b)
{
	const struct nw_stack_row *x = a, *y = b;

	if (x->key.of_span != y->key.of_span)
		return x->key.of_span ? -1 : 1;
	if (x->key.of != y->key.of)
		return x->key.of < y->key.of ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->key.stack < y->key.stack ? -1 : x->key.stack > y->key.stack;
}

int nw_stack_rows_list(const struct nw_stack_counts *counts, nw_stack_rows *out)
{
	nw_vec_each (&counts->rows, counted) {
		struct nw_stack_row *row = nw_vec_add(out);
		if (!row)
			return -ENOMEM;
		*row = *counted;
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_owner);
	return 0;
}

void nw_stack_counts_free(struct nw_stack_counts *counts)
{
	nw_vec_free(&counts->rows);
	nw_hash_table_free(&counts->table);
}
