// SPDX-License-Identifier: MIT
/* See rule.h. */
#include "rule.h"

#include <errno.h>
#include <stdlib.h>

#include "find/arch/arch.h"

struct nw_rule {
	unsigned int flags, back; /* back: the register with the return address */
	struct nw_rule_value cfa; /* the address of the frame */
	unsigned int count;
	struct nw_rule_value *registers;
	unsigned char *code; /* instructions of 32-bit ARM's tables */
	size_t code_len;
	NW_VEC(struct nw_rule_op) ops;
};

/* ---- from bytes --------------------------------------------------------------------- */

static void take_ops(struct nw_wire *wire, struct nw_rule *rule, struct nw_rule_value *out)
{
	size_t count = (size_t)nw_take(wire, 2);

	if (count > NW_MOST_RULE_OPS)
		wire->bad = true;
	out->count = wire->bad ? 0 : count;
	for (size_t i = 0; i < out->count; i++) {
		struct nw_rule_op *op = nw_vec_add(&rule->ops);
		if (!op) {
			wire->bad = true;
			return;
		}
		op->atom = (uint8_t)nw_take(wire, 1);
		op->number = nw_take(wire, 8);
		op->number2 = nw_take(wire, 8);
	}
}

static void take_value(struct nw_wire *wire, struct nw_rule *rule,
		       struct nw_rule_value *out)
{
	out->kind = (enum nw_rule_kind)nw_take(wire, 1);
	if (out->kind == NW_RULE_EXPRESSION)
		take_ops(wire, rule, out);
	else if (out->kind == NW_RULE_OFFSET)
		out->offset = (int64_t)nw_take(wire, 8);
	else if (out->kind > NW_RULE_EXPRESSION)
		wire->bad = true;
}

/* Sets the pointers of expressions after all operations were read, since the array may move before. */
static void point(const struct nw_rule *rule, struct nw_rule_value *value, size_t *at)
{
	value->ops = value->count ? rule->ops.item + *at : NULL;
	*at += value->count;
}

static void take_frame(struct nw_wire *wire, struct nw_rule *rule)
{
	size_t at = 0;

	rule->back = (unsigned int)nw_take(wire, 2);
	take_value(wire, rule, &rule->cfa);
	rule->count = (unsigned int)nw_take(wire, 2);
	if (rule->back >= NW_MAX_REGISTERS || rule->count > NW_MAX_REGISTERS)
		wire->bad = true;
	rule->registers = wire->bad ? NULL
				    : calloc(rule->count + 1u, sizeof(*rule->registers));
	if (!rule->registers)
		wire->bad = true;
	for (unsigned int i = 0; i < rule->count && !wire->bad; i++)
		take_value(wire, rule, &rule->registers[i]);
	/* The return address must be one of the registers. */
	if (wire->bad || rule->back >= rule->count ||
	    rule->cfa.kind != NW_RULE_EXPRESSION) {
		wire->bad = true;
		return;
	}
	point(rule, &rule->cfa, &at);
	for (unsigned int i = 0; i < rule->count; i++)
		point(rule, &rule->registers[i], &at);
}

struct nw_rule *nw_rule_load(const void *bytes, size_t len)
{
	struct nw_wire wire = {.at = bytes, .end = (const unsigned char *)bytes + len};
	struct nw_rule *rule = calloc(1, sizeof(*rule));

	if (!rule)
		return NULL;
	rule->flags = (unsigned int)nw_take(&wire, 1);
	if (rule->flags & NW_RULE_FRAME)
		take_frame(&wire, rule);
	if (rule->flags & NW_RULE_TABLE) {
		rule->code_len = (size_t)nw_take(&wire, 2);
		const unsigned char *code = nw_take_bytes(&wire, rule->code_len);
		rule->code = code ? malloc(rule->code_len + 1) : NULL;
		if (rule->code)
			memcpy(rule->code, code, rule->code_len);
		else
			wire.bad = true;
	}
	if (!wire.bad && wire.at == wire.end)
		return rule;
	nw_rule_free(rule);
	return NULL;
}

