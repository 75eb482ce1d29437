// SPDX-License-Identifier: MIT
/* Parses numbers, constant expressions, and sums of numbers and a symbol; see operand.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "operand.h"

bool nw_take_number(struct nw_cursor *c, uint64_t *out)
{
	char digits[32];
	size_t len = 0;
	char *end;

	skip_blanks(c);
	while (c->at + len < c->end && isalnum((unsigned char)c->at[len]))
		len++;
	if (len == 0 || len >= sizeof(digits) || !isdigit((unsigned char)c->at[0]))
		return false;
	memcpy(digits, c->at, len);
	digits[len] = '\0';
	errno = 0;
	*out = strtoull(digits, &end, 0);
	if (errno || *end)
		return false;
	c->at += len;
	return true;
}

/* ---- constant expressions ----------------------------------------------------------- */

struct folding {
	struct nw_cursor c;
	char sigil;    /* '$', '#'; 0: numbers have none */
	bool optional; /* numbers may come without the sigil */
	unsigned int sigils;
	unsigned int depth;
	bool bad;
};

struct infix {
	const char *text;
	int precedence;
};

static const struct infix operators[] = {
	{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
	{"<<", 8}, {">>", 8}, {"|", 3},	 {"^", 4},  {"&", 5},  {"<", 7},
	{">", 7},  {"+", 9},  {"-", 9},	 {"*", 10}, {"/", 10}, {"%", 10},
};

static uint64_t fold(struct folding *f, int least);

static uint64_t fold_unary(struct folding *f)
{
	uint64_t value = 0;

	if (f->bad || ++f->depth > 64) {
		f->bad = true;
		return 0;
	}
	if (take(&f->c, '-'))
		value = -fold_unary(f);
	else if (take(&f->c, '+'))
		value = fold_unary(f);
	else if (take(&f->c, '~'))
		value = ~fold_unary(f);
	else if (take(&f->c, '!'))
		value = !fold_unary(f);
	else if (take(&f->c, '(')) {
		value = fold(f, 1);
		f->bad |= !take(&f->c, ')');
	} else if (f->sigil && take(&f->c, f->sigil)) {
		f->sigils++;
		bool minus = take(&f->c, '-');
		f->bad |= !nw_take_number(&f->c, &value);
		value = minus ? -value : value;
	} else {
		f->bad |= !f->optional || !nw_take_number(&f->c, &value);
	}
	f->depth--;
	return value;
}

static uint64_t apply(struct folding *f, const char *op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	uint64_t sign = sa < 0 ? ~(uint64_t)0 : 0;

	if (op[0] == '/' || op[0] == '%') {
		f->bad |= b == 0 || (sa == INT64_MIN && sb == -1);
		if (f->bad)
			return 0;
		return (uint64_t)(op[0] == '/' ? sa / sb : sa % sb);
	}
	if (strcmp(op, "<<") == 0)
		return b < 64 ? a << b : 0;
	if (strcmp(op, ">>") == 0)
		return b == 0 ? a : b < 64 ? a >> b | sign << (64 - b) : sign;
	if (strcmp(op, "||") == 0)
		return a || b;
	if (strcmp(op, "&&") == 0)
		return a && b;
	if (op[0] == '=')
		return a == b;
	if (op[0] == '!')
		return a != b;
	if (op[0] == '<')
		return op[1] ? sa <= sb : sa < sb;
	if (op[0] == '>')
		return op[1] ? sa >= sb : sa > sb;
	switch (op[0]) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '+':
		return a + b;
	case '-':
		return a - b;
	default:
		return a * b;
	}
}

static const struct infix *next_operator(struct nw_cursor *c)
{
	skip_blanks(c);
	for (size_t i = 0; i < NW_COUNT(operators); i++) {
		size_t len = strlen(operators[i].text);
		if ((size_t)(c->end - c->at) >= len &&
		    memcmp(c->at, operators[i].text, len) == 0)
			return &operators[i];
	}
	return NULL;
}

static uint64_t fold(struct folding *f, int least)
{
	uint64_t value = fold_unary(f);

	while (!f->bad) {
		const struct infix *op = next_operator(&f->c);
		if (!op || op->precedence < least)
			break;
		f->c.at += strlen(op->text);
		value = apply(f, op->text, value, fold(f, op->precedence + 1));
	}
	return value;
}

bool nw_take_constant(struct nw_cursor *c, char sigil, bool optional, uint64_t *out)
{
	struct folding f = {.c = *c, .sigil = sigil, .optional = optional};

	*out = fold(&f, 1);
	*c = f.c;
	return !f.bad && at_end(c) && (f.sigils || optional);
}

/* ---- sums of numbers and one symbol ------------------------------------------------- */

static bool is_symbol_char(char c, bool first)
{
	unsigned char u = (unsigned char)c;

	return isalpha(u) || c == '_' || c == '.' || u >= 0x80 ||
	       (!first && (isdigit(u) || c == '$'));
}

static bool take_symbol(struct nw_cursor *c, struct nw_sum *sum)
{
	size_t len = 0;

	while (c->at + len < c->end && is_symbol_char(c->at[len], len == 0))
		len++;
	if (len == 0 || sum->symbol)
		return false;
	sum->symbol = c->at;
	sum->symbol_len = len;
	c->at += len;
	return true;
}

static bool take_term(struct nw_cursor *c, bool minus, struct nw_sum *sum)
{
	uint64_t number;

	skip_blanks(c);
	if (isdigit((unsigned char)peek(c))) {
		if (!nw_take_number(c, &number))
			return false;
		sum->offset = (int64_t)((uint64_t)sum->offset + (minus ? -number : number));
	} else if (minus || !take_symbol(c, sum)) {
		return false;
	}
	size_t len = 0;
	if (peek(c) != '@')
		return true;
	c->at++;
	while (c->at + len < c->end &&
	       (isalnum((unsigned char)c->at[len]) || c->at[len] == '@'))
		len++;
	if (len == 0 || sum->relocation || !sum->symbol)
		return false;
	sum->relocation = c->at;
	sum->relocation_len = len;
	c->at += len;
	return true;
}

bool nw_take_sum(struct nw_cursor *c, struct nw_sum *sum)
{
	*sum = (struct nw_sum){0};
	for (bool first = true;; first = false) {
		bool minus = false;
		skip_blanks(c);
		if (peek(c) == '+' || peek(c) == '-')
			minus = *c->at++ == '-';
		else if (!first)
			return true;
		else if (!isdigit((unsigned char)peek(c)) && !is_symbol_char(peek(c), true))
			return true;
		if (!take_term(c, minus, sum))
			return false;
	}
}
