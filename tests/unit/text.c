// SPDX-License-Identifier: MIT
/* stream: text becomes the same records, hits and values, however it is cut and damaged. */
#include "show/text/text.h"
#include "stream/pages/stream.h"
#include "stream/trace_pipe/trace_text.h"
#include "unit.h"

/* A header as the script prints it: two probes, one of which has arguments of every kind. */
#define HEADER                                                                       \
	"#nw nopwatch-plan 1\n#nw group nopwatch_t\n#nw image /bin/app\n"            \
	"#nw probe 0 0 app one app:one 1\n#nw arg s string\n#nw arg n s32\n"         \
	"#nw arg x x64\n#nw arg f f64\n#nw arg v u8[3]\n#nw point 4112 4112 0\n"     \
	"#nw probe 0 0 app two app:two 0\n#nw point 8224 8224 0\n"                   \
	"#nw planned 0 0 1 0\n#nw source 0 0 -1 string string 0 - 0 -\n"             \
	"#nw source 0 1 -1 s32 s32 0 - 0 -\n#nw source 0 2 -1 u64 x64 0 - 0 -\n"     \
	"#nw source 0 3 -1 f64 f64 0 - 0 -\n#nw source 0 4 -1 u8[3] u8[3] 0 - 0 -\n" \
	"#nw planned 1 0 1 0\n#nw event one 0\n#nw field s\n#nw field n\n"           \
	"#nw field x\n#nw field f\n#nw field v\n#nw place 0 0\n#nw event two 0\n"    \
	"#nw place 1 0\n#nw start 10.5\n#nw end\n"
#define LINE(cpu, time, rest) \
	"             app-77      [00" cpu "] ..... " time ": " rest "\n"
#define ONE "one: (0x401010) "

struct reading {
	struct nw_text *text;
	struct nw_selection selection;
	struct nw_plan plan;
	struct nw_armed armed;
	struct nw_formats formats;
	struct nw_join *join;
};

static void use_header(struct reading *r)
{
	const struct nw_buf *header = nw_text_header(r->text);
	struct nw_error err = {0};

	ck_assert_msg(nw_plan_load(nw_buf_str(header), header->len, &r->selection, &r->plan,
				   &r->armed, NULL, NULL, &err) == 0,
		      "%s", err.what);
	ck_assert_int_eq(nw_text_use(r->text, &r->armed, true, &r->formats), 0);
	ck_assert_int_eq(nw_join_open(&r->formats, true, &r->join), 0);
}

static void open_memory(struct reading *r, const char *text)
{
	*r = (struct reading){0};
	ck_assert_int_eq(nw_text_open_memory(text, strlen(text), &r->text), 0);
	ck_assert_int_eq(nw_text_begin(r->text), NW_TEXT_HEADER);
	use_header(r);
}

static void open_learned(struct reading *r, const char *text)
{
	*r = (struct reading){0};
	ck_assert_int_eq(nw_text_open_memory(text, strlen(text), &r->text), 0);
	ck_assert_int_eq(nw_text_begin(r->text), NW_TEXT_EVENT);
	ck_assert_int_eq(nw_text_learn(text, strlen(text), "-", &r->selection, &r->plan,
				       &r->armed, NULL),
			 0);
	ck_assert_int_eq(nw_text_use(r->text, &r->armed, true, &r->formats), 0);
	ck_assert_int_eq(nw_join_open(&r->formats, true, &r->join), 0);
}

static void close_reading(struct reading *r)
{
	nw_join_free(r->join);
	nw_text_free(r->text);
	nw_formats_free(&r->formats);
	nw_armed_free(&r->armed);
	nw_plan_free(&r->plan);
	nw_selection_free(&r->selection);
}

static void write_hit(const struct reading *r, const struct nw_hit *hit, struct nw_buf *out)
{
	nw_buf_printf(out, "%lu %u %d %s", hit->time, hit->cpu, hit->tid,
		      r->selection.probes.item[hit->probe]->label);
	for (size_t i = 0; i < hit->value_count; i++) {
		nw_buf_addc(out, ' ');
		nw_value_print(&hit->values[i], out);
	}
	nw_buf_addc(out, '\n');
}

