// SPDX-License-Identifier: MIT
/* report --diff: what has changed between two sides, each of one or several results, and what is noise. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "saved.h"

enum {
	LEAST_SLICES = 12, /* of the shortest result */
	MOST_SLICES = 200  /* of a side, about */
};

struct report_diff {
	const struct nw_args *args;
	struct nw_saved_set side[NW_SIDES];
	struct nw_diff diff;
	enum nw_sample sample;
	uint64_t slice_ns;
	bool sliced; /* units are slices of runs */
	char *no_interval;
	NW_VEC(struct nw_diff_check) checks;
	NW_VEC(struct nw_diff_stack) stacks; /* texts belong to the index */
	struct nw_index stack_texts;
	struct nw_output output;
	struct nw_sink sink;
	/* while slices are added */
	enum nw_side current;
};

/* ---- what can be compared ------------------------------------------------------------- */

int nw_report_take_dashes(struct nw_args *args, struct nw_error *err)
{
	if (args->has_after) {
		nw_fail_usage(
			err,
			"-- is there twice: it separates the files before from those after");
		nw_error_hint(err, "nopwatch report --diff BEFORE... -- AFTER...");
		return -EINVAL;
	}
	args->before = args->words.count;
	args->has_after = true;
	return 0;
}

static int check_words(const struct nw_args *args, struct nw_error *err)
{
	const char *why = NULL;

	if (!args->diff && args->has_after)
		why = "-- separates what --diff compares";
	else if (!args->diff)
		why = "--fail-if goes with --diff";
	else if (!args->has_after)
		why = "--diff: a -- between the files before and those after is missing";
	else if (!args->before)
		why = "--diff: there is no file in front of --";
	else if (args->before == args->words.count)
		why = "--diff: there is no file behind --";
	if (!why)
		return 0;
	nw_fail_usage(err, "%s", why);
	nw_error_hint(err, "nopwatch report --diff BEFORE... -- AFTER...");
	return -EINVAL;
}

static int check_options(const struct nw_args *args, struct nw_error *err)
{
	const char *of_one = nw_option_of_one(args);
	const bool shown = of_one && strcmp(of_one, "--stack") == 0 &&
			   args->format->only_stacks;
	const char *option = of_one && *of_one == '-' && !shown ? of_one
			     : args->view.sort			? "--sort"
			     : args->top			? "--top"
			     : args->hists.count		? "--hist"
			     : args->states			? "--states"
								: NULL;

	if (!args->format->diff)
		return nw_fail_usage(
			err,
			"-f %s cannot show a difference: --diff has text, -f json, -f csv, -f html and -f folded",
			args->format->name);
	if (args->view.raw && strcmp(args->format->name, "csv") != 0)
		return nw_fail_usage(err, "--raw goes with -f csv");
	return option ? nw_fail_usage(err, "%s does not go with --diff", option) : 0;
}

/* Are two paths the same regular file? A pipe is read once. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* A file that is on one side twice would count as two runs, which it is not. */
static int check_files(const struct nw_args *args, struct nw_error *err)
{
	for (size_t i = 0; i < args->words.count; i++)
		for (size_t j = i + 1; j < args->words.count; j++) {
			const bool one_side = (i < args->before) == (j < args->before);
			if (!is_same_file(args->words.item[i], args->words.item[j]))
				continue;
			if (one_side)
				return nw_fail_usage(err, "'%s' is on one side of -- twice",
						     args->words.item[j]);
			if (!args->quiet)
				nw_note("'%s' is on both sides of --", args->words.item[j]);
		}
	return 0;
}

static int parse_limits(struct report_diff *r, struct nw_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < r->args->limits.count; i++) {
		struct nw_diff_check *check = nw_vec_add(&r->checks);
		ret = check ? nw_diff_limit_parse(r->args->limits.item[i], &check->limit,
						  err)
			    : nw_no_memory(err);
	}
	return ret;
}

/* ---- samples -------------------------------------------------------------------------- */

/* Adds a run, or a slice of one, to the samples of the current side. */
static int add_unit(void *arg, const struct nw_merge_part *part, uint64_t ns,
		    struct nw_error *err)
{
	struct report_diff *r = arg;
	const struct nw_saved_set *set = &r->side[r->current];
	struct nw_merged merged = {0};
	int ret = nw_merge(part, 1, set->keys, set->host_at, &merged, err);

	if (ret == 0 && nw_diff_add_unit(&r->diff, r->current, &merged, ns) < 0)
		ret = nw_no_memory(err);
	nw_merged_free(&merged);
	return ret;
}

