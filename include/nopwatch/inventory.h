/* SPDX-License-Identifier: MIT */
/*
 * kernel/recovery: lists every uprobe event of the system, its owner, and what becomes of the hits of other tools'
 * events.
 */
#ifndef NOPWATCH_INVENTORY_H
#define NOPWATCH_INVENTORY_H

#include "nopwatch/plan.h"
#include "nopwatch/tracefs.h"

/* An event that `add` has made, as the journal of what stays knows it. */
struct nw_persistent_event {
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	char *label; /* of its probe: "postgresql:query__start" */
	char *file;  /* as the user knows it */
	char *link; /* how the kernel was told, if its grammar cannot carry that; else "" */
	char *home; /* the instance it was made for; "": the top level */
	uint64_t offset;
	bool is_return;
	uint64_t dev, ino, size; /* the file at that time */
	int64_t mtime;
	char build_id[129];
	unsigned int machine; /* e_machine */
	nw_strings on;	      /* where we have enabled it: "" or an instance */
	bool defined;	      /* the kernel has it: as it was last pruned */
};

/* One place of an event: a line of uprobe_events. */
struct nw_definition {
	char *line; /* all of it: "p:GROUP/NAME PATH:0xOFFSET(0xREF_CTR) ARGS" */
	char *path;
	uint64_t offset;
	uint64_t ref_ctr; /* 0: none */
	char *args;	  /* "a=%di:s32"; "": none */
	uint64_t hits;	  /* uprobe_profile: in the whole system, recorded or not */
};

/* What an event is in the top-level buffer or an instance, if not off and without filter. */
struct nw_event_use {
	char *where; /* "": the top level; else the instance */
	bool on;
	char *filter; /* "": none */
};

enum nw_owner {
	NW_OWNER_FOREIGN,    /* somebody else, or nothing is known */
	NW_OWNER_PERSISTENT, /* `add` has made it */
	NW_OWNER_SESSION,    /* of a nopwatch that runs */
	NW_OWNER_DEAD,	     /* of one that was killed: `clean` removes it */
	NW_OWNER_ORPHAN,     /* named as a session's, but no journal here knows of it */
};

struct nw_uprobe_event {
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	bool is_return;
	NW_VEC(struct nw_definition) places; /* at least one */
	NW_VEC(struct nw_event_use) uses;
	enum nw_owner owner;
	pid_t owner_pid;			      /* of a session; else 0 */
	const struct nw_persistent_event *persistent; /* owner == PERSISTENT; else NULL */
};

struct nw_inventory {
	NW_VEC(struct nw_uprobe_event) events;
	bool has_hits;	      /* false: the list changed whenever it was looked at */
	nw_strings instances; /* all there are */
};

/* Is the event enabled there ("" or an instance)? */
bool nw_event_is_on(const struct nw_uprobe_event *event, const char *where);
/*
 * Does a pattern mean this event? GROUP:EVENT, GROUP/EVENT, GROUP or EVENT, or the label of its
 * probe; globs anywhere.
 */
bool nw_event_matches(const struct nw_uprobe_event *event, const char *pattern);
/* Does the event stand at this very place, the same inode and offset? */
bool nw_event_is_at(const struct nw_uprobe_event *event, const struct nw_point *point);

/* ---- events of others ---------------------------------------------------------------- */

/* An event of somebody else's on a file of interest, and what becomes of its hits. */
struct nw_foreign_event {
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	char *path;
	uint64_t offset, ref_ctr; /* ref_ctr 0: it has none */
	bool is_return;
	bool enabled;			/* in the top level or in an instance */
	char instance[NW_MAX_NAME + 1]; /* the one that has it enabled, "": the top level */
	pid_t dead_owner; /* the process that its name speaks of is gone; 0: not known */
	uint64_t hits;	  /* uprobe_profile; of everybody, since it was defined */
	/* the instance: */
	bool tracing_on;
	bool overwrite;	   /* a full buffer drops the oldest, not the newest events */
	bool pid_filter;   /* set_event_pid is set, */
	bool pid_filtered; /* and has none of the threads of interest */
	bool pid_excluded; /* set_event_notrace_pid has all of them */
	bool waits;	   /* enabled, but recorded only once a trigger switches it on */
	unsigned int cpus_left_out; /* by tracing_cpumask, */
	char *all_cpus;		    /* which would be this if it left out none; or NULL */
	uint64_t buffer_kib;	    /* a CPU; 0: not made yet */
	char filter[128];	    /* "" = none */
	uint64_t
		recorded; /* events that went into its buffer, read and overwritten ones too */
	uint64_t dropped; /* that did not fit */
	nw_pids readers;  /* processes that hold a trace_pipe of it open */
};

typedef NW_VEC(struct nw_foreign_event) nw_foreign_events;

/* All events of others on the file. threads: whom set_event_pid must let through; may be none. */
int nw_foreign_events_read(const struct nw_tracefs *fs, const struct nw_image *image,
			   const nw_pids *threads, nw_foreign_events *out,
			   struct nw_error *err);
void nw_foreign_events_free(nw_foreign_events *events);

#endif
