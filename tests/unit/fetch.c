// SPDX-License-Identifier: MIT
/*
 * From operands to fetch arguments: what is fetched for every architecture, as notes
 * have the values, without types of the user's.
 */
#include "fetch_text.h"

#define CHECK(list) fetch_check_all((list), NW_COUNT(list), false, &nw_caps_all)

static const char float_register[] =
	"!a floating-point or vector register: ftrace can only read general registers";
static const char element_here[] =
	"!base + index * scale: a fetch argument cannot add two registers (stat, trace and record can, where `nopwatch features` has elements)";
static const char two_registers[] =
	"!base + index * scale: a fetch argument cannot add two registers";
static const char tls[] = "!thread-local storage: ftrace cannot read the thread pointer";

START_TEST(registers_are_cut_to_their_size)
{
	static const struct fetch_case list[] = {
		{"x86_64", "8@%rdi", "", "%di:u64 u64"},
		{"x86_64", "-8@%r12", "", "%r12:s64 s64"},
		{"i386", "1@%sil", "", "%si:u8 u8"},
		{"i386", "-1@%dil", "", "%di:s8 s8"},
		{"x86_64", "-4@%r14d", "", "%r14:s32 s32"},
		{"x86_64", "2@%cx", "", "%cx:u16 u16"},
		{"x86_64", "1@%sil", "", "%si:u8 u8"},
		{"x86_64", "-1@%dl", "", "%dx:s8 s8"},
		/* the size counts, not the width of the name */
		{"x86_64", "4@%cx", "", "%cx:u32 u32"},
		{"i386", "1@%ebx", "", "%bx:u8 u8"},
		{"x86_64", "%ax", "", "%ax:u16 u16"},
		{"x86_64", "8@%rip", "", "%ip:u64 u64"},
		{"x32", "4@%edi", "", "%di:u32 u32"},
		{"aarch64", "8@x30", "", "%x30:u64 u64"},
		{"aarch64", "-4@w3", "", "%x3:s32 s32"},
		{"arm", "4@r11", "", "%fp:u32 u32"},
		{"ppc64le", "-4@9", "", "%gpr9:s32 s32"},
		{"ppc64le", "8@%r17", "", "%gpr17:u64 u64"},
		{"s390x", "4@%r2", "", "%r2:u32 u32"},
		{"riscv64", "8@a0", "", "%a0:u64 u64"},
		{"riscv64", "2@fp", "", "%s0:u16 u16"},
		{"loongarch64", "-8@$r4", "", "%r4:s64 s64"},
	};

	CHECK(list);
}
END_TEST

START_TEST(high_bytes_are_bitfields_whose_sign_is_restored)
{
	static const struct fetch_case list[] = {
		{"x86_64", "1@%ah", "", "%ax:b8@8/16 u16>u8"},
		{"x86_64", "-1@%dh", "", "%dx:b8@8/16 u16>s8 sign 8"},
		{"i386", "1@%bh", "", "%bx:b8@8/16 u16>u8"},
		{"x86_64", "1@%ah", "x8", "%ax:b8@8/16 u16>x8"},
		{"x86_64", "1@%ah", "s8", "%ax:b8@8/16 u16>s8 sign 8"},
		{"x86_64", "-1@%ah", "u8", "%ax:b8@8/16 u16>u8"},
		/* shown wider than it is, it keeps the note's sign */
		{"x86_64", "1@%ah", "s32", "%ax:b8@8/16 u16>s32"},
		{"x86_64", "-1@%ah", "s32", "%ax:b8@8/16 u16>s32 sign 8"},
		{"x86_64", "-1@%ah", "u64", "%ax:b8@8/16 u16>u64 sign 8"},
	};

	CHECK(list);
}
END_TEST

START_TEST(memory_is_read_at_its_displacement)
{
	static const struct fetch_case list[] = {
		{"x86_64", "8@16(%rsp)", "", "+16(%sp):u64 u64"},
		{"x86_64", "-4@-20(%rbp)", "", "-20(%bp):s32 s32"},
		{"x86_64", "8@(%rax)", "", "+0(%ax):u64 u64"},
		{"x86_64", "8@9223372036854775807(%rax)", "",
		 "+9223372036854775807(%ax):u64 u64"},
		{"x86_64", "8@-9223372036854775808(%rax)", "",
		 "-9223372036854775808(%ax):u64 u64"},
		{"x86_64", "-4@sym+4(%rax)", "", "+4206608(%ax):s32 s32"},
		{"aarch64", "8@[sp, 8]", "", "+8(%sp):u64 u64"},
		{"arm", "4@[fp, #-12]", "", "-12(%fp):u32 u32"},
		{"ppc64le", "-4@8(1)", "", "+8(%gpr1):s32 s32"},
		{"s390x", "4@164(%r15)", "", "+164(%r15):u32 u32"},
		{"riscv64", "-8@-88(s0)", "", "-88(%s0):s64 s64"},
		{"loongarch64", "-4@$r22,-20", "", "-20(%r22):s32 s32"},
	};

	CHECK(list);
}
END_TEST

