// SPDX-License-Identifier: MIT
/* report: prints the summary of a recording, like stat --from FILE, or one summary of several results. */
#include "kernel/recovery/kept.h"
#include "saved.h"
#include "stat.h"

/* --kernel NAME: the summary of counts that stay, with what `add` was asked for. */
static int report_kept(const struct nw_args *args)
{
	struct nw_args stat = *args;
	struct nw_kept kept = {0};
	struct nw_error err;
	int ret =
		args->words.count || args->from
			? nw_fail_usage(
				  &err,
				  "--kernel reads what the kernel has counted, and no FILE")
			: nw_kept_read(args->kernel, &kept, &err);

	if (ret < 0)
		return nw_failure(&nw_cmd_report, &err);
	stat.kept = &kept;
	stat.engine = NW_ENGINE_KERNEL;
	int status = nw_cmd_stat.run(&stat);
	nw_kept_free(&kept);
	return status;
}

static int run(const struct nw_args *args)
{
	struct nw_args stat = *args;
	struct nw_error err;

	if (args->kernel)
		return report_kept(args);
	if (args->diff || args->has_after || args->limits.count)
		return nw_report_diff(args, &nw_cmd_report);
	if (args->from && args->words.count) {
		nw_fail_usage(&err, "--from %s and %s: several files go without --from",
			      args->from, args->words.item[0]);
		return nw_failure(&nw_cmd_report, &err);
	}
	if (!args->from)
		stat.from = args->words.count ? args->words.item[0] : "trace.dat";
	int merged = args->words.count > 1 || nw_by_has_host(args->by)
			     ? 1
			     : nw_is_json_file(stat.from, &err);
	if (merged < 0) {
		nw_report_error(&err);
		return NW_EXIT_FAILED;
	}
	if (merged)
		return nw_report_merged(args, &nw_cmd_report);
	stat.words.count = 0;
	return nw_cmd_stat.run(&stat);
}

const struct nw_command nw_cmd_report = {
	.name = "report",
	.summary = "the summary of recordings, or their difference",
	.usage = "[FILE...] | --diff BEFORE... -- AFTER... | --kernel NAME",
	.examples =
		"  nopwatch report --by tid --sort p99 slow.dat\n"
		"  nopwatch report --filter 'status >= 400' slow.dat\n"
		"  nopwatch report -f html -o slow.html slow.dat\n"
		"  nopwatch report --by host web1.dat web2.dat web3.json\n"
		"  nopwatch report --diff old*.json -- new*.json --fail-if 'request.p99 > +10%'\n",
	.details =
		"Summarises what `nopwatch record` has kept (trace.dat), as `stat` does while it\n"
		"happens; FILE may also hold the text of trace_pipe. Needs neither root nor tracefs.\n"
		"For the events one by one: nopwatch trace --from FILE. --kernel NAME shows what the\n"
		"kernel has counted since `nopwatch add --engine=kernel --name NAME`, which goes on.\n"
		"\n"
		"Several FILEs become one summary, whose counts and histograms are the sum of theirs. A\n"
		"FILE may also be what `nopwatch stat -j` has printed, or a pipe of it. --by host groups by\n"
		"the machine that each was made on. Rates are those of an average run.\n"
		"\n"
		"--diff BEFORE... -- AFTER... compares: rate, mean, percentiles and maximum of each row,\n"
		"their change, its interval of 95 %, and ~ where that includes no change. Give at least 4\n"
		"runs a side; of fewer, slices of time stand for runs, which is weaker. --fail-if makes\n"
		"the exit status 1 if a change is beyond a limit and no noise: 'NAME.METRIC > +10%', or\n"
		"< -10%; METRIC is rate, mean, p50, p90, p99, p99.9 or max. With --by, NAME is NAME[GROUP].",
	.shows = NW_SHOWS_REPORTS,
	.options = NW_OPTIONS_REPORT NW_OPTIONS_PRINTED
	"stack no-demangle diff fail-if kernel from state-dir",
	.run = run,
};
