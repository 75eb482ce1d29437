// SPDX-License-Identifier: MIT
/* See boundaries.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "boundaries.h"
#include "histogram.h"
#include "linear.h"

enum {
	FIRST_BIT = 7, /* the usual boundaries: 127 ns to 17.2 s */
	LAST_BIT = 34,
	LAST_VALUE_BIT = 32
};

/* ---- the option --------------------------------------------------------------------- */

static int bad_buckets(struct nw_error *err, const char *text, const char *why)
{
	nw_fail_usage(err, "--buckets '%s': %s", text, why);
	nw_error_hint(err,
		      "write --buckets 1ms,5ms,20ms, --buckets 1us..10s (powers of two), "
		      "1us..10s/4 (four a doubling) or none");
	return -EINVAL;
}

static int add(struct nw_boundaries *out, uint64_t last, const char *text,
	       struct nw_error *err)
{
	if (out->count && last == out->last[out->count - 1])
		return 0;
	if (out->count && last < out->last[out->count - 1])
		return bad_buckets(err, text, "the boundaries are not in ascending order");
	if (out->count == NW_MOST_BOUNDARIES)
		return bad_buckets(err, text, "there are more than 256 boundaries");
	out->last[out->count++] = last;
	return 0;
}

/* Returns the end of one of the histogram's buckets that is nearest to a value. */
static uint64_t nearest_end(uint64_t value)
{
	const struct nw_bucket bucket = nw_histogram_bucket_of(value);

	return bucket.low && value - (bucket.low - 1) < bucket.high - value ? bucket.low - 1
									    : bucket.high;
}

static int add_list(char *list, const char *text, struct nw_boundaries *out,
		    struct nw_error *err)
{
	char *rest = list, *one;
	uint64_t time;

	while ((one = strsep(&rest, ","))) {
		if (nw_parse_duration(one, &time) < 0 || !time)
			return bad_buckets(
				err, text,
				"a boundary is a time above 0 such as 5ms or 1.5s");
		int ret = add(out, nearest_end(time), text, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Adds the boundaries between two times: `parts` in each doubling, at equal distances. */
static int add_range(uint64_t from, uint64_t to, unsigned int parts, const char *text,
		     struct nw_boundaries *out, struct nw_error *err)
{
	for (unsigned int bit = 0; bit < 63; bit++)
		for (unsigned int part = 0; part < parts; part++) {
			uint64_t power = (uint64_t)1 << bit, step = power / parts;
			if (part && power % parts)
				continue;
			uint64_t edge = power + part * step;
			int ret = edge < from || edge > to ? 0
							   : add(out, edge - 1, text, err);
			if (ret < 0)
				return ret;
		}
	return out->count ? 0
			  : bad_buckets(err, text, "there is no boundary in that range");
}

/* Parses "/4" behind a range, and cuts it off; without it there is one boundary a doubling. */
static bool cut_parts(char *range, uint64_t *parts)
{
	char *slash = strchr(range, '/');

	*parts = 1;
	if (!slash)
		return true;
	*slash = '\0';
	return nw_parse_u64(slash + 1, parts) == 0 && *parts && *parts <= NW_BUCKETS &&
	       !(*parts & (*parts - 1));
}

int nw_boundaries_parse(const char *text, struct nw_boundaries *out, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *copy = nw_text("%s", text);
	uint64_t from, to, parts;

	*out = (struct nw_boundaries){.given = true};
	if (!copy)
		return nw_no_memory(err);
	if (strcmp(text, "none") == 0)
		return 0;
	char *dots = strstr(copy, "..");
	if (!dots)
		return add_list(copy, text, out, err);
	*dots = '\0';
	if (!cut_parts(dots + 2, &parts))
		return bad_buckets(
			err, text,
			"behind the / is 1, 2, 4, 8, 16 or 32: boundaries in each doubling");
	if (nw_parse_duration(copy, &from) < 0 || nw_parse_duration(dots + 2, &to) < 0 ||
	    !from || from > to)
		return bad_buckets(err, text, "a range is FROM..TO, two times above 0");
	return add_range(from, to, (unsigned int)parts, text, out, err);
}

void nw_boundaries_usual(struct nw_boundaries *out)
{
	*out = (struct nw_boundaries){0};
	for (unsigned int bit = FIRST_BIT; bit <= LAST_BIT; bit++)
		out->last[out->count++] = ((uint64_t)1 << bit) - 1;
}

/* ---- the counts --------------------------------------------------------------------- */

/* Counts the values up to a boundary; `at`, `next` and `count` go on from the boundary before. */
struct counting {
	const struct nw_histogram *h;
	unsigned int at;
	struct nw_bucket next;
	bool more;
	uint64_t count;
};

static struct counting count_from_start(const struct nw_histogram *h)
{
	struct counting c = {.h = h};

	c.more = nw_histogram_next(h, &c.at, &c.next);
	return c;
}

static bool is_up_to(const struct nw_histogram *h, uint64_t value, int64_t last)
{
	return h->is_signed ? (int64_t)value <= last : last >= 0 && value <= (uint64_t)last;
}

static int count_up_to(struct counting *c, int64_t last, nw_classic_buckets *out)
{
	struct nw_classic_bucket *bucket = nw_vec_add(out);

	if (!bucket)
		return -ENOMEM;
	while (c->more && is_up_to(c->h, c->next.high, last)) {
		c->count += c->next.count;
		c->more = nw_histogram_next(c->h, &c->at, &c->next);
	}
	*bucket = (struct nw_classic_bucket){last, c->count};
	return 0;
}

int nw_classic_durations(const struct nw_histogram *h,
			 const struct nw_boundaries *boundaries, nw_classic_buckets *out)
{
	struct counting c = count_from_start(h);
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < boundaries->count; i++)
		ret = count_up_to(&c, (int64_t)boundaries->last[i], out);
	return ret;
}

static int count_steps(const struct nw_linear *linear, nw_classic_buckets *out)
{
	uint64_t count = linear->below;
	/* Nothing is below the least number. */
	size_t first = linear->shape.min == INT64_MIN;

	for (size_t i = 0; i <= linear->shape.buckets; i++) {
		struct nw_classic_bucket *bucket = i < first ? NULL : nw_vec_add(out);
		if (i >= first && !bucket)
			return -ENOMEM;
		if (bucket)
			*bucket = (struct nw_classic_bucket){
				nw_linear_low(&linear->shape, i) - 1, count};
		count += i < linear->shape.buckets ? linear->count[i] : 0;
	}
	return 0;
}

int nw_classic_values(const struct nw_histogram *h, nw_classic_buckets *out)
{
	struct counting c = count_from_start(h);
	int ret = 0;

	if (h->linear)
		return count_steps(h->linear, out);
	for (int bit = LAST_VALUE_BIT; ret == 0 && h->is_signed && bit >= 0; bit--)
		ret = count_up_to(&c, -((int64_t)1 << bit), out);
	for (int bit = 0; ret == 0 && bit <= LAST_VALUE_BIT; bit++)
		ret = count_up_to(&c, ((int64_t)1 << bit) - 1, out);
	return ret;
}
