// SPDX-License-Identifier: MIT
/*
 * The one table of options: it drives getopt_long(), the help texts, the completion and the
 * check of the man page.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "nopwatch/manage.h"

/* ---- taking values ------------------------------------------------------------------ */

static int bad_value(struct nw_error *err, const char *option, const char *value,
		     const char *wanted)
{
	return nw_fail_usage(err, "%s '%s': not %s", option, value, wanted);
}

static int take_pids(struct nw_args *args, const char *value, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(value);
	char *rest = copy, *one;
	uint64_t number;

	while (copy && (one = strsep(&rest, ","))) {
		if (nw_parse_u64(one, &number) < 0 || number == 0 || number > 4194304)
			return bad_value(err, "-p", one, "a process id");
		pid_t *slot = nw_vec_add(&args->pids);
		if (!slot)
			return nw_no_memory(err);
		*slot = (pid_t)number;
	}
	return copy ? 0 : nw_no_memory(err);
}

static int take_file(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->file = value;
	return *value ? 0 : bad_value(err, "-x", value, "a file");
}

static int take_from(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->from = value;
	return *value ? 0 : bad_value(err, "--from", value, "a file or -");
}

static int take_output(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->output = value;
	return *value ? 0 : bad_value(err, "-o", value, "a file");
}

static int take_duration(struct nw_args *args, const char *value, struct nw_error *err)
{
	return nw_parse_duration(value, &args->duration_ns) < 0
		       ? bad_value(err, "-d", value, "a duration such as 10, 500ms or 2m")
		       : 0;
}

static int take_interval(struct nw_args *args, const char *value, struct nw_error *err)
{
	if (nw_parse_duration(value, &args->interval_ns) < 0 || args->interval_ns < 1000000)
		return bad_value(err, "-i", value,
				 "a duration such as 1, 500ms or 2m (at least 1ms)");
	return 0;
}

static int take_count(struct nw_args *args, const char *value, struct nw_error *err)
{
	return nw_parse_u64(value, &args->count) < 0 || args->count == 0
		       ? bad_value(err, "-n", value, "a number above 0")
		       : 0;
}

static int take_max_rate(struct nw_args *args, const char *value, struct nw_error *err)
{
	return nw_parse_u64(value, &args->max_rate) < 0 || args->max_rate == 0
		       ? bad_value(err, "--max-rate", value, "a number of hits per second")
		       : 0;
}

static int take_buffer(struct nw_args *args, const char *value, struct nw_error *err)
{
	if (nw_parse_size(value, &args->buffer_bytes) < 0 || args->buffer_bytes < 4096 ||
	    args->buffer_bytes > ((uint64_t)4 << 30))
		return bad_value(err, "-b", value, "a size such as 512K or 8M (4K to 4G)");
	return 0;
}

static int take_string_size(struct nw_args *args, const char *value, struct nw_error *err)
{
	uint64_t size;

	if (nw_parse_size(value, &size) < 0 || size < 8 || size > NW_MAX_STRING_SIZE)
		return bad_value(err, "--string-size", value,
				 "a number of bytes such as 64 or 4K (8 to 16K)");
	args->string_size = (uint32_t)size;
	return 0;
}

static int take_stack_size(struct nw_args *args, const char *value, struct nw_error *err)
{
	uint64_t size;

	if (nw_parse_size(value, &size) < 0 || size < 64 || size > NW_MAX_STACK_BYTES)
		return bad_value(err, "--stack-size", value,
				 "a number of bytes such as 512 or 8K (64 to 16K)");
	args->stack_size = (uint32_t)size;
	return 0;
}

static int take_stack(struct nw_args *args, const char *value, struct nw_error *err)
{
	const char **slot = nw_vec_add(&args->stacks);

	if (!slot)
		return nw_no_memory(err);
	*slot = value ? value : "";
	return !value || *value ? 0 : bad_value(err, "--stack", value, "a probe");
}

