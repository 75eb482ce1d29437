/* SPDX-License-Identifier: MIT */
/* The data of bins; for their own files only. */
#ifndef NOPWATCH_MEASURE_BINS_H
#define NOPWATCH_MEASURE_BINS_H

#include "nopwatch/bins.h"

struct nw_bins {
	struct nw_bins_options options;
	uint64_t width, end;	       /* end: of the current bin */
	unsigned int current, reached; /* reached: by a look, too */
	unsigned int most;	       /* bins; fewer when cells were too many */
	unsigned int shift[NW_SERIES_KINDS];
	size_t squeezed; /* steps done to have fewer cells */
	size_t cells;	 /* of all series; a column counts as some */
	NW_VEC(struct nw_bin_series *) series;
	struct nw_bin_series **gaps, **spans; /* of group 0, where groups are not */
	uint32_t *slot; /* of groups: number of the series + 1; 0: free */
	size_t slots;
	bool left_out;
	struct nw_bin_loss loss[NW_BINS_MOST];
	uint64_t *least; /* by span, what the series of group 0 has */
	struct nw_starts *starts;
	bool has_starts;		   /* the summary tells of some */
	size_t kept_bytes;		   /* of all slow spans */
	unsigned int slice_shift, slowest; /* how many bins are a slice; kept beside them */
};

/* A span that may be one of the slowest of its series. began: NULL: not known. */
int nw_slowest_add(struct nw_bins *bins, struct nw_bin_series *series,
		   const struct nw_hit *began, const struct nw_span_event *event);
/* The current bin has moved on into another slice, or bins have become wider: what is kept and what is
 * worth a look must be judged again. */
void nw_slowest_judge(struct nw_bins *bins);
void nw_slowest_free(struct nw_bin_series *series);

#endif
