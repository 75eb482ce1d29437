// SPDX-License-Identifier: MIT
/* report with several recordings: their summaries become one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "saved.h"

struct report_merged {
	const struct nw_args *args;
	struct nw_saved_set set;
	struct nw_probe_state *states; /* by merged probe; NULL: unknown */
	struct nw_output output;
	struct nw_sink sink;
	nw_hists hists; /* of --hist */
};

/* ---- what can be merged ------------------------------------------------------------- */

const char *nw_option_of_one(const struct nw_args *args)
{
	return args->interval_ns		? "-i"
	       : args->count			? "-n"
	       : args->slowest			? "--slowest"
	       : args->open			? "--open"
	       : nw_slower_asked(&args->slower) ? "--slower"
	       : args->stacks.count		? "--stack"
	       : args->format->bins		? args->format->name
	       : args->format->only_stacks	? args->format->name
	       : args->format->one_signal	? args->format->name
						: NULL;
}

static int check_options(const struct nw_args *args, struct nw_error *err)
{
	const char *option = nw_option_of_one(args);
	bool one = args->words.count < 2;

	if (!option)
		return 0;
	nw_fail_usage(err,
		      *option != '-' ? "-f %s shows one recording, without --by host"
		      : one	     ? "%s needs a recording, and no --by host"
				     : "%s goes with one recording, not with several",
		      option);
	return -EINVAL;
}

/* ---- one of all --------------------------------------------------------------------- */

/* Finds the state of each merged probe: hit in one recording, or as the first recording says that tells a reason. */
static int merge_states(struct report_merged *r)
{
	struct nw_index labels = {0};
	int ret = 0;

	r->states = calloc(r->set.merged.selection.probes.count + 1, sizeof(*r->states));
	nw_vec_each (&r->set.merged.selection.probes, probe)
		if (nw_index_add(&labels, (*probe)->label, strlen((*probe)->label)) < 0)
			ret = -ENOMEM;
	nw_vec_each (&r->set.results, saved) {
		const struct nw_selection *selection = saved->part.selection;
		for (size_t i = 0;
		     r->states && ret == 0 && saved->states && i < selection->probes.count;
		     i++) {
			const char *label = selection->probes.item[i]->label;
			int64_t at = nw_index_find(&labels, label, strlen(label));
			const struct nw_probe_state *state = &saved->states[i];
			if (at >= 0 && (state->state == NW_STATE_HIT ||
					r->states[at].state == NW_STATE_UNKNOWN))
				r->states[at] = *state;
		}
	}
	nw_index_free(&labels);
	return r->states ? ret : -ENOMEM;
}

static void print(struct report_merged *r)
{
	const struct nw_args *args = r->args;
	struct nw_begin begin = {
		.selection = &r->set.merged.selection,
		.hidden = nw_selection_hidden(&r->set.merged.selection),
		.net = args->net,
		.group_by = args->by ? args->by : r->set.by,
		.runs = r->set.results.count,
	};
	struct nw_report report = {
		.view = args->view,
		.selection = &r->set.merged.selection,
		.summary = r->set.merged.summary,
		.spans = r->set.merged.spans.item,
		.span_count = r->set.merged.spans.count,
		.states = r->states,
		.group_by = args->by ? args->by : r->set.by,
		.runs = r->set.results.count,
		.elapsed_ns = r->set.end.elapsed_ns,
		.lost = r->set.end.lost,
		.lost_is_least = r->set.end.lost_is_least,
		.at_least = r->set.end.lost > 0,
		.has_filter = r->set.end.has_filter,
		.filtered = r->set.end.filtered,
		.dropped = r->set.end.dropped,
		.hists = &r->hists,
		.gaps = args->verbose > 0,
		.net = args->net,
		.boundaries = &args->boundaries,
		.layout = nw_layout_of(args, r->sink.file),
	};

	report.view.all_rows |= args->verbose > 0;
	nw_vec_each (&r->set.results, saved)
		begin.sites = saved->sites > begin.sites ? saved->sites : begin.sites;
	nw_output_begin(&r->output, &begin);
	nw_output_report(&r->output, &report);
	nw_output_end(&r->output, &r->set.end);
}

static int run(struct report_merged *r, struct nw_error *err)
{
	static const char *const usual = "trace.dat";
	const nw_args_texts *words = &r->args->words;
	int ret = check_options(r->args, err);

	for (size_t i = 0; ret == 0 && i < r->args->hists.count; i++)
		ret = nw_hist_parse(r->args->hists.item[i], &r->hists, err);
	if (ret == 0)
		ret = nw_saved_set_read(&r->set, r->args,
					words->count ? words->item : &usual,
					words->count ? words->count : 1, NULL, err);
	if (ret == 0)
		ret = nw_saved_set_merge(&r->set, err);
	if (ret == 0 && merge_states(r) < 0)
		ret = nw_no_memory(err);
	if (ret == 0 && nw_output_make(r->args->format, &r->output) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_sink_open(r->args->output, r->args->format, &r->sink, err);
	if (ret < 0)
		return ret;
	if (!r->args->quiet)
		nw_saved_set_tell_builds(&r->set);
	if (!r->args->no_pager)
		nw_sink_page(&r->sink);
	print(r);
	return nw_sink_finish(&r->sink, 0, &r->output.text, err);
}

int nw_report_merged(const struct nw_args *args, const struct nw_command *command)
{
	struct report_merged r = {.args = args};
	struct nw_error err = {0};
	int ret = run(&r, &err), status = NW_EXIT_OK;

	if (ret < 0)
		status = nw_failure(command, &err);
	if (status == NW_EXIT_OK && args->strict && nw_saved_set_is_incomplete(&r.set))
		status = NW_EXIT_FAILED;
	nw_saved_set_free(&r.set);
	nw_output_free(&r.output);
	nw_hists_free(&r.hists);
	free(r.states);
	return status;
}
