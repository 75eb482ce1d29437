// SPDX-License-Identifier: MIT
/*
 * The arguments of a USDT note.
 *
 * sys/sdt.h leaves it to the compiler where an argument lives and to the assembler how that
 * is written: the note holds text such as
 *
 *	-4@%edi 8@24(%rsp) 4@$7 -8@8+stats(%rip)	x86_64
 *	8@x3 -4@[sp, 12] 1@5				aarch64
 *	-4@9 8@16(1) 4@i7				ppc64
 *
 * that is SIZE@OPERAND, a minus before the size for a signed value and an `f` behind it for a
 * floating-point one. The size counts, not the width of the register's name. Operands hold
 * blanks ("[sp, 12]") and '@' ("arr@GOTOFF(%ebx)"), so the string is cut only before something
 * that looks like SIZE@. What each assembler writes is data (arch_table.c); this file is the
 * one engine that reads it all. It never guesses: text that does not fit completely becomes
 * an operand of kind UNKNOWN with a sentence that names the form.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"

struct cursor {
	const char *at, *end;
};

static char peek(const struct cursor *c)
{
	return c->at < c->end ? *c->at : '\0';
}

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && isspace((unsigned char)*c->at))
		c->at++;
}

static bool take(struct cursor *c, char wanted)
{
	skip_blanks(c);
	if (peek(c) != wanted)
		return false;
	c->at++;
	return true;
}

static bool at_end(struct cursor *c)
{
	skip_blanks(c);
	return c->at == c->end;
}

static bool is_symbol_char(char c, bool first)
{
	unsigned char u = (unsigned char)c;

	return isalpha(u) || c == '_' || c == '.' || u >= 0x80 ||
	       (!first && (isdigit(u) || c == '$'));
}

/* ---- numbers ------------------------------------------------------------------------ */

/* Decimal, 0x hexadecimal, or octal with a leading 0, as assemblers read it. */
static bool take_number(struct cursor *c, uint64_t *out)
{
	char digits[32];
	size_t len = 0;
	char *end;

	skip_blanks(c);
	while (c->at + len < c->end && isalnum((unsigned char)c->at[len]))
		len++;
	if (len == 0 || len >= sizeof(digits) || !isdigit((unsigned char)c->at[0]))
		return false;
	memcpy(digits, c->at, len);
	digits[len] = '\0';
	errno = 0;
	*out = strtoull(digits, &end, 0);
	if (errno || *end)
		return false;
	c->at += len;
	return true;
}

/*
 * Constant expressions: gdb's grammar for stap probes has C's infix operators over numbers
 * that each carry the immediate's sigil, as in `$3+($10-$8)-$1`. Folded here; wraps at 64 bits.
 */
struct folding {
	struct cursor c;
	char sigil;    /* '$', '#', or 0 */
	bool optional; /* numbers may come without it */
	unsigned int sigils;
	unsigned int depth;
	bool bad;
};

struct infix {
	const char *text;
	int precedence;
};

static const struct infix operators[] = {
	{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
	{"<<", 8}, {">>", 8}, {"|", 3},	 {"^", 4},  {"&", 5},  {"<", 7},
	{">", 7},  {"+", 9},  {"-", 9},	 {"*", 10}, {"/", 10}, {"%", 10},
};

static uint64_t fold(struct folding *f, int least);

static uint64_t fold_unary(struct folding *f)
{
	uint64_t value = 0;

	if (f->bad || ++f->depth > 64) {
		f->bad = true;
		return 0;
	}
	if (take(&f->c, '-'))
		value = -fold_unary(f);
	else if (take(&f->c, '+'))
		value = fold_unary(f);
	else if (take(&f->c, '~'))
		value = ~fold_unary(f);
	else if (take(&f->c, '!'))
		value = !fold_unary(f);
	else if (take(&f->c, '(')) {
		value = fold(f, 1);
		f->bad |= !take(&f->c, ')');
	} else if (f->sigil && take(&f->c, f->sigil)) {
		f->sigils++;
		bool minus = take(&f->c, '-');
		f->bad |= !take_number(&f->c, &value);
		value = minus ? -value : value;
	} else {
		f->bad |= !f->optional || !take_number(&f->c, &value);
	}
	f->depth--;
	return value;
}

static uint64_t apply(struct folding *f, const char *op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	uint64_t sign = sa < 0 ? ~(uint64_t)0 : 0;

	if (op[0] == '/' || op[0] == '%') {
		f->bad |= b == 0 || (sa == INT64_MIN && sb == -1);
		if (f->bad)
			return 0;
		return (uint64_t)(op[0] == '/' ? sa / sb : sa % sb);
	}
	if (strcmp(op, "<<") == 0)
		return b < 64 ? a << b : 0;
	if (strcmp(op, ">>") == 0)
		return b == 0 ? a : b < 64 ? a >> b | sign << (64 - b) : sign;
	if (strcmp(op, "||") == 0)
		return a || b;
	if (strcmp(op, "&&") == 0)
		return a && b;
	if (op[0] == '=')
		return a == b;
	if (op[0] == '!')
		return a != b;
	if (op[0] == '<')
		return op[1] ? sa <= sb : sa < sb;
	if (op[0] == '>')
		return op[1] ? sa >= sb : sa > sb;
	switch (op[0]) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '+':
		return a + b;
	case '-':
		return a - b;
	default:
		return a * b;
	}
}

