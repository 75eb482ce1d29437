// SPDX-License-Identifier: MIT
/* clean: removes the remains of killed sessions. */
#include <errno.h>

#include "kernel/recovery/cleanup.h"
#include "manage.h"
#include "words.h"

static int print(const struct nw_args *args, const struct nw_clean_report *report)
{
	if (!args->quiet)
		printf(nw_plural(report->removed,
				 "%u dead session removed, %u living left alone\n",
				 "%u dead sessions removed, %u living left alone\n"),
		       report->removed, report->living);
	if (!args->quiet && report->persistent)
		printf(nw_plural(
			       report->persistent,
			       "%zu event made by `nopwatch add` stay (`nopwatch remove '*'` takes them away)\n",
			       "%zu events made by `nopwatch add` stay (`nopwatch remove '*'` takes them away)\n"),
		       report->persistent);
	if (!args->quiet && report->kept)
		printf(nw_plural(
			       report->kept,
			       "the kernel goes on counting for %u `nopwatch add --engine=kernel` (`nopwatch remove NAME` ends it)\n",
			       "the kernel goes on counting for %u `nopwatch add --engine=kernel` (`nopwatch remove NAME` ends it)\n"),
		       report->kept);
	if (!args->quiet && report->waiting)
		printf(nw_plural(
			       report->waiting,
			       "%u empty instance cannot be removed while somebody reads a trace_pipe: whatever runs later does it\n",
			       "%u empty instances cannot be removed while somebody reads a trace_pipe: whatever runs later does it\n"),
		       report->waiting);
	nw_vec_each (&report->orphans, name)
		nw_note("%s has no journal: perhaps it belongs to a session in a container (remove it with --force)",
			*name);
	nw_vec_each (&report->stuck, text)
		nw_note("%s", *text);
	return report->stuck.count ? NW_EXIT_FAILED : NW_EXIT_OK;
}

static int print_dry_run(const struct nw_args *args, struct nw_error *err)
{
	struct nw_sink sink = {.file = stdout};
	struct nw_features features;
	struct nw_tracefs fs;
	struct nw_buf out = {0};
	int ret = nw_open_kernel(args, &fs, &features, err);

	if (ret < 0)
		return ret;
	if (fs.root >= 0)
		ret = nw_clean_dry_run(&fs, args->force, &out, err);
	if (ret == 0)
		ret = nw_sink_write(&sink, &out, err);
	nw_buf_free(&out);
	nw_tracefs_close(&fs);
	return ret < 0 && !sink.closed ? ret : 0;
}

/* Looks where a run with the options in this file keeps its journals: parsing --state-dir, or that it has none, sets the place. */
static int take_place_of(const char *file, struct nw_error *err)
{
	static struct nw_words words; /* live until the program ends */
	nw_cleanup(nw_free_ptr) char *word = nw_text("@%s", file);
	struct nw_args args;

	if (!word)
		return nw_no_memory(err);
	int ret = nw_words_expand((char *const[]){word, NULL}, &words, err);
	const struct nw_command *command = ret == 0 && words.count
						   ? nw_find_command(words.item, err)
						   : NULL;
	if (ret < 0 || !command)
		return ret < 0 ? ret : -EINVAL;
	ret = nw_parse_args(command, (int)words.count, words.item, &args, err);
	if (ret == 0)
		nw_free_args(&args);
	return ret;
}

/* Without the place of that run's journals, which the options may have named before they were changed, what is left there stays. */
static bool knows_place(const struct nw_args *args)
{
	struct nw_error err = {0};

	if (!args->options_of || take_place_of(args->options_of, &err) == 0)
		return true;
	nw_error_context(&err, "a run with the options in %s may have left something",
			 args->options_of);
	nw_error_hint(&err, "`nopwatch clean --state-dir DIR` looks in DIR");
	nw_report_error(&err);
	return false;
}

static int clean(const struct nw_args *args)
{
	struct nw_clean_report report;
	struct nw_tracefs fs;
	struct nw_error err = {0};

	if (args->dry_run)
		return print_dry_run(args, &err) < 0 ? nw_failure(&nw_cmd_clean, &err)
						     : NW_EXIT_OK;
	int ret = nw_tracefs_open(&fs, &err);

	if (ret == 0) {
		ret = nw_clean(&fs, args->force, &report, &err);
		nw_tracefs_close(&fs);
	}
	if (ret < 0) {
		nw_report_error(&err);
		return NW_EXIT_FAILED;
	}
	int status = print(args, &report);
	nw_clean_report_free(&report);
	return status;
}

static int run(const struct nw_args *args)
{
	const bool known = knows_place(args);
	const int status = clean(args);

	return known ? status : NW_EXIT_FAILED;
}

const struct nw_command nw_cmd_clean = {
	.name = "clean",
	.summary = "remove what killed sessions left behind",
	.usage = "[--force]",
	.details =
		"Takes away the events, instances and journals of nopwatch sessions whose process\n"
		"is gone. Living sessions, what `nopwatch add` has made and everybody else's\n"
		"probes are not touched. Every command that arms probes does the same before it\n"
		"begins. --options-of FILE looks also where a run with the options in FILE\n"
		"(nopwatch @FILE) keeps its journals. If it cannot read them, it does the rest,\n"
		"and ends with status 1.",
	.options = "dry-run force quiet state-dir options-of",
	.run = run,
};
