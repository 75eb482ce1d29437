// SPDX-License-Identifier: MIT
/* Where the arguments of a call are: C's conventions, and Go's. */
#include <stdlib.h>

#include "elf_files.h"
#include "find/arch/arch.h"
#include "find/probe/call.h"

/* "8@%rdi 8@%rsi -": the operands, as they would be written; "-" has none, and a problem. */
static void check(const struct nw_image *image, const char *name, bool is_return,
		  const char *types, const char *wanted, const char *problem)
{
	nw_operands operands = {0};
	struct nw_buf out = {0};
	struct nw_spec spec = {0};
	struct nw_error err;
	nw_cleanup(nw_free_ptr) char *text = nw_text("uprobe:x:f(%s)", types);

	ck_assert_msg(nw_spec_parse(text, &spec, &err) == 0, "%s", err.what);
	ck_assert_int_eq(nw_call_operands(image, name, is_return, spec.args.count,
					  &spec.args, &operands),
			 0);
	nw_vec_each (&operands, op) {
		nw_buf_adds(&out, out.len ? " " : "");
		if (op->problem) {
			nw_buf_addc(&out, '-');
			ck_assert_msg(problem && strstr(op->problem, problem), "%s",
				      op->problem);
		} else {
			nw_buf_add(&out, op->text, op->text_len);
		}
	}
	ck_assert_str_eq(nw_buf_str(&out), wanted);
	nw_buf_free(&out);
	nw_vec_free(&operands);
	nw_spec_free(&spec);
}

START_TEST(integers_are_in_registers_and_then_on_the_stack)
{
	static const struct {
		const char *arch, *none, *eighth;
	} list[] = {
		{"x86_64", "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9",
		 "8@8(%rsp) 8@16(%rsp)"},
		{"i386", "4@4(%esp) 4@8(%esp) 4@12(%esp) 4@16(%esp) 4@20(%esp) 4@24(%esp)",
		 "4@28(%esp) 4@32(%esp)"},
		{"aarch64", "8@x0 8@x1 8@x2 8@x3 8@x4 8@x5 8@x6 8@x7", ""},
		{"arm", "4@r0 4@r1 4@r2 4@r3",
		 "4@[sp, #0] 4@[sp, #4] 4@[sp, #8] 4@[sp, #12]"},
		{"s390x", "8@%r2 8@%r3 8@%r4 8@%r5 8@%r6",
		 "8@160(%r15) 8@168(%r15) 8@176(%r15)"},
	};

	for (size_t i = 0; i < NW_COUNT(list); i++) {
		const struct nw_image image = {.arch = nw_arch_by_name(list[i].arch)};
		nw_cleanup(nw_free_ptr) char *eight = nw_text(
			"%s%s%s", list[i].none, *list[i].eighth ? " " : "", list[i].eighth);
		check(&image, "f", false, "", list[i].none, NULL);
		check(&image, "f", false, "a,b", list[i].none, NULL);
		check(&image, "f", false, "a,b,c,d,e,f,g,h", eight, NULL);
	}
	/* the kernel of i386 is built with -mregparm=3 */
	const struct nw_image kernel = {.arch = nw_arch_by_name("i386"), .kernel = true};
	check(&kernel, "f", false, "a,b,c,d,e", "4@%eax 4@%edx 4@%ecx 4@4(%esp) 4@8(%esp)",
	      NULL);
	check(&kernel, "f", true, "a", "4@%eax", NULL);
	for (size_t i = 0; i < nw_arch_count; i++) { /* every row is readable */
		const struct nw_image image = {.arch = &nw_arch_table[i]};
		nw_operands operands = {0};
		nw_named_args none = {0};
		nw_call_operands(&image, "f", false, 14, &none, &operands);
		ck_assert_uint_ge(operands.count, 14);
		nw_vec_each (&operands, op)
			ck_assert_msg(!op->problem, "%s: %s", nw_arch_table[i].name,
				      op->problem);
		nw_vec_free(&operands);
	}
}
END_TEST

