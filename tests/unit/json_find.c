// SPDX-License-Identifier: MIT
/* A member of a JSON text, whole or cut at any byte. */
#include <errno.h>
#include <string.h>

#include "base/json_find.h"
#include "measure/spans/member.h"
#include "unit.h"

/* "TEXT", a decoded string; TEXT, anything else as it is written; or why there is none. A text that is cut has "..." behind it. */
static void describe(const char *text, size_t len, const char *path, struct nw_buf *out)
{
	static const char *const why[] = {[NW_JSON_MISSING] = "missing",
					  [NW_JSON_CUT] = "cut",
					  [NW_JSON_BROKEN] = "broken"};
	/* behind the end lies memory that must not be read */
	char *copy = malloc(len + 1);
	struct nw_json_part part;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	enum nw_json_search ret = nw_json_find(copy, len, path, &part);
	if (ret != NW_JSON_FOUND) {
		nw_buf_adds(out, why[ret]);
	} else {
		nw_buf_adds(out, part.is_string ? "\"" : "");
		if (part.is_string)
			nw_json_unescape(part.text, part.len, out);
		else
			nw_buf_add(out, part.text, part.len);
		nw_buf_adds(out, part.is_string ? "\"" : "");
		nw_buf_adds(out, part.cut ? "..." : "");
	}
	free(copy);
}

static const struct {
	const char *text, *path, *found;
} cases[] = {
	{"{\"a\":1}", "a", "1"},
	{" { \"a\" : -1.5e3 , \"b\":2}", "a", "-1.5e3"},
	{"{\"ok\":{\"val\":\"x y\"},\"val\":3}", "ok.val", "\"x y\""},
	{"{\"ok\":{\"val\":\"x y\"},\"val\":3}", "val", "3"},
	{"{\"ok\":{\"val\":\"x y\"},\"val\":3}", "ok", "{\"val\":\"x y\"}"},
	{"{\"a\":[10,[20,21],{\"b\":\"}]\"}]}", "a[0]", "10"},
	{"{\"a\":[10,[20,21],{\"b\":\"}]\"}]}", "a[1][1]", "21"},
	{"{\"a\":[10,[20,21],{\"b\":\"}]\"}]}", "a[2].b", "\"}]\""},
	{"{\"a\":[10,[20,21]]}", "a[1]", "[20,21]"},
	{"{\"a\":[10]}", "a[1]", "missing"},
	{"{\"a\":[]}", "a[0]", "missing"},
	{"{}", "a", "missing"},
	{"{\"a\":1}", "a.b", "missing"},
	{"[1]", "a", "missing"},
	{"[1,2]", "[1]", "2"},
	{"{\"a\":true,\"b\":null}", "b", "null"},
	{"{\"a\":1,\"a\":2}", "a", "1"},
	{"{\"a b\":1,\"\":2}", "a b", "1"},
	{"{\"\\u0061\\\"\":1}", "a\"", "1"},
	{"{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"}", "a",
	 "\"\"\\/\b\f\n\r\t\303\251\360\237\230\200\""},
	{"{\"a\":\"\\ud83d\\u0041\\u0000\\x\\u12\"}", "a",
	 "\"\357\277\275A\357\277\275\\x\\u12\""},
	/* cut, or as good as cut */
	{"", "a", "cut"},
	{"  ", "a", "cut"},
	{"{", "a", "cut"},
	{"{\"a", "a", "cut"},
	{"{\"a\"", "a", "cut"},
	{"{\"a\":", "a", "cut"},
	{"{\"a\":12", "a", "12..."},
	{"{\"a\":\"xy", "a", "\"xy\"..."},
	{"{\"a\":\"xy\\", "a", "\"xy\\\"..."},
	{"{\"a\":\"xy\"", "a", "\"xy\""},
	{"{\"a\":[1,2", "a", "[1,2..."},
	{"{\"b\":\"xy", "a", "cut"},
	{"{\"b\":{\"c\":[", "a", "cut"},
	{"{\"b\":1,", "a", "cut"},
	/* no JSON */
	{"select 1", "a", "missing"},
	{"{a:1}", "a", "broken"},
	{"{\"a\" 1}", "a", "broken"},
	{"{\"a\":}", "a", "broken"},
	{"{\"b\":1 2}", "a", "broken"},
	{"{\"b\":1;\"a\":2}", "a", "broken"},
	{"{\"b\"]", "a", "broken"},
	{"{\"a\":]]", "a", "broken"},
};

START_TEST(members_are_found)
{
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf out = {0};
		describe(cases[i].text, strlen(cases[i].text), cases[i].path, &out);
		ck_assert_msg(strcmp(nw_buf_str(&out), cases[i].found) == 0,
			      "%s of %s\ngives  %s\nwanted %s", cases[i].path,
			      cases[i].text, nw_buf_str(&out), cases[i].found);
		nw_buf_free(&out);
	}
}
END_TEST

