// SPDX-License-Identifier: MIT
/*
 * Finds the files of a spec: the file that it names, the files that the processes of -p map, -x FILE, or the files
 * that CMD will load. With -p a path is first searched among the mapped files, so that a path inside a container
 * means the container's file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "select.h"

/* Are two images one file? Containers of one image share its files, each by an overlayfs with a device number of its own; the kernel
 * probes the file below, once. */
static bool is_one_file(const struct nw_image *a, const struct nw_image *b)
{
	const struct nw_file_id id = nw_image_file_id(b);

	return nw_image_is_same(a, &id) ||
	       (a->overlay && b->overlay && !*a->build_id && !*b->build_id &&
		a->ino == b->ino && a->size == b->size && a->mtime == b->mtime);
}

/* Adds an image to the selection, or frees it and returns the selection's image of the same file. NULL: no memory. */
static struct nw_image *adopt(struct nw_selection *selection, struct nw_image *image)
{
	struct nw_image *known = NULL;

	nw_vec_each (&selection->images, it)
		if (!known && is_one_file(*it, image))
			known = *it;

	if (known) {
		if (known != image)
			nw_image_free(image);
		return known;
	}
	struct nw_image **slot = nw_vec_add(&selection->images);
	if (!slot) {
		nw_image_free(image);
		return NULL;
	}
	return *slot = image;
}

static int add_candidate(struct nw_selection *selection, struct nw_image *image,
			 nw_images *out, struct nw_error *err)
{
	image = adopt(selection, image);
	if (!image)
		return nw_no_memory(err);
	nw_vec_each (out, known)
		if (*known == image)
			return 0;
	struct nw_image **slot = nw_vec_add(out);
	if (!slot)
		return nw_no_memory(err);
	*slot = image;
	return 0;
}

/* Adds all images of the list and frees it. */
static int add_all(struct nw_selection *selection, nw_images *images, nw_images *out,
		   struct nw_error *err)
{
	int ret = 0;

	nw_vec_each (images, image) {
		if (ret == 0)
			ret = add_candidate(selection, *image, out, err);
		else
			nw_image_free(*image);
	}
	nw_vec_free(images);
	return ret;
}

/* Adds a file. A file that another spec names, too, is not read again. */
static int add_file(struct nw_selection *selection, const char *path, bool force,
		    nw_images *out, struct nw_error *err)
{
	struct stat st;
	struct nw_image *image = stat(path, &st) == 0 ? nw_images_find(&selection->images,
								       st.st_dev, st.st_ino)
						      : NULL;
	int ret = image ? 0 : nw_image_open(path, force, &image, err);

	return ret < 0 ? ret : add_candidate(selection, image, out, err);
}

/* ---- files of processes ------------------------------------------------------------- */

bool nw_is_called(const char *path, const char *wanted)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t len = strlen(wanted);

	if (strchr(wanted, '/'))
		return nw_glob_match(wanted, path);
	if (nw_glob_match(wanted, base))
		return true;
	if (strncmp(base, "lib", 3) == 0 && strncmp(wanted, "lib", 3) != 0)
		base += 3;
	return strncmp(base, wanted, len) == 0 &&
	       (strncmp(base + len, ".so", 3) == 0 ||
		(strstr(wanted, ".so") && base[len] == '.'));
}

/* Does the path as the process sees it match? image->path may be below map_files or /proc/PID/root. */
static bool mapped_as(pid_t pid, const struct nw_image *image, const char *wanted)
{
	nw_cleanup(nw_free_ptr) char *root = nw_text("/proc/%d/root", (int)pid);
	size_t len = root ? strlen(root) : 0;

	if (len && strncmp(image->path, root, len) == 0)
		return nw_is_called(image->path + len, wanted);
	return nw_is_called(image->path, wanted);
}

static int add_mapped(const struct nw_spec *spec, const struct nw_scope *scope, pid_t pid,
		      struct nw_selection *selection, nw_images *out, struct nw_error *err)
{
	bool functions = spec->kind != NW_SPEC_USDT;
	nw_images mapped = {0};
	int ret = nw_process_images(pid, functions || *spec->path, scope->force, &mapped,
				    err);

	if (ret == -ESRCH && scope->members)
		ret = 0;
	nw_vec_each (&mapped, image) {
		if (ret == 0 && (!*spec->path || mapped_as(pid, *image, spec->path)))
			ret = add_candidate(selection, *image, out, err);
		else
			nw_image_free(*image);
	}
	nw_vec_free(&mapped);
	return ret;
}

