// SPDX-License-Identifier: MIT
/* See cgroup.h. */
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/old_headers.h"
#include "proc.h"

enum {
	MOST_GROUPS = 1 << 17, /* in all hierarchies together */
	MOST_TEXT = 1 << 16    /* bytes of /proc/PID/cgroup */
};

const char *const nw_cgroup_options[NW_CGROUP_KINDS] = {
	[NW_CGROUP_NAMED] = "--cgroup",
	[NW_CGROUP_UNIT] = "--unit",
	[NW_CGROUP_CONTAINER] = "--container"};

/* ---- the text of /proc/PID/cgroup ---------------------------------------------------- */

/* Walks the lines "NUMBER:HIERARCHY:PATH". Returns HIERARCHY:PATH, *len bytes; NULL: there are no more. */
static const char *next_line(const char **at, size_t *len)
{
	while (**at) {
		const char *line = *at, *end = strchr(line, '\n');
		*at = end ? end + 1 : line + strlen(line);
		const char *colon = strchr(line, ':');
		size_t whole = end ? (size_t)(end - line) : strlen(line);
		if (!colon || (size_t)(colon - line) >= whole ||
		    !memchr(colon + 1, ':', whole - (size_t)(colon + 1 - line)))
			continue;
		*len = whole - (size_t)(colon + 1 - line);
		return colon + 1;
	}
	return NULL;
}

static const char *path_of(const char *group, size_t len, size_t *path_len)
{
	const char *path = memchr(group, ':', len);

	*path_len = path ? len - (size_t)(path + 1 - group) : 0;
	return path ? path + 1 : "";
}

/* Is `group` this target, or below it? A target that is a whole hierarchy ends in ":/". */
static bool is_below(const char *group, size_t len, const char *target)
{
	size_t head = strlen(target);

	if (len < head || memcmp(group, target, head) != 0)
		return false;
	return len == head || group[head] == '/' ||
	       (head > 1 && target[head - 1] == '/' && target[head - 2] == ':');
}

bool nw_cgroups_have(const struct nw_cgroups *cgroups, const char *text)
{
	const char *group;
	size_t len;

	while ((group = next_line(&text, &len)))
		nw_vec_each (&cgroups->groups.text, target)
			if (is_below(group, len, *target))
				return true;
	return false;
}

const char *nw_cgroup_path(const char *text, size_t *len)
{
	const char *group, *best = "/";
	size_t group_len;
	int rank = 0;

	*len = 1;
	while ((group = next_line(&text, &group_len))) {
		size_t path_len;
		const char *path = path_of(group, group_len, &path_len);
		int now = path_len < 2				     ? 0
			  : *group == ':'			     ? 3
			  : strncmp(group, "name=systemd:", 13) == 0 ? 2
								     : 1;
		if (now <= rank)
			continue;
		rank = now;
		best = path;
		*len = path_len;
	}
	return best;
}

static int read_text(pid_t pid, struct nw_buf *out)
{
	char path[48];

	nw_buf_clear(out);
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int ret = nw_buf_read_most(out, fd, MOST_TEXT);
	close(fd);
	return ret;
}

/* ---- the host's namespace ------------------------------------------------------------- */

int nw_cgroup_enter_host(const struct nw_pid_space *space)
{
	struct stat own, first;
	int dir = space->foreign ? space->host
				 : open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int before = 0;

	/* kthreadd is in the kernel's first namespaces. Not every kernel and not every sandbox lets us look at process 1. */
	int fd = dir >= 0 ? openat(dir, "2/ns/cgroup", O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 && dir >= 0)
		fd = openat(dir, "1/ns/cgroup", O_RDONLY | O_CLOEXEC);
	if (!space->foreign && dir >= 0)
		close(dir);
	if (fd >= 0 && fstat(fd, &first) == 0 && stat("/proc/self/ns/cgroup", &own) == 0 &&
	    first.st_ino != own.st_ino)
		before = open("/proc/self/ns/cgroup", O_RDONLY | O_CLOEXEC);
	if (before > 0 && setns(fd, CLONE_NEWCGROUP) < 0) {
		close(before);
		before = 0;
	}
	if (fd >= 0)
		close(fd);
	return before > 0 ? before : 0;
}

