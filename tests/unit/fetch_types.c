// SPDX-License-Identifier: MIT
/* Fetch arguments with types of the user's, on kernels that lack something, big and small ends. */
#include "fetch_text.h"

#define CHECK(list) fetch_check_all((list), NW_COUNT(list), false, &nw_caps_all)

START_TEST(types_of_the_user_cut_and_show)
{
	static const struct fetch_case list[] = {
		{"x86_64", "-4@%edi", "u16", "%di:u16 u16"},
		{"x86_64", "-4@%edi", "x32", "%di:x32 x32"},
		{"x86_64", "-4@%edi", "u32", "%di:u32 u32"},
		{"x86_64", "8@%rdi", "s8", "%di:s8 s8"},
		{"x86_64", "8@16(%rsp)", "x16", "+16(%sp):x16 x16"},
		/* a value is not fetched wider than it is, and keeps the note's sign */
		{"x86_64", "-4@%edi", "u64", "%di:s32 s32>u64"},
		{"x86_64", "-4@%edi", "s64", "%di:s32 s32>s64"},
		{"x86_64", "4@%edi", "s64", "%di:u32 u32>s64"},
		{"x86_64", "4@%edi", "x64", "%di:u32 u32>x64"},
		{"x86_64", "-1@-57(%rbp)", "u32", "-57(%bp):s8 s8>u32"},
		{"x86_64", "8@sym@GOTPCREL(%rip)", "x64", "+8204(%ip):x64 x64"},
		{"i386", "8@%ecx", "x64", "%cx:u32 %bx:u32 u32>x64"},
		{"i386", "-8@%ecx", "u32", "%cx:u32 %bx:u32 u32"},
	};

	CHECK(list);
}
END_TEST

START_TEST(strings_and_arrays_are_what_a_pointer_points_at)
{
	static const struct fetch_case list[] = {
		{"x86_64", "8@%rdi", "string", "+0(%di):string string"},
		{"x86_64", "-8@%rdi", "string", "+0(%di):string string"},
		{"x86_64", "8@16(%rsp)", "string", "+0(+16(%sp)):string string"},
		{"x86_64", "8@sym(%rip)", "string", "+0(+8204(%ip)):string string"},
		{"x86_64", "8@%rdi", "u8[16]", "+0(%di):u8[16] u8[16]"},
		{"x86_64", "8@%rdi", "char[16]", "+0(%di):u8[16] char[16]"},
		{"x86_64", "8@%rdi", "s32[64]", "+0(%di):s32[64] s32[64]"},
		{"x86_64", "8@%rdi", "f64[2]", "+0(%di):x64[2] f64[2]"},
		{"x86_64", "8@%rdi", "string[4]", "+0(%di):string[4] string[4]"},
		/* behind a nested dereference, a fault leaves what was there before */
		{"x86_64", "8@16(%rsp)", "x8[4]", "+0(+16(%sp)):x8[4] x8[4] untrusted"},
		{"x86_64", "8@sym(%rip)", "u64[2]",
		 "+0(+8204(%ip)):u64[2] u64[2] untrusted"},
		{"i386", "4@4(%esp)", "string", "+0(+4(%sp)):string string"},
		{"aarch64", "8@[sp, 8]", "string", "+0(+8(%sp)):string string"},
		{"ppc64le", "8@9", "string", "+0(%gpr9):string string"},
		{"x86_64", "-4@$5", "string", "!a constant: it points nowhere"},
		{"x86_64", "-4@$5", "u8[4]", "!a constant: it points nowhere"},
		{"x86_64", "1@%al", "string", "!too small to be a pointer"},
		{"x86_64", "1@%ah", "string", "!too small to be a pointer"},
		{"x86_64", "2@8(%rsp)", "u8[4]", "!too small to be a pointer"},
	};

	CHECK(list);
}
END_TEST

