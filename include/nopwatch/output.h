/* SPDX-License-Identifier: MIT */
/*
 * output: numbers as text, JSON lines, CSV or OpenMetrics, into a string buffer; whoever owns the buffer
 * writes it. Text is for people: aligned tables with units. JSON and CSV are for programs:
 * integer nanoseconds, names that do not change.
 */
#ifndef NOPWATCH_OUTPUT_H
#define NOPWATCH_OUTPUT_H

#include "nopwatch/stream.h"
#include "nopwatch/summary.h"
#include "nopwatch/why.h"

enum nw_form {
	NW_FORM_TEXT,
	NW_FORM_JSON,
	NW_FORM_CSV,
	NW_FORM_OPENMETRICS, /* reports only, and always of everything so far */
};

/* ---- JSON --------------------------------------------------------------------------- */

/*
 * A streaming writer: commas and escapes are its business, nesting is the caller's. Integers
 * that a double cannot hold exactly (beyond 2^53) become strings; bytes that are not UTF-8
 * become U+FFFD.
 */
struct nw_json {
	struct nw_buf *out;
	bool comma; /* before the next key or element */
};

void nw_json_open(struct nw_json *json, char bracket); /* '{' or '[' */
void nw_json_close(struct nw_json *json, char bracket);
void nw_json_key(struct nw_json *json, const char *key);
void nw_json_u64(struct nw_json *json, uint64_t value);
void nw_json_i64(struct nw_json *json, int64_t value);
void nw_json_real(struct nw_json *json, double value);
void nw_json_bool(struct nw_json *json, bool value);
void nw_json_null(struct nw_json *json);
void nw_json_text(struct nw_json *json, const char *text, size_t len);
/* key and value in one */
void nw_json_key_u64(struct nw_json *json, const char *key, uint64_t value);
void nw_json_key_text(struct nw_json *json, const char *key, const char *text);

/* ---- units -------------------------------------------------------------------------- */

/* "830ns", "12.3us", "4.56ms", "1.20s", "95.0s": three significant digits. */
void nw_unit_duration(uint64_t ns, char out[16]);
/* "17/s", "2.00k/s", "1.30M/s" */
void nw_unit_rate(double per_second, char out[16]);

/* ---- tables ------------------------------------------------------------------------- */

/* Where a cell's text stands among the table's, and how many characters it has. */
struct nw_cell {
	size_t at, len, width;
};

/*
 * Rows of cells, columns as wide as they need to be; numbers to the right. Where the terminal is
 * narrower (width), names are cut, with "...", down to 24 characters; then the columns that
 * give_up names are left out one by one; then names are cut further.
 */
struct nw_table {
	struct nw_buf text; /* of all cells, one behind the other */
	NW_VEC(struct nw_cell) cells;
	size_t columns;
	const bool *left; /* per column: text, flush left; else flush right */
	size_t width;	  /* characters a line; 0: any */
	const char *
		give_up; /* headers, each ended by a NUL, an empty one at the end; or NULL */
	nw_strings *left_out; /* gets the headers of columns that were left out; or NULL */
};

/* The next cell. Without memory the table fails, and so does what it is printed into. */
void nw_table_cell(struct nw_table *table, const char *fmt, ...) nw_format(2, 3);
void nw_table_text(struct nw_table *table, const char *text);
void nw_table_number(struct nw_table *table, uint64_t number);
/* The cell is what the caller has added to table->text. */
void nw_table_end_cell(struct nw_table *table);
/* The first row is the header; bold if the terminal should show it so. Frees the cells. */
void nw_table_print(struct nw_table *table, bool bold_header, struct nw_buf *out);
void nw_table_free(struct nw_table *table);

/* ---- histograms --------------------------------------------------------------------- */

/* bpftrace's rows (its src/output/text.cpp: "%-16s%8llu |%-52s|"), one per power of two from
 * the first to the last that is not empty. */
void nw_histogram_print(const struct nw_histogram *h, struct nw_buf *out);

/* ---- results ------------------------------------------------------------------------ */

/* Why a probe has no hits, or no more, in one word for programs and one sentence for people. */
struct nw_probe_state {
	const char *word; /* "hit", "not-hit", "not-mapped", ...; NULL: not known */
	const char *text; /* NULL: nothing to say */
};

/* What orders the rows of a report. */
enum nw_sort {
	NW_SORT_DEFAULT, /* probes as they were selected, spans and groups by total */
	NW_SORT_HITS,
	NW_SORT_RATE,
	NW_SORT_TOTAL,
	NW_SORT_MEAN,
	NW_SORT_P50,
	NW_SORT_P99,
	NW_SORT_MAX,
	NW_SORT_NAME,
	NW_SORT_COUNT
};
/* "hits", "rate", ...; NULL for the default. */
extern const char *const nw_sort_names[NW_SORT_COUNT];

