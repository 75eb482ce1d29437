/* SPDX-License-Identifier: MIT */
/* How many spans of a summary have begun and not ended. */
#ifndef NOPWATCH_TESTS_OPEN_SPANS_H
#define NOPWATCH_TESTS_OPEN_SPANS_H

#include "measure/state.h"

static inline size_t open_spans(const struct nw_summary *summary)
{
	return summary->open.open + summary->calls.open + summary->frames.open;
}

#endif
