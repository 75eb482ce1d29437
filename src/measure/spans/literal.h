/* SPDX-License-Identifier: MIT */
/*
 * The values that a filter compares with: numbers, bare words and quoted strings.
 */
#ifndef NOPWATCH_MEASURE_SPANS_LITERAL_H
#define NOPWATCH_MEASURE_SPANS_LITERAL_H

#include "stream/pages/stream.h"

enum nw_compare {
	NW_EQUAL,
	NW_DIFFERENT,
	NW_LESS,
	NW_LESS_EQUAL,
	NW_MORE,
	NW_MORE_EQUAL,
	NW_BITS, /* has one of these bits */
	/* As in ftrace's own filters (lib/glob.c of the kernel): * ? [a-z] [!a] and \ */
	NW_GLOB,
};

enum nw_literal_kind {
	NW_LITERAL_TEXT,    /* a word, or text in quotes */
	NW_LITERAL_INTEGER, /* 42, -1, 0x2a */
	NW_LITERAL_REAL,    /* 1.5, 1e3 */
};

struct nw_literal {
	enum nw_literal_kind kind;
	char *text; /* for comparing with strings: without quotes and escapes */
	size_t len;
	bool negative;
	uint64_t number; /* INTEGER: in two's complement */
	double real;	 /* for both kinds of numbers */
};

/* Reads the literal at *at and moves *at behind it. Returns 0, -ENOMEM, or -EINVAL with the reason in *why; *at is at
 * the mistake then. */
int nw_literal_read(const char **at, struct nw_literal *out, const char **why);
void nw_literal_free(struct nw_literal *literal);

/* Does the comparison hold? It never does for a missing value, an array, or a value of another kind: a string has no
 * order and no bits, and a number is no text. */
bool nw_literal_holds(const struct nw_literal *literal, enum nw_compare compare,
		      const struct nw_value *value);

#endif
