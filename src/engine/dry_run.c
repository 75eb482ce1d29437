// SPDX-License-Identifier: MIT
/* --dry-run of what runs: stat, trace and record as shell commands. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/manage.h"
#include "run.h"

/* CMD, quoted. */
static char *command_line(char *const *cmd)
{
	struct nw_buf line = {0};

	for (; *cmd; cmd++) {
		nw_buf_adds(&line, line.len ? " " : "");
		nw_shell_word(&line, *cmd);
	}
	return nw_buf_take(&line);
}

/* What happens while the probes are armed: CMD, or some time; and what was recorded. */
static int tell_middle(const struct nw_args *args, nw_strings *out)
{
	uint64_t ms = args->duration_ns / 1000000;
	int ret = 0;

	if (args->cmd) {
		nw_cleanup(nw_free_ptr) char *line = command_line(args->cmd);
		ret = line ? nw_strings_add(out, line, strlen(line)) : -ENOMEM;
	} else if (args->duration_ns) {
		ret = nw_strings_addf(out, "sleep %" PRIu64 ".%03" PRIu64, ms / 1000,
				      ms % 1000);
	} else {
		ret = nw_strings_addf(out, "# here nopwatch waits for Ctrl-C; by hand: cat "
					   "\"$I/trace_pipe\"");
	}
	if (ret == 0)
		ret = nw_strings_addf(out, "# nopwatch reads \"$I\"/per_cpu/cpu*/"
					   "trace_pipe_raw; by hand:");
	return ret < 0 ? ret : nw_strings_addf(out, "cat \"$I/trace\"");
}

static int tell(struct nw_run *run, const char *command, struct nw_buf *out,
		struct nw_error *err)
{
	const struct nw_args *args = run->args;
	bool restricted = command && !args->pids.count && !args->all &&
			  nw_run_command_has_probes(run, command);
	nw_strings middle = {0};
	nw_pids pids = {0};
	char name[24];
	int ret = 0;

	nw_session_name(name);
	nw_vec_each (&args->pids, pid) {
		pid_t *slot = nw_vec_add(&pids);
		if (!slot)
			ret = nw_no_memory(err);
		else
			*slot = *pid;
	}
	if (ret == 0 && args->follow)
		ret = nw_run_add_descendants(&pids, err);
	nw_pid_space_open(&run->space); /* the commands go by the numbers of /proc */
	if (ret == 0 && run->space.foreign && (pids.count || restricted)) {
		ret = nw_fail(
			err, ENOTSUP,
			"ftrace has other numbers for the processes of this PID namespace, "
			"which these commands could not find");
		nw_error_hint(err,
			      "try it on the host, or with all processes (no -p, and -a "
			      "with CMD)");
	}
	if (ret == 0 && tell_middle(args, &middle) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_run_plan(run, name, err);
	const struct nw_session_options options = {
		.buffer_bytes = args->buffer_bytes,
		.pids = pids.item,
		.pid_count = pids.count,
		.tasks = true,
		.force = args->force,
		.large_pages = run->consumer->large_pages};
	if (ret == 0)
		ret = nw_session_dry_run(&run->fs, &run->features, &run->plan, &options,
					 restricted, &middle, out, err);
	nw_strings_free(&middle);
	nw_vec_free(&pids);
	return ret;
}

int nw_dry_run(const struct nw_args *args, const struct nw_consumer *consumer,
	       const struct nw_command *which)
{
	nw_cleanup(nw_free_ptr) char *command = NULL;
	struct nw_sink sink = {.file = stdout};
	struct nw_buf out = {0};
	struct nw_error err;
	struct nw_run run;
	int ret = nw_run_select(&run, args, consumer, &command, &err);

	if (ret == 0)
		ret = nw_open_kernel(args, &run.fs, &run.features, &err);
	if (ret == 0)
		ret = tell(&run, command, &out, &err);
	if (ret == 0)
		ret = nw_sink_write(&sink, &out, &err);
	nw_buf_free(&out);
	nw_tracefs_close(&run.fs);
	nw_run_free(&run);
	return ret < 0 && !sink.closed ? nw_failure(which, &err) : NW_EXIT_OK;
}