static const struct infix *next_operator(struct cursor *c)
{
	skip_blanks(c);
	for (size_t i = 0; i < NW_COUNT(operators); i++) {
		size_t len = strlen(operators[i].text);
		if ((size_t)(c->end - c->at) >= len &&
		    memcmp(c->at, operators[i].text, len) == 0)
			return &operators[i];
	}
	return NULL;
}

static uint64_t fold(struct folding *f, int least)
{
	uint64_t value = fold_unary(f);

	while (!f->bad) {
		const struct infix *op = next_operator(&f->c);
		if (!op || op->precedence < least)
			break;
		f->c.at += strlen(op->text);
		value = apply(f, op->text, value, fold(f, op->precedence + 1));
	}
	return value;
}

/* ---- sums of numbers and one symbol ------------------------------------------------- */

/* `8+stats`, `stats-2`, `-4+16-16`, `arr@GOTOFF`, `.LANCHOR0+44@toc@l` */
struct sum {
	int64_t offset;
	const char *symbol;
	size_t symbol_len;
	const char *relocation; /* behind the first '@' */
	size_t relocation_len;
};

static bool take_symbol(struct cursor *c, struct sum *sum)
{
	size_t len = 0;

	while (c->at + len < c->end && is_symbol_char(c->at[len], len == 0))
		len++;
	if (len == 0 || sum->symbol)
		return false;
	sum->symbol = c->at;
	sum->symbol_len = len;
	c->at += len;
	return true;
}

static bool take_relocation(struct cursor *c, struct sum *sum)
{
	size_t len = 0;

	if (peek(c) != '@')
		return true;
	c->at++;
	while (c->at + len < c->end &&
	       (isalnum((unsigned char)c->at[len]) || c->at[len] == '@'))
		len++;
	if (len == 0 || sum->relocation || !sum->symbol)
		return false;
	sum->relocation = c->at;
	sum->relocation_len = len;
	c->at += len;
	return true;
}

static bool take_term(struct cursor *c, bool minus, struct sum *sum)
{
	uint64_t number;

	skip_blanks(c);
	if (isdigit((unsigned char)peek(c))) {
		if (!take_number(c, &number))
			return false;
		sum->offset = (int64_t)((uint64_t)sum->offset + (minus ? -number : number));
	} else if (minus || !take_symbol(c, sum)) {
		return false;
	}
	return take_relocation(c, sum);
}

/* Returns false when there is no well-formed sum; an empty one is well-formed. */
static bool take_sum(struct cursor *c, struct sum *sum)
{
	*sum = (struct sum){0};
	for (bool first = true;; first = false) {
		bool minus = false;
		skip_blanks(c);
		if (peek(c) == '+' || peek(c) == '-')
			minus = *c->at++ == '-';
		else if (!first)
			return true;
		else if (!isdigit((unsigned char)peek(c)) && !is_symbol_char(peek(c), true))
			return true;
		if (!take_term(c, minus, sum))
			return false;
	}
}

/* ---- registers ---------------------------------------------------------------------- */

