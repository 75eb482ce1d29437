// SPDX-License-Identifier: MIT
/* Where probes are looked for: the file of a spec, -x, -p, and what a command will load. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "elf_select.h"

/* An x86_64 file with the probes app:NAME and app:common, of this directory. */
static void make_file(const char *path, const char *name)
{
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	eb_note(&b, EB_TEXT, 0, 0, "app", name, "");
	eb_note(&b, EB_TEXT + 1, 0, 0, "app", "common", "");
	eb_notes(&b);
	eb_write(&b, ".", path);
}

static void make_dir(char dir[64])
{
	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	setenv("PATH", "/nowhere", 1);
	unsetenv("LD_LIBRARY_PATH");
}

/* Map a file as code, as a program that has loaded it does; returns its path. */
static void *map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	close(fd);
	return at;
}

static void check(const char *spec, const struct nw_scope *scope, const char *wanted)
{
	const char *const specs[4] = {spec};

	eb_check_selected(specs, scope, wanted);
}

/* ---- no file, -x -------------------------------------------------------------------- */

START_TEST(a_spec_without_a_file_needs_one)
{
	static const char *const specs[] = {"app:one", "usdt::app:one", "app:::one"};
	static const char hint[] =
		"add -p PID, -x FILE or -- CMD, or write usdt:PATH:PROVIDER:NAME";

	for (size_t i = 0; i < NW_COUNT(specs); i++) {
		const char *const list[4] = {specs[i]};
		struct nw_selection selection;
		struct nw_error err;
		char what[128];
		snprintf(what, sizeof(what), "no file for probe '%s'", specs[i]);
		eb_check_refused(specs[i], NULL, EINVAL, what, hint);
		ck_assert_int_eq(eb_select(list, NULL, &selection, &err), -EINVAL);
		ck_assert(err.usage);
	}
}
END_TEST

START_TEST(x_names_the_file_of_specs_without_one)
{
	char dir[64];

	make_dir(dir);
	make_file("one", "one");
	make_file("two", "two");
	ck_assert_int_eq(mkdir("bin", 0755), 0);
	make_file("bin/one", "in_path");
	make_file("bin/three", "three");
	setenv("PATH", "bin", 1);
	check("app:one", &(struct nw_scope){.file = "./one"}, "app:one@200[]");
	check("app:two", &(struct nw_scope){.file = "./[ot]*"}, "app:two@200[]");
	check("usdt:./two:app:two", &(struct nw_scope){.file = "./one"}, "app:two@200[]");
	/* a file that is here comes before a program in $PATH */
	check("app:one", &(struct nw_scope){.file = "one"}, "app:one@200[]");
	check("app:three", &(struct nw_scope){.file = "three"}, "app:three@200[]");
	/* in a spec, a bare name is a program or a library */
	check("usdt:one:app:in_path", NULL, "app:in_path@200[]");
	eb_check_refused("app:one", &(struct nw_scope){.file = "./none"}, ENOENT,
			 "cannot open './none': No such file or directory", "");
	eb_check_refused("app:one", &(struct nw_scope){.file = "./n*"}, ENOENT,
			 "no file matches './n*'", "");
}
END_TEST

START_TEST(globs_pass_over_what_is_no_elf_file)
{
	char dir[64];

	make_dir(dir);
	make_file("one", "one");
	make_file("[x]", "brackets");
	eb_write_bytes(".", "text", "hello", 5);
	ck_assert_int_eq(mkdir("dir", 0755), 0);
	ck_assert_int_eq(mkfifo("fifo", 0644), 0);
	check("usdt:./*:app:one", NULL, "app:one@200[]");
	/* a file of just that name is no pattern */
	check("usdt:./[x]:app:brackets", NULL, "app:brackets@200[]");
	eb_check_refused("usdt:./[tdf]*:app:one", NULL, ENOENT,
			 "no ELF file matches './[tdf]*'", "");
	eb_check_refused("usdt:./text:app:one", NULL, ENOEXEC,
			 "'./text' is not an ELF file", "");
	eb_check_refused("usdt:./dir:app:one", NULL, EISDIR, "'./dir' is a directory", "");
}
END_TEST

START_TEST(bare_names_that_are_nowhere_are_refused)
{
	char dir[64];

	make_dir(dir);
	make_file("one", "one");
	eb_check_refused("usdt:nopwatch-none:app:one", NULL, ENOENT,
			 "cannot find a program or library called 'nopwatch-none'",
			 "give the whole path of the file, or -p PID of a process that has "
			 "loaded it");
}
END_TEST