static int take_types(struct nw_args *args, const char *value, struct nw_error *err)
{
	const char **slot = nw_vec_add(&args->types);

	if (!slot)
		return nw_no_memory(err);
	*slot = value;
	return *value ? 0 : bad_value(err, "--types", value, "a file");
}

static int take_format(struct nw_args *args, const char *value, struct nw_error *err)
{
	struct nw_buf names = {0};

	args->format = nw_output_find(value);
	if (args->format)
		return 0;
	nw_output_names(NW_SHOWS_COUNT, &names);
	bad_value(err, "-f", value, nw_buf_str(&names));
	nw_buf_free(&names);
	return -EINVAL;
}

/* A command shows what it shows: a report has more formats than a list. */
static int check_format(const struct nw_command *command, const struct nw_args *args,
			struct nw_error *err)
{
	struct nw_buf names = {0};

	if (nw_slower_asked(&args->slower) && !args->format->slow)
		return nw_fail_usage(err,
				     "--slower: -f %s cannot show single spans as they end",
				     args->format->name);
	if (args->stacks.count && !args->format->stacks)
		return nw_fail_usage(err, "--stack: -f %s has no place for stacks",
				     args->format->name);
	if (args->format->only_stacks && !args->stacks.count && !args->from &&
	    command != &nw_cmd_report)
		return nw_fail_usage(err, "-f %s shows stacks only: --stack asks for them",
				     args->format->name);
	if (args->states && !args->format->states)
		return nw_fail_usage(err,
				     "--states: -f %s has no place for what threads do",
				     args->format->name);
	if (args->format->shows[command->shows])
		return 0;
	nw_output_names(command->shows, &names);
	int ret = nw_fail_usage(err, "%s writes %s only", command->name,
				nw_buf_str(&names));
	nw_buf_free(&names);
	return ret;
}

static int take_by(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->by = value;
	return *value ? 0
		      : bad_value(err, "--by", value,
				  "tid, pid, comm, cpu or an argument's name");
}

static int take_sort(struct nw_args *args, const char *value, struct nw_error *err)
{
	for (int i = NW_SORT_DEFAULT + 1; i < NW_SORT_COUNT; i++) {
		if (strcmp(nw_sort_names[i], value) == 0) {
			args->view.sort = (enum nw_sort)i;
			return 0;
		}
	}
	return bad_value(err, "--sort", value,
			 "one of hits, rate, total, mean, p50, p99, max, name");
}

static int take_top(struct nw_args *args, const char *value, struct nw_error *err)
{
	uint64_t top;

	if (nw_parse_u64(value, &top) < 0 || top == 0 || top > UINT32_MAX)
		return bad_value(err, "--top", value, "a number above 0");
	args->view.top = top;
	return 0;
}

static int take_filter(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->filter = value;
	return *value ? 0
		      : bad_value(err, "--filter", value,
				  "an expression such as 'status >= 400'");
}

static int take_span(struct nw_args *args, const char *value, struct nw_error *err)
{
	const char **slot = nw_vec_add(&args->spans);

	if (!slot)
		return nw_no_memory(err);
	*slot = value;
	return 0;
}

static int take_slower(struct nw_args *args, const char *value, struct nw_error *err)
{
	return nw_slower_parse(value, &args->slower) < 0
		       ? bad_value(err, "--slower", value,
				   "a duration such as 50ms, or a percentile such as p99")
		       : 0;
}

static int take_until(struct nw_args *args, const char *value, struct nw_error *err)
{
	if (args->until.span)
		return nw_fail_usage(err, "--until: one condition at a time");
	return nw_until_parse(value, &args->until, err);
}

static int take_until_cmd(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->until_cmd = value;
	return value[strspn(value, " \t")]
		       ? 0
		       : bad_value(err, "--until-cmd", value, "a command");
}

static int take_keep(struct nw_args *args, const char *value, struct nw_error *err)
{
	return nw_parse_duration(value, &args->keep_ns) < 0 || !args->keep_ns
		       ? bad_value(err, "--keep", value, "a time such as 10, 500ms or 2m")
		       : 0;
}

