// SPDX-License-Identifier: MIT
/* Splits files in languages like C into tokens; see scan.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scan.h"

int nw_scan_fail(struct nw_scan *scan, const char *fmt, ...)
{
	char what[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return nw_fail(scan->err, EINVAL, "%s:%u: %s", scan->file, scan->token.line, what);
}

int nw_scan_expected(struct nw_scan *scan, const char *what)
{
	struct nw_buf seen = {0};
	size_t len = scan->token.len < 40 ? scan->token.len : 40;

	if (scan->token.kind == NW_TOKEN_END)
		return nw_scan_fail(scan, "expected %s, but the file ends", what);
	nw_buf_add_escaped(&seen, scan->token.text, len);
	int ret = nw_scan_fail(scan, "expected %s, but there is '%s'", what,
			       nw_buf_str(&seen));
	nw_buf_free(&seen);
	return ret;
}

bool nw_token_is(const struct nw_token *token, const char *text)
{
	return token->kind != NW_TOKEN_END && token->kind != NW_TOKEN_STRING &&
	       token->len == strlen(text) && memcmp(token->text, text, token->len) == 0;
}

static bool starts(const struct nw_scan *scan, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(scan->end - scan->at) >= len && memcmp(scan->at, text, len) == 0;
}

static void go_to(struct nw_scan *scan, const char *to)
{
	for (; scan->at < to; scan->at++)
		scan->line += *scan->at == '\n';
}

/* Moves behind the text `end`, counting lines. */
static int skip_past(struct nw_scan *scan, const char *end, const char *what)
{
	size_t len = strlen(end);
	const char *found = memmem(scan->at + 2, (size_t)(scan->end - scan->at) - 2, end,
				   len);

	scan->token.line = scan->line;
	if (!found)
		return nw_scan_fail(scan, "%s does not end", what);
	go_to(scan, found + len);
	return 0;
}

/* Finds the mark "%?" or "%)" that belongs to a "%( ... %)", skipping nested ones. Returns NULL if there is none. */
static const char *own_mark(const char *at, const char *end, char mark)
{
	unsigned int depth = 0;

	while (at + 1 < end) {
		if (*at == '"') {
			/* Moves behind the string that begins here, or to the end of its line. */
			char quote = *at++;

			while (at < end && *at != '\n' && *at != quote)
				at += at[0] == '\\' && at + 1 < end && at[1] != '\n' ? 2
										     : 1;
			at = at < end && *at == quote ? at + 1 : at;
			continue;
		}
		if (at[0] == '%' && at[1] == mark && depth == 0)
			return at;
		if (at[0] == '%' && at[1] == ')' && depth-- == 0)
			return NULL;
		depth += at[0] == '%' && at[1] == '(';
		at += at[0] == '%' ? 2 : 1;
	}
	return NULL;
}

/*
 * Reads "%( condition %? a %: b %)" as `a`, whatever the condition is, and skips "%( text %)", the body of a macro.
 */
static int skip_condition(struct nw_scan *scan)
{
	const char *inside = scan->at + 2, *end = scan->end, *to = NULL;

	scan->token.line = scan->line;
	if (starts(scan, "%{"))
		return skip_past(scan, "%}", "the C code that begins here");
	if (starts(scan, "%)")) {
		scan->at += 2;
		return 0;
	}
	if (starts(scan, "%(")) {
		to = own_mark(inside, end, '?');
		to = to ? to : own_mark(inside, end, ')');
	} else if (starts(scan, "%:")) {
		to = own_mark(inside, end, ')');
	} else {
		return 1;
	}
	if (!to)
		return nw_scan_fail(scan, "the condition that begins here does not end");
	go_to(scan, to + 2);
	return 0;
}

/* Skips one blank, comment or condition. Returns 1 if there is none. */
static int skip_one(struct nw_scan *scan)
{
	if (isspace((unsigned char)*scan->at)) {
		scan->line += *scan->at++ == '\n';
		return 0;
	}
	if (starts(scan, "/*"))
		return skip_past(scan, "*/", "the comment that begins here");
	if (starts(scan, "//") || (scan->tapset && *scan->at == '#')) {
		while (scan->at < scan->end && *scan->at != '\n')
			scan->at++;
		return 0;
	}
	return scan->tapset ? skip_condition(scan) : 1;
}

static int take_string(struct nw_scan *scan)
{
	char quote = *scan->at++;

	scan->token.kind = NW_TOKEN_STRING;
	scan->token.text = scan->at;
	for (; scan->at < scan->end && *scan->at != '\n'; scan->at++) {
		if (*scan->at == quote) {
			scan->token.len = (size_t)(scan->at++ - scan->token.text);
			return 0;
		}
		if (*scan->at == '\\' && scan->at + 1 < scan->end && scan->at[1] != '\n')
			scan->at++;
	}
	return nw_scan_fail(scan, "a string does not end on its line");
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '@';
}

int nw_scan_next(struct nw_scan *scan)
{
	int ret = 0;

	while (scan->at < scan->end && ret == 0)
		ret = skip_one(scan);
	if (ret < 0)
		return ret;
	if (ret == 1) {
		unsigned char c = (unsigned char)*scan->at;

		scan->token = (struct nw_token){
			.line = scan->line, .text = scan->at, .len = 1};
		if (c == '"' || c == '\'')
			return take_string(scan);
		if (!isprint(c))
			return nw_scan_fail(
				scan, "a byte 0x%02x: this is not such a text file", c);
		if (!is_word((char)c)) {
			scan->token.kind = NW_TOKEN_MARK;
			scan->at++;
			return 0;
		}
		while (scan->at < scan->end && is_word(*scan->at))
			scan->at++;
		scan->token.kind = isdigit(c) ? NW_TOKEN_NUMBER : NW_TOKEN_WORD;
		scan->token.len = (size_t)(scan->at - scan->token.text);
		return 0;
	}
	scan->token = (struct nw_token){.kind = NW_TOKEN_END, .line = scan->line};
	return 0;
}

struct nw_token nw_scan_peek(const struct nw_scan *scan)
{
	struct nw_scan ahead = *scan;

	ahead.err = NULL;
	if (nw_scan_next(&ahead) < 0)
		return (struct nw_token){.kind = NW_TOKEN_END};
	return ahead.token;
}

int nw_scan_skip_balanced(struct nw_scan *scan)
{
	unsigned int first = scan->token.line;
	size_t depth = 0;

	do {
		if (scan->token.kind == NW_TOKEN_END) {
			scan->token.line = first;
			return nw_scan_fail(scan, "what is opened here is never closed");
		}
		if (scan->token.kind == NW_TOKEN_MARK && strchr("({[", *scan->token.text))
			depth++;
		if (scan->token.kind == NW_TOKEN_MARK && strchr(")}]", *scan->token.text))
			depth--;
		int ret = nw_scan_next(scan);
		if (ret < 0)
			return ret;
	} while (depth);
	return 0;
}
