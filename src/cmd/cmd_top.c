// SPDX-License-Identifier: MIT
/* top: shows the results of stat live in the terminal. */
#include <unistd.h>

#include "cmd/terminal/terminal.h"
#include "stat.h"

static int run(const struct nw_args *args)
{
	struct nw_args with_interval = *args;
	struct nw_live_view *view = NULL;

	/* A recording gets intervals only on request; printed as lines, it is one report. */
	if (!args->interval_ns && !args->from)
		with_interval.interval_ns = NW_LIVE_INTERVAL_NS;
	const struct nw_live_options options = {
		.sort = args->view.sort,
		.by = args->by,
		.net = args->net,
		.interval_ns = with_interval.interval_ns,
		.recorded = args->from != NULL,
		.color = nw_use_color(args, stdout),
		.keeps_output = args->cmd != NULL,
		.note = nw_note,
	};
	if (!args->dry_run && nw_terminal_is_there() && nw_live_open(&options, &view) < 0)
		view = NULL;
	int status = nw_stat_run(&with_interval, &nw_cmd_top, view);
	if (view) {
		nw_live_leave(view);
		nw_live_close(view);
	}
	return status;
}

const struct nw_command nw_cmd_top = {
	.name = "top",
	.summary = "the summary, live in the terminal",
	.usage = "SPEC... [-p PID | -x FILE] [-- CMD]",
	.examples = "  nopwatch top -p 4711 'postgresql:query__*'\n"
		    "  nopwatch top 'myserver:*' -- ./server\n"
		    "  nopwatch top func:libc.so.6:malloc -p 4711\n"
		    "  nopwatch top -p 4711 'app:done(status)' --by status\n"
		    "  nopwatch top --from trace.dat\n",
	.details =
		"Shows what stat would report while it happens, twice a second unless -i says otherwise:\n"
		"a row a span (latencies) and a row a probe (gaps between its hits), with rates,\n"
		"percentiles, the course of the last minute and the distribution. ? shows the keys: sort,\n"
		"pause, the last interval or everything, histogram, heat map, filter by name, group by,\n"
		"write a report. * marks the column that sorts. At the end top prints the first five spans\n"
		"and probes; with -v, --all-rows or --hist it prints what stat prints. With -o it writes\n"
		"the whole report to a file, in the format of -f.\n"
		"\n"
		"With --from FILE a recording is looked at. What CMD prints comes at the end. Where\n"
		"stdout is no terminal, or TERM is dumb, it is stat -i 500ms.",
	.shows = NW_SHOWS_REPORTS,
	.options = NW_OPTIONS_STAT "engine ",
	.run = run,
};
