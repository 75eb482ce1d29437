// SPDX-License-Identifier: MIT
/* stream: EventHeader's payloads, also hostile ones. */
#include <stdlib.h>

#include "page_builder.h"
#include "stream/pages/eventheader.h"

enum {
	HEADER_AT = 8,
	MOST = 65536,
};

/* A record that is being made: the common fields, the header, the metadata, the payload. */
struct made {
	unsigned char data[MOST];
	size_t len;
};

static struct nw_fields fields;
static struct nw_buf text;

static void setup(void)
{
	static const char format[] =
		"name: x_L4K1\nID: 7\n" FAKE_COMMON
		"\tfield:u8 eventheader_flags;\toffset:8;\tsize:1;\tsigned:0;\n"
		"\tfield:u8 version;\toffset:9;\tsize:1;\tsigned:0;\n"
		"\tfield:u16 id;\toffset:10;\tsize:2;\tsigned:0;\n"
		"\tfield:u16 tag;\toffset:12;\tsize:2;\tsigned:0;\n"
		"\tfield:u8 opcode;\toffset:14;\tsize:1;\tsigned:0;\n"
		"\tfield:u8 level;\toffset:15;\tsize:1;\tsigned:0;\n";

	ck_assert_int_eq(nw_fields_parse(format, &fields), 0);
}

static void teardown(void)
{
	nw_fields_free(&fields);
	nw_buf_free(&text);
}

static void add(struct made *made, const void *data, size_t len)
{
	ck_assert(made->len + len <= MOST);
	memcpy(made->data + made->len, data, len);
	made->len += len;
}

static void add_number(struct made *made, uint64_t number, size_t bytes, bool big_endian)
{
	for (size_t i = 0; i < bytes; i++) {
		unsigned char byte = (unsigned char)(number >>
						     8 * (big_endian ? bytes - 1 - i : i));
		add(made, &byte, 1);
	}
}

/* Makes a record of metadata and payload, each a string with its length. */
static struct made make(const char *meta, size_t meta_len, const char *payload, size_t len,
			bool big_endian)
{
	struct made made = {.len = HEADER_AT};

	add_number(&made, big_endian ? 5 : 7, 1, big_endian);
	add_number(&made, 0, 7, big_endian);
	add_number(&made, meta_len, 2, big_endian);
	add_number(&made, 1, 2, big_endian);
	add(&made, meta, meta_len);
	add(&made, payload, len);
	return made;
}

#define MAKE(meta, payload, big_endian) \
	make(meta, sizeof(meta) - 1, payload, sizeof(payload) - 1, big_endian)

static struct nw_value take(const struct made *made, const char *name,
			    const struct nw_type *wanted)
{
	struct nw_field_format field = *nw_eventheader_find(&fields);
	const struct nw_type any = {0};
	/* a copy of just its size, so that reading behind it is seen */
	unsigned char *exact = malloc(made->len + 1);
	const struct nw_record record = {.data = exact, .size = (uint32_t)made->len};
	struct nw_value value = {0};

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, made->data, made->len);
	field.member = name;
	field.text = &text;
	nw_eventheader_take(&record, &field, wanted ? wanted : &any, &value);
	free(exact);
	return value;
}

static void check_text(const struct made *made, const char *name, const char *want)
{
	struct nw_value value = take(made, name, NULL);

	ck_assert_int_eq(value.kind, NW_VALUE_STRING);
	ck_assert_uint_eq(value.len, strlen(want));
	ck_assert(memcmp(value.text, want, value.len) == 0);
}

static void check_missing(const struct made *made, const char *name, const char *want)
{
	struct nw_value value = take(made, name, NULL);

	ck_assert_int_eq(value.kind, NW_VALUE_MISSING);
	ck_assert_str_eq(value.text, want);
}

START_TEST(numbers_have_the_byte_order_that_the_header_tells)
{
	const struct made little = MAKE("E\0n\0\4s\0\x83\2", "\1\2\3\4\xfe\xff", false);
	const struct made big = MAKE("E\0n\0\4s\0\x83\2", "\4\3\2\1\xff\xfe", true);

	setup();
	for (int i = 0; i < 2; i++) {
		struct nw_value n = take(i ? &big : &little, "n", NULL);
		struct nw_value s = take(i ? &big : &little, "s", NULL);
		ck_assert_int_eq(n.kind, NW_VALUE_UNSIGNED);
		ck_assert_uint_eq(n.number, 0x04030201);
		ck_assert_int_eq(s.kind, NW_VALUE_SIGNED);
		ck_assert_int_eq((int64_t)s.number, -2);
	}
	check_text(&big, "fields", "{\"n\":67305985,\"s\":-2}");
	check_text(&little, "event", "E");
	teardown();
}
END_TEST

