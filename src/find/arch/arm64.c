// SPDX-License-Identifier: MIT
/* aarch64: the functions for its row of table.c. */
#include <stdlib.h>
#include <string.h>

#include "insn.h"

/* A PLT entry begins with "[bti c;] adrp x16, ...". */
bool nw_arm64_is_plt_entry(const unsigned char *code)
{
	static const unsigned char bti[] = {0x5f, 0x24, 0x03, 0xd5};
	size_t at = memcmp(code, bti, sizeof(bti)) == 0 ? 4 : 0;

	return (code[at] & 0x1f) == 0x10 && (code[at + 3] & 0x9f) == 0x90;
}

/* Branch instructions (Arm Architecture Reference Manual, C4.1). The immediate is a number of 4-byte words, in the
 * given bits. */
static const struct {
	uint32_t mask, value;
	enum nw_insn_kind kind;
	unsigned int shift, bits; /* of the immediate; 0 bits: none */
} arm64_forms[] = {
	{0xfffffc1f, 0xd65f0000, NW_INSN_RETURN, 0, 0},	 /* ret */
	{0xfffffbff, 0xd65f0bff, NW_INSN_RETURN, 0, 0},	 /* retaa, retab */
	{0xfc000000, 0x14000000, NW_INSN_JUMP, 0, 26},	 /* b */
	{0xfffffc1f, 0xd61f0000, NW_INSN_JUMP, 0, 0},	 /* br */
	{0xfefff800, 0xd61f0800, NW_INSN_JUMP, 0, 0},	 /* braa, brab, ... */
	{0xff000000, 0x54000000, NW_INSN_BRANCH, 5, 19}, /* b.cond, bc.cond */
	{0x7e000000, 0x34000000, NW_INSN_BRANCH, 5, 19}, /* cbz, cbnz */
	{0x7e000000, 0x36000000, NW_INSN_BRANCH, 5, 14}, /* tbz, tbnz */
	{0xfc000000, 0x94000000, NW_INSN_CALL, 0, 26},	 /* bl */
	{0xfffffc1f, 0xd63f0000, NW_INSN_CALL, 0, 0},	 /* blr */
	{0xfefff800, 0xd63f0800, NW_INSN_CALL, 0, 0},	 /* blraa, ... */
	{0xffe0001f, 0xd4200000, NW_INSN_TRAP, 0, 0},	 /* brk */
	{0xffff0000, 0x00000000, NW_INSN_TRAP, 0, 0},	 /* udf */
};

/* Classifies a `br` by the last instruction before it that writes its register. */
static enum nw_insn_goal arm64_goal(const uint32_t *words, size_t at)
{
	uint32_t reg = words[at] >> 5 & 31;

	while (at-- > 0) {
		uint32_t word = words[at];
		if ((word & 31) != reg)
			continue;
		/* The masks match add (extended or shifted register) and ldr (immediate: unsigned, pre, post). */
		if ((word & 0xff000000) == 0x8b000000)
			return NW_GOAL_TABLE;
		if ((word & 0xffc00000) == 0xf9400000 || (word & 0xffe00400) == 0xf8400400)
			return NW_GOAL_POINTER;
		break;
	}
	return NW_GOAL_UNKNOWN;
}

static void classify_arm64(const uint32_t *words, size_t at, struct nw_insn *out)
{
	for (size_t i = 0; i < NW_COUNT(arm64_forms); i++) {
		if ((words[at] & arm64_forms[i].mask) != arm64_forms[i].value)
			continue;
		unsigned int bits = arm64_forms[i].bits;
		out->kind = arm64_forms[i].kind;
		if (!bits) {
			out->goal = arm64_goal(words, at);
			return;
		}
		/* The immediate is signed. */
		uint64_t field = words[at] >> arm64_forms[i].shift & ((1u << bits) - 1);
		uint64_t sign = (uint64_t)1 << (bits - 1);
		out->target = out->vaddr + 4 * ((field ^ sign) - sign);
		return;
	}
}

/* The code of aarch64_be is little endian, too. */
const char *nw_arm64_decode(const struct nw_arch *arch, const unsigned char *code,
			    size_t len, uint64_t vaddr, nw_insns *out)
{
	uint32_t *words = calloc(len / 4 + 1, sizeof(*words));
	const char *why = words ? NULL : nw_insn_no_memory;

	(void)arch;
	for (size_t i = 0; !why && i < len / 4; i++) {
		const unsigned char *c = code + 4 * i;
		words[i] = c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16 |
			   (uint32_t)c[3] << 24;
		struct nw_insn *insn = nw_insns_add(out, vaddr + 4 * i, 4);
		if (insn)
			classify_arm64(words, i, insn);
		else
			why = nw_insn_no_memory;
	}
	free(words);
	return why ? why : len % 4 ? nw_insn_cut_off : NULL;
}
