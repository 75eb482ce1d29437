// SPDX-License-Identifier: MIT
/* See literal.h. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "literal.h"

/* ---- reading ------------------------------------------------------------------------ */

static int hex_digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Reads an escape behind its backslash. An unknown escape is left as it is, because it may belong to a glob. */
static const char *read_escape(const char *at, struct nw_buf *out)
{
	static const char from[] = "nt\\\"'", to[] = "\n\t\\\"'";
	const char *known = *at ? strchr(from, *at) : NULL;

	if (*at == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
		nw_buf_addc(out, (char)(hex_digit(at[1]) << 4 | hex_digit(at[2])));
		return at + 3;
	}
	if (!known) {
		nw_buf_addc(out, '\\');
		return at;
	}
	nw_buf_addc(out, to[known - from]);
	return at + 1;
}

/* Reads "a \"string\"" or 'one'. Returns NULL if the closing quote is missing. */
static const char *read_quoted(const char *at, struct nw_buf *out)
{
	char quote = *at++;

	while (*at && *at != quote) {
		if (*at == '\\')
			at = read_escape(at + 1, out);
		else
			nw_buf_addc(out, *at++);
	}
	return *at ? at + 1 : NULL;
}

/* Reads up to a blank, a parenthesis, a quote, & or |. */
static const char *read_word(const char *at, struct nw_buf *out)
{
	size_t len = strcspn(at, " \t\n\r()&|\"'");

	nw_buf_add(out, at, len);
	return at + len;
}

/* Converts a word that is a number from its first to its last character. Other words stay words, such as the comm
 * "7zip". */
static const char *take_number(struct nw_literal *literal)
{
	const char *digits = literal->text + (*literal->text == '-');
	char *end;

	if (nw_parse_u64(digits, &literal->number) == 0) {
		literal->kind = NW_LITERAL_INTEGER;
		literal->negative = digits > literal->text && literal->number;
		literal->real = (double)literal->number;
		if (!literal->negative)
			return NULL;
		literal->real = -literal->real;
		if (literal->number > (uint64_t)1 << 63)
			return "the number is too small";
		literal->number = -literal->number;
		return NULL;
	}
	if (!digits[strspn(digits, "0123456789")] ||
	    (digits[0] == '0' && (digits[1] | 0x20) == 'x' && digits[2] &&
	     !digits[2 + strspn(digits + 2, "0123456789abcdefABCDEF")]))
		return "the number is too large";
	literal->real = strtod(literal->text, &end);
	if (!*end && !digits[strspn(digits, "0123456789.eE+-")] && isfinite(literal->real))
		literal->kind = NW_LITERAL_REAL;
	return NULL;
}

int nw_literal_read(const char **at, struct nw_literal *out, const char **why)
{
	bool quoted = **at == '"' || **at == '\'';
	struct nw_literal literal = {0};
	struct nw_buf text = {0};
	const char *end = quoted ? read_quoted(*at, &text) : read_word(*at, &text);

	*why = !end		      ? "the string has no end"
	       : !quoted && !text.len ? "a value is missing"
				      : NULL;
	if (*why) {
		nw_buf_free(&text);
		return -EINVAL;
	}
	literal.len = text.len;
	literal.text = text.len || text.failed ? nw_buf_take(&text) : strdup("");
	if (!literal.text)
		return -ENOMEM;
	if (!quoted && isdigit((unsigned char)literal.text[*literal.text == '-']))
		*why = take_number(&literal);
	if (*why) {
		nw_literal_free(&literal);
		return -EINVAL;
	}
	*at = end;
	*out = literal;
	return 0;
}

void nw_literal_free(struct nw_literal *literal)
{
	free(literal->text);
	*literal = (struct nw_literal){0};
}

/* ---- globs -------------------------------------------------------------------------- */

struct pattern {
	const char *at, *end;
};

/* Does the set whose '[' precedes *at contain c? Moves *at behind its ']'. *closed is false if there is no ']': then
 * '[' stands for itself. */
