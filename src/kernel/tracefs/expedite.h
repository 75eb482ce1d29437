/* SPDX-License-Identifier: MIT */
/* Expedited RCU grace periods while probes are armed and removed. */
#ifndef NOPWATCH_KERNEL_TRACEFS_EXPEDITE_H
#define NOPWATCH_KERNEL_TRACEFS_EXPEDITE_H

#include "kernel/tracefs/features.h"

/*
 * Arming and disarming mostly wait until every CPU has passed through the scheduler: 25 ms to set the clock, 10 ms
 * to enable an event, 20 to 40 ms to disable one. With /sys/kernel/rcu_expedited the kernel interrupts the CPUs
 * instead, which takes a tenth of that. It is set for those few milliseconds only, and not on machines with
 * isolated CPUs, which must not be interrupted. The kernel takes any number for "yes" (kstrtoint() in
 * kernel/ksysfs.c), so the number NW_EXPEDITED says that a nopwatch set it. Another nopwatch that finds it resets
 * it without any journal (a container's journal may be gone with its /run). If the first one is still alive, it
 * only waits a little longer.
 */
#define NW_EXPEDITED "28279" /* 0x6e77, "nw" */
/* Returns false also for a shortage of memory or descriptors; errno tells it then. */
bool nw_expedite_possible(void);
/* *ours: this process switched it on. */
void nw_expedite_begin(const struct nw_features *features, bool *ours);
void nw_expedite_end(bool *ours);
/* Resets the switch if any nopwatch has left it on. */
void nw_expedite_settle(void);

#endif
