// SPDX-License-Identifier: MIT
/*
 * The arguments of a note, for every architecture, and their translation to fetch arguments.
 * The first byte chooses the architecture; its highest bit, a kernel that has nothing new.
 */
#include <ctype.h>

#include "fuzz.h"
#include "plan/plan.h"

static const char *const arches[] = {"x86_64",	"i386",	 "aarch64", "arm",
				     "ppc64le", "s390x", "riscv64", "loongarch64",
				     "x32",	"ppc64", "ppc"};
enum {
	SITE = 0x401000
};

/* ---- operands ----------------------------------------------------------------------- */

static bool is_register_name(const char *reg, size_t room)
{
	size_t len = strnlen(reg, room);

	return len < room && strspn(reg, "abcdefghijklmnopqrstuvwxyz_0123456789") == len;
}

static void check_operand(const struct nw_operand *op, const char *args, size_t len)
{
	PROMISE(op->text_len > 0 && op->text >= args);
	PROMISE(op->text + op->text_len <= args + len);
	PROMISE(is_register_name(op->reg, sizeof(op->reg)));
	PROMISE(is_register_name(op->reg_high, sizeof(op->reg_high)));
	PROMISE(is_register_name(op->index, sizeof(op->index)));
	PROMISE(!op->symbol || (op->symbol_len > 0 && op->symbol >= op->text &&
				op->symbol + op->symbol_len <= op->text + op->text_len));
	PROMISE(!op->problem || *op->problem);
	if (op->problem)
		return;
	PROMISE(op->kind != NW_OPERAND_UNKNOWN);
	PROMISE(op->size > 0 && op->size <= 512);
	PROMISE(op->kind != NW_OPERAND_REGISTER || *op->reg);
	PROMISE(op->kind != NW_OPERAND_MEMORY || *op->reg);
	PROMISE(op->kind != NW_OPERAND_GLOBAL || op->symbol);
	PROMISE(!*op->index);
}

/* ---- fetch arguments ---------------------------------------------------------------- */

/* What follows a '%' or "(": a number with its sign, digits. */
static const char *skip_number(const char *at)
{
	at += *at == '+' || *at == '-';
	if (!isdigit((unsigned char)*at))
		return NULL;
	while (isdigit((unsigned char)*at))
		at++;
	return at;
}

/* "%reg", "+N(...)", as kernel/trace/trace_probe.c: parse_probe_arg() reads it. */
static const char *skip_place(const char *at)
{
	if (*at == '%') {
		size_t len = strspn(++at, "abcdefghijklmnopqrstuvwxyz_0123456789");
		return len ? at + len : NULL;
	}
	if (*at != '+' && *at != '-')
		return NULL;
	at = skip_number(at);
	if (!at || *at != '(')
		return NULL;
	at = skip_place(at + 1);
	return at && *at == ')' ? at + 1 : NULL;
}

static void check_text(const char *text)
{
	const char *at = skip_place(text);

	PROMISE(strlen(text) <= NW_MAX_EXPRESSION);
	PROMISE(at && *at == ':');
	PROMISE(at[1] && strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789@/[]") ==
				 strlen(at + 1));
}

static void check_fetch(const struct nw_operand *op, const struct nw_type *want,
			const struct nw_arch *arch, const struct nw_caps *caps)
{
	struct nw_fetch fetch;

	for (int big_endian = 0; big_endian < 2; big_endian++) {
		nw_fetch_make(op, want, arch, big_endian, SITE, caps, &fetch);
		if (fetch.problem) {
			PROMISE(*fetch.problem);
			continue;
		}
		PROMISE(fetch.sign_bits <= 64);
		if (fetch.is_constant) {
			PROMISE(!*fetch.text && !*fetch.high_text);
			continue;
		}
		check_text(fetch.text);
		if (*fetch.high_text)
			check_text(fetch.high_text);
		PROMISE(fetch.field.array <= 64);
		PROMISE(fetch.field.base == NW_TYPE_STRING || fetch.field.bits);
		PROMISE(caps->arrays || !fetch.field.array);
		PROMISE(caps->memory || !strchr(fetch.text, '('));
	}
}

/* With every type that a user could want, its symbol not found, found near, found far. */
static void check_fetches(const struct nw_operand *op, const struct nw_arch *arch,
			  const struct nw_caps *caps)
{
	static const struct nw_type types[] = {
		{NW_TYPE_DEFAULT, 0, 0},   {NW_TYPE_UNSIGNED, 8, 0},
		{NW_TYPE_SIGNED, 16, 0},   {NW_TYPE_SIGNED, 64, 0},
		{NW_TYPE_HEX, 32, 0},	   {NW_TYPE_FLOAT, 32, 0},
		{NW_TYPE_FLOAT, 64, 0},	   {NW_TYPE_STRING, 0, 0},
		{NW_TYPE_UNSIGNED, 8, 16}, {NW_TYPE_SIGNED, 64, 64},
	};
	static const uint64_t addresses[] = {SITE + 0x2000, 0, UINT64_MAX,
					     (uint64_t)INT64_MAX + 1};
	struct nw_operand found = *op;

	for (size_t i = 0; i < NW_COUNT(types); i++) {
		check_fetch(op, &types[i], arch, caps);
		if (!op->symbol || op->problem)
			continue;
		found.resolved = true;
		found.address = addresses[i % NW_COUNT(addresses)];
		check_fetch(&found, &types[i], arch, caps);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct nw_caps old = {.memory = true}, oldest = {0};

	if (size == 0)
		return 0;
	const struct nw_caps *caps = data[0] & 0x80   ? &old
				     : data[0] & 0x40 ? &oldest
						      : &nw_caps_all;
	const struct nw_arch *arch = nw_arch_by_name(
		arches[(data[0] & 0x3f) % NW_COUNT(arches)]);
	char *args = fuzz_text(data + 1, size - 1);
	size_t len = strlen(args);
	const char *behind = args;
	nw_operands operands = {0};

	PROMISE(arch);
	PROMISE(nw_operands_parse(arch, args, &operands) == 0);
	nw_vec_each (&operands, op) {
		check_operand(op, args, len);
		PROMISE(op->text >= behind); /* in order, none twice */
		behind = op->text + op->text_len;
		if (op - operands.item < 8)
			check_fetches(op, arch, caps);
	}
	nw_vec_free(&operands);
	free(args);
	return 0;
}
