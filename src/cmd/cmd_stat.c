// SPDX-License-Identifier: MIT
/* stat: latency summaries, the main job. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "by.h"
#include "engine/run.h"

enum {
	STATUS_NS = 250000000
};

struct stat {
	const struct nw_args *args;
	struct nw_run *run;
	struct nw_summary *summary;
	nw_span_defs spans;
	struct nw_sink sink;
	struct nw_output output;
	struct nw_error err; /* of a report printed inside hit() */

	struct nw_by by;

	uint64_t next;	    /* trace clock: end of the current interval; UINT64_MAX: none */
	uint64_t most_hits; /* stop then; UINT64_MAX: go on */
	uint64_t interval;  /* reports printed */
	uint64_t filtered;  /* hits taken out since the last of them */
	uint64_t shown;	    /* when the status line was last written */
	bool status_line;
};

/* ---- reports ------------------------------------------------------------------------ */

/* The textfile collector of node_exporter takes files of this name, and Prometheus's own format. */
static bool is_textfile(const char *path)
{
	size_t len = path ? strlen(path) : 0;

	return len > 5 && strcmp(path + len - 5, ".prom") == 0;
}

static struct nw_report make_report(const struct stat *s)
{
	const struct nw_run *run = s->run;
	struct nw_view view = s->args->view;

	view.all_rows |= s->args->verbose > 0;
	view.width = s->args->verbose ? 0 : nw_screen_of(s->sink.file).columns;
	return (struct nw_report){
		.view = view,
		.selection = &run->selection,
		.summary = s->summary,
		.spans = s->spans.item,
		.span_count = s->spans.count,
		.group_by = s->args->by,
		.disabled_at = run->disabled_at,
		.start_ns = run->start_ns,
		.has_filter = run->filter != NULL,
		.filtered = run->filtered,
		.hist_args = s->args->hists.item,
		.hist_arg_count = s->args->hists.count,
		.gaps = s->args->verbose > 0,
		.prometheus = is_textfile(s->sink.path),
		.bold = nw_use_color(s->args, s->sink.file),
	};
}

static void clear_status(struct stat *s)
{
	if (s->status_line && s->shown && write(STDERR_FILENO, "\r\033[K", 4) < 0)
		s->status_line = false;
}

static int print_interval(struct stat *s, struct nw_error *err)
{
	bool totals = s->args->format->cumulative;
	struct nw_report report = make_report(s);

	s->interval++;
	report.interval = totals ? 0 : s->interval;
	report.elapsed_ns = totals ? s->next - s->run->start_ns : s->args->interval_ns;
	report.lost = nw_summary_lost(s->summary);
	report.states = s->run->states;
	report.filtered = totals ? s->run->filtered : s->filtered;
	s->filtered = 0;
	report.wall_ns = s->run->wall_ns ? (int64_t)((uint64_t)s->run->wall_ns + s->next)
					 : 0;
	s->next = s->args->interval_ns > UINT64_MAX - s->next
			  ? UINT64_MAX
			  : s->next + s->args->interval_ns;
	clear_status(s);
	if (totals && nw_summary_turn(s->summary) < 0)
		return nw_no_memory(err);
	nw_output_report(&s->output, &report);
	if (!totals && nw_summary_turn(s->summary) < 0)
		return nw_no_memory(err);
	int ret = nw_sink_write(&s->sink, &s->output.text, err);
	if (ret < 0)
		return ret;
	return s->args->count && s->interval >= s->args->count ? -ECANCELED : 0;
}

static int print_total(struct stat *s, struct nw_error *err)
{
	const struct nw_run *run = s->run;
	struct nw_report report = make_report(s);

	clear_status(s);
	nw_summary_finish(s->summary);
	const struct nw_end end = {
		.lost = run->lost,
		.discarded = nw_summary_discarded(s->summary),
		.dropped = run->dropped,
		.has_filter = run->filter != NULL,
		.filtered = run->filtered,
		.reason = run->reason,
		.elapsed_ns = nw_run_elapsed(run),
	};
	report.states = run->states;
	report.elapsed_ns = nw_run_elapsed(run);
	report.lost = run->lost;
	report.lost_is_least = run->lost_is_least;
	report.dropped = run->dropped;
	report.restricted = run->restricted;
	if (s->interval && s->args->format->for_people)
		nw_buf_adds(&s->output.text, "\n--- total ---\n");
	else
		nw_sink_page(&s->sink, s->args);
	nw_output_report(&s->output, &report);
	nw_output_end(&s->output, &end);
	if (s->args->verbose)
		nw_run_tell_cost(run);
	int ret = nw_sink_write(&s->sink, &s->output.text, err);
	return ret < 0 ? ret : nw_sink_close(&s->sink, err);
}

