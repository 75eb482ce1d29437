// SPDX-License-Identifier: MIT
/* why: other tools' command lines and errors. */
#include <errno.h>
#include <unistd.h>

#include "nopwatch/why.h"
#include "unit.h"

/* facts are made of literals, which nothing here writes to */
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"

static struct nw_tool tool;
static struct nw_error err;

#define PARSE(...) nw_tool_parse((char *const[]){__VA_ARGS__, NULL}, &tool, &err)

START_TEST(one_liners_are_read)
{
	ck_assert_int_eq(PARSE("bpftrace", "-p", "4711", "-e",
			       "usdt:/bin/app:app:tick { printf(\"%d {\", arg1); }"),
			 0);
	ck_assert_int_eq(tool.pid, 4711);
	ck_assert_uint_eq(tool.specs.count, 1);
	ck_assert_str_eq(tool.specs.item[0], "usdt:/bin/app:app:tick");
	ck_assert_uint_eq(tool.args_used, 2);
	ck_assert(!tool.filter && !tool.returns_arg);
	nw_tool_free(&tool);
	ck_assert_int_eq(PARSE("sudo", "/usr/bin/bpftrace",
			       "-eU:/a:b:c,u:/a:d { @ = count() }"
			       " ur:/a:d /pid == 12/ { print(arg0"
			       ") }",
			       "--pid=13"),
			 0);
	ck_assert_uint_eq(tool.specs.count, 3);
	ck_assert_str_eq(tool.specs.item[0], "usdt:/a:b:c");
	ck_assert_str_eq(tool.specs.item[1], "uprobe:/a:d");
	ck_assert_str_eq(tool.specs.item[2], "uretprobe:/a:d");
	ck_assert(tool.filter && tool.returns_arg);
	ck_assert_int_eq(tool.pid, 13);
	nw_tool_free(&tool);
	ck_assert_int_eq(
		PARSE("bpftrace", "-e",
		      "BEGIN { printf(\"x\\\"}\"); } /* uprobe:/no:no */ "
		      "uprobe:\"/a/b\":f /comm == \"a/b\"/ { @[str(arg0)] = 1; } // end"),
		0);
	ck_assert_uint_eq(tool.specs.count, 1);
	ck_assert_str_eq(tool.specs.item[0], "uprobe:/a/b:f");
	ck_assert(tool.wants_string && tool.filter);
	ck_assert_uint_eq(tool.others, 1);
	ck_assert_int_eq(tool.pid, 0);
	nw_tool_free(&tool);
	ck_assert_int_eq(PARSE("bpftrace", "-e", "uprobe:/a:f /pid == 12/ { @ = 1 }"), 0);
	ck_assert_int_eq(tool.pid, 12);
	nw_tool_free(&tool);
}
END_TEST

START_TEST(what_cannot_be_read_is_told)
{
	ck_assert_int_eq(PARSE("perf", "record"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "'perf' is not a tool"));
	ck_assert_int_eq(PARSE("bpftrace", "-e", "kprobe:f { }"), -ENOENT);
	ck_assert_int_eq(PARSE("bpftrace", "-e"), -ENOENT);
	ck_assert_int_eq(PARSE("bpftrace"), -ENOENT);
	ck_assert_int_eq(PARSE("bpftrace", "-e", "tracepoint:probe_app:tick { }"), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "PERF_EVENT_IOC_SET_BPF"));
}
END_TEST

/* Whatever stands there, reading ends. */
START_TEST(any_text_is_survived)
{
	static const char alphabet[] = "usdt:/ab,{}\"\\/* arg0pid=\n";
	uint64_t state = 7;

	for (int i = 0; i < 20000; i++) {
		char text[40] = "u:/a:f ";
		size_t len = 7 + unit_random(&state) % 32;
		for (size_t at = 7; at < len; at++)
			text[at] = alphabet[unit_random(&state) % (sizeof(alphabet) - 1)];
		if (PARSE("bpftrace", "-e", text) == 0)
			nw_tool_free(&tool);
	}
}
END_TEST

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

/* Every row can be reached: its own pattern finds it. */
START_TEST(no_row_hides_another)
{
	const struct nw_error_cause *rows[16];

	for (size_t i = 0; i < nw_error_count(); i++) {
		const struct nw_error_cause *row = nw_error_row(i);
		size_t count = nw_error_causes(row->pattern, rows, 16), at = 0;
		while (at < count && rows[at] != row)
			at++;
		ck_assert_msg(at < count, "%s", row->pattern);
		ck_assert_uint_eq(strcspn(row->pattern, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
				  strlen(row->pattern));
		ck_assert_ptr_nonnull(row->source);
	}
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

UNIT_MAIN("why_words", one_liners_are_read, what_cannot_be_read_is_told,
	  any_text_is_survived, errors_of_other_tools_are_known, no_row_hides_another,
	  an_error_becomes_a_diagnosis)
