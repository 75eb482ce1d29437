// SPDX-License-Identifier: MIT
/*
 * Finds the file of a bare name: a program in $PATH, or a library in the directories of the dynamic linker
 * (LD_LIBRARY_PATH, /etc/ld.so.conf and the files that it includes, the built-in directories).
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find/elf/budget.h"
#include "nopwatch/probe.h"
#include "select.h"

/* Adds the parts of "a:b:c", without empty ones. */
static int add_path_list(nw_strings *list, const char *text)
{
	int ret = 0;

	while (text && *text && ret == 0) {
		size_t len = strcspn(text, ":;");
		if (len)
			ret = nw_strings_add(list, text, len);
		text += len + (text[len] != '\0');
	}
	return ret;
}

/* ---- where libraries are ------------------------------------------------------------ */

static int read_ld_conf(nw_strings *dirs, const char *path, unsigned int depth);

static int include_ld_conf(nw_strings *dirs, const char *pattern, unsigned int depth)
{
	nw_strings found = {0};
	int ret = nw_glob_files(pattern, &found);

	nw_vec_each (&found, path)
		if (ret == 0)
			ret = read_ld_conf(dirs, *path, depth + 1);
	nw_strings_free(&found);
	return ret;
}

static int read_ld_conf(nw_strings *dirs, const char *path, unsigned int depth)
{
	errno = 0;
	FILE *file = depth < 8 ? fopen(path, "re") : NULL;
	char line[4096];
	int ret = file ? 0 : nw_shortage();

	while (file && ret == 0 && fgets(line, sizeof(line), file)) {
		char *text = line + strspn(line, " \t");
		text[strcspn(text, "#\n")] = '\0';
		if (strncmp(text, "include", 7) == 0 && isspace((unsigned char)text[7]))
			ret = include_ld_conf(dirs, text + 7 + strspn(text + 7, " \t"),
					      depth);
		else if (*text == '/')
			ret = nw_strings_add(dirs, text, strcspn(text, " \t"));
	}
	if (ret == 0 && file && ferror(file))
		ret = errno ? -errno : -EIO;
	if (file)
		fclose(file);
	return ret;
}

static int library_dirs(nw_strings *dirs)
{
	int ret = add_path_list(dirs, getenv("LD_LIBRARY_PATH"));

	if (ret == 0)
		ret = read_ld_conf(dirs, "/etc/ld.so.conf", 0);
	if (ret == 0)
		ret = add_path_list(dirs, "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib");
	return ret;
}

/* ---- a bare name -------------------------------------------------------------------- */

static bool is_file(const char *path, int access_mode)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, access_mode) == 0;
}

/* Is it an ELF file, and not a linker script such as /usr/lib/libc.so? */
static bool is_elf(const char *path)
{
	char magic[SELFMAG] = "";
	int fd = nw_open_regular(AT_FDCWD, path);

	if (fd < 0)
		return false;
	bool elf = pread(fd, magic, SELFMAG, 0) == SELFMAG &&
		   memcmp(magic, ELFMAG, SELFMAG) == 0;
	close(fd);
	return elf;
}

/* Finds the first file that matches dir/pattern. *out stays NULL if there is none. */
static int first_match(const char *dir, const char *pattern, bool elf, char **out)
{
	nw_cleanup(nw_free_ptr) char *whole = nw_text("%s/%s", dir, pattern);
	nw_strings found = {0};
	int ret = whole ? nw_glob_files(whole, &found) : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < found.count && !*out; i++)
		if (elf ? is_elf(found.item[i]) : is_file(found.item[i], R_OK)) {
			*out = found.item[i];
			found.item[i] = NULL;
		}
	nw_strings_free(&found);
	return ret;
}

int nw_find_program(const char *name, char **out)
{
	nw_strings dirs = {0};

	if (strchr(name, '/'))
		return !is_file(name, X_OK) || (*out = strdup(name)) ? 0 : -ENOMEM;
	int ret = add_path_list(&dirs, getenv("PATH"));

	nw_vec_each (&dirs, dir) {
		char *path = ret == 0 && !*out ? nw_text("%s/%s", *dir, name) : NULL;
		if (ret == 0 && !*out && !path)
			ret = -ENOMEM;
		if (path && is_file(path, X_OK))
			*out = path;
		else
			free(path);
	}
	nw_strings_free(&dirs);
	return ret;
}