START_TEST(a_type_that_does_not_fit_is_no_value)
{
	const struct made made = MAKE("E\0n\0\4t\0\7", "\1\2\3\4abc\0", false);
	const struct nw_type string = {.base = NW_TYPE_STRING, .bits = 8};
	const struct nw_type byte = {.base = NW_TYPE_UNSIGNED, .bits = 8};

	setup();
	ck_assert_str_eq(take(&made, "n", &string).text, "it is a number");
	ck_assert_str_eq(take(&made, "t", &byte).text, "it is text");
	ck_assert_uint_eq(take(&made, "n", &byte).number, 1);
	teardown();
}
END_TEST

START_TEST(structs_have_paths_and_arrays_are_json)
{
	/* s { a, t { b } }, list[] of { c }, tail */
	const struct made made = MAKE(
		"E\0s\0\x81\2a\0\2t\0\x81\1b\0\2list\0\xc1\1c\0\2tail\0\2",
		"\1\2\2\0\3\4\5", false);
	const struct made none = MAKE("E\0list\0\xc1\2c\0\2d\0\x81\1e\0\2tail\0\2",
				      "\0\0\5", false);

	setup();
	ck_assert_uint_eq(take(&made, "s.a", NULL).number, 1);
	ck_assert_uint_eq(take(&made, "s.t.b", NULL).number, 2);
	ck_assert_uint_eq(take(&made, "tail", NULL).number, 5);
	check_text(&made, "s", "{\"a\":1,\"t\":{\"b\":2}}");
	check_text(&made, "list", "[{\"c\":3},{\"c\":4}]");
	check_text(
		&made, "fields",
		"{\"s\":{\"a\":1,\"t\":{\"b\":2}},\"list\":[{\"c\":3},{\"c\":4}],\"tail\":5}");
	check_missing(&made, "s.b", "the record has no such field");
	check_missing(&made, "list.c", "the record has no such field");
	check_missing(&made, "a", "the record has no such field");
	/* an empty list: its members have no values, and are skipped */
	ck_assert_uint_eq(take(&none, "tail", NULL).number, 5);
	check_text(&none, "fields", "{\"list\":[],\"tail\":5}");
	teardown();
}
END_TEST

START_TEST(text_of_wide_characters_becomes_utf8)
{
	const struct made made = MAKE("E\0z\0\x08"
				      "w\0\x0b"
				      "q\0\x89\x0c"
				      "p\0\x87\x0a",
				      "\x61\0\0\xd8\0\0"
				      "\1\0\xe4\0"
				      "\xff\xfe\0\0\x42\0\0\0\0\0\0\0"
				      "\xe4\0",
				      false);

	setup();
	/* half of a pair is no character */
	check_text(&made, "z", "a\xef\xbf\xbd");
	check_text(&made, "w", "\xc3\xa4");
	check_text(&made, "q", "B");
	check_text(&made, "p", "\xc3\xa4");
	teardown();
}
END_TEST

START_TEST(damaged_records_have_no_values)
{
	const struct made both = MAKE("E\0n\0\x83\2", "\1\2\3\4", false);
	struct made made = MAKE("E\0n\0\4", "\1\2\3", false);

	setup();
	check_missing(&made, "n", "the record is damaged");
	check_missing(&made, "fields", "the record is damaged");
	made = (struct made)MAKE("E\0n\0\x1f", "\1\2\3\4", false); /* no such encoding */
	check_missing(&made, "n", "the record is damaged");
	made = (struct made)MAKE("E\0n\0\x64\1\0", "\1\2\3\4",
				 false); /* two kinds of array */
	check_missing(&made, "n", "the record is damaged");
	made = (struct made)MAKE("E\0s\0\x01"
				 "n\0\2",
				 "\1", false); /* a struct of nothing */
	check_missing(&made, "n", "the record is damaged");
	made = (struct made)MAKE("E\0t\0\xa", "\xff\xff\1",
				 false); /* longer than the record */
	check_missing(&made, "t", "the record is damaged");
	made = (struct made)MAKE("E", "", false); /* the name has no end */
	check_missing(&made, "event", "the record is damaged");
	made = both;
	made.data[HEADER_AT + 8] = 0xff; /* an extension that is longer than the record */
	check_missing(&made, "n", "the record is damaged");
	made = both;
	made.data[HEADER_AT] = 3; /* no extensions */
	check_missing(&made, "n", "the record does not name its fields");
	check_missing(&made, "activity", "the record has none");
	made.len = HEADER_AT + 7;
	check_missing(&made, "n", "the record is damaged");
	teardown();
}
END_TEST