START_TEST(globals_are_read_relative_to_the_site)
{
	static const struct fetch_case list[] = {
		{"x86_64", "4@sym(%rip)", "", "+8204(%ip):u32 u32"},
		{"x86_64", "-8@sym+8(%rip)", "", "+8212(%ip):s64 s64"},
		{"x86_64", "-8@8+sym(%rip)", "", "+8212(%ip):s64 s64"},
		{"x86_64", "4@-8204+sym(%rip)", "", "+0(%ip):u32 u32"},
		{"x86_64", "4@sym-8300(%rip)", "", "-96(%ip):u32 u32"},
		{"x86_64", "4@sym", "", "+8204(%ip):u32 u32"},
		{"i386", "-4@40+sym@GOTOFF(%ebx)", "", "+8244(%ip):s32 s32"},
		{"aarch64", "8@[x21, #:lo12:sym]", "", "+8204(%pc):u64 u64"},
		{"ppc64le", "-4@sym+4@toc@l(8)", "", "+8208(%nip):s32 s32"},
		{"ppc", "-4@sym@l(8)", "", "+8204(%nip):s32 s32"},
		{"riscv64", "4@%lo(sym)(a5)", "", "+8204(%epc):u32 u32"},
		{"loongarch64", "4@$r12,%pc_lo12(sym)", "", "+8204(%csr_era):u32 u32"},
		{"s390x", "4@sym", "",
		 "!a global: the kernel of this architecture cannot name the program "
		 "counter "
		 "it would be relative to"},
		/* the content of the GOT slot is the address that is wanted */
		{"x86_64", "8@sym@GOTPCREL(%rip)", "", "+8204(%ip):u64 u64"},
		{"x86_64", "8@sym@GOTPCREL(%rip)", "string",
		 "+0(+8204(%ip)):string string"},
		{"i386", "4@sym@GOT(%ebx)", "", "+8204(%ip):u32 u32"},
	};

	CHECK(list);
}
END_TEST

START_TEST(constants_are_not_fetched)
{
	static const struct fetch_case list[] = {
		{"x86_64", "-4@$5", "", "=0x5 s32"},
		{"x86_64", "1@$-56", "", "=0xc8 u8"},
		{"x86_64", "4@$-1", "", "=0xffffffff u32"},
		{"x86_64", "-4@$-1", "", "=0xffffffffffffffff s32"},
		{"x86_64", "8@$18446744073709551614", "", "=0xfffffffffffffffe u64"},
		{"x86_64", "8@$sym+4", "", "=0x403010 u64"},
		{"arm", "4@sym", "", "=0x40300c u32"},
		{"arm", "8f@#1.5e+0", "", "=0x3ff8000000000000 f64"},
		{"arm", "4f@#2.5e+0", "", "=0x40200000 f32"},
		{"aarch64", "8@xzr", "", "=0x0 u64"},
		{"riscv64", "-2@-300", "", "=0xfffffffffffffed4 s16"},
		{"ppc64le", "-8@i-693", "", "=0xfffffffffffffd4b s64"},
	};

	CHECK(list);
}
END_TEST

START_TEST(pairs_of_registers_are_fetched_half_by_half)
{
	static const struct fetch_case little[] = {
		{"i386", "8@%ecx", "", "%cx:u32 %bx:u32 u32>u64"},
		{"i386", "-8@%eax", "", "%ax:u32 %dx:u32 u32>s64"},
		{"i386", "8f@%edx", "", "%dx:u32 %cx:u32 u32>f64"},
		{"arm", "8@r4", "", "%r4:u32 %r5:u32 u32>u64"},
		{"i386", "8@%ebp", "",
		 "!8 bytes in two registers, the second of which the note does not name"},
	};
	static const struct fetch_case big[] = {
		{"arm", "8@r4", "", "%r5:u32 %r4:u32 u32>u64"},
		{"ppc", "-8@9", "", "%gpr10:u32 %gpr9:u32 u32>s64"},
	};

	CHECK(little);
	fetch_check_all(big, NW_COUNT(big), true, &nw_caps_all);
}
END_TEST

