// SPDX-License-Identifier: MIT
/* Events that stay are called as perf and trace-cmd would call them. */
#include "plan_builder.h"

static const struct nw_plan_options stay = {
	.session = "",
	.all_args = true,
	.naming = NW_NAMES_STAY,
	.caps = {.ref_ctr = true, .hex = true, .arrays = true, .memory = true},
};

START_TEST(an_event_a_site_with_numbers_behind_the_first)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/usr/bin/app");
	struct nw_probe *a = pb_probe(&s, image, "app", "work__start", "id");
	struct nw_probe *b = pb_probe(&s, image, "app-x", "9 lives", NULL);

	pb_point(a, 0x10, "4@%edi");
	pb_point(a, 0x20, "4@%esi");
	pb_point(a, 0x30, "4@%edx");
	pb_point(b, 0x40, "");
	struct nw_plan plan = pb_plan(&s, &stay);
	pb_check(&plan, "p:sdt_app/work__start /usr/bin/app:0x10 id=%di:u32\n"
			"p:sdt_app/work__start_1 /usr/bin/app:0x20 id=%si:u32\n"
			"p:sdt_app/work__start_2 /usr/bin/app:0x30 id=%dx:u32\n"
			"p:sdt_app_x/_9_lives /usr/bin/app:0x40\n");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(functions_are_in_the_group_of_their_file)
{
	static const char *const paths[] = {"/lib/libc.so.6", "/opt/my-tool", "/x/7z"};
	static const char *const groups[] = {"probe_libc", "probe_my", "probe_file"};

	for (size_t i = 0; i < NW_COUNT(paths); i++) {
		struct nw_selection s = {0};
		struct nw_image *image = pb_image(&s, paths[i]);
		struct nw_probe *in = pb_probe(&s, image, "uprobe", "qsort", NULL);
		struct nw_probe *out = pb_probe(&s, image, "uretprobe", "qsort", NULL);
		in->kind = out->kind = NW_SPEC_FUNC;
		pb_point(in, 0x10, "");
		pb_point(out, 0x10, "")->is_return = true;
		struct nw_plan plan = pb_plan(&s, &stay);
		nw_cleanup(nw_free_ptr) char *wanted = nw_text(
			"p:%s/qsort %s:0x10\nr:%s/qsort__return %s:0x10\n", groups[i],
			paths[i], groups[i], paths[i]);
		pb_check(&plan, wanted);
		pb_free(&s, &plan);
	}
}
END_TEST

START_TEST(a_group_of_ones_own_and_the_same_names_in_two_files)
{
	struct nw_plan_options options = stay;
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/a"), "p", "n", NULL);
	struct nw_probe *b = pb_probe(&s, pb_image(&s, "/b"), "q", "n", NULL);

	pb_point(a, 1, "");
	pb_point(b, 2, "");
	struct nw_plan plan = pb_plan(&s, &stay);
	pb_check(&plan, "p:sdt_p/n /a:0x1\np:sdt_q/n /b:0x2\n");
	nw_plan_free(&plan);
	options.group = "mine";
	plan = pb_plan(&s, &options);
	pb_check(&plan, "p:mine/n /a:0x1\np:mine/n_1 /b:0x2\n");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(a_companion_has_an_event_that_says_so)
{
	struct nw_plan_options options = stay;
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/a"), "p", "n", "x:string");

	options.string_size = 3072;
	pb_point(a, 1, "8@%rdi");
	struct nw_plan plan = pb_plan(&s, &options);
	pb_check(
		&plan,
		"p:sdt_p/n /a:0x1 x=%di:x64 x_chr0=+0(%di):x8[64] x_str64=+64(%di):x64[64] "
		"x_str576=+576(%di):x64[64] x_str1088=+1088(%di):x64[64] "
		"x_str1600=+1600(%di):x64[64] x_str2112=+2112(%di):x64[64] "
		"x_str2624=+2624(%di):x64[55]\n"
		"p:sdt_p/n__part2 /a:0x1 x_str3064=+3064(%di):x64[1]\n");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(strings_of_the_kernels_own_type_have_an_event_each)
{
	struct nw_plan_options options = stay;
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/a"), "p", "n",
				      "x:string,n,y:string,z:string");

	options.kernel_strings = true;
	pb_point(a, 1, "8@%rdi -4@%ecx 8@-8(%rbp) 8@$0");
	struct nw_plan plan = pb_plan(&s, &options);
	pb_check(&plan, "p:sdt_p/n /a:0x1 n=%cx:s32 x=+0(%di):string\n"
			"p:sdt_p/n__part2 /a:0x1 y=+0(-8(%bp)):string\n");
	const struct nw_planned_point *point = &plan.points.item[0];
	ck_assert_uint_eq(point->args.item[0].chunks.count, 0);
	ck_assert_uint_eq(point->args.item[2].part, 1);
	ck_assert_ptr_nonnull(point->args.item[3].fetch.problem);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(names_are_cut_to_what_the_kernel_takes)
{
	char name[201];
	struct nw_selection s = {0};

	memset(name, 'x', 200);
	name[200] = '\0';
	struct nw_plan_options options = stay;
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/a"), name, name,
				      "x:string,y:string");
	options.string_size = 2000; /* two events each */
	pb_point(a, 1, "8@%rdi 8@%rsi");
	pb_point(a, 2, "8@%rdi 8@%rsi");
	pb_point(a, 3, "8@%rdi 8@%rsi")->is_return = true;
	struct nw_plan plan = pb_plan(&s, &options);
	ck_assert_uint_eq(plan.events.count, 6);
	nw_vec_each (&plan.events, event) {
		char numbered[NW_MAX_NAME + 1];
		nw_event_name(*event, 999999, numbered);
		ck_assert_ptr_nonnull(strstr(numbered, "_999999"));
		ck_assert_uint_le(strlen((*event)->group), NW_MAX_NAME);
	}
	pb_free(&s, &plan);
}
END_TEST

UNIT_MAIN("plan stay", an_event_a_site_with_numbers_behind_the_first,
	  functions_are_in_the_group_of_their_file,
	  a_group_of_ones_own_and_the_same_names_in_two_files,
	  a_companion_has_an_event_that_says_so,
	  strings_of_the_kernels_own_type_have_an_event_each,
	  names_are_cut_to_what_the_kernel_takes)
