// SPDX-License-Identifier: MIT
/* x86 with 32 and 64 bits: the functions for its rows of table.c. */
#include <stdlib.h>
#include <string.h>

#ifdef NW_HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

#include "base/library.h"
#include "insn.h"

/* ---- nops and breakpoints ----------------------------------------------------------- */

/* Returns the length of a long nop's ModRM operand (SDM vol. 2, table 2-2; the same for 32 and 64 bits). */
static size_t modrm_length(const unsigned char *code, size_t len)
{
	if (len == 0)
		return 0;
	unsigned int mod = code[0] >> 6, rm = code[0] & 7;
	size_t sib = mod != 3 && rm == 4;
	if (sib && len < 2)
		return 0;
	size_t disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (mod == 0 && (rm == 5 || (sib && (code[1] & 7) == 5)))
		disp = 4;
	return 1 + sib + disp;
}

/* Returns the length of the nop at code: [66|2e]* 90 or [66|2e]* 0f 1f /0. 0: it is no nop. */
static size_t x86_nop_length(const unsigned char *code, size_t len)
{
	size_t at = 0;

	while (at < len && at < 11 && (code[at] == 0x66 || code[at] == 0x2e))
		at++;
	if (at < len && code[at] == 0x90)
		return at + 1;
	if (at + 2 >= len || code[at] != 0x0f || code[at + 1] != 0x1f ||
	    (code[at + 2] & 0x38) != 0)
		return 0;
	size_t operand = modrm_length(code + at + 2, len - at - 2);
	size_t total = at + 2 + operand;
	return operand && total <= len && total <= 15 ? total : 0;
}

enum nw_nop nw_x86_nop_at(const unsigned char *code, size_t len)
{
	if (len && code[0] == 0xcc)
		return NW_NOP_TRAP;
	size_t length = x86_nop_length(code, len);
	if (length == 0)
		return NW_NOP_NONE;
	return length == 1   ? NW_NOP_1
	       : length == 5 ? NW_NOP_5
	       : length > 9  ? NW_NOP_10
			     : NW_NOP_LONG;
}

/*
 * The kernel turns this nop of 10 bytes into a call since 7.2, whatever its last four bytes are (is_optimizable_nop10() of
 * arch/x86/kernel/uprobes.c); usdt.h of libbpf writes it behind the nop of a site.
 */
enum nw_nop nw_x86_64_nop_at(const unsigned char *code, size_t len)
{
	static const unsigned char pair[] = {0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84};

	if (len >= NW_CALL_DISTANCE + NW_CALL_LENGTH &&
	    memcmp(code, pair, sizeof(pair)) == 0)
		return NW_NOP_PAIR;
	return nw_x86_nop_at(code, len);
}

/* The kernel's call is `call` (6.18 to 7.1) or `lea -0x80(%rsp),%rsp; call` (7.2), which leaves the red zone alone. */
bool nw_x86_is_optimised(const unsigned char *code, size_t len)
{
	static const unsigned char optimised[] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0xe8};

	return len &&
	       (code[0] == 0xe8 || (len >= sizeof(optimised) &&
				    memcmp(code, optimised, sizeof(optimised)) == 0));
}

/* An armed site has int3, until the kernel has optimised it. */
bool nw_x86_is_armed(const unsigned char *code, size_t len)
{
	return len && (code[0] == 0xcc || nw_x86_is_optimised(code, len));
}

/* A PLT entry is "jmp *slot"; endbr64 and bnd may precede it. */
bool nw_x86_is_plt_entry(const unsigned char *code)
{
	size_t at = memcmp(code, "\xf3\x0f\x1e", 3) == 0 ? 4 : 0;

	if (code[at] == 0xf2)
		at++;
	return code[at] == 0xff && (code[at + 1] == 0x25 || code[at + 1] == 0xa3);
}

/* ---- instructions ------------------------------------------------------------------- */

#ifdef NW_HAVE_CAPSTONE

/* The functions of capstone that are called. Unless capstone is linked, its library is opened on first use. */
#define FUNCTIONS(each)                                                            \
	each(cs_open) each(cs_close) each(cs_option) each(cs_malloc) each(cs_free) \
		each(cs_disasm_iter) each(cs_regs_access)

struct capstone {
#define POINTER(name) __typeof__(&(name)) name;
	FUNCTIONS(POINTER)
};

static bool open_capstone(struct capstone *out)
{
#ifdef NW_LINKED_CAPSTONE
#define ADDRESS(name) (void (*)(void))(name)
#else
#define ADDRESS(name) NULL
#endif
#define ROW(name) {#name, offsetof(struct capstone, name), ADDRESS(name)},
	static const struct nw_library_function functions[] = {FUNCTIONS(ROW)};

	return nw_library_open(NW_CAPSTONE_LIBRARY, functions, NW_COUNT(functions), out);
}