/* ---- -p ----------------------------------------------------------------------------- */

START_TEST(p_looks_into_the_files_that_a_process_maps)
{
	pid_t self = getpid();
	struct nw_scope scope = {.pids = &self, .pid_count = 1};
	char dir[64], spec[160];

	make_dir(dir);
	make_file("one", "one");
	make_file("libtwo.so.1.2", "two");
	make_file("unmapped", "three");
	map("one");
	map("libtwo.so.1.2");
	map("one");
	check("app:one", &scope, "app:one@200[]");
	check("app:t*", &scope, "app:two@200[]");
	static const char *const two[] = {"libtwo.so.1.2", "libtwo.so.1", "libtwo.so",
					  "libtwo",	   "two",	  "*two*",
					  "two.so",	   "two.so.1"};
	for (size_t i = 0; i < NW_COUNT(two); i++) {
		snprintf(spec, sizeof(spec), "usdt:%s:app:common", two[i]);
		check(spec, &scope, "app:common@201[]");
	}
	snprintf(spec, sizeof(spec), "usdt:%s/one:app:one", dir);
	check(spec, &scope, "app:one@200[]");
	snprintf(spec, sizeof(spec), "usdt:%s/*:app:one", dir);
	check(spec, &scope, "app:one@200[]");
	/* what is not mapped is a file like any other */
	check("usdt:./unmapped:app:three", &scope, "app:three@200[]");
	eb_check_refused("usdt:unmapped:app:three", &scope, ENOENT,
			 "cannot find a program or library called 'unmapped'",
			 "give the whole path of the file, or -p PID of a process that has "
			 "loaded it");
	snprintf(spec, sizeof(spec), "uprobe:%s/one:0x210", dir);
	check(spec, &scope, "uprobe:0x210@210[]");
	/* -x is more exact than -p, for those who give both */
	scope.file = "./unmapped";
	check("app:common", &scope, "app:common@201[]");
	check("app:three", &scope, "app:three@200[]");
}
END_TEST

START_TEST(several_processes_share_their_files)
{
	char dir[64];
	int ends[2];
	char byte;

	make_dir(dir);
	make_file("one", "one");
	make_file("two", "two");
	map("one");
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	map("two"); /* only here */
	pid_t pids[2] = {child, getpid()};
	struct nw_scope scope = {.pids = pids, .pid_count = 2};
	check("app:one", &scope, "app:one@200[]");
	check("app:two", &scope, "app:two@200[]");
	scope.pid_count = 1;
	check("app:one", &scope, "app:one@200[]");
	const char *const specs[4] = {"app:two"};
	struct nw_selection selection;
	struct nw_error err;
	ck_assert_int_eq(eb_select(specs, &scope, &selection, &err), -ENOENT);
	close(ends[1]);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	char what[64];
	snprintf(what, sizeof(what), "there is no process %d", (int)child);
	eb_check_refused("app:one", &scope, ESRCH, what, "");
}
END_TEST

START_TEST(a_deleted_file_is_found_by_the_process_that_maps_it)
{
	pid_t self = getpid();
	struct nw_scope scope = {.pids = &self, .pid_count = 1};
	static const char *const specs[4] = {"app:one"};
	struct nw_selection selection;
	struct nw_error err;
	char dir[64], wanted[64];

	make_dir(dir);
	make_file("one", "one");
	void *at = map("one");
	ck_assert_int_eq(unlink("one"), 0);
	snprintf(wanted, sizeof(wanted), "/proc/%d/map_files/%lx-%lx", (int)self,
		 (unsigned long)at, (unsigned long)at + 4096);
	int fd = open(wanted, O_RDONLY | O_CLOEXEC);
	if (fd < 0) { /* the right to look takes CAP_CHECKPOINT_RESTORE */
		ck_assert_int_eq(eb_select(specs, &scope, &selection, &err), -ENOENT);
		return;
	}
	close(fd);
	ck_assert_int_eq(eb_select(specs, &scope, &selection, &err), 0);
	ck_assert_str_eq(selection.images.item[0]->path, wanted);
	nw_selection_free(&selection);
}
END_TEST

UNIT_MAIN("select files", a_spec_without_a_file_needs_one,
	  x_names_the_file_of_specs_without_one, globs_pass_over_what_is_no_elf_file,
	  bare_names_that_are_nowhere_are_refused,
	  p_looks_into_the_files_that_a_process_maps, several_processes_share_their_files,
	  a_deleted_file_is_found_by_the_process_that_maps_it)