void nw_rule_free(struct nw_rule *rule)
{
	if (!rule)
		return;
	nw_vec_free(&rule->ops);
	free(rule->registers);
	free(rule->code);
	free(rule);
}

bool nw_rule_is_entry(const struct nw_rule *rule)
{
	return rule->flags & NW_RULE_ENTERED;
}

/* ---- going by it -------------------------------------------------------------------- */

/* Computes a register's value in the caller. Returns 1 with *out; 0: there is none; -ENOENT: it is unknown; another
 * -errno: its memory cannot be read. */
static int caller_register(const struct nw_rule *rule, const struct nw_expression *about,
			   unsigned int number, uint64_t *out)
{
	const struct nw_rule_value *value = &rule->registers[number];
	uint64_t at = about->cfa + (uint64_t)value->offset;
	bool is_value = false;
	int ret = 0;

	switch (value->kind) {
	case NW_RULE_UNDEFINED:
		return 0;
	case NW_RULE_SAME:
		*out = about->registers->value[number];
		return about->registers->known[number] ? 1 : -ENOENT;
	case NW_RULE_EXPRESSION:
		ret = nw_expression_evaluate(about, value->ops, value->count, &at,
					     &is_value);
		break;
	default:
		at = about->word == 4 ? (uint32_t)at : at;
	}
	*out = at;
	if (ret == 0 && !is_value)
		ret = about->memory->read(about->memory->arg, at, about->word, out);
	return ret < 0 ? ret : 1;
}

static int step_frame(const struct nw_rule *rule, const struct nw_arch *arch, uint64_t bias,
		      const struct nw_memory *memory, struct nw_registers *registers,
		      bool *interrupted)
{
	const struct nw_unwind *unwind = arch->unwind;
	const unsigned int stack = unwind->stack;
	struct nw_expression about = {
		.registers = registers, .memory = memory, .word = arch->word, .bias = bias};
	struct nw_registers caller = {0};
	bool ignored;

	*interrupted = rule->flags & NW_RULE_INTERRUPTED;
	int ret = nw_expression_evaluate(&about, rule->cfa.ops, rule->cfa.count, &about.cfa,
					 &ignored);
	if (ret < 0)
		return ret;
	about.has_cfa = true;
	ret = caller_register(rule, &about, rule->back, &caller.pc);
	if (ret <= 0)
		return ret;
	/* a value that cannot be read is unknown */
	for (unsigned int i = 0; i < rule->count; i++)
		caller.known[i] = caller_register(rule, &about, i, &caller.value[i]) > 0;
	/* the call instruction itself has changed it */
	if (unwind->link != NW_NO_REGISTER && !*interrupted)
		caller.known[unwind->link] = false;
	/* Unless the file says otherwise, libdw takes the stack pointer for unchanged, even where the frame's address
	 * differs. */
	if (!caller.known[stack] || (unwind->above && !*interrupted)) {
		caller.value[stack] = about.cfa - unwind->above;
		caller.known[stack] = true;
	}
	*registers = caller;
	return caller.pc != 0;
}

int nw_rule_step(const struct nw_rule *rule, const struct nw_arch *arch, uint64_t bias,
		 const struct nw_memory *memory, struct nw_registers *registers,
		 bool *interrupted)
{
	*interrupted = false;
	if (!(rule->flags & NW_RULE_FRAME) || !arch || !arch->unwind)
		return -ENOENT;
	return step_frame(rule, arch, bias, memory, registers, interrupted);
}

int nw_rule_step_table(const struct nw_rule *rule, const struct nw_memory *memory,
		       struct nw_registers *registers, bool *interrupted)
{
	*interrupted = false;
	if (rule->flags & NW_RULE_FIRST)
		return 0;
	if (!(rule->flags & NW_RULE_TABLE))
		return -ENOENT;
	return nw_exidx_run(rule->code, rule->code_len, memory, registers, interrupted);
}