/* The "(1)" of %st(1). */
static bool take_stack_slot(struct cursor *c)
{
	uint64_t slot;

	return take(c, '(') && take_number(c, &slot) && take(c, ')');
}

static bool take_register(struct cursor *c, const struct nw_arch *arch, struct nw_reg *reg)
{
	size_t len = 0;

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
	if (strcmp(reg->kernel, "st") == 0 && peek(c) == '(')
		return take_stack_slot(c);
	return true;
}

static const char float_problem[] =
	"a floating-point or vector register: ftrace can only read general registers";
static const char index_problem[] =
	"base + index * scale: a fetch argument cannot add two registers";
static const char tls_problem[] =
	"thread-local storage: ftrace cannot read the thread pointer";

/* The register may be the base or index of an address; else why not. */
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

/* A parser of one form: true when the text fits it completely. */
typedef bool form_parser(const struct nw_arch *arch, struct cursor c,
			 struct nw_operand *op);

static bool parse_register(const struct nw_arch *arch, struct cursor c,
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

/* `#1.5e+0` (arm): the value's own bits. */
static bool parse_float_constant(const struct nw_arch *arch, struct cursor c,
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

static bool parse_constant(const struct nw_arch *arch, struct cursor c,
			   struct nw_operand *op)
{
	struct folding f = {
		.c = c, .sigil = arch->immediate, .optional = arch->bare_constant};

	if (arch->immediate == 'i') { /* ppc: one prefix before the number, none inside */
		if (!take(&f.c, 'i'))
			return false;
		f.sigil = 0;
		f.optional = true;
		f.sigils = 1;
	}
	uint64_t value = fold(&f, 1);
	if (f.bad || !at_end(&f.c) || (!f.sigils && !f.optional))
		return false;
	op->kind = NW_OPERAND_CONSTANT;
	op->value = value;
	return true;
}

/* `$sym`, arm's bare `sym+4`: the address itself. */
static bool parse_symbol_address(const struct nw_arch *arch, struct cursor c,
				 struct nw_operand *op)
{
	struct sum sum;

	if (arch->immediate && arch->immediate != 'i' && peek(&c) == arch->immediate)
		c.at++;
	else if (!arch->bare_symbol_value)
		return false;
	if (!take_sum(&c, &sum) || !at_end(&c) || !sum.symbol)
		return false;
	op->kind = NW_OPERAND_CONSTANT;
	op->symbol = sum.symbol;
	op->symbol_len = sum.symbol_len;
	op->offset = sum.offset;
	return true;
}

/* How a relocation operator behind '@', or before a symbol, changes the meaning. */
enum relocation {
	RELOCATION_PLAIN, /* the register only helps to form the symbol's address */
	RELOCATION_GOT,	  /* the content of the symbol's GOT slot: its address */
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

/* A memory operand as its grammar gave it, before it is judged. */
struct memory {
	struct sum sum;
	bool has_base, has_index, has_segment;
	struct nw_reg base, index, segment;
	uint64_t scale;
	const char *operator_text; /* relocation operator before a symbol */
	size_t operator_len;
};

/* `*(symbol + offset)` where the registers only help to form the address. */
static void judge_global(const struct memory *m, enum relocation relocation,
			 struct nw_operand *op)
{
	op->kind = NW_OPERAND_GLOBAL;
	op->got = relocation == RELOCATION_GOT;
	op->reg[0] = '\0';
	if (relocation == RELOCATION_TLS)
		op->problem = tls_problem;
	else if (relocation == RELOCATION_UNKNOWN)
		op->problem = "a relocation operator that has no meaning here";
	else if (m->has_index)
		op->problem = index_problem;
}

/* Turn what the grammar gave into an operand. */
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
		op->scale = (unsigned int)m->scale;
		op->problem = index_problem;
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
		judge_global(m, relocation, op);
		return true;
	}
	if (m->has_base && address_problem(&m->base))
		op->problem = address_problem(&m->base);
	else if (!m->has_base && !m->has_index && !m->sum.symbol)
		op->problem = "an absolute address: not the same in every process";
	return true;
}

/* The inside of D(base,index,scale), behind the opening parenthesis. */
static bool take_paren_registers(struct cursor *c, const struct nw_arch *arch,
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
		if (take(c, ',') && !take_number(c, &m->scale))
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
	return m->scale == 1 || m->scale == 2 || m->scale == 4 || m->scale == 8;
}

/* s390: register 0 as base or index means "none". */
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

/* `%tprel_lo(sym)`, `%lo(sym+4)`: riscv and loongarch put the operator before the symbol. */
static bool take_operator(struct cursor *c, struct memory *m)
{
	struct cursor start = *c;
	size_t len = 0;

	if (!take(c, '%'))
		return false;
	while (c->at + len < c->end &&
	       (isalnum((unsigned char)c->at[len]) || c->at[len] == '_'))
		len++;
	m->operator_text = c->at;
	m->operator_len = len;
	c->at += len;
	if (len && take(c, '(') && take_sum(c, &m->sum) && m->sum.symbol && take(c, ')'))
		return true;
	m->operator_text = NULL;
	*c = start;
	return false;
}

/* D(base,index,scale), sym(base), sym, %fs:..., 9,8 */
static bool parse_paren_memory(const struct nw_arch *arch, struct cursor c,
			       struct nw_operand *op)
{
	struct memory m = {.scale = 1};
	struct cursor start = c;

	if (arch->memory != NW_MEMORY_PAREN)
		return false;
	if (take_register(&c, arch, &m.segment) && m.segment.kind == NW_REG_SEGMENT &&
	    take(&c, ':'))
		m.has_segment = true;
	else
		c = start;
	bool has_operator = *arch->sigil != '%' && take_operator(&c, &m);
	if (!has_operator && !take_sum(&c, &m.sum))
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

/* `lsl #2`, `lsl 3`, `sxtw`, `sxtw 2` behind an index. */
static bool take_shift(struct cursor *c, uint64_t *scale)
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
		if (isdigit((unsigned char)peek(c)) && !take_number(c, &bits))
			return false;
		*scale = (uint64_t)1 << (bits & 15);
		return bits < 5;
	}
	return false;
}

