/* SPDX-License-Identifier: MIT */
/*
 * kernel/manage: persistent events, from `add` to `remove`.
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
 * fs->root < 0: there is no tracefs, so no event exists, and changes can only be printed. read_only:
 * for looking and printing; takes no lock and writes nothing. Otherwise, what a killed manager had
 * begun is undone first (nw_manager_notes() says so). 0 or -errno.
 */
int nw_manager_open(const struct nw_tracefs *fs, const struct nw_features *features,
		    bool read_only, struct nw_manager **out, struct nw_error *err);
/* Where there is no tracefs to look at: assume that the plan's events are there as `add` would make
 * them, enabled at the top level (and in instance, if not NULL) or not. Only for printing. */
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

/* Make the changes that the verbs have collected, all or none. 0 or -errno. */
int nw_manager_do(struct nw_manager *manager, struct nw_error *err);
/* Append them as commands for a POSIX shell. */
void nw_manager_print(const struct nw_manager *manager, struct nw_buf *out);

enum nw_change_kind {
	NW_CHANGE_ADDED,
	NW_CHANGE_ADDED_ENABLED, /* added and enabled */
	NW_CHANGE_THERE,	 /* there already */
	NW_CHANGE_ENABLED,
	NW_CHANGE_WAS_ENABLED,
	NW_CHANGE_DISABLED,
	NW_CHANGE_WAS_DISABLED,
	NW_CHANGE_REMOVED,
	NW_CHANGE_COUNT
};
/* In words that are fixed: "added", "enabled already", ... */
extern const char *const nw_change_words[NW_CHANGE_COUNT];

/* What became of each event that a verb was asked about. */
struct nw_change {
	char event[2 * NW_MAX_NAME + 2]; /* "GROUP:NAME" */
	char *label;			 /* "" if unknown */
	char *where;			 /* where it was enabled or disabled; else "" */
	enum nw_change_kind kind;
};
typedef NW_VEC(struct nw_change) nw_changes;
const nw_changes *nw_manager_changes(const struct nw_manager *manager);
/* What the user should know; lives as long as the manager. */
const nw_strings *nw_manager_notes(const struct nw_manager *manager);
/* What nw_manager_do() should have taken away and could not: later commands try it again. */
const nw_strings *nw_manager_left(const struct nw_manager *manager);
void nw_manager_close(struct nw_manager *manager);

/* ---- words --------------------------------------------------------------------------- */

/* The plan of events that stay. group: instead of those after the probes, or NULL. */
int nw_manager_plan(const struct nw_manager *manager, const struct nw_selection *selection,
		    const char *group, uint32_t string_size, bool kernel_strings,
		    struct nw_plan *out, struct nw_error *err);
/* Which events words mean: specs by the place they name, other words as patterns. */
struct nw_pick {
	const char *const *words;
	size_t count;
	const struct nw_scope *scope; /* in which file, or in what processes map */
	const struct nw_manager_options *options;
	bool all; /* whoever made them; if false, those of others only with options->foreign */
	bool lenient; /* a pattern that matches only events of others is no error */
	/* what it finds: */
	nw_vec_u32 events;  /* numbers of the inventory */
	nw_strings missing; /* words that match nothing */
	nw_strings foreign; /* lenient: a sentence about each such pattern */
};
/* Where nothing but what is not ours matches, the word is refused. */
int nw_manager_pick(const struct nw_manager *manager, struct nw_pick *pick,
		    struct nw_error *err);
void nw_pick_free(struct nw_pick *pick);

/* May the name be an instance's? EINVAL. */
int nw_instance_name_check(const char *name, struct nw_error *err);
/* May the name be a group's, one that is no session's? EINVAL. */
int nw_group_name_check(const char *name, struct nw_error *err);

/* ---- status -------------------------------------------------------------------------- */

/* What became of the file an event is in. */
enum nw_file_state {
	NW_FILE_PRESENT,  /* it is there; what it was at the definition is not known */
	NW_FILE_SAME,	  /* the very file, unchanged */
	NW_FILE_CHANGED,  /* the very file, written to since */
	NW_FILE_REPLACED, /* another has taken its path: new processes are not hit */
	NW_FILE_GONE,	  /* nothing is at its path */
};
extern const char *const nw_file_states[]; /* "same", "gone", ... */

/* A uprobe event, its file, and the processes that have it. */
struct nw_event_status {
	const struct nw_uprobe_event *event;
	nw_strings
		labels; /* of its places: "provider:name", "symbol+0x4"; NULL: cannot be told */
	enum nw_file_state file;
	nw_pids armed;	     /* processes with a breakpoint at any of its places */
	unsigned int mapped; /* processes that map any of them as code */
};
typedef NW_VEC(struct nw_event_status) nw_event_statuses;

/* The status of events of an inventory, which must outlive the result, by their numbers. */
int nw_event_status_read(const struct nw_inventory *inventory, const nw_vec_u32 *numbers,
			 nw_event_statuses *out, struct nw_error *err);
void nw_event_status_free(nw_event_statuses *statuses);

#endif
