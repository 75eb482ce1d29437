// SPDX-License-Identifier: MIT
/* See linear.h. */
#include "linear.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is asked for -------------------------------------------------------------- */

static int bad_hist(struct nw_error *err, const char *text, const char *fmt, ...)
	nw_format(3, 4);
static int bad_hist(struct nw_error *err, const char *text, const char *fmt, ...)
{
	struct nw_buf why = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&why, fmt, args);
	va_end(args);
	nw_fail_usage(err, "--hist '%s': %s", text, nw_buf_str(&why));
	nw_error_hint(
		err,
		"write ARG:MIN:MAX:STEP, for example --hist status:100:600:100; ARG alone has a row for each power of two");
	nw_buf_free(&why);
	return -EINVAL;
}

/* Parses a decimal or hexadecimal number with a sign. */
static bool parse_number(const char *text, int64_t *out)
{
	bool negative = *text == '-';
	uint64_t magnitude;

	if (nw_parse_u64(text + negative, &magnitude) < 0 ||
	    magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*out = (int64_t)(negative ? 0 - magnitude : magnitude);
	return true;
}

/* Splits "ARG:MIN:MAX:STEP" at its last three colons. Returns how many there are; words are NULL without them. */
static size_t split(char *text, char *word[3])
{
	size_t colons = 0;

	for (char *colon; colons < 3 && (colon = strrchr(text, ':')); colons++) {
		*colon = '\0';
		word[2 - colons] = colon + 1;
	}
	return colons;
}

enum nw_linear_mistake nw_linear_make(int64_t min, int64_t max, uint64_t step,
				      struct nw_linear_shape *out)
{
	const uint64_t range = (uint64_t)max - (uint64_t)min;

	*out = (struct nw_linear_shape){.min = min, .max = max, .step = step};
	if (min >= max)
		return NW_LINEAR_ORDER;
	if (!step || step > range)
		return NW_LINEAR_STEP;
	out->buckets = range / step;
	return out->buckets > NW_MOST_LINEAR ? NW_LINEAR_MANY
	       : range % step		     ? NW_LINEAR_MULTIPLE
					     : NW_LINEAR_RIGHT;
}

static int make_shape(const char *text, char *word[3], struct nw_linear_shape *shape,
		      struct nw_error *err)
{
	int64_t number[3];

	for (size_t i = 0; i < 3; i++)
		if (!parse_number(word[i], &number[i]))
			return bad_hist(err, text, "'%s' is no whole number", word[i]);
	if (number[2] <= 0)
		return bad_hist(err, text, "STEP has to be above 0");
	const uint64_t range = (uint64_t)number[1] - (uint64_t)number[0];
	switch (nw_linear_make(number[0], number[1], (uint64_t)number[2], shape)) {
	case NW_LINEAR_ORDER:
		return bad_hist(err, text, "MIN has to be below MAX");
	case NW_LINEAR_STEP:
		return bad_hist(err, text, "STEP is more than MAX - MIN");
	case NW_LINEAR_MANY:
		return bad_hist(
			err, text,
			"it has %zu rows, more than %d: use a STEP of %" PRIu64 " or more",
			shape->buckets, NW_MOST_LINEAR, (range - 1) / NW_MOST_LINEAR + 1);
	case NW_LINEAR_MULTIPLE:
		return bad_hist(err, text,
				"MAX - MIN is no multiple of STEP: use a MAX of %" PRId64,
				nw_linear_low(shape, shape->buckets));
	default:
		return 0;
	}
}

int nw_hist_parse(const char *text, nw_hists *out, struct nw_error *err)
{
	struct nw_hist *hist = nw_vec_add(out);
	nw_cleanup(nw_free_ptr) char *copy = hist ? strdup(text) : NULL;
	char *word[3] = {NULL};

	if (!copy)
		return nw_no_memory(err);
	size_t colons = split(copy, word);
	if (colons && colons < 3)
		return bad_hist(err, text, "MIN, MAX and STEP belong together");
	if (!*copy)
		return bad_hist(err, text, "the argument is missing");
	hist->name = strdup(copy);
	if (!hist->name)
		return nw_no_memory(err);
	return colons ? make_shape(text, word, &hist->shape, err) : 0;
}

void nw_hists_free(nw_hists *hists)
{
	nw_vec_each (hists, hist)
		free(hist->name);
	nw_vec_free(hists);
}

/* ---- counts ------------------------------------------------------------------------- */

struct nw_linear *nw_linear_new(const struct nw_linear_shape *shape)
{
	struct nw_linear *linear = calloc(
		1, sizeof(*linear) + shape->buckets * sizeof(*linear->count));

	if (linear)
		linear->shape = *shape;
	return linear;
}

void nw_linear_add(struct nw_linear *linear, int64_t value)
{
	const struct nw_linear_shape *shape = &linear->shape;

	if (value < shape->min)
		linear->below++;
	else if (value >= shape->max)
		linear->above++;
	else
		linear->count[((uint64_t)value - (uint64_t)shape->min) / shape->step]++;
}

bool nw_linear_is_same(const struct nw_linear_shape *one,
		       const struct nw_linear_shape *other)
{
	return one->min == other->min && one->max == other->max && one->step == other->step;
}

void nw_linear_merge(struct nw_linear *into, const struct nw_linear *from)
{
	into->below += from->below;
	into->above += from->above;
	for (size_t i = 0; i < into->shape.buckets && i < from->shape.buckets; i++)
		into->count[i] += from->count[i];
}

void nw_linear_clear(struct nw_linear *linear)
{
	linear->below = linear->above = 0;
	memset(linear->count, 0, linear->shape.buckets * sizeof(*linear->count));
}

int64_t nw_linear_low(const struct nw_linear_shape *shape, size_t bucket)
{
	return (int64_t)((uint64_t)shape->min + bucket * shape->step);
}
