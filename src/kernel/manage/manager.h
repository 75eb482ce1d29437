/* SPDX-License-Identifier: MIT */
/* Internals of the manager, shared by manager.c and the verbs. */
#ifndef NOPWATCH_KERNEL_MANAGE_MANAGER_H
#define NOPWATCH_KERNEL_MANAGE_MANAGER_H

#include "kernel/manage/manage.h"
#include "kernel/session/session.h"

#include "kernel/recovery/inventory_private.h"
#include "kernel/steps/journal.h"

struct nw_manager {
	const struct nw_tracefs *fs;
	const struct nw_features *features;
	bool read_only;
	struct nw_persistent persistent;
	struct nw_inventory inventory;
	struct nw_steps steps;
	/* Lines for the session's journal: the event sites that the steps arm. */
	struct nw_buf arming;
	/* Entries that the journal gets after the steps are done. Until then persistent.events must not move,
	 * because the inventory points into it. */
	NW_VEC(struct nw_persistent_event) fresh;
	nw_strings gone;	    /* "GROUP:NAME" */
	nw_strings gone_counts;	    /* names of counts that stay no longer */
	nw_strings fresh_instances; /* instances that the steps make */
	bool tidied;
	nw_changes changes;
	nw_strings notes;
	nw_strings left; /* things that could not be removed */
};

/* "GROUP:NAME" */
void nw_event_text(const char *group, const char *name, char out[2 * NW_MAX_NAME + 2]);
/* Notes the result for an event. */
int nw_manager_change(struct nw_manager *m, const char *group, const char *name,
		      const char *label, const char *where, enum nw_change_kind kind);
/* Adds the step that makes an instance, if it does not exist. */
int nw_manager_need_instance(struct nw_manager *m, const char *name, struct nw_error *err);
/* Notes the definition of an event that is to be enabled. persistent: its entry, NULL: none. If nopwatch is killed
 * meanwhile, the event site is armed and disarmed again (kernel/recovery/leaked.c). */
void nw_manager_arms(struct nw_manager *m, const char *definition,
		     const struct nw_persistent_event *persistent);
/* Adds the step that enables or disables an event in one place. */
void nw_manager_step_enable(struct nw_manager *m, const char *where, const char *group,
			    const char *name, bool on);
/* Returns EPERM, with the reason, if the event is not ours to change. */
int nw_manager_may_touch(const struct nw_uprobe_event *event,
			 const struct nw_manager_options *options, struct nw_error *err);

#endif
