// SPDX-License-Identifier: MIT
/*
 * Evaluates DWARF expressions of call frame information: registers, constants, arithmetic and loads. (DWARF 5,
 * section 6.4.2 forbids all other operations, and jumps do not occur.) libdw parses expressions, but evaluates them
 * only in processes of its own (libdwfl).
 */
#include "rule.h"

#include <errno.h>

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>

enum {
	DEEPEST = 32
};

struct machine {
	const struct nw_expression *about;
	uint64_t stack[DEEPEST];
	size_t depth;
	bool is_value;
};

static int push(struct machine *m, uint64_t value)
{
	if (m->depth == DEEPEST)
		return -ENOTSUP;
	m->stack[m->depth++] = m->about->word == 4 ? (uint32_t)value : value;
	return 0;
}

static int push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	const struct nw_registers *regs = m->about->registers;

	if (number >= NW_MAX_REGISTERS || !regs->known[number])
		return -EFAULT;
	return push(m, regs->value[number] + offset);
}

static int load(struct machine *m, unsigned int bytes)
{
	const struct nw_memory *memory = m->about->memory;
	uint64_t value;

	if (!m->depth || bytes > 8)
		return -ENOTSUP;
	int ret = memory->read(memory->arg, m->stack[--m->depth], bytes, &value);
	return ret < 0 ? ret : push(m, value);
}

/* Combines two numbers to one. */
static int combine(struct machine *m, unsigned int atom)
{
	if (m->depth < 2)
		return -ENOTSUP;
	uint64_t b = m->stack[--m->depth], a = m->stack[--m->depth];
	int64_t sb = (int64_t)b, sa = (int64_t)a;

	switch (atom) {
	case DW_OP_plus:
		return push(m, a + b);
	case DW_OP_minus:
		return push(m, a - b);
	case DW_OP_mul:
		return push(m, a * b);
	case DW_OP_and:
		return push(m, a & b);
	case DW_OP_or:
		return push(m, a | b);
	case DW_OP_xor:
		return push(m, a ^ b);
	case DW_OP_shl:
		return push(m, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(m, b < 64 ? a >> b : 0);
	case DW_OP_shra:
		return push(m, (uint64_t)(sa >> (b < 63 ? b : 63)));
	case DW_OP_eq:
		return push(m, a == b);
	case DW_OP_ne:
		return push(m, a != b);
	case DW_OP_ge:
		return push(m, sa >= sb);
	case DW_OP_gt:
		return push(m, sa > sb);
	case DW_OP_le:
		return push(m, sa <= sb);
	default:
		return push(m, sa < sb);
	}
}

/* Moves values on the stack, or changes the topmost one. */
static int change(struct machine *m, const struct nw_rule_op *op)
{
	uint64_t *top = m->depth ? &m->stack[m->depth - 1] : NULL;
	uint64_t other;

	if (!top || (m->depth < 2 && (op->atom == DW_OP_over || op->atom == DW_OP_swap)))
		return -ENOTSUP;
	switch (op->atom) {
	case DW_OP_dup:
		return push(m, *top);
	case DW_OP_over:
		return push(m, top[-1]);
	case DW_OP_drop:
		m->depth--;
		return 0;
	case DW_OP_swap:
		other = top[-1];
		top[-1] = *top;
		*top = other;
		return 0;
	case DW_OP_neg:
		*top = 0 - *top;
		return 0;
	case DW_OP_not:
		*top = ~*top;
		return 0;
	default: /* plus_uconst */
		*top += op->number;
		return 0;
	}
}

static int step(struct machine *m, const struct nw_rule_op *op)
{
	unsigned int atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(m, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(m, atom - DW_OP_breg0, op->number);
	if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
		return push(m, op->number);
	switch (atom) {
	case DW_OP_nop:
		return 0;
	case DW_OP_addr:
		return push(m, op->number + m->about->bias);
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return m->about->has_cfa ? push(m, m->about->cfa) : -ENOTSUP;
	case DW_OP_stack_value:
		m->is_value = true;
		return 0;
	case DW_OP_deref:
		return load(m, m->about->word);
	case DW_OP_deref_size:
		return load(m, (unsigned int)op->number);
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_drop:
	case DW_OP_swap:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
		return change(m, op);
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_xor:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_eq:
	case DW_OP_ne:
	case DW_OP_ge:
	case DW_OP_gt:
	case DW_OP_le:
	case DW_OP_lt:
		return combine(m, atom);
	default:
		return -ENOTSUP;
	}
}

/* A register as the whole expression: it holds the value, not its address. */
static bool is_register(struct machine *m, const struct nw_rule_op *op, int *ret)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*ret = push_register(m, (uint64_t)op->atom - DW_OP_reg0, 0);
	else if (op->atom == DW_OP_regx)
		*ret = push_register(m, op->number, 0);
	else
		return false;
	m->is_value = true;
	return true;
}

int nw_expression_evaluate(const struct nw_expression *about, const struct nw_rule_op *ops,
			   size_t count, uint64_t *out, bool *is_value)
{
	struct machine m = {.about = about};
	int ret = count && count <= NW_MOST_RULE_OPS ? 0 : -ENOTSUP;

	if (count != 1 || !is_register(&m, ops, &ret))
		for (size_t i = 0; ret == 0 && i < count; i++)
			ret = step(&m, &ops[i]);
	if (ret < 0 || !m.depth)
		return ret < 0 ? ret : -ENOTSUP;
	*out = m.stack[m.depth - 1];
	*is_value = m.is_value;
	return 0;
}

#else

/* Without libdw no expression is parsed. */
int nw_expression_evaluate(const struct nw_expression *about, const struct nw_rule_op *ops,
			   size_t count, uint64_t *out, bool *is_value)
{
	(void)about, (void)ops, (void)count, (void)out, (void)is_value;
	return -ENOTSUP;
}

#endif
