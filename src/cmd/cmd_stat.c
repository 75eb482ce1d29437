// SPDX-License-Identifier: MIT
/* stat: prints latency summaries, the main job. */
#include "stat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "request.h"
#include "serve.h"
#include "show/text/text.h"

enum {
	STATUS_NS = 250000000,
	SHORT_SPAN_NS = 100000 /* five times what the dearest kinds of probes cost */
};

struct stat_run {
	const struct nw_args *args;
	/* Shows the run while it goes on; NULL: this file does. */
	struct nw_live_view *view;
	bool serves;
	struct nw_server *server; /* of `serves`, while there is one */
	struct nw_reports reports;
	struct nw_sink sink;
	uint64_t shown; /* time at which the status line was last written */
	bool status_line;
};

/* ---- the status line ---------------------------------------------------------------- */

static void clear_status(struct stat_run *s)
{
	if (s->status_line && s->shown && !nw_print("\r\033[K", 4))
		s->status_line = false;
}

static void print_status(struct stat_run *s, const struct nw_run_result *so_far)
{
	char elapsed[16], rate[16], line[160];
	uint64_t ns = nw_result_elapsed(so_far);

	if (!s->status_line || so_far->now_ns - s->shown < STATUS_NS)
		return;
	s->shown = so_far->now_ns;
	nw_duration_text(ns, elapsed);
	nw_rate_text(ns ? (double)so_far->hits * 1e9 / (double)ns : 0, rate);
	int len = snprintf(
		line, sizeof(line),
		nw_plural(so_far->hits, "\r\033[K%" PRIu64 " hit, %s, %" PRIu64 " lost, %s",
			  "\r\033[K%" PRIu64 " hits, %s, %" PRIu64 " lost, %s"),
		so_far->hits, rate, nw_summary_lost(s->reports.measure.summary), elapsed);
	if (!nw_print(line, (size_t)len))
		s->status_line = false;
}

static void tick(void *arg, const struct nw_run_result *so_far)
{
	struct stat_run *s = arg;

	if (s->server)
		nw_server_tick(s->server);
	print_status(s, so_far);
}

/* ---- what is printed ---------------------------------------------------------------- */

static int start(void *arg, struct nw_reports *reports, struct nw_error *err)
{
	struct stat_run *s = arg;
	int ret = nw_output_start(s->args, &s->sink, err);

	reports->options.replaces = s->sink.replace;
	return ret;
}

static void armed(void *arg, const struct nw_run_result *so_far)
{
	struct stat_run *s = arg;

	s->status_line = !s->args->kept && nw_note_armed(s->args, so_far);
	if (s->server)
		nw_server_armed(s->server);
}

/* Shortens the report that follows a live view, since its user has seen the rest: it shall fit a screen. */
static void keep_short(const struct nw_args *args, struct nw_report *report)
{
	if (!args->format->for_people || args->output || args->verbose ||
	    args->hists.count || report->view.all_rows)
		return;
	report->view.tables_only = true;
	if (!report->view.top)
		report->view.top = 5;
}

static void style(void *arg, struct nw_report *report)
{
	const struct stat_run *s = arg;

	report->layout = nw_layout_of(s->args, s->sink.file);
	if (s->view && !nw_live_is_shown(s->view))
		keep_short(s->args, report);
}

static int write_text(void *arg, struct nw_buf *text, struct nw_error *err)
{
	struct stat_run *s = arg;

	clear_status(s);
	return nw_sink_write(&s->sink, text, err);
}

static void only(void *arg)
{
	struct stat_run *s = arg;

	if (!s->args->no_pager)
		nw_sink_page(&s->sink);
}

/* Ends the status line first, since a note needs a line of its own. */
static void print_notice(void *arg, const char *text)
{
	struct stat_run *s = arg;

	clear_status(s);
	if (s->view)
		nw_live_notice(s->view, text);
	else
		nw_note("%s", text);
}

