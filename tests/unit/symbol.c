// SPDX-License-Identifier: MIT
/* Symbols by name and by address: versions, duplicates, what is no address at all. */
#include <errno.h>

#include "elf_builder.h"
#include "find/probe/probe.h"

enum {
	LOCAL_FUNC = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
	LOCAL_OBJECT = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
	LOCAL_FILE = ELF64_ST_INFO(STB_LOCAL, STT_FILE),
	FUNC = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
	OBJECT = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
	NOTYPE = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
	WEAK = ELF64_ST_INFO(STB_WEAK, STT_FUNC),
	IFUNC = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC),
	TLS = ELF64_ST_INFO(STB_GLOBAL, STT_TLS),
	SECTION = ELF64_ST_INFO(STB_LOCAL, STT_SECTION),
};

struct symbol {
	const char *name;
	int info;
	uint16_t section;
	uint64_t value, size;
};

static void add_table(struct eb *b, const struct symbol *list, size_t count, uint32_t type)
{
	struct eb_symbols symbols = {0};

	for (size_t i = 0; i < count; i++)
		eb_symbol(b, &symbols, list[i].name, list[i].info, list[i].section,
			  list[i].value, list[i].size);
	if (count)
		eb_symtab(b, &symbols, type);
}

static struct nw_image *finish(struct eb *b)
{
	struct nw_image *image = NULL;

	ck_assert_int_eq(nw_image_open_fd(eb_memfd(b), "file", false, &image, NULL), 0);
	return image;
}

/* An x86_64 file with these symbols. */
static struct nw_image *image_of(const struct symbol *symtab, size_t count,
				 const struct symbol *dynsym, size_t dyn_count)
{
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	add_table(&b, dynsym, dyn_count, SHT_DYNSYM);
	add_table(&b, symtab, count, SHT_SYMTAB);
	return finish(&b);
}

static int find(struct nw_image *image, const char *name, uint64_t vaddr,
		struct nw_symbol *out)
{
	*out = (struct nw_symbol){0};
	return nw_image_symbol(image, name, strlen(name), vaddr, out);
}

/* ---- by name ------------------------------------------------------------------------ */

START_TEST(a_symbol_is_found_with_all_that_is_known_of_it)
{
	static const struct symbol list[] = {
		{"object", OBJECT, 2, 0x604050, 8},   {"function", FUNC, 1, 0x401010, 16},
		{"weak", WEAK, 1, 0x401020, 0},	      {"indirect", IFUNC, 1, 0x401030, 4},
		{"label", NOTYPE, 1, 0x401040, 0},    {"thread", TLS, 3, 0x10, 4},
		{"func", LOCAL_FUNC, 1, 0x401050, 1}, {"functions", FUNC, 1, 0x401060, 1},
	};
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_PPC, EM_PPC64};

	for (size_t m = 0; m < NW_COUNT(machines) * 2; m++) {
		uint16_t machine = machines[m / 2];
		struct nw_symbol symbol;
		struct eb b;
		eb_program(&b, machine, machine == EM_X86_64 || machine == EM_PPC64,
			   machine == EM_PPC || machine == EM_PPC64);
		add_table(&b, list, NW_COUNT(list), m % 2 ? SHT_SYMTAB : SHT_DYNSYM);
		struct nw_image *image = finish(&b);
		for (size_t i = 0; i < NW_COUNT(list); i++) {
			int type = ELF64_ST_TYPE(list[i].info);
			ck_assert_int_eq(find(image, list[i].name, 0, &symbol), 0);
			ck_assert_str_eq(symbol.name, list[i].name);
			ck_assert_uint_eq(symbol.value, list[i].value);
			ck_assert_uint_eq(symbol.size, list[i].size);
			ck_assert_int_eq(symbol.function,
					 type == STT_FUNC || type == STT_GNU_IFUNC);
			ck_assert_int_eq(symbol.ifunc, type == STT_GNU_IFUNC);
			ck_assert_int_eq(symbol.tls, type == STT_TLS);
			ck_assert(!symbol.undefined);
		}
		static const char *const none[] = {"fun", "function2", "", "Object", "zzz"};
		for (size_t i = 0; i < NW_COUNT(none); i++)
			ck_assert_int_eq(find(image, none[i], 0, &symbol), -ENOENT);
		nw_image_free(image);
	}
}
END_TEST

