// SPDX-License-Identifier: MIT
/* trace: one line per event. */
#include <errno.h>
#include <unistd.h>

#include "engine/run.h"

enum {
	FLUSH_AT = 1 << 16
};

struct tracer {
	const struct nw_args *args;
	struct nw_run *run;
	struct nw_sink sink;
	struct nw_output output;
	struct nw_error failure; /* why a hit could not be written */
};

static int flush(struct tracer *t, struct nw_error *err)
{
	struct nw_buf *text = &t->output.text;

	return text->len || text->failed ? nw_sink_write(&t->sink, text, err) : 0;
}

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct tracer *t = arg;

	t->run = run;
	if (nw_output_make(t->args->format, &t->output) < 0)
		return nw_no_memory(err);
	return nw_sink_open(t->args, &t->sink, err);
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct tracer *t = arg;
	const struct nw_begin begin = {
		.selection = &run->selection,
		.sites = nw_run_sites(run),
		.header = !t->args->output && isatty(STDOUT_FILENO) == 1,
		.bold = nw_use_color(t->args, stdout),
	};

	nw_output_begin(&t->output, &begin);
	if (!t->args->quiet && isatty(STDERR_FILENO) == 1)
		nw_note("attached %zu probes (%zu sites), Ctrl-C ends",
			run->selection.probes.count, nw_run_sites(run));
	return flush(t, err);
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct tracer *t = arg;
	const struct nw_event_line line = {
		.probe = t->run->selection.probes.item[hit->probe],
		.hit = hit,
		.task = task,
		.start = t->run->start_ns,
		.wall_ns = t->run->wall_ns,
		.wall = t->args->wall,
	};

	nw_output_event(&t->output, &line);
	if (t->output.text.len >= FLUSH_AT && flush(t, &t->failure) < 0)
		return t->sink.closed ? -EPIPE : -EIO;
	return t->args->count && t->run->hits >= t->args->count ? -ECANCELED : 0;
}

static void loss(void *arg, const struct nw_record *record)
{
	nw_output_loss(&((struct tracer *)arg)->output, record);
}

static void disabled(void *arg, uint32_t probe, uint64_t at)
{
	struct tracer *t = arg;
	const struct nw_run *run = t->run;
	const struct nw_disabled disabled = {
		.probe = run->selection.probes.item[probe],
		.state = &run->states[probe],
		.after_ns = at - nw_min64(run->start_ns, at),
	};

	nw_output_disabled(&t->output, &disabled);
}

static int tick(void *arg, struct nw_run *run, struct nw_error *err)
{
	(void)run;
	return flush(arg, err);
}

static int finish(struct tracer *t, struct nw_run *run, struct nw_error *err)
{
	const struct nw_end end = {
		.lost = run->lost,
		.dropped = run->dropped,
		.has_filter = run->filter != NULL,
		.filtered = run->filtered,
		.reason = run->reason,
		.elapsed_ns = nw_run_elapsed(run),
	};

	nw_output_end(&t->output, &end);
	if (t->args->format->for_people && run->lost && !t->args->quiet)
		nw_note("%ju events lost (a larger -b helps)", run->lost);
	nw_run_tell_dropped(run);
	for (size_t i = 0; !t->args->quiet && i < run->selection.probes.count; i++)
		/* what has been disabled was told when it was */
		if (run->states && run->states[i].text &&
		    (t->args->from || !nw_run_is_disabled(run, i)))
			nw_note("%s: %s", run->selection.probes.item[i]->label,
				run->states[i].text);
	int ret = flush(t, err);
	return ret < 0 ? ret : nw_sink_close(&t->sink, err);
}

static int run(const struct nw_args *args)
{
	struct tracer t = {.args = args};
	const struct nw_consumer consumer = {
		.arg = &t,
		.all_args = true,
		.values = true,
		.comms = true,
		.start = start,
		.armed = armed,
		.hit = hit,
		.disabled = disabled,
		.loss = loss,
		.tick = tick,
	};
	struct nw_error err;
	struct nw_run run;

	if (args->dry_run && !args->from)
		return nw_dry_run(args, &consumer, &nw_cmd_trace);
	int ret = args->from ? nw_replay(&run, args, &consumer, &err)
			     : nw_run(&run, args, &consumer, &err);
	if (t.failure.code) {
		err = t.failure;
		ret = -err.code;
	}
	if (ret == 0)
		ret = finish(&t, &run, &err);
	int status = ret < 0 && !t.sink.closed ? nw_failure(&nw_cmd_trace, &err)
					       : nw_run_status(&run);
	nw_run_free(&run);
	nw_output_free(&t.output);
	return status;
}

const struct nw_command nw_cmd_trace = {
	.name = "trace",
	.summary = "one line per event",
	.usage = "SPEC... [-p PID | -x FILE] [-- CMD]",
	.details =
		"Prints every hit with its time, CPU, thread and arguments, until Ctrl-C, "
		"-d, -n, the\n"
		"end of CMD or of the last -p. Arguments are named and typed in the spec:\n"
		"'postgresql:query__start(sql:string)'. Types: u8..u64 s8..s64 x8..x64 f32 "
		"f64 string,\n"
		"and arrays of up to 64 elements such as u8[16]; name:string[len] has its "
		"length "
		"in the\n"
		"argument len. Only what is named is fetched, unless nothing is. The "
		"kernel's own "
		"events,\n"
		"tracepoint:SYSTEM:EVENT, have their fields as arguments.",
	.shows = NW_SHOWS_EVENTS,
	.options = "pid follow all exe types duration count output format json filter "
		   "max-rate buffer string-size from time strict dry-run force quiet "
		   "verbose color",
	.run = run,
};
