// SPDX-License-Identifier: MIT
/*
 * Finds the processes that map a file, and the files that other processes map instead. A probe belongs to an inode:
 * it never fires in a file that has replaced the probed one, in a container's copy, or in a library of the same
 * name elsewhere. A process that maps the file may still execute its code from anonymous memory, where no probe
 * fires either.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find/process/process.h"

#include "proc.h"

/* ---- one mapping -------------------------------------------------------------------- */

static struct nw_image *open_mapped(pid_t pid, const struct nw_mapping *mapping)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("/proc/%d/map_files/%jx-%jx", (int)pid,
						     mapping->start, mapping->end);
	struct nw_image *image;
	int fd = path ? nw_open_regular(AT_FDCWD, path) : -1;

	return fd >= 0 && nw_image_open_fd(fd, path, false, &image, NULL) == 0 ? image
									       : NULL;
}

static bool same_build(const struct nw_image *a, const struct nw_image *b)
{
	return a && b && *a->build_id && strcmp(a->build_id, b->build_id) == 0;
}

static bool mapping_shows(pid_t pid, const struct nw_mapping *mapping,
			  const struct nw_image *image)
{
	const struct nw_file_id file = nw_image_file_id(image);
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	int proc = mapping->ino ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool shows = proc >= 0 && nw_mapping_is_of(proc, mapping, &file);
	if (proc >= 0)
		close(proc);
	return shows;
}

char *nw_mapping_reach(const char *proc, pid_t pid, const struct nw_mapping *mapping)
{
	nw_cleanup(nw_free_ptr) char *file = nw_text(
		"%s/%d/map_files/%jx-%jx", proc, (int)pid, mapping->start, mapping->end);
	const char *const forms[] = {"", "%s/%d/root", "%s/%d/exe"};
	struct stat st, other;
	bool known = file && stat(file, &st) == 0;

	for (size_t i = 0; i < NW_COUNT(forms); i++) {
		nw_cleanup(nw_free_ptr) char *head = nw_text(forms[i], proc, (int)pid);
		char *path = nw_text("%s%s", head ? head : "", i < 2 ? mapping->path : "");
		bool right = path && (i == 2 || !mapping->deleted) &&
			     stat(path, &other) == 0;
		if (right && (known ? other.st_ino == st.st_ino && other.st_dev == st.st_dev
				    : other.st_ino == mapping->ino))
			return path;
		free(path);
	}
	return nw_text("%s", file ? file : "");
}

int nw_load_bias(pid_t pid, const nw_mappings *maps, const struct nw_image *image,
		 uint64_t *bias)
{
	nw_vec_each (maps, mapping) {
		if (!mapping_shows(pid, mapping, image))
			continue;
		nw_vec_each (&image->segments, segment) {
			uint64_t first = segment->offset & ~(uint64_t)4095;
			if (segment->filesz == 0 || mapping->offset < first ||
			    mapping->offset >= segment->offset + segment->filesz)
				continue;
			*bias = mapping->start - mapping->offset + segment->offset -
				segment->vaddr;
			return 0;
		}
	}
	return -ENOENT;
}

/* ---- the file itself ---------------------------------------------------------------- */

static const struct nw_mapping *mapping_at(const nw_mappings *maps, uint64_t address)
{
	nw_vec_each (maps, mapping)
		if (address >= mapping->start && address < mapping->end)
			return mapping;
	return NULL;
}

/* Classifies the memory that holds the code of vaddr, in a process that maps the file. */
static void check_code(pid_t pid, const nw_mappings *maps, const struct nw_image *image,
		       uint64_t vaddr, struct nw_mapping_facts *out)
{
	uint64_t bias;

	if (!vaddr || nw_load_bias(pid, maps, image, &bias) < 0)
		return;
	const struct nw_mapping *there = mapping_at(maps, bias + vaddr);
	if (!there || !there->exec)
		return;
	if (!there->ino)
		out->copied++;
	else if (there->write || there->shared)
		out->written++;
}

static bool maps_it(pid_t pid, const nw_mappings *maps, const struct nw_image *image)
{
	nw_vec_each (maps, mapping)
		if (mapping->ino == image->ino && mapping_shows(pid, mapping, image))
			return true;
	return false;
}

/* ---- what is there instead ---------------------------------------------------------- */

/* Returns the length of a library's name without ".so" and the rest. */
static size_t stem_length(const char *name)
{
	const char *so = strstr(name, ".so");

	return so && so > name ? (size_t)(so - name) : strlen(name);
}

