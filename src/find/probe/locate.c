// SPDX-License-Identifier: MIT
/*
 * Finds the file of a bare name: a program in $PATH, a library in the directories of the dynamic linker
 * (LD_LIBRARY_PATH, /etc/ld.so.conf and the files that it includes, the built-in directories), a file that a process
 * maps, or one in a directory where packages put servers.
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
#include "find/probe/probe.h"
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

static int search_path(const char *name, bool (*fits)(const char *path), char **out)
{
	nw_strings dirs = {0};
	int ret = add_path_list(&dirs, getenv("PATH"));

	nw_vec_each (&dirs, dir) {
		char *path = ret == 0 && !*out ? nw_text("%s/%s", *dir, name) : NULL;
		if (ret == 0 && !*out && !path)
			ret = -ENOMEM;
		if (path && fits(path))
			*out = path;
		else
			free(path);
	}
	nw_strings_free(&dirs);
	return ret;
}

static bool is_program(const char *path)
{
	return is_file(path, X_OK);
}

int nw_find_program(const char *name, char **out)
{
	if (strchr(name, '/'))
		return !is_program(name) || (*out = strdup(name)) ? 0 : -ENOMEM;
	return search_path(name, is_program, out);
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

/* ---- running programs, and where packages put servers ------------------------------- */

