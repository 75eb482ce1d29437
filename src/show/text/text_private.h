/* SPDX-License-Identifier: MIT */
/* The parts of the format for people. */
#ifndef NOPWATCH_SHOW_TEXT_TEXT_PRIVATE_H
#define NOPWATCH_SHOW_TEXT_TEXT_PRIVATE_H

#include "show/rows/stacks.h"
#include "show/text/text.h"
#include "table.h"

/* Appends a group's name as a summary has it; the values of several keys are joined by commas, as in --by. */
void nw_text_group(const char *name, struct nw_buf *out);
void nw_text_report(struct nw_output *output, const struct nw_report *report);
void nw_text_diff(struct nw_output *output, const struct nw_diff_report *report);
/* Has a span abandoned calls? Then the table has a column for them. */
bool nw_text_has_abandoned(const struct nw_report *report);
/* Writes a line for each span and count that the table's reader could misunderstand. */
void nw_text_span_lines(const struct nw_report *report, struct nw_buf *out);
/* Writes how many spans have no length. Two hits never happen at the same time: if they seem to, the clock is too
 * coarse, or stood still. */
void nw_text_unmeasured_line(const struct nw_report *report, struct nw_buf *out);
/* Writes one line if the probe overhead is more than a fifth of a span's P50. */
void nw_text_overhead_line(const struct nw_report *report, struct nw_buf *out);
/* Writes the thread states in spans, if --states was given; left_out gets columns for which there is no room. */
void nw_text_states(const struct nw_report *report, nw_strings *left_out,
		    struct nw_buf *out);
/* Writes stacks as a tree. */
void nw_text_stacks(const struct nw_report *report, struct nw_buf *out);
void nw_text_site(struct nw_output *output, struct nw_image *image,
		  const struct nw_site *site, const struct nw_types *types);
void nw_text_problem(struct nw_output *output, const struct nw_image *image,
		     const struct nw_note_problem *problem);
void nw_text_checked(struct nw_output *output, const struct nw_image *image,
		     const struct nw_checked *checked);
void nw_text_function(struct nw_output *output, struct nw_image *image, const char *symbol,
		      const char *name, const struct nw_function_details *details);
void nw_text_features(struct nw_output *output, const struct nw_features *features);
void nw_text_status(struct nw_output *output, const struct nw_status *status);
void nw_text_user_event(struct nw_output *output, const struct nw_user_event_row *row);
void nw_text_change(struct nw_output *output, const struct nw_change *change);
void nw_text_diagnosis(struct nw_output *output, const struct nw_diagnosis *diagnosis,
		       const char *label, bool color);

#endif
