// SPDX-License-Identifier: MIT
/*
 * The forms of an operand in all assemblers: registers, constants, and memory in three grammars. Each parser
 * accepts a whole text or nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operand.h"

/* ---- registers ---------------------------------------------------------------------- */

static bool take_register(struct nw_cursor *c, const struct nw_arch *arch,
			  struct nw_reg *reg)
{
	size_t len = 0;
	uint64_t slot;

	skip_blanks(c);
	if (*arch->sigil) {
		if (peek(c) == *arch->sigil)
			c->at++;
		else if (!arch->sigil_optional)
			return false;
	}
	while (c->at + len < c->end && isalnum((unsigned char)c->at[len]))
		len++;
	if (!len || !nw_arch_register(arch, c->at, len, reg))
		return false;
	c->at += len;
	if (strcmp(reg->kernel, "st") == 0 && peek(c) == '(') /* %st(1) */
		return take(c, '(') && nw_take_number(c, &slot) && take(c, ')');
	return true;
}

static const char float_problem[] =
	"a floating-point or vector register: ftrace can only read general registers";
static const char index_problem[] =
	"base + index * scale: a fetch argument cannot add two registers";
static const char tls_problem[] =
	"thread-local storage: ftrace cannot read the thread pointer";

/* Says why the register cannot be the base or index of an address; NULL: it can. */
static const char *address_problem(const struct nw_reg *reg)
{
	if (reg->kind == NW_REG_FLOAT)
		return float_problem;
	if (reg->kind == NW_REG_SEGMENT)
		return tls_problem;
	return NULL;
}

static void set_reg(char to[12], const struct nw_reg *reg)
{
	snprintf(to, sizeof(reg->kernel), "%s", reg->kernel);
}

/* ---- the forms ---------------------------------------------------------------------- */

/* Parses one form. Returns true if the text fits it completely. */
typedef bool form_parser(const struct nw_arch *arch, struct nw_cursor c,
			 struct nw_operand *op);

static bool parse_register(const struct nw_arch *arch, struct nw_cursor c,
			   struct nw_operand *op)
{
	struct nw_reg reg;

	if (!take_register(&c, arch, &reg) || !at_end(&c))
		return false;
	if (reg.kind == NW_REG_ZERO) {
		op->kind = NW_OPERAND_CONSTANT;
		return true;
	}
	op->kind = NW_OPERAND_REGISTER;
	set_reg(op->reg, &reg);
	op->shift = reg.shift;
	if (!op->size)
		op->size = reg.bits ? reg.bits / 8 : arch->word;
	op->problem = address_problem(&reg);
	return true;
}

/* `#1.5e+0` (arm): the operand's value is the bits of the floating-point number. */
static bool parse_float_constant(const struct nw_arch *arch, struct nw_cursor c,
				 struct nw_operand *op)
{
	char digits[48], *end;
	size_t len = (size_t)(c.end - c.at);

	if (!op->is_float || len < 2 || len >= sizeof(digits) || *c.at != arch->immediate)
		return false;
	memcpy(digits, c.at + 1, len - 1);
	digits[len - 1] = '\0';
	if (strspn(digits, "+-.0123456789eE") != len - 1)
		return false;
	double wide = strtod(digits, &end);
	if (*end)
		return false;
	float narrow = (float)wide;
	op->kind = NW_OPERAND_CONSTANT;
	if (op->size == 4) {
		uint32_t bits;
		memcpy(&bits, &narrow, sizeof(bits));
		op->value = bits;
	} else {
		memcpy(&op->value, &wide, sizeof(op->value));
	}
	return true;
}

static bool parse_constant(const struct nw_arch *arch, struct nw_cursor c,
			   struct nw_operand *op)
{
	char sigil = arch->immediate;
	bool optional = arch->bare_constant;

	if (sigil == 'i') { /* ppc: the prefix stands once, before the whole expression */
		if (!take(&c, 'i'))
			return false;
		sigil = 0;
		optional = true;
	}
	if (!nw_take_constant(&c, sigil, optional, &op->value))
		return false;
	op->kind = NW_OPERAND_CONSTANT;
	return true;
}

/* `$sym`, and on arm a bare `sym+4`, mean the address of the symbol. */
static bool parse_symbol_address(const struct nw_arch *arch, struct nw_cursor c,
				 struct nw_operand *op)
{
	struct nw_sum sum;

