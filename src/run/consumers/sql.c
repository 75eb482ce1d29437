// SPDX-License-Identifier: MIT
/*
 * See sql.h. Dialects differ, and it is unknown which one a statement is in. A backslash escapes a quote, as in MySQL
 * and behind PostgreSQL's E; double quotes enclose a name, as in the standard; comments nest, as in PostgreSQL.
 */
#include "sql.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum token {
	NONE,
	WORD,
	CONSTANT,
	OPERATOR,
	OPEN,
	CLOSE,
	COMMA,
	DOT,
	SEMICOLON
};

enum {
	/* Limit of nested brackets: lists inside deeper ones stay as they are */
	DEEPEST = 64
};

/* An open bracket; the first one is the statement itself. Positions are in the output. */
struct bracket {
	size_t from;
	bool is_list;		   /* behind IN or ARRAY */
	bool mixed;		   /* it contains something else than constants */
	size_t last_from, last_to; /* the last closed bracket inside it; 0 0: none */
};

struct shape {
	const char *at, *end;
	const char *word; /* the current token */
	size_t len;
	bool spaced; /* white space or a comment precedes it */
	enum token before;
	bool before_is_cast;
	bool before_is_list; /* IN or ARRAY */
	bool before_is_rows; /* VALUES */
	bool semicolon;	     /* a semicolon is to be written if something follows */
	struct nw_buf *out;
	size_t depth;
	struct bracket bracket[DEEPEST];
};

/* ---- tokens ------------------------------------------------------------------------- */