/* SIGUSR1: what there is so far. */
static int print_so_far(struct stat *s, struct nw_error *err)
{
	struct nw_run *run = s->run;
	struct nw_report report = make_report(s);

	run->wake.report = false;
	report.so_far = true;
	report.elapsed_ns = nw_run_elapsed(run);
	report.lost = nw_summary_lost(s->summary);
	report.wall_ns = run->wall_ns ? (int64_t)((uint64_t)run->wall_ns + run->now_ns) : 0;
	clear_status(s);
	nw_output_report(&s->output, &report);
	return nw_sink_write(&s->sink, &s->output.text, err);
}

static void print_status(struct stat *s, const struct nw_run *run)
{
	char elapsed[16], rate[16], line[160];
	uint64_t ns = nw_run_elapsed(run);

	if (!s->status_line || run->now_ns - s->shown < STATUS_NS)
		return;
	s->shown = run->now_ns;
	nw_duration_text(ns, elapsed);
	nw_rate_text(ns ? (double)run->hits * 1e9 / (double)ns : 0, rate);
	int len = snprintf(line, sizeof(line),
			   "\r\033[K%" PRIu64 " hits, %s, %" PRIu64 " lost, %s", run->hits,
			   rate, nw_summary_lost(s->summary), elapsed);
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		s->status_line = false;
}

/* ---- the consumer ------------------------------------------------------------------- */

static int make_spans(struct stat *s, struct nw_error *err)
{
	const struct nw_selection *selection = &s->run->selection;
	int ret = 0;

	if (!s->args->spans.count && nw_spans_by_name(selection, &s->spans) < 0)
		return nw_no_memory(err);
	nw_vec_each (&s->args->spans, text) {
		struct nw_span_def *def = ret == 0 ? nw_vec_add(&s->spans) : NULL;
		if (!def)
			return ret < 0 ? ret : nw_no_memory(err);
		ret = nw_span_parse(*text, selection, def, err);
	}
	return ret;
}

static bool has_named_args(const struct nw_run *run)
{
	nw_vec_each (&run->selection.probes, probe)
		if ((*probe)->has_args)
			return true;
	return false;
}

/* An argument that no probe has would have no histogram. */
static int check_hists(const struct stat *s, const struct nw_selection *selection,
		       struct nw_error *err)
{
	nw_vec_each (&s->args->hists, name) {
		bool found = false;
		nw_vec_each (&selection->probes, probe) {
			for (size_t i = 0; i < (*probe)->args.count; i++) {
				char known[32];
				nw_arg_name(*probe, i, known);
				found |= strcmp(known, *name) == 0;
			}
		}
		if (found)
			continue;
		nw_fail_usage(err, "--hist '%s': no probe has an argument of that name",
			      *name);
		nw_error_hint(
			err,
			"name it in the spec, as in 'PROVIDER:NAME(%s)', or use arg0, "
			"arg1, ...",
			*name);
		return -EINVAL;
	}
	return 0;
}

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct stat *s = arg;

	s->run = run;
	int ret = make_spans(s, err);
	if (ret == 0)
		ret = check_hists(s, &run->selection, err);
	if (ret == 0)
		ret = nw_by_bind(&s->by, &run->selection, err);
	const struct nw_summary_options options = {
		.selection = &run->selection,
		.spans = s->spans.item,
		.span_count = s->spans.count,
		.args = has_named_args(run) || s->args->hists.count,
		.grouped = s->by.keys.count > 0,
	};
	if (ret == 0)
		ret = nw_summary_open(&options, &s->summary, err);
	if (ret == 0 && nw_output_make(s->args->format, &s->output) < 0)
		ret = nw_no_memory(err);
	return ret < 0 ? ret : nw_sink_open(s->args, &s->sink, err);
}

