// SPDX-License-Identifier: MIT
/* The table of commands, and the parts that all commands share. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/state.h"
#include "cmd.h"
#include "find/elf/debuginfod.h"
#include "words.h"

#define LIST_COMMAND(name) &nw_cmd_##name,
const struct nw_command *const nw_commands[] = {NW_COMMANDS(LIST_COMMAND)};
const size_t nw_command_count = NW_COUNT(nw_commands);

/* ---- messages ----------------------------------------------------------------------- */

bool nw_print(const char *text, size_t len)
{
	static struct nw_sink messages;

	messages.file = stderr;
	return nw_sink_put(&messages, text, len);
}

/* Prints the whole message in one write, so that lines of other programs do not break it. A message is one
 * line, although names from files may contain anything. Without memory, the message says so. */
static void print_message(const char *what, const char *hint)
{
	static const char no_memory[] = "nopwatch: out of memory\n";
	struct nw_buf text = {.failed = !what};

	nw_buf_adds(&text, "nopwatch: ");
	if (what)
		nw_buf_add_sentence(&text, what, strlen(what));
	if (hint && *hint) {
		nw_buf_adds(&text, "\nnopwatch: ");
		nw_buf_add_sentence(&text, hint, strlen(hint));
	}
	nw_buf_addc(&text, '\n');
	fflush(stdout);
	nw_print(text.failed ? no_memory : text.data,
		 text.failed ? sizeof(no_memory) - 1 : text.len);
	nw_buf_free(&text);
}

void nw_report_error(const struct nw_error *err)
{
	print_message(err->what, err->hint);
}

void nw_note(const char *fmt, ...)
{
	struct nw_buf text = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	print_message(text.failed ? NULL : nw_buf_str(&text), NULL);
	nw_buf_free(&text);
}

int nw_failure(const struct nw_command *command, const struct nw_error *err)
{
	struct nw_error with_hint = *err;

	if (err->usage && !*err->hint && command)
		nw_error_hint(&with_hint, "usage: nopwatch %s %s", command->name,
			      command->usage);
	nw_report_error(&with_hint);
	return err->usage ? NW_EXIT_USAGE : NW_EXIT_FAILED;
}

bool nw_use_color(const struct nw_args *args, FILE *stream)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (!stream)
		return false;
	if (strcmp(args->color, "auto") != 0)
		return strcmp(args->color, "always") == 0;
	if ((none && *none) || !term || strcmp(term, "dumb") == 0)
		return false;
	return isatty(fileno(stream)) == 1;
}

struct nw_layout nw_layout_of(const struct nw_args *args, FILE *stream)
{
	return (struct nw_layout){.width = args->verbose ? 0 : nw_screen_of(stream).columns,
				  .bold = nw_use_color(args, stream),
				  .plain = args->plain};
}

/* ---- commands ----------------------------------------------------------------------- */

/* words: those behind the name, up to a NULL. */
static void no_such_command(const char *name, char *const *words, struct nw_error *err)
{
	struct nw_buf near = {0};
	const char *command = "COMMAND";

	for (size_t i = 0; i < nw_command_count; i++)
		if (nw_may_mean(name, nw_commands[i]->name) ||
		    strcasecmp(name, nw_commands[i]->name) == 0)
			nw_buf_printf(&near, "%s%s", near.len ? ", " : "",
				      nw_commands[i]->name);
	const char *bare = name + strspn(name, "-");
	/* two letters that changed places are two mistakes */
	bool version = strcmp(name, "-v") == 0 || nw_edit_distance(bare, "version") <= 2;
	for (; *name == '-' && *words && strcmp(command, "COMMAND") == 0; words++)
		for (size_t i = 0; i < nw_command_count; i++)
			if (strcmp(*words, nw_commands[i]->name) == 0)
				command = nw_commands[i]->name;
	nw_fail_usage(err, "there is no command '%s'", name);
	if (near.len)
		nw_error_hint(err, "did you mean %s?", nw_buf_str(&near));
	else if (*name == '-' && (version || nw_edit_distance(bare, "help") <= 2))
		nw_error_hint(err, "did you mean --%s?", version ? "version" : "help");
	else if (*name == '-' && nw_option_habit("", name) && !*words)
		nw_error_hint(err, "%s", nw_option_habit("", name));
	else if (*name == '-')
		nw_error_hint(err, "options follow the command: nopwatch %s %s ...",
			      command, name);
	else if (strchr(name, '/'))
		nw_error_hint(err, "to run a program: nopwatch stat SPEC... -- %s", name);
	else
		nw_error_hint(err, "`nopwatch help` lists the commands");
	if (nw_command_habit(name))
		nw_error_hint(err, "%s", nw_command_habit(name));
	nw_buf_free(&near);
}

const struct nw_command *nw_find_command(char *const *words, struct nw_error *err)
{
	const struct nw_command *found = NULL;
	const char *name = words[0];
	struct nw_buf known = {0};
	unsigned int matches = 0;

	for (size_t i = 0; i < nw_command_count; i++) {
		if (strcmp(nw_commands[i]->name, name) == 0) {
			nw_buf_free(&known);
			return nw_commands[i];
		}
		if (*name && strncmp(nw_commands[i]->name, name, strlen(name)) == 0) {
			found = nw_commands[i];
			nw_buf_printf(&known, "%s%s", matches++ ? ", " : "", found->name);
		}
	}
	if (matches == 1) {
		nw_buf_free(&known);
		return found;
	}
	if (matches)
		nw_fail_usage(err, "ambiguous command '%s': could be %s", name,
			      nw_buf_str(&known));
	else
		no_such_command(name, words + 1, err);
	nw_buf_free(&known);
	return NULL;
}

