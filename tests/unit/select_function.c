// SPDX-License-Identifier: MIT
/* uprobe:, uretprobe: and func: specs: functions by symbol and by offset. */
#include <errno.h>

#include "elf_select.h"

#define LONG_NAME                                                                \
	"_ZN9namespace5inner5outer8functionINS0_8templateINS1_8argumentIiEENS1_" \
	"9argument2IlEEE"                                                        \
	"EEEvRKT_RKNS0_6detail7anotherINS1_5thingEEERNSt7__cxx1112basic_stringIcEE"

/* ./prog in the working directory, ./prune without its helper(). */
static void make_files(void)
{
	int func = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	int local = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	char dir[64];

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	for (int i = 0; i < 2; i++) {
		struct eb_symbols symbols = {0};
		struct eb b;
		eb_program(&b, EM_X86_64, true, false);
		eb_symbol(&b, &symbols, "twice", local, 1, EB_TEXT + 0x50, 4);
		eb_symbol(&b, &symbols, "twice", local, 1, EB_TEXT + 0x54, 4);
		eb_symbol(&b, &symbols, "main", func, 1, EB_TEXT, 0x20);
		if (i == 0)
			eb_symbol(&b, &symbols, "helper", func, 1, EB_TEXT + 0x80, 8);
		eb_symbol(&b, &symbols, "data", ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 2,
			  EB_DATA, 8);
		eb_symbol(&b, &symbols, "imported", func, SHN_UNDEF, 0, 0);
		eb_symbol(&b, &symbols, LONG_NAME "1", func, 1, EB_TEXT + 0x30, 4);
		eb_symbol(&b, &symbols, LONG_NAME "2", func, 1, EB_TEXT + 0x34, 4);
		eb_symtab(&b, &symbols, SHT_SYMTAB);
		eb_write(&b, dir, i == 0 ? "prog" : "prune");
	}
}

struct selected {
	const char *specs[4], *wanted;
};

static void check_all(const struct selected *list, size_t count, bool want_operands)
{
	struct nw_scope scope = {.want_operands = want_operands};

	make_files();
	for (size_t i = 0; i < count; i++)
		eb_check_selected(list[i].specs, &scope, list[i].wanted);
}

START_TEST(functions_are_found_by_symbol_and_by_offset)
{
	static const struct selected list[] = {
		{{"uprobe:./prog:main"}, "uprobe:main@200[]"},
		{{"uprobe:./prog:main+4"}, "uprobe:main+0x4@204[]"},
		{{"uprobe:./prog:0x220"}, "uprobe:0x220@220[]"},
		{{"uprobe:./prog:0x200"}, "uprobe:0x200@200[]"},
		{{"uprobe:./prog:767"}, "uprobe:0x2ff@2ff[]"},
		{{"uretprobe:./prog:main"}, "uretprobe:main@200[]"},
		{{"func:./prog:helper"}, "uprobe:helper@280[] uretprobe:helper@280[]"},
		{{"func:./prog:main", "uprobe:./prog:main", "uretprobe:./prog:main"},
		 "uprobe:main@200[] uretprobe:main@200[]"},
		{{"uprobe:./prog:main", "uprobe:./prune:main"},
		 "./prog:uprobe:main@200[] ./prune:uprobe:main@200[]"},
		/* one of several files that lacks the function does not matter */
		{{"uprobe:./pr*:helper"}, "uprobe:helper@280[]"},
		{{"uprobe:./pr*:main"},
		 "./prog:uprobe:main@200[] ./prune:uprobe:main@200[]"},
		/* patterns: each function once, what has several places not at all */
		{{"uprobe:./prog:*[nr]"}, "uprobe:helper@280[] uprobe:main@200[]"},
		{{"func:./prog:hel?er"}, "uprobe:helper@280[] uretprobe:helper@280[]"},
		{{"uprobe:./prog:_Z*"},
		 "uprobe:" LONG_NAME "1@230[] uprobe:" LONG_NAME "2@234[]"},
		{{"uprobe:./pr*:m*"}, "./prog:uprobe:main@200[] ./prune:uprobe:main@200[]"},
		/* names that are the same for longer than any buffer */
		{{"uprobe:./prog:" LONG_NAME "1", "uprobe:./prog:" LONG_NAME "2"},
		 "uprobe:" LONG_NAME "1@230[] uprobe:" LONG_NAME "2@234[]"},
	};

	check_all(list, NW_COUNT(list), false);
}
END_TEST

