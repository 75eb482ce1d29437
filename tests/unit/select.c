// SPDX-License-Identifier: MIT
/* Which USDT probes a spec selects, what they are called, and what is said when there is none. */
#include <errno.h>

#include "elf_select.h"

/* Probe i of a file stands at file offset 0x200 + i. */
static void add_probe(struct eb *b, uint64_t at, const char *provider, const char *name,
		      const char *args)
{
	eb_note(b, EB_TEXT + at, 0, 0, provider, name, args);
}

/*
 * The directory of every test, which becomes the working directory: ./one and ./two with
 * probes, ./bare without, ./text that is no ELF file.
 */
static void make_files(void)
{
	char dir[64];
	struct eb b;

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	eb_program(&b, EM_X86_64, true, false);
	add_probe(&b, 0, "app", "query__start", "8@%rdi");
	add_probe(&b, 1, "app", "query__done", "8@%rdi 4@$2");
	add_probe(&b, 2, "app", "query__start", "8@%rdi -4@%esi 1@%al");
	add_probe(&b, 3, "other", "query__start", "");
	add_probe(&b, 4, "app", "idle", "4@%esi");
	eb_notes(&b);
	eb_write(&b, dir, "one");
	eb_program(&b, EM_X86_64, true, false);
	add_probe(&b, 0x10, "app", "query__start", "8@%rdi");
	add_probe(&b, 0x11, "two", "only", "8@%rdi");
	eb_notes(&b);
	eb_write(&b, dir, "two");
	eb_program(&b, EM_X86_64, true, false);
	eb_write(&b, dir, "bare");
	eb_write_bytes(dir, "text", "hello", 5);
	ck_assert_int_eq(symlink("one", "link"), 0);
}

/* ---- what matches ------------------------------------------------------------------- */

START_TEST(specs_select_by_provider_and_name)
{
	static const struct {
		const char *spec, *wanted;
	} cases[] = {
		{"usdt:./one:app:query__start", "app:query__start@200,202[]"},
		{"usdt:./one:app:idle", "app:idle@204[]"},
		{"usdt:./one:*:query__start", "app:query__start@200,202[] "
					      "other:query__start@203[]"},
		{"usdt:./one:query__start", "app:query__start@200,202[] "
					    "other:query__start@203[]"},
		{"usdt:./one:app:query__*", "app:query__start@200,202[] "
					    "app:query__done@201[]"},
		{"usdt:./one:app:query-start", "app:query__start@200,202[]"},
		{"usdt:./one:app:*-done", "app:query__done@201[]"},
		{"usdt:./one:app:query?start", NULL},
		{"usdt:./one:ap[pq]:i*", "app:idle@204[]"},
		{"./one:o*r:*", "other:query__start@203[]"},
		{"./one:app:::idle", "app:idle@204[]"},
		{"./one:*:*", "app:query__start@200,202[] app:query__done@201[] "
			      "other:query__start@203[] app:idle@204[]"},
		{"./[ot]*:*:*only", "two:only@211[]"},
		{"./link:app:idle", "app:idle@204[]"},
		{"./one:APP:idle", NULL},
		{"./one:app:idl", NULL},
	};

	make_files();
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const char *const specs[4] = {cases[i].spec};
		struct nw_selection selection;
		struct nw_error err;
		if (cases[i].wanted)
			eb_check_selected(specs, NULL, cases[i].wanted);
		else
			ck_assert_int_eq(eb_select(specs, NULL, &selection, &err), -ENOENT);
	}
}
END_TEST

