// SPDX-License-Identifier: MIT
/* find/probe/carry.c and the plan: arguments of a call that are read when it returns. */
#include <errno.h>

#include "find/arch/arch.h"
#include "find/probe/carry.h"
#include "plan_builder.h"

static struct nw_selection s;
static struct nw_probe *entry, *returns;

static const struct nw_plan_options options = {.session = "s",
					       .caps = {.memory = true,
							.ref_ctr = true,
							.multi_site = true,
							.hex = true,
							.arrays = true},
					       .naming = NW_NAMES_PRIVATE};

/*
 * Makes the two ends of a function whose arguments have these names and places. Names that begin with '>' are read at
 * the return. more: further exits, which are instructions.
 */
static int make(const char *arch, const char *names, const char *places, const char *result,
		unsigned int more, struct nw_error *err)
{
	static char typed[] = "func:/bin/x:f(...)";
	const struct nw_spec spec = {.text = typed};
	nw_cleanup(nw_free_ptr) char *plain = strdup(names);
	size_t len = 0, arg = 0;

	s = (struct nw_selection){0};
	struct nw_image *image = pb_image(&s, "/bin/x");
	image->arch = nw_arch_by_name(arch);
	for (const char *at = names; *at; at++)
		if (*at != '>')
			plain[len++] = *at;
	plain[len] = '\0';
	entry = pb_probe(&s, image, "uprobe", "f", plain);
	returns = pb_probe(&s, image, "uretprobe", "f", NULL);
	entry->kind = returns->kind = NW_SPEC_FUNC;
	for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		entry->args.item[arg++].at_return = *at == '>';
	pb_point(entry, 0x100, places);
	for (unsigned int i = 0; i <= more; i++) {
		struct nw_point *point = pb_point(returns, 0x100 + 0x10 * i, result);
		point->is_return = !more;
		point->is_exit = more;
	}
	entry->named = entry->args.count;
	return nw_carry_arguments(&spec, entry, returns, err);
}

static void check(const char *lines, const char *sources)
{
	struct nw_plan plan = pb_plan(&s, &options);

	pb_check(&plan, lines);
	pb_check_sources(&plan, 1, sources);
	pb_free(&s, &plan);
}

START_TEST(a_string_is_read_behind_the_register_that_passed_it)
{
	struct nw_error err;

	ck_assert_int_eq(
		make("x86_64", "n:s32,>buf:string", "8@%rdi 8@%rsi", "8@%rax", 0, &err), 0);
	ck_assert_uint_eq(entry->args.count, 1);
	ck_assert_str_eq(entry->args.item[0].name, "n");
	ck_assert_uint_eq(returns->args.count, 2);
	ck_assert_str_eq(returns->args.item[0].name, "ret");
	ck_assert_str_eq(returns->args.item[1].name, "buf");
	ck_assert_ptr_eq(nw_selection_carries(&s), returns);
	check("p:nopwatch_s/es_0 /bin/x:0x100 a0=%di:s32 sp=%sp:u64 kept=%si:u64\n"
	      "r:nopwatch_s/es_1 /bin/x:0x100 a0=%ax:u64 sp=%sp:u64\n"
	      "e:nopwatch_s/es_2 synthetic.nopwatch_s a0=+u0($k0):ustring kept_sp=$d:u64\n",
	      "0.0 1.0");
}
END_TEST

