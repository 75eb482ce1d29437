/* SPDX-License-Identifier: MIT */
/*
 * kernel/recovery: all uprobe events with their owners, and what happens to the hits of events that others have
 * defined.
 */
#ifndef NOPWATCH_KERNEL_RECOVERY_INVENTORY_H
#define NOPWATCH_KERNEL_RECOVERY_INVENTORY_H

#include "kernel/tracefs/tracefs.h"
#include "plan/plan.h"

/* An event that `add` has defined, with its entry in the journal of persistent events. */
struct nw_persistent_event {
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	char *label; /* of its probe: "postgresql:query__start" */
	char *file;  /* the path that the user knows */
	/* The path of a link, if the kernel's grammar does not allow the file's path; else "". */
	char *link;
	char *home; /* the instance for which it was added; "": the top level */
	uint64_t offset;
	bool is_return;
	uint64_t dev, ino, size; /* the file at the definition */
	int64_t mtime;
	char build_id[129];
	unsigned int machine; /* e_machine */
	nw_strings on; /* the places in which we have enabled it: "" or an instance */
	bool defined;  /* the kernel has it, as of the last nw_persistent_prune() */
};

/* A place of an event: a line of uprobe_events. */
struct nw_definition {
	char *line; /* the whole line: "p:GROUP/NAME PATH:0xOFFSET(0xREF_CTR) ARGS" */
	char *path;
	uint64_t offset;
	uint64_t ref_ctr; /* 0: none */
	char *args;	  /* "a=%di:s32"; "": none */
	uint64_t hits;	  /* from uprobe_profile: in the whole system, recorded or not */
};

/* The state of an event in the top-level buffer or an instance. An event that is off and has no filter there has no
 * entry. */
struct nw_event_use {
	char *where; /* "": the top level; else the instance */
	bool on;
	char *filter; /* "": none */
};

enum nw_owner {
	NW_OWNER_FOREIGN,    /* another program, or unknown */
	NW_OWNER_PERSISTENT, /* `add` has made it */
	NW_OWNER_SESSION,    /* a session of a running nopwatch */
	NW_OWNER_DEAD,	     /* a session that was killed: `clean` removes it */
	NW_OWNER_KEPT, /* counts that stay (kept.h): the kernel counts it, and no process is needed */
	NW_OWNER_ORPHAN, /* named like a session's event, but no journal here knows it */
};

struct nw_uprobe_event {
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	bool is_return;
	NW_VEC(struct nw_definition) places; /* at least one */
	NW_VEC(struct nw_event_use) uses;
	enum nw_owner owner;
	pid_t owner_pid; /* of a session; else 0 */
	/* With NW_OWNER_PERSISTENT; else NULL. */
	const struct nw_persistent_event *persistent;
};

struct nw_inventory {
	NW_VEC(struct nw_uprobe_event) events;
	bool has_hits;	      /* false: the list changed on every attempt to read it */
	nw_strings instances; /* all instances of the system */
};

/* Is the event enabled in this place ("" or an instance)? */
bool nw_event_is_on(const struct nw_uprobe_event *event, const char *where);
/*
 * Does a pattern mean this event? A pattern is GROUP:EVENT, GROUP/EVENT, GROUP, EVENT, or the label of the probe;
 * each may contain wildcards. Events of counts that stay are meant by the counts' name only, or their group.
 */
bool nw_event_matches(const struct nw_uprobe_event *event, const char *pattern);
/* Is the event at this very place, with the same inode and offset? */
bool nw_event_is_at(const struct nw_uprobe_event *event, const struct nw_point *point);

/* ---- events of others ---------------------------------------------------------------- */

/* An event of another program on a file, and what happens to its hits. Of an event of another session of nopwatch only the
 * names and the place are read: nobody but that session may change it. */
struct nw_foreign_event {
	bool session;
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	char *path;
	uint64_t offset, ref_ctr; /* ref_ctr 0: it has none */
	bool is_return;
	bool enabled; /* at the top level or in an instance */
	/* The instance in which it is enabled; "": the top level. */
	char instance[NW_MAX_NAME + 1];
	/* The process whose number is in the event's name, if it has ended; else 0. */
	pid_t dead_owner;
	uint64_t hits; /* from uprobe_profile: of all users, since the definition */
	/* The instance: */
	bool tracing_on;
	/* A full buffer overwrites the oldest events; false: drops the newest ones. */
	bool overwrite;
	bool pid_filter;   /* set_event_pid is set */
	bool pid_filtered; /* set_event_pid contains none of the target threads */
	bool pid_excluded; /* set_event_notrace_pid contains all of the target threads */
	/* The event is enabled, but recorded only after a trigger switches it on. */
	bool waits;
	/* Number of online CPUs that tracing_cpumask excludes. */
	unsigned int cpus_left_out;
	char *all_cpus; /* the mask of all online CPUs, if some are excluded; else NULL */
	uint64_t buffer_kib; /* per CPU; 0: the buffer is not allocated yet */
	char filter[128];    /* "": none */
	/* Events written to its buffer, including those that were read or overwritten. */
	uint64_t recorded;
	uint64_t dropped; /* events that did not fit */
	nw_pids readers;  /* processes that hold a trace_pipe of it open */
};

typedef NW_VEC(struct nw_foreign_event) nw_foreign_events;

/* Lists the files of all events that are not of our own session, read once for many files: nobody has an event on a file that
 * nw_foreign_paths_have() denies. Returns 0 or -errno. */
int nw_foreign_paths_read(const struct nw_tracefs *fs, nw_strings *out);
bool nw_foreign_paths_have(const nw_strings *paths, const struct nw_image *image);
/* Lists all events of others on the file. threads: the target threads, which set_event_pid must contain; may be
 * empty. */
int nw_foreign_events_read(const struct nw_tracefs *fs, const struct nw_image *image,
			   const nw_pids *threads, nw_foreign_events *out,
			   struct nw_error *err);
void nw_foreign_events_free(nw_foreign_events *events);

#endif
