/* SPDX-License-Identifier: MIT */
/*
 * Ends that come from other threads than their starts, as in programs that hand requests on: spans that are paired by
 * thread do not see them. Once an end has no start in its thread, the next ends and starts of that span are watched: do
 * other threads have starts open, and which argument of the start has the value of which argument of the end?
 */
#ifndef NOPWATCH_MEASURE_STRAYS_H
#define NOPWATCH_MEASURE_STRAYS_H

#include "stream/pages/stream.h"

enum {
	NW_STRAY_ARGS = 8,   /* so many arguments of a probe are compared */
	NW_STRAY_ENDS = 128, /* so many ends are watched */
	NW_STRAYS_KEY = 2 * NW_ARG_NAME + 2,
};

struct nw_strays;

/* The finding about a span. */
struct nw_strays_found {
	uint32_t ends; /* number of ends that were watched */
	uint32_t
		elsewhere; /* of these, had no start in their thread while another thread had one */
	uint32_t
		agree; /* of those, have the value of the arguments below in common with one start */
	uint32_t start_probe, end_probe;
	int start_arg,
		end_arg; /* -1: no pair of arguments agrees, or no values were fetched */
};

/* Returns NULL without memory. */
struct nw_strays *nw_strays_open(void);
void nw_strays_free(struct nw_strays *strays);
void nw_strays_start(struct nw_strays *strays, const struct nw_hit *hit);
/* stray: nothing was open in the thread of the hit. Returns false when enough ends were watched. */
bool nw_strays_end(struct nw_strays *strays, const struct nw_hit *hit, bool stray);
/* Returns whether most of the ends that were watched came from other threads. */
bool nw_strays_find(const struct nw_strays *strays, struct nw_strays_found *out);
/* Writes the argument, or the pair of arguments (ARG:ENDARG), that can be the key of the span; "" if none is known. */
void nw_strays_key(const struct nw_selection *selection,
		   const struct nw_strays_found *found, char out[NW_STRAYS_KEY]);

#endif