/* All records there are now, a line each. */
static void write_records(struct reading *r, struct nw_buf *out)
{
	struct nw_record record;
	struct nw_text_who who;
	struct nw_hit hit;

	while (nw_text_next(r->text, &record, &who) > 0) {
		if (record.kind == NW_RECORD_LOSS)
			nw_buf_printf(out, "loss %u %lu..%ld %lu\n", record.cpu,
				      record.time, (long)record.until, record.lost);
		else if (record.kind == NW_RECORD_TASK)
			nw_buf_printf(out, "exit %d\n", nw_record_exited(&record));
		else if (nw_join_push(r->join, &record, &hit) > 0)
			write_hit(r, &hit, out);
	}
}

static void expect_records(struct reading *r, const char *wanted)
{
	struct nw_buf seen = {0};

	write_records(r, &seen);
	ck_assert_str_eq(nw_buf_str(&seen), wanted);
	nw_buf_free(&seen);
}

static void expect(const char *text, const char *wanted)
{
	struct reading r;

	open_memory(&r, text);
	expect_records(&r, wanted);
	close_reading(&r);
}

/* ---- with our header ---------------------------------------------------------------- */

START_TEST(values_of_every_kind)
{
	expect(HEADER LINE("1", "11.000001",
			   ONE "s=\"a b\" n=-5 x=0xff f=4611686018427387904 v={1,2,255}")
		       LINE("0", "11.000002", "two: (0x402020)")
			       LINE("0", "11.000003", /* as 4.4 prints them */
				    ONE "s=(fault) n=7 x=0x1f f=0x0 v={0x1,0x2,0x3}"),
	       "11000001000 1 77 app:one \"a b\" -5 0xff 2 {1,2,255}\n"
	       "11000002000 0 77 app:two\n"
	       "11000003000 0 77 app:one (fault) 7 0x1f 0 {1,2,3}\n");
}
END_TEST

START_TEST(what_is_missing_is_missing)
{
	expect(HEADER LINE("1", "1.0", ONE "n=5")
		       LINE("1", "2.0", ONE "s=\"\" n=x x= f=0x v={1,2}")
			       LINE("1", "3.0",
				    ONE "v={1,2,3}"
					" s=\"late\"") LINE("1", "4.0", "one:"),
	       "1000000000 1 77 app:one (none) 5 (none) (none) (none)\n"
	       "2000000000 1 77 app:one \"\" (none) (none) (none) (none)\n"
	       "3000000000 1 77 app:one \"late\" (none) (none) (none) (none)\n"
	       "4000000000 1 77 app:one (none) (none) (none) (none) (none)\n");
}
END_TEST

START_TEST(strings_may_hold_anything)
{
	expect(HEADER LINE("1", "1.0", ONE "s=\"x\" n=1 y=\"\" n=2 x=0x3 f=0 v={1,2,3}")
		       LINE("1", "2.0", ONE "s=\"a\nb\n\n# c\nd\" n=2 x=0x3 f=0 v={1,2,3}")
			       LINE("1", "3.0", "two: (0x402020)"),
	       "1000000000 1 77 app:one \"x\\\" n=1 y=\\\"\" 2 0x3 0 {1,2,3}\n"
	       "2000000000 1 77 app:one \"a\\nb\\n\\n# c\\nd\" 2 0x3 0 {1,2,3}\n"
	       "3000000000 1 77 app:two\n");
}
END_TEST

START_TEST(late_lines_are_put_in_order)
{
	struct nw_buf text = {0};
	struct reading r;

	expect(HEADER LINE("0", "2.0", "two: (0x1)") LINE("1", "1.0", "two: (0x1)")
		       LINE("0", "2.0", "two: (0x2)") LINE("1", "2.0", "two: (0x1)"),
	       "1000000000 1 77 app:two\n2000000000 0 77 app:two\n"
	       "2000000000 0 77 app:two\n2000000000 1 77 app:two\n");
	/* beyond the window they come late, and are counted */
	nw_buf_adds(&text, HEADER);
	for (int i = 0; i < 2 * NW_TEXT_WINDOW; i++)
		nw_buf_printf(&text, LINE("0", "%d.0", "two: (0x1)"), 100 + i);
	nw_buf_adds(&text, LINE("1", "1.0", "two: (0x1)"));
	open_memory(&r, nw_buf_str(&text));
	struct nw_record record;
	int records = 0;
	while (nw_text_next(r.text, &record, NULL) > 0)
		records++;
	ck_assert_int_eq(records, 2 * NW_TEXT_WINDOW + 1);
	ck_assert_uint_eq(nw_text_stats(r.text).late, 1);
	close_reading(&r);
	nw_buf_free(&text);
}
END_TEST

