/* SPDX-License-Identifier: MIT */
/*
 * run: completes words for shells: a process, a probe, a function, an event, a file of a spec. Names come from other
 * people's files: a name that a shell would not take for one plain word is left out.
 */
#ifndef NOPWATCH_COMPLETE_H
#define NOPWATCH_COMPLETE_H

#include <sys/types.h>

#include "nopwatch/base.h"

struct nw_completion {
	const char *typed; /* the word, as far as it is typed */
	size_t done;	   /* so much of it stays: candidates are for what is behind */
	const char *file;  /* where probes without a file are looked for; or NULL */
	const pid_t *pids; /* and in what these map */
	size_t pid_count;
	NW_VEC(char *) found; /* "WORD\tWHAT IT IS", in no order, some twice */
};

/* One candidate, if it fits. what: or NULL. Without memory it is left out, here and below. */
void nw_offer(struct nw_completion *c, const char *candidate, const char *what);
void nw_offer_processes(struct nw_completion *c);
/* The probes of pids and file. */
void nw_offer_probes(struct nw_completion *c);
/* The uprobe events that there are, as GROUP:EVENT, where tracefs may be looked at. */
void nw_offer_events(struct nw_completion *c);
/* Spellings of specs, and what is behind them: usdt:PATH:PROVIDER:NAME and the like. True: the word is
 * one that has its spelling, and can be nothing else. tracepoints: they are offered, too. */
bool nw_offer_specs(struct nw_completion *c, bool tracepoints);
void nw_completion_free(struct nw_completion *c);

#endif
