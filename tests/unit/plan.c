// SPDX-License-Identifier: MIT
/* Which points share events, and the lines that define them, literally. */
#include "plan_builder.h"

#define ALL_CAPS                     \
	.caps = {.memory = true,     \
		 .ref_ctr = true,    \
		 .multi_site = true, \
		 .hex = true,        \
		 .arrays = true}

static const struct nw_plan_options plain = {.session = "s", ALL_CAPS};
static const struct nw_plan_options all_args = {.session = "s", .all_args = true, ALL_CAPS};

START_TEST(points_without_arguments_share_one_event)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/bin/x"), *other = pb_image(&s, "/lib/y.so");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", NULL);
	struct nw_probe *b = pb_probe(&s, image, "p", "b", NULL);
	struct nw_probe *c = pb_probe(&s, other, "q", "c", NULL);

	pb_point(a, 0x1000, "8@%rdi");
	pb_point(a, 0x1001, "8@%rdi");
	pb_point(b, 0x5002, "")->semaphore_offset = 0x3004;
	pb_point(c, 0x1fff, "4@$1");
	struct nw_plan plan = pb_plan(&s, &plain);
	ck_assert_str_eq(plan.group, "nopwatch_s");
	ck_assert_ptr_eq(plan.selection, &s);
	ck_assert_uint_eq(plan.points.count, 4);
	ck_assert_uint_eq(plan.events.count, 1);
	pb_check(&plan, "p:nopwatch_s/es_0 /bin/x:0x1000\n"
			"p:nopwatch_s/es_0 /bin/x:0x1001\n"
			"p:nopwatch_s/es_0 /bin/x:0x5002(0x3004)\n"
			"p:nopwatch_s/es_0 /lib/y.so:0x1fff\n");
	static const struct {
		size_t probe, point;
	} wanted[] = {{0, 0}, {0, 1}, {1, 0}, {2, 0}};
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(plan.points.item[i].probe, wanted[i].probe);
		ck_assert_uint_eq(plan.points.item[i].point, wanted[i].point);
		ck_assert_uint_eq(plan.points.item[i].parts, 1);
		ck_assert_uint_eq(plan.points.item[i].args.count, 0);
		ck_assert(!plan.points.item[i].failed && !plan.points.item[i].refused);
	}
	const struct nw_event *event = plan.events.item[0];
	ck_assert_str_eq(event->shape, "p");
	ck_assert_uint_eq(event->fields.count + event->defined, 0);
	for (unsigned int i = 0; i < 4096; i++) {
		unsigned int place = i == 0	  ? 1
				     : i == 1	  ? 2
				     : i == 2	  ? 3
				     : i == 0xfff ? 4
						  : 0;
		ck_assert_uint_eq(event->by_low_bits[i], place);
	}
	pb_free(&s, &plan);
}
END_TEST

