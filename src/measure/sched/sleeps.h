/* SPDX-License-Identifier: MIT */
/* Counts sleeps by the thread that ended them, and by wait channel. */
#ifndef NOPWATCH_MEASURE_SCHED_SLEEPS_H
#define NOPWATCH_MEASURE_SCHED_SLEEPS_H

#include "measure/sched/threads.h"

/* Adds all sleeps of a table to another. *into: allocated if it is NULL. Returns false without memory. */
bool nw_sleeps_merge(struct nw_sleeps **into, const struct nw_sleeps *from);

/* Adds a sleep to the entry of its key, or to NW_SLEEP_OTHERS. */
void nw_sleeps_add(struct nw_sleeps *sleeps, const struct nw_sleep *more);

#endif
