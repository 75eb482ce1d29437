// SPDX-License-Identifier: MIT
/* stream: event formats as a recording may hold them. */
#include <errno.h>

#include "page_builder.h"
#include "stream/pages/fields.h"

/* What stands behind the fields of the format in the making. */
static const char *print;

static int read_format(void *arg, const char *system, const char *name, struct nw_buf *out)
{
	int ret = fake_read_format(arg, system, name, out);
	const char *end = strstr(nw_buf_str(out), "\nprint fmt:");

	if (ret == 0 && end)
		out->len = (size_t)(end - out->data) + 1;
	nw_buf_adds(out, print);
	return ret;
}

static int load(struct fake *fake, struct nw_formats *formats)
{
	struct nw_page_layout layout = page_layout(256, 8);
	struct nw_buf header = {0};
	struct nw_error err = {0};

	page_header_text(&layout, &header);
	int ret = nw_formats_load(&fake->armed, false, nw_buf_str(&header), header.len,
				  read_format, fake, formats, &err);
	nw_buf_free(&header);
	return ret;
}

START_TEST(how_an_event_is_printed_does_not_matter)
{
	static const char *const texts[] = {
		"",
		"print fmt: \"%d\", (REC->a0",
		"print fmt: \"",
		"print fmt: 1 ? 2",
		"print fmt: __print_flags(",
		"print fmt: \"%s\", __get_str(nothing)\n",
	};
	struct fake fake;

	fake_open_two(&fake, 256);
	for (size_t i = 0; i < NW_COUNT(texts); i++) {
		struct nw_formats formats = {0};
		print = texts[i];
		ck_assert_int_eq(load(&fake, &formats), 0);
		ck_assert_uint_eq(formats.events.count, 1);
		ck_assert_uint_eq(formats.events.item[0]->fields.count, 1);
		ck_assert_uint_eq(formats.events.item[0]->fields.item[0].offset, 16);
		ck_assert_uint_eq(formats.events.item[0]->fields.item[0].size, 8);
		nw_formats_free(&formats);
	}
	fake_close(&fake);
}
END_TEST

/* An event that somebody has deleted and defined anew is none of ours, whatever it is called. */
START_TEST(an_event_of_another_number_is_refused)
{
	struct nw_formats formats = {0};
	struct fake fake;

	print = "";
	fake_open_two(&fake, 256);
	ck_assert_int_eq(load(&fake, &formats), 0);
	uint32_t id = formats.events.item[0]->id;
	nw_formats_free(&formats);
	nw_vec_each (&fake.armed.events, event)
		(*event)->id = id;
	ck_assert_int_eq(load(&fake, &formats), 0);
	nw_formats_free(&formats);
	nw_vec_each (&fake.armed.events, event)
		(*event)->id = id + 1;
	ck_assert_int_eq(load(&fake, &formats), -EBADMSG);
	fake_close(&fake);
}
END_TEST

/* ---- fields ------------------------------------------------------------------------- */

/* As kernels of all ages write them. */
START_TEST(fields_of_every_spelling_are_found)
{
	static const char text[] =
		"name: task_rename\nID: 65535\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\n"
		"\tfield:__data_loc char[] newcomm;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:1;\n"
		"\tfield:u8 a1[4];\toffset:28;\tsize:4;\tsigned:0;\n"
		"\tfield:const char * filename;\toffset:32;\tsize:8;\n" /* 2.6 */
		"\tfield:char __attribute__((user)) * "
		"buf;\toffset:40;\tsize:8;\tsigned:0;\n"
		"\tfield:__u8 to[sizeof(struct "
		"sockaddr_in6)];\toffset:48;\tsize:28;\tsigned:0;\n"
		"\nprint fmt: \"\\tfield:int fake;\\toffset:1;\\tsize:1;\"\n"
		"\tfield:int behind;\toffset:1;\tsize:1;\n";
	static const struct {
		const char *name;
		uint32_t offset, size;
		bool dynamic;
	} wanted[] = {
		{"common_type", 0, 2, false}, {"newcomm", 8, 4, true},
		{"comm", 12, 16, false},      {"a1", 28, 4, false},
		{"filename", 32, 8, false},   {"buf", 40, 8, false},
		{"to", 48, 28, false},
	};
	struct nw_fields fields;

	ck_assert_int_eq(nw_fields_parse(text, &fields), 0);
	ck_assert_uint_eq(fields.id, 65535);
	ck_assert_uint_eq(fields.list.count, NW_COUNT(wanted));
	for (size_t i = 0; i < NW_COUNT(wanted); i++) {
		const struct nw_field_format *field = nw_fields_find(&fields,
								     wanted[i].name);
		ck_assert_msg(field != NULL, "%s", wanted[i].name);
		ck_assert_uint_eq(field->offset, wanted[i].offset);
		ck_assert_uint_eq(field->size, wanted[i].size);
		ck_assert_int_eq(field->dynamic, wanted[i].dynamic);
	}
	ck_assert_ptr_null(nw_fields_find(&fields, "com"));
	ck_assert_ptr_null(nw_fields_find(&fields, "common_type2"));
	ck_assert_ptr_null(nw_fields_find(&fields, ""));
	nw_fields_free(&fields);
}
END_TEST