START_TEST(a_name_need_not_end_where_its_length_says)
{
	static const struct symbol list[] = {{"glob", OBJECT, 2, 0x604050, 8}};
	struct nw_image *image = image_of(list, NW_COUNT(list), NULL, 0);
	struct nw_symbol symbol;

	ck_assert_int_eq(nw_image_symbol(image, "glob+8(%rip)", 4, 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x604050);
	ck_assert_int_eq(nw_image_symbol(image, "glob", 3, 0, &symbol), -ENOENT);
	ck_assert_int_eq(nw_image_symbol(image, "glob", 0, 0, &symbol), -ENOENT);
	nw_image_free(image);
}
END_TEST

START_TEST(versions_are_not_part_of_the_name)
{
	static const struct symbol list[] = {
		{"one@@V1", FUNC, 1, 0x401010, 4},
		{"one_more", FUNC, 1, 0x401018, 4},
		{"two@V1", FUNC, 1, 0x401020, 4},
		{"two@@V2", FUNC, 1, 0x401030, 4},
		{"alias@V1", FUNC, 1, 0x401040, 4},
		{"alias@@V2", FUNC, 1, 0x401040, 4},
		{"import@GLIBC_2.2.5", FUNC, SHN_UNDEF, 0, 0},
	};
	struct nw_image *image = image_of(list, NW_COUNT(list), NULL, 0);
	struct nw_symbol symbol;

	ck_assert_int_eq(find(image, "one", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x401010);
	/* the default version, unless one is named */
	ck_assert_int_eq(find(image, "two", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x401030);
	ck_assert_int_eq(find(image, "two@V1", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x401020);
	ck_assert_int_eq(find(image, "two@@V2", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x401030);
	ck_assert_int_eq(find(image, "two@V3", 0, &symbol), -ENOENT);
	ck_assert_int_eq(find(image, "two@", 0, &symbol), -ENOENT);
	ck_assert_int_eq(find(image, "one_more@V1", 0, &symbol), -ENOENT);
	ck_assert_int_eq(find(image, "alias", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x401040);
	ck_assert_int_eq(find(image, "import", 0, &symbol), -ENXIO);
	nw_image_free(image);
}
END_TEST

START_TEST(both_tables_together_have_one_symbol)
{
	static const struct symbol symtab[] = {{"both", FUNC, 1, 0x401010, 4},
					       {"imported", FUNC, SHN_UNDEF, 0, 0},
					       {"differs", FUNC, 1, 0x401020, 4}};
	static const struct symbol dynsym[] = {{"both", FUNC, 1, 0x401010, 4},
					       {"imported", FUNC, SHN_UNDEF, 0x401800, 0},
					       {"here", OBJECT, SHN_UNDEF, 0, 0},
					       {"here", OBJECT, 2, 0x604040, 4},
					       {"differs", FUNC, 1, 0x401030, 4}};
	struct nw_image *image = image_of(symtab, NW_COUNT(symtab), dynsym,
					  NW_COUNT(dynsym));
	struct nw_symbol symbol;

	ck_assert_int_eq(find(image, "both", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x401010);
	/* a value of an import is its PLT entry: not the function */
	ck_assert_int_eq(find(image, "imported", 0, &symbol), -ENXIO);
	ck_assert_int_eq(find(image, "here", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x604040);
	ck_assert_int_eq(find(image, "differs", 0, &symbol), -ENOTUNIQ);
	nw_image_free(image);
}
END_TEST

START_TEST(what_is_no_address_is_no_symbol)
{
	static const struct symbol list[] = {
		{"absolute", NOTYPE, SHN_ABS, 42, 0}, {"common", OBJECT, SHN_COMMON, 8, 4},
		{".text", SECTION, 1, 0x401000, 0},   {"file.c", LOCAL_FILE, SHN_ABS, 0, 0},
		{"", FUNC, 1, 0x401000, 16},
	};
	struct nw_image *image = image_of(list, NW_COUNT(list), NULL, 0);
	struct nw_symbol symbol;

	for (size_t i = 0; i < NW_COUNT(list); i++)
		ck_assert_int_eq(find(image, list[i].name, 0, &symbol), -ENOENT);
	ck_assert_int_eq(nw_image_function(image, 0x401000, &symbol), -ENOENT);
	nw_image_free(image);
}
END_TEST

START_TEST(the_thumb_bit_of_a_function_is_not_part_of_its_address)
{
	static const struct symbol list[] = {{"thumb", FUNC, 1, 0x401011, 8},
					     {"arm", FUNC, 1, 0x401020, 8},
					     {"odd", OBJECT, 2, 0x604041, 1}};
	struct nw_symbol symbol;
	struct eb b;

	eb_program(&b, EM_ARM, false, false);
	add_table(&b, list, NW_COUNT(list), SHT_SYMTAB);
	struct nw_image *image = finish(&b);
	ck_assert_int_eq(find(image, "thumb", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x401010);
	ck_assert(symbol.barred);
	ck_assert_int_eq(nw_image_function(image, 0x401010, &symbol), 0);
	ck_assert_str_eq(symbol.name, "thumb");
	ck_assert(symbol.barred);
	ck_assert_int_eq(find(image, "arm", 0, &symbol), 0);
	ck_assert(!symbol.barred);
	ck_assert_int_eq(find(image, "odd", 0, &symbol), 0);
	ck_assert_uint_eq(symbol.value, 0x604041);
	nw_image_free(image);
}
END_TEST

START_TEST(a_file_without_tables_has_no_symbols)
{
	struct nw_image *image = image_of(NULL, 0, NULL, 0);
	struct nw_symbol symbol;

	ck_assert_int_eq(find(image, "x", EB_TEXT, &symbol), -ENOENT);
	ck_assert_int_eq(nw_image_function(image, EB_TEXT, &symbol), -ENOENT);
	nw_image_free(image);
}
END_TEST

/* ---- duplicates --------------------------------------------------------------------- */

START_TEST(a_static_name_belongs_to_the_source_file_of_the_code)
{
	static const struct symbol list[] = {
		{"early", LOCAL_FUNC, 1, 0x401000, 16}, /* before any file */
		{"early_only", LOCAL_OBJECT, 2, 0x604040, 4},
		{"a.c", LOCAL_FILE, SHN_ABS, 0, 0},
		{"count", LOCAL_OBJECT, 2, 0x604044, 4},
		{"in_a", LOCAL_FUNC, 1, 0x401010, 16},
		{"twice", LOCAL_OBJECT, 2, 0x604050, 4},
		{"twice", LOCAL_OBJECT, 2, 0x604054, 4},
		{"b.c", LOCAL_FILE, SHN_ABS, 0, 0},
		{"count", LOCAL_OBJECT, 2, 0x604048, 4},
		{"in_b", LOCAL_FUNC, 1, 0x401020, 16},
		{"c.c", LOCAL_FILE, SHN_ABS, 0, 0},
		{"in_c", LOCAL_FUNC, 1, 0x401030, 16},
		{"", LOCAL_FILE, SHN_ABS, 0, 0},
		{"global", FUNC, 1, 0x401040, 16},
	};
	static const struct {
		const char *name;
		uint64_t vaddr;
		int ret;
		uint64_t value;
	} cases[] = {
		{"count", 0x401010, 0, 0x604044},
		{"count", 0x40101f, 0, 0x604044},
		{"count", 0x401020, 0, 0x604048},
		{"count", 0x401030, -ENOTUNIQ, 0}, /* c.c has none of its own */
		{"count", 0x401040, -ENOTUNIQ, 0}, /* of which file is not known */
		{"count", 0x401000, -ENOTUNIQ, 0},
		{"count", 0x401050, -ENOTUNIQ, 0}, /* no function there */
		{"count", 0, -ENOTUNIQ, 0},
		{"twice", 0x401010, -ENOTUNIQ, 0},
		{"early_only", 0x401040, 0, 0x604040},
	};
	struct nw_image *image = image_of(list, NW_COUNT(list), NULL, 0);
	struct nw_symbol symbol;

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		ck_assert_msg(find(image, cases[i].name, cases[i].vaddr, &symbol) ==
				      cases[i].ret,
			      "case %zu", i);
		if (cases[i].ret == 0)
			ck_assert_uint_eq(symbol.value, cases[i].value);
	}
	nw_image_free(image);
}
END_TEST

/* ---- by address --------------------------------------------------------------------- */

START_TEST(a_function_holds_the_addresses_of_its_size)
{
	static const struct symbol list[] = {
		{"outer", FUNC, 1, 0x401000, 0x40},
		{"inner", LOCAL_FUNC, 1, 0x401010, 8},
		{"outer_alias", WEAK, 1, 0x401000, 0}, /* an alias without a size */
		{"entry", FUNC, 1, 0x401030, 0},       /* a label inside outer */
		{"handmade", FUNC, 1, 0x401050, 0},    /* reaches to the next one */
		{"next", FUNC, 1, 0x401060, 4},
		{"data", OBJECT, 1, 0x401070, 16},
		{"imported", FUNC, SHN_UNDEF, 0x401080, 16},
		{"last", IFUNC, 1, 0xfffffffffffffff0, 0x10},
	};
	static const struct {
		uint64_t vaddr;
		const char *name; /* NULL: none */
	} cases[] = {
		{0x400fff, NULL},	{0x401000, "outer"},
		{0x40100f, "outer"},	{0x401010, "inner"},
		{0x401017, "inner"},	{0x401018, "outer"},
		{0x40103f, "outer"},	{0x401040, "entry"},
		{0x401050, "handmade"}, {0x40105f, "handmade"},
		{0x401060, "next"},	{0x401063, "next"},
		{0x401064, NULL},	{0x401074, NULL},
		{0x401084, NULL},	{0, NULL},
		{UINT64_MAX, "last"},
	};
	struct nw_image *image = image_of(list, NW_COUNT(list), NULL, 0);

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_symbol symbol = {0};
		int ret = nw_image_function(image, cases[i].vaddr, &symbol);
		ck_assert_msg(ret == (cases[i].name ? 0 : -ENOENT), "0x%lx: %d",
			      cases[i].vaddr, ret);
		ck_assert_pstr_eq(symbol.name, cases[i].name);
	}
	nw_image_free(image);
}
END_TEST

START_TEST(thousands_of_functions_are_told_apart)
{
	struct eb_symbols symbols = {0};
	char name[32];
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	for (uint64_t i = 0; i < 5000; i++) { /* in an order that is none */
		uint64_t n = i * 2711 % 5000;
		snprintf(name, sizeof(name), "f%lu", n);
		eb_symbol(&b, &symbols, name, FUNC, 1, 0x400000 + 16 * n, 16);
	}
	eb_symtab(&b, &symbols, SHT_SYMTAB);
	struct nw_image *image = finish(&b);
	for (uint64_t i = 0; i < 5000; i++) {
		struct nw_symbol symbol;
		snprintf(name, sizeof(name), "f%lu", i);
		ck_assert_int_eq(find(image, name, 0, &symbol), 0);
		ck_assert_uint_eq(symbol.value, 0x400000 + 16 * i);
		ck_assert_int_eq(nw_image_function(image, 0x400000 + 16 * i + 15, &symbol),
				 0);
		ck_assert_str_eq(symbol.name, name);
	}
	nw_image_free(image);
}
END_TEST

UNIT_MAIN("symbol", a_symbol_is_found_with_all_that_is_known_of_it,
	  a_name_need_not_end_where_its_length_says, versions_are_not_part_of_the_name,
	  both_tables_together_have_one_symbol, what_is_no_address_is_no_symbol,
	  the_thumb_bit_of_a_function_is_not_part_of_its_address,
	  a_file_without_tables_has_no_symbols,
	  a_static_name_belongs_to_the_source_file_of_the_code,
	  a_function_holds_the_addresses_of_its_size, thousands_of_functions_are_told_apart)
