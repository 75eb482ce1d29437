// SPDX-License-Identifier: MIT
/* Warnings of a selection: notes that were left out, semaphores that cannot work. */
#include <errno.h>

#include "elf_select.h"

#define LOST                                                                  \
	"there is no nop at 0x401080: the note does not belong to this code " \
	"(the linker lost its .stapsdt.base)"
#define DROPPED "its address is 0: the linker dropped the code it stood in"
#define BSS	"its semaphore lies past the file's data (.bss), where the kernel cannot count"

/* ./some with good and bad notes, ./bad with only bad ones; in the working directory. */
static void make_files(void)
{
	char dir[64];
	struct eb b;

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	eb_program(&b, EM_X86_64, true, false);
	eb_note(&b, EB_TEXT, 0, EB_DATA + 2, "app", "good", "");
	eb_note(&b, EB_TEXT + EB_NOT_NOP, 0, 0, "app", "lost", "");
	eb_note(&b, 0, 0, 0, "app", "good", "");
	eb_note(&b, EB_TEXT + 1, 0, EB_DATA + EB_DATA_SIZE, "app", "bss", "");
	eb_note(&b, EB_TEXT + 2, 0, 0, "", "", "");
	eb_notes(&b);
	eb_write(&b, dir, "some");
	eb_program(&b, EM_X86_64, true, false);
	for (int i = 0; i < 12; i++)
		eb_note(&b, 0, 0, 0, "app", "gone", "");
	for (uint64_t i = 1; i <= 12; i++)
		eb_note(&b, i, 0, 0, "app", "away", "");
	eb_note(&b, EB_TEXT, 0, 0, "app", "away", "");
	eb_note(&b, EB_TEXT + 1, 0, 0, "app", "gone", "");
	eb_note(&b, 0, 0, 0, "app", "nowhere", "");
	eb_notes(&b);
	eb_write(&b, dir, "bad");
}

static void check_warnings(const char *const specs[4], const struct nw_scope *scope,
			   const char *const wanted[12])
{
	struct nw_selection selection;
	struct nw_error err;
	size_t i = 0;

	ck_assert_msg(eb_select(specs, scope, &selection, &err) == 0, "%s", err.what);
	for (; i < 12 && wanted[i]; i++) {
		ck_assert_msg(i < selection.warnings.count, "%s: no '%s'", specs[0],
			      wanted[i]);
		ck_assert_str_eq(selection.warnings.item[i], wanted[i]);
	}
	ck_assert_uint_eq(selection.warnings.count, i);
	nw_selection_free(&selection);
}

START_TEST(warnings_are_of_the_probes_that_were_asked_for)
{
	static const struct {
		const char *specs[4], *warnings[12];
	} cases[] = {
		{{"./some:app:good"},
		 {"./some: skipped the note of app:good: " DROPPED,
		  "./some: skipped the note of ?:?: it has no provider or no name"}},
		{{"./some:app:bss"},
		 {"./some: skipped the note of ?:?: it has no provider or no name",
		  "./some: app:bss: " BSS}},
		{{"./some:app:*"},
		 {"./some: skipped the note of app:lost: " LOST,
		  "./some: skipped the note of app:good: " DROPPED,
		  "./some: skipped the note of ?:?: it has no provider or no name",
		  "./some: app:bss: " BSS}},
		/* said once, however many specs come by */
		{{"./some:app:bss", "./some:app:bss", "./some:app:b*"},
		 {"./some: skipped the note of ?:?: it has no provider or no name",
		  "./some: app:bss: " BSS}},
	};

	make_files();
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		check_warnings(cases[i].specs, NULL, cases[i].warnings);
}
END_TEST