START_TEST(equal_low_bits_need_another_event)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x"), *other = pb_image(&s, "/y");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", NULL);
	struct nw_probe *b = pb_probe(&s, other, "p", "b", NULL);

	pb_point(a, 0x1234, "");
	pb_point(a, 0x2234, "");
	pb_point(a, 0x3235, "");
	pb_point(b, 0x234, "");
	pb_point(b, 0x236, "");
	struct nw_plan plan = pb_plan(&s, &plain);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1234\n"
			"p:nopwatch_s/es_0 /x:0x3235\n"
			"p:nopwatch_s/es_0 /y:0x236\n"
			"p:nopwatch_s/es_1 /x:0x2234\n"
			"p:nopwatch_s/es_2 /y:0x234\n");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(kernels_without_shared_events_get_one_a_point)
{
	struct nw_plan_options options = plain;
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "p", "a", NULL);

	options.caps.multi_site = false;
	pb_point(a, 1, "");
	pb_point(a, 2, "");
	struct nw_plan plan = pb_plan(&s, &options);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1\n"
			"p:nopwatch_s/es_1 /x:0x2\n");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(returns_and_entries_do_not_share)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *entry = pb_probe(&s, image, "uprobe", "f", NULL);
	struct nw_probe *back = pb_probe(&s, image, "uretprobe", "f", NULL);

	pb_point(entry, 0x10, "");
	pb_point(back, 0x20, "")->is_return = true;
	pb_point(back, 0x30, "")->is_return = true;
	struct nw_plan plan = pb_plan(&s, &plain);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x10\n"
			"r:nopwatch_s/es_1 /x:0x20\n"
			"r:nopwatch_s/es_1 /x:0x30\n");
	ck_assert(!plan.events.item[0]->is_return && plan.events.item[1]->is_return);
	ck_assert_str_eq(plan.events.item[1]->shape, "r");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(types_decide_who_shares_and_sources_do_not)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", NULL);
	struct nw_probe *b = pb_probe(&s, image, "p", "b", NULL);

	pb_point(a, 1, "8@%rdi -4@%esi");
	pb_point(a, 2, "8@16(%rsp) -4@-20(%rbp)");
	pb_point(a, 3, "8@%rdi 4@%esi");
	pb_point(a, 4, "8@%rdi");
	pb_point(a, 5, "8@%rdi -4@$5");
	pb_point(b, 6,
		 "-1@$1 8@%rdx 8@%xmm0 -4@%ecx"); /* what is not fetched does not count */
	pb_point(b, 7, "2@%ax");
	pb_point(b, 8, "1@%ah"); /* a bitfield counts as its container */
	struct nw_plan plan = pb_plan(&s, &all_args);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 a0=%di:u64 a1=%si:s32\n"
			"p:nopwatch_s/es_0 /x:0x2 a0=+16(%sp):u64 a1=-20(%bp):s32\n"
			"p:nopwatch_s/es_0 /x:0x6 a0=%dx:u64 a1=%cx:s32\n"
			"p:nopwatch_s/es_1 /x:0x3 a0=%di:u64 a1=%si:u32\n"
			"p:nopwatch_s/es_2 /x:0x4 a0=%di:u64\n"
			"p:nopwatch_s/es_2 /x:0x5 a0=%di:u64\n"
			"p:nopwatch_s/es_3 /x:0x7 a0=%ax:u16\n"
			"p:nopwatch_s/es_3 /x:0x8 a0=%ax:b8@8/16\n");
	ck_assert_str_eq(plan.events.item[0]->shape, "p a0:u64 a1:s32");
	ck_assert_str_eq(plan.events.item[3]->shape, "p a0:u16");
	ck_assert_uint_eq(plan.events.item[0]->fields.count, 2);
	ck_assert_str_eq(plan.events.item[0]->fields.item[1], "a1");
	pb_check_sources(&plan, 0, "0.0 0.1");
	pb_check_sources(&plan, 3, "0.0 !this site has no such argument");
	pb_check_sources(&plan, 4, "0.0 =5");
	pb_check_sources(
		&plan, 5,
		"=1 0.0 !a floating-point or vector register: ftrace can only read "
		"general registers 0.1");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(arguments_are_fetched_only_if_they_are_wanted)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");

	pb_point(pb_probe(&s, image, "p", "a", NULL), 1, "8@%rdi 4@%esi");
	pb_point(pb_probe(&s, image, "p", "b", "x:u8"), 2, "8@%rdi 4@%esi");
	pb_point(pb_probe(&s, image, "p", "c", ""), 3, "8@%rdi");
	struct nw_plan plan = pb_plan(&s, &plain);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1\n"
			"p:nopwatch_s/es_1 /x:0x2 a0=%di:u8 a1=%si:u32\n"
			"p:nopwatch_s/es_2 /x:0x3 a0=%di:u64\n");
	pb_check_sources(&plan, 0, "");
	pb_check_sources(&plan, 1, "0.0 0.1");
	pb_free(&s, &plan);
}
END_TEST

/* ---- parts -------------------------------------------------------------------------- */

START_TEST(a_string_comes_first)
{
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "p", "a",
				      "id,sql:string,n:u16");

	pb_point(a, 1, "8@%rdi 8@%rsi 4@%edx");
	struct nw_plan plan = pb_plan(&s, &plain);
	pb_check(&plan,
		 "p:nopwatch_s/es_0 /x:0x1 a0=+0(%si):string a1=%di:u64 a2=%dx:u16\n");
	pb_check_sources(&plan, 0, "0.1 0.0 0.2");
	ck_assert_uint_eq(plan.points.item[0].parts, 1);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(every_further_string_has_an_event_of_its_own)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", "a:string,n,b:string,c:string");
	struct nw_probe *b = pb_probe(&s, image, "p", "b", "s:string");

	pb_point(a, 1, "8@%rdi 4@%esi 8@8(%rsp) 8@%rcx");
	pb_point(a, 2, "8@%rdi 4@%esi 8@%rdx 4@$1");
	pb_point(b, 3, "8@%rax");
	pb_point(b, 0x1003, "8@%rax");
	struct nw_plan plan = pb_plan(&s, &plain);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 a0=+0(%di):string a1=%si:u32\n"
			"p:nopwatch_s/es_0 /x:0x2 a0=+0(%di):string a1=%si:u32\n"
			"p:nopwatch_s/es_1 /x:0x1 a0=+0(+8(%sp)):string\n"
			"p:nopwatch_s/es_1 /x:0x2 a0=+0(%dx):string\n"
			"p:nopwatch_s/es_1 /x:0x3 a0=+0(%ax):string\n"
			"p:nopwatch_s/es_2 /x:0x1 a0=+0(%cx):string\n"
			"p:nopwatch_s/es_2 /x:0x1003 a0=+0(%ax):string\n");
	pb_check_sources(&plan, 0, "0.0 0.1 1.0 2.0");
	pb_check_sources(&plan, 1, "0.0 0.1 1.0 !a constant: it points nowhere");
	ck_assert_uint_eq(plan.points.item[0].parts, 3);
	ck_assert_uint_eq(plan.points.item[1].parts, 2);
	ck_assert_uint_eq(plan.points.item[2].parts, 1);
	const struct nw_place *place = &plan.events.item[2]->places.item[0];
	ck_assert_uint_eq(place->planned, 0);
	ck_assert_uint_eq(place->part, 2);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(a_pair_of_registers_is_two_fields)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", "n,sql:string,m");

	image->arch = nw_arch_by_name("i386");
	pb_point(a, 1, "8@%eax 4@%esi -4@%edi");
	struct nw_plan plan = pb_plan(&s, &plain);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 a0=+0(%si):string a1=%ax:u32 a2=%dx:u32 "
			"a3=%di:s32\n");
	pb_check_sources(&plan, 0, "0.1+2 0.0 0.3");
	pb_free(&s, &plan);
}
END_TEST

