// SPDX-License-Identifier: MIT
/* Sections that lead to other files: whatever they hold, only a right debug file is taken. */
#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "elf_files.h"
#include "find/probe/probe.h"

/* A program whose .gnu_debuglink holds these bytes; nothing is to be found by it. */
static void check_link(const void *bytes, size_t len)
{
	struct nw_symbol symbol;
	struct nw_image *image;
	struct nw_error err = {0};
	char dir[64];
	struct eb b;

	eb_dir(dir);
	eb_program(&b, EM_X86_64, true, false);
	eb_section(&b, ".gnu_debuglink", SHT_PROGBITS, 0, bytes, len);
	eb_write(&b, dir, "program");
	eb_write_bytes(dir, "secret", "not for you", 11);
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/program", dir);
	ck_assert_msg(nw_image_open(path, false, &image, &err) == 0, "%s", err.what);
	ck_assert_int_eq(nw_image_symbol(image, "main", 4, 0, &symbol), -ENOENT);
	nw_image_free(image);
}

START_TEST(hostile_links_lead_nowhere)
{
	static const struct {
		const char *bytes;
		size_t len;
	} cases[] = {
		{"", 0},
		{"", 1},
		{"\0\0\0\0\0\0\0\0", 8},
		{"secret", 6}, /* no NUL */
		{"secret", 7}, /* no checksum */
		{"secret\0\0abc", 11},
		{"secret\0\0abcd", 12}, /* a wrong one, and no ELF file */
		{"../secret\0\0\0abcd", 16},
		{"/etc/passwd\0abcd", 16},
		{".\0\0\0abcd", 8},
		{"..\0\0abcd", 8},
		{"program\0abcd", 12}, /* itself */
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		check_link(cases[i].bytes, cases[i].len);
	char name[5000];
	memset(name, 'x', sizeof(name));
	check_link(name, sizeof(name));
	name[299] = '\0';
	check_link(name, 304);
}
END_TEST

/* The checksum of .gnu_debuglink. */
static uint32_t checksum(const struct nw_buf *file)
{
	uint32_t crc = ~(uint32_t)0;

	for (size_t at = 0; at < file->len; at++) {
		crc ^= (unsigned char)file->data[at];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* A program and a file that its link names, with the right checksum, of this or another kind. */
START_TEST(a_debug_file_must_be_a_sibling)
{
	static const struct {
		uint16_t machine;
		bool elf64, big_endian, found;
	} cases[] = {{EM_X86_64, true, false, true},
		     {EM_X86_64, false, false, false},
		     {EM_AARCH64, true, false, false},
		     {EM_X86_64, true, true, false}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		char dir[64], link[16] = "debug\0\0\0";
		struct nw_error err = {0};
		struct nw_image *image;
		struct nw_symbol symbol;
		struct eb_symbols symbols = {0};
		struct eb b;
		eb_dir(dir);
		eb_program(&b, cases[i].machine, cases[i].elf64, cases[i].big_endian);
		eb_symbol(&b, &symbols, "main", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1,
			  EB_TEXT, 4);
		eb_symtab(&b, &symbols, SHT_SYMTAB);
		struct nw_buf file = eb_finish(&b);
		uint32_t crc = checksum(&file);
		eb_write_bytes(dir, "debug", file.data, file.len);
		nw_buf_free(&file);
		memcpy(link + 8, &crc, 4);
		eb_program(&b, EM_X86_64, true, false);
		eb_section(&b, ".gnu_debuglink", SHT_PROGBITS, 0, link, 12);
		eb_write(&b, dir, "program");
		nw_cleanup(nw_free_ptr) char *path = nw_text("%s/program", dir);
		ck_assert_msg(nw_image_open(path, false, &image, &err) == 0, "%s",
			      err.what);
		ck_assert_int_eq(nw_image_symbol(image, "main", 4, 0, &symbol),
				 cases[i].found ? 0 : -ENOENT);
		nw_image_free(image);
	}
}
END_TEST

/* The program itself stands where its build ID leads to. */
static int open_itself(void *arg, enum nw_debug_place place, const char *name)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text(
		"%s/%s", (const char *)arg, place == NW_DEBUG_BUILD_ID ? "program" : name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

START_TEST(a_program_is_not_its_own_debug_file)
{
	char dir[64], link[16] = "debug\0\0\0";
	const struct nw_debug_files files = {open_itself, dir};
	struct nw_error err = {0};
	struct nw_image *image;
	struct nw_symbol symbol;
	struct eb_symbols symbols = {0};
	struct eb b;

	eb_dir(dir);
	eb_program(&b, EM_X86_64, true, false);
	eb_symbol(&b, &symbols, "main", ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, EB_TEXT, 4);
	eb_symtab(&b, &symbols, SHT_SYMTAB);
	struct nw_buf file = eb_finish(&b);
	uint32_t crc = checksum(&file);
	eb_write_bytes(dir, "debug", file.data, file.len);
	nw_buf_free(&file);
	memcpy(link + 8, &crc, 4);
	eb_program(&b, EM_X86_64, true, false);
	eb_build_id(&b, "12345678901234567890", 20);
	eb_section(&b, ".gnu_debuglink", SHT_PROGBITS, 0, link, 12);
	eb_write(&b, dir, "program");
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/program", dir);
	ck_assert_int_eq(nw_image_open(path, false, &image, &err), 0);
	image->debug_files = &files;
	ck_assert_int_eq(nw_image_symbol(image, "main", 4, 0, &symbol), 0);
	nw_image_free(image);
}
END_TEST

/* Opening a device can have effects: what a link's name leads to is looked at first. */
START_TEST(only_files_are_opened)
{
	static const char *const places[] = {"debug", ".debug/debug"};

	for (size_t i = 0; i < NW_COUNT(places); i++) {
		char dir[64], event[4096];
		eb_dir(dir);
		nw_cleanup(nw_free_ptr) char *fifo = nw_text("%s/fifo", dir);
		nw_cleanup(nw_free_ptr) char *hidden = nw_text("%s/.debug", dir);
		nw_cleanup(nw_free_ptr) char *place = nw_text("%s/%s", dir, places[i]);
		nw_cleanup(nw_free_ptr) char *path = nw_text("%s/program", dir);
		struct nw_symbol symbol;
		struct nw_image *image;
		struct nw_error err = {0};
		struct eb b;
		ck_assert_int_eq(mkfifo(fifo, 0600), 0);
		ck_assert_int_eq(mkdir(hidden, 0700), 0);
		ck_assert_int_eq(symlink(fifo, place), 0);
		int watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		ck_assert_int_ge(inotify_add_watch(watcher, fifo, IN_OPEN), 0);
		eb_program(&b, EM_X86_64, true, false);
		eb_section(&b, ".gnu_debuglink", SHT_PROGBITS, 0, "debug\0\0\0abcd", 12);
		eb_write(&b, dir, "program");
		ck_assert_int_eq(nw_image_open(path, false, &image, &err), 0);
		ck_assert_int_eq(nw_image_symbol(image, "main", 4, 0, &symbol), -ENOENT);
		ck_assert_int_lt(read(watcher, event, sizeof(event)), 0);
		close(watcher);
		nw_image_free(image);
	}
}
END_TEST

UNIT_MAIN("debug files", hostile_links_lead_nowhere, a_debug_file_must_be_a_sibling,
	  a_program_is_not_its_own_debug_file, only_files_are_opened)
