// SPDX-License-Identifier: MIT
/* Prints a run as shell commands. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/steps/steps.h"
#include "run/limits/guards.h"

#include "sources.h"

/* Adds what happens while the probes are armed: the command, or a wait; and shows what was recorded. */
static int add_middle(const struct nw_run *run, nw_strings *out)
{
	const struct nw_request *request = run->request;
	const char *group = run->result->plan.group;
	uint64_t ms = request->duration_ns / 1000000;
	int ret = 0;

	if (request->command) {
		struct nw_buf line = {0};
		for (char *const *word = request->command; *word; word++) {
			nw_buf_adds(&line, line.len ? " " : "");
			nw_shell_word(&line, *word);
		}
		ret = line.failed ? -ENOMEM
				  : nw_strings_add(out, nw_buf_str(&line), line.len);
		nw_buf_free(&line);
	} else if (request->duration_ns) {
		ret = nw_strings_addf(out, "sleep %" PRIu64 ".%03" PRIu64, ms / 1000,
				      ms % 1000);
	} else {
		ret = nw_strings_addf(
			out,
			"# here nopwatch waits for Ctrl-C; by hand: cat \"$I/trace_pipe\"");
	}
	if (ret == 0 && request->filter)
		ret = nw_strings_addf(
			out,
			"# nopwatch leaves out the hits that do not match --filter as it reads them");
	if (ret == 0 && run->result->by_kernel)
		return nw_strings_addf(
			out, "cat \"$I\"/events/%s/*/hist \"$I\"/events/synthetic/%s*/hist",
			group, group);
	if (ret == 0)
		ret = nw_strings_addf(
			out,
			"# nopwatch reads \"$I\"/per_cpu/cpu*/trace_pipe_raw; by hand:");
	return ret < 0 ? ret : nw_strings_addf(out, "cat \"$I/trace\"");
}

/* Finds the processes. The printed commands write their numbers as in /proc. */
static int find_pids(struct nw_run *run, bool restricted, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	int ret = 0;

	for (size_t i = 0; i < request->pid_count; i++) {
		pid_t *slot = nw_vec_add(&run->result->pids);
		if (!slot)
			return nw_no_memory(err);
		*slot = request->pids[i];
	}
	if (request->follow)
		ret = nw_run_add_descendants(&run->result->pids, err);
	nw_pid_space_open(&run->live.space);
	if (ret < 0 || !run->live.space.foreign ||
	    (!run->result->pids.count && !restricted))
		return ret;
	nw_fail(err, ENOTSUP,
		"ftrace has other numbers for the processes of this PID namespace, which these commands could not find");
	nw_error_hint(err,
		      "try it on the host, or with all processes (no -p, and -a with CMD)");
	return -ENOTSUP;
}

static int write_shell(struct nw_run *run, struct nw_buf *out, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	int restricted = run->live.command && !request->pid_count && !request->all
				 ? nw_run_counts_command(run, err)
				 : 0;
	nw_strings middle = {0}, comms = {0};
	nw_pids users = {0};
	char name[24];

	nw_session_name(name);
	if (request->keep_name)
		snprintf(name, sizeof(name), "%s", request->keep_name);
	int ret = restricted < 0 ? restricted : find_pids(run, restricted, err);
	if (ret == 0)
		ret = nw_run_attach_calls(run, false, err);
	if (ret == 0)
		ret = nw_run_take_calls(run, false, err);
	if (ret == 0)
		ret = nw_run_plan(run, name, err);
	if (ret == 0 && !request->keep_name && add_middle(run, &middle) < 0)
		ret = nw_no_memory(err);
	/* These commands let the kernel restrict what is recorded of processes. */
	bool only_their_switches = !restricted && !run->result->pids.count &&
				   nw_run_only_their_switches(run);
	if (ret == 0 && only_their_switches)
		ret = nw_run_list_users(run, &users, &comms, err);
	const struct nw_session_targets targets = {&users, &comms};
	const struct nw_session_options options = {
		.triggers = run->live.triggers,
		.buffer_bytes = request->keep_name ? 4096 : request->buffer_bytes,
		.pids = run->result->pids.item,
		.pid_count = run->result->pids.count,
		.tids = request->tids,
		.tid_count = request->tid_count,
		.space = &run->live.space,
		.only_their_switches = only_their_switches,
		.tasks = !request->keep_name,
		.stays = request->keep_name != NULL,
		.force = request->force,
		.large_pages = run->consumer.needs.large_pages && !request->keep_name,
		.overwrite = run->consumer.due != NULL};
	if (ret == 0)
		ret = nw_session_dry_run(&run->live.fs, &run->live.features,
					 &run->result->plan, &options, &targets, restricted,
					 &middle, out, err);
	nw_strings_free(&middle);
	nw_strings_free(&comms);
	nw_vec_free(&users);
	return ret;
}

int nw_run_as_shell(const struct nw_request *request, const struct nw_consumer *consumer,
		    struct nw_buf *out, struct nw_error *err)
{
	struct nw_run_result result;
	struct nw_run run;

	/* A dry run refuses everything that a run refuses before it touches the kernel. */
	int ret = nw_run_open(&run, false, request, consumer, &result, err);
	if (ret == 0)
		ret = nw_run_check(&run, err);
	if (ret == 0)
		ret = nw_request_kernel(request, true, &run.live.fs, &run.live.features,
					err);
	if (ret == 0)
		ret = write_shell(&run, out, err);
	nw_tracefs_close(&run.live.fs);
	nw_run_free(&run);
	nw_result_free(&result);
	return ret;
}
