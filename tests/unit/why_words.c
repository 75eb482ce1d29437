// SPDX-License-Identifier: MIT
/* why: other tools' command lines. */
#include <errno.h>
#include <unistd.h>

#include "unit.h"
#include "why/why.h"

/* facts are made of literals, which nothing here writes to */
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"

static struct nw_tool tool;
static struct nw_error err;

#define PARSE(...) nw_tool_parse((char *const[]){__VA_ARGS__, NULL}, &tool, &err)

static void expect_list(const nw_strings *list, const char *wanted)
{
	nw_cleanup(nw_buf_free) struct nw_buf text = {0};

	for (size_t i = 0; i < list->count; i++)
		nw_buf_printf(&text, "%s%s", i ? " | " : "", list->item[i]);
	ck_assert_str_eq(nw_buf_str(&text), wanted);
}

/* Expects that a command line names these specs and events, with " | " between them, and this process. */
#define EXPECT_READ(wanted_specs, wanted_events, wanted_pid, ...) \
	do {                                                      \
		ck_assert_int_eq(PARSE(__VA_ARGS__), 0);          \
		expect_list(&tool.specs, wanted_specs);           \
		expect_list(&tool.events, wanted_events);         \
		ck_assert_int_eq(tool.pid, wanted_pid);           \
	} while (0)

START_TEST(one_liners_are_read)
{
	EXPECT_READ("usdt:/bin/app:app:tick", "", 4711, "bpftrace", "-p", "4711", "-e",
		    "usdt:/bin/app:app:tick { printf(\"%d {\", arg1); }");
	ck_assert_uint_eq(tool.args_used, 2);
	ck_assert(!tool.filter && !tool.returns_arg);
	nw_tool_free(&tool);
	EXPECT_READ("usdt:/a:b:c | uprobe:/a:d | uretprobe:/a:d", "", 13, "sudo",
		    "/usr/bin/bpftrace",
		    "-eU:/a:b:c,u:/a:d { @ = count() }"
		    " ur:/a:d /pid == 12/ { print(arg0"
		    ") }",
		    "--pid=13");
	ck_assert(tool.filter && tool.returns_arg);
	nw_tool_free(&tool);
	EXPECT_READ("uprobe:/a/b:f", "", 0, "bpftrace", "-e",
		    "BEGIN { printf(\"x\\\"}\"); } /* uprobe:/no:no */ "
		    "uprobe:\"/a/b\":f /comm == \"a/b\"/ { @[str(arg0)] = 1; } // end");
	ck_assert(tool.wants_string && tool.filter);
	ck_assert_uint_eq(tool.other_probes, 1);
	nw_tool_free(&tool);
	EXPECT_READ("uprobe:/a:f", "", 12, "bpftrace", "-e",
		    "uprobe:/a:f /pid == 12/ { @ = 1 }");
	nw_tool_free(&tool);
}
END_TEST

START_TEST(quoted_names_are_whole)
{
	/* Before a colon "cpp" is a language; alone it may be a program: the preprocessor. */
	EXPECT_READ(
		"uprobe:/a:A::f(int, char) | uretprobe:/a:operator new | uprobe:cpp:g | uprobe:/cpp:h | usdt:/a:p:\"tick\"",
		"", 0, "bpftrace", "-e",
		"uprobe:/a:cpp:\"A::f(int, char)\", ur:/a:\"operator new\", "
		"uprobe:cpp:g,uprobe:/cpp:h, usdt:/a:p:\"\\\"tick\\\"\" { @ = 1 }");
	ck_assert(tool.source_names);
	nw_tool_free(&tool);
	ck_assert_int_eq(PARSE("bpftrace", "-e", "uprobe:/a:A::f { @[\"x\"] = 1 }"), 0);
	ck_assert(!tool.source_names);
	nw_tool_free(&tool);
}
END_TEST

START_TEST(words_of_the_command_line_are_no_arguments)
{
	static const struct {
		char *argv[7];
		size_t used, words;
	} cases[] = {
		{{"bpftrace", "-e", "usdt:/a:b:c { print(str($1)) }"}, 1, 0},
		{{"bpftrace", "-e", "usdt:/a:b:c { @ = $2 + arg0 }", "7", "-p", "4711"},
		 2,
		 1},
		{{"bpftrace", "-p", "7", "script.bt", "one", "two"}, 0, 2},
		{{"bpftrace", "-e", "usdt:/a:b:c { $x = 1; $x1 = 2; print(\"$3\") }"},
		 0,
		 0},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		ck_assert_int_eq(nw_tool_parse(cases[i].argv, &tool, &err), 0);
		ck_assert_uint_eq(tool.word_used, cases[i].used);
		ck_assert_uint_eq(tool.words, cases[i].words);
		nw_tool_free(&tool);
	}
}
END_TEST

