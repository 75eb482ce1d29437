// SPDX-License-Identifier: MIT
#include "measure/strays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/state.h"

enum {
	STARTS = 1024, /* the newest that are kept */
	LEAST = 8      /* ends below which nothing is found */
};

struct stray_start {
	uint64_t value[NW_STRAY_ARGS];
	uint32_t probe;
	int32_t tid;
	uint16_t known; /* bits of the arguments that have a value */
	/* By argument of the start: bits of the arguments of ends that it was found by. A value that is used again later
	 * belongs to a later start. */
	uint16_t taken[NW_STRAY_ARGS];
	bool ended; /* in its own thread, or as one of those that were open longest */
};

struct nw_strays {
	struct stray_start start[STARTS];
	size_t begun;
	uint32_t ends, elsewhere, end_probe;
	/* Number of ends whose argument has the value of exactly one start's */
	uint32_t agree[NW_STRAY_ARGS][NW_STRAY_ARGS];
};

struct nw_strays *nw_strays_open(void)
{
	return calloc(1, sizeof(struct nw_strays));
}

void nw_strays_free(struct nw_strays *strays)
{
	free(strays);
}

/* Reads the arguments as keys. Returns bits of those that are known. */
static uint16_t read_values(const struct nw_hit *hit, uint64_t out[NW_STRAY_ARGS])
{
	uint16_t known = 0;

	for (int arg = 0; arg < NW_STRAY_ARGS; arg++) {
		const struct role role = {.key = NW_KEY_ARG, .key_arg = arg};
		if (nw_role_key(&role, hit, 0, &out[arg]))
			known = (uint16_t)(known | 1 << arg);
	}
	return known;
}

void nw_strays_start(struct nw_strays *strays, const struct nw_hit *hit)
{
	struct stray_start *start = &strays->start[strays->begun++ % STARTS];

	*start = (struct stray_start){.tid = nw_hit_thread(hit), .probe = hit->probe};
	start->known = read_values(hit, start->value);
}

static size_t kept(const struct nw_strays *strays)
{
	return nw_min64(strays->begun, STARTS);
}

/* The newest start of the thread has ended. */
static void end_own(struct nw_strays *strays, int32_t tid)
{
	for (size_t i = 0; i < kept(strays); i++) {
		struct stray_start *start =
			&strays->start[(strays->begun - 1 - i) % STARTS];
		if (start->tid != tid || start->ended)
			continue;
		start->ended = true;
		return;
	}
}

/* Finds the only start that is open and has this value as an argument; NULL: there is none, or there are several. */
static struct stray_start *find_only(struct nw_strays *strays, int arg, int end_arg,
				     uint64_t value)
{
	struct stray_start *found = NULL;

	for (size_t i = 0; i < kept(strays); i++) {
		struct stray_start *start = &strays->start[i];
		if (start->ended || !(start->known >> arg & 1) ||
		    start->value[arg] != value || start->taken[arg] >> end_arg & 1)
			continue;
		if (found)
			return NULL;
		found = start;
	}
	return found;
}

static bool others_open(const struct nw_strays *strays, int32_t tid)
{
	for (size_t i = 0; i < kept(strays); i++)
		if (!strays->start[i].ended && strays->start[i].tid != tid)
			return true;
	return false;
}

bool nw_strays_end(struct nw_strays *strays, const struct nw_hit *hit, bool stray)
{
	uint64_t value[NW_STRAY_ARGS];

	strays->ends++;
	if (!stray) {
		end_own(strays, nw_hit_thread(hit));
	} else if (others_open(strays, nw_hit_thread(hit))) {
		uint16_t known = read_values(hit, value);
		strays->elsewhere++;
		strays->end_probe = hit->probe;
		for (int arg = 0; arg < NW_STRAY_ARGS; arg++)
			for (int end = 0; end < NW_STRAY_ARGS; end++) {
				struct stray_start *start = known >> end & 1
								    ? find_only(strays, arg,
										end,
										value[end])
								    : NULL;
				if (!start)
					continue;
				start->taken[arg] = (uint16_t)(start->taken[arg] |
							       1 << end);
				strays->agree[arg][end]++;
			}
	}
	return strays->ends < NW_STRAY_ENDS;
}

bool nw_strays_find(const struct nw_strays *strays, struct nw_strays_found *out)
{
	*out = (struct nw_strays_found){.ends = strays->ends,
					.elsewhere = strays->elsewhere,
					.end_probe = strays->end_probe,
					.start_arg = -1,
					.end_arg = -1};
	if (strays->elsewhere < LEAST || strays->elsewhere * 2 < strays->ends)
		return false;
	out->start_probe = strays->start[0].probe;
	/* If several pairs agree equally often, a pair of one place comes first. */
	for (int turn = 0; turn < 2; turn++)
		for (int arg = 0; arg < NW_STRAY_ARGS; arg++)
			for (int end = 0; end < NW_STRAY_ARGS; end++) {
				uint32_t agree = strays->agree[arg][end];
				if ((turn == 0) != (arg == end) || agree <= out->agree ||
				    agree * 10 < strays->elsewhere * 9)
					continue;
				out->agree = agree;
				out->start_arg = arg;
				out->end_arg = end;
			}
	return true;
}

void nw_strays_key(const struct nw_selection *selection,
		   const struct nw_strays_found *found, char out[NW_STRAYS_KEY])
{
	char start[NW_ARG_NAME], end[NW_ARG_NAME];

	*out = '\0';
	if (found->start_arg < 0)
		return;
	nw_arg_name(selection->probes.item[found->start_probe], (size_t)found->start_arg,
		    start);
	nw_arg_name(selection->probes.item[found->end_probe], (size_t)found->end_arg, end);
	snprintf(out, NW_STRAYS_KEY, strcmp(start, end) == 0 ? "%s" : "%s:%s", start, end);
}
