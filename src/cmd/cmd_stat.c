// SPDX-License-Identifier: MIT
/* stat: latency summaries, the main job. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "request.h"

enum {
	STATUS_NS = 250000000
};

struct nw_stat {
	const struct nw_args *args;
	const struct nw_command *command;
	const struct nw_live *live; /* who shows the run while it goes on; NULL: we do */
	const char *by;		    /* --by, or what has taken its place, */
	uint64_t since;		    /* since then; 0: it has not */
	const struct nw_run_result *result; /* once it has ended; NULL: it goes on */
	struct nw_measure measure;
	struct nw_sink sink;
	struct nw_output output;
	uint64_t shown; /* when the status line was last written */
	bool status_line;
};

/* ---- reports ------------------------------------------------------------------------ */

/* The textfile collector of node_exporter takes files of this name, and Prometheus's own format. */
static bool is_textfile(const char *path)
{
	size_t len = path ? strlen(path) : 0;

	return len > 5 && strcmp(path + len - 5, ".prom") == 0;
}

static struct nw_report make_report(const struct nw_stat *s,
				    const struct nw_run_result *result)
{
	struct nw_view view = s->args->view;

	view.all_rows |= s->args->verbose > 0;
	view.width = s->args->verbose ? 0 : nw_screen_of(s->sink.file).columns;
	return (struct nw_report){
		.view = view,
		.selection = &result->selection,
		.summary = s->measure.summary,
		.spans = s->measure.spans.item,
		.span_count = s->measure.spans.count,
		.group_by = s->by,
		.disabled_at = result->disabled_at,
		.start_ns = result->start_ns,
		.has_filter = result->has_filter,
		.filtered = result->filtered,
		.hist_args = s->args->hists.item,
		.hist_arg_count = s->args->hists.count,
		.gaps = s->args->verbose > 0,
		.prometheus = is_textfile(s->sink.path),
		.bold = nw_use_color(s->args, s->sink.file),
	};
}

/* For a form that is read elsewhere. cost: of the run, where it is known. */
static struct nw_about make_about(const struct nw_stat *s,
				  const struct nw_run_result *result, struct nw_buf *cost)
{
	nw_result_cost(result, cost);
	return (struct nw_about){
		.command = result->origin.command,
		.source = s->args->from,
		.host = result->origin.host,
		.kernel = result->origin.kernel,
		.machine = result->origin.machine,
		.cost = nw_buf_str(cost),
		.began_ns = result->wall_ns ? (int64_t)((uint64_t)result->wall_ns +
							result->start_ns)
					    : 0,
		.reason = result->reason,
	};
}

/* A report into the output, with its picture up to `until` where the format has one. */
static int show_in(struct nw_stat *s, struct nw_output *output,
		   const struct nw_report *report, const struct nw_run_result *result,
		   uint64_t until, struct nw_error *err)
{
	struct nw_buf cost = {0};
	const struct nw_about about = make_about(s, result, &cost);
	struct nw_bins *bins = s->measure.bins;
	int ret = bins ? nw_bins_look(bins, until) : 0;

	struct nw_report shown = *report;

	shown.about = &about;
	shown.bins = bins;
	if (ret == 0)
		nw_output_report(output, &shown);
	nw_buf_free(&cost);
	return ret < 0 ? nw_no_memory(err) : 0;
}

static int show(struct nw_stat *s, const struct nw_report *report,
		const struct nw_run_result *result, uint64_t until, struct nw_error *err)
{
	return show_in(s, &s->output, report, result, until, err);
}

/* Reports of what is not over are for files that are replaced, if a page is what they are. */
static bool shows_now(const struct nw_stat *s)
{
	return !s->args->format->bins || s->sink.replace;
}

static void clear_status(struct nw_stat *s)
{
	if (s->status_line && s->shown && write(STDERR_FILENO, "\r\033[K", 4) < 0)
		s->status_line = false;
}