START_TEST(what_lies_behind_a_pointer_is_read_at_the_return)
{
	struct nw_error err;

	ck_assert_int_eq(make("x86_64", ">fd,>used,>name:string",
			      "4@%rdi -4@16(%rsi) 8@8(%rsi)", "8@%rax", 0, &err),
			 0);
	/* both begin with the same register */
	ck_assert_uint_eq(entry->points.item[0].kept.count, 2);
	struct nw_plan plan = pb_plan(&s, &options);
	pb_check(&plan,
		 "p:nopwatch_s/es_0 /bin/x:0x100 sp=%sp:u64 kept=%di:u64 kept_1=%si:u64\n"
		 "r:nopwatch_s/es_1 /bin/x:0x100 a0=%ax:u64 sp=%sp:u64\n"
		 "e:nopwatch_s/es_2 synthetic.nopwatch_s a0=$k0:u32 a1=+u16($k1):s32 "
		 "a2=+u0(+u8($k1)):ustring kept_sp=$d:u64\n");
	pb_check_sources(&plan, 1, "0.0 1.0 1.1 1.2");
	const struct nw_source *sources = plan.points.item[1].args.item;
	/* a number that could not be read is what was there before; a string says that it could not */
	ck_assert(!sources[1].fetch.untrusted && sources[2].fetch.untrusted &&
		  !sources[3].fetch.untrusted);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(an_argument_on_the_stack_is_kept_itself)
{
	struct nw_error err;

	ck_assert_int_eq(make("x86_64", ">seventh,>buf:string", "8@8(%rsp) 8@16(%rsp)",
			      "8@%rax", 0, &err),
			 0);
	check("p:nopwatch_s/es_0 /bin/x:0x100 sp=%sp:u64 kept=+8(%sp):u64 kept_1=+16(%sp):u64\n"
	      "r:nopwatch_s/es_1 /bin/x:0x100 a0=%ax:u64 sp=%sp:u64\n"
	      "e:nopwatch_s/es_2 synthetic.nopwatch_s a0=$k0:u64 a1=+u0($k1):ustring kept_sp=$d:u64\n",
	      "0.0 1.0 1.1");
}
END_TEST

START_TEST(each_exit_has_a_chain_and_an_event_of_its_own)
{
	struct nw_error err;

	ck_assert_int_eq(make("x86_64", ">buf:string", "8@%rdi", "8@%rax", 1, &err), 0);
	check("p:nopwatch_s/es_0 /bin/x:0x100 sp=%sp:u64 kept=%di:u64\n"
	      "p:nopwatch_s/es_1 /bin/x:0x100 a0=%ax:u64 sp=%sp:u64\n"
	      "e:nopwatch_s/es_2 synthetic.nopwatch_s a0=+u0($k0):ustring kept_sp=$d:u64\n"
	      "p:nopwatch_s/es_3 /bin/x:0x110 a0=%ax:u64 sp=%sp:u64\n"
	      "e:nopwatch_s/es_4 synthetic.nopwatch_s_1 a0=+u0($k0):ustring kept_sp=$d:u64\n",
	      "0.0 1.0");
}
END_TEST

START_TEST(two_strings_are_in_two_events)
{
	struct nw_error err;

	ck_assert_int_eq(make("x86_64", ">a:string,>b:string,>c", "8@%rdi 8@%rsi 8@%rdx",
			      "8@%rax", 0, &err),
			 0);
	check("p:nopwatch_s/es_0 /bin/x:0x100 sp=%sp:u64 kept=%di:u64 kept_1=%si:u64 kept_2=%dx:u64\n"
	      "r:nopwatch_s/es_1 /bin/x:0x100 a0=%ax:u64 sp=%sp:u64\n"
	      "e:nopwatch_s/es_2 synthetic.nopwatch_s a0=$k2:u64 a1=+u0($k0):ustring kept_sp=$d:u64\n"
	      "e:nopwatch_s/es_3 synthetic.nopwatch_s a0=+u0($k1):ustring kept_sp=$d:u64\n",
	      "0.0 1.1 2.0 1.0");
}
END_TEST

START_TEST(a_program_of_32_bits_has_words_of_32_bits)
{
	struct nw_error err;

	ck_assert_int_eq(make("i386", ">buf:string", "4@4(%esp)", "4@%eax", 0, &err), 0);
	check("p:nopwatch_s/es_0 /bin/x:0x100 sp=%sp:u32 kept=+4(%sp):u32\n"
	      "r:nopwatch_s/es_1 /bin/x:0x100 a0=%ax:u32 sp=%sp:u32\n"
	      "e:nopwatch_s/es_2 synthetic.nopwatch_s a0=+u0($k0):ustring kept_sp=$d:u32\n",
	      "0.0 1.0");
}
END_TEST

START_TEST(places_that_are_no_word_are_refused)
{
	static const struct {
		const char *place, *problem;
	} cases[] = {
		{"8@$5",
		 "at the return only arguments are read, no globals and no constants"},
		{"1@%ah",
		 "it is not passed as one word, which could be kept until the return"},
		{"16@8(%rsp)",
		 "it is passed on the stack, and larger or smaller than a word"},
	};
	struct nw_error err;

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		ck_assert_int_eq(make("x86_64", ">a", cases[i].place, "8@%rax", 0, &err),
				 0);
		ck_assert_str_eq(returns->points.item[0].operands.item[1].problem,
				 cases[i].problem);
		nw_selection_free(&s);
	}
	/* an exit that is a jump is not the call's end */
	ck_assert_int_eq(make("x86_64", ">a", "8@%rdi", "8@%rax", 0, &err), 0);
	ck_assert_ptr_null(returns->points.item[0].operands.item[1].problem);
	nw_selection_free(&s);
}
END_TEST

