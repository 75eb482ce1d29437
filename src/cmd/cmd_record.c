// SPDX-License-Identifier: MIT
/* record: keep the raw pages, in trace-cmd's format, for `report` and for others. */
#include <inttypes.h>
#include <unistd.h>

#include "request.h"

static void armed(void *arg, const struct nw_run_result *so_far)
{
	const struct nw_args *args = arg;

	if (!args->quiet && isatty(STDERR_FILENO) == 1)
		nw_note("recording %zu probes (%zu sites), Ctrl-C ends",
			so_far->selection.probes.count -
				nw_selection_hidden(&so_far->selection),
			nw_result_sites(so_far));
}

static int finish(const struct nw_args *args, const char *path,
		  struct nw_recorder *recorder, const struct nw_run_result *result,
		  struct nw_error *err)
{
	uint64_t bytes;
	int ret = nw_recorder_finish(recorder, result, &bytes, err);

	if (ret < 0)
		return ret;
	if (!args->quiet)
		nw_note("%s: %" PRIu64 " hits, %" PRIu64 " KiB, %" PRIu64 " events lost",
			path, result->hits, bytes / 1024, result->lost);
	nw_tell_dropped(args, result);
	return 0;
}

static int record(const struct nw_args *args, const char *path,
		  struct nw_recorder *recorder, struct nw_run_result *result,
		  struct nw_error *err)
{
	const struct nw_consumer consumer = nw_recorder_consumer(recorder);
	struct nw_prepared prepared;
	int ret = nw_prepare(args, &prepared, err);

	if (ret < 0)
		return ret;
	ret = nw_prepared_run(&prepared, &consumer, result, err);
	nw_prepared_close(&prepared);
	return ret < 0 ? ret : finish(args, path, recorder, result, err);
}

static int run(const struct nw_args *args)
{
	const struct nw_recorder_options options = {
		.path = args->output ? args->output : "trace.dat",
		.count = args->count,
		.pids = args->pids.item,
		.pid_count = args->pids.count,
		.states = args->states,
		.arg = (void *)(uintptr_t)args,
		.armed = armed,
	};
	struct nw_run_result result = {0};
	struct nw_recorder *recorder;
	struct nw_error err;
	int status = NW_EXIT_OK;
	int ret = nw_recorder_open(&options, &recorder, &err);

	if (ret == 0 && args->dry_run) {
		const struct nw_consumer consumer = nw_recorder_consumer(recorder);
		status = nw_dry_run(args, &consumer, &nw_cmd_record);
	} else if (ret == 0) {
		ret = record(args, options.path, recorder, &result, &err);
		status = ret == 0 ? nw_result_status(args, &result) : status;
	}
	nw_result_free(&result);
	nw_recorder_free(recorder);
	return ret < 0 ? nw_failure(&nw_cmd_record, &err) : status;
}

const struct nw_command nw_cmd_record = {
	.name = "record",
	.summary = "record now, look later (trace-cmd's format)",
	.usage = "[-o FILE] SPEC... [-p PID | -x FILE] [-- CMD]",
	.details =
		"Keeps the raw events in FILE (trace.dat), which `nopwatch report`, `stat --from` and\n"
		"`trace --from` read on any machine, without privileges; trace-cmd and kernelshark\n"
		"read it, too.",
	.options = NW_OPTIONS_RUN "count output states color",
	.run = run,
};
