// SPDX-License-Identifier: MIT
/* dwarf: lines of a program whose sections do not end where they should. */
#include <sys/mman.h>

#include "dwarf_builder.h"
#include "elf_files.h"
#include "find/dwarf/sections.h"

static const unsigned int versions[] = {2, 3, 4, 5};

/* Bytes with nothing behind them: who reads on dies. */
static uint8_t *at_the_edge(const void *bytes, size_t size)
{
	const size_t pages = (size + 4095) / 4096 * 4096;
	uint8_t *room = mmap(NULL, pages + 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(room, MAP_FAILED);
	ck_assert_int_eq(mprotect(room + pages, 4096, PROT_NONE), 0);
	return memcpy(room + pages - size, bytes, size);
}

static void leave_edge(uint8_t *bytes, size_t size)
{
	const size_t pages = (size + 4095) / 4096 * 4096;

	munmap(bytes + size - pages, pages + 4096);
}

static bool is_sound(const struct nw_buf *line, bool big_endian)
{
	uint8_t *bytes = at_the_edge(line->data, line->len);
	bool sound = nw_line_table_is_sound((struct nw_section_bytes){bytes, line->len}, 0,
					    big_endian);

	leave_edge(bytes, line->len);
	return sound;
}

static void make(struct eb *b, unsigned int version, bool big_endian, struct eb_dwarf *out)
{
	eb_program(b, big_endian ? EM_S390 : EM_X86_64, true, big_endian);
	eb_dwarf_make(b, version, out);
}

static void drop(struct eb *b, struct eb_dwarf *dwarf)
{
	eb_dwarf_sections(b, dwarf);
	struct nw_buf file = eb_finish(b);
	nw_buf_free(&file);
}

START_TEST(what_compilers_write_is_sound)
{
	for (size_t i = 0; i < NW_COUNT(versions); i++)
		for (int big_endian = 0; big_endian < 2; big_endian++) {
			struct eb_dwarf dwarf;
			struct eb b;
			make(&b, versions[i], big_endian, &dwarf);
			ck_assert(is_sound(&dwarf.line, big_endian));
			drop(&b, &dwarf);
		}
}
END_TEST

static void put_length(const struct eb *b, struct nw_buf *line, size_t at, size_t length)
{
	struct nw_buf bytes = {0};

	eb_put(b, &bytes, length, 4);
	memcpy(line->data + at, bytes.data, 4);
	nw_buf_free(&bytes);
}

/* Cut off at every byte, whatever its length says; nothing behind the header is looked at. */
START_TEST(a_table_that_is_cut_off_is_not_sound)
{
	for (size_t i = 0; i < NW_COUNT(versions); i++) {
		const size_t length_at = versions[i] >= 5 ? 8 : 6;
		struct eb_dwarf dwarf;
		struct eb b;
		make(&b, versions[i], false, &dwarf);
		const size_t whole = dwarf.line.len;
		const size_t header = length_at + 4 + (uint8_t)dwarf.line.data[length_at];
		for (dwarf.line.len = 1; dwarf.line.len < whole; dwarf.line.len++)
			ck_assert(!is_sound(&dwarf.line, false));
		for (dwarf.line.len = header; dwarf.line.len > 4;) {
			put_length(&b, &dwarf.line, 0, dwarf.line.len - 4);
			ck_assert_int_eq(is_sound(&dwarf.line, false),
					 dwarf.line.len == header);
			if (--dwarf.line.len > length_at + 4)
				put_length(&b, &dwarf.line, length_at,
					   dwarf.line.len - length_at - 4);
		}
		drop(&b, &dwarf);
	}
}
END_TEST

/* Every byte of it, changed to anything: no answer reads behind it. */
START_TEST(whatever_it_holds_nothing_behind_it_is_read)
{
	for (size_t i = 0; i < NW_COUNT(versions); i++) {
		struct eb_dwarf dwarf;
		struct eb b;
		make(&b, versions[i], false, &dwarf);
		const size_t len = dwarf.line.len;
		uint8_t *bytes = at_the_edge(dwarf.line.data, len);
		for (size_t at = 0; at < len; at++) {
			const uint8_t kept = bytes[at];
			for (unsigned int value = 0; value < 256; value++) {
				bytes[at] = (uint8_t)value;
				for (size_t from = 0; from < len; from++)
					nw_line_table_is_sound(
						(struct nw_section_bytes){bytes, len}, from,
						false);
			}
			bytes[at] = kept;
		}
		leave_edge(bytes, len);
		drop(&b, &dwarf);
	}
}
END_TEST

/* The table of DWARF 5 with this in place of the form of its directories. */
static bool is_sound_with_form(char form)
{
	struct eb_dwarf dwarf;
	struct eb b;

	make(&b, 5, false, &dwarf);
	char *at = memchr(dwarf.line.data, 0x1f, dwarf.line.len);
	ck_assert_ptr_nonnull(at);
	*at = form;
	bool sound = is_sound(&dwarf.line, false);
	drop(&b, &dwarf);
	return sound;
}

START_TEST(strings_of_other_files_are_refused)
{
	ck_assert(is_sound_with_form(0x1f));  /* DW_FORM_line_strp */
	ck_assert(is_sound_with_form(0x0e));  /* DW_FORM_strp, as long */
	ck_assert(!is_sound_with_form(0x1d)); /* DW_FORM_strp_sup */
	ck_assert(!is_sound_with_form(0x28)); /* DW_FORM_strx4 */
}
END_TEST

START_TEST(an_offset_behind_the_section_is_refused)
{
	static const uint8_t bytes[8];
	const struct nw_section_bytes section = {bytes, sizeof(bytes)};

	ck_assert(!nw_line_table_is_sound(section, 8, false));
	ck_assert(!nw_line_table_is_sound(section, 9, false));
	ck_assert(!nw_line_table_is_sound(section, UINT64_MAX, false));
	ck_assert(!nw_line_table_is_sound((struct nw_section_bytes){0}, 0, false));
}
END_TEST

/* ---- the same, asked as stacks ask ---------------------------------------------------- */

enum damage {
	NONE,
	LINE_STR_OPEN,
	STR_OPEN,
	LINE_CUT,
	TWO_OF_A_KIND,
	INFO_ENDS_IN_A_NAME
};

static void damage_it(struct eb *b, struct eb_dwarf *dwarf, enum damage damage)
{
	switch (damage) {
	case LINE_STR_OPEN:
		dwarf->line_str.len--;
		break;
	case STR_OPEN:
		dwarf->str.len--;
		break;
	case LINE_CUT:
		dwarf->line.len -= 2;
		break;
	case TWO_OF_A_KIND:
		eb_section(b, ".debug_line_str", SHT_PROGBITS, 0, "x", 1);
		break;
	case INFO_ENDS_IN_A_NAME: /* without its NUL, and what ends the unit */
		dwarf->info.len -= 2;
		put_length(b, &dwarf->info, 0, dwarf->info.len - 4);
		break;
	default:
		break;
	}
}

/* What is told of the inlined function's first instruction: functions and files. */
static void told(unsigned int version, enum damage damage, struct nw_buf *out)
{
	struct nw_source_lines lines = {.count = 0};
	struct nw_lines *dwarf_lines = NULL;
	struct nw_image *image = NULL;
	struct nw_error err = {0};
	struct eb_dwarf dwarf;
	struct eb b;

	make(&b, version, false, &dwarf);
	damage_it(&b, &dwarf, damage);
	eb_dwarf_sections(&b, &dwarf);
	int ret = nw_image_open_fd(eb_memfd(&b), "file", false, &image, &err);
	ck_assert_msg(ret == 0, "%s", err.what);
	if (nw_lines_open(image, &dwarf_lines) == 0)
		nw_lines_at(dwarf_lines, EB_INLINED, &lines);
	for (size_t i = 0; i < lines.count; i++)
		nw_buf_printf(out, "%s %s:%u, ", lines.inlined[i].function,
			      lines.inlined[i].line.file ? lines.inlined[i].line.file : "?",
			      lines.inlined[i].line.line);
	nw_buf_printf(out, "%s:%u", lines.line.file ? lines.line.file : "?",
		      lines.line.line);
	nw_lines_free(dwarf_lines);
	nw_image_free(image);
}

static void check_told(unsigned int version, enum damage damage, const char *wanted)
{
	struct nw_buf out = {0};

#ifndef NW_HAVE_LIBDW
	wanted = "?:0";
#endif
	told(version, damage, &out);
	ck_assert_str_eq(nw_buf_str(&out), wanted);
	nw_buf_free(&out);
}

START_TEST(lines_are_as_they_were_written)
{
	for (size_t i = 0; i < NW_COUNT(versions); i++)
		check_told(versions[i], NONE, "inner headers/b.h:20, /directory/a.c:30");
}
END_TEST

/* libdw would read on until it meets a 0. */
START_TEST(strings_without_an_end_are_not_told)
{
	for (size_t i = 0; i < NW_COUNT(versions); i++)
		check_told(versions[i], STR_OPEN, "?:0");
	check_told(5, LINE_STR_OPEN, "?:0");
	check_told(4, INFO_ENDS_IN_A_NAME, "/directory/a.c:30");
}
END_TEST

START_TEST(a_table_that_is_cut_off_costs_its_lines)
{
	for (size_t i = 0; i < NW_COUNT(versions); i++)
		check_told(versions[i], LINE_CUT, "inner ?:0, ?:0");
}
END_TEST

START_TEST(of_two_sections_nobody_knows_which_is_meant)
{
	check_told(5, TWO_OF_A_KIND, "?:0");
}
END_TEST

UNIT_MAIN("line_table", what_compilers_write_is_sound, a_table_that_is_cut_off_is_not_sound,
	  whatever_it_holds_nothing_behind_it_is_read, strings_of_other_files_are_refused,
	  an_offset_behind_the_section_is_refused, lines_are_as_they_were_written,
	  strings_without_an_end_are_not_told, a_table_that_is_cut_off_costs_its_lines,
	  of_two_sections_nobody_knows_which_is_meant)