/* Prints the share of a span's time that was probe overhead, over all groups. */
static void print_span_cost(const struct stat_run *s, size_t span)
{
	const struct nw_summary *summary = s->reports.measure.summary;
	uint64_t cost = 0, count = 0, latency = 0, all;
	char each[16];

	for (size_t g = 0; g < nw_summary_groups(summary); g++) {
		const struct nw_span_row *row = nw_group_span(
			nw_summary_rows(summary, g, true), span);
		cost += row->cost ? row->cost->sum : 0;
		count += row->cost ? row->cost->count : 0;
		latency += row->latency.sum;
	}
	if (!count)
		return;
	/* Net latencies exclude the overhead already, but the share refers to the measured time. */
	all = s->args->net ? latency + cost : latency;
	nw_duration_text(cost / count, each);
	nw_note("%s: probe overhead is %s of each span, %.1f %% of its time",
		s->reports.measure.spans.item[span].name, each,
		all ? 100.0 * (double)cost / (double)all : 0.0);
}

static void print_event_cost(uint64_t count, const struct nw_run_result *result)
{
	uint64_t cost = NW_USUAL_EVENT_BEFORE + NW_USUAL_EVENT_AFTER;
	bool measured = result->has_machine_cost &&
			result->machine_cost.kind[NW_COST_EVENT].before;
	char each[16];

	for (size_t i = 0; result->hit_costs && i < result->selection.probes.count; i++)
		if (nw_is_scheduler_probe(result->selection.probes.item[i]) &&
		    result->hit_costs[i].before)
			cost = (uint64_t)result->hit_costs[i].before +
			       result->hit_costs[i].after;
	nw_duration_text(cost, each);
	const char *where = measured ? "measured on this machine since it was booted"
			    : result->hit_costs && !result->has_machine_cost
				    ? "as the recording has it"
				    : "the usual cost: it could not be measured here";
	nw_note("--states recorded %" PRIu64
		" scheduler events, which cost their threads about %s each (%s)",
		count, each, where);
}

static void print_span_costs(const struct stat_run *s, const struct nw_run_result *result)
{
	uint64_t least = UINT64_MAX, most = 0;
	char from[16], to[16];
	bool recorded = !result->has_machine_cost;

	for (size_t i = 0; result->hit_costs && i < result->selection.probes.count; i++) {
		const struct nw_probe *probe = result->selection.probes.item[i];
		const struct nw_hit_cost *hit = &result->hit_costs[i];
		uint64_t cost = (uint64_t)hit->before + hit->after;
		if (cost && probe->kind != NW_SPEC_TRACEPOINT) {
			least = nw_min64(least, cost);
			most = nw_max64(most, cost);
		}
	}
	if (s->reports.measure.scheduled)
		print_event_cost(s->reports.measure.scheduled, result);
	if (s->reports.measure.scheduled && result->unnamed_why)
		nw_note("these are the events of all threads in the system: %s",
			result->unnamed_why);
	if (!most)
		return;
	nw_duration_text(least, from);
	nw_duration_text(most, to);
	nw_note("a hit adds %s to %s to its thread's time, by probe (measured on %s)", from,
		to,
		recorded ? "the machine of the recording"
			 : "this machine since it was booted");
	for (size_t i = 0; i < s->reports.measure.spans.count; i++)
		print_span_cost(s, i);
}

/* ---- the command -------------------------------------------------------------------- */

/*
 * The first report since boot measures the probe overhead after the run, which neither delays nor disturbs the target; and only if
 * a span is so short that its latency could be misleading. Without the overhead the table is shown as it is.
 */
static void find_overhead(struct stat_run *s, struct nw_run_result *result)
{
	const struct nw_summary *summary = s->reports.measure.summary;
	const struct nw_args *args = s->args;
	struct nw_error err;
	bool is_short = false;

	if (result->hit_costs || result->by_kernel || args->from || s->view ||
	    args->format != &nw_output_text)
		return;
	for (size_t g = 0; g < nw_summary_groups(summary); g++)
		for (size_t i = 0; i < s->reports.measure.spans.count; i++) {
			const struct nw_histogram *latency =
				&nw_group_span(nw_summary_rows(summary, g, true), i)
					 ->latency;
			is_short |= latency->count &&
				    nw_histogram_percentile(latency, 0.5) < SHORT_SPAN_NS;
		}
	if (is_short &&
	    nw_result_find_costs(result, getenv("NOPWATCH_FEATURES"), &err) == -EUCLEAN) {
		result->unclean = true;
		nw_report_error(&err);
	}
}

