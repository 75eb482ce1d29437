// SPDX-License-Identifier: MIT
/* Notes that cannot be used: each is named with its reason, and costs no other. */
#include <errno.h>

#include "elf_image.h"

/* ---- sites that cannot be ----------------------------------------------------------- */

static const char no_nop[] =
	"there is no nop at 0x401080: the note does not belong to this code "
	"(the linker lost its .stapsdt.base)";
static const char trap[] =
	"there is a breakpoint at 0x401090: the note does not belong to this code "
	"(the linker lost its .stapsdt.base)";
static const char dropped[] = "its address is 0: the linker dropped the code it stood in";

static const struct {
	uint64_t pc;
	const char *why;
	enum nw_nop forced; /* what --force finds there, if that keeps it */
	bool keeps;
} bad_sites[] = {
	{0, dropped, NW_NOP_NONE, false},
	{0x77, "address 0x77 is in no executable segment", NW_NOP_NONE, false},
	{EB_DATA, "address 0x604040 is in no executable segment", NW_NOP_NONE, false},
	{EB_TEXT + EB_TEXT_SIZE, "address 0x401100 is in no executable segment",
	 NW_NOP_NONE, false},
	{UINT64_MAX, "address 0xffffffffffffffff is in no executable segment", NW_NOP_NONE,
	 false},
	{EB_TEXT + EB_NOT_NOP, no_nop, NW_NOP_NONE, true},
	{EB_TEXT + EB_TRAP, trap, NW_NOP_TRAP, true},
};

START_TEST(a_site_that_cannot_be_is_left_out_with_its_reason)
{
	for (size_t i = 0; i < NW_COUNT(bad_sites); i++) {
		struct eb b;
		x86_program(&b);
		eb_note(&b, EB_TEXT, 0, 0, "first", "one", "");
		eb_note(&b, bad_sites[i].pc, 0, EB_DATA, "bad", "site", "8@%rdi");
		eb_note(&b, EB_TEXT + 1, 0, 0, "last", "one", "");
		eb_notes(&b);
		struct nw_image *image = open_image(&b, false);
		ck_assert_int_eq(image->notes, NW_NOTES_FOUND);
		ck_assert_uint_eq(image->sites.count, 2);
		ck_assert_str_eq(image->sites.item[0].provider, "first");
		ck_assert_str_eq(image->sites.item[1].provider, "last");
		ck_assert_uint_eq(image->skipped.count, 1);
		ck_assert_str_eq(image->skipped.item[0].provider, "bad");
		ck_assert_str_eq(image->skipped.item[0].name, "site");
		ck_assert_uint_eq(image->skipped.item[0].vaddr, bad_sites[i].pc);
		ck_assert_str_eq(image->skipped.item[0].why, bad_sites[i].why);
		nw_image_free(image);
	}
}
END_TEST

/* The reason why a note of x86 at the first byte that is no nop is left out. */
static void check_lost(uint64_t note_base, bool section, const char *why)
{
	struct eb b;

	x86_program(&b);
	if (section)
		eb_base(&b, EB_BASE);
	eb_note(&b, EB_TEXT + EB_NOT_NOP, note_base, 0, "p", "n", "");
	eb_notes(&b);
	struct nw_image *image = open_image(&b, false);
	ck_assert_uint_eq(image->sites.count, 0);
	ck_assert_uint_eq(image->skipped.count, 1);
	ck_assert_str_eq(image->skipped.item[0].why, why);
	nw_image_free(image);
}

START_TEST(a_lost_base_is_named_as_such)
{
	check_lost(0, true, no_nop);
	check_lost(0, false, no_nop);
	check_lost(EB_BASE, false,
		   "there is no nop at 0x401080: the note does not belong to this code "
		   "(the file's .stapsdt.base is gone)");
	check_lost(EB_BASE, true,
		   "there is no nop at 0x401080: the note does not belong to this code");
}
END_TEST

