// SPDX-License-Identifier: MIT
/* The file names of recordings. */
#include <inttypes.h>
#include <string.h>

#include "run/flight/flight.h"

char *nw_flight_path(const char *path, uint64_t number)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	if (number < 2)
		return strdup(path);
	if (!dot || dot == name)
		return nw_text("%s-%" PRIu64, path, number);
	return nw_text("%.*s-%" PRIu64 "%s", (int)(dot - path), path, number, dot);
}
