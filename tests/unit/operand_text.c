// SPDX-License-Identifier: MIT
/* Argument strings: where they are cut, what is refused, and that no text does harm. */
#include "find/probe/probe.h"
#include "unit.h"

static const char not_grammar[] = "not an operand of this architecture's grammar";

static const struct nw_arch *arch_of(const char *name)
{
	const struct nw_arch *arch = nw_arch_by_name(name);

	ck_assert_ptr_nonnull(arch);
	return arch;
}

/* "[8@%rax][-4@$1]": the texts of the operands found. */
static void check_split(const char *arch, const char *args, const char *wanted)
{
	nw_operands operands = {0};
	struct nw_buf got = {0};

	ck_assert_int_eq(nw_operands_parse(arch_of(arch), args, &operands), 0);
	ck_assert_uint_eq(nw_operands_count(args), operands.count);
	nw_vec_each (&operands, op)
		nw_buf_printf(&got, "[%.*s]", (int)op->text_len, op->text);
	ck_assert_msg(strcmp(nw_buf_str(&got), wanted) == 0, "'%s' was split into %s", args,
		      nw_buf_str(&got));
	nw_buf_free(&got);
	nw_vec_free(&operands);
}

/* The only operand of a text; the caller's until the next call. */
static const struct nw_operand *parse_one(const char *arch, const char *text)
{
	static struct nw_operand one;
	nw_operands operands = {0};

	ck_assert_int_eq(nw_operands_parse(arch_of(arch), text, &operands), 0);
	ck_assert_msg(operands.count == 1, "'%s' has %zu operands", text, operands.count);
	one = operands.item[0];
	nw_vec_free(&operands);
	return &one;
}

