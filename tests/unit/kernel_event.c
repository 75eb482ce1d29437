// SPDX-License-Identifier: MIT
/* stream: the kernel's own events, whose format alone says what their fields are. */
#include <errno.h>

#include "page_builder.h"
#include "show/text/text.h"
#include "stream/pages/value.h"

/* An event; of each field "DECLARATION;OFFSET;SIZE;SIGNED". */
struct kernel_event {
	uint32_t id;
	const char *system, *name, *fields;
};

static const struct kernel_event events[] = {
	{400, "sched", "sched_switch",
	 "char prev_comm[16];8;16;0\npid_t prev_pid;24;4;1\nlong prev_state;32;8;1\n"},
	{401, "sched", "sched_process_exit", "char comm[16];8;16;0\npid_t pid;24;4;1\n"},
	{402, "task", "task_rename",
	 "pid_t pid;8;4;1\nchar oldcomm[16];12;16;0\nchar newcomm[16];28;16;0\n"},
	{403, "x", "all",
	 "int dfd;8;8;0\numode_t mode;16;8;0\nconst char * filename;24;8;0\n"
	 "bool yes;32;1;0\nchar c;33;1;0\nu8 mac[6];34;6;0\n"
	 "__data_loc char[] text;40;4;0\n__rel_loc char[] near;44;4;0\n"
	 "__data_loc unsigned int[] list;48;4;0\nunsigned long args[2];56;16;0\n"
	 "struct thing it;72;3;0\nshort h;76;2;1\n__data_loc cpumask_t m;80;4;0\n"
	 "enum e e;84;4;0\n"},
};

static int read_event(void *arg, const char *system, const char *name, struct nw_buf *out)
{
	(void)arg;
	for (size_t i = 0; i < NW_COUNT(events); i++) {
		if (strcmp(events[i].system, system) != 0 ||
		    strcmp(events[i].name, name) != 0)
			continue;
		nw_buf_printf(out, "name: %s\nID: %u\n" FAKE_COMMON, name, events[i].id);
		for (const char *at = events[i].fields; *at; at = strchr(at, '\n') + 1) {
			char declaration[64];
			unsigned int offset, size, is_signed;
			ck_assert_int_eq(sscanf(at, "%63[^;];%u;%u;%u", declaration,
						&offset, &size, &is_signed),
					 4);
			nw_buf_printf(out,
				      "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n",
				      declaration, offset, size, is_signed);
		}
		nw_buf_adds(out, "\nprint fmt: \"%d\", REC->x\n");
		return 0;
	}
	return -ENOENT;
}

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_armed armed;
static struct nw_formats formats;
static struct cpu cpu; /* whose pages the stream reads */

/* A plan with one kernel event and these arguments, each "NAME" or "NAME:TYPE". */
static void setup(const char *system, const char *name, const char *args)
{
	struct nw_page_layout layout = page_layout(256, 8);
	struct nw_buf text = {0}, header = {0}, sources = {0}, fields = {0};
	size_t number = 0;

	nw_buf_printf(&text,
		      "nopwatch-plan 1\ngroup g\nimage kernel\nprobe 0 4 %s %s %s:%s 1\n",
		      system, name, system, name);
	for (const char *at = args; *at; number++) {
		size_t len = strcspn(at, " "), part = strcspn(at, ": ");
		const char *type = part < len ? at + part + 1 : "-";
		int type_len = part < len ? (int)(len - part - 1) : 1;
		nw_buf_printf(&text, "arg %.*s %.*s\n", (int)part, at, type_len, type);
		nw_buf_printf(&sources, "source 0 %zu -1 - %.*s 0 - 0 -\n", number,
			      type_len, type);
		nw_buf_printf(&fields, "field %.*s\n", (int)part, at);
		at += len + (at[len] == ' ');
	}
	nw_buf_printf(
		&text,
		"point 0 0 0\nplanned 0 0 1 0\n%sevent %s 0\nsystem %s\n%splace 0 0\n",
		nw_buf_str(&sources), name, system, nw_buf_str(&fields));
	ck_assert_int_eq(nw_plan_load(nw_buf_str(&text), text.len, &selection, &plan,
				      &armed, NULL, NULL, NULL),
			 0);
	page_header_text(&layout, &header);
	ck_assert_int_eq(nw_formats_load(&armed, true, nw_buf_str(&header), header.len,
					 read_event, NULL, &formats, NULL),
			 0);
	nw_buf_free(&text);
	nw_buf_free(&header);
	nw_buf_free(&sources);
	nw_buf_free(&fields);
}