START_TEST(thumb_code_is_named_as_such)
{
	static const char *const nops[] = {"\x00\xbf\x00\xbf", "\xaf\xf3\x00\x80",
					   "\xc0\x46\xc0\x46"};

	for (size_t i = 0; i < NW_COUNT(nops); i++) {
		struct eb b;
		eb_init(&b, EM_ARM, false, false);
		eb_load(&b, PF_R | PF_X, EB_TEXT, (const unsigned char *)nops[i], 4, 4);
		eb_note(&b, EB_TEXT, 0, 0, "p", "n", "");
		eb_notes(&b);
		struct nw_image *image = open_image(&b, false);
		ck_assert_uint_eq(image->sites.count, 0);
		ck_assert_str_eq(image->skipped.item[0].why,
				 "at 0x401000 there is Thumb code, in which kernels cannot "
				 "place uprobes (gcc -marm makes ARM code)");
		ck_assert(image->skipped.item[0].barred);
		nw_image_free(image);
	}
}
END_TEST

START_TEST(force_keeps_what_is_no_nop_and_nothing_else)
{
	struct nw_image *image;
	size_t kept = 0, skipped = 0;
	struct eb b;

	x86_program(&b);
	for (size_t i = 0; i < NW_COUNT(bad_sites); i++)
		eb_note(&b, bad_sites[i].pc, 0, 0, "p", "n", "");
	eb_notes(&b);
	image = open_image(&b, true);
	ck_assert_uint_eq(image->sites.count, 2);
	ck_assert_uint_eq(image->skipped.count, NW_COUNT(bad_sites) - 2);
	for (size_t i = 0; i < NW_COUNT(bad_sites); i++) {
		if (bad_sites[i].keeps) {
			const struct nw_site *site = &image->sites.item[kept++];
			ck_assert_uint_eq(site->vaddr, bad_sites[i].pc);
			ck_assert_int_eq(site->nop, bad_sites[i].forced);
		} else {
			ck_assert_str_eq(image->skipped.item[skipped++].why,
					 bad_sites[i].why);
		}
	}
	nw_image_free(image);
}
END_TEST

START_TEST(an_address_of_0_is_dropped_code_in_a_prelinked_file_too)
{
	struct eb b;

	x86_program(&b);
	eb_base(&b, EB_BASE);
	/* moved like the others, it would be EB_TEXT: another's code */
	eb_note(&b, 0, EB_BASE - EB_TEXT, 0, "p", "n", "");
	eb_notes(&b);
	struct nw_image *image = open_image(&b, false);
	ck_assert_uint_eq(image->sites.count, 0);
	ck_assert_uint_eq(image->skipped.count, 1);
	ck_assert_str_eq(image->skipped.item[0].why, dropped);
	nw_image_free(image);
}
END_TEST

START_TEST(damaged_notes_are_left_out_with_their_reason)
{
	struct nw_image *image;
	struct eb b;

	x86_program(&b);
	eb_note(&b, EB_TEXT, 0, 0, "p", "one", "");
	eb_note(&b, EB_TEXT + 1, 0, 0, "", "nameless", "");
	eb_note(&b, EB_TEXT + 2, 0, 0, "p", "two", "");
	nw_buf_add(&b.notes, "\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0stapsdt", 20);
	eb_note(&b, EB_TEXT + 3, 0, 0, "p", "behind the damage", "");
	eb_notes(&b);
	eb_note(&b, EB_TEXT + 4, 0, 0, "p", "three", "");
	eb_notes(&b);
	image = open_image(&b, false);
	ck_assert_uint_eq(image->sites.count, 3);
	ck_assert_str_eq(image->sites.item[0].name, "one");
	ck_assert_str_eq(image->sites.item[1].name, "two");
	ck_assert_str_eq(image->sites.item[2].name, "three");
	ck_assert_uint_eq(image->skipped.count, 2);
	ck_assert_str_eq(image->skipped.item[0].provider, "");
	ck_assert_str_eq(image->skipped.item[0].name, "");
	ck_assert_uint_eq(image->skipped.item[0].vaddr, EB_TEXT + 1);
	ck_assert_str_eq(image->skipped.item[0].why, "it has no provider or no name");
	ck_assert_str_eq(image->skipped.item[1].name, "");
	ck_assert_uint_eq(image->skipped.item[1].vaddr, 0);
	ck_assert_str_eq(image->skipped.item[1].why,
			 "its sizes reach past the end of the section");
	nw_image_free(image);
}
END_TEST

