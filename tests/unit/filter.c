// SPDX-License-Identifier: MIT
/* summary: filters, their grammar, their comparisons, and to which probes they apply. */
#include <errno.h>
#include <inttypes.h>

#include "measure/summary.h"
#include "plan/plan.h"
#include "unit.h"

enum {
	DONE,
	OTHER
};
static const char plan_text[] =
	"nopwatch-plan 1\nimage /bin/app\n"
	"probe 0 0 app done app:done 1\narg id -\narg status u16\narg path string\n"
	"arg ratio f64\narg raw u8[4]\narg - -\n"
	"probe 0 0 app other app:other 1\narg id -\n";

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_value values[6];
static const struct nw_task task = {.tid = 77, .pid = 70, .comm = "postgres: w"};

static void setup(void)
{
	static const unsigned char raw[4] = {1, 2, 3, 4};
	int ret = nw_plan_load(plan_text, strlen(plan_text), &selection, &plan, NULL, NULL,
			       NULL, NULL);

	ck_assert_int_eq(ret, 0);
	values[0] = (struct nw_value){
		.kind = NW_VALUE_SIGNED, .bits = 32, .number = (uint64_t)-7};
	values[1] = (struct nw_value){.kind = NW_VALUE_UNSIGNED, .number = 404};
	values[2] = (struct nw_value){
		.kind = NW_VALUE_STRING, .text = "/a\n/b...", .len = 5};
	values[3] = (struct nw_value){.kind = NW_VALUE_FLOAT, .real = 0.25};
	values[4] = (struct nw_value){.kind = NW_VALUE_ARRAY,
				      .bits = 8,
				      .elements = raw,
				      .len = 4,
				      .element = NW_VALUE_UNSIGNED};
	values[5] = (struct nw_value){.kind = NW_VALUE_HEX, .number = UINT64_MAX};
}

