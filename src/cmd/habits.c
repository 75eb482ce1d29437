// SPDX-License-Identifier: MIT
/* Words and options of other tools, with the ones that do the same here. */
#include <string.h>
#include <unistd.h>

#include "cmd.h"

struct habit {
	const char *words; /* between blanks */
	const char *hint;
};

/* Options of bpftrace, bcc's tools, perf, trace-cmd and strace. */
static const struct habit options[] = {
	{" -c --command --cmd --exec ", "put the command at the end: -- CMD"},
	{" -e --event --probe --usdt --uprobe --spec --function ",
	 "name probes without an option: usdt:FILE:PROVIDER:NAME, func:FILE:FUNCTION or tracepoint:SYSTEM:EVENT"},
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
	{" --usage --man --manual ", "`nopwatch help COMMAND` explains a command"},
	{" -t --thread --threads ",
	 "--tid TID counts one thread only; `nopwatch trace -T` shows the time of day"},
	{" -u --userspace --user ", "`nopwatch list -p PID` lists the probes of a process"},
	{" --follow-forks --follow-fork --trace-child --children ",
	 "--follow counts what CMD starts, too"},
	{" --where --condition --cond --if ", "--filter EXPR leaves out hits"},
	{" --min --threshold --min-duration --longer-than --slow ",
	 "--slower TIME prints the spans that take so long"},
	{" --group --group-by --groupby ",
	 "--by KEY groups by an argument, tid, pid, comm, cpu or title"},
	{" --no-header --noheader --headers ",
	 "`nopwatch trace` prints its header on a terminal only"},
	{" --refresh --delay ", "-i TIME sets how often the numbers are new"},
	{" --args --arguments --params ", "`nopwatch list -v` shows the arguments"},
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
	{" create enable-event enable-channel add-context destroy snapshot ",
	 "no session is needed: `nopwatch record SPEC...` records until Ctrl-C"},
	{" view babeltrace script-report dump ",
	 "`nopwatch trace --from FILE` prints the events of a recording"},
	{" man manual ", "`nopwatch help` and `man nopwatch` explain all commands"},
	{" count funccount ", "`nopwatch stat SPEC` counts hits"},
	{" usdt probes ",
	 "`nopwatch list FILE` lists probes; `nopwatch help spec` explains names"},
};

/* Options that are not needed with one command: the command, and the option. */
static const struct habit not_needed[] = {
	{" clean -f clean -y clean --yes ",
	 "clean needs no option; --force also removes what a session in a container may own"},
	{" clean -a clean --all ",
	 "clean needs no option: it removes all that dead sessions left"},
	{" remove -a remove --all ", "all events of `add`: nopwatch remove '*'"},
	{" disable -a disable --all ", "all events of `add`: nopwatch disable '*'"},
	{" status -a status --all ", "status needs no option: it shows all events"},
	{" features -v features -a features --all features --verbose ",
	 "features needs no option: it shows all that was found"},
	{" report --input ", "a recording needs no option: nopwatch report FILE"},
	{" recipe -l recipe --list ", "`nopwatch recipe` lists the recipes"},
	{" help -a help --all ", "`nopwatch help` lists the commands"},
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

const char *nw_option_habit(const char *command, const char *option)
{
	nw_cleanup(nw_free_ptr) char *both = nw_text("%s %s", command, option);
	const char *found = both ? find(not_needed, NW_COUNT(not_needed), both) : NULL;

	return found ? found : find(options, NW_COUNT(options), option);
}

const char *nw_command_habit(const char *command)
{
	return find(commands, NW_COUNT(commands), command);
}

bool nw_is_long_name(const struct nw_command *command, const char *typed,
		     struct nw_error *err)
{
	const struct nw_option *option;

	if (typed[0] != '-' || typed[1] == '-' || strlen(typed) < 4)
		return false;
	for (size_t i = 0; (option = nw_option_at(i)); i++)
		if (nw_takes_option(command, option) &&
		    nw_may_mean(typed + 1, option->name)) {
			nw_fail_usage(err, "unknown option '%s'", typed);
			nw_error_hint(err, "did you mean --%s?", option->name);
			return true;
		}
	if (!nw_may_mean(typed + 1, "version"))
		return false;
	nw_fail_usage(err, "unknown option '%s'", typed);
	nw_error_hint(err, "did you mean `nopwatch --version`?");
	return true;
}

void nw_hint_habit(const struct nw_command *command, char *const *argv, const char *word,
		   struct nw_error *err)
{
	static const char *const tools[] = {"bpftrace", "stap", "perf", "trace-cmd"};

	for (size_t i = 0; command == &nw_cmd_why && i < NW_COUNT(tools); i++)
		if (argv[1] && strcmp(argv[1], tools[i]) == 0)
			nw_error_hint(err, "write -- before it: nopwatch why -- %s ...",
				      tools[i]);
	if (command == &nw_cmd_report && access(word, R_OK) == 0)
		nw_error_hint(err, "a recording needs no option: nopwatch report %s", word);
	const struct nw_option *option;
	for (size_t i = 0; *word == '-' && (option = nw_option_at(i)); i++)
		if (strcmp(word + 1, option->name) == 0 && nw_takes_option(command, option))
			nw_error_hint(err, "did you mean -%s?", word);
}