static int take_times(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->has_times = true;
	return nw_parse_u64(value, &args->times) < 0
		       ? bad_value(err, "--times", value,
				   "a number of recordings (0: no limit)")
		       : 0;
}

static int take_hist(struct nw_args *args, const char *value, struct nw_error *err)
{
	const char **slot = nw_vec_add(&args->hists);

	if (!slot)
		return nw_no_memory(err);
	*slot = value;
	return 0;
}

static int take_remote(struct nw_args *args, const char *value, struct nw_error *err)
{
	const char **slot = nw_vec_add(&args->remotes);

	if (!slot)
		return nw_no_memory(err);
	*slot = value;
	return *value ? 0 : bad_value(err, "--remote-path", value, "a path");
}

static int take_instance(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->instance = value;
	return nw_instance_name_check(value, err);
}

static int take_group(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->group = value;
	return nw_group_name_check(value, err);
}

static int take_color(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->color = value;
	if (strcmp(value, "auto") != 0 && strcmp(value, "always") != 0 &&
	    strcmp(value, "never") != 0)
		return bad_value(err, "--color", value, "auto, always or never");
	return 0;
}

static int take_error(struct nw_args *args, const char *value, struct nw_error *err)
{
	args->error = value;
	return *value ? 0 : bad_value(err, "--error", value, "the text of an error");
}

#define FLAG(function, statement)                                                          \
	static int function(struct nw_args *args, const char *value, struct nw_error *err) \
	{                                                                                  \
		(void)value;                                                               \
		(void)err;                                                                 \
		statement;                                                                 \
		return 0;                                                                  \
	}

FLAG(take_states, args->states = true)
FLAG(take_until_signal, args->until_signal = true)
FLAG(take_json, args->format = &nw_output_json)
FLAG(take_dry_run, args->dry_run = true)
FLAG(take_enable, args->enable = true)
FLAG(take_foreign, args->foreign = true)
FLAG(take_force, args->force = true)
FLAG(take_quiet, args->quiet = true)
FLAG(take_verbose, args->verbose++)
FLAG(take_follow, args->follow = true)
FLAG(take_all, args->all = true)
FLAG(take_wall, args->wall = true)
FLAG(take_strict, args->strict = true)
FLAG(take_all_rows, args->view.all_rows = true)
FLAG(take_no_pager, args->no_pager = true)
FLAG(take_help, args->help = true)

/* ---- the table ---------------------------------------------------------------------- */

