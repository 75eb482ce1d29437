// SPDX-License-Identifier: MIT
/* report with several recordings: their summaries become one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "saved.h"

typedef NW_VEC(struct nw_saved) saved_results;

struct report_merged {
	const struct nw_args *args;
	saved_results results;
	struct nw_merged merged;
	struct nw_probe_state *states; /* by merged probe; NULL: unknown */
	struct nw_output output;
	struct nw_sink sink;
	nw_hists hists; /* of --hist */
	char *by;	/* the keys of each result, without `host`; NULL: none */
	size_t keys;
	int host_at;
};

/* ---- what can be merged ------------------------------------------------------------- */

bool nw_by_has_host(const char *by)
{
	nw_cleanup(nw_free_ptr) char *copy = by ? strdup(by) : NULL;
	char *rest = copy, *key;
	bool found = false;

	while (!found && (key = nw_split_keys(&rest)))
		found = strcmp(key, "host") == 0;
	return found;
}

/* Takes `host` out of the keys, which is known of a whole recording, not of a hit. */
static int split_keys(struct report_merged *r, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *copy = r->args->by ? strdup(r->args->by) : NULL;
	struct nw_buf others = {0};
	char *rest = copy, *key;
	int at = 0;

	r->host_at = NW_MERGE_NO_HOST;
	if (r->args->by && !copy)
		return nw_no_memory(err);
	for (; (key = nw_split_keys(&rest)); at++) {
		if (strcmp(key, "host") == 0 && r->host_at == NW_MERGE_NO_HOST) {
			r->host_at = at;
			continue;
		}
		nw_buf_printf(&others, "%s%s", r->keys ? "," : "", key);
		r->keys++;
	}
	r->by = r->keys ? nw_buf_take(&others) : NULL;
	nw_buf_free(&others);
	return r->keys && !r->by ? nw_no_memory(err) : 0;
}

