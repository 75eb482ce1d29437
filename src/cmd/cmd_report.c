// SPDX-License-Identifier: MIT
/* report: prints the summary of a recording, like stat --from FILE, or one summary of several results. */
#include "saved.h"
#include "stat.h"

static int run(const struct nw_args *args)
{
	struct nw_args stat = *args;

	stat.from = args->words.count ? args->words.item[0] : "trace.dat";
	if (args->words.count > 1 || nw_by_has_host(args->by) || nw_is_json_file(stat.from))
		return nw_report_merged(args, &nw_cmd_report);
	stat.words.count = 0;
	return nw_cmd_stat.run(&stat);
}

const struct nw_command nw_cmd_report = {
	.name = "report",
	.summary = "the summary of a recording, or of several",
	.usage = "[FILE...]",
	.examples = "  nopwatch report\n"
		    "  nopwatch report --by tid --sort p99 slow.dat\n"
		    "  nopwatch report --filter 'status >= 400' slow.dat\n"
		    "  nopwatch report -f html -o slow.html slow.dat\n"
		    "  nopwatch report --by host web1.dat web2.dat web3.json\n",
	.details =
		"Summarises what `nopwatch record` has kept (trace.dat), as `stat` does while it\n"
		"happens; FILE may also hold the text of trace_pipe. Needs neither root nor tracefs.\n"
		"For the events one by one: nopwatch trace --from FILE.\n"
		"\n"
		"Several FILEs become one summary, whose counts and histograms are the sum of theirs. A\n"
		"FILE may also be what `nopwatch stat -j` has printed, or a pipe of it. --by host groups by\n"
		"the machine that each was made on. Rates are those of an average run.",
	.shows = NW_SHOWS_REPORTS,
	.options = NW_OPTIONS_REPORT NW_OPTIONS_PRINTED "stack no-demangle",
	.run = run,
};
