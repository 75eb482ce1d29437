// SPDX-License-Identifier: MIT
/* Instructions of each architecture; see insn.h. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#ifdef NW_HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

#include "insn.h"
#include "base/old_headers.h"

static struct nw_insn *add(nw_insns *out, uint64_t vaddr, unsigned int size)
{
	struct nw_insn *insn = nw_vec_add(out);

	if (insn)
		*insn = (struct nw_insn){.vaddr = vaddr, .size = size};
	return insn;
}

static const char no_memory[] = "out of memory";
static const char cut_off[] = "its last instruction reaches beyond its end";

/* ---- x86 ---------------------------------------------------------------------------- */

#ifdef NW_HAVE_CAPSTONE

/* What was last put into a register, as far as it tells where a jump through it goes. */
enum content {
	CONTENT_UNKNOWN,
	CONTENT_SUM,	 /* an addition: the base of a table and what stands in it */
	CONTENT_POINTER, /* read from memory */
	CONTENT_ARRAY,	 /* read from an array in memory, */
	CONTENT_ADDRESS, /* and where that may be */
};

struct x86 {
	csh handle;
	cs_insn *at;
	struct {
		unsigned char content;
		bool selects; /* it has held a sum or a word of an array, as a switch needs */
		uint64_t address;
	} regs[X86_REG_ENDING];
};

static bool in_group(const cs_insn *at, unsigned int group)
{
	for (unsigned int i = 0; i < at->detail->groups_count; i++)
		if (at->detail->groups[i] == group)
			return true;
	return false;
}

/* What is read from memory there: a pointer, or one of an array, at *array if that is known. */
static enum content content_at(const struct x86 *x, const cs_x86_op *op, uint64_t *array)
{
	unsigned int base = op->mem.base;

	if (op->mem.index == X86_REG_INVALID)
		return CONTENT_POINTER;
	*array = (uint64_t)op->mem.disp;
	if (base == X86_REG_INVALID)
		return CONTENT_ARRAY;
	if (base >= NW_COUNT(x->regs) || x->regs[base].content != CONTENT_ADDRESS)
		return CONTENT_UNKNOWN;
	*array += x->regs[base].address;
	return CONTENT_ARRAY;
}

static enum content content_of(const struct x86 *x, uint64_t *address)
{
	const cs_insn *at = x->at;
	const cs_x86_op *from = &at->detail->x86.operands[1];

	if (at->detail->x86.op_count != 2)
		return CONTENT_UNKNOWN;
	if (at->id == X86_INS_ADD && from->type == X86_OP_REG)
		return CONTENT_SUM;
	if (at->id == X86_INS_MOV && from->type == X86_OP_MEM)
		return content_at(x, from, address);
	if (at->id != X86_INS_LEA || from->mem.base != X86_REG_RIP ||
	    from->mem.index != X86_REG_INVALID)
		return CONTENT_UNKNOWN;
	*address = at->address + at->size + (uint64_t)from->mem.disp;
	return CONTENT_ADDRESS;
}

static bool is_indexed(const cs_insn *at)
{
	const cs_x86_op *from = &at->detail->x86.operands[1];

	return at->detail->x86.op_count == 2 && from->type == X86_OP_MEM &&
	       from->mem.index != X86_REG_INVALID;
}

static void note_contents(struct x86 *x)
{
	cs_regs read, written;
	uint8_t read_count, written_count;
	uint64_t address = 0;
	enum content content = content_of(x, &address);

	if (cs_regs_access(x->handle, x->at, read, &read_count, written, &written_count) !=
	    CS_ERR_OK)
		return;
	for (unsigned int i = 0; i < written_count; i++) {
		if (written[i] >= NW_COUNT(x->regs))
			continue;
		x->regs[written[i]].content = (unsigned char)content;
		x->regs[written[i]].address = address;
		x->regs[written[i]].selects |= content == CONTENT_SUM || is_indexed(x->at);
	}
}

