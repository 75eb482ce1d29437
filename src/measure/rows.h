/* SPDX-License-Identifier: MIT */
/*
 * The rows of one group. Without grouping, an array holds the rows of all probes and spans, which is the hot path.
 * With grouping, a table for each group holds only the rows of probes and spans that were hit in it, since there may
 * be thousands of groups and thousands of probes.
 */
#ifndef NOPWATCH_MEASURE_ROWS_H
#define NOPWATCH_MEASURE_ROWS_H

#include "measure/summary.h"

/* Open-addressed hash table by number of the probe or span. Rows do not move while the table grows. */
struct nw_row_table {
	struct {
		uint32_t number;
		void *row; /* NULL: free */
	} * slot;
	size_t slots, used;
	unsigned int shift; /* 32 - log2(slots) */
};

/* Facts that the rows of all groups of a summary share. */
struct nw_row_shape {
	const struct nw_summary_options *options;
	size_t probes;
	/* How many arguments of each probe are summarised; a copy, because rows outlive the selection */
	size_t *args;
	/* By probe, by argument: the equal steps in which it is counted, or NULL; NULL: no argument of the probe is */
	const struct nw_linear_shape ***linear;
	struct nw_probe_row no_probe; /* returned for a row that does not exist */
	struct nw_span_row no_span;
};

struct nw_group_rows {
	const struct nw_row_shape *shape;
	struct nw_probe_row *probes; /* NULL: the rows are in the tables */
	struct nw_span_row *spans;
	struct nw_row_table some_probes, some_spans;
};

/* `options` must outlive the shape; their selection need not. Returns -ENOMEM on failure. */
int nw_row_shape_init(struct nw_row_shape *shape, const struct nw_summary_options *options);
void nw_row_shape_free(struct nw_row_shape *shape);

int nw_rows_init(struct nw_group_rows *rows, const struct nw_row_shape *shape);
void nw_rows_free(struct nw_group_rows *rows); /* also accepts zeroed rows */
/* Returns the slot of a number, or the free slot where it belongs. The table must have slots. Inlined, because
 * grouping calls it for each hit. */
static inline size_t nw_row_slot(const struct nw_row_table *table, uint32_t number)
{
	/* Fibonacci hashing, as in open.h. */
	size_t at = (number * 0x9e3779b9u) >> table->shift;

	while (table->slot[at].row && nw_unlikely(table->slot[at].number != number))
		at = (at + 1) & (table->slots - 1);
	return at;
}
/* Returns NULL if there is none. */
static inline void *nw_row_find(const struct nw_row_table *table, uint32_t number)
{
	return nw_likely(table->slots) ? table->slot[nw_row_slot(table, number)].row : NULL;
}
/* Return the row, which is made if there is none; NULL without memory. */
struct nw_probe_row *nw_rows_add_probe(struct nw_group_rows *rows, uint32_t probe);
struct nw_span_row *nw_rows_add_span(struct nw_group_rows *rows, uint32_t span);
int nw_rows_merge(struct nw_group_rows *into, const struct nw_group_rows *from);
/* Clears all rows, except the time of each probe's last hit. */
void nw_rows_clear(struct nw_group_rows *rows);
/* Did a histogram of these rows get no memory for a value? */
bool nw_rows_failed(const struct nw_group_rows *rows);

/* Adds the values of a hit to the distributions of its arguments. */
nw_noinline void nw_row_add_args(struct nw_probe_row *row, const struct nw_hit *hit);
/* Clears a row, except the time of a probe's last hit. Memory is kept. */
void nw_row_clear(enum nw_subject subject, void *row, size_t args);
/* Did a histogram of the row get no memory for a value? */
bool nw_row_failed(enum nw_subject subject, const void *row, size_t args);

#endif
