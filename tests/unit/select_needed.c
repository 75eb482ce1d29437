// SPDX-License-Identifier: MIT
/* Programs and libraries by name, interpreters of scripts, and what a program will load. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "elf_select.h"
#include "find/probe/select.h"

static void make_dir(char dir[64])
{
	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(mkdir("bin", 0755), 0);
	ck_assert_int_eq(mkdir("lib", 0755), 0);
	ck_assert_int_eq(mkdir("other", 0755), 0);
	setenv("PATH", "other:bin", 1);
	setenv("LD_LIBRARY_PATH", "other:lib", 1);
}

static void write_text(const char *name, const char *text)
{
	eb_write_bytes(".", name, text, strlen(text));
}

/* ---- names -------------------------------------------------------------------------- */

/* A file that this process maps, and that is nowhere in $PATH. */
START_TEST(a_bare_name_is_what_a_process_maps)
{
	static const char elf[] = "\177ELF";
	char dir[64], name[64], *found, *path;
	struct nw_error err = {0};

	make_dir(dir);
	ck_assert_int_eq(mkdir("apart", 0755), 0);
	snprintf(name, sizeof(name), "nwrunning-%d", (int)getpid());
	path = nw_text("%s/apart/%s", dir, name);
	ck_assert_ptr_nonnull(path);
	ck_assert_int_eq(nw_locate(name, &found, &err), -ENOENT);
	write_text(path + strlen(dir) + 1, elf);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *map = mmap(NULL, 4, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_int_eq(nw_locate(name, &found, &err), 0);
	ck_assert_str_eq(found, path);
	free(found);
	/* A script of that name in $PATH stands for it; without it, for its interpreter. */
	char *script, *in_path = nw_text("bin/%s", name);
	write_text(in_path, "#!prog\n");
	ck_assert_int_eq(nw_locate_elf(name, &found, &script, &err), 0);
	ck_assert_str_eq(found, path);
	ck_assert_str_eq(script, in_path);
	free(found);
	free(script);
	free(in_path);
	write_text("bin/prog", elf);
	write_text("bin/nwscript", "#!prog\n");
	ck_assert_int_eq(nw_locate_elf("nwscript", &found, &script, &err), 0);
	ck_assert_str_eq(found, "bin/prog");
	free(found);
	free(script);
	ck_assert_int_eq(nw_locate_elf("prog", &found, &script, &err), 0);
	ck_assert_ptr_null(script);
	free(found);
	ck_assert_int_eq(munmap(map, 4), 0);
	close(fd);
	free(path);
}
END_TEST

START_TEST(a_bare_name_is_a_program_or_a_library)
{
	static const struct {
		const char *name, *found;
	} cases[] = {
		{"prog", "bin/prog"},
		{"both", "other/both"}, /* the first directory wins */
		{"nwmade", "lib/libnwmade.so"},
		{"libnwmade", "lib/libnwmade.so"},
		{"libnwmade.so", "lib/libnwmade.so"},
		{"nwnumber", "lib/libnwnumber.so.1.2"},
		{"libnwnumber", "lib/libnwnumber.so.1.2"},
		{"libnwnumber.so", "lib/libnwnumber.so.1.2"},
		{"libnwnumber.so.1", "lib/libnwnumber.so.1.2"},
		{"libnwnumber.so.1.2", "lib/libnwnumber.so.1.2"},
		{"./no/such/file", "./no/such/file"}, /* a path is a path */
	};
	char dir[64], *found;

	make_dir(dir);
	write_text("bin/prog", "");
	write_text("bin/both", "");
	write_text("other/both", "");
	ck_assert_int_eq(mkdir("other/prog", 0755), 0); /* no program */
	write_text("bin/data", "");
	ck_assert_int_eq(chmod("bin/data", 0644), 0); /* nothing to run */
	write_text("lib/libnwmade.so", "");
	write_text("lib/libnwnumber.so.1.2", "");
	write_text("lib/libnwother.so.old", "");
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_error err = {0};
		ck_assert_msg(nw_locate(cases[i].name, &found, &err) == 0, "%s: %s",
			      cases[i].name, err.what);
		ck_assert_str_eq(found, cases[i].found);
		free(found);
	}
	static const char *const none[] = {"data", "libnwother.so", "nw", "",
					   "libnwnumber.so.2"};
	for (size_t i = 0; i < NW_COUNT(none); i++) {
		struct nw_error err = {0};
		char what[128];
		snprintf(what, sizeof(what), "cannot find a program or library called '%s'",
			 none[i]);
		ck_assert_int_eq(nw_locate(none[i], &found, &err), -ENOENT);
		ck_assert_str_eq(err.what, what);
		ck_assert_str_eq(err.hint,
				 "give the whole path of the file, or -p PID of a "
				 "process that has loaded it");
	}
}
END_TEST

