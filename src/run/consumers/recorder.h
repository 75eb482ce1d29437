/* SPDX-License-Identifier: MIT */
/* The parts of a recording besides pages: formats, threads, the table of probes. The recorder uses it, and the flight
 * recorder (flight.c). */
#ifndef NOPWATCH_RUN_CONSUMERS_RECORDER_H
#define NOPWATCH_RUN_CONSUMERS_RECORDER_H

#include "nopwatch/recording.h"
#include "run/sources/sources.h"

enum {
	NW_NOTED = 256 /* threads whose line is known without making it */
};

struct nw_recorder {
	struct nw_recorder_options options;
	struct nw_run *run;
	struct nw_recording_parts parts;
	nw_strings symbols; /* "ADDRESS NAME", once each */
	size_t page_size;
	NW_VEC(struct nw_recorded_cpu) cpus; /* unlinked files of pages, -1: none yet */
	struct nw_index tasks;		     /* lines "TID PID COMM", */
	struct nw_index older_tasks;	     /* and those of before nw_recorder_age() */
	struct nw_task noted[NW_NOTED];	     /* of these, by thread: the latest one */
	nw_strings formats;		     /* "SYSTEM/EVENT" of those that are kept */
	int failed;			     /* errno of a page that could not be written */
	unsigned char *blank;		     /* what fills a short page */
};

/* All is armed: keep the formats, and tell options.armed(). */
int nw_recorder_begin(struct nw_recorder *recorder, struct nw_run *run,
		      struct nw_error *err);
/* A thread that hits are of. -ENOMEM. */
int nw_recorder_note(struct nw_recorder *recorder, const struct nw_task *task);
/* What was noted before the last call of this is forgotten. */
void nw_recorder_age(struct nw_recorder *recorder);
/* A hidden event of the kernel's, with its values: what its stacks lead to is named. -ENOMEM. */
int nw_recorder_scheduled(struct nw_recorder *recorder, const struct nw_hit *hit);
/* Add the table, and the names of the threads that were noted, to the parts. */
void nw_recorder_table(struct nw_recorder *recorder, const struct nw_run_result *result);

#endif