START_TEST(losses_are_ranges_of_time)
{
	expect(HEADER LINE("0", "1.0", "two:")
		       LINE("1", "2.0", "two:") "CPU:0 [LOST 5 EVENTS]\n" LINE(
			       "0", "3.0", "two:") "CPU:1 [LOST EVENTS]\n",
	       "1000000000 0 77 app:two\nloss 0 1000000000..3000000000 5\n"
	       "2000000000 1 77 app:two\nloss 1 2000000000..-1 0\n"
	       "3000000000 0 77 app:two\n");
	/* of a CPU that nothing is known of: not since the machine was started */
	expect(HEADER "CPU:0 [LOST 4 EVENTS]\n" LINE("1", "1.0", "two:")
		       LINE("0", "2.0", "two:"),
	       "1000000000 1 77 app:two\nloss 0 1000000000..2000000000 4\n"
	       "2000000000 0 77 app:two\n");
}
END_TEST

/* What a line does not count is one event at least, unless our script has counted them all. */
START_TEST(losses_of_unknown_size_are_no_small_ones)
{
	static const struct {
		const char *text;
		uint64_t lost;
		bool is_least;
	} cases[] = {
		{"CPU:0 [LOST 5 EVENTS]\n", 5, false},
		{"CPU:0 [LOST EVENTS]\n", 1, true},
		{"CPU:0 [LOST 5 EVENTS]\nCPU:0 [LOST EVENTS]\n", 6, true},
		{"CPU:0 [LOST EVENTS]\n#nw lost 44\n", 44, false},
		{"CPU:0 [LOST 50 EVENTS]\nCPU:0 [LOST EVENTS]\n#nw lost 44\n", 51, true},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text(
			HEADER LINE("0", "1.0", "two:") "%s" LINE("0", "3.0", "two:"),
			cases[i].text);
		struct reading r;
		open_memory(&r, text);
		while (nw_text_next(r.text, &(struct nw_record){0}, NULL) > 0)
			;
		const struct nw_text_stats stats = nw_text_stats(r.text);
		ck_assert_msg(stats.lost == cases[i].lost, "%zu: %ju", i, stats.lost);
		ck_assert_msg(stats.lost_is_least == cases[i].is_least, "%zu", i);
		close_reading(&r);
	}
}
END_TEST

START_TEST(another_program_is_told)
{
	struct reading r;
	struct nw_record record;

	open_memory(&r, HEADER LINE("0", "1.0",
				    "sched_process_exec: filename=/x old_pid=3 pid=77 "
				    "old_pid=78"));
	ck_assert_int_eq(nw_text_next(r.text, &record, NULL), 1);
	ck_assert_int_eq(record.kind, NW_RECORD_TASK);
	ck_assert_int_eq(record.tid, 77);
	ck_assert_int_eq(nw_record_exec(&record), 78);
	ck_assert_int_eq(nw_record_exited(&record), 0);
	close_reading(&r);
}
END_TEST

START_TEST(other_lines_are_counted)
{
	struct reading r;

	open_memory(
		&r,
		"motd\n" HEADER LINE("0", "1.0", "two: (0x1)") "junk\n\n# c\n" LINE(
			"0", "2.0",
			"three: (0x1)") LINE("0", "3.0",
					     "two: (0x1)") LINE("0", "9.0",
								"tracing_mark_write: beat")
			LINE("0", "9.5",
			     "sched_process_exit: comm=a") "#nw lost 44\n#nw stop 12.25\n");
	expect_records(&r, "1000000000 0 77 app:two\n3000000000 0 77 app:two\nexit 77\n");
	const struct nw_text_stats stats = nw_text_stats(r.text);
	ck_assert_uint_eq(stats.bad, 2);
	ck_assert_uint_eq(stats.bad_at, 1);
	ck_assert_uint_eq(stats.other, 1);
	ck_assert_uint_eq(stats.lost, 44);
	ck_assert_uint_eq(stats.start, 10500000000);
	ck_assert_uint_eq(stats.stop, 12250000000);
	ck_assert_uint_eq(stats.now, 9500000000);
	ck_assert(!stats.ticks);
	close_reading(&r);
}
END_TEST