static bool same_name(const char *path, const char *other)
{
	const char *a = strrchr(path, '/'), *b = strrchr(other, '/');

	a = a ? a + 1 : path;
	b = b ? b + 1 : other;
	return stem_length(a) == stem_length(b) && strncmp(a, b, stem_length(a)) == 0;
}

/* Does `path` mean this mapping to the process? The mapping's path is the one that the kernel prints for us. */
static bool same_path(pid_t pid, const struct nw_mapping *mapping, const char *path)
{
	char link[64], root[4096];

	const size_t whole = strlen(mapping->path), tail = strlen(path);

	if (whole < tail || strcmp(mapping->path + whole - tail, path) != 0)
		return false;
	if (whole == tail)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
	ssize_t len = readlink(link, root, sizeof(root) - 1);
	return len > 1 && (size_t)len == whole - tail &&
	       memcmp(mapping->path, root, (size_t)len) == 0;
}

/* Is the mapping the process's own program, and was the program started by this name? */
static bool runs_as(pid_t pid, const struct nw_mapping *mapping, const char *name)
{
	char comm[16], link[64];
	struct stat st;
	pid_t process;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	return nw_process_task(pid, &process, comm) == 0 &&
	       strncmp(comm, name, sizeof(comm) - 1) == 0 && stat(link, &st) == 0 &&
	       st.st_ino == mapping->ino;
}

/*
 * Has the mapped file been replaced by the file that now has this path? Until Linux 3.18 a file takes the name of
 * the file that is renamed over it (fs/dcache.c: d_move() exchanges them). So a file that rpm, dpkg or rsync have
 * replaced is shown as deleted under a name such as "program;5f2c1a9b", "program.dpkg-new" or ".program.Ab12Cd".
 */
static bool was_renamed_over(pid_t pid, const struct nw_mapping *mapping, const char *path)
{
	const char *name = strrchr(path, '/'), *other = strrchr(mapping->path, '/');
	size_t dir = name ? (size_t)(name - path) : 0, len = name ? strlen(++name) : 0;

	if (!mapping->deleted || !len || !other || (size_t)(other - mapping->path) != dir ||
	    strncmp(mapping->path, path, dir) != 0)
		return false;
	other += other[1] == '.' ? 2 : 1;
	bool extended = strncmp(other, name, len) == 0 && other[len] &&
			strchr(";.-_~#", other[len]);
	return extended || runs_as(pid, mapping, name);
}

static bool has_other_mounts(pid_t pid)
{
	struct nw_process_facts process;
	bool other = nw_process_inspect(pid, &process, NULL) == 0 && process.other_mounts;

	nw_process_facts_free(&process);
	return other;
}

static void take_instead(pid_t pid, const struct nw_mapping *mapping,
			 enum nw_instead instead, const struct nw_image *image,
			 struct nw_mapping_facts *out)
{
	struct nw_image *mapped = open_mapped(pid, mapping);

	free(out->other);
	free(out->other_path);
	out->pid = pid;
	out->instead = instead;
	out->other = nw_mapping_reach("/proc", pid, mapping);
	out->other_path = strdup(mapping->path);
	out->other_deleted = mapping->deleted;
	out->other_mounts = has_other_mounts(pid);
	out->other_ino = mapping->ino;
	out->same_build = same_build(image, mapped);
	if (mapped)
		snprintf(out->other_build_id, sizeof(out->other_build_id), "%s",
			 mapped->build_id);
	nw_image_free(mapped);
}

static void find_instead(pid_t pid, const nw_mappings *maps, const char *path,
			 const struct nw_image *image, struct nw_mapping_facts *out)
{
	nw_vec_each (maps, mapping) {
		enum nw_instead instead = NW_INSTEAD_NONE;
		if (!mapping->exec || !mapping->ino || mapping->path[0] != '/')
			continue;
		if (same_path(pid, mapping, path) || was_renamed_over(pid, mapping, path))
			instead = NW_INSTEAD_SAME_PATH;
		else if (same_name(path, mapping->path))
			instead = NW_INSTEAD_SAME_NAME;
		if (instead == NW_INSTEAD_NONE || out->instead == NW_INSTEAD_SAME_PATH ||
		    instead == out->instead)
			continue;
		take_instead(pid, mapping, instead, image, out);
	}
}

/* ---- all processes ------------------------------------------------------------------ */

