/* SPDX-License-Identifier: MIT */
/* One diagnosis: its facts and who owns them. */
#ifndef NOPWATCH_RUN_CONSUMERS_GATHER_H
#define NOPWATCH_RUN_CONSUMERS_GATHER_H

#include "nopwatch/engine.h"

struct nw_gathered {
	const struct nw_request *request;
	nw_pids pids; /* the request's, as the processes that are meant */
	struct nw_spec spec;
	char *path;
	char *script, *elsewhere, *interposed, *code_in; /* as the facts have them */
	struct nw_kernel_access kernel;
	struct nw_process_facts process;
	struct nw_selection selection;
	struct nw_image *own; /* where the spec matched nothing */
	struct nw_error file_error, select_error;
	struct nw_symbol_facts symbol;
	struct nw_mapping_facts mapping;
	nw_foreign_events foreign, foreign_after;
	struct nw_presence held;
	struct nw_watch watch;
	struct nw_features features; /* nothing, where the kernel may not be looked at */
	struct nw_facts facts;	     /* points to the above */
};

/* Everything that can be known without arming. A spec that is none is an error; that nothing
 * fits it is a fact. */
int nw_gather(struct nw_gathered *g, const char *spec, const struct nw_request *request,
	      const struct nw_tool *tool, struct nw_error *err);
/* Arm the probe and watch it, for everybody, for the duration; what the kernel refuses is a
 * fact, too. */
int nw_watch(struct nw_gathered *g, struct nw_error *err);
/* Look at the events of others again. */
int nw_gather_after(struct nw_gathered *g, struct nw_error *err);
void nw_gathered_free(struct nw_gathered *g);

#endif
