/* SPDX-License-Identifier: MIT */
/* Functions shared by the source files for spans by name and spans that the user defines. */
#ifndef NOPWATCH_MEASURE_SPANS_PAIRS_H
#define NOPWATCH_MEASURE_SPANS_PAIRS_H

#include "measure/spans/spans.h"

/* Returns -ENOMEM on failure. */
int nw_pairs_add(nw_vec_u32 *list, uint32_t probe);
/* Sets the fields of the definition that depend on the function's code. */
void nw_pairs_set_call(const struct nw_selection *selection, const struct nw_probe *entry,
		       struct nw_span_def *def);

/*
 * Does the span begin and end in one call of a function, as far as the code tells? It does if the names of its probes
 * form a span, and every function that contains a start contains an end, and vice versa. Then the frame of a hit
 * tells which start an end belongs to (nw_point's frame).
 */
int nw_span_is_framed(const struct nw_selection *selection, const struct nw_span_def *def);

/* Returns the kind of a key by its name: "tid", "pid", "cpu", an argument's, or several with + between them. */
enum nw_span_key nw_span_key_kind(const char *name);

#endif
