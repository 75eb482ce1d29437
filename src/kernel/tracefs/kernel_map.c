// SPDX-License-Identifier: MIT
/* See kernel_map.h. The format is that of hist_trigger_show() in kernel/trace/trace_events_hist.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_map.h"

/* The rest of a line. */
struct rest {
	const char *at, *end;
};

static void skip_blanks(struct rest *rest)
{
	while (rest->at < rest->end && (*rest->at == ' ' || *rest->at == '\t'))
		rest->at++;
}

static bool take_text(struct rest *rest, const char *text)
{
	size_t len = strlen(text);

	skip_blanks(rest);
	if ((size_t)(rest->end - rest->at) < len || memcmp(rest->at, text, len) != 0)
		return false;
	rest->at += len;
	return true;
}

static bool take_number(struct rest *rest, uint64_t *out)
{
	bool any = false;

	*out = 0;
	for (skip_blanks(rest);
	     rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9'; rest->at++) {
		const uint64_t digit = (uint64_t)(*rest->at - '0');
		if (*out > (UINT64_MAX - digit) / 10)
			return false;
		*out = *out * 10 + digit;
		any = true;
	}
	return any;
}

/* Takes "NAME:", which may be the name of any field. */
static bool take_name(struct rest *rest)
{
	skip_blanks(rest);
	const char *colon = memchr(rest->at, ':', (size_t)(rest->end - rest->at));
	if (!colon || colon == rest->at)
		return false;
	for (const char *at = rest->at; at < colon; at++)
		if (*at == ' ' || *at == '{' || *at == '}' || *at == ',')
			return false;
	rest->at = colon + 1;
	return true;
}

/* Takes the rest of "2^11", the values above 2^10 and up to 2^11. The kernel prints 2^0 for 0 and 1. */
static bool take_octave(struct rest *rest, struct nw_kernel_map_key *out)
{
	uint64_t power;

	if (out->low != 2 || !take_number(rest, &power) || power > 63)
		return false;
	out->high = (uint64_t)1 << power;
	out->low = power ? out->high / 2 + 1 : 0;
	return true;
}

/* Takes "common_pid:   4711", "lat: ~ 64-127", or "lat: ~ 2^11". */
static bool take_key(struct rest *rest, struct nw_kernel_map_key *out)
{
	if (!take_name(rest))
		return false;
	if (!take_text(rest, "~")) {
		bool ok = take_number(rest, &out->low);
		out->high = out->low;
		return ok;
	}
	if (!take_number(rest, &out->low))
		return false;
	if (take_text(rest, "^"))
		return take_octave(rest, out);
	return take_text(rest, "-") && take_number(rest, &out->high) &&
	       out->low <= out->high;
}

/* Takes "{ KEY, KEY } hitcount: 3  lat: 5000". */
static int take_row(struct rest *rest, struct nw_kernel_map *map)
{
	struct nw_kernel_map_row row = {.hits = 0};
	size_t keys = 0;

	do {
		if (keys == NW_KERNEL_MAP_KEYS || !take_key(rest, &row.key[keys++]))
			return -EBADMSG;
	} while (take_text(rest, ","));
	if (!take_text(rest, "}") || !take_text(rest, "hitcount:") ||
	    !take_number(rest, &row.hits) || (map->rows.count && map->keys != keys))
		return -EBADMSG;
	skip_blanks(rest);
	if (rest->at < rest->end && (!take_name(rest) || !take_number(rest, &row.sum)))
		return -EBADMSG;
	struct nw_kernel_map_row *slot = nw_vec_add(&map->rows);
	if (!slot)
		return -ENOMEM;
	*slot = row;
	map->keys = keys;
	return 0;
}

static int begin_map(const struct rest *info, nw_kernel_maps *out)
{
	enum {
		MOST_MAPS =
			4096 /* more than triggers have any use for; the text may come from anywhere */
	};
	if (out->count == MOST_MAPS)
		return -EFBIG;
	struct nw_kernel_map *map = nw_vec_add(out);

	if (!map)
		return -ENOMEM;
	*map = (struct nw_kernel_map){
		.info = strndup(info->at, (size_t)(info->end - info->at))};
	return map->info ? 0 : -ENOMEM;
}

static int take_line(struct rest *line, nw_kernel_maps *out)
{
	struct nw_kernel_map *map = out->count ? &out->item[out->count - 1] : NULL;

	if (take_text(line, "# trigger info: "))
		return begin_map(line, out);
	if (take_text(line, "{"))
		return map ? take_row(line, map) : -EBADMSG;
	if (map && take_text(line, "Dropped:") && !take_number(line, &map->dropped))
		return -EBADMSG;
	return 0; /* a comment, an empty line, or a number that follows from the rows */
}

int nw_kernel_maps_parse(const char *text, size_t len, nw_kernel_maps *out)
{
	const char *end = text + len;
	int ret = 0;

	while (ret == 0 && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct rest line = {text, newline ? newline : end};
		ret = take_line(&line, out);
		text = newline ? newline + 1 : end;
	}
	if (ret < 0)
		nw_kernel_maps_free(out);
	return ret;
}

void nw_kernel_maps_free(nw_kernel_maps *maps)
{
	nw_vec_each (maps, map) {
		free(map->info);
		nw_vec_free(&map->rows);
	}
	nw_vec_free(maps);
}

/* ---- which trigger it is ------------------------------------------------------------ */

/* Has the trigger these keys? Its text is "hist:keys=KEYS:vals=...". */
static bool has_keys(const char *info, const char *keys)
{
	static const char begin[] = "hist:keys=";
	size_t len = strlen(keys);

	return strncmp(info, begin, sizeof(begin) - 1) == 0 &&
	       strncmp(info + sizeof(begin) - 1, keys, len) == 0 &&
	       info[sizeof(begin) - 1 + len] == ':';
}

/* Has the trigger this filter? Its text ends in "[ if FILTER] [STATE]". */
static bool has_filter(const char *info, const char *filter)
{
	const char *found = strstr(info, " if "), *state = strrchr(info, '[');
	size_t len = strlen(filter);

	if (!*filter)
		return !found;
	return found && state && state > found + 4 && (size_t)(state - found - 5) == len &&
	       memcmp(found + 4, filter, len) == 0;
}

struct nw_kernel_map *nw_kernel_map_find(nw_kernel_maps *maps, const char *keys,
					 const char *filter, const char *mark)
{
	nw_vec_each (maps, map) {
		bool marked = *mark ? strstr(map->info, mark) != NULL
				    : !strstr(map->info, "=common_timestamp") &&
					      !strstr(map->info, ":all");
		if (marked && has_keys(map->info, keys) && has_filter(map->info, filter))
			return map;
	}
	return NULL;
}

int nw_kernel_map_compare(const void *a, const void *b)
{
	const struct nw_kernel_map_row *x = a, *y = b;

	for (size_t i = 0; i < NW_KERNEL_MAP_KEYS; i++)
		if (x->key[i].low != y->key[i].low)
			return x->key[i].low < y->key[i].low ? -1 : 1;
	return 0;
}

void nw_kernel_map_sort(struct nw_kernel_map *map)
{
	if (map->rows.count)
		qsort(map->rows.item, map->rows.count, sizeof(*map->rows.item),
		      nw_kernel_map_compare);
}