static int print_total(struct stat_run *s, struct nw_run_result *result,
		       struct nw_error *err)
{
	clear_status(s);
	if (s->args->verbose) {
		struct nw_buf text = {0};
		nw_result_cost(result, &text);
		if (text.len)
			nw_note("%s", nw_buf_str(&text));
		nw_buf_free(&text);
		print_span_costs(s, result);
	}
	const struct nw_measure *measure = &s->reports.measure;
	nw_warn_incomplete(s->args, result);
	nw_warn_stacks(s->args, result);
	/* Other formats do not say it in words. */
	if (!result->hits && !s->args->format->for_people)
		nw_note_silent(s->args, result);
	if (nw_slower_asked(&s->args->slower) && !measure->slow_spans && result->hits &&
	    !s->args->quiet)
		nw_note_none_slow("", measure->ended_spans, measure->longest_ns);
	if (!s->args->quiet)
		nw_note_strays(measure, result);
	find_overhead(s, result);
	int ret = nw_reports_finish(&s->reports, err);
	return ret < 0 ? ret : nw_sink_close(&s->sink, err);
}

static int measure(struct stat_run *s, const struct nw_consumer *consumer,
		   struct nw_run_result *result, struct nw_error *err)
{
	struct nw_prepared prepared;
	int ret = nw_prepare(s->args, &prepared, err);

	if (ret < 0)
		return ret;
	if (prepared.request.notice)
		prepared.request.notice = print_notice;
	prepared.request.notice_arg = s;
	if (s->server) {
		prepared.request.wake_fds = nw_server_wake_fd(s->server);
		prepared.request.wake_fd_count = 1;
	}
	if (s->view)
		prepared.request.wake_fds = nw_live_wake_fds(
			s->view, &prepared.request.wake_fd_count);
	ret = nw_prepared_run(&prepared, consumer, result, err);
	nw_prepared_close(&prepared);
	if (ret < 0 && s->reports.measure.failure.code)
		*err = s->reports.measure.failure;
	if (ret == 0)
		nw_reports_ended(&s->reports, result);
	if (s->view && ret == 0)
		nw_live_browse(s->view, result);
	if (s->view)
		nw_live_leave(s->view);
	if (ret == 0)
		ret = print_total(s, result, err);
	/* A recording has nothing that could end the serving. */
	if (ret == 0 && s->server && s->args->from && !result->signalled)
		nw_server_stay(s->server);
	return ret;
}

/* Measuring the cost of a hit takes time, so it is only done if the output shows it. */
static enum nw_costs costs_of(const struct stat_run *s)
{
	const struct nw_args *args = s->args;

	if (args->dry_run)
		return NW_COSTS_NONE;
	if (args->verbose)
		return NW_COSTS_TOLD;
	return args->format->costs || s->serves ? NW_COSTS_WANTED : NW_COSTS_KNOWN;
}

static struct nw_reports_options options_of(struct stat_run *s)
{
	const struct nw_args *args = s->args;
	size_t len = args->output ? strlen(args->output) : 0;
	struct nw_reports_options options = {
		.measure = {.spans = args->spans.item,
			    .span_count = args->spans.count,
			    .by = args->by,
			    .hists = args->hists.item,
			    .hist_count = args->hists.count,
			    .interval_ns = args->interval_ns,
			    .count = args->count,
			    .slower = args->slower,
			    .open = args->open,
			    .spans_only = args->view.spans_only,
			    .states = args->states,
			    .net = args->net,
			    .costs = costs_of(s)},
		.format = args->format,
		.view = args->view,
		.gaps = args->verbose > 0,
		/* The textfile collector of node_exporter reads files with this suffix, in Prometheus's own format. */
		.prometheus = len > 5 && strcmp(args->output + len - 5, ".prom") == 0,
		.boundaries = &args->boundaries,
		.names_engine = args->engine != NW_ENGINE_DEFAULT,
		.recorded = args->from != NULL,
		.source = args->from,
		.service = nw_service_name(),
		.live = s->view ? nw_live_hooks(s->view) : NULL,
		.arg = s,
		.start = start,
		.armed = armed,
		.tick = tick,
		.style = style,
		.write = write_text,
		.only = only,
	};

	options.measure.slower.slowest = args->slowest;
	options.view.all_rows |= args->verbose > 0;
	options.view.frames = args->verbose > 0;
	return options;
}

int nw_stat_run(const struct nw_args *args, const struct nw_command *command,
		struct nw_live_view *view)
{
	struct stat_run s = {
		.args = args, .view = view, .serves = command == &nw_cmd_serve};
	const struct nw_reports_options options = options_of(&s);
	struct nw_run_result result = {0};
	struct nw_error err;
	int status;