#define TEN	    "int int int int int int int int int int "
#define LONG	    TEN TEN TEN
#define FIELD(text) "ID: 1\n\tfield:" text "\n"

START_TEST(damaged_formats_are_refused)
{
	static const char *const texts[] = {
		"",
		"name: x\nformat:\n",
		"ID: \n",
		"ID: -1\n",
		"ID: 65536\n",
		"ID: 99999999999999999999999\n",
		"ID: 12x\n",
		"ID: 12", /* cut off */
		FIELD(""),
		FIELD(";"),
		FIELD("int a"),
		FIELD("int a;"),
		FIELD("int a;\toffset:0;"),
		FIELD("int a;\tsize:4;"),
		FIELD("int a;\toffset:0;\tsize:;"),
		FIELD("int a;\toffset:;\tsize:4;"),
		FIELD("int a;\toffset:-4;\tsize:4;"),
		FIELD("int a;\toffset:65536;\tsize:4;"),
		FIELD("int a;\toffset:0;\tsize:4294967300;"),
		FIELD("int a;\toffset:0;\tsize:4"),
		FIELD("int a;\toffset:0x10;\tsize:4;"),
		FIELD("[4];\toffset:0;\tsize:4;"),
		FIELD("];\toffset:0;\tsize:4;"),
		FIELD("int *;\toffset:0;\tsize:4;"),
		FIELD("\toffset:0;\tsize:4;"),
		FIELD("int a b\"c;\toffset:0;\tsize:4;"),
		/* what the library leaks */
		FIELD("__data_locchar[] name;\toffset:12;\tsize:4;\tsigned:0;"),
		FIELD("int a[2] b c;\toffset:12;\tsize:4;\tsigned:0;"),
		FIELD("int {a};\toffset:0;\tsize:4;"),
		FIELD("int a;\toffset:0;\tsize:4;\tsigned:0;\tmore:1;"),
		FIELD("int a; \toffset:0;\tsize:4;"),
		FIELD("int a[4;\toffset:0;\tsize:4;"),
		FIELD(LONG LONG LONG LONG LONG " a;\toffset:0;\tsize:4;"),
	};

	for (size_t i = 0; i < NW_COUNT(texts); i++) {
		struct nw_fields fields = {.id = 7};
		ck_assert_msg(nw_fields_parse(texts[i], &fields) == -EBADMSG, "%s",
			      texts[i]);
		ck_assert_uint_eq(fields.list.count, 0);
	}
}
END_TEST

START_TEST(fields_that_are_wanted)
{
	/* a synthetic event's, as Linux 6.18 writes it: another name, and printed values, hold a wanted one's */
	static const char text[] =
		"name: nopwatch_1_a\nID: 1789\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:u64 mistook;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 took;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"took=%llu\", REC->took\n";
	static const struct {
		const char *name;
		uint32_t size;
		int ret;
		uint32_t offset;
	} cases[] = {{"took", 8, 0, 16},
		     {"mistook", 8, 0, 8},
		     {"common_pid", 4, 0, 4},
		     {"took", 4, -EBADMSG, 0},
		     {"at", 8, -EBADMSG, 0}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		uint32_t offset = 0;
		uint16_t id = 0;
		const struct nw_wanted_field wanted = {cases[i].name, cases[i].size,
						       &offset};
		ck_assert_int_eq(nw_format_find(text, &wanted, 1, &id), cases[i].ret);
		ck_assert_uint_eq(offset, cases[i].offset);
		ck_assert_uint_eq(id, 1789);
	}
	uint16_t id;
	ck_assert_int_eq(nw_format_find("ID: x", NULL, 0, &id), -EBADMSG);
}
END_TEST

UNIT_MAIN("format", how_an_event_is_printed_does_not_matter,
	  an_event_of_another_number_is_refused, fields_of_every_spelling_are_found,
	  damaged_formats_are_refused, fields_that_are_wanted)