static void teardown(void)
{
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

static bool passes(const char *text, uint32_t probe)
{
	const struct nw_hit hit = {.time = 1,
				   .cpu = 3,
				   .tid = 77,
				   .probe = probe,
				   .values = values,
				   .value_count = probe == DONE ? 6 : 1};
	struct nw_filter *filter;
	struct nw_error err;

	if (nw_filter_parse(text, &filter, &err) < 0 ||
	    nw_filter_bind(filter, &selection, &err) < 0)
		ck_abort_msg("'%s': %s", text, err.what);
	bool result = nw_filter_passes(filter, &hit, &task);
	nw_filter_free(filter);
	return result;
}

/* Expressions, each with what it says of the hit: "+EXPR" or "-EXPR". */
static void check_all(const char *const *cases, size_t count)
{
	setup();
	for (size_t i = 0; i < count; i++)
		if (passes(cases[i] + 1, DONE) != (cases[i][0] == '+'))
			ck_abort_msg("wrong: %s", cases[i]);
	teardown();
}

START_TEST(numbers)
{
	static const char *const cases[] = {"+status == 404",
					    "-status == 400",
					    "+status != 400",
					    "-status != 404",
					    "+status < 405",
					    "-status < 404",
					    "+status <= 404",
					    "-status <= 403",
					    "+status > 403",
					    "-status > 404",
					    "+status >= 404",
					    "-status >= 405",
					    "+status==0x194",
					    "+status>=400&&status<500",
					    "+status & 4",
					    "-status & 8",
					    "+status & 0xc",
					    "+id == -7",
					    "+id < 0",
					    "+id <= -7",
					    "-id > -7",
					    "+id > -8",
					    "-id == 7",
					    "-id == 0xfffffffffffffff9",
					    "-id == 0xfffffff9",
					    "+id & 1",
					    "+id & -1",
					    "+id != -0",
					    "+status > -1",
					    "+arg5 == 18446744073709551615",
					    "-arg5 == -1",
					    "+arg5 > 9223372036854775807",
					    "+arg5 > -9223372036854775808",
					    "+id >= -9223372036854775808",
					    "+status > 403.5",
					    "-status < 403.5",
					    "+id < -6.5",
					    "+arg1 == 404",
					    "+arg0 == -7"};

	check_all(cases, NW_COUNT(cases));
}
END_TEST

START_TEST(reals)
{
	static const char *const cases[] = {
		"+ratio == 0.25",   "+ratio > 0",  "+ratio < 1",    "-ratio > 1",
		"+ratio >= 2.5e-1", "+ratio > -1", "-ratio < -0.5", "-ratio != 0.25"};

	check_all(cases, NW_COUNT(cases));
	setup();
	values[3].real = __builtin_nan("");
	ck_assert(!passes("ratio == 0", DONE) && passes("ratio != 0", DONE));
	ck_assert(!passes("ratio < 0", DONE) && !passes("ratio >= 0", DONE));
	teardown();
}
END_TEST

START_TEST(strings)
{
	static const char *const cases[] = {"+path == \"/a\\n/b\"",
					    "+path == '/a\\n/b'",
					    "+path == \"\\x2fa\\x0a/b\"",
					    "-path == /a",
					    "+path != /a",
					    "+path ~ /a*",
					    "+path ~ '*b'",
					    "-path ~ b",
					    "+path ~ '/a?/b'",
					    "-path ~ '/a/b'",
					    "+path ~ '/[abc]*'",
					    "-path ~ '/[!abc]*'",
					    "+path ~ '[!a]a*'",
					    "+path ~ '/[a-c]?/[a-c]'",
					    "+path ~ '*/*/*'",
					    "-path ~ '*/*/*/*'",
					    "+path ~ '**'",
					    "-path ~ ''",
					    "-path == ''",
					    "-path ~ '\\*'",
					    "-path ~ '[a'",
					    "-path ~ '/a?/b?'",
					    "-path == \"404\"",
					    "+path ~ '\\/a*'",
					    "-path ~ '?'",
					    "+path ~ \"?????\""};

	check_all(cases, NW_COUNT(cases));
	setup();
	values[2].text = "x[a]-*\\";
	values[2].len = 7;
	ck_assert(passes("path ~ 'x[[]a]-*'", DONE) && passes("path ~ 'x[a*'", DONE));
	ck_assert(passes("path ~ 'x*-\\*?'", DONE) && !passes("path ~ 'x*__*'", DONE));
	ck_assert(passes("path == 'x[a]-*\\\\'", DONE) && passes("path ~ '*[]]*'", DONE));
	values[2].len = 0;
	ck_assert(passes("path == ''", DONE) && passes("path ~ '*'", DONE));
	ck_assert(passes("path ~ ''", DONE) && !passes("path ~ '?'", DONE));
	teardown();
}
END_TEST

START_TEST(threads)
{
	static const char *const cases[] = {
		"+tid == 77",	     "-tid != 77",
		"+pid == 70",	     "-pid == 77",
		"+cpu == 3",	     "-cpu > 3",
		"+comm ~ post*",     "+comm == 'postgres: w'",
		"-comm == postgres", "+comm ~ \"*: w\" && pid < 100",
		"-comm == 70"};

	check_all(cases, NW_COUNT(cases));
}
END_TEST

START_TEST(logic)
{
	static const char *const cases[] = {"+cpu == 3 || cpu == 4 && cpu == 5",
					    "-(cpu == 3 || cpu == 4) && cpu == 5",
					    "+cpu == 4 && cpu == 5 || cpu == 3",
					    "-!cpu == 3",
					    "+!cpu == 4",
					    "+!!cpu == 3",
					    "-! ! !cpu == 3",
					    "-!(cpu == 3 || cpu == 4)",
					    "+!(cpu == 3 && cpu == 4)",
					    "+!(cpu == 4) && !(cpu == 5)",
					    "+((((cpu == 3))))",
					    "+(cpu==3)&&(cpu==3)||(cpu==4)",
					    "-!(!(cpu == 4) || cpu == 5)",
					    "+cpu == 4 || !(cpu == 3 && tid == 78)",
					    "+  cpu\t==\n3  ",
					    "-cpu == 4 || cpu == 5 || cpu == 6",
					    "+cpu == 4 || cpu == 5 || cpu == 3",
					    "-cpu == 3 && tid == 77 && pid == 71"};

	check_all(cases, NW_COUNT(cases));
}
END_TEST

/* Every formula of three variables and up to three operators, against a second evaluator. */
static bool formula(uint64_t *random, unsigned int depth, unsigned int vars,
		    struct nw_buf *out)
{
	unsigned int kind = depth ? (unsigned int)(unit_random(random) % 4) : 0;

	if (kind == 0) {
		unsigned int var = (unsigned int)(unit_random(random) % 3);
		nw_buf_printf(out, "tid & %u", 1u << var);
		return vars >> var & 1;
	}
	if (kind == 1) {
		nw_buf_adds(out, "!(");
		bool inner = formula(random, depth - 1, vars, out);
		nw_buf_addc(out, ')');
		return !inner;
	}
	nw_buf_addc(out, '(');
	bool left = formula(random, depth - 1, vars, out);
	nw_buf_adds(out, kind == 2 ? " && " : " || ");
	bool right = formula(random, depth - 1, vars, out);
	nw_buf_addc(out, ')');
	return kind == 2 ? left && right : left || right;
}

START_TEST(random_logic)
{
	uint64_t random = 7;

	setup();
	for (unsigned int i = 0; i < 20000; i++) {
		struct nw_hit hit = {.tid = (int32_t)(i & 7)};
		struct nw_buf text = {0};
		struct nw_filter *filter;
		bool wanted = formula(&random, 5, i & 7, &text);
		ck_assert_int_eq(nw_filter_parse(nw_buf_str(&text), &filter, NULL), 0);
		ck_assert_int_eq(nw_filter_bind(filter, &selection, NULL), 0);
		if (nw_filter_passes(filter, &hit, NULL) != wanted)
			ck_abort_msg("%u: %s", i & 7, nw_buf_str(&text));
		nw_filter_free(filter);
		nw_buf_free(&text);
	}
	teardown();
}
END_TEST

START_TEST(missing_values_make_a_comparison_false)
{
	setup();
	for (size_t i = 0; i < 6; i++)
		values[i] = (struct nw_value){.kind = NW_VALUE_MISSING, .text = "(fault)"};
	ck_assert(!passes("path == x", DONE) && !passes("path != x", DONE));
	ck_assert(!passes("path ~ '*'", DONE) && !passes("status >= 0", DONE));
	ck_assert(!passes("status == 0", DONE) && passes("!(status == 0)", DONE));
	ck_assert(passes("status == 1 || tid == 77", DONE));
	teardown();
}
END_TEST

START_TEST(hits_without_values)
{
	const struct nw_hit hit = {.tid = 1, .probe = DONE};
	struct nw_filter *filter;

	setup();
	ck_assert_int_eq(nw_filter_parse("status != 0", &filter, NULL), 0);
	ck_assert_int_eq(nw_filter_bind(filter, &selection, NULL), 0);
	ck_assert(!nw_filter_passes(filter, &hit, NULL));
	nw_filter_free(filter);
	teardown();
}
END_TEST

START_TEST(probes_without_the_arguments_pass)
{
	setup();
	ck_assert(passes("status == 1", OTHER) && !passes("status == 1", DONE));
	ck_assert(!passes("id == 1", OTHER));
	ck_assert(passes("id == 1 && status == 1", OTHER));
	ck_assert(passes("arg1 == 1", OTHER) && !passes("arg0 == 1", OTHER));
	ck_assert(!passes("tid == 1", OTHER));
	teardown();
}
END_TEST

START_TEST(what_it_needs)
{
	static const struct {
		const char *text;
		bool args, tasks;
	} cases[] = {{"tid == 1 && cpu == 2", false, false},
		     {"pid == 1", false, true},
		     {"comm == a || tid == 1", false, true},
		     {"x == 1", true, false},
		     {"x == 1 && pid == 3", true, true}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_filter *filter;
		ck_assert_int_eq(nw_filter_parse(cases[i].text, &filter, NULL), 0);
		ck_assert(nw_filter_names_args(filter) == cases[i].args);
		ck_assert(nw_filter_names_tasks(filter) == cases[i].tasks);
		nw_filter_free(filter);
	}
	nw_filter_free(NULL);
}
END_TEST

/* ---- mistakes ----------------------------------------------------------------------- */

static void refuse(const char *text, const char *why)
{
	struct nw_filter *filter;
	struct nw_error err = {0};

	if (nw_filter_parse(text, &filter, &err) == 0) {
		ck_assert_int_eq(nw_filter_bind(filter, &selection, &err), -EINVAL);
		nw_filter_free(filter);
	}
	ck_assert(err.usage);
	ck_assert_msg(strstr(err.what, why), "'%s': '%s', not '%s'", text, err.what, why);
}

START_TEST(mistakes)
{
	static const char *const cases[][2] = {
		{"", "a name is missing at column 1 of"},
		{"   ", "a name is missing at column 4"},
		{"400 <= status", "a name is missing at column 1"},
		{"status",
		 "a comparison is missing (without quotes a shell takes > and < for files) at column 7"},
		{"status && id == 1", "a comparison is missing at column 8"},
		{"status = 4", "use '==' instead of '=' at column 8"},
		{"status ==", "a value is missing at column 10"},
		{"status == )", "a value is missing at column 11"},
		{"status == 1 &&", "a name is missing at column 15"},
		{"status == 1 id == 2", "'&&' or '||' is missing at column 13"},
		{"status == 1 & 2", "'&&' or '||' is missing at column 13"},
		{"(status == 1", "')' is missing at column 13"},
		{"(status == 1 id", "'&&', '||' or ')' is missing at column 14"},
		{"status == 1)", "nothing opens this ')' at column 12"},
		{"path == \"abc", "the string has no end at column 9"},
		{"path == 'abc\\'", "the string has no end at column 9"},
		{"status == 18446744073709551616", "the number is too large at column 11"},
		{"status == -9223372036854775809", "the number is too small at column 11"},
		{"status == 0x10000000000000000", "the number is too large at column 11"},
		{"status < abc", "a number is wanted at column 10"},
		{"status < '5'", "a number is wanted at column 10"},
		{"status & 1.5", "'&' wants an integer at column 10"},
		{"tid == abc", "this is a number, but is compared with text at column 1"},
		{"cpu ~ 1*", "this is a number, but is compared with text at column 1"},
		{"comm < 5", "comm is a string: only ==, != and ~ compare it at column 1"},
		{"comm == abcdefghijklmnop", "no comm is that long"},
		{"comm != 'abcdefghijklmnop'", "no comm is that long"},
		{"comm ~ abcdefg?[a-z][!]x]klm\\*opq*", "no comm is that long"},
		{"cpu < 0", "this can never hold: it is a number from 0 on at column 1"},
		{"pid == -1", "this can never hold"},
		{"tid == 1.5", "this can never hold"},
		{"tid > 2147483647", "this can never hold"},
		{"status == 65536", "'status' of app:done can never be that"},
		{"status > 65535", "'status' of app:done can never be that"},
		{"status < 0", "'status' of app:done can never be that"},
		{"status == -1", "'status' of app:done can never be that"},
		{"status == abc",
		 "'status' of app:done is a number, but is compared with text"},
		{"status ~ 4*",
		 "'status' of app:done is a number, but is compared with text"},
		{"path < 5", "'path' of app:done is a string"},
		{"path & 5", "'path' of app:done is a string"},
		{"path == 5",
		 "'path' of app:done is a string, but is compared with a number"},
		{"path != 5.5",
		 "'path' of app:done is a string, but is compared with a number"},
		{"raw == 5", "'raw' of app:done is an array"},
		{"ratio & 5", "'ratio' of app:done is no integer"},
		{"nothing == 5", "no probe has an argument 'nothing'"},
		{"arg6 == 5", "no probe has an argument 'arg6'"},
		{"argx == 5", "no probe has an argument 'argx'"},
		{"status == 5 || b == 6 || b == 7",
		 "no probe has all the arguments 'status', 'b'"},
		{"st@tus == 1", "a comparison is missing at column 3"},
		{"\xc3\xa9 == 1", "a name is missing at column 1"},
	};

	setup();
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		refuse(cases[i][0], cases[i][1]);
	teardown();
}
END_TEST

START_TEST(it_is_said_what_there_is)
{
	struct nw_filter *filter;
	struct nw_error err;

	setup();
	ck_assert_int_eq(nw_filter_parse("x == 1", &filter, &err), 0);
	ck_assert_int_eq(nw_filter_bind(filter, &selection, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.hint,
				     "app:done(id, status, path, ratio, raw, arg5), "
				     "app:other(id), and tid, pid, comm, cpu"));
	nw_filter_free(filter);
	ck_assert_int_eq(nw_filter_parse("path != 0x05", &filter, &err), 0);
	ck_assert_int_eq(nw_filter_bind(filter, &selection, &err), -EINVAL);
	ck_assert_str_eq(err.hint, "put the text in quotes: 'path != \"0x05\"'");
	nw_filter_free(filter);
	teardown();
}
END_TEST

/* COUNT times BEFORE, then MIDDLE, then COUNT times AFTER */
static char *repeat(size_t count, const char *before, const char *middle, const char *after)
{
	struct nw_buf text = {0};

	for (size_t i = 0; i < count; i++)
		nw_buf_adds(&text, before);
	nw_buf_adds(&text, middle);
	for (size_t i = 0; i < count; i++)
		nw_buf_adds(&text, after);
	return nw_buf_take(&text);
}

START_TEST(hostile_sizes)
{
	static const struct {
		size_t count;
		const char *before, *middle, *after, *why;
	} cases[] = {
		{64, "(", "id == 1", ")", NULL},
		{65, "(", "id == 1", ")", "more than 64 parentheses are open at column 65"},
		{1000000, "(", "", "", "more than 64 parentheses are open at column 65"},
		{1000000, "!", "id == 1", "", NULL},
		{1000000, " ", "id == 1", " ", NULL},
		{255, "id == 1 && ", "id == 1", "", NULL},
		{256, "id == 1 && ", "id == 1", "", "there are more than 256 comparisons"},
		{100000, "id == 1 || ", "id == 1", "",
		 "there are more than 256 comparisons"},
		{100000, "n", " == 1", "", "no probe has"},
		{100000, "9", " == 1", "", "a name is missing at column 1"},
	};

	setup();
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		char *text = repeat(cases[i].count, cases[i].before, cases[i].middle,
				    cases[i].after);
		if (cases[i].why)
			refuse(text, cases[i].why);
		else
			passes(text, DONE);
		free(text);
	}
	teardown();
}
END_TEST

