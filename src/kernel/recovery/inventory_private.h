/* SPDX-License-Identifier: MIT */
/* Reads all uprobe events of the system. */
#ifndef NOPWATCH_KERNEL_RECOVERY_INVENTORY_PRIVATE_H
#define NOPWATCH_KERNEL_RECOVERY_INVENTORY_PRIVATE_H

#include "kernel/recovery/inventory.h"

#include "kernel/tracefs/event_list.h"

#include "persistent.h"

/* Reads the inventory. `persistent` must outlive it. */
int nw_inventory_read(const struct nw_tracefs *fs, const struct nw_persistent *persistent,
		      struct nw_inventory *out, struct nw_error *err);
/* Adds a definition, a line of uprobe_events. Ignores lines of other kinds. Returns 0 or -ENOMEM. */
int nw_inventory_add(struct nw_inventory *inventory, const char *line);
void nw_inventory_free(struct nw_inventory *inventory);
const struct nw_uprobe_event *nw_inventory_find(const struct nw_inventory *inventory,
						const char *group, const char *name);

#endif
