// SPDX-License-Identifier: MIT
/*
 * What may stand where the cursor is, for the completion of shells (scripts/completion). They
 * call `nopwatch __complete WORD...` with the words behind "nopwatch" up to the cursor, of which the
 * last may be empty or half a word, and get a line a candidate: the word, a tab, what it is. A
 * line "@file" stands for the names of files, "@command" for a command line of its own.
 *
 * All is taken from the tables of commands and options, so that there is nothing to keep in step.
 * Names of probes come from files that others have made: what a shell would not take for one
 * plain word is left out.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "nopwatch/tracefs.h"

struct completion {
	const struct nw_command *command;
	struct nw_args args; /* of the words before */
	const char *word;    /* what is to be completed, behind head */
	const char *head;    /* what stays as it is: "--by=pid," */
	size_t head_len;
	NW_VEC(char *) found;
};

/* Would each shell take it for one word without quotes? */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,:/+@%=-",
			    *text))
			return false;
	return true;
}

static void offer(struct completion *c, const char *candidate, const char *what)
{
	if (strncmp(candidate, c->word, strlen(c->word)) != 0 || !is_plain(candidate))
		return;
	char *line = nw_text("%.*s%s\t%s", (int)c->head_len, c->head, candidate,
			     what ? what : "");
	char **slot = line ? nw_vec_add(&c->found) : NULL;
	if (slot)
		*slot = line;
	else
		free(line);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_found(struct completion *c)
{
	const char *last = "";

	if (c->found.count)
		qsort(c->found.item, c->found.count, sizeof(*c->found.item), compare_lines);
	nw_vec_each (&c->found, line) {
		if (strcmp(*line, last) != 0)
			puts(*line);
		last = *line;
	}
}

/* ---- values of options -------------------------------------------------------------- */

static void offer_files(struct completion *c)
{
	(void)c;
	puts("@file");
}

static void offer_processes(struct completion *c)
{
	nw_pids all = {0};

	if (nw_process_all(&all, NULL) < 0)
		return;
	nw_vec_each (&all, pid) {
		char number[16], comm[16];
		pid_t process;
		snprintf(number, sizeof(number), "%d", (int)*pid);
		if (nw_process_task(*pid, &process, comm) < 0)
			continue;
		for (char *at = comm; *at; at++)
			if (nw_is_control((unsigned char)*at) || (unsigned char)*at >= 0x80)
				*at = '?';
		offer(c, number, comm);
	}
	nw_vec_free(&all);
}

static void offer_words(struct completion *c, const char *words)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(words);

	for (char *save, *one = copy ? strtok_r(copy, " ,", &save) : NULL; one;
	     one = strtok_r(NULL, " ,", &save))
		if (strcmp(one, "or") != 0)
			offer(c, one, NULL);
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
		offer(c, nw_sort_names[i], NULL);
}

static void offer_keys(struct completion *c)
{
	offer_words(c, "tid pid comm cpu");
}

static void offer_whens(struct completion *c)
{
	offer_words(c, "auto always never");
}

/* By what the table of options calls their arguments. Of the others nothing is known. */
static const struct {
	const char *arg;
	bool list; /* several, with commas between */
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
		const char *comma = kinds[i].list ? strrchr(c->word, ',') : NULL;
		if (comma) {
			c->head_len = (size_t)(comma + 1 - c->head);
			c->word = comma + 1;
		}
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
		offer(c, name, nw_buf_str(&help));
		nw_buf_free(&help);
	}
}

/* The option that the word before is, if its value is still to come: "-p", "--pid". */
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

/* "--format=js" */
static bool complete_joined(struct completion *c)
{
	const struct nw_option *option;
	const char *equals = strchr(c->word, '=');

	if (strncmp(c->word, "--", 2) != 0 || !equals)
		return false;
	nw_cleanup(nw_free_ptr) char *name = strndup(c->word, (size_t)(equals - c->word));
	option = name ? awaits_value(c->command, name) : NULL;
	c->head_len = (size_t)(equals + 1 - c->head);
	c->word = equals + 1;
	if (option)
		offer_values(c, option);
	return true;
}

