// SPDX-License-Identifier: MIT
/* The consumer that summarises hits in groups, spans and intervals. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "find/probe/spec_habits.h"
#include "run/run.h"

#include "by.h"
#include "kernel_counts.h"
#include "measure.h"
#include "slower.h"

/* ---- what is measured --------------------------------------------------------------- */

static int make_spans(struct nw_measure *m, const struct nw_selection *selection,
		      struct nw_error *err)
{
	int ret = 0;

	if ((!m->options.span_count || m->options.implied) &&
	    nw_spans_by_name(selection, &m->spans) < 0)
		return nw_no_memory(err);
	for (size_t i = 0; ret == 0 && i < m->options.span_count; i++) {
		struct nw_span_def *def = nw_vec_add(&m->spans);
		if (!def)
			return nw_no_memory(err);
		ret = nw_span_parse(m->options.spans[i], selection, def, err);
	}
	return ret;
}

/* Refuses options about spans if there are none. A timeline (listener) shows more than spans; text has its probes
 * only as it comes. */
static int check_spans(const struct nw_measure *m, const struct nw_run *run,
		       struct nw_error *err)
{
	const struct nw_measure_options *options = &m->options;
	const char *option = options->slower.slowest		     ? "--slowest"
			     : options->open			     ? "--open"
			     : options->spans_only		     ? "--spans-only"
			     : nw_slower_asked(&options->slower)     ? "--slower"
			     : options->net && !options->listener    ? "--net"
			     : options->states && !options->listener ? "--states"
								     : NULL;

	if (m->spans.count || !option || !(run->source->live || run->source->recorded))
		return 0;
	nw_fail_usage(err, "%s tells of spans, and these probes form none", option);
	nw_error_hint(
		err,
		"add the probe at the other end, pair two with --span START..END, or time a function: func:FILE:FUNCTION");
	return -EINVAL;
}

/* Refuses --net for functions of the kernel: what a hit of these costs is not measured. */
static int check_net(const struct nw_measure *m, const struct nw_selection *selection,
		     struct nw_error *err)
{
	if (!m->options.net)
		return 0;
	nw_vec_each (&selection->probes, probe)
		if (nw_probe_in_kernel_function(*probe))
			return nw_fail(
				err, ENOTSUP,
				"--net: what a hit of %s costs is not known, since it is a function of the kernel",
				(*probe)->label);
	return 0;
}

/* Refuses --hist for an argument that no probe has. */
static int check_hists(const struct nw_measure *m, const struct nw_selection *selection,
		       struct nw_error *err)
{
	nw_vec_each (&m->hists, hist) {
		const char *name = hist->name;
		bool found = false;
		nw_vec_each (&selection->probes, probe)
			found |= nw_arg_find(*probe, name) >= 0;
		if (found)
			continue;
		nw_fail_usage(err, "--hist '%s': no probe has an argument of that name",
			      name);
		nw_error_hint(
			err,
			"name it in the spec, as in 'PROVIDER:NAME(%s)', or use arg0, arg1, ...",
			name);
		if (nw_arg_habit(name))
			nw_error_hint(err, "%s", nw_arg_habit(name));
		if (strchr(name, '('))
			nw_error_hint(
				err,
				"write --hist ARG for powers of two, or --hist ARG:MIN:MAX:STEP");
		return -EINVAL;
	}
	return 0;
}

/* Counts the stack of a span: that of its start, or of its end if only that has one. */
static void count_stack(struct nw_measure *m, const struct nw_span_event *event,
			const struct nw_hit *began)
{
	uint32_t stack = began && began->callers ? began->callers : event->hit->callers;

	if (nw_stack_count(&m->stacks, (struct nw_stack_key){true, event->span, stack},
			   event->latency) < 0)
		nw_no_memory(&m->failure);
}

