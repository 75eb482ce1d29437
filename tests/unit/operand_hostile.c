// SPDX-License-Identifier: MIT
/*
 * Notes come from files that anyone may have made: deep nesting, long texts, random bytes and
 * damaged real arguments must give operands that keep their promises. With SAN=1 this also
 * finds reads behind the end of the string.
 */
#include "find/probe/probe.h"
#include "unit.h"

static const char *const arches[] = {"x86_64",	"i386",	 "aarch64", "arm",
				     "ppc64le", "s390x", "riscv64", "loongarch64",
				     "x32",	"ppc64", "ppc"};

static void parse(const char *arch, const char *text, nw_operands *out)
{
	*out = (nw_operands){0};
	ck_assert_int_eq(nw_operands_parse(nw_arch_by_name(arch), text, out), 0);
}

/* ---- what every operand promises ---------------------------------------------------- */

static bool is_register_name(const char *reg, size_t room)
{
	size_t len = strnlen(reg, room);

	return len < room && strspn(reg, "abcdefghijklmnopqrstuvwxyz_0123456789") == len;
}

static bool lies_within(const char *part, size_t part_len, const char *text, size_t len)
{
	return part >= text && part_len <= len && (size_t)(part - text) <= len - part_len;
}

static void check_value_can_be_had(const struct nw_operand *op)
{
	switch (op->kind) {
	case NW_OPERAND_UNKNOWN:
		ck_abort_msg("an operand that is unknown has no problem");
		break;
	case NW_OPERAND_REGISTER:
		ck_assert(*op->reg && !*op->index && !op->symbol);
		ck_assert(op->shift == 0 || op->shift == 8);
		break;
	case NW_OPERAND_MEMORY:
		ck_assert(*op->reg && !*op->index);
		break;
	case NW_OPERAND_GLOBAL:
		ck_assert(op->symbol && !*op->reg && !*op->index);
		break;
	case NW_OPERAND_CONSTANT:
		ck_assert(!*op->reg && !*op->index);
		break;
	}
	ck_assert(op->size > 0 && op->size <= 512);
}

static void check_promises(const struct nw_operand *op, const char *args, size_t len)
{
	ck_assert(lies_within(op->text, op->text_len, args, len));
	ck_assert_uint_gt(op->text_len, 0);
	if (op->symbol)
		ck_assert(op->symbol_len &&
			  lies_within(op->symbol, op->symbol_len, op->text, op->text_len));
	ck_assert(is_register_name(op->reg, sizeof(op->reg)));
	ck_assert(is_register_name(op->reg_high, sizeof(op->reg_high)));
	ck_assert(is_register_name(op->index, sizeof(op->index)));
	ck_assert_uint_le(op->size, 999999);
	ck_assert(!op->resolved && !op->address);
	if (!op->problem)
		check_value_can_be_had(op);
}

/* Operands of a heap copy of the text, so that a byte too far is seen. */
static void check_text(const char *arch, const char *bytes, size_t len)
{
	char *copy = strndup(bytes, len);
	const char *behind = copy;
	nw_operands operands;

	len = strlen(copy);
	parse(arch, copy, &operands);
	nw_vec_each (&operands, op) {
		check_promises(op, copy, len);
		ck_assert(op->text >= behind); /* in order, none twice */
		behind = op->text + op->text_len;
	}
	nw_vec_free(&operands);
	free(copy);
}

/* ---- tests -------------------------------------------------------------------------- */

START_TEST(random_bytes_keep_every_promise)
{
	uint64_t state = 1;
	char text[64];

	for (int i = 0; i < 100000; i++) {
		size_t len = unit_random(&state) % sizeof(text);
		for (size_t j = 0; j < len; j++)
			text[j] = (char)unit_random(&state);
		check_text(arches[i % (int)NW_COUNT(arches)], text, len);
	}
}
END_TEST

/* Pieces that assemblers write, in any order. */
START_TEST(random_pieces_of_operands_keep_every_promise)
{
	static const char *const pieces[] = {
		"8@",	    "-4@",   "4f@",  "%",    "$",  "#",	   "(",	   ")",	     "[",
		"]",	    ",",     "+",    "-",    "*",  " ",	   "@",	   ":",	     "rax",
		"rip",	    "st",    "xmm0", "fs",   "ah", "x0",   "sp",   "r0",     "r5",
		"9",	    "i",     "a0",   "zero", "lo", "lo12", "l",	   "toc",    "GOT",
		"GOTPCREL", "tpoff", "glob", ".LC1", "1",  "0x7f", "017",  "lsl",    "sxtw",
		"2",	    "~",     "!",    "<<",   "&&", "0",	   "\x80", "1.5e+0",
	};
	uint64_t state = 2;

	for (int i = 0; i < 200000; i++) {
		char text[128] = "8@";
		size_t count = unit_random(&state) % 12;
		for (size_t j = 0; j < count; j++)
			strcat(text, pieces[unit_random(&state) % NW_COUNT(pieces)]);
		check_text(arches[i % (int)NW_COUNT(arches)], text, strlen(text));
	}
}
END_TEST