START_TEST(a_probe_knows_its_points)
{
	static const char *const specs[4] = {"./one:app:query__start(a)"};
	struct nw_selection selection;
	struct nw_error err;

	make_files();
	ck_assert_int_eq(eb_select(specs, NULL, &selection, &err), 0);
	ck_assert_uint_eq(selection.images.count, 1);
	ck_assert_uint_eq(selection.probes.count, 1);
	const struct nw_probe *probe = selection.probes.item[0];
	ck_assert_str_eq(probe->provider, "app");
	ck_assert_str_eq(probe->name, "query__start");
	ck_assert_int_eq(probe->kind, NW_SPEC_USDT);
	ck_assert_ptr_eq(probe->image, selection.images.item[0]);
	ck_assert_uint_eq(probe->points.count, 2);
	const struct nw_point *point = &probe->points.item[1];
	ck_assert_ptr_eq(point->image, probe->image);
	ck_assert_ptr_eq(point->site, &probe->image->sites.item[2]);
	ck_assert_uint_eq(point->vaddr, EB_TEXT + 2);
	ck_assert_uint_eq(point->offset, 0x202);
	ck_assert_int_eq(point->nop, NW_NOP_1);
	ck_assert(!point->is_return);
	ck_assert_uint_eq(point->operands.count, 3);
	ck_assert_str_eq(point->operands.item[1].reg, "si");
	ck_assert_uint_eq(probe->points.item[0].operands.count, 1);
	ck_assert_uint_eq(probe->args.count, 3); /* as many as its widest site has */
	nw_selection_free(&selection);
}
END_TEST

/* ---- several specs ------------------------------------------------------------------ */

START_TEST(specs_add_up_and_nothing_is_there_twice)
{
	static const struct {
		const char *specs[4], *wanted;
	} cases[] = {
		{{"./one:app:idle", "./one:app:idle"}, "app:idle@204[]"},
		{{"./one:app:idle", "./link:app:idle", "one:app:idle"}, "app:idle@204[]"},
		{{"./one:app:idle", "./two:two:only", "./one:app:*done"},
		 "app:idle@204[] two:only@211[] app:query__done@201[]"},
		/* the same name in two files: the path tells them apart */
		{{"./one:app:query__start", "./two:app:*", "./one:app:idle"},
		 "./one:app:query__start@200,202[] ./two:app:query__start@210[] "
		 "app:idle@204[]"},
		{{"./one:*:query__start", "./two:*:*"},
		 "./one:app:query__start@200,202[] other:query__start@203[] "
		 "./two:app:query__start@210[] two:only@211[]"},
		{{"./*:app:query__start"},
		 "./link:app:query__start@200,202[] ./two:app:query__start@210[]"},
	};
	/* a bare name is looked up in $PATH */
	make_files();
	nw_cleanup(nw_free_ptr) char *here = getcwd(NULL, 0);
	setenv("PATH", here, 1);
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		eb_check_selected(cases[i].specs, NULL, cases[i].wanted);
}
END_TEST

START_TEST(names_and_types_may_come_with_any_spec)
{
	static const struct {
		const char *specs[4], *wanted;
	} cases[] = {
		{{"./one:app:idle(ms:u32)"}, "app:idle@204(ms:u32)"},
		{{"./one:app:idle()"}, "app:idle@204(arg0)"},
		{{"./one:app:query__start(,n)"}, "app:query__start@200,202(arg0,n,arg2)"},
		{{"./one:app:idle", "./one:app:idle(ms:u32)"}, "app:idle@204(ms:u32)"},
		{{"./one:app:idle(ms:u32)", "./one:app:idle"}, "app:idle@204(ms:u32)"},
		{{"./one:app:idle(a)", "./one:app:idle(b:string)"},
		 "app:idle@204(b:string)"},
		{{"./one:app:*", "./one:app:query__start(x:x64)"},
		 "app:query__start@200,202(x:x64,arg1,arg2) app:query__done@201[] "
		 "app:idle@204[]"},
		/* a glob names as many as each probe has */
		{{"./one:*:*(a,b:u8)"},
		 "app:query__start@200,202(a,b:u8,arg2) app:query__done@201(a,b:u8) "
		 "other:query__start@203() app:idle@204(a)"},
	};

	make_files();
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		eb_check_selected(cases[i].specs, NULL, cases[i].wanted);
}
END_TEST

START_TEST(operands_are_parsed_when_they_are_wanted)
{
	static const char *const specs[4] = {"./one:app:idle"};
	struct nw_scope scope = {.want_operands = true};
	struct nw_selection selection;
	struct nw_error err;

	make_files();
	eb_check_selected(specs, NULL, "app:idle@204[]");
	eb_check_selected(specs, &scope, "app:idle@204[arg0]");
	ck_assert_int_eq(eb_select(specs, &scope, &selection, &err), 0);
	ck_assert_str_eq(selection.probes.item[0]->points.item[0].operands.item[0].reg,
			 "si");
	nw_selection_free(&selection);
}
END_TEST