static void show_slow(struct nw_measure *m, const struct nw_span_event *event)
{
	struct nw_slow_span slow;

	if (event->moment == NW_SPAN_ENDS) {
		m->ended_spans++;
		m->longest_ns = nw_max64(m->longest_ns, event->latency);
	}
	if (!nw_slow_watch_span(m->slow, event, &slow) || m->failure.code)
		return;
	const struct nw_run_result *so_far = nw_run_so_far(m->run);
	slow.selection = &so_far->selection;
	slow.net = m->options.net;
	slow.has_cost = so_far->hit_costs &&
			(m->options.costs > NW_COSTS_KNOWN || m->options.net);
	slow.stacks = so_far->stacks;
	slow.span = &m->spans.item[event->span];
	slow.task = m->task ? m->task : nw_run_task(m->run, event->hit->tid);
	slow.run_start = so_far->start_ns;
	slow.wall_ns = so_far->wall_ns;
	if (m->options.slower.slowest) {
		if (nw_slow_watch_keep(m->slow, &slow, event->span) < 0)
			nw_no_memory(&m->failure);
		return;
	}
	if (so_far->stacks)
		count_stack(m, event, slow.began);
	m->slow_spans++;
	int ret = m->options.slow(m->options.arg, &slow, &m->failure);
	if (ret < 0 && !m->failure.code)
		m->failure.code =
			/* Nobody reads the output any more, so there is nothing to report */
			-ret;
}

static void bin_span(struct nw_measure *m, const struct nw_span_event *event)
{
	int64_t group = m->by->keys.count ? event->group : 0;

	if (group < 0) /* a hit without such an argument */
		group = nw_summary_group(m->summary, "?", 1);
	if (!m->failure.code &&
	    (group < 0 || nw_bins_span(m->bins, event, (uint32_t)group) < 0))
		nw_no_memory(&m->failure);
}

/* Passes an event of a span to the options' listener, to the bins, and to the code that shows slow spans and counts
 * stacks. */
static void listen(void *arg, const struct nw_span_event *event)
{
	struct nw_measure *m = arg;

	if (m->options.listener)
		m->options.listener(m->options.arg, event);
	if (m->bins)
		bin_span(m, event);
	if (m->slow)
		show_slow(m, event);
	if (m->slow && nw_slow_watch_failed(m->slow))
		nw_no_memory(&m->failure);
	if (m->starts && !m->keeps_starts) {
		const struct nw_task *task = NULL;
		if (event->moment == NW_SPAN_BEGINS)
			task = m->task ? m->task : nw_run_task(m->run, event->hit->tid);
		const struct nw_hit *began = nw_span_starts_follow(m->starts, event, task);
		if (nw_span_starts_failed(m->starts))
			nw_no_memory(&m->failure);
		if (m->counts_stacks && event->moment == NW_SPAN_ENDS)
			count_stack(m, event, began);
	}
}

static void comm_of(void *arg, int32_t tid, char out[16])
{
	const struct nw_task *task = nw_run_task(((struct nw_measure *)arg)->run, tid);

	memcpy(out, task ? task->comm : "", task ? 16 : 1);
}

/* Are bins and thread states the only users of span events? */
static bool is_lazy(const struct nw_measure *m)
{
	return !m->options.listener && !m->slow && !m->starts;
}

static const char *channel_of(void *arg, const struct nw_value *callers, uint64_t *function)
{
	return nw_run_wait_channel(((struct nw_measure *)arg)->run, callers, function);
}

static int open_summary(struct nw_measure *m, const struct nw_by *by,
			struct nw_summary **out, struct nw_error *err)
{
	const struct nw_selection *selection = &nw_run_so_far(m->run)->selection;
	enum nw_counted_args args = NW_ARGS_NONE;

	nw_vec_each (&selection->probes, probe)
		if ((*probe)->has_args && !(*probe)->hidden)
			args = NW_ARGS_NAMED;
	if (m->options.hist_count)
		args = NW_ARGS_ALL;
	const struct nw_summary_options options = {
		.selection = selection,
		.spans = m->spans.item,
		.span_count = m->spans.count,
		.args = args,
		.hists = &m->hists,
		.grouped = by->keys.count > 0,
		.most_groups = nw_by_most_groups(by),
		.late_keys = nw_by_late_keys(by),
		.states = m->options.states,
		.names = {.comm = comm_of, .channel = channel_of, .arg = m},
		.listener = m->options.listener || m->options.bins || m->slow || m->starts
				    ? listen
				    : NULL,
		.listener_arg = m,
		.lazy = is_lazy(m) || (m->options.ends_only && !m->slow && !m->starts),
		.bins = m->options.bins,
		.intervals = !m->options.totals,
	};