void nw_cgroup_leave_host(int before)
{
	if (before <= 0)
		return;
	/* It was this thread's own namespace a moment ago, so this cannot fail but for lack of memory. */
	(void)setns(before, CLONE_NEWCGROUP);
	close(before);
}

/* ---- all groups ------------------------------------------------------------------------ */

/* A mounted hierarchy: its directory `dir` shows the group `root`. */
struct mount {
	char *hierarchy, *root, *dir;
};

struct tree {
	NW_VEC(struct mount) mounts;
	struct nw_index groups; /* "HIERARCHY:PATH" */
	struct nw_pid_space space;
};

static void free_tree(struct tree *tree)
{
	nw_vec_each (&tree->mounts, mount) {
		free(mount->hierarchy);
		free(mount->root);
		free(mount->dir);
	}
	nw_vec_free(&tree->mounts);
	nw_index_free(&tree->groups);
	nw_pid_space_close(&tree->space);
}

/* Undoes the escapes of mountinfo (\040) in place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; to++) {
		unsigned int code;
		if (at[0] == '\\' && sscanf(at + 1, "%3o", &code) == 1 &&
		    strspn(at + 1, "01234567") >= 3) {
			*to = (char)code;
			at += 4;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

/* Is one of the names in a list, which commas separate, this one? */
static bool lists(const char *list, const char *name, size_t len)
{
	for (const char *at = list; at; at = strchr(at, ','), at += at != NULL)
		if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
			return true;
	return false;
}

/* Returns the hierarchy that a mount of version 1 shows, as /proc/PID/cgroup calls it; NULL: none, or no memory. Each controller
 * is in one hierarchy only, so one of its controllers tells. */
static char *hierarchy_of(const char *own, const char *options)
{
	const char *group;
	size_t len;

	while ((group = next_line(&own, &len))) {
		size_t name = strcspn(group, ":"), first = strcspn(group, ":,");
		if (name && lists(options, group, first))
			return strndup(group, name);
	}
	return NULL;
}

/* Takes a line of mountinfo: ID PARENT DEVICE ROOT DIR OPTIONS [TAGS...] - TYPE SOURCE OPTIONS. */
static int take_mount(struct tree *tree, const char *own, char *line)
{
	char *field[6], *rest = line, *type = strstr(line, " - cgroup");
	bool second = type && strncmp(type, " - cgroup2 ", 11) == 0;
	char *options = type ? strrchr(type, ' ') : NULL;

	if (!type || (!second && type[9] != ' '))
		return 0;
	for (size_t i = 0; i < NW_COUNT(field); i++)
		if (!(field[i] = strsep(&rest, " ")))
			return 0;
	char *hierarchy = second ? strdup("") : hierarchy_of(own, options + 1);
	if (!hierarchy)
		return 0;
	struct mount *mount = nw_vec_add(&tree->mounts);
	if (!mount) {
		free(hierarchy);
		return -ENOMEM;
	}
	unescape(field[3]);
	unescape(field[4]);
	*mount = (struct mount){hierarchy, strdup(field[3]), strdup(field[4])};
	return mount->root && mount->dir ? 0 : -ENOMEM;
}

static int find_mounts(struct tree *tree)
{
	struct nw_buf text = {0}, own = {0};
	int ret = nw_buf_read_file(&own, AT_FDCWD, "/proc/self/cgroup");

	if (ret == 0)
		ret = nw_buf_read_file(&text, AT_FDCWD, "/proc/self/mountinfo");
	char *rest = ret == 0 && text.len ? text.data : NULL, *line;
	while (ret == 0 && (line = strsep(&rest, "\n")))
		ret = take_mount(tree, nw_buf_str(&own), line);
	nw_buf_free(&text);
	nw_buf_free(&own);
	/* A machine without control groups has none that could be named. */
	return ret < 0 && !nw_is_shortage(-ret) ? 0 : ret;
}

