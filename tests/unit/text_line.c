// SPDX-License-Identifier: MIT
/* stream: lines of trace text, of kernels and tools of all ages. */
#include "stream/pages/stream.h"
#include "stream/trace_pipe/text.h"
#include "stream/trace_pipe/trace_text.h"
#include "unit.h"

/* What a line is: its text, then what is expected of it. */
struct sample {
	const char *line, *comm;
	int32_t tid, tgid;
	uint32_t cpu;
	uint64_t time;
	const char *event, *args;
};

static const struct sample samples[] = {
	/* 3.10, 4.x: four flags, microseconds */
	{"            bash-1994  [002] d..3  4342.324898: p_main: (0x4004f0) arg1=0x1",
	 "bash", 1994, 0, 2, 4342324898000, "p_main", "(0x4004f0) arg1=0x1"},
	/* five flags, wider thread ids */
	{"          server-123456  [000] ..... 99999.000001: req: (0x55d0c8a4f136) id=7",
	 "server", 123456, 0, 0, 99999000001000, "req", "(0x55d0c8a4f136) id=7"},
	/* PREEMPT_RT has more columns, and two of them */
	{"          server-12      [001] d..h2.1 3.250000: req: (0x1)", "server", 12, 0, 1,
	 3250000000, "req", "(0x1)"},
	{"          server-12      [001] d... .1 3.250000: req: (0x1)", NULL, 0, 0, 0, 0,
	 NULL, NULL},
	/* record-tgid: four kernels' ways of it */
	{"           <...>-3543  (-----) [000] .... 35.001: e: x=1", "<...>", 3543, 0, 0,
	 35001000000, "e", "x=1"},
	{"     app worker-3543    (   3540) [000] ....1    35.000001: e: x=1", "app worker",
	 3543, 3540, 0, 35000001000, "e", "x=1"},
	{"          app-w-3543    (-------) [000] ....    35.000001: e:", "app-w", 3543, 0,
	 0, 35000001000, "e", ""},
	{"            surf-277   [003] (  277) ...1    35.000001: e: y=2", "surf", 277, 277,
	 3, 35000001000, "e", "y=2"},
	/* irq-info off */
	{"            bash-1994  [002]  4342.324898: e: a=1", "bash", 1994, 0, 2,
	 4342324898000, "e", "a=1"},
	/* clocks that do not count nanoseconds */
	{"            bash-1994  [002] ....  123456789012: e: a=1", "bash", 1994, 0, 2,
	 123456789012, "e", "a=1"},
	{"            bash-1994  [002]  42: e: a=1", "bash", 1994, 0, 2, 42, "e", "a=1"},
	/* trace-cmd report, with -t, too */
	{"            bash-1994  [002]  4342.324898123: sched_switch:         prev_comm=x",
	 "bash", 1994, 0, 2, 4342324898123, "sched_switch", "prev_comm=x"},
	{"bash-1994  [002] .....  4342.3: sdt_app:req: (4004f0) a=1", "bash", 1994, 0, 2,
	 4342300000000, "sdt_app:req", "(4004f0) a=1"},
	/* returns */
	{"            bash-1994  [002] d..3  1.000000: r: (0x4004f0 <- 0x4003e0) rc=-1",
	 "bash", 1994, 0, 2, 1000000000, "r", "(0x4004f0 <- 0x4003e0) rc=-1"},
	/* names that look like something else */
	{"   a-1 [000] d. 1-77      [001] ..... 5.000000: e: x=1", "a-1 [000] d. 1", 77, 0,
	 1, 5000000000, "e", "x=1"},
	{" 9 [0] 1.1: b: -77      [001] ..... 5.000000: e: x=1", "9 [0] 1.1: b: ", 77, 0, 1,
	 5000000000, "e", "x=1"},
	{"               --78      [001] ..... 5.000000: e: x=1", "-", 78, 0, 1, 5000000000,
	 "e", "x=1"},
	{"a-1-77 [001] ..... 5.000000: e: x=1", "a-1", 77, 0, 1, 5000000000, "e", "x=1"},
	{"          <idle>-0       [001] d.h.. 5.000000: e: x=1", "<idle>", 0, 0, 1,
	 5000000000, "e", "x=1"},
	{"   kworker/u8:1-77      [001] ..... 5.000000: e: x=1", "kworker/u8:1", 77, 0, 1,
	 5000000000, "e", "x=1"},
	/* arguments that look like something else */
	{"            bash-1994  [002] d..3  1.000000: e: s=\"b-1 [000] .... 2.0: f: x\"",
	 "bash", 1994, 0, 2, 1000000000, "e", "s=\"b-1 [000] .... 2.0: f: x\""},
	{"            bash-1994  [002] d..3  1.000000: bprint: done: 3", "bash", 1994, 0, 2,
	 1000000000, "bprint", "done: 3"},
	{"            bash-1994  [002] d..3  1.000000: e: a=1\r", "bash", 1994, 0, 2,
	 1000000000, "e", "a=1"},
	/* none */
	{"            bash-1994  [002] d..3  1.000000: schedule <-do_idle", NULL, 0, 0, 0,
	 0, NULL, NULL},
	{"            bash-1994  [002] d..3  1.0000000000: e: ", NULL, 0, 0, 0, 0, NULL,
	 NULL},
	{"            bash-99999999999 [002] d..3  1.000000: e: ", NULL, 0, 0, 0, 0, NULL,
	 NULL},
	{"            bash-1994  [002 d..3  1.000000: e: ", NULL, 0, 0, 0, 0, NULL, NULL},
	{"            bash-1994  ( 12 [002] d..3  1.000000: e: ", NULL, 0, 0, 0, 0, NULL,
	 NULL},
	{"-1 [0] 1: e: ", NULL, 0, 0, 0, 0, NULL, NULL},
	{"cpus=2", NULL, 0, 0, 0, 0, NULL, NULL},
	{"-", NULL, 0, 0, 0, 0, NULL, NULL},
};