	return nw_summary_open(&options, out, err);
}

static int open_starts(struct nw_measure *m, const struct nw_selection *selection,
		       struct nw_error *err)
{
	bool callers = false;

	nw_vec_each (&selection->probes, probe)
		callers |= (*probe)->callers;
	/* If slow spans are shown as they end, only their stacks are counted. */
	m->counts_stacks = callers && (!m->slow || m->options.slower.slowest);
	if ((m->counts_stacks || m->options.open) && nw_span_starts_open(&m->starts) < 0)
		return nw_no_memory(err);
	if (!callers)
		return 0;
	m->begins = calloc(selection->probes.count + 1, sizeof(*m->begins));
	if (!m->begins)
		return nw_no_memory(err);
	nw_vec_each (&m->spans, span)
		nw_vec_each (&span->starts, probe)
			m->begins[*probe] = true;
	return 0;
}

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_measure *m = arg;
	const struct nw_selection *selection = &nw_run_so_far(run)->selection;
	const struct nw_kept *kept = nw_run_kept(run);

	m->run = run;
	int ret = kept ? nw_measure_take_kept(m, kept, err) : 0;
	if (ret == 0)
		ret = make_spans(m, selection, err);
	if (ret == 0)
		ret = check_spans(m, run, err);
	if (ret == 0)
		ret = check_net(m, selection, err);
	if (ret == 0)
		ret = check_hists(m, selection, err);
	if (ret == 0)
		ret = nw_by_bind(m->by, run, err);
	bool slow = nw_slower_asked(&m->options.slower);
	if (ret == 0 && slow &&
	    nw_slow_watch_open(&m->options.slower, m->spans.count, &m->slow) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = open_starts(m, selection, err);
	if (ret == 0)
		ret = open_summary(m, m->by, &m->summary, err);
	return ret == 0 && m->options.start ? m->options.start(m->options.arg, err) : ret;
}

static bool is_wanted(void *arg, int32_t tid)
{
	return nw_run_is_traced_thread(arg, tid);
}

static const struct nw_task *task_of(void *arg, int32_t tid)
{
	return nw_run_task(arg, tid);
}

static int open_bins(const struct nw_measure *m, struct nw_summary *summary, bool grouped,
		     uint64_t start, struct nw_bins **out, struct nw_error *err)
{
	const struct nw_run_result *so_far = nw_run_so_far(m->run);
	const struct nw_bins_options options = {
		.probes = so_far->selection.probes.count,
		.spans = m->spans.item,
		.span_count = m->spans.count,
		.start = start,
		.task = task_of,
		.task_arg = m->run,
		.collect = nw_bins_of_summary,
		.collect_arg = summary,
	};
	int ret = m->options.bins ? nw_bins_open(&options, out, err) : 0;

	if (*out && !grouped && is_lazy(m))
		nw_summary_emit_above(summary, nw_bins_least(*out));
	return ret;
}

/* Tells the summary the facts of the run that it needs. */
static int use_run(const struct nw_measure *m, struct nw_summary *summary)
{
	const struct nw_run_result *so_far = nw_run_so_far(m->run);

	if (so_far->has_stacks)
		nw_summary_use_stacks(summary);
	if (so_far->named_threads)
		nw_summary_named_threads(summary, so_far->has_named);
	if (so_far->restricted)
		nw_summary_set_thread_filter(summary, is_wanted, m->run);
	/* Without other probes, a span contains no hits but its own, whose overhead is known without counting. */
	bool counts = m->options.costs > NW_COSTS_KNOWN || m->options.net ||
		      (m->options.costs && m->spans.count &&
		       so_far->selection.probes.count > 2);
	return so_far->hit_costs && counts
		       ? nw_summary_use_cost(summary, so_far->hit_costs, m->options.net)
		       : 0;
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_measure *m = arg;
	const struct nw_run_result *so_far = nw_run_so_far(run);
	uint64_t interval = m->options.interval_ns, count = m->options.count;

	if (use_run(m, m->summary) < 0)
		return nw_no_memory(err);
	m->next = interval ? so_far->start_ns + interval : UINT64_MAX;
	m->most_hits = count && !interval ? count : UINT64_MAX;
	int ret = open_bins(m, m->summary, m->by->keys.count > 0, so_far->start_ns,
			    &m->bins, err);
	return ret == 0 && m->options.armed ? m->options.armed(m->options.arg, err) : ret;
}