	if (args->view.raw && !view && strcmp(args->format->name, "csv") != 0) {
		nw_fail_usage(&err, "--raw goes with -f csv");
		return nw_failure(command, &err);
	}
	if (args->from && args->engine == NW_ENGINE_KERNEL) {
		nw_fail_usage(&err,
			      "--engine=kernel goes with a live run: '%s' has each hit",
			      args->from);
		return nw_failure(command, &err);
	}
	if (nw_reports_open(&options, &s.reports, &err) < 0)
		return nw_failure(command, &err);
	if (s.serves && !args->dry_run &&
	    nw_server_open(args, &s.reports, &s.server, &err) < 0) {
		nw_reports_free(&s.reports);
		return nw_failure(command, &err);
	}
	const struct nw_consumer consumer = nw_reports_consumer(&s.reports);
	if (args->dry_run && !args->from) {
		status = nw_dry_run(args, &consumer, command);
	} else {
		int ret = measure(&s, &consumer, &result, &err);
		bool failed = ret < 0 && !s.sink.closed;
		if (failed)
			clear_status(&s);
		status = failed ? nw_failure(command, &err)
				: nw_result_status(args, &result);
	}
	nw_server_close(s.server);
	nw_result_free(&result);
	nw_reports_free(&s.reports);
	return status;
}

static int run(const struct nw_args *args)
{
	return nw_stat_run(args, &nw_cmd_stat, NULL);
}

const struct nw_command nw_cmd_stat = {
	.name = "stat",
	.summary = "latency summaries: the main job",
	.usage = "SPEC... [-p PID | -x FILE] [-- CMD]",
	.examples = "  nopwatch stat -p 4711 'postgresql:query__*'\n"
		    "  nopwatch stat 'myserver:*' -- ./server\n"
		    "  nopwatch stat func:libc.so.6:malloc -- ls\n"
		    "  nopwatch stat -p 4711 'app:done(id, status)' --by status -i 1\n"
		    "  nopwatch stat -p 4711 'app:*' --slower 50ms\n",
	.details =
		"Counts hits and the gaps between them, and measures the spans between probes whose\n"
		"names pair (x__start and x__done, _begin and _end, _entry and _return, ...), by\n"
		"thread, nested and recursive; --span pairs any others. Ends at Ctrl-C, -d, -n, the\n"
		"end of CMD or of the last -p, and prints. Arguments named in a spec are summarised,\n"
		"too: 'app:request__done(id, bytes:u32)'. tracepoint:SYSTEM:EVENT is an event of the\n"
		"kernel, whose arguments are its fields: 'tracepoint:sched:sched_switch(next_pid)'.\n"
		"\n"
		"--filter takes out hits: 'status >= 400' leaves the latencies of failed requests. It\n"
		"compares arguments, tid, pid, comm and cpu by == != < <= > >= & and ~ (a glob), joined by\n"
		"&& || ! and parentheses; probes without its arguments are not touched.\n"
		"--by groups by one key or several ('--by method,status'; --by 'sql(query)': statements\n"
		"without their values; --by 'title(^postgres: ([^ ]+))': a part of the title that ps\n"
		"shows of the process; --by 'json(reply, ok.val)': a member of JSON; --by 'path(fd)':\n"
		"the path of a descriptor, '?' where it is not proven), --sort and --top choose what\n"
		"comes first; a result longer than the terminal goes through $PAGER.\n"
		"--slower 50ms prints each span of at least so long as it ends, with the arguments at both\n"
		"ends; --slower p99 those that are longer than that percentile of the ones before them.\n"
		"--stack counts who called: all groups of --by together and, with -i, all of the run.\n"
		"--max-rate disables what is hit too often; -v tells what the hits cost.\n"
		"\n"
		"With -- CMD the probes are armed before CMD starts. If CMD itself runs the probed\n"
		"file, only CMD and its children are counted (-a: everybody); if the probes are in\n"
		"another program, CMD is just the load, and everybody is.",
	.shows = NW_SHOWS_REPORTS,
	.options = NW_OPTIONS_STACKS NW_OPTIONS_STAT NW_OPTIONS_PRINTED "at engine ",
	.run = run,
};
