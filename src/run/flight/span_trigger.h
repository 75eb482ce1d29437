/* SPDX-License-Identifier: MIT */
/*
 * Watches for slow spans while everything else is recorded, and not read: a run inside another one, for the probes of
 * one condition, with its own session and a small ring buffer.
 */
#ifndef NOPWATCH_RUN_FLIGHT_SPAN_TRIGGER_H
#define NOPWATCH_RUN_FLIGHT_SPAN_TRIGGER_H

#include "run/flight/flight.h"

#include "kernel/steps/span_watch.h"
#include "run/sources/sources.h"

/* A slow span. */
struct nw_seen_span {
	const char *name;
	uint64_t start, end; /* in time of the trace clock */
	int32_t tid;
	const struct nw_task *task; /* NULL: unknown */
};

struct nw_span_trigger {
	const struct nw_until *until;
	struct nw_request request;
	const char *span; /* request.spans points to it */
	struct nw_run_result result;
	struct nw_run run;
	struct nw_measure measure;
	bool *watched; /* by span of the measure */
	bool open, ended;
	pid_t child;
	uint64_t spans;	     /* number of spans that were checked */
	uint64_t longest_ns; /* of those that the reader paired */
	bool by_kernel;	     /* the kernel pairs the hits, and records only slow spans */
	bool fell_back;	     /* the kernel did so, until an error */
	/* A sentence about slow spans that may be missing at the end; NULL: none are. */
	const char *missed;
	struct nw_span_watch watch;
	struct
	{ /* the kernel's record of a slow span: its id, and the offsets of its fields */
		uint16_t id;
		uint32_t tid, took, at;
	} record;
	uint64_t checked; /* trace clock: time of the last successful check */
	void (*seen)(void *arg, const struct nw_seen_span *span);
	void *arg;
};

/* Finds the condition's span among the probes of the run. The trigger must not move from now on, and must be closed
 * even after an error. */
int nw_span_trigger_open(struct nw_span_trigger *trigger, struct nw_run *run,
			 const struct nw_until *until, struct nw_error *err);
/* Arms the trigger for the same processes as the run, which is armed already. */
int nw_span_trigger_arm(struct nw_span_trigger *trigger, struct nw_run *run,
			struct nw_error *err);
/*
 * Lets the kernel watch the span instead of the reader, if it can and measures the same: with hist triggers, the
 * start of a thread is one variable. The trigger must be armed. Returns a sentence for -v that tells why not; NULL:
 * the kernel does it.
 */
const char *nw_span_trigger_by_kernel(struct nw_span_trigger *trigger);
/* With -v: tells how the span is watched, and why. */
void nw_span_trigger_tell_way(struct nw_span_trigger *trigger, const struct nw_run *run);
/* Checks that the kernel still watches, and counts the spans. Returns why the reader watches again; NULL: the kernel
 * does. */
const char *nw_span_trigger_check_kernel(struct nw_span_trigger *trigger);
/* Checks the spans that have ended, and calls seen() for slow ones. */
int nw_span_trigger_step(struct nw_span_trigger *trigger, struct nw_error *err);
/* Does the same for the last time. */
int nw_span_trigger_end(struct nw_span_trigger *trigger, struct nw_error *err);
void nw_span_trigger_close(struct nw_span_trigger *trigger);

#endif
