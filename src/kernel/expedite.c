// SPDX-License-Identifier: MIT
/* See journal.h. The knobs are kernel/ksysfs.c: rcu_expedited, and rcu_normal, which overrides it. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "journal.h"

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

bool nw_expedite_possible(void)
{
	return first_byte(knob) == '0' && first_byte("/sys/kernel/rcu_normal") != '1' &&
	       !has_cpus("/sys/devices/system/cpu/isolated") &&
	       !has_cpus("/sys/devices/system/cpu/nohz_full");
}

static bool set(char value)
{
	int fd = open(knob, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, &value, 1) == 1;

	if (fd >= 0)
		close(fd);
	return done;
}

void nw_expedite_begin(const struct nw_features *features, struct nw_journal *journal)
{
	if (journal->expedited || !features->has[NW_FEATURE_EXPEDITE] ||
	    first_byte(knob) != '0')
		return;
	if (nw_journal_note(journal, "expedite on\n") == 0)
		journal->expedited = set('1');
}

void nw_expedite_end(struct nw_journal *journal)
{
	if (!journal->expedited)
		return;
	set('0');
	journal->expedited = false;
	nw_journal_note(journal, "expedite off\n");
}

void nw_expedite_recover(const struct nw_journal *journal)
{
	struct nw_buf text = {0};
	const char *last = NULL;

	if (nw_journal_text(journal, &text) == 0)
		for (const char *at = nw_buf_str(&text); (at = strstr(at, "expedite o"));
		     at++)
			last = at;
	if (last && strncmp(last, "expedite on", 11) == 0)
		set('0');
	nw_buf_free(&text);
}