START_TEST(a_structure_by_value_is_no_pointer)
{
	static const char smaller[] = "!larger than what it is read from";
	static const struct fetch_case list[] = {
		{"x86_64", "16@16(%rsp)", "u8[16]", "+16(%sp):u8[16] u8[16]"},
		{"x86_64", "16@16(%rsp)", "s32[2]", "+16(%sp):s32[2] s32[2]"},
		{"x86_64", "16@sym(%rip)", "f64[2]", "+8204(%ip):x64[2] f64[2]"},
		{"x86_64", "16@16(%rsp)", "char[16]", "+16(%sp):u8[16] char[16]"},
		{"x86_64", "16@16(%rsp)", "char[17]", smaller},
		{"x86_64", "3@(%rax)", "u8[3]", "+0(%ax):u8[3] u8[3]"},
		{"x86_64", "65@(%rax)", "u8[64]", "+0(%ax):u8[64] u8[64]"},
		{"x86_64", "16@16(%rsp)", "u8[17]", smaller},
		{"x86_64", "16@16(%rsp)", "u64[3]", smaller},
		{"x86_64", "16@16(%rsp)", "string",
		 "!a structure by value is neither a number nor a pointer"},
		{"x86_64", "16@16(%rsp)", "string[2]",
		 "!a structure by value is neither a number nor a pointer"},
		{"x86_64", "16@16(%rsp)", "u64",
		 "!a structure by value is neither a number nor a pointer"},
		{"x86_64", "16f@16(%rsp)", "f64",
		 "!a structure by value is neither a number nor a pointer"},
	};

	CHECK(list);
	fetch_check_all(list, NW_COUNT(list), true, &nw_caps_all); /* nothing is cut off */
}
END_TEST

START_TEST(floating_point_types_have_the_width_of_the_value)
{
	static const char width[] = "!a floating-point value has 4 or 8 bytes";
	static const struct fetch_case list[] = {
		{"x86_64", "8@%rdi", "f64", "%di:x64 f64"},
		{"x86_64", "8@%rdi", "f32", "%di:x32 f32"},
		{"x86_64", "4@%edi", "f32", "%di:x32 f32"},
		/* there are no more bits than these */
		{"x86_64", "4@%edi", "f64", "%di:x32 f32"},
		{"x86_64", "4f@%eax", "f64", "%ax:x32 f32"},
		/* half a double is no float */
		{"x86_64", "8f@%rax", "f32", "%ax:x64 f64"},
		{"x86_64", "1@%al", "f32", width},
		{"x86_64", "2@%ax", "f64", width},
		{"x86_64", "1@%ah", "f32", width},
		{"x86_64", "1@$1", "f32", width},
		{"x86_64", "4@$1065353216", "f32", "=0x3f800000 f32"},
		{"x86_64", "4@$1065353216", "f64", "=0x3f800000 f32"},
		{"arm", "8f@#1.5e+0", "f32", "=0x3ff8000000000000 f64"},
		{"i386", "8f@%edx", "f64", "%dx:u32 %cx:u32 u32>f64"},
		/* other types show the bits */
		{"x86_64", "8f@%rax", "x64", "%ax:x64 x64"},
		{"x86_64", "8f@%rax", "u32", "%ax:u32 u32"},
	};

	CHECK(list);
}
END_TEST

START_TEST(constants_are_cut_to_the_type_of_the_user)
{
	static const struct fetch_case list[] = {
		{"x86_64", "-4@$-1", "u8", "=0xff u8"},
		{"x86_64", "-4@$-1", "x32", "=0xffffffff x32"},
		{"x86_64", "-4@$-1", "u64", "=0xffffffffffffffff u64"},
		{"x86_64", "4@$-1", "u64", "=0xffffffff u64"},
		{"x86_64", "4@$-1", "s64", "=0xffffffff s64"},
		{"x86_64", "4@$200", "s8", "=0xc8 s8 sign 8"},
		{"x86_64", "1@$200", "s8", "=0xc8 s8 sign 8"},
		{"x86_64", "8@$0x12345678", "u16", "=0x5678 u16"},
	};

	CHECK(list);
}
END_TEST

/* The bytes that count are the last ones in memory, but not in a register. */
START_TEST(big_ends_are_cut_from_the_other_side)
{
	static const struct fetch_case big[] = {
		{"ppc64", "8@8(1)", "u16", "+14(%gpr1):u16 u16"},
		{"ppc64", "8@8(1)", "u64", "+8(%gpr1):u64 u64"},
		{"s390x", "8@164(%r15)", "u8", "+171(%r15):u8 u8"},
		{"s390x", "4@164(%r15)", "s16", "+166(%r15):s16 s16"},
		{"s390x", "8@9223372036854775807(%r15)", "u8",
		 "-9223372036854775802(%r15):u8 u8"},
		{"s390x", "4@164(%r15)", "u64", "+164(%r15):u32 u32>u64"},
		{"ppc", "4@-4(1)", "u8", "-1(%gpr1):u8 u8"},
		{"ppc", "4@-3(1)", "u8", "+0(%gpr1):u8 u8"},
		{"ppc", "4@-2(1)", "u8", "+1(%gpr1):u8 u8"},
		{"s390x", "8@%r2", "u16", "%r2:u16 u16"},
		{"aarch64", "8@[sp, 8]", "u32", "+12(%sp):u32 u32"},
		{"aarch64", "8@x0", "u8", "%x0:u8 u8"},
		{"ppc64", "8@sym@l(9)", "u32", "+8208(%nip):u32 u32"},
		{"ppc64", "8@sym@got@l(9)", "u32", "+8208(%nip):u32 u32"},
		{"ppc64", "8@8(1)", "f32", "+12(%gpr1):x32 f32"},
		/* pointers are not cut */
		{"s390x", "8@164(%r15)", "string", "+0(+164(%r15)):string string"},
		{"s390x", "8@164(%r15)", "u8[2]", "+0(+164(%r15)):u8[2] u8[2] untrusted"},
	};

	fetch_check_all(big, NW_COUNT(big), true, &nw_caps_all);
}
END_TEST