START_TEST(too_many_names_for_one_probe_are_refused)
{
	struct nw_error err;
	struct nw_selection selection;
	static const char *const specs[4] = {"./one:app:idle(a,b)"};

	make_files();
	eb_check_refused("./one:app:idle(a,b)", NULL, EINVAL,
			 "'./one:app:idle(a,b)' names 2 arguments, but app:idle has 1", "");
	ck_assert_int_eq(eb_select(specs, NULL, &selection, &err), -EINVAL);
	ck_assert(err.usage);
	eb_check_refused("./one:other:query__start(a)", NULL, EINVAL,
			 "'./one:other:query__start(a)' names 1 arguments, but "
			 "other:query__start has 0",
			 "");
}
END_TEST

START_TEST(a_selection_keeps_only_the_files_it_needs)
{
	static const char *const specs[4] = {"./*:app:idle"};
	struct nw_selection selection;
	struct nw_error err;

	make_files();
	ck_assert_int_eq(eb_select(specs, NULL, &selection, &err), 0);
	ck_assert_uint_eq(selection.images.count, 1);
	/* "./link" sorts first and is the same file */
	ck_assert_str_eq(selection.images.item[0]->path, "./link");
	nw_selection_free(&selection);
}
END_TEST

/* ---- nothing matches ---------------------------------------------------------------- */

START_TEST(near_names_are_offered)
{
	static const struct {
		const char *spec, *what, *hint;
	} cases[] = {
		{"./one:app:query__strat", "no probe './one:app:query__strat' in ./one",
		 "did you mean app:query__start, app:query__done, other:query__start?"},
		{"./one:app:query__don", "no probe './one:app:query__don' in ./one",
		 "did you mean app:query__done, app:query__start, other:query__start?"},
		/* a part of a name is near, however long the rest */
		{"./one:app:start", "no probe './one:app:start' in ./one",
		 "did you mean app:query__start, other:query__start?"},
		{"./one:apq:idle", "no probe './one:apq:idle' in ./one",
		 "did you mean app:idle?"},
		{"./one:idel", "no probe './one:idel' in ./one", "did you mean app:idle?"},
		{"./one:app:zzzzzzzz", "no probe './one:app:zzzzzzzz' in ./one",
		 "`nopwatch list` shows what there is"},
		{"./[ot]*:app:query__strat",
		 "no probe './[ot]*:app:query__strat' in any of the 2 files searched",
		 "did you mean app:query__start, app:query__done, other:query__start?"},
		{"./bare:app:idle", "no USDT notes in './bare'",
		 "it was built without them (PostgreSQL: --enable-dtrace, Python: "
		 "--with-dtrace, OpenJDK: --enable-dtrace), or they were stripped "
		 "(llvm-strip, strip -R .note.stapsdt)"},
	};

	make_files();
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		eb_check_refused(cases[i].spec, NULL, ENOENT, cases[i].what, cases[i].hint);
}
END_TEST

START_TEST(one_spec_that_matches_nothing_fails_them_all)
{
	static const char *const specs[4] = {"./one:app:idle", "./one:app:zzzzzzzz"};
	struct nw_selection selection;
	struct nw_error err;

	make_files();
	ck_assert_int_eq(eb_select(specs, NULL, &selection, &err), -ENOENT);
	ck_assert_str_eq(err.what, "no probe './one:app:zzzzzzzz' in ./one");
}
END_TEST

UNIT_MAIN("select", specs_select_by_provider_and_name, a_probe_knows_its_points,
	  specs_add_up_and_nothing_is_there_twice, names_and_types_may_come_with_any_spec,
	  operands_are_parsed_when_they_are_wanted,
	  too_many_names_for_one_probe_are_refused,
	  a_selection_keeps_only_the_files_it_needs, near_names_are_offered,
	  one_spec_that_matches_nothing_fails_them_all)
