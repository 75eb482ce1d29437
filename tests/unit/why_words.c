// SPDX-License-Identifier: MIT
/* why: other tools' command lines. */
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
	ck_assert_uint_eq(tool.other_probes, 1);
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

UNIT_MAIN("why_words", one_liners_are_read, what_cannot_be_read_is_told,
	  any_text_is_survived)
