// SPDX-License-Identifier: MIT
/* Uses two switches of kernel/ksysfs.c: rcu_expedited, and rcu_normal, which overrides it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "expedite.h"

static const char knob[] = "/sys/kernel/rcu_expedited";

/*
 * Reads the beginning of a file; "": it does not exist or cannot be read. A shortage of memory or descriptors stays
 * in errno (nw_shortage()), even if later reads succeed.
 */
static void read_start(const char *path, char out[16])
{
	int before = errno;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, out, 15) : -1;

	if (len >= 0 || !nw_is_shortage(errno))
		errno = before;
	out[len > 0 ? len : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* Does the file list any CPUs? Some kernels print "(null)" for an empty list. */
static bool has_cpus(const char *path)
{
	char text[16];

	read_start(path, text);
	return *text >= '0' && *text <= '9';
}

/* Is rcu_expedited off, or on by a nopwatch (which may be dead)? */
static bool is_ours_to_set(void)
{
	char text[16];

	read_start(knob, text);
	return strcmp(text, "0\n") == 0 || strcmp(text, NW_EXPEDITED "\n") == 0;
}

bool nw_expedite_possible(void)
{
	char normal[16];

	read_start("/sys/kernel/rcu_normal", normal);
	return is_ours_to_set() && *normal != '1' &&
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

	read_start(knob, text);
	if (strcmp(text, NW_EXPEDITED "\n") == 0)
		nw_tracefs_write(-1, knob, "0");
}