void nw_print_overview(FILE *to)
{
	fputs("nopwatch: latency inside running programs, without BPF\n\n"
	      "usage: nopwatch COMMAND [OPTIONS] [SPEC...] [-- CMD]\n\n",
	      to);
	for (size_t i = 0; i < nw_command_count; i++)
		fprintf(to, "  %-10s %s\n", nw_commands[i]->name, nw_commands[i]->summary);
	fputs("\nA SPEC is usdt:PATH:PROVIDER:NAME, or PROVIDER:NAME with -p, -x or -- CMD;\n"
	      "func:PATH:SYMBOL[,returns=insn] times any function, uprobe: and uretprobe: are its ends;\n"
	      "every field may hold * and ?. `nopwatch help COMMAND`, `help spec`, `help filter` and\n"
	      "`help span` tell more. @FILE stands for the words in FILE, such as one option a line.\n",
	      to);
}

/* Opens stdin, stdout and stderr if they are closed, because files that we open would get their numbers. */
static void keep_standard_files_open(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static void on_file_limit(int number)
{
	(void)number;
}

/*
 * Holds SIGUSR1 and SIGUSR2 back until the run handles them, because they would end the process. A signal that is
 * sent early is handled then. SIGINT and SIGTERM end the process as usual until there is something to remove.
 */
static void hold_requests(int how, bool both)
{
	sigset_t requests;

	sigemptyset(&requests);
	sigaddset(&requests, SIGUSR2);
	if (both)
		sigaddset(&requests, SIGUSR1);
	sigprocmask(how, &requests, NULL);
}

/* Makes a write beyond RLIMIT_FSIZE fail like one on a full disk, instead of ending the process. exec resets a
 * handler, but not SIG_IGN, so CMD has the usual signal. */
static void survive_file_limits(void)
{
	struct sigaction action = {.sa_handler = on_file_limit, .sa_flags = SA_RESTART};
	struct sigaction before;

	if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

/* Gives stdout a buffer that holds any help text, so that written() learns of every error. A terminal shows each
 * line at once. */
static void buffer_output(void)
{
	static char buffer[65536];

	if (isatty(STDOUT_FILENO) != 1)
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

/* Reports an error if the printed text could not be written. */
static int written(int status)
{
	if (fflush(stdout) != 0 && errno != EPIPE && status == NW_EXIT_OK) {
		nw_note("cannot write the output: %s", nw_strerror(errno));
		status = NW_EXIT_FAILED;
	}
	return status;
}

/* A file's name may promise another format than it gets. */
static void check_ending(const struct nw_command *command, const struct nw_args *args)
{
	const char *ending = args->output ? strrchr(args->output, '.') : NULL;
	const struct nw_output_format *format = ending ? nw_output_find(ending + 1) : NULL;

	if (format && format != args->format && format->shows[command->shows] &&
	    !args->quiet)
		nw_note("%s gets %s: for %s, add -f %s", args->output, args->format->name,
			format->name, format->name);
}

/* argv[0] is the name of the command. Returns the exit status. */
static int run_command(int argc, char **argv)
{
	struct nw_error err;
	const struct nw_command *command = nw_find_command(argv, &err);
	if (!command) {
		nw_words_blame(argv[0], &err);
		return nw_failure(NULL, &err);
	}
	if (command == &nw_cmd_recipe && argc > 1 && *argv[1] != '-')
		return nw_recipe_run(argc, argv, run_command);
	struct nw_args args;
	if (nw_parse_args(command, argc, argv, &args, &err) < 0)
		return nw_failure(NULL, &err);
	check_ending(command, &args);
	if (!args.until_signal) /* without this option SIGUSR2 ends the process as usual */
		hold_requests(SIG_UNBLOCK, false);
	int status = NW_EXIT_OK;
	if (!args.help && strstr(command->options, "state-dir") &&
	    nw_state_check_given(&err) < 0)
		status = nw_failure(command, &err);
	else if (!args.help && args.debuginfod && nw_debuginfod_enable(&err) < 0)
		status = nw_failure(command, &err);
	else if (!args.help)
		status = command->run(&args);
	else if (nw_print_help(command, stdout, &err) < 0)
		status = nw_failure(command, &err);
	if (!args.quiet)
		nw_vec_each (nw_debuginfod_notes(), note)
			nw_note("%s", *note);
	nw_free_args(&args);
	return status;
}

#ifdef __clang__
#define COMPILER __VERSION__ /* has the compiler's name */
#else
#define COMPILER "gcc " __VERSION__
#endif

/* The versions are those of the headers and files that the program was built with. */
static void print_version(void)
{
	printf("nopwatch %s\n", NOPWATCH_VERSION);
	printf("linked libraries: %s\n", NW_LINKED);
	if (*NW_OPENED_LATE)
		printf("libraries opened when needed: %s\n", NW_OPENED_LATE);
	printf("built by %s for %s\n", COMPILER, NW_MACHINE);
}

int main(int argc, char **argv)
{
	hold_requests(SIG_BLOCK, true);
	keep_standard_files_open();
	survive_file_limits();
	buffer_output();
	if (argc < 2) {
		nw_print_overview(stderr);
		return NW_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 ||
	    strcmp(argv[1], "version") == 0) {
		print_version();
		return written(NW_EXIT_OK);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		nw_print_overview(stdout);
		return written(NW_EXIT_OK);
	}
	if (strcmp(argv[1], "__complete") == 0)
		return written(nw_complete(argc - 2, argv + 2));
	static struct nw_words words;
	struct nw_error err;
	if (nw_words_expand(argv + 1, &words, &err) < 0)
		return nw_failure(NULL, &err);
	if (!words.count) {
		nw_note("%s names no command", argv[1] + 1);
		return NW_EXIT_USAGE;
	}
	return written(run_command((int)words.count, words.item));
}