void nw_measure_set_interval(struct nw_measure *m, uint64_t interval_ns)
{
	m->options.interval_ns = interval_ns;
	m->next = nw_run_so_far(m->run)->start_ns + interval_ns;
	m->most_hits = UINT64_MAX;
}

/* ---- other groups ------------------------------------------------------------------- */

/* Are the values of the probe's arguments fetched? */
static bool has_values(const struct nw_measure *m, const struct nw_probe *probe)
{
	return m->every_arg || probe->has_args;
}

void nw_measure_keys(const struct nw_measure *m, struct nw_buf *out)
{
	nw_strings known = {0};

	nw_buf_adds(out, "tid, pid, comm, cpu, title");
	nw_vec_each (&nw_run_so_far(m->run)->selection.probes, probe) {
		for (size_t i = 0; has_values(m, *probe) && i < (*probe)->args.count; i++) {
			char name[NW_ARG_NAME];
			nw_arg_name(*probe, i, name);
			if (nw_strings_has(&known, name))
				continue;
			nw_buf_printf(out, ", %s", name);
			if (nw_strings_add(&known, name, strlen(name)) < 0)
				out->failed = true;
		}
	}
	nw_strings_free(&known);
}

static int make_by(const struct nw_measure *m, const char *text, struct nw_by *out,
		   struct nw_error *err)
{
	const struct nw_selection *selection = &nw_run_so_far(m->run)->selection;
	int ret = nw_by_parse(text, out, err);

	if (ret == 0)
		ret = nw_by_bind(out, m->run, err);
	nw_vec_each (&out->keys, key) {
		bool fetched = !key->arg;
		for (size_t i = 0; ret == 0 && !fetched && i < selection->probes.count; i++)
			fetched = key->arg[i] >= 0 &&
				  has_values(m, selection->probes.item[i]);
		if (ret == 0 && !fetched)
			ret = nw_fail_usage(
				err,
				"'%s' is not fetched: name it in the spec, as in 'PROVIDER:NAME(%s)', or begin with --by",
				key->name, key->arg_name);
	}
	return ret;
}

/* Transfers the state of the run to a new summary, whose groups do not know the spans that are open now. */
static int hand_over(const struct nw_measure *m, struct nw_summary *summary)
{
	const struct nw_run_result *so_far = nw_run_so_far(m->run);

	if (use_run(m, summary) < 0)
		return -ENOMEM;
	nw_summary_inherit_losses(summary, m->summary, nw_run_watermark(m->run));
	nw_summary_copy_thread_table(summary, m->summary);
	for (uint32_t i = 0; so_far->disabled_at && i < so_far->selection.probes.count; i++)
		if (so_far->disabled_at[i])
			nw_summary_disabled(summary, i, so_far->disabled_at[i]);
	return 0;
}

int nw_measure_regroup(struct nw_measure *m, const char *text, struct nw_error *err)
{
	struct nw_by *by = calloc(1, sizeof(*by));
	uint64_t known = nw_run_watermark(m->run);
	struct nw_summary *summary = NULL;
	struct nw_bins *bins = NULL;
	int ret = by ? make_by(m, text, by, err) : nw_no_memory(err);

	if (ret == 0)
		ret = open_summary(m, by, &summary, err);
	if (ret == 0)
		ret = open_bins(m, summary, by->keys.count > 0, known, &bins, err);
	if (ret == 0 && hand_over(m, summary) < 0)
		ret = nw_no_memory(err);
	if (ret == 0) {
		struct nw_by *old = m->by;
		nw_summary_free(m->summary);
		nw_bins_free(m->bins);
		m->summary = summary;
		m->bins = bins;
		summary = NULL;
		bins = NULL;
		m->options.by = text;
		m->by = by;
		by = old;
	}
	nw_bins_free(bins);
	nw_summary_free(summary);
	if (by)
		nw_by_free(by);
	free(by);
	return ret;
}