/* Where an indirect jump goes. Compilers that protect jumps (CET) mark those through tables. */
static void find_goal(const struct x86 *x, struct nw_insn *out)
{
	static const enum nw_insn_goal goals[] = {
		[CONTENT_UNKNOWN] = NW_GOAL_UNKNOWN, [CONTENT_SUM] = NW_GOAL_TABLE,
		[CONTENT_POINTER] = NW_GOAL_POINTER, [CONTENT_ARRAY] = NW_GOAL_ARRAY,
		[CONTENT_ADDRESS] = NW_GOAL_UNKNOWN,
	};
	const cs_x86 *x86 = &x->at->detail->x86;
	const cs_x86_op *op = &x86->operands[0];
	enum content content = CONTENT_UNKNOWN;

	if (op->type == X86_OP_MEM) {
		content = content_at(x, op, &out->target);
	} else if (op->type == X86_OP_REG && op->reg < NW_COUNT(x->regs)) {
		content = x->regs[op->reg].content;
		out->target = x->regs[op->reg].address;
		out->reg = op->reg;
	}
	out->goal = goals[content];
	if (x86->prefix[1] == X86_PREFIX_DS) /* notrack */
		out->goal = NW_GOAL_TABLE;
}

/* A register that holds nowhere in the code what a switch needs has a pointer to a function. */
static void settle_goals(const struct x86 *x, nw_insns *out)
{
	nw_vec_each (out, insn)
		if (insn->goal == NW_GOAL_UNKNOWN && insn->reg &&
		    !x->regs[insn->reg].selects)
			insn->goal = NW_GOAL_POINTER;
}

static void classify_x86(const struct x86 *x, struct nw_insn *out)
{
	const cs_insn *at = x->at;
	const cs_x86 *x86 = &at->detail->x86;

	out->locked = x86->prefix[0] == X86_PREFIX_LOCK;
	if (in_group(at, CS_GRP_CALL)) {
		out->kind = NW_INSN_CALL;
	} else if (in_group(at, CS_GRP_RET)) {
		out->kind = NW_INSN_RETURN;
	} else if (at->id == X86_INS_HLT || at->id == X86_INS_INT3 ||
		   at->id == X86_INS_UD2 || in_group(at, CS_GRP_IRET)) {
		out->kind = NW_INSN_TRAP;
	} else if (in_group(at, CS_GRP_JUMP) || in_group(at, CS_GRP_BRANCH_RELATIVE)) {
		bool always = at->id == X86_INS_JMP || at->id == X86_INS_LJMP;
		bool direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
		out->kind = always ? NW_INSN_JUMP : NW_INSN_BRANCH;
		if (direct)
			out->target = (uint64_t)x86->operands[0].imm;
		else
			find_goal(x, out);
	}
}

static const char *walk_x86(struct x86 *x, const unsigned char *code, size_t len,
			    uint64_t vaddr, nw_insns *out)
{
	while (len) {
		bool truncated = len < 15; /* the longest there is */
		if (!cs_disasm_iter(x->handle, &code, &len, &vaddr, x->at))
			return truncated
				       ? cut_off
				       : "it holds bytes that are no instruction that the "
					 "disassembler knows: data, or a newer one";
		struct nw_insn *insn = add(out, x->at->address, x->at->size);
		if (!insn)
			return no_memory;
		classify_x86(x, insn);
		note_contents(x);
	}
	settle_goals(x, out);
	return NULL;
}

static const char *decode_x86(const struct nw_arch *arch, const unsigned char *code,
			      size_t len, uint64_t vaddr, nw_insns *out)
{
	struct x86 *x = calloc(1, sizeof(*x));
	cs_mode mode = arch->machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_32;
	const char *why = no_memory;

	if (x && cs_open(CS_ARCH_X86, mode, &x->handle) == CS_ERR_OK) {
		cs_option(x->handle, CS_OPT_DETAIL, CS_OPT_ON);
		x->at = cs_malloc(x->handle);
		if (x->at) {
			why = walk_x86(x, code, len, vaddr, out);
			cs_free(x->at, 1);
		}
		cs_close(&x->handle);
	}
	free(x);
	return why;
}

#else

