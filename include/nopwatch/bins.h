/* SPDX-License-Identifier: MIT */
/*
 * measure: counts by time and by size, for pictures. Memory depends on the length and the width of a picture, not on
 * the number of events; the slowest spans are kept as a whole. Pure, as the summary is.
 *
 * A hit costs nothing here: a summary counts sizes anyway, so at the end of each bin of time its rows are read, and
 * begin again (nw_summary_next_bin()).
 *
 * Time is cut into bins of the same width. When all bins are used, the width doubles. Sizes are the histogram's
 * buckets; when there are too many cells, buckets or bins become wider, for good, in a fixed order. A span belongs to
 * the bin in which it ends, a gap to that of its second hit.
 */
#ifndef NOPWATCH_BINS_H
#define NOPWATCH_BINS_H

#include "nopwatch/summary.h"

enum {
	NW_BINS_MOST = 600,	   /* of time */
	NW_BINS_CELLS = 96 * 1024, /* that are kept, of all series */
	NW_BINS_SERIES = 512,	   /* what comes later has no picture */
	NW_BINS_SLICES = 75,  /* of each of these parts of time the slowest span is kept, */
	NW_BINS_SLOWEST = 16, /* and these of all */
	NW_BINS_STRING = 256, /* bytes that are kept of an argument of theirs */
	NW_BINS_BYTES = 256 * 1024, /* of all exemplars together */
};

/* So many had a size of this bucket, in this bin. */
struct nw_bin_cell {
	uint16_t bin, bucket;
	uint32_t count; /* stops at its largest value */
};

/* What else a bin of one series has had. */
struct nw_bin_column {
	uint16_t bin;
	uint32_t others;   /* hits without a gap; spans that were not measured */
	uint64_t min, max; /* exactly; 0 where the bin has no cell */
};

/* What the threads of all spans of a bin did, in sum. */
struct nw_bin_states {
	uint16_t bin;
	uint64_t ns[NW_TASK_STATES];
};

#define NW_BINS_UNKNOWN UINT32_MAX

struct nw_exemplar_hit {
	struct nw_hit *hit; /* a copy; NULL: not known. probe: NW_BINS_UNKNOWN: not known */
	int32_t pid;	    /* 0: not known */
	char comm[16];	    /* "": not known */
};

/* A slow span, kept whole as an example of what was slow. */
struct nw_exemplar {
	uint64_t start, end, latency; /* net where that is asked for */
	struct nw_exemplar_hit began, ended;
	bool has_states;
	uint64_t states[NW_TASK_STATES];
};

enum nw_series_kind {
	NW_SERIES_GAPS, /* between hits of a probe */
	NW_SERIES_SPANS,
	NW_SERIES_KINDS
};

struct nw_bin_series {
	enum nw_series_kind kind;
	uint32_t number, group;		      /* of the probe or span */
	NW_VEC(struct nw_bin_cell) cells;     /* by bin, then bucket */
	NW_VEC(struct nw_bin_column) columns; /* by bin; only those that have something */
	NW_VEC(struct nw_bin_states) states; /* by bin; only those in which this is known */
	NW_VEC(struct nw_exemplar *) slowest; /* the slowest first */
	uint64_t least; /* SPANS: shorter ones need not be looked at */
};

/* Events were lost. */
struct nw_bin_loss {
	bool touched;	 /* somewhere in this bin events are missing */
	uint64_t events; /* that many, of losses that began in it; may be 0: not known */
};

/* Who a thread is, as far as is known; NULL: not at all. */
typedef const struct nw_task *nw_task_of(void *arg, int32_t tid);

struct nw_bins;

/* The bin that was reached is over, or looked at: hand out what was in it by nw_bins_add(). < 0: -errno. */
typedef int nw_bins_collect(void *arg, struct nw_bins *bins);
int nw_bins_of_summary(void *summary, struct nw_bins *bins); /* options.bins of it is set */

struct nw_bins_options {
	size_t probes;
	const struct nw_span_def *spans; /* the summary's */
	size_t span_count;
	uint64_t start;	  /* of the first bin */
	nw_task_of *task; /* NULL: nobody knows */
	void *task_arg;
	nw_bins_collect *collect;
	void *collect_arg; /* the summary */
};

int nw_bins_open(const struct nw_bins_options *options, struct nw_bins **out,
		 struct nw_error *err);
void nw_bins_free(struct nw_bins *bins);

/* Time has come to this: before the first hit of that time is summarised. What comes late is counted in the
 * bin that has been reached. -ENOMEM. */
int nw_bins_reach(struct nw_bins *bins, uint64_t time);
/* How many of these hits are in the bin that the first of them has reached, at least 1. */
size_t nw_bins_together(const struct nw_bins *bins, const struct nw_hit *hits,
			size_t count);
/* So many sizes, and others, of the bin that has been reached. group: of the summary; 0 where nothing is
 * grouped. -ENOMEM. */
int nw_bins_add(struct nw_bins *bins, enum nw_series_kind kind, uint32_t number,
		uint32_t group, const struct nw_histogram *sizes, uint64_t others);
/* And of these spans, how long their threads were in which state: NW_TASK_STATES distributions. */
int nw_bins_add_states(struct nw_bins *bins, uint32_t span, uint32_t group,
		       const struct nw_histogram *states);
/* What becomes of a span, as a summary tells it, which may be lazy: one that is slow is kept. -ENOMEM. */
int nw_bins_span(struct nw_bins *bins, const struct nw_span_event *event, uint32_t group);
/* By span of group 0: those that do not take longer than this are not kept. */
const uint64_t *nw_bins_least(const struct nw_bins *bins);
void nw_bins_loss(struct nw_bins *bins, uint64_t from, uint64_t until, uint64_t events);

/* Add the bin that is not over yet, up to this time, so that results can be read; hits may still be added after
 * it. -ENOMEM. */
int nw_bins_update(struct nw_bins *bins, uint64_t until);

/* What there was at the last nw_bins_update(): */
uint64_t nw_bins_start(const struct nw_bins *bins);
uint64_t nw_bins_width(const struct nw_bins *bins); /* ns */
unsigned int nw_bins_count(
	const struct nw_bins *bins); /* of time, up to where the run has come */
/* Buckets of a kind of series: this power of two of the histogram's are one. */
unsigned int nw_bins_shift(const struct nw_bins *bins, enum nw_series_kind kind);
/* The one of a probe or span in a group; NULL: it has none. */
const struct nw_bin_series *nw_bins_find(const struct nw_bins *bins,
					 enum nw_series_kind kind, uint32_t number,
					 uint32_t group);
/* Was there one that came too late to have a series? */
bool nw_bins_left_out(const struct nw_bins *bins);
/* One a bin. */
const struct nw_bin_loss *nw_bins_losses(const struct nw_bins *bins);

#endif
