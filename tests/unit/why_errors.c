// SPDX-License-Identifier: MIT
/* why --error: what the kernel and other tools say is recognised. */
#include <errno.h>

#include "unit.h"
#include "why/errors.h"
#include "why/why.h"

static struct nw_error err;
static struct nw_error_table table;

static void setup(void)
{
	ck_assert_int_eq(nw_error_table_read(&table), 0);
}

static void teardown(void)
{
	nw_error_table_free(&table);
}

/* The row that the verdict is made of; NULL: the text is not known. */
static const struct nw_error_row *verdict_of(const char *text)
{
	const struct nw_error_row *rows[8];
	ssize_t count = nw_error_table_find(&table, text, rows, NW_COUNT(rows));

	ck_assert_int_ge(count, 0);
	return count ? rows[0] : NULL;
}

START_TEST(errors_of_other_tools_are_known)
{
	setup();
	static const struct {
		const char *text;
		enum nw_cause cause;
	} cases[] = {
		{"ERROR: Could not resolve symbol: /proc/self/exe:BEGIN_trigger",
		 NW_CAUSE_SYMBOL_STRIPPED},
		{"No probes to attach", NW_CAUSE_SYMBOL_MISSING},
		{"libbpf: elf: 'readline' is 0 in symtab for '/bin/bash': try using shared "
		 "library path instead",
		 NW_CAUSE_SYMBOL_IMPORTED},
		{"libbpf: usdt: no USDT notes section (.note.stapsdt) found in '/x'",
		 NW_CAUSE_NO_NOTES},
		{"libbpf: usdt: matched ELF binary '/x' segment [0x1, 0x2) at offset 0x0 "
		 "is not "
		 "executable",
		 NW_CAUSE_NOTE_DAMAGED},
		{"libbpf: usdt: unrecognized arg #2 spec '8@%xmm0'", NW_CAUSE_BPF_OPERAND},
		{"failed to enable probe 'query__start'; a possible cause can be that the "
		 "probe "
		 "requires a pid to enable",
		 NW_CAUSE_SEMAPHORE},
		{"Error finding or enabling probe: usdt:/x:node:http__server__request",
		 NW_CAUSE_SEMAPHORE},
		{"perf_event_open(/sys/kernel/debug/tracing/events/uprobes/p__x/id): "
		 "Input/output error",
		 NW_CAUSE_FILESYSTEM},
		{"ioctl(PERF_EVENT_IOC_SET_BPF): Invalid argument", NW_CAUSE_BPF_PROGRAM},
		{"cannot attach uprobe, Device or resource busy", NW_CAUSE_STALE_EVENT},
		{"Unknown error 524", NW_CAUSE_BREAKPOINT},
		{"failed to stat uprobe target file /usr/local/bin/memcached: No such file "
		 "or "
		 "directory",
		 NW_CAUSE_OTHER_NAMESPACE},
		{"runtime: fatal error: unknown caller pc", NW_CAUSE_RETURN_GO},
		{"Failed to create perf_event FD 1023: -24 (Too many open files)",
		 NW_CAUSE_LIMIT},
		{"Lockdown: execsnoop: Use of kprobes is restricted", NW_CAUSE_LOCKDOWN},
		/* the kernel, in error_log and in dmesg */
		{"[  134.2] trace_uprobe: error: Reference counter brace is not closed\n"
		 "  Command: p:a/b /bin/app:0x10(0x20",
		 NW_CAUSE_BAD_DEFINITION},
		{"trace_uprobe: error: Invalid register name\n  Command: p:a/b "
		 "/bin/app:0x10 x=%rdi",
		 NW_CAUSE_BAD_DEFINITION},
		{"trace_uprobe: error: Argument type or name is different from existing "
		 "probe",
		 NW_CAUSE_STALE_EVENT},
		{"trace_kprobe: Parse error at argument[0]. (-22)",
		 NW_CAUSE_BAD_DEFINITION},
		{"[ 9.1] uprobe: app:4711 failed to unregister, leaking uprobe",
		 NW_CAUSE_PLACE_TAKEN},
		{"Uprobe: ref_ctr_offset mismatch. inode: 0x1 offset: 0x2",
		 NW_CAUSE_PLACE_TAKEN},
		{"omit uretprobe due to nestiness limit pid/tgid=4/4", NW_CAUSE_LIMIT},
		{"event trace: Could not enable event p_app_0x4f0", NW_CAUSE_REFUSED},
		/* other tools' */
		{"ERROR: Possible attachment attempt in the middle of an instruction, try "
		 "a "
		 "different offset.",
		 NW_CAUSE_INSIDE_FUNCTION},
		{"ERROR: uretprobes cannot be attached at function offset. (address "
		 "resolved to: "
		 "main+4)",
		 NW_CAUSE_BAD_DEFINITION},
		{"Error attaching probe: usdt:/x:a:b\n Try using -p or "
		 "--usdt-file-activation if "
		 "there's USDT semaphores",
		 NW_CAUSE_SEMAPHORE},
		{"libbpf: elf: could not read elf from /usr/bin/psql: invalid `Elf' handle",
		 NW_CAUSE_FILE_MISSING},
		{"libbpf: elf: failed to find symbol 'serve' in '/bin/app'",
		 NW_CAUSE_SYMBOL_MISSING},
		{"libbpf: failed to add legacy uprobe event for /bin/app:0x10: -22",
		 NW_CAUSE_REFUSED},
		{"bcc.usdt.USDTException: USDT failed to instrument PID 4711",
		 NW_CAUSE_NO_NOTES},
		{"Two same-name probes (tick) but different providers",
		 NW_CAUSE_SYMBOL_AMBIGUOUS},
		{"Probe point 'serve' not found.\n  Error: Failed to add events.",
		 NW_CAUSE_SYMBOL_MISSING},
		{"A semaphore is associated with sdt_app:tick and seems your kernel "
		 "doesn't "
		 "support it.",
		 NW_CAUSE_SEMAPHORE},
		{"semantic error: while resolving probe point: identifier 'process' at "
		 "a.stp:1:7\n"
		 "semantic error: no match (similar marks: tick)",
		 NW_CAUSE_NO_SUCH_PROBE},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const struct nw_error_row *row = verdict_of(cases[i].text);
		ck_assert_msg(row, "not known: %s", cases[i].text);
		ck_assert_msg(row->cause == cases[i].cause, "%s: %s", cases[i].text,
			      row->pattern);
	}
	ck_assert_ptr_null(verdict_of("all is well"));
	ck_assert_ptr_null(verdict_of(""));
	teardown();
}
END_TEST