/* `:lo12:sym+8` behind an optional '#'. */
static bool take_colon_operator(struct cursor *c, struct memory *m)
{
	struct cursor start = *c;
	size_t len = 0;

	take(c, '#');
	if (!take(c, ':')) {
		*c = start;
		return false;
	}
	while (c->at + len < c->end &&
	       (isalnum((unsigned char)c->at[len]) || c->at[len] == '_'))
		len++;
	m->operator_text = c->at;
	m->operator_len = len;
	c->at += len;
	return len && take(c, ':') && take_sum(c, &m->sum) && m->sum.symbol;
}

/* What follows the base: a displacement, a symbol's low part, or an index with its shift. */
static bool take_displacement(struct cursor *c, const struct nw_arch *arch,
			      struct memory *m)
{
	struct cursor start = *c;

	if (take_colon_operator(c, m) || take_operator(c, m))
		return true;
	*c = start;
	m->operator_text = NULL;
	if (take_register(c, arch, &m->index)) {
		m->has_index = true;
		return !take(c, ',') || take_shift(c, &m->scale);
	}
	*c = start;
	if (arch->immediate)
		take(c, arch->immediate);
	return take_sum(c, &m->sum) && !m->sum.symbol;
}

/* [base], [base, #-12], [base, index, lsl #2], [base, #:lo12:sym] */
static bool parse_bracket_memory(const struct nw_arch *arch, struct cursor c,
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

/* $r22,-20 (loongarch), $r7,$r5, 9,8 (ppc: r9 + r8) */
static bool parse_comma_memory(const struct nw_arch *arch, struct cursor c,
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

static bool is_plain_size(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Cut a constant to its size; a signed one keeps its sign in 64 bits. */
static uint64_t cut_value(uint64_t value, unsigned int size, bool is_signed)
{
	unsigned int bits = size * 8;

	if (bits >= 64)
		return value;
	value &= ((uint64_t)1 << bits) - 1;
	if (is_signed && value >> (bits - 1))
		value |= ~(uint64_t)0 << bits;
	return value;
}

/* What the size means for the operand found: pairs, structures, sizes that cannot be. */
static void check_size(const struct nw_arch *arch, struct nw_operand *op)
{
	if (!op->size)
		op->size = arch->word;
	if (op->kind == NW_OPERAND_CONSTANT && !op->symbol) {
		if (is_plain_size(op->size))
			op->value = cut_value(op->value, op->size, op->is_signed);
		else if (!op->problem)
			op->problem = "a constant whose size is not 1, 2, 4 or 8 bytes";
	} else if (op->kind == NW_OPERAND_REGISTER && !op->problem) {
		if (!is_plain_size(op->size))
			op->problem = "a register whose size is not 1, 2, 4 or 8 bytes";
		else if (op->size > arch->word)
			find_pair(arch, op);
	} else if (op->kind != NW_OPERAND_UNKNOWN && op->size > 512 && !op->problem) {
		op->problem = "larger than the 64 elements an array argument can have";
	}
}

static const char *unknown_problem(const char *operand, const char *end)
{
	if (operand == end)
		return "the operand is missing";
	/* s390's literal pool: 8@.L447-.L445(%r13) */
	if (end - operand > 2 && memcmp(operand, ".L", 2) == 0)
		return "local labels of the compiler: they are in no symbol table";
	return "not an operand of this architecture's grammar";
}

/* Parse what stands at operand, the end of op->text, by the first form that fits. */
static void parse_operand(const struct nw_arch *arch, const char *operand,
			  struct nw_operand *op)
{
	static form_parser *const forms[] = {
		parse_register,	      parse_constant,	  parse_float_constant,
		parse_bracket_memory, parse_comma_memory, parse_symbol_address,
		parse_paren_memory,
	};
	const char *end = op->text + op->text_len;

	for (size_t i = 0; i < NW_COUNT(forms); i++) {
		struct nw_operand attempt = *op;
		if (!forms[i](arch, (struct cursor){operand, end}, &attempt))
			continue;
		*op = attempt;
		check_size(arch, op);
		return;
	}
	op->kind = NW_OPERAND_UNKNOWN;
	op->problem = unknown_problem(operand, end);
	if (!op->size)
		op->size = arch->word;
}

/* ---- splitting ---------------------------------------------------------------------- */

/* Length of `-?[0-9]+f?@` at text, 0 if that is not what stands there. */
static size_t size_prefix(const char *text)
{
	size_t digits, len = text[0] == '-';

	digits = strspn(text + len, "0123456789");
	len += digits;
	len += text[len] == 'f';
	return digits && text[len] == '@' ? len + 1 : 0;
}

/* The number in a prefix; what no value is large enough for is cut, so that bits can be
 * counted in an unsigned int. */
static unsigned int prefix_size(const char *digits)
{
	const unsigned long most = 999999;
	unsigned long size = strtoul(digits, NULL, 10);

	return (unsigned int)(size < most ? size : most);
}

/* End of the argument that starts at text: the blank before the next SIZE@. */
static const char *argument_end(const char *text, bool prefixed)
{
	const char *at = text;

	while (*at) {
		if (isspace((unsigned char)*at)) {
			const char *next = at + strspn(at, " \t\n\r\f\v");
			if (!*next || !prefixed || size_prefix(next))
				return at;
			at = next;
		} else {
			at++;
		}
	}
	return at;
}

static int add_argument(const struct nw_arch *arch, const char *text, size_t len,
			size_t prefix, nw_operands *out)
{
	struct nw_operand *op = nw_vec_add(out);

	if (!op)
		return -ENOMEM;
	op->text = text;
	op->text_len = len;
	if (prefix) {
		op->is_signed = text[0] == '-';
		op->is_float = text[prefix - 2] == 'f';
		op->size = prefix_size(text + op->is_signed);
	}
	if (prefix && op->size == 0)
		op->problem = "a size of 0 bytes";
	else
		parse_operand(arch, text + prefix, op);
	return 0;
}

int nw_operands_parse(const struct nw_arch *arch, const char *args, nw_operands *out)
{
	static const char blanks[] = " \t\n\r\f\v";
	const char *at = args + strspn(args, blanks);

	if (*at == ':' && !at[1 + strspn(at + 1, blanks)]) /* perf's spelling of "none" */
		return 0;
	while (*at) {
		size_t prefix = size_prefix(at);
		const char *end = argument_end(at, prefix != 0);
		int ret = add_argument(arch, at, (size_t)(end - at), prefix, out);
		if (ret < 0)
			return ret;
		at = end + strspn(end, blanks);
	}
	return 0;
}
