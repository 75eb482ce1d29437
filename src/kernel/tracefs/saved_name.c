// SPDX-License-Identifier: MIT
/*
 * Names of threads that have ended. The kernel keeps the names of the last threads that hit an event (128, or
 * saved_cmdlines_size) for its own text output: lines such as "4711 bash".
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/tracefs/tracefs.h"

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