START_TEST(strings_are_cut_before_the_next_size)
{
	static const struct {
		const char *arch, *args, *wanted;
	} cases[] = {
		{"x86_64", "", ""},
		{"x86_64", ":", ""},
		{"x86_64", " : ", ""},
		{"x86_64", " \t ", ""},
		{"x86_64", "8@%rax", "[8@%rax]"},
		{"x86_64", "  8@%rax  ", "[8@%rax]"},
		{"x86_64", "-4@$1 1@-57(%rbp)\t-4@%edx\n8f@%rax",
		 "[-4@$1][1@-57(%rbp)][-4@%edx][8f@%rax]"},
		{"x86_64", "8@ %rax 4@%ebx", "[8@ %rax][4@%ebx]"},
		{"x86_64", "8@$100-(  ($8+$10) -$50)+$3 -4@$1",
		 "[8@$100-(  ($8+$10) -$50)+$3][-4@$1]"},
		{"x86_64", "8@ 4@%eax", "[8@][4@%eax]"},
		/* what follows a blank is no size: it belongs to the operand */
		{"x86_64", "8@%rax 23-@$16", "[8@%rax 23-@$16]"},
		{"x86_64", "8@%rax rest", "[8@%rax rest]"},
		/* a size can be too large to be true and still be a size */
		{"x86_64", "8@%rax 1234567@%rbx 99999999999999999999@%rcx 4@%edx",
		 "[8@%rax][1234567@%rbx][99999999999999999999@%rcx][4@%edx]"},
		/* '@' inside operands */
		{"i386", "-4@40+CheckpointStats@GOTOFF(%ebx) 8@%eax",
		 "[-4@40+CheckpointStats@GOTOFF(%ebx)][8@%eax]"},
		{"ppc64le", "-4@.LANCHOR0+44@toc@l(8) 8@9",
		 "[-4@.LANCHOR0+44@toc@l(8)][8@9]"},
		/* blanks inside brackets */
		{"aarch64", "8@x3 -4@[sp, 12] 1@5", "[8@x3][-4@[sp, 12]][1@5]"},
		{"arm", "-4@[r2, r0, lsl #2] 4@[fp, #-12] 4@st+4",
		 "[-4@[r2, r0, lsl #2]][4@[fp, #-12]][4@st+4]"},
		{"aarch64", "4@[x21, #:lo12:.LANCHOR2] 8@x0",
		 "[4@[x21, #:lo12:.LANCHOR2]][8@x0]"},
		/* no SIZE@ at all: blanks cut */
		{"x86_64", "%rax -12+3+1(%rbp) $5", "[%rax][-12+3+1(%rbp)][$5]"},
		{"x86_64", "%rax 8@%rbx", "[%rax][8@%rbx]"},
		{"arm", "[sp, #4] r0", "[[sp, #4]][r0]"},
		/* with and without mixed */
		{"x86_64", "8@$1234 %rdi %rax", "[8@$1234][%rdi][%rax]"},
		{"x86_64", "%rdi 8@$1234 -4@%eax $5", "[%rdi][8@$1234][-4@%eax][$5]"},
		{"x86_64", "8@%rdi (%rax) 4@8(%rax, %rbx, 4) %cl",
		 "[8@%rdi][(%rax)][4@8(%rax, %rbx, 4)][%cl]"},
		{"x86_64", "8@$1 $2", "[8@$1][$2]"},
		{"x86_64", "8@$1 + $2 %rax", "[8@$1 + $2][%rax]"},
		{"aarch64", "8@x1 [sp, 8]", "[8@x1][[sp, 8]]"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		check_split(cases[i].arch, cases[i].args, cases[i].wanted);
}
END_TEST

START_TEST(what_no_assembler_writes_is_unknown)
{
	static const char *const cases[] = {
		"8@%",
		"8@%foo",
		"8@%r16",
		"8@%r08",

		"8@$",
		"8@$x y",
		"8@5",
		"8@(%rax",
		"8@%rax)",
		"8@()",
		"8@((%rax))",
		"8@(%rax,)",
		"8@(%rax,%rbx,)",
		"8@(%rax,%rbx,3)",
		"8@(%rax,%rbx,16)",
		"8@(,)",
		"8@1(2)",
		"8@--1(%rax)",
		"8@1-(%rax)",
		"8@+(%rax)",
		"8@a+b(%rip)",
		"8@1-a(%rip)",
		"8@a@(%rip)",
		"8@%rax,%rbx",
		"8@%rax%rbx",
		"8@$08",
		"8@$0x",
		"8@$1+",
		"8@$1/$0",
		"8@$1%$0",
		"8@$1/($2-$2)",
		"8@(($1)",
		"8@[rax]",
		"8@%xmm0(",
		"8@%st(0",
		"8@%st(0)x",
		"8@%xmm0(1)",
		"4@@%eax",
		"8ff@%rax",
		"-@%rax",
		"@%rax",
		"f@%rax",
		"8-@%rax",
		"--8@%rax",
		"8@\x01",
		"8@%rip(%rip)",
		"8@$18446744073709551616",
		"8@18446744073709551616(%rax)",
		"8@$99999999999999999999999999999999999999999999999999999",
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const struct nw_operand *op = parse_one("x86_64", cases[i]);
		ck_assert_msg(op->kind == NW_OPERAND_UNKNOWN, "%s is of kind %u", cases[i],
			      op->kind);
		ck_assert_msg(strcmp(op->problem, not_grammar) == 0, "%s: %s", cases[i],
			      op->problem);
	}
}
END_TEST

START_TEST(local_labels_are_named_as_such)
{
	const struct nw_operand *op = parse_one("s390x", "8@.L447-.L445(%r13)");

	ck_assert_int_eq(op->kind, NW_OPERAND_UNKNOWN);
	ck_assert_str_eq(op->problem,
			 "local labels of the compiler: they are in no symbol table");
}
END_TEST

START_TEST(forms_of_other_architectures_are_unknown)
{
	static const struct {
		const char *arch, *text;
	} cases[] = {
		{"aarch64", "8@%x0"},
		{"aarch64", "8@8(x0)"},
		{"aarch64", "8@[x0, 8"},
		{"aarch64", "8@[x0 8]"},
		{"aarch64", "8@[x0, x1, asr 2]"},
		{"aarch64", "8@[x0, x1, lsl 5]"},
		{"aarch64", "8@[x0], 8"},
		{"aarch64", "8@[sp, 8]!"},
		{"aarch64", "8@glob"},
		{"arm", "4@5"},
		{"arm", "4@[r0, -r1]"},
		{"arm", "4@[r16]"},
		{"arm", "4@#"},
		{"ppc64le", "8@32"},

		{"ppc64le", "8@9,"},
		{"ppc64le", "8@9,8,7"},
		{"s390x", "8@%r16"},
		{"s390x", "8@0(%r1,%r2,%r3)"},
		{"s390x", "8@8(,)"},
		{"riscv64", "8@0(a8)"},
		{"riscv64", "8@0(s12)"},
		{"riscv64", "8@%lo(x"},
		{"loongarch64", "8@$r32"},
		{"loongarch64", "8@$r4,$r5,2"},
		{"i386", "4@%rax"},
		{"i386", "4@%r8d"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const struct nw_operand *op = parse_one(cases[i].arch, cases[i].text);
		ck_assert_msg(op->kind == NW_OPERAND_UNKNOWN && op->problem,
			      "%s %s is of kind %u", cases[i].arch, cases[i].text,
			      op->kind);
	}
}
END_TEST

START_TEST(sizes_that_cannot_be_have_their_problem)
{
	static const struct {
		const char *text;
		enum nw_operand_kind kind;
		unsigned int size;
		const char *problem;
	} cases[] = {
		{"8@", NW_OPERAND_UNKNOWN, 8, "the operand is missing"},
		{"0@%rax", NW_OPERAND_UNKNOWN, 0, "a size of 0 bytes"},
		{"-0@$1", NW_OPERAND_UNKNOWN, 0, "a size of 0 bytes"},
		{"0f@(%rax)", NW_OPERAND_UNKNOWN, 0, "a size of 0 bytes"},
		{"3@%rax", NW_OPERAND_REGISTER, 3,
		 "a register whose size is not 1, 2, 4 or 8 bytes"},
		{"16@%rax", NW_OPERAND_REGISTER, 16, NULL}, /* half of it is there */
		{"32@%rax", NW_OPERAND_REGISTER, 32,
		 "a register whose size is not 1, 2, 4 or 8 bytes"},
		{"3@$1", NW_OPERAND_CONSTANT, 3,
		 "a constant whose size is not 1, 2, 4 or 8 bytes"},
		{"512@(%rax)", NW_OPERAND_MEMORY, 512, NULL},
		{"513@(%rax)", NW_OPERAND_MEMORY, 513,
		 "larger than the 64 elements an array argument can have"},
		{"999999@x(%rip)", NW_OPERAND_GLOBAL, 999999,
		 "larger than the 64 elements an array argument can have"},
		{"513@(%rax,%rbx)", NW_OPERAND_MEMORY, 513,
		 "base + index * scale: a fetch argument cannot add two registers"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const struct nw_operand *op = parse_one("x86_64", cases[i].text);
		ck_assert_msg(op->kind == cases[i].kind, "%s: kind %u", cases[i].text,
			      op->kind);
		ck_assert_msg(op->size == cases[i].size, "%s: size %u", cases[i].text,
			      op->size);
		ck_assert_pstr_eq(op->problem, cases[i].problem);
	}
}
END_TEST

START_TEST(huge_sizes_do_not_wrap_into_small_ones)
{
	static const char *const cases[] = {"4294967304@%rax", "18446744073709551624@%rax",
					    "99999999999999999999@%rax"};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const struct nw_operand *op = parse_one("x86_64", cases[i]);
		ck_assert_int_eq(op->kind, NW_OPERAND_REGISTER);
		ck_assert_uint_eq(op->size, 999999);
		ck_assert_str_eq(op->problem,
				 "a register whose size is not 1, 2, 4 or 8 bytes");
	}
}
END_TEST

START_TEST(constants_are_cut_to_their_size)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cases[] = {
		{"1@$-56", 200},
		{"-1@$200", (uint64_t)-56},
		{"2@$-25536", 40000},
		{"-2@$0x8000", (uint64_t)-32768},
		{"4@$-1", 0xffffffff},
		{"-4@$-1", UINT64_MAX},
		{"-4@$2147483648", (uint64_t)INT32_MIN},
		{"8@$18446744073709551614", UINT64_MAX - 1},
		{"8@$0x10", 16},
		{"8@$010", 8}, /* octal, as the assembler reads it */
		{"8@$-9223372036854775808", (uint64_t)INT64_MIN},
		{"1@$255+$2", 1},
		{"8@!($0+$1)", 0},
		{"8@!$0", 1},
		{"8@$2+$3*$4", 14},
		{"8@($2+$3)*$4", 20},
		{"8@$10-$3-$2", 5},
		{"8@$100/$7", 14},
		{"8@-$100/$7", (uint64_t)-14},
		{"8@$100%$7", 2},
		{"8@$1<<$4", 16},
		{"8@$1<<$64", 0},
		{"8@-$16>>$2", (uint64_t)-4},
		{"8@$16>>$64", 0},
		{"8@$1<$2", 1},
		{"8@$2<=$2", 1},
		{"8@$1>$2", 0},
		{"8@-$1>=$0", 0},
		{"8@$1==$2", 0},
		{"8@$1!=$2", 1},
		{"8@$6&$3", 2},
		{"8@$6^$3", 5},
		{"8@$6|$3^$3", 6},
		{"8@$6&&$0", 0},
		{"8@$0||$6", 1},
		{"8@+$5", 5},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const struct nw_operand *op = parse_one("x86_64", cases[i].text);
		ck_assert_msg(op->kind == NW_OPERAND_CONSTANT && !op->problem, "%s",
			      cases[i].text);
		ck_assert_msg(op->value == cases[i].value, "%s is %lx", cases[i].text,
			      op->value);
	}
}
END_TEST

START_TEST(rare_spellings_mean_what_assemblers_mean)
{
	static const struct {
		const char *arch, *text;
		enum nw_operand_kind kind;
		const char *reg, *index, *symbol;
		unsigned int scale;
		int64_t offset;
	} cases[] = {
		{"x86_64", "8@+16(%rax)", NW_OPERAND_MEMORY, "ax", "", "", 0, 16},
		{"x86_64", "8@0x10(%rax)", NW_OPERAND_MEMORY, "ax", "", "", 0, 16},
		{"x86_64", "8@-4+16-16(%rbp)", NW_OPERAND_MEMORY, "bp", "", "", 0, -4},
		{"x86_64", "8@9223372036854775807(%rax)", NW_OPERAND_MEMORY, "ax", "", "",
		 0, INT64_MAX},
		{"x86_64", "8@(,%rdi,1)", NW_OPERAND_MEMORY, "di", "", "", 0, 0},
		{"x86_64", "8@$sym-4", NW_OPERAND_CONSTANT, "", "", "sym", 0, -4},
		{"x86_64", "8@8+sym-2(%rip)", NW_OPERAND_GLOBAL, "", "", "sym", 0, 6},
		{"aarch64", "8@[x30,-40]", NW_OPERAND_MEMORY, "x30", "", "", 0, -40},
		{"aarch64", "8@[x0, w1, sxtw 2]", NW_OPERAND_MEMORY, "x0", "x1", "", 4, 0},
		{"aarch64", "8@[x0, x1, lsl 3]", NW_OPERAND_MEMORY, "x0", "x1", "", 8, 0},
		{"aarch64", "8@[x0, w1, uxtw]", NW_OPERAND_MEMORY, "x0", "x1", "", 1, 0},
		{"aarch64", "8@#-5", NW_OPERAND_CONSTANT, "", "", "", 0, 0},
		{"aarch64", "8@xzr", NW_OPERAND_CONSTANT, "", "", "", 0, 0},
		{"aarch64", "4@w3", NW_OPERAND_REGISTER, "x3", "", "", 0, 0},
		{"arm", "4@[r15, #8]", NW_OPERAND_MEMORY, "pc", "", "", 0, 8},
		{"arm", "4@sl", NW_OPERAND_REGISTER, "r10", "", "", 0, 0},
		{"ppc64le", "8@%r17", NW_OPERAND_REGISTER, "gpr17", "", "", 0, 0},
		{"ppc64le", "-4@0", NW_OPERAND_REGISTER, "gpr0", "", "", 0, 0},
		/* s390: index first, base second; either may be left out, or be %r0: none */
		{"s390x", "8@16(%r3,%r1)", NW_OPERAND_MEMORY, "r1", "r3", "", 1, 16},
		{"s390x", "8@16(,%r5)", NW_OPERAND_MEMORY, "r5", "", "", 0, 16},
		{"s390x", "8@16(%r0,%r5)", NW_OPERAND_MEMORY, "r5", "", "", 0, 16},
		{"s390x", "8@16(%r5,%r0)", NW_OPERAND_MEMORY, "r5", "", "", 0, 16},
		{"riscv64", "8@fp", NW_OPERAND_REGISTER, "s0", "", "", 0, 0},
		{"riscv64", "8@x10", NW_OPERAND_REGISTER, "a0", "", "", 0, 0},
		{"riscv64", "8@zero", NW_OPERAND_CONSTANT, "", "", "", 0, 0},
		{"riscv64", "8@%lo(sym+4)(a5)", NW_OPERAND_GLOBAL, "", "", "sym", 0, 4},
		{"loongarch64", "8@$a0,16", NW_OPERAND_MEMORY, "r4", "", "", 0, 16},
		{"loongarch64", "8@[$r22,-20]", NW_OPERAND_MEMORY, "r22", "", "", 0, -20},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const struct nw_operand *op = parse_one(cases[i].arch, cases[i].text);
		const char *text = cases[i].text;
		ck_assert_msg(op->kind == cases[i].kind, "%s: kind %u", text, op->kind);
		ck_assert_msg(strcmp(op->reg, cases[i].reg) == 0, "%s: %s", text, op->reg);
		ck_assert_msg(strcmp(op->index, cases[i].index) == 0, "%s: %s", text,
			      op->index);
		ck_assert_msg(op->scale == cases[i].scale, "%s: * %u", text, op->scale);
		ck_assert_msg(op->offset == cases[i].offset, "%s: %ld", text, op->offset);
		ck_assert_uint_eq(op->symbol_len, strlen(cases[i].symbol));
		ck_assert_mem_eq(op->symbol ? op->symbol : "", cases[i].symbol,
				 op->symbol_len);
	}
}
END_TEST

START_TEST(absolute_addresses_have_a_problem)
{
	static const struct {
		const char *arch, *text;
	} cases[] = {
		{"riscv64", "8@8(zero)"}, {"s390x", "8@8(%r0)"}, {"s390x", "8@8(%r0,%r0)"}};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const struct nw_operand *op = parse_one(cases[i].arch, cases[i].text);
		ck_assert_int_eq(op->kind, NW_OPERAND_MEMORY);
		ck_assert_str_eq(op->reg, "");
		ck_assert_pstr_eq(op->problem,
				  "an absolute address: not the same in every process");
	}
}
END_TEST

UNIT_MAIN("operand text", strings_are_cut_before_the_next_size,
	  what_no_assembler_writes_is_unknown, local_labels_are_named_as_such,
	  forms_of_other_architectures_are_unknown, sizes_that_cannot_be_have_their_problem,
	  huge_sizes_do_not_wrap_into_small_ones, constants_are_cut_to_their_size,
	  rare_spellings_mean_what_assemblers_mean, absolute_addresses_have_a_problem)
