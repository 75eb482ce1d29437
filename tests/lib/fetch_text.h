/* SPDX-License-Identifier: MIT */
/* Fetch arguments as one line of text, for tests. */
#ifndef NOPWATCH_TESTS_FETCH_TEXT_H
#define NOPWATCH_TESTS_FETCH_TEXT_H

#include "plan/plan.h"
#include "unit.h"

enum {
	FETCH_SITE = 0x401000,		    /* linked address of the site */
	FETCH_SYMBOL = FETCH_SITE + 0x200c, /* of every symbol */
};

/* "", "u16", "string", "u8[16]" */
static inline struct nw_type fetch_type(const char *text)
{
	struct nw_type type = {0};

	if (*text)
		ck_assert_msg(nw_type_parse(text, strlen(text), &type) == 0, "%s", text);
	return type;
}

/* The only operand of the text, its symbol found. */
static inline struct nw_operand fetch_operand(const char *arch, const char *text)
{
	nw_operands operands = {0};

	ck_assert_int_eq(nw_operands_parse(nw_arch_by_name(arch), text, &operands), 0);
	ck_assert_msg(operands.count == 1, "%s: %zu operands", text, operands.count);
	struct nw_operand op = operands.item[0];
	nw_vec_free(&operands);
	if (op.symbol && (!op.problem || op.window)) {
		op.resolved = true;
		op.address = FETCH_SYMBOL + (uint64_t)op.offset;
		if (op.kind == NW_OPERAND_CONSTANT)
			op.value = op.address;
	}
	return op;
}

/*
 * "FETCH", "LOW HIGH", "=CONSTANT", or "!PROBLEM"; behind it the types, as "FIELD" if the
 * value is shown as it is delivered, else "FIELD>SHOWN"; " sign N", " untrusted".
 */
static inline char *fetch_text(const struct nw_fetch *fetch)
{
	struct nw_buf out = {0};
	char field[16], shown[16];

	if (fetch->problem) {
		nw_buf_printf(&out, "!%s", fetch->problem);
		return nw_buf_take(&out);
	}
	nw_type_text(&fetch->field, field);
	nw_type_text(&fetch->shown, shown);
	if (fetch->is_constant)
		nw_buf_printf(&out, "=0x%lx %s", fetch->constant, shown);
	else
		nw_buf_printf(&out, "%s%s%s %s", fetch->text, *fetch->high_text ? " " : "",
			      fetch->high_text, field);
	if (!fetch->is_constant && strcmp(field, shown) != 0)
		nw_buf_printf(&out, ">%s", shown);
	if (fetch->sign_bits)
		nw_buf_printf(&out, " sign %u", fetch->sign_bits);
	if (fetch->untrusted)
		nw_buf_adds(&out, " untrusted");
	return nw_buf_take(&out);
}

struct fetch_case {
	const char *arch, *text, *type, *wanted;
};

/* The operand, wanted as that type, is fetched like this. */
static inline void fetch_check(const struct fetch_case *one, bool big_endian,
			       const struct nw_caps *caps)
{
	struct nw_operand op = fetch_operand(one->arch, one->text);
	struct nw_type type = fetch_type(one->type);
	struct nw_fetch fetch;

	nw_fetch_make(&op, &type, nw_arch_by_name(one->arch), big_endian, FETCH_SITE, caps,
		      &fetch);
	char *got = fetch_text(&fetch);
	ck_assert_msg(strcmp(got, one->wanted) == 0, "%s %s %s: %s", one->arch, one->text,
		      one->type, got);
	free(got);
}

static inline void fetch_check_all(const struct fetch_case *list, size_t count,
				   bool big_endian, const struct nw_caps *caps)
{
	for (size_t i = 0; i < count; i++)
		fetch_check(&list[i], big_endian, caps);
}

#endif