/* A birth as its line has it: is the thread meant, whose is it, what is it called? */
static void expect_birth(struct reading *r, struct nw_tasks *tasks, int32_t tid,
			 bool wanted, int32_t process, const char *comm)
{
	struct nw_record record;

	ck_assert_int_eq(nw_text_next(r->text, &record, NULL), 1);
	ck_assert_int_eq(record.kind, NW_RECORD_TASK);
	ck_assert_int_eq(nw_record_exited(&record), 0);
	nw_tasks_record(tasks, &record);
	const struct nw_task *task = nw_tasks_get(tasks, tid);
	ck_assert_int_eq(task->wanted, wanted);
	ck_assert_int_eq(task->pid, process);
	ck_assert_str_eq(task->comm, comm);
}

#define BORN(time, rest) LINE("0", time, "task_newtask: pid=" rest)
/* clang-format off */
static const char births[] = HEADER
	BORN("1.0", "78 comm=thread clone_flags=3d0f00 oom_score_adj=0")
	BORN("2.0", "79 comm=child clone_flags=1200011 oom_score_adj=-5")
	BORN("3.0", "80 comm=c clone_flags=10000 clone_flags=11 oom_score_adj=0")
	BORN("4.0", "81 comm=longer than any name clone_flags=10000")
	BORN("5.0", "82")
	BORN("6.0", "")
	BORN("7.0", "x comm= clone_flags=1")
	LINE("0", "8.0", "two: (0x402020)");
/* clang-format on */

START_TEST(births_say_whose_a_thread_is)
{
	static const pid_t only[] = {77};
	const struct nw_tasks_options options = {.pids = only, .pid_count = 1};
	struct nw_tasks *tasks;
	struct reading r;

	open_memory(&r, births);
	ck_assert_int_eq(nw_tasks_open(&options, &tasks), 0);
	expect_birth(&r, tasks, 78, true, 77, "thread");
	expect_birth(&r, tasks, 79, false, 79, "child");
	expect_birth(&r, tasks, 80, false, 80, "c clone_flags=1");
	expect_birth(&r, tasks, 81, true, 77, "longer than any");
	expect_records(&r, "8000000000 0 77 app:two\n");
	ck_assert_uint_eq(nw_text_stats(r.text).other, 3);
	nw_tasks_free(tasks);
	close_reading(&r);
}
END_TEST

START_TEST(who_is_said_by_the_line)
{
	struct nw_record record;
	struct nw_text_who who;
	struct reading r;

	open_memory(&r, HEADER "          my app-78 (   70) [002] .... 1.5: two: (0x1)\n");
	ck_assert_int_eq(nw_text_next(r.text, &record, &who), 1);
	ck_assert_int_eq(record.tid, 78);
	ck_assert_int_eq(who.pid, 70);
	ck_assert(who.comm_len == 6 && memcmp(who.comm, "my app", 6) == 0);
	close_reading(&r);
}
END_TEST

static const char mixed[] = HEADER LINE("1", "1.0",
					ONE "s=\"a\nb\" n=5 x=0x1 f=0 v={1,2,3}")
	LINE("0", "0.5", "two: (0x1)") "junk\n" LINE(
		"0", "1.5", "two: (0x1)") "CPU:0 [LOST 2 EVENTS]\n" LINE("0", "2.5",
									 ONE "s=\"c\" n=6");
static const char mixed_records[] =
	"500000000 0 77 app:two\n"
	"1000000000 1 77 app:one \"a\\nb\" 5 0x1 0 {1,2,3}\n"
	"1500000000 0 77 app:two\nloss 0 1500000000..2500000000 2\n"
	"2500000000 0 77 app:one \"c\" 6 (none) (none) (none)\n";

