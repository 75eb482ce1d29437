/* SPDX-License-Identifier: MIT */
/* Removes what killed scripts of `nopwatch script` left. */
#ifndef NOPWATCH_KERNEL_STEPS_SCRIPT_DEAD_H
#define NOPWATCH_KERNEL_STEPS_SCRIPT_DEAD_H

#include "nopwatch/tracefs.h"

/* Is this the session of a script whose process is gone? Inside a PID namespace that is not known. */
bool nw_script_is_dead(const char *session);
/* Let the reader of a dead script's instance end. */
void nw_script_end_reader(const struct nw_tracefs *fs, const char *session);
/* Put back the top-level buffer's settings that dead scripts have noted; how many notes there were. */
size_t nw_script_settle(const struct nw_tracefs *fs);

#endif
