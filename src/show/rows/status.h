/* SPDX-License-Identifier: MIT */
/* Shared by all formats that show the system's uprobe events. */
#ifndef NOPWATCH_SHOW_ROWS_STATUS_H
#define NOPWATCH_SHOW_ROWS_STATUS_H

#include "show/rows/output.h"

extern const char *const nw_owner_names[];
/* Returns the hits of an event at all its places. */
uint64_t nw_status_hits(const struct nw_uprobe_event *event);

#endif
