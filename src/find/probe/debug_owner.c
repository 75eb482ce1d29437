// SPDX-License-Identifier: MIT
/* Finds the file that a file of debug information belongs to. A debug file contains no code, so it cannot be probed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "find/probe/probe.h"

static const char debug_root[] = "/usr/lib/debug/";

/* Moves the path to *owner if its file has that build-id and code; else frees it. */
static bool take(const struct nw_image *debug, char *path, char **owner)
{
	struct nw_image *image = NULL;
	bool right = path && nw_image_open(path, false, &image, NULL) == 0 &&
		     strcmp(image->build_id, debug->build_id) == 0 &&
		     !nw_image_lacks_code(image);

	nw_image_free(image);
	if (right)
		*owner = path;
	else
		free(path);
	return right;
}

/* Looks in the places of debug files (gdb's manual, "Debugging Information in Separate Files"): for
 * /usr/lib/debug/PATH.debug, DIRECTORY/.debug/NAME, and a debug file next to the file itself. On Fedora,
 * /usr/lib/debug/.build-id/xx/yyyy links to the file. */
static bool find_by_path(const struct nw_image *debug, char **owner)
{
	const char *path = debug->path, *id = debug->build_id;
	size_t len = strlen(path);
	bool below = strncmp(path, debug_root, sizeof(debug_root) - 1) == 0;

	if (len > 6 && strcmp(path + len - 6, ".debug") == 0)
		len -= 6;
	if (below && take(debug,
			  nw_text("%.*s", (int)(len - sizeof(debug_root) + 2),
				  path + sizeof(debug_root) - 2),
			  owner))
		return true;
	if (take(debug, nw_text("%.*s", (int)len, path), owner))
		return true;
	const char *dir = strstr(path, "/.debug/");
	if (dir && take(debug,
			nw_text("%.*s/%.*s", (int)(dir - path), path,
				(int)(len - (size_t)(dir + 8 - path)), dir + 8),
			owner))
		return true;
	return take(debug, nw_text("%s.build-id/%.2s/%s", debug_root, id, id + 2), owner);
}

int nw_find_debug_owner(const struct nw_image *debug, pid_t pid, char **owner)
{
	nw_images images = {0};
	int ret = 0;

	*owner = NULL;
	if (strlen(debug->build_id) < 3)
		return 0;
	if (pid && nw_process_images(pid, true, false, &images, NULL) < 0)
		pid = 0;
	nw_vec_each (&images, image)
		if (!*owner && strcmp((*image)->build_id, debug->build_id) == 0) {
			*owner = strdup((*image)->path);
			ret = *owner ? 0 : -ENOMEM;
		}
	nw_images_free(&images);
	if (ret == 0 && !*owner)
		find_by_path(debug, owner);
	return ret;
}