/* ---- files by name ------------------------------------------------------------------ */

/* Adds all files that a glob in the path matches, without those that are no ELF files. */
static int add_globbed(const char *pattern, bool force, struct nw_selection *selection,
		       nw_images *out, struct nw_error *err)
{
	nw_strings found = {0};
	int ret = nw_glob_files(pattern, &found);

	if (ret < 0)
		nw_fail(err, -ret, "cannot look for '%s': %s", pattern, nw_strerror(-ret));
	else if (!found.count)
		ret = nw_fail(err, ENOENT, "no file matches '%s'", pattern);
	for (size_t i = 0; i < found.count && ret == 0; i++) {
		int added = add_file(selection, found.item[i], force, out, err);
		if (nw_is_shortage(-added))
			ret = added;
	}
	nw_strings_free(&found);
	if (ret == 0 && out->count == 0)
		return nw_fail(err, ENOENT, "no ELF file matches '%s'", pattern);
	return ret;
}

/* Adds all files that running processes map: usdt:*:PROVIDER:NAME. */
static int add_running(const struct nw_scope *scope, struct nw_selection *selection,
		       nw_images *out, struct nw_error *err)
{
	nw_images running = {0};
	int ret = nw_running_images(scope->force, &running, err);

	if (ret == 0)
		return add_all(selection, &running, out, err);
	nw_images_free(&running);
	return ret;
}

/* Says once which program a script stands for. */
static int tell_script(struct nw_selection *selection, const char *name, const char *script,
		       const char *program, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *text = nw_text(
		"%s is a script (%s): the probes are those of %s", name, script, program);

	if (!text)
		return nw_no_memory(err);
	nw_vec_each (&selection->warnings, known)
		if (strcmp(*known, text) == 0)
			return 0;
	return nw_strings_add(&selection->warnings, text, strlen(text)) < 0
		       ? nw_no_memory(err)
		       : 0;
}

static int add_named(const struct nw_spec *spec, const struct nw_scope *scope,
		     struct nw_selection *selection, nw_images *out, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *path = NULL;
	nw_cleanup(nw_free_ptr) char *script = NULL;
	struct stat st;

	if (nw_has_glob(spec->path) && stat(spec->path, &st) < 0)
		return add_globbed(spec->path, scope->force, selection, out, err);
	const char *slash = strrchr(spec->path, '/');
	if (slash) {
		int added = add_file(selection, spec->path, scope->force, out, err);
		if (added == -ENOENT && strstr(slash, ".so") &&
		    nw_locate_elf(slash + 1, &path, &script, NULL) == 0)
			nw_error_hint(err, "without a path it is looked for: %s is %s",
				      slash + 1, path);
		return nw_hint_script(spec->path, added, err);
	}
	int ret = nw_locate_elf(spec->path, &path, &script, err);
	if (ret == 0 && script)
		ret = tell_script(selection, spec->path, script, path, err);
	return ret < 0 ? ret : add_file(selection, path, scope->force, out, err);
}

/* Does the text begin as perf and trace-cmd write an event of the kernel? */
static bool names_kernel_event(const char *text)
{
	static const char *const systems[] = {
		"sched:", "syscalls:", "raw_syscalls:", "block:",     "irq:",
		"net:",	  "kmem:",     "signal:",	"exceptions:"};

	for (size_t i = 0; i < NW_COUNT(systems); i++)
		if (strncmp(text, systems[i], strlen(systems[i])) == 0)
			return true;
	return false;
}

/* Is it a unit of time, which belongs to the number before it? */
static bool is_unit(const char *word)
{
	static const char units[] =
		" ns us ms s m h sec secs second seconds min mins minute minutes ";
	const char *at = strstr(units, word);

	return *word && at && at[-1] == ' ' && at[strlen(word)] == ' ';
}

/* Has it the name of a recording, as nopwatch, trace-cmd or perf write it? */
static bool is_recording(const char *word)
{
	const char *dot = strrchr(word, '.');

	return dot && (strcmp(dot, ".dat") == 0 || strcmp(dot, ".data") == 0);
}

