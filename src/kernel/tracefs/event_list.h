/* SPDX-License-Identifier: MIT */
/*
 * Reads the kernel's list of dynamic events. Only this file parses uprobe_events (and the same lines in
 * dynamic_events), uprobe_profile and enable files. Formats: probes_seq_show() and probes_profile_seq_show() in
 * trace_uprobe.c, event_enable_read() and system_enable_read() in trace_events.c.
 */
#ifndef NOPWATCH_KERNEL_TRACEFS_EVENT_LIST_H
#define NOPWATCH_KERNEL_TRACEFS_EVENT_LIST_H

#include "kernel/tracefs/features.h"

/* A line "p:GROUP/NAME PATH:0xOFFSET(0xREF_CTR) ARGS". The pointers lead into the text. */
struct nw_definition_line {
	const char *text; /* the whole line */
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	bool is_return;
	const char *path;
	size_t path_len;
	uint64_t offset, ref_ctr; /* ref_ctr 0: the place has none */
	const char *args;	  /* "a=%di:s32"; "": none */
	uint64_t hits;		  /* from uprobe_profile, if its line is known */
};

/* Parses a line without its newline. Returns false if it does not define a uprobe (but a kprobe, a synthetic event,
 * ...), or if its names cannot be those of a directory in events/. */
bool nw_definition_line_parse(const char *text, struct nw_definition_line *out);
/* Takes the hits from a line " PATH NAME HITS", if it belongs to this event. The line is parsed from the right,
 * because the path may contain anything. */
bool nw_profile_line_parse(const char *text, const struct nw_definition_line *event,
			   uint64_t *hits);

typedef int nw_event_line_fn(void *arg, const struct nw_definition_line *line);
/*
 * Calls each() for every uprobe in the kernel's order, until it returns an error. joined: asks for hits, too; it
 * becomes false if the two lists never matched because others kept changing them. NULL: no hits.
 */
int nw_event_list_read(const struct nw_tracefs *fs, bool *joined, nw_event_line_fn *each,
		       void *arg);
/* Does the same with the texts of the files, which are changed. profile NULL: no hits. */
int nw_event_list_walk(char *events, char *profile, bool *joined, nw_event_line_fn *each,
		       void *arg);

/*
 * Calls each() for every event in kprobe_events, "p:GROUP/NAME SYMBOL ARGS" or "r10:...", and every event probe in
 * dynamic_events, "e:GROUP/NAME SYSTEM.EVENT ARGS", until it returns an error. list: the file. A kernel without these
 * files has none.
 */
typedef int nw_kernel_event_fn(void *arg, const char *list, const char *group,
			       const char *name);
int nw_kernel_event_list_read(const struct nw_tracefs *fs, nw_kernel_event_fn *each,
			      void *arg);
/* Takes the hits, and the returns that the kernel missed, from a line " NAME HITS MISSED" of kprobe_profile. name gets
 * NW_MAX_NAME + 1 bytes. */
bool nw_kernel_profile_line_parse(const char *text, char *name, uint64_t *hits,
				  uint64_t *missed);

/* The content of an enable file, of an event, of a group or of all events. */
enum nw_enabled {
	NW_ENABLED_NO,	  /* "0" */
	NW_ENABLED_YES,	  /* "1" and "1*": a trigger enables it as well */
	NW_ENABLED_SOFT,  /* "0*": armed, but recorded only after a trigger enables it */
	NW_ENABLED_MIXED, /* "X": some events of the group are enabled */
	NW_ENABLED_NONE	  /* "?": the group has no event that can be enabled */
};
enum nw_enabled nw_enabled_parse(const char *text);
/* Returns 0 or -errno. */
int nw_enabled_read(int dir, const char *file, enum nw_enabled *out);
/* Is at least one event armed, even if no hit is recorded? */
bool nw_enabled_arms(enum nw_enabled enabled);

/* Returns the kernel's number of the event, which records and perf use; 0: the event does not exist. */
uint32_t nw_event_id(const struct nw_tracefs *fs, const char *group, const char *name);

/* Writes "events/GROUP/NAME/FILE", below the top level ("") or an instance. name NULL: the file of the group. */
void nw_event_file(const char *where, const char *group, const char *name, const char *file,
		   char out[512]);

#endif
