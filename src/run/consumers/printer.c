// SPDX-License-Identifier: MIT
/* The consumer that prints each hit and what comes between hits; with formats that draw timelines also each span; or only
 * slow spans. */
#include <errno.h>

#include "run/engine.h"

enum {
	FLUSH_AT = 1 << 16
};

static int flush(struct nw_printer *p, struct nw_error *err)
{
	struct nw_buf *text = &p->output.text;

	return text->len || text->failed ? p->options.write(p->options.arg, text, err) : 0;
}

static bool is_full(struct nw_printer *p)
{
	return p->output.text.len >= FLUSH_AT;
}

static bool only_slow(const struct nw_printer_options *options)
{
	return nw_slower_asked(&options->slower);
}

static bool has_spans(const struct nw_printer_options *options)
{
	return options->format->spans || only_slow(options);
}

/* ---- spans -------------------------------------------------------------------------- */

static void listen(void *arg, const struct nw_span_event *event)
{
	nw_output_span(&((struct nw_printer *)arg)->output, event);
}

static int slow(void *arg, const struct nw_slow_span *slow, struct nw_error *err)
{
	struct nw_printer *p = arg;
	struct nw_slow_span shown = *slow;

	if (p->options.count && p->measure.slow_spans > p->options.count)
		return 0;
	shown.wall = p->options.wall;
	nw_output_slow(&p->output, &shown);
	return is_full(p) ? flush(p, err) : 0;
}

/* ---- the consumer ------------------------------------------------------------------- */

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_printer *p = arg;
	int ret = 0;

	p->run = run;
	if (nw_output_make(p->options.format, &p->output) < 0)
		return nw_no_memory(err);
	p->output.plain = p->options.plain;
	if (p->inner.start)
		ret = p->inner.start(p->inner.arg, run, err);
	return ret == 0 && p->options.start ? p->options.start(p->options.arg, err) : ret;
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_printer *p = arg;
	const struct nw_run_result *so_far = nw_run_so_far(run);
	const struct nw_resource resource = nw_result_resource(so_far, p->options.service);
	const struct nw_begin begin = {
		.resource = &resource,
		.selection = &so_far->selection,
		.spans = p->measure.spans.item,
		.span_count = p->measure.spans.count,
		.group_by = p->options.by,
		.summary = p->measure.summary,
		.hidden = nw_selection_hidden(&so_far->selection),
		.sites = nw_result_sites(so_far),
		.net = p->options.net,
		.header = p->options.header,
		.bold = p->options.bold,
	};
	int ret = 0;

	nw_output_begin(&p->output, &begin);
	if (p->options.armed)
		p->options.armed(p->options.arg, so_far);
	if (p->inner.armed)
		ret = p->inner.armed(p->inner.arg, run, err);
	return ret < 0 ? ret : flush(p, err);
}

/* Takes a hit that is not shown. It may end a span that is. */
static int hit_unseen(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct nw_printer *p = arg;
	int ret = p->inner.hit(p->inner.arg, hit, task);

	p->failure = p->measure.failure;
	if (ret == 0 && p->options.count && p->measure.slow_spans >= p->options.count)
		ret = -ECANCELED;
	return ret;
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct nw_printer *p = arg;
	struct nw_event_line line = nw_run_event_line(p->run, hit, task);

	line.wall = p->options.wall;
	line.kernel_text = nw_run_kernel_text(p->run);
	nw_output_event(&p->output, &line);
	int ret = p->inner.hit ? p->inner.hit(p->inner.arg, hit, task) : 0;
	if (ret == 0 && is_full(p) && flush(p, &p->failure) < 0)
		return p->failure.code == EPIPE ? -EPIPE : -EIO;
	if (ret == 0 && p->options.count && nw_run_so_far(p->run)->hits >= p->options.count)
		ret = -ECANCELED;
	return ret;
}

/* Takes another hit. Only the scheduler's events are shown, from which formats with timelines draw the states of
 * threads. The hit may still begin or end a span. */
static int other_hit(void *arg, enum nw_other_hit what, const struct nw_hit *hit,
		     const struct nw_task *task)
{
	struct nw_printer *p = arg;

	if (what == NW_HIT_SCHEDULER && !only_slow(&p->options)) {
		const struct nw_event_line line = nw_run_event_line(
			p->run, hit, nw_run_task(p->run, hit->tid));
		nw_output_event(&p->output, &line);
	}
	return p->inner.other_hit(p->inner.arg, what, hit, task);
}

static void loss(void *arg, const struct nw_record *record)
{
	struct nw_printer *p = arg;

	nw_output_loss(&p->output, record);
	if (p->inner.loss)
		p->inner.loss(p->inner.arg, record);
}

static void disabled(void *arg, uint32_t probe, uint64_t at)
{
	struct nw_printer *p = arg;
	const struct nw_disabled disabled = nw_result_disabled(nw_run_so_far(p->run), probe,
							       at);

	nw_output_disabled(&p->output, &disabled);
	if (p->inner.disabled)
		p->inner.disabled(p->inner.arg, probe, at);
}

static void thread(void *arg, const struct nw_thread_event *event)
{
	struct nw_printer *p = arg;

	p->inner.thread(p->inner.arg, event);
}

static int tick(void *arg, struct nw_run *run, struct nw_error *err)
{
	(void)run;
	return flush(arg, err);
}

int nw_printer_open(const struct nw_printer_options *options, struct nw_printer *out,
		    struct nw_error *err)
{
	const struct nw_measure_options measured = {
		.spans = options->spans,
		.span_count = options->span_count,
		.by = options->by,
		.listener = only_slow(options) ? NULL : listen,
		.slower = options->slower,
		.states = options->states,
		.net = options->net,
		.costs = options->costs,
		.slow = slow,
		.arg = out,
	};

	*out = (struct nw_printer){.options = *options};
	if (!has_spans(options))
		return 0;
	int ret = nw_measure_open(&measured, &out->measure, err);
	if (ret == 0)
		out->inner = nw_measure_consumer(&out->measure);
	return ret;
}

struct nw_consumer nw_printer_consumer(struct nw_printer *printer)
{
	const bool spans = has_spans(&printer->options);

	return (struct nw_consumer){
		.arg = printer,
		.needs =
			{
				.all_args = true,
				.values = true,
				.stacks = spans,
				.comms = true,
				.kernel_texts = !spans,
				.scheduler = printer->options.states,
				.costs = printer->inner.needs.costs,
				.uses = printer->options.members,
				.use_count = printer->options.member_count,
				.members = printer->options.members,
				.member_count = printer->options.member_count,
			},
		.start = start,
		.armed = armed,
		.hit = only_slow(&printer->options) ? hit_unseen : hit,
		.other_hit = spans ? other_hit : NULL,
		.disabled = disabled,
		.thread = spans ? thread : NULL,
		.loss = loss,
		.tick = tick,
	};
}

int nw_printer_finish(struct nw_printer *p, const struct nw_run_result *result,
		      struct nw_error *err)
{
	const struct nw_end end = nw_result_end(result);

	if (p->measure.summary)
		nw_summary_finish(p->measure.summary);
	nw_output_end(&p->output, &end);
	return flush(p, err);
}

void nw_printer_free(struct nw_printer *printer)
{
	nw_measure_close(&printer->measure);
	nw_output_free(&printer->output);
}