static int add_runs(struct report_diff *r, struct nw_error *err)
{
	int ret = 0;

	for (int side = 0; side < NW_SIDES; side++) {
		r->current = (enum nw_side)side;
		nw_vec_each (&r->side[side].results, saved)
			if (ret == 0)
				ret = add_unit(r, &saved->part, saved->end.elapsed_ns, err);
	}
	return ret;
}

/* Chooses how long slices are: the shortest result has 12 of them, unless its intervals are longer. False: there are none, since `out` has no
 * parts that can be told apart. */
static bool choose_slices(struct report_diff *r, const struct nw_saved **out)
{
	uint64_t shortest = UINT64_MAX, least = 0;

	for (int side = 0; side < NW_SIDES; side++) {
		least = nw_max64(least, r->side[side].end.elapsed_ns / MOST_SLICES);
		nw_vec_each (&r->side[side].results, saved) {
			const uint64_t resolution = nw_saved_resolution(saved);
			*out = saved;
			if (!resolution || !saved->end.elapsed_ns)
				return false;
			least = nw_max64(least, resolution);
			shortest = nw_min64(shortest, saved->end.elapsed_ns);
		}
	}
	r->slice_ns = nw_max64(least, shortest / LEAST_SLICES);
	return true;
}

static int add_slices(struct report_diff *r, struct nw_error *err)
{
	const struct nw_slice_taker to = {add_unit, r};
	int ret = 0;

	for (int side = 0; side < NW_SIDES; side++) {
		r->current = (enum nw_side)side;
		nw_vec_each (&r->side[side].results, saved)
			if (ret == 0)
				ret = nw_saved_slices(r->args, saved, r->side[side].by,
						      r->slice_ns, &to, err);
	}
	return ret;
}

/* Samples are of runs if these are enough for an interval, else of slices. */
static int add_samples(struct report_diff *r, struct nw_error *err)
{
	const size_t before = r->side[NW_BEFORE].results.count;
	const size_t after = r->side[NW_AFTER].results.count;
	const struct nw_saved *blunt = NULL;
	long k = nw_compare_rank(before, after);

	if (k < 0)
		return nw_no_memory(err);
	if (k > 0) {
		r->sample = NW_SAMPLE_RUNS;
		return add_runs(r, err);
	}
	if (!choose_slices(r, &blunt)) {
		r->no_interval = nw_text(
			"%zu and %zu runs are too few (4 and 4 would do), and '%s' has no intervals of time: make it with -i, or give recordings",
			before, after, blunt->path);
		if (r->no_interval && r->diff.bins)
			return add_runs(r, err);
		return r->no_interval ? 0 : nw_no_memory(err);
	}
	r->sliced = true;
	int ret = add_slices(r, err);
	const size_t *count = r->diff.unit_count;
	if (ret < 0)
		return ret;
	if (nw_compare_parts_rank(count[NW_BEFORE], count[NW_AFTER]) > 0) {
		r->sample = NW_SAMPLE_SLICES;
		return 0;
	}
	r->no_interval = nw_text(
		"%zu and %zu runs are too few (4 and 4 would do), and so are their %zu and %zu intervals of time",
		before, after, count[NW_BEFORE], count[NW_AFTER]);
	return r->no_interval ? 0 : nw_no_memory(err);
}

/* ---- stacks --------------------------------------------------------------------------- */

/* Adds lines of folded stacks, "main;f;g COUNT", to the current side. */
static int add_lines(struct report_diff *r, char *lines)
{
	char *rest = lines, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *count = strrchr(line, ' ');
		uint64_t number;
		if (!count || nw_parse_u64(count + 1, &number) < 0)
			continue;
		int64_t at = nw_index_add(&r->stack_texts, line, (size_t)(count - line));
		if (at < 0 || ((size_t)at == r->stacks.count && !nw_vec_add(&r->stacks)))
			return -ENOMEM;
		r->stacks.item[at].count[r->current] += number;
	}
	return 0;
}

/* Folds the stacks of a recording. */
static int add_stacks_of(struct report_diff *r, const struct nw_saved *saved,
			 struct nw_error *err)
{
	const struct nw_report report = {
		.selection = &saved->result.selection,
		.summary = saved->measure.summary,
		.spans = saved->measure.spans.item,
		.span_count = saved->measure.spans.count,
		.stacks = saved->result.stacks,
		.stack_counts = &saved->measure.stacks,
	};
	struct nw_output output;

