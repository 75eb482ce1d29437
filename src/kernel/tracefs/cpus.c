// SPDX-License-Identifier: MIT
/* Parses lists of CPUs ("0-3,8") and masks of CPUs ("f,ffffffff") of the kernel. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"

enum {
	MOST_CPUS = 8192, /* CONFIG_NR_CPUS of the largest kernels */
	GROUP = 8	  /* digits between two commas (lib/bitmap-str.c) */
};

/* Takes the next range of a list; returns false at the end. */
static bool next_range(const char **at, unsigned long *first, unsigned long *last)
{
	char *end;

	*at += strspn(*at, ", \n");
	if (!isdigit((unsigned char)**at))
		return false;
	*first = *last = strtoul(*at, &end, 10);
	if (*end == '-')
		*last = strtoul(end + 1, &end, 10);
	*at = end;
	return *first <= *last && *last < MOST_CPUS;
}

unsigned int nw_cpus_left_out(const char *mask, const char *online)
{
	unsigned char digits[MOST_CPUS / 4];
	unsigned long first, last;
	unsigned int count = 0;

	/* `digits` holds the mask's digits in reverse order, so the first digit has CPUs 0 to 3. */
	size_t used = 0;
	memset(digits, 0, MOST_CPUS / 4);
	for (size_t i = strlen(mask); i-- && used < MOST_CPUS / 4;)
		if (isxdigit((unsigned char)mask[i]))
			digits[used++] = (unsigned char)strtoul((char[]){mask[i], '\0'},
								NULL, 16);
	while (next_range(&online, &first, &last))
		for (unsigned long cpu = first; cpu <= last; cpu++)
			count += !(digits[cpu / 4] >> cpu % 4 & 1);
	return count;
}

int nw_cpus_mask(const char *online, struct nw_buf *out)
{
	unsigned char digits[MOST_CPUS / 4] = {0};
	unsigned long first, last, most = 0;

	while (next_range(&online, &first, &last)) {
		for (unsigned long cpu = first; cpu <= last; cpu++)
			digits[cpu / 4] = (unsigned char)(digits[cpu / 4] | 1u << cpu % 4);
		most = last > most ? last : most;
	}
	for (unsigned long i = most / 4 + 1; i--;) {
		nw_buf_addc(out, "0123456789abcdef"[digits[i]]);
		if (i && i % GROUP == 0)
			nw_buf_addc(out, ',');
	}
	return out->failed ? -ENOMEM : 0;
}
