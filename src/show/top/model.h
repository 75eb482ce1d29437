/* SPDX-License-Identifier: MIT */
/* What a live view remembers of times and counts. */
#ifndef NOPWATCH_SHOW_TOP_MODEL_H
#define NOPWATCH_SHOW_TOP_MODEL_H

#include "nopwatch/top.h"

/* The bin of a time in nanoseconds, and where a bin begins. */
unsigned int nw_top_bin(uint64_t ns);
uint64_t nw_top_bin_start(unsigned int bin);

/* Counts are of very different sizes, and only shown as shades: 8 * log2(count + 1), and back. */
uint8_t nw_top_shade(uint64_t count);
uint64_t nw_top_unshade(uint8_t shade);

#endif
