// SPDX-License-Identifier: MIT
/* Numbers with units, for people; clocks. */
#include <stdio.h>

#include "base/base.h"

struct scale {
	double least; /* this unit is used from this value on */
	double unit;
	const char *name;
};

/* Writes three significant digits, with as many decimals as that needs. */
static void scaled(double value, const struct scale *scales, size_t count, char out[16])
{
	size_t i = count - 1;

	while (i > 0 && value < scales[i].least)
		i--;
	double shown = value / scales[i].unit;
	int decimals = scales[i].unit == 1 || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
	snprintf(out, 16, "%.*f%s", decimals, shown, scales[i].name);
}

void nw_duration_text(uint64_t ns, char out[16])
{
	static const struct scale scales[] = {{0, 1, "ns"},
					      {999.5, 1e3, "us"},
					      {999.5e3, 1e6, "ms"},
					      {999.5e6, 1e9, "s"}};

	scaled((double)ns, scales, NW_COUNT(scales), out);
}

void nw_rate_text(double per_second, char out[16])
{
	static const struct scale scales[] = {{0, 1, "/s"},
					      {999.5, 1e3, "k/s"},
					      {999.5e3, 1e6, "M/s"},
					      {999.5e6, 1e9, "G/s"}};

	if (per_second > 0 && per_second < 9.995)
		snprintf(out, 16, "%.2f/s", per_second);
	else
		scaled(per_second, scales, NW_COUNT(scales), out);
}

uint64_t nw_clock_ns(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) < 0
		       ? 0
		       : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