START_TEST(scripts_have_interpreters)
{
	static const struct {
		const char *text, *found;
	} good[] = {
		{"#!/bin/dir/sh\n", "/bin/dir/sh"},
		{"#! \t/bin/dir/sh -e\nrest\n", "/bin/dir/sh"},
		{"#!/bin/dir/sh", "/bin/dir/sh"},
		{"#!prog\n", "bin/prog"},
		{"#!/usr/bin/env prog\n", "bin/prog"},
		{"#!/usr/bin/env  prog -x\n", "bin/prog"},
		{"#!/usr/bin/env -S prog -x\n", "bin/prog"},
		{"#!/usr/bin/env -i A=1 B=/x prog\n", "bin/prog"},
		{"#!/usr/bin/env\n", "/usr/bin/env"},
		{"#!/opt/environment prog\n", "/opt/environment"},
	};
	static const char *const bad[] = {
		"", "#", "#!", "x#!/bin/sh\n", "\n#!/bin/sh\n", "\177ELF"};
	char dir[64], *found;

	make_dir(dir);
	write_text("bin/prog", "");
	for (size_t i = 0; i < NW_COUNT(good); i++) {
		struct nw_error err = {0};
		write_text("script", good[i].text);
		ck_assert_msg(nw_locate_interpreter("script", &found, &err) == 0, "%s: %s",
			      good[i].text, err.what);
		ck_assert_str_eq(found, good[i].found);
		free(found);
		unlink("script");
	}
	for (size_t i = 0; i < NW_COUNT(bad); i++) {
		struct nw_error err = {0};
		write_text("script", bad[i]);
		ck_assert_int_eq(nw_locate_interpreter("script", &found, &err), -ENOEXEC);
		ck_assert_str_eq(err.what, "'script' is neither an ELF file nor a script");
		unlink("script");
	}
	ck_assert_int_eq(nw_locate_interpreter("missing", &found, NULL), -ENOEXEC);
}
END_TEST

/* ---- libraries ---------------------------------------------------------------------- */

/* A library or program with one probe, PROVIDER:n, that needs others. */
static void make_needing(const char *path, uint16_t machine, const char *provider,
			 const char *const needed[3], const char *run_path)
{
	struct nw_buf strings = {0}, dynamic = {0};
	struct eb b;

	eb_program(&b, machine, true, false);
	eb_note(&b, EB_TEXT, 0, 0, provider, "n", "");
	eb_notes(&b);
	nw_buf_addc(&strings, '\0');
	for (size_t i = 0; i < 3 && needed[i]; i++) {
		eb_word(&b, &dynamic, DT_NEEDED);
		eb_word(&b, &dynamic, strings.len);
		nw_buf_add(&strings, needed[i], strlen(needed[i]) + 1);
	}
	if (run_path) {
		eb_word(&b, &dynamic, DT_RUNPATH);
		eb_word(&b, &dynamic, strings.len);
		nw_buf_add(&strings, run_path, strlen(run_path) + 1);
	}
	eb_word(&b, &dynamic, DT_NULL);
	eb_word(&b, &dynamic, 0);
	uint32_t names = eb_section(&b, ".dynstr", SHT_STRTAB, 0, strings.data,
				    strings.len);
	uint32_t table = eb_section(&b, ".dynamic", SHT_DYNAMIC, 0, dynamic.data,
				    dynamic.len);
	b.sections.item[table].link = names;
	b.sections.item[table].entsize = 16;
	nw_buf_free(&strings);
	nw_buf_free(&dynamic);
	eb_write(&b, ".", path);
}