static bool is_wanted(void *arg, int32_t tid)
{
	return nw_tasks_get(((struct nw_run *)arg)->tasks, tid)->wanted;
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct stat *s = arg;
	size_t sites = nw_run_sites(run);

	if (run->formats.stacks)
		nw_summary_use_stacks(s->summary);
	if (run->restricted)
		nw_summary_only(s->summary, is_wanted, run);
	s->next = s->args->interval_ns ? run->start_ns + s->args->interval_ns : UINT64_MAX;
	s->most_hits = s->args->count && !s->args->interval_ns ? s->args->count
							       : UINT64_MAX;
	s->status_line = !s->args->quiet && isatty(STDERR_FILENO) == 1;
	if (s->status_line)
		nw_note("attached %zu probes (%zu sites), Ctrl-C ends and reports",
			run->selection.probes.count, sites);
	const struct nw_begin begin = {.selection = &run->selection, .sites = sites};
	nw_output_begin(&s->output, &begin);
	return nw_sink_write(&s->sink, &s->output.text, err);
}

static bool is_due(const struct stat *s, uint64_t until)
{
	return until >= s->next && s->next != UINT64_MAX;
}

/* Intervals in which nothing was: a line for all of them. Time may jump by years, in text that
 * comes from anywhere, or where a machine was asleep. */
static int fold_intervals(struct stat *s, uint64_t count, struct nw_error *err)
{
	uint64_t length = s->args->interval_ns;

	if (s->args->count)
		count = nw_min64(count, s->args->count - s->interval);
	nw_output_quiet(&s->output, s->interval + 1, count);
	s->interval += count;
	s->next = count > (UINT64_MAX - s->next) / length ? UINT64_MAX
							  : s->next + count * length;
	int ret = nw_sink_write(&s->sink, &s->output.text, err);
	if (ret < 0)
		return ret;
	return s->args->count && s->interval >= s->args->count ? -ECANCELED : 0;
}

static nw_cold int print_intervals(struct stat *s, uint64_t until, struct nw_error *err)
{
	enum {
		QUIET_LEAST = 3 /* fewer are shown one by one */
	};
	int ret = is_due(s, until) ? print_interval(s, err) : 0;

	/* what was has been told: nothing happened from here on */
	while (ret == 0 && is_due(s, until)) {
		uint64_t count = (until - s->next) / s->args->interval_ns + 1;
		ret = count < QUIET_LEAST ? print_interval(s, err)
					  : fold_intervals(s, count, err);
	}
	return ret;
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct stat *s = arg;
	int ret = hit->time >= s->next ? print_intervals(s, hit->time, &s->err) : 0;
	int64_t group = s->by.keys.count ? nw_by_group(&s->by, s->summary, hit, task) : 0;

	if (ret == 0)
		ret = nw_summary_hit(s->summary, hit, task ? task->pid : 0, group);
	if (ret == 0 && s->run->hits >= s->most_hits)
		ret = -ECANCELED;
	return ret;
}

static int hits(void *arg, const struct nw_hit *hits, size_t count)
{
	return nw_summary_hits(((struct stat *)arg)->summary, hits, count);
}

static uint64_t counted(void *arg, size_t probe)
{
	const struct stat *s = arg;

	return nw_summary_rows(s->summary, 0, false)->probes[probe].hits;
}

/* What another thread does may be about one that is wanted. */
static int stranger(void *arg, const struct nw_hit *hit)
{
	return nw_summary_stranger(((struct stat *)arg)->summary, hit);
}

static int filtered(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct stat *s = arg;
	int ret = 0;

	if (nw_unlikely(hit->time >= s->next))
		ret = print_intervals(s, hit->time, &s->err);
	s->filtered++;
	return ret < 0 ? ret : nw_summary_filtered(s->summary, hit, task ? task->pid : 0);
}

static void disabled(void *arg, uint32_t probe, uint64_t at)
{
	struct stat *s = arg;

	clear_status(s);
	nw_summary_disabled(s->summary, probe, at);
}

static void gone(void *arg, int32_t tid)
{
	nw_summary_exit(((struct stat *)arg)->summary, tid);
}

static void loss(void *arg, const struct nw_record *record)
{
	nw_summary_loss(((struct stat *)arg)->summary, record->until, record->lost);
}