static void feed(struct nw_text *text, const char *bytes, size_t len)
{
	size_t room;
	char *to = nw_text_room(text, &room);

	ck_assert(to && room >= len);
	memcpy(to, bytes, len);
	nw_text_filled(text, len);
}

START_TEST(it_does_not_matter_how_text_is_cut)
{
	for (size_t step = 1; step < 80; step++) {
		struct reading r = {0};
		struct nw_buf seen = {0};
		bool begun = false;
		ck_assert_int_eq(nw_text_open(&r.text), 0);
		for (size_t at = 0; at < sizeof(mixed) - 1; at += step) {
			size_t left = sizeof(mixed) - 1 - at;
			feed(r.text, mixed + at, left < step ? left : step);
			if (!begun && nw_text_begin(r.text) == NW_TEXT_HEADER) {
				use_header(&r);
				begun = true;
			}
			if (begun)
				write_records(&r, &seen);
		}
		nw_text_finish(r.text);
		write_records(&r, &seen);
		ck_assert_str_eq(nw_buf_str(&seen), mixed_records);
		nw_buf_free(&seen);
		close_reading(&r);
	}
}
END_TEST

START_TEST(a_flush_hands_out_what_has_come)
{
	struct reading r = {0};

	ck_assert_int_eq(nw_text_open(&r.text), 0);
	feed(r.text, HEADER, sizeof(HEADER) - 1);
	ck_assert_int_eq(nw_text_begin(r.text), NW_TEXT_HEADER);
	use_header(&r);
	static const char line[] = LINE("0", "1.0", "two: (0x1)");
	feed(r.text, line, sizeof(line) - 1);
	expect_records(&r, "");
	nw_text_flush(r.text);
	expect_records(&r, "1000000000 0 77 app:two\n");
	close_reading(&r);
}
END_TEST

/* More text than the buffer has: lines move, and nothing is lost. */
START_TEST(long_streams)
{
	enum {
		LINES = 40000
	};
	struct reading r = {0};
	struct nw_record record;
	uint64_t records = 0;
	char line[160];

	ck_assert_int_eq(nw_text_open(&r.text), 0);
	feed(r.text, HEADER, sizeof(HEADER) - 1);
	ck_assert_int_eq(nw_text_begin(r.text), NW_TEXT_HEADER);
	use_header(&r);
	for (int i = 0; i < LINES; i++) {
		int len = snprintf(line, sizeof(line),
				   LINE("0", "%d.%06d", ONE "s=\"%d\" n=%d"), i / 1000,
				   i % 1000, i, i);
		feed(r.text, line, (size_t)len);
		for (; nw_text_next(r.text, &record, NULL) > 0; records++)
			ck_assert_uint_eq(record.time, records / 1000 * 1000000000 +
							       records % 1000 * 1000);
	}
	nw_text_finish(r.text);
	while (nw_text_next(r.text, &record, NULL) > 0)
		records++;
	ck_assert_uint_eq(records, LINES);
	close_reading(&r);
}
END_TEST

/* ---- hostile text ------------------------------------------------------------------- */

/* Bytes in, records out: whatever the text is, this ends, and every value can be printed. */
static void try_text(const char *text, size_t len)
{
	struct reading r = {0};
	struct nw_buf seen = {0};
	int ret;

	ck_assert_int_eq(nw_text_open_memory(text, len, &r.text), 0);
	if (nw_text_begin(r.text) == NW_TEXT_HEADER)
		ret = nw_plan_load(nw_buf_str(nw_text_header(r.text)),
				   nw_text_header(r.text)->len, &r.selection, &r.plan,
				   &r.armed, NULL, NULL, NULL);
	else
		ret = nw_text_learn(text, len, "-", &r.selection, &r.plan, &r.armed, NULL);
	if (ret == 0) {
		ck_assert_int_eq(nw_text_use(r.text, &r.armed, true, &r.formats), 0);
		ck_assert_int_eq(nw_join_open(&r.formats, true, &r.join), 0);
		write_records(&r, &seen);
	}
	nw_buf_free(&seen);
	close_reading(&r);
}

