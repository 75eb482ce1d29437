/* SPDX-License-Identifier: MIT */
/* Shared by the files that parse operands: a cursor in a note's text, numbers, sums and forms. */
#ifndef NOPWATCH_FIND_ARCH_OPERAND_H
#define NOPWATCH_FIND_ARCH_OPERAND_H

#include <ctype.h>

#include "arch.h"

struct nw_cursor {
	const char *at, *end;
};

static inline char peek(const struct nw_cursor *c)
{
	return c->at < c->end ? *c->at : '\0';
}

static inline void skip_blanks(struct nw_cursor *c)
{
	while (c->at < c->end && isspace((unsigned char)*c->at))
		c->at++;
}

static inline bool take(struct nw_cursor *c, char wanted)
{
	skip_blanks(c);
	if (peek(c) != wanted)
		return false;
	c->at++;
	return true;
}

static inline bool at_end(struct nw_cursor *c)
{
	skip_blanks(c);
	return c->at == c->end;
}

/* ---- numbers ------------------------------------------------------------------------ */

/* Takes a decimal, hexadecimal (0x) or octal (leading 0) number, as assemblers read it. */
bool nw_take_number(struct nw_cursor *c, uint64_t *out);

/*
 * Takes a constant expression that reaches to the cursor's end, such as `$3+($10-$8)-$1`. By gdb's grammar for stap
 * probes these are C's infix operators over numbers, each with the sigil of an immediate ('$', '#'; 0: none is
 * needed). The value wraps at 64 bits. optional: numbers may come without the sigil.
 */
bool nw_take_constant(struct nw_cursor *c, char sigil, bool optional, uint64_t *out);

/* A sum of numbers and at most one symbol: `8+stats`, `stats-2`, `-4+16-16`, `arr@GOTOFF`, `.LANCHOR0+44@toc@l`. */
struct nw_sum {
	int64_t offset;
	const char *symbol;
	size_t symbol_len;
	const char *relocation; /* the text behind the first '@' */
	size_t relocation_len;
};

/* Takes a sum, which may be empty. Returns false if the text is not a well-formed sum. */
bool nw_take_sum(struct nw_cursor *c, struct nw_sum *sum);

/* ---- forms -------------------------------------------------------------------------- */

/*
 * Parses the text from `operand` to the end of op->text by the first form of the architecture that fits it
 * completely. The caller has set the note's size in op, if the note gives one. Returns false if no form fits.
 */
bool nw_operand_form(const struct nw_arch *arch, const char *operand,
		     struct nw_operand *op);

#endif