/* Refuses the options that need the hits of one recording in the order of time. */
static int check_options(const struct nw_args *args, struct nw_error *err)
{
	bool one = args->words.count < 2;
	const char *option = args->interval_ns		      ? "-i"
			     : args->count		      ? "-n"
			     : args->slowest		      ? "--slowest"
			     : args->open		      ? "--open"
			     : nw_slower_asked(&args->slower) ? "--slower"
			     : args->stacks.count	      ? "--stack"
			     : args->format->bins	      ? args->format->name
			     : args->format->only_stacks      ? args->format->name
							      : NULL;

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

/* Tells of probes whose files differ, since their latencies are those of different programs. */
static void tell_builds(const struct report_merged *r)
{
	struct nw_index labels = {0};
	NW_VEC(struct {
		const struct nw_image *image;
		const char *path;
		bool told;
	})
	first = {0};
	bool failed = false;

	nw_vec_each (&r->results, saved)
		nw_vec_each (&saved->result.selection.probes, probe) {
			const struct nw_image *image = (*probe)->image;
			if (!image || !*image->build_id || failed)
				continue;
			int64_t at = nw_index_add(&labels, image->path,
						  strlen(image->path));
			failed |= at < 0 ||
				  ((size_t)at == first.count && !nw_vec_add(&first));
			if (failed)
				continue;
			if (!first.item[at].image) {
				first.item[at].image = image;
				first.item[at].path = saved->path;
			}
			if (first.item[at].told ||
			    strcmp(first.item[at].image->build_id, image->build_id) == 0)
				continue;
			nw_note("%s is another program in '%s' (build ID %.16s) than in '%s' (%.16s); their rows are added",
				image->path, saved->path, image->build_id,
				first.item[at].path, first.item[at].image->build_id);
			first.item[at].told = true;
		}
	nw_index_free(&labels);
	nw_vec_free(&first);
}

/* Finds the state of each merged probe: hit in one recording, or as the first recording says that tells a reason. */
static int merge_states(struct report_merged *r)
{
	struct nw_index labels = {0};
	int ret = 0;

	r->states = calloc(r->merged.selection.probes.count + 1, sizeof(*r->states));
	nw_vec_each (&r->merged.selection.probes, probe)
		if (nw_index_add(&labels, (*probe)->label, strlen((*probe)->label)) < 0)
			ret = -ENOMEM;
	nw_vec_each (&r->results, saved) {
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

static struct nw_end sum_of_ends(const saved_results *results)
{
	struct nw_end sum = {.reason = NW_END_RECORDING};

	nw_vec_each (results, saved) {
		const struct nw_end *end = &saved->end;
		sum.lost += end->lost;
		sum.lost_is_least |= end->lost_is_least;
		sum.discarded += end->discarded;
		sum.dropped += end->dropped;
		sum.incomplete += end->incomplete;
		sum.has_filter |= end->has_filter;
		sum.filtered += end->filtered;
		sum.elapsed_ns += end->elapsed_ns;
	}
	return sum;
}

static void print(struct report_merged *r)
{
	const struct nw_args *args = r->args;
	const struct nw_end end = sum_of_ends(&r->results);
	struct nw_begin begin = {
		.selection = &r->merged.selection,
		.hidden = nw_selection_hidden(&r->merged.selection),
		.net = args->net,
		.group_by = args->by ? args->by : r->by,
		.runs = r->results.count,
	};
	struct nw_report report = {
		.view = args->view,
		.selection = &r->merged.selection,
		.summary = r->merged.summary,
		.spans = r->merged.spans.item,
		.span_count = r->merged.spans.count,
		.states = r->states,
		.group_by = args->by ? args->by : r->by,
		.runs = r->results.count,
		.elapsed_ns = end.elapsed_ns,
		.lost = end.lost,
		.lost_is_least = end.lost_is_least,
		.at_least = end.lost > 0,
		.has_filter = end.has_filter,
		.filtered = end.filtered,
		.dropped = end.dropped,
		.hists = &r->hists,
		.gaps = args->verbose > 0,
		.net = args->net,
		.layout = nw_layout_of(args, r->sink.file),
	};

	report.view.all_rows |= args->verbose > 0;
	nw_vec_each (&r->results, saved)
		begin.sites = saved->sites > begin.sites ? saved->sites : begin.sites;
	nw_output_begin(&r->output, &begin);
	nw_output_report(&r->output, &report);
	nw_output_end(&r->output, &end);
}

static int merge(struct report_merged *r, struct nw_error *err)
{
	NW_VEC(struct nw_merge_part) parts = {0};
	int ret = 0;

	nw_vec_each (&r->results, saved) {
		struct nw_merge_part *part = nw_vec_add(&parts);
		if (!part)
			ret = nw_no_memory(err);
		else
			*part = saved->part;
	}
	if (ret == 0)
		ret = nw_merge(parts.item, parts.count, r->keys, r->host_at, &r->merged,
			       err);
	if (ret == 0 && merge_states(r) < 0)
		ret = nw_no_memory(err);
	nw_vec_free(&parts);
	return ret;
}

/* Checks that JSON lines, whose groups are as they are, have the keys of all others. Without --by, the keys are those of the first
 * result. Earlier versions did not tell the name of a single key. */
static int check_keys(struct report_merged *r, const struct nw_saved *saved,
		      struct nw_error *err)
{
	const char *have = saved->is_json ? saved->json.group_by : r->by;

	if (!r->args->by && have && saved == r->results.item) {
		r->keys = saved->json.keys;
		r->by = strdup(have);
		return r->by ? 0 : nw_no_memory(err);
	}
	if (!r->by ? !have
		   : have && (strcmp(r->by, have) == 0 ||
			      (strcmp(have, "group") == 0 && r->keys == 1)))
		return 0;
	nw_fail_usage(err, "'%s' has rows %s%s, which cannot be grouped %s%s", saved->path,
		      have ? "grouped by " : "without groups", have ? have : "",
		      r->by ? "by " : "otherwise", r->by ? r->by : "");
	nw_error_hint(
		err,
		"run `nopwatch stat -j%s%s` there, or keep recordings: `nopwatch record`",
		r->by ? " --by " : "", r->by ? r->by : "");
	return -EINVAL;
}

static int read_all(struct report_merged *r, struct nw_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && (i < r->args->words.count || i == 0); i++) {
		struct nw_saved *saved = nw_vec_add(&r->results);
		const char *path = r->args->words.count ? r->args->words.item[i]
							: "trace.dat";
		ret = saved ? nw_saved_read(r->args, path, r->by, saved, err)
			    : nw_no_memory(err);
		if (ret == 0)
			ret = check_keys(r, saved, err);
	}
	return ret;
}

static int run(struct report_merged *r, struct nw_error *err)
{
	int ret = check_options(r->args, err);

	for (size_t i = 0; ret == 0 && i < r->args->hists.count; i++)
		ret = nw_hist_parse(r->args->hists.item[i], &r->hists, err);
	if (ret == 0)
		ret = split_keys(r, err);
	if (ret == 0)
		ret = read_all(r, err);
	if (ret == 0)
		ret = merge(r, err);
	if (ret == 0 && nw_output_make(r->args->format, &r->output) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_sink_open(r->args->output, r->args->format, &r->sink, err);
	if (ret < 0)
		return ret;
	if (!r->args->quiet)
		tell_builds(r);
	if (!r->args->no_pager)
		nw_sink_page(&r->sink);
	print(r);
	ret = nw_sink_write(&r->sink, &r->output.text, err);
	return ret < 0 ? ret : nw_sink_close(&r->sink, err);
}

int nw_report_merged(const struct nw_args *args, const struct nw_command *command)
{
	struct report_merged r = {.args = args};
	struct nw_error err = {0};
	int ret = run(&r, &err), status = NW_EXIT_OK;

	if (ret < 0 && !r.sink.closed)
		status = nw_failure(command, &err);
	nw_vec_each (&r.results, saved) {
		bool incomplete = saved->end.lost || saved->end.lost_is_least ||
				  saved->end.incomplete;
		if (status == NW_EXIT_OK && args->strict && incomplete)
			status = NW_EXIT_FAILED;
		nw_saved_close(saved);
	}
	nw_vec_free(&r.results);
	nw_output_free(&r.output);
	nw_merged_free(&r.merged);
	nw_hists_free(&r.hists);
	free(r.states);
	free(r.by);
	return status;
}
