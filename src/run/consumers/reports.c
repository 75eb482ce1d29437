// SPDX-License-Identifier: MIT
/* See run/consumers/reports.h. */
#include "run/consumers/reports.h"
#include "measure.h"
#include "show/formats.h"
#include "show/rows/order.h"
#include "show/text/text.h"
#include "slower.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Limit of slow spans that are kept for output at the end. */
	MOST_KEPT = 1 << 20,
	MOST_OPEN = 10 /* of each kind */
};

static bool is_live(const struct nw_reports *r)
{
	return r->options.live != NULL;
}

/* ---- a report ----------------------------------------------------------------------- */

static struct nw_report make_report(const struct nw_reports *r,
				    const struct nw_run_result *result)
{
	const struct nw_reports_options *options = &r->options;
	struct nw_report report = {
		.view = options->view,
		.selection = &result->selection,
		.summary = r->measure.summary,
		.spans = r->measure.spans.item,
		.span_count = r->measure.spans.count,
		.group_by = r->by,
		.disabled_at = result->disabled_at,
		.start_ns = result->start_ns,
		.has_filter = result->has_filter,
		.filtered = result->filtered,
		.hists = &r->measure.hists,
		.stacks = result->stacks,
		.stack_counts = &r->measure.stacks,
		.stacks_of = r->slower[0] ? r->slower : NULL,
		.gaps = options->gaps,
		.net = options->measure.net,
		.by_kernel = result->by_kernel,
		.by_eighths = result->by_eighths,
		.hit_costs = result->hit_costs,
		.prometheus = options->prometheus,
		.boundaries = options->boundaries,
	};

	if (options->style)
		options->style(options->arg, &report);
	return report;
}

static int64_t wall_time(const struct nw_run_result *result, uint64_t time)
{
	return result->wall_ns ? (int64_t)((uint64_t)result->wall_ns + time) : 0;
}

/* Collects the slowest spans, in the order in which the report shows their rows. -ENOMEM. */
static int find_slowest(const struct nw_reports *r, const struct nw_report *report,
			nw_slow_spans *out)
{
	nw_ranking ranking = {0};
	enum nw_sort sort = report->view.sort ? report->view.sort : NW_SORT_TOTAL;
	int ret = 0;

	if (!r->options.measure.slower.slowest || report->interval)
		return 0;
	ret = nw_rank(report, NW_SUBJECT_SPANS, sort, &ranking);
	nw_vec_each (&ranking, span)
		if (ret == 0)
			ret = nw_slow_watch_kept(r->measure.slow, (uint32_t)span->index,
						 out);
	nw_vec_free(&ranking);
	return ret;
}

/*
 * Finds the spans that are open now: the oldest of each kind, in the order of their definitions. To be called before
 * nw_summary_finish(), which ends the states of threads.
 */
static int find_open(struct nw_reports *r, const struct nw_run_result *so_far, uint64_t now,
		     struct nw_error *err)
{
	const struct nw_measure *m = &r->measure;
	struct nw_open_span oldest[MOST_OPEN];

	r->open.count = 0;
	if (m->options.open && !r->open_states)
		r->open_states = calloc(m->spans.count * MOST_OPEN + 1,
					sizeof(*r->open_states));
	if (m->options.open && !r->open_states)
		return nw_no_memory(err);
	for (uint32_t i = 0; m->options.open && i < m->spans.count; i++) {
		size_t all = nw_span_starts_oldest(m->starts, i, nw_summary_is_open,
						   m->summary, oldest, MOST_OPEN);
		for (size_t j = 0; j < all && j < MOST_OPEN; j++) {
			struct nw_span_states *states = &r->open_states[r->open.count];
			struct nw_slow_span *open = nw_vec_add(&r->open);
			if (!open)
				return nw_no_memory(err);
			bool lost = nw_summary_end_may_be_lost(m->summary, i, &oldest[j]);
			bool known = !lost &&
				     nw_summary_states_so_far(m->summary, i, &oldest[j],
							      now, states);
			*open = (struct nw_slow_span){
				.selection = &so_far->selection,
				.stacks = so_far->stacks,
				.span = &m->spans.item[i],
				.began = oldest[j].began,
				.task = oldest[j].task,
				.start = oldest[j].began->time,
				.latency = now - nw_min64(oldest[j].began->time, now),
				.states = known ? states : NULL,
				.rank = j + 1,
				.open = all,
				.open_is_least = nw_span_starts_left_out(m->starts),
				.end_may_be_lost = lost,
				.run_start = so_far->start_ns,
				.wall_ns = so_far->wall_ns,
			};
		}
	}
	return 0;
}