/* Looks for `libfoo.so.1`, `libfoo.so`, `libfoo` and `foo` in the directories. elf: skip files that are no ELF files,
 * such as linker scripts. */
static int search_library(const nw_strings *dirs, const char *name, bool elf, char **out)
{
	static const char *const forms[] = {"%s",	    "%s.[0-9]*", "%s.so",
					    "%s.so.[0-9]*", "lib%s.so",	 "lib%s.so.[0-9]*"};
	int ret = 0;

	for (size_t i = 0; i < NW_COUNT(forms) && !*out && ret == 0; i++) {
		struct nw_buf pattern = {0};
		const char *percent = strstr(forms[i], "%s");
		nw_buf_add(&pattern, forms[i], (size_t)(percent - forms[i]));
		nw_buf_adds(&pattern, name);
		nw_buf_adds(&pattern, percent + 2);
		ret = pattern.failed ? -ENOMEM : 0;
		nw_vec_each (dirs, dir)
			if (!*out && ret == 0)
				ret = first_match(*dir, nw_buf_str(&pattern), elf, out);
		nw_buf_free(&pattern);
	}
	return ret;
}

int nw_locate(const char *name, char **out, struct nw_error *err)
{
	nw_strings dirs = {0};
	char *path = NULL;
	int ret = 0;

	if (strchr(name, '/'))
		ret = (path = strdup(name)) ? 0 : -ENOMEM;
	else
		ret = nw_find_program(name, &path);
	if (ret == 0 && !path)
		ret = library_dirs(&dirs);
	if (ret == 0 && !path)
		ret = search_library(&dirs, name, true, &path);
	if (ret == 0 && !path)
		ret = search_library(&dirs, name, false, &path);
	nw_strings_free(&dirs);
	if (ret < 0) {
		free(path);
		return nw_fail(err, -ret, "cannot look for '%s': %s", name,
			       nw_strerror(-ret));
	}
	if (!path) {
		nw_fail(err, ENOENT, "cannot find a program or library called '%s'", name);
		nw_error_hint(
			err,
			"give the whole path of the file, or -p PID of a process that has loaded it");
		return -ENOENT;
	}
	*out = path;
	return 0;
}

/* ---- the interpreter of a script ---------------------------------------------------- */

/* Returns the program that env(1) runs: the first word that is neither an option nor an assignment. */
static char *env_program(char *text)
{
	for (;;) {
		char *word = text + strspn(text, " \t");
		size_t len = strcspn(word, " \t\n");
		bool last = word[len] == '\0' || word[len] == '\n';
		word[len] = '\0';
		if (last || (*word != '-' && !strchr(word, '=')))
			return word;
		text = word + len + 1;
	}
}

int nw_locate_interpreter(const char *path, char **out, struct nw_error *err)
{
	char line[256] = "";
	int fd = nw_open_regular(AT_FDCWD, path);
	ssize_t got = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (got < 3 || line[0] != '#' || line[1] != '!')
		return nw_fail(err, ENOEXEC, "'%s' is neither an ELF file nor a script",
			       path);
	char *program = line + 2 + strspn(line + 2, " \t");
	char *rest = program + strcspn(program, " \t\n");
	bool more = *rest == ' ' || *rest == '\t';
	*rest = '\0';
	const char *base = strrchr(program, '/');
	if (more && base && strcmp(base, "/env") == 0)
		program = env_program(rest + 1);
	return nw_locate(program, out, err);
}

/* ---- what a program needs ----------------------------------------------------------- */

struct dynamic {
	nw_strings needed;
	nw_strings run_path; /* DT_RUNPATH and DT_RPATH, with $ORIGIN replaced */
};

