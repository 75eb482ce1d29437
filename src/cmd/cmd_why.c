// SPDX-License-Identifier: MIT
/* why: finds out why a probe does not fire. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "request.h"

enum {
	EXIT_SILENT = 3, /* the probe does not fire, for a known reason */
	EXIT_UNKNOWN = 4
};

/* ---- one probe ---------------------------------------------------------------------- */

static int print(const struct nw_diagnosis *diagnosis, const char *label,
		 const struct nw_args *args, struct nw_sink *sink, struct nw_error *err)
{
	struct nw_output output;

	if (nw_output_make(args->format, &output) < 0)
		return nw_no_memory(err);
	output.plain = args->plain;
	output.format->diagnosis(&output, diagnosis, label, nw_use_color(args, sink->file));
	int ret = nw_sink_write(sink, &output.text, err);
	nw_output_free(&output);
	return ret;
}

/* Takes all processes of the control groups, and not only one of those that map the same files. */
static int take_members(const struct nw_args *args, struct nw_request *request,
			nw_pids *pids, struct nw_error *err)
{
	int ret = args->pids.count || !request->cgroups
			  ? 0
			  : nw_cgroups_members(request->cgroups, false, pids, err);

	if (ret == 0 && pids->count) {
		request->pids = pids->item;
		request->pid_count = pids->count;
	}
	return ret;
}

static int why_one(const char *spec, const struct nw_args *args, const struct nw_tool *tool,
		   const char *label, struct nw_sink *sink, int *fires,
		   struct nw_error *err)
{
	struct nw_diagnosis diagnosis = {0};
	struct nw_prepared prepared;
	nw_pids members = {0};
	int ret = nw_prepare(args, &prepared, err);

	if (ret < 0)
		return ret;
	ret = take_members(args, &prepared.request, &members, err);
	if (ret == 0)
		ret = nw_find_out_why(&prepared.request, spec, tool, &diagnosis, err);
	nw_prepared_close(&prepared);
	nw_vec_free(&members);
	if (ret == 0 || ret == -EUCLEAN) {
		struct nw_error failed;
		int printed = print(&diagnosis, label, args, sink, &failed);
		*fires = diagnosis.fires;
		if (ret == 0 && printed < 0)
			*err = failed;
		ret = ret < 0 ? ret : printed;
	}
	nw_diagnosis_free(&diagnosis);
	return ret;
}

/* ---- what was asked ----------------------------------------------------------------- */

/* Diagnoses each probe. The exit status is that of the probe in the worst state. */
static int why_all(char *const *specs, size_t count, const struct nw_args *args,
		   const struct nw_tool *tool, struct nw_sink *sink, int *status,
		   struct nw_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < count; i++) {
		int fires = -1;
		ret = why_one(specs[i], args, tool, count > 1 ? specs[i] : NULL, sink,
			      &fires, err);
		int one = fires == 1 ? NW_EXIT_OK : fires == 0 ? EXIT_SILENT : EXIT_UNKNOWN;
		*status = one > *status ? one : *status;
	}
	return ret;
}

enum {
	MOST_SCRIPT = 16 << 20
};

/* Reads the command line of another tool, and its program from the file if there is one. */
static int read_tool(char *const *argv, struct nw_tool *tool, struct nw_error *err)
{
	struct nw_buf text = {0};
	int ret = nw_tool_parse(argv, tool, err);

	if (ret < 0 || !tool->script)
		return ret;
	int fd = nw_open_input(tool->script);
	ret = fd < 0 ? fd : nw_buf_read_most(&text, fd, MOST_SCRIPT);
	if (fd >= 0)
		close(fd);
	ret = ret < 0 ? nw_fail(err, -ret, "cannot read '%s': %s", tool->script,
				nw_strerror(-ret))
		      : nw_tool_script(tool, nw_buf_str(&text), err);
	nw_buf_free(&text);
	return ret;
}