START_TEST(arguments_are_those_of_the_calling_convention)
{
	static const struct selected list[] = {
		{{"uprobe:./prog:main"}, "uprobe:main@200[arg0,arg1,arg2,arg3,arg4,arg5]"},
		{{"uretprobe:./prog:main"}, "uretprobe:main@200[arg0]"},
		/* only at the entry are they where the caller put them */
		{{"uprobe:./prog:main+4"}, "uprobe:main+0x4@204[]"},
		{{"uprobe:./prog:main(argc:s32)"},
		 "uprobe:main@200(argc:s32,arg1,arg2,arg3,arg4,arg5)"},
	};

	check_all(list, NW_COUNT(list), true);
}
END_TEST

START_TEST(functions_may_have_named_arguments)
{
	static const struct selected list[] = {
		{{"uprobe:./prog:main(argc:s32,argv)"},
		 "uprobe:main@200(argc:s32,argv,arg2,arg3,arg4,arg5)"},
		{{"uretprobe:./prog:main(status:u8)"}, "uretprobe:main@200(status:u8)"},
		/* the names of a span are those of the call */
		{{"func:./prog:main(argc:s32,argv)"},
		 "uprobe:main@200(argc:s32,argv,arg2,arg3,arg4,arg5) uretprobe:main@200[]"},
		{{"func:./prog:main(a)", "uretprobe:./prog:main(r)"},
		 "uprobe:main@200(a,arg1,arg2,arg3,arg4,arg5) uretprobe:main@200(r)"},
		/* they may come with a second spec */
		{{"uprobe:./prog:main", "uprobe:./prog:main(argc:s32)"},
		 "uprobe:main@200(argc:s32,arg1,arg2,arg3,arg4,arg5)"},
		{{"uprobe:./prog:main(argc:s32)", "uprobe:./prog:main"},
		 "uprobe:main@200(argc:s32,arg1,arg2,arg3,arg4,arg5)"},
		{{"func:./prog:main", "uretprobe:./prog:main(r:x64)"},
		 "uprobe:main@200[] uretprobe:main@200(r:x64)"},
	};

	check_all(list, NW_COUNT(list), false);
}
END_TEST

START_TEST(a_point_knows_its_address)
{
	static const char *const specs[4] = {"uprobe:./prog:0x280",
					     "uretprobe:./prog:main(r)",
					     "uprobe:./prog:helper+7"};
	struct nw_selection selection;
	struct nw_error err;

	make_files();
	ck_assert_int_eq(eb_select(specs, NULL, &selection, &err), 0);
	ck_assert_uint_eq(selection.images.count, 1);
	const struct nw_probe *const *probes = (const struct nw_probe *const *)
						       selection.probes.item;
	const struct nw_point *point = probes[0]->points.item;
	ck_assert_uint_eq(point->vaddr, EB_TEXT + 0x80);
	ck_assert_uint_eq(point->offset, 0x280);
	ck_assert_int_eq(point->nop, NW_NOP_NONE);
	ck_assert(!point->is_return && !point->site);
	ck_assert_ptr_eq(point->image, selection.images.item[0]);
	ck_assert_int_eq(probes[0]->kind, NW_SPEC_UPROBE);
	point = probes[1]->points.item;
	ck_assert_uint_eq(point->vaddr, EB_TEXT);
	ck_assert_int_eq(point->nop, NW_NOP_1);
	ck_assert(point->is_return);
	ck_assert_uint_eq(point->operands.count, 1);
	ck_assert_str_eq(point->operands.item[0].reg, "ax");
	ck_assert_int_eq(probes[1]->kind, NW_SPEC_URETPROBE);
	ck_assert_uint_eq(probes[2]->points.item[0].vaddr, EB_TEXT + 0x87);
	nw_selection_free(&selection);
}
END_TEST