static const char *decode_x86(const struct nw_arch *arch, const unsigned char *code,
			      size_t len, uint64_t vaddr, nw_insns *out)
{
	(void)arch, (void)code, (void)len, (void)vaddr, (void)out;
	return "this nopwatch was built without a disassembler (capstone)";
}

#endif

/* ---- aarch64 ------------------------------------------------------------------------ */

/* Arm Architecture Reference Manual, C4.1: branches, and what puts a sum or a word from memory
 * into a register. The immediate lies at these bits and counts words. */
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

/* The last word that writes the register behind a br, searched for backwards. */
static enum nw_insn_goal arm64_goal(const uint32_t *words, size_t at)
{
	uint32_t reg = words[at] >> 5 & 31;

	while (at-- > 0) {
		uint32_t word = words[at];
		if ((word & 31) != reg)
			continue;
		/* add (extended or shifted register); ldr (immediate): unsigned, pre, post */
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
		/* its highest bit is its sign */
		uint64_t field = words[at] >> arm64_forms[i].shift & ((1u << bits) - 1);
		uint64_t sign = (uint64_t)1 << (bits - 1);
		out->target = out->vaddr + 4 * ((field ^ sign) - sign);
		return;
	}
}

/* Code of aarch64_be is little endian, too. */
static const char *decode_arm64(const unsigned char *code, size_t len, uint64_t vaddr,
				nw_insns *out)
{
	uint32_t *words = calloc(len / 4 + 1, sizeof(*words));
	const char *why = words ? NULL : no_memory;

	for (size_t i = 0; !why && i < len / 4; i++) {
		const unsigned char *c = code + 4 * i;
		words[i] = c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16 |
			   (uint32_t)c[3] << 24;
		struct nw_insn *insn = add(out, vaddr + 4 * i, 4);
		if (insn)
			classify_arm64(words, i, insn);
		else
			why = no_memory;
	}
	free(words);
	return why ? why : len % 4 ? cut_off : NULL;
}

/* ---- lengths ------------------------------------------------------------------------ */

/* riscv: the two low bits of the first half-word (The RISC-V ISA Manual, "Base Instruction-Length
 * Encoding"); its code is little endian. */
static unsigned int riscv_size(const unsigned char *code)
{
	return (code[0] & 3) != 3 ? 2 : (code[0] & 0x1f) != 0x1f ? 4 : 0;
}

/* s390: the two high bits of the first byte (z/Architecture Principles of Operation). */
static unsigned int s390_size(const unsigned char *code)
{
	static const unsigned char sizes[] = {2, 4, 4, 6};

	return sizes[code[0] >> 6];
}

static const char *decode_lengths(unsigned int (*size_of)(const unsigned char *code),
				  const unsigned char *code, size_t len, uint64_t vaddr,
				  nw_insns *out)
{
	for (size_t at = 0; at < len;) {
		unsigned int size = size_of(code + at);
		if (!size)
			return "it holds an instruction of a length that is not known";
		if (size > len - at)
			return cut_off;
		if (!add(out, vaddr + at, size))
			return no_memory;
		at += size;
	}
	return NULL;
}

/* ---- the whole ---------------------------------------------------------------------- */

unsigned int nw_insn_width(const struct nw_arch *arch)
{
	switch (arch->machine) {
	case EM_X86_64:
	case EM_386:
	case EM_S390:
	case EM_RISCV:
		return 0;
	default:
		return 4;
	}
}

bool nw_insns_have_kinds(const struct nw_arch *arch)
{
	return arch->machine == EM_X86_64 || arch->machine == EM_386 ||
	       arch->machine == EM_AARCH64;
}

const char *nw_insns_decode(const struct nw_arch *arch, const unsigned char *code,
			    size_t len, uint64_t vaddr, nw_insns *out)
{
	switch (arch->machine) {
	case EM_X86_64:
	case EM_386:
		return decode_x86(arch, code, len, vaddr, out);
	case EM_AARCH64:
		return decode_arm64(code, len, vaddr, out);
	case EM_RISCV:
		return decode_lengths(riscv_size, code, len, vaddr, out);
	case EM_S390:
		return decode_lengths(s390_size, code, len, vaddr, out);
	default:
		return "which instructions it has is not known for this architecture";
	}
}
