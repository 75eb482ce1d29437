// SPDX-License-Identifier: MIT
/* per_cpu/cpuN/stats (kernel/trace/trace.c: tracing_stats_read()): "NAME: NUMBER" lines. */
#include <stdlib.h>
#include <string.h>

#include "nopwatch/kernel.h"

/* The number behind a name that begins a line ("commit overrun" has another's in it); a kernel that has miscounted
 * prints a negative one. */
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

uint64_t nw_buffer_stats_lost(const char *stats, bool emptied)
{
	static const char *const lost[] = {
		"overrun:", "dropped events:", "commit overrun:"};
	uint64_t sum = emptied ? number_of(stats, "entries:") : 0;

	for (size_t i = 0; i < NW_COUNT(lost); i++)
		sum += number_of(stats, lost[i]);
	return sum;
}