static void inspect_file(pid_t pid, const nw_mappings *maps, struct nw_mapping_query *query)
{
	struct nw_mapping_facts *out = &query->facts;

	out->processes++;
	if (query->image && maps_it(pid, maps, query->image)) {
		if (!out->mapped++)
			out->pid = pid;
		check_code(pid, maps, query->image, query->vaddr, out);
	} else if (!out->mapped) {
		find_instead(pid, maps, query->path, query->image, out);
	}
}

static int inspect_process(pid_t pid, struct nw_mapping_query *queries, size_t count)
{
	nw_mappings maps = {0};

	if (pid == getpid())
		return 0;
	int ret = nw_process_maps(pid, &maps, NULL);
	for (size_t i = 0; i < count; i++)
		if (ret == 0)
			inspect_file(pid, &maps, &queries[i]);
		else if (ret == -EACCES || ret == -EPERM)
			queries[i].facts.unreadable++;
	nw_mappings_free(&maps);
	return nw_is_shortage(-ret) ? ret : 0;
}

static int inspect_all(const pid_t *pids, size_t pid_count,
		       struct nw_mapping_query *queries, size_t count, struct nw_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < pid_count; i++) {
		ret = inspect_process(pids[i], queries, count);
		if (ret < 0)
			nw_fail(err, -ret, "cannot look at process %d: %s", (int)pids[i],
				nw_strerror(-ret));
	}
	return ret;
}

int nw_mappings_inspect(struct nw_mapping_query *queries, size_t count, const pid_t *pids,
			size_t pid_count, struct nw_error *err)
{
	nw_strings whole = {0};
	nw_pids all = {0};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < count; i++) {
		struct nw_mapping_query *query = &queries[i];
		nw_cleanup(nw_free_ptr) char *real = realpath(query->path, NULL);
		query->facts = (struct nw_mapping_facts){.overlay = query->image &&
								    query->image->overlay};
		/* The search does not enter /proc/PID/root, whose links lead back into our own namespace. */
		if (!real || strncmp(query->path, "/proc/", 6) == 0)
			continue;
		if (nw_strings_add(&whole, real, strlen(real)) < 0)
			ret = nw_no_memory(err);
		else
			query->path = whole.item[whole.count - 1];
	}
	if (ret == 0 && !pids) {
		ret = nw_process_all(&all, err);
		pids = all.item;
		pid_count = all.count;
	}
	if (ret == 0)
		ret = inspect_all(pids, pid_count, queries, count, err);
	nw_vec_free(&all);
	nw_strings_free(&whole);
	return ret;
}

int nw_mapping_inspect(const char *path, const struct nw_image *image, uint64_t vaddr,
		       const pid_t *pids, size_t pid_count, struct nw_mapping_facts *out,
		       struct nw_error *err)
{
	struct nw_mapping_query query = {.path = path, .image = image, .vaddr = vaddr};
	int ret = nw_mappings_inspect(&query, 1, pids, pid_count, err);

	*out = query.facts;
	return ret;
}

void nw_mapping_facts_free(struct nw_mapping_facts *facts)
{
	free(facts->other);
	free(facts->other_path);
	*facts = (struct nw_mapping_facts){0};
}

/* Does the process map one of the files? -errno: what a machine lacks keeps us from seeing it. A process that has ended, or is
 * another user's, maps none. */
static int maps_one(pid_t pid, const struct nw_image *const *images, size_t count)
{
	nw_mappings maps = {0};
	int ret = nw_process_maps(pid, &maps, NULL);
	bool found = false;

	ret = ret < 0 && nw_is_shortage(-ret) ? ret : 0;
	for (size_t i = 0; i < count && !found && ret == 0; i++) {
		errno = 0;
		found = maps_it(pid, &maps, images[i]);
		ret = found ? 0 : nw_shortage();
	}
	nw_mappings_free(&maps);
	return ret < 0 ? ret : found;
}

int nw_processes_mapping(const struct nw_image *const *images, size_t count, nw_pids *out)
{
	nw_pids all = {0};
	int ret = nw_process_all(&all, NULL);

	nw_vec_each (&all, pid) {
		if (ret < 0)
			break;
		ret = maps_one(*pid, images, count);
		pid_t *slot = ret > 0 ? nw_vec_add(out) : NULL;
		if (slot)
			*slot = *pid;
		else if (ret > 0)
			ret = -ENOMEM;
	}
	nw_vec_free(&all);
	return ret < 0 ? ret : 0;
}
