/* SPDX-License-Identifier: MIT */
/* add --engine=kernel: counts that stay. */
#ifndef NOPWATCH_CMD_COUNTS_H
#define NOPWATCH_CMD_COUNTS_H

#include "cmd.h"

/* Returns the first option that only goes with counts; NULL: there is none. */
const char *nw_counts_options(const struct nw_args *args);
/* Lets the kernel count, and ends. Returns the exit status. */
int nw_counts_add(const struct nw_args *args);

#endif