/* Writes a report to the output, with its picture up to `until` if the format has one. */
static int show(struct nw_reports *r, struct nw_output *output, const struct nw_report *of,
		const struct nw_run_result *result, uint64_t until, struct nw_error *err)
{
	struct nw_report report = *of;
	struct nw_bins *bins = r->measure.bins;
	struct nw_flames flames = {0};
	nw_slow_spans slowest = {0};
	struct nw_buf cost = {0};
	int ret = bins ? nw_bins_update(bins, until) : 0;

	nw_result_cost(result, &cost);
	const struct nw_about about = {
		.command = result->origin.command,
		.source = r->options.source,
		.host = result->origin.host,
		.kernel = result->origin.kernel,
		.machine = result->origin.machine,
		.cost = nw_buf_str(&cost),
		.began_ns = wall_time(result, result->start_ns),
		.reason = result->reason,
	};
	report.about = &about;
	report.bins = bins;
	if (ret == 0 && bins)
		ret = nw_flames_make(&report, &flames);
	if (ret == 0)
		ret = find_slowest(r, &report, &slowest);
	report.slowest = slowest.item;
	report.slowest_count = slowest.count;
	nw_vec_each (&r->open, open)
		open->interval = report.interval;
	report.asks_open = r->measure.options.open;
	report.open = r->open.item;
	report.open_count = r->open.count;
	report.flames = flames.list.item;
	report.flame_count = flames.list.count;
	if (ret == 0)
		nw_output_report(output, &report);
	nw_flames_free(&flames);
	nw_vec_free(&slowest);
	nw_buf_free(&cost);
	return ret < 0 ? nw_no_memory(err) : 0;
}

static int flush(struct nw_reports *r, struct nw_error *err)
{
	return r->options.write(r->options.arg, &r->output.text, err);
}

/* Writes a report during the run. A format that is one whole page can do so only if its file is replaced. */
static int write_now(struct nw_reports *r, struct nw_report *report,
		     const struct nw_run_result *so_far, uint64_t until,
		     struct nw_error *err)
{
	if (r->options.format->bins && !r->options.replaces)
		return 0;
	int ret = r->measure.keeps_starts ? 0 : find_open(r, so_far, until, err);
	if (ret == 0)
		ret = show(r, &r->output, report, so_far, until, err);
	return ret < 0 ? ret : flush(r, err);
}

/* Fills in the lost events. The rows of an interval lack only events that were lost in it. */
static void count_lost(struct nw_reports *r, struct nw_report *report)
{
	uint64_t lost = nw_summary_lost(r->measure.summary);

	report->lost = lost;
	report->lost_is_least = nw_summary_lost_is_least(r->measure.summary);
	report->at_least = lost > (report->interval ? r->lost_before : 0);
	if (report->interval)
		r->lost_before = lost;
}

/* Makes a report of the run so far. */
static struct nw_report report_so_far(struct nw_reports *r,
				      const struct nw_run_result *so_far)
{
	struct nw_report report = make_report(r, so_far);

	report.so_far = true;
	report.elapsed_ns = nw_result_elapsed(so_far);
	count_lost(r, &report);
	report.wall_ns = wall_time(so_far, so_far->now_ns);
	return report;
}

/* ---- while it runs ------------------------------------------------------------------ */

static int start(void *arg, struct nw_error *err)
{
	struct nw_reports *r = arg;

	r->by = r->measure.options.by; /* counts that were begun before tell it */
	if (nw_output_make(r->options.format, &r->output) < 0)
		return nw_no_memory(err);
	return r->options.start ? r->options.start(r->options.arg, r, err) : 0;
}

