/* SPDX-License-Identifier: MIT */
/* Shared by all formats that show reports. */
#ifndef NOPWATCH_SHOW_ROWS_REPORT_H
#define NOPWATCH_SHOW_ROWS_REPORT_H

#include "show/rows/output.h"

/* Returns hits per second. */
double nw_report_rate(const struct nw_report *report, uint64_t hits);
/* Returns the rows of a group in this report: of the interval, or of the whole run. */
const struct nw_group_rows *nw_report_rows(const struct nw_report *report, size_t group);
/* Is there anything to say about this probe or span in this group? Without groups there is, unless it is hidden. */
bool nw_report_has(const struct nw_report *report, enum nw_subject subject, size_t index,
		   const void *row);
/* A distribution of a number, and the name of its state or argument; else "". */
struct nw_named_times {
	const struct nw_histogram *times;
	char name[NW_ARG_NAME];
};
/* Walks the distributions of a number in a row of the probe or span `index`; *at starts at 0. Arguments without a
 * value are left out. */
bool nw_report_next_times(const struct nw_report *report, const struct nw_number *number,
			  size_t index, const void *row, size_t *at,
			  struct nw_named_times *out);
/* Returns the sum of a span's count over all groups. */
uint64_t nw_report_sum(const struct nw_report *report, size_t span,
		       const struct nw_number *number);

/* Is the span a statement of PostgreSQL? Its abandoned spans are statements that failed or were cancelled. */
bool nw_report_is_statement(const struct nw_report *report, size_t span);

/* Returns a group's name for people and programs: "GET,200". The caller frees; NULL when out of memory, and without
 * groups. */
char *nw_report_group(const struct nw_report *report, size_t group);
/* Returns when the interval ended, in UTC (ISO 8601, "2026-11-22T04:12:16.123Z"); "" if it is not known. */
const char *nw_report_time(const struct nw_report *report, char out[40]);

/* The statistics of a distribution, in the order of the columns. */
struct nw_statistic {
	const char *key;    /* JSON: "p999" */
	const char *column; /* text: "P99.9" */
	double percentile;  /* 0: none */
};
extern const struct nw_statistic nw_statistics[];
extern const size_t nw_statistic_count;
uint64_t nw_statistic_of(const struct nw_histogram *h,
			 const struct nw_statistic *statistic);

#endif
