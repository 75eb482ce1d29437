/* SPDX-License-Identifier: MIT */
/* A probe of our own at a nop of ten bytes, which Linux 7.2 and later turn into a call: does that leave the program as it is? */
#ifndef NOPWATCH_KERNEL_SESSION_CALL_TRIAL_H
#define NOPWATCH_KERNEL_SESSION_CALL_TRIAL_H

#include <stdint.h>

/* Returns the address of the nop; 0: this architecture has none. */
uintptr_t nw_call_trial_nop(void);
/*
 * Hits the probe that was armed there, in a child, so that a kernel that does it wrongly harms nobody else. *hits: how
 * often. *failure: what has gone wrong, a phrase; NULL: the code became a call, and nothing else has changed. Returns 0 or
 * -errno of fork().
 */
int nw_call_trial_hit(unsigned int *hits, const char **failure);

#endif
