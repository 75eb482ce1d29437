// SPDX-License-Identifier: MIT
/* Decides whose hits count with CMD: only those of CMD and its descendants, or those of every process. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "run.h"

/* The text of a shell may contain the text of another shell. Deeper text is not read; then every process counts. */
#define MAX_DEPTH 8

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* Is it a program that becomes the program in its arguments, or waits for it? */
static bool is_wrapper(const char *name)
{
	static const char *const names[] = {"env",     "timeout", "nice",   "nohup", "exec",
					    "command", "setsid",  "stdbuf", "time",  "chrt",
					    "taskset", "ionice",  NULL};

	return is_one_of(name, names);
}

static bool is_shell(const char *name)
{
	static const char *const names[] = {"sh",  "bash", "dash", "ash",
					    "ksh", "zsh",  NULL};

	return is_one_of(name, names);
}

static bool is_keyword(const char *word)
{
	static const char *const words[] = {"if",    "then", "elif", "else", "while",
					    "until", "do",   "!",    "{",    NULL};

	return is_one_of(word, words);
}

static bool is_assignment(const char *word)
{
	size_t len = strcspn(word, "=/");

	return len && word[len] == '=';
}

/* Reads one word of a shell's text. Returns its end, and the word without its quotes in *out. */
static const char *read_word(const char *at, struct nw_buf *out)
{
	char quote = '\0';

	for (; *at && (quote || !strchr(" \t\n;&|()`<>", *at)); at++) {
		bool escaped = *at == '\\' && quote != '\'' && at[1];
		if (!escaped && *at == quote)
			quote = '\0';
		else if (!escaped && !quote && strchr("'\"", *at))
			quote = *at;
		else
			nw_buf_add(out, escaped ? ++at : at, 1);
	}
	return at;
}

static int add_files(char *const *word, size_t count, unsigned int depth, nw_images *files,
		     struct nw_error *err);

/* Adds the files of each command in a shell's text, up to a here-document. */
static int add_script(const char *at, unsigned int depth, nw_images *files,
		      struct nw_error *err)
{
	nw_strings words = {0};
	int ret = 0;

	while (ret == 0 && *at && strncmp(at, "<<", 2) != 0) {
		struct nw_buf word = {0};
		const char *end = read_word(at, &word);
		if (end > at && (word.failed ||
				 nw_strings_add(&words, nw_buf_str(&word), word.len) < 0))
			ret = nw_no_memory(err);
		nw_buf_free(&word);
		if (ret == 0 && *end && strchr("\n;&|()`", *end)) {
			ret = add_files(words.item, words.count, depth, files, err);
			nw_strings_free(&words);
			words = (nw_strings){0};
		}
		at = end > at ? end : end + 1;
	}
	if (ret == 0)
		ret = add_files(words.item, words.count, depth, files, err);
	nw_strings_free(&words);
	return ret;
}

/* Returns the text behind -c among a shell's arguments; NULL: the shell reads a file. */
static const char *script_of(char *const *word, size_t count)
{
	bool text = false;

	for (size_t i = 1; i < count; i++) {
		bool option = word[i][0] == '-' || word[i][0] == '+';
		if (!option)
			return text ? word[i] : NULL;
		if (strncmp(word[i], "--", 2) == 0)
			continue;
		text = text || strchr(word[i], 'c');
		i += word[i][strlen(word[i]) - 1] == 'o'; /* as in "-o pipefail" */
	}
	return NULL;
}

/* Adds the program that a word names, and its libraries. Returns 1; 0: the word names no program. */
static int add_program(const char *word, nw_images *files, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *path = NULL;
	struct nw_error why;
	struct stat st;
	int ret = nw_find_program(word, &path);

	if (ret < 0)
		return nw_no_memory(err);
	if (path && stat(path, &st) == 0 && nw_images_find(files, st.st_dev, st.st_ino))
		return 1;
	ret = path ? nw_locate_needed(path, false, files, &why) : -ENOENT;
	if (ret == 0 || !nw_is_shortage(-ret))
		return ret == 0;
	*err = why;
	return ret;
}

/* Adds the files of a command, and, if it is a wrapper or a shell, of the command in its arguments. */
static int add_files(char *const *word, size_t count, unsigned int depth, nw_images *files,
		     struct nw_error *err)
{
	bool more = true, wrapped = false;
	int ret = 0;

	for (size_t i = 0; ret >= 0 && more && i < count; i++) {
		if (!*word[i] || word[i][0] == '-' || is_assignment(word[i]) ||
		    is_keyword(word[i]))
			continue;
		const char *slash = strrchr(word[i], '/');
		const char *name = slash ? slash + 1 : word[i];
		const char *script = is_shell(name) && depth < MAX_DEPTH
					     ? script_of(word + i, count - i)
					     : NULL;
		ret = add_program(word[i], files, err);
		if (ret >= 0 && script)
			ret = add_script(script, depth + 1, files, err);
		wrapped = wrapped || is_wrapper(name);
		/* An argument of the wrapper itself, such as 9 of `timeout 9`, names no program. */
		more = is_wrapper(name) || (wrapped && ret == 0 && !script);
	}
	return ret < 0 ? ret : 0;
}

static bool has_all(const nw_images *files, const struct nw_selection *selection)
{
	nw_vec_each (&selection->images, image)
		if (!(*image)->kernel &&
		    !nw_images_find(files, (*image)->dev, (*image)->ino))
			return false;
	return true;
}

int nw_run_counts_command(const struct nw_run *run, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	const char *name = request->command[0];
	nw_images files = {0};
	size_t count = 0;

	if (request->follow)
		return 1;
	while (request->command[count])
		count++;
	int ret = add_program(run->live.command, &files, err);
	bool own = ret >= 0 && has_all(&files, &run->result->selection);
	if (ret >= 0 && !own)
		ret = add_files(request->command, count, 0, &files, err);
	bool all = ret >= 0 && has_all(&files, &run->result->selection);
	nw_images_free(&files);
	if (ret < 0)
		return ret;
	if (!all)
		nw_run_notice(
			run,
			"every process that runs the probed files is counted, as '%s' itself does not run them (-a says so; --follow counts only '%s' and what it starts)",
			name, name);
	else if (!own)
		nw_run_notice(
			run,
			"only '%s' and the processes that it starts are counted, as its arguments name a program that runs the probed files (-a counts every process)",
			name);
	return all;
}
