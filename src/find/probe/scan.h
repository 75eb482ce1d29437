/* SPDX-License-Identifier: MIT */
/*
 * Words of files in languages like C: DTrace's provider files, SystemTap's tapsets. Nothing
 * in such a file is trusted; whatever cannot be read is an error with FILE:LINE.
 */
#ifndef NOPWATCH_FIND_PROBE_SCAN_H
#define NOPWATCH_FIND_PROBE_SCAN_H

#include "nopwatch/probe.h"

enum nw_token_kind {
	NW_TOKEN_END,
	NW_TOKEN_WORD, /* query__start, $arg1, @cast */
	NW_TOKEN_NUMBER,
	NW_TOKEN_STRING, /* without its quotes, escapes as they stand there */
	NW_TOKEN_MARK,	 /* one character */
};

struct nw_token {
	enum nw_token_kind kind;
	const char *text; /* into the file, len bytes */
	size_t len;
	unsigned int line;
};

struct nw_scan {
	const char *file; /* its name, for errors */
	const char *at, *end;
	unsigned int line;
	bool tapset; /* # begins a comment, %{ C code %}, %( condition %? a %: b %) */
	struct nw_token token; /* the current one */
	struct nw_error *err;
};

/* Go to the next token. Returns 0, also at the end (kind END), or -EINVAL with the error. */
int nw_scan_next(struct nw_scan *scan) nw_must_check;
/* The next token, without going there: END, too, for what cannot be read. */
struct nw_token nw_scan_peek(const struct nw_scan *scan);
bool nw_token_is(const struct nw_token *token, const char *text);
/* "FILE:LINE: WHAT", of the current token; returns -EINVAL. */
int nw_scan_fail(struct nw_scan *scan, const char *fmt, ...) nw_format(2, 3);
/* The same, "..., but there is 'TOKEN'". */
int nw_scan_expected(struct nw_scan *scan, const char *what);
/* From the mark that opens to the one that closes, both included. */
int nw_scan_skip_balanced(struct nw_scan *scan) nw_must_check;

/* Behind nw_types_read(): add what a file describes. */
int nw_types_provider_file(struct nw_scan *scan, struct nw_types *types);
int nw_types_tapset(struct nw_scan *scan, struct nw_types *types);
/* A new entry; NULL: out of memory, or more than any honest file has. */
struct nw_described *nw_types_add(struct nw_types *types);

#endif