	if (saved->is_json)
		return nw_fail(err, EINVAL,
			       "'%s' has no stacks: -f folded needs recordings",
			       saved->path);
	if (nw_output_make(r->args->format, &output) < 0)
		return nw_no_memory(err);
	nw_output_report(&output, &report);
	int ret = output.text.failed ? -ENOMEM : 0;
	if (ret == 0 && output.text.len)
		ret = add_lines(r, output.text.data);
	nw_output_free(&output);
	return ret < 0 ? nw_no_memory(err) : 0;
}

static int add_stacks(struct report_diff *r, struct nw_error *err)
{
	int ret = 0;

	for (int side = 0; side < NW_SIDES; side++) {
		r->current = (enum nw_side)side;
		nw_vec_each (&r->side[side].results, saved)
			if (ret == 0)
				ret = add_stacks_of(r, saved, err);
	}
	for (size_t i = 0; i < r->stacks.count; i++)
		r->stacks.item[i].text = r->stack_texts.text.item[i];
	return ret;
}

/* ---- what the reader has to know ------------------------------------------------------ */

/* Tells if the two sides were made by other kernels, or on other machines. */
static void tell_machines(const struct report_diff *r)
{
	const struct nw_saved *before = r->side[NW_BEFORE].results.item;
	const struct nw_saved *after = r->side[NW_AFTER].results.item;
	const struct nw_origin *was = &before->result.origin, *is = &after->result.origin;

	if (was->kernel && is->kernel && strcmp(was->kernel, is->kernel) != 0)
		nw_note("'%s' was recorded by another kernel (%s) than '%s' (%s)",
			before->path, was->kernel, after->path, is->kernel);
	if (was->machine && is->machine && strcmp(was->machine, is->machine) != 0)
		nw_note("'%s' was recorded on another kind of machine (%s) than '%s' (%s)",
			before->path, was->machine, after->path, is->machine);
	const char *was_on = before->is_json ? before->json.host : was->host;
	const char *is_on = after->is_json ? after->json.host : is->host;
	if (was_on && is_on && strcmp(was_on, is_on) != 0)
		nw_note("'%s' was made on another machine (%s) than '%s' (%s)",
			before->path, was_on, after->path, is_on);
}

/* Slices of JSON lines are whole intervals, so they may be longer or shorter than those of the others. */
static void tell_slices(const struct report_diff *r)
{
	for (int side = 0; side < NW_SIDES; side++)
		nw_vec_each (&r->side[side].results, saved) {
			const uint64_t ns = nw_saved_slice_ns(saved, r->slice_ns);
			char its[16], usual[16];
			nw_duration_text(ns, its);
			nw_duration_text(r->slice_ns, usual);
			if (ns > r->slice_ns + r->slice_ns / 10 ||
			    ns < r->slice_ns - r->slice_ns / 10)
				nw_note("slices of '%s' are of %s, not of %s, because its intervals are: a longer slice has a larger maximum",
					saved->path, its, usual);
		}
}

static void tell_differences(const struct report_diff *r)
{
	const struct nw_saved_set *before = &r->side[NW_BEFORE];
	const struct nw_saved_set *after = &r->side[NW_AFTER];
	const double was = (double)before->end.elapsed_ns / (double)before->results.count;
	const double is = (double)after->end.elapsed_ns / (double)after->results.count;

	nw_saved_sets_tell_builds(before, after);
	tell_machines(r);
	if (nw_saved_set_is_incomplete(before) != nw_saved_set_is_incomplete(after))
		nw_note("events were lost %s only: counts there are too low, and so are rates",
			nw_saved_set_is_incomplete(before) ? "before" : "after");
	if (r->sample == NW_SAMPLE_SLICES)
		tell_slices(r);
	if (r->sample == NW_SAMPLE_RUNS && (is > 2 * was || was > 2 * is))
		nw_note("runs after are %.3g times as long as those before: a longer run has a larger maximum",
			was > 0 ? is / was : 0);
}

/* ---- the whole ------------------------------------------------------------------------ */

static int read_sides(struct report_diff *r, struct nw_error *err)
{
	const struct nw_args *args = r->args;
	const char *const *words = args->words.item;
	int ret = nw_saved_set_read(&r->side[NW_BEFORE], args, words, args->before, NULL,
				    err);

	if (ret == 0)
		ret = nw_saved_set_read(&r->side[NW_AFTER], args, words + args->before,
					args->words.count - args->before,
					&r->side[NW_BEFORE], err);
	for (int side = 0; ret == 0 && side < NW_SIDES; side++) {
		struct nw_saved_set *set = &r->side[side];
		r->diff.grouped = set->keys || set->host_at != NW_MERGE_NO_HOST;
		ret = nw_saved_set_merge(set, err);
		if (ret == 0 && nw_diff_add_side(&r->diff, (enum nw_side)side, &set->merged,
						 set->end.elapsed_ns) < 0)
			ret = nw_no_memory(err);
	}
	return ret;
}

