/* SPDX-License-Identifier: MIT */
/*
 * Splits files in languages like C into tokens: DTrace's provider files and SystemTap's tapsets. Such files are not
 * trusted; a syntax error is reported as FILE:LINE.
 */
#ifndef NOPWATCH_FIND_PROBE_SCAN_H
#define NOPWATCH_FIND_PROBE_SCAN_H

#include "find/probe/probe.h"

enum nw_token_kind {
	NW_TOKEN_END,
	NW_TOKEN_WORD, /* query__start, $arg1, @cast */
	NW_TOKEN_NUMBER,
	NW_TOKEN_STRING, /* without its quotes; escapes stay as they are */
	NW_TOKEN_MARK,	 /* one character */
};

struct nw_token {
	enum nw_token_kind kind;
	const char *text; /* points into the file; len bytes */
	size_t len;
	unsigned int line;
};

struct nw_scan {
	const char *file; /* its name, for errors */
	const char *at, *end;
	unsigned int line;
	/* # begins a comment; there are %{ C code %} and %( condition %? a %: b %) */
	bool tapset;
	struct nw_token token; /* the current token */
	struct nw_error *err;
};

/* Moves to the next token. Returns 0, also at the end (kind END), or -EINVAL with the error. */
int nw_scan_next(struct nw_scan *scan) nw_must_check;
/* Returns the next token without moving; also END if it cannot be read. */
struct nw_token nw_scan_peek(const struct nw_scan *scan);
bool nw_token_is(const struct nw_token *token, const char *text);
/* Sets the error "FILE:LINE: MESSAGE" for the current token; returns -EINVAL. */
int nw_scan_fail(struct nw_scan *scan, const char *fmt, ...) nw_format(2, 3);
/* Sets the error "... expected, but there is 'TOKEN'"; returns -EINVAL. */
int nw_scan_expected(struct nw_scan *scan, const char *what);
/* Skips from an opening bracket to its closing bracket, inclusive. */
int nw_scan_skip_balanced(struct nw_scan *scan) nw_must_check;

/* Used by nw_types_read(): add the descriptions in a file. */
int nw_types_provider_file(struct nw_scan *scan, struct nw_types *types);
int nw_types_tapset(struct nw_scan *scan, struct nw_types *types);
/* Returns a new entry; NULL: no memory, or more entries than any honest file has. */
struct nw_described *nw_types_add(struct nw_types *types);

#endif
