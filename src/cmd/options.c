// SPDX-License-Identifier: MIT
/* The table of options. getopt_long(), the help texts, the completion and the check of the man page all use it. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/state.h"

#include "cmd.h"
#include "kernel/manage/manage.h"
#include "show/formats.h"
#include "words.h"

/* ---- taking values ------------------------------------------------------------------ */

/* Returns the field of the arguments in which an option is stored. */
static void *field_of(struct nw_args *args, const struct nw_option *option)
{
	return (char *)args + option->field;
}

static int bad_value(const struct nw_option *option, const char *value,
		     struct nw_error *err)
{
	if (option->letter)
		return nw_fail_usage(err, "-%c '%s': not %s", option->letter, value,
				     option->wanted);
	return nw_fail_usage(err, "--%s '%s': not %s", option->name, value, option->wanted);
}

static int take_flag(const struct nw_option *option, struct nw_args *args,
		     const char *value, struct nw_error *err)
{
	(void)value;
	(void)err;
	*(bool *)field_of(args, option) = true;
	return 0;
}

static int take_text(const struct nw_option *option, struct nw_args *args,
		     const char *value, struct nw_error *err)
{
	*(const char **)field_of(args, option) = value;
	return *value ? 0 : bad_value(option, value, err);
}

static int take_command(const struct nw_option *option, struct nw_args *args,
			const char *value, struct nw_error *err)
{
	args->until_cmd = value;
	return value[strspn(value, " \t")] ? 0 : bad_value(option, value, err);
}

/* Adds a value of an option that may be repeated. Errors in the value may be found later. */
static int take_one(const struct nw_option *option, struct nw_args *args, const char *value,
		    struct nw_error *err)
{
	nw_args_texts *texts = field_of(args, option);
	const char **slot = nw_vec_add(texts);

	if (!slot)
		return nw_no_memory(err);
	*slot = value ? value : "";
	return option->wanted && value && !*value ? bad_value(option, value, err) : 0;
}

static int take_in_range(const struct nw_option *option, struct nw_args *args,
			 int (*parse)(const char *text, uint64_t *out), const char *value,
			 struct nw_error *err)
{
	uint64_t number, most = option->most ? option->most : UINT64_MAX;

	if (parse(value, &number) < 0 || number < option->least || number > most)
		return bad_value(option, value, err);
	*(uint64_t *)field_of(args, option) = number;
	return 0;
}

static int take_duration(const struct nw_option *option, struct nw_args *args,
			 const char *value, struct nw_error *err)
{
	return take_in_range(option, args, nw_parse_duration, value, err);
}

/* "/10s": a multiple of it on the clock. */
static int take_at(const struct nw_option *option, struct nw_args *args, const char *value,
		   struct nw_error *err)
{
	return *value == '/' ? take_duration(option, args, value + 1, err)
			     : bad_value(option, value, err);
}

static int take_number(const struct nw_option *option, struct nw_args *args,
		       const char *value, struct nw_error *err)
{
	return take_in_range(option, args, nw_parse_u64, value, err);
}

static int take_size(const struct nw_option *option, struct nw_args *args,
		     const char *value, struct nw_error *err)
{
	return take_in_range(option, args, nw_parse_size, value, err);
}

