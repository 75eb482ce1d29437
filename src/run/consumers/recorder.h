/* SPDX-License-Identifier: MIT */
/* The parts of a recording besides pages: formats, threads, the table of probes. Used by the recorder and the flight
 * recorder (flight.c). */
#ifndef NOPWATCH_RUN_CONSUMERS_RECORDER_H
#define NOPWATCH_RUN_CONSUMERS_RECORDER_H

#include "by.h"
#include "run/sources/sources.h"
#include "stream/recording/recording.h"

enum {
	NW_NOTED = 256 /* threads whose line is known without making it */
};

struct nw_recorder {
	struct nw_recorder_options options;
	struct nw_run *run;
	struct nw_by by;
	struct nw_recording_parts parts;
	nw_strings symbols; /* "ADDRESS NAME", without duplicates */
	size_t page_size;
	NW_VEC(struct nw_recorded_cpu) cpus; /* unlinked files of pages; fd -1: none yet */
	struct nw_index tasks;		     /* lines "TID PID COMM" */
	struct nw_index older_tasks;	/* lines from before the last nw_recorder_age() */
	struct nw_task noted[NW_NOTED]; /* by thread: the latest line */
	nw_strings formats;		/* "SYSTEM/EVENT" of the formats that are kept */
	int failed;			/* errno of a page that could not be written */
	unsigned char *blank;		/* zeros that fill a short page */
};

/* Keeps the formats after everything is armed, and calls options.armed(). */
int nw_recorder_begin(struct nw_recorder *recorder, struct nw_run *run,
		      struct nw_error *err);
/* Keeps the name of a thread that hits. Returns -ENOMEM on failure. */
int nw_recorder_note(struct nw_recorder *recorder, const struct nw_task *task);
/* Does so for several hits. No thread is born, renamed or ends between these hits. */
int nw_recorder_hits(struct nw_recorder *recorder, const struct nw_hit *hits, size_t count);
/* Forgets the threads that were noted before the last call. */
void nw_recorder_age(struct nw_recorder *recorder);
/* Takes a hidden kernel event with its values: keeps the names of kernel functions in stacks, which only this machine
 * knows. Returns -ENOMEM on failure. */
int nw_recorder_scheduled(struct nw_recorder *recorder, const struct nw_hit *hit);
/* Appends the table of this result, and the names of the noted threads. */
void nw_recorder_table(const struct nw_recorder *recorder,
		       const struct nw_run_result *result, struct nw_buf *table,
		       struct nw_buf *comms);

#endif
