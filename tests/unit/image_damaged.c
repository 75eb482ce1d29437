// SPDX-License-Identifier: MIT
/*
 * What is no ELF file, or was one before somebody cut or changed it: the right error, no crash,
 * no leak. SAN=1 looks closer.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "elf_files.h"
#include "find/probe/probe.h"

static size_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void check_refused(const char *path, int code, const char *what)
{
	struct nw_image *image = (struct nw_image *)1;
	struct nw_error err = {0};
	size_t before = open_files();

	ck_assert_int_eq(nw_image_open(path, false, &image, &err), -code);
	ck_assert_int_eq(err.code, code);
	ck_assert_str_eq(err.what, what);
	ck_assert_ptr_eq(image, (struct nw_image *)1); /* written only on success */
	ck_assert_int_eq(nw_image_open(path, false, &image, NULL), -code);
	ck_assert_uint_eq(open_files(), before);
}

/* A file with everything that is read: notes, a build-id, symbols, a relocation. */
static struct nw_buf whole_file(bool elf64, bool big_endian)
{
	struct eb_symbols symbols = {0};
	struct eb b;

	eb_program(&b, elf64 ? EM_X86_64 : EM_386, elf64, big_endian);
	eb_base(&b, EB_BASE);
	eb_build_id(&b, "12345678901234567890", 20);
	eb_note(&b, EB_TEXT, EB_BASE, EB_DATA, "p", "one", "8@%rdi -4@glob(%rip)");
	eb_note(&b, EB_TEXT + 8, EB_BASE, 0, "p", "two", "8@glob@GOTPCREL(%rip)");
	eb_notes(&b);
	eb_note(&b, EB_TEXT + 16, EB_BASE, EB_DATA, "p", "three", "4@$7");
	eb_notes(&b);
	eb_symbol(&b, &symbols, "glob", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 2, EB_DATA,
		  8);
	eb_symbol(&b, &symbols, "main", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, EB_TEXT,
		  64);
	uint32_t table = eb_symtab(&b, &symbols, SHT_DYNSYM);
	eb_relocation(&b, table, EB_DATA + 32, 1,
		      elf64 ? R_X86_64_GLOB_DAT : R_386_GLOB_DAT);
	return eb_finish(&b);
}

/* Use all that can be asked of an image. */
static void use_image(struct nw_image *image)
{
	struct nw_symbol symbol;
	struct nw_error err;
	size_t seen = 0;

	nw_vec_each (&image->sites, site) {
		nw_operands operands = {0};
		ck_assert(*site->provider && *site->name);
		ck_assert_int_eq(nw_image_offset(image, site->vaddr, true),
				 (int64_t)site->offset);
		ck_assert_uint_lt(site->offset, image->size);
		if (image->arch)
			ck_assert_int_eq(
				nw_operands_parse(image->arch, site->args, &operands), 0);
		nw_operands_resolve(image, site->vaddr, &operands);
		nw_vec_each (&operands, op)
			seen += op->problem || op->resolved || !op->symbol;
		nw_vec_free(&operands);
		nw_image_function(image, site->vaddr, &symbol);
	}
	nw_vec_each (&image->skipped, skipped)
		ck_assert_uint_gt(strlen(skipped->why), 0);
	if (nw_image_symbol(image, "glob", 4, EB_TEXT, &symbol) == 0)
		ck_assert_int_eq(strncmp(symbol.name, "glob", 4), 0);
	if (!image->sites.count)
		ck_assert_int_eq(nw_image_explain(image, &err), -ENOENT);
	ck_assert_uint_le(seen, 8);
}

/* Returns whether it was opened. */
static bool try_file(const struct nw_buf *file, size_t len)
{
	struct nw_image *image = NULL;
	struct nw_error err = {0};
	int fd = eb_memfd_of(file->data, len);
	int ret = nw_image_open_fd(fd, "damaged", false, &image, &err);

	if (ret < 0) {
		ck_assert_int_eq(ret, -ENOEXEC);
		ck_assert_int_eq(err.code, ENOEXEC);
		ck_assert_uint_gt(strlen(err.what), 0);
		return false;
	}
	use_image(image);
	nw_image_free(image);
	return true;
}

/* ---- tests -------------------------------------------------------------------------- */

START_TEST(what_is_no_elf_file_is_refused)
{
	static const struct {
		const char *name, *data;
		size_t len;
		const char *why;
	} cases[] = {
		{"empty", "", 0, "is not an ELF file"},
		{"text", "#!/bin/sh\nexit\n", 15, "is not an ELF file"},
		{"magic", "\177ELF", 4, "is not an ELF file"},
		{"class", "\177ELF\3\1\1\0\0\0\0\0\0\0\0\0", 16, "is not an ELF file"},
		{"archive",
		 "!<arch>\nx/              0           0     0     644     0         `\n",
		 68, "is an archive, whose code is linked into programs: name the program"},
	};
	char dir[64], path[128], what[256];

	eb_dir(dir);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		eb_write_bytes(dir, cases[i].name, cases[i].data, cases[i].len);
		snprintf(path, sizeof(path), "%s/%s", dir, cases[i].name);
		snprintf(what, sizeof(what), "'%s' %s", path, cases[i].why);
		check_refused(path, ENOEXEC, what);
	}
	snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0644), 0);
	snprintf(what, sizeof(what), "'%s' is not a regular file", path);
	check_refused(path, ENOEXEC, what);
	snprintf(what, sizeof(what), "'%s' is a directory", dir);
	check_refused(dir, EISDIR, what);
}
END_TEST