/* ---- specs -------------------------------------------------------------------------- */

/* Directories, and files with the colon behind them: PATH of usdt:PATH:PROVIDER:NAME. A bare name
 * is none of this directory: it would be looked for in $PATH. */
static void offer_paths(struct completion *c)
{
	const char *slash = strrchr(c->word, '/');
	size_t dir_len = slash ? (size_t)(slash + 1 - c->word) : 0;
	nw_cleanup(nw_free_ptr) char *dir = dir_len ? strndup(c->word, dir_len)
						    : strdup(".");
	DIR *entries = dir ? opendir(dir) : NULL;
	struct dirent *entry;
	struct stat st;

	while (entries && (entry = readdir(entries))) {
		if (entry->d_name[0] == '.' && (!slash || slash[1] != '.'))
			continue;
		nw_cleanup(nw_free_ptr) char *path = nw_text("%.*s%s", (int)dir_len,
							     c->word, entry->d_name);
		if (!path || strncmp(path, c->word, strlen(c->word)) != 0 ||
		    stat(path, &st) < 0)
			continue;
		bool is_dir = S_ISDIR(st.st_mode);
		nw_cleanup(nw_free_ptr) char *more = nw_text("%s%c", path,
							     is_dir ? '/' : ':');
		if (more && (is_dir || (slash && S_ISREG(st.st_mode))))
			offer(c, more, NULL);
	}
	if (entries)
		closedir(entries);
}

static void offer_sites(struct completion *c, const struct nw_image *image)
{
	nw_vec_each (&image->sites, site) {
		nw_cleanup(nw_free_ptr) char *name = nw_text("%s:%s", site->provider,
							     site->name);
		if (name)
			offer(c, name, NULL);
	}
}

static int offer_function(const struct nw_symbol *symbol, void *arg)
{
	if (symbol->function && !symbol->undefined)
		offer(arg, symbol->name, NULL);
	return 0;
}

/* The probes of -p's processes or of -x's file. */
static void offer_probes(struct completion *c)
{
	struct nw_image *image;

	if (c->args.file && nw_image_open(c->args.file, false, &image, NULL) == 0) {
		offer_sites(c, image);
		nw_image_free(image);
	}
	nw_vec_each (&c->args.pids, pid) {
		nw_images images = {0};
		if (nw_process_images(*pid, false, false, &images, NULL) == 0)
			nw_vec_each (&images, mapped)
				offer_sites(c, *mapped);
		nw_images_free(&images);
	}
}

/* The kernel's own events, where tracefs may be looked at. */
static void offer_tracepoints(struct completion *c)
{
	struct nw_tracefs fs;
	nw_strings names = {0};

	if (nw_tracefs_open(&fs, NULL) < 0)
		return;
	if (nw_tracefs_events(&fs, &names, NULL) == 0)
		nw_vec_each (&names, name)
			offer(c, *name, NULL);
	nw_strings_free(&names);
	nw_tracefs_close(&fs);
}

/* The uprobe events that there are, as GROUP:EVENT: lines "p:GROUP/EVENT PATH:...". */
static void offer_events(struct completion *c)
{
	struct nw_buf text = {0};
	struct nw_tracefs fs;

	if (nw_tracefs_open(&fs, NULL) < 0)
		return;
	if (nw_tracefs_read(fs.root, "uprobe_events", &text) == 0 && text.data) {
		char *rest = text.data, *line;
		while ((line = strsep(&rest, "\n"))) {
			char *name = strchr(line, ':'), *slash = strchr(line, '/');
			line[strcspn(line, " ")] = '\0';
			if (!name || !slash || slash < name || slash > line + strlen(line))
				continue;
			*slash = ':';
			offer(c, name + 1, NULL);
		}
	}
	nw_buf_free(&text);
	nw_tracefs_close(&fs);
}

