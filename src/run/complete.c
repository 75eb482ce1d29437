// SPDX-License-Identifier: MIT
/* See run/complete.h. */
#include "run/complete.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/recovery/inventory.h"

void nw_offer(struct nw_completion *c, const char *candidate, const char *what)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_.,:/+@%=-";
	const char *word = c->typed + c->done;

	/* Only words that no shell needs to quote. */
	if (strncmp(candidate, word, strlen(word)) != 0 ||
	    candidate[strspn(candidate, plain)])
		return;
	char *line = nw_text("%.*s%s\t%s", (int)c->done, c->typed, candidate,
			     what ? what : "");
	char **slot = line ? nw_vec_add(&c->found) : NULL;
	if (slot)
		*slot = line;
	else
		free(line);
}

void nw_offer_processes(struct nw_completion *c)
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
		nw_offer(c, number, comm);
	}
	nw_vec_free(&all);
}

/* Offers directories, and files with a colon: PATH of usdt:PATH:PROVIDER:NAME. A bare name is not offered, because it
 * would be searched in $PATH and not in this directory. */
static void offer_paths(struct nw_completion *c)
{
	const char *word = c->typed + c->done, *slash = strrchr(word, '/');
	size_t dir_len = slash ? (size_t)(slash + 1 - word) : 0;
	nw_cleanup(nw_free_ptr) char *dir = dir_len ? strndup(word, dir_len) : strdup(".");
	DIR *entries = dir ? opendir(dir) : NULL;
	struct dirent *entry;
	struct stat st;

	while (entries && (entry = readdir(entries))) {
		if (entry->d_name[0] == '.' && (!slash || slash[1] != '.'))
			continue;
		nw_cleanup(nw_free_ptr) char *path = nw_text("%.*s%s", (int)dir_len, word,
							     entry->d_name);
		if (!path || strncmp(path, word, strlen(word)) != 0 || stat(path, &st) < 0)
			continue;
		bool is_dir = S_ISDIR(st.st_mode);
		nw_cleanup(nw_free_ptr) char *more = nw_text("%s%c", path,
							     is_dir ? '/' : ':');
		if (more && (is_dir || (slash && S_ISREG(st.st_mode))))
			nw_offer(c, more, NULL);
	}
	if (entries)
		closedir(entries);
}

static void offer_sites(struct nw_completion *c, const struct nw_image *image)
{
	nw_vec_each (&image->sites, site) {
		nw_cleanup(nw_free_ptr) char *name = nw_text("%s:%s", site->provider,
							     site->name);
		if (name)
			nw_offer(c, name, NULL);
	}
}

/* Offers functions by their names in the source, if they have one; behind a typed '_', by the linker's names. */
static void offer_functions(struct nw_completion *c, struct nw_image *image)
{
	struct nw_functions functions = {0};
	const char *word = c->typed + c->done;

	if (nw_functions_find(image, "*", &functions, NULL) == 0)
		for (size_t i = 0; i < functions.symbols.count; i++)
			nw_offer(c,
				 *word == '_' ? functions.symbols.item[i]
					      : functions.names.item[i],
				 NULL);
	nw_functions_free(&functions);
}

void nw_offer_probes(struct nw_completion *c)
{
	struct nw_image *image;

	if (c->file && nw_image_open(c->file, false, &image, NULL) == 0) {
		offer_sites(c, image);
		nw_image_free(image);
	}
	for (size_t i = 0; i < c->pid_count; i++) {
		nw_images images = {0};
		if (nw_process_images(c->pids[i], false, false, &images, NULL) == 0)
			nw_vec_each (&images, mapped)
				offer_sites(c, *mapped);
		nw_images_free(&images);
	}
}

/* Offers events from tracefs if it is readable: uprobe events, or kernel events. */
static void offer_tracefs(struct nw_completion *c, bool uprobes)
{
	struct nw_tracefs fs;
	nw_strings names = {0};

	if (nw_tracefs_open(&fs, NULL) < 0)
		return;
	if ((uprobes ? nw_uprobe_names(&fs, &names)
		     : nw_tracefs_events(&fs, &names, NULL)) == 0)
		nw_vec_each (&names, name)
			nw_offer(c, *name, NULL);
	nw_strings_free(&names);
	nw_tracefs_close(&fs);
}

void nw_offer_events(struct nw_completion *c)
{
	offer_tracefs(c, true);
}

/* Offers the probes of a file behind usdt:PATH:, and its functions behind func:PATH:. */
static void offer_names(struct nw_completion *c, bool usdt, const char *path)
{
	nw_cleanup(nw_free_ptr) char *found = NULL;
	struct nw_image *image;

	if (!*path && c->file)
		path = c->file;
	else if (*path && !strchr(path, '/') && nw_locate(path, &found, NULL) == 0)
		path = found;
	if (!*path || nw_image_open(path, false, &image, NULL) < 0)
		return;
	if (usdt)
		offer_sites(c, image);
	else
		offer_functions(c, image);
	nw_image_free(image);
}

/* Completes only the text behind this place from now on. */
static void move_to(struct nw_completion *c, const char *at)
{
	c->done = (size_t)(at - c->typed);
}

bool nw_offer_specs(struct nw_completion *c, bool tracepoints)
{
	static const char *const spellings[] = {"usdt:", "func:", "uprobe:", "uretprobe:"};
	static const char *const kernel[] = {"kprobe:", "kretprobe:"};
	static const char tracepoint[] = "tracepoint:", user_events[] = NW_USER_EVENTS ":";
	const char *word = c->typed + c->done;

	if (strncmp(word, tracepoint, sizeof(tracepoint) - 1) == 0) {
		move_to(c, word + sizeof(tracepoint) - 1);
		offer_tracefs(c, false);
		return true;
	}
	if (tracepoints && strncmp(word, user_events, sizeof(user_events) - 1) == 0) {
		offer_tracefs(c, false);
		return true;
	}
	for (size_t i = 0; i < NW_COUNT(kernel); i++)
		nw_offer(c, kernel[i], NULL);
	for (size_t i = 0; i < NW_COUNT(spellings); i++) {
		size_t len = strlen(spellings[i]);
		if (strncmp(word, spellings[i], len) != 0) {
			nw_offer(c, spellings[i], NULL);
			continue;
		}
		const char *path = word + len, *colon = strchr(path, ':');
		move_to(c, colon ? colon + 1 : path);
		if (!colon) {
			offer_paths(c);
			return true;
		}
		nw_cleanup(nw_free_ptr) char *file = strndup(path, (size_t)(colon - path));
		if (file)
			offer_names(c, i == 0, file);
		return true;
	}
	if (tracepoints)
		nw_offer(c, tracepoint, NULL);
	if (tracepoints)
		nw_offer(c, user_events, NULL);
	return false;
}

void nw_completion_free(struct nw_completion *c)
{
	nw_vec_each (&c->found, line)
		free(*line);
	nw_vec_free(&c->found);
}