static int armed(void *arg, struct nw_error *err)
{
	struct nw_reports *r = arg;
	const struct nw_reports_live *live = r->options.live;
	const struct nw_run_result *so_far = nw_run_so_far(r->measure.run);
	const struct nw_resource resource = nw_result_resource(so_far, r->options.service);
	const struct nw_begin begin = {
		.resource = &resource,
		.selection = &so_far->selection,
		.hidden = nw_selection_hidden(&so_far->selection),
		.sites = nw_result_sites(so_far),
		.net = r->options.measure.net,
		.group_by = r->by,
		.host = so_far->origin.host,
		.engine = so_far->by_kernel	    ? "kernel"
			  : r->options.names_engine ? "stream"
						    : NULL,
		.off_by = !so_far->by_kernel   ? 0
			  : so_far->by_eighths ? 0.125
					       : 0.032,
	};

	if (!live && r->options.armed)
		r->options.armed(r->options.arg, so_far);
	nw_output_begin(&r->output, &begin);
	return live ? live->armed(live->arg, r, err) : flush(r, err);
}

static bool is_silent(const struct nw_report *report)
{
	bool silent = true;

	for (size_t i = 0; silent && i < report->selection->probes.count; i++)
		silent = nw_is_silent(report, NW_SUBJECT_PROBES, i);
	for (size_t i = 0; silent && i < report->span_count; i++)
		silent = nw_is_silent(report, NW_SUBJECT_SPANS, i);
	return silent;
}

static int interval(void *arg, uint64_t number, uint64_t end, struct nw_error *err)
{
	struct nw_reports *r = arg;
	const struct nw_reports_live *live = r->options.live;
	const struct nw_run_result *so_far = r->result ? r->result
						       : nw_run_so_far(r->measure.run);
	uint64_t length = r->measure.options.interval_ns;
	bool totals = r->measure.options.totals;

	if (live)
		return live->interval(live->arg, end - nw_min64(length, end), end, err);
	struct nw_report report = make_report(r, so_far);
	uint64_t begun = so_far->start_ns + (number - 1) * length;
	report.interval = totals ? 0 : number;
	report.elapsed_ns = end - (totals ? so_far->start_ns : begun);
	count_lost(r, &report);
	report.states = so_far->states;
	report.filtered = totals ? so_far->filtered : r->measure.filtered;
	report.wall_ns = wall_time(so_far, end);
	if (!totals && report.elapsed_ns < length)
		report.short_ns = report.elapsed_ns;
	/* A live run ends a moment after its last interval; that moment is no interval, unless there were hits. */
	if (report.short_ns && !r->options.recorded && is_silent(&report))
		return 0;
	return write_now(r, &report, so_far, end, err);
}

static int quiet(void *arg, uint64_t first, uint64_t count, struct nw_error *err)
{
	struct nw_reports *r = arg;
	const struct nw_reports_live *live = r->options.live;
	uint64_t end = r->measure.next, length = r->measure.options.interval_ns;

	if (live) /* the last of the quiet intervals */
		return live->interval(live->arg, end - nw_min64(2 * length, end),
				      end - nw_min64(length, end), err);
	nw_output_quiet(&r->output, first, count);
	return flush(r, err);
}

static int slow(void *arg, const struct nw_slow_span *slow, struct nw_error *err)
{
	struct nw_reports *r = arg;

	/* The last report has the stacks; one is enough. */
	if (r->options.format->only_stacks)
		return 0;
	if (!is_live(r) || r->output.text.len < MOST_KEPT)
		nw_output_slow(&r->output, slow);
	else
		r->slow_left_out++;
	return is_live(r) ? 0 : flush(r, err);
}

static int tick(void *arg, struct nw_error *err)
{
	struct nw_reports *r = arg;
	const struct nw_reports_live *live = r->options.live;
	const struct nw_run_result *so_far = nw_run_so_far(r->measure.run);
	int ret = 0;

	if (live)
		return live->tick(live->arg, err);
	if (nw_run_report_requested(
		    r->measure.run)) { /* by SIGUSR1: a report of the run so far */
		ret = nw_measure_refresh(&r->measure, err);
		if (ret < 0)
			return ret;
		struct nw_report report = report_so_far(r, so_far);
		ret = write_now(r, &report, so_far, so_far->now_ns, err);
	}
	if (r->options.tick)
		r->options.tick(r->options.arg, so_far);
	return ret;
}

static void stopping(void *arg, struct nw_run *run)
{
	const struct nw_reports *r = ((struct nw_measure *)arg)->options.arg;

	nw_measure_stopping(arg, run);
	r->options.live->leave(r->options.live->arg);
}