static void expect(const char *text, size_t len, const char *wanted)
{
	ck_assert_msg(len == strlen(wanted) && memcmp(text, wanted, len) == 0,
		      "'%.*s' rather than '%s'", (int)len, text, wanted);
}

START_TEST(lines_of_all_kernels)
{
	for (size_t i = 0; i < NW_COUNT(samples); i++) {
		const struct sample *s = &samples[i];
		struct nw_text_line line;
		nw_text_line_parse(s->line, strlen(s->line), &line);
		if (!s->comm) {
			ck_assert_msg(line.kind == NW_TEXT_BAD, "%s", s->line);
			continue;
		}
		ck_assert_msg(line.kind == NW_TEXT_EVENT, "%s", s->line);
		expect(line.comm, line.comm_len, s->comm);
		ck_assert_int_eq(line.tid, s->tid);
		ck_assert_int_eq(line.tgid, s->tgid);
		ck_assert_uint_eq(line.cpu, s->cpu);
		ck_assert_uint_eq(line.time, s->time);
		ck_assert_int_eq(line.ticks, !strchr(strchr(s->line, ']'), '.') ||
						     line.time == 123456789012);
		expect(line.event, line.event_len, s->event);
		expect(line.args, line.args_len, s->args);
	}
}
END_TEST

static struct nw_text_line parse(const char *text)
{
	struct nw_text_line line;

	nw_text_line_parse(text, strlen(text), &line);
	return line;
}

START_TEST(losses)
{
	static const struct {
		const char *text;
		uint32_t cpu;
		uint64_t lost;
	} samples_of_it[] = {{"CPU:3 [LOST 17 EVENTS]", 3, 17},
			     {"CPU:12 [LOST EVENTS]", 12, 0},
			     {"CPU:1 [5 EVENTS DROPPED]", 1, 5},
			     {"CPU:1 [EVENTS DROPPED]", 1, 0}};

	for (size_t i = 0; i < NW_COUNT(samples_of_it); i++) {
		struct nw_text_line line = parse(samples_of_it[i].text);
		ck_assert_int_eq(line.kind, NW_TEXT_LOSS);
		ck_assert_uint_eq(line.cpu, samples_of_it[i].cpu);
		ck_assert_uint_eq(line.lost, samples_of_it[i].lost);
	}
	ck_assert_int_eq(parse("CPU:").kind, NW_TEXT_BAD);
	ck_assert_int_eq(parse("CPU:1").kind, NW_TEXT_BAD);
	ck_assert_int_eq(parse("CPU:1 [").kind, NW_TEXT_BAD);
	ck_assert_int_eq(parse("CPU:1 [LOST 5 SOCKS]").kind, NW_TEXT_BAD);
}
END_TEST

