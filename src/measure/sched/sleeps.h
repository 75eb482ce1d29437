/* SPDX-License-Identifier: MIT */
/* Counts sleeps by the thread that ended them, and by where they were. */
#ifndef NOPWATCH_MEASURE_SCHED_SLEEPS_H
#define NOPWATCH_MEASURE_SCHED_SLEEPS_H

#include "nopwatch/threads.h"

/* Add what sleeps there were; false: no memory. *into NULL: none yet. */
bool nw_sleeps_merge(struct nw_sleeps **into, const struct nw_sleeps *from);

/* Add to the one of this key, or to the others. */
void nw_sleeps_add(struct nw_sleeps *sleeps, const struct nw_sleep *more);

#endif