/* What of a report is shown, and how; all zero: everything, in text folded as for people. */
struct nw_view {
	enum nw_sort sort;
	size_t top; /* so many probes, spans and groups of each; 0: all of them, but in text
			  10 groups */
	bool all_rows; /* text: also those that were not hit, one by one */
	size_t width;  /* text: of the terminal, in characters; 0: any */
};

struct nw_report {
	struct nw_view view;
	const struct nw_selection *selection;
	const struct nw_summary *summary;
	const struct nw_span_def *spans;
	size_t span_count;
	const struct nw_probe_state *states; /* per probe; NULL: not known */
	const uint64_t
		*disabled_at; /* per probe: when it was disabled, 0: it was not; NULL:
					none was */
	uint64_t start_ns;    /* on the clock of disabled_at: when it began */
	const char *group_by; /* "tid", "method,status", ...; NULL: not grouped */
	int64_t wall_ns;      /* when an interval ended, since 1970; 0: not known */
	uint64_t elapsed_ns;
	uint64_t interval;  /* number of this report, from 1; 0: the last one */
	const char *reason; /* why it ended, in one word; NULL: it goes on */
	uint64_t lost;	    /* events */
	bool lost_is_least; /* at least so many */
	bool has_filter;    /* there is a filter, */
	uint64_t filtered;  /* which took out so many hits */
	uint64_t dropped;   /* hits that the kernel counted but did not record; */
	bool restricted;    /* those of processes that are not traced are among them */
	const char *const *hist_args; /* arguments whose histogram is shown */
	size_t hist_arg_count;
	bool gaps;	 /* show the histograms of the gaps, too */
	bool prometheus; /* OpenMetrics: as Prometheus's text format 0.0.4, which node_exporter's
			    textfile collector reads */
	bool bold;
};

void nw_report_print(const struct nw_report *report, enum nw_form form, struct nw_buf *out);
/* Instead of `count` reports of intervals in which nothing happened, from number `first` on. */
void nw_report_quiet(uint64_t first, uint64_t count, enum nw_form form, struct nw_buf *out);
/* The first line: {"type":"attached",...}; nothing in text and CSV, but CSV's header. */
void nw_report_start(size_t probes, size_t sites, enum nw_form form, struct nw_buf *out);

/* ---- events ------------------------------------------------------------------------- */

struct nw_event_line {
	const struct nw_probe *probe;
	const struct nw_hit *hit;
	const struct nw_task *task;
	uint64_t start;	 /* time that text counts from */
	int64_t wall_ns; /* what to add to the trace clock for the time of day; 0: unknown */
	bool wall;	 /* show the time of day */
};

void nw_event_print(const struct nw_event_line *line, enum nw_form form,
		    struct nw_buf *out);
void nw_event_header(bool bold, struct nw_buf *out);
/* A value as text: 42, 0x2a, "a\nb", {1,2,3}, (fault). */
void nw_value_print(const struct nw_value *value, struct nw_buf *out);
void nw_value_json(const struct nw_value *value, struct nw_json *json);
/* {"type":"loss",...} and {"type":"end",...}. dropped: as in a report; filtered: hits that a
 * filter took out; NULL: there is none. */
void nw_end_print(uint64_t lost, uint64_t discarded, uint64_t dropped,
		  const uint64_t *filtered, const char *reason, uint64_t elapsed_ns,
		  struct nw_buf *out);
/* What such hits are, in words behind their number. */
const char *nw_dropped_text(bool restricted);

/* ---- diagnoses ---------------------------------------------------------------------- */

/* Checks, one a line, then the verdict and its remedies. label: the probe, where there are
 * several; NULL: there is one. */
void nw_diagnosis_print(const struct nw_diagnosis *diagnosis, const char *label,
			enum nw_form form, bool color, struct nw_buf *out);

/* ---- lists -------------------------------------------------------------------------- */

/* A site as {"type":"site",...}; caps decides nothing: fetches are those of a full kernel.
 * types: what is known of arguments beside the notes, or NULL. */
void nw_site_json(struct nw_image *image, const struct nw_site *site,
		  const struct nw_types *types, struct nw_buf *out);
/* A note that was left out, {"type":"skipped",...}. */
void nw_skipped_json(const struct nw_image *image, const struct nw_skipped *skipped,
		     struct nw_buf *out);
/* Rows of text for one site and its arguments (list -v). */
void nw_site_text(struct nw_image *image, const struct nw_site *site,
		  const struct nw_types *types, struct nw_buf *out);

#endif
