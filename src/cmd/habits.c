// SPDX-License-Identifier: MIT
/* Words and options of other tools, with the ones that do the same here. */
#include <string.h>

#include "cmd.h"

struct habit {
	const char *words; /* between blanks */
	const char *hint;
};

/* Options of bpftrace, bcc's tools, perf, trace-cmd and strace. */
static const struct habit options[] = {
	{" -c --command --cmd --exec ", "put the command at the end: -- CMD"},
	{" -e --event --probe --usdt --uprobe --spec --function ",
	 "name probes without an option: nopwatch stat SPEC..."},
	{" -g --call-graph --callgraph --ustack --backtrace ",
	 "`nopwatch stat --stack` shows who called"},
	{" -l --list ", "`nopwatch list FILE` lists the probes of a file"},
	{" -F --freq --frequency ",
	 "nopwatch does not sample, it counts every hit; use --max-rate to limit them"},
	{" -I --interval-print ", "`nopwatch stat -i TIME` reports every so often"},
	{" -k --clock --clockid ",
	 "nopwatch uses the kernel's monotonic clock; `nopwatch trace -T` shows the time of day"},
	{" --timeout --time --for --seconds ", "-d TIME ends the run after that time"},
	{" --latency --percentile --percentiles --quantiles ",
	 "`nopwatch stat` prints the latencies of spans with P50 to P99.9"},
	{" --histogram ", "--hist ARG shows the histogram of an argument"},
	{" --stdio ", "`nopwatch report FILE` prints text"},
	{" --printf --format-string ",
	 "`nopwatch trace` prints the arguments that the spec names: 'PROVIDER:NAME(id, path:string)'"},
	{" --usdt-file-activation --unsafe ",
	 "not needed: nopwatch opens the semaphores of probes by itself"},
	{" -r --repeat ", "let the shell repeat it: for i in 1 2 3; do ...; done"},
};

/* Commands of other tools. */
static const struct habit commands[] = {
	{" probe ", "`nopwatch add` makes events, as perf probe does"},
	{" buildid-cache ", "`nopwatch list FILE` reads the file itself, without a cache"},
	{" start reset extract ", "`nopwatch record` records, `nopwatch report` reads"},
	{" stop detach ", "Ctrl-C ends a run; `nopwatch disable` is for events of `add`"},
	{" show events print ", "`nopwatch trace SPEC` prints each event"},
	{" hist latency ", "`nopwatch stat SPEC` prints latencies and histograms"},
	{" attach run exec ",
	 "`nopwatch stat SPEC -p PID` or `nopwatch stat SPEC -- CMD` measures"},
	{" usdt probes ",
	 "`nopwatch list FILE` lists probes; `nopwatch help spec` explains names"},
};

static const char *find(const struct habit *habits, size_t count, const char *typed)
{
	nw_cleanup(nw_free_ptr) char *word = nw_text(" %.*s ", (int)strcspn(typed, "="),
						     typed);

	for (size_t i = 0; word && i < count; i++)
		if (strstr(habits[i].words, word))
			return habits[i].hint;
	return NULL;
}

const char *nw_option_habit(const char *option)
{
	return find(options, NW_COUNT(options), option);
}

const char *nw_command_habit(const char *command)
{
	return find(commands, NW_COUNT(commands), command);
}
