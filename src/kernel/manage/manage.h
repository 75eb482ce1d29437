/* SPDX-License-Identifier: MIT */
/* kernel/manage: persistent events, from `add` to `remove`. */
#ifndef NOPWATCH_KERNEL_MANAGE_MANAGE_H
#define NOPWATCH_KERNEL_MANAGE_MANAGE_H

#include "kernel/recovery/inventory.h"
#include "kernel/tracefs/features.h"

/*
 * The manager changes persistent events. The verbs collect changes; nw_manager_do() makes all of them or none, and
 * nw_manager_print() prints them as shell commands. While a manager is open, no other manager changes anything.
 */
struct nw_manager;

/*
 * fs->root < 0: the machine has no tracefs, so no event exists, and changes can only be printed. read_only: the
 * manager takes no lock and writes nothing. Otherwise the changes that a killed manager had begun are undone first
 * (nw_manager_notes() says so). Returns 0 or -errno.
 */
int nw_manager_open(const struct nw_tracefs *fs, const struct nw_features *features,
		    bool read_only, struct nw_manager **out, struct nw_error *err);
/* Without tracefs: assumes that the plan's events exist as `add` would define them, and with `on` that they are
 * enabled at the top level and in `instance` (unless it is NULL). Only for printing. */
int nw_manager_assume(struct nw_manager *manager, const struct nw_plan *plan, bool on,
		      const char *instance, struct nw_error *err);
const struct nw_inventory *nw_manager_inventory(const struct nw_manager *manager);

struct nw_manager_options {
	const char *instance; /* NULL: not given; "": the top level */
	bool enable;	      /* add: enable the events as well */
	bool foreign;	      /* also change events that are not ours */
	bool force; /* do what is dangerous; remove events that others have enabled */
};

/* Defines every event of a plan that was made with NW_NAMES_STAY and without sharing. An event that is defined
 * already for the same place and arguments stays as it is. */
int nw_manager_add(struct nw_manager *manager, const struct nw_plan *plan,
		   const struct nw_manager_options *options, struct nw_error *err);
/* Enables or disables an event of the inventory, in options->instance or else in its home. Without
 * options->instance, an event is disabled wherever we have enabled it. */
int nw_manager_switch(struct nw_manager *manager, const struct nw_uprobe_event *event,
		      bool on, const struct nw_manager_options *options,
		      struct nw_error *err);
/* Deletes an event, or, if it is of counts that stay, all of these. EBUSY: others have enabled it; the error names the places. */
int nw_manager_remove(struct nw_manager *manager, const struct nw_uprobe_event *event,
		      const struct nw_manager_options *options, struct nw_error *err);

/* Makes the changes that the verbs have collected, all or none. Returns 0 or -errno. */
int nw_manager_do(struct nw_manager *manager, struct nw_error *err);
/* Appends the changes as commands for a POSIX shell. */
void nw_manager_print(const struct nw_manager *manager, struct nw_buf *out);

enum nw_change_kind {
	NW_CHANGE_ADDED,
	NW_CHANGE_ADDED_ENABLED, /* added and enabled */
	NW_CHANGE_THERE,	 /* it was there already */
	NW_CHANGE_ENABLED,
	NW_CHANGE_WAS_ENABLED,
	NW_CHANGE_DISABLED,
	NW_CHANGE_WAS_DISABLED,
	NW_CHANGE_REMOVED,
	NW_CHANGE_COUNT
};
/* Fixed words for output: "added", "enabled already", ... */
extern const char *const nw_change_words[NW_CHANGE_COUNT];

/* The result for an event that a verb was asked about. */
struct nw_change {
	char event[2 * NW_MAX_NAME + 2]; /* "GROUP:NAME" */
	char *label;			 /* "": unknown */
	char *where; /* the place in which it was enabled or disabled; or "" */
	enum nw_change_kind kind;
};
typedef NW_VEC(struct nw_change) nw_changes;
const nw_changes *nw_manager_changes(const struct nw_manager *manager);
/* Sentences for the user; they live as long as the manager. */
const nw_strings *nw_manager_notes(const struct nw_manager *manager);
/* Things that nw_manager_do() should have removed and could not. Later commands try again. */
const nw_strings *nw_manager_left(const struct nw_manager *manager);
void nw_manager_close(struct nw_manager *manager);

/* ---- words --------------------------------------------------------------------------- */

/* Plans persistent events. group: used for all events; NULL: each event's group follows its probe. */
int nw_manager_plan(const struct nw_manager *manager, const struct nw_selection *selection,
		    const char *group, uint32_t string_size, bool kernel_strings,
		    struct nw_plan *out, struct nw_error *err);
/* A search for events by words: a spec means its place, any other word is a pattern. */
struct nw_pick {
	const char *const *words;
	size_t count;
	/* The file of specs, or the processes whose files are searched. */
	const struct nw_scope *scope;
	const struct nw_manager_options *options;
	/* Find events of all owners; false: those of others only with options->foreign. */
	bool all;
	bool counts;  /* also find the events of counts that stay (recovery/kept.h) */
	bool lenient; /* it is no error if a pattern matches only events of others */
	/* Results: */
	nw_vec_u32 events;  /* indices into the inventory */
	nw_strings missing; /* words without a match */
	/* With `lenient`: a sentence about each pattern that matches only events of others. */
	nw_strings foreign;
};
/* Fails for a word that matches only events of others. */
int nw_manager_pick(const struct nw_manager *manager, struct nw_pick *pick,
		    struct nw_error *err);
void nw_pick_free(struct nw_pick *pick);

/* Returns EINVAL if the name cannot be an instance's. */
int nw_instance_name_check(const char *name, struct nw_error *err);
/* Returns EINVAL if the name cannot be a group's, or is a session's. */
int nw_group_name_check(const char *name, struct nw_error *err);

/* ---- status -------------------------------------------------------------------------- */

/* The state of the file of an event. */
enum nw_file_state {
	NW_FILE_PRESENT, /* it exists; the state at the definition is not known */
	NW_FILE_SAME,	 /* it is the same file, unchanged */
	NW_FILE_CHANGED, /* it is the same file, but was written to */
	/* Another file has its path, so new processes do not hit the probe. */
	NW_FILE_REPLACED,
	NW_FILE_GONE, /* no file has its path */
};
extern const char *const nw_file_states[]; /* "same", "gone", ... */

/* The state of a uprobe event, of its file, and of the processes that map it. */
struct nw_event_status {
	const struct nw_uprobe_event *event;
	nw_strings labels; /* of its places: "provider:name", "symbol+0x4"; NULL: unknown */
	enum nw_file_state file;
	nw_pids armed; /* processes with a breakpoint at one of its places */
	struct nw_armed_forms
		forms; /* all of its places in all of these processes, by what is in memory */
	unsigned int mapped; /* number of processes that map one of them as code */
};
typedef NW_VEC(struct nw_event_status) nw_event_statuses;

/* Reads the state of events, by their numbers in an inventory, which must outlive the result. */
int nw_event_status_read(const struct nw_inventory *inventory, const nw_vec_u32 *numbers,
			 nw_event_statuses *out, struct nw_error *err);
void nw_event_status_free(nw_event_statuses *statuses);

#endif
