// SPDX-License-Identifier: MIT
/*
 * The maps of a histogram: see kernel_counts.h.
 *
 * With .buckets= six maps divide latencies into rows that are never wider than a bucket of struct nw_histogram. Without it
 * (Linux 4.17 to 5.13) a key is either the value or, with .log2, its power of two. Eight maps with the key .log2 each take one
 * eighth of all powers of two, which their filters choose, so that a row is an eighth of a power of two.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_counts.h"

enum {
	SIZE = 2048, /* entries of a map: one of each row of a range, or so many threads */
	SIZE_BY = 8192,	    /* if rows are also told apart by thread or group */
	SIZE_OCTAVES = 128, /* the least that the kernel takes: the rows are 34 at most */
	SIZE_OCTAVES_BY = 2048,
	EXACT_BITS = 11, /* values below 2^11 have a row of their own */
	RANGE_BITS = 6,	 /* each range above is 64 times as wide as the one before */
	EIGHTHS_BITS =
		44 /* powers of two above 2^44 (4.8 hours) are not divided into eighths */
};

static int add_sized(struct nw_kernel_counts *c, const struct nw_counted_map *map,
		     const char *keys, const char *text, const char *filter, int size)
{
	const struct nw_counted_file *file = &c->files.item[map->file];
	nw_cleanup(nw_free_ptr) char *whole = nw_text("hist:keys=%s:size=%d%s", keys, size,
						      text);
	const struct nw_hist_trigger trigger = {.synthetic = file->synthetic,
						.event = file->event,
						.text = whole,
						.filter = (char *)(uintptr_t)filter,
						.paused = map->what == NW_COUNTED_HITS ||
							  map->what == NW_COUNTED_ARG};

	if (!whole || nw_triggers_add(&c->triggers, &trigger) < 0)
		return -ENOMEM;
	struct nw_counted_map *slot = nw_vec_add(&c->maps);
	if (!slot)
		return -ENOMEM;
	*slot = *map;
	slot->size = (size_t)size;
	c->room += (size_t)size;
	slot->keys = strdup(keys);
	slot->filter = strdup(filter);
	return slot->keys && slot->filter ? 0 : -ENOMEM;
}

int nw_kernel_counts_add_map(struct nw_kernel_counts *c, const struct nw_counted_map *map,
			     const char *keys, const char *text, const char *filter)
{
	return add_sized(c, map, keys, text, filter,
			 map->large || strchr(keys, ',') ? SIZE_BY : SIZE);
}

/* ---- rows of equal width ------------------------------------------------------------ */

/* Adds one map for each range of six powers of two, in rows as wide as the buckets of struct nw_histogram at its begin. */
static int add_buckets(struct nw_kernel_counts *c, const struct nw_counted_map *map,
		       const struct nw_kernel_value *value, const char *text)
{
	const unsigned int top = value->bits - value->is_signed;
	char keys[160], filter[160];
	int ret = 0;

	for (unsigned int from = EXACT_BITS; ret == 0 && from < top; from += RANGE_BITS) {
		const uint64_t low = (uint64_t)1 << from;
		snprintf(keys, sizeof(keys), "%s%s.buckets=%" PRIu64, value->before,
			 value->name, low >> (EXACT_BITS - RANGE_BITS));
		int len = snprintf(filter, sizeof(filter), "%s >= %" PRIu64, value->name,
				   low);
		if (from + RANGE_BITS < top)
			snprintf(filter + len, sizeof(filter) - (size_t)len,
				 " && %s < %" PRIu64, value->name, low << RANGE_BITS);
		ret = nw_kernel_counts_add_map(c, map, keys, text, filter);
	}
	return ret;
}

/* ---- eighths of powers of two ------------------------------------------------------- */

/*
 * Writes the condition that a value is in this eighth of 2^from. The ends are those of .log2, which counts 4096 among the values
 * above 2048; so the first eighth of all begins with 2^11 itself. A type has no number for the end of its last one.
 */
static void in_eighth(struct nw_buf *out, const struct nw_kernel_value *value,
		      unsigned int eighth, unsigned int from)
{
	const uint64_t low = (uint64_t)1 << from, step = low / 8;
	const bool last = eighth == 7 && from + 1 == value->bits - value->is_signed;

	nw_buf_printf(out, "%s %s %" PRIu64, value->name,
		      from == EXACT_BITS && eighth == 0 ? ">=" : ">", low + eighth * step);
	if (!last)
		nw_buf_printf(out, " && %s <= %" PRIu64, value->name,
			      low + (eighth + 1) * step);
}

