/* SPDX-License-Identifier: MIT */
/*
 * manage: events that stay, from `add` to `remove`.
 */
#ifndef NOPWATCH_MANAGE_H
#define NOPWATCH_MANAGE_H

#include "nopwatch/features.h"
#include "nopwatch/inventory.h"

/*
 * The manager: changes to what stays. Verbs only collect what is to be done; nw_manager_do()
 * does all of it or nothing, nw_manager_print() prints it as shell commands. Between opening and
 * closing no other manager changes anything.
 */
struct nw_manager;

/*
 * fs->root < 0: there is no tracefs; then nothing exists and all can only be told. read_only: only
 * for looking and telling, takes no lock and writes nothing. Else, what a killed manager had
 * begun is undone first (nw_manager_notes() says so).
 */
int nw_manager_open(const struct nw_tracefs *fs, const struct nw_features *features,
		    bool read_only, struct nw_manager **out, struct nw_error *err);
/* Where there is no tracefs to look at: take the plan's events for there, as `add` would make
 * them, enabled at the top level (and in instance, if not NULL) or not. Only to be told. */
int nw_manager_assume(struct nw_manager *manager, const struct nw_plan *plan, bool on,
		      const char *instance, struct nw_error *err);
const struct nw_inventory *nw_manager_inventory(const struct nw_manager *manager);

struct nw_manager_options {
	const char *instance; /* NULL: not said; "" is the top level */
	bool enable;	      /* add: enable at once */
	bool foreign;	      /* touch what is not ours */
	bool force;	      /* what is dangerous; remove what others have enabled */
};

/* Define every event of a plan that was made with NW_NAMES_STAY and without sharing. An event
 * that is there already, for the same place and arguments, is left as it is. */
int nw_manager_add(struct nw_manager *manager, const struct nw_plan *plan,
		   const struct nw_manager_options *options, struct nw_error *err);
/* Enable or disable an event of the inventory: in options->instance, else at its home; an
 * event is disabled wherever we have enabled it. */
int nw_manager_switch(struct nw_manager *manager, const struct nw_uprobe_event *event,
		      bool on, const struct nw_manager_options *options,
		      struct nw_error *err);
/* Delete an event. EBUSY with names, if others have enabled it. */
int nw_manager_remove(struct nw_manager *manager, const struct nw_uprobe_event *event,
		      const struct nw_manager_options *options, struct nw_error *err);

/* EPERM: the event is not ours to touch, and why. */
int nw_manager_may_touch(const struct nw_uprobe_event *event,
			 const struct nw_manager_options *options, struct nw_error *err);

int nw_manager_do(struct nw_manager *manager, struct nw_error *err);
void nw_manager_print(const struct nw_manager *manager, struct nw_buf *out);

/* What became of each event that a verb was asked about. */
struct nw_change {
	char event[2 * NW_MAX_NAME + 2]; /* "GROUP:NAME" */
	char *label;			 /* "" if unknown */
	char *where;			 /* where it was enabled or disabled; else "" */
	const char *what; /* "added", "added and enabled", "there already", "enabled",
			     "enabled already", "disabled", "not enabled", "removed" */
};
typedef NW_VEC(struct nw_change) nw_changes;
const nw_changes *nw_manager_changes(const struct nw_manager *manager);
/* What the user should know; lives as long as the manager. */
const nw_strings *nw_manager_notes(const struct nw_manager *manager);
/* What nw_manager_do() was to take away and had to leave: the journal keeps it for later. */
const nw_strings *nw_manager_left(const struct nw_manager *manager);
void nw_manager_close(struct nw_manager *manager);

/* May the name be an instance's? EINVAL. */
int nw_instance_name_check(const char *name, struct nw_error *err);
/* May the name be a group's, one that is no session's? EINVAL. */
int nw_group_name_check(const char *name, struct nw_error *err);

#endif
