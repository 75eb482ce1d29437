// SPDX-License-Identifier: MIT
/* The consumer that shows each hit and each span, for formats that draw timelines; or only slow spans. */
#include <errno.h>

#include "run/engine.h"

enum {
	FLUSH_AT = 1 << 16
};

static int flush(struct nw_timeline *t, struct nw_error *err)
{
	struct nw_buf *text = &t->output.text;

	return text->len || text->failed ? t->options.write(t->options.arg, text, err) : 0;
}

static void listen(void *arg, const struct nw_span_event *event)
{
	nw_output_span(&((struct nw_timeline *)arg)->output, event);
}

static bool is_full(struct nw_timeline *t)
{
	return t->output.text.len >= FLUSH_AT;
}

static int slow(void *arg, const struct nw_slow_span *slow, struct nw_error *err)
{
	struct nw_timeline *t = arg;
	struct nw_slow_span shown = *slow;

	if (t->options.count && t->measure.slow_spans > t->options.count)
		return 0;
	shown.wall = t->options.wall;
	nw_output_slow(&t->output, &shown);
	return is_full(t) ? flush(t, err) : 0;
}

static bool only_slow(const struct nw_timeline *t)
{
	return nw_slower_asked(&t->options.slower);
}

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_timeline *t = arg;

	t->run = run;
	if (nw_output_make(t->options.format, &t->output) < 0)
		return nw_no_memory(err);
	t->output.plain = t->options.plain;
	int ret = t->inner.start(t->inner.arg, run, err);
	return ret == 0 && t->options.start ? t->options.start(t->options.arg, err) : ret;
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_timeline *t = arg;
	const struct nw_run_result *so_far = nw_run_so_far(run);
	const struct nw_begin begin = {
		.selection = &so_far->selection,
		.spans = t->measure.spans.item,
		.span_count = t->measure.spans.count,
		.group_by = t->options.by,
		.summary = t->measure.summary,
		.hidden = nw_selection_hidden(&so_far->selection),
		.sites = nw_result_sites(so_far),
		.net = t->options.net,
		.header = t->options.header,
		.bold = t->options.bold,
	};

	nw_output_begin(&t->output, &begin);
	if (t->options.armed)
		t->options.armed(t->options.arg, so_far);
	int ret = t->inner.armed(t->inner.arg, run, err);
	return ret < 0 ? ret : flush(t, err);
}

/* Takes a hit that is not shown. It may end a span that is. */
static int hit_unseen(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct nw_timeline *t = arg;
	int ret = t->inner.hit(t->inner.arg, hit, task);

	t->failure = t->measure.failure;
	if (ret == 0 && t->options.count && t->measure.slow_spans >= t->options.count)
		ret = -ECANCELED;
	return ret;
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct nw_timeline *t = arg;
	const struct nw_event_line line = nw_run_event_line(t->run, hit, task);

	nw_output_event(&t->output, &line);
	int ret = t->inner.hit(t->inner.arg, hit, task);
	if (ret == 0 && is_full(t) && flush(t, &t->failure) < 0)
		ret = t->failure.code == EPIPE ? -EPIPE : -EIO;
	return ret;
}

/* Takes another hit. Only the scheduler's events are shown, from which formats with timelines draw the states of
 * threads. The hit may still begin or end a span. */
static int other_hit(void *arg, enum nw_other_hit what, const struct nw_hit *hit,
		     const struct nw_task *task)
{
	struct nw_timeline *t = arg;

	if (what == NW_HIT_SCHEDULER && !only_slow(t)) {
		const struct nw_event_line line = nw_run_event_line(
			t->run, hit, nw_run_task(t->run, hit->tid));
		nw_output_event(&t->output, &line);
	}
	return t->inner.other_hit(t->inner.arg, what, hit, task);
}

static void loss(void *arg, const struct nw_record *record)
{
	struct nw_timeline *t = arg;

	nw_output_loss(&t->output, record);
	t->inner.loss(t->inner.arg, record);
}

static void disabled(void *arg, uint32_t probe, uint64_t at)
{
	struct nw_timeline *t = arg;
	const struct nw_disabled disabled = nw_result_disabled(nw_run_so_far(t->run), probe,
							       at);

	nw_output_disabled(&t->output, &disabled);
	t->inner.disabled(t->inner.arg, probe, at);
}

static void thread(void *arg, const struct nw_thread_event *event)
{
	struct nw_timeline *t = arg;

	t->inner.thread(t->inner.arg, event);
}

static int tick(void *arg, struct nw_run *run, struct nw_error *err)
{
	(void)run;
	return flush(arg, err);
}

int nw_timeline_open(const struct nw_timeline_options *options, struct nw_timeline *out,
		     struct nw_error *err)
{
	*out = (struct nw_timeline){.options = *options};
	const struct nw_measure_options measured = {
		.spans = options->spans,
		.span_count = options->span_count,
		.by = options->by,
		.count = only_slow(out) ? 0 : options->count,
		.listener = only_slow(out) ? NULL : listen,
		.slower = options->slower,
		.states = options->states,
		.net = options->net,
		.costs = options->costs,
		.slow = slow,
		.arg = out,
	};
	int ret = nw_measure_open(&measured, &out->measure, err);
	if (ret == 0)
		out->inner = nw_measure_consumer(&out->measure);
	return ret;
}

struct nw_consumer nw_timeline_consumer(struct nw_timeline *timeline)
{
	return (struct nw_consumer){
		.arg = timeline,
		.needs =
			{
				.all_args = true,
				.values = true,
				.stacks = true,
				.comms = true,
				.scheduler = timeline->options.states,
				.costs = timeline->inner.needs.costs,
			},
		.start = start,
		.armed = armed,
		.hit = only_slow(timeline) ? hit_unseen : hit,
		.other_hit = other_hit,
		.disabled = disabled,
		.thread = thread,
		.loss = loss,
		.tick = tick,
	};
}

int nw_timeline_finish(struct nw_timeline *t, const struct nw_run_result *result,
		       struct nw_error *err)
{
	const struct nw_end end = nw_result_end(result);

	nw_summary_finish(t->measure.summary);
	nw_output_end(&t->output, &end);
	return flush(t, err);
}

void nw_timeline_free(struct nw_timeline *timeline)
{
	nw_measure_close(&timeline->measure);
	nw_output_free(&timeline->output);
}
