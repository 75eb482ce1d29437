/* SPDX-License-Identifier: MIT */
/* A session whose hits the kernel counts by itself (plan/triggers.h). */
#ifndef NOPWATCH_KERNEL_SESSION_TRIGGERS_H
#define NOPWATCH_KERNEL_SESSION_TRIGGERS_H

#include "plan/triggers.h"

/* Returns the reason why this kernel cannot count: no hist triggers, no synthetic events, no ring buffers of one's own; NULL: it can. */
struct nw_features;
const char *nw_triggers_lack(const struct nw_features *features);

#endif