	if (arch->immediate && arch->immediate != 'i' && peek(&c) == arch->immediate)
		c.at++;
	else if (!arch->bare_symbol_value)
		return false;
	if (!nw_take_sum(&c, &sum) || !at_end(&c) || !sum.symbol)
		return false;
	op->kind = NW_OPERAND_CONSTANT;
	op->symbol = sum.symbol;
	op->symbol_len = sum.symbol_len;
	op->offset = sum.offset;
	return true;
}

/* How a relocation operator, behind '@' or before a symbol, changes the meaning of an operand. */
enum relocation {
	RELOCATION_PLAIN, /* the register only helps to form the symbol's address */
	/* The operand is the GOT slot, which holds the symbol's address. */
	RELOCATION_GOT,
	RELOCATION_TLS,
	RELOCATION_UNKNOWN,
};

static enum relocation relocation_of(const char *text, size_t len)
{
	static const struct {
		const char *text;
		enum relocation meaning;
	} known[] = {
		{"GOTOFF", RELOCATION_PLAIN},	   {"toc@l", RELOCATION_PLAIN},
		{"l", RELOCATION_PLAIN},	   {"lo12", RELOCATION_PLAIN},
		{"lo", RELOCATION_PLAIN},	   {"pcrel_lo", RELOCATION_PLAIN},
		{"pc_lo12", RELOCATION_PLAIN},	   {"sda21", RELOCATION_PLAIN},
		{"GOTPCREL", RELOCATION_GOT},	   {"GOT", RELOCATION_GOT},
		{"got@l", RELOCATION_GOT},	   {"got_pc_lo12", RELOCATION_GOT},
		{"got_lo12", RELOCATION_GOT},	   {"tpoff", RELOCATION_TLS},
		{"ntpoff", RELOCATION_TLS},	   {"TPOFF", RELOCATION_TLS},
		{"NTPOFF", RELOCATION_TLS},	   {"gottpoff", RELOCATION_TLS},
		{"gotntpoff", RELOCATION_TLS},	   {"indntpoff", RELOCATION_TLS},
		{"dtpoff", RELOCATION_TLS},	   {"tprel@l", RELOCATION_TLS},
		{"tprel_lo", RELOCATION_TLS},	   {"tprel_lo12", RELOCATION_TLS},
		{"tprel_lo12_nc", RELOCATION_TLS}, {"le_lo12", RELOCATION_TLS},
		{"le_lo12_r", RELOCATION_TLS},	   {"ie_pc_lo12", RELOCATION_TLS},
	};

	for (size_t i = 0; i < NW_COUNT(known); i++)
		if (strlen(known[i].text) == len && memcmp(known[i].text, text, len) == 0)
			return known[i].meaning;
	return RELOCATION_UNKNOWN;
}

/* A parsed memory operand, before it is known whether ftrace can read it. */
struct memory {
	struct nw_sum sum;
	bool has_base, has_index, has_segment, index_unsigned;
	struct nw_reg base, index, segment;
	uint64_t scale;
	const char *operator_text; /* relocation operator before a symbol */
	size_t operator_len;
};

/* Fills the operand from the parsed text, with a problem if ftrace cannot read it. */
static bool judge_memory(const struct memory *m, struct nw_operand *op)
{
	enum relocation relocation = RELOCATION_PLAIN;
	bool has_relocation = m->sum.relocation || m->operator_text;

	if (m->operator_text)
		relocation = relocation_of(m->operator_text, m->operator_len);
	else if (m->sum.relocation)
		relocation = relocation_of(m->sum.relocation, m->sum.relocation_len);
	op->kind = NW_OPERAND_MEMORY;
	op->offset = m->sum.offset;
	op->symbol = m->sum.symbol;
	op->symbol_len = m->sum.symbol_len;
	if (m->has_base)
		set_reg(op->reg, &m->base);
	if (m->has_index) {
		set_reg(op->index, &m->index);
		op->index_bits = m->index.bits;
		op->index_unsigned = m->index_unsigned;
		op->scale = (unsigned int)m->scale;
		op->problem = index_problem;
		op->window = (m->has_base || m->sum.symbol) && !m->has_segment &&
			     relocation == RELOCATION_PLAIN &&
			     (!m->has_base || m->base.kind == NW_REG_GENERAL) &&
			     m->index.kind == NW_REG_GENERAL;
		/* the base only helps to form the symbol's address, sym@GOTOFF(%ebx,%eax,4), or is the index once
		 * more, sym(%rax,%rax): an index of twice the steps */
		bool again = m->sum.symbol && strcmp(op->reg, op->index) == 0;
		if (op->window && (again || has_relocation))
			op->reg[0] = '\0';
		op->scale += op->window && again;
	}
	if (m->has_segment || relocation == RELOCATION_TLS) {
		if (m->has_segment) {
			if (m->has_base) {
				set_reg(op->index, &m->base);
				op->scale = 1;
			}
			set_reg(op->reg, &m->segment);
		}
		op->problem = tls_problem;
		return true;
	}
	if (m->sum.symbol && !m->has_index &&
	    (has_relocation || !m->has_base || m->base.kind == NW_REG_PC)) {
		op->absolute = !has_relocation && !m->has_base;
		/* The registers only help to form the address, so the operand is *(symbol + offset). */
		op->kind = NW_OPERAND_GLOBAL;
		op->got = relocation == RELOCATION_GOT;
		op->reg[0] = '\0';
		if (relocation == RELOCATION_TLS)
			op->problem = tls_problem;
		else if (relocation == RELOCATION_UNKNOWN)
			op->problem = "a relocation operator that has no meaning here";
		else if (m->has_index)
			op->problem = index_problem;
		return true;
	}
	if (m->has_base && address_problem(&m->base))
		op->problem = address_problem(&m->base);
	else if (!m->has_base && !m->has_index && !m->sum.symbol)
		op->problem = "an absolute address: not the same in every process";
	return true;
}