static bool in_set(const char **at, const char *end, unsigned char c, bool *closed)
{
	const char *p = *at;
	bool inverted = p < end && *p == '!', found = false;

	p += inverted;
	*closed = false;
	for (const char *first = p; p < end && (*p != ']' || p == first); p++) {
		unsigned char low = (unsigned char)*p, high = low;
		if (end - p > 2 && p[1] == '-' && p[2] != ']') {
			high = (unsigned char)p[2];
			p += 2;
		}
		found |= low <= c && c <= high;
	}
	if (p >= end)
		return false;
	*closed = true;
	*at = p + 1;
	return found != inverted;
}

/* Does one element of the pattern, which is not '*', match c? Moves behind it. */
static bool matches_one(struct pattern *p, unsigned char c)
{
	bool closed, found;

	switch (*p->at++) {
	case '?':
		return true;
	case '[':
		found = in_set(&p->at, p->end, c, &closed);
		return closed ? found : c == '[';
	case '\\':
		p->at += p->at < p->end;
		break;
	}
	return (unsigned char)p->at[-1] == c;
}

/* Where the pattern does not match, it is tried again from its latest star on, and from no earlier one, so this takes
 * at most len * pattern steps. */
static bool matches_glob(const char *pattern, size_t pattern_len, const char *text,
			 size_t len)
{
	struct pattern p = {pattern, pattern + pattern_len};
	const char *star = NULL, *resume = NULL, *end = text + len;

	while (text < end || p.at < p.end) {
		if (p.at < p.end && *p.at == '*') {
			star = ++p.at;
			resume = text;
			continue;
		}
		if (text < end && p.at < p.end && matches_one(&p, (unsigned char)*text)) {
			text++;
			continue;
		}
		if (!star || resume >= end)
			return false;
		text = ++resume;
		p.at = star;
	}
	return true;
}

/* ---- comparing ---------------------------------------------------------------------- */

static bool text_holds(const struct nw_literal *literal, enum nw_compare compare,
		       const struct nw_value *value)
{
	if (compare == NW_GLOB)
		return matches_glob(literal->text, literal->len, value->text, value->len);
	if (compare != NW_EQUAL && compare != NW_DIFFERENT)
		return false;
	bool equal = value->len == literal->len &&
		     memcmp(value->text, literal->text, literal->len) == 0;
	return equal == (compare == NW_EQUAL);
}

/* order: negative, 0 or positive, as for strcmp(). */
static bool order_holds(enum nw_compare compare, int order)
{
	switch (compare) {
	case NW_EQUAL:
		return order == 0;
	case NW_DIFFERENT:
		return order != 0;
	case NW_LESS:
		return order < 0;
	case NW_LESS_EQUAL:
		return order <= 0;
	case NW_MORE:
		return order > 0;
	case NW_MORE_EQUAL:
		return order >= 0;
	default:
		return false;
	}
}

static bool real_holds(const struct nw_literal *literal, enum nw_compare compare,
		       long double real)
{
	long double other = (long double)literal->real;

	if (isnan(real))
		return compare == NW_DIFFERENT;
	return order_holds(compare, (real > other) - (real < other));
}

/* Compares as numbers, whatever the types are: -1 is not 0xffffffff. */
static bool integer_holds(const struct nw_literal *literal, enum nw_compare compare,
			  const struct nw_value *value)
{
	bool negative = value->kind == NW_VALUE_SIGNED && (int64_t)value->number < 0;

	if (literal->kind == NW_LITERAL_REAL)
		return real_holds(literal, compare,
				  negative ? (long double)(int64_t)value->number
					   : (long double)value->number);
	if (compare == NW_BITS)
		return (value->number & literal->number) != 0;
	if (negative != literal->negative)
		return order_holds(compare, negative ? -1 : 1);
	return order_holds(compare, (value->number > literal->number) -
					    (value->number < literal->number));
}

bool nw_literal_holds(const struct nw_literal *literal, enum nw_compare compare,
		      const struct nw_value *value)
{
	if (value->kind == NW_VALUE_STRING)
		return text_holds(literal, compare, value);
	if (literal->kind == NW_LITERAL_TEXT)
		return false;
	switch (value->kind) {
	case NW_VALUE_SIGNED:
	case NW_VALUE_UNSIGNED:
	case NW_VALUE_HEX:
		return integer_holds(literal, compare, value);
	case NW_VALUE_FLOAT:
		return real_holds(literal, compare, (long double)value->real);
	default:
		return false;
	}
}
