/* SPDX-License-Identifier: MIT */
/* Files and directories of tracefs, beside what nopwatch/tracefs.h has for everybody. */
#ifndef NOPWATCH_KERNEL_TRACEFS_FILES_H
#define NOPWATCH_KERNEL_TRACEFS_FILES_H

#include "nopwatch/tracefs.h"

/* Append to a file of tracefs, which is never truncated: 0 or -errno. */
int nw_tracefs_append(int dir, const char *file, const char *text);
/* The names of the directories in a directory of tracefs that start with prefix ("" for all); 0 or
 * -errno, also when the listing broke off. */
int nw_tracefs_list(int dir, const char *path, const char *prefix, nw_strings *out);
/* The same, and a directory that is not there (-ENOENT) is an empty one. */
int nw_tracefs_list_any(int dir, const char *path, const char *prefix, nw_strings *out);

#endif