/* A cut text gives the same answer as the whole one, or says that it is cut. */
START_TEST(a_cut_text_says_nothing_wrong)
{
	static const char text[] =
		"{\"b\":[1,{\"a\":7},\"]\\\"\"],\"a\":{\"c\":\"long\\u00e9\",\"d\":-12.5}, \"e\":3}";
	static const char *const paths[] = {"a.c", "a.d", "b[1].a", "b[2]", "e", "a"};

	for (size_t i = 0; i < NW_COUNT(paths); i++) {
		struct nw_buf whole = {0}, cut = {0};
		describe(text, sizeof(text) - 1, paths[i], &whole);
		for (size_t len = 0; len < sizeof(text) - 1; len++) {
			nw_buf_clear(&cut);
			describe(text, len, paths[i], &cut);
			const char *said = nw_buf_str(&cut);
			ck_assert_msg(strcmp(said, "cut") == 0 || strstr(said, "...") ||
					      strcmp(said, nw_buf_str(&whole)) == 0,
				      "%s at %zu: %s", paths[i], len, said);
		}
		nw_buf_free(&whole);
		nw_buf_free(&cut);
	}
}
END_TEST

START_TEST(depth_costs_nothing)
{
	struct nw_buf text = {0}, out = {0};

	nw_buf_adds(&text, "{\"b\":");
	for (int i = 0; i < 1000000; i++)
		nw_buf_addc(&text, '[');
	describe(nw_buf_str(&text), text.len, "a", &out);
	ck_assert_str_eq(nw_buf_str(&out), "cut");
	nw_buf_free(&out);
	nw_buf_free(&text);
}
END_TEST

START_TEST(paths)
{
	static const char *const good[] = {"a",		"a.b", "a[0]", "[0]",
					   "a[1][2].b", "x y", "[1]a"};
	static const char *const bad[] = {"",	   ".",	    "a.",    ".a",
					  "a..b",  "a[",    "a[]",   "a[x]",
					  "a[0].", "a.[0]", "a[-1]", "a[9999999999]"};

	for (size_t i = 0; i < NW_COUNT(good); i++)
		ck_assert_msg(nw_json_is_path(good[i]), "%s", good[i]);
	for (size_t i = 0; i < NW_COUNT(bad); i++)
		ck_assert_msg(!nw_json_is_path(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(members_are_values)
{
	struct nw_value text = {.kind = NW_VALUE_STRING};
	struct nw_buf decoded = {0};
	struct nw_member member;
	const char *why;

	ck_assert_int_eq(nw_member_parse("status", &member, &why), 0);
	ck_assert_int_eq(nw_member_parse("json(a)", &member, &why), -EINVAL);
	ck_assert_int_eq(nw_member_parse("json(,b)", &member, &why), -EINVAL);
	ck_assert_int_eq(nw_member_parse("json(a, b..c)", &member, &why), -EINVAL);
	ck_assert_int_eq(nw_member_parse("json( arg0 ,v)", &member, &why), 1);
	ck_assert_str_eq(member.arg, "arg0");
	static const struct {
		const char *text;
		enum nw_value_kind kind;
	} kinds[] = {{"{\"v\":12}", NW_VALUE_UNSIGNED},
		     {"{\"v\":-12}", NW_VALUE_SIGNED},
		     {"{\"v\":1.5}", NW_VALUE_FLOAT},
		     {"{\"v\":99999999999999999999}", NW_VALUE_STRING},
		     {"{\"v\":\"12\"}", NW_VALUE_STRING},
		     {"{\"v\":true}", NW_VALUE_STRING},
		     {"{\"w\":1}", NW_VALUE_MISSING},
		     {"{\"v\":1", NW_VALUE_UNSIGNED}};
	for (size_t i = 0; i < NW_COUNT(kinds); i++) {
		text.text = kinds[i].text;
		text.len = (uint32_t)strlen(text.text);
		const struct nw_value value = nw_member_value(&member, &text, &decoded);
		ck_assert_msg(value.kind == kinds[i].kind, "%s: %d", text.text, value.kind);
	}
	text.cut = true; /* 1 may be the beginning of 12 */
	ck_assert(nw_member_value(&member, &text, &decoded).cut);
	text.text = "{\"w\":";
	text.len = 5;
	const struct nw_value value = nw_member_value(&member, &text, &decoded);
	ck_assert(value.cut && value.kind == NW_VALUE_STRING && !value.len);
	nw_buf_free(&decoded);
	nw_member_free(&member);
}
END_TEST

UNIT_MAIN("json_find", members_are_found, a_cut_text_says_nothing_wrong,
	  depth_costs_nothing, paths, members_are_values)
