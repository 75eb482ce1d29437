/* SPDX-License-Identifier: MIT */
/* The data of bins, shared by the source files that implement them. */
#ifndef NOPWATCH_MEASURE_BINS_PRIVATE_H
#define NOPWATCH_MEASURE_BINS_PRIVATE_H

#include "measure/bins.h"

struct nw_bins {
	struct nw_bins_options options;
	uint64_t width, end; /* end: of the current bin */
	/* `reached` includes bins that only nw_bins_update() or a loss has reached */
	unsigned int current, reached;
	unsigned int most; /* limit of bins; halved when there are too many cells */
	unsigned int shift[NW_SERIES_KINDS];
	size_t squeezed; /* steps of squeeze() that were done */
	size_t cells;	 /* of all series; a column counts as COLUMN cells */
	NW_VEC(struct nw_bin_series *) series;
	struct nw_bin_series **gaps, **spans; /* the series of group 0, by number */
	struct nw_hash_table table;	      /* of series */
	bool left_out;
	struct nw_bin_loss loss[NW_BINS_MOST];
	uint64_t *least; /* by span: `least` of the series in group 0 */
	struct nw_span_starts *starts;
	bool has_starts;   /* the listener was called with BEGINS */
	size_t kept_bytes; /* memory of all slow spans */
	/* A slice has 2^slice_shift bins. `slowest` spans are kept in addition to the slowest one of each slice. */
	unsigned int slice_shift, slowest;
};

/* Keeps a span that may be one of the slowest of its series. began: NULL: unknown. */
int nw_slowest_add(struct nw_bins *bins, struct nw_bin_series *series,
		   const struct nw_hit *began, const struct nw_span_event *event);
/* Decides again which spans are kept and which are worth keeping, since the current bin is in another slice or bins
 * have become wider. */
void nw_slowest_judge(struct nw_bins *bins);
void nw_slowest_free(struct nw_bin_series *series);

#endif