START_TEST(floating_point_values_cannot_be_had)
{
	struct nw_image image = {.arch = nw_arch_by_name("x86_64")};

	check(&image, "f", true, "r:f64", "-", "in xmm0");
	check(&image, "f", true, "r", "8@%rax", NULL);
	/* it takes no integer register */
	check(&image, "f", false, "a,x:f64,b,y:f32,c", "8@%rdi - 8@%rsi - 8@%rdx 8@%rcx",
	      "xmm0 to xmm7");
	check(&image, "f", false, "x:f64[4]", "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9",
	      NULL); /* behind a pointer they can */
	image.arch = nw_arch_by_name("aarch64");
	check(&image, "f", true, "r:f32", "-", "in v0");
	image.arch = nw_arch_by_name("ppc64le"); /* the place of one is left unused */
	check(&image, "f", false, "a,x:f64,b", "8@3 - 8@5 8@6 8@7 8@8 8@9 8@10",
	      "f1 to f13");
	image.arch = nw_arch_by_name("i386");
	check(&image, "f", true, "r:f64", "-", "in st(0)");
	check(&image, "f", false, "x:f32,n",
	      "4@4(%esp) 4@8(%esp) 4@12(%esp) 4@16(%esp) 4@20(%esp) 4@24(%esp)", NULL);
	/* ABIs without floating-point registers */
	image.arch = nw_arch_by_name("arm");
	check(&image, "f", true, "r:f32", "4@r0", NULL);
	image.flags = EF_ARM_ABI_FLOAT_HARD;
	check(&image, "f", true, "r:f32", "-", "in d0");
	image.arch = nw_arch_by_name("riscv64");
	image.flags = EF_RISCV_FLOAT_ABI_DOUBLE;
	check(&image, "f", true, "r:f64", "-", "in fa0");
	image.flags = EF_RISCV_FLOAT_ABI_SOFT;
	check(&image, "f", true, "r:f64", "8@a0", NULL);
}
END_TEST

START_TEST(floating_point_values_that_are_named_are_refused)
{
	static const struct {
		const char *arch, *spec, *what, *hint; /* what: NULL: it is taken */
	} rows[] = {
		{"x86_64", "f(n,d:f64)",
		 "'d' of 'f' cannot be fetched: a floating-point argument is in xmm0 to xmm7",
		 "leave it out: "},
		{"x86_64", "f(:f32)",
		 "an argument of 'f' cannot be fetched: ", "leave it out: "},
		{"aarch64", "f(d:f64)", "a floating-point argument is in v0 to v7",
		 "leave it out: "},
		{"ppc64le", "f(d:f64)", "a floating-point argument is in f1 to f13",
		 "an integer's type"},
		{"x86_64", "f(d:f64[2],n)", NULL, NULL},
		{"x86_64", "f(n,m:u32)", NULL, NULL},
		{"i386", "f(d:f64)", NULL, NULL},
		{"arm", "f(d:f32)", NULL, NULL},
	};

	for (size_t i = 0; i < NW_COUNT(rows); i++) {
		const struct nw_image image = {.arch = nw_arch_by_name(rows[i].arch)};
		nw_cleanup(nw_free_ptr) char *text = nw_text("uprobe:/x:%s", rows[i].spec);
		struct nw_spec spec;
		struct nw_error err = {0};
		ck_assert_int_eq(nw_spec_parse(text, &spec, &err), 0);
		int ret = nw_call_refuse_floats(&image, "f", false, &spec.args, &err);
		ck_assert_int_eq(ret, rows[i].what ? -EINVAL : 0);
		if (rows[i].what)
			ck_assert_msg(err.usage && strstr(err.what, rows[i].what) &&
					      strstr(err.hint, rows[i].hint),
				      "%s: %s\n%s", rows[i].spec, err.what, err.hint);
		nw_spec_free(&spec);
	}
	const struct nw_image image = {.arch = nw_arch_by_name("x86_64")};
	nw_named_args args = {0};
	struct nw_error err = {0};
	struct nw_named_arg *arg = nw_vec_add(&args);
	strcpy(arg->name, "r");
	arg->type.base = NW_TYPE_FLOAT;
	ck_assert_int_eq(nw_call_refuse_floats(&image, "f", true, &args, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "a floating-point result is in xmm0,"));
	ck_assert_ptr_nonnull(strstr(err.hint, "leave the parentheses out"));
	nw_vec_free(&args);
}
END_TEST

/* A program that says it was built by this version: as of 1.18, or through pointers before. */
static struct nw_image *go_program(uint16_t machine, const char *version, bool pointers)
{
	struct nw_buf info = {0};
	struct nw_image *image;
	struct nw_error err;
	struct eb b;