START_TEST(damaged_text_does_no_harm)
{
	static const char pieces[] = "\"\n=: -[]({})#nw 0x9\r\t\0\xff";
	uint64_t state = 1;
	char text[sizeof(mixed)];

	for (int round = 0; round < 20000; round++) {
		memcpy(text, mixed, sizeof(mixed));
		bool plain = round % 2; /* half of them without the header */
		size_t from = plain ? sizeof(HEADER) - 1 : 0;
		for (int i = 0; i < 1 + round % 5; i++) {
			size_t at = from + unit_random(&state) % (sizeof(mixed) - 1 - from);
			text[at] = pieces[unit_random(&state) % (sizeof(pieces) - 1)];
		}
		size_t cut = unit_random(&state) % 64;
		try_text(text + from, sizeof(mixed) - 1 - from - (round % 7 ? 0 : cut));
	}
}
END_TEST

START_TEST(lines_without_end)
{
	size_t len = 3 << 20;
	char *text = malloc(len);

	memset(text, 'x', len);
	try_text(text, len);
	static const char line[] = LINE("0", "1.0", "e: s=\"");
	memcpy(text, line, sizeof(line) - 2); /* without its newline */
	for (size_t i = 1000; i < len; i += 1000)
		text[i] = '\n'; /* one string of megabytes */
	try_text(text, len);
	free(text);
	try_text("", 0);
	try_text("\n", 1);
}
END_TEST

/* ---- without a header --------------------------------------------------------------- */

static void expect_learned(const char *text, const char *wanted)
{
	struct reading r;

	open_learned(&r, text);
	expect_records(&r, wanted);
	close_reading(&r);
}

START_TEST(events_are_taken_as_they_are)
{
	expect_learned(
		"# tracer: nop\n" LINE("0", "1.0",
				       "req: (0x1) id=5 s=\"a b\" t=\"c\" v={1,-2}")
			LINE("1", "2.0", "req: (0x1) id=-6 s=(fault) t=\"\" v={3,4}")
				LINE("1", "3.0", "sched_wakeup: comm=a b pid=7 addr=0x1f")
					LINE("1", "4.0", "app:x: n=0x1")
						LINE("1", "5.0", "app:x: n=2"),
		"1000000000 0 77 req 5 \"a b\" \"c\" {1,-2}\n"
		"2000000000 1 77 req -6 (fault) \"\" {3,4}\n"
		"3000000000 1 77 sched_wakeup \"a b\" 7 0x1f\n"
		"4000000000 1 77 app:x 1\n5000000000 1 77 app:x 2\n");
}
END_TEST

START_TEST(arguments_that_do_not_agree)
{
	expect_learned(LINE("0", "1.0", "e: a=1 b={1,2}") LINE("0", "2.0", "e: a=x b={1}")
			       LINE("0", "3.0", "e: c=18446744073709551615 d={x}"),
		       "1000000000 0 77 e \"1\" \"{1,2}\" (none) (none)\n"
		       "2000000000 0 77 e \"x\" \"{1}\" (none) (none)\n"
		       "3000000000 0 77 e (none) (none) 18446744073709551615 \"{x}\"\n");
}
END_TEST

START_TEST(no_trace_lines_at_all)
{
	static const char text[] = "hello\n# world\n";
	struct nw_selection selection;
	struct nw_error err = {0};
	struct nw_armed armed;
	struct nw_plan plan;

	ck_assert_int_eq(
		nw_text_learn(text, strlen(text), "-", &selection, &plan, &armed, &err),
		-2); /* ENOENT */
	ck_assert_str_eq(err.what, "there are no trace lines in it");
}
END_TEST

UNIT_MAIN("stream", values_of_every_kind, what_is_missing_is_missing,
	  strings_may_hold_anything, late_lines_are_put_in_order, losses_are_ranges_of_time,
	  losses_of_unknown_size_are_no_small_ones, other_lines_are_counted,
	  another_program_is_told, births_say_whose_a_thread_is, who_is_said_by_the_line,
	  it_does_not_matter_how_text_is_cut, a_flush_hands_out_what_has_come, long_streams,
	  damaged_text_does_no_harm, lines_without_end, events_are_taken_as_they_are,
	  arguments_that_do_not_agree, no_trace_lines_at_all)
