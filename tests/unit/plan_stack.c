// SPDX-License-Identifier: MIT
/* plan: the stack pointer of calls, which only those who pair them fetch. */
#include "plan_builder.h"

static struct nw_selection selection;
static struct nw_plan plan;

static void add(struct nw_image *image, const char *provider, uint64_t offset,
		const char *names, const char *args)
{
	struct nw_probe *probe = pb_probe(&selection, image, provider, "f", names);
	bool usdt = strcmp(provider, "app") == 0;

	probe->kind = usdt ? NW_SPEC_USDT : NW_SPEC_FUNC;
	pb_point(probe, offset, args)->is_return = strcmp(provider, "uretprobe") == 0;
}

static void make(bool stacks, bool multi_site)
{
	struct nw_plan_options options = {
		.session = "s", .caps = nw_caps_all, .stacks = stacks};

	options.caps.multi_site = multi_site;
	plan = pb_plan(&selection, &options);
}

static void teardown(void)
{
	pb_free(&selection, &plan);
	selection = (struct nw_selection){0};
}

START_TEST(a_call_s_two_ends_have_it_and_nothing_else)
{
	struct nw_image *a = pb_image(&selection, "/bin/a");
	struct nw_image *b = pb_image(&selection, "/bin/b");

	add(a, "uprobe", 0x100, NULL, "");
	add(a, "uretprobe", 0x100, NULL, "");
	add(a, "app", 0x200, NULL, "");
	add(b, "uretprobe", 0x300, NULL, ""); /* nobody asks when it began */
	make(true, true);
	pb_check(&plan, "p:nopwatch_s/es_0 /bin/a:0x100 sp=%sp:u64\n"
			"r:nopwatch_s/es_1 /bin/a:0x100 sp=%sp:u64\n"
			"p:nopwatch_s/es_2 /bin/a:0x200\n"
			"r:nopwatch_s/es_3 /bin/b:0x300\n");
	ck_assert(nw_plan_has_stacks(&plan));
	ck_assert(plan.points.item[0].stack.pops == 0 &&
		  plan.points.item[1].stack.pops == 8 && !plan.points.item[1].stack.loose);
	ck_assert_int_eq(plan.points.item[2].stack.field, -1);
	ck_assert_int_eq(plan.points.item[3].stack.field, -1);
	nw_plan_free(&plan);
	make(false, true);
	pb_check(&plan, "p:nopwatch_s/es_0 /bin/a:0x100\n"
			"p:nopwatch_s/es_0 /bin/a:0x200\n"
			"r:nopwatch_s/es_1 /bin/a:0x100\n"
			"r:nopwatch_s/es_1 /bin/b:0x300\n");
	ck_assert(!nw_plan_has_stacks(&plan));
	teardown();
}
END_TEST

START_TEST(it_stands_behind_the_numbers_under_a_name_that_is_free)
{
	struct nw_image *a = pb_image(&selection, "/bin/a");

	add(a, "uprobe", 0x100, "sp,text:string", "8@%rdi 8@%rsi");
	add(a, "uretprobe", 0x100, "result", "8@%rax");
	struct nw_plan_options options = {.session = "s",
					  .caps = nw_caps_all,
					  .stacks = true,
					  .naming = NW_NAMES_PROBES};
	plan = pb_plan(&selection, &options);
	nw_cleanup(nw_free_ptr) char *lines = pb_lines(&plan);
	ck_assert_ptr_nonnull(strstr(lines, " sp=%di:u64 sp_1=%sp:u64 text=%si:"));
	ck_assert_ptr_nonnull(strstr(lines, " result=%ax:u64 sp=%sp:u64\n"));
	teardown();
}
END_TEST

