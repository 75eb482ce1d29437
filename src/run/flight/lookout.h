/* SPDX-License-Identifier: MIT */
/*
 * Who looks out for slow spans while everything else is recorded, and not read: a run inside of another, of the
 * probes of one condition, with a session and a small ring buffer of its own.
 */
#ifndef NOPWATCH_RUN_FLIGHT_LOOKOUT_H
#define NOPWATCH_RUN_FLIGHT_LOOKOUT_H

#include "nopwatch/flight.h"

#include "run/sources/sources.h"

/* A span that took so long. */
struct nw_seen_span {
	const char *name;
	uint64_t start, end; /* trace clock */
	int32_t tid;
	const struct nw_task *task; /* NULL: not known */
};

struct nw_lookout {
	const struct nw_until *until;
	struct nw_request request;
	const char *span; /* what request.spans points to */
	struct nw_run_result result;
	struct nw_run run;
	struct nw_measure measure;
	bool *watched; /* by span of the measure */
	bool open, ended;
	pid_t child;
	uint64_t spans; /* that were looked at */
	bool by_kernel; /* the kernel pairs, and records only spans that were so long */
	bool fell_back; /* it did, until something went wrong */
	const char *
		missed; /* a sentence: what it may not have told at the end; NULL: nothing */
	struct nw_span_watch watch;
	struct { /* what it records: the id, and where its fields are */
		uint16_t id;
		uint32_t tid, took, at;
	} record;
	uint64_t checked; /* trace clock: when all was last seen to be well with it */
	void (*seen)(void *arg, const struct nw_seen_span *span);
	void *arg;
};

/* Find the condition's span among the probes of the run; it must not move from here on, and is to be closed in any case. */
int nw_lookout_open(struct nw_lookout *lookout, struct nw_run *run,
		    const struct nw_until *until, struct nw_error *err);
/* The run is armed: watch the same processes. */
int nw_lookout_arm(struct nw_lookout *lookout, struct nw_run *run, struct nw_error *err);
/*
 * In the reader's place, let the kernel look out for the span, where it can and means the same by it: by hist triggers,
 * a thread's start is one variable. The lookout is armed. Says why not, a sentence for -v; NULL: it does.
 */
const char *nw_lookout_by_kernel(struct nw_lookout *lookout);
/* With -v: which way it is, and why. */
void nw_lookout_tell_way(struct nw_lookout *lookout, const struct nw_run *run);
/* See whether it still does, and how many spans there were. Says why it has gone back to the reader; NULL: it has not. */
const char *nw_lookout_check_kernel(struct nw_lookout *lookout);
/* Look at what has come; seen() is told. */
int nw_lookout_step(struct nw_lookout *lookout, struct nw_error *err);
/* The same for the last time. */
int nw_lookout_end(struct nw_lookout *lookout, struct nw_error *err);
void nw_lookout_close(struct nw_lookout *lookout);

#endif