static const struct nw_option options[] = {
	{'p', "pid", "PID[,PID]", "these processes, with all their threads", take_pids},
	{0, "follow", NULL, "and the children of -p's processes", take_follow},
	{'a', "all", NULL, "every process, not only CMD and its children", take_all},
	{'x', "exe", "FILE", "the file that holds the probes", take_file},
	{'d', "duration", "TIME", "stop after 10 (seconds), 500ms, 2m, ...", take_duration},
	{'i', "interval", "TIME", "report every so often", take_interval},
	{'n', "count", "COUNT", "stop after so many reports (-i) or hits", take_count},
	{'o', "output", "FILE", "write the result to a file", take_output},
	{'f', "format", "FORM", NULL, take_format},
	{'j', "json", NULL, "the same as -f json", take_json},
	{0, "by", "KEY[,KEY]", "group by tid, pid, comm, cpu or an argument", take_by},
	{0, "sort", "KEY", "by hits, rate, total, mean, p50, p99, max or name", take_sort},
	{0, "top", "N", "only the first N probes, spans and groups of each", take_top},
	{0, "all-rows", NULL, "also probes that were not hit, one by one", take_all_rows},
	{0, "filter", "EXPR", "only hits for which 'status >= 400 && comm ~ \"a*\"' holds",
	 take_filter},
	{0, "span", "SPAN", "[NAME=]START..END[|END2][,key=tid|pid|ARG[:ENDARG]][,nest=no]",
	 take_span},
	{0, "slower", "TIME|pNN", "show each span that takes so long, with its arguments",
	 take_slower},
	{0, "states", NULL, "split spans by what their threads did: ran, waited, slept",
	 take_states},
	{0, "until", "'SPAN > TIME'", "record what was before a span that took so long",
	 take_until},
	{0, "until-signal", NULL, "the same when SIGUSR2 comes", take_until_signal},
	{0, "until-cmd", "CMD", "the same when a command fails, which runs every second",
	 take_until_cmd},
	{0, "keep", "TIME", "so much before it (10s)", take_keep},
	{0, "times", "N", "so many recordings (1), 0: until it is stopped", take_times},
	{0, "hist", "ARG", "show the histogram of an argument", take_hist},
	{0, "types", "FILE", "names and types of arguments: a DTrace .d file or a tapset",
	 take_types},
	{'b', "buffer", "SIZE", "ring buffer per CPU (2M, or less on many CPUs)",
	 take_buffer},
	{0, "string-size", "BYTES", "fetch so much of a string (256); the rest is cut",
	 take_string_size},
	{0, "stack", "[=PROBE]", "who called, for each hit (of PROBE, a glob)", take_stack},
	{0, "stack-size", "BYTES", "look so far up the stack for that (2048)",
	 take_stack_size},
	{0, "max-rate", "N", "disable probes that are hit more than N times a second",
	 take_max_rate},
	{0, "from", "FILE", "read a recording or trace_pipe text; -: standard input",
	 take_from},
	{0, "remote-path", "[FILE=]PATH", "where the file lies on the other machine",
	 take_remote},
	{'T', "time", NULL, "show the time of day", take_wall},
	{0, "strict", NULL, "exit 1 if events were lost, or disabled by others",
	 take_strict},
	{0, "error", "TEXT", "what another tool said", take_error},
	{0, "group", "NAME", "the events' group, instead of sdt_PROVIDER", take_group},
	{0, "instance", "NAME", "in this tracing instance, not in the top level",
	 take_instance},
	{0, "enable", NULL, "and enable them at once", take_enable},
	{0, "foreign", NULL, "also what others have made", take_foreign},
	{0, "dry-run", NULL, "only print it, as shell commands that do the same",
	 take_dry_run},
	{0, "force", NULL, "do what is known to be dangerous", take_force},
	{'q', "quiet", NULL, "no notes, no status line", take_quiet},
	{'v', "verbose", NULL, "more words; may be repeated", take_verbose},
	{0, "color", "WHEN", "auto, always or never", take_color},
	{0, "no-pager", NULL, "write to the terminal, however long it is", take_no_pager},
	{'h', "help", NULL, "this text", take_help},
};

const struct nw_option *nw_option_at(size_t index)
{
	return index < NW_COUNT(options) ? &options[index] : NULL;
}

