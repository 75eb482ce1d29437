// SPDX-License-Identifier: MIT
/*
 * The arguments of a USDT note.
 *
 * sys/sdt.h lets the compiler choose where an argument lives, and the assembler how that is written. So the note
 * holds text such as
 *
 * 	-4@%edi 8@24(%rsp) 4@$7 -8@8+stats(%rip)	x86_64
 * 	8@x3 -4@[sp, 12] 1@5				aarch64
 * 	-4@9 8@16(1) 4@i7				ppc64
 *
 * An argument is SIZE@OPERAND. A minus before the size means a signed value, an `f` behind it a floating-point one.
 * The size counts, not the width of the register's name. Operands contain blanks ("[sp, 12]") and '@'
 * ("arr@GOTOFF(%ebx)"), so the string is split before text that looks like SIZE@. Some operands have no size: they
 * end at the first blank where they are complete.
 *
 * Each assembler's syntax is data (table.c), and this file is the one parser for all of them. It does not guess:
 * text that does not fit completely becomes an operand of kind UNKNOWN, with a sentence that names the form.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operand.h"

/* ---- one operand -------------------------------------------------------------------- */

static void find_pair(const struct nw_arch *arch, struct nw_operand *op)
{
	const char *at = arch->pair_order;

	op->problem =
		"8 bytes in two registers, the second of which the note does not name";
	while (at && *at) {
		size_t len = strcspn(at, " ");
		const char *next = at[len] ? at + len + 1 : at + len;
		if (strlen(op->reg) == len && memcmp(op->reg, at, len) == 0 && *next) {
			snprintf(op->reg_high, sizeof(op->reg_high), "%.*s",
				 (int)strcspn(next, " "), next);
			op->problem = NULL;
			return;
		}
		at = next;
	}
}

uint64_t nw_operand_cut(uint64_t value, unsigned int size, bool is_signed)
{
	unsigned int bits = size * 8;

	if (bits >= 64)
		return value;
	value &= ((uint64_t)1 << bits) - 1;
	if (is_signed && value >> (bits - 1))
		value |= ~(uint64_t)0 << bits;
	return value;
}

/* Applies the size to the operand found: finds pairs of registers, refuses sizes that the operand cannot have. */
static void check_size(const struct nw_arch *arch, struct nw_operand *op)
{
	if (!op->size)
		op->size = arch->word;
	if (op->kind == NW_OPERAND_CONSTANT && !op->symbol) {
		if (nw_is_plain_size(op->size))
			op->value = nw_operand_cut(op->value, op->size, op->is_signed);
		else if (!op->problem)
			op->problem = "a constant whose size is not 1, 2, 4 or 8 bytes";
	} else if (op->kind == NW_OPERAND_REGISTER && !op->problem) {
		if (op->size == 2 * arch->word && arch->word == 8)
			op->half = true;
		else if (!nw_is_plain_size(op->size))
			op->problem = "a register whose size is not 1, 2, 4 or 8 bytes";
		else if (op->size > arch->word)
			find_pair(arch, op);
	} else if (op->kind != NW_OPERAND_UNKNOWN && op->size > 512 && !op->problem) {
		op->problem = "larger than the 64 elements an array argument can have";
	}
}

static void parse_operand(const struct nw_arch *arch, const char *operand,
			  struct nw_operand *op)
{
	if (nw_operand_form(arch, operand, op)) {
		check_size(arch, op);
		return;
	}
	const char *end = op->text + op->text_len;
	op->kind = NW_OPERAND_UNKNOWN;
	if (operand == end)
		op->problem = "the operand is missing";
	else if (end - operand > 2 && memcmp(operand, ".L", 2) == 0)
		/* s390's literal pool: 8@.L447-.L445(%r13) */
		op->problem = "local labels of the compiler: they are in no symbol table";
	else
		op->problem = "not an operand of this architecture's grammar";
	if (!op->size)
		op->size = arch->word;
}

/* ---- splitting ---------------------------------------------------------------------- */

static const char blanks[] = " \t\n\r\f\v";

/* Returns the length of `-?[0-9]+f?@` at text; 0: the text does not start so. */
static size_t size_prefix(const char *text)
{
	size_t digits, len = text[0] == '-';

	digits = strspn(text + len, "0123456789");
	len += digits;
	len += text[len] == 'f';
	return digits && text[len] == '@' ? len + 1 : 0;
}

/*
 * Tells whether the operand before a blank continues behind it. It does inside brackets and after a comma. An
 * operand with a size also continues unless the next characters can only start another operand; an operand without
 * a size ends at the blank.
 */
static bool goes_on(const char *text, const char *blank, const char *next, bool prefixed)
{
	int depth = 0;

	for (const char *at = text; at < blank; at++)
		depth += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
	if (depth > 0 || blank[-1] == ',')
		return true;
	return prefixed &&
	       (!strchr("%$#[(", *next) || strchr("+-*/&|^<>=!~(:@", blank[-1]));
}

/* Returns the end of the argument that starts at text: the blank before the next argument. */
static const char *argument_end(const char *text, bool prefixed)
{
	const char *at = text;

	while (*at) {
		if (isspace((unsigned char)*at)) {
			const char *next = at + strspn(at, blanks);
			if (!*next || size_prefix(next) ||
			    !goes_on(text, at, next, prefixed))
				return at;
			at = next;
		} else {
			at++;
		}
	}
	return at;
}

/* An argument of the list; `prefix` is the length of its SIZE@. */
struct argument {
	const char *text;
	size_t len, prefix;
};

/* Takes the argument at *at and moves *at behind it. Returns false at the list's end. */
static bool next_argument(const char **at, struct argument *out)
{
	const char *text = *at + strspn(*at, blanks);

	if (!*text)
		return false;
	out->text = text;
	out->prefix = size_prefix(text);
	*at = argument_end(text, out->prefix != 0);
	out->len = (size_t)(*at - text);
	return true;
}

/* Returns the start of the argument list. perf writes ":" for an empty list. */
static const char *list_start(const char *args)
{
	const char *at = args + strspn(args, blanks);

	return *at == ':' && !at[1 + strspn(at + 1, blanks)] ? "" : at;
}

int nw_operands_parse(const struct nw_arch *arch, const char *args, nw_operands *out)
{
	const char *at = list_start(args);
	struct argument arg;

	while (next_argument(&at, &arg)) {
		struct nw_operand *op = nw_vec_add(out);
		if (!op)
			return -ENOMEM;
		op->text = arg.text;
		op->text_len = arg.len;
		if (arg.prefix) {
			op->is_signed = arg.text[0] == '-';
			op->is_float = arg.text[arg.prefix - 2] == 'f';
			/* A size beyond what any value has is capped, so that its bits can be counted in an
			 * unsigned int. */
			const unsigned long most = 999999;
			unsigned long size = strtoul(arg.text + op->is_signed, NULL, 10);
			op->size = (unsigned int)(size < most ? size : most);
		}
		if (arg.prefix && op->size == 0)
			op->problem = "a size of 0 bytes";
		else
			parse_operand(arch, arg.text + arg.prefix, op);
	}
	return 0;
}

size_t nw_operands_count(const char *args)
{
	const char *at = list_start(args);
	struct argument arg;
	size_t count = 0;

	while (next_argument(&at, &arg))
		count++;
	return count;
}
