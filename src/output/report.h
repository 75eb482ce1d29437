/* SPDX-License-Identifier: MIT */
/* The forms of a report. */
#ifndef NOPWATCH_OUTPUT_REPORT_H
#define NOPWATCH_OUTPUT_REPORT_H

#include "nopwatch/output.h"

void nw_report_text(const struct nw_report *report, struct nw_buf *out);
void nw_report_json(const struct nw_report *report, struct nw_buf *out);
void nw_report_csv(const struct nw_report *report, struct nw_buf *out);
void nw_report_openmetrics(const struct nw_report *report, struct nw_buf *out);

/* What all forms count the same way. */
double nw_report_rate(const struct nw_report *report, uint64_t hits);
/* The rows of a group that this report shows: of the interval, or of everything. */
const struct nw_group_rows *nw_report_rows(const struct nw_report *report, size_t group);
/* Is there anything to say about this span in this group? Without groups there always is. */
bool nw_report_has_span(const struct nw_report *report, const struct nw_span_row *row);
bool nw_report_has_probe(const struct nw_report *report, const struct nw_probe_row *row);

/* A group's name as people and programs read it: "GET,200". The caller frees; NULL without memory,
 * and where nothing is grouped. */
char *nw_report_group(const struct nw_report *report, size_t group);
/* When the interval ended, in UTC (ISO 8601, "2026-11-22T04:12:16.123Z"); "" if it is not known. */
const char *nw_report_time(const struct nw_report *report, char out[40]);

/* The figures of a distribution, in the order of the columns. */
struct nw_figure {
	const char *key;    /* JSON: "p999" */
	const char *column; /* text: "P99.9" */
	double percentile;  /* 0: none */
};
extern const struct nw_figure nw_figures[];
extern const size_t nw_figure_count;
uint64_t nw_figure_value(const struct nw_histogram *h, const struct nw_figure *figure);

#endif
