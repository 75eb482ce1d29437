// SPDX-License-Identifier: MIT
/* Texts that are JSON, that end in the middle of it, and that are none (RFC 8259). */
#include <errno.h>

#include "base/json_reader.h"
#include "unit.h"

static int read_text(const char *text, nw_json_value **out)
{
	struct nw_error err = {0};

	return nw_json_read(text, strlen(text), out, &err);
}

START_TEST(texts_are_json_or_not)
{
	static const struct {
		const char *text;
		int ret;
	} rows[] = {
		{"{}", 0},
		{" [ ] ", 0},
		{"null", 0},
		{"{\"a\":[1,{\"b\":null}],\"c\":\"d\"}", 0},
		{"[0,-0,-1.5e+3,1E2,0.1]", 0},
		{"\"\\ud83d\\ude00\\\\\"", 0},
		{"", -ENODATA},
		{"{", -ENODATA},
		{"{\"a", -ENODATA},
		{"{\"a\\", -ENODATA},
		{"{\"a\"", -ENODATA},
		{"{\"a\":", -ENODATA},
		{"{\"a\":1", -ENODATA},
		{"{\"a\":1,", -ENODATA},
		{"[1", -ENODATA},
		{"-", -ENODATA},
		{"1.", -ENODATA},
		{"1e", -ENODATA},
		{"tru", -ENODATA},
		{"{} {}", -EINVAL},
		{"{1:2}", -EINVAL},
		{"{\"a\" 1}", -EINVAL},
		{"{\"a\":1,}", -EINVAL},
		{"[1,]", -EINVAL},
		{"[1 2]", -EINVAL},
		{"[1}", -EINVAL},
		{"01", -EINVAL},
		{"+1", -EINVAL},
		{".5", -EINVAL},
		{"1.e2", -EINVAL},
		{"NaN", -EINVAL},
		{"truth", -EINVAL},
		{"'a'", -EINVAL},
		{"\"\t\"", -EINVAL},
		{"\"\\x\"", -EINVAL},
		{"\"\\u12G4\"", -EINVAL},
		{"\"\\u12\"", -EINVAL},
		{"\"\\u12", -ENODATA},
		{"\"\\u", -ENODATA},
	};

	for (size_t i = 0; i < NW_COUNT(rows); i++) {
		nw_json_value *value;
		ck_assert_msg(read_text(rows[i].text, &value) == rows[i].ret, "%s",
			      rows[i].text);
		ck_assert(rows[i].ret == 0 || !value);
		nw_json_value_free(value);
	}
}
END_TEST

START_TEST(nesting_has_a_limit)
{
	char text[256] = "";
	nw_json_value *value;

	memset(text, '[', NW_JSON_MOST_DEPTH);
	memset(text + NW_JSON_MOST_DEPTH, ']', NW_JSON_MOST_DEPTH);
	ck_assert_int_eq(read_text(text, &value), 0);
	nw_json_value_free(value);
	memset(text, '[', sizeof(text) - 1);
	ck_assert_int_eq(read_text(text, &value), -EINVAL);
}
END_TEST

START_TEST(numbers_have_their_range)
{
	nw_json_value *value;
	uint64_t count;
	int64_t number;
	double real;

	ck_assert_int_eq(
		read_text(
			"[18446744073709551615,-9223372036854775807,18446744073709551616,-1,1.5,\"7\",\"-7\",\"7x\"]",
			&value),
		0);
	ck_assert(nw_json_unsigned(nw_json_element(value, 0), &count) &&
		  count == UINT64_MAX);
	ck_assert(!nw_json_signed(nw_json_element(value, 0), &number));
	ck_assert(nw_json_signed(nw_json_element(value, 1), &number) &&
		  number == -INT64_MAX);
	ck_assert(!nw_json_unsigned(nw_json_element(value, 2), &count));
	ck_assert(nw_json_double(nw_json_element(value, 2), &real) && real > 1.8e19);
	ck_assert(!nw_json_unsigned(nw_json_element(value, 3), &count));
	ck_assert(nw_json_double(nw_json_element(value, 3), &real) && real < 0);
	ck_assert(!nw_json_signed(nw_json_element(value, 4), &number));
	ck_assert(nw_json_unsigned(nw_json_element(value, 5), &count) && count == 7);
	ck_assert(nw_json_signed(nw_json_element(value, 6), &number) && number == -7);
	ck_assert(!nw_json_unsigned(nw_json_element(value, 7), &count));
	nw_json_value_free(value);
}
END_TEST

START_TEST(members_are_found_and_walked)
{
	static const char *const keys[] = {"a", "b\n", "a"};
	const nw_json_value *member;
	nw_json_value *value;
	void *at = NULL;
	const char *key;
	size_t len, i = 0;

	ck_assert_int_eq(read_text("{\"a\":1,\"b\\n\":true,\"a\":\"x\\u0041\"}", &value),
			 0);
	while ((key = nw_json_next_member(value, &at, &member)))
		ck_assert_str_eq(key, keys[i++]);
	ck_assert_uint_eq(i, 3);
	ck_assert(nw_json_is_true(nw_json_member(value, "b\n")));
	/* the last of one name counts */
	ck_assert_str_eq(nw_json_string(nw_json_member(value, "a"), &len), "xA");
	ck_assert_uint_eq(len, 2);
	ck_assert_ptr_null(nw_json_member(value, "c"));
	ck_assert_ptr_null(nw_json_member(NULL, "c"));
	nw_json_value_free(value);
}
END_TEST

UNIT_MAIN("json_reader", texts_are_json_or_not, nesting_has_a_limit,
	  numbers_have_their_range, members_are_found_and_walked)
