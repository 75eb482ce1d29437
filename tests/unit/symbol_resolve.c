// SPDX-License-Identifier: MIT
/* Operands that name symbols: their addresses, their GOT slots, and why there is none. */
#include "elf_builder.h"
#include "find/probe/probe.h"

enum {
	GLOB = EB_DATA + 8,  /* int glob */
	SLOT = EB_DATA + 32, /* the GOT slot of glob */
};

static const char several[] =
	"several symbols of this name, and no way to tell which is meant";
static const char two_registers[] =
	"base + index * scale: a fetch argument cannot add two registers";
static const char elsewhere[] = "the symbol is defined in another file";
static const char local_label[] = "a local label of the compiler: it is in no symbol table";
static const char stripped[] = "the symbol is in no symbol table of this file (stripped?)";
static const char tls[] = "thread-local storage: ftrace cannot read the thread pointer";
static const char loaded[] = "an address that is only known once the program is loaded";
static const char no_slot[] =
	"the symbol has no slot in the global offset table of this file";

static void add_symbols(struct eb *b, uint32_t relocation)
{
	struct eb_symbols symbols = {0};
	int object = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	int local = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
	int function = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);

	eb_symbol(b, &symbols, "a.c", ELF64_ST_INFO(STB_LOCAL, STT_FILE), SHN_ABS, 0, 0);
	eb_symbol(b, &symbols, "count", local, 2, EB_DATA + 16, 4);
	eb_symbol(b, &symbols, "in_a", function, 1, EB_TEXT, 16);
	eb_symbol(b, &symbols, "b.c", ELF64_ST_INFO(STB_LOCAL, STT_FILE), SHN_ABS, 0, 0);
	eb_symbol(b, &symbols, "count", local, 2, EB_DATA + 20, 4);
	eb_symbol(b, &symbols, "in_b", function, 1, EB_TEXT + 16, 16);
	eb_symbol(b, &symbols, "glob", object, 2, GLOB, 4);
	eb_symbol(b, &symbols, "imported", object, SHN_UNDEF, 0, 0);
	eb_symbol(b, &symbols, "perthread", ELF64_ST_INFO(STB_GLOBAL, STT_TLS), 2, 16, 4);
	uint32_t table = eb_symtab(b, &symbols, SHT_DYNSYM);
	eb_relocation(b, table, SLOT, 7, relocation);
}

static struct nw_image *open_image(struct eb *b)
{
	struct nw_image *image = NULL;

	ck_assert_int_eq(nw_image_open_fd(eb_memfd(b), "file", false, &image, NULL), 0);
	return image;
}

static struct nw_image *x86_image(uint16_t type)
{
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	b.type = type;
	add_symbols(&b, R_X86_64_GLOB_DAT);
	return open_image(&b);
}

struct resolution {
	const char *text;
	uint64_t vaddr; /* of the site */
	bool resolved;
	uint64_t address, value;
	const char *problem;
};

static void check(struct nw_image *image, const struct resolution *want)
{
	nw_operands operands = {0};

	ck_assert_int_eq(nw_operands_parse(image->arch, want->text, &operands), 0);
	ck_assert_uint_eq(operands.count, 1);
	nw_operands_resolve(image, want->vaddr, &operands);
	const struct nw_operand *op = &operands.item[0];
	ck_assert_msg(op->resolved == want->resolved, "%s: resolved is %d", want->text,
		      op->resolved);
	if (want->resolved)
		ck_assert_msg(op->address == want->address, "%s: 0x%lx", want->text,
			      op->address);
	ck_assert_msg(op->value == want->value, "%s: value 0x%lx", want->text, op->value);
	ck_assert_pstr_eq(op->problem, want->problem);
	nw_vec_free(&operands);
}

static void check_all(struct nw_image *image, const struct resolution *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(image, &list[i]);
	nw_image_free(image);
}

