// SPDX-License-Identifier: MIT
/*
 * Every argument that was ever seen (tests/data/operands.tsv: compiled by gcc and clang, found
 * in Debian's binaries, taken from the tests of other tools) means what the table says. Sizes,
 * signs and texts come from the columns, spellings of registers from the table below, which is
 * made from the kernel's ptrace.c and not from the parser.
 */
#include <ctype.h>

#include "find/probe/probe.h"
#include "unit.h"

enum {
	COLUMNS = 11
};

/* One row; empty columns are "". */
struct row {
	char *arch, *text, *size, *kind, *base, *index, *scale, *disp, *imm, *symbol;
};

/* ---- how the kernel spells a register ----------------------------------------------- */

struct spelling {
	const char *arch, *note, *kernel;
};

/* Only what is not the same in both; x86 is below. */
static const struct spelling spellings[] = {{"aarch64", "x31", "sp"},
					    {"arm", "r11", "fp"},
					    {"arm", "r12", "ip"},
					    {"loongarch64", "sp", "r3"},
					    {"loongarch64", "a0", "r4"}};

static void x86_spelling(const char *name, char out[12])
{
	size_t len = strlen(name);

	if (name[0] == 'r' && isdigit((unsigned char)name[1])) { /* r8d */
		snprintf(out, 12, "%.*s", (int)strspn(name + 1, "0123456789") + 1, name);
	} else if (len == 3 && (name[0] == 'r' || name[0] == 'e')) { /* rax, eax */
		snprintf(out, 12, "%s", name + 1);
	} else if (len == 2 && strchr("abcd", name[0]) && strchr("lh", name[1])) { /* al */
		snprintf(out, 12, "%cx", name[0]);
	} else if (len == 3 && name[2] == 'l') { /* sil */
		snprintf(out, 12, "%.2s", name);
	} else {
		snprintf(out, 12, "%s", name);
	}
}

static void kernel_spelling(const char *arch, const char *name, char out[12])
{
	if (strcmp(arch, "x86_64") == 0 || strcmp(arch, "i386") == 0) {
		x86_spelling(name, out);
		return;
	}
	if (*name && strcmp(arch, "ppc64le") == 0) { /* 9, r9 */
		snprintf(out, 12, "gpr%s", name + (name[0] == 'r'));
		return;
	}
	snprintf(out, 12, "%s", name);
	for (size_t i = 0; i < NW_COUNT(spellings); i++)
		if (strcmp(spellings[i].arch, arch) == 0 &&
		    strcmp(spellings[i].note, name) == 0)
			snprintf(out, 12, "%s", spellings[i].kernel);
}

/* ---- what a row means --------------------------------------------------------------- */

static const char float_problem[] =
	"a floating-point or vector register: ftrace can only read general registers";
static const char index_problem[] =
	"base + index * scale: a fetch argument cannot add two registers";
static const char tls_problem[] =
	"thread-local storage: ftrace cannot read the thread pointer";

/* Values of gdb's constant expressions: the table leaves them out. */
static const struct {
	const char *text;
	uint64_t value;
} expressions[] = {
	{"-8@-($3+$4)", (uint64_t)-7},
	{"-8@~$22", ~(uint64_t)22},
	{"8@$100-(  ($8+$10) -$50)+$3", 135},
	{"8@$3+($10-$8)-$1", 4},
	{"8@$8|$4", 12},
};

static unsigned int word_of(const char *arch)
{
	return strcmp(arch, "i386") == 0 || strcmp(arch, "arm") == 0 ? 4 : 8;
}

/* The width of an x86 register's name, for arguments without SIZE@. */
static unsigned int width_of_name(const char *name)
{
	size_t len = strlen(name);

	if (name[len - 1] == 'l' || name[len - 1] == 'h' || name[len - 1] == 'b')
		return 1;
	return name[0] == 'r' ? 8 : name[0] == 'e' ? 4 : 2;
}

/* The name within "arr@GOTOFF", ":lo12:.LANCHOR2", "%pc_lo12(.LC2)". */
static void expect_symbol(const struct row *row, struct nw_operand *want)
{
	const char *text = row->symbol;

	if (*text == ':')
		text = strchr(text + 1, ':') + 1;
	else if (*text == '%')
		text = strchr(text, '(') + 1;
	want->symbol = *text ? text : NULL;
	want->symbol_len = strcspn(text, "@)");
}