START_TEST(what_cannot_be_opened_is_refused)
{
	char dir[64], path[128], what[256];

	eb_dir(dir);
	snprintf(path, sizeof(path), "%s/missing", dir);
	snprintf(what, sizeof(what), "cannot open '%s': No such file or directory", path);
	check_refused(path, ENOENT, what);
	snprintf(path, sizeof(path), "%s/loop", dir);
	ck_assert_int_eq(symlink("loop", path), 0);
	snprintf(what, sizeof(what), "cannot open '%s': Too many levels of symbolic links",
		 path);
	check_refused(path, ELOOP, what);
	check_refused("", ENOENT, "cannot open '': No such file or directory");
	check_refused("/dev/null", ENOEXEC, "'/dev/null' is not a regular file");
}
END_TEST

START_TEST(a_file_cut_at_any_length_gives_what_is_left_or_an_error)
{
	for (int form = 0; form < 4; form++) {
		struct nw_buf file = whole_file(form & 1, form & 2);
		size_t before = open_files();
		ck_assert(try_file(&file, file.len));
		for (size_t len = 0; len < file.len;
		     len += len % 64 && len < 128 ? 1 : 32) {
			bool opened = try_file(&file, len);
			/* without a whole header there is nothing to read */
			if (len < 52)
				ck_assert(!opened);
		}
		ck_assert_uint_eq(open_files(), before);
		nw_buf_free(&file);
	}
}
END_TEST

START_TEST(a_file_cut_behind_its_header_says_that_sections_are_gone)
{
	struct nw_buf file = whole_file(true, false);
	struct nw_image *image = NULL;
	int fd = eb_memfd_of(file.data, file.len - 1);

	ck_assert_int_eq(nw_image_open_fd(fd, "cut", false, &image, NULL), 0);
	ck_assert_int_eq(image->notes, NW_NOTES_NO_SECTIONS);
	ck_assert_uint_eq(image->segments.count, 2); /* these are at the front */
	nw_image_free(image);
	nw_buf_free(&file);
}
END_TEST

START_TEST(flipped_bits_do_no_harm)
{
	uint64_t state = 11;
	size_t before = open_files(), opened = 0;

	for (int form = 0; form < 4; form++) {
		struct nw_buf file = whole_file(form & 1, form & 2);
		char *good = malloc(file.len);
		memcpy(good, file.data, file.len);
		for (int i = 0; i < 8000; i++) {
			uint64_t flips = 1 + unit_random(&state) % 8;
			for (uint64_t j = 0; j < flips; j++) {
				/* every other one where it hurts most: the headers */
				uint64_t at = unit_random(&state) % file.len;
				if (j % 2)
					at = at % 2 ? at % EB_HEAD
						    : file.len - 1 - at % 0x200;
				file.data[at] ^= (char)(1 << unit_random(&state) % 8);
			}
			opened += try_file(&file, file.len);
			memcpy(file.data, good, file.len);
		}
		free(good);
		nw_buf_free(&file);
	}
	ck_assert_uint_gt(opened, 16000); /* most damage is survived */
	ck_assert_uint_eq(open_files(), before);
}
END_TEST

/* Sizes and offsets of section headers, each replaced by the numbers that break sums. */
START_TEST(wild_numbers_in_headers_do_no_harm)
{
	static const uint64_t wild[] = {0,	    1,		0x7fffffff, 0xffffffff,
					0x80000000, UINT64_MAX, INT64_MAX,  UINT64_MAX - 7};

	for (int form = 0; form < 4; form++) {
		struct nw_buf file = whole_file(form & 1, form & 2);
		char *good = malloc(file.len);
		memcpy(good, file.data, file.len);
		for (size_t at = 0; at + 8 <= file.len; at += 4) {
			if (at == 0x200) /* segments hold no headers */
				at = EB_DATA_AT + EB_DATA_SIZE;
			for (size_t i = 0; i < NW_COUNT(wild); i++) {
				memcpy(file.data + at, &wild[i], i % 2 ? 4 : 8);
				try_file(&file, file.len);
				memcpy(file.data, good, file.len);
			}
		}
		free(good);
		nw_buf_free(&file);
	}
}
END_TEST

START_TEST(a_file_that_shrinks_while_it_is_open_does_no_harm)
{
	struct nw_buf file = whole_file(true, false);
	int fd = eb_memfd_of(file.data, file.len);
	struct nw_image *image = NULL;
	struct nw_symbol symbol;

	ck_assert_int_eq(nw_image_open_fd(fd, "shrinks", false, &image, NULL), 0);
	ck_assert_uint_eq(image->sites.count, 3);
	ck_assert_int_eq(ftruncate(fd, 0x210), 0);
	ck_assert_int_eq(nw_image_symbol(image, "glob", 4, 0, &symbol), -ENOENT);
	ck_assert_int_eq(nw_image_nop(image, 0x20f), NW_NOP_1);
	ck_assert_int_eq(nw_image_nop(image, 0x210), NW_NOP_NONE);
	ck_assert_str_eq(image->sites.item[2].name, "three");
	use_image(image);
	nw_image_free(image);
	nw_buf_free(&file);
}
END_TEST

UNIT_MAIN("damaged images", what_is_no_elf_file_is_refused,
	  what_cannot_be_opened_is_refused,
	  a_file_cut_at_any_length_gives_what_is_left_or_an_error,
	  a_file_cut_behind_its_header_says_that_sections_are_gone, flipped_bits_do_no_harm,
	  wild_numbers_in_headers_do_no_harm,
	  a_file_that_shrinks_while_it_is_open_does_no_harm)