static void make_program(void)
{
	static const char *const none[3];
	static const char *const first[3] = {"libfirst.so", "libmissing.so"};
	static const char *const second[3] = {"libsecond.so", "libfirst.so"};

	ck_assert_int_eq(mkdir("lib/deep", 0755), 0);
	make_needing("bin/prog", EM_X86_64, "prog", first, "/nowhere:$ORIGIN/../lib");
	make_needing("lib/libfirst.so", EM_X86_64, "first", second, "${ORIGIN}/deep");
	/* of another machine: not the one that would be loaded */
	make_needing("other/libfirst.so", EM_AARCH64, "foreign", none, NULL);
	make_needing("lib/deep/libsecond.so", EM_X86_64, "second", first, NULL);
	make_needing("lib/libunused.so", EM_X86_64, "unused", none, NULL);
}

START_TEST(a_command_is_searched_with_the_libraries_it_needs)
{
	static const struct {
		const char *spec, *found; /* NULL: not found */
	} cases[] = {{"prog:n", "prog:n@200[]"},
		     {"first:n", "first:n@200[]"},
		     {"second:n", "second:n@200[]"},
		     {"*:n", "prog:n@200[] first:n@200[] second:n@200[]"},
		     {"foreign:n", NULL},
		     {"unused:n", NULL},
		     {"usdt:lib/libunused.so:unused:n", "unused:n@200[]"}};
	static const char *const commands[] = {"bin/prog", "script"};
	char dir[64], line[128];

	make_dir(dir);
	make_program();
	snprintf(line, sizeof(line), "#!%s/bin/prog\n", dir);
	write_text("script", line);
	for (size_t i = 0; i < NW_COUNT(cases) * NW_COUNT(commands); i++) {
		size_t n = i / NW_COUNT(commands);
		struct nw_scope scope = {.command = commands[i % NW_COUNT(commands)]};
		const char *const specs[4] = {cases[n].spec};
		struct nw_selection selection;
		struct nw_error err;
		if (cases[n].found)
			eb_check_selected(specs, &scope, cases[n].found);
		else
			ck_assert_int_eq(eb_select(specs, &scope, &selection, &err),
					 -ENOENT);
	}
}
END_TEST

START_TEST(a_command_that_cannot_run_is_refused)
{
	char dir[64];

	make_dir(dir);
	write_text("text", "no program\n");
	write_text("script", "#!/usr/bin/env nopwatch-none\n");
	eb_check_refused("a:n", &(struct nw_scope){.command = "missing"}, ENOENT,
			 "cannot open 'missing': No such file or directory", "");
	eb_check_refused("a:n", &(struct nw_scope){.command = "text"}, ENOEXEC,
			 "'text' is neither an ELF file nor a script", "");
	eb_check_refused("a:n", &(struct nw_scope){.command = "script"}, ENOENT,
			 "cannot find a program or library called 'nopwatch-none'",
			 "give the whole path of the file, or -p PID of a process that has "
			 "loaded it");
}
END_TEST

static int check_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	const nw_images *images = arg;
	struct stat st;

	(void)size;
	if (!strchr(info->dlpi_name, '/') || stat(info->dlpi_name, &st) < 0)
		return 0; /* the program itself, the vDSO */
	nw_vec_each (images, image)
		if ((*image)->dev == st.st_dev && (*image)->ino == st.st_ino)
			return 0;
	ck_abort_msg("%s is loaded, but was not found", info->dlpi_name);
	return 1;
}

START_TEST(the_libraries_of_this_program_are_those_that_it_has_loaded)
{
	nw_images images = {0};
	struct nw_error err;
	struct stat st;

	ck_assert_int_eq(nw_locate_needed("/proc/self/exe", false, &images, &err), 0);
	ck_assert_int_eq(stat("/proc/self/exe", &st), 0);
	ck_assert_uint_gt(images.count, 2);
	ck_assert_uint_eq(images.item[0]->ino, st.st_ino); /* itself first */
	dl_iterate_phdr(check_loaded, &images);
	nw_images_free(&images);
}
END_TEST

UNIT_MAIN("select needed files", a_bare_name_is_a_program_or_a_library,
	  a_bare_name_is_what_a_process_maps, scripts_have_interpreters,
	  a_command_is_searched_with_the_libraries_it_needs,
	  a_command_that_cannot_run_is_refused,
	  the_libraries_of_this_program_are_those_that_it_has_loaded)