/* What people paste is not what was printed: other quotes, colours, lines broken by a terminal. */
START_TEST(a_pasted_text_is_not_the_printed_one)
{
	setup();
	static const char *const texts[] = {
		"elf: could not read elf from /usr/bin/psql",
		"ELF:  could not\tread elf\r\n from /usr/bin/psql",
		"\033[31mlibbpf: elf: could not read\033[0m elf from x",
		"libbpf: elf: could not\n    read elf from /usr/bin/psql",
	};
	static const char *const quoted[] = {
		"Failed to find the location of the 'x' variable at this address.",
		"Failed to find the location of the \"x\" variable at this address.",
		"Failed to find the location of the `x' variable at this address.",
		"{\"error\":\"failed to find the location of the \\\"x\\\" variable\"}",
		"Failed to find the location of the \xe2\x80\x98x\xe2\x80\x99 variable at",
	};

	for (size_t i = 0; i < NW_COUNT(texts); i++)
		ck_assert_msg(verdict_of(texts[i]) &&
				      verdict_of(texts[i])->cause == NW_CAUSE_FILE_MISSING,
			      "%s", texts[i]);
	for (size_t i = 0; i < NW_COUNT(quoted); i++)
		ck_assert_msg(verdict_of(quoted[i]) && verdict_of(quoted[i])->cause ==
							       NW_CAUSE_SYMBOL_INLINED,
			      "%s", quoted[i]);
	teardown();
}
END_TEST