/* ---- intervals ---------------------------------------------------------------------- */

static bool is_due(const struct nw_measure *m, uint64_t until)
{
	return until >= m->next && m->next != UINT64_MAX;
}

static int enough(const struct nw_measure *m)
{
	return m->options.count && m->intervals >= m->options.count ? -ECANCELED : 0;
}

/* Ends the current interval, for the last one perhaps before its time. */
static int end_interval(struct nw_measure *m, uint64_t end, struct nw_error *err)
{
	uint64_t length = m->options.interval_ns;
	int ret = 0;

	ret = nw_measure_refresh(m, err);
	if (ret < 0)
		return ret;
	m->intervals++;
	m->next = length > UINT64_MAX - end ? UINT64_MAX : end + length;
	if (m->options.totals && nw_summary_next_interval(m->summary) < 0)
		return nw_no_memory(err);
	if (m->options.interval)
		ret = m->options.interval(m->options.arg, m->intervals, end, err);
	m->filtered = 0;
	if (ret == 0 && !m->options.totals && nw_summary_next_interval(m->summary) < 0)
		return nw_no_memory(err);
	return ret < 0 ? ret : enough(m);
}

/* Reports several quiet intervals as one line: time may jump by years, in text from anywhere or if the machine was
 * asleep. */
static int skip_intervals(struct nw_measure *m, uint64_t count, struct nw_error *err)
{
	uint64_t length = m->options.interval_ns, first = m->intervals + 1;
	int ret = 0;

	if (m->options.count)
		count = nw_min64(count, m->options.count - m->intervals);
	m->intervals += count;
	m->next = count > (UINT64_MAX - m->next) / length ? UINT64_MAX
							  : m->next + count * length;
	if (m->options.quiet)
		ret = m->options.quiet(m->options.arg, first, count, err);
	return ret < 0 ? ret : enough(m);
}

static nw_cold int end_intervals(struct nw_measure *m, uint64_t until, struct nw_error *err)
{
	enum {
		QUIET_LEAST = 3 /* fewer are reported one by one */
	};
	int ret = is_due(m, until) ? end_interval(m, m->next, err) : 0;

	/* Everything that happened was in the interval that has just ended. */
	while (ret == 0 && is_due(m, until)) {
		uint64_t count = (until - m->next) / m->options.interval_ns + 1;
		ret = count < QUIET_LEAST ? end_interval(m, m->next, err)
					  : skip_intervals(m, count, err);
	}
	return ret;
}

static int tick(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_measure *m = arg;
	uint64_t until = nw_min64(nw_run_watermark(run), nw_run_so_far(run)->now_ns);
	int ret = is_due(m, until) ? end_intervals(m, until, err) : 0;

	return ret == 0 && m->options.tick ? m->options.tick(m->options.arg, err) : ret;
}

static bool ends_with_interval(const struct nw_measure *m)
{
	return m->options.interval_ns && !m->options.totals && !m->options.bins &&
	       enough(m) == 0;
}

int nw_measure_catch_up(struct nw_measure *m, uint64_t end, struct nw_error *err)
{
	int ret = 0;

	if (ends_with_interval(m) && end > m->next)
		ret = end_intervals(m, end - 1, err);
	return ret == -ECANCELED ? 0 : ret;
}

int nw_measure_end(struct nw_measure *m, uint64_t end, struct nw_error *err)
{
	int ret = nw_measure_catch_up(m, end, err);

	nw_summary_give_up(m->summary); /* the last interval has them */
	if (ret == 0 && ends_with_interval(m) && end > m->next - m->options.interval_ns)
		ret = end_interval(m, end, err);
	return ret == -ECANCELED ? 0 : ret;
}

/* ---- hits --------------------------------------------------------------------------- */