/* Is the option among the blank-separated names? --help is always. */
bool nw_takes_option(const struct nw_command *command, const struct nw_option *option)
{
	size_t len = strlen(option->name);

	if (option->take == take_help)
		return true;
	for (const char *at = command->options; (at = strstr(at, option->name)); at += len)
		if ((at == command->options || at[-1] == ' ') &&
		    (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

/* ---- parsing ------------------------------------------------------------------------ */

enum {
	LONG_ONLY = 256
};

/* Is its argument? */
static bool is_optional(const struct nw_option *option)
{
	return option->arg && option->arg[0] == '[' && option->arg[1] == '=';
}

/* getopt's two tables, made from ours. */
static void make_tables(const struct nw_command *command, char *letters,
			struct option *longs)
{
	size_t used = 0;

	*letters++ = '+'; /* stop at words: nw_parse_args() takes them and goes on */
	*letters++ = ':'; /* tell a missing value from an unknown option */
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
			.has_arg = options[i].arg ? is_optional(&options[i])
							    ? optional_argument
							    : required_argument
						  : no_argument,
			.val = LONG_ONLY + (int)i,
		};
	}
	*letters = '\0';
	longs[used] = (struct option){0};
}

static const struct nw_option *option_of(int value)
{
	if (value >= LONG_ONLY)
		return &options[value - LONG_ONLY];
	for (size_t i = 0; i < NW_COUNT(options); i++)
		if (options[i].letter == value)
			return &options[i];
	return NULL;
}

static int unknown_option(int value, char **argv, struct nw_error *err)
{
	const char *word = argv[optind - 1];

	if (value == ':')
		return nw_fail_usage(err, "option '%s' needs a value", word);
	if (optopt && optopt < LONG_ONLY && strncmp(word, "--", 2) != 0)
		return nw_fail_usage(err, "unknown option '-%c'", optopt);
	if (optopt >= LONG_ONLY)
		return nw_fail_usage(err, "option '--%s' takes no value",
				     options[optopt - LONG_ONLY].name);
	return nw_fail_usage(err, "unknown option '%s'", word);
}

static int add_word(struct nw_args *args, const char *word, struct nw_error *err)
{
	const char **slot = nw_vec_add(&args->words);

	if (!slot)
		return nw_no_memory(err);
	*slot = word;
	return 0;
}

int nw_parse_args(const struct nw_command *command, int argc, char **argv,
		  struct nw_args *out, struct nw_error *err)
{
	struct option longs[NW_COUNT(options) + 1];
	char letters[2 * NW_COUNT(options) + 4];
	struct nw_args args = {.command = command->name,
			       .argv = argv,
			       .color = "auto",
			       .format = &nw_output_text};
	int ret = 0;

	make_tables(command, letters, longs);
	optind = 1;
	opterr = 0;
	/* Options may stand between words; only "--" ends them, and CMD begins. */
	while (ret == 0 && optind < argc) {
		if (strcmp(argv[optind], "--") == 0) {
			args.cmd = argv + optind + 1;
			break;
		}
		int value = getopt_long(argc, argv, letters, longs, NULL);
		if (value == -1)
			ret = add_word(&args, argv[optind++], err);
		else if (value == '?' || value == ':')
			ret = unknown_option(value, argv, err);
		else
			ret = option_of(value)->take(&args, optarg, err);
	}
	if (ret == 0)
		ret = check_format(command, &args, err);
	if (ret == 0 && args.cmd && !*args.cmd)
		ret = nw_fail_usage(err, "there is no command behind --");
	if (ret < 0)
		nw_free_args(&args);
	else
		*out = args;
	return ret;
}

void nw_command_line(const struct nw_args *args, struct nw_buf *out)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^";

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
	nw_vec_free(&args->spans);
	nw_vec_free(&args->hists);
	nw_vec_free(&args->stacks);
	nw_vec_free(&args->types);
	nw_vec_free(&args->remotes);
	free(args->until.span);
}

/* ---- help --------------------------------------------------------------------------- */

void nw_option_help(const struct nw_command *command, const struct nw_option *option,
		    struct nw_buf *out)
{
	if (option->help)
		nw_buf_adds(out, option->help);
	else
		nw_output_names(command->shows, out);
}

void nw_print_help(const struct nw_command *command, FILE *to)
{
	fprintf(to, "usage: nopwatch %s %s\n\n%s\n\n%s\n\noptions:\n", command->name,
		command->usage, command->summary, command->details);
	for (size_t i = 0; i < NW_COUNT(options); i++) {
		struct nw_buf help = {0};
		char spelled[64];
		if (!nw_takes_option(command, &options[i]))
			continue;
		snprintf(spelled, sizeof(spelled), "%s%c%s--%s%s%s",
			 options[i].letter ? "-" : " ",
			 options[i].letter ? options[i].letter : ' ',
			 options[i].letter ? ", " : "  ", options[i].name,
			 options[i].arg && !is_optional(&options[i]) ? " " : "",
			 options[i].arg ? options[i].arg : "");
		nw_option_help(command, &options[i], &help);
		fprintf(to, "  %-26s %s\n", spelled, nw_buf_str(&help));
		nw_buf_free(&help);
	}
}