static int add_group(struct tree *tree, const char *group, size_t len)
{
	if (tree->groups.text.count >= MOST_GROUPS)
		return -E2BIG;
	return nw_index_add(&tree->groups, group, len) < 0 ? -ENOMEM : 0;
}

/* Adds a group and those above it, which a reader without the mount would not see. */
static int add_with_parents(struct tree *tree, const char *group, size_t len)
{
	int ret = 0;

	while (ret == 0 && nw_index_find(&tree->groups, group, len) < 0) {
		ret = add_group(tree, group, len);
		while (len && group[len - 1] != '/')
			len--;
		if (len < 2 || group[len - 2] == ':')
			break;
		len--;
	}
	return ret;
}

static int add_children(nw_strings *queue, const char *dir, const char *path)
{
	nw_cleanup(nw_free_ptr) char *whole = nw_text("%s%s", dir, path);
	const struct dirent *entry;
	int ret = whole ? 0 : -ENOMEM;
	int fd = whole ? open(whole, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	DIR *open_dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!open_dir && fd >= 0)
		close(fd);
	while (ret == 0 && open_dir && (entry = readdir(open_dir)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			ret = queue->count >= MOST_GROUPS
				      ? -E2BIG
				      : nw_strings_addf(queue, "%s/%s", path,
							entry->d_name);
	if (open_dir)
		closedir(open_dir);
	return ret;
}

/* Adds the groups of a mount. One that is removed meanwhile is left out. */
static int walk(struct tree *tree, const struct mount *mount)
{
	const char *root = strcmp(mount->root, "/") == 0 ? "" : mount->root;
	nw_strings queue = {0};
	int ret = nw_strings_add(&queue, "", 0);

	for (size_t i = 0; ret == 0 && i < queue.count; i++) {
		const char *path = queue.item[i];
		nw_cleanup(nw_free_ptr) char *group = nw_text("%s:%s%s%s", mount->hierarchy,
							      root, path,
							      *root || *path ? "" : "/");
		ret = group ? add_group(tree, group, strlen(group)) : -ENOMEM;
		if (ret == 0)
			ret = add_children(&queue, mount->dir, path);
	}
	nw_strings_free(&queue);
	return ret;
}

static int add_processes(struct tree *tree)
{
	struct nw_buf text = {0};
	nw_pids all = {0};
	int ret = nw_process_all(&all, NULL);

	nw_vec_each (&all, pid) {
		const char *at, *group;
		size_t len;
		if (ret < 0 || read_text(*pid, &text) < 0)
			continue;
		at = nw_buf_str(&text);
		while (ret == 0 && (group = next_line(&at, &len)))
			ret = add_with_parents(tree, group, len);
	}
	nw_buf_free(&text);
	nw_vec_free(&all);
	return ret;
}

static int read_tree(struct tree *tree, struct nw_error *err)
{
	int ret = find_mounts(tree);

	nw_vec_each (&tree->mounts, mount)
		if (ret == 0)
			ret = walk(tree, mount);
	if (ret == 0)
		ret = add_processes(tree);
	if (ret == -ENOMEM)
		return nw_no_memory(err);
	return ret < 0 ? nw_fail(err, -ret, "cannot list the control groups: %s",
				 nw_strerror(-ret))
		       : 0;
}

/* ---- what is named ---------------------------------------------------------------------- */

/* The groups that one name means, and the different things (paths, or containers) among them. */
struct found {
	struct nw_index groups, things;
};

static int add_found(struct found *found, const char *group, size_t len, const char *thing,
		     size_t thing_len)
{
	return nw_index_add(&found->groups, group, len) < 0 ||
			       nw_index_add(&found->things, thing, thing_len) < 0
		       ? -ENOMEM
		       : 0;
}

static int add_path(struct found *found, const char *group)
{
	size_t len, whole = strlen(group);
	const char *path = path_of(group, whole, &len);

	return add_found(found, group, whole, path, len);
}

/* A path below a mount names one group of that hierarchy, whether a process is in it or not. */
static int find_directory(const struct tree *tree, const char *text, struct found *found)
{
	nw_cleanup(nw_free_ptr) char *path = realpath(text, NULL);
	const struct mount *best = NULL;
	struct stat st;

	if (!path)
		return nw_is_shortage(errno) ? -errno : 0;
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	nw_vec_each (&tree->mounts, mount) {
		size_t len = strlen(mount->dir);
		if (strncmp(path, mount->dir, len) == 0 &&
		    (path[len] == '/' || path[len] == '\0') &&
		    (!best || len > strlen(best->dir)))
			best = mount;
	}
	if (!best)
		return 0;
	const char *root = strcmp(best->root, "/") == 0 ? "" : best->root;
	const char *rest = path + strlen(best->dir);
	nw_cleanup(nw_free_ptr) char *group = nw_text("%s:%s%s%s", best->hierarchy, root,
						      rest, *root || *rest ? "" : "/");
	return group ? add_path(found, group) : -ENOMEM;
}

/* Does the path of a group end with these parts? */
static bool ends_with(const char *group, const char *parts)
{
	size_t len, end = strlen(parts);
	const char *path = path_of(group, strlen(group), &len);

	return len > end && path[len - end - 1] == '/' &&
	       strcmp(path + len - end, parts) == 0;
}

static int find_named(const struct tree *tree, const char *text, struct found *found)
{
	int ret = *text == '/' || *text == '.' ? find_directory(tree, text, found) : 0;
	size_t len = strlen(text);

	if (found->groups.text.count)
		return ret;
	while (len > 1 && text[len - 1] == '/')
		len--;
	nw_cleanup(nw_free_ptr) char *name = strndup(text, len);
	if (!name)
		return -ENOMEM;
	nw_vec_each (&tree->groups.text, group)
		if (ret == 0 && (*name == '/' ? strcmp(strchr(*group, ':') + 1, name) == 0
					      : ends_with(*group, name)))
			ret = add_path(found, *group);
	return ret;
}

static bool is_systemds(const char *group)
{
	return *group == ':' || strncmp(group, "name=systemd:", 13) == 0;
}

/* Finds a unit in systemd's hierarchy. Units of users have groups below those of the system's user@UID.service, and come last. */
static int find_unit(const struct tree *tree, const char *text, struct found *found)
{
	static const char *const types[] = {".service", ".scope", ".slice",
					    ".socket",	".mount", ".swap"};
	const char *suffix = ".service";
	int ret = 0;

	for (size_t i = 0; i < NW_COUNT(types); i++) {
		size_t len = strlen(types[i]), all = strlen(text);
		if (all > len && strcmp(text + all - len, types[i]) == 0)
			suffix = "";
	}
	nw_cleanup(nw_free_ptr) char *unit = nw_text("%s%s", text, suffix);
	if (!unit)
		return -ENOMEM;
	for (int users = 0; users < 2 && !found->groups.text.count; users++)
		nw_vec_each (&tree->groups.text, group)
			if (ret == 0 && is_systemds(*group) && ends_with(*group, unit) &&
			    (users || !strstr(*group, "/user@")))
				ret = add_path(found, *group);
	return ret;
}

/* ---- containers -------------------------------------------------------------------------- */

static bool is_text(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

/* How well a name fits a container: 0, not at all; 1: its id begins so; 2: it is its id or name; 3: its pod's. */
static int container_fits(const struct nw_container_names *names, const char *id,
			  size_t len, const char *text)
{
	nw_cleanup(nw_free_ptr) char *pod = names->pod && names->pod_space
						    ? nw_text("%s/%s", names->pod_space,
							      names->pod)
						    : NULL;

	if (strlen(text) == len && memcmp(text, id, len) == 0)
		return 2;
	if (nw_strings_has(&names->names, text) || is_text(names->label, text))
		return 2;
	if (is_text(names->pod, text) || is_text(pod, text) ||
	    is_text(names->pod_uid, text))
		return 3;
	return len == 64 && strlen(text) >= 4 && strlen(text) < len &&
			       strncmp(id, text, strlen(text)) == 0
		       ? 1
		       : 0;
}

/* The best fit so far, and the containers and pods of that fit. */
struct best {
	int fit;
	size_t depth; /* how many containers are around: a container may make groups that look like those of others */
	struct found found;
};

static void drop(struct found *found)
{
	nw_index_free(&found->groups);
	nw_index_free(&found->things);
	*found = (struct found){0};
}

static int take_fit(struct best *best, int fit, size_t depth, const char *group,
		    const char *path, const struct nw_container_part *part)
{
	if (!fit || depth > best->depth || (depth == best->depth && fit < best->fit))
		return 0;
	if (depth < best->depth || fit > best->fit)
		drop(&best->found);
	best->fit = fit;
	best->depth = depth;
	return add_found(&best->found, group, (size_t)(path - group) + part->end, part->id,
			 part->len);
}

/* Does the text name this pod by its id? systemd's names have "_" where the id has "-". */
static bool is_pod(const struct nw_container_part *pod, const char *text)
{
	for (size_t i = 0; i < pod->len; i++)
		if (text[i] != (pod->id[i] == '_' ? '-' : pod->id[i]))
			return false;
	return text[pod->len] == '\0';
}

static int try_group(const struct tree *tree, struct nw_containers *containers,
		     const char *group, const char *text, struct best *best)
{
	struct nw_container_part part, pod;
	size_t len, from = 0;
	const char *path = path_of(group, strlen(group), &len);
	bool in_pod = nw_pod_in(path, len, &pod);
	int ret = in_pod && strlen(text) == pod.len && is_pod(&pod, text)
			  ? take_fit(best, 3, 0, group, path, &pod)
			  : 0;

	for (size_t depth = 0;
	     ret == 0 && nw_container_in(path, len, from, &part) && part.end <= len;
	     depth++) {
		const struct nw_container_names *names = nw_containers_names(
			containers, &tree->space, part.id, part.len);
		if (!names)
			return -ENOMEM;
		int fit = container_fits(names, part.id, part.len, text);
		ret = take_fit(best, fit, depth, group, path,
			       fit == 3 && in_pod && pod.end < part.end ? &pod : &part);
		from = part.end;
	}
	return ret;
}

static int find_container(const struct tree *tree, const char *text, struct found *found)
{
	struct nw_containers containers = {0};
	struct best best = {.depth = SIZE_MAX};
	int ret = 0;

	nw_vec_each (&tree->groups.text, group)
		if (ret == 0)
			ret = try_group(tree, &containers, *group, text, &best);
	nw_containers_free(&containers);
	*found = best.found;
	return ret;
}

/* ---- the answer ------------------------------------------------------------------------- */

static int explain_none(const struct nw_cgroup_name *name, const char *shown,
			struct nw_error *err)
{
	switch (name->kind) {
	case NW_CGROUP_UNIT:
		nw_fail(err, ENOENT, "--unit: no unit '%s' has a control group", shown);
		nw_error_hint(err,
			      "a unit has one while it runs: `systemctl status` shows it");
		break;
	case NW_CGROUP_CONTAINER:
		nw_fail(err, ENOENT,
			"--container: no container or pod '%s' has a control group", shown);
		nw_error_hint(
			err,
			"a container has one while it runs; its id, which `docker ps`, `podman ps` and `crictl ps` show, always works");
		break;
	default:
		nw_fail(err, ENOENT, "--cgroup: there is no control group '%s'", shown);
		nw_error_hint(err, "`systemd-cgls` and /proc/PID/cgroup show them");
	}
	return -ENOENT;
}

static int explain_several(const struct nw_cgroup_name *name, const char *shown,
			   const struct found *found, struct nw_error *err)
{
	struct nw_buf list = {0};

	nw_vec_each (&found->things.text, thing) {
		if (thing != found->things.text.item)
			nw_buf_adds(&list, ", ");
		nw_buf_add_escaped(&list, *thing, strlen(*thing));
	}
	nw_fail_usage(err, "%s '%s': %zu have that name", nw_cgroup_options[name->kind],
		      shown, found->things.text.count);
	nw_error_hint(err, "give one of them: %s", nw_buf_str(&list));
	nw_buf_free(&list);
	return -EINVAL;
}

static int find_one(const struct tree *tree, const struct nw_cgroup_name *name,
		    struct nw_cgroups *out, struct nw_error *err)
{
	static int (*const find[NW_CGROUP_KINDS])(const struct tree *tree, const char *text,
						  struct found *found) = {
		find_named, find_unit, find_container};
	struct found found = {0};
	struct nw_buf shown = {0};
	int ret = find[name->kind](tree, name->text, &found);

	nw_buf_add_escaped(&shown, name->text, strlen(name->text));
	if (ret < 0)
		ret = ret == -ENOMEM ? nw_no_memory(err)
				     : nw_fail(err, -ret, "cannot look for '%s': %s",
					       nw_buf_str(&shown), nw_strerror(-ret));
	else if (!found.groups.text.count)
		ret = explain_none(name, nw_buf_str(&shown), err);
	else if (found.things.text.count > 1)
		ret = explain_several(name, nw_buf_str(&shown), &found, err);
	nw_vec_each (&found.groups.text, group)
		if (ret == 0 && nw_index_add(&out->groups, *group, strlen(*group)) < 0)
			ret = nw_no_memory(err);
	nw_buf_free(&shown);
	drop(&found);
	return ret;
}

int nw_cgroups_find(const struct nw_cgroup_name *names, size_t count,
		    struct nw_cgroups *out, struct nw_error *err)
{
	struct nw_cgroups cgroups = {0};
	struct tree tree = {0};

	nw_pid_space_open(&tree.space);
	int ret = nw_pid_space_check(&tree.space, nw_cgroup_options[names->kind], err);
	int before = ret == 0 ? nw_cgroup_enter_host(&tree.space) : 0;
	if (ret == 0)
		ret = read_tree(&tree, err);
	nw_cgroup_leave_host(before);
	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = find_one(&tree, &names[i], &cgroups, err);
	free_tree(&tree);
	if (ret < 0)
		nw_cgroups_free(&cgroups);
	else
		*out = cgroups;
	return ret;
}

void nw_cgroups_free(struct nw_cgroups *cgroups)
{
	nw_index_free(&cgroups->groups);
}

/* ---- who is in them ----------------------------------------------------------------------- */

/* Adds which files a process maps as code to a hash. -ESRCH: its mappings cannot be read. */
static int hash_files(pid_t pid, uint64_t *hash)
{
	struct nw_error ignored;
	nw_mappings maps = {0};
	int ret = nw_process_maps(pid, &maps, &ignored);

	*hash = 0;
	nw_vec_each (&maps, mapping)
		if (mapping->exec && mapping->ino)
			*hash = nw_hash64(*hash ^ nw_hash64(mapping->dev) ^ mapping->ino);
	nw_mappings_free(&maps);
	return ret < 0 ? -ESRCH : 0;
}

int nw_cgroups_members(const struct nw_cgroups *cgroups, bool distinct, nw_pids *out,
		       struct nw_error *err)
{
	struct nw_pid_space space;
	struct nw_buf text = {0};
	struct nw_index seen = {0};
	nw_pids all = {0};

	nw_pid_space_open(&space);
	int before = nw_cgroup_enter_host(&space);
	int ret = nw_process_all(&all, err);
	nw_vec_each (&all, pid) {
		uint64_t hash;
		char key[24];
		if (ret < 0 || read_text(*pid, &text) < 0 ||
		    !nw_cgroups_have(cgroups, nw_buf_str(&text)) ||
		    hash_files(*pid, &hash) < 0)
			continue;
		size_t len = (size_t)snprintf(key, sizeof(key), "%" PRIx64, hash);
		if (distinct && nw_index_find(&seen, key, len) >= 0)
			continue;
		pid_t *slot = nw_vec_add(out);
		if (slot)
			*slot = *pid;
		if (!slot || (distinct && nw_index_add(&seen, key, len) < 0))
			ret = nw_no_memory(err);
	}
	nw_cgroup_leave_host(before);
	nw_pid_space_close(&space);
	nw_buf_free(&text);
	nw_index_free(&seen);
	nw_vec_free(&all);
	return ret;
}
