/* SPDX-License-Identifier: MIT */
/* The inside of the manager: its opening and end (manager.c), and its verbs. */
#ifndef NOPWATCH_KERNEL_MANAGE_MANAGER_H
#define NOPWATCH_KERNEL_MANAGE_MANAGER_H

#include "nopwatch/kernel.h"
#include "nopwatch/manage.h"

#include "kernel/recovery/inventory.h"
#include "kernel/steps/journal.h"

struct nw_manager {
	const struct nw_tracefs *fs;
	const struct nw_features *features;
	bool read_only;
	struct nw_persistent persistent;
	struct nw_inventory inventory;
	struct nw_steps steps;
	/* What the journal will say when the steps are done. Until then kept.events stays where
	 * it is: the inventory points into it. */
	NW_VEC(struct nw_persistent_event) fresh;
	nw_strings gone;	    /* "GROUP:NAME" */
	nw_strings fresh_instances; /* that we make */
	bool tidied;
	nw_changes changes;
	nw_strings notes;
	nw_strings left; /* what was to go and is still there */
};

/* "GROUP:NAME" */
void nw_event_text(const char *group, const char *name, char out[2 * NW_MAX_NAME + 2]);
/* Report what becomes of an event. */
int nw_manager_change(struct nw_manager *m, const char *group, const char *name,
		      const char *label, const char *where, enum nw_change_kind kind);
/* Make an instance, if it is not there. */
int nw_manager_need_instance(struct nw_manager *m, const char *name, struct nw_error *err);
/* Enable or disable one event in one place. */
void nw_manager_step_enable(struct nw_manager *m, const char *where, const char *group,
			    const char *name, bool on);
/* EPERM: the event is not ours to touch, and why. */
int nw_manager_may_touch(const struct nw_uprobe_event *event,
			 const struct nw_manager_options *options, struct nw_error *err);

#endif