/* Takes several hits bin by bin, since the summary's rows become cells at the end of each bin. */
static nw_noinline int bin_hits(struct nw_measure *m, const struct nw_hit *hits,
				size_t count)
{
	int ret = 0;

	while (ret == 0 && count) {
		ret = nw_bins_reach(m->bins, hits->time);
		size_t some = nw_bins_together(m->bins, hits, count);
		if (ret == 0)
			ret = nw_summary_hits(m->summary, hits, some);
		if (ret == 0)
			ret = -m->failure.code;
		hits += some;
		count -= some;
	}
	return ret;
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct nw_measure *m = arg;
	int ret = hit->time >= m->next ? end_intervals(m, hit->time, &m->failure) : 0;
	int64_t group = m->by->keys.count
				? nw_by_group(m->by, m->run, m->summary, hit, task)
				: 0;

	if (ret == 0 &&
	    nw_unlikely(group == -ENOMEM)) /* -1: the hit has no such argument */
		ret = -ENOMEM;
	m->task = task;
	if (ret == 0 && nw_unlikely(hit->callers) && m->counts_stacks &&
	    !m->begins[hit->probe])
		ret = nw_stack_count(&m->stacks,
				     (struct nw_stack_key){false, hit->probe, hit->callers},
				     0);
	if (ret == 0 && m->bins)
		ret = nw_bins_reach(m->bins, hit->time);
	if (ret == 0)
		ret = nw_summary_hit(m->summary, hit, task ? task->pid : 0, group);
	m->task = NULL;
	if (ret == 0 && m->failure.code)
		ret = m->failure.code == EPIPE || m->failure.code == ENOMEM
			      ? -m->failure.code
			      : -EIO;
	if (ret == 0 && nw_run_so_far(m->run)->hits >= m->most_hits)
		ret = -ECANCELED;
	return ret;
}

/* Tells that time has advanced without a hit, which may end intervals. */
static int reached(void *arg, uint64_t time)
{
	struct nw_measure *m = arg;

	return time >= m->next ? end_intervals(m, time, &m->failure) : 0;
}

static int hits(void *arg, const struct nw_hit *hits, size_t count)
{
	struct nw_measure *m = arg;
	int ret = nw_unlikely(m->bins) ? bin_hits(m, hits, count)
				       : nw_summary_hits(m->summary, hits, count);

	return ret == 0 && m->failure.code == ENOMEM ? -ENOMEM : ret;
}

static uint64_t counted(void *arg, size_t probe)
{
	const struct nw_measure *m = arg;

	return nw_summary_probe_hits(m->summary, probe);
}

static int other_hit(void *arg, enum nw_other_hit what, const struct nw_hit *hit,
		     const struct nw_task *task)
{
	struct nw_measure *m = arg;
	int ret = hit->time >= m->next ? end_intervals(m, hit->time, &m->failure) : 0;

	if (ret < 0)
		return ret;
	switch (what) {
	case NW_HIT_SCHEDULER:
		m->scheduled++;
		nw_summary_scheduled(m->summary, hit);
		break;
	case NW_HIT_UNTRACED: /* sched_switch also concerns the next thread, which may be traced */
		ret = nw_summary_untraced_hit(m->summary, hit);
		break;
	case NW_HIT_FILTERED:
		m->filtered++;
		if (ret == 0)
			ret = nw_summary_filtered(m->summary, hit, task ? task->pid : 0);
		break;
	}
	return ret;
}

static void disabled(void *arg, uint32_t probe, uint64_t at)
{
	nw_summary_disabled(((struct nw_measure *)arg)->summary, probe, at);
}

static void thread(void *arg, const struct nw_thread_event *event)
{
	struct nw_measure *m = arg;
	struct nw_summary *summary = m->summary;

	switch (event->what) {
	case NW_THREAD_BORN:
		nw_summary_born(summary, event->tid);
		break;
	case NW_THREAD_EXEC:
		nw_summary_exec(summary, event->tid, event->old_tid);
		break;
	case NW_THREAD_EXIT:
		if (m->counts && nw_kernel_counts_exit(m->counts, event->tid) < 0)
			nw_no_memory(&m->failure);
		nw_summary_exit(summary, event->tid);
		break;
	case NW_THREAD_NAMED:
		nw_summary_thread_named(summary, event->tid, event->from);
		break;
	}
}

