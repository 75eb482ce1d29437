/* SPDX-License-Identifier: MIT */
/* Finds the rows of a hit, and counts hits and probe overhead in them. The functions are inlined where hits are counted. */
#ifndef NOPWATCH_MEASURE_COUNT_H
#define NOPWATCH_MEASURE_COUNT_H

#include <stdlib.h>

#include "histogram.h"
#include "state.h"

/* ---- rows --------------------------------------------------------------------------- */

static nw_noinline struct nw_probe_row *some_probe(struct nw_summary *s, struct group *g,
						   uint32_t probe)
{
	struct nw_probe_row *row = nw_rows_add_probe(&g->current, probe);

	s->failed |= !row;
	return row ? row : &s->spare_probe;
}

static nw_noinline struct nw_span_row *some_span(struct nw_summary *s, struct group *g,
						 uint32_t span)
{
	struct nw_span_row *row = nw_rows_add_span(&g->current, span);

	s->failed |= !row;
	return row ? row : &s->spare_span;
}

static nw_inlined struct nw_probe_row *probe_row(struct nw_summary *s, struct group *g,
						 uint32_t probe)
{
	if (nw_likely(g->current.probes))
		return &g->current.probes[probe];
	struct nw_probe_row *row = nw_row_find(&g->current.some_probes, probe);
	return nw_likely(row) ? row : some_probe(s, g, probe);
}

static nw_inlined struct nw_span_row *span_row(struct nw_summary *s, struct group *g,
					       uint32_t span)
{
	if (nw_likely(g->current.spans))
		return &g->current.spans[span];
	struct nw_span_row *row = nw_row_find(&g->current.some_spans, span);
	return nw_likely(row) ? row : some_span(s, g, span);
}

/* Counts a hit in its row, and the gap since the last one. */
static nw_inlined void count_hit(const struct nw_summary *s, struct nw_probe_row *row,
				 uint64_t time)
{
	const uint64_t last = row->last;

	row->hits++;
	if (nw_unlikely(time < last))
		return;
	row->last = time;
	if (nw_likely(last >= s->gap_least))
		nw_histogram_add_here(&row->gap, time - last);
}

/* ---- probe overhead ----------------------------------------------------------------- */

static nw_noinline bool make_cost(struct nw_summary *s, struct nw_span_row *row)
{
	row->cost = calloc(1, sizeof(*row->cost));
	s->failed |= !row->cost;
	return row->cost;
}

static nw_noinline void add_equal_costs(struct nw_summary *s)
{
	nw_histogram_add_times(s->equal_costs.to, s->equal_costs.cost,
			       s->equal_costs.times);
	s->equal_costs.times = 0;
}

/* Most spans of a row have the same probe overhead as the span before. They are only counted here. */
static nw_inlined void add_cost(struct nw_summary *s, struct nw_span_row *row,
				const struct nw_measured *measured)
{
	row->clamped += measured->clamped;
	if (nw_unlikely(row->cost != s->equal_costs.to ||
			measured->cost != s->equal_costs.cost || !row->cost)) {
		if (s->equal_costs.times)
			add_equal_costs(s);
		if (!row->cost && !make_cost(s, row))
			return;
		s->equal_costs.to = row->cost;
		s->equal_costs.cost = measured->cost;
	}
	s->equal_costs.times++;
}

#endif
