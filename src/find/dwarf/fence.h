/* SPDX-License-Identifier: MIT */
/* The restrictions of the process that reads hostile files. */
#ifndef NOPWATCH_FIND_DWARF_FENCE_H
#define NOPWATCH_FIND_DWARF_FENCE_H

#include <sys/types.h>

#include "nopwatch/base.h"

enum {
	NW_FENCE_MEMORY = 512 << 20, /* bytes beyond what it began with */
	NW_FENCE_CPU = 120	     /* seconds; the parent gives up long before */
};

/*
 * In a process that was just forked: give up all that reading files does not need. What stays is the socket, which becomes
 * descriptor 0. The process dies with its parent. False: the parent has died already, or the socket cannot be kept.
 */
bool nw_fence_enter(int socket, pid_t parent);
/* May it get new descriptors now? They come from the parent; at all other times open() fails, whoever calls it. */
void nw_fence_descriptors(bool allowed);

#endif
