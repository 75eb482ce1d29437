/* SPDX-License-Identifier: MIT */
/* From the options of a command to the engine's request, and from its result to an exit status. */
#ifndef NOPWATCH_CMD_REQUEST_H
#define NOPWATCH_CMD_REQUEST_H

#include "cmd.h"
#include "input.h"
#include "nopwatch/engine.h"

struct nw_prepared {
	struct nw_request request;
	const struct nw_args *args;
	char *command_line;
	struct nw_types types;
	struct nw_input input; /* --from, if it is a file */
	int fd;		       /* of it; -1: there is none to close */
};

/* What the options ask for: a live run, or what --from names, which is opened. Notices are printed,
 * unless -q says otherwise. */
int nw_prepare(const struct nw_args *args, struct nw_prepared *out, struct nw_error *err);
void nw_prepared_close(struct nw_prepared *prepared);
/* Run it, and say what had to stay in the kernel. */
int nw_prepared_run(const struct nw_prepared *prepared, const struct nw_consumer *consumer,
		    struct nw_run_result *out, struct nw_error *err);
/* The exit status: of CMD, if its end has ended the run. */
int nw_result_status(const struct nw_args *args, const struct nw_run_result *result);
/* A note on the hits that were counted but not recorded, if there were any. */
void nw_warn_dropped(const struct nw_args *args, const struct nw_run_result *result);
/* A note on the hits of which records were lost, if there were any. */
void nw_warn_incomplete(const struct nw_args *args, const struct nw_run_result *result);
/* Say that stacks may have wrong functions, or functions no names, if so. */
void nw_warn_stacks(const struct nw_args *args, const struct nw_run_result *result);

/* --dry-run: print the run as shell commands that do the same to the kernel. The exit status. */
int nw_dry_run(const struct nw_args *args, const struct nw_consumer *consumer,
	       const struct nw_command *command);
/* Only what opening tracefs asks for. */
struct nw_request nw_kernel_request(const struct nw_args *args);

#endif