/* Takes the rest of D(base,index,scale) behind the opening parenthesis. */
static bool take_paren_registers(struct nw_cursor *c, const struct nw_arch *arch,
				 struct memory *m)
{
	m->scale = 1;
	skip_blanks(c);
	if (peek(c) != ',')
		m->has_base = take_register(c, arch, &m->base);
	if (take(c, ',')) {
		m->has_index = take_register(c, arch, &m->index);
		if (!m->has_index)
			return false;
		if (take(c, ',') && !nw_take_number(c, &m->scale))
			return false;
	}
	if (!take(c, ')') || (!m->has_base && !m->has_index))
		return false;
	if (arch->index_first && m->has_index) { /* s390: D(index,base), D(,base) */
		struct nw_reg swap = m->base;
		m->base = m->index;
		m->index = swap;
		m->has_index = m->has_base;
		m->has_base = true;
	}
	if (m->scale == 0) /* scale 0: the index adds nothing */
		m->has_index = false;
	return m->scale == 0 || m->scale == 1 || m->scale == 2 || m->scale == 4 ||
	       m->scale == 8;
}

/* Drops registers that always count as 0: the zero register, and on s390 r0 as base or index. */
static void drop_zero_registers(const struct nw_arch *arch, struct memory *m)
{
	bool zero_means_none = arch->index_first;

	if (m->has_base && ((zero_means_none && strcmp(m->base.kernel, "r0") == 0) ||
			    m->base.kind == NW_REG_ZERO))
		m->has_base = false;
	if (m->has_index && ((zero_means_none && strcmp(m->index.kernel, "r0") == 0) ||
			     m->index.kind == NW_REG_ZERO))
		m->has_index = false;
	if (!m->has_base && m->has_index && m->scale == 1) {
		m->has_base = true;
		m->has_index = false;
		m->base = m->index;
	}
}

/* Takes the name of a relocation operator. Returns false if there is none. */
static bool take_operator_name(struct nw_cursor *c, struct memory *m)
{
	size_t len = 0;

	while (c->at + len < c->end &&
	       (isalnum((unsigned char)c->at[len]) || c->at[len] == '_'))
		len++;
	m->operator_text = c->at;
	m->operator_len = len;
	c->at += len;
	return len;
}

/* Takes `%tprel_lo(sym)` or `%lo(sym+4)`: riscv and loongarch write the operator before the symbol. */
static bool take_operator(struct nw_cursor *c, struct memory *m)
{
	struct nw_cursor start = *c;

	if (!take(c, '%'))
		return false;
	if (take_operator_name(c, m) && take(c, '(') && nw_take_sum(c, &m->sum) &&
	    m->sum.symbol && take(c, ')'))
		return true;
	m->operator_text = NULL;
	*c = start;
	return false;
}

/* Parses D(base,index,scale), sym(base), sym and %fs:... */
static bool parse_paren_memory(const struct nw_arch *arch, struct nw_cursor c,
			       struct nw_operand *op)
{
	struct memory m = {.scale = 1};
	struct nw_cursor start = c;

