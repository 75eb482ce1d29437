/* SPDX-License-Identifier: MIT */
/*
 * cmd: the commands. Each is in a file of its own, which ends in one struct nw_command; main.c lists them. This is
 * the only room that exits, and it prints through terminal/.
 */
#ifndef NOPWATCH_CMD_CMD_H
#define NOPWATCH_CMD_CMD_H

#include <stdio.h>
#include <sys/types.h>

#include "base/base.h"
#include "cmd/terminal/sink.h"
#include "find/probe/probe.h"
#include "find/process/cgroup.h"
#include "measure/boundaries.h"
#include "run/engine.h"
#include "run/flight/flight.h"
#include "show/rows/output.h"

/* ---- options ------------------------------------------------------------------------ */

typedef NW_VEC(const char *) nw_args_texts;
typedef nw_pids nw_args_pids;

/* The parsed command line. All commands share one set of options, in which a letter always has the same meaning. */
struct nw_args {
	const char *command;
	char *const *argv;   /* all words, the command first */
	nw_args_texts words; /* words that are no options, up to -- */
	char **cmd;	     /* the words behind --; NULL: there is none */
	/* report: how many of the words are in front of --, if there is one */
	size_t before;
	bool has_after;

	nw_args_pids pids, tids;
	NW_VEC(struct nw_cgroup_name) cgroups; /* --cgroup, --unit, --container */
	const char *file;		       /* -x */
	const char *from;		       /* --from */
	const char *output;		       /* -o */
	uint64_t duration_ns, interval_ns;
	uint64_t at_ns; /* --at: the run begins at a multiple of it; 0: at once */
	uint64_t count; /* -n; 0: not given */
	uint64_t buffer_bytes;
	uint64_t string_size; /* bytes to fetch of a string; 0: the default */
	uint64_t stack_size;  /* bytes to fetch of a stack; 0: the default */
	uint64_t max_rate;    /* hits per second and probe; 0: no limit */
	const struct nw_output_format *format;
	const char *by, *filter;
	struct nw_slower slower;
	uint64_t slowest; /* --slowest; 0: not given */
	bool open, main_thread;
	enum nw_engine engine;
	bool states, net;
	struct nw_until until; /* --until; without a span: not given */
	const char *until_cmd;
	uint64_t keep_ns, times; /* --keep, --times */
	bool until_signal, has_times;
	nw_args_texts spans, hists, members, types, remotes;
	nw_args_texts stacks; /* --stack=PROBE; "": of all probes */
	nw_args_texts limits; /* --fail-if */
	/* The word behind a --stack without =, if it names no file, which may be a mistake; NULL: none. */
	const char *stack_word;
	const char *color;
	const char *state_dir;	      /* --state-dir; nw_state_dir() has it */
	const char *listen;	      /* --listen */
	nw_args_texts hosts;	      /* --host */
	const char *options_of;	      /* --options-of */
	const char *error;	      /* --error */
	const char *group, *instance; /* NULL: not given */
	const char *name, *kernel; /* --name, --kernel: counts that stay; NULL: not given */
	const struct nw_kept *kept; /* the counts that --kernel names */
	bool enable, foreign;
	struct nw_boundaries boundaries; /* --buckets */
	struct nw_view view;		 /* --sort, --all-rows; and --top, after parsing */
	uint64_t top;
	bool debuginfod, dry_run, no_demangle, kernel_strings, no_follow_file, force, quiet,
		follow, all, wall, strict, no_pager, plain, functions, check, diff, help;
	unsigned int verbose;
};

/* The groups of options in a help text. */
enum nw_option_group {
	NW_OPTIONS_TARGET,
	NW_OPTIONS_STOP,
	NW_OPTIONS_FLIGHT,
	NW_OPTIONS_MEASURE,
	NW_OPTIONS_OUTPUT,
	NW_OPTIONS_OVERHEAD,
	NW_OPTIONS_PERSISTENT,
	NW_OPTIONS_DANGER,
	NW_OPTIONS_OTHER,
	NW_OPTION_GROUPS
};

struct nw_option {
	enum nw_option_group group;
	int letter;	  /* 0: it has only a long name */
	const char *name; /* the long name; NULL: it has only a letter */
	/* The name of its argument; "[=...]": it may be omitted; NULL: it takes none. */
	const char *arg;
	const char *help; /* NULL: a list of the command's formats */
	/* Checks the value (NULL: there is none) and stores it in the field. */
	int (*take)(const struct nw_option *option, struct nw_args *args, const char *value,
		    struct nw_error *err);
	size_t field; /* offset of the field in nw_args */
	/* The error for a wrong value is "not WANTED"; NULL: take() sets it. */
	const char *wanted;
	uint64_t least, most; /* of a number, in its unit; most 0: no limit */
};

/* Appends the command line, quoted for a shell: "nopwatch stat -p 7 'app:*'". */
void nw_command_line(const struct nw_args *args, struct nw_buf *out);

/* ---- commands ----------------------------------------------------------------------- */

enum nw_exit {
	NW_EXIT_OK = 0,
	NW_EXIT_FAILED = 1,
	NW_EXIT_USAGE = 2
};

struct nw_command {
	const char *name;
	const char *summary;  /* one line */
	const char *usage;    /* the words behind "nopwatch NAME" */
	const char *examples; /* lines for `help NAME`, or NULL */
	const char *details;  /* a paragraph for `help NAME` */
	const char *options;  /* the names of its options, separated by blanks */
	enum nw_shows shows;  /* the kind of result, which determines the formats */
	int (*run)(const struct nw_args *args); /* returns the exit status */
};

