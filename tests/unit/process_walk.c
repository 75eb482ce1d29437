// SPDX-License-Identifier: MIT
/* Directory trees: every ELF file once, nothing else, and no way into the kernel's own trees. */
#include <sys/stat.h>

#include "elf_files.h"
#include "find/probe/probe.h"
#include "find/probe/select.h"

struct visits {
	struct nw_buf paths;
	int stop_at, ret; /* after so many files, with this; 0: never */
	int count;
	bool forced; /* a site that is no nop was there */
};

static int visit(struct nw_image *image, void *arg)
{
	struct visits *visits = arg;

	nw_buf_printf(&visits->paths, "%s ", image->path);
	visits->forced = visits->forced || image->sites.count;
	visits->count++;
	nw_image_free(image);
	return visits->count == visits->stop_at ? visits->ret : 0;
}

static void check_walk(const char *root, const char *wanted)
{
	struct visits visits = {0};
	struct nw_error err = {0};

	ck_assert_msg(nw_walk(root, false, visit, &visits, &err) == 0, "%s", err.what);
	ck_assert_str_eq(nw_buf_str(&visits.paths), wanted);
	nw_buf_free(&visits.paths);
}

static void make_elf(const char *path, uint16_t type)
{
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	b.type = type;
	eb_note(&b, EB_TEXT + EB_NOT_NOP, 0, 0, "p", "n", "");
	eb_notes(&b);
	eb_write(&b, ".", path);
}

/* The tree of every test, in the working directory. */
static void make_tree(void)
{
	char dir[64];

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(mkdir("tree", 0755), 0);
	ck_assert_int_eq(mkdir("tree/.hidden", 0755), 0);
	ck_assert_int_eq(mkdir("tree/deep", 0755), 0);
	ck_assert_int_eq(mkdir("tree/deep/er", 0755), 0);
	ck_assert_int_eq(mkdir("tree/empty", 0755), 0);
	make_elf("tree/b", ET_DYN);
	make_elf("tree/a", ET_EXEC);
	make_elf("tree/deep/er/c", ET_DYN);
	make_elf("tree/deep/object", ET_REL);
	make_elf("tree/.hidden/.d", ET_DYN);
	make_elf("outside", ET_DYN);
	eb_write_bytes("tree", "text", "hello world, longer than a header", 33);
	eb_write_bytes("tree", "nothing", "", 0);
	eb_write_bytes("tree", "magic", "\177ELF", 4);
	eb_write_bytes("tree", "damaged", "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0", 20);
	ck_assert_int_eq(symlink("b", "tree/link"), 0);
	ck_assert_int_eq(symlink("../outside", "tree/out"), 0);
	ck_assert_int_eq(symlink(".", "tree/loop"), 0);
	ck_assert_int_eq(symlink("missing", "tree/dangling"), 0);
	ck_assert_int_eq(symlink("deep", "tree/deeplink"), 0);
	ck_assert_int_eq(mkfifo("tree/fifo", 0644), 0); /* must not hold us up */
	ck_assert_int_eq(symlink("tree", "root"), 0);
}

START_TEST(every_elf_file_below_a_directory_is_found_once)
{
	make_tree();
	check_walk("tree",
		   "tree/.hidden/.d tree/a tree/b tree/deep/er/c tree/deep/object ");
	check_walk("tree/deep", "tree/deep/er/c tree/deep/object ");
	check_walk("tree/empty", "");
	/* the root itself may be a link, or a file */
	check_walk("root",
		   "root/.hidden/.d root/a root/b root/deep/er/c root/deep/object ");
	check_walk("tree/a", "tree/a ");
	check_walk("tree/text", "");
	check_walk("tree/fifo", "");
}
END_TEST

/* What tells early that a file has no notes knows only the usual kind of file. */
START_TEST(files_of_every_kind_are_found_by_their_notes)
{
	static const struct {
		const char *path;
		uint16_t machine;
		bool elf64, big_endian, notes;
		unsigned int more; /* sections with long names */
	} files[] = {
		{"kinds/a", EM_X86_64, true, false, true, 0},
		{"kinds/b", EM_X86_64, true, false, false, 0},
		{"kinds/c", EM_386, false, false, true, 0},
		{"kinds/d", EM_S390, true, true, true, 0},
		{"kinds/e", EM_PPC, false, true, true, 0},
		{"kinds/f", EM_X86_64, true, false, true, 200},
		{"kinds/g", EM_X86_64, true, false, false, 200},
		{"kinds/h", EM_S390, true, true, false, 0},
	};
	char dir[64], name[64];

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(mkdir("kinds", 0755), 0);
	for (size_t i = 0; i < NW_COUNT(files); i++) {
		struct eb b;
		eb_program(&b, files[i].machine, files[i].elf64, files[i].big_endian);
		for (unsigned int j = 0; j < files[i].more; j++) {
			snprintf(name, sizeof(name), ".a_section_with_a_long_name.%u", j);
			eb_section(&b, name, SHT_PROGBITS, 0, "x", 1);
		}
		eb_note(&b, EB_TEXT + EB_NOT_NOP, 0, 0, "p", "n", "");
		if (files[i].notes)
			eb_notes(&b);
		eb_write(&b, ".", files[i].path);
	}
	check_walk("kinds", "kinds/a kinds/c kinds/d kinds/e kinds/f ");
}
END_TEST