/* Writes the same for the powers of two from..to - 1: as a tree, so that the kernel compares a value a few times only. */
static void in_eighths(struct nw_buf *out, const struct nw_kernel_value *value,
		       unsigned int eighth, unsigned int from, unsigned int to)
{
	const unsigned int middle = (from + to) / 2;

	if (from == middle) {
		in_eighth(out, value, eighth, from);
		return;
	}
	const uint64_t split = (uint64_t)1 << middle;
	nw_buf_printf(out, "%s <= %" PRIu64 " && (", value->name, split);
	in_eighths(out, value, eighth, from, middle);
	nw_buf_printf(out, ") || %s > %" PRIu64 " && (", value->name, split);
	in_eighths(out, value, eighth, middle, to);
	nw_buf_adds(out, ")");
}

/* Adds eight maps, and one for what is too large for them. */
static int add_eighths(struct nw_kernel_counts *c, const struct nw_counted_map *map,
		       const struct nw_kernel_value *value, const char *text)
{
	const unsigned int top = value->bits - value->is_signed;
	const unsigned int to = top < EIGHTHS_BITS ? top : EIGHTHS_BITS;
	const int size = *value->before ? SIZE_OCTAVES_BY : SIZE_OCTAVES;
	struct nw_counted_map part = *map;
	struct nw_buf filter = {0};
	char keys[160];
	int ret = 0;

	if (top <= EXACT_BITS)
		return 0;
	snprintf(keys, sizeof(keys), "%s%s.log2", value->before, value->name);
	for (unsigned int i = 0; ret == 0 && i < 8; i++) {
		nw_buf_clear(&filter);
		in_eighths(&filter, value, i, EXACT_BITS, to);
		part.part = NW_COUNTED_EIGHTH + i;
		ret = filter.failed
			      ? -ENOMEM
			      : add_sized(c, &part, keys, text, nw_buf_str(&filter), size);
	}
	nw_buf_free(&filter);
	if (ret < 0 || top <= EIGHTHS_BITS)
		return ret;
	nw_cleanup(nw_free_ptr) char *rest = nw_text("%s > %" PRIu64, value->name,
						     (uint64_t)1 << EIGHTHS_BITS);
	part.part = NW_COUNTED_OCTAVE;
	return rest ? add_sized(c, &part, keys, text, rest, size) : -ENOMEM;
}

/* ---- all ---------------------------------------------------------------------------- */

/* Values below 2^11 and negative ones have a row each. */
int nw_kernel_counts_add_ranges(struct nw_kernel_counts *c,
				const struct nw_counted_map *map,
				const struct nw_kernel_value *value)
{
	char keys[160], filter[80] = "", text[80];
	int ret = 0;

	snprintf(text, sizeof(text), ":vals=%s", value->name);
	snprintf(keys, sizeof(keys), "%s%s", value->before, value->name);
	if (value->exact)
		return add_sized(c, map, keys, text, "", SIZE_BY);
	if (value->is_signed) {
		snprintf(filter, sizeof(filter), "%s < 0", value->name);
		ret = nw_kernel_counts_add_map(c, map, keys, text, filter);
		snprintf(filter, sizeof(filter), "%s >= 0", value->name);
	}
	if (value->bits - value->is_signed > EXACT_BITS)
		snprintf(filter + strlen(filter), sizeof(filter) - strlen(filter),
			 "%s%s < %d", *filter ? " && " : "", value->name, 1 << EXACT_BITS);
	if (ret == 0)
		ret = nw_kernel_counts_add_map(c, map, keys, text, filter);
	if (ret < 0)
		return ret;
	return c->buckets ? add_buckets(c, map, value, text)
			  : add_eighths(c, map, value, text);
}

struct nw_counted nw_kernel_counts_row(const struct nw_counted_map *map,
				       const struct nw_kernel_map_row *row)
{
	struct nw_counted counted = {
		.count = row->hits, .sum = row->sum, .is_signed = map->is_signed};

	if (map->value < 0)
		return counted;
	const struct nw_kernel_map_key *key = &row->key[map->value];
	counted.low = key->low;
	if (map->part == NW_COUNTED_PLAIN)
		return counted;
	if (key->high == (uint64_t)1 << EXACT_BITS) { /* of 2^11 its end only */
		counted.low = key->high;
		return counted;
	}
	const bool whole = map->part == NW_COUNTED_OCTAVE;
	/* The kernel's 2^64 is 2^0. */
	const uint64_t begin = key->low ? key->low - 1 : (uint64_t)1 << 63;
	const uint64_t width = whole ? begin : begin / 8;
	counted.low = begin + 1 + (whole ? 0 : width * (map->part - NW_COUNTED_EIGHTH));
	/* The sum of so many differences from the row's begin would wrap around: the begin takes the place of the mean. */
	uint64_t most;
	if (nw_mul_overflows(width, row->hits, &most))
		counted.sum = row->hits * counted.low;
	return counted;
}
