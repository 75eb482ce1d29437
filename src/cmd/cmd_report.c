// SPDX-License-Identifier: MIT
/* report: prints the summary of a recording, like stat --from FILE. */
#include "cmd.h"

static int run(const struct nw_args *args)
{
	struct nw_args stat = *args;
	struct nw_error err;

	if (args->words.count > 1) {
		nw_fail_usage(&err, "one recording at a time");
		return nw_failure(&nw_cmd_report, &err);
	}
	stat.from = args->words.count ? args->words.item[0] : "trace.dat";
	stat.words.count = 0;
	return nw_cmd_stat.run(&stat);
}

const struct nw_command nw_cmd_report = {
	.name = "report",
	.summary = "the summary of a recording",
	.usage = "[FILE]",
	.examples = "  nopwatch report\n"
		    "  nopwatch report slow.dat\n"
		    "  nopwatch report --by tid --sort p99 slow.dat\n"
		    "  nopwatch report --filter 'status >= 400' slow.dat\n"
		    "  nopwatch report -f html -o slow.html slow.dat\n",
	.details =
		"Summarises what `nopwatch record` has kept (trace.dat), as `stat` does while it\n"
		"happens; FILE may also hold the text of trace_pipe. Needs neither root nor tracefs.\n"
		"For the events one by one: nopwatch trace --from FILE.",
	.shows = NW_SHOWS_REPORTS,
	.options = NW_OPTIONS_REPORT NW_OPTIONS_PRINTED "stack no-demangle",
	.run = run,
};