/* base, index, scale, displacement and symbol of a memory operand */
static void expect_memory(const struct row *row, struct nw_operand *want)
{
	want->kind = NW_OPERAND_MEMORY;
	kernel_spelling(row->arch, row->base, want->reg);
	kernel_spelling(row->arch, row->index, want->index);
	want->scale = (unsigned int)strtoul(row->scale, NULL, 10);
	want->offset = strtoll(row->disp, NULL, 10);
	expect_symbol(row, want);
}

static void expect_global(struct nw_operand *want, bool got, bool absolute)
{
	want->kind = NW_OPERAND_GLOBAL;
	want->reg[0] = '\0';
	want->got = got;
	want->absolute = absolute;
}

static void expect_constant(const struct row *row, struct nw_operand *want)
{
	uint64_t value = (uint64_t)strtoll(row->imm, NULL, 10);
	unsigned int bits = want->size * 8;

	want->kind = NW_OPERAND_CONSTANT;
	if (bits < 64) {
		value &= ((uint64_t)1 << bits) - 1;
		if (want->is_signed && value >> (bits - 1))
			value |= UINT64_MAX << bits;
	}
	want->value = value;
}

static void expect_float_constant(const struct row *row, struct nw_operand *want)
{
	double wide = strtod(row->imm, NULL);
	float narrow = (float)wide;

	want->kind = NW_OPERAND_CONSTANT;
	if (want->size == 4)
		memcpy(&want->value, &narrow, sizeof(narrow));
	else
		memcpy(&want->value, &wide, sizeof(wide));
}

static void expect_register(const struct row *row, struct nw_operand *want)
{
	want->kind = NW_OPERAND_REGISTER;
	kernel_spelling(row->arch, row->base, want->reg);
}

static void expect_tls(const struct row *row, struct nw_operand *want)
{
	expect_memory(row, want);
	if (*row->index) /* %fs:(%rax) */
		want->scale = 1;
	want->problem = tls_problem;
}

static void expect_expression(const struct row *row, struct nw_operand *want)
{
	want->kind = NW_OPERAND_CONSTANT;
	for (size_t i = 0; i < NW_COUNT(expressions); i++) {
		if (strcmp(expressions[i].text, row->text) == 0) {
			want->value = expressions[i].value;
			return;
		}
	}
	ck_abort_msg("'%s' has no value in this test", row->text);
}

static void expect_kind(const struct row *row, const char *kind, struct nw_operand *want)
{
	bool relocated = strpbrk(row->symbol, "@:%") != NULL;

	if (strcmp(kind, "reg") == 0 || strcmp(kind, "reg_high8") == 0) {
		expect_register(row, want);
		want->shift = strcmp(kind, "reg") == 0 ? 0 : 8;
	} else if (strcmp(kind, "reg_pair") == 0) {
		expect_register(row, want);
		kernel_spelling(row->arch, row->index, want->reg_high);
	} else if (strcmp(kind, "fpreg") == 0) {
		expect_register(row, want);
		want->problem = float_problem;
	} else if (strcmp(kind, "imm") == 0) {
		expect_constant(row, want);
	} else if (strcmp(kind, "fimm") == 0) {
		expect_float_constant(row, want);
	} else if (strcmp(kind, "gdb_expr") == 0) {
		expect_expression(row, want);
	} else if (strcmp(kind, "mem") == 0) {
		expect_memory(row, want);
	} else if (strcmp(kind, "mem_sib") == 0 || strcmp(kind, "mem_index") == 0) {
		expect_memory(row, want);
		want->problem = index_problem;
		/* of a symbol's array: the base only helps to form its address, or is the index once more */
		bool again = want->symbol && strcmp(want->reg, want->index) == 0;
		if (again || relocated)
			want->reg[0] = '\0';
		want->scale += again;
	} else if (strncmp(kind, "mem_pcrel", 9) == 0) {
		expect_memory(row, want);
		expect_global(want, strcmp(kind, "mem_pcrel_got") == 0, false);
	} else if (strcmp(kind, "mem_abs_sym") == 0) {
		expect_memory(row, want);
		expect_global(want, false, true);
	} else if (strcmp(kind, "mem_sym_reg") == 0) {
		expect_memory(row, want);
		if (relocated) /* the register only helps to form the address */
			expect_global(want, false, false);
	} else if (strcmp(kind, "tls") == 0) {
		expect_tls(row, want);
	} else if (strcmp(kind, "symaddr") == 0) {
		expect_memory(row, want);
		want->kind = NW_OPERAND_CONSTANT;
	} else if (strcmp(kind, "reject_bad_size") == 0) {
		expect_constant(row, want);
		want->problem = "a constant whose size is not 1, 2, 4 or 8 bytes";
	} else {
		ck_assert_msg(strncmp(kind, "reject", 6) == 0, "kind '%s' is new", kind);
		want->kind = NW_OPERAND_UNKNOWN;
		want->problem = "not an operand of this architecture's grammar";
	}
}