START_TEST(what_cannot_be_probed_is_told_why)
{
	static const struct {
		const char *spec;
		int code;
		const char *what, *hint;
	} cases[] = {
		{"uprobe:./prog:gone", ENOENT, "there is no function 'gone' in ./prog",
		 "`nopwatch list --functions ./prog` lists those that are there"},
		{"uprobe:./prog:mai", ENOENT, "there is no function 'mai' in ./prog",
		 "did you mean main?"},
		{"func:./pr*:gone", ENOENT, "there is no function 'gone' in ./prune",
		 "`nopwatch list --functions ./prune` lists those that are there"},
		{"uprobe:./prog:imported", ENOENT,
		 "'imported' is only imported by ./prog, not defined there",
		 "probe the library that defines it: nopwatch list -p PID shows what a "
		 "process "
		 "has loaded"},
		{"uretprobe:./prog:twice", ENOTUNIQ,
		 "./prog has several functions called 'twice'",
		 "give the file offset: uprobe:./prog:0xOFFSET"},
		{"uprobe:./prog:data", EINVAL,
		 "'data' of ./prog is in no executable segment", ""},
		{"uprobe:./prog:main+0x1000", EINVAL,
		 "'main' of ./prog is in no executable segment", ""},
		{"uprobe:./prog:0x300", EINVAL,
		 "offset 0x300 is in no executable segment of ./prog", ""},
		{"uprobe:./prog:0x1ff", EINVAL,
		 "offset 0x1ff is in no executable segment of ./prog", ""},
		{"uprobe:./prog:0", EINVAL,
		 "offset 0x0 is in no executable segment of ./prog", ""},
		{"uprobe:./prog:main(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q)", EINVAL,
		 "'uprobe:./prog:main(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q)' names 17 "
		 "arguments, but uprobe:main has 16",
		 ""},
		{"uprobe:./prog:m*x", ENOENT, "there is no function 'm*x' in ./prog",
		 "`nopwatch list --functions ./prog` lists those that are there"},
		{"func:./prog:main,returns=insn", EOPNOTSUPP,
#ifdef NW_HAVE_CAPSTONE
		 "./prog: the return instructions of 'main' cannot be told: it runs on "
		 "into what stands behind it",
#else
		 "./prog: the return instructions of 'main' cannot be told: this nopwatch "
		 "was built without a disassembler (capstone)",
#endif
		 ""},
		{"uprobe:./prog:main+4(a)", EINVAL,
		 "'a' of 'uprobe:./prog:main+4(a)' cannot be found: there is no debugging information (DWARF) for the file",
		 "arguments by name need the file's debugging information: build with -g, or install its -dbgsym or -debuginfo package"},
		{"uretprobe:./prog:main(a,b)", EINVAL,
		 "'uretprobe:./prog:main(a,b)' names 2 arguments, but uretprobe:main has 1",
		 "a return has the result only; 'func:./prog:main(a@return)' reads an argument of the call there"},
	};

	make_files();
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		eb_check_refused(cases[i].spec, NULL, cases[i].code, cases[i].what,
				 cases[i].hint);
}
END_TEST

UNIT_MAIN("select functions", functions_are_found_by_symbol_and_by_offset,
	  arguments_are_those_of_the_calling_convention, functions_may_have_named_arguments,
	  a_point_knows_its_address, what_cannot_be_probed_is_told_why)