/* No definition is longer than the kernel takes, none has more fields, and none is lost. */
static void check_many(unsigned int count, bool too_many)
{
	static const char *const forms[] = {"8@-9223372036854775808(%%r1%u) ", "8@$%u ",
					    "-4@%%r1%ud "};
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_buf args = {0};
	size_t refused = 0, constants = 0, fields = 0;

	for (unsigned int i = 0; i < count; i++)
		nw_buf_printf(&args, forms[i % 3], i % 6);
	struct nw_point *point = pb_point(pb_probe(&s, image, "p", "a", NULL), 1,
					  nw_buf_str(&args));
	ck_assert_uint_eq(point->operands.count, count);
	struct nw_plan plan = pb_plan(&s, &all_args);
	ck_assert_uint_eq(plan.points.item[0].parts, plan.events.count);
	nw_vec_each (&plan.events, event) {
		struct nw_buf line = {0};
		nw_plan_define(&plan, *event, (*event)->places.item, image->path, true,
			       &line);
		ck_assert_uint_le(line.len + 1100, NW_MAX_LINE); /* and a long path */
		ck_assert_uint_le((*event)->fields.count, NW_MAX_FIELDS);
		if (*event !=
		    plan.events.item[plan.events.count - 1]) /* full: none is wasted */
			ck_assert(line.len > 2400 || (*event)->fields.count > 120);
		fields += (*event)->fields.count;
		nw_buf_free(&line);
	}
	nw_vec_each (&plan.points.item[0].args, source) {
		constants += source->fetch.is_constant;
		refused += source->fetch.problem != NULL;
		if (source->fetch.problem)
			ck_assert_str_eq(source->fetch.problem,
					 "one of too many arguments");
		if (source->fetch.problem || source->fetch.is_constant)
			ck_assert_int_eq(source->field, -1);
		else
			ck_assert_uint_lt((size_t)source->field,
					  plan.events.item[source->part]->fields.count);
	}
	ck_assert_uint_eq(fields + constants + refused, count);
	ck_assert_int_eq(refused > 0, too_many);
	ck_assert_int_eq(plan.events.count == NW_MAX_PARTS, too_many);
	nw_buf_free(&args);
	pb_free(&s, &plan);
}

START_TEST(many_arguments_are_spread_over_events)
{
	check_many(100, false);
	check_many(300, false);
	check_many(1000, false);
	check_many(10000, true);
}
END_TEST

START_TEST(more_strings_than_parts_are_left_out)
{
	struct nw_selection s = {0};
	struct nw_buf names = {0}, args = {0};

	for (int i = 0; i < 40; i++) {
		nw_buf_adds(&names, ":string,");
		nw_buf_adds(&args, "8@%rdi ");
	}
	pb_point(pb_probe(&s, pb_image(&s, "/x"), "p", "a", nw_buf_str(&names)), 1,
		 nw_buf_str(&args));
	struct nw_plan plan = pb_plan(&s, &plain);
	ck_assert_uint_eq(plan.events.count, NW_MAX_PARTS);
	ck_assert_uint_eq(plan.points.item[0].parts, NW_MAX_PARTS);
	for (unsigned int i = 0; i < 40; i++) {
		const struct nw_source *source = &plan.points.item[0].args.item[i];
		ck_assert_pstr_eq(source->fetch.problem,
				  i < NW_MAX_PARTS ? NULL : "one of too many strings");
		ck_assert_uint_eq(source->part, i < NW_MAX_PARTS ? i : 0);
		ck_assert_int_eq(source->field, i < NW_MAX_PARTS ? 0 : -1);
	}
	nw_buf_free(&names);
	nw_buf_free(&args);
	pb_free(&s, &plan);
}
END_TEST

UNIT_MAIN("plan", points_without_arguments_share_one_event,
	  equal_low_bits_need_another_event, kernels_without_shared_events_get_one_a_point,
	  returns_and_entries_do_not_share, types_decide_who_shares_and_sources_do_not,
	  arguments_are_fetched_only_if_they_are_wanted, a_string_comes_first,
	  every_further_string_has_an_event_of_its_own, a_pair_of_registers_is_two_fields,
	  many_arguments_are_spread_over_events, more_strings_than_parts_are_left_out)