static int print_interval(void *arg, uint64_t number, uint64_t end, struct nw_error *err)
{
	struct nw_stat *s = arg;
	const struct nw_run_result *so_far = nw_run_so_far(s->measure.run);
	bool totals = s->measure.options.totals;

	if (s->live)
		return s->live->interval(
			s->live->arg, end - nw_min64(s->measure.options.interval_ns, end),
			end, err);
	struct nw_report report = make_report(s, so_far);

	report.interval = totals ? 0 : number;
	report.elapsed_ns = totals ? end - so_far->start_ns : s->args->interval_ns;
	report.lost = nw_summary_lost(s->measure.summary);
	report.states = so_far->states;
	report.filtered = totals ? so_far->filtered : s->measure.filtered;
	report.wall_ns = so_far->wall_ns ? (int64_t)((uint64_t)so_far->wall_ns + end) : 0;
	if (!shows_now(s))
		return 0;
	clear_status(s);
	int ret = show(s, &report, so_far, end, err);
	return ret < 0 ? ret : nw_sink_write(&s->sink, &s->output.text, err);
}

static int print_quiet(void *arg, uint64_t first, uint64_t count, struct nw_error *err)
{
	struct nw_stat *s = arg;
	uint64_t end = s->measure.next, length = s->measure.options.interval_ns;

	if (s->live) /* the last of them */
		return s->live->interval(s->live->arg, end - nw_min64(2 * length, end),
					 end - nw_min64(length, end), err);
	nw_output_quiet(&s->output, first, count);
	return nw_sink_write(&s->sink, &s->output.text, err);
}

static void tell_cost(const struct nw_run_result *result)
{
	struct nw_buf text = {0};

	nw_result_cost(result, &text);
	if (text.len)
		nw_note("%s", nw_buf_str(&text));
	nw_buf_free(&text);
}

static int print_total(struct nw_stat *s, const struct nw_run_result *result,
		       struct nw_error *err)
{
	struct nw_report report = make_report(s, result);

	clear_status(s);
	nw_summary_finish(s->measure.summary);
	struct nw_end end = nw_result_end(result);
	end.discarded = nw_summary_discarded(s->measure.summary);
	report.states = result->states;
	report.elapsed_ns = nw_result_elapsed(result);
	report.lost = result->lost;
	report.lost_is_least = result->lost_is_least;
	report.dropped = result->dropped;
	report.restricted = result->restricted;
	if (s->since)
		report.elapsed_ns = result->now_ns - nw_min64(s->since, result->now_ns);
	if (!s->live && s->measure.intervals && s->args->format->for_people)
		nw_buf_adds(&s->output.text, "\n--- total ---\n");
	else if (!s->live)
		nw_sink_page(&s->sink, s->args);
	int ret = show(s, &report, result, result->now_ns, err);
	nw_output_end(&s->output, &end);
	if (s->args->verbose)
		tell_cost(result);
	if (ret == 0)
		ret = nw_sink_write(&s->sink, &s->output.text, err);
	return ret < 0 ? ret : nw_sink_close(&s->sink, err);
}

/* SIGUSR1: what there is so far. */
static int print_so_far(struct nw_stat *s, const struct nw_run_result *so_far,
			struct nw_error *err)
{
	struct nw_report report = make_report(s, so_far);

	report.so_far = true;
	report.elapsed_ns = nw_result_elapsed(so_far);
	report.lost = nw_summary_lost(s->measure.summary);
	report.wall_ns = so_far->wall_ns
				 ? (int64_t)((uint64_t)so_far->wall_ns + so_far->now_ns)
				 : 0;
	if (!shows_now(s))
		return 0;
	clear_status(s);
	int ret = show(s, &report, so_far, so_far->now_ns, err);
	return ret < 0 ? ret : nw_sink_write(&s->sink, &s->output.text, err);
}

static void print_status(struct nw_stat *s, const struct nw_run_result *so_far)
{
	char elapsed[16], rate[16], line[160];
	uint64_t ns = nw_result_elapsed(so_far);

	if (!s->status_line || so_far->now_ns - s->shown < STATUS_NS)
		return;
	s->shown = so_far->now_ns;
	nw_duration_text(ns, elapsed);
	nw_rate_text(ns ? (double)so_far->hits * 1e9 / (double)ns : 0, rate);
	int len = snprintf(
		line, sizeof(line), "\r\033[K%" PRIu64 " hits, %s, %" PRIu64 " lost, %s",
		so_far->hits, rate, nw_summary_lost(s->measure.summary), elapsed);
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		s->status_line = false;
}

/* ---- while it runs ------------------------------------------------------------------ */

static int start(void *arg, struct nw_error *err)
{
	struct nw_stat *s = arg;

	if (nw_output_make(s->args->format, &s->output) < 0)
		return nw_no_memory(err);
	return nw_sink_open(s->args, &s->sink, err);
}