static bool is_name(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

/* Returns the byte at that distance; 0: behind the end. */
static unsigned char look(const struct shape *s, size_t distance)
{
	return (size_t)(s->end - s->at) > distance ? (unsigned char)s->at[distance] : 0;
}

static void skip_comment(struct shape *s)
{
	size_t depth = 0;

	if (*s->at == '-') {
		while (s->at < s->end && *s->at != '\n')
			s->at++;
		return;
	}
	do {
		bool opens = look(s, 0) == '/' && look(s, 1) == '*';
		bool closes = look(s, 0) == '*' && look(s, 1) == '/';
		depth += opens;
		depth -= closes;
		s->at += opens || closes ? 2 : 1;
	} while (depth && s->at < s->end);
}

static bool is_comment(const struct shape *s)
{
	return (look(s, 0) == '-' && look(s, 1) == '-') ||
	       (look(s, 0) == '/' && look(s, 1) == '*');
}

static void skip_blanks(struct shape *s)
{
	const char *from = s->at;

	while (s->at < s->end) {
		if (is_comment(s))
			skip_comment(s);
		else if ((unsigned char)*s->at <= ' ' || *s->at == 0x7f)
			s->at++;
		else
			break;
	}
	s->spaced = s->at > from;
}

/* Moves behind the closing quote. Two quotes are one quote of the text. */
static void skip_quoted(struct shape *s, char quote, bool escapes)
{
	for (s->at++; s->at < s->end; s->at++) {
		if (escapes && *s->at == '\\' && s->at + 1 < s->end)
			s->at++;
		else if (*s->at == quote && look(s, 1) == (unsigned char)quote)
			s->at++;
		else if (*s->at == quote)
			break;
	}
	s->at += s->at < s->end;
}

static void skip_number(struct shape *s)
{
	bool hex = look(s, 0) == '0' && (look(s, 1) | 0x20) == 'x';

	for (; s->at < s->end; s->at++) {
		unsigned char c = (unsigned char)*s->at;
		bool exponent = !hex && (c | 0x20) == 'e' &&
				(look(s, 1) == '+' || look(s, 1) == '-');
		s->at += exponent;
		if (!exponent && c != '.' && !is_name(c))
			return;
	}
}

/* Skips $1, or PostgreSQL's $tag$ ... $tag$. Returns false if it is neither. */
static bool skip_dollar(struct shape *s)
{
	size_t tag = 1;

	if (isdigit(look(s, 1))) {
		s->at++;
		skip_number(s);
		return true;
	}
	while (is_name(look(s, tag)) && look(s, tag) != '$')
		tag++;
	if (look(s, tag++) != '$')
		return false;
	const char *close = memmem(s->at + tag, (size_t)(s->end - s->at) - tag, s->at, tag);
	s->at = close ? close + tag : s->end;
	return true;
}

/* Is the word the prefix of a string: E'...', N'...', X'...', _utf8'...'? */
static bool is_prefix(const struct shape *s)
{
	return look(s, 0) == '\'' && (s->at - s->word == 1 || *s->word == '_');
}

static enum token take_word(struct shape *s)
{
	while (is_name(look(s, 0)) || look(s, 0) == '@')
		s->at++;
	if (!is_prefix(s))
		return WORD;
	skip_quoted(s, '\'', true);
	return CONSTANT;
}

static enum token take_operator(struct shape *s)
{
	static const char signs[] = "+-*/<>=~!@#%^&|:";

	for (s->at++; s->at < s->end; s->at++)
		if (!*s->at || !strchr(signs, *s->at) || *s->at == '+' || *s->at == '-' ||
		    is_comment(s))
			break;
	return OPERATOR;
}

/* Is the next character the sign of a number, and not an operator between two values? */
static bool is_sign(const struct shape *s)
{
	bool number = isdigit(look(s, 1)) || (look(s, 1) == '.' && isdigit(look(s, 2)));

	return number && (look(s, 0) == '-' || look(s, 0) == '+') && s->before != WORD &&
	       s->before != CONSTANT && s->before != CLOSE;
}

static enum token take_token(struct shape *s)
{
	static const struct {
		char c;
		enum token token;
	} single[] = {{'(', OPEN},  {'[', OPEN}, {')', CLOSE},	   {']', CLOSE},
		      {',', COMMA}, {'.', DOT},	 {';', SEMICOLON}, {'?', CONSTANT}};
	unsigned char c = look(s, 0);

	if (c == '\'' || c == '"' || c == '`') {
		skip_quoted(s, (char)c, c == '\'');
		return c == '\'' ? CONSTANT : WORD;
	}
	if (isdigit(c) || (c == '.' && isdigit(look(s, 1))) || is_sign(s)) {
		s->at += is_sign(s);
		skip_number(s);
		return CONSTANT;
	}
	if (c == '$' && skip_dollar(s))
		return CONSTANT;
	if (is_name(c) || (c == '@' && (is_name(look(s, 1)) || look(s, 1) == '@')))
		return take_word(s);
	for (size_t i = 0; i < NW_COUNT(single); i++)
		if (c == (unsigned char)single[i].c) {
			s->at++;
			return single[i].token;
		}
	return take_operator(s);
}

/* ---- what is written ---------------------------------------------------------------- */

static bool is_word(const struct shape *s, const char *word)
{
	return s->len == strlen(word) && strncasecmp(s->word, word, s->len) == 0;
}

static bool needs_blank(const struct shape *s, enum token token)
{
	bool cast = token == OPERATOR && is_word(s, "::");

	if (s->before == NONE || s->before == OPEN || s->before == DOT || s->before_is_cast)
		return false;
	if (token == OPEN)
		return *s->word == '(' &&
		       (s->spaced || s->before_is_list || s->before_is_rows ||
			s->before == OPERATOR || s->before == COMMA);
	return token != CLOSE && token != COMMA && token != DOT && !cast;
}

/* Replaces a list of IN or ARRAY that contains only constants by one constant. */
static void fold_list(struct shape *s)
{
	const struct bracket *list = &s->bracket[s->depth];

	if (s->out->failed || !list->is_list || list->mixed ||
	    s->out->len <= list->from + 1)
		return;
	nw_buf_cut(s->out, list->from + 1);
	nw_buf_addc(s->out, '?');
}

/* Drops a row that equals the one before it. */
static void fold_row(struct shape *s, size_t from)
{
	struct bracket *in = &s->bracket[s->depth];
	size_t len = s->out->len - from, last = in->last_to - in->last_from;

	if (s->out->failed)
		return;
	const char *text = s->out->data;
	if (last && len == last && from == in->last_to + 2 &&
	    memcmp(text + in->last_to, ", ", 2) == 0 &&
	    memcmp(text + in->last_from, text + from, len) == 0 &&
	    memchr(text + from, '?', len)) {
		nw_buf_cut(s->out, in->last_to);
		return;
	}
	in->last_from = from;
	in->last_to = s->out->len;
}

static void open_bracket(struct shape *s)
{
	if (s->depth < DEEPEST)
		s->bracket[s->depth].mixed = true;
	if (++s->depth < DEEPEST)
		s->bracket[s->depth] = (struct bracket){.from = s->out->len - 1,
							.is_list = s->before_is_list};
}

static void close_bracket(struct shape *s, char c)
{
	if (!s->depth) {
		nw_buf_addc(s->out, c);
		return;
	}
	bool known = s->depth < DEEPEST;
	size_t from = known ? s->bracket[s->depth].from : 0;
	if (known)
		fold_list(s);
	nw_buf_addc(s->out, c);
	s->depth--;
	if (known)
		fold_row(s, from);
}

static void write_token(struct shape *s, enum token token)
{
	if (token == SEMICOLON) {
		s->semicolon = true;
		return;
	}
	if (s->semicolon)
		nw_buf_addc(s->out, ';');
	s->semicolon = false;
	if (needs_blank(s, token))
		nw_buf_addc(s->out, ' ');
	if (token == CLOSE) {
		close_bracket(s, *s->word);
		return;
	}
	if (token == CONSTANT)
		nw_buf_addc(s->out, '?');
	else
		nw_buf_add(s->out, s->word, s->len);
	if (token == OPEN)
		open_bracket(s);
	else if (token != CONSTANT && token != COMMA && s->depth < DEEPEST)
		s->bracket[s->depth].mixed = true;
}

void nw_sql_shape(const char *text, size_t len, bool cut, struct nw_buf *out)
{
	struct shape s = {.at = text, .end = text + len, .out = out};

	for (skip_blanks(&s); s.at < s.end; skip_blanks(&s)) {
		s.word = s.at;
		enum token token = take_token(&s);
		s.len = (size_t)(s.at - s.word);
		if (cut && s.at == s.end && token == WORD)
			break;
		write_token(&s, token);
		s.before = token;
		s.before_is_cast = token == OPERATOR && is_word(&s, "::");
		s.before_is_list = is_word(&s, "IN") || is_word(&s, "ARRAY");
		s.before_is_rows = is_word(&s, "VALUES");
	}
	if (cut && s.depth && s.depth < DEEPEST)
		fold_list(&s);
}
