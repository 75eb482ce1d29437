// SPDX-License-Identifier: MIT
/* Searches files, directories and processes for USDT probes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "find/probe/probe.h"
#include "select.h"

/* ---- what is wanted ------------------------------------------------------------------ */

bool nw_search_wants(const struct nw_search *search, const char *provider, const char *name)
{
	nw_vec_each (&search->patterns, spec)
		if (nw_spec_matches(spec, provider, name))
			return true;
	return search->patterns.count == 0;
}

static int add_place(struct nw_search *search, const char *place, struct nw_error *err)
{
	return nw_strings_add(&search->places, place, strlen(place)) < 0 ? nw_no_memory(err)
									 : 0;
}

static int add_pattern(struct nw_search *search, const char *word, struct nw_error *err)
{
	struct nw_spec spec, *slot;
	int ret = nw_spec_parse(word, &spec, err);

	if (ret < 0)
		return ret;
	if (spec.kind != NW_SPEC_USDT) {
		nw_spec_free(&spec);
		return nw_fail_usage(err, "'%s': only USDT probes can be listed", word);
	}
	if (*spec.path)
		ret = add_place(search, spec.path, err);
	else if (spec.any_path && !search->file && !search->pid_count && !search->command)
		ret = add_place(search, "*", err);
	slot = ret == 0 ? nw_vec_add(&search->patterns) : NULL;
	if (!slot) {
		nw_spec_free(&spec);
		return nw_no_memory(err);
	}
	*slot = spec;
	return 0;
}

/* Adds a word of the command line. It is a file if that exists, or if the word looks like a path and not like a spec.
 * A bare name of a program or a library means that file. Every other word is a pattern. */
static int add_word(struct nw_search *search, const char *word, struct nw_error *err)
{
	bool elsewhere = search->file || search->pid_count || search->command;
	bool is_spec = strncmp(word, "usdt:", 5) == 0;
	struct stat st;
	nw_cleanup(nw_free_ptr) char *located = NULL;
	nw_cleanup(nw_free_ptr) char *script = NULL;
	int found = -ENOENT;

	if (!is_spec && (stat(word, &st) == 0 || (strchr(word, '/') && !strchr(word, ':'))))
		return add_place(search, word, err);
	if (strchr(word, ':') || nw_has_glob(word) || elsewhere ||
	    (found = nw_locate_elf(nw_usdt_file(word), &located, &script, err)) < 0)
		return found == -ENOMEM || found == -EEXIST
			       ? found
			       : add_pattern(search, word, err);
	return add_place(search, located, err);
}

int nw_search_add(struct nw_search *search, const char *const *words, size_t count,
		  struct nw_error *err)
{
	int ret = search->file ? add_place(search, search->file, err) : 0;

	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = add_word(search, words[i], err);
	if (ret < 0 || search->places.count || search->pid_count || search->command)
		return ret;
	nw_fail_usage(err,
		      "nothing to look into: give files, directories, -p PID or -- CMD");
	if (count == 1 && !strchr(words[0], ':'))
		nw_error_hint(err,
			      "'%s' is no file here; functions: nopwatch list func:FILE:%s",
			      words[0], words[0]);
	return -EINVAL;
}

void nw_search_free(struct nw_search *search)
{
	nw_vec_each (&search->patterns, spec)
		nw_spec_free(spec);
	nw_vec_free(&search->patterns);
	nw_strings_free(&search->places);
}

/* ---- places -------------------------------------------------------------------------- */

/* The state of a search. */
struct searching {
	const struct nw_search *search;
	const struct nw_finder *finder;
	bool stopped;
};

static int hand_over(struct searching *s, struct nw_image *image, bool of_many)
{
	int ret = s->finder->found(s->finder->arg, image, of_many);

	s->stopped = s->stopped || ret != 0;
	return ret;
}

static int found_in_tree(struct nw_image *image, void *arg)
{
	return hand_over(arg, image, true);
}

static void search_file(struct searching *s, const char *path)
{
	struct nw_error err = {0};
	struct nw_image *image;
	int ret = nw_image_open(path, s->search->force, &image, &err);

	if (nw_hint_script(path, ret, &err) < 0) {
		s->finder->failed(s->finder->arg, &err, true);
		return;
	}
	if (image->notes != NW_NOTES_FOUND) {
		nw_image_explain(image, &err);
		s->finder->failed(s->finder->arg, &err, true);
	}
	hand_over(s, image, false);
}

