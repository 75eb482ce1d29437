// SPDX-License-Identifier: MIT
/* ELF files made for the purpose: where sites and semaphores are found, and why not. */
#include <sys/stat.h>

#include "elf_image.h"
#include "find/arch/arch.h"

/* ---- what a file is ----------------------------------------------------------------- */

START_TEST(sites_are_found_in_every_class_and_byte_order)
{
	static const struct {
		uint16_t machine;
		bool elf64, big_endian;
		const char *arch;
	} cases[] = {
		{EM_X86_64, true, false, "x86_64"},  {EM_X86_64, false, false, "x32"},
		{EM_386, false, false, "i386"},	     {EM_AARCH64, true, false, "aarch64"},
		{EM_AARCH64, true, true, "aarch64"}, {EM_ARM, false, false, "arm"},
		{EM_ARM, false, true, "arm"},	     {EM_PPC64, true, false, "ppc64le"},
		{EM_PPC64, true, true, "ppc64"},     {EM_PPC, false, true, "ppc"},
		{EM_S390, true, true, "s390x"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct eb b;
		eb_program(&b, cases[i].machine, cases[i].elf64, cases[i].big_endian);
		eb_note(&b, EB_TEXT + 0x10, 0, EB_DATA + 8, "prov", "name", "4@5");
		eb_note(&b, EB_TEXT + 0x20, 0, 0, "prov", "other", "");
		eb_notes(&b);
		struct nw_image *image = open_image(&b, false);
		ck_assert_str_eq(image->arch->name, cases[i].arch);
		ck_assert_uint_eq(image->machine, cases[i].machine);
		ck_assert_int_eq(image->elf64, cases[i].elf64);
		ck_assert_int_eq(image->big_endian, cases[i].big_endian);
		ck_assert(!image->executable && !image->go);
		ck_assert_int_eq(image->notes, NW_NOTES_FOUND);
		ck_assert_uint_eq(image->skipped.count, 0);
		ck_assert_uint_eq(image->sites.count, 2);
		const struct nw_site *site = &image->sites.item[0];
		ck_assert_str_eq(site->provider, "prov");
		ck_assert_str_eq(site->name, "name");
		ck_assert_str_eq(site->args, "4@5");
		ck_assert_uint_eq(site->vaddr, 0x401010);
		ck_assert_uint_eq(site->offset, 0x210);
		ck_assert_uint_eq(site->semaphore_vaddr, 0x604048);
		ck_assert_uint_eq(site->semaphore_offset, 0x308);
		ck_assert_int_eq(site->nop, NW_NOP_1);
		ck_assert_ptr_null(site->warning);
		ck_assert_str_eq(site[1].name, "other");
		ck_assert_str_eq(site[1].args, "");
		ck_assert_uint_eq(site[1].offset, 0x220);
		ck_assert_uint_eq(site[1].semaphore_vaddr, 0);
		ck_assert_uint_eq(site[1].semaphore_offset, 0);
		nw_image_free(image);
	}
}
END_TEST

START_TEST(an_image_knows_its_file_and_segments)
{
	struct nw_image *image = NULL;
	struct stat st;
	struct eb b;

	x86_program(&b);
	b.type = ET_EXEC;
	eb_section(&b, ".go.buildinfo", SHT_PROGBITS, 0, "x", 1);
	int fd = eb_memfd(&b);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(nw_image_open_fd(fd, "/some/path", false, &image, NULL), 0);
	ck_assert_str_eq(image->path, "/some/path");
	ck_assert_int_eq(image->fd, fd);
	ck_assert_uint_eq(image->dev, st.st_dev);
	ck_assert_uint_eq(image->ino, st.st_ino);
	ck_assert_uint_eq(image->size, (uint64_t)st.st_size);
	ck_assert_int_eq(image->mtime, st.st_mtim.tv_sec);
	ck_assert(image->executable && image->go);
	ck_assert_uint_eq(image->segments.count, 2);
	const struct nw_segment *text = &image->segments.item[0], *data = text + 1;
	ck_assert_uint_eq(text->vaddr, 0x401000);
	ck_assert_uint_eq(text->offset, 0x200);
	ck_assert_uint_eq(text->filesz, 0x100);
	ck_assert_uint_eq(text->memsz, 0x100);
	ck_assert(text->exec && !text->write);
	ck_assert_uint_eq(data->vaddr, 0x604040);
	ck_assert_uint_eq(data->offset, 0x300);
	ck_assert_uint_eq(data->filesz, 0x40);
	ck_assert_uint_eq(data->memsz, 0x80);
	ck_assert(!data->exec && data->write);
	nw_image_free(image);
}
END_TEST

START_TEST(a_build_id_is_hexadecimal)
{
	static const struct {
		size_t len, shown;
	} cases[] = {{1, 1}, {20, 20}, {64, 64}, {100, 64}};
	char id[100], want[256];

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct eb b;
		for (size_t j = 0; j < sizeof(id); j++)
			id[j] = (char)(0xa0 + j);
		want[0] = '\0';
		for (size_t j = 0; j < cases[i].shown; j++)
			snprintf(want + 2 * j, 3, "%02x", (unsigned char)id[j]);
		x86_program(&b);
		eb_build_id(&b, id, cases[i].len);
		struct nw_image *image = open_image(&b, false);
		ck_assert_str_eq(image->build_id, want);
		nw_image_free(image);
	}
}
END_TEST