START_TEST(globals_of_a_library_have_linked_addresses)
{
	static const struct resolution list[] = {
		{"4@glob(%rip)", EB_TEXT, true, GLOB, 0, NULL},
		{"4@glob+8(%rip)", EB_TEXT, true, GLOB + 8, 0, NULL},
		{"4@-8+glob(%rip)", EB_TEXT, true, GLOB - 8, 0, NULL},
		{"4@glob", EB_TEXT, true, GLOB, 0, NULL},
		{"4@count(%rip)", EB_TEXT, true, EB_DATA + 16, 0, NULL},
		{"4@count(%rip)", EB_TEXT + 31, true, EB_DATA + 20, 0, NULL},
		{"4@count(%rip)", EB_TEXT + 32, false, 0, 0, several},
		{"4@count(%rip)", 0, false, 0, 0, several},
		{"4@imported(%rip)", EB_TEXT, false, 0, 0, elsewhere},
		{"4@perthread(%rip)", EB_TEXT, false, 0, 0, tls},
		{"8f@.LC1(%rip)", EB_TEXT, false, 0, 0, local_label},
		{"8@.Lanchor(%rip)", EB_TEXT, false, 0, 0, local_label},
		{"4@.data(%rip)", EB_TEXT, false, 0, 0, stripped},
		{"4@gone(%rip)", EB_TEXT, false, 0, 0, stripped},
		{"4@glo(%rip)", EB_TEXT, false, 0, 0, stripped},
	};

	check_all(x86_image(ET_DYN), list, NW_COUNT(list));
}
END_TEST

START_TEST(addresses_in_code_are_known_only_where_they_are_final)
{
	static const struct resolution in_program[] = {
		{"8@$glob", EB_TEXT, true, GLOB, GLOB, NULL},
		{"8@$glob+4", EB_TEXT, true, GLOB + 4, GLOB + 4, NULL},
		{"4@glob(%rax)", EB_TEXT, true, GLOB, 0, NULL},
		{"4@glob-8(%rax)", EB_TEXT, true, GLOB - 8, 0, NULL},
		{"4@glob(%rip)", EB_TEXT, true, GLOB, 0, NULL},
		/* the problem is that of the index, which nw_fetch_make() knows a way around */
		{"4@glob(,%rdi,4)", EB_TEXT, true, GLOB, 0, two_registers},
		{"4@glob+8(%rdi,%rdi)", EB_TEXT, true, GLOB + 8, 0, two_registers},
		{"4@glob(%rsi,%rdi)", EB_TEXT, true, GLOB, 0, two_registers},
		{"4@gone(,%rdi,4)", EB_TEXT, false, 0, 0, stripped},
		{"4@perthread(,%rdi,4)", EB_TEXT, false, 0, 0, tls},
		{"8@$gone", EB_TEXT, false, 0, 0, stripped},
		{"8@$imported", EB_TEXT, false, 0, 0, elsewhere},
		{"8@$perthread", EB_TEXT, false, 0, 0, tls},
	};
	static const struct resolution in_library[] = {
		{"8@$glob", EB_TEXT, false, 0, 0, loaded},
		{"4@glob(%rax)", EB_TEXT, false, 0, 0, loaded},
		{"4@glob@GOTOFF(%rsi,%rdi,4)", EB_TEXT, true, GLOB, 0, two_registers},
		{"4@glob(%rsi,%rdi)", EB_TEXT, false, 0, 0, loaded},
		{"8@$gone", EB_TEXT, false, 0, 0, stripped},
	};

	check_all(x86_image(ET_EXEC), in_program, NW_COUNT(in_program));
	check_all(x86_image(ET_DYN), in_library, NW_COUNT(in_library));
}
END_TEST

START_TEST(operands_without_symbols_and_with_problems_stay_as_they_are)
{
	static const struct resolution list[] = {
		{"8@%rdi", EB_TEXT, false, 0, 0, NULL},
		{"8@8(%rsp)", EB_TEXT, false, 0, 0, NULL},
		{"8@$5", EB_TEXT, false, 0, 5, NULL},
		{"4@%fs:glob@tpoff", EB_TEXT, false, 0, 0, tls},
		{"4@glob@FOO(%rip)", EB_TEXT, false, 0, 0,
		 "a relocation operator that has no meaning here"},
		{"8@nonsense nonsense", EB_TEXT, false, 0, 0,
		 "not an operand of this architecture's grammar"},
	};

	check_all(x86_image(ET_EXEC), list, NW_COUNT(list));
}
END_TEST