START_TEST(many_warnings_of_one_file_are_counted_instead)
{
	static const char *const cases[][4] = {
		{"./bad:app:away"},
		{"./bad:app:away", "./bad:app:away", "./bad:app:a*"},
	};
	static const char *const away[12] = {
		"./bad: skipped the note of app:away: address 0x1 is in no executable "
		"segment",
		"./bad: skipped the note of app:away: address 0x2 is in no executable "
		"segment",
		"./bad: skipped the note of app:away: address 0x3 is in no executable "
		"segment",
		"./bad: skipped the note of app:away: address 0x4 is in no executable "
		"segment",
		"./bad: skipped the note of app:away: address 0x5 is in no executable "
		"segment",
		"./bad: skipped the note of app:away: address 0x6 is in no executable "
		"segment",
		"./bad: skipped the note of app:away: address 0x7 is in no executable "
		"segment",
		"./bad: skipped the note of app:away: address 0x8 is in no executable "
		"segment",
		"./bad: 4 more notes with problems",
	};
	static const char *const gone[12] = {
		"./bad: skipped the note of app:gone: " DROPPED};
	static const char *const gone_specs[4] = {"./bad:app:gone"};

	make_files();
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		check_warnings(cases[i], NULL, away);
	check_warnings(gone_specs, NULL, gone); /* the same twelve times is said once */
}
END_TEST

START_TEST(force_takes_sites_that_are_no_nops)
{
	static const char *const specs[4] = {"./some:app:lost"};
	static const char *const warnings[12] = {
		"./some: skipped the note of ?:?: it has no provider or no name"};
	struct nw_scope scope = {.force = true};

	make_files();
	check_warnings(specs, &scope, warnings);
	eb_check_selected(specs, &scope, "app:lost@280[]");
}
END_TEST

START_TEST(a_probe_whose_only_note_was_left_out_is_told_why)
{
	make_files();
	eb_check_refused("./some:app:lost", NULL, ENOENT,
			 "the note of app:lost in ./some cannot be used: " LOST, "");
	eb_check_refused("./bad:app:nowhere", NULL, ENOENT,
			 "the note of app:nowhere in ./bad cannot be used: " DROPPED, "");
	eb_check_refused("./*:*:nowher?", NULL, ENOENT,
			 "the note of app:nowhere in ./bad cannot be used: " DROPPED, "");
}
END_TEST

START_TEST(a_semaphore_that_cannot_count_is_not_used)
{
	static const char *const specs[4] = {"./some:app:*"};
	struct nw_selection selection;
	struct nw_error err;

	make_files();
	ck_assert_int_eq(eb_select(specs, NULL, &selection, &err), 0);
	ck_assert_uint_eq(selection.probes.count, 2);
	ck_assert_str_eq(selection.probes.item[0]->name, "good");
	ck_assert_uint_eq(selection.probes.item[0]->points.item[0].semaphore_offset, 0x302);
	ck_assert_str_eq(selection.probes.item[1]->name, "bss");
	ck_assert_uint_eq(selection.probes.item[1]->points.item[0].semaphore_offset, 0);
	nw_selection_free(&selection);
}
END_TEST

/* perf's sdt_PROVIDER, and providers that are called so themselves. */
START_TEST(a_provider_may_be_called_sdt)
{
	static const struct {
		const char *spec, *wanted;
	} cases[] = {
		{"sdt_app:one", "sdt_app:one@200[]"},
		{"%sdt_app:one", "sdt_app:one@200[]"},
		{"sdt_sdt_app:one", "sdt_app:one@200[]"},
		{"sdt_app:two", "app:two@201[]"},
		{"sdt_a*:two", "app:two@201[]"},
		{"app:one", "app:one@202[]"},
		{"*app:one", "sdt_app:one@200[] app:one@202[]"},
	};
	const struct nw_scope scope = {.file = "./named"};
	char dir[64];
	struct eb b;

	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
	eb_program(&b, EM_X86_64, true, false);
	eb_note(&b, EB_TEXT, 0, 0, "sdt_app", "one", "");
	eb_note(&b, EB_TEXT + 1, 0, 0, "app", "two", "");
	eb_note(&b, EB_TEXT + 2, 0, 0, "app", "one", "");
	eb_notes(&b);
	eb_write(&b, dir, "named");
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const char *const specs[4] = {cases[i].spec};
		eb_check_selected(specs, &scope, cases[i].wanted);
	}
}
END_TEST

UNIT_MAIN("select notes", a_provider_may_be_called_sdt,
	  warnings_are_of_the_probes_that_were_asked_for,
	  many_warnings_of_one_file_are_counted_instead, force_takes_sites_that_are_no_nops,
	  a_probe_whose_only_note_was_left_out_is_told_why,
	  a_semaphore_that_cannot_count_is_not_used)
