/* SPDX-License-Identifier: MIT */
/* Masks of CPUs, as tracing_cpumask has them. */
#ifndef NOPWATCH_KERNEL_TRACEFS_CPUS_H
#define NOPWATCH_KERNEL_TRACEFS_CPUS_H

#include "nopwatch/base.h"

/* How many of the CPUs that are online (a list: "0-3,8") are not in a mask ("f,ffffffff")? */
unsigned int nw_cpus_left_out(const char *mask, const char *online);
/* The mask of all that are online. 0 or -ENOMEM. */
int nw_cpus_mask(const char *online, struct nw_buf *out);

#endif