/* ---- the end ------------------------------------------------------------------------ */

void nw_reports_ended(struct nw_reports *r, const struct nw_run_result *result)
{
	r->result = result;
}

int nw_reports_finish(struct nw_reports *r, struct nw_error *err)
{
	const struct nw_run_result *result = r->result;
	/* For people, an interval as long as the run would repeat the total. */
	bool tells_rest = !is_live(r) && (r->options.recorded || r->measure.intervals ||
					  !r->options.format->for_people);
	int ret = nw_measure_check_counts(&r->measure, err);
	if (ret == 0 && tells_rest)
		ret = nw_measure_catch_up(&r->measure, result->now_ns, err);
	if (ret == 0)
		ret = find_open(r, result, result->now_ns, err);
	r->measure.keeps_starts =
		true; /* the last report shows them, though the summary gives them up now */
	if (ret == 0 && tells_rest)
		ret = nw_measure_end(&r->measure, result->now_ns, err);
	bool others = r->measure.intervals && r->options.format->for_people;

	if (ret < 0)
		return ret;
	struct nw_report report = make_report(r, result);
	nw_summary_finish(r->measure.summary);
	struct nw_end end = nw_result_end(result);
	end.discarded = nw_summary_discarded(r->measure.summary);
	report.states = result->states;
	report.elapsed_ns = nw_result_elapsed(result);
	report.lost = result->lost;
	report.lost_is_least = result->lost_is_least;
	report.at_least = result->lost > 0;
	report.dropped = result->dropped;
	report.restricted = result->restricted;
	if (r->since)
		report.elapsed_ns = result->now_ns - nw_min64(r->since, result->now_ns);
	if (r->since && !r->options.format->for_people)
		report.short_ns = report.elapsed_ns;
	if (!is_live(r) && others)
		nw_buf_adds(&r->output.text, "\n--- total ---\n");
	else if (!is_live(r) && r->options.only)
		r->options.only(r->options.arg);
	if (r->since && r->options.format->for_people) {
		char length[16];
		nw_duration_text(report.elapsed_ns, length);
		nw_buf_printf(
			&r->output.text,
			"only the last %s: since then they are grouped as they are here (key b)\n\n",
			length);
	}
	if (r->slow_left_out)
		nw_buf_printf(
			&r->output.text,
			"%" PRIu64
			" more spans took as long: a live view keeps 1 MiB of them, trace --slower prints all.\n\n",
			r->slow_left_out);
	ret = show(r, &r->output, &report, result, result->now_ns, err);
	nw_output_end(&r->output, &end);
	return ret < 0 ? ret : flush(r, err);
}

/* ---- for who shows it --------------------------------------------------------------- */

int nw_reports_regroup(struct nw_reports *r, const char *by, struct nw_error *err)
{
	if (r->result)
		return nw_fail(err, ENODATA,
			       "all has been read, and can be grouped with --by only");
	if (r->measure.counts)
		return nw_fail(err, ENOTSUP, "the kernel counts, by the keys of --by only");
	int ret = nw_measure_regroup(&r->measure, by, err);
	if (ret < 0)
		return ret;
	r->by = by;
	r->since = nw_run_watermark(r->measure.run);
	return 0;
}

/* The format of a report by the ending of its file's name. */
static const struct {
	const char *end, *format;
} endings[] = {{".html", "html"},
	       {".json", "json"},
	       {".csv", "csv"},
	       {".txt", "text"},
	       {".prom", "openmetrics"}};

/* Returns the format for a file of that name; NULL: there is none. */
static const struct nw_output_format *format_of(const char *path, struct nw_error *err)
{
	const struct nw_output_format *format = NULL;
	size_t len = strlen(path);
	struct nw_buf names = {0};

	for (size_t i = 0; i < NW_COUNT(endings) && !format; i++) {
		size_t end = strlen(endings[i].end);
		if (len > end && strcmp(path + len - end, endings[i].end) == 0)
			format = nw_output_find(endings[i].format);
	}
	if (format && format->shows[NW_SHOWS_REPORTS])
		return format;
	for (size_t i = 0; i < NW_COUNT(endings); i++)
		if (nw_output_find(endings[i].format))
			nw_buf_printf(&names, " %s", endings[i].end);
	nw_fail(err, EINVAL, "'%s': the name of a report ends in one of%s", path,
		nw_buf_str(&names));
	nw_buf_free(&names);
	return NULL;
}