int nw_no_file_named(const char *spec, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *program = NULL;
	/* bpftrace takes usdt:FILE:NAME, too; here the first field is the provider unless it has a slash. */
	const char *first = strncmp(spec, "usdt:", 5) == 0 ? spec + 5 : "";
	const char *colon = strchr(first, ':');

	nw_fail_usage(err, "no file for probe '%s'", spec);
	if (names_kernel_event(spec))
		nw_error_hint(err, "an event of the kernel is tracepoint:%s", spec);
	else if (colon && colon != first)
		nw_error_hint(
			err,
			"if %.*s is the file, write usdt:%.*s:*:%s; if it is the provider, add -p PID, -x FILE or -- CMD",
			(int)(colon - first), first, (int)(colon - first), first,
			colon + 1);
	else if (strncmp(spec, "sys_enter_", 10) == 0 || strncmp(spec, "sys_exit_", 9) == 0)
		nw_error_hint(err, "an event of the kernel is tracepoint:syscalls:%s",
			      spec);
	else if (strncmp(spec, "c:", 2) == 0 || strncmp(spec, "lib", 3) == 0)
		nw_error_hint(
			err,
			"a function of a library is func:LIBRARY:FUNCTION (func:libc.so.6:malloc); a probe needs -p PID, -x FILE or -- CMD");
	else if (strncmp(spec, "usdt:", 5) == 0 && !strchr(spec + 5, ':'))
		nw_error_hint(err, "all probes of that file are '%s:*'", spec);
	else if (strchr(spec, ':'))
		nw_error_hint(
			err,
			"add -p PID, -x FILE or -- CMD, or write usdt:PATH:PROVIDER:NAME");
	else if (strchr(spec, '/') && nw_locate(spec, &program, NULL) == 0)
		nw_error_hint(
			err,
			"its probes are 'usdt:%s:*', a function of it is func:%s:FUNCTION; to run it, put it at the end: -- %s",
			spec, spec, spec);
	else if (nw_locate(spec, &program, NULL) == 0)
		nw_error_hint(
			err,
			"put a command at the end: -- %s; the probes of that program are 'usdt:%s:*'",
			spec, spec);
	else if (strchr(spec, ' '))
		nw_error_hint(
			err,
			"what a message of another tool means: nopwatch why --error '%s'",
			spec);
	else if (is_unit(spec))
		nw_error_hint(err, "write a time in one word, as in -d 500ms or -d 2m");
	else if (is_recording(spec))
		nw_error_hint(
			err,
			"`nopwatch report %s` and `nopwatch trace --from %s` read a recording",
			spec, spec);
	else
		nw_error_hint(
			err,
			"to time a function, write func:FILE:%s (func:libc.so.6:malloc); a probe needs -p PID, -x FILE or -- CMD",
			spec);
	return -EINVAL;
}

static int add_scope(const struct nw_spec *spec, const struct nw_scope *scope,
		     struct nw_selection *selection, nw_images *out, struct nw_error *err)
{
	nw_images needed = {0};
	struct stat st;

	if (scope->file) {
		struct nw_spec named = {.path = (char *)(uintptr_t)scope->file};
		/* A file of that name comes before a program of that name in $PATH. */
		if (stat(scope->file, &st) == 0)
			return add_file(selection, scope->file, scope->force, out, err);
		return add_named(&named, scope, selection, out, err);
	}
	if (scope->command) {
		int ret = nw_locate_needed(scope->command, scope->force, &needed, err);
		if (ret == 0)
			return add_all(selection, &needed, out, err);
		nw_images_free(&needed);
		return ret;
	}
	if (spec->kind == NW_SPEC_USDT && spec->any_path)
		return add_running(scope, selection, out, err);
	return nw_no_file_named(spec->text, err);
}

static int add_kernel(struct nw_selection *selection, nw_images *out, struct nw_error *err)
{
	struct nw_image *image;

	return nw_image_of_kernel(&image) < 0 ? nw_no_memory(err)
					      : add_candidate(selection, image, out, err);
}

int nw_candidates_find(const struct nw_spec *spec, const struct nw_scope *scope,
		       struct nw_selection *selection, nw_images *out, struct nw_error *err)
{
	bool by_pid = scope->pid_count && (*spec->path || !scope->file);

	if (spec->kernel)
		return add_kernel(selection, out, err);
	for (size_t i = 0; by_pid && i < scope->pid_count; i++) {
		int ret = add_mapped(spec, scope, scope->pids[i], selection, out, err);
		if (ret < 0)
			return ret;
	}
	if (out->count || (by_pid && !*spec->path))
		return 0;
	if (*spec->path)
		return add_named(spec, scope, selection, out, err);
	return add_scope(spec, scope, selection, out, err);
}