/* A glob that goes back at every star must not take for ever. */
START_TEST(hostile_globs)
{
	char *text = repeat(60000, "a", "", ""), *stars = repeat(1000, "a*", "b", "");
	char *whole = NULL;

	setup();
	values[2].text = text;
	values[2].len = 60000;
	ck_assert_int_ge(asprintf(&whole, "path ~ '%s'", stars), 0);
	ck_assert(!passes(whole, DONE));
	free(whole);
	free(stars);
	free(text);
	teardown();
}
END_TEST

/* Whatever is typed, it is taken or refused: pieces of expressions in any order. */
START_TEST(random_text)
{
	static const char *const pieces[] = {"(",
					     ")",
					     "!",
					     "&&",
					     "||",
					     "&",
					     "|",
					     "==",
					     "!=",
					     "<",
					     "~",
					     "=",
					     " ",
					     "id",
					     "path",
					     "status",
					     "arg0",
					     "tid",
					     "comm",
					     "-",
					     "1",
					     "0x",
					     "9999999999999999999999",
					     "'",
					     "\"",
					     "\\",
					     "[",
					     "]",
					     "*",
					     "\x80",
					     "\n",
					     "1e999",
					     "1.5"};
	uint64_t random = 3;

	setup();
	for (unsigned int i = 0; i < 100000; i++) {
		const struct nw_hit hit = {.values = values, .value_count = 6};
		struct nw_buf text = {0};
		struct nw_filter *filter;
		struct nw_error err;
		for (uint64_t n = unit_random(&random) % 12; n; n--)
			nw_buf_adds(&text, pieces[unit_random(&random) % NW_COUNT(pieces)]);
		if (nw_filter_parse(nw_buf_str(&text), &filter, &err) == 0) {
			if (nw_filter_bind(filter, &selection, &err) == 0)
				nw_filter_passes(filter, &hit, &task);
			nw_filter_free(filter);
		}
		nw_buf_free(&text);
	}
	teardown();
}
END_TEST

UNIT_MAIN("filter", numbers, reals, strings, threads, logic, random_logic,
	  missing_values_make_a_comparison_false, hits_without_values,
	  probes_without_the_arguments_pass, what_it_needs, mistakes,
	  it_is_said_what_there_is, hostile_sizes, hostile_globs, random_text)
