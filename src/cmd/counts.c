// SPDX-License-Identifier: MIT
/* See counts.h. The kernel counts as for `stat --engine=kernel`, but nopwatch does not stay. */
#include "counts.h"

#include <errno.h>
#include <stdio.h>

#include "kernel/manage/manage.h"
#include "request.h"

const char *nw_counts_options(const struct nw_args *args)
{
	return args->name	   ? "--name"
	       : args->by	   ? "--by"
	       : args->spans.count ? "--span"
	       : args->hists.count ? "--hist"
				   : NULL;
}

static int check(const struct nw_args *args, const char *name, struct nw_error *err)
{
	const char *other = args->group		   ? "--group"
			    : args->instance	   ? "--instance"
			    : args->enable	   ? "--enable"
			    : args->string_size	   ? "--string-size"
			    : args->kernel_strings ? "--kernel-strings"
						   : NULL;

	if (args->engine != NW_ENGINE_KERNEL && nw_counts_options(args))
		return nw_fail_usage(err, "%s goes with --engine=kernel",
				     nw_counts_options(args));
	if (args->engine != NW_ENGINE_KERNEL)
		return nw_fail_usage(
			err, "add: --engine=kernel leaves counts; without it, events");
	if (other)
		return nw_fail_usage(
			err, "%s does not go with --engine=kernel, which makes its own",
			other);
	if (args->cmd)
		return nw_fail_usage(err, "add starts no command");
	int ret = nw_kept_name_check(name, err);
	int state = ret < 0 ? ret : nw_journal_check(name);
	if (ret < 0 || (state != NW_JOURNAL_KEPT && state != NW_JOURNAL_LIVING))
		return ret;
	nw_fail(err, EEXIST, "'%s' counts already", name);
	nw_error_hint(
		err,
		"`nopwatch report --kernel %s` shows it, `nopwatch remove %s` ends it, --name gives another name",
		name, name);
	return -EEXIST;
}

/* A format's first lines belong to a report, and there is none. */
static int write_nothing(void *arg, struct nw_buf *text, struct nw_error *err)
{
	(void)arg;
	(void)err;
	text->len = 0;
	return 0;
}

static struct nw_reports_options options_of(const struct nw_args *args)
{
	return (struct nw_reports_options){.measure = {.spans = args->spans.item,
						       .span_count = args->spans.count,
						       .by = args->by,
						       .hists = args->hists.item,
						       .hist_count = args->hists.count},
					   .format = &nw_output_text,
					   .boundaries = &args->boundaries,
					   .write = write_nothing};
}

/* Prints the result as for an event that was added. */
static int print_added(const struct nw_args *args, const char *name, struct nw_sink *sink,
		       struct nw_error *err)
{
	char group[NW_MAX_NAME + 1], none[] = "";
	struct nw_change change = {.label = none, .where = none, .kind = NW_CHANGE_ADDED};
	struct nw_output output;
	int ret = nw_output_make(args->format, &output) < 0 ? nw_no_memory(err) : 0;

	nw_session_group(name, group);
	snprintf(change.event, sizeof(change.event), "%s:*", group);
	if (ret == 0 && (!args->format->for_people || !args->quiet))
		output.format->change(&output, &change);
	ret = nw_sink_finish(sink, ret, &output.text, err);
	nw_output_free(&output);
	return ret;
}

static int keep(const struct nw_args *args, const struct nw_request *request,
		const struct nw_consumer *consumer, struct nw_error *err)
{
	struct nw_run_result result = {0};
	struct nw_sink sink;
	int ret = nw_sink_open(args->output, args->format, &sink, err);

	if (ret < 0)
		return ret;
	ret = nw_run_keep(request, consumer, &result, err);
	size_t probes = result.selection.probes.count;
	if (result.unclean)
		nw_report_error(&result.left);
	if (ret == 0 && !args->quiet)
		nw_note(nw_plural(
				probes,
				"the kernel counts %zu probe (%zu sites) until `nopwatch remove %s`; `nopwatch report --kernel %s` shows it",
				"the kernel counts %zu probes (%zu sites) until `nopwatch remove %s`; `nopwatch report --kernel %s` shows them"),
			probes, nw_result_sites(&result), request->keep_name,
			request->keep_name);
	nw_result_free(&result);
	if (ret == 0)
		return print_added(args, request->keep_name, &sink, err);
	(void)nw_sink_finish(&sink, ret, &(struct nw_buf){0}, NULL);
	return ret;
}

/* Adds them, or prints the commands that do. */
static int add(const struct nw_args *args, const struct nw_consumer *consumer,
	       const struct nw_kept *kept, const char *name, struct nw_error *err)
{
	struct nw_sink sink = {.file = stdout};
	struct nw_prepared prepared;
	struct nw_buf text = {0};
	int ret = nw_prepare(args, &prepared, err);

	if (ret < 0)
		return ret;
	/* -p only tells where the probes are, as for events that stay. */
	prepared.request.all = true;
	prepared.request.keep = kept;
	prepared.request.keep_name = name;
	if (args->dry_run)
		ret = nw_run_as_shell(&prepared.request, consumer, &text, err);
	else
		ret = keep(args, &prepared.request, consumer, err);
	nw_prepared_close(&prepared);
	if (ret == 0 && args->dry_run)
		ret = nw_sink_write(&sink, &text, err);
	nw_buf_free(&text);
	return sink.closed ? 0 : ret;
}

int nw_counts_open(const struct nw_args *args, struct nw_counts *out, struct nw_error *err)
{
	out->kept = (struct nw_kept){.by = (char *)(uintptr_t)args->by,
				     .spans = {.item = (char **)(uintptr_t)args->spans.item,
					       .count = args->spans.count},
				     .hists = {.item = (char **)(uintptr_t)args->hists.item,
					       .count = args->hists.count}};
	out->options = options_of(args);
	int ret = nw_reports_open(&out->options, &out->reports, err);
	if (ret == 0)
		out->consumer = nw_reports_consumer(&out->reports);
	return ret;
}

void nw_counts_close(struct nw_counts *counts, int ret, struct nw_error *err)
{
	if (ret < 0 && counts->reports.measure.failure.code)
		*err = counts->reports.measure.failure;
	nw_reports_free(&counts->reports);
}

int nw_counts_add(const struct nw_args *args)
{
	const char *name = args->name ? args->name : "counts";
	struct nw_counts counts;
	struct nw_error err;
	int ret = check(args, name, &err);

	if (ret == 0)
		ret = nw_counts_open(args, &counts, &err);
	if (ret < 0)
		return nw_failure(&nw_cmd_add, &err);
	ret = add(args, &counts.consumer, &counts.kept, name, &err);
	nw_counts_close(&counts, ret, &err);
	return ret < 0 ? nw_failure(&nw_cmd_add, &err) : NW_EXIT_OK;
}
