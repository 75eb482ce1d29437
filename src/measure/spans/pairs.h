/* SPDX-License-Identifier: MIT */
/* Shared by spans by name and spans that the user defines; for their own files only. */
#ifndef NOPWATCH_MEASURE_SPANS_PAIRS_H
#define NOPWATCH_MEASURE_SPANS_PAIRS_H

#include "nopwatch/spans.h"

/* -ENOMEM. */
int nw_pairs_add(nw_vec_u32 *list, uint32_t probe);
/* What a function's code says of its calls. */
void nw_pairs_set_call(const struct nw_selection *selection, const struct nw_probe *entry,
		       struct nw_span_def *def);

/*
 * Does the span begin and end in one call of a function, as far as the code tells? So it does if its
 * probes' names say what ends what, and each function that has a site of a start has one of an end,
 * and the other way round. Then a hit's frame tells which start its end is of (nw_point's frame).
 */
int nw_span_is_framed(const struct nw_selection *selection, const struct nw_span_def *def);

#endif