/* Adds an ELF file, unless it is there by another path. */
static int add_elf(nw_strings *files, const char *path)
{
	struct stat st, other;

	if (!is_elf(path) || stat(path, &st) < 0)
		return 0;
	nw_vec_each (files, file)
		if (stat(*file, &other) == 0 && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return 0;
	return nw_strings_add(files, path, strlen(path));
}

/* Adds a file that a process maps. A file in another mount namespace may have the path of a file that is here, too. Any user may run
 * a program by the name of a server, so files of other users do not count. */
static int add_mapped(pid_t pid, const char *path, nw_strings *files)
{
	nw_cleanup(nw_free_ptr) char *root = nw_text("/proc/%d/root%s", (int)pid, path);
	struct stat here, there;

	if (!root)
		return -ENOMEM;
	if (stat(root, &there) < 0 || !nw_is_trusted(there.st_uid))
		return 0;
	bool same = stat(path, &here) == 0 && here.st_dev == there.st_dev &&
		    here.st_ino == there.st_ino;
	return add_elf(files, same ? path : root);
}

static int search_processes(const char *name, nw_strings *files)
{
	struct nw_error ignored; /* the process is gone, or belongs to another user */
	nw_pids pids = {0};
	int ret = nw_process_all(&pids, &ignored);

	nw_vec_each (&pids, pid) {
		nw_mappings maps = {0};
		if (ret < 0 || nw_process_maps(*pid, &maps, &ignored) < 0)
			continue;
		nw_vec_each (&maps, map)
			if (ret == 0 && map->exec && *map->path == '/' &&
			    nw_is_called(map->path, name))
				ret = add_mapped(*pid, map->path, files);
		nw_mappings_free(&maps);
	}
	nw_vec_free(&pids);
	return ret;
}

/* The JVM that `java` starts: several may be installed. */
static int search_jvm(const char *name, nw_strings *files)
{
	nw_cleanup(nw_free_ptr) char *java = NULL;
	int ret = nw_find_program("java", &java);
	char *real = java ? realpath(java, NULL) : NULL;
	char *slash = NULL;

	for (int i = 0; real && i < 2; i++) /* JVM/bin/java */
		if ((slash = strrchr(real, '/')))
			*slash = '\0';
	if (slash) {
		nw_cleanup(nw_free_ptr) char *path = nw_text("%s/lib/server/%s", real,
							     name);
		ret = path ? add_elf(files, path) : -ENOMEM;
	}
	free(real);
	return ret;
}

static int search_packages(const char *name, nw_strings *files)
{
	static const char *const dirs[] = {"/usr/local/sbin",
					   "/usr/sbin",
					   "/sbin",
					   "/usr/libexec",
					   "/usr/lib/jvm/*/lib/server",
					   "/usr/lib/jvm/*/bin",
					   "/usr/lib/postgresql/*/bin",
					   "/usr/pgsql-*/bin",
					   "/opt/*/bin",
					   "/opt/*/sbin"};
	int ret = search_jvm(name, files);

	if (files->count)
		return ret;
	for (size_t i = 0; ret == 0 && i < NW_COUNT(dirs); i++) {
		nw_cleanup(nw_free_ptr) char *pattern = nw_text("%s/%s", dirs[i], name);
		nw_strings found = {0};
		ret = pattern ? nw_glob_files(pattern, &found) : -ENOMEM;
		nw_vec_each (&found, path)
			if (ret == 0)
				ret = add_elf(files, *path);
		nw_strings_free(&found);
	}
	return ret;
}

/* Finds the only file of that name that a process maps, or that a package has put outside $PATH. Several are EEXIST. */
static int locate_elsewhere(const char *name, char **out, struct nw_error *err)
{
	nw_strings files = {0};
	struct nw_buf names = {0};
	int ret = search_processes(name, &files);

	if (ret == 0 && !files.count)
		ret = search_packages(name, &files);
	if (ret < 0)
		nw_fail(err, -ret, "cannot look for '%s': %s", name, nw_strerror(-ret));
	nw_vec_each (&files, file)
		nw_buf_printf(&names, "%s%s", names.len ? ", " : "", *file);
	if (ret == 0 && files.count > 1) {
		ret = nw_fail(err, EEXIST, "%zu files are called '%s': %s", files.count,
			      name, nw_buf_str(&names));
		nw_error_hint(err, "write the whole path of one, or add -p PID");
	} else if (ret == 0 && files.count) {
		*out = files.item[0];
		files.item[0] = NULL;
	}
	nw_buf_free(&names);
	nw_strings_free(&files);
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
	if (!path && *name && (ret = locate_elsewhere(name, &path, err)) < 0)
		return ret;
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

/* Reads the beginning of a file as text. Returns its length, or -ENOENT. */
static int read_begin(const char *path, char *out, size_t room)
{
	int fd = nw_open_regular(AT_FDCWD, path);
	ssize_t got = fd >= 0 ? read(fd, out, room - 1) : -1;

	if (fd >= 0)
		close(fd);
	out[got > 0 ? got : 0] = '\0';
	return got > 0 ? (int)got : -ENOENT;
}

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
	char line[256];

	if (read_begin(path, line, sizeof(line)) < 3 || line[0] != '#' || line[1] != '!')
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

/* ---- the program of a script -------------------------------------------------------- */

static const struct {
	const char *name, *variable, *file;
} managers[] = {
	{"pyenv", "PYENV_VERSION", ".python-version"},
	{"rbenv", "RBENV_VERSION", ".ruby-version"},
	{"nodenv", "NODENV_VERSION", ".node-version"},
};

/* Finds ROOT/versions/VERSION/bin/NAME for the first of the versions, separated by colons or lines, that has it. */
static int find_version(const char *root, const char *versions, const char *name,
			char **out)
{
	while (!*out && *versions) {
		size_t len = strcspn(versions, ":\n");
		char *path = nw_text("%s/versions/%.*s/bin/%s", root, (int)len, versions,
				     name);
		if (!path)
			return -ENOMEM;
		if (len && !memchr(versions, '/', len) && is_elf(path))
			*out = path;
		else
			free(path);
		versions += len + (versions[len] != '\0');
	}
	return 0;
}

/* A shim of pyenv or its likes, ROOT/shims/NAME, starts the program of the version that a variable, a file here or ROOT/version
 * names. */
static int follow_shim(const char *path, const char *text, char **out)
{
	static const char shims[] = "/shims/";
	const char *at = strstr(path, shims), *name = strrchr(path, '/') + 1;
	nw_cleanup(nw_free_ptr) char *root = at ? strndup(path, (size_t)(at - path)) : NULL;
	nw_cleanup(nw_free_ptr) char *global = root ? nw_text("%s/version", root) : NULL;
	char read[256];
	int ret = at && !global ? -ENOMEM : 0;

	for (size_t i = 0; at && ret == 0 && i < NW_COUNT(managers); i++) {
		const char *versions = getenv(managers[i].variable);
		if (!strstr(text, managers[i].name))
			continue;
		if (!versions && (read_begin(managers[i].file, read, sizeof(read)) > 0 ||
				  read_begin(global, read, sizeof(read)) > 0))
			versions = read;
		return versions ? find_version(root, versions, name, out) : 0;
	}
	return ret;
}

/* Finds the program that a line of a shell script runs in its own place: exec "/usr/lib/app/app" "$@" */
static int follow_exec(const char *text, char **out)
{
	for (const char *line = text; line && !*out; line = strchr(line, '\n')) {
		line += strspn(line, " \t\n");
		if (strncmp(line, "exec ", 5) != 0)
			continue;
		const char *word = line + 5 + strspn(line + 5, " \t\"'");
		size_t len = strcspn(word, " \t\n\"'");
		char *path = *word == '/' ? strndup(word, len) : NULL;
		if (*word == '/' && !path)
			return -ENOMEM;
		if (path && is_elf(path))
			*out = path;
		else
			free(path);
	}
	return 0;
}

int nw_follow_script(const char *path, char **out)
{
	char text[4096];

	*out = NULL;
	if (!strchr(path, '/') || read_begin(path, text, sizeof(text)) < 0 ||
	    text[0] != '#' || text[1] != '!')
		return 0;
	int ret = follow_shim(path, text, out);
	return ret == 0 && !*out ? follow_exec(text, out) : ret;
}

int nw_hint_script(const char *path, int ret, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *program = NULL;

	if (ret == -ENOEXEC && nw_follow_script(path, &program) == 0 && program)
		nw_error_hint(err, "it is a script that starts %s: name that file",
			      program);
	return ret;
}

int nw_locate_elf(const char *name, char **out, char **script, struct nw_error *err)
{
	char *path = NULL;
	int ret = nw_locate(name, &path, err);

	*script = NULL;
	if (ret < 0 || strchr(name, '/') || is_elf(path)) {
		*out = path;
		return ret;
	}
	if (nw_follow_script(path, out) < 0)
		ret = nw_no_memory(err);
	if (ret == 0 && !*out)
		ret = locate_elsewhere(name, out, err);
	if (ret == 0 && !*out && search_path(name, is_elf, out) < 0)
		ret = nw_no_memory(err);
	if (ret == 0 && !*out)
		ret = nw_locate_interpreter(path, out, err);
	if (ret < 0)
		free(path);
	else
		*script = path;
	return ret;
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

static int add_executable(const char *path, bool force, nw_images *out,
			  struct nw_error *err)
{
	struct nw_image *image, **slot;
	int ret = nw_image_open(path, force, &image, err);

	if (ret < 0)
		return ret;
	bool known = nw_images_find(out, image->dev, image->ino);
	if (known || !(slot = nw_vec_add(out))) {
		nw_image_free(image);
		return known ? 0 : nw_no_memory(err);
	}
	*slot = image;
	return 0;
}

/* Adds what a script runs: the program that it starts, if that is known, and its interpreter. */
static int add_script(const char *path, bool force, nw_images *out, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *program = NULL;
	nw_cleanup(nw_free_ptr) char *interpreter = NULL;
	int ret = nw_follow_script(path, &program) < 0 ? nw_no_memory(err) : 0;

	if (ret == 0 && program)
		ret = add_executable(program, force, out, err);
	if (ret == 0)
		ret = nw_locate_interpreter(path, &interpreter, err);
	return ret < 0 ? ret : add_executable(interpreter, force, out, err);
}

int nw_locate_needed(const char *path, bool force, nw_images *out, struct nw_error *err)
{
	nw_strings dirs = {0};
	int ret = add_executable(path, force, out, err);

	if (ret == -ENOEXEC)
		ret = add_script(path, force, out, err);
	if (ret < 0)
		return ret;
	ret = library_dirs(&dirs);
	for (size_t i = 0; ret == 0 && i < out->count; i++) /* `out` grows meanwhile */
		ret = add_needed(out->item[i], &dirs, force, out);
	nw_strings_free(&dirs);
	return ret < 0 ? nw_fail(err, -ret, "cannot find the libraries of '%s': %s", path,
				 nw_strerror(-ret))
		       : 0;
}