static void expect(const struct row *row, struct nw_operand *want)
{
	char kind[32];
	const char *flavour = row->kind + strcspn(row->kind, "/(");
	bool named = strncmp(row->kind, "reg", 3) == 0 && *flavour;

	snprintf(kind, sizeof(kind), "%.*s", (int)(flavour - row->kind), row->kind);
	*want = (struct nw_operand){.is_signed = row->size[0] == '-',
				    .is_float = strcmp(flavour, "/float") == 0};
	want->size = (unsigned int)labs(strtol(row->size, NULL, 10));
	if (want->size == 0)
		want->size = named ? width_of_name(row->base) : word_of(row->arch);
	expect_kind(row, kind, want);
}

/* ---- the comparison ----------------------------------------------------------------- */

static const char *text_or_none(const char *text)
{
	return text ? text : "(none)";
}

#define SAME(field, format)                                                               \
	ck_assert_msg(got->field == want->field,                                          \
		      "%s %s: " #field " is " format " and should be " format, row->arch, \
		      row->text, got->field, want->field)
#define SAME_TEXT(field)                                                                \
	ck_assert_msg(strcmp(text_or_none(got->field), text_or_none(want->field)) == 0, \
		      "%s %s: " #field " is '%s' and should be '%s'", row->arch,        \
		      row->text, text_or_none(got->field), text_or_none(want->field))

static void compare(const struct row *row, const struct nw_operand *got,
		    const struct nw_operand *want)
{
	SAME(kind, "%u");
	SAME(size, "%u");
	SAME(is_signed, "%d");
	SAME(is_float, "%d");
	SAME(absolute, "%d");
	SAME(got, "%d");
	SAME(shift, "%u");
	SAME_TEXT(reg);
	SAME_TEXT(reg_high);
	SAME_TEXT(index);
	SAME(scale, "%u");
	SAME(offset, "%ld");
	SAME(value, "%lu");
	SAME(symbol_len, "%zu");
	ck_assert_msg((got->symbol != NULL) == (want->symbol != NULL), "%s %s", row->arch,
		      row->text);
	if (want->symbol)
		ck_assert_mem_eq(got->symbol, want->symbol, want->symbol_len);
	SAME(resolved, "%d");
	SAME(address, "%lu");
	SAME_TEXT(problem);
	ck_assert_ptr_eq(got->text, row->text);
	ck_assert_uint_eq(got->text_len, strlen(row->text));
}

/* ---- the table ---------------------------------------------------------------------- */

static void split_row(char *line, struct row *row)
{
	char *columns[COLUMNS] = {0};
	size_t count = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line && count < COLUMNS)
		columns[count++] = strsep(&line, "\t");
	ck_assert_uint_eq(count, COLUMNS);
	ck_assert_ptr_null(line);
	*row = (struct row){.arch = columns[0],
			    .text = columns[1],
			    .size = columns[2],
			    .kind = columns[3],
			    .base = columns[4],
			    .index = columns[5],
			    .scale = columns[6],
			    .disp = columns[7],
			    .imm = columns[8],
			    .symbol = columns[9]};
}

static void check_row(const struct row *row)
{
	const struct nw_arch *arch = nw_arch_by_name(row->arch);
	nw_operands operands = {0};
	struct nw_operand want;

	ck_assert_ptr_nonnull(arch);
	ck_assert_int_eq(nw_operands_parse(arch, row->text, &operands), 0);
	ck_assert_uint_eq(nw_operands_count(row->text), operands.count);
	ck_assert_msg(operands.count == 1, "%s %s: %zu operands", row->arch, row->text,
		      operands.count);
	expect(row, &want);
	compare(row, &operands.item[0], &want);
	nw_vec_free(&operands);
}

START_TEST(every_argument_ever_seen_has_its_meaning)
{
	FILE *file = fopen("tests/data/operands.tsv", "re");
	char line[2048];
	struct row row;
	int rows = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	ck_assert_int_eq(strncmp(line, "arch\targstring\t", 15), 0);
	while (fgets(line, sizeof(line), file)) {
		split_row(line, &row);
		check_row(&row);
		rows++;
	}
	fclose(file);
	ck_assert_int_eq(rows, 1592);
}
END_TEST

UNIT_MAIN("operand", every_argument_ever_seen_has_its_meaning)
