/* SPDX-License-Identifier: MIT */
/* The restrictions of the process that reads hostile files. */
#ifndef NOPWATCH_FIND_DWARF_FENCE_H
#define NOPWATCH_FIND_DWARF_FENCE_H

#include <sys/types.h>

#include "base/base.h"

enum {
	NW_FENCE_MEMORY = 512 << 20, /* bytes, in addition to its memory at the start */
	NW_FENCE_CPU = 120	     /* seconds; the parent gives up long before */
};

/*
 * Called in a forked process: gives up everything that is not needed for reading files. Only the socket stays open,
 * as descriptor 0. The process dies with its parent. Returns false if the parent has died already, or the socket
 * cannot be kept.
 */
bool nw_fence_enter(int socket, pid_t parent);
/* Allows new descriptors, which come from the parent. At all other times every open() fails. */
void nw_fence_descriptors(bool allowed);

#endif
