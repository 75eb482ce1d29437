/* SPDX-License-Identifier: MIT */
/* What every unit test needs: check, and a main() over a list of test functions. */
#ifndef NOPWATCH_TESTS_UNIT_H
#define NOPWATCH_TESTS_UNIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/*
 * check writes the place of each assertion into a pipe, to know the last one before a crash, which is nearly all that loops of a
 * million assertions do. Behind the first thousand of a test it is told one in a thousand.
 */
static inline void unit_mark_point(const char *file, int line)
{
	static unsigned int marks;

	if (marks++ < 1000 || marks % 1000 == 0)
		(_mark_point)(file, line);
}
#define _mark_point(file, line) unit_mark_point(file, line)

/*
 *	START_TEST(adds) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *	UNIT_MAIN("base", adds)
 *
 * Each test runs in a process of its own, so a crash costs only itself.
 */
#define UNIT_MAIN(room, ...) UNIT_MAIN_WITH(room, NULL, NULL, __VA_ARGS__)

/* UNIT_MAIN() with functions that run before and behind each test, in its process; NULL: none. */
#define UNIT_MAIN_WITH(room, setup, teardown, ...)                                      \
	int main(void)                                                                  \
	{                                                                               \
		const TTest *const tests[] = {__VA_ARGS__};                             \
		Suite *suite = suite_create(room);                                      \
		for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {         \
			TCase *one = tcase_create(tests[i]->name);                      \
			tcase_set_timeout(one, 600); /* of a machine with much to do */ \
			tcase_add_checked_fixture(one, setup, teardown);                \
			tcase_add_test(one, tests[i]);                                  \
			suite_add_tcase(suite, one);                                    \
		}                                                                       \
		SRunner *runner = srunner_create(suite);                                \
		srunner_run_all(runner, CK_ENV);                                        \
		int failed = srunner_ntests_failed(runner);                             \
		srunner_free(runner);                                                   \
		return failed ? 1 : 0;                                                  \
	}

/*
 * In a test that cannot do what it is for, or not all of it, here: tests/run counts it as skipped, with the reason. A return
 * comes after it.
 */
#define unit_skip(why)                                    \
	do {                                              \
		printf("skip %s: %s\n", __func__, (why)); \
		fflush(stdout);                           \
	} while (0)

/* The same sequence of numbers in every run: failures can be repeated. */
static inline uint64_t unit_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return nw_hash64(*state);
}

#endif