/* The last value written to a register, as far as it tells where a jump through the register goes. */
enum content {
	CONTENT_UNKNOWN,
	/* The result of an addition: the base of a jump table and an entry of it. */
	CONTENT_SUM,
	CONTENT_POINTER, /* read from memory */
	CONTENT_ARRAY,	 /* read from an array in memory, at a known address */
	CONTENT_ADDRESS, /* the address of a label, or of an array in memory */
};

struct x86 {
	struct capstone capstone;
	csh handle;
	cs_insn *at;
	uint64_t start, size; /* vaddr and bytes of the code */
	/* The code takes addresses within itself, so jumps may lead there. */
	bool has_labels;
	struct {
		unsigned char content;
		/* It has held a sum or an element of an array, as a switch statement needs. */
		bool selects;
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

/* Classifies a word read from memory: a pointer, or an element of an array (*array: its address, if known). */
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

/* A computed jump (goto *label) starts with `lea label(%rip),%rax` or `mov $label,%eax`. */
static bool takes_label(const struct x86 *x, enum content content, uint64_t address)
{
	const cs_x86 *x86 = &x->at->detail->x86;
	bool number = (x->at->id == X86_INS_MOV || x->at->id == X86_INS_MOVABS) &&
		      x86->op_count == 2 && x86->operands[1].type == X86_OP_IMM;

	if (number)
		address = (uint64_t)x86->operands[1].imm;
	return (number || content == CONTENT_ADDRESS) && address - x->start < x->size;
}

static void note_contents(struct x86 *x)
{
	cs_regs read, written;
	uint8_t read_count, written_count;
	uint64_t address = 0;
	enum content content = content_of(x, &address);

	x->has_labels |= takes_label(x, content, address);
	if (x->capstone.cs_regs_access(x->handle, x->at, read, &read_count, written,
				       &written_count) != CS_ERR_OK)
		return;
	for (unsigned int i = 0; i < written_count; i++) {
		if (written[i] >= NW_COUNT(x->regs))
			continue;
		x->regs[written[i]].content = (unsigned char)content;
		x->regs[written[i]].address = address;
		x->regs[written[i]].selects |= content == CONTENT_SUM || is_indexed(x->at);
	}
}

/* Finds the destination of an indirect jump. Compilers that protect jumps (CET) mark those through jump tables by
 * `notrack`. */
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
	if (x86->prefix[1] == X86_PREFIX_DS) /* the notrack prefix */
		out->goal = NW_GOAL_TABLE;
}

/* A register that never holds what a switch statement needs holds a pointer to a function, unless the code takes
 * addresses within itself. */
static void settle_goals(const struct x86 *x, nw_insns *out)
{
	if (x->has_labels)
		return;
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
	x->start = vaddr;
	x->size = len;
	while (len) {
		bool truncated = len < 15; /* 15 bytes is the longest instruction */
		if (!x->capstone.cs_disasm_iter(x->handle, &code, &len, &vaddr, x->at))
			return truncated
				       ? nw_insn_cut_off
				       : "it holds bytes that are no instruction that the disassembler knows: data, or a newer one";
		struct nw_insn *insn = nw_insns_add(out, x->at->address, x->at->size);
		if (!insn)
			return nw_insn_no_memory;
		classify_x86(x, insn);
		note_contents(x);
	}
	settle_goals(x, out);
	return NULL;
}

const char *nw_x86_decode(const struct nw_arch *arch, const unsigned char *code, size_t len,
			  uint64_t vaddr, nw_insns *out)
{
	nw_cleanup(nw_free_ptr) struct x86 *x = calloc(1, sizeof(*x));
	cs_mode mode = arch->word == 8 ? CS_MODE_64 : CS_MODE_32;
	const char *why = nw_insn_no_memory;

	if (!x)
		return why;
	const struct capstone *capstone = &x->capstone;
	if (!open_capstone(&x->capstone))
		return "the disassembler's library (" NW_CAPSTONE_LIBRARY
		       ") is missing or cannot be opened";
	if (capstone->cs_open(CS_ARCH_X86, mode, &x->handle) != CS_ERR_OK)
		return why;
	capstone->cs_option(x->handle, CS_OPT_DETAIL, CS_OPT_ON);
	x->at = capstone->cs_malloc(x->handle);
	if (x->at) {
		why = walk_x86(x, code, len, vaddr, out);
		capstone->cs_free(x->at, 1);
	}
	capstone->cs_close(&x->handle);
	return why;
}

#else

const char *nw_x86_decode(const struct nw_arch *arch, const unsigned char *code, size_t len,
			  uint64_t vaddr, nw_insns *out)
{
	(void)arch, (void)code, (void)len, (void)vaddr, (void)out;
	return "this nopwatch was built without a disassembler (capstone)";
}

#endif
