// SPDX-License-Identifier: MIT
/* title_search: what an expression finds, and titles that keep it busy. */
#include "run/consumers/title_search.h"

#include <errno.h>
#include <sys/wait.h>

#include "unit.h"

/* A back reference: each further byte of the title doubles the time of a search. */
static const char *const slow_expression = "^(w[a-z]+)$|(.*)(.*)\\2\\3z";

static struct nw_title_search *search;

static void setup(void)
{
}

static void teardown(void)
{
	nw_title_search_free(search);
	search = NULL;
}

static void compile(const char *expression)
{
	struct nw_error err;

	teardown();
	ck_assert_int_eq(nw_title_search_open("title", expression, &search, &err), 0);
}

/* Returns what is found, "(none)", or the error. */
static const char *find(const char *title, bool hurry)
{
	int code;
	const char *found = nw_title_search_find(search, title, hurry, &code);

	ck_assert(!code || !found);
	return found		   ? found
	       : code == ETIMEDOUT ? "(too long)"
	       : code		   ? "(failed)"
				   : "(none)";
}

/* Returns a title that the slow expression does not finish. */
static const char *slow_title(int number)
{
	static char title[128];

	memset(title, 'a', 100);
	snprintf(title + 100, sizeof(title) - 100, "%d", number);
	return title;
}

START_TEST(the_first_group_or_all_that_matches)
{
	compile("^worker: ([^ ]+)( x)?");
	ck_assert_str_eq(find("worker: alice db1", false), "alice");
	ck_assert_str_eq(find("worker: bob", false), "bob");
	ck_assert_str_eq(find("worker: alice db1", false), "alice");
	ck_assert_str_eq(find("server", false), "(none)");
	ck_assert_str_eq(find("", false), "(none)");
	compile("db[0-9]");
	ck_assert_str_eq(find("worker: alice db1", false), "db1");
	compile("(x)?b");
	ck_assert_str_eq(find("ab", false), "(none)");
	compile("()b");
	ck_assert_str_eq(find("ab", false), "");
}
END_TEST

START_TEST(many_titles)
{
	char title[32];

	compile("[0-9]+");
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 3000; i++) {
			snprintf(title, sizeof(title), "title %d", i);
			ck_assert_str_eq(find(title, false), title + 6);
		}
}
END_TEST

START_TEST(a_title_that_takes_too_long_is_given_up)
{
	compile(slow_expression);
	ck_assert_str_eq(find(slow_title(0), false), "(too long)");
	ck_assert_str_eq(find("worker", false), "worker");
	/* It is remembered: no process is started for it, which would count to those that took too long. */
	for (int i = 0; i < 100; i++)
		ck_assert_str_eq(find(slow_title(0), false), "(too long)");
	ck_assert_str_eq(find("writer", false), "writer");
}
END_TEST

START_TEST(after_twenty_of_them_no_title_is_searched)
{
	compile(slow_expression);
	ck_assert_str_eq(find("worker", false), "worker");
	for (int i = 0; i < 20; i++)
		ck_assert_str_eq(find(slow_title(i), false), "(too long)");
	ck_assert_str_eq(find("writer", false), "(too long)");
	ck_assert_str_eq(find("worker", false), "worker");
	/* The process that searched is gone. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

UNIT_MAIN_WITH("title_search", setup, teardown, the_first_group_or_all_that_matches,
	       many_titles, a_title_that_takes_too_long_is_given_up,
	       after_twenty_of_them_no_title_is_searched)