START_TEST(structures_by_value_are_arrays)
{
	static const char many[] = "!a structure by value of more than 64 elements";
	static const struct fetch_case list[] = {
		{"x86_64", "16@16(%rsp)", "", "+16(%sp):x64[2] x64[2]"},
		{"x86_64", "24@-64(%rbp)", "", "-64(%bp):x64[3] x64[3]"},
		{"x86_64", "12@(%rax)", "", "+0(%ax):x32[3] x32[3]"},
		{"x86_64", "6@(%rax)", "", "+0(%ax):x16[3] x16[3]"},
		{"x86_64", "3@13(%rsp)", "", "+13(%sp):x8[3] x8[3]"},
		{"x86_64", "512@(%rax)", "", "+0(%ax):x64[64] x64[64]"},
		{"x86_64", "63@(%rax)", "", "+0(%ax):x8[63] x8[63]"},
		{"x86_64", "65@(%rax)", "", many},
		{"x86_64", "130@(%rax)", "", many},
		{"x86_64", "504@(%rax)", "", "+0(%ax):x64[63] x64[63]"},
		{"x86_64", "511@(%rax)", "", many},
		{"x86_64", "520@(%rax)", "",
		 "!larger than the 64 elements an array argument can have"},
		{"x86_64", "16@sym(%rip)", "", "+8204(%ip):x64[2] x64[2]"},
		{"x86_64", "16f@16(%rsp)", "", "+16(%sp):x64[2] x64[2]"}, /* long double */
		{"s390x", "16@160(%r15)", "", "+160(%r15):x64[2] x64[2]"},
	};

	CHECK(list);
	fetch_check_all(list, NW_COUNT(list), true, &nw_caps_all);
}
END_TEST

START_TEST(floating_point_values_are_raw_bits)
{
	static const struct fetch_case list[] = {
		{"x86_64", "8f@%rax", "", "%ax:x64 f64"},
		{"x86_64", "4f@%eax", "", "%ax:x32 f32"},
		{"x86_64", "8f@-12(%rbp)", "", "-12(%bp):x64 f64"},
		{"x86_64", "4f@sym(%rip)", "", "+8204(%ip):x32 f32"},
		{"s390x", "8f@%r2", "", "%r2:x64 f64"},
		{"ppc64", "4f@0(9)", "", "+0(%gpr9):x32 f32"},
		{"x86_64", "2f@%ax", "", "%ax:u16 u16"},
	};

	CHECK(list);
}
END_TEST

/* base + index * scale: what is at the base, and the index. */
START_TEST(an_index_is_fetched_beside_the_elements_at_its_base)
{
	static const struct fetch_case list[] = {
		{"x86_64", "-4@-4(%rdx,%rcx,4)", "", "-4(%dx):s32[64] %cx:s64 s32[64]>s32"},
		{"x86_64", "8@(%rax,%rbx,8)", "", "+0(%ax):u64[64] %bx:s64 u64[64]>u64"},
		{"x86_64", "8@(%rax,%rbx,8)", "x32", "+0(%ax):u64[64] %bx:s64 u64[64]>x32"},
		{"x86_64", "4f@(%rax,%rbx,4)", "", "+0(%ax):x32[64] %bx:s64 f32[64]>f32"},
		{"i386", "4@(%eax,%ebx,4)", "", "+0(%ax):u32[64] %bx:s32 u32[64]>u32"},
		{"aarch64", "8@[x0, x1]", "", "+0(%x0):u64[64] %x1:s64 u64[64]>u64"},
		{"aarch64", "-4@[x0, w1, sxtw 2]", "",
		 "+0(%x0):s32[64] %x1:s32 s32[64]>s32"},
		{"aarch64", "-4@[x0, w1, uxtw 2]", "",
		 "+0(%x0):s32[64] %x1:u32 s32[64]>s32"},
		{"ppc64le", "8@9,8", "", "+0(%gpr9):u64[64] %gpr8:s64 u64[64]>u64"},
		{"s390x", "8@0(%r3,%r1)", "", "+0(%r1):u64[64] %r3:s64 u64[64]>u64"},
		/* elements of a global array */
		{"x86_64", "-4@nums(,%rdi,4)", "",
		 "+8204(%ip):s32[64] %di:s64 s32[64]>s32"},
		{"x86_64", "-2@nums+2(%rsi,%rsi)", "",
		 "+8206(%ip):s16[64] %si:s64 s16[64]>s16"},
		{"i386", "-4@nums@GOTOFF(%edx,%ebx,4)", "",
		 "+8204(%ip):s32[64] %bx:s32 s32[64]>s32"},
		{"x86_64", "-4@nums(%rdi,%rsi,4)", "",
		 "+4206604(%di):s32[64] %si:s64 s32[64]>s32"},
		/* where that is of no use */
		{"x86_64", "8@(%rax,%rbx,8)", "string", element_here},
		{"x86_64", "8@(%rax,%rbx,8)", "u8[4]", two_registers},
		{"x86_64", "16@(%rax,%rbx,8)", "", two_registers},
		{"x86_64", "8@%fs:(%rax,%rbx,8)", "", tls},
		{"i386", "4@nums@GOT(%ebx,%eax,4)", "", two_registers},
		/* nothing is added */
		{"x86_64", "8@16(%rax,%rbx,0)", "", "+16(%ax):u64 u64"},
	};
	struct nw_caps old = nw_caps_all;

	CHECK(list);
	old.arrays = false;
	static const struct fetch_case without[] = {
		{"x86_64", "8@(%rax,%rbx,8)", "", element_here}};
	fetch_check_all(without, NW_COUNT(without), false, &old);
}
END_TEST

