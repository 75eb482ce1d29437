// SPDX-License-Identifier: MIT
/* features: what this kernel has, how that was found out, and what is done instead. */
#include <stdlib.h>

#include "cmd.h"
#include "nopwatch/kernel.h"

static void print_text(const struct nw_features *features, struct nw_buf *out)
{
	static const bool left[] = {true, true, true, true};
	struct nw_table table = {.columns = 4, .left = left};

	nw_table_text(&table, "FEATURE");
	nw_table_text(&table, "HERE");
	nw_table_text(&table, "FOUND BY");
	nw_table_text(&table, "WHAT IT IS, AND WHAT IS DONE WITHOUT IT");
	for (size_t i = 0; i < NW_FEATURE_COUNT; i++) {
		const struct nw_feature_info *info = &nw_feature_table[i];
		nw_table_text(&table, info->name);
		nw_table_cell(&table, "%s",
			      features->has[i]	    ? "yes"
			      : features->masked[i] ? "masked"
						    : "no");
		nw_table_cell(&table, "%s%s%s", info->how,
			      features->tried[i] ? "; tried: " : "",
			      features->tried[i] ? features->tried[i] : "");
		nw_table_cell(&table, "%s; without: %s", info->what, info->without);
	}
	nw_table_print(&table, false, out);
}

static void print_json(const struct nw_features *features, struct nw_buf *out)
{
	for (size_t i = 0; i < NW_FEATURE_COUNT; i++) {
		const struct nw_feature_info *info = &nw_feature_table[i];
		struct nw_json json = {.out = out};
		nw_json_open(&json, '{');
		nw_json_key_text(&json, "type", "feature");
		nw_json_key_text(&json, "name", info->name);
		nw_json_key(&json, "present");
		nw_json_bool(&json, features->has[i]);
		nw_json_key(&json, "masked");
		nw_json_bool(&json, features->masked[i]);
		nw_json_key_text(&json, "found_by", info->how);
		if (features->tried[i])
			nw_json_key_text(&json, "tried", features->tried[i]);
		nw_json_key_text(&json, "what", info->what);
		nw_json_key_text(&json, "without", info->without);
		nw_json_close(&json, '}');
		nw_buf_addc(out, '\n');
	}
}

/* Detect, and try; that it cannot be tried is worth a note, no more. */
static int find_out(struct nw_features *features, struct nw_error *err)
{
	struct nw_error why;
	struct nw_tracefs fs;
	int ret = nw_tracefs_open(&fs, err);

	if (ret < 0)
		return ret;
	ret = nw_features_detect(&fs, getenv("NOPWATCH_FEATURES"), features, err);
	if (ret == 0 && nw_features_try(&fs, features, &why) < 0)
		nw_note("not tried out: %s", why.what);
	nw_tracefs_close(&fs);
	return ret;
}

static int run(const struct nw_args *args)
{
	struct nw_features features;
	struct nw_error err;
	struct nw_sink sink;
	struct nw_buf out = {0};
	int ret = find_out(&features, &err);

	if (ret == 0)
		ret = nw_sink_open(args, &sink, &err);
	if (ret == 0) {
		if (args->form == NW_FORM_JSON)
			print_json(&features, &out);
		else
			print_text(&features, &out);
		ret = nw_sink_write(&sink, &out, &err);
		nw_buf_free(&out);
	}
	if (ret < 0)
		nw_report_error(&err);
	return ret < 0 ? NW_EXIT_FAILED : NW_EXIT_OK;
}

const struct nw_command nw_cmd_features = {
	.name = "features",
	.summary = "what this kernel can do",
	.usage = "[-j]",
	.details = "Nothing is concluded from the kernel's version: README, files and "
		   "their content\n"
		   "decide, and what can be tried is tried: probes in nopwatch itself are "
		   "defined,\n"
		   "armed, hit and taken away again. NOPWATCH_FEATURES=-NAME,-NAME "
		   "switches features off, for "
		   "trying out\n"
		   "the ways of older kernels.",
	.options = "format json output",
	.run = run,
};
