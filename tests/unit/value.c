// SPDX-License-Identifier: MIT
/* stream: the kernel's fields become the values that the user asked for. */
#include "stream/pages/value.h"
#include "page_builder.h"

/* A probe with one argument: its source (serial.c), the fields of its event and their bytes. */
struct one {
	const char *source; /* "FIELD HIGH TYPE SHOWN SIGN CONSTANT UNTRUSTED PROBLEM" */
	const char *fields;
	const char *bytes; /* of the fields, and what lies behind them */
	size_t len;
	const char *value; /* as describe() has it */
};

#define BYTES(text) text, sizeof(text) - 1

static void describe_number(enum nw_value_kind kind, uint64_t number, struct nw_buf *out)
{
	if (kind == NW_VALUE_SIGNED)
		nw_buf_printf(out, "%" PRId64, (int64_t)number);
	else
		nw_buf_printf(out, kind == NW_VALUE_HEX ? "0x%" PRIx64 : "%" PRIu64,
			      number);
}

static void describe_array(const struct nw_value *value, struct nw_buf *out)
{
	nw_buf_printf(out, "%u bits {", value->bits);
	for (uint32_t i = 0; i < value->len; i++) {
		nw_buf_adds(out, i ? "," : "");
		if (value->element == NW_VALUE_FLOAT)
			nw_buf_printf(out, "%g", nw_value_real(value, i));
		else
			describe_number(value->element, nw_value_element(value, i), out);
	}
	nw_buf_adds(out, "}");
}

/* "signed 32 bits: -5" and so on: everything a value holds. */
static void describe(const struct nw_value *value, struct nw_buf *out)
{
	static const char *const kinds[] = {
		[NW_VALUE_MISSING] = "missing",	  [NW_VALUE_SIGNED] = "signed",
		[NW_VALUE_UNSIGNED] = "unsigned", [NW_VALUE_HEX] = "hex",
		[NW_VALUE_FLOAT] = "float",	  [NW_VALUE_STRING] = "string",
		[NW_VALUE_ARRAY] = "array",
	};

	nw_buf_printf(out, "%s ", kinds[value->kind]);
	if (value->kind == NW_VALUE_MISSING) {
		nw_buf_adds(out, value->text);
	} else if (value->kind == NW_VALUE_STRING) {
		nw_buf_add_escaped(out, value->text, value->len);
	} else if (value->kind == NW_VALUE_ARRAY) {
		describe_array(value, out);
	} else {
		nw_buf_printf(out, "%u bits ", value->bits);
		if (value->kind == NW_VALUE_FLOAT)
			nw_buf_printf(out, "%.9g", value->real);
		else
			describe_number(value->kind, value->number, out);
	}
	nw_buf_adds(out, value->cut ? " cut" : "");
	nw_buf_adds(out, value->untrusted ? " untrusted" : "");
}

static void check(const struct one *one)
{
	const struct fake_format format = {"e", 1500, one->fields};
	struct nw_buf plan = {0}, seen = {0};
	struct nw_value value = {0};
	struct fake fake;

	nw_buf_printf(&plan,
		      "nopwatch-plan 1\ngroup g\nimage /a\nprobe 0 0 p n p:n 1\narg - -\n"
		      "point 16 16 0\nplanned 0 0 1 0\nsource 0 %s\nevent e 0\n",
		      one->source);
	for (size_t i = 0; one->fields[0] && i <= (strchr(one->fields, ' ') != NULL); i++)
		nw_buf_printf(&plan, "field a%zu\n", i);
	nw_buf_adds(&plan, "place 0 0\n");
	fake_open(&fake, nw_buf_str(&plan), &format, 1, page_layout(256, 8));

	unsigned char *bytes = malloc(16 + one->len); /* and not a byte more */
	struct nw_record record = {
		.kind = NW_RECORD_HIT,
		.format = fake.formats.events.item[0],
		.data = bytes,
		.size = (uint32_t)fake_hit(bytes, 1500, 1, 16, one->bytes, one->len)};
	ck_assert_uint_le(record.format->size, record.size);
	nw_record_values(&fake.formats, &record, &value);
	describe(&value, &seen);
	ck_assert_msg(strcmp(nw_buf_str(&seen), one->value) == 0, "%s: %s, not %s",
		      one->source, nw_buf_str(&seen), one->value);
	free(bytes);
	nw_buf_free(&plan);
	nw_buf_free(&seen);
	fake_close(&fake);
}

static void check_all(const struct one *table, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&table[i]);
}

