// SPDX-License-Identifier: MIT
/* why --error: what the kernel and other tools say is recognised. */
#include <errno.h>

#include "nopwatch/why.h"
#include "unit.h"
#include "why/error_rows.h"

static struct nw_error err;

START_TEST(errors_of_other_tools_are_known)
{
	static const struct {
		const char *text;
		enum nw_cause cause;
	} cases[] = {
		{"ERROR: Could not resolve symbol: /proc/self/exe:BEGIN_trigger",
		 NW_CAUSE_SYMBOL_MISSING},
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
	const struct nw_error_cause *rows[4];

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		ck_assert_uint_gt(nw_error_causes(cases[i].text, rows, NW_COUNT(rows)), 0);
		ck_assert_int_eq(rows[0]->cause, cases[i].cause);
	}
	ck_assert_uint_eq(nw_error_causes("all is well", rows, NW_COUNT(rows)), 0);
	ck_assert_uint_eq(nw_error_causes("", rows, NW_COUNT(rows)), 0);
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

/* Each sentence fits one row, and one only; each row has such a sentence of its own, from the file
 * that it names. */
START_TEST(each_row_is_for_its_own_sentence)
{
	FILE *file = fopen("tests/data/errors.tsv", "re");
	bool *seen = calloc(nw_error_count(), sizeof(*seen));
	const struct nw_error_cause *rows[8];
	struct sentence at;

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(seen);
	while (next_sentence(file, &at)) {
		size_t count = nw_error_causes(at.text, rows, NW_COUNT(rows));
		ck_assert_msg(count > 0, "not known: %s", at.text);
		ck_assert_msg(count == 1, "%s: '%s' and '%s'", at.text, rows[0]->pattern,
			      rows[1]->pattern);
		ck_assert_str_eq(nw_cause_table[rows[0]->cause].key, at.cause);
		ck_assert_str_eq(rows[0]->source, at.source);
		for (size_t i = 0; i < nw_error_count(); i++)
			seen[i] = seen[i] || nw_error_row(i) == rows[0];
	}
	for (size_t i = 0; i < nw_error_count(); i++)
		ck_assert_msg(seen[i], "no sentence for '%s'", nw_error_row(i)->pattern);
	free(seen);
	fclose(file);
}
END_TEST

/* What the search relies on. */
START_TEST(patterns_are_in_small_letters)
{
	for (size_t i = 0; i < nw_error_count(); i++)
		ck_assert_msg(
			!nw_error_row(i)->pattern[strcspn(nw_error_row(i)->pattern,
							  "ABCDEFGHIJKLMNOPQRSTUVWXYZ")],
			"%s", nw_error_row(i)->pattern);
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

UNIT_MAIN("why_errors", errors_of_other_tools_are_known, each_row_is_for_its_own_sentence,
	  patterns_are_in_small_letters, an_error_becomes_a_diagnosis)