/* Behind usdt:PATH: its probes, behind func:PATH: its functions. */
static void offer_names(struct completion *c, bool usdt, const char *path)
{
	nw_cleanup(nw_free_ptr) char *found = NULL;
	struct nw_image *image;

	if (!*path && c->args.file)
		path = c->args.file;
	else if (*path && !strchr(path, '/') && nw_locate(path, &found, NULL) == 0)
		path = found;
	if (!*path || nw_image_open(path, false, &image, NULL) < 0)
		return;
	if (usdt)
		offer_sites(c, image);
	else
		nw_image_each_symbol(image, offer_function, c);
	nw_image_free(image);
}

static void offer_specs(struct completion *c)
{
	static const char *const spellings[] = {"usdt:", "func:", "uprobe:", "uretprobe:"};

	static const char tracepoint[] = "tracepoint:";
	if (strncmp(c->word, tracepoint, sizeof(tracepoint) - 1) == 0) {
		c->word += sizeof(tracepoint) - 1;
		c->head_len = (size_t)(c->word - c->head);
		offer_tracepoints(c);
		return;
	}
	for (size_t i = 0; i < NW_COUNT(spellings); i++) {
		size_t len = strlen(spellings[i]);
		if (strncmp(c->word, spellings[i], len) != 0) {
			offer(c, spellings[i], NULL);
			continue;
		}
		const char *path = c->word + len, *colon = strchr(path, ':');
		c->word = colon ? colon + 1 : path;
		c->head_len = (size_t)(c->word - c->head);
		if (!colon) {
			offer_paths(c);
			return;
		}
		nw_cleanup(nw_free_ptr) char *file = strndup(path, (size_t)(colon - path));
		if (file)
			offer_names(c, i == 0, file);
		return;
	}
	if (strstr(c->command->usage, "GROUP:EVENT"))
		offer_events(c);
	else if (strstr(c->command->usage, "-- CMD")) /* a run */
		offer(c, tracepoint, NULL);
	offer_probes(c);
}

/* ---- words -------------------------------------------------------------------------- */

static void offer_commands(struct completion *c)
{
	for (size_t i = 0; i < nw_command_count; i++)
		offer(c, nw_commands[i]->name, nw_commands[i]->summary);
}

/* What the words of a command are, its usage says. */
static void offer_command_words(struct completion *c)
{
	const char *usage = c->command->usage;

	if (strstr(usage, "COMMAND]"))
		offer_commands(c);
	else if (strstr(usage, "SPEC"))
		offer_specs(c);
	else if (strstr(usage, "PATTERN") && (c->args.file || c->args.pids.count))
		offer_probes(c);
	else if (strstr(usage, "FILE"))
		offer_files(c);
}

static void complete(struct completion *c, int argc, char **argv)
{
	const struct nw_option *option = argc > 1 ? awaits_value(c->command, argv[argc - 1])
						  : NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		puts("@command");
		return;
	}
	/* the words may be wrong as yet: then nothing is known of them */
	if (nw_parse_args(c->command, option ? argc - 1 : argc, argv, &c->args, NULL) < 0)
		c->args = (struct nw_args){0};
	if (option)
		offer_values(c, option);
	else if (complete_joined(c))
		return;
	else if (c->word[0] == '-')
		offer_options(c);
	else
		offer_command_words(c);
}

int nw_complete(int argc, char **argv)
{
	struct completion c = {.word = argc ? argv[argc - 1] : ""};
	struct nw_error err;

	c.head = c.word;
	if (argc < 2)
		offer_commands(&c);
	else if ((c.command = nw_find_command(argv[0], &err)))
		complete(&c, argc - 1, argv);
	print_found(&c);
	nw_vec_each (&c.found, line)
		free(*line);
	nw_vec_free(&c.found);
	nw_free_args(&c.args);
	return NW_EXIT_OK;
}
