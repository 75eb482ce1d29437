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

enum nw_linear_mistake {
	NW_LINEAR_RIGHT,
	NW_LINEAR_ORDER,    /* MIN is not below MAX */
	NW_LINEAR_STEP,	    /* STEP is 0, or more than MAX - MIN */
	NW_LINEAR_MANY,	    /* more than NW_MOST_LINEAR buckets */
	NW_LINEAR_MULTIPLE, /* MAX - MIN is no multiple of STEP */
};
/* Makes the shape, whose fields are also set after a mistake, or tells what is wrong. */
enum nw_linear_mistake nw_linear_make(int64_t min, int64_t max, uint64_t step,
				      struct nw_linear_shape *out);
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
bool nw_linear_is_same(const struct nw_linear_shape *one,
		       const struct nw_linear_shape *other);
/* Both must have the same shape. */
void nw_linear_merge(struct nw_linear *into, const struct nw_linear *from);
void nw_linear_clear(struct nw_linear *linear);
/* Returns the lowest value of a bucket; of number shape.buckets, max. */
int64_t nw_linear_low(const struct nw_linear_shape *shape, size_t bucket);

#endif
