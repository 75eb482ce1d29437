// SPDX-License-Identifier: MIT
/* Plans of elements of arrays that the kernel reads: at the sum of two registers. */
#include <errno.h>

#include "find/arch/arch.h"
#include "plan_builder.h"

static struct nw_selection s;

static const struct nw_plan_options options = {.session = "s",
					       .caps = {.memory = true,
							.ref_ctr = true,
							.multi_site = true,
							.hex = true,
							.arrays = true,
							.elements = true},
					       .naming = NW_NAMES_PRIVATE};

static struct nw_probe *begin(const char *arch, const char *names)
{
	s = (struct nw_selection){0};
	struct nw_image *image = pb_image(&s, "/x");
	image->arch = nw_arch_by_name(arch);
	return pb_probe(&s, image, "p", "n", names);
}

/* Checks the definitions and sources of a probe with one site. */
static void check(const char *arch, const char *names, const char *operands,
		  const char *lines, const char *sources)
{
	struct nw_probe *probe = begin(arch, names);

	pb_point(probe, 0x1, operands);
	struct nw_plan plan = pb_plan(&s, &options);
	pb_check(&plan, lines);
	pb_check_sources(&plan, 0, sources);
	pb_free(&s, &plan);
}

START_TEST(an_element_is_read_behind_the_sum_of_two_registers)
{
	check("x86_64", "e,i", "-4@-4(%rdx,%rcx,4) 8@%rcx",
	      "p:nopwatch_s/es_0 /x:0x1 a0=%cx:u64 base=%dx:u64 index=%cx:s64\n"
	      "e:nopwatch_s/es_1 synthetic.nopwatch_s a0=-u4($e0):s32\n",
	      "1.0 0.0");
	check("x86_64", "a,b:string", "1@(%rax,%rbx) 8@16(%rax,%rbx,8)",
	      "p:nopwatch_s/es_0 /x:0x1 base=%ax:u64 index=%bx:s64 base_1=%ax:u64 index_1=%bx:s64\n"
	      "e:nopwatch_s/es_1 synthetic.nopwatch_s a0=+u0($e0):u8 a1=+u0(+u16($e1)):ustring\n",
	      "1.0 1.1");
	/* a number that could not be read is what was there before; a string says that it could not */
	struct nw_probe *probe = begin("x86_64", "a,b:string");
	pb_point(probe, 0x1, "1@(%rax,%rbx) 8@16(%rax,%rbx,8)");
	struct nw_plan plan = pb_plan(&s, &options);
	const struct nw_planned_point *planned = plan.points.item;
	ck_assert(planned->args.item[0].fetch.untrusted &&
		  !planned->args.item[1].fetch.untrusted);
	ck_assert_uint_eq(planned->carried_part, 1);
	ck_assert_uint_eq(planned->sums.item[0].scale, 1);
	ck_assert_uint_eq(planned->sums.item[1].scale, 8);
	ck_assert_int_eq(planned->sums.item[1].field, 2);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(registers_are_extended_as_the_program_does)
{
	check("aarch64", "e", "-4@[x0, w1, sxtw 2]",
	      "p:nopwatch_s/es_0 /x:0x1 base=%x0:u64 index=%x1:s32\n"
	      "e:nopwatch_s/es_1 synthetic.nopwatch_s a0=+u0($e0):s32\n",
	      "1.0");
	check("aarch64", "e", "8@[x0, w1, uxtw 3]",
	      "p:nopwatch_s/es_0 /x:0x1 base=%x0:u64 index=%x1:u32\n"
	      "e:nopwatch_s/es_1 synthetic.nopwatch_s a0=+u0($e0):u64\n",
	      "1.0");
	check("i386", "e", "4@(%eax,%ebx,4)",
	      "p:nopwatch_s/es_0 /x:0x1 base=%ax:u32 index=%bx:s32\n"
	      "e:nopwatch_s/es_1 synthetic.nopwatch_s a0=+u0($e0):u32\n",
	      "1.0");
}
END_TEST

START_TEST(each_site_has_a_chain_of_its_own)
{
	struct nw_probe *probe = begin("x86_64", "e");

	pb_point(probe, 0x1, "-4@(%rax,%rbx,4)");
	pb_point(probe, 0x12, "-4@8(%rdx,%rbx,8)");
	pb_point(probe, 0x23, "-4@%esi");
	struct nw_plan plan = pb_plan(&s, &options);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 base=%ax:u64 index=%bx:s64\n"
			"e:nopwatch_s/es_1 synthetic.nopwatch_s a0=+u0($e0):s32\n"
			"p:nopwatch_s/es_2 /x:0x12 base=%dx:u64 index=%bx:s64\n"
			"e:nopwatch_s/es_3 synthetic.nopwatch_s_1 a0=+u8($e0):s32\n"
			"p:nopwatch_s/es_4 /x:0x23 a0=%si:s32\n");
	ck_assert_uint_eq(plan.points.item[1].chain, 1);
	ck_assert_uint_eq(plan.points.item[2].carried_part, 0);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(elements_of_global_arrays_are_relative_to_the_site)
{
	struct nw_probe *probe = begin("x86_64", "e,f");
	struct nw_point *point = pb_point(probe, 0x1,
					  "-4@nums(,%rdi,4) -4@nums(%rdx,%rsi,4)");

	for (int i = 0; i < 2; i++) {
		point->operands.item[i].resolved = true;
		point->operands.item[i].address = 0x401001;
	}
	struct nw_plan plan = pb_plan(&s, &options);
	pb_check(
		&plan,
		"p:nopwatch_s/es_0 /x:0x1 base=%ip:u64 index=%di:s64 base_1=%dx:u64 index_1=%si:s64\n"
		"e:nopwatch_s/es_1 synthetic.nopwatch_s a0=+u4096($e0):s32 a1=+u4198401($e1):s32\n");
	pb_free(&s, &plan);
}
END_TEST

/* The trigger that reads the element is that of the hit's last event. */
START_TEST(the_registers_are_in_the_last_event_of_the_hit)
{
	struct nw_plan_options longer = options;
	struct nw_probe *probe = begin("x86_64", "e,s:string");

	pb_point(probe, 0x1, "-4@(%rax,%rbx,4) 8@%rdi");
	longer.string_size = 4000;
	struct nw_plan plan = pb_plan(&s, &longer);
	ck_assert_uint_eq(plan.points.item[0].carried_part, 2);
	ck_assert_uint_eq(plan.points.item[0].parts, 3);
	ck_assert_ptr_null(strstr(plan.events.item[0]->places.item[0].fetches, "base"));
	ck_assert_ptr_nonnull(strstr(plan.events.item[1]->places.item[0].fetches,
				     " base=%ax:u64 index=%bx:s64"));
	ck_assert_str_eq(plan.events.item[2]->attached, "synthetic.nopwatch_s");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(what_no_event_probe_reads_is_as_before)
{
	struct nw_plan_options lacks = options;
	struct nw_buf operands = {0};

	lacks.caps.elements = false;
	struct nw_probe *probe = begin("x86_64", "e");
	pb_point(probe, 0x1, "-4@(%rax,%rbx,4)");
	struct nw_plan plan = pb_plan(&s, &lacks);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 a0=+0(%ax):s32[64] a1=%bx:s64\n");
	pb_free(&s, &plan);
	/* arrays at an index, and thread-local ones */
	check("x86_64", "a:s32[4],b", "8@(%rax,%rbx,8) 8@%fs:(%rax,%rbx,8)",
	      "p:nopwatch_s/es_0 /x:0x1\n",
	      "!base + index * scale: a fetch argument cannot add two registers "
	      "!thread-local storage: ftrace cannot read the thread pointer");
	/* a hist trigger has 16 variables: the 13th element has the window */
	for (int i = 0; i < 13; i++)
		nw_buf_adds(&operands, "-4@(%rax,%rbx,4) ");
	probe = begin("x86_64", "a,b,c,d,e,f,g,h,i,j,k,l,m");
	pb_point(probe, 0x1, nw_buf_str(&operands));
	plan = pb_plan(&s, &options);
	ck_assert_uint_eq(plan.points.item[0].sums.count, 12);
	ck_assert_uint_eq(plan.points.item[0].args.item[12].fetch.scale, 4);
	ck_assert(!plan.points.item[0].args.item[12].fetch.carried);
	pb_free(&s, &plan);
	nw_buf_free(&operands);
}
END_TEST

START_TEST(a_string_behind_an_element_of_a_32_bit_program_is_refused)
{
	struct nw_plan_options wide = options;
	struct nw_probe *probe = begin("i386", "e:string");

	pb_point(probe, 0x1, "4@(%eax,%ebx,4)");
	wide.caps.long64 = true;
	struct nw_plan plan = pb_plan(&s, &wide);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1\n");
	ck_assert_uint_eq(plan.points.item[0].sums.count, 0);
	ck_assert_ptr_nonnull(
		strstr(plan.points.item[0].args.item[0].fetch.problem, "64-bit kernels"));
	pb_free(&s, &plan);
}
END_TEST

START_TEST(a_saved_plan_knows_them)
{
	struct nw_selection selection = {0};
	struct nw_buf text = {0};
	struct nw_armed armed = {0};
	struct nw_plan loaded;
	struct nw_error err;

	pb_point(begin("x86_64", "e,i"), 0x1, "-4@(%rax,%rbx,4) 8@%rbx");
	struct nw_plan plan = pb_plan(&s, &options);
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	nw_armed_assume(&armed);
	nw_plan_save(&armed, &text);
	ck_assert_int_eq(nw_plan_load(nw_buf_str(&text), text.len, &selection, &loaded,
				      NULL, NULL, NULL, &err),
			 0);
	ck_assert_uint_eq(loaded.points.item[0].carried_part, 1);
	ck_assert_uint_eq(loaded.points.item[0].args.item[0].part, 1);
	ck_assert(loaded.points.item[0].args.item[0].fetch.untrusted);
	ck_assert_str_eq(loaded.events.item[1]->attached, "synthetic.nopwatch_s");
	nw_plan_free(&loaded);
	nw_selection_free(&selection);
	nw_armed_free(&armed);
	nw_buf_free(&text);
	pb_free(&s, &plan);
}
END_TEST

UNIT_MAIN("elements", an_element_is_read_behind_the_sum_of_two_registers,
	  registers_are_extended_as_the_program_does, each_site_has_a_chain_of_its_own,
	  elements_of_global_arrays_are_relative_to_the_site,
	  the_registers_are_in_the_last_event_of_the_hit,
	  what_no_event_probe_reads_is_as_before,
	  a_string_behind_an_element_of_a_32_bit_program_is_refused,
	  a_saved_plan_knows_them)
