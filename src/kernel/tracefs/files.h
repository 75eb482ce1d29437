/* SPDX-License-Identifier: MIT */
/* Files and directories of tracefs, in addition to kernel/tracefs/tracefs.h. */
#ifndef NOPWATCH_KERNEL_TRACEFS_FILES_H
#define NOPWATCH_KERNEL_TRACEFS_FILES_H

#include "kernel/tracefs/tracefs.h"

/* Appends to a file of tracefs without truncating it. Returns 0 or -errno. */
int nw_tracefs_append(int dir, const char *file, const char *text);
/* Lists the directories in a directory of tracefs whose names start with prefix ("": all). Returns 0 or -errno,
 * also if the listing broke off. */
int nw_tracefs_list(int dir, const char *path, const char *prefix, nw_strings *out);
/* Does the same; a directory that does not exist (-ENOENT) counts as empty. */
int nw_tracefs_list_any(int dir, const char *path, const char *prefix, nw_strings *out);

#endif
