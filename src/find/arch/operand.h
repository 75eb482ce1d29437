/* SPDX-License-Identifier: MIT */
/* Between the files that read operands: what stands in a note's text, from numbers upwards. */
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

/* Decimal, 0x hexadecimal, or octal with a leading 0, as assemblers read it. */
bool nw_take_number(struct nw_cursor *c, uint64_t *out);

/*
 * A constant expression, to the cursor's end: gdb's grammar for stap probes has C's infix
 * operators over numbers that each carry the immediate's sigil ('$', '#', 0: none), as in
 * `$3+($10-$8)-$1`. Folded; wraps at 64 bits. optional: numbers may come without the sigil.
 */
bool nw_take_constant(struct nw_cursor *c, char sigil, bool optional, uint64_t *out);

/* `8+stats`, `stats-2`, `-4+16-16`, `arr@GOTOFF`, `.LANCHOR0+44@toc@l` */
struct nw_sum {
	int64_t offset;
	const char *symbol;
	size_t symbol_len;
	const char *relocation; /* behind the first '@' */
	size_t relocation_len;
};

/* Returns false when there is no well-formed sum; an empty one is well-formed. */
bool nw_take_sum(struct nw_cursor *c, struct nw_sum *sum);

/* ---- forms -------------------------------------------------------------------------- */

/*
 * Read what stands at operand, the end of op->text, by the first of the architecture's forms
 * that fits it completely. op has its size, if the note gives one. Returns false if none fits.
 */
bool nw_operand_form(const struct nw_arch *arch, const char *operand,
		     struct nw_operand *op);

#endif
