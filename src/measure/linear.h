/* SPDX-License-Identifier: MIT */
/* Histograms of equal steps, as the user asks for them: --hist ARG:MIN:MAX:STEP. */
#ifndef NOPWATCH_MEASURE_LINEAR_H
#define NOPWATCH_MEASURE_LINEAR_H

#include "base/base.h"

enum {
	NW_MOST_LINEAR = 1000 /* buckets */
};

/* The buckets [min, min + step), ... up to max. */
struct nw_linear_shape {
	int64_t min, max;
	uint64_t step;
	size_t buckets;
};

/* Which argument is shown: all of it, by powers of two, or in equal steps (shape.buckets is 0 if not). */
struct nw_hist {
	char *name;
	struct nw_linear_shape shape;
};
typedef NW_VEC(struct nw_hist) nw_hists;

/* Parses ARG or ARG:MIN:MAX:STEP, and adds it. A mistake is a usage error. */
int nw_hist_parse(const char *text, nw_hists *out, struct nw_error *err);
void nw_hists_free(nw_hists *hists);

struct nw_linear {
	struct nw_linear_shape shape;
	uint64_t below, above; /* values under min, and values from max on */
	uint64_t count[];      /* shape.buckets of them */
};

/* Returns NULL without memory. free() releases it. */
struct nw_linear *nw_linear_new(const struct nw_linear_shape *shape);
/* Values beyond INT64_MAX are above every max. */
void nw_linear_add(struct nw_linear *linear, int64_t value);
/* Both have the same shape. */
void nw_linear_merge(struct nw_linear *into, const struct nw_linear *from);
void nw_linear_clear(struct nw_linear *linear);
/* Returns the lowest value of a bucket; of number shape.buckets, max. */
int64_t nw_linear_low(const struct nw_linear_shape *shape, size_t bucket);

#endif
