// SPDX-License-Identifier: MIT
/*
 * Files that match a pattern. glob(3) takes a directory that cannot be listed for an empty one, and glibc's frees memory
 * twice when it runs out (docs/dev/upstream.md).
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the names in a directory that match one part of a pattern, sorted. A directory that does not exist, or that
 * we may not read, has none. */
static int list_matching(const char *dir, const char *part, nw_strings *out)
{
	DIR *list = opendir(*dir ? dir : ".");
	struct dirent *entry;
	int ret = 0;

	if (!list)
		return nw_shortage();
	while (ret == 0 && (errno = 0, entry = readdir(list)))
		if (fnmatch(part, entry->d_name, FNM_PERIOD) == 0)
			ret = nw_strings_add(out, entry->d_name, strlen(entry->d_name));
	if (ret == 0)
		ret = -errno;
	closedir(list);
	if (ret == 0 && out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_text);
	return ret;
}

/* Expands the part of the pattern at `rest`, below the directory `done`, which is empty or ends in a slash. */
static int expand(const char *done, const char *rest, nw_strings *out)
{
	size_t slashes = strspn(rest, "/"), len = strcspn(rest + slashes, "/");
	nw_cleanup(nw_free_ptr) char *dir = nw_text("%s%.*s", done, (int)slashes, rest);
	nw_cleanup(nw_free_ptr) char *part = strndup(rest + slashes, len);
	nw_strings names = {0};
	struct stat st;
	int ret = dir && part ? 0 : -ENOMEM;

	rest += slashes + len;
	if (ret == 0)
		ret = nw_has_glob(part) ? list_matching(dir, part, &names)
					: nw_strings_add(&names, part, len);
	nw_vec_each (&names, name) {
		nw_cleanup(nw_free_ptr) char *path = ret == 0 ? nw_text("%s%s", dir, *name)
							      : NULL;
		if (ret == 0 && !path)
			ret = -ENOMEM;
		else if (path && *rest)
			ret = expand(path, rest, out);
		else if (path && lstat(path, &st) == 0)
			ret = nw_strings_add(out, path, strlen(path));
	}
	nw_strings_free(&names);
	return ret;
}

int nw_glob_files(const char *pattern, nw_strings *out)
{
	return expand("", pattern, out);
}