START_TEST(old_kernels_get_what_they_know)
{
	static const struct nw_caps none = {.memory = true};
	static const struct fetch_case list[] = {
		{"x86_64", "8@%rdi", "", "%di:u64 u64"},
		{"x86_64", "4@%edi", "x32", "%di:u32 x32"},
		{"x86_64", "4@%edi", "x64", "%di:u32 u32>x64"},
		{"x86_64", "8f@%rax", "", "%ax:u64 f64"},
		{"x86_64", "1@%ah", "", "%ax:b8@8/16 u16>u8"},
		{"x86_64", "8@%rdi", "string", "+0(%di):string string"},
		{"x86_64", "8@%rdi", "u8[16]", "!arrays need a kernel of 4.20 or later"},
		{"x86_64", "16@16(%rsp)", "",
		 "!a structure by value: arrays need a kernel of 4.20 or later"},
		{"x86_64", "16@16(%rsp)", "u8[16]",
		 "!a structure by value: arrays need a kernel of 4.20 or later"},
		{"x86_64", "8@sym(%rip)", "", "+8204(%ip):u64 u64"},
	};
	static const struct nw_caps arrays = {.memory = true, .arrays = true};
	static const struct fetch_case with_arrays[] = {
		{"x86_64", "16@16(%rsp)", "", "+16(%sp):u64[2] x64[2]"},
		{"x86_64", "8@%rdi", "x8[2]", "+0(%di):u8[2] x8[2]"},
	};
	static const struct nw_caps hex = {.memory = true, .hex = true};
	static const struct fetch_case with_hex[] = {
		{"x86_64", "4@%edi", "x32", "%di:x32 x32"},
		{"x86_64", "8f@%rax", "", "%ax:x64 f64"},
	};

	static const struct nw_caps registers = {.hex = true, .arrays = true};
	static const struct fetch_case without_memory[] = {
		{"x86_64", "8@%rdi", "", "%di:u64 u64"},
		{"x86_64", "1@%ah", "", "%ax:b8@8/16 u16>u8"},
		{"x86_64", "4@$7", "", "=0x7 u32"},
#define IN_MEMORY "!it is in memory: this kernel's probes only read registers (before 3.14)"
		{"x86_64", "8@%rdi", "string", IN_MEMORY},
		{"x86_64", "8@%rdi", "u8[16]", IN_MEMORY},
		{"x86_64", "8@16(%rsp)", "", IN_MEMORY},
		{"x86_64", "16@16(%rsp)", "", IN_MEMORY},
		{"x86_64", "8@sym(%rip)", "", IN_MEMORY},
	};

	fetch_check_all(list, NW_COUNT(list), false, &none);
	fetch_check_all(without_memory, NW_COUNT(without_memory), false, &registers);
	fetch_check_all(with_arrays, NW_COUNT(with_arrays), false, &arrays);
	fetch_check_all(with_hex, NW_COUNT(with_hex), false, &hex);
}
END_TEST

START_TEST(pointers_of_32_bits_in_memory_are_not_for_64_bit_kernels)
{
	static const struct nw_caps caps = {
		.memory = true, .hex = true, .arrays = true, .long64 = true};
	static const char wide[] = "!a pointer in memory: 64-bit kernels read 8 bytes of "
				   "it, and a 32-bit program has 4";
	static const struct fetch_case list[] = {
		{"i386", "4@4(%esp)", "string", wide},
		{"i386", "4@4(%esp)", "u8[4]", wide},
		{"i386", "4@%ecx", "string[4]", wide},
		{"arm", "4@[sp, #8]", "string", wide},
		{"i386", "4@4(%esp)", "", "+4(%sp):u32 u32"},
		{"i386", "4@%ecx", "string", "+0(%cx):string string"},
		{"i386", "4@%ecx", "u8[4]", "+0(%cx):u8[4] u8[4]"},
		{"x86_64", "8@16(%rsp)", "string", "+0(+16(%sp)):string string"},
		{"x86_64", "8@%rdi", "string[4]", "+0(%di):string[4] string[4]"},
	};

	fetch_check_all(list, NW_COUNT(list), false, &caps);
}
END_TEST

