// SPDX-License-Identifier: MIT
/* record: writes the raw pages in trace-cmd's format, for `report` and other tools. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "request.h"

static void armed(void *arg, const struct nw_run_result *so_far)
{
	nw_note_armed(arg, so_far);
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
	uint64_t bytes;
	if (ret == 0)
		ret = nw_recorder_finish(recorder, result, &bytes, err);
	if (ret < 0)
		return ret;
	char lost[48];
	nw_lost_text(result->lost, result->lost_is_least, lost);
	if (!args->quiet)
		nw_note(nw_plural(result->hits, "%s: %" PRIu64 " hit, %" PRIu64 " KiB, %s",
				  "%s: %" PRIu64 " hits, %" PRIu64 " KiB, %s"),
			path, result->hits, bytes / 1024, lost);
	nw_warn_dropped(args, result);
	nw_warn_stacks(args, result);
	nw_note_silent(args, result);
	return 0;
}

/* Returns what a recording keeps for --by: of chosen control groups also which they are. NULL: no memory. */
static char *kept_keys(const struct nw_args *args)
{
	static const char *const more[] = {"cgroup", "container"};
	struct nw_buf keys = {0};

	nw_buf_adds(&keys, args->by ? args->by : "");
	for (size_t i = 0; args->cgroups.count && i < NW_COUNT(more); i++) {
		nw_cleanup(nw_free_ptr) char *copy = strdup(nw_buf_str(&keys));
		char *rest = copy, *key;
		bool there = false;
		while (copy && *nw_buf_str(&keys) && (key = nw_split_keys(&rest)))
			there |= strcmp(key, more[i]) == 0;
		keys.failed |= !copy;
		if (!there)
			nw_buf_printf(&keys, "%s%s", keys.len ? "," : "", more[i]);
	}
	nw_buf_adds(&keys, "");
	return nw_buf_take(&keys);
}

