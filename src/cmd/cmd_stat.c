// SPDX-License-Identifier: MIT
/* stat: latency summaries, the main job. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

enum {
	STATUS_NS = 250000000,
	CACHE = 256
};

/* What --by groups by. */
enum by {
	BY_NOTHING,
	BY_TID,
	BY_PID,
	BY_COMM,
	BY_CPU,
	BY_ARG
};

struct stat {
	const struct nw_args *args;
	struct nw_run *run;
	struct nw_summary *summary;
	nw_span_defs spans;
	struct nw_sink sink;
	struct nw_buf out;
	struct nw_error err; /* of a report printed inside hit() */

	enum by by;
	int *by_arg; /* per probe: the argument to group by, -1 */
	bool needs_args, needs_tasks;
	struct { /* numbers that have been made into groups before */
		uint64_t number;
		int64_t group;
	} cache[CACHE];

	uint64_t next;	    /* trace clock: end of the current interval; UINT64_MAX: none */
	uint64_t most_hits; /* stop then; UINT64_MAX: go on */
	uint64_t interval;  /* reports printed */
	uint64_t filtered;  /* hits taken out since the last of them */
	uint64_t shown;	    /* when the status line was last written */
	bool status_line;
};

/* ---- groups ------------------------------------------------------------------------- */

static int64_t group_of_number(struct stat *s, uint64_t number, bool is_signed)
{
	size_t at = nw_hash64(number) % CACHE;
	char text[32];

	if (s->cache[at].group > 0 && s->cache[at].number == number)
		return s->cache[at].group - 1;
	int len = is_signed ? snprintf(text, sizeof(text), "%" PRId64, (int64_t)number)
			    : snprintf(text, sizeof(text), "%" PRIu64, number);
	int64_t group = nw_summary_group(s->summary, text, (size_t)len);
	s->cache[at].number = number;
	s->cache[at].group = group + 1;
	return group;
}

static int64_t group_of_arg(struct stat *s, const struct nw_hit *hit)
{
	int at = s->by_arg[hit->probe];
	struct nw_buf text = {0};

	if (at < 0 || (size_t)at >= hit->value_count)
		return -1;
	const struct nw_value *value = &hit->values[at];
	if (value->kind == NW_VALUE_SIGNED || value->kind == NW_VALUE_UNSIGNED)
		return group_of_number(s, value->number, value->kind == NW_VALUE_SIGNED);
	if (value->kind == NW_VALUE_STRING)
		return nw_summary_group(s->summary, value->text, value->len);
	nw_value_print(value, &text);
	int64_t group = nw_summary_group(s->summary, nw_buf_str(&text), text.len);
	nw_buf_free(&text);
	return group;
}

static nw_apart int64_t group_of(struct stat *s, const struct nw_hit *hit,
				 const struct nw_task *task)
{
	switch (s->by) {
	case BY_TID:
		return group_of_number(s, (uint32_t)hit->tid, false);
	case BY_PID:
		return group_of_number(s, (uint32_t)task->pid, false);
	case BY_CPU:
		return group_of_number(s, hit->cpu, false);
	case BY_COMM:
		return nw_summary_group(s->summary, task->comm, strlen(task->comm));
	case BY_ARG:
		return group_of_arg(s, hit);
	default:
		return 0;
	}
}

static void choose_by(struct stat *s)
{
	static const struct {
		const char *name;
		enum by by;
	} known[] = {{"tid", BY_TID}, {"pid", BY_PID}, {"comm", BY_COMM}, {"cpu", BY_CPU}};

	if (!s->args->by)
		return;
	s->by = BY_ARG;
	for (size_t i = 0; i < NW_COUNT(known); i++)
		if (strcmp(known[i].name, s->args->by) == 0)
			s->by = known[i].by;
	s->needs_args |= s->by == BY_ARG;
	s->needs_tasks |= s->by == BY_PID || s->by == BY_COMM;
}

