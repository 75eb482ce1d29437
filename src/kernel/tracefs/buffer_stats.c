// SPDX-License-Identifier: MIT
/* Parses per_cpu/cpuN/stats, lines "NAME: NUMBER" (kernel/trace/trace.c: tracing_stats_read()). */
#include <stdlib.h>
#include <string.h>

#include "kernel/tracefs/tracefs.h"

/* Returns the number behind a name at the beginning of a line: "commit overrun" ends in the name of another line.
 * The kernel prints a negative number when it has miscounted; that counts as 0. */
static uint64_t number_of(const char *stats, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = stats; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, len) == 0)
			return at[len + (at[len] == ' ')] == '-'
				       ? 0
				       : strtoull(at + len, NULL, 10);
	}
	return 0;
}

/* Returns "oldest event ts: 57.123456" in nanoseconds; 0: the line is missing, or the clock does not count seconds. */
static uint64_t time_of(const char *stats, const char *name)
{
	const char *at = strstr(stats, name);
	char *end;

	if (!at)
		return 0;
	uint64_t seconds = strtoull(at + strlen(name), &end, 10);
	return *end == '.' ? seconds * 1000000000 + strtoull(end + 1, NULL, 10) * 1000 : 0;
}

uint64_t nw_buffer_stats_reach(const char *stats, uint64_t size)
{
	enum {
		LEAST_NS = 200000000,
		LEAST_BYTES = 65536
	};
	uint64_t bytes = number_of(stats, "bytes:");
	uint64_t oldest = time_of(stats, "oldest event ts:"),
		 now = time_of(stats, "now ts:");
	bool full = number_of(stats, "overrun:") > 0;

	if (!oldest || now <= oldest || bytes < LEAST_BYTES ||
	    (now - oldest < LEAST_NS && !full))
		return UINT64_MAX;
	double reach = (double)(now - oldest) * ((double)size / (double)bytes);
	return full || reach < 1e18 ? (uint64_t)reach : UINT64_MAX;
}

uint64_t nw_buffer_stats_lost(const char *stats, bool emptied)
{
	static const char *const lost[] = {
		"overrun:", "dropped events:", "commit overrun:"};
	uint64_t sum = emptied ? number_of(stats, "entries:") : 0;

	for (size_t i = 0; i < NW_COUNT(lost); i++)
		sum += number_of(stats, lost[i]);
	return sum;
}