/* A number is not part of a longer one; * does not lead into another line. */
START_TEST(a_pattern_ends_where_it_ends)
{
	setup();
	ck_assert_ptr_nonnull(verdict_of("link_create: -524"));
	ck_assert_ptr_nonnull(verdict_of("link_create: (-524)"));
	ck_assert_ptr_null(verdict_of("app-5241 went on"));
	ck_assert_ptr_null(verdict_of("app-524 went on"));
	ck_assert_ptr_null(verdict_of("took error 5240 steps"));
	ck_assert_ptr_null(verdict_of("symbol table read\nit was not found"));
	teardown();
}
END_TEST

struct sentence {
	char source[128], cause[32], text[512];
};

/* The next line of tests/data/errors.tsv. */
static bool next_sentence(FILE *file, struct sentence *out)
{
	char line[1024];

	do {
		if (!fgets(line, sizeof(line), file))
			return false;
	} while (*line == '#');
	ck_assert_int_eq(sscanf(line, "%127[^\t]\t%31[^\t]\t%511[^\n]", out->source,
				out->cause, out->text),
			 3);
	return true;
}

/* \n stands for the end of a line. */
static void break_lines(char *text)
{
	for (char *at; (at = strstr(text, "\\n"));) {
		*at = '\n';
		memmove(at + 1, at + 2, strlen(at + 2) + 1);
	}
}

/* The verdict on each sentence is a row from the file that it names; what fits besides are answers of
 * the kernel that it passes on. Each row has such a sentence. */
START_TEST(each_row_is_for_its_own_sentence)
{
	setup();
	FILE *file = fopen("tests/data/errors.tsv", "re");
	bool *seen = calloc(table.rows.count, sizeof(*seen));
	const struct nw_error_row *rows[8];
	struct sentence at;

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(seen);
	while (next_sentence(file, &at)) {
		break_lines(at.text);
		ssize_t count = nw_error_table_find(&table, at.text, rows, NW_COUNT(rows));
		ck_assert_msg(count > 0, "not known: %s", at.text);
		for (ssize_t i = 1; i < count; i++)
			ck_assert_msg(strncmp(rows[i]->source, "errno ", 6) == 0,
				      "%s: '%s' and '%s'", at.text, rows[0]->pattern,
				      rows[i]->pattern);
		ck_assert_str_eq(nw_cause_table[rows[0]->cause].key, at.cause);
		ck_assert_str_eq(rows[0]->source, at.source);
		seen[rows[0] - table.rows.item] = true;
	}
	nw_vec_each (&table.rows, row)
		ck_assert_msg(seen[row - table.rows.item], "no sentence for '%s'",
			      row->pattern);
	free(seen);
	fclose(file);
	teardown();
}
END_TEST

/* What the search relies on, and what a reader of the table does. */
START_TEST(rows_are_as_the_search_wants_them)
{
	setup();
	nw_vec_each (&table.rows, row) {
		ck_assert_msg(!row->pattern[strcspn(row->pattern,
						    "ABCDEFGHIJKLMNOPQRSTUVWXYZ\"`\t")],
			      "%s", row->pattern);
		ck_assert_msg(*row->pattern && *row->pattern != '*', "%s", row->pattern);
		ck_assert_msg(*row->meaning &&
				      row->meaning[strlen(row->meaning) - 1] != '.',
			      "%s", row->meaning);
		ck_assert_msg(*row->remedy && *row->source, "%s", row->pattern);
	}
	teardown();
}
END_TEST

START_TEST(an_error_becomes_a_diagnosis)
{
	struct nw_diagnosis diagnosis;

	ck_assert_int_eq(nw_diagnose_error("No probes to attach", &diagnosis, &err), 0);
	ck_assert_int_eq(diagnosis.fires, -1);
	ck_assert_uint_eq(diagnosis.reasons.count, 1);
	nw_diagnosis_free(&diagnosis);
	ck_assert_int_eq(nw_diagnose_error("?", &diagnosis, &err), 0);
	ck_assert_uint_eq(diagnosis.reasons.count, 0);
	ck_assert_ptr_nonnull(diagnosis.text);
	nw_diagnosis_free(&diagnosis);
}
END_TEST

UNIT_MAIN("why_errors", errors_of_other_tools_are_known,
	  a_pasted_text_is_not_the_printed_one, a_pattern_ends_where_it_ends,
	  each_row_is_for_its_own_sentence, rows_are_as_the_search_wants_them,
	  an_error_becomes_a_diagnosis)