/* Structs in structs, more than are followed; and an array whose elements repeat a long name. */
START_TEST(bombs_end)
{
	struct made deep = {0}, wide = {0};
	struct made meta = {0}, payload = {0};

	setup();
	add(&meta, "E", 2);
	for (int i = 0; i < 40; i++)
		add(&meta, "s\0\x81\1", 4);
	add(&meta, "n\0\2", 3);
	deep = make((char *)meta.data, meta.len, "\1", 1, false);
	check_missing(&deep, "n", "its structs are nested too deep");
	check_missing(&deep, "fields", "its structs are nested too deep");
	check_missing(&deep, "s.s.s.s.s.s.s.s.s.s.s.s.n",
		      "its structs are nested too deep");
	meta.len = 0;
	add(&meta, "E\0list\0\xc1\1", 9);
	for (int i = 0; i < 900; i++)
		add(&meta, "n", 1);
	add(&meta, "\0\2", 2);
	add_number(&payload, 3000, 2, false);
	while (payload.len < 3002)
		add(&payload, "\1", 1);
	wide = make((char *)meta.data, meta.len, (char *)payload.data, payload.len, false);
	check_missing(&wide, "fields", "its text is too long");
	check_missing(&wide, "list", "its text is too long");
	check_missing(&wide, "other", "the record has no such field");
	teardown();
}
END_TEST

/* Each element of an array is an empty array, of structs whose many definitions are skipped for each element again. */
START_TEST(definitions_are_not_read_without_end)
{
	static const char names[] = "E\0list\0\xc1\1a\0\xc1\x40";
	static struct made meta, payload, made;

	setup();
	add(&meta, names, sizeof(names) - 1);
	for (int i = 0; i < 0x40; i++) {
		add(&meta, "s\0\x81\x7f", 4);
		for (int j = 0; j < 0x7f; j++)
			add(&meta, "n\0\2", 3);
	}
	add_number(&payload, 16000, 2, false);
	while (payload.len < 2 + 2 * 16000)
		add(&payload, "\0\0", 2);
	made = make((char *)meta.data, meta.len, (char *)payload.data, payload.len, false);
	check_missing(&made, "other", "its definitions repeat too often");
	check_missing(&made, "fields", "its definitions repeat too often");
	teardown();
}
END_TEST

/* With any value of any byte, reading stays within the record and ends. Valgrind and the sanitizers see more of this. */
START_TEST(changed_records_are_read_within_their_bounds)
{
	static const char *const names[] = {"fields", "n", "s.t", "event", "activity"};
	const struct made whole = MAKE("E;a=b\0n\0\xa4\1\2\0s\0\x81\2t\0\x07"
				       "u\0\x4b"
				       "v\0\x0b"
				       "w\0\x86\x12",
				       "\1\0\0\0\2\0\0\0abc\0\1\0\2\0x\0y\0\1\0z\0"
				       "0123456789abcdef",
				       false);

	setup();
	for (size_t at = HEADER_AT; at < whole.len; at++) {
		struct made cut = whole;
		cut.len = at;
		for (size_t i = 0; i < NW_COUNT(names); i++)
			take(&cut, names[i], NULL);
		for (size_t byte = 0; byte < 256; byte++) {
			struct made changed = whole;
			changed.data[at] = (unsigned char)byte;
			take(&changed, names[0], NULL);
			take(&changed, names[byte % NW_COUNT(names)], NULL);
		}
	}
	teardown();
}
END_TEST

START_TEST(the_header_is_recognized_by_all_its_fields)
{
	struct nw_fields other = {0};
	nw_named_args names = {0};

	setup();
	ck_assert_ptr_nonnull(nw_eventheader_find(&fields));
	ck_assert_int_eq(
		nw_fields_parse(
			"ID: 7\n\tfield:u8 eventheader_flags;\toffset:8;\tsize:1;\tsigned:0;\n",
			&other),
		0);
	ck_assert_ptr_null(nw_eventheader_find(&other));
	nw_fields_free(&other);
	ck_assert_int_eq(nw_eventheader_names(&fields, &names), 0);
	ck_assert_str_eq(names.item[0].name, "event");
	ck_assert_str_eq(names.item[6].name, "eventheader_id");
	nw_vec_free(&names);
	teardown();
}
END_TEST

UNIT_MAIN("eventheader", numbers_have_the_byte_order_that_the_header_tells,
	  a_type_that_does_not_fit_is_no_value, structs_have_paths_and_arrays_are_json,
	  text_of_wide_characters_becomes_utf8, damaged_records_have_no_values, bombs_end,
	  definitions_are_not_read_without_end,
	  changed_records_are_read_within_their_bounds,
	  the_header_is_recognized_by_all_its_fields)