START_TEST(numbers_have_the_sign_and_width_they_are_shown_with)
{
	static const struct one table[] = {
		{"0 -1 u8 u8 0 - 0 -", "a0:u8", BYTES("\xff"), "unsigned 8 bits 255"},
		{"0 -1 s8 s8 0 - 0 -", "a0:s8", BYTES("\xff"), "signed 8 bits -1"},
		{"0 -1 u16 u16 0 - 0 -", "a0:u16", BYTES("\x01\x80"),
		 "unsigned 16 bits 32769"},
		{"0 -1 s16 s16 0 - 0 -", "a0:s16", BYTES("\x01\x80"),
		 "signed 16 bits -32767"},
		{"0 -1 u32 u32 0 - 0 -", "a0:u32", BYTES("\xff\xff\xff\xff"),
		 "unsigned 32 bits 4294967295"},
		{"0 -1 s32 s32 0 - 0 -", "a0:s32", BYTES("\xfb\xff\xff\xff"),
		 "signed 32 bits -5"},
		{"0 -1 u64 u64 0 - 0 -", "a0:u64",
		 BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"),
		 "unsigned 64 bits 18446744073709551615"},
		{"0 -1 s64 s64 0 - 0 -", "a0:s64", BYTES("\0\0\0\0\0\0\0\x80"),
		 "signed 64 bits -9223372036854775808"},
		{"0 -1 x8 x8 0 - 0 -", "a0:x8", BYTES("\xab"), "hex 8 bits 0xab"},
		{"0 -1 x64 x64 0 - 0 -", "a0:x64", BYTES("\x01\0\0\0\0\0\0\xff"),
		 "hex 64 bits 0xff00000000000001"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

#define WINDOW "\1\0\2\0\3\0\xfc\xff"
#define SCALED "0 1 u16[4] u16 0 - 0 -\nwindow 2"

START_TEST(an_index_chooses_among_the_elements_that_were_fetched)
{
	static const char outside[] = "missing the index lies outside of what was fetched";
	static const struct one table[] = {
		{SCALED, "a0:u16[4] a1:s64", BYTES(WINDOW "\0\0\0\0\0\0\0\0"),
		 "unsigned 16 bits 1"},
		{SCALED, "a0:u16[4] a1:s64", BYTES(WINDOW "\3\0\0\0\0\0\0\0"),
		 "unsigned 16 bits 65532"},
		{"0 1 s16[4] s64 0 - 0 -\nwindow 2", "a0:s16[4] a1:s64",
		 BYTES(WINDOW "\3\0\0\0\0\0\0\0"), "signed 64 bits -4"},
		{SCALED, "a0:u16[4] a1:s64", BYTES(WINDOW "\4\0\0\0\0\0\0\0"), outside},
		{SCALED, "a0:u16[4] a1:s64",
		 BYTES(WINDOW "\xff\xff\xff\xff\xff\xff\xff\xff"), outside},
		{SCALED, "a0:u16[4] a1:s32", BYTES(WINDOW "\xff\xff\xff\xff"), outside},
		{SCALED, "a0:u16[4] a1:s64", BYTES(WINDOW "\0\0\0\0\0\0\0\x80"), outside},
		/* an index that counts bytes, and one of larger steps */
		{"0 1 u16[4] u16 0 - 0 -\nwindow 1", "a0:u16[4] a1:s64",
		 BYTES(WINDOW "\4\0\0\0\0\0\0\0"), "unsigned 16 bits 3"},
		{"0 1 u16[4] u16 0 - 0 -\nwindow 1", "a0:u16[4] a1:s64",
		 BYTES(WINDOW "\3\0\0\0\0\0\0\0"),
		 "missing the index lies between two elements"},
		{"0 1 u16[4] u16 0 - 0 -\nwindow 4", "a0:u16[4] a1:s64",
		 BYTES(WINDOW "\1\0\0\0\0\0\0\0"), "unsigned 16 bits 3"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

START_TEST(numbers_shown_wider_than_they_were_fetched_keep_their_own_sign)
{
	static const struct one table[] = {
		{"0 -1 s16 s64 0 - 0 -", "a0:s16", BYTES("\xfe\xff"), "signed 64 bits -2"},
		{"0 -1 u16 s64 0 - 0 -", "a0:u16", BYTES("\xfe\xff"),
		 "signed 64 bits 65534"},
		{"0 -1 s16 u64 0 - 0 -", "a0:s16", BYTES("\xfe\xff"),
		 "unsigned 64 bits 18446744073709551614"},
		{"0 -1 s16 u32 0 - 0 -", "a0:s16", BYTES("\xfe\xff"),
		 "unsigned 32 bits 4294967294"},
		{"0 -1 s8 x32 0 - 0 -", "a0:s8", BYTES("\x80"), "hex 32 bits 0xffffff80"},
		{"0 -1 u8 x32 0 - 0 -", "a0:u8", BYTES("\x80"), "hex 32 bits 0x80"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

START_TEST(bitfields_get_their_sign_back)
{
	static const struct one table[] = {
		{"0 -1 u16 s8 8 - 0 -", "a0:u16", BYTES("\x80\0"), "signed 8 bits -128"},
		{"0 -1 u16 s8 8 - 0 -", "a0:u16", BYTES("\x7f\0"), "signed 8 bits 127"},
		{"0 -1 u16 s32 8 - 0 -", "a0:u16", BYTES("\xff\0"), "signed 32 bits -1"},
		{"0 -1 u16 u8 0 - 0 -", "a0:u16", BYTES("\x80\0"), "unsigned 8 bits 128"},
		{"0 -1 u16 s8 1 - 0 -", "a0:u16", BYTES("\x01\0"), "signed 8 bits -1"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

START_TEST(floats_are_made_of_raw_bits)
{
	static const struct one table[] = {
		{"0 -1 f32 f32 0 - 0 -", "a0:x32", BYTES("\0\0\xc0\xbf"),
		 "float 32 bits -1.5"},
		{"0 -1 f64 f64 0 - 0 -", "a0:x64", BYTES("\0\0\0\0\0\0\x04\x40"),
		 "float 64 bits 2.5"},
		/* a float of 4 bytes that the user calls f64 */
		{"0 -1 f32 f64 0 - 0 -", "a0:x32", BYTES("\0\0\xc0\xbf"),
		 "float 64 bits -1.5"},
		{"-1 -1 - f64 0 4612811918334230528 0 -", "", BYTES(""),
		 "float 64 bits 2.5"},
		{"-1 -1 - f32 0 3217031168 0 -", "", BYTES(""), "float 32 bits -1.5"},
		{"0 1 u32 f64 0 - 0 -", "a0:u32 a1:u32", BYTES("\0\0\0\0\0\0\x04\x40"),
		 "float 64 bits 2.5"},
		{"0 -1 f32 f32 0 - 0 -", "a0:x32", BYTES("\0\0\xc0\x7f"),
		 "float 32 bits nan"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

START_TEST(pairs_of_registers_become_one_number)
{
	static const struct one table[] = {
		{"0 1 u32 u64 0 - 0 -", "a0:u32 a1:u32", BYTES("\x01\0\0\0\x02\0\0\0"),
		 "unsigned 64 bits 8589934593"},
		{"0 1 u32 s64 0 - 0 -", "a0:u32 a1:u32",
		 BYTES("\xfe\xff\xff\xff\xff\xff\xff\xff"), "signed 64 bits -2"},
		{"1 0 u32 x64 0 - 0 -", "a0:u32 a1:u32", BYTES("\x01\0\0\0\x02\0\0\0"),
		 "hex 64 bits 0x100000002"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

START_TEST(arrays_keep_their_elements)
{
	static const struct one table[] = {
		{"0 -1 s16[3] s16[3] 0 - 0 -", "a0:s16[3]", BYTES("\x01\0\xff\xff\0\x80"),
		 "array 16 bits {1,-1,-32768}"},
		{"0 -1 x8[4] x8[4] 0 - 0 -", "a0:x8[4]", BYTES("\0\x7f\x80\xff"),
		 "array 8 bits {0x0,0x7f,0x80,0xff}"},
		{"0 -1 u64[1] u64[1] 0 - 0 -", "a0:u64[1]",
		 BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"),
		 "array 64 bits {18446744073709551615}"},
		{"0 -1 f32[2] f32[2] 0 - 0 -", "a0:x32[2]",
		 BYTES("\0\0\xc0\xbf\0\0\x80\x3f"), "array 32 bits {-1.5,1}"},
		{"0 -1 f64[1] f64[1] 0 - 0 -", "a0:x64[1]", BYTES("\0\0\0\0\0\0\x04\x40"),
		 "array 64 bits {2.5}"},
		/* the recording's format holds fewer than its table says */
		{"0 -1 u32[4] u32[4] 0 - 0 -", "a0:u32[2]", BYTES("\0\0\0\0\0\0\0\0"),
		 "missing the event's format is not as defined"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

/* __data_loc of a string of that length at that offset of the record */
#define LOC(offset, len) offset "\0" len "\0"

START_TEST(strings_are_looked_for_inside_the_record_only)
{
	static const struct one table[] = {
		{"0 -1 string string 0 - 0 -", "a0:string",
		 BYTES(LOC("\x14", "\x03") "ab\0"), "string ab"},
		{"0 -1 string string 0 - 0 -", "a0:string", BYTES(LOC("\x14", "\x01") "\0"),
		 "string "},
		{"0 -1 string string 0 - 0 -", "a0:string",
		 BYTES(LOC("\x14", "\x04") "a\0cd"), "string a"}, /* ends at its NUL */
		{"0 -1 string string 0 - 0 -", "a0:string",
		 BYTES(LOC("\x14", "\x04") "abcd"), "string abcd"}, /* or at its length */
		{"0 -1 string string 0 - 0 -", "a0:string",
		 BYTES(LOC("\x14", "\x03") "\xff\n\0"), "string \\xff\\n"},
		{"0 -1 string string 0 - 1 -", "a0:string",
		 BYTES(LOC("\x14", "\x02") "a\0"), "string a untrusted"},
		{"0 -1 string string 0 - 0 -", "a0:string", BYTES(LOC("\x14", "\0")),
		 "missing (fault)"},
		{"0 -1 string string 0 - 0 -", "a0:string",
		 BYTES(LOC("\x14", "\x05") "abcd"), "missing the record is damaged"},
		{"0 -1 string string 0 - 0 -", "a0:string",
		 BYTES(LOC("\x15", "\x04") "abcd"), "missing the record is damaged"},
		{"0 -1 string string 0 - 0 -", "a0:string",
		 BYTES(LOC("\x19", "\x01") "abcd"), "missing the record is damaged"},
		{"0 -1 string string 0 - 0 -", "a0:string",
		 BYTES("\xff\xff\xff\xff"
		       "abcd"),
		 "missing the record is damaged"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

START_TEST(constants_and_problems_need_no_field)
{
	static const struct one table[] = {
		{"-1 -1 - u8 0 42 0 -", "", BYTES(""), "unsigned 8 bits 42"},
		{"-1 -1 - s32 0 18446744073709551615 0 -", "", BYTES(""),
		 "signed 32 bits -1"},
		{"-1 -1 - s16 16 65535 0 -", "", BYTES(""), "signed 16 bits -1"},
		{"-1 -1 - u32 0 18446744073709551615 0 -", "", BYTES(""),
		 "unsigned 32 bits 4294967295"},
		{"-1 -1 - x64 0 255 0 -", "", BYTES(""), "hex 64 bits 0xff"},
		{"-1 -1 - u32 0 - 0 in%20a%20register%20of%20SSE", "", BYTES(""),
		 "missing in a register of SSE"},
		{"-1 -1 - u32 0 - 0 -", "", BYTES(""), "missing not fetched"},
		/* fields that the event does not have */
		{"5 -1 u32 u32 0 - 0 -", "a0:u32", BYTES("\0\0\0\0"),
		 "missing the event's format is not as defined"},
		{"0 1 u32 u64 0 - 0 -", "a0:u32", BYTES("\0\0\0\0"),
		 "missing the event's format is not as defined"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

START_TEST(arrays_of_characters_are_text)
{
#define SIXTY "123456789012345678901234567890123456789012345678901234567890"
	static const struct one table[] = {
		{"0 -1 u8[4] char[4] 0 - 0 -", "a0:u8[4]", BYTES("ab\0c"), "string ab"},
		{"0 -1 u8[4] char[4] 0 - 0 -", "a0:u8[4]", BYTES("abcd"), "string abcd"},
		{"0 -1 u8[4] char[4] 0 - 1 -", "a0:u8[4]", BYTES("\0bcd"),
		 "string  untrusted"},
		{"0 -1 u8[64] char[64] 0 - 0 -", "a0:u8[64]", BYTES(SIXTY "1234"),
		 "string " SIXTY "1234 cut"},
		{"0 -1 u8[4] char[4] 0 - 0 -", "a0:u8[3]", BYTES("abc"),
		 "missing the event's format is not as defined"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

START_TEST(what_may_be_stale_is_marked)
{
	static const struct one table[] = {
		{"0 -1 u8 u8 0 - 1 -", "a0:u8", BYTES("\x01"),
		 "unsigned 8 bits 1 untrusted"},
		{"0 -1 u8[2] u8[2] 0 - 1 -", "a0:u8[2]", BYTES("\x01\x02"),
		 "array 8 bits {1,2} untrusted"},
	};

	check_all(table, NW_COUNT(table));
}
END_TEST

UNIT_MAIN("value", an_index_chooses_among_the_elements_that_were_fetched,
	  numbers_have_the_sign_and_width_they_are_shown_with,
	  numbers_shown_wider_than_they_were_fetched_keep_their_own_sign,
	  bitfields_get_their_sign_back, floats_are_made_of_raw_bits,
	  pairs_of_registers_become_one_number, arrays_keep_their_elements,
	  arrays_of_characters_are_text, strings_are_looked_for_inside_the_record_only,
	  constants_and_problems_need_no_field, what_may_be_stale_is_marked)
