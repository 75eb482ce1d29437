// SPDX-License-Identifier: MIT
/* observed: titles in a recording, whose lines may be anything. */
#include "run/observed.h"
#include "unit.h"

static struct nw_observed *observed;

static void setup(void)
{
	ck_assert_int_eq(nw_observed_open(NULL, &observed), 0);
}

static void teardown(void)
{
	nw_observed_free(observed);
}

static bool take(const char *word, const char *time, const char *pid, const char *text)
{
	char *words[] = {strdup(word), strdup(time), strdup(pid), strdup(text)};
	bool taken = nw_observed_line(observed, words, NW_COUNT(words));

	for (size_t i = 0; i < NW_COUNT(words); i++)
		free(words[i]);
	return taken;
}

static const char *title(pid_t pid, uint64_t time)
{
	const char *text = nw_observed_get(observed, NW_OBSERVED_TITLE, pid, pid, time);

	return text ? text : "(unknown)";
}

START_TEST(a_title_counts_until_the_next)
{
	ck_assert(!nw_observed_has(observed, NW_OBSERVED_TITLE));
	ck_assert(take("title", "300", "7", "third"));
	ck_assert(take("title", "100", "7", "first"));
	ck_assert(take("title", "100", "8", "other"));
	ck_assert(take("title", "400", "7", "")); /* it has ended */
	ck_assert(take("title", "200", "7", "second"));
	ck_assert(take("title", "500", "7", "a later process"));
	ck_assert(nw_observed_has(observed, NW_OBSERVED_TITLE));
	ck_assert_str_eq(title(7, 99), "(unknown)");
	ck_assert_str_eq(title(7, 100), "first");
	ck_assert_str_eq(title(7, 199), "first");
	ck_assert_str_eq(title(7, 200), "second");
	ck_assert_str_eq(title(7, 399), "third");
	ck_assert_str_eq(title(7, 400), "(unknown)");
	ck_assert_str_eq(title(7, UINT64_MAX), "a later process");
	ck_assert_str_eq(title(8, UINT64_MAX), "other");
	ck_assert_str_eq(title(6, 100), "(unknown)");
	ck_assert_str_eq(title(9, 100), "(unknown)");
	ck_assert(!nw_observed_failed(observed));
}
END_TEST

START_TEST(damaged_lines_are_passed_over)
{
	char longer[NW_OBSERVED_BYTES + 1];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert(!take("titles", "1", "1", "a"));
	ck_assert(take("title", "-1", "1", "a"));
	ck_assert(take("title", "1", "2147483648", "a"));
	ck_assert(take("title", "1", "", "a"));
	ck_assert(take("title", "1", "1", longer));
	ck_assert_str_eq(title(1, 5), "(unknown)");
	for (size_t i = 0; i < NW_OBSERVED_MOST + 10; i++)
		ck_assert(take("title", "1", "1", "a"));
	ck_assert_str_eq(title(1, 5), "a");
}
END_TEST

/* Whether a process is in the control groups is told apart from its title, though both are of one process. */
START_TEST(each_fact_is_told_by_itself)
{
	ck_assert(take("title", "100", "7", "a title"));
	ck_assert(!nw_observed_has(observed, NW_OBSERVED_MEMBER));
	ck_assert(take("member", "100", "7", "1"));
	ck_assert(take("member", "200", "7", "0"));
	ck_assert(take("cgroup", "100", "7", "/a"));
	ck_assert(take("container", "100", "7", "web"));
	ck_assert(nw_observed_has(observed, NW_OBSERVED_MEMBER));
	ck_assert_str_eq(nw_observed_get(observed, NW_OBSERVED_MEMBER, 7, 7, 199), "1");
	ck_assert_str_eq(nw_observed_get(observed, NW_OBSERVED_MEMBER, 7, 7, 200), "0");
	ck_assert_str_eq(nw_observed_get(observed, NW_OBSERVED_CGROUP, 7, 7, 200), "/a");
	ck_assert_str_eq(nw_observed_get(observed, NW_OBSERVED_CONTAINER, 7, 7, 200),
			 "web");
	ck_assert_str_eq(title(7, 200), "a title");
	ck_assert(nw_observed_is_word("member") && !nw_observed_is_word("members"));
}
END_TEST

static bool take_path(const char *time, const char *pid, const char *fd, const char *text)
{
	char *words[] = {strdup("path"), strdup(time), strdup(pid), strdup(fd),
			 strdup(text)};
	bool taken = nw_observed_line(observed, words, NW_COUNT(words));

	for (size_t i = 0; i < NW_COUNT(words); i++)
		free(words[i]);
	return taken;
}

static const char *path(pid_t pid, uint32_t fd, uint64_t time)
{
	const char *text = nw_observed_path(observed, pid, fd, time);

	return text ? text : "(unknown)";
}

START_TEST(each_descriptor_has_its_paths)
{
	ck_assert(take_path("0", "0", "0", ""));
	ck_assert(nw_observed_has(observed, NW_OBSERVED_PATH));
	ck_assert(take_path("100", "7", "3", "/a"));
	ck_assert(take_path("200", "7", "3", ""));
	ck_assert(take_path("300", "7", "3", "/b"));
	ck_assert(take_path("100", "7", "4", "/c"));
	ck_assert(take_path("100", "8", "3", "/d"));
	ck_assert(take_path("100", "8", "4294967299", "/e")); /* hostile */
	ck_assert(!take("path", "100", "7", "/f"));	      /* not a line of a path */
	ck_assert_str_eq(path(7, 3, 99), "(unknown)");
	ck_assert_str_eq(path(7, 3, 100), "/a");
	ck_assert_str_eq(path(7, 3, 200), "(unknown)");
	ck_assert_str_eq(path(7, 3, 300), "/b");
	ck_assert_str_eq(path(7, 4, 300), "/c");
	ck_assert_str_eq(path(8, 3, 300), "/d");
	ck_assert_str_eq(path(8, 4, 300), "(unknown)");
	/* from here on no changes were kept */
	ck_assert(take_path("400", "0", "0", ""));
	ck_assert_str_eq(path(7, 3, 399), "/b");
	ck_assert_str_eq(path(7, 3, 400), "(unknown)");
}
END_TEST

UNIT_MAIN_WITH("observed", setup, teardown, a_title_counts_until_the_next,
	       each_fact_is_told_by_itself, each_descriptor_has_its_paths,
	       damaged_lines_are_passed_over)
