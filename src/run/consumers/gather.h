/* SPDX-License-Identifier: MIT */
/* One diagnosis: its facts and their owner. */
#ifndef NOPWATCH_RUN_CONSUMERS_GATHER_H
#define NOPWATCH_RUN_CONSUMERS_GATHER_H

#include "run/engine.h"

struct nw_gathered {
	const struct nw_request *request;
	nw_pids pids; /* the target processes */
	struct nw_spec spec;
	char *path;
	char *script, *script_starts, *elsewhere, *interposed,
		*code_in; /* as in the facts */
	struct nw_kernel_access kernel;
	struct nw_process_facts process;
	struct nw_selection selection;
	struct nw_image *own; /* the file, if the spec matched nothing */
	struct nw_error file_error, select_error;
	struct nw_symbol_facts symbol;
	struct nw_generated generated;
	struct nw_kernel_function function;
	nw_user_events user_events;
	struct nw_error no_user_events;
	struct nw_mapping_facts mapping;
	nw_foreign_events foreign, foreign_after;
	struct nw_presence held;
	struct nw_watch watch;
	struct nw_features features; /* all unknown if the kernel must not be looked at */
	struct nw_error left;  /* something that could not be removed; code 0: nothing */
	struct nw_facts facts; /* points to the fields above */
};

/* Collects all facts that can be known without arming. It is an error if the spec cannot be parsed; that it matches
 * nothing is a fact. */
int nw_gather(struct nw_gathered *g, const char *spec, const struct nw_request *request,
	      const struct nw_tool *tool, struct nw_error *err);
/* Arms the probe and watches it, for all processes, for the duration. If the kernel refuses, that is a fact, too. */
int nw_watch(struct nw_gathered *g, struct nw_error *err);
/* Reads the events of other programs again. */
int nw_gather_after(struct nw_gathered *g, struct nw_error *err);
void nw_gathered_free(struct nw_gathered *g);

#endif
