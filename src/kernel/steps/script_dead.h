/* SPDX-License-Identifier: MIT */
/* Removes what killed scripts of `nopwatch script` left. */
#ifndef NOPWATCH_KERNEL_STEPS_SCRIPT_DEAD_H
#define NOPWATCH_KERNEL_STEPS_SCRIPT_DEAD_H

#include "kernel/tracefs/tracefs.h"

/* Is this the session of a script whose process has ended? Unknown inside a PID namespace, so no. Returns 1, 0 or
 * -errno. */
int nw_script_is_dead(const char *session);
/* Makes the process end that reads the instance of a dead script. */
void nw_script_end_reader(const struct nw_tracefs *fs, const char *session);
/* Restores the settings of the top-level buffer that dead scripts have saved. Returns the number of their notes, and
 * tells which cannot be read. */
size_t nw_script_settle(const struct nw_tracefs *fs, nw_strings *stuck);

#endif