/* Diagnoses events that a tool records by name, at the sites that tracefs has for them. An event that tracefs does
 * not have cannot fire. */
static int why_events(const struct nw_args *args, struct nw_tool *tool,
		      struct nw_sink *sink, int *status, struct nw_error *err)
{
	nw_strings missing = {0};
	int ret = tool->by_event ? nw_tool_find_places(tool, &missing, err) : 0;

	nw_vec_each (&missing, event) {
		struct nw_diagnosis diagnosis;
		if (ret == 0)
			ret = nw_diagnose_missing(*event, &diagnosis, err);
		if (ret < 0)
			continue;
		ret = print(&diagnosis, *event, args, sink, err);
		nw_diagnosis_free(&diagnosis);
		*status = EXIT_SILENT;
	}
	nw_strings_free(&missing);
	return ret;
}

static int answer(const struct nw_args *args, struct nw_sink *sink, int *status,
		  struct nw_error *err)
{
	struct nw_tool tool = {0};
	int ret = 0;

	if (!args->words.count && !args->cmd && !args->error)
		return nw_fail_usage(err, "no probe is named");
	if (args->cmd) {
		ret = read_tool(args->cmd, &tool, err);
		if (ret == 0)
			ret = why_events(args, &tool, sink, status, err);
		if (ret == 0)
			ret = why_all(tool.specs.item, tool.specs.count, args, &tool, sink,
				      status, err);
		nw_tool_free(&tool);
	}
	if (ret == 0 && args->words.count)
		ret = why_all((char *const *)args->words.item, args->words.count, args,
			      NULL, sink, status, err);
	if (ret == 0 && args->error) {
		struct nw_diagnosis diagnosis;
		ret = nw_diagnose_error(args->error, &diagnosis, err);
		if (ret < 0)
			return ret;
		if (!args->words.count && !args->cmd)
			*status = diagnosis.reasons.count ? EXIT_SILENT : EXIT_UNKNOWN;
		ret = print(&diagnosis, NULL, args, sink, err);
		nw_diagnosis_free(&diagnosis);
	}
	return ret;
}

static int run(const struct nw_args *args)
{
	struct nw_error err;
	struct nw_sink sink;
	int status = NW_EXIT_OK;
	int ret = nw_sink_open(args->output, args->format, &sink, &err);

	if (ret == 0) {
		ret = answer(args, &sink, &status, &err);
		if (nw_sink_close(&sink, ret == 0 ? &err : NULL) < 0 && ret == 0)
			ret = -EIO;
	}
	if (sink.closed)
		return NW_EXIT_OK;
	return ret < 0 ? nw_failure(&nw_cmd_why, &err) : status;
}

const struct nw_command nw_cmd_why = {
	.name = "why",
	.summary = "why does this probe (not) fire?",
	.usage = "SPEC [-p PID] [-d TIME] | -- COMMAND ... | --error TEXT",
	.examples =
		"  nopwatch why usdt:./server:myserver:request__start\n"
		"  nopwatch why -p 4711 myserver:request__start\n"
		"  nopwatch why func:./server:handle -d 10\n"
		"  nopwatch why -- bpftrace -e 'usdt:./server:myserver:request__start { }'\n"
		"  nopwatch why --error 'ERROR: Probe does not exist: usdt:./server:a:b'\n",
	.details =
		"Looks at the kernel, the file, the process and the events of others; then, unless\n"
		"the answer is known by then or arming could hurt, arms the probe and watches it.\n"
		"Behind -- stands a command line of bpftrace, stap, perf or trace-cmd, which is read\n"
		"and not run; --error takes what another tool said. kprobe:SYMBOL asks the same of\n"
		"a function of the kernel.\n"
		"Exit status: 0 it fires, 3 it does not and why is known, 4 that is not known.",
	.options = NW_OPTIONS_RESULT NW_OPTIONS_CGROUPS
	"pid exe duration debuginfod force plain color error state-dir",
	.run = run,
};
