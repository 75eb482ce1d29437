/* SPDX-License-Identifier: MIT */
/* Shared by the two contents of the page: a report, and a difference. */
#ifndef NOPWATCH_SHOW_HTML_HTML_H
#define NOPWATCH_SHOW_HTML_HTML_H

#include "show/json/json.h"

/* A page is filled with tables, which need no script, and with JSON for the scripts. */
struct nw_html_parts {
	const char *kind; /* the class of the page's body: "report", "diff" */
	const struct nw_buf *diff, *slowest; /* of HTML; NULL: none */
	const struct nw_buf *data;	     /* of nw_html_harmless() */
};

/* Returns the bytes that a page has for its parts. */
size_t nw_html_room(void);
void nw_html_page_write(const struct nw_html_parts *parts, struct nw_buf *out);
/* Writes text of the traced program, which can neither end nor begin an element, nor hide or reverse what follows. */
void nw_html_text(struct nw_buf *out, const char *text);
/* Writes a duration as the script does, from the text that nw_duration_text() makes: "2.13 ms", "871 \u00b5s". */
void nw_html_duration(const char *text, char out[24]);
/* Writes JSON so that nothing can end the element with the data. */
void nw_html_harmless(struct nw_buf *out, const struct nw_buf *json);
/* Writes the key `columns` with [bin, others, min, max, bucket, count, bucket - the one before, count, ...] of each. */
void nw_html_columns(struct nw_json *json, const struct nw_bin_series *series);
/* Writes the key `bins`: how wide and how many they are, and where events were lost. */
void nw_html_bins(const struct nw_bins *bins, struct nw_json *json);
/* Writes the key `unmeasured`: the keys of rows that count spans without a latency. */
void nw_html_unmeasured(struct nw_json *json);

void nw_html_diff(struct nw_output *output, const struct nw_diff_report *report);

#endif
