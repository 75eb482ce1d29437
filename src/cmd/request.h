/* SPDX-License-Identifier: MIT */
/* Turns a command's options into the engine's request, and its result into an exit status. */
#ifndef NOPWATCH_CMD_REQUEST_H
#define NOPWATCH_CMD_REQUEST_H

#include "cmd.h"
#include "input.h"
#include "run/engine.h"

struct nw_prepared {
	struct nw_request request;
	const struct nw_args *args;
	char *command_line;
	nw_args_pids processes; /* of --tid's threads, or in the control groups */
	struct nw_cgroups cgroups;
	struct nw_types types;
	struct nw_input input; /* the file of --from, if its length is known */
	int fd;		       /* descriptor of the file; -1: none to close */
};

/* Prepares a live run, or opens the file of --from. Notices are printed unless -q is given. */
int nw_prepare(const struct nw_args *args, struct nw_prepared *out, struct nw_error *err);
void nw_prepared_close(struct nw_prepared *prepared);
/* Runs it, and reports things that had to stay in the kernel. */
int nw_prepared_run(const struct nw_prepared *prepared, const struct nw_consumer *consumer,
		    struct nw_run_result *out, struct nw_error *err);
/* Returns the exit status: that of CMD if the run ended with CMD. */
int nw_result_status(const struct nw_args *args, const struct nw_run_result *result);
/* Says on a terminal how much is attached, and how it ends. Returns whether stderr is one and -q was not given. */
bool nw_note_armed(const struct nw_args *args, const struct nw_run_result *so_far);
/* Prints a note on hits that were counted but not recorded, if there were any. */
void nw_warn_dropped(const struct nw_args *args, const struct nw_run_result *result);
/* Prints a note on hits whose records were lost, if there were any. */
void nw_warn_incomplete(const struct nw_args *args, const struct nw_run_result *result);
/* Prints why probes had no hits, or no more hits, a line for each. */
void nw_note_silent(const struct nw_args *args, const struct nw_run_result *result);
/* Prints, behind these words, how many spans ended, none of which was slow, and how long the longest took (0: unknown). */
void nw_note_none_slow(const char *before, uint64_t spans, uint64_t longest_ns);
/* Prints, for each span whose ends come from other threads than its starts, that it needs a key, and which argument would do. */
void nw_note_strays(const struct nw_measure *measure, const struct nw_run_result *result);
/* Prints a note if stacks may contain wrong functions or functions without names. */
void nw_warn_stacks(const struct nw_args *args, const struct nw_run_result *result);

/*
 * Finds the control groups of --cgroup, --unit and --container, and the processes that are in them now. distinct: of processes
 * that map the same files only one. Without these options it does nothing.
 */
int nw_find_members(const struct nw_args *args, bool distinct, struct nw_cgroups *out,
		    nw_args_pids *pids, struct nw_error *err);
/* Opens the output of a command as its run begins. --dry-run only tries whether the file can be written. */
int nw_output_start(const struct nw_args *args, struct nw_sink *sink, struct nw_error *err);
/* --dry-run: prints the run as shell commands with the same effect on the kernel. Returns the exit status. */
int nw_dry_run(const struct nw_args *args, const struct nw_consumer *consumer,
	       const struct nw_command *command);
/* Returns the service's name as programs with OpenTelemetry get it ($OTEL_SERVICE_NAME); NULL: it is not given. */
const char *nw_service_name(void);
/* Makes a request that is only good for opening tracefs. */
struct nw_request nw_kernel_request(const struct nw_args *args);

#endif