/* What stands where other tools look, and who pops how much, differs. */
START_TEST(every_architecture_has_its_own)
{
	static const struct {
		const char *arch, *fetch;
		int64_t pops;
		bool loose;
	} rows[] = {
		{"x86_64", "sp=%sp:u64", 8, false},
		{"i386", "sp=%sp:u32", 4, true},
		{"aarch64", "sp=%sp:u64", 0, false},
		{"arm", "sp=%sp:u32", 0, false},
		{"ppc64le", "sp=%gpr1:u64", 0, false},
		{"s390x", "sp=%r15:u64", 0, false},
		{"riscv64", "sp=%sp:u64", 0, false},
		{"loongarch64", "sp=%r3:u64", 0, false},
	};

	for (size_t i = 0; i < NW_COUNT(rows); i++) {
		struct nw_image *a = pb_image(&selection, "/bin/a");
		a->arch = nw_arch_by_name(rows[i].arch);
		add(a, "uprobe", 0x100, NULL, "");
		add(a, "uretprobe", 0x100, NULL, "");
		make(true, true);
		nw_cleanup(nw_free_ptr) char *lines = pb_lines(&plan);
		ck_assert_msg(strstr(lines, rows[i].fetch) != NULL, "%s: %s", rows[i].arch,
			      lines);
		ck_assert_int_eq(plan.points.item[1].stack.pops, rows[i].pops);
		ck_assert(plan.points.item[1].stack.loose == rows[i].loose);
		teardown();
	}
	/* a kretprobe of 32-bit ARM does not know it, so neither end of a call has it */
	struct nw_image *kernel = pb_image(&selection, "kernel");
	kernel->arch = nw_arch_by_name("arm");
	kernel->kernel = true;
	add(kernel, "uprobe", 0x100, NULL, "");
	add(kernel, "uretprobe", 0x100, NULL, "");
	make(true, true);
	ck_assert_int_eq(plan.points.item[0].stack.field, -1);
	ck_assert_int_eq(plan.points.item[1].stack.field, -1);
	teardown();
}
END_TEST

static void make_levels(bool key_sums)
{
	struct nw_plan_options options = {
		.session = "s", .caps = nw_caps_all, .stacks = true, .levels = true};

	options.caps.key_sums = key_sums;
	plan = pb_plan(&selection, &options);
}

/* For the kernel, which pairs by what both ends have. */
START_TEST(for_the_kernel_both_ends_have_an_expression)
{
	struct nw_image *a = pb_image(&selection, "/bin/a");
	char level[64];

	add(a, "uprobe", 0x100, NULL, "");
	add(a, "uretprobe", 0x100, NULL, "");
	add(a, "app", 0x200, NULL, "");
	/* the last one in a function of arm64 that has no frame */
	for (int i = 0; i < 3; i++) {
		struct nw_point *point = pb_point(selection.probes.item[2],
						  (uint64_t)(0x300 + 0x100 * i), "");
		point->frame = (struct nw_frame){.function = 0x1000,
						 .reg = "bp",
						 .offset = i == 2 ? 0 : 16 + 32 * i};
	}
	make_levels(true);
	pb_check(&plan, "p:nopwatch_s/es_0 /bin/a:0x100 sp=%sp:u64\n"
			"r:nopwatch_s/es_1 /bin/a:0x100 sp=%sp:u64 level=\\8:u64\n"
			"p:nopwatch_s/es_2 /bin/a:0x200\n"
			"p:nopwatch_s/es_3 /bin/a:0x300 frame=%bp:u64 level=\\16:u64\n"
			"p:nopwatch_s/es_3 /bin/a:0x400 frame=%bp:u64 level=\\48:u64\n"
			"p:nopwatch_s/es_3 /bin/a:0x500 frame=%bp:u64 level=\\0:u64\n");
	ck_assert(nw_event_level(&plan, plan.events.item[0], level));
	ck_assert_str_eq(level, "sp");
	ck_assert(nw_event_level(&plan, plan.events.item[1], level));
	ck_assert_str_eq(level, "sp-level");
	ck_assert(!nw_event_level(&plan, plan.events.item[2], level));
	ck_assert(nw_event_level(&plan, plan.events.item[3], level));
	ck_assert_str_eq(level, "frame+level");
	nw_plan_free(&plan);
	make_levels(false);
	ck_assert(nw_event_level(&plan, plan.events.item[0], level));
	ck_assert(!nw_event_level(&plan, plan.events.item[1], level));
	teardown();
	/* a function that pops its arguments may have popped more */
	a = pb_image(&selection, "/bin/a");
	a->arch = nw_arch_by_name("i386");
	add(a, "uprobe", 0x100, NULL, "");
	add(a, "uretprobe", 0x100, NULL, "");
	make_levels(true);
	ck_assert(!nw_event_level(&plan, plan.events.item[1], level));
	teardown();
}
END_TEST