/* What is one process's only is no filter beside that; the rest may let nothing through. */
START_TEST(filters_on_a_process_are_told_from_others)
{
	static const struct {
		const char *filter;
		pid_t pid;
		bool filters;
	} cases[] = {
		{"/pid == 12/", 12, false},
		{"/ pid==12 /", 12, false},
		{"/ppid == 1/", 0, true},
		{"/pid != 1/", 0, true},
		{"/pid == 12 || pid == 13/", 0, true},
		{"/tid == 12/", 0, true},
		{"/comm == \"pid == 1\"/", 0, true},
		{"/pid == $1/", 0, true},
		{"/pid == 99999999999/", 0, true},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text("uprobe:/a:f %s { @ = 1 }",
							     cases[i].filter);
		ck_assert_int_eq(PARSE("bpftrace", "-e", text), 0);
		ck_assert_msg(tool.pid == cases[i].pid, "%s", cases[i].filter);
		ck_assert_msg(tool.filter == cases[i].filters, "%s", cases[i].filter);
		nw_tool_free(&tool);
	}
}
END_TEST

START_TEST(stap_and_perf_probe_are_read)
{
	EXPECT_READ(
		"usdt:/bin/app:app:tick | uretprobe:/lib/x.so:f | uprobe:/proc/4711/exe:g",
		"", 4711, "stap", "-x", "4711", "-e",
		"probe process(\"/bin/app\").provider(\"app\").mark(\"tick\"), "
		"process(\"/bin/app\").library(\"/lib/x.so\").function(\"f@x.c\").return, "
		"process.function(\"g\") { println(pp()) } probe kernel.function(\"h\") { }");
	nw_tool_free(&tool);
	ck_assert_int_eq(PARSE("stap", "-v", "-c", "app", "a.stp"), 0);
	ck_assert_str_eq(tool.script, "a.stp");
	ck_assert_int_eq(nw_tool_script(&tool, "probe process(\"a\").mark(\"b\") {}", &err),
			 0);
	ck_assert_str_eq(tool.specs.item[0], "usdt:a:*:b");
	nw_tool_free(&tool);
	EXPECT_READ("uretprobe:/bin/app:serve", "", 0, "sudo", "perf", "probe", "-x",
		    "/bin/app", "my:ev=serve%return", "$retval");
	nw_tool_free(&tool);
	EXPECT_READ(
		"usdt:/bin/app:app:tick | uprobe:/bin/app:serve+4 | uprobe:/bin/app:serve",
		"", 0, "perf", "probe", "--exec=/bin/app", "-a", "%sdt_app:tick", "--add",
		"serve+4 n=%di", "-a", "serve@x.c:12");
	nw_tool_free(&tool);
}
END_TEST

START_TEST(recorders_name_events)
{
	EXPECT_READ("", "sdt_app:tick | probe_app:a | probe_b:c", 12, "perf", "record",
		    "--call-graph", "dwarf", "-o", "x", "-p", "12", "-e",
		    "%sdt_app:tick:u,{probe_app:a,cycles}:S", "-eprobe_b:c", "--filter",
		    "n > 1", "--", "./app", "-e", "no:event");
	ck_assert(tool.by_event && tool.filter);
	nw_tool_free(&tool);
	EXPECT_READ("", "sdt_app | probe_a:b*", 7, "sudo", "trace-cmd", "record", "-b",
		    "100", "-e", "sdt_app", "-e", "probe_a:b*", "-f", "n > 1", "-P", "7",
		    "./app", "-e", "x:y");
	ck_assert(tool.by_event && tool.filter);
	nw_tool_free(&tool);
}
END_TEST

START_TEST(what_cannot_be_read_is_told)
{
	ck_assert_int_eq(PARSE("perf", "record"), -ENOENT);
	ck_assert_int_eq(PARSE("perf", "record", "-e", "cycles,cpu/event=0x3c,name=a:b/"),
			 -ENOENT);
	ck_assert_int_eq(PARSE("perf", "report"), -EINVAL);
	ck_assert_int_eq(PARSE("trace-cmd", "report"), -EINVAL);
	ck_assert_int_eq(PARSE("trace-cmd", "record", "-o"), -ENOENT);
	ck_assert_int_eq(PARSE("perf", "probe", "vfs_read"), -EINVAL);
	ck_assert_int_eq(PARSE("gdb", "-p", "1"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "'gdb' is not a tool"));
	ck_assert_int_eq(PARSE("stap", "-e", "probe begin { }"), -ENOENT);
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
	static const char alphabet[] = "usdt:/ab,{}\"\\/* arg0pid=%@.()\n";
	uint64_t state = 7;

	for (int i = 0; i < 20000; i++) {
		char text[40] = "u:/a:f ";
		size_t len = 7 + unit_random(&state) % 32;
		for (size_t at = 7; at < len; at++)
			text[at] = alphabet[unit_random(&state) % (sizeof(alphabet) - 1)];
		if (PARSE("bpftrace", "-e", text) == 0)
			nw_tool_free(&tool);
		if (PARSE("perf", "probe", "-x", "/a", text + 7) == 0)
			nw_tool_free(&tool);
		if (PARSE("trace-cmd", "record", "-e", text + 7, text + 8) == 0)
			nw_tool_free(&tool);
		memcpy(text, "process", 7);
		if (PARSE("stap", "-e", text) == 0)
			nw_tool_free(&tool);
	}
}
END_TEST

UNIT_MAIN("why_words", one_liners_are_read, quoted_names_are_whole,
	  words_of_the_command_line_are_no_arguments,
	  filters_on_a_process_are_told_from_others, stap_and_perf_probe_are_read,
	  recorders_name_events, what_cannot_be_read_is_told, any_text_is_survived)
