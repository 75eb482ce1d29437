/* SPDX-License-Identifier: MIT */
/* show/text: output for people that is not part of a run: values, and the probes of files. */
#ifndef NOPWATCH_SHOW_TEXT_TEXT_H
#define NOPWATCH_SHOW_TEXT_TEXT_H

#include "show/rows/output.h"

/* Writes the table of `nopwatch features`: what a hit of each kind of probe costs its thread. */
void nw_text_overheads(struct nw_output *output, const struct nw_machine_cost *cost);
/* Writes a value as text: 42, 0x2a, "a\nb", {1,2,3}, (fault). */
void nw_value_print(const struct nw_value *value, struct nw_buf *out);
/* Does the same for argument i of a probe: the value of an enumeration is its name, if it has one. */
void nw_arg_print(const struct nw_probe *probe, size_t i, const struct nw_value *value,
		  struct nw_buf *out);

/* Writes a line for each probe that has a reason in `states` (NULL: none has); if they are many, a line for each reason,
 * unless `all`. */
void nw_text_silent_lines(const struct nw_selection *selection,
			  const struct nw_probe_state *states, bool all,
			  struct nw_buf *out);

/* The line above a table with net latencies. */
extern const char nw_net_text[];

/* Writes the lines below the table of a difference: the sides, rows of one side, samples and conditions. */
void nw_text_diff_notes(const struct nw_diff_report *report, struct nw_buf *out);

struct nw_table;

/* The probes of files for people: rows of a table, or lines that are written at once. */
struct nw_probe_table {
	struct nw_output *output;
	const struct nw_search *search; /* the search whose probes are shown */
	const struct nw_types *types;	/* as nw_output_format.site() takes them */
	bool names_only;		/* no table: one spec a line */
	bool sites;			/* no table: each probe with its sites below it */
	struct nw_layout layout;
	size_t matched; /* number of sites that were shown */
	struct nw_table
		*table; /* nw_probe_table_begin() makes it, nw_probe_table_end() frees it */
};

void nw_probe_table_begin(struct nw_probe_table *list);
void nw_probe_table_add(struct nw_probe_table *list, struct nw_image *image);
void nw_probe_table_end(struct nw_probe_table *list);

#endif