START_TEST(a_walk_stops_when_it_is_told)
{
	static const struct {
		int stop_at, ret;
		const char *paths;
	} cases[] = {
		{1, 5, "tree/.hidden/.d "},
		{3, -7, "tree/.hidden/.d tree/a tree/b "},
		{9, 1, "tree/.hidden/.d tree/a tree/b tree/deep/er/c tree/deep/object "}};

	make_tree();
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct visits visits = {.stop_at = cases[i].stop_at, .ret = cases[i].ret};
		int ret = nw_walk("tree", false, visit, &visits, NULL);
		ck_assert_int_eq(ret, cases[i].stop_at < 6 ? cases[i].ret : 0);
		ck_assert_str_eq(nw_buf_str(&visits.paths), cases[i].paths);
		nw_buf_free(&visits.paths);
	}
}
END_TEST

START_TEST(force_reaches_the_images)
{
	struct visits visits = {0};

	make_tree();
	ck_assert_int_eq(nw_walk("tree", false, visit, &visits, NULL), 0);
	ck_assert(!visits.forced);
	ck_assert_int_eq(nw_walk("tree", true, visit, &visits, NULL), 0);
	ck_assert(visits.forced);
	nw_buf_free(&visits.paths);
}
END_TEST

START_TEST(a_root_that_cannot_be_walked_is_refused)
{
	static const struct {
		const char *root;
		int code;
		const char *what;
	} cases[] = {
		{"missing", ENOENT, "cannot walk 'missing': No such file or directory"},
		{"tree/text/x", ENOTDIR, "cannot walk 'tree/text/x': Not a directory"},
		{"", ENOENT, "cannot walk '': No such file or directory"},
	};

	make_tree();
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct visits visits = {0};
		struct nw_error err = {0};
		ck_assert_int_eq(nw_walk(cases[i].root, false, visit, &visits, &err),
				 -cases[i].code);
		ck_assert_int_eq(err.code, cases[i].code);
		ck_assert_str_eq(err.what, cases[i].what);
	}
}
END_TEST

START_TEST(a_root_that_may_not_be_read_is_refused)
{
	struct visits visits = {0};
	struct nw_error err = {0};

	make_tree();
	ck_assert_int_eq(chmod("tree/deep", 0), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	if (geteuid() == 0)
		ck_assert(setresgid(65534, 65534, 65534) == 0 &&
			  setresuid(65534, 65534, 65534) == 0);
	ck_assert_int_eq(nw_walk("tree/deep", false, visit, &visits, &err), -EACCES);
	ck_assert_str_eq(err.what, "cannot walk 'tree/deep': Permission denied");
	/* further down it costs only itself */
	check_walk("tree", "tree/.hidden/.d tree/a tree/b ");
	chmod("tree/deep", 0755); /* so that it can be removed; root can anyway */
}
END_TEST

START_TEST(trees_of_the_kernels_own_making_are_not_entered)
{
	static const char *const roots[] = {"/proc", "/proc/self", "/sys", "/sys/kernel"};

	/* /proc/self/exe alone would be found, were they walked */
	for (size_t i = 0; i < NW_COUNT(roots); i++)
		check_walk(roots[i], "");
}
END_TEST

/* Wide enough for several threads to read it, and with more to read than one finds at a time. */
START_TEST(a_wide_tree_comes_in_order)
{
	enum {
		DIRS = 300
	};
	struct nw_buf wanted = {0};
	struct visits visits = {.stop_at = 200, .ret = 9};
	char path[64];

	make_tree();
	ck_assert_int_eq(mkdir("wide", 0755), 0);
	for (unsigned int i = 0; i < DIRS; i++) {
		snprintf(path, sizeof(path), "wide/%03u", i);
		ck_assert_int_eq(mkdir(path, 0755), 0);
		snprintf(path, sizeof(path), "wide/%03u/program", i);
		ck_assert_int_eq(link("tree/a", path), 0);
		nw_buf_printf(&wanted, "%s ", path);
	}
	for (int round = 0; round < 20; round++)
		check_walk("wide", nw_buf_str(&wanted));
	ck_assert_int_eq(nw_walk("wide", false, visit, &visits, NULL), 9);
	ck_assert_int_eq(visits.count, 200);
	ck_assert_int_eq(
		strncmp(nw_buf_str(&wanted), nw_buf_str(&visits.paths), visits.paths.len),
		0);
	nw_buf_free(&visits.paths);
	nw_buf_free(&wanted);
}
END_TEST

START_TEST(a_large_directory_is_read_to_its_end)
{
	enum {
		FILES = 2000
	};
	struct nw_buf wanted = {0};
	char path[64];

	make_tree();
	ck_assert_int_eq(mkdir("large", 0755), 0);
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "large/a-name-that-takes-some-room-%04u", i);
		ck_assert_int_eq(link(i % 100 ? "tree/text" : "tree/a", path), 0);
		if (i % 100 == 0)
			nw_buf_printf(&wanted, "%s ", path);
	}
	check_walk("large", nw_buf_str(&wanted));
	nw_buf_free(&wanted);
}
END_TEST

UNIT_MAIN("walk", a_wide_tree_comes_in_order, a_large_directory_is_read_to_its_end,
	  every_elf_file_below_a_directory_is_found_once,
	  files_of_every_kind_are_found_by_their_notes, a_walk_stops_when_it_is_told,
	  force_reaches_the_images, a_root_that_cannot_be_walked_is_refused,
	  a_root_that_may_not_be_read_is_refused,
	  trees_of_the_kernels_own_making_are_not_entered)
