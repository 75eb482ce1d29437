// SPDX-License-Identifier: MIT
/*
 * Finds programs that may leave a function by longjmp(), on kernels whose return probes kill them (Linux before 4.3).
 * The callers of a library's function, or the functions that it calls, may do so; so every file is searched that is
 * mapped by a process that maps the library. The kernel arms a probe in all of these processes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "find/process/process.h"
#include "plan/plan.h"

#include "guards.h"

struct file {
	uint64_t dev, ino;
};

struct search {
	char *found; /* the first file that calls longjmp(); NULL: none yet */
	NW_VEC(struct file) harmless; /* files that do not; many processes map them */
	struct nw_error *err;
};

static bool is_harmless(const struct search *s, const struct nw_mapping *mapping)
{
	nw_vec_each (&s->harmless, file)
		if (file->dev == mapping->dev && file->ino == mapping->ino)
			return true;
	return false;
}

static int take(struct search *s, struct nw_image *image, const char *path)
{
	if (s->found || !nw_image_imports_jump(image))
		return 0;
	s->found = nw_text("%s", path);
	return s->found ? 0 : nw_no_memory(s->err);
}

/* Searches a mapped file. A file that cannot be read is skipped. */
static int search_mapping(struct search *s, pid_t pid, const struct nw_mapping *mapping)
{
	nw_cleanup(nw_free_ptr) char *path = nw_mapping_reach("/proc", pid, mapping);
	struct nw_image *image = NULL;
	struct nw_error why;

	if (!path)
		return nw_no_memory(s->err);
	int ret = nw_image_open(path, false, &image, &why);
	if (ret == 0)
		ret = take(s, image, mapping->path);
	else if (nw_is_shortage(-ret))
		*s->err = why;
	else
		ret = 0;
	nw_image_free(image);
	struct file *slot = ret == 0 && !s->found ? nw_vec_add(&s->harmless) : NULL;
	if (slot)
		*slot = (struct file){mapping->dev, mapping->ino};
	return ret;
}

static int search_process(struct search *s, pid_t pid)
{
	struct nw_error why;
	nw_mappings maps = {0};
	int ret = nw_process_maps(pid, &maps, &why);

	if (ret < 0 && nw_is_shortage(-ret))
		*s->err = why;
	else
		ret = 0;
	nw_vec_each (&maps, mapping)
		if (ret == 0 && !s->found && mapping->exec && mapping->ino &&
		    mapping->path[0] == '/' && !is_harmless(s, mapping))
			ret = search_mapping(s, pid, mapping);
	nw_mappings_free(&maps);
	return ret;
}

/* Searches the files that CMD will load, because it is not started yet. */
static int search_command(struct search *s, const char *command)
{
	nw_images files = {0};
	struct nw_error why;
	int ret = nw_locate_needed(command, false, &files, &why);

	if (ret < 0 && nw_is_shortage(-ret))
		*s->err = why;
	else
		ret = 0;
	nw_vec_each (&files, image)
		if (ret == 0)
			ret = take(s, *image, (*image)->path);
	nw_images_free(&files);
	return ret;
}

static int search_all(struct search *s, const struct nw_jumpers *who,
		      const struct nw_image *image)
{
	nw_pids pids = {0};
	int ret = who->command ? search_command(s, who->command) : 0;

	for (size_t i = 0; ret == 0 && !s->found && i < who->pid_count; i++)
		ret = search_process(s, who->pids[i]);
	if (ret == 0 && (ret = nw_processes_mapping(&image, 1, &pids)) < 0)
		nw_fail(s->err, -ret, "cannot look for processes that run '%s': %s",
			image->path, nw_strerror(-ret));
	nw_vec_each (&pids, pid)
		if (ret == 0 && !s->found)
			ret = search_process(s, *pid);
	nw_vec_free(&pids);
	return ret;
}

static int judge_point(struct search *s, const struct nw_jumpers *who,
		       struct nw_point *point)
{
	int ret = 0;

	if (!nw_image_jumps(point->image))
		ret = search_all(s, who, point->image);
	else if (!(s->found = strdup("its file")))
		ret = nw_no_memory(s->err);
	if (ret == 0 && s->found) {
		point->hazard = nw_text("%s %s", s->found, nw_jump_hazard);
		ret = point->hazard ? 0 : nw_no_memory(s->err);
	}
	free(s->found);
	s->found = NULL;
	return ret;
}

int nw_find_jumps(const struct nw_features *features, const struct nw_jumpers *who,
		  struct nw_selection *selection, struct nw_error *err)
{
	struct search search = {.err = err};
	int ret = 0;

	if (features->has[NW_FEATURE_LONGJMP])
		return 0;
	nw_vec_each (&selection->probes, probe)
		nw_vec_each (&(*probe)->points, point)
			if (ret == 0 && point->is_return && !nw_probe_in_kernel(*probe) &&
			    !point->hazard)
				ret = judge_point(&search, who, point);
	nw_vec_free(&search.harmless);
	return ret;
}