static int run_through(const struct nw_args *args)
{
	nw_cleanup(nw_free_ptr) char *keys = kept_keys(args);
	const struct nw_recorder_options options = {
		.path = args->output ? args->output : "trace.dat",
		.count = args->count,
		.states = args->states,
		.by = keys && *keys ? keys : NULL,
		.arg = (void *)(uintptr_t)args,
		.armed = armed,
	};
	struct nw_run_result result = {0};
	struct nw_recorder *recorder = NULL;
	struct nw_error err;
	int status = NW_EXIT_OK;
	int ret = keys ? nw_recorder_open(&options, &recorder, &err) : nw_no_memory(&err);

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

/* ---- until something happens --------------------------------------------------------- */

static void print_notice(void *arg, const char *text)
{
	const struct nw_args *args = arg;

	if (!args->quiet)
		nw_note("%s", text);
}

static void watching(void *arg, const struct nw_run_result *so_far)
{
	const struct nw_args *args = arg;

	if (nw_note_armed(args, so_far))
		nw_note("keeping the last %.1f s", (double)args->keep_ns / 1e9);
}

static void print_end(const struct nw_args *args, const struct nw_flight *flight,
		      const struct nw_run_result *result)
{
	struct nw_flight_stats stats = nw_flight_stats(flight);

	if (args->quiet)
		return;
	if (!stats.recordings && args->until.span)
		nw_note_none_slow("nothing recorded: ", stats.spans, stats.longest_ns);
	else if (!stats.recordings)
		nw_note("nothing recorded: the condition was not met");
	if (stats.lost)
		nw_note("%" PRIu64
			" events were lost where slow spans are looked for: some may not have been seen",
			stats.lost);
	if (stats.missed)
		nw_note("%" PRIu64
			" times the condition was met and not recorded, since earlier recordings could not be written",
			stats.missed);
	nw_warn_dropped(args, result);
	/* This is the CPU time that watching for the condition took. */
	struct rusage self;
	if (args->verbose && getrusage(RUSAGE_SELF, &self) == 0)
		nw_note("nopwatch itself took %.2f s of CPU in %.1f s",
			(double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec) +
				(double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec) /
					1e6,
			(double)nw_result_elapsed(result) / 1e9);
}

static int fly(const struct nw_args *args, struct nw_flight *flight,
	       struct nw_run_result *result, struct nw_error *err)
{
	const struct nw_consumer consumer = nw_flight_consumer(flight);
	const char *span = args->until.span;
	struct nw_prepared prepared;
	struct nw_error late;
	int ret = nw_prepare(args, &prepared, err);

	if (ret < 0)
		return ret;
	prepared.request.snapshots = args->until_signal;
	if (!args->words.count && span && nw_until_has_ends(&args->until)) {
		prepared.request.spans = &span;
		prepared.request.span_count = 1;
	}
	ret = nw_prepared_run(&prepared, &consumer, result, err);
	/* Hits before a failure are written all the same. */
	bool clean = !result->unclean;
	int last = nw_flight_finish(flight, result, ret < 0 ? &late : err);
	if (clean && result->unclean)
		nw_report_error(&result->left);
	nw_prepared_close(&prepared);
	ret = ret < 0 ? ret : last;
	if (ret == 0)
		print_end(args, flight, result);
	return ret;
}

static int run_until(struct nw_args *args)
{
	const struct nw_flight_options options = {
		.path = args->output ? args->output : "trace.dat",
		.until = args->until,
		.command = args->until_cmd,
		.keep_ns = args->keep_ns,
		.times = args->has_times ? args->times : 1,
		.fixed_buffer = args->buffer_bytes,
		.states = args->states,
		.arg = args,
		.armed = watching,
		.notice = print_notice,
	};
	struct nw_run_result result = {0};
	struct nw_flight *flight;
	struct nw_error err;
	int status = NW_EXIT_OK;
	int ret = nw_flight_open(&options, &flight, &err);

	if (ret == 0 && args->dry_run) {
		const struct nw_consumer consumer = nw_flight_consumer(flight);
		status = nw_dry_run(args, &consumer, &nw_cmd_record);
		if (status == NW_EXIT_OK && args->until.span && !args->quiet)
			nw_note("these are the commands of the session that records; a second session watches '%s' by its two ends",
				args->until.span);
	} else if (ret == 0) {
		ret = fly(args, flight, &result, &err);
		status = ret == 0 ? nw_result_status(args, &result) : status;
	}
	nw_result_free(&result);
	nw_flight_free(flight);
	return ret < 0 ? nw_failure(&nw_cmd_record, &err) : status;
}

static int run(const struct nw_args *args)
{
	bool until = args->until.span || args->until_signal || args->until_cmd;
	struct nw_args with = *args;
	struct nw_error err;
	int ret = 0;

	if (!until && args->keep_ns)
		ret = nw_fail_usage(
			&err, "--keep goes with --until, --until-signal or --until-cmd");
	else if (!until && args->has_times)
		ret = nw_fail_usage(
			&err, "--times goes with --until, --until-signal or --until-cmd");
	else if (until && args->stacks.count)
		ret = nw_fail_usage(
			&err,
			"--stack: with --until nobody reads the hits as they come, and what processes map is not known later");
	else if (until && args->count)
		ret = nw_fail_usage(
			&err,
			"-n counts hits, which --until does not: use --times for the number of recordings");
	else if (until && args->by)
		ret = nw_fail_usage(
			&err,
			"--by: with --until nobody reads the hits as they come, and a title is not known later");
	else if (until && args->cgroups.count)
		ret = nw_fail_usage(
			&err,
			"%s: with --until nobody reads the hits as they come, and the control groups of their processes are not known later; -p names processes",
			nw_cgroup_options[args->cgroups.item[0].kind]);
	if (ret < 0)
		return nw_failure(&nw_cmd_record, &err);
	if (!with.keep_ns)
		with.keep_ns = UINT64_C(10000000000);
	return until ? run_until(&with) : run_through(args);
}

const struct nw_command nw_cmd_record = {
	.name = "record",
	.summary = "record now, look later (trace-cmd's format)",
	.usage = "[-o FILE] [--until 'SPAN > T'] SPEC... [-p PID | -x FILE] [-- CMD]",
	.examples =
		"  nopwatch record -o trace.dat -p 4711 'postgresql:query__*'\n"
		"  nopwatch record 'myserver:*' -- ./server\n"
		"  nopwatch record --stack func:libc.so.6:malloc -- ./server\n"
		"  nopwatch record --until 'app:request > 50ms' --keep 10s 'app:*' -p 4711\n"
		"  nopwatch record --states -d 30 'app:*' -p 4711\n",
	.details =
		"Keeps the raw events in FILE (trace.dat), which `nopwatch report`, `stat --from` and\n"
		"`trace --from` read on any machine, without privileges; trace-cmd and kernelshark\n"
		"read it, too. --by title, cgroup or container also keeps these, for `report --by title`.\n\n"
		"With --until, --until-signal or --until-cmd only what was before is kept: the ring\n"
		"buffer overwrites its oldest events, nobody reads it, and FILE is written when a span\n"
		"has taken so long, when SIGUSR2 comes, or when a command fails (docs/flight.md).",
	.options = NW_OPTIONS_RUN NW_OPTIONS_STACKS
	"at by count output until until-signal until-cmd keep times states verbose color",
	.run = run,
};