static int add_run_path(struct dynamic *dynamic, const char *text, const char *path)
{
	const char *slash = strrchr(path, '/');
	nw_cleanup(nw_free_ptr) char *origin = slash ? strndup(path, (size_t)(slash - path))
						     : strdup(".");
	struct nw_buf replaced = {0};

	while (*text) {
		size_t skip = strncmp(text, "$ORIGIN", 7) == 0	   ? 7
			      : strncmp(text, "${ORIGIN}", 9) == 0 ? 9
								   : 0;
		if (skip)
			nw_buf_adds(&replaced, origin ? origin : "");
		else
			nw_buf_addc(&replaced, *text);
		text += skip ? skip : 1;
	}
	int ret = add_path_list(&dynamic->run_path, nw_buf_str(&replaced));
	nw_buf_free(&replaced);
	return ret;
}

static int read_dynamic_section(Elf *elf, Elf_Scn *section, const char *path,
				struct nw_section_budget *budget, struct dynamic *out)
{
	GElf_Shdr header;
	GElf_Dyn entry;
	int ret = 0;

	if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC ||
	    !nw_section_afford(budget, &header) ||
	    !nw_section_afford_names(budget, elf, &header))
		return 0;
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data)
		return 0;
	for (int i = 0; ret == 0 && gelf_getdyn(data, i, &entry); i++) {
		const char *text = NULL;
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_NEEDED || entry.d_tag == DT_RUNPATH ||
		    entry.d_tag == DT_RPATH)
			text = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
		if (!text || strnlen(text, PATH_MAX) == PATH_MAX)
			continue;
		if (entry.d_tag == DT_NEEDED)
			ret = out->needed.count < NW_MOST_NEEDED
				      ? nw_strings_add(&out->needed, text, strlen(text))
				      : 0;
		else if (out->run_path.count < NW_MOST_RUN_PATHS)
			ret = add_run_path(out, text, path);
	}
	return ret;
}

static int read_dynamic(const struct nw_image *image, struct dynamic *out)
{
	struct nw_section_budget budget = nw_section_budget(image->size);
	Elf *elf = elf_begin(image->fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	int ret = 0;

	while (elf && ret == 0 && (section = elf_nextscn(elf, section)))
		ret = read_dynamic_section(elf, section, image->path, &budget, out);
	elf_end(elf);
	return ret;
}

/* Opens dir/name and adds it if it is a library for the same machine and not in the list yet. */
static bool add_library(const char *dir, const char *name, const struct nw_image *user,
			bool force, nw_images *out)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", dir, name);
	struct nw_image *image, **slot;

	if (!path || nw_image_open(path, force, &image, NULL) < 0)
		return false;
	bool same_kind = image->machine == user->machine && image->elf64 == user->elf64;
	if (!same_kind || nw_images_find(out, image->dev, image->ino) ||
	    !(slot = nw_vec_add(out))) {
		nw_image_free(image);
		return same_kind;
	}
	*slot = image;
	return true;
}

static int add_needed(const struct nw_image *user, const nw_strings *dirs, bool force,
		      nw_images *out)
{
	struct dynamic dynamic = {0};
	int ret = read_dynamic(user, &dynamic);

	nw_vec_each (&dynamic.needed, name) {
		bool found = false;
		nw_vec_each (&dynamic.run_path, dir)
			found = found || add_library(*dir, *name, user, force, out);
		nw_vec_each (dirs, dir)
			found = found || add_library(*dir, *name, user, force, out);
	}
	nw_strings_free(&dynamic.needed);
	nw_strings_free(&dynamic.run_path);
	return ret;
}

int nw_locate_needed(const char *path, bool force, nw_images *out, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *interpreter = NULL;
	nw_strings dirs = {0};
	struct nw_image *image;
	int ret = nw_image_open(path, force, &image, err);

	if (ret == -ENOEXEC) {
		ret = nw_locate_interpreter(path, &interpreter, err);
		if (ret == 0)
			ret = nw_image_open(interpreter, force, &image, err);
	}
	if (ret < 0)
		return ret;
	struct nw_image **slot = nw_vec_add(out);
	if (!slot) {
		nw_image_free(image);
		return nw_no_memory(err);
	}
	*slot = image;
	ret = library_dirs(&dirs);
	for (size_t i = 0; ret == 0 && i < out->count; i++) /* `out` grows meanwhile */
		ret = add_needed(out->item[i], &dirs, force, out);
	nw_strings_free(&dirs);
	return ret < 0 ? nw_fail(err, -ret, "cannot find the libraries of '%s': %s", path,
				 nw_strerror(-ret))
		       : 0;
}
