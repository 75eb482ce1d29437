// SPDX-License-Identifier: MIT
/* The lines that tell how counts that stay, or those of a script, are to be read: they may come from anywhere. */
#include <errno.h>

#include "kernel/recovery/kept.h"

#include "unit.h"

/* Parses a copy of the text. An error leaves *out as it was: zeroed. */
static int parse(const char *text, size_t len, struct nw_kept *out)
{
	struct nw_buf copy = {0};

	*out = (struct nw_kept){0};
	nw_buf_add(&copy, text, len);
	ck_assert_int_eq(nw_buf_str(&copy)[len], '\0');
	int ret = nw_kept_parse(&copy, out);
	nw_buf_free(&copy);
	if (ret < 0) {
		ck_assert_ptr_null(out->plan);
		ck_assert_ptr_null(out->by);
		ck_assert_uint_eq(out->spans.count + out->hists.count + out->named.count,
				  0);
	}
	return ret;
}

static int parse_text(const char *text, struct nw_kept *out)
{
	return parse(text, strlen(text), out);
}

START_TEST(all_is_read)
{
	struct nw_kept kept;

	ck_assert_int_eq(parse_text("nopwatch-sh 1 anything\n"
				    "with named 2\nwith named 0\nwith by a,%20b\n"
				    "with span x=a..b\nwith hist n\nwith hist m\n"
				    "undo 1 a b\n\n"
				    "kept 17 plan%201%0a\n",
				    &kept),
			 0);
	ck_assert_uint_eq(kept.began_ns, 17);
	ck_assert_str_eq(kept.plan, "plan 1\n");
	ck_assert_str_eq(kept.by, "a, b");
	ck_assert_uint_eq(kept.named.count, 2);
	ck_assert_uint_eq(kept.named.item[0], 2);
	ck_assert_uint_eq(kept.spans.count, 1);
	ck_assert_str_eq(kept.spans.item[0], "x=a..b");
	ck_assert_uint_eq(kept.hists.count, 2);
	ck_assert_str_eq(kept.hists.item[1], "m");
	nw_kept_free(&kept);
}
END_TEST

/* The last one counts of what is said twice, and nothing is lost in memory (ASan, valgrind). */
START_TEST(what_is_said_twice)
{
	struct nw_kept kept;

	ck_assert_int_eq(
		parse_text("with by a\nkept 1 one\nwith by b\nkept 2 two\n", &kept), 0);
	ck_assert_str_eq(kept.by, "b");
	ck_assert_str_eq(kept.plan, "two");
	ck_assert_uint_eq(kept.began_ns, 2);
	nw_kept_free(&kept);
}
END_TEST

START_TEST(damaged_lines_are_refused)
{
	static const char *const cases[] = {
		"",
		"kept",
		"kept\n",
		"kept 1\n",
		"kept 1 p", /* cut */
		"kept 1 p x\n",
		"kept x p\n",
		"kept -1 p\n",
		"kept 18446744073709551616 p\n",
		"kept  1 p\n",
		"Kept 1 p\n",
		"with by a\n",
		"with named\n",
		"with named x\nkept 1 p\n",
		"with named -1\nkept 1 p\n",
		"with named 4294967296\nkept 1 p\n",
		"with named 18446744073709551617\nkept 1 p\n",
		"with  x\nkept 1 p\n",
		"with names 1\nkept 1 p\n",
		"kept 1 p\nwith something else\n",
		"with span a\nwith hist b\nwith by c\nwith named 1\nkept 1 p\nwith named x\n",
	};
	struct nw_kept kept;

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		ck_assert_msg(parse_text(cases[i], &kept) == -EBADMSG, "case %zu: %s", i,
			      cases[i]);
	/* Bytes behind a NUL are not read. */
	ck_assert_int_eq(parse("with by a\n\0kept 1 p\n", 20, &kept), -EBADMSG);
}
END_TEST

/* Wherever it is cut, it is read whole or not at all. */
START_TEST(a_cut_text_is_refused)
{
	static const char text[] = "with named 1\nwith span a%20b\nkept 3 p%0aq%25\n";
	struct nw_kept kept;

	for (size_t len = 0; len < sizeof(text) - 1; len++)
		ck_assert_int_eq(parse(text, len, &kept), -EBADMSG);
	ck_assert_int_eq(parse_text(text, &kept), 0);
	ck_assert_str_eq(kept.plan, "p\nq%");
	nw_kept_free(&kept);
}
END_TEST

/* Parses so many lines, and a whole end. */
static int parse_lines(const char *line, size_t count, struct nw_kept *out)
{
	struct nw_buf text = {0};

	for (size_t i = 0; i < count; i++)
		nw_buf_adds(&text, line);
	nw_buf_adds(&text, "kept 1 p\n");
	int ret = parse(text.data, text.len, out);
	nw_buf_free(&text);
	return ret;
}

START_TEST(lists_have_limits)
{
	static const struct {
		const char *line;
		size_t most;
	} cases[] = {{"with named 4294967295\n", 16384},
		     {"with span s\n", 1024},
		     {"with hist h\n", 1024}};
	struct nw_kept kept;

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		ck_assert_int_eq(parse_lines(cases[i].line, cases[i].most, &kept), 0);
		ck_assert_uint_eq(kept.named.count + kept.spans.count + kept.hists.count,
				  cases[i].most);
		nw_kept_free(&kept);
		ck_assert_int_eq(parse_lines(cases[i].line, cases[i].most + 1, &kept),
				 -EFBIG);
	}
}
END_TEST

UNIT_MAIN("kept", all_is_read, what_is_said_twice, damaged_lines_are_refused,
	  a_cut_text_is_refused, lists_have_limits)
