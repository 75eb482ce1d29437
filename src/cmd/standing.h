/* SPDX-License-Identifier: MIT */
/* How uprobe events stand to the files and processes that there are, for status. */
#ifndef NOPWATCH_CMD_STANDING_H
#define NOPWATCH_CMD_STANDING_H

#include "nopwatch/kernel.h"

/* What became of the file an event is in. */
enum nw_file_state {
	NW_FILE_PRESENT,  /* it is there; what it was at the definition is not known */
	NW_FILE_SAME,	  /* the very file, unchanged */
	NW_FILE_CHANGED,  /* the very file, written to since */
	NW_FILE_REPLACED, /* another has taken its path: new processes are not hit */
	NW_FILE_GONE,	  /* nothing is at its path */
};
/* "same", "gone", ... */
const char *nw_file_state_name(enum nw_file_state state);

/* A place of an event. */
struct nw_stand {
	char *label; /* "provider:name", "symbol+0x4"; NULL: cannot be told */
};

struct nw_standing {
	const struct nw_uprobe_event *event;
	NW_VEC(struct nw_stand) places; /* as many as the event has */
	enum nw_file_state file;
	nw_pids armed;	     /* processes with a breakpoint at any of its places */
	unsigned int mapped; /* processes that map any of them as code */
};
typedef NW_VEC(struct nw_standing) nw_standings;

/* Look at events of an inventory, which must outlive the result, by their numbers. */
int nw_standings_look(const struct nw_inventory *inventory, const nw_vec_u32 *numbers,
		      nw_standings *out, struct nw_error *err);
void nw_standings_free(nw_standings *standings);

#endif