START_TEST(got_slots_are_found_by_their_relocations)
{
	static const struct resolution list[] = {
		{"8@glob@GOTPCREL(%rip)", EB_TEXT, true, SLOT, 0, NULL},
		{"8@glob@GOTPCREL+8(%rip)", EB_TEXT, true, SLOT + 8, 0, NULL},
		{"8@imported@GOTPCREL(%rip)", EB_TEXT, false, 0, 0, no_slot},
		{"8@glo@GOTPCREL(%rip)", EB_TEXT, false, 0, 0, no_slot},
		{"8@globe@GOTPCREL(%rip)", EB_TEXT, false, 0, 0, no_slot},
		{"8@gone@GOTPCREL(%rip)", EB_TEXT, false, 0, 0, no_slot},
	};

	check_all(x86_image(ET_DYN), list, NW_COUNT(list));
	check_all(x86_image(ET_EXEC), list, NW_COUNT(list));
}
END_TEST

START_TEST(every_machine_has_its_own_got_relocation)
{
	static const struct {
		uint16_t machine;
		bool elf64, big_endian;
		uint32_t relocation;
		const char *text;
	} cases[] = {
		{EM_386, false, false, 6, "4@glob@GOT(%ebx)"},
		{EM_AARCH64, true, false, 1025, "8@[x0, #:got_lo12:glob]"},
		{EM_PPC, false, true, 20, "4@glob@got@l(9)"},
		{EM_PPC64, true, true, 20, "8@glob@got@l(9)"},
		{EM_PPC64, true, false, 20, "8@glob@got@l(9)"},
		{EM_X86_64, true, false, 6, "8@glob@GOTPCREL(%rip)"},
		{EM_X86_64, false, false, 6, "4@glob@GOTPCREL(%rip)"},
	};

	for (size_t i = 0; i < NW_COUNT(cases) * 2; i++) {
		size_t n = i / 2;
		bool right = i % 2;
		struct resolution want = {cases[n].text, EB_TEXT, right,
					  SLOT,		 0,	  right ? NULL : no_slot};
		struct eb b;
		eb_program(&b, cases[n].machine, cases[n].elf64, cases[n].big_endian);
		add_symbols(&b, cases[n].relocation + !right);
		struct nw_image *image = open_image(&b);
		check(image, &want);
		nw_image_free(image);
	}
}
END_TEST

START_TEST(a_file_without_relocations_has_no_slots)
{
	struct resolution want = {"8@glob@GOTPCREL(%rip)", EB_TEXT, false, 0, 0, no_slot};
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	struct nw_image *image = open_image(&b);
	check(image, &want);
	nw_image_free(image);
}
END_TEST

/* A relocation section may link to anything, and name any symbol. */
START_TEST(wild_relocations_are_no_slots)
{
	static const struct {
		uint32_t link, symbol;
	} cases[] = {{0, 1}, {1, 1},  {77, 1},	      {UINT32_MAX, 1},
		     {3, 0}, {3, 99}, {3, INT32_MAX}, {3, UINT32_MAX}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct resolution want = {
			"8@glob@GOTPCREL(%rip)", EB_TEXT, false, 0, 0, no_slot};
		struct eb_symbols symbols = {0};
		struct eb b;
		eb_program(&b, EM_X86_64, true, false);
		eb_section(&b, ".data", SHT_PROGBITS, 0, "12345678", 8);
		eb_symbol(&b, &symbols, "glob", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1,
			  GLOB, 4);
		ck_assert_uint_eq(eb_symtab(&b, &symbols, SHT_DYNSYM), 3);
		eb_relocation(&b, cases[i].link, SLOT, cases[i].symbol, R_X86_64_GLOB_DAT);
		struct nw_image *image = open_image(&b);
		check(image, &want);
		nw_image_free(image);
	}
}
END_TEST

UNIT_MAIN("symbols of operands", globals_of_a_library_have_linked_addresses,
	  addresses_in_code_are_known_only_where_they_are_final,
	  operands_without_symbols_and_with_problems_stay_as_they_are,
	  got_slots_are_found_by_their_relocations,
	  every_machine_has_its_own_got_relocation, a_file_without_relocations_has_no_slots,
	  wild_relocations_are_no_slots)
