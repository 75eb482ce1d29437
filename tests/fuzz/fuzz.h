/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share: the entry point's prototype, and checks that end the process. */
#ifndef NOPWATCH_TESTS_FUZZ_H
#define NOPWATCH_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* libFuzzer's entry point; tests/fuzz/replay.c calls it, too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise of a header: breaking it is a finding like a crash. */
#define PROMISE(condition)                                                                 \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "%s:%d: promise broken: %s\n", __FILE__, __LINE__, \
				#condition);                                               \
			abort();                                                           \
		}                                                                          \
	} while (0)

/*
 * libelf (0.188) does not free what it has converted of some damaged sections: a copy, once a file. LeakSanitizer asks
 * this function what is known.
 */
#define LIBELF_LEAKS                                   \
	const char *__lsan_default_suppressions(void); \
	const char *__lsan_default_suppressions(void)  \
	{                                              \
		return "leak:libelf.so";               \
	}

/* A copy of just that size, so that the sanitizers see a byte too far; NUL-terminated. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	PROMISE(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static inline void *fuzz_bytes(const uint8_t *data, size_t size)
{
	void *bytes = malloc(size ? size : 1);

	PROMISE(bytes);
	if (size)
		memcpy(bytes, data, size);
	return bytes;
}

/* An error that has no words is of no use to anybody. */
static inline void fuzz_error(int ret, const struct nw_error *err)
{
	PROMISE(ret < 0);
	PROMISE(err->code == -ret);
	PROMISE(*err->what);
}

#endif