/* ---- sections ----------------------------------------------------------------------- */

START_TEST(every_note_section_counts)
{
	char name[16];
	struct eb b;

	x86_program(&b);
	for (uint64_t i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "n%lu", i);
		eb_note(&b, EB_TEXT + i, 0, 0, "p", name, "");
		if (i % 3 == 0)
			eb_notes(&b);
		if (i % 9 == 0) /* an empty one between them */
			eb_notes(&b);
	}
	eb_notes(&b);
	struct nw_image *image = open_image(&b, false);
	ck_assert_uint_eq(image->sites.count, 50);
	for (uint64_t i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "n%lu", i);
		ck_assert_str_eq(image->sites.item[i].name, name);
		ck_assert_uint_eq(image->sites.item[i].vaddr, EB_TEXT + i);
	}
	ck_assert_uint_eq(image->skipped.count, 0);
	nw_image_free(image);
}
END_TEST

START_TEST(only_note_sections_of_that_name_count)
{
	struct eb b;

	x86_program(&b);
	eb_note(&b, EB_TEXT, 0, 0, "p", "n", "");
	eb_section(&b, ".note.stapsdt", SHT_PROGBITS, 0, b.notes.data, b.notes.len);
	eb_section(&b, ".note.stapsdt2", SHT_NOTE, 0, b.notes.data, b.notes.len);
	eb_section(&b, "note.stapsdt", SHT_NOTE, 0, b.notes.data, b.notes.len);
	struct nw_image *image = open_image(&b, false);
	ck_assert_int_eq(image->notes, NW_NOTES_NONE);
	ck_assert_uint_eq(image->sites.count + image->skipped.count, 0);
	nw_image_free(image);
}
END_TEST

/* Sections may say that they are all the same bytes: the file is not read a thousand times. */
START_TEST(note_sections_are_not_larger_than_their_file)
{
	struct eb b;

	x86_program(&b);
	for (int i = 0; i < 100; i++)
		eb_note(&b, EB_TEXT, 0, 0, "p", "n", "");
	uint32_t first = eb_notes(&b);
	for (int i = 0; i < 1000; i++) {
		uint32_t again = eb_notes(&b);
		b.sections.item[again].offset = b.sections.item[first].offset;
		b.sections.item[again].size = b.sections.item[first].size;
	}
	uint64_t size = b.sections.item[first].size;
	struct nw_image *image = open_image(&b, false);
	ck_assert_uint_gt(image->size, 16 * size);
	ck_assert_uint_eq(image->sites.count, image->size / size * 100);
	nw_image_free(image);
}
END_TEST

START_TEST(a_note_section_outside_the_file_is_passed_over)
{
	static const struct {
		uint64_t offset, size;
	} cases[] = {
		{0x100000, 0}, {UINT64_MAX, 0}, {0, 0x100000}, {0, UINT64_MAX - 0x400}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct eb b;
		x86_program(&b);
		eb_note(&b, EB_TEXT, 0, 0, "p", "bad", "");
		uint32_t bad = eb_notes(&b);
		if (cases[i].offset)
			b.sections.item[bad].offset = cases[i].offset;
		if (cases[i].size)
			b.sections.item[bad].size = cases[i].size;
		eb_note(&b, EB_TEXT, 0, 0, "p", "good", "");
		eb_notes(&b);
		struct nw_image *image = open_image(&b, false);
		ck_assert_int_eq(image->notes, NW_NOTES_FOUND);
		ck_assert_uint_eq(image->sites.count, 1);
		ck_assert_str_eq(image->sites.item[0].name, "good");
		nw_image_free(image);
	}
}
END_TEST

