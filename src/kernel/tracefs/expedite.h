/* SPDX-License-Identifier: MIT */
/* Making the kernel hurry while probes are armed and taken away. */
#ifndef NOPWATCH_KERNEL_TRACEFS_EXPEDITE_H
#define NOPWATCH_KERNEL_TRACEFS_EXPEDITE_H

#include "nopwatch/features.h"

/*
 * Expedited grace periods: arming and disarming mostly wait until every CPU has passed through
 * the scheduler (setting the clock 25 ms, enabling 10, disabling 20 to 40 an event), unless
 * /sys/kernel/rcu_expedited tells the kernel to interrupt the CPUs instead: then it is a tenth of
 * that. It is set for those few milliseconds only. Not where CPUs are isolated: they are not to be
 * interrupted. The kernel takes any number for "yes" (kstrtoint() in kernel/ksysfs.c), so ours,
 * NW_EXPEDITED, says who set it: whoever finds it takes it over and puts it back, without any
 * journal (that of a container may be gone with its /run). Should its owner live, that owner only
 * waits a little longer.
 */
#define NW_EXPEDITED "28279" /* 0x6e77, "nw" */
/* Where that cannot be found out for a shortage of memory or descriptors, errno says so. */
bool nw_expedite_possible(void);
/* *ours: it is on, and it was us. */
void nw_expedite_begin(const struct nw_features *features, bool *ours);
void nw_expedite_end(bool *ours);
/* Put it back, whoever of us has left it on. */
void nw_expedite_settle(void);

#endif