static int tick(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct stat *s = arg;
	int ret = 0;

	uint64_t until = nw_min64(nw_run_known(run), run->now_ns);
	if (is_due(s, until))
		ret = print_intervals(s, until, err);
	if (ret == 0 && run->wake.report)
		ret = print_so_far(s, err);
	print_status(s, run);
	return ret;
}

/* ---- the command -------------------------------------------------------------------- */

static void free_stat(struct stat *s)
{
	nw_summary_free(s->summary);
	nw_spans_free(&s->spans);
	nw_output_free(&s->output);
	nw_by_free(&s->by);
}

static bool keyed_by(const struct nw_args *args, bool (*needs)(const char *text))
{
	nw_vec_each (&args->spans, text)
		if (needs(*text))
			return true;
	return false;
}

static int run(const struct nw_args *args)
{
	struct stat s = {.args = args};
	struct nw_error err = {0};
	struct nw_run run;

	if (nw_by_parse(args->by, &s.by, &err) < 0)
		return nw_failure(&nw_cmd_stat, &err);
	bool needs_args = nw_by_needs_args(&s.by) || args->hists.count ||
			  keyed_by(args, nw_span_needs_args);
	/* with these there is more to a hit than the summary */
	bool watched = s.by.keys.count || args->interval_ns || args->count;
	const struct nw_consumer consumer = {
		.arg = &s,
		.all_args = needs_args,
		.values = needs_args,
		.stacks = true,
		.comms = nw_by_needs_tasks(&s.by) || keyed_by(args, nw_span_needs_pids),
		.large_pages = true,
		.start = start,
		.armed = armed,
		.hit = hit,
		.hits = watched ? NULL : hits,
		.counted = watched ? NULL : counted,
		.filtered = filtered,
		.stranger = stranger,
		.disabled = disabled,
		.exit = gone,
		.loss = loss,
		.tick = tick,
	};
	if (args->dry_run && !args->from)
		return nw_dry_run(args, &consumer, &nw_cmd_stat);
	int ret = args->from ? nw_replay(&run, args, &consumer, &err)
			     : nw_run(&run, args, &consumer, &err);
	if (ret == 0)
		ret = print_total(&s, &err);
	bool failed = ret < 0 && !s.sink.closed;
	if (failed)
		clear_status(&s);
	int status = failed ? nw_failure(&nw_cmd_stat, err.code ? &err : &s.err)
			    : nw_run_status(&run);
	nw_run_free(&run);
	free_stat(&s);
	return status;
}

const struct nw_command nw_cmd_stat = {
	.name = "stat",
	.summary = "latency summaries: the main job",
	.usage = "SPEC... [-p PID | -x FILE] [-- CMD]",
	.details =
		"Counts hits and the gaps between them, and measures the spans between "
		"probes whose\n"
		"names pair (x__start and x__done, _begin and _end, _entry and _return, "
		"...), by\n"
		"thread, nested and recursive; --span pairs any others. Ends at Ctrl-C, "
		"-d, -n, the\n"
		"end of CMD or of the last -p, and prints. Arguments named in a spec "
		"are summarised,\n"
		"too: 'app:request__done(id, bytes:u32)'. tracepoint:SYSTEM:EVENT is an "
		"event of the\n"
		"kernel, whose arguments are its fields: "
		"'tracepoint:sched:sched_switch(next_pid)'.\n"
		"\n"
		"--filter takes out hits: 'status >= 400' leaves the latencies of failed "
		"requests. It\n"
		"compares arguments, tid, pid, comm and cpu by == != < <= > >= & and ~ "
		"(a glob), joined by\n"
		"&& || ! and parentheses; probes without its arguments are not touched.\n"
		"--by groups by one key or several ('--by method,status'), --sort and "
		"--top "
		"choose what comes\n"
		"first; a result longer than the terminal goes through $PAGER.\n"
		"--max-rate disables what is hit too often; -v tells what the hits cost.\n"
		"\n"
		"With -- CMD the probes are armed before CMD starts. If CMD itself runs "
		"the probed\n"
		"file, only CMD and its children are counted (-a: everybody); if the "
		"probes are in\n"
		"another program, CMD is just the load, and everybody is.",
	.shows = NW_SHOWS_REPORTS,
	.options = "pid follow all exe types duration interval count output format json by "
		   "sort top all-rows filter span hist max-rate buffer string-size from "
		   "strict dry-run force quiet verbose color no-pager",
	.run = run,
};
