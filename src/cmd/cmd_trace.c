// SPDX-License-Identifier: MIT
/* trace: prints one line per event. */
#include <errno.h>
#include <unistd.h>

#include "request.h"

struct tracer {
	const struct nw_args *args;
	struct nw_printer printer;
	struct nw_sink sink;
};

static int start(void *arg, struct nw_error *err)
{
	struct tracer *t = arg;

	return nw_output_start(t->args, &t->sink, err);
}

static void armed(void *arg, const struct nw_run_result *so_far)
{
	const struct tracer *t = arg;

	nw_note_armed(t->args, so_far);
}

static int write_lines(void *arg, struct nw_buf *text, struct nw_error *err)
{
	return nw_sink_write(&((struct tracer *)arg)->sink, text, err);
}

static void print_result(const struct tracer *t, const struct nw_run_result *result)
{
	const struct nw_args *args = t->args;

	if (args->quiet)
		return;
	char lost[48];
	nw_lost_text(result->lost, result->lost_is_least, lost);
	if (args->format->for_people && result->lost)
		nw_note("%s (a larger -b helps)", lost);
	nw_warn_dropped(args, result);
	nw_warn_incomplete(args, result);
	nw_warn_stacks(args, result);
	nw_note_silent(args, result);
	/* --slower that shows nothing says how long the spans were. */
	const struct nw_measure *measure = &t->printer.measure;
	if (args->format->for_people && nw_slower_asked(&args->slower) &&
	    !measure->slow_spans && (measure->ended_spans || result->hits))
		nw_note_none_slow("", measure->ended_spans, measure->longest_ns);
}

static int trace(struct tracer *t, const struct nw_consumer *consumer,
		 struct nw_run_result *result, struct nw_error *err)
{
	struct nw_prepared prepared;
	int ret = nw_prepare(t->args, &prepared, err);

	if (ret < 0)
		return ret;
	ret = nw_prepared_run(&prepared, consumer, result, err);
	nw_prepared_close(&prepared);
	if (t->printer.failure.code) {
		*err = t->printer.failure;
		ret = -err->code;
	}
	if (ret < 0)
		return ret;
	print_result(t, result);
	ret = nw_printer_finish(&t->printer, result, err);
	return ret < 0 ? ret : nw_sink_close(&t->sink, err);
}

static int no_spans(const struct nw_args *args, const char *option, struct nw_error *err)
{
	nw_fail_usage(err, "--%s: -f %s shows hits, not spans", option, args->format->name);
	nw_error_hint(err, strcmp(option, "by") == 0
				   ? "use -f perfetto, or 'nopwatch stat'"
				   : "use -f perfetto, --slower, or 'nopwatch stat'");
	return -EINVAL;
}

/* Returns a usage error if the format does not show what the options ask for. */
static int check_options(const struct nw_args *args, struct nw_error *err)
{
	if (args->by && !args->format->spans)
		return no_spans(args, "by", err);
	if (args->format->spans || nw_slower_asked(&args->slower))
		return 0;
	return args->spans.count ? no_spans(args, "span", err)
	       : args->states	 ? no_spans(args, "states", err)
	       : args->net	 ? no_spans(args, "net", err)
				 : 0;
}

/* Opens the consumer of hits for the format. */
static int open_consumer(struct tracer *t, struct nw_consumer *out, struct nw_error *err)
{
	const struct nw_args *args = t->args;
	const struct nw_printer_options options = {
		.format = args->format,
		.spans = args->spans.item,
		.span_count = args->spans.count,
		.by = args->by,
		.count = args->count,
		.slower = args->slower,
		.states = args->states,
		.net = args->net,
		.costs = args->format->costs ? NW_COSTS_WANTED : NW_COSTS_NONE,
		.header = !args->output && !args->plain && isatty(STDOUT_FILENO) == 1,
		.bold = nw_use_color(args, stdout),
		.wall = args->wall,
		.service = nw_service_name(),
		.plain = args->plain,
		.members = args->members.item,
		.member_count = args->members.count,
		.arg = t,
		.start = start,
		.armed = armed,
		.write = write_lines,
	};
	int ret = check_options(args, err);

	if (ret == 0)
		ret = nw_printer_open(&options, &t->printer, err);
	if (ret == 0)
		*out = nw_printer_consumer(&t->printer);
	return ret;
}

static int run(const struct nw_args *args)
{
	struct tracer t = {.args = args};
	struct nw_run_result result = {0};
	struct nw_consumer consumer;
	struct nw_error err;
	int status;

	if (open_consumer(&t, &consumer, &err) < 0) {
		status = nw_failure(&nw_cmd_trace, &err);
	} else if (args->dry_run && !args->from) {
		status = nw_dry_run(args, &consumer, &nw_cmd_trace);
	} else {
		int ret = trace(&t, &consumer, &result, &err);
		status = ret < 0 && !t.sink.closed ? nw_failure(&nw_cmd_trace, &err)
						   : nw_result_status(args, &result);
	}
	nw_result_free(&result);
	nw_printer_free(&t.printer);
	return status;
}

const struct nw_command nw_cmd_trace = {
	.name = "trace",
	.summary = "one line per event",
	.usage = "SPEC... [-p PID | -x FILE] [-- CMD]",
	.examples = "  nopwatch trace -p 4711 'postgresql:query__start(sql:string)'\n"
		    "  nopwatch trace -T 'myserver:*' -n 10 -- ./server\n"
		    "  nopwatch trace -p 4711 'app:*' --slower 50ms\n"
		    "  nopwatch trace -j 'func:./server:handle' -d 5\n"
		    "  nopwatch trace --from trace.dat -f perfetto -o trace.pftrace\n",
	.details =
		"Prints every hit with its time, CPU, thread and arguments, until Ctrl-C, -d, -n, the\n"
		"end of CMD or of the last -p. Arguments are named and typed in the spec:\n"
		"'postgresql:query__start(sql:string)'. Types: u8..u64 s8..s64 x8..x64 f32 f64 string,\n"
		"and arrays of up to 64 elements such as u8[16], or char[16] for text; name:string[len]\n"
		"has its length in the argument len. Only what is named is fetched, unless nothing is.\n"
		"The kernel's own events, tracepoint:SYSTEM:EVENT, have their fields as arguments, and are\n"
		"printed as the kernel prints them. With --slower 50ms (or p99) only spans that take so\n"
		"long are shown, as they end. --show 'json(reply, ok.val)' adds a member of an argument\n"
		"that is JSON.",
	.shows = NW_SHOWS_EVENTS,
	.options = NW_OPTIONS_RUN NW_OPTIONS_RESULT NW_OPTIONS_SPANS NW_OPTIONS_STACKS
	"count from time no-follow-file verbose plain color show",
	.run = run,
};