	if (arch->memory != NW_MEMORY_PAREN)
		return false;
	if (take_register(&c, arch, &m.segment) && m.segment.kind == NW_REG_SEGMENT &&
	    take(&c, ':'))
		m.has_segment = true;
	else
		c = start;
	bool has_operator = *arch->sigil != '%' && take_operator(&c, &m);
	if (!has_operator && !nw_take_sum(&c, &m.sum))
		return false;
	if (take(&c, '(')) {
		if (!take_paren_registers(&c, arch, &m))
			return false;
	} else if (!m.sum.symbol && !m.has_segment) {
		return false;
	}
	if (!at_end(&c))
		return false;
	drop_zero_registers(arch, &m);
	return judge_memory(&m, op);
}

/* Takes the shift behind an index: `lsl #2`, `lsl 3`, `sxtw`, `uxtw 2`. */
static bool take_shift(struct nw_cursor *c, struct memory *m)
{
	static const char *const words[] = {"lsl", "sxtw", "uxtw", "sxtx"};
	uint64_t bits = 0;

	skip_blanks(c);
	for (size_t i = 0; i < NW_COUNT(words); i++) {
		size_t len = strlen(words[i]);
		if ((size_t)(c->end - c->at) < len || memcmp(c->at, words[i], len) != 0)
			continue;
		c->at += len;
		take(c, '#');
		skip_blanks(c);
		if (isdigit((unsigned char)peek(c)) && !nw_take_number(c, &bits))
			return false;
		m->index_unsigned = *words[i] == 'u';
		m->scale = (uint64_t)1 << (bits & 15);
		return bits < 5;
	}
	return false;
}

/* Takes `:lo12:sym+8`, with an optional '#' before it. */
static bool take_colon_operator(struct nw_cursor *c, struct memory *m)
{
	struct nw_cursor start = *c;

	take(c, '#');
	if (!take(c, ':')) {
		*c = start;
		return false;
	}
	return take_operator_name(c, m) && take(c, ':') && nw_take_sum(c, &m->sum) &&
	       m->sum.symbol;
}

/* Takes the text behind the base: a displacement, the low part of a symbol, or an index with its shift. */
static bool take_displacement(struct nw_cursor *c, const struct nw_arch *arch,
			      struct memory *m)
{
	struct nw_cursor start = *c;

	if (take_colon_operator(c, m) || take_operator(c, m))
		return true;
	*c = start;
	m->operator_text = NULL;
	if (take_register(c, arch, &m->index)) {
		m->has_index = true;
		return !take(c, ',') || take_shift(c, m);
	}
	*c = start;
	if (arch->immediate)
		take(c, arch->immediate);
	return nw_take_sum(c, &m->sum) && !m->sum.symbol;
}

/* Parses [base], [base, #-12], [base, index, lsl #2] and [base, #:lo12:sym]. */
static bool parse_bracket_memory(const struct nw_arch *arch, struct nw_cursor c,
				 struct nw_operand *op)
{
	struct memory m = {.scale = 1};

	if (arch->memory == NW_MEMORY_PAREN || !take(&c, '[') ||
	    !take_register(&c, arch, &m.base))
		return false;
	m.has_base = true;
	if (take(&c, ',') && !take_displacement(&c, arch, &m))
		return false;
	if (!take(&c, ']') || !at_end(&c))
		return false;
	drop_zero_registers(arch, &m);
	return judge_memory(&m, op);
}

/* Parses $r22,-20 and $r7,$r5 (loongarch), and 9,8 (ppc: r9 + r8). */
static bool parse_comma_memory(const struct nw_arch *arch, struct nw_cursor c,
			       struct nw_operand *op)
{
	struct memory m = {.scale = 1};

	if (arch->memory != NW_MEMORY_COMMA && !arch->bare_register)
		return false;
	if (!take_register(&c, arch, &m.base))
		return false;
	m.has_base = true;
	if (!take(&c, ',') || !take_displacement(&c, arch, &m) || !at_end(&c))
		return false;
	if (arch->memory != NW_MEMORY_COMMA && !m.has_index)
		return false;
	drop_zero_registers(arch, &m);
	return judge_memory(&m, op);
}

bool nw_operand_form(const struct nw_arch *arch, const char *operand, struct nw_operand *op)
{
	static form_parser *const forms[] = {
		parse_register,	      parse_constant,	  parse_float_constant,
		parse_bracket_memory, parse_comma_memory, parse_symbol_address,
		parse_paren_memory,
	};
	const char *end = op->text + op->text_len;

	for (size_t i = 0; i < NW_COUNT(forms); i++) {
		struct nw_operand attempt = *op;
		if (!forms[i](arch, (struct nw_cursor){operand, end}, &attempt))
			continue;
		*op = attempt;
		return true;
	}
	return false;
}