static void teardown(void)
{
	cpu_free(&cpu);
	cpu = (struct cpu){0};
	nw_formats_free(&formats);
	nw_armed_free(&armed);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

static void put(unsigned char *bytes, size_t at, uint64_t value, size_t size)
{
	memcpy(bytes + at, &value, size); /* little endian, as the machines we test on */
}

/* The common fields of an event. */
static void begin(unsigned char *bytes, size_t len, uint32_t id, int32_t tid)
{
	memset(bytes, 0, len);
	put(bytes, 0, id, 2);
	put(bytes, 4, (uint32_t)tid, 4);
}

static struct nw_stream *stream_of(const void *bytes, size_t len)
{
	struct nw_stream *stream;

	cpu_free(&cpu);
	cpu = (struct cpu){.layout = page_layout(256, 8)};
	cpu_event(&cpu, 77, bytes, len);
	cpu_flush(&cpu);
	const struct nw_page_run run = {3, (const void *)nw_buf_str(&cpu.pages),
					cpu.pages.len};
	ck_assert_int_eq(nw_stream_open_memory(&formats, &run, 1, &stream, NULL), 0);
	return stream;
}

/* Of the record: "NAME=VALUE NAME=VALUE". */
static void check_values(const struct nw_record *record, const char *wanted)
{
	size_t count = plan.points.item[0].args.count;
	struct nw_value values[32];
	struct nw_buf seen = {0};

	nw_record_values(&formats, record, values);
	for (size_t i = 0; i < count; i++) {
		char name[NW_ARG_NAME];
		nw_arg_name(selection.probes.item[0], i, name);
		nw_buf_printf(&seen, "%s%s=", i ? " " : "", name);
		nw_value_print(&values[i], &seen);
	}
	ck_assert_str_eq(nw_buf_str(&seen), wanted);
	nw_buf_free(&seen);
}

START_TEST(an_event_is_a_hit_of_its_only_place)
{
	unsigned char bytes[40];
	struct nw_record record;

	setup("sched", "sched_switch", "prev_comm prev_state prev_state:x16 prev_pid:u8");
	for (uint32_t low = 0; low < 3;
	     low++) { /* whatever stands where an address would */
		begin(bytes, sizeof(bytes), 400, 1234);
		memcpy(bytes + 8, low ? "swapper/0\0......" : "abcdefghijklmnop", 16);
		put(bytes, 24, 0x1ff, 4);
		put(bytes, 32, (uint64_t)-2, 8);
		struct nw_stream *stream = stream_of(bytes, sizeof(bytes));
		ck_assert_int_eq(nw_stream_next(stream, &record), 1);
		ck_assert_int_eq(record.kind, NW_RECORD_HIT);
		ck_assert(record.tid == 1234 && record.cpu == 3 && record.time == 77);
		ck_assert(record.probe == 0 && record.planned == 0 && record.whole);
		check_values(&record, low ? "prev_comm=\"swapper/0\" prev_state=-2 "
					    "prev_state=0xfffe prev_pid=255"
					  : "prev_comm=\"abcdefghijklmnop\" prev_state=-2 "
					    "prev_state=0xfffe prev_pid=255");
		nw_stream_free(stream);
	}
	teardown();
}
END_TEST

START_TEST(an_event_that_is_cut_off_is_none)
{
	unsigned char bytes[40];
	struct nw_record record;

	setup("sched", "sched_switch", "prev_state");
	begin(bytes, sizeof(bytes), 400, 1);
	struct nw_stream *stream = stream_of(bytes, 36);
	ck_assert_int_eq(nw_stream_next(stream, &record), 0);
	ck_assert_uint_eq(nw_stream_stats(stream).unknown, 1);
	nw_stream_free(stream);
	teardown();
}
END_TEST

#define ALL "dfd mode filename yes c mac text near list args it h m e"

/* A record of x:all with everything in it. */
static size_t fill_all(unsigned char bytes[160])
{
	begin(bytes, 160, 403, 5);
	put(bytes, 8, 0x12345678ffffff9c, 8); /* -100, and what was in the register */
	put(bytes, 16, 0xabcd01ff, 8);
	put(bytes, 24, 0x7f0000001000, 8);
	put(bytes, 32, 1, 1);
	put(bytes, 33, 'x', 1);
	memcpy(bytes + 34, "\x01\x02\xff\x04\x05\x06", 6);
	put(bytes, 40, 100 | 6 << 16, 4);
	put(bytes, 44, (106 - 48) | 4 << 16, 4);
	put(bytes, 48, 112 | 8 << 16, 4);
	put(bytes, 56, 7, 8);
	put(bytes, 64, (uint64_t)-1, 8);
	memcpy(bytes + 72, "\x0a\x0b\x0c", 3);
	put(bytes, 76, (uint16_t)-3, 2);
	put(bytes, 80, 120 | 8 << 16, 4);
	put(bytes, 84, 4000000000, 4);
	memcpy(bytes + 100, "hello", 6);
	memcpy(bytes + 106, "bye", 4);
	put(bytes, 112, 1, 4);
	put(bytes, 116, 4294967295, 4);
	put(bytes, 120, 3, 8);
	return 128;
}

START_TEST(fields_are_what_their_declarations_say)
{
	unsigned char bytes[160];
	struct nw_record record;

	setup("x", "all", ALL);
	struct nw_stream *stream = stream_of(bytes, fill_all(bytes));
	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	check_values(&record,
		     "dfd=-100 mode=511 filename=0x7f0000001000 yes=1 c=120 "
		     "mac={1,2,255,4,5,6} text=\"hello\" near=\"bye\" list={1,4294967295} "
		     "args={7,18446744073709551615} it={0xa,0xb,0xc} h=-3 m={0x3} "
		     "e=4000000000");
	nw_stream_free(stream);
	teardown();
}
END_TEST

START_TEST(what_points_out_of_the_record_is_no_value)
{
	static const uint32_t wheres[] = {129 | 1 << 16, 128 | 1 << 16, 0xffff | 1 << 16,
					  100 | 0xffffu << 16, 0xffffffff};
	unsigned char bytes[160];

	setup("x", "all", "text near list");
	for (size_t i = 0; i < NW_COUNT(wheres); i++) {
		size_t len = fill_all(bytes);
		unsigned char *exact = malloc(len); /* and not a byte more */
		put(bytes, 40, wheres[i], 4);
		put(bytes, 44, wheres[i], 4);
		put(bytes, 48, wheres[i], 4);
		memcpy(exact, bytes, len);
		const struct nw_record record = {.kind = NW_RECORD_HIT,
						 .format = formats.events.item[0],
						 .data = exact,
						 .size = (uint32_t)len};
		check_values(&record, "text=(none) near=(none) list=(none)");
		free(exact);
	}
	/* nothing at all is an empty string here: the kernel's own do not fault */
	size_t len = fill_all(bytes);
	put(bytes, 40, 128, 4);
	put(bytes, 48, 128, 4);
	const struct nw_record record = {.kind = NW_RECORD_HIT,
					 .format = formats.events.item[0],
					 .data = bytes,
					 .size = (uint32_t)len};
	check_values(&record, "text=\"\" near=\"bye\" list={}");
	teardown();
}
END_TEST

START_TEST(the_fields_of_a_format_are_listed)
{
	struct nw_buf text = {0}, seen = {0};
	nw_named_args fields = {0};
	struct nw_error err;

	ck_assert_int_eq(read_event(NULL, "x", "all", &text), 0);
	ck_assert_int_eq(nw_format_fields(nw_buf_str(&text), &fields, &err), 0);
	nw_vec_each (&fields, field) {
		char type[16];
		nw_type_text(&(struct nw_type){field->type.base, field->type.bits, 0},
			     type);
		nw_buf_printf(&seen, "%s:%s%s ", field->name, type,
			      field->type.array ? "[]" : "");
	}
	ck_assert_str_eq(nw_buf_str(&seen),
			 "dfd:s32 mode:u16 filename:x64 yes:u8 c:u8 mac:u8[] text:string "
			 "near:string list:u32[] args:u64[] it:x8[] h:s16 m:x64[] e:u32 ");
	nw_vec_free(&fields);
	ck_assert_int_eq(nw_format_fields("nonsense", &fields, &err), -EBADMSG);
	nw_vec_free(&fields);
	nw_buf_free(&text);
	nw_buf_free(&seen);
}
END_TEST

/* ---- events that tell of threads ---------------------------------------------------- */

START_TEST(an_event_of_ours_may_be_the_users_too)
{
	unsigned char bytes[44];
	struct nw_record record;

	setup("task", "task_rename", "oldcomm");
	begin(bytes, sizeof(bytes), 402, 50);
	put(bytes, 8, 51, 4);
	memcpy(bytes + 12, "before", 7);
	memcpy(bytes + 28, "after", 6);
	struct nw_stream *stream = stream_of(bytes, sizeof(bytes));
	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert_int_eq(record.kind, NW_RECORD_BOTH);
	ck_assert(record.probe == 0 && record.planned == 0 && record.whole);
	check_values(&record, "oldcomm=\"before\"");
	const struct nw_record task = nw_record_task(&record);
	const struct nw_tasks_options options = {0};
	struct nw_tasks *tasks;
	ck_assert_int_eq(nw_tasks_open(&options, &tasks), 0);
	nw_tasks_record(tasks, &task);
	ck_assert_str_eq(nw_tasks_get(tasks, 51)->comm, "after");
	ck_assert_int_eq(nw_record_exited(&task), 0);
	nw_tasks_free(tasks);
	nw_stream_free(stream);
	/* cut off before the new name: too short for what it tells of the thread */
	stream = stream_of(bytes, 28);
	ck_assert_int_eq(nw_stream_next(stream, &record), 0);
	nw_stream_free(stream);
	teardown();
}
END_TEST

START_TEST(who_exits_is_known_from_the_users_event)
{
	unsigned char bytes[28];
	struct nw_record record;

	setup("sched", "sched_process_exit", "");
	begin(bytes, sizeof(bytes), 401, 60);
	struct nw_stream *stream = stream_of(bytes, sizeof(bytes));
	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert_int_eq(record.kind, NW_RECORD_BOTH);
	ck_assert_int_eq(nw_record_exited(&record), 0);
	const struct nw_record task = nw_record_task(&record);
	ck_assert_int_eq(nw_record_exited(&task), 60);
	nw_stream_free(stream);
	/* nobody asked for this one: it is as ever */
	begin(bytes, sizeof(bytes), 402, 60);
	unsigned char rename[44] = {0};
	memcpy(rename, bytes, sizeof(bytes));
	stream = stream_of(rename, sizeof(rename));
	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert_int_eq(record.kind, NW_RECORD_TASK);
	nw_stream_free(stream);
	teardown();
}
END_TEST

UNIT_MAIN("kernel events", an_event_is_a_hit_of_its_only_place,
	  an_event_that_is_cut_off_is_none, fields_are_what_their_declarations_say,
	  what_points_out_of_the_record_is_no_value, the_fields_of_a_format_are_listed,
	  an_event_of_ours_may_be_the_users_too, who_exits_is_known_from_the_users_event)
