// SPDX-License-Identifier: MIT
/* sql: the shapes of statements. */
#include <string.h>

#include "run/consumers/sql.h"
#include "unit.h"

static void check(const char *text, size_t len, bool cut, const char *wanted)
{
	struct nw_buf out = {0};

	nw_sql_shape(text, len, cut, &out);
	ck_assert(!out.failed);
	ck_assert_msg(strcmp(nw_buf_str(&out), wanted) == 0, "%s\ngives  %s\nwanted %s",
		      text, nw_buf_str(&out), wanted);
	nw_buf_free(&out);
}

static const struct {
	const char *text, *shape;
} cases[] = {
	{"SELECT abalance FROM pgbench_accounts WHERE aid = 4711;",
	 "SELECT abalance FROM pgbench_accounts WHERE aid = ?"},
	{"UPDATE t SET a = a + -3422 WHERE aid = 7",
	 "UPDATE t SET a = a + ? WHERE aid = ?"},
	{"INSERT INTO h (tid, d) VALUES (1, -2.5e-3, CURRENT_TIMESTAMP);",
	 "INSERT INTO h (tid, d) VALUES (?, ?, CURRENT_TIMESTAMP)"},
	{"select  *\n\tfrom t1 -- why\nwhere /* a /* b */ c */ x='it''s' and y=\"a b\"",
	 "select * from t1 where x = ? and y = \"a b\""},
	{"select 'it\\'s', E'\\'', N'x', x'ff', _utf8'y', $$a'b$$, $q$ $$ $q$, 0x1F, 1e10, .5",
	 "select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"},
	{"a IN (1,2, 3)", "a IN (?)"},
	{"a in(1)", "a in (?)"},
	{"a IN ($1, $2) AND b IN (?, ?)", "a IN (?) AND b IN (?)"},
	{"a IN (SELECT b FROM c WHERE d IN ('x','y'))",
	 "a IN (SELECT b FROM c WHERE d IN (?))"},
	{"a IN (1, b, 3)", "a IN (?, b, ?)"},
	{"a = ANY(ARRAY[1,2,3]::int[])", "a = ANY(ARRAY[?]::int[])"},
	{"values (1,'a'), (2,'b'),(3,'c')", "values (?, ?)"},
	{"insert into t values (1, now()), (2, now()) on conflict (a) do nothing",
	 "insert into t values (?, now()) on conflict (a) do nothing"},
	{"f(a), (a)", "f(a), (a)"},
	{"select count(*) , max(a.b) from \"T\".`u` where a->>'k'<>'v' limit 10",
	 "select count(*), max(a.b) from \"T\".`u` where a ->> ? <> ? limit ?"},
	{"select a-5, a - 5, -5, (-5), a[1], @v, @@w",
	 "select a - ?, a - ?, ?, (?), a[?], @v, @@w"},
	{"begin; select 1 ;; ", "begin; select ?"},
	{"", ""},
	{" /* nothing", ""},
	{";", ""},
	{"')", "?"},
	{")(]", ")(]"},
	{"$", "$"},
	{"$a", "$a"},
	{"select $a$ never ends", "select ?"},
	{"caf\303\251 = 'x'", "caf\303\251 = ?"},
};

START_TEST(shapes)
{
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		check(cases[i].text, strlen(cases[i].text), false, cases[i].shape);
}
END_TEST

/* A shape is one for itself; and a statement that is cut anywhere is read without a byte beyond it. */
START_TEST(a_shape_stays_one)
{
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const size_t len = strlen(cases[i].text);
		check(cases[i].shape, strlen(cases[i].shape), false, cases[i].shape);
		for (size_t cut = 0; cut <= len; cut++) {
			nw_cleanup(nw_free_ptr) char *part = malloc(cut + 1);
			struct nw_buf out = {0};
			memcpy(part, cases[i].text, cut);
			char *exact = realloc(part, cut ? cut : 1);
			part = exact ? exact : part;
			nw_sql_shape(part, cut, true, &out);
			ck_assert_uint_le(out.len, 2 * cut + 1);
			nw_buf_free(&out);
		}
	}
}
END_TEST

/* The word that it ends in may be longer; a list that it ends in may be, too. */
START_TEST(cut_statements)
{
	static const struct {
		const char *text, *shape;
	} these[] = {{"select a from b where ai", "select a from b where"},
		     {"select a from b where aid = 12", "select a from b where aid = ?"},
		     {"select 'abc", "select ?"},
		     {"a in (1, 2, 3", "a in (?"},
		     {"a in (1, 2,", "a in (?"},
		     {"a in (1, b", "a in (?"}};

	for (size_t i = 0; i < NW_COUNT(these); i++)
		check(these[i].text, strlen(these[i].text), true, these[i].shape);
}
END_TEST

START_TEST(brackets_without_end)
{
	char text[4096];
	struct nw_buf out = {0};

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i < sizeof(text) / 2 ? '(' : ')';
	nw_sql_shape(text, sizeof(text), false, &out);
	ck_assert_uint_eq(out.len, sizeof(text));
	nw_buf_free(&out);
}
END_TEST

UNIT_MAIN("sql", shapes, a_shape_stays_one, cut_statements, brackets_without_end)