START_TEST(types_have_their_spelling)
{
	static const struct {
		struct nw_type type;
		const char *text;
	} cases[] = {
		{{NW_TYPE_UNSIGNED, 8, 0}, "u8"},
		{{NW_TYPE_SIGNED, 64, 0}, "s64"},
		{{NW_TYPE_HEX, 32, 64}, "x32[64]"},
		{{NW_TYPE_FLOAT, 64, 0}, "f64"},
		{{NW_TYPE_STRING, 0, 0}, "string"},
		{{NW_TYPE_STRING, 0, 64}, "string[64]"},
		{{NW_TYPE_UNSIGNED, 16, 1}, "u16[1]"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		char text[16];
		nw_type_text(&cases[i].type, text);
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

/* ---- whatever the operand, type and kernel ------------------------------------------- */

static void check_type_can_be_read_back(const struct nw_type *type)
{
	struct nw_type again;
	char text[16];

	if (type->base == NW_TYPE_DEFAULT)
		return;
	nw_type_text(type, text);
	ck_assert_msg(nw_type_parse(text, strlen(text), &again) == 0, "'%s'", text);
	ck_assert(again.base == type->base && again.bits == type->bits &&
		  again.array == type->array);
}

static void check_any(const char *arch, const char *text, const char *type_name,
		      unsigned int flags)
{
	struct nw_caps caps = {.hex = flags & 1, .arrays = flags & 2, .memory = true};
	struct nw_operand op = fetch_operand(arch, text);
	struct nw_type type = fetch_type(type_name);
	struct nw_fetch fetch;

	nw_fetch_make(&op, &type, nw_arch_by_name(arch), flags & 4, FETCH_SITE, &caps,
		      &fetch);
	if (fetch.problem)
		ck_assert_uint_gt(strlen(fetch.problem), 0);
	else
		ck_assert_msg((*fetch.text != 0) != fetch.is_constant, "%s %s", arch, text);
	ck_assert_uint_le(strlen(fetch.text), NW_MAX_EXPRESSION);
	ck_assert_ptr_null(strpbrk(fetch.text, " \t\n#;"));
	if (!caps.hex && *fetch.text)
		ck_assert_ptr_null(strstr(fetch.text, ":x"));
	if (!caps.arrays && *fetch.text)
		ck_assert_ptr_null(strchr(fetch.text, '['));
	check_type_can_be_read_back(&fetch.field);
	check_type_can_be_read_back(&fetch.shown);
}

START_TEST(whatever_was_ever_seen_can_be_asked_for_as_anything)
{
	static const char *const types[] = {"",	      "u8",	"s16",	     "x32",
					    "u64",    "f32",	"f64",	     "string",
					    "u8[64]", "f64[2]", "string[3]", "char[5]"};
	FILE *file = fopen("tests/data/operands.tsv", "re");
	char line[2048];

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	while (fgets(line, sizeof(line), file)) {
		char *rest = line, *arch = strsep(&rest, "\t"), *text = strsep(&rest, "\t");
		for (size_t i = 0; i < NW_COUNT(types) * 8; i++)
			check_any(arch, text, types[i / 8], i % 8);
	}
	fclose(file);
	for (unsigned int size = 0; size < 1100; size++) {
		for (size_t i = 0; i < NW_COUNT(types) * 8; i++) {
			char text[32];
			snprintf(text, sizeof(text), "%u%s@(%%rax)", size,
				 i & 8 ? "f" : "");
			check_any("x86_64", text, types[i / 8], i % 8);
		}
	}
}
END_TEST

UNIT_MAIN("fetch types", types_of_the_user_cut_and_show,
	  strings_and_arrays_are_what_a_pointer_points_at,
	  a_structure_by_value_is_no_pointer,
	  floating_point_types_have_the_width_of_the_value,
	  constants_are_cut_to_the_type_of_the_user, big_ends_are_cut_from_the_other_side,
	  old_kernels_get_what_they_know,
	  pointers_of_32_bits_in_memory_are_not_for_64_bit_kernels,
	  types_have_their_spelling, whatever_was_ever_seen_can_be_asked_for_as_anything)
