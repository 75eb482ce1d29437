// SPDX-License-Identifier: MIT
/* features: lists what this kernel can do, how that was found out, and how nopwatch does without. */
#include <errno.h>
#include <stdlib.h>

#include "cmd.h"
#include "run/engine.h"
#include "show/text/text.h"

/*
 * Detects and tries features. If trying is not possible, only a note is printed. A definition that the kernel has
 * refused since boot is not tried again, because each refusal may add a line to its log.
 */
static int find_out(const struct nw_args *args, struct nw_features *features,
		    struct nw_machine_cost *cost, struct nw_error *err)
{
	const char *mask = getenv("NOPWATCH_FEATURES");
	struct nw_error why;
	struct nw_tracefs fs;
	int ret = nw_tracefs_open(&fs, err), tried = 0;

	if (ret < 0)
		return ret;
	ret = nw_features_find(&fs, mask, false, features, err);
	if (ret == 0)
		tried = nw_features_try(&fs, features, &why);
	if (ret == 0 && tried == 0)
		tried = nw_event_probes_try(&fs, features, &why);
	if (ret == 0 && tried == 0)
		tried = nw_calls_try(&fs, features, &why);
	if (tried < 0 && tried != -EUCLEAN)
		nw_note("not tried out: %s", why.what);
	else if (ret == 0 && tried == 0 && args->format == &nw_output_text)
		tried = nw_machine_cost(&fs, features, mask, cost, &why);
	if (tried == -EUCLEAN) {
		*err = why;
		ret = tried;
	}
	nw_tracefs_close(&fs);
	return ret;
}

static int run(const struct nw_args *args)
{
	struct nw_machine_cost cost = {0};
	struct nw_features features;
	struct nw_output output = {0};
	struct nw_error err;
	struct nw_sink sink;
	int ret = find_out(args, &features, &cost, &err);

	if (ret == 0 && nw_output_make(args->format, &output) < 0)
		ret = nw_no_memory(&err);
	if (ret == 0)
		ret = nw_sink_open(args->output, args->format, &sink, &err);
	output.plain = args->plain;
	if (ret == 0) {
		output.format->features(&output, &features);
		if (args->format == &nw_output_text)
			nw_text_overheads(&output, &cost);
		ret = nw_sink_finish(&sink, ret, &output.text, &err);
	}
	nw_output_free(&output);
	if (ret < 0)
		nw_report_error(&err);
	return ret < 0 ? NW_EXIT_FAILED : NW_EXIT_OK;
}

const struct nw_command nw_cmd_features = {
	.name = "features",
	.summary = "what this kernel can do",
	.usage = "[-j]",
	.details =
		"Nothing is concluded from the kernel's version: README, files and their content\n"
		"decide, and what can be tried is tried: probes in nopwatch itself are defined,\n"
		"armed, hit and taken away again. NOPWATCH_FEATURES=-NAME,-NAME switches features\n"
		"off, for trying out the ways of older kernels. A second table shows the probe\n"
		"overhead on this machine, measured once a boot: what a hit adds to its thread.",
	.options = NW_OPTIONS_RESULT "plain state-dir",
	.run = run,
};
