/* SPDX-License-Identifier: MIT */
/*
 * The kernel's list of dynamic events: the only reader of uprobe_events (and of the same lines in
 * dynamic_events), of uprobe_profile, and of enable files. Formats: trace_uprobe.c,
 * probes_seq_show() and probes_profile_seq_show(); trace_events.c, event_enable_read() and
 * system_enable_read().
 */
#ifndef NOPWATCH_KERNEL_TRACEFS_EVENT_LIST_H
#define NOPWATCH_KERNEL_TRACEFS_EVENT_LIST_H

#include "nopwatch/features.h"

/* "p:GROUP/NAME PATH:0xOFFSET(0xREF_CTR) ARGS"; the pointers lead into the text. */
struct nw_definition_line {
	const char *text; /* all of it */
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	bool is_return;
	const char *path;
	size_t path_len;
	uint64_t offset, ref_ctr; /* ref_ctr 0: it has none */
	const char *args;	  /* "a=%di:s32"; "": none */
	uint64_t hits;		  /* uprobe_profile, if it could be joined */
};

/* One line, without its newline. False: it defines no uprobe (a kprobe, a synthetic event, ...), or
 * has names that no file below events/ could have. */
bool nw_definition_line_parse(const char *text, struct nw_definition_line *out);
/* "  PATH NAME   HITS", from the right, as the path may hold anything: is it that event's? */
bool nw_profile_line_parse(const char *text, const struct nw_definition_line *event,
			   uint64_t *hits);

typedef int nw_event_line_fn(void *arg, const struct nw_definition_line *line);
/*
 * Hand out every uprobe that there is, in the kernel's order, until each() returns an error.
 * joined: also count hits; false if the two lists do not belong together, because others
 * changed them whenever they were read (NULL: hits are not asked for).
 */
int nw_event_list_read(const struct nw_tracefs *fs, bool *joined, nw_event_line_fn *each,
		       void *arg);
/* The same, of texts, which are taken apart; profile NULL: hits are not asked for. */
int nw_event_list_walk(char *events, char *profile, bool *joined, nw_event_line_fn *each,
		       void *arg);

/* What an enable file says, of one event, of a group or of all. */
enum nw_enabled {
	NW_ENABLED_NO,	  /* "0" */
	NW_ENABLED_YES,	  /* "1", and "1*": a trigger has a hand in it */
	NW_ENABLED_SOFT,  /* "0*": armed, and recorded only once a trigger switches it on */
	NW_ENABLED_MIXED, /* "X": some of the group */
	NW_ENABLED_NONE	  /* "?": the group has no event that can be enabled */
};
enum nw_enabled nw_enabled_parse(const char *text);
/* 0 or -errno. */
int nw_enabled_read(int dir, const char *file, enum nw_enabled *out);
/* Is anything armed (even if nothing of it is recorded)? */
bool nw_enabled_arms(enum nw_enabled enabled);

/* The kernel's number for the event, as records and perf have it; 0: none. */
uint32_t nw_event_id(const struct nw_tracefs *fs, const char *group, const char *name);

/* "events/GROUP/NAME/FILE" below the top level ("") or an instance; name NULL: of the group. */
void nw_event_file(const char *where, const char *group, const char *name, const char *file,
		   char out[512]);

#endif