/* Groups of options; each ends in a blank. */
#define NW_OPTIONS_RESULT "output format json "
#define NW_OPTIONS_RUN                                                                      \
	NW_OPTIONS_CGROUPS                                                                  \
	"pid tid follow all exe types duration max-rate buffer string-size strict dry-run " \
	"no-demangle debuginfod force quiet state-dir "
#define NW_OPTIONS_SPANS "main-thread by filter span slower states net "
#define NW_OPTIONS_REPORT                  \
	NW_OPTIONS_RESULT NW_OPTIONS_SPANS \
		"interval sort top all-rows raw hist quiet verbose color no-pager "
/* Options that only a printed report has, not the live one. */
#define NW_OPTIONS_PRINTED "slowest open spans-only plain buckets "
#define NW_OPTIONS_STACKS  "stack stack-size "
#define NW_OPTIONS_STAT	   NW_OPTIONS_RUN NW_OPTIONS_REPORT "count from no-follow-file "
#define NW_OPTIONS_CGROUPS "cgroup unit container "
#define NW_OPTIONS_EVENTS  NW_OPTIONS_RESULT "pid exe dry-run quiet state-dir "

/* All commands in the order of `nopwatch help`. Each is defined as nw_cmd_NAME. */
/* clang-format off */
#define NW_COMMANDS(command) \
	command(list) \
	command(stat) \
	command(top) \
	command(serve) \
	command(trace) \
	command(expect) \
	command(why) \
	command(record) \
	command(report) \
	command(script) \
	command(add) \
	command(enable) \
	command(disable) \
	command(remove) \
	command(status) \
	command(clean) \
	command(recipe) \
	command(features) \
	command(help)
/* clang-format on */
#define NW_DECLARE_COMMAND(name) extern const struct nw_command nw_cmd_##name;
NW_COMMANDS(NW_DECLARE_COMMAND)
extern const struct nw_command *const nw_commands[];
extern const size_t nw_command_count;

/* `nopwatch help NAME` explains topics as well as commands. */
struct nw_topic {
	const char *name, *summary, *text;
};
extern const struct nw_topic nw_topics[];
extern const size_t nw_topic_count;
/* Runs the recipe argv[1]: its command and the words that follow, by run(). Returns the exit status. */
int nw_recipe_run(int argc, char **argv, int (*run)(int argc, char **argv));
/* If a recipe runs: prints its hint, which says when it cannot work. */
void nw_recipe_note(void);

/* Finds the command that words[0] names, or the only one whose name begins so. A hint uses the words behind it. */
const struct nw_command *nw_find_command(char *const *words, struct nw_error *err);
/* Return what does here what another tool's option ("-e", "--event=x") or command does there, or NULL. command: the one that
 * got the option. */
const char *nw_option_habit(const char *command, const char *option);
const char *nw_command_habit(const char *command);
/*
 * Hints at what a wrong command line may mean: "--pid" for "-pid", which getopt_long() takes for -p and its value, the -- before another
 * tool's command line, and a recording without perf's -i. argv: the command's words; word: the wrong one.
 */
void nw_hint_habit(const struct nw_command *command, char *const *argv, const char *word,
		   struct nw_error *err);
/* Refuses "-help", which getopt_long() takes for four letters, with "--help"; false: the word is no option's whole name. */
bool nw_is_long_name(const struct nw_command *command, const char *typed,
		     struct nw_error *err);

/* Appends the help text of an option of a command. */
void nw_option_help(const struct nw_command *command, const struct nw_option *option,
		    struct nw_buf *out);

/* Parses the words behind the command's name. */
int nw_parse_args(const struct nw_command *command, int argc, char **argv,
		  struct nw_args *out, struct nw_error *err);
/* Takes a -- of report: in front of it are the files before, and behind it those after. Options go on. */
int nw_report_take_dashes(struct nw_args *args, struct nw_error *err);
void nw_free_args(struct nw_args *args);
/* Checks that the command has the format: a report has more formats than a list. And that the format has a place for the options. */
int nw_check_format(const struct nw_command *command, const struct nw_args *args,
		    struct nw_error *err);
int nw_print_help(const struct nw_command *command, FILE *to, struct nw_error *err);
/* Returns an option by its index in the table; NULL behind the last one. */
const struct nw_option *nw_option_at(size_t index);
bool nw_takes_option(const struct nw_command *command, const struct nw_option *option);
/* May the option's argument be omitted? */
bool nw_is_optional(const struct nw_option *option);
/* Runs `nopwatch __complete WORD...`, which prints completions of the last word. Returns the exit status. */
int nw_complete(int argc, char **argv);
void nw_print_overview(FILE *to);

/* ---- messages ----------------------------------------------------------------------- */

/* Prints "nopwatch: ERROR" and the hint, each on a line, in one write. */
void nw_report_error(const struct nw_error *err);
/* Writes these bytes to stderr. Waits for its reader as results do (nw_sinks_follow()). Returns false if nobody takes them. */
bool nw_print(const char *text, size_t len);
void nw_note(const char *fmt, ...) nw_format(1, 2);
/* Does the same, and prints the usage if the command line is wrong. Returns the exit status. */
int nw_failure(const struct nw_command *command, const struct nw_error *err);
/* Should output to this stream have colours? */
bool nw_use_color(const struct nw_args *args, FILE *stream);
/* Returns how tables in text are laid out on this stream: -v shows every column, however narrow the terminal is. */
struct nw_layout nw_layout_of(const struct nw_args *args, FILE *stream);

#endif
