/* SPDX-License-Identifier: MIT */
/*
 * Rows of one group: of every probe and span in one array where nothing is grouped, which is the
 * hot path; else only of those that the group has had to do with, in a table each, since there may
 * be thousands of groups and thousands of probes.
 */
#ifndef NOPWATCH_MEASURE_ROWS_H
#define NOPWATCH_MEASURE_ROWS_H

#include "nopwatch/summary.h"

/* By number of the probe or span, open addressing. Rows do not move while the table grows. */
struct nw_row_table {
	struct {
		uint32_t number;
		void *row; /* NULL: free */
	} * slot;
	size_t slots, used;
	unsigned int shift; /* 32 - log2(slots) */
};

/* What the rows of all groups of a summary have in common. */
struct nw_row_shape {
	const struct nw_summary_options *options;
	size_t probes;
	size_t *args; /* of each probe that are summarised: rows outlive the selection */
	struct nw_probe_row no_probe; /* for who asks for a row that there is not */
	struct nw_span_row no_span;
};

struct nw_group_rows {
	const struct nw_row_shape *shape;
	struct nw_probe_row *probes; /* NULL: it is grouped */
	struct nw_span_row *spans;
	struct nw_row_table some_probes, some_spans;
};

/* options must live as long as the shape, their selection need not. -ENOMEM */
int nw_row_shape_init(struct nw_row_shape *shape, const struct nw_summary_options *options);
void nw_row_shape_free(struct nw_row_shape *shape);

int nw_rows_init(struct nw_group_rows *rows, const struct nw_row_shape *shape);
void nw_rows_free(struct nw_group_rows *rows); /* also zeroed ones */
/* The slot of a number, or the free one where it would go, of a table that has slots. Inlined: of groups, each hit asks. */
static inline size_t nw_row_slot(const struct nw_row_table *table, uint32_t number)
{
	/* Fibonacci hashing, as in open.h */
	size_t at = (number * 0x9e3779b9u) >> table->shift;

	while (table->slot[at].row && nw_unlikely(table->slot[at].number != number))
		at = (at + 1) & (table->slots - 1);
	return at;
}
/* NULL: there is none. */
static inline void *nw_row_find(const struct nw_row_table *table, uint32_t number)
{
	return nw_likely(table->slots) ? table->slot[nw_row_slot(table, number)].row : NULL;
}
/* The row, made if there is none; NULL: no memory. */
struct nw_probe_row *nw_rows_add_probe(struct nw_group_rows *rows, uint32_t probe);
struct nw_span_row *nw_rows_add_span(struct nw_group_rows *rows, uint32_t span);
int nw_rows_merge(struct nw_group_rows *into, const struct nw_group_rows *from);
/* Start again from 0. When a probe was hit last stays known. */
void nw_rows_clear(struct nw_group_rows *rows);
/* Did a histogram of these rows have no memory for one of its values? */
bool nw_rows_failed(const struct nw_group_rows *rows);

/* Start a row again from 0. When a probe was hit last stays known, and memory is kept. */
void nw_row_clear(enum nw_subject subject, void *row, size_t args);
/* Did a distribution of it have no memory for one of its values? */
bool nw_row_failed(enum nw_subject subject, const void *row, size_t args);

#endif