static int armed(void *arg, struct nw_error *err)
{
	struct nw_stat *s = arg;
	const struct nw_run_result *so_far = nw_run_so_far(s->measure.run);
	size_t hidden = nw_selection_hidden(&so_far->selection),
	       probes = so_far->selection.probes.count - hidden,
	       sites = nw_result_sites(so_far);

	if (s->live) {
		nw_output_begin(&s->output, &(const struct nw_begin){
						    .selection = &so_far->selection,
						    .hidden = hidden,
						    .sites = sites,
					    });
		return s->live->armed(s->live->arg, s, err);
	}
	s->status_line = !s->args->quiet && isatty(STDERR_FILENO) == 1;
	if (s->status_line)
		nw_note("attached %zu probes (%zu sites), Ctrl-C ends and reports", probes,
			sites);
	const struct nw_begin begin = {
		.selection = &so_far->selection, .hidden = hidden, .sites = sites};
	nw_output_begin(&s->output, &begin);
	return nw_sink_write(&s->sink, &s->output.text, err);
}

static int print_slow(void *arg, const struct nw_slow_span *slow, struct nw_error *err)
{
	struct nw_stat *s = arg;

	enum {
		MOST_KEPT = 1 << 20
	};

	clear_status(s);
	if (!s->live || s->output.text.len < MOST_KEPT)
		nw_output_slow(&s->output, slow);
	if (s->live) /* they come at the end */
		return 0;
	return nw_sink_write(&s->sink, &s->output.text, err);
}

static int tick(void *arg, struct nw_error *err)
{
	struct nw_stat *s = arg;
	const struct nw_run_result *so_far = nw_run_so_far(s->measure.run);
	int ret = 0;

	if (s->live)
		return s->live->tick(s->live->arg, err);
	if (nw_run_asked(s->measure.run))
		ret = print_so_far(s, so_far, err);
	print_status(s, so_far);
	return ret;
}

/* A note needs a line of its own. */
static void print_notice(void *arg, const char *text)
{
	struct nw_stat *s = arg;

	clear_status(s);
	if (s->live)
		s->live->notice(s->live->arg, text);
	else
		nw_note("%s", text);
}

static void stopping(void *arg, struct nw_run *run)
{
	const struct nw_stat *s = ((struct nw_measure *)arg)->options.arg;

	(void)run;
	s->live->leave(s->live->arg);
}

/* ---- for who shows it --------------------------------------------------------------- */

struct nw_measure *nw_stat_measure(struct nw_stat *s)
{
	return &s->measure;
}

int nw_stat_regroup(struct nw_stat *s, const char *by, struct nw_error *err)
{
	if (s->result)
		return nw_fail(err, ENODATA,
			       "all has been read, and can be grouped with --by only");
	int ret = nw_measure_regroup(&s->measure, by, err);
	if (ret < 0)
		return ret;
	s->by = by;
	s->since = nw_run_known(s->measure.run);
	return 0;
}

/* The end of a file's name says what is in it. */
static const struct {
	const char *end, *format;
} endings[] = {{".html", "html"},
	       {".json", "json"},
	       {".csv", "csv"},
	       {".txt", "text"},
	       {".prom", "openmetrics"}};

static const struct nw_output_format *format_of(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < NW_COUNT(endings); i++) {
		size_t end = strlen(endings[i].end);
		if (len > end && strcmp(path + len - end, endings[i].end) == 0)
			return nw_output_find(endings[i].format);
	}
	return NULL;
}

static int no_format(const char *path, struct nw_error *err)
{
	struct nw_buf names = {0};

	for (size_t i = 0; i < NW_COUNT(endings); i++)
		if (nw_output_find(endings[i].format))
			nw_buf_printf(&names, " %s", endings[i].end);
	nw_fail(err, EINVAL, "'%s': the name of a report ends in one of%s", path,
		nw_buf_str(&names));
	nw_buf_free(&names);
	return -EINVAL;
}