static void mutate(char *text, uint64_t *state)
{
	size_t len = strlen(text), at = len ? unit_random(state) % len : 0;

	switch (unit_random(state) % 3) {
	case 0: /* another character */
		text[at] = (char)(32 + unit_random(state) % 95);
		break;
	case 1: /* one less */
		memmove(text + at, text + at + 1, len - at);
		break;
	default: /* one twice */
		memmove(text + at + 1, text + at, len - at + 1);
	}
}

START_TEST(damaged_arguments_keep_every_promise)
{
	FILE *file = fopen("tests/data/operands.tsv", "re");
	char line[2048];
	uint64_t state = 3;

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	while (fgets(line, sizeof(line), file)) {
		char *rest = line, *arch = strsep(&rest, "\t"), *row = strsep(&rest, "\t");
		for (int i = 0; i < 40; i++) {
			char text[256];
			snprintf(text, sizeof(text) - 8, "%s", row);
			for (int j = 0; j < 1 + i % 4; j++)
				mutate(text, &state);
			check_text(arch, text, strlen(text));
		}
	}
	fclose(file);
}
END_TEST

START_TEST(nested_parentheses_end_before_the_stack_does)
{
	static const struct {
		unsigned int depth;
		bool known;
	} cases[] = {{1, true}, {60, true}, {100, false}, {1000000, false}};
	static const struct {
		const char *open, *close;
	} forms[] = {{"(", ")"}, {"-", ""}, {"!(", ")"}, {"$1+(", ")"}};

	for (size_t i = 0; i < NW_COUNT(cases) * NW_COUNT(forms); i++) {
		unsigned int depth = cases[i / NW_COUNT(forms)].depth;
		bool known = cases[i / NW_COUNT(forms)].known;
		size_t form = i % NW_COUNT(forms);
		struct nw_buf text = {0};
		nw_operands operands;

		if (form == 2 && depth == 60)
			depth = 30; /* two levels each */
		nw_buf_adds(&text, "8@");
		for (unsigned int j = 0; j < depth; j++)
			nw_buf_adds(&text, forms[form].open);
		nw_buf_adds(&text, "$7");
		for (unsigned int j = 0; j < depth; j++)
			nw_buf_adds(&text, forms[form].close);
		parse("x86_64", nw_buf_str(&text), &operands);
		ck_assert_uint_eq(operands.count, 1);
		ck_assert_int_eq(operands.item[0].kind,
				 known ? NW_OPERAND_CONSTANT : NW_OPERAND_UNKNOWN);
		nw_vec_free(&operands);
		nw_buf_free(&text);
	}
}
END_TEST

START_TEST(long_sums_are_added_up)
{
	struct nw_buf text = {0};
	nw_operands operands;

	nw_buf_adds(&text, "8@$1");
	for (int i = 1; i < 100000; i++)
		nw_buf_adds(&text, "+$1");
	nw_buf_adds(&text, " 8@0");
	for (int i = 0; i < 100000; i++)
		nw_buf_adds(&text, "-2+1");
	nw_buf_adds(&text, "(%rax)");
	parse("x86_64", nw_buf_str(&text), &operands);
	ck_assert_uint_eq(operands.count, 2);
	ck_assert_int_eq(operands.item[0].kind, NW_OPERAND_CONSTANT);
	ck_assert_uint_eq(operands.item[0].value, 100000);
	ck_assert_int_eq(operands.item[1].kind, NW_OPERAND_MEMORY);
	ck_assert_int_eq(operands.item[1].offset, -100000);
	nw_vec_free(&operands);
	nw_buf_free(&text);
}
END_TEST

START_TEST(a_hundred_thousand_arguments_are_a_hundred_thousand)
{
	struct nw_buf text = {0};
	nw_operands operands;

	for (int i = 0; i < 100000; i++)
		nw_buf_printf(&text, "-4@$%d ", i);
	parse("x86_64", nw_buf_str(&text), &operands);
	ck_assert_uint_eq(operands.count, 100000);
	for (size_t i = 0; i < operands.count; i++)
		ck_assert_uint_eq(operands.item[i].value, i);
	nw_vec_free(&operands);
	nw_buf_free(&text);
}
END_TEST

UNIT_MAIN("hostile operands", random_bytes_keep_every_promise,
	  random_pieces_of_operands_keep_every_promise,
	  damaged_arguments_keep_every_promise,
	  nested_parentheses_end_before_the_stack_does, long_sums_are_added_up,
	  a_hundred_thousand_arguments_are_a_hundred_thousand)
