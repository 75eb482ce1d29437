/* SPDX-License-Identifier: MIT */
/*
 * cmd: the commands, each in a file of its own that ends in one struct nw_command; main.c
 * lists them. The only room that exits; it prints through terminal/.
 */
#ifndef NOPWATCH_CMD_CMD_H
#define NOPWATCH_CMD_CMD_H

#include <stdio.h>
#include <sys/types.h>

#include "cmd/terminal/sink.h"
#include "nopwatch/base.h"
#include "nopwatch/engine.h"
#include "nopwatch/flight.h"
#include "nopwatch/output.h"
#include "nopwatch/probe.h"

/* ---- options ------------------------------------------------------------------------ */

typedef NW_VEC(const char *) nw_args_texts;

/* What the command line said. One set for all commands; the same letter means the same. */
struct nw_args {
	const char *command;
	char *const *argv;   /* all of it, the command first */
	nw_args_texts words; /* what is no option, up to -- */
	char **cmd;	     /* behind --, NULL: there is none */

	NW_VEC(pid_t) pids;
	const char *file;   /* -x */
	const char *from;   /* --from */
	const char *output; /* -o */
	uint64_t duration_ns, interval_ns;
	uint64_t count; /* -n, 0: not said */
	uint64_t buffer_bytes;
	uint64_t string_size; /* bytes of a string that are fetched, 0: a default */
	uint64_t stack_size;  /* bytes of a stack that are fetched, 0: a default */
	uint64_t max_rate;    /* hits a second and probe, 0: any */
	const struct nw_output_format *format;
	const char *by, *filter;
	struct nw_slower slower;
	bool states, net;
	struct nw_until until; /* --until; no span: not said */
	const char *until_cmd;
	uint64_t keep_ns, times; /* --keep, --times */
	bool until_signal, has_times;
	nw_args_texts spans, hists, types, remotes;
	nw_args_texts stacks; /* --stack=PROBE; "": of all */
	const char *
		stack_word; /* what follows --stack without =, and names no file: NULL, or a mistake */
	const char *color;
	const char *error;	      /* --error */
	const char *group, *instance; /* NULL: not said */
	bool enable, foreign;
	struct nw_view view; /* --sort, --all-rows; --top, once all is parsed */
	uint64_t top;
	bool dry_run, no_demangle, kernel_strings, no_follow_file, force, quiet, follow,
		all, wall, strict, no_pager, help;
	unsigned int verbose;
};

struct nw_option {
	int letter;	  /* 0: only a long name */
	const char *name; /* long name, NULL: only a letter */
	const char *
		arg; /* what its argument is called; "[=...]": it may be left out; NULL: it takes none */
	const char *help; /* NULL: the formats that the command has */
	/* Check the value (NULL: there is none), and put it into the field. */
	int (*take)(const struct nw_option *option, struct nw_args *args, const char *value,
		    struct nw_error *err);
	size_t field; /* offset of the field of nw_args that it fills */
	const char
		*wanted; /* "not WANTED" is said of a wrong value; NULL: take() says it */
	uint64_t least, most; /* of a number, in its unit; most 0: any */
};

/* "nopwatch stat -p 7 'app:*'": what was typed, as a shell would take it again. */
void nw_command_line(const struct nw_args *args, struct nw_buf *out);

/* ---- commands ----------------------------------------------------------------------- */

enum nw_exit {
	NW_EXIT_OK = 0,
	NW_EXIT_FAILED = 1,
	NW_EXIT_USAGE = 2
};

struct nw_command {
	const char *name;
	const char *summary; /* one line */
	const char *usage;   /* what follows "nopwatch NAME" */
	const char *details; /* a paragraph for `help NAME` */
	const char *options; /* names of the options it takes, blank-separated */
	enum nw_shows shows; /* which formats it has depends on that */
	int (*run)(const struct nw_args *args); /* the exit status */
};

/* Options that go together, each set followed by a blank. */
#define NW_OPTIONS_RESULT "output format json "
#define NW_OPTIONS_RUN                                                                  \
	"pid follow all exe types duration max-rate buffer string-size strict dry-run " \
	"no-demangle force quiet "
#define NW_OPTIONS_SPANS "by filter span slower states net "
#define NW_OPTIONS_REPORT                  \
	NW_OPTIONS_RESULT NW_OPTIONS_SPANS \
		"interval sort top all-rows raw hist quiet verbose color no-pager "
#define NW_OPTIONS_STACKS "stack stack-size "
#define NW_OPTIONS_STAT	  NW_OPTIONS_RUN NW_OPTIONS_REPORT "count from no-follow-file "
#define NW_OPTIONS_EVENTS NW_OPTIONS_RESULT "pid exe dry-run quiet "

/* All commands, in the order of `nopwatch help`: each is nw_cmd_NAME. */
/* clang-format off */
#define NW_COMMANDS(command) \
	command(list) \
	command(stat) \
	command(top) \
	command(trace) \
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
	command(features) \
	command(help)
/* clang-format on */
#define NW_DECLARE_COMMAND(name) extern const struct nw_command nw_cmd_##name;
NW_COMMANDS(NW_DECLARE_COMMAND)
extern const struct nw_command *const nw_commands[];
extern const size_t nw_command_count;

/* The command of that name, or of which it is the only one to begin so. */
const struct nw_command *nw_find_command(const char *name, struct nw_error *err);

/* Appends what the option means to the command. */
void nw_option_help(const struct nw_command *command, const struct nw_option *option,
		    struct nw_buf *out);

/* Parse what follows the command's name. */
int nw_parse_args(const struct nw_command *command, int argc, char **argv,
		  struct nw_args *out, struct nw_error *err);
void nw_free_args(struct nw_args *args);
int nw_print_help(const struct nw_command *command, FILE *to, struct nw_error *err);
/* The table of options, one by one; NULL behind the last. */
const struct nw_option *nw_option_at(size_t index);
bool nw_takes_option(const struct nw_command *command, const struct nw_option *option);
/* `nopwatch __complete WORD...`: what the last word may become. The exit status. */
int nw_complete(int argc, char **argv);
void nw_print_overview(FILE *to);

/* ---- messages ----------------------------------------------------------------------- */

/* Print "nopwatch: WHAT" and the hint, each on a line of its own, in one write. */
void nw_report_error(const struct nw_error *err);
void nw_note(const char *fmt, ...) nw_format(1, 2);
/* The same, with the usage if what was typed is at fault; returns the exit status. */
int nw_failure(const struct nw_command *command, const struct nw_error *err);
/* Should output to this stream be coloured? */
bool nw_use_color(const struct nw_args *args, FILE *stream);

/* ---- descriptions of probes --------------------------------------------------------- */

/* --types' files, and the tapsets that are installed ($SYSTEMTAP_TAPSET, as stap has it). */
int nw_load_types(const struct nw_args *args, struct nw_types *out, struct nw_error *err);

#endif