START_TEST(a_length_is_known_at_the_return)
{
	struct nw_error err;

	ck_assert_int_eq(
		make("x86_64", ">buf:string[ret],n", "8@%rdi 8@%rsi", "8@%rax", 0, &err),
		0);
	struct nw_plan plan = pb_plan(&s, &options);
	const struct nw_source *source = &plan.points.item[1].args.item[1];
	ck_assert(source->counted && source->fetch.untrusted);
	ck_assert_uint_eq(source->length, 0);
	pb_check(&plan,
		 "p:nopwatch_s/es_0 /bin/x:0x100 a0=%si:u64 sp=%sp:u64 kept=%di:u64\n"
		 "r:nopwatch_s/es_1 /bin/x:0x100 a0=%ax:u64 sp=%sp:u64\n"
		 "e:nopwatch_s/es_2 synthetic.nopwatch_s a0=$k0:x64 a1=+0($k0):x8[64] "
		 "a2=+64($k0):x64[24] kept_sp=$d:u64\n");
	pb_free(&s, &plan);
	ck_assert_int_eq(
		make("x86_64", ">buf:string[n],n", "8@%rdi 8@%rsi", "8@%rax", 0, &err),
		-EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "'n', which is not known at the return"));
	ck_assert_ptr_nonnull(strstr(err.hint, "n@return"));
	nw_selection_free(&s);
}
END_TEST

START_TEST(functions_of_go_are_refused)
{
	static char typed[] = "func:/bin/x:f(a@return)";
	const struct nw_spec spec = {.text = typed};
	struct nw_error err;

	ck_assert_int_eq(make("x86_64", ">a", "8@%rdi", "8@%rax", 0, &err), 0);
	entry->image->go = true;
	ck_assert_int_eq(nw_carry_arguments(&spec, entry, returns, &err), -EOPNOTSUPP);
	nw_selection_free(&s);
}
END_TEST

START_TEST(naming_them_again_makes_them_anew)
{
	static char typed[] = "func:/bin/x:f(b@return)";
	const struct nw_spec spec = {.text = typed};
	struct nw_error err;

	ck_assert_int_eq(make("x86_64", ">a,>b", "8@%rdi 8@%rsi", "8@%rax", 0, &err), 0);
	struct nw_named_arg *again = nw_vec_add(&entry->args);
	*again = returns->args.item[2];
	nw_operands_parse(entry->image->arch, "8@%rdx", &entry->points.item[0].operands);
	ck_assert_int_eq(nw_carry_arguments(&spec, entry, returns, &err), 0);
	ck_assert_uint_eq(returns->args.count, 2);
	ck_assert_str_eq(returns->args.item[1].name, "b");
	ck_assert_str_eq(returns->points.item[0].operands.item[1].reg, "k2");
	nw_selection_free(&s);
}
END_TEST

START_TEST(a_saved_plan_knows_them)
{
	struct nw_selection selection = {0};
	struct nw_buf text = {0};
	struct nw_armed armed = {0};
	struct nw_plan loaded;
	struct nw_error err;

	ck_assert_int_eq(make("x86_64", ">buf:string[ret]", "8@%rdi", "8@%rax", 0, &err),
			 0);
	struct nw_plan plan = pb_plan(&s, &options);
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	nw_armed_assume(&armed);
	nw_plan_save(&armed, &text);
	ck_assert_int_eq(nw_plan_load(nw_buf_str(&text), text.len, &selection, &loaded,
				      NULL, NULL, NULL, &err),
			 0);
	ck_assert_uint_eq(loaded.points.item[1].carried_part, 1);
	ck_assert(loaded.points.item[1].args.item[1].counted);
	ck_assert_str_eq(loaded.events.item[2]->attached, "synthetic.nopwatch_s");
	nw_plan_free(&loaded);
	nw_selection_free(&selection);
	nw_armed_free(&armed);
	nw_buf_free(&text);
	pb_free(&s, &plan);
}
END_TEST

UNIT_MAIN("carry", a_string_is_read_behind_the_register_that_passed_it,
	  what_lies_behind_a_pointer_is_read_at_the_return,
	  an_argument_on_the_stack_is_kept_itself,
	  each_exit_has_a_chain_and_an_event_of_its_own, two_strings_are_in_two_events,
	  a_program_of_32_bits_has_words_of_32_bits, places_that_are_no_word_are_refused,
	  a_length_is_known_at_the_return, functions_of_go_are_refused,
	  naming_them_again_makes_them_anew, a_saved_plan_knows_them)