/* A return that is a place in the code, in front of the instruction. */
START_TEST(a_return_instruction_has_popped_nothing)
{
	struct nw_image *a = pb_image(&selection, "/bin/a");

	add(a, "uprobe", 0x100, NULL, "");
	struct nw_probe *back = pb_probe(&selection, a, "uretprobe", "f", NULL);
	back->kind = NW_SPEC_FUNC;
	pb_point(back, 0x120, "");
	pb_point(back, 0x140, "");
	make(true, true);
	for (size_t i = 0; i < 3; i++)
		ck_assert(plan.points.item[i].stack.field == 0 &&
			  plan.points.item[i].stack.pops == 0);
	teardown();
}
END_TEST

START_TEST(a_saved_plan_has_it_too)
{
	struct nw_image *a = pb_image(&selection, "/bin/a");
	struct nw_selection loaded;
	struct nw_plan again;
	struct nw_armed armed;
	struct nw_buf text = {0};

	a->arch = nw_arch_by_name("i386");
	add(a, "uprobe", 0x100, NULL, "");
	add(a, "uretprobe", 0x100, NULL, "");
	make(true, true);
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	nw_armed_assume(&armed);
	nw_plan_save(&armed, &text);
	nw_armed_free(&armed);
	ck_assert_ptr_nonnull(strstr(text.data, "\nstack 0 4 1\n"));
	ck_assert_int_eq(
		nw_plan_load(text.data, text.len, &loaded, &again, NULL, NULL, NULL, NULL),
		0);
	for (size_t i = 0; i < 2; i++) {
		const struct nw_stack_field *x = &plan.points.item[i].stack;
		const struct nw_stack_field *y = &again.points.item[i].stack;
		ck_assert(x->field == y->field && x->pops == y->pops &&
			  x->loose == y->loose);
	}
	nw_plan_free(&again);
	nw_selection_free(&loaded);
	nw_buf_free(&text);
	teardown();
}
END_TEST

/* Sites that share an event have their own offsets, and what is saved has them, too. */
START_TEST(pairs_in_one_function_have_their_frames)
{
	struct nw_image *a = pb_image(&selection, "/bin/a");
	struct nw_selection loaded;
	struct nw_plan again;
	struct nw_buf text = {0};

	add(a, "app", 0x200, NULL, "");
	pb_point(selection.probes.item[0], 0x300, "");
	selection.probes.item[0]->points.item[0].frame = (struct nw_frame){
		.function = 0x1f0, .reg = "sp", .offset = 64};
	selection.probes.item[0]->points.item[1].frame = (struct nw_frame){
		.function = 0x2f0, .reg = "bp", .offset = -16};
	make(true, true);
	pb_check(&plan, "p:nopwatch_s/es_0 /bin/a:0x200 frame=%sp:u64\n"
			"p:nopwatch_s/es_0 /bin/a:0x300 frame=%bp:u64\n");
	struct nw_armed armed;
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	nw_armed_assume(&armed);
	nw_plan_save(&armed, &text);
	nw_armed_free(&armed);
	ck_assert_int_eq(
		nw_plan_load(text.data, text.len, &loaded, &again, NULL, NULL, NULL, NULL),
		0);
	ck_assert_int_eq(again.points.item[0].stack.pops, -64);
	ck_assert_int_eq(again.points.item[1].stack.pops, 16);
	ck_assert_uint_eq(loaded.probes.item[0]->points.item[1].frame.function, 0x2f0);
	nw_plan_free(&again);
	nw_selection_free(&loaded);
	nw_buf_free(&text);
	teardown();
}
END_TEST