START_TEST(comments)
{
	ck_assert_int_eq(parse("# tracer: nop").kind, NW_TEXT_COMMENT);
	ck_assert_int_eq(parse("##### CPU 1 buffer started ####").kind, NW_TEXT_COMMENT);
	ck_assert_int_eq(parse("").kind, NW_TEXT_COMMENT);
	ck_assert_uint_eq(parse("# entries-in-buffer/entries-written: 140/250   #P:4").lost,
			  110);
	ck_assert_uint_eq(parse("# entries-in-buffer/entries-written: 140/140").lost, 0);
	ck_assert_uint_eq(parse("# entries-in-buffer/entries-written: 140").lost, 0);
	struct nw_text_line line = parse("#nw start 1.5");
	ck_assert_int_eq(line.kind, NW_TEXT_HEADER);
	expect(line.args, line.args_len, "start 1.5");
}
END_TEST

/* "name|value" of each argument, one behind the other. */
static void expect_args(const char *text, const char *wanted)
{
	const char *end = text + strlen(text), *at = nw_text_args(text, strlen(text));
	struct nw_text_arg arg;
	struct nw_buf seen = {0};

	while (nw_text_arg_next(&at, end, &arg))
		nw_buf_printf(&seen, "<%.*s|%.*s>", (int)arg.name_len, arg.name,
			      (int)arg.value_len, arg.value);
	ck_assert_str_eq(nw_buf_str(&seen), wanted);
	nw_buf_free(&seen);
}

START_TEST(arguments)
{
	expect_args("", "");
	expect_args("(0x401136)", "");
	expect_args("(0x401136) a=1 b=0x2 c=-3", "<a|1><b|0x2><c|-3>");
	expect_args("(0x401136 <- 0x401100) rc=0", "<rc|0>");
	expect_args("a={1,2,3} b=(fault)", "<a|{1,2,3}><b|(fault)>");
	expect_args("s=\"a b=c\" n=5", "<s|\"a b=c\"><n|5>");
	expect_args("s=\"say \"hi\" x\" n=5", "<s|\"say \"hi\" x\"><n|5>");
	expect_args("s=\"\" t=\"x=\"\" u=\"=\"", "<s|\"\"><t|\"x=\"\"><u|\"=\">");
	expect_args("s=\"never ends n=5", "<s|\"never ends n=5>");
	expect_args("prev_comm=a b prev_pid=1 prev_state=R+ ==> next_comm=c d",
		    "<prev_comm|a b><prev_pid|1><prev_state|R+ ==>><next_comm|c d>");
	expect_args("x=a=b 1=2 y=3", "<x|a=b 1=2><y|3>");
	expect_args("= =a a==", "<a|=>");
	expect_args("(0x1 a=1", "<a|1>");
}
END_TEST

START_TEST(numbers)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
	} tries[] = {{"0", true, 0},
		     {"17", true, 17},
		     {"-1", true, UINT64_MAX},
		     {"0x1F", true, 31},
		     {"-0x1", true, UINT64_MAX},
		     {"18446744073709551615", true, UINT64_MAX},
		     {"0xffffffffffffffff", true, UINT64_MAX},
		     {"0x11111111111111111", false, 0},
		     {"111111111111111111111", false, 0},
		     {"", false, 0},
		     {"-", false, 0},
		     {"0x", false, 0},
		     {"1x", false, 0},
		     {"(fault)", false, 0}};

	for (size_t i = 0; i < NW_COUNT(tries); i++) {
		uint64_t value = 0;
		bool ok = nw_text_number(tries[i].text, strlen(tries[i].text), &value);
		ck_assert_msg(ok == tries[i].ok && value == tries[i].value, "%s",
			      tries[i].text);
	}
}
END_TEST

UNIT_MAIN("stream", lines_of_all_kernels, losses, comments, arguments, numbers)