/* Which argument of each probe --by means. At least one probe must have it. */
static int find_by_args(struct stat *s, struct nw_error *err)
{
	const struct nw_selection *selection = &s->run->selection;
	bool found = false;

	s->by_arg = calloc(selection->probes.count + 1, sizeof(*s->by_arg));
	if (!s->by_arg)
		return nw_no_memory(err);
	for (size_t i = 0; i < selection->probes.count; i++) {
		s->by_arg[i] = -1;
		for (size_t j = 0; j < selection->probes.item[i]->args.count; j++) {
			char name[32];
			nw_arg_name(selection->probes.item[i], j, name);
			if (s->by == BY_ARG && strcmp(name, s->args->by) == 0) {
				s->by_arg[i] = (int)j;
				found = true;
			}
		}
	}
	if (s->by != BY_ARG || found)
		return 0;
	nw_fail_usage(err, "--by '%s': no probe has an argument of that name", s->args->by);
	nw_error_hint(
		err,
		"name it in the spec, as in 'PROVIDER:NAME(%s)', or use arg0, arg1, ... "
		"or one of tid, pid, comm, cpu",
		s->args->by);
	return -EINVAL;
}

/* ---- reports ------------------------------------------------------------------------ */

static struct nw_report make_report(const struct stat *s)
{
	const struct nw_run *run = s->run;

