/* SPDX-License-Identifier: MIT */
/*
 * show: text, JSON lines, CSV, OpenMetrics, OTLP, Perfetto's timelines, a page of HTML, folded stacks. Text is for people:
 * aligned tables with units. JSON and CSV are for programs: integer nanoseconds, names that do not change.
 */
#ifndef NOPWATCH_SHOW_FORMATS_H
#define NOPWATCH_SHOW_FORMATS_H

#include "show/rows/output.h"

/* All formats, in the order of NW_OUTPUT_FORMATS. */
extern const struct nw_output_format *const nw_output_formats[];
extern const size_t nw_output_format_count;
/* Returns the format with this name; NULL: there is none. */
const struct nw_output_format *nw_output_find(const char *name);
/* Lists the formats that can show this kind of output, "text, json or csv"; with NW_SHOWS_COUNT, all formats. */
void nw_output_names(enum nw_shows what, struct nw_buf *out);

#endif