int nw_reports_write(struct nw_reports *r, const char *path, struct nw_error *err)
{
	const struct nw_run_result *so_far = r->result ? r->result
						       : nw_run_so_far(r->measure.run);
	const struct nw_output_format *format = format_of(path, err);
	struct nw_output output;

	if (!format)
		return -EINVAL;
	if (format->bins && !r->measure.bins)
		return nw_fail(
			err, ENOTSUP,
			"the kernel counts, and keeps no counts by time, which '%s' would show",
			path);
	if (nw_output_make(format, &output) < 0)
		return nw_no_memory(err);
	const struct nw_begin begin = {.selection = &so_far->selection,
				       .sites = nw_result_sites(so_far),
				       .net = r->options.measure.net};
	struct nw_report report = make_report(r, so_far);
	report.layout = (struct nw_layout){0};
	report.so_far = true;
	/* The total is as of the last interval. */
	uint64_t since = r->since ? r->since : so_far->start_ns;
	uint64_t until = r->result ? so_far->now_ns
				   : r->measure.next - r->measure.options.interval_ns;
	until = nw_max64(
		until,
		/* `since` may be later if the groups have changed and no interval has ended since then. */
		since);
	report.elapsed_ns = until - since;
	count_lost(r, &report);
	nw_output_begin(&output, &begin);
	int ret = show(r, &output, &report, so_far, until, err);
	if (ret == 0)
		ret = output.text.failed
			      ? nw_no_memory(err)
			      : nw_replace_text(path, nw_output_mode(format),
						so_far->signalled, output.text.data,
						output.text.len, err);
	nw_output_free(&output);
	return ret;
}

int nw_reports_render(struct nw_reports *r, const struct nw_output_format *format,
		      bool prometheus, struct nw_buf *out, struct nw_error *err)
{
	const struct nw_run_result *so_far = r->result ? r->result
						       : nw_run_so_far(r->measure.run);
	struct nw_output output;

	if (nw_output_make(format, &output) < 0)
		return nw_no_memory(err);
	struct nw_report report = report_so_far(r, so_far);
	report.prometheus = prometheus;
	if (r->result) { /* as in the final report */
		report.lost = so_far->lost;
		report.lost_is_least = so_far->lost_is_least;
		report.at_least = so_far->lost > 0;
	}
	int ret = r->measure.keeps_starts ? 0 : find_open(r, so_far, so_far->now_ns, err);
	if (ret == 0)
		ret = show(r, &output, &report, so_far, so_far->now_ns, err);
	if (ret == 0 && output.text.failed)
		ret = nw_no_memory(err);
	if (ret == 0) { /* it may have a hundred megabytes, which are not copied */
		nw_buf_free(out);
		*out = output.text;
		output.text = (struct nw_buf){0};
	}
	nw_output_free(&output);
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

int nw_reports_open(const struct nw_reports_options *options, struct nw_reports *out,
		    struct nw_error *err)
{
	*out = (struct nw_reports){.options = *options, .by = options->measure.by};
	nw_slower_text(&options->measure.slower, out->slower);
	struct nw_measure_options measure = options->measure;
	measure.totals = options->format->cumulative && !options->live;
	measure.one_by_one = options->live != NULL;
	measure.bins = options->format->bins || options->live;
	measure.spare_bins = !options->format->bins;
	measure.arg = out;
	measure.start = start;
	measure.armed = armed;
	measure.interval = interval;
	measure.quiet = quiet;
	measure.tick = tick;
	measure.slow = slow;
	return nw_measure_open(&measure, &out->measure, err);
}

struct nw_consumer nw_reports_consumer(struct nw_reports *r)
{
	struct nw_consumer consumer = nw_measure_consumer(&r->measure);

	if (!is_live(r))
		return consumer;
	/* The user may ask for other groups. */
	consumer.needs.comms = true;
	consumer.needs.values = r->options.recorded;
	r->measure.every_arg |= consumer.needs.values;
	consumer.stopping = stopping;
	return consumer;
}

void nw_reports_free(struct nw_reports *reports)
{
	nw_measure_close(&reports->measure);
	nw_output_free(&reports->output);
	nw_vec_free(&reports->open);
	free(reports->open_states);
}