/* Go's calls run on the stacks of goroutines: whose, and where that stack ends, is fetched, too. */
START_TEST(calls_of_go_s_say_whose_they_are)
{
	struct nw_image *a = pb_image(&selection, "/bin/a");
	struct nw_selection loaded;
	struct nw_plan again;
	struct nw_armed armed;
	struct nw_buf text = {0};

	add(a, "uprobe", 0x100, "g", "8@%rax");
	add(a, "uretprobe", 0x100, NULL, "");
	selection.probes.item[0]->points.item[0].goroutine = "r14";
	selection.probes.item[1]->points.item[0].goroutine = ""; /* in no register */
	struct nw_plan_options options = {.session = "s",
					  .caps = nw_caps_all,
					  .stacks = true,
					  .naming = NW_NAMES_PROBES};
	plan = pb_plan(&selection, &options);
	nw_cleanup(nw_free_ptr) char *lines = pb_lines(&plan);
	ck_assert_ptr_nonnull(strstr(lines, " g=%ax:u64 sp=%sp:u64 g_1=%r14:u64 "
					    "g_hi=+8(%r14):u64 g_guard=+16(%r14):u64\n"));
	ck_assert_int_eq(plan.points.item[0].stack.goroutine, 2);
	ck_assert_int_eq(plan.points.item[1].stack.goroutine, 0);
	ck_assert(nw_plan_has_goroutines(&plan));
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	nw_armed_assume(&armed);
	nw_plan_save(&armed, &text);
	nw_armed_free(&armed);
	ck_assert_int_eq(
		nw_plan_load(text.data, text.len, &loaded, &again, NULL, NULL, NULL, NULL),
		0);
	ck_assert_int_eq(again.points.item[0].stack.goroutine, 2);
	ck_assert_ptr_nonnull(loaded.probes.item[0]->points.item[0].goroutine);
	nw_plan_free(&again);
	nw_selection_free(&loaded);
	nw_buf_free(&text);
	teardown();
}
END_TEST

START_TEST(a_damaged_one_is_refused)
{
	static const char *const lines[] = {"stack -1 0 0",
					    "stack 0 65536 0",
					    "stack 0 0 2",
					    "stack 128 0 0",
					    "stack 0 0",
					    "frame 0 16",
					    "frame 128 16 1",
					    "frame 0 16 0",
					    "goroutine 1",
					    "stack 0 0 0\ngoroutine 0",
					    "stack 0 0 0\ngoroutine 126"};

	for (size_t i = 0; i < NW_COUNT(lines); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text(
			"nopwatch-plan 1\nimage /a\nprobe 0 1 uprobe f f 0\npoint 0 0 0\n"
			"planned 0 0 1 0\n%s\n",
			lines[i]);
		struct nw_error err;
		ck_assert_int_lt(nw_plan_load(text, strlen(text), &selection, &plan, NULL,
					      NULL, NULL, &err),
				 0);
	}
}
END_TEST

UNIT_MAIN("plan_stack", pairs_in_one_function_have_their_frames,
	  a_call_s_two_ends_have_it_and_nothing_else,
	  it_stands_behind_the_numbers_under_a_name_that_is_free,
	  every_architecture_has_its_own, for_the_kernel_both_ends_have_an_expression,
	  a_return_instruction_has_popped_nothing, a_saved_plan_has_it_too,
	  calls_of_go_s_say_whose_they_are, a_damaged_one_is_refused)
