/* SPDX-License-Identifier: MIT */
/* How a live view stores times and counts. */
#ifndef NOPWATCH_SHOW_TOP_MODEL_H
#define NOPWATCH_SHOW_TOP_MODEL_H

#include "show/top/top.h"

/* Returns the bin of a time in nanoseconds; and the time at which a bin begins. */
unsigned int nw_top_bin(uint64_t ns);
uint64_t nw_top_bin_start(unsigned int bin);

/* Packs a count into a byte, because it is only shown as a shade: 8 * log2(count + 1), and back. */
uint8_t nw_top_shade(uint64_t count);
uint64_t nw_top_unshade(uint8_t shade);

#endif
