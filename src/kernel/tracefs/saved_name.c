// SPDX-License-Identifier: MIT
/*
 * Names of threads that are gone: the kernel keeps those of the last that hit an event (128, unless
 * saved_cmdlines_size says otherwise), because its own text needs them. "4711 bash", one a line.
 */
#include <stdlib.h>
#include <string.h>

#include "nopwatch/tracefs.h"

void nw_saved_name(const struct nw_tracefs *fs, pid_t tid, char comm[16])
{
	struct nw_buf text = {0};

	if (nw_tracefs_read(fs->root, "saved_cmdlines", &text) < 0)
		nw_buf_clear(&text);
	for (const char *line = nw_buf_str(&text); *line;) {
		const char *end = strchrnul(line, '\n');
		char *name;
		long number = strtol(line, &name, 10);
		if (name != line && *name == ' ' && number == tid && name[1] != '<') {
			size_t len = (size_t)(end - name) - 1;
			len = len < 15 ? len : 15;
			memcpy(comm, name + 1, len);
			comm[len] = '\0';
		}
		line = *end ? end + 1 : end;
	}
	nw_buf_free(&text);
}
