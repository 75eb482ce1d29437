/* SPDX-License-Identifier: MIT */
/* The parts of the format for people. */
#ifndef NOPWATCH_SHOW_TEXT_TEXT_H
#define NOPWATCH_SHOW_TEXT_TEXT_H

#include "nopwatch/text.h"
#include "show/rows/stacks.h"
#include "table.h"

/* A line for the head of what has net latencies. */
extern const char nw_net_text[];

void nw_text_report(struct nw_output *output, const struct nw_report *report);
/* Most programs' calls return: those of others get a column more. */
bool nw_text_has_abandoned(const struct nw_report *report);
/* What a reader of the table would take for something else: a line for each span and count. */
void nw_text_span_lines(const struct nw_report *report, struct nw_buf *out);
/* Two hits are never at one time: where they seem to be, the clock is too coarse, or has stood still. */
void nw_text_unmeasured_line(const struct nw_report *report, struct nw_buf *out);
/* What threads did in spans, where that was asked for; left_out gets columns for which there is no room. */
void nw_text_states(const struct nw_report *report, nw_strings *left_out,
		    struct nw_buf *out);
/* As a tree, for people. */
void nw_text_stacks(const struct nw_report *report, struct nw_buf *out);
void nw_text_site(struct nw_output *output, struct nw_image *image,
		  const struct nw_site *site, const struct nw_types *types);
void nw_text_function(struct nw_output *output, struct nw_image *image, const char *symbol,
		      const char *name);
void nw_text_features(struct nw_output *output, const struct nw_features *features);
void nw_text_status(struct nw_output *output, const struct nw_status *status);
void nw_text_change(struct nw_output *output, const struct nw_change *change);
void nw_text_diagnosis(struct nw_output *output, const struct nw_diagnosis *diagnosis,
		       const char *label, bool color);

#endif
