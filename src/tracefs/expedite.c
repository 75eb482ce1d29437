// SPDX-License-Identifier: MIT
/* See expedite.h. The knobs are kernel/ksysfs.c: rcu_expedited, and rcu_normal, which overrides it. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "expedite.h"

static const char knob[] = "/sys/kernel/rcu_expedited";

/* The first byte of a file, 0 if there is none. */
static char first_byte(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte = 0;

	if (fd >= 0 && read(fd, &byte, 1) != 1)
		byte = 0;
	if (fd >= 0)
		close(fd);
	return byte;
}

/* A list of CPUs that is not empty: "(null)" is what some kernels print for none. */
static bool has_cpus(const char *path)
{
	char byte = first_byte(path);

	return byte >= '0' && byte <= '9';
}

/* What the knob is set to, "" if it cannot be read. */
static void read_knob(char out[16])
{
	int fd = open(knob, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, out, 15) : 0;

	out[len > 0 ? len : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* Off, or switched on by a nopwatch, which may be dead. */
static bool is_ours_to_set(void)
{
	char text[16];

	read_knob(text);
	return strcmp(text, "0\n") == 0 || strcmp(text, NW_EXPEDITED "\n") == 0;
}

bool nw_expedite_possible(void)
{
	return is_ours_to_set() && first_byte("/sys/kernel/rcu_normal") != '1' &&
	       !has_cpus("/sys/devices/system/cpu/isolated") &&
	       !has_cpus("/sys/devices/system/cpu/nohz_full");
}

void nw_expedite_begin(const struct nw_features *features, bool *ours)
{
	if (!*ours && features->has[NW_FEATURE_EXPEDITE] && is_ours_to_set())
		*ours = nw_tracefs_write(-1, knob, NW_EXPEDITED) == 0;
}

void nw_expedite_end(bool *ours)
{
	if (*ours)
		nw_expedite_settle();
	*ours = false;
}

void nw_expedite_settle(void)
{
	char text[16];

	read_knob(text);
	if (strcmp(text, NW_EXPEDITED "\n") == 0)
		nw_tracefs_write(-1, knob, "0");
}