int nw_stat_write(struct nw_stat *s, const char *path, struct nw_error *err)
{
	const struct nw_run_result *so_far = s->result ? s->result
						       : nw_run_so_far(s->measure.run);
	const struct nw_output_format *format = format_of(path);
	struct nw_output output;
	struct nw_replace replace;

	if (!format || !format->shows[NW_SHOWS_REPORTS])
		return no_format(path, err);
	if (nw_output_make(format, &output) < 0)
		return nw_no_memory(err);
	const struct nw_begin begin = {.selection = &so_far->selection,
				       .sites = nw_result_sites(so_far)};
	struct nw_report report = make_report(s, so_far);
	report.view.width = 0;
	report.bold = false;
	report.so_far = true;
	/* the total is as of the last interval */
	uint64_t until = s->result ? so_far->now_ns
				   : s->measure.next - s->measure.options.interval_ns;
	report.elapsed_ns = until - (s->since ? s->since : so_far->start_ns);
	report.lost = nw_summary_lost(s->measure.summary);
	nw_output_begin(&output, &begin);
	int ret = show_in(s, &output, &report, so_far, until, err);
	if (ret == 0)
		ret = output.text.failed ? nw_no_memory(err)
					 : nw_replace_begin(path, &replace, err);
	if (ret == 0) {
		int code = nw_write_all(replace.fd, output.text.data, output.text.len);
		if (code < 0)
			nw_replace_abort(&replace);
		ret = code < 0 ? nw_fail(err, -code, "cannot write '%s': %s", path,
					 nw_strerror(-code))
			       : nw_replace_commit(&replace, err);
	}
	nw_output_free(&output);
	return ret;
}

/* ---- the command -------------------------------------------------------------------- */

static int measure(struct nw_stat *s, const struct nw_consumer *consumer,
		   struct nw_run_result *result, struct nw_error *err)
{
	struct nw_prepared prepared;
	int ret = nw_prepare(s->args, &prepared, err);

	if (ret < 0)
		return ret;
	if (prepared.request.notice)
		prepared.request.notice = print_notice;
	prepared.request.notice_arg = s;
	if (s->live) {
		prepared.request.wake_fds = s->live->wake_fds;
		prepared.request.wake_fd_count = s->live->wake_fd_count;
	}
	ret = nw_prepared_run(&prepared, consumer, result, err);
	nw_prepared_close(&prepared);
	if (ret < 0 && s->measure.failure.code)
		*err = s->measure.failure;
	s->result = ret == 0 ? result : NULL;
	if (s->live && ret == 0)
		s->live->look(s->live->arg, result);
	if (s->live)
		s->live->leave(s->live->arg);
	return ret < 0 ? ret : print_total(s, result, err);
}

static struct nw_consumer consumer_of(struct nw_stat *s)
{
	struct nw_consumer consumer = nw_measure_consumer(&s->measure);

	if (!s->live)
		return consumer;
	/* other groups may be asked for */
	consumer.comms = true;
	consumer.values = s->args->from != NULL;
	s->measure.every_arg |= consumer.values;
	consumer.stopping = stopping;
	return consumer;
}

int nw_stat_run(const struct nw_args *args, const struct nw_command *command,
		const struct nw_live *live)
{
	struct nw_stat s = {.args = args, .command = command, .live = live, .by = args->by};
	const struct nw_measure_options options = {
		.spans = args->spans.item,
		.span_count = args->spans.count,
		.by = args->by,
		.hists = args->hists.item,
		.hist_count = args->hists.count,
		.interval_ns = args->interval_ns,
		.count = args->count,
		.totals = args->format->cumulative && !live,
		.one_by_one = live != NULL,
		.slower = args->slower,
		.bins = args->format->bins || live,
		.states = args->states,
		.arg = &s,
		.start = start,
		.armed = armed,
		.interval = print_interval,
		.quiet = print_quiet,
		.tick = tick,
		.slow = print_slow,
	};
	struct nw_run_result result = {0};
	struct nw_error err;
	int status;

	if (nw_measure_open(&options, &s.measure, &err) < 0)
		return nw_failure(command, &err);
	const struct nw_consumer consumer = consumer_of(&s);
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
	nw_result_free(&result);
	nw_measure_close(&s.measure);
	nw_output_free(&s.output);
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
		"--by groups by one key or several ('--by method,status'), --sort and --top choose what\n"
		"comes first; a result longer than the terminal goes through $PAGER.\n"
		"--slower 50ms prints each span of at least so long as it ends, with the arguments at both\n"
		"ends; --slower p99 those that are longer than that percentile of the ones before them.\n"
		"--max-rate disables what is hit too often; -v tells what the hits cost.\n"
		"\n"
		"With -- CMD the probes are armed before CMD starts. If CMD itself runs the probed\n"
		"file, only CMD and its children are counted (-a: everybody); if the probes are in\n"
		"another program, CMD is just the load, and everybody is.",
	.shows = NW_SHOWS_REPORTS,
	.options = NW_OPTIONS_STAT,
	.run = run,
};
