/* SPDX-License-Identifier: MIT */
/* Masks of CPUs, in the format of tracing_cpumask. */
#ifndef NOPWATCH_KERNEL_TRACEFS_CPUS_H
#define NOPWATCH_KERNEL_TRACEFS_CPUS_H

#include "base/base.h"

/* Counts the online CPUs (a list such as "0-3,8") that are not in a mask ("f,ffffffff"). */
unsigned int nw_cpus_left_out(const char *mask, const char *online);
/* Appends the mask of all online CPUs. Returns 0 or -ENOMEM. */
int nw_cpus_mask(const char *online, struct nw_buf *out);

#endif
