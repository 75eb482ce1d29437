/* SPDX-License-Identifier: MIT */
/* What all formats say the same way of the system's uprobe events. */
#ifndef NOPWATCH_SHOW_ROWS_STATUS_H
#define NOPWATCH_SHOW_ROWS_STATUS_H

#include "nopwatch/output.h"

extern const char *const nw_owner_names[];
/* At all of its places. */
uint64_t nw_status_hits(const struct nw_uprobe_event *event);

#endif
