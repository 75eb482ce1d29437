// SPDX-License-Identifier: MIT
/*
 * Completions for shells (scripts/completion). They call `nopwatch __complete WORD...` with the words behind
 * "nopwatch" up to the cursor; the last word may be empty or incomplete. Each line of output is a candidate: the
 * word, a tab, its meaning. A line "@file" stands for file names, and "@command" for another command line.
 *
 * Everything comes from the tables of commands and options, so that nothing has to be kept in step. The engine
 * completes specs (run/complete.h).
 */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "run/complete.h"
#include "show/formats.h"

struct completion {
	struct nw_completion all;
	const struct nw_command *command;
	struct nw_args args; /* the parsed words before the cursor */
};

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- values of options -------------------------------------------------------------- */

static void offer_files(struct completion *c)
{
	(void)c;
	puts("@file");
}

static void offer_processes(struct completion *c)
{
	nw_offer_processes(&c->all);
}

static void offer_words(struct completion *c, const char *words)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(words);

	for (char *save, *one = copy ? strtok_r(copy, " ,", &save) : NULL; one;
	     one = strtok_r(NULL, " ,", &save))
		if (strcmp(one, "or") != 0)
			nw_offer(&c->all, one, NULL);
}

static void offer_formats(struct completion *c)
{
	struct nw_buf names = {0};

	nw_output_names(c->command->shows, &names);
	offer_words(c, nw_buf_str(&names));
	nw_buf_free(&names);
}

static void offer_orders(struct completion *c)
{
	for (int i = NW_SORT_DEFAULT + 1; i < NW_SORT_COUNT; i++)
		nw_offer(&c->all, nw_sort_names[i], NULL);
}

static void offer_keys(struct completion *c)
{
	offer_words(c, "tid pid comm cpu");
}

static void offer_whens(struct completion *c)
{
	offer_words(c, "auto always never");
}

/* The kinds of values, by the argument's name in the table of options. Other arguments get no completion. */
static const struct {
	const char *arg;
	bool list; /* several values may be given, separated by commas */
	void (*offer)(struct completion *c);
} kinds[] = {
	{"FILE", false, offer_files},	      {"[FILE=]PATH", false, offer_files},
	{"PID[,PID]", true, offer_processes}, {"FORM", false, offer_formats},
	{"KEY[,KEY]", true, offer_keys},      {"KEY", false, offer_orders},
	{"WHEN", false, offer_whens},
};

static void offer_values(struct completion *c, const struct nw_option *option)
{
	for (size_t i = 0; i < NW_COUNT(kinds); i++) {
		if (strcmp(kinds[i].arg, option->arg) != 0)
			continue;
		const char *word = c->all.typed + c->all.done;
		const char *comma = kinds[i].list ? strrchr(word, ',') : NULL;
		if (comma)
			c->all.done = (size_t)(comma + 1 - c->all.typed);
		kinds[i].offer(c);
	}
}

/* ---- options ------------------------------------------------------------------------ */

static void offer_options(struct completion *c)
{
	const struct nw_option *option;

	for (size_t i = 0; (option = nw_option_at(i)); i++) {
		struct nw_buf help = {0};
		char name[64];
		snprintf(name, sizeof(name), "--%s", option->name);
		if (!nw_takes_option(c->command, option))
			continue;
		nw_option_help(c->command, option, &help);
		nw_offer(&c->all, name, nw_buf_str(&help));
		nw_buf_free(&help);
	}
}

/* Returns the option whose value comes next, if the word is one such as "-p" or "--pid". */
static const struct nw_option *awaits_value(const struct nw_command *command,
					    const char *word)
{
	const struct nw_option *option;

	for (size_t i = 0; (option = nw_option_at(i)); i++) {
		bool letter = option->letter && word[0] == '-' &&
			      word[1] == (char)option->letter && !word[2];
		bool name = word[0] == '-' && word[1] == '-' &&
			    strcmp(word + 2, option->name) == 0;
		if ((letter || name) && option->arg && nw_takes_option(command, option))
			return option;
	}
	return NULL;
}

/* Completes a word such as "--format=js". */
static bool complete_joined(struct completion *c)
{
	const struct nw_option *option;
	const char *word = c->all.typed, *equals = strchr(word, '=');

	if (strncmp(word, "--", 2) != 0 || !equals)
		return false;
	nw_cleanup(nw_free_ptr) char *name = strndup(word, (size_t)(equals - word));
	option = name ? awaits_value(c->command, name) : NULL;
	c->all.done = (size_t)(equals + 1 - word);
	if (option)
		offer_values(c, option);
	return true;
}

/* ---- words -------------------------------------------------------------------------- */

static void offer_commands(struct completion *c)
{
	for (size_t i = 0; i < nw_command_count; i++)
		nw_offer(&c->all, nw_commands[i]->name, nw_commands[i]->summary);
}

static void offer_specs(struct completion *c)
{
	bool of_events = strstr(c->command->usage, "GROUP:EVENT"),
	     of_a_run = !of_events && strstr(c->command->usage, "-- CMD");

	if (nw_offer_specs(&c->all, of_a_run))
		return;
	if (of_events)
		nw_offer_events(&c->all);
	nw_offer_probes(&c->all);
}

/* Offers the words that the command's usage names. */
static void offer_command_words(struct completion *c)
{
	const char *usage = c->command->usage;

	if (strstr(usage, "[COMMAND")) {
		offer_commands(c);
		for (size_t i = 0; i < nw_topic_count; i++)
			nw_offer(&c->all, nw_topics[i].name, nw_topics[i].summary);
	} else if (strstr(usage, "SPEC"))
		offer_specs(c);
	else if (strstr(usage, "PATTERN") && (c->args.file || c->args.pids.count))
		nw_offer_probes(&c->all);
	else if (strstr(usage, "FILE"))
		offer_files(c);
}

static void complete(struct completion *c, int argc, char **argv)
{
	const struct nw_option *option = argc > 1 ? awaits_value(c->command, argv[argc - 1])
						  : NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0 || c->command == &nw_cmd_report)
			continue;
		puts("@command");
		return;
	}
	/* The words may be incomplete and therefore wrong; then nothing is known of them. */
	if (nw_parse_args(c->command, option ? argc - 1 : argc, argv, &c->args, NULL) < 0)
		c->args = (struct nw_args){0};
	c->all.file = c->args.file;
	c->all.pids = c->args.pids.item;
	c->all.pid_count = c->args.pids.count;
	if (option)
		offer_values(c, option);
	else if (complete_joined(c))
		return;
	else if (c->all.typed[0] == '-')
		offer_options(c);
	else
		offer_command_words(c);
}

int nw_complete(int argc, char **argv)
{
	struct completion c = {.all = {.typed = argc ? argv[argc - 1] : ""}};
	struct nw_error err;

	if (argc < 2)
		offer_commands(&c);
	else if ((c.command = nw_find_command(argv, &err)))
		complete(&c, argc - 1, argv);
	const char *last = "";
	if (c.all.found.count)
		qsort(c.all.found.item, c.all.found.count, sizeof(*c.all.found.item),
		      compare_lines);
	nw_vec_each (&c.all.found, line) {
		if (strcmp(*line, last) != 0)
			puts(*line);
		last = *line;
	}
	nw_completion_free(&c.all);
	nw_free_args(&c.args);
	return NW_EXIT_OK;
}