/* Searches all files that a pattern matches; files without notes are skipped. */
static void search_glob(struct searching *s, const char *pattern)
{
	struct nw_error err;
	nw_strings found = {0};
	int ret = nw_glob_files(pattern, &found);

	if (ret < 0 || !found.count) {
		nw_fail(&err, ret < 0 ? -ret : ENOENT, "no file matches '%s'%s%s", pattern,
			ret < 0 ? ": " : "", ret < 0 ? nw_strerror(-ret) : "");
		s->finder->failed(s->finder->arg, &err, true);
	}
	for (size_t i = 0; ret == 0 && i < found.count && !s->stopped; i++) {
		struct nw_image *image;
		int opened = nw_image_open(found.item[i], s->search->force, &image, &err);
		if (opened < 0 && nw_is_shortage(-opened))
			s->finder->failed(s->finder->arg, &err, true);
		if (opened < 0)
			continue;
		if (image->notes == NW_NOTES_FOUND)
			hand_over(s, image, true);
		else
			nw_image_free(image);
	}
	nw_strings_free(&found);
}

/* Searches the files that running processes map. */
static void search_running(struct searching *s)
{
	nw_images images = {0};
	struct nw_error err;

	if (nw_running_images(s->search->force, &images, &err) < 0)
		s->finder->failed(s->finder->arg, &err, true);
	nw_vec_each (&images, image)
		hand_over(s, *image, true);
	nw_vec_free(&images); /* the finder owns the images */
}

static void search_process(struct searching *s, pid_t pid)
{
	nw_images images = {0};
	struct nw_error err;
	int ret = nw_process_images(pid, false, s->search->force, &images, &err);

	if (ret < 0 && !(ret == -ESRCH && s->search->members))
		s->finder->failed(s->finder->arg, &err, false);
	nw_vec_each (&images, image)
		hand_over(s, *image, false);
	nw_vec_free(&images); /* the finder owns the images */
}

/* Searches CMD's program and the libraries that it links. */
static void search_command(struct searching *s, const char *command)
{
	nw_cleanup(nw_free_ptr) char *path = NULL;
	nw_images images = {0};
	struct nw_error err;
	int ret = nw_locate(command, &path, &err);

	if (ret == 0)
		ret = nw_locate_needed(path, s->search->force, &images, &err);
	if (ret < 0)
		s->finder->failed(s->finder->arg, &err, false);
	nw_vec_each (&images, image)
		hand_over(s, *image, true);
	nw_vec_free(&images); /* the finder owns the images */
}

/* Finds the program or library of a bare name. A name that is neither is returned unchanged. */
static int locate(const char *place, char **out, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *script = NULL;
	struct stat st;
	int ret = strchr(place, '/') || nw_has_glob(place) || stat(place, &st) == 0
			  ? -ENOENT
			  : nw_locate_elf(place, out, &script, err);

	if (ret == 0 || ret == -ENOMEM || ret == -EEXIST)
		return ret;
	*out = strdup(place);
	return *out ? 0 : nw_no_memory(err);
}

void nw_search_run(const struct nw_search *search, const struct nw_finder *finder)
{
	struct searching s = {.search = search, .finder = finder};

	nw_vec_each (&search->places, place) {
		nw_cleanup(nw_free_ptr) char *path = NULL;
		struct nw_error err;

		if (!s.stopped && locate(*place, &path, &err) < 0) {
			finder->failed(finder->arg, &err, false);
		} else if (!s.stopped) {
			struct stat st;

			if (strcmp(path, "*") == 0)
				search_running(&s);
			else if (stat(path, &st) < 0 && nw_has_glob(path))
				search_glob(&s, path);
			else if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
				search_file(&s, path);
			else if (nw_walk(path, s.search->force, found_in_tree, &s, &err) <
					 0 &&
				 !s.stopped)
				s.finder->failed(s.finder->arg, &err, false);
		}
	}
	for (size_t i = 0; i < search->pid_count && !s.stopped; i++)
		search_process(&s, search->pids[i]);
	if (search->command && !s.stopped)
		search_command(&s, search->command);
}
