// SPDX-License-Identifier: MIT
/* Finds out whether a process is stopped by a signal, held by a debugger, or in a frozen control group. */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

/* ---- control groups ----------------------------------------------------------------- */

/* The two versions of the freezer: the file that says whether a group's own setting froze it (`cause`, with the
 * value `frozen`), and the file and the value that end it. */
static const struct freezer {
	const char *type, *option; /* of the file system */
	const char *line;	   /* the text before the path in /proc/PID/cgroup */
	const char *cause, *frozen;
	const char *file, *thaw;
} freezers[] = {
	{"cgroup2", "", "0::", "cgroup.freeze", "1", "cgroup.freeze", "0"},
	{"cgroup", "freezer", ":freezer:", "freezer.self_freezing", "1", "freezer.state",
	 "THAWED"},
};

/* Finds the mount point of that version; NULL: it is not mounted. The caller frees. */
static char *find_mount(const struct freezer *freezer)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	char *found = NULL;

	while (mounts && !found && (mount = getmntent(mounts)))
		if (strcmp(mount->mnt_type, freezer->type) == 0 &&
		    (!*freezer->option || hasmntopt(mount, freezer->option)))
			found = strdup(mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Finds the process's group in the lines of its cgroup file. The caller frees. */
static char *find_group(const char *lines, const char *begins)
{
	const char *at = strstr(lines, begins);

	if (!at)
		return NULL;
	at += strlen(begins);
	return strndup(at, strcspn(at, "\n"));
}

static bool file_says(const char *dir, const char *group, const char *name,
		      const char *value)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s%s/%s", dir, group, name);
	char text[16] = "";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return strncmp(text, value, strlen(value)) == 0;
}

/* Finds the group that was frozen: a group is frozen together with the groups above it. */
static int find_frozen(const struct freezer *freezer, const char *lines,
		       struct nw_stop *out)
{
	nw_cleanup(nw_free_ptr) char *group = find_group(lines, freezer->line);
	nw_cleanup(nw_free_ptr) char *dir = group ? find_mount(freezer) : NULL;

	for (char *slash; dir && (slash = strrchr(group, '/')); *slash = '\0') {
		if (!file_says(dir, group, freezer->cause, freezer->frozen))
			continue;
		out->kind = NW_STOP_FROZEN;
		out->thaw = freezer->thaw;
		out->freezer = nw_text("%s%s/%s", dir, group, freezer->file);
		return out->freezer ? 0 : -ENOMEM;
	}
	return 0;
}

/* ---- the whole ---------------------------------------------------------------------- */

int nw_process_find_stop(pid_t pid, struct nw_stop *out)
{
	struct nw_buf status = {0}, groups = {0};
	const char *state, *tracer;
	int ret = nw_process_file(pid, "status", &status);

	*out = (struct nw_stop){0};
	if (ret == 0)
		ret = nw_process_file(pid, "cgroup", &groups);
	state = ret == 0 ? nw_status_value(nw_buf_str(&status), "State") : NULL;
	tracer = ret == 0 ? nw_status_value(nw_buf_str(&status), "TracerPid") : NULL;
	state += state ? strspn(state, " \t") : 0;
	out->tracer = tracer ? (pid_t)strtol(tracer, NULL, 10) : 0;
	if (state && *state == 't')
		out->kind = NW_STOP_DEBUGGER;
	else if (state && *state == 'T')
		out->kind = NW_STOP_SIGNAL;
	for (size_t i = 0; ret == 0 && !out->kind && i < NW_COUNT(freezers); i++)
		ret = find_frozen(&freezers[i], nw_buf_str(&groups), out);
	nw_buf_free(&status);
	nw_buf_free(&groups);
	return ret == -ENOMEM ? ret : 0;
}

void nw_stop_free(struct nw_stop *stop)
{
	free(stop->freezer);
	*stop = (struct nw_stop){0};
}