START_TEST(half_of_a_value_of_two_registers_is_marked)
{
	const struct nw_operand op = fetch_operand("x86_64", "16@%rax");
	const struct nw_type any = {0};
	struct nw_fetch fetch;

	nw_fetch_make(&op, &any, nw_arch_by_name("x86_64"), false, FETCH_SITE, &nw_caps_all,
		      &fetch);
	ck_assert_str_eq(fetch.text, "%ax:u64");
	ck_assert_ptr_null(fetch.problem);
	ck_assert_ptr_nonnull(strstr(fetch.remark, "low half"));
}
END_TEST

START_TEST(what_cannot_be_fetched_has_its_problem)
{
	static const struct fetch_case list[] = {
		{"x86_64", "8@%xmm0", "", float_register},
		{"x86_64", "8@%st(0)", "", float_register},
		{"aarch64", "-8@v0", "", float_register},
		{"s390x", "8@%f0", "", float_register},
		{"x86_64", "-4@(,%rdi,4)", "", two_registers},
		{"x86_64", "-4@%fs:sym@tpoff", "", tls},
		{"riscv64", "-4@%tprel_lo(sym)(a5)", "", tls},
		{"x86_64", "8@nonsense nonsense", "",
		 "!not an operand of this architecture's grammar"},
		{"x86_64", "8@", "", "!the operand is missing"},
		{"x86_64", "0@%rax", "", "!a size of 0 bytes"},
		{"x86_64", "3@%rax", "",
		 "!a register whose size is not 1, 2, 4 or 8 bytes"},
		{"x86_64", "3@$1", "", "!a constant whose size is not 1, 2, 4 or 8 bytes"},
	};

	CHECK(list);
}
END_TEST

START_TEST(a_symbol_that_was_not_looked_up_is_a_problem)
{
	struct nw_type plain = {0};
	struct nw_fetch fetch;
	static const char *const texts[] = {"4@sym(%rip)", "8@$sym", "4@sym(%rax)",
					    "8@sym@GOTPCREL(%rip)"};

	for (size_t i = 0; i < NW_COUNT(texts); i++) {
		struct nw_operand op = fetch_operand("x86_64", texts[i]);
		op.resolved = false;
		nw_fetch_make(&op, &plain, nw_arch_by_name("x86_64"), false, 0,
			      &nw_caps_all, &fetch);
		ck_assert_str_eq(fetch.problem, "its symbol has not been looked up");
		ck_assert_str_eq(fetch.text, "");
		op.problem = "a reason of its own";
		nw_fetch_make(&op, &plain, nw_arch_by_name("x86_64"), false, 0,
			      &nw_caps_all, &fetch);
		ck_assert_str_eq(fetch.problem, "a reason of its own");
		ck_assert_str_eq(fetch.text, "");
	}
}
END_TEST

UNIT_MAIN("fetch", registers_are_cut_to_their_size,
	  high_bytes_are_bitfields_whose_sign_is_restored,
	  memory_is_read_at_its_displacement, globals_are_read_relative_to_the_site,
	  constants_are_not_fetched, pairs_of_registers_are_fetched_half_by_half,
	  structures_by_value_are_arrays, floating_point_values_are_raw_bits,
	  an_index_is_fetched_beside_the_elements_at_its_base,
	  half_of_a_value_of_two_registers_is_marked,
	  what_cannot_be_fetched_has_its_problem,
	  a_symbol_that_was_not_looked_up_is_a_problem)
