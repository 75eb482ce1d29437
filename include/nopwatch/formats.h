/* SPDX-License-Identifier: MIT */
/*
 * show: text, JSON lines, CSV, OpenMetrics, Perfetto's timelines, a page of HTML, folded stacks. Text is for people:
 * aligned tables with units. JSON and CSV are for programs: integer nanoseconds, names that do not change.
 */
#ifndef NOPWATCH_FORMATS_H
#define NOPWATCH_FORMATS_H

#include "nopwatch/output.h"

/* All of them, in the order of NW_OUTPUT_FORMATS. */
extern const struct nw_output_format *const nw_output_formats[];
extern const size_t nw_output_format_count;
/* The format of that name; NULL: there is none. */
const struct nw_output_format *nw_output_find(const char *name);
/* "text, json or csv": the formats that can show it, or with NW_SHOWS_COUNT all of them. */
void nw_output_names(enum nw_shows what, struct nw_buf *out);

#endif