START_TEST(a_machine_that_uprobes_do_not_know_still_has_sites)
{
	struct eb b;

	eb_program(&b, EM_SPARCV9, true, true);
	eb_note(&b, EB_TEXT + EB_NOT_NOP, 0, 0, "p", "n", "8@%o0");
	eb_notes(&b);
	struct nw_image *image = open_image(&b, false);
	ck_assert_ptr_null(image->arch);
	ck_assert_uint_eq(image->machine, EM_SPARCV9);
	ck_assert_uint_eq(image->sites.count, 1);
	ck_assert_int_eq(image->sites.item[0].nop, NW_NOP_NONE);
	nw_image_free(image);
}
END_TEST

START_TEST(nops_are_told_apart)
{
	static const struct {
		const char *code;
		size_t len;
		enum nw_nop nop;
	} cases[] = {
		{"\x90", 1, NW_NOP_1},
		{"\x90\x90", 2, NW_NOP_1},
		{"\x66\x90", 2, NW_NOP_LONG},
		{"\x0f\x1f\x00", 3, NW_NOP_LONG},
		{"\x0f\x1f\x40\x00", 4, NW_NOP_LONG},
		{"\x0f\x1f\x44\x00\x00", 5, NW_NOP_5},
		{"\x66\x0f\x1f\x44\x00\x00", 6, NW_NOP_LONG},
		{"\x0f\x1f\x80\x00\x00\x00\x00", 7, NW_NOP_LONG},
		{"\x0f\x1f\x84\x00\x00\x00\x00\x00", 8, NW_NOP_LONG},
		{"\x66\x0f\x1f\x84\x00\x00\x00\x00\x00", 9, NW_NOP_LONG},
		{"\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, NW_NOP_10},
		{"\x66\x66\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 13, NW_NOP_10},
		{"\x0f\x1f\x05\x00\x00\x00\x00", 7, NW_NOP_LONG},     /* disp32(%rip) */
		{"\x0f\x1f\x04\x25\x00\x00\x00\x00", 8, NW_NOP_LONG}, /* disp32 */
		{"\x0f\x1f\xc0", 3, NW_NOP_LONG},		      /* nop %eax */
		{"\xcc", 1, NW_NOP_TRAP},
		{"", 0, NW_NOP_NONE},
		{"\x0f", 1, NW_NOP_NONE},
		{"\x0f\x1f", 2, NW_NOP_NONE},
		{"\x0f\x1f\x44\x00", 4, NW_NOP_NONE}, /* cut off */
		{"\x66", 1, NW_NOP_NONE},
		{"\x0f\x1f\x48\x00", 4, NW_NOP_NONE}, /* another instruction of the group */
		{"\x0f\x1e\xfa", 3, NW_NOP_NONE},
		{"\xf3\x90", 2, NW_NOP_NONE}, /* pause */
		{"\x55", 1, NW_NOP_NONE},
		{"\x90\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00\xc3", 12, NW_NOP_PAIR},
		{"\x90\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 11, NW_NOP_PAIR},
		{"\x90\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00", 10, NW_NOP_1}, /* cut off */
		{"\x90\x0f\x1f\x44\x00\x00\x00\x00\x00\x00\x00\x00", 12, NW_NOP_1},
		{"\x90\x2e\x66\x0f\x1f\x84\x00\x00\x00\x00\x00", 11, NW_NOP_1},
		{"\xe8\x00\x00\x00\x00", 5, NW_NOP_NONE},
	};
	static const char *const names[] = {NULL,    "nop",	  "long nop", "nop5",
					    "nop10", "nop,nop10", "trap"};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		ck_assert_msg(nw_nop_at(nw_arch_by_name("x86_64"),
					(const unsigned char *)cases[i].code,
					cases[i].len) == cases[i].nop,
			      "case %zu", i);
	for (size_t i = 0; i < NW_COUNT(names); i++)
		ck_assert_pstr_eq(nw_nop_name((enum nw_nop)i), names[i]);
	/* a program of 32 bits has no such call */
	ck_assert_int_eq(
		nw_nop_at(nw_arch_by_name("i386"),
			  (const unsigned char *)"\x90\x66\x2e\x0f\x1f\x84\0\0\0\0\0", 11),
		NW_NOP_1);
	ck_assert_int_eq(nw_nop_at(nw_arch_by_name("aarch64"),
				   (const unsigned char *)"\x1f\x20\x03", 3),
			 NW_NOP_NONE);
	/* a Thumb nop: arm's kernel cannot probe it */
	ck_assert_int_eq(nw_nop_at(nw_arch_by_name("arm"),
				   (const unsigned char *)"\x00\xbf\x00\xbf", 4),
			 NW_NOP_NONE);
	ck_assert_int_eq(
		nw_nop_at(nw_arch_by_name("riscv64"), (const unsigned char *)"\x01\x00", 2),
		NW_NOP_1);
}
END_TEST

/* ---- addresses ---------------------------------------------------------------------- */

START_TEST(notes_move_with_stapsdt_base)
{
	static const struct {
		uint64_t base, pc, semaphore; /* in the note */
		uint64_t section;	      /* address of .stapsdt.base, 0: none */
		uint64_t vaddr, semaphore_vaddr;
	} cases[] = {
		{EB_BASE, EB_TEXT + 4, EB_DATA, EB_BASE, EB_TEXT + 4, EB_DATA},
		/* prelinked: everything lies 0x1000 higher than the note says */
		{EB_BASE - 0x1000, EB_TEXT - 0xffc, EB_DATA - 0x1000, EB_BASE, EB_TEXT + 4,
		 EB_DATA},
		/* lower */
		{EB_BASE + 0x10, EB_TEXT + 0x14, EB_DATA + 0x12, EB_BASE, EB_TEXT + 4,
		 EB_DATA + 2},
		/* no semaphore stays none */
		{EB_BASE - 0x1000, EB_TEXT - 0xffc, 0, EB_BASE, EB_TEXT + 4, 0},
		/* the note has no base, or the file has no section: nothing moves */
		{0, EB_TEXT + 4, EB_DATA, EB_BASE, EB_TEXT + 4, EB_DATA},
		{EB_BASE - 0x1000, EB_TEXT + 4, EB_DATA, 0, EB_TEXT + 4, EB_DATA},
	};

	for (size_t i = 0; i < NW_COUNT(cases) * 2; i++) {
		size_t n = i / 2;
		struct eb b;
		x86_program(&b);
		if (cases[n].section && i % 2) /* before and behind the notes */
			eb_base(&b, cases[n].section);
		eb_note(&b, cases[n].pc, cases[n].base, cases[n].semaphore, "p", "n", "");
		eb_notes(&b);
		if (cases[n].section && i % 2 == 0)
			eb_base(&b, cases[n].section);
		struct nw_image *image = open_image(&b, false);
		ck_assert_msg(image->sites.count == 1, "case %zu: %s", n,
			      image->skipped.count ? image->skipped.item[0].why : "");
		ck_assert_uint_eq(image->sites.item[0].vaddr, cases[n].vaddr);
		ck_assert_uint_eq(image->sites.item[0].semaphore_vaddr,
				  cases[n].semaphore_vaddr);
		nw_image_free(image);
	}
}
END_TEST

static const char bss[] =
	"its semaphore lies past the file's data (.bss), where the kernel cannot count";
static const char unwritable[] = "its semaphore's address is in no writable segment";

START_TEST(semaphores_are_found_through_their_own_segment)
{
	static const struct {
		uint64_t semaphore, offset;
		const char *warning;
	} cases[] = {
		{EB_DATA, EB_DATA_AT, NULL},
		{EB_DATA + EB_DATA_SIZE - 2, EB_DATA_AT + EB_DATA_SIZE - 2, NULL},
		{EB_DATA + EB_DATA_SIZE - 1, EB_DATA_AT + EB_DATA_SIZE - 1, bss},
		{EB_DATA + EB_DATA_SIZE, EB_DATA_AT + EB_DATA_SIZE, bss},
		{EB_DATA + EB_DATA_MEMORY - 1, EB_DATA_AT + EB_DATA_MEMORY - 1, bss},
		{EB_DATA + EB_DATA_MEMORY, 0, unwritable},
		{EB_DATA - 1, 0, unwritable},
		{EB_TEXT + 8, 0, unwritable},
		{8, 0, unwritable},
		{UINT64_MAX, 0, unwritable},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct eb b;
		x86_program(&b);
		eb_note(&b, EB_TEXT, 0, cases[i].semaphore, "p", "n", "");
		eb_notes(&b);
		struct nw_image *image = open_image(&b, false);
		ck_assert_uint_eq(image->sites.count, 1);
		const struct nw_site *site = &image->sites.item[0];
		ck_assert_uint_eq(site->semaphore_vaddr, cases[i].semaphore);
		ck_assert_uint_eq(site->semaphore_offset, cases[i].offset);
		ck_assert_pstr_eq(site->warning, cases[i].warning);
		nw_image_free(image);
	}
}
END_TEST

/* Data that the program header says is there, in a file that ends before it. */
START_TEST(a_semaphore_behind_the_end_of_the_file_is_told)
{
	static const struct {
		uint64_t data_at, offset;
	} cases[] = {{1 << 20, (1 << 20) + 8}, {UINT64_MAX - 3, 0}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct eb b;
		x86_program(&b);
		b.loads.item[1].offset = cases[i].data_at;
		eb_note(&b, EB_TEXT, 0, EB_DATA + 8, "p", "n", "");
		eb_notes(&b);
		struct nw_image *image = open_image(&b, false);
		ck_assert_uint_eq(image->sites.count, 1);
		ck_assert_uint_eq(image->sites.item[0].semaphore_offset, cases[i].offset);
		ck_assert_pstr_eq(image->sites.item[0].warning,
				  "its semaphore lies past the end of the file");
		nw_image_free(image);
	}
}
END_TEST

START_TEST(offsets_go_through_the_segment_that_holds_the_address)
{
	static const struct {
		uint64_t vaddr;
		int64_t any, exec;
	} cases[] = {
		{EB_TEXT, EB_TEXT_AT, EB_TEXT_AT},
		{EB_TEXT + EB_TEXT_SIZE - 1, 0x2ff, 0x2ff},
		{EB_TEXT + EB_TEXT_SIZE, -1, -1},
		{EB_TEXT - 1, -1, -1},
		{EB_DATA, EB_DATA_AT, -1},
		{EB_DATA + EB_DATA_SIZE - 1, 0x33f, -1},
		{EB_DATA + EB_DATA_SIZE, -1, -1}, /* .bss is not in the file */
		{0, -1, -1},
		{UINT64_MAX, -1, -1},
		/* segments that lie: past the file, around the end of the numbers */
		{0x900000, -1, -1},
		{0xa00000, -1, -1},
		{0xa00010, -1, -1},
		{0xfffffffffffffff8, -1, -1},
	};
	struct eb b;

	x86_program(&b);
	eb_load(&b, PF_R | PF_X, 0x900000, "", 1, 1);
	eb_load(&b, PF_R | PF_X, 0xa00000, "", 1, 1);
	eb_load(&b, PF_R | PF_X, 0xfffffffffffffff8, "", 1, 1);
	b.loads.item[2].offset = 0x100000;
	b.loads.item[3].offset = UINT64_MAX - 8;
	b.loads.item[3].filesz = 0x1000;
	b.loads.item[4].offset = 0x7fffffffffffffff;
	b.loads.item[4].filesz = UINT64_MAX;
	struct nw_image *image = open_image(&b, false);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		ck_assert_msg(nw_image_offset(image, cases[i].vaddr, false) == cases[i].any,
			      "0x%lx", cases[i].vaddr);
		ck_assert_msg(nw_image_offset(image, cases[i].vaddr, true) == cases[i].exec,
			      "0x%lx", cases[i].vaddr);
	}
	ck_assert_int_eq(nw_image_nop(image, 0x200), NW_NOP_1);
	ck_assert_int_eq(nw_image_nop(image, 0x200 + EB_TRAP), NW_NOP_TRAP);
	ck_assert_int_eq(nw_image_nop(image, 0x200 + EB_NOT_NOP), NW_NOP_NONE);
	ck_assert_int_eq(nw_image_nop(image, image->size), NW_NOP_NONE);
	nw_image_free(image);
}
END_TEST

UNIT_MAIN("image", sites_are_found_in_every_class_and_byte_order,
	  an_image_knows_its_file_and_segments, a_build_id_is_hexadecimal,
	  a_machine_that_uprobes_do_not_know_still_has_sites, nops_are_told_apart,
	  notes_move_with_stapsdt_base, semaphores_are_found_through_their_own_segment,
	  a_semaphore_behind_the_end_of_the_file_is_told,
	  offsets_go_through_the_segment_that_holds_the_address)
