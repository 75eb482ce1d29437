/* SPDX-License-Identifier: MIT */
/*
 * measure: counts by time and by size, for pictures. The memory depends on the length and the width of a picture, not
 * on the number of events. The slowest spans are kept whole. Pure, like the summary.
 *
 * A hit costs nothing here, because a summary counts sizes anyway: at the end of each bin of time its rows are read
 * and cleared (nw_summary_next_bin()).
 *
 * Time is divided into bins of the same width. When all bins are used, the width doubles. Sizes are the histogram's
 * buckets. When there are too many cells, buckets or bins become wider, for good, in a fixed order. A span belongs to
 * the bin in which it ends, and a gap to the bin of its second hit.
 */
#ifndef NOPWATCH_MEASURE_BINS_H
#define NOPWATCH_MEASURE_BINS_H

#include "measure/summary.h"

enum {
	NW_BINS_MOST = 600,	   /* bins of time */
	NW_BINS_CELLS = 96 * 1024, /* cells of all series together */
	NW_BINS_SERIES = 512,	   /* later series have no picture */
	/* Time is divided into so many slices, and the slowest span of each is kept, */
	NW_BINS_SLICES = 75,
	NW_BINS_SLOWEST = 16, /* and so many of the slowest spans of the whole run */
	NW_BINS_STRING = 256, /* bytes that are kept of a string argument of a slow span */
	NW_BINS_BYTES = 256 * 1024, /* of all slow spans together */
};

/* The number of gaps or spans in this bin whose size is in this bucket. */
struct nw_bin_cell {
	uint16_t bin, bucket;
	uint32_t count; /* stops at UINT32_MAX */
};

/* Other facts of a bin of one series. */
struct nw_bin_column {
	uint16_t bin;
	uint32_t others;   /* hits without a gap, or spans that were not measured */
	uint64_t min, max; /* exact; 0 if the bin has no cell */
};

/* The time that threads spent in each state during the spans of a bin, in total. */
struct nw_bin_states {
	uint16_t bin;
	uint64_t ns[NW_TASK_STATES];
};

#define NW_BINS_UNKNOWN UINT32_MAX

struct nw_exemplar_hit {
	struct nw_hit *hit; /* a copy, whose probe may be NW_BINS_UNKNOWN; NULL: unknown */
	int32_t pid;	    /* 0: unknown */
	char comm[16];	    /* "": unknown */
};

/* A slow span, kept whole as an example. */
struct nw_exemplar {
	/* latency: without probe overhead if --net was requested */
	uint64_t start, end, latency;
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
	NW_VEC(struct nw_bin_column) columns; /* by bin; only bins with an event */
	/* By bin; only bins in which the states are known */
	NW_VEC(struct nw_bin_states)
	states;
	NW_VEC(struct nw_exemplar *) slowest; /* the slowest first */
	uint64_t least; /* SPANS: spans that are not longer need not be added */
};

/* Lost events. */
struct nw_bin_loss {
	bool touched; /* events are missing somewhere in this bin */
	/* How many events the losses that began in this bin have lost; 0 may mean unknown */
	uint64_t events;
};

/* Returns what is known about a thread; NULL: nothing. */
typedef const struct nw_task *nw_task_of(void *arg, int32_t tid);

struct nw_bins;

/* Called when the current bin is over or looked at: hands out its contents by nw_bins_add(). Returns -errno on
 * failure. */
typedef int nw_bins_collect(void *arg, struct nw_bins *bins);
/* `summary` is one whose options.bins is set */
int nw_bins_of_summary(void *summary, struct nw_bins *bins);

struct nw_bins_options {
	size_t probes;
	const struct nw_span_def *spans; /* the summary's */
	size_t span_count;
	uint64_t start;	  /* time of the first bin */
	nw_task_of *task; /* NULL: threads are unknown */
	void *task_arg;
	nw_bins_collect *collect;
	void *collect_arg; /* the summary */
};

int nw_bins_open(const struct nw_bins_options *options, struct nw_bins **out,
		 struct nw_error *err);
void nw_bins_free(struct nw_bins *bins);

/* Moves on to this time. Must be called before the first hit of that time is summarised; a late hit is counted in the
 * current bin. Returns -ENOMEM on failure. */
int nw_bins_reach(struct nw_bins *bins, uint64_t time);
/* Returns how many of these hits are in the same bin as the first of them, which must be in the current bin. At least
 * 1. */
size_t nw_bins_together(const struct nw_bins *bins, const struct nw_hit *hits,
			size_t count);
/* Adds sizes and other events to the current bin. group: number in the summary; 0 without grouping. Returns -ENOMEM
 * on failure. */
int nw_bins_add(struct nw_bins *bins, enum nw_series_kind kind, uint32_t number,
		uint32_t group, const struct nw_histogram *sizes, uint64_t others);
/* Adds the time in each state to spans of the current bin: NW_TASK_STATES distributions. */
int nw_bins_add_states(struct nw_bins *bins, uint32_t span, uint32_t group,
		       const struct nw_histogram *states);
/* Takes an event of a span from a summary, whose listener may be lazy, and keeps the span if it is slow. Returns
 * -ENOMEM on failure. */
int nw_bins_span(struct nw_bins *bins, const struct nw_span_event *event, uint32_t group);
/* Returns, by span of group 0, the latency above which a span is worth keeping. */
const uint64_t *nw_bins_least(const struct nw_bins *bins);
void nw_bins_loss(struct nw_bins *bins, uint64_t from, uint64_t until, uint64_t events);

/* Adds the current bin up to this time, so that results can be read. More hits may be added later. Returns -ENOMEM on
 * failure. */
int nw_bins_update(struct nw_bins *bins, uint64_t until);

/* The results as of the last nw_bins_update(). */
uint64_t nw_bins_start(const struct nw_bins *bins);
uint64_t nw_bins_width(const struct nw_bins *bins); /* ns */
/* Returns the number of bins up to the current time. */
unsigned int nw_bins_count(const struct nw_bins *bins);
/* Returns the width of the buckets of a kind of series: each holds 2^shift buckets of the histogram. */
unsigned int nw_bins_shift(const struct nw_bins *bins, enum nw_series_kind kind);
/* Returns the series of a probe or span in a group; NULL: there is none. */
const struct nw_bin_series *nw_bins_find(const struct nw_bins *bins,
					 enum nw_series_kind kind, uint32_t number,
					 uint32_t group);
/* Was there a series too many, which was left out? */
bool nw_bins_left_out(const struct nw_bins *bins);
/* Returns an array with an element per bin. */
const struct nw_bin_loss *nw_bins_losses(const struct nw_bins *bins);

#endif