/* Characters of words that a shell takes as they are. */
static const char plain[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^";

static int take_pids(const struct nw_option *option, struct nw_args *args,
		     const char *value, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(value);
	char *rest = copy, *one;
	uint64_t number;

	while (copy && (one = strsep(&rest, ","))) {
		if (nw_parse_u64(one, &number) < 0 || number == 0 || number > 4194304) {
			bad_value(option, one, err);
			if (strcmp(one, "all") == 0)
				nw_error_hint(
					err,
					"without -p every process that runs the file counts");
			else if (option->letter && isalpha((unsigned char)*one) &&
				 !one[strspn(one, plain)])
				nw_error_hint(
					err,
					"the processes of a program: -p \"$(pgrep -d, -x %s)\"",
					one);
			return -EINVAL;
		}
		pid_t *slot = nw_vec_add((nw_args_pids *)field_of(args, option));
		if (!slot)
			return nw_no_memory(err);
		*slot = (pid_t)number;
	}
	return copy ? 0 : nw_no_memory(err);
}

/* Adds a control group; `least` is its kind. */
static int take_cgroup(const struct nw_option *option, struct nw_args *args,
		       const char *value, struct nw_error *err)
{
	struct nw_cgroup_name *slot = *value ? nw_vec_add(&args->cgroups) : NULL;

	if (!*value)
		return bad_value(option, value, err);
	if (!slot)
		return nw_no_memory(err);
	*slot = (struct nw_cgroup_name){(enum nw_cgroup_kind)option->least, value};
	return 0;
}

static int take_format(const struct nw_option *option, struct nw_args *args,
		       const char *value, struct nw_error *err)
{
	struct nw_option formats = *option;
	struct nw_buf names = {0};

	args->format = nw_output_find(value);
	if (args->format)
		return 0;
	nw_output_names(NW_SHOWS_COUNT, &names);
	formats.wanted = nw_buf_str(&names);
	bad_value(&formats, value, err);
	nw_buf_free(&names);
	for (size_t i = 0; i < nw_output_format_count; i++)
		if (strcasecmp(value, nw_output_formats[i]->name) == 0 ||
		    nw_may_mean(value, nw_output_formats[i]->name))
			nw_error_hint(err, "did you mean %s?", nw_output_formats[i]->name);
	if (*value == '-')
		nw_error_hint(err, "to count what CMD starts, too, write --follow");
	return -EINVAL;
}

static int take_json(const struct nw_option *option, struct nw_args *args,
		     const char *value, struct nw_error *err)
{
	(void)option;
	(void)value;
	(void)err;
	args->format = &nw_output_json;
	return 0;
}

static int take_sort(const struct nw_option *option, struct nw_args *args,
		     const char *value, struct nw_error *err)
{
	/* the table calls the hits of a span COUNT, and its columns have capitals */
	const char *name = strcasecmp(value, "count") == 0 ? "hits" : value;

	for (int i = NW_SORT_DEFAULT + 1; i < NW_SORT_COUNT; i++)
		if (strcasecmp(nw_sort_names[i], name) == 0) {
			args->view.sort = (enum nw_sort)i;
			return 0;
		}
	return bad_value(option, value, err);
}

static int take_engine(const struct nw_option *option, struct nw_args *args,
		       const char *value, struct nw_error *err)
{
	static const char *const names[] = {[NW_ENGINE_STREAM] = "stream",
					    [NW_ENGINE_KERNEL] = "kernel",
					    [NW_ENGINE_AUTO] = "auto"};

	for (int i = NW_ENGINE_STREAM; i <= NW_ENGINE_AUTO; i++)
		if (strcmp(names[i], value) == 0) {
			args->engine = (enum nw_engine)i;
			return 0;
		}
	return bad_value(option, value, err);
}

/* A bare 50 would mean seconds, as everywhere. Here a user mostly means another unit, and would see no calls, so a
 * unit is required. */
static int take_slower(const struct nw_option *option, struct nw_args *args,
		       const char *value, struct nw_error *err)
{
	if (*value && !value[strspn(value, "0123456789")]) {
		nw_fail_usage(err, "--slower: the time '%s' has no unit", value);
		nw_error_hint(err, "write --slower %sms, or %ss", value, value);
		return -EINVAL;
	}
	return nw_slower_parse(value, &args->slower) < 0 ? bad_value(option, value, err)
							 : 0;
}

static int take_buckets(const struct nw_option *option, struct nw_args *args,
			const char *value, struct nw_error *err)
{
	(void)option;
	return nw_boundaries_parse(value, &args->boundaries, err);
}

static int take_until(const struct nw_option *option, struct nw_args *args,
		      const char *value, struct nw_error *err)
{
	(void)option;
	if (args->until.span)
		return nw_fail_usage(err, "--until: one condition at a time");
	return nw_until_parse(value, &args->until, err);
}

static int take_times(const struct nw_option *option, struct nw_args *args,
		      const char *value, struct nw_error *err)
{
	args->has_times = true;
	return take_number(option, args, value, err);
}

static int take_instance(const struct nw_option *option, struct nw_args *args,
			 const char *value, struct nw_error *err)
{
	(void)option;
	args->instance = value;
	return nw_instance_name_check(value, err);
}

static int take_group(const struct nw_option *option, struct nw_args *args,
		      const char *value, struct nw_error *err)
{
	(void)option;
	args->group = value;
	return nw_group_name_check(value, err);
}

static int take_color(const struct nw_option *option, struct nw_args *args,
		      const char *value, struct nw_error *err)
{
	args->color = value;
	if (strcmp(value, "auto") != 0 && strcmp(value, "always") != 0 &&
	    strcmp(value, "never") != 0)
		return bad_value(option, value, err);
	return 0;
}

static int take_state(const struct nw_option *option, struct nw_args *args,
		      const char *value, struct nw_error *err)
{
	(void)option;
	(void)args;
	return nw_state_set(value, err);
}

static int take_verbose(const struct nw_option *option, struct nw_args *args,
			const char *value, struct nw_error *err)
{
	(void)option;
	(void)value;
	(void)err;
	args->verbose++;
	return 0;
}

/* ---- the table ---------------------------------------------------------------------- */

#define FIELD(name) offsetof(struct nw_args, name)
#define FLAG(name)  take_flag, FIELD(name), NULL, 0, 0

static const struct nw_option options[] = {
	{NW_OPTIONS_TARGET, 'p', "pid", "PID[,PID]",
	 "these processes, with all their threads", take_pids, FIELD(pids), "a process id",
	 0, 0},
	{NW_OPTIONS_TARGET, 0, "tid", "TID[,TID]", "only these threads", take_pids,
	 FIELD(tids), "a thread id", 0, 0},
	{NW_OPTIONS_TARGET, 0, "cgroup", "GROUP",
	 "only processes in this control group, and below it", take_cgroup, FIELD(cgroups),
	 "a control group", NW_CGROUP_NAMED, 0},
	{NW_OPTIONS_TARGET, 0, "unit", "NAME", "only processes of this systemd unit",
	 take_cgroup, FIELD(cgroups), "a unit", NW_CGROUP_UNIT, 0},
	{NW_OPTIONS_TARGET, 0, "container", "NAME",
	 "only processes of this container or pod (id or name)", take_cgroup,
	 FIELD(cgroups), "a container", NW_CGROUP_CONTAINER, 0},
	{NW_OPTIONS_TARGET, 0, "follow", NULL,
	 "and the children of -p's processes; with CMD, only these", FLAG(follow)},
	{NW_OPTIONS_TARGET, 0, "main-thread", NULL, "of each process only the main thread",
	 FLAG(main_thread)},
	{NW_OPTIONS_TARGET, 'a', "all", NULL,
	 "every process, not only CMD and its children", FLAG(all)},
	{NW_OPTIONS_TARGET, 'x', "exe", "FILE", "the file that holds the probes", take_text,
	 FIELD(file), "a file", 0, 0},
	{NW_OPTIONS_STOP, 'd', "duration", "TIME",
	 "stop after 10 (seconds), 500ms, 2m, ...", take_duration, FIELD(duration_ns),
	 "a duration such as 10, 500ms or 2m", 0, 0},
	{NW_OPTIONS_STOP, 0, "at", "/TIME",
	 "begin when the clock is at a multiple: /10s, on all hosts", take_at, FIELD(at_ns),
	 "/ and a duration, as in /10s or /1m", 1000000, 0},
	{NW_OPTIONS_OUTPUT, 'i', "interval", "TIME", "report every so often", take_duration,
	 FIELD(interval_ns), "a duration such as 1, 500ms or 2m (at least 1ms)", 1000000,
	 0},
	{NW_OPTIONS_STOP, 'n', "count", "COUNT", "stop after so many reports (-i) or hits",
	 take_number, FIELD(count), "a number above 0", 1, 0},
	{NW_OPTIONS_OUTPUT, 'o', "output", "FILE", "write the result to a file", take_text,
	 FIELD(output), "a file", 0, 0},
	{NW_OPTIONS_OUTPUT, 'f', "format", "FORM", NULL, take_format, FIELD(format), NULL,
	 0, 0},
	{NW_OPTIONS_OUTPUT, 'j', "json", NULL, "the same as -f json", take_json,
	 FIELD(format), NULL, 0, 0},
	{NW_OPTIONS_MEASURE, 0, "by", "KEY[,KEY]",
	 "group by tid, pid, comm, title, container, ARG, ...", take_text, FIELD(by),
	 "tid, pid, comm, cpu, title, cgroup, container, an argument's name, path(ARG) or sql(ARG)",
	 0, 0},
	{NW_OPTIONS_OUTPUT, 0, "sort", "KEY",
	 "by a column: hits, total, min, mean, p50, ..., name", take_sort, FIELD(view),
	 "one of hits, rate, total, min, mean, p50, p90, p99, p99.9, max, abandoned, unmatched, discarded, name",
	 0, 0},
	{NW_OPTIONS_OUTPUT, 0, "top", "N",
	 "only the first N probes, spans and groups of each", take_number, FIELD(top),
	 "a number above 0", 1, UINT32_MAX},
	{NW_OPTIONS_OUTPUT, 0, "all-rows", NULL,
	 "also probes that were not hit, one by one", FLAG(view.all_rows)},
	{NW_OPTIONS_OUTPUT, 0, "spans-only", NULL, "no rows of probes and of arguments",
	 FLAG(view.spans_only)},
	{NW_OPTIONS_OUTPUT, 0, "plain", NULL,
	 "sentences instead of tables, for a screen reader", FLAG(plain)},
	{NW_OPTIONS_OUTPUT, 0, "buckets", "LIST",
	 "buckets of metrics: 1ms,5ms, 1us..10s[/4] or none", take_buckets,
	 FIELD(boundaries), NULL, 0, 0},
	{NW_OPTIONS_OUTPUT, 0, "listen", "ADDRESS:PORT",
	 "where metrics are served (127.0.0.1:9876)", take_text, FIELD(listen),
	 "an address and a port, as in 127.0.0.1:9876", 0, 0},
	{NW_OPTIONS_OUTPUT, 0, "host", "NAME",
	 "a name of this machine by which serve may be asked", take_one, FIELD(hosts),
	 "a name, as in metrics.example.com", 0, 0},
	{NW_OPTIONS_OUTPUT, 0, "raw", NULL,
	 "CSV: no ' before what a spreadsheet would compute", FLAG(view.raw)},
	{NW_OPTIONS_MEASURE, 0, "filter", "EXPR",
	 "only hits for which 'status >= 400 && comm ~ \"a*\"' holds", take_text,
	 FIELD(filter), "an expression such as 'status >= 400'", 0, 0},
	{NW_OPTIONS_MEASURE, 0, "span", "SPAN",
	 "[NAME=]START..END[,key=ARG][,nest=...], or PROBE,duration=ARG", take_one,
	 FIELD(spans), NULL, 0, 0},
	{NW_OPTIONS_MEASURE, 0, "slower", "TIME|pNN",
	 "show each span that takes so long, with its arguments", take_slower,
	 FIELD(slower), "a duration such as 50ms, or a percentile such as p99", 0, 0},
	{NW_OPTIONS_MEASURE, 0, "slowest", "N",
	 "and the N slowest spans of each kind, with their arguments", take_number,
	 FIELD(slowest), "a number from 1 to 1000", 1, 1000},
	{NW_OPTIONS_MEASURE, 0, "open", NULL,
	 "and the oldest spans that have not ended: what hangs now", FLAG(open)},
	{NW_OPTIONS_MEASURE, 0, "states", NULL,
	 "split spans by what their threads did: ran, waited, slept", FLAG(states)},
	{NW_OPTIONS_MEASURE, 0, "net", NULL, "latencies without the probe overhead",
	 FLAG(net)},
	{NW_OPTIONS_FLIGHT, 0, "until", "'SPAN > TIME'",
	 "record what was before a span that took so long", take_until, FIELD(until), NULL,
	 0, 0},
	{NW_OPTIONS_FLIGHT, 0, "until-signal", NULL, "the same when SIGUSR2 comes",
	 FLAG(until_signal)},
	{NW_OPTIONS_FLIGHT, 0, "until-cmd", "CMD",
	 "the same when a command fails, which runs every second", take_command,
	 FIELD(until_cmd), "a command", 0, 0},
	{NW_OPTIONS_FLIGHT, 0, "keep", "TIME", "so much before it (10s)", take_duration,
	 FIELD(keep_ns), "a time such as 10, 500ms or 2m", 1, 0},
	{NW_OPTIONS_FLIGHT, 0, "times", "N",
	 "so many recordings (1), 0: until it is stopped", take_times, FIELD(times),
	 "a number of recordings (0: no limit)", 0, 0},
	{NW_OPTIONS_MEASURE, 0, "hist", "ARG",
	 "the histogram of an argument (ARG:MIN:MAX:STEP: equal steps)", take_one,
	 FIELD(hists), NULL, 0, 0},
	{NW_OPTIONS_MEASURE, 0, "engine", "WHO",
	 "who counts: stream (nopwatch), kernel (nothing is read), auto", take_engine,
	 FIELD(engine), "stream, kernel or auto", 0, 0},
	{NW_OPTIONS_MEASURE, 0, "show", "json(ARG,PATH)",
	 "a member of an argument that is JSON, too", take_one, FIELD(members), NULL, 0, 0},
	{NW_OPTIONS_MEASURE, 0, "diff", NULL,
	 "BEFORE... -- AFTER...: what has changed, and what is noise", FLAG(diff)},
	{NW_OPTIONS_MEASURE, 0, "fail-if", "EXPR",
	 "exit 1 if 'NAME.p99 > +10%' (--diff) and it is no noise", take_one, FIELD(limits),
	 "a condition such as 'NAME.p99 > +10%'", 0, 0},
	{NW_OPTIONS_TARGET, 0, "types", "FILE",
	 "names and types of arguments: a DTrace .d file or a tapset", take_one,
	 FIELD(types), "a file", 0, 0},
	{NW_OPTIONS_OVERHEAD, 'b', "buffer", "SIZE",
	 "ring buffer per CPU (2M, or less on many CPUs)", take_size, FIELD(buffer_bytes),
	 "a size such as 512K or 8M (4K to 4G)", 4096, UINT64_C(4) << 30},
	{NW_OPTIONS_OVERHEAD, 0, "string-size", "BYTES",
	 "fetch so much of a string (256); the rest is cut", take_size, FIELD(string_size),
	 "a number of bytes such as 64 or 4K (8 to 16K)", 8, NW_MAX_STRING_SIZE},
	{NW_OPTIONS_PERSISTENT, 0, "kernel-strings", NULL,
	 "strings that perf and trace-cmd show, without a bound", FLAG(kernel_strings)},
	{NW_OPTIONS_MEASURE, 0, "stack", "[=PROBE]",
	 "who called, for each hit (of PROBE, a glob)", take_one, FIELD(stacks), "a probe",
	 0, 0},
	{NW_OPTIONS_OVERHEAD, 0, "stack-size", "BYTES",
	 "look so far up the stack for that (2048)", take_size, FIELD(stack_size),
	 "a number of bytes such as 512 or 8K (64 to 16K)", 64, NW_MAX_STACK_BYTES},
	{NW_OPTIONS_OVERHEAD, 0, "max-rate", "N",
	 "disable probes that are hit more than N times a second", take_number,
	 FIELD(max_rate), "a number of hits per second", 1, 0},
	{NW_OPTIONS_TARGET, 0, "from", "FILE",
	 "read a recording or trace_pipe text; -: standard input", take_text, FIELD(from),
	 "a file or -", 0, 0},
	{NW_OPTIONS_TARGET, 0, "remote-path", "[FILE=]PATH",
	 "where the file lies on the other machine", take_one, FIELD(remotes), "a path", 0,
	 0},
	{NW_OPTIONS_OUTPUT, 'T', "time", NULL, "show the time of day", FLAG(wall)},
	{NW_OPTIONS_OTHER, 0, "strict", NULL,
	 "exit 1 if events were lost, or disabled by others", FLAG(strict)},
	{NW_OPTIONS_OTHER, 0, "options-of", "FILE",
	 "look also where a run of nopwatch @FILE keeps journals", take_text,
	 FIELD(options_of), "a file of options, as in nopwatch @FILE", 0, 0},
	{NW_OPTIONS_OTHER, 0, "state-dir", "DIR",
	 "keep journals below DIR, if /run cannot be written", take_state, FIELD(state_dir),
	 NULL, 0, 0},
	{NW_OPTIONS_OTHER, 0, "error", "TEXT", "what another tool said", take_text,
	 FIELD(error), "the text of an error", 0, 0},
	{NW_OPTIONS_PERSISTENT, 0, "group", "NAME",
	 "the events' group, instead of sdt_PROVIDER", take_group, FIELD(group), NULL, 0,
	 0},
	{NW_OPTIONS_PERSISTENT, 0, "instance", "NAME",
	 "in this tracing instance, not in the top level", take_instance, FIELD(instance),
	 NULL, 0, 0},
	{NW_OPTIONS_PERSISTENT, 0, "name", "NAME",
	 "with --engine=kernel: what the counts are called (counts)", take_text,
	 FIELD(name), "a name", 0, 0},
	{NW_OPTIONS_TARGET, 0, "kernel", "NAME",
	 "read the counts that add --engine=kernel has left", take_text, FIELD(kernel),
	 "a name", 0, 0},
	{NW_OPTIONS_PERSISTENT, 0, "enable", NULL, "and enable them at once", FLAG(enable)},
	{NW_OPTIONS_DANGER, 0, "foreign", NULL, "also what others have made",
	 FLAG(foreign)},
	{NW_OPTIONS_OTHER, 0, "dry-run", NULL,
	 "only print it, as shell commands that do the same", FLAG(dry_run)},
	{NW_OPTIONS_TARGET, 0, "no-demangle", NULL,
	 "call functions of C++ and Rust as the linker does", FLAG(no_demangle)},
	{NW_OPTIONS_TARGET, 0, "debuginfod", NULL, "fetch debug files", FLAG(debuginfod)},
	{NW_OPTIONS_TARGET, 0, "functions", NULL,
	 "the functions of FILE in place of its probes", FLAG(functions)},
	{NW_OPTIONS_TARGET, 0, "check", NULL,
	 "what is wrong with the probes of FILE; status 1: something is", FLAG(check)},
	{NW_OPTIONS_TARGET, 0, "no-follow-file", NULL,
	 "keep to the file that was probed, if it is replaced", FLAG(no_follow_file)},
	{NW_OPTIONS_DANGER, 0, "force", NULL, "do what is known to be dangerous",
	 FLAG(force)},
	{NW_OPTIONS_OUTPUT, 'q', "quiet", NULL, "no notes, no status line", FLAG(quiet)},
	{NW_OPTIONS_OUTPUT, 'v', "verbose", NULL, "more words; may be repeated",
	 take_verbose, FIELD(verbose), NULL, 0, 0},
	{NW_OPTIONS_OUTPUT, 0, "color", "WHEN", "auto, always or never", take_color,
	 FIELD(color), "auto, always or never", 0, 0},
	{NW_OPTIONS_OUTPUT, 0, "no-pager", NULL,
	 "write to the terminal, however long it is", FLAG(no_pager)},
	{NW_OPTIONS_OTHER, 'h', "help", NULL, "this text", FLAG(help)},
};

const struct nw_option *nw_option_at(size_t index)
{
	return index < NW_COUNT(options) ? &options[index] : NULL;
}

/* Is the name one of the words of a list, which blanks separate? */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

bool nw_takes_option(const struct nw_command *command, const struct nw_option *option)
{
	return option->field == FIELD(help) || is_listed(command->options, option->name);
}

/* ---- parsing ------------------------------------------------------------------------ */

enum {
	LONG_ONLY = 256
};

bool nw_is_optional(const struct nw_option *option)
{
	return option->arg && option->arg[0] == '[' && option->arg[1] == '=';
}

/* Makes getopt's two tables from ours. */
static void make_tables(const struct nw_command *command, char *letters,
			struct option *longs)
{
	size_t used = 0;

	*letters++ = '+'; /* stop at words: nw_parse_args() takes them and continues */
	*letters++ = ':'; /* distinguish a missing value from an unknown option */
	for (size_t i = 0; i < NW_COUNT(options); i++) {
		if (!nw_takes_option(command, &options[i]))
			continue;
		if (options[i].letter) {
			*letters++ = (char)options[i].letter;
			if (options[i].arg)
				*letters++ = ':';
		}
		longs[used++] = (struct option){
			.name = options[i].name,
			.has_arg = options[i].arg ? nw_is_optional(&options[i])
							    ? optional_argument
							    : required_argument
						  : no_argument,
			.val = LONG_ONLY + (int)i,
		};
	}
	*letters = '\0';
	longs[used] = (struct option){0};
}

/* Stores an option. value: the result of getopt_long(), a letter or a number from make_tables(). */
static int take_option(int value, struct nw_args *args, struct nw_error *err)
{
	size_t i = value >= LONG_ONLY ? (size_t)(value - LONG_ONLY) : 0;

	while (value < LONG_ONLY && options[i].letter != value)
		i++;
	return options[i].take(&options[i], args, optarg, err);
}

/* Suggests options that the user may have meant by an unknown one, or says where they are listed. */
static void hint_option(const struct nw_command *command, const char *word,
			struct nw_error *err)
{
	struct nw_buf near = {0};

	nw_error_hint(err, "`nopwatch help %s` lists its options", command->name);
	for (size_t i = 0; word[1] == '-' && i < NW_COUNT(options); i++)
		if (nw_takes_option(command, &options[i]) &&
		    nw_may_mean(word + 2, options[i].name))
			nw_buf_printf(&near, "%s--%s", near.len ? ", " : "",
				      options[i].name);
	if (near.len)
		nw_error_hint(err, "did you mean %s?", nw_buf_str(&near));
	if (nw_option_habit(command->name, word))
		nw_error_hint(err, "%s", nw_option_habit(command->name, word));
	nw_buf_free(&near);
}

/* Reports an unknown option, which other commands may have. word: "-d", "--stack", "--stack=x". */
static int no_such_option(const struct nw_command *command, const char *word,
			  struct nw_error *err)
{
	const size_t len = strcspn(word, "=");
	struct nw_buf others = {0};

	for (size_t i = 0; i < NW_COUNT(options); i++) {
		const struct nw_option *it = &options[i];
		bool same = word[1] == '-' ? strncmp(word + 2, it->name, len - 2) == 0 &&
						     strlen(it->name) == len - 2
					   : it->letter && it->letter == word[1];
		for (size_t j = 0; same && j < nw_command_count; j++)
			if (nw_takes_option(nw_commands[j], it))
				nw_buf_printf(&others, "%s%s", others.len ? ", " : "",
					      nw_commands[j]->name);
	}
	if (others.len) {
		nw_fail_usage(err, "'%s' has no option '%.*s'", command->name, (int)len,
			      word);
		nw_error_hint(err, "these commands have it: %s", nw_buf_str(&others));
		if (nw_option_habit(command->name, word))
			nw_error_hint(err, "%s", nw_option_habit(command->name, word));
	} else {
		nw_fail_usage(err, "unknown option '%s'", word);
		hint_option(command, word, err);
	}
	nw_buf_free(&others);
	return -EINVAL;
}

/* Reports the option in optopt, which came last and has no value. */
static int needs_value(struct nw_error *err)
{
	size_t i = optopt >= LONG_ONLY ? (size_t)(optopt - LONG_ONLY) : 0;

	while (optopt < LONG_ONLY && options[i].letter != optopt)
		i++;
	if (options[i].letter)
		return nw_fail_usage(err, "option '-%c' needs a value: -%c %s",
				     options[i].letter, options[i].letter, options[i].arg);
	return nw_fail_usage(err, "option '--%s' needs a value: --%s %s", options[i].name,
			     options[i].name, options[i].arg);
}

/* typed: the word that getopt_long() has begun with. */
static int unknown_option(const struct nw_command *command, int value, char **argv,
			  const char *typed, struct nw_error *err)
{
	const char *word = argv[optind - 1];

	if (value == ':')
		return needs_value(err);
	if (nw_is_long_name(command, typed, err))
		return -EINVAL;
	if (optopt && optopt < LONG_ONLY && strncmp(word, "--", 2) != 0)
		return no_such_option(command, (char[]){'-', (char)optopt, '\0'}, err);
	if (optopt >= LONG_ONLY)
		return nw_fail_usage(err, "option '--%s' takes no value",
				     options[optopt - LONG_ONLY].name);
	return no_such_option(command, word, err);
}

/* Checks combinations of options that no command allows. Also handles -o -, which is standard output. */
static int check_options(const struct nw_command *command, struct nw_args *args,
			 struct nw_error *err)
{
	if (args->words.count && (command == &nw_cmd_clean || command == &nw_cmd_features))
		return nw_fail_usage(err, "'%s' takes no word such as '%s'", command->name,
				     args->words.item[0]);
	if (args->cmd && !*args->cmd)
		return nw_fail_usage(err, "no command follows --");
	/* A word behind --stack is report's recording. */
	if (args->stack_word && command != &nw_cmd_report && !args->pids.count &&
	    !args->file && !args->cmd) {
		nw_fail_usage(err, "no file for probe '%s'", args->stack_word);
		nw_error_hint(
			err,
			"to see the stacks of only these probes, write --stack=%s before the probes",
			args->stack_word);
		return -EINVAL;
	}
	const char *wider = args->pids.count ? "-p"
			    : args->follow   ? "--follow"
			    : args->all	     ? "-a"
					     : NULL;
	if (args->tids.count && wider)
		return nw_fail_usage(
			err, "--tid names the threads that count, so it goes without %s",
			wider);
	if (args->cgroups.count && args->all)
		return nw_fail_usage(
			err, "%s names the processes that count, so it goes without -a",
			nw_cgroup_options[args->cgroups.item[0].kind]);
	if (args->stack_size && !args->stacks.count)
		return nw_fail_usage(err, "--stack-size goes with --stack");
	/* A format that shows only stacks must report that a recording has none. */
	const struct nw_option stacks = {.field = FIELD(stacks)};
	if (args->format->only_stacks && !args->stacks.count &&
	    take_one(&stacks, args, NULL, err) < 0)
		return -ENOMEM;
	if (!args->output || strcmp(args->output, "-") != 0)
		return 0;
	args->output = NULL;
	if (command != &nw_cmd_record)
		return 0;
	nw_fail_usage(err, "-o -: a recording has to be a file");
	nw_error_hint(err, "'nopwatch trace -j' writes events to standard output");
	return -EINVAL;
}

int nw_parse_args(const struct nw_command *command, int argc, char **argv,
		  struct nw_args *out, struct nw_error *err)
{
	struct option longs[NW_COUNT(options) + 1];
	char letters[2 * NW_COUNT(options) + 4];
	const struct nw_option word = {.field = FIELD(words)};
	struct nw_args args = {.command = command->name,
			       .argv = argv,
			       .color = "auto",
			       .format = &nw_output_text};
	int ret = 0;

	make_tables(command, letters, longs);
	optind = 1;
	opterr = 0;
	/* Options may follow words. Only "--" ends the options, and CMD begins; report has no CMD. */
	while (ret == 0 && optind < argc) {
		if (strcmp(argv[optind], "--") == 0 && command == &nw_cmd_report) {
			ret = nw_report_take_dashes(&args, err);
			optind++;
			continue;
		}
		if (strcmp(argv[optind], "--") == 0) {
			args.cmd = argv + optind + 1;
			break;
		}
		const char *typed = argv[optind];
		int value = getopt_long(argc, argv, letters, longs, NULL);
		/* The argument of --stack needs a "=", but most options take the next word as their value. */
		if (value >= LONG_ONLY && !optarg &&
		    nw_is_optional(&options[value - LONG_ONLY]) && optind < argc &&
		    *argv[optind] != '-' && !strchr(argv[optind], ':'))
			args.stack_word = argv[optind];
		if (value == -1)
			ret = take_one(&word, &args, argv[optind++], err);
		else if (value == '?' || value == ':')
			ret = unknown_option(command, value, argv, typed, err);
		else
			ret = take_option(value, &args, err);
	}
	args.view.top = (size_t)args.top;
	if (ret < 0) {
		nw_hint_habit(command, argv, argv[optind - 1], err);
		nw_words_blame(argv[optind - 1], err);
	}
	if (ret == 0)
		ret = nw_check_format(command, &args, err);
	if (ret == 0)
		ret = check_options(command, &args, err);
	if (ret < 0)
		nw_free_args(&args);
	else
		*out = args;
	return ret;
}

void nw_command_line(const struct nw_args *args, struct nw_buf *out)
{
	nw_buf_printf(out, "nopwatch %s", args->command);
	for (char *const *word = args->argv + 1; *word; word++) {
		nw_buf_addc(out, ' ');
		if (**word && !(*word)[strspn(*word, plain)])
			nw_buf_adds(out, *word);
		else
			nw_buf_add_shell(out, *word);
	}
}

void nw_free_args(struct nw_args *args)
{
	nw_vec_free(&args->words);
	nw_vec_free(&args->pids);
	nw_vec_free(&args->tids);
	nw_vec_free(&args->cgroups);
	nw_args_texts *const texts[] = {&args->spans,  &args->hists,  &args->members,
					&args->stacks, &args->types,  &args->limits,
					&args->hosts,  &args->remotes};
	for (size_t i = 0; i < NW_COUNT(texts); i++)
		nw_vec_free(texts[i]);
	free(args->until.span);
}