static void judge(struct report_diff *r)
{
	nw_vec_each (&r->checks, check) {
		struct nw_buf why = {0};
		check->verdict = nw_diff_judge(&r->diff, &check->limit, &check->row, &why);
		check->why = why.len ? nw_buf_take(&why) : NULL;
		nw_buf_free(&why);
	}
}

static void print(struct report_diff *r)
{
	const struct nw_args *args = r->args;
	struct nw_diff_report report = {
		.diff = &r->diff,
		.view = args->view,
		.layout = nw_layout_of(args, r->sink.file),
		.group_by = args->by ? args->by : r->side[NW_BEFORE].by,
		.net = args->net,
		.gaps = args->verbose > 0,
		.sample = r->sample,
		.slice_ns = r->slice_ns,
		.sliced = r->sliced,
		.no_interval = r->no_interval,
		.checks = r->checks.item,
		.check_count = r->checks.count,
		.stacks = r->stacks.item,
		.stack_count = r->stacks.count,
	};

	report.view.all_rows |= args->verbose > 0;
	for (int side = 0; side < NW_SIDES; side++) {
		const struct nw_saved_set *set = &r->side[side];
		report.side[side] = (struct nw_diff_side){
			.files = set->results.count,
			.elapsed_ns = set->end.elapsed_ns,
			.lost = set->end.lost,
			.lost_is_least = set->end.lost_is_least,
		};
	}
	nw_output_diff(&r->output, &report);
}

/* Prints conditions that do not hold where the result does not say it to the user. */
static bool tell_failures(const struct report_diff *r)
{
	const bool told = r->args->format->for_people && !r->args->output;
	bool failed = false;

	nw_vec_each (&r->checks, check) {
		struct nw_buf text = {0};
		if (check->verdict != NW_VERDICT_FAILED &&
		    check->verdict != NW_VERDICT_UNKNOWN)
			continue;
		failed = true;
		if (told)
			continue;
		nw_diff_check_text(check, &text);
		nw_note("%s %s", nw_verdict_words[check->verdict], nw_buf_str(&text));
		nw_buf_free(&text);
	}
	return failed;
}

static int run(struct report_diff *r, struct nw_error *err)
{
	int ret = check_words(r->args, err);

	if (ret == 0)
		ret = check_options(r->args, err);
	if (ret == 0)
		ret = parse_limits(r, err);
	if (ret == 0)
		ret = check_files(r->args, err);
	if (ret == 0)
		ret = read_sides(r, err);
	if (ret == 0 && r->args->format->bins)
		ret = nw_diff_keep_times(&r->diff, err);
	/* Stacks need no intervals, but conditions do. */
	if (ret == 0 && r->args->format->only_stacks)
		ret = add_stacks(r, err);
	if (ret == 0 && (!r->args->format->only_stacks || r->checks.count))
		ret = add_samples(r, err);
	if (ret == 0 && nw_diff_compare(&r->diff, r->sliced) < 0)
		ret = nw_no_memory(err);
	if (ret == 0 && nw_output_make(r->args->format, &r->output) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_sink_open(r->args->output, r->args->format, &r->sink, err);
	if (ret < 0)
		return ret;
	judge(r);
	if (!r->args->quiet)
		tell_differences(r);
	if (!r->args->no_pager)
		nw_sink_page(&r->sink);
	print(r);
	return nw_sink_finish(&r->sink, 0, &r->output.text, err);
}

int nw_report_diff(const struct nw_args *args, const struct nw_command *command)
{
	struct report_diff r = {.args = args};
	struct nw_error err = {0};
	int ret = run(&r, &err), status = NW_EXIT_OK;

	if (ret < 0)
		status = nw_failure(command, &err);
	else if (tell_failures(&r))
		status = NW_EXIT_FAILED;
	nw_vec_each (&r.checks, check) {
		nw_diff_limit_free(&check->limit);
		free(check->why);
	}
	nw_vec_free(&r.checks);
	nw_vec_free(&r.stacks);
	nw_index_free(&r.stack_texts);
	for (int side = 0; side < NW_SIDES; side++) {
		if (status == NW_EXIT_OK && args->strict &&
		    nw_saved_set_is_incomplete(&r.side[side]))
			status = NW_EXIT_FAILED;
		nw_saved_set_free(&r.side[side]);
	}
	nw_diff_free(&r.diff);
	nw_output_free(&r.output);
	free(r.no_interval);
	return status;
}
