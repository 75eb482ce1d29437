/* SPDX-License-Identifier: MIT */
/*
 * run: completes words for shells: a process, a probe, a function, an event, a file of a spec. Names come from files
 * of other people: a name that a shell would not take for one plain word is left out.
 */
#ifndef NOPWATCH_RUN_COMPLETE_H
#define NOPWATCH_RUN_COMPLETE_H

#include <sys/types.h>

#include "base/base.h"

struct nw_completion {
	const char *typed; /* the word as far as it is typed */
	size_t done;	   /* length of the part that stays; candidates complete the rest */
	const char *file;  /* the file of probes without a file; or NULL */
	const pid_t *pids; /* processes whose files are searched, too */
	size_t pid_count;
	NW_VEC(char *) found; /* "WORD\tDESCRIPTION", unsorted, with duplicates */
};

/* Adds a candidate if it fits. what: a description, or NULL. Without memory it is left out, as in the functions
 * below. */
void nw_offer(struct nw_completion *c, const char *candidate, const char *what);
void nw_offer_processes(struct nw_completion *c);
/* Offers the probes of pids and file. */
void nw_offer_probes(struct nw_completion *c);
/* Offers all uprobe events as GROUP:EVENT, if tracefs is readable. */
void nw_offer_events(struct nw_completion *c);
/* Offers spellings of specs and what may follow them: usdt:PATH:PROVIDER:NAME and the like. Returns true if the word
 * begins with such a spelling, so that it can be nothing else. tracepoints: offer them, too. */
bool nw_offer_specs(struct nw_completion *c, bool tracepoints);
void nw_completion_free(struct nw_completion *c);

#endif
