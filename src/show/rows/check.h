/* SPDX-License-Identifier: MIT */
/* Finds faults in the USDT notes of a file, for authors of probes (list --check). */
#ifndef NOPWATCH_SHOW_ROWS_CHECK_H
#define NOPWATCH_SHOW_ROWS_CHECK_H

#include "find/probe/probe.h"
#include "show/rows/output.h"

/*
 * Checks the notes that the search wants, and writes each problem and then the result with the format of the
 * output; nothing if the search wants none of them. Returns 0 or -ENOMEM.
 */
int nw_check_notes(struct nw_image *image, const struct nw_search *search,
		   const struct nw_types *types, struct nw_output *output,
		   struct nw_checked *out);

#endif