/* ---- no notes: why ------------------------------------------------------------------ */

static void check_explained(struct eb *b, enum nw_notes notes, const char *what,
			    const char *hint)
{
	struct nw_image *image = open_image(b, false);
	struct nw_error err = {0};

	ck_assert_int_eq(image->notes, notes);
	ck_assert_uint_eq(image->sites.count, 0);
	ck_assert_int_eq(nw_image_explain(image, &err), -ENOENT);
	ck_assert_int_eq(err.code, ENOENT);
	ck_assert(!err.usage);
	ck_assert_str_eq(err.what, what);
	ck_assert_str_eq(err.hint, hint);
	nw_image_free(image);
}

START_TEST(a_file_without_notes_is_explained)
{
	struct eb b;

	x86_program(&b);
	check_explained(&b, NW_NOTES_NONE, "no USDT notes in 'file'",
			"it was built without them (PostgreSQL: --enable-dtrace, Python: "
			"--with-dtrace, OpenJDK: --enable-dtrace), or they were stripped "
			"(llvm-strip, strip -R .note.stapsdt)");
}
END_TEST

START_TEST(a_note_section_without_such_notes_is_no_notes)
{
	struct eb b;

	x86_program(&b);
	nw_buf_add(&b.notes, "\4\0\0\0\0\0\0\0\3\0\0\0GNU", 16);
	eb_notes(&b);
	struct nw_image *image = open_image(&b, false);
	ck_assert_int_eq(image->notes, NW_NOTES_NONE);
	nw_image_free(image);
}
END_TEST

START_TEST(a_file_without_section_headers_is_explained)
{
	struct eb b;

	x86_program(&b);
	eb_note(&b, EB_TEXT, 0, 0, "p", "n", "");
	eb_notes(&b);
	b.no_sections = true;
	check_explained(
		&b, NW_NOTES_NO_SECTIONS,
		"the section headers of 'file' are gone, and its USDT notes with them",
		"use the file as it was before sstrip or a packer");
}
END_TEST

START_TEST(a_file_that_is_not_linked_is_explained)
{
	struct eb b;

	x86_program(&b);
	b.type = ET_REL;
	eb_note(&b, 0, 0, 0, "p", "n", "");
	eb_notes(&b);
	check_explained(&b, NW_NOTES_UNLINKED,
			"'file' is not linked yet: its USDT notes have no addresses",
			"use the program or library it becomes a part of");
	x86_program(&b);
	b.type = ET_REL;
	struct nw_image *image = open_image(&b, false);
	ck_assert_int_eq(image->notes, NW_NOTES_NONE); /* and without notes it has none */
	nw_image_free(image);
}
END_TEST

START_TEST(a_file_whose_notes_are_all_useless_is_explained)
{
	struct eb b;

	x86_program(&b);
	eb_note(&b, 0, 0, 0, "p", "n", "");
	eb_note(&b, 1, 0, 0, "p", "n", "");
	eb_notes(&b);
	check_explained(&b, NW_NOTES_FOUND,
			"none of the 2 USDT notes in 'file' can be used: its address is 0: "
			"the linker dropped the code it stood in",
			"");
}
END_TEST

UNIT_MAIN("notes of images", a_site_that_cannot_be_is_left_out_with_its_reason,
	  a_lost_base_is_named_as_such, thumb_code_is_named_as_such,
	  force_keeps_what_is_no_nop_and_nothing_else,
	  an_address_of_0_is_dropped_code_in_a_prelinked_file_too,
	  damaged_notes_are_left_out_with_their_reason, every_note_section_counts,
	  only_note_sections_of_that_name_count,
	  note_sections_are_not_larger_than_their_file,
	  a_note_section_outside_the_file_is_passed_over, a_file_without_notes_is_explained,
	  a_note_section_without_such_notes_is_no_notes,
	  a_file_without_section_headers_is_explained,
	  a_file_that_is_not_linked_is_explained,
	  a_file_whose_notes_are_all_useless_is_explained)