	eb_program(&b, machine, true, false);
	nw_buf_add(&info, "\xff Go buildinf:", 14);
	nw_buf_addc(&info, 8);
	nw_buf_addc(&info, pointers ? 0 : 2);
	eb_put(&b, &info, EB_DATA, 8);
	eb_put(&b, &info, 0, 8);
	if (pointers) { /* a Go string in .data: its pointer, its length; and its bytes */
		struct nw_buf text = {0};
		eb_put(&b, &text, EB_DATA + 16, 8);
		eb_put(&b, &text, strlen(version), 8);
		nw_buf_adds(&text, version);
		memcpy(b.bytes.data + EB_DATA_AT, text.data, text.len);
		nw_buf_free(&text);
	} else {
		nw_buf_addc(&info, (char)strlen(version));
		nw_buf_adds(&info, version);
	}
	eb_section(&b, ".go.buildinfo", SHT_PROGBITS, 0, info.data, info.len);
	nw_buf_free(&info);
	int ret = nw_image_open_fd(eb_memfd(&b), "made", false, &image, &err);
	ck_assert_msg(ret == 0, "%s", err.what);
	ck_assert(image->go);
	return image;
}

START_TEST(go_has_a_convention_of_its_own)
{
	static const struct {
		uint16_t machine;
		const char *version;
		bool pointers;
		const char *wanted;
	} list[] = {
		{EM_X86_64, "go1.19.8", false, "8@%rax 8@%rbx 8@%rcx"},
		{EM_X86_64, "go1.17", true, "8@%rax 8@%rbx 8@%rcx"},
		{EM_X86_64, "go1.16.15", true, "8@8(%rsp) 8@16(%rsp) 8@24(%rsp)"},
		{EM_X86_64, "devel go1.22-ab12", false, "8@%rax 8@%rbx 8@%rcx"},
		{EM_AARCH64, "go1.18", false, "8@x0 8@x1 8@x2"},
		{EM_AARCH64, "go1.17.2", true, "8@[sp, 8] 8@[sp, 16] 8@[sp, 24]"},
	};

	for (size_t i = 0; i < NW_COUNT(list); i++) {
		struct nw_image *image = go_program(list[i].machine, list[i].version,
						    list[i].pointers);
		nw_operands operands = {0};
		nw_named_args none = {0};
		struct nw_buf out = {0};
		nw_call_operands(image, "main.Work", false, 0, &none, &operands);
		for (size_t j = 0; j < 3; j++)
			nw_buf_printf(&out, "%s%.*s", j ? " " : "",
				      (int)operands.item[j].text_len,
				      operands.item[j].text);
		ck_assert_msg(strcmp(nw_buf_str(&out), list[i].wanted) == 0, "%s: %s",
			      list[i].version, nw_buf_str(&out));
		nw_buf_free(&out);
		nw_vec_free(&operands);
		nw_image_free(image);
	}
}
END_TEST

START_TEST(not_everything_in_a_go_program_is_go)
{
	struct nw_image *image = go_program(EM_X86_64, "go1.19", false);
	static const char c[] = "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9";

	check(image, "helper", false, "", c, NULL);
	check(image, "helper.constprop.0", false, "", c, NULL);
	check(image, "main.Work", true, "r", "8@%rax", NULL);
	check(image, "main.Work", false, "x:f64,n",
	      "- 8@%rax 8@%rbx 8@%rcx 8@%rdi 8@%rsi 8@%r8 8@%r9 8@%r10", "of Go's");
	check(image, "runtime.memmove.abi0", false, "a,b",
	      "8@8(%rsp) 8@16(%rsp) 8@24(%rsp) 8@32(%rsp) 8@40(%rsp) 8@48(%rsp)", NULL);
	check(image, "runtime.memmove.abi0", true, "r", "-", "Go's stack");
	nw_image_free(image);
	image = go_program(EM_X86_64, "unknown", false);
	check(image, "main.Work", false, "a,b", "- -", "which version");
	nw_image_free(image);
	image = go_program(EM_RISCV, "go1.19", false);
	check(image, "main.Work", false, "a", "-", "not known for this architecture");
	nw_image_free(image);
}
END_TEST

UNIT_MAIN("call", integers_are_in_registers_and_then_on_the_stack,
	  floating_point_values_cannot_be_had,
	  floating_point_values_that_are_named_are_refused, go_has_a_convention_of_its_own,
	  not_everything_in_a_go_program_is_go)