	return (struct nw_report){
		.selection = &run->selection,
		.summary = s->summary,
		.spans = s->spans.item,
		.span_count = s->spans.count,
		.group_by = s->args->by,
		.disabled_at = run->disabled_at,
		.has_filter = run->filter != NULL,
		.filtered = run->filtered,
		.hist_args = s->args->hists.item,
		.hist_arg_count = s->args->hists.count,
		.gaps = s->args->verbose > 0,
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
	bool totals = s->args->form == NW_FORM_OPENMETRICS; /* its counters never shrink */
	struct nw_report report = make_report(s);

	s->interval++;
	report.interval = totals ? 0 : s->interval;
	report.elapsed_ns = totals ? s->next - s->run->start_ns : s->args->interval_ns;
	report.lost = nw_summary_lost(s->summary);
	report.states = s->run->states;
	report.filtered = totals ? s->run->filtered : s->filtered;
	s->filtered = 0;
	s->next += s->args->interval_ns;
	clear_status(s);
	if (totals && nw_summary_turn(s->summary) < 0)
		return nw_no_memory(err);
	nw_report_print(&report, s->args->form, &s->out);
	if (!totals && nw_summary_turn(s->summary) < 0)
		return nw_no_memory(err);
	int ret = nw_sink_write(&s->sink, &s->out, err);
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
	report.states = run->states;
	report.elapsed_ns = nw_run_elapsed(run);
	report.reason = run->reason;
	report.lost = run->lost;
	report.lost_is_least = run->lost_is_least;
	report.dropped = run->dropped;
	if (s->interval && s->args->form == NW_FORM_TEXT)
		nw_buf_adds(&s->out, "\n--- total ---\n");
	nw_report_print(&report, s->args->form, &s->out);
	if (s->args->verbose)
		nw_run_tell_cost(run);
	int ret = nw_sink_write(&s->sink, &s->out, err);
	return ret < 0 ? ret : nw_sink_close(&s->sink, err);
}

static void print_status(struct stat *s, const struct nw_run *run)
{
	char elapsed[16], rate[16], line[160];
	uint64_t ns = nw_run_elapsed(run);

	if (!s->status_line || run->now_ns - s->shown < STATUS_NS)
		return;
	s->shown = run->now_ns;
	nw_unit_duration(ns, elapsed);
	nw_unit_rate(ns ? (double)run->hits * 1e9 / (double)ns : 0, rate);
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

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct stat *s = arg;

	s->run = run;
	int ret = make_spans(s, err);
	if (ret == 0)
		ret = find_by_args(s, err);
	const struct nw_summary_options options = {
		.selection = &run->selection,
		.spans = s->spans.item,
		.span_count = s->spans.count,
		.args = has_named_args(run) || s->args->hists.count,
		.grouped = s->by != BY_NOTHING,
	};
	if (ret == 0)
		ret = nw_summary_open(&options, &s->summary, err);
	return ret < 0 ? ret : nw_sink_open(s->args, &s->sink, err);
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct stat *s = arg;
	size_t sites = nw_run_sites(run);

	s->next = s->args->interval_ns ? run->start_ns + s->args->interval_ns : UINT64_MAX;
	s->most_hits = s->args->count && !s->args->interval_ns ? s->args->count
							       : UINT64_MAX;
	s->status_line = !s->args->quiet && isatty(STDERR_FILENO) == 1;
	if (s->status_line)
		nw_note("attached %zu probes (%zu sites), Ctrl-C ends and reports",
			run->selection.probes.count, sites);
	nw_report_start(run->selection.probes.count, sites, s->args->form, &s->out);
	return nw_sink_write(&s->sink, &s->out, err);
}

static nw_cold int print_intervals(struct stat *s, uint64_t until)
{
	int ret = 0;

	while (ret == 0 && until >= s->next)
		ret = print_interval(s, &s->err);
	return ret;
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct stat *s = arg;
	int ret = hit->time >= s->next ? print_intervals(s, hit->time) : 0;
	int64_t group = s->by ? group_of(s, hit, task) : 0;

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

static int filtered(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct stat *s = arg;
	int ret = 0;

	if (nw_unlikely(hit->time >= s->next))
		ret = print_intervals(s, hit->time);
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

	while (ret == 0 && nw_run_known(run) >= s->next && run->now_ns >= s->next)
		ret = print_interval(s, err);
	if (ret == 0 && run->wake.report) { /* SIGUSR1: what there is so far */
		struct nw_report report = make_report(s);
		run->wake.report = false;
		report.elapsed_ns = nw_run_elapsed(run);
		report.lost = nw_summary_lost(s->summary);
		clear_status(s);
		nw_report_print(&report, NW_FORM_TEXT, &s->out);
		ret = nw_sink_write(&s->sink, &s->out, err);
	}
	print_status(s, run);
	return ret;
}

/* ---- the command -------------------------------------------------------------------- */

static void free_stat(struct stat *s)
{
	nw_summary_free(s->summary);
	nw_spans_free(&s->spans);
	nw_buf_free(&s->out);
	free(s->by_arg);
}

static bool keyed_by(const struct nw_args *args, const char *key)
{
	nw_vec_each (&args->spans, text) {
		const char *at = strstr(*text, ",key=");
		if (at && (key ? strcmp(at + 5, key) == 0
			       : strcmp(at + 5, "tid") != 0 && strcmp(at + 5, "pid") != 0))
			return true;
	}
	return false;
}

static int run(const struct nw_args *args)
{
	struct stat s = {.args = args};
	struct nw_error err = {0};
	struct nw_run run;

	choose_by(&s);
	s.needs_args |= args->hists.count || keyed_by(args, NULL);
	s.needs_tasks |= keyed_by(args, "pid");
	/* with these there is more to a hit than the summary */
	bool watched = s.by || args->interval_ns || args->count;
	const struct nw_consumer consumer = {
		.arg = &s,
		.all_args = s.needs_args,
		.values = s.needs_args,
		.comms = s.needs_tasks,
		.large_pages = true,
		.start = start,
		.armed = armed,
		.hit = hit,
		.hits = watched ? NULL : hits,
		.counted = watched ? NULL : counted,
		.filtered = filtered,
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
		"--max-rate disables what is hit too often; -v tells what the hits cost.\n"
		"\n"
		"With -- CMD the probes are armed before CMD starts. If CMD itself runs "
		"the probed\n"
		"file, only CMD and its children are counted (-a: everybody); if the "
		"probes are in\n"
		"another program, CMD is just the load, and everybody is.",
	.reports = true,
	.options = "pid follow all exe types duration interval count output format json by "
		   "filter span hist max-rate buffer from strict dry-run force quiet "
		   "verbose color",
	.run = run,
};
