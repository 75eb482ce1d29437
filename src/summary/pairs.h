/* SPDX-License-Identifier: MIT */
/* What spans by name and spans by the user's words have in common; for their own files only. */
#ifndef NOPWATCH_SUMMARY_PAIRS_H
#define NOPWATCH_SUMMARY_PAIRS_H

#include "nopwatch/summary.h"

/* -ENOMEM. */
int nw_pairs_add(nw_vec_u32 *list, uint32_t probe);
/* What a function's code says of its calls. */
void nw_pairs_set_call(const struct nw_selection *selection, const struct nw_probe *entry,
		       struct nw_span_def *def);

#endif