static void loss(void *arg, const struct nw_record *record)
{
	struct nw_measure *m = arg;

	if (m->bins)
		nw_bins_loss(m->bins, record->time, record->until, record->lost);
	nw_summary_loss(m->summary, record->until, record->lost);
	if (record->lost && record->lost_is_least)
		nw_summary_loss(m->summary, record->until, 0);
}

/* ---- the whole ---------------------------------------------------------------------- */

int nw_measure_open(const struct nw_measure_options *options, struct nw_measure *out,
		    struct nw_error *err)
{
	*out = (struct nw_measure){.options = *options, .by = calloc(1, sizeof(*out->by))};
	bool ok = out->by != NULL;

	if (ok && options->by)
		ok = nw_strings_add(&out->uses, options->by, strlen(options->by)) == 0;
	int ret = ok ? nw_by_parse(options->by, out->by, err) : nw_no_memory(err);
	for (size_t i = 0; ret == 0 && i < options->hist_count; i++) {
		ret = nw_hist_parse(options->hists[i], &out->hists, err);
		const char *name = ret < 0 ? NULL : out->hists.item[i].name;
		if (name && (nw_strings_add(&out->uses, name, strlen(name)) < 0 ||
			     (strncmp(name, "json(", 5) == 0 &&
			      !nw_strings_has(&out->members, name) &&
			      nw_strings_add(&out->members, name, strlen(name)) < 0)))
			ret = nw_no_memory(err);
	}
	if (ret < 0)
		nw_measure_close(out);
	return ret;
}

static bool keyed_by(const struct nw_measure_options *options,
		     bool (*needs)(const char *text))
{
	for (size_t i = 0; i < options->span_count; i++)
		if (needs(options->spans[i]))
			return true;
	return false;
}

struct nw_consumer nw_measure_consumer(struct nw_measure *m)
{
	const struct nw_measure_options *options = &m->options;
	bool slow = nw_slower_asked(&options->slower) || options->open;
	bool needs_args = nw_by_needs_args(m->by) || options->hist_count || slow ||
			  keyed_by(options, nw_span_needs_args);
	bool comms = nw_by_needs_tasks(m->by) || slow || options->states ||
		     keyed_by(options, nw_span_needs_pids);
	/* These need more from a hit than the summary has. */
	bool one_by_one = m->by->keys.count || options->interval_ns || options->count ||
			  options->one_by_one || comms || options->states;

	m->every_arg |= needs_args;
	return (struct nw_consumer){
		.arg = m,
		.needs =
			{
				.all_args = needs_args,
				.values = needs_args || options->states,
				.fetched = options->bins,
				.threads = options->bins,
				.scheduler = options->states,
				.descriptors = nw_by_needs_descriptors(m->by),
				.costs = options->net ? NW_COSTS_NEEDED : options->costs,
				.stacks = true,
				.comms = comms,
				.large_pages = true,
				.uses = (const char *const *)m->uses.item,
				.use_count = m->uses.count,
				.members = (const char *const *)m->members.item,
				.member_count = m->members.count,
			},
		.start = start,
		.count = nw_measure_count,
		.stopping = nw_measure_stopping,
		.stopped = nw_measure_stopped,
		.armed = armed,
		.hit = hit,
		.hits = one_by_one ? NULL : hits,
		.counted = one_by_one ? NULL : counted,
		.other_hit = other_hit,
		.reached = reached,
		.disabled = disabled,
		.thread = thread,
		.loss = loss,
		.tick = tick,
	};
}

void nw_measure_close(struct nw_measure *m)
{
	nw_summary_free(m->summary);
	nw_slow_watch_free(m->slow);
	nw_span_starts_free(m->starts);
	nw_stack_counts_free(&m->stacks);
	free(m->begins);
	nw_bins_free(m->bins);
	nw_spans_free(&m->spans);
	if (m->by)
		nw_by_free(m->by);
	free(m->by);
	nw_hists_free(&m->hists);
	nw_strings_free(&m->uses);
	nw_strings_free(&m->members);
	if (m->counts)
		nw_kernel_counts_close(m->counts);
	free(m->counts);
	*m = (struct nw_measure){0};
}
