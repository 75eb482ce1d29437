/* SPDX-License-Identifier: MIT */
/* Files below the directory of a test. */
#ifndef NOPWATCH_TESTS_PUT_H
#define NOPWATCH_TESTS_PUT_H

#include "unit.h"

/* Writes a file, and makes the directories above it. */
static inline void put(const char *dir, const char *file, const char *text)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", dir, file);
	nw_cleanup(nw_free_ptr) char *make = nw_text("mkdir -p $(dirname %s)", path);

	ck_assert_int_eq(system(make), 0);
	FILE *to = fopen(path, "w");
	ck_assert_ptr_nonnull(to);
	fputs(text, to);
	fclose(to);
}

#endif
