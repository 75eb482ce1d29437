/* SPDX-License-Identifier: MIT */
/* The difference of two sides, each of which is one or several results: how much each number has changed, and whether that is noise. */
#ifndef NOPWATCH_MEASURE_DIFF_H
#define NOPWATCH_MEASURE_DIFF_H

#include "measure/bins.h"
#include "measure/compare.h"
#include "measure/merge.h"

/* The numbers of a row that are compared. */
enum nw_metric {
	NW_METRIC_RATE,
	NW_METRIC_MEAN,
	NW_METRIC_P50,
	NW_METRIC_P90,
	NW_METRIC_P99,
	NW_METRIC_P999,
	NW_METRIC_MAX,
	NW_METRICS
};

struct nw_metric_kind {
	const char *name;  /* on the command line and in text: "p99.9" */
	double percentile; /* 0: none */
};
extern const struct nw_metric_kind nw_metrics[NW_METRICS];

enum nw_side {
	NW_BEFORE,
	NW_AFTER,
	NW_SIDES
};
extern const char *const nw_side_names[NW_SIDES];

/* A number of a row: a rate in 1/s, or a time in nanoseconds. */
struct nw_diff_metric {
	/* of the sum of all results of a side */
	bool has[NW_SIDES];
	double value[NW_SIDES];
	/* the same number of each unit: a run, or a slice of one */
	NW_VEC(double) sample[NW_SIDES];
	bool is_compared; /* the samples are large enough: */
	struct nw_comparison comparison;
};

/* A probe or span, or one of its groups. */
struct nw_diff_row {
	enum nw_subject subject;
	uint32_t number; /* among the rows of its subject */
	char *name,
		*key; /* key: of a span, as nw_span_key_text() writes it; "" for a probe */
	char *symbol; /* of a probe; or NULL */
	char *group;  /* as a summary has it; NULL: there are no groups */
	bool has[NW_SIDES]; /* the side has measured it */
	uint64_t count[NW_SIDES];
	struct nw_diff_metric metric[NW_METRICS];
};

/* A zeroed diff is empty and valid. */
struct nw_diff {
	NW_VEC(struct nw_diff_row) rows;
	struct nw_index row_names;
	/* Probes and spans without groups, and how many units of each side have measured them. */
	struct nw_index names;
	NW_VEC(struct nw_diff_units { size_t of[NW_SIDES]; }) units;
	size_t unit_count[NW_SIDES];
	size_t compared; /* intervals, after nw_diff_compare() */
	/* The times of all units, for a picture: a bin for each unit, those of the side before first. NULL: not wanted. */
	struct nw_bins *bins;
	uint32_t row_count[NW_SUBJECTS];
	bool grouped;
};

/* Keeps the times of each unit that is added from now on, for pictures. Returns -ENOMEM on failure. */
int nw_diff_keep_times(struct nw_diff *diff, struct nw_error *err);
/* Finds the times of a row's units on a side. Their bins begin at nw_diff_first_bin(). NULL: there are none, or they were left out. */
const struct nw_bin_series *nw_diff_times(const struct nw_diff *diff,
					  const struct nw_diff_row *row, enum nw_side side);
/* Returns the bin of the first unit of a side. */
unsigned int nw_diff_first_bin(const struct nw_diff *diff, enum nw_side side);
/* Returns how many units one bin holds. */
unsigned int nw_diff_units_in_bin(const struct nw_diff *diff);
/* Adds the rows of a side. ns: the time of all its results. -ENOMEM. */
int nw_diff_add_side(struct nw_diff *diff, enum nw_side side, const struct nw_merged *of,
		     uint64_t ns);
/* Adds a unit to the samples of a side. A row that it has not, but whose probe or span it has measured, has the rate 0. -ENOMEM. */
int nw_diff_add_unit(struct nw_diff *diff, enum nw_side side, const struct nw_merged *of,
		     uint64_t ns);
/* Compares the samples of all rows. parts: the units are parts of runs. -ENOMEM. */
int nw_diff_compare(struct nw_diff *diff, bool parts);
void nw_diff_free(struct nw_diff *diff);

/* Finds the change of a number, 0.1 for 10 % more. False: there is none, because a side has no such number, or only the one before is 0. */
bool nw_diff_change(const struct nw_diff_metric *metric, double *out);

/* ---- limits --------------------------------------------------------------------------- */

/* A condition under which a change is too large: 'request.p99 > +10%', or 'request[GET].rate < -5%' with groups. */
struct nw_diff_limit {
	const char *text;
	char *name; /* with groups "request[GET,200]": commas join the values of several keys */
	enum nw_metric metric;
	bool above;   /* > */
	double least; /* the change, 0.1 for 10 %, or -0.1 */
};

enum nw_verdict {
	NW_VERDICT_PASSED,
	NW_VERDICT_NOISE, /* the change is beyond the limit, but it is noise */
	NW_VERDICT_FAILED,
	NW_VERDICT_UNKNOWN /* it cannot be told */
};

/* Parses a condition, whose text has to outlive it. A mistake is a usage error that says what to type. */
int nw_diff_limit_parse(const char *text, struct nw_diff_limit *out, struct nw_error *err);
/*
 * Judges a condition. row: where it was found; NULL: nowhere. why: for UNKNOWN, the reason as a part of a sentence. Without memory the
 * verdict is UNKNOWN, too.
 */
enum nw_verdict nw_diff_judge(const struct nw_diff *diff, const struct nw_diff_limit *limit,
			      const struct nw_diff_row **row, struct nw_buf *why);
void nw_diff_limit_free(struct nw_diff_limit *limit);

#endif
