// SPDX-License-Identifier: MIT
/*
 * recipe: runs a ready question. A recipe is a file of a few lines: "# SUMMARY", the words behind `nopwatch`, which may be
 * quoted by '...' and may stand on several lines, and "hint: TEXT", which is shown if the command fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"

enum {
	MOST_BYTES = 16384
};

struct recipe {
	char *summary, *hint; /* NULL: it has none */
	nw_strings words;
};

static void free_recipe(struct recipe *recipe)
{
	free(recipe->summary);
	free(recipe->hint);
	nw_strings_free(&recipe->words);
}

/* ---- where recipes are -------------------------------------------------------------- */

/* The user's own directory, and the one that belongs to this program: PREFIX/bin/nopwatch has PREFIX/share/nopwatch/recipes. */
static int recipe_dirs(nw_strings *dirs)
{
	const char *given = getenv("NOPWATCH_RECIPES"), *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char path[PATH_MAX] = "";
	int ret = 0;

	if (given && *given)
		return nw_strings_add(dirs, given, strlen(given));
	if (config && *config == '/')
		ret = nw_strings_addf(dirs, "%s/nopwatch/recipes", config);
	else if (home && *home == '/')
		ret = nw_strings_addf(dirs, "%s/.config/nopwatch/recipes", home);
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	for (int i = 0; len > 0 && i < 2; i++) { /* cuts bin/nopwatch off */
		char *slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	}
	if (ret < 0 || len < 0)
		return ret < 0 ? ret : nw_shortage();
	return nw_strings_addf(dirs, "%s/share/nopwatch/recipes", path);
}

/* ---- reading one -------------------------------------------------------------------- */

static int add_line(struct recipe *recipe, char *line)
{
	char **field = NULL, *text = line;

	if (*line == '#') {
		text = line + 1;
		field = &recipe->summary;
	} else if (strncmp(line, "hint:", 5) == 0) {
		text = line + 5;
		field = &recipe->hint;
	}
	if (!field)
		return nw_words_add(&recipe->words, line);
	if (*field) /* only the first one counts */
		return 0;
	*field = strdup(text + strspn(text, " "));
	return *field ? 0 : -ENOMEM;
}

static int read_recipe(const char *path, struct recipe *out)
{
	char text[MOST_BYTES + 1], *rest = text, *line;
	int fd = nw_open_regular(AT_FDCWD, path), ret = 0;
	struct stat st, own;

	if (fd < 0)
		return fd;
	/* A recipe may run any command (record --until-cmd), so it has to be of somebody who could replace nopwatch itself. */
	bool trusted = fstat(fd, &st) == 0 &&
		       (nw_is_trusted(st.st_uid) ||
			(stat("/proc/self/exe", &own) == 0 && own.st_uid == st.st_uid));
	ssize_t len = trusted ? read(fd, text, MOST_BYTES) : -1;
	if (len < 0)
		ret = trusted ? -errno : -EPERM;
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	while (ret == 0 && (line = strsep(&rest, "\n")))
		ret = add_line(out, line);
	return ret;
}

/* Suggests recipes whose names are like this one, or begin it: postgres for postgresql. */
static void hint_recipes(const nw_strings *dirs, const char *name, struct nw_error *err)
{
	nw_cleanup(nw_buf_free) struct nw_buf near = {0};

	nw_error_hint(err, "`nopwatch recipe` lists the recipes");
	nw_vec_each (dirs, dir) {
		nw_cleanup(nw_free_ptr) char *pattern = nw_text("%s/*", *dir);
		nw_cleanup(nw_strings_free) nw_strings paths = {0};
		if (!pattern || nw_glob_files(pattern, &paths) < 0)
			return;
		nw_vec_each (&paths, path) {
			const char *known = strrchr(*path, '/') + 1;
			if (nw_may_mean(name, known) ||
			    strncmp(name, known, strlen(known)) == 0)
				nw_buf_printf(&near, "%s%s", near.len ? ", " : "", known);
		}
	}
	if (near.len)
		nw_error_hint(err, "did you mean %s?", nw_buf_str(&near));
}

static const char *reason(int ret)
{
	return ret == -EBADMSG ? "a quote (') in it has no end" : nw_strerror(-ret);
}

static int find_recipe(const char *name, struct recipe *out, struct nw_error *err)
{
	nw_cleanup(nw_strings_free) nw_strings dirs = {0};
	int ret = recipe_dirs(&dirs), found = -ENOENT;

	nw_vec_each (&dirs, dir)
		if (ret == 0 && found == -ENOENT && *name != '.' && !strchr(name, '/')) {
			nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", *dir, name);
			found = path ? read_recipe(path, out) : -ENOMEM;
		}
	found = ret < 0 ? ret : found;
	if (found == -ENOENT) {
		nw_fail_usage(err, "there is no recipe '%s'", name);
		hint_recipes(&dirs, name, err);
		return -EINVAL;
	}
	if (found < 0)
		return nw_fail(err, -found, "cannot read the recipe '%s': %s", name,
			       reason(found));
	if (!out->words.count || strcmp(out->words.item[0], nw_cmd_recipe.name) == 0)
		return nw_fail(err, EINVAL, "the recipe '%s' names no command", name);
	return 0;
}

