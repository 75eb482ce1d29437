/* SPDX-License-Identifier: MIT */
/* The sources of a run's records: one struct nw_run_source each (run/run.h). */
#ifndef NOPWATCH_RUN_SOURCES_SOURCES_H
#define NOPWATCH_RUN_SOURCES_SOURCES_H

#include "run/run.h"

extern const struct nw_run_source nw_live_source, nw_recording_source, nw_text_source,
	nw_pipe_source, nw_kept_source;
/* Returns the source for bytes in memory: a recording, or text. */
const struct nw_run_source *nw_source_of_bytes(const char *bytes, size_t len);

/* Makes the result's plan of counts, which must outlive the run. They may come from anywhere. Returns 0 or -errno. */
int nw_run_load_kept(struct nw_run *run, const struct nw_kept *kept, struct nw_error *err);
/* Sets where the result comes from: this machine. Returns -ENOMEM on failure. */
int nw_run_note_origin(struct nw_run *run);
/* Looks a thread of this machine up, for nw_tasks_open(); arg is the struct nw_run. */
int nw_run_look_up_task(void *arg, pid_t tid, pid_t *process, char comm[16]);
/* Reads an event's format file; arg is the struct nw_tracefs. */
int nw_run_read_format(void *arg, const char *system, const char *name, struct nw_buf *out);
/*
 * Checks several times a second whether a probed file was replaced (replaced.c), and reports it, or arms the probes
 * in the new file, as the request says.
 */
int nw_replaced_open(struct nw_run *run, struct nw_error *err);
int nw_replaced_check(struct nw_run *run, struct nw_error *err);
void nw_replaced_free(struct nw_run *run);
/* Measures the cost of a hit on this machine before anything is armed, if the consumer needs it (hit_cost.c, by a run
 * of its own); and computes the cost of each probe after planning. */
int nw_run_find_costs(struct nw_run *run, struct nw_error *err);
int nw_run_cost_probes(struct nw_run_result *result, struct nw_error *err);

#endif
