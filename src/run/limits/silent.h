/* SPDX-License-Identifier: MIT */
/* Why probes of a run had no hit: facts that are collected once for all of them. */
#ifndef NOPWATCH_RUN_LIMITS_SILENT_H
#define NOPWATCH_RUN_LIMITS_SILENT_H

#include "guards.h"
#include "why/why.h"

struct nw_silent_file {
	const struct nw_image *image;
	uint64_t vaddr; /* of one of the probes */
	bool mapped;	/* `mapping` is valid */
	struct nw_mapping_facts mapping;
	nw_foreign_events foreign;
};

struct nw_silent {
	struct nw_run *run;
	struct nw_kernel_access kernel;
	bool has_process;
	struct nw_process_facts process; /* the first process of -p */
	nw_pids threads;		 /* of all processes of -p */
	NW_VEC(struct nw_silent_file) files;
	struct nw_hash_table by_image;
	bool has_others;   /* the next is known */
	nw_strings others; /* files of events that are not of this run */
};

int nw_silent_open(struct nw_run *run, struct nw_silent *out, struct nw_error *err);
/* Makes the same checks as `why`. The text of the state lives as long as the run. */
int nw_silent_why(struct nw_silent *silent, struct nw_probe *probe,
		  const struct nw_presence *seen, struct nw_probe_state *out,
		  struct nw_error *err);
void nw_silent_close(struct nw_silent *silent);

/* Adds up the facts about points in processes' memory. */
void nw_presence_add(struct nw_presence *sum, const struct nw_presence *one);

#endif