/* ---- the command -------------------------------------------------------------------- */

static struct {
	const char *name, *hint;
} running; /* the recipe that runs, if it has a hint that was not printed yet */

void nw_recipe_note(void)
{
	if (running.hint)
		nw_note("%s: %s", running.name, running.hint);
	running.hint = NULL;
}

int nw_recipe_run(int argc, char **argv, int (*run)(int argc, char **argv))
{
	struct recipe recipe = {0};
	struct nw_error err;
	int ret = find_recipe(argv[1], &recipe, &err);

	for (int i = 2; ret == 0 && i < argc; i++)
		if (nw_strings_add(&recipe.words, argv[i], strlen(argv[i])) < 0)
			ret = nw_no_memory(&err);
	const int words = (int)recipe.words.count;
	char **end = ret == 0 ? nw_vec_add(&recipe.words) : NULL;
	if (ret == 0 && !end)
		ret = nw_no_memory(&err);
	if (ret < 0) {
		free_recipe(&recipe);
		return nw_failure(NULL, &err);
	}
	*end = NULL;
	const struct nw_args line = {.command = recipe.words.item[0],
				     .argv = recipe.words.item};
	struct nw_buf text = {0};
	nw_command_line(&line, &text);
	nw_note("%s", nw_buf_str(&text));
	nw_buf_free(&text);
	running.name = argv[1];
	running.hint = recipe.hint;
	int status = run(words, recipe.words.item);
	if (status == NW_EXIT_FAILED)
		nw_recipe_note();
	running.hint = NULL;
	free_recipe(&recipe);
	return status;
}

static int list_recipe(const char *path)
{
	nw_cleanup(free_recipe) struct recipe recipe = {0};
	nw_cleanup(nw_buf_free) struct nw_buf line = {0};
	const char *name = strrchr(path, '/') + 1;
	int ret = read_recipe(path, &recipe);

	if (ret < 0 && ret != -ENOMEM)
		nw_note("cannot read the recipe '%s': %s", name, reason(ret));
	nw_buf_add_escaped(&line, name, strlen(name));
	for (size_t width = line.len; width < 12; width++)
		nw_buf_addc(&line, ' ');
	nw_buf_addc(&line, ' ');
	if (recipe.summary)
		nw_buf_add_sentence(&line, recipe.summary, strlen(recipe.summary));
	if (ret == -ENOMEM || line.failed)
		return -ENOMEM;
	puts(nw_buf_str(&line));
	return 0;
}

static int list_dir(const char *dir, size_t *count)
{
	nw_cleanup(nw_free_ptr) char *pattern = nw_text("%s/*", dir);
	nw_cleanup(nw_strings_free) nw_strings paths = {0};
	int ret = pattern ? nw_glob_files(pattern, &paths) : -ENOMEM;

	nw_vec_each (&paths, path)
		if (ret == 0)
			ret = list_recipe(*path);
	*count += paths.count;
	return ret;
}

/* Without a name; main() hands a name to nw_recipe_run(). */
static int list_recipes(const struct nw_args *args)
{
	nw_cleanup(nw_strings_free) nw_strings dirs = {0};
	struct nw_error err;
	size_t count = 0;
	int ret = recipe_dirs(&dirs);

	(void)args;
	nw_vec_each (&dirs, dir)
		if (ret == 0)
			ret = list_dir(*dir, &count);
	if (ret < 0) {
		nw_fail(&err, -ret, "cannot list the recipes: %s", nw_strerror(-ret));
	} else if (!count && dirs.count) {
		ret = nw_fail(&err, ENOENT, "there are no recipes in '%s'",
			      dirs.item[dirs.count - 1]);
		nw_error_hint(&err, "NOPWATCH_RECIPES=DIRECTORY names another place");
	}
	return ret < 0 ? nw_failure(NULL, &err) : NW_EXIT_OK;
}

const struct nw_command nw_cmd_recipe = {
	.name = "recipe",
	.summary = "ready questions for well-known programs",
	.usage = "[NAME [OPTIONS] [-- CMD]]",
	.details =
		"Prints the command that the recipe stands for, and runs it; what follows NAME is\n"
		"added to the command (-p PID, -d 10, -j, -- CMD). Without NAME, lists the recipes.\n"
		"Your own are files in ~/.config/nopwatch/recipes: the words of a command, and\n"
		"a first line that begins with # and says what it is for.",
	.options = "",
	.run = list_recipes,
};
