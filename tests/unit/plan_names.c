// SPDX-License-Identifier: MIT
/* What events and fields are called, and how an event is taken apart. */
#include "plan/plan_private.h"
#include "plan_builder.h"

#define ALL_CAPS                     \
	.caps = {.memory = true,     \
		 .ref_ctr = true,    \
		 .multi_site = true, \
		 .hex = true,        \
		 .arrays = true}

static const struct nw_plan_options plain = {.session = "s", ALL_CAPS};
static const struct nw_plan_options named = {.session = "mine",
					     .separate = true,
					     .naming = NW_NAMES_PROBES,
					     ALL_CAPS};

/* ---- events ------------------------------------------------------------------------- */

START_TEST(private_names_are_short_and_of_the_session)
{
	struct nw_plan_options options = plain;
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "p", "a", NULL);

	options.session = "abcdefghijklmnopqrstuvwxyz";
	pb_point(a, 0, "");
	pb_point(a, 0x1000, "");
	struct nw_plan plan = pb_plan(&s, &options);
	ck_assert_str_eq(plan.group, "nopwatch_abcdefghijklmnopqrst");
	pb_check(&plan,
		 "p:nopwatch_abcdefghijklmnopqrst/eabcdefghijklmnopqrst_0 /x:0x0\n"
		 "p:nopwatch_abcdefghijklmnopqrst/eabcdefghijklmnopqrst_1 /x:0x1000\n");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(separate_probes_do_not_share_but_their_points_do)
{
	struct nw_plan_options options = plain;
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", "x:u32,y:u32");
	struct nw_probe *b = pb_probe(&s, image, "p", "b", "z:u32");

	options.separate = true;
	pb_point(a, 1, "8@%rdi 8@%rsi");
	pb_point(a, 2, "8@%rdi 8@%rsi");
	pb_point(b, 3, "8@%rdi");
	struct nw_plan plan = pb_plan(&s, &options);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 a0=%di:u32 a1=%si:u32\n"
			"p:nopwatch_s/es_0 /x:0x2 a0=%di:u32 a1=%si:u32\n"
			"p:nopwatch_s/es_1 /x:0x3 a0=%di:u32\n");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(names_after_probes_are_identifiers_and_no_two_are_the_same)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x"), *other = pb_image(&s, "/y");
	static const char *const names[] = {
		"query__start",
		"query__start",
		"query-start",
		"query.start",
		"0x1234",
		"main+0x10",
		"\"quoted\"",
		"query__start_1",
		"b\xc3\xa9",
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"
		"wxyz",
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"
		"w",
	};

	for (size_t i = 0; i < NW_COUNT(names); i++)
		pb_point(pb_probe(&s, i == 1 ? other : image, "p", names[i], NULL),
			 0x10 + i, "");
	struct nw_plan plan = pb_plan(&s, &named);
	pb_check(&plan,
		 "p:nopwatch_mine/query__start /x:0x10\n"
		 "p:nopwatch_mine/query__start_1 /y:0x11\n"
		 "p:nopwatch_mine/query_start /x:0x12\n"
		 "p:nopwatch_mine/query_start_1 /x:0x13\n"
		 "p:nopwatch_mine/_0x1234 /x:0x14\n"
		 "p:nopwatch_mine/main_0x10 /x:0x15\n"
		 "p:nopwatch_mine/_quoted_ /x:0x16\n"
		 "p:nopwatch_mine/query__start_1_1 /x:0x17\n"
		 "p:nopwatch_mine/b__ /x:0x18\n"
		 "p:nopwatch_mine/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzab "
		 "/x:0x19\n"
		 "p:nopwatch_mine/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzab_1 "
		 "/x:0x1a\n");
	pb_free(&s, &plan);
}
END_TEST

/* ---- fields ------------------------------------------------------------------------- */

START_TEST(fields_are_called_what_the_user_calls_them)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *a = pb_probe(&s, image, "p", "a",
				      "id,,sql:string,abcdefghijklmnopqrstuvwxyz01234");

	pb_point(a, 1, "8@%rdi 4@%esi 8@%rdx 4@%ecx 4@%eax");
	struct nw_plan plan = pb_plan(&s, &named);
	pb_check(&plan, "p:nopwatch_mine/a /x:0x1 id=%di:u64 arg1=%si:u32 "
			"abcdefghijklmnopqrstuvwxyz0=%cx:u32 arg4=%ax:u32 sql=%dx:x64 "
			"sql_chr0=+0(%dx):x8[64] sql_str64=+64(%dx):x64[24]\n");
	ck_assert_str_eq(plan.events.item[0]->shape,
			 "p id:u64 arg1:u32 abcdefghijklmnopqrstuvwxyz0:u32 arg4:u32 "
			 "sql:x64 sql_chr0:x8[64] sql_str64:x64[24] #0.0");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(names_that_are_taken_or_reserved_get_a_number)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	/* the first two differ behind the 27th character only */
	struct nw_probe *a = pb_probe(&s, image, "p", "a",
				      "abcdefghijklmnopqrstuvwxyz0a,"
				      "abcdefghijklmnopqrstuvwxyz0b,"
				      "common_pid,__probe_ip,arg5,,common_cpu");
	struct nw_probe *pair = pb_probe(&s, image, "p", "pair", "wide,wide_1");

	pb_point(a, 1, "4@%eax 4@%ebx 4@%ecx 4@%edx 4@%esi 4@%edi 4@%r8d");
	image->arch = nw_arch_by_name("i386");
	pb_point(pair, 2, "8@%eax 4@%ecx");
	struct nw_plan plan = pb_plan(&s, &named);
	pb_check(&plan, "p:nopwatch_mine/a /x:0x1 abcdefghijklmnopqrstuvwxyz0=%ax:u32 "
			"abcdefghijklmnopqrstuvwx_1=%bx:u32 common_pid_1=%cx:u32 "
			"__probe_ip_1=%dx:u32 "
			"arg5=%si:u32 arg5_1=%di:u32 common_cpu=%r8:u32\n"
			"p:nopwatch_mine/pair /x:0x2 wide=%ax:u32 wide_1=%dx:u32 "
			"wide_1_1=%cx:u32\n");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(identifiers_are_made_of_anything)
{
	static const struct {
		const char *text;
		size_t most;
		const char *wanted;
	} cases[] = {
		{"abc", 63, "abc"},    {"abc", 2, "ab"},     {"a-b.c d", 63, "a_b_c_d"},
		{"1abc", 63, "_1abc"}, {"1abc", 3, "_1a"},   {"", 63, "_"},
		{"_", 63, "_"},	       {"A9_z", 63, "A9_z"}, {"\xff\x01", 63, "__"},
		{"p:n", 63, "p_n"},    {"", 0, ""},	     {"abc", 0, ""},
		{"x", 1, "x"},
	};
	char out[64];

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		memset(out, 'Z', sizeof(out));
		nw_identifier(cases[i].text, cases[i].most, out);
		ck_assert_str_eq(out, cases[i].wanted);
	}
}
END_TEST

START_TEST(some_paths_cannot_be_written)
{
	static const struct {
		const char *path;
		bool writable;
	} cases[] = {
		{"/usr/bin/x", true},
		{"/", true},
		{"/a:b/c", true},
		{"/a(b)", true},
		{"/a'b\"c\\d;e", true},
		{"/proc/self/fd/3", true},
		{"/\xc3\xa9t\xc3\xa9", true}, /* /ete with accents */
		{"usr/bin/x", false},
		{"./x", false},
		{"", false},
		{"/a b", false},
		{"/a\tb", false},
		{"/a\nb", false},
		{"/a\vb", false},
		{"/a\rb", false},
		{"/a\fb", false},
		{"/a#b", false},
		{"/a ", false},
		/* the kernel's isspace() is Latin-1: the second byte of an a with a grave
		 * accent is its no-break space */
		{"/voil\xc3\xa0/x", false},
		{"/a\xa0", false},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		ck_assert_msg(nw_path_is_writable(cases[i].path) == cases[i].writable,
			      "'%s'", cases[i].path);
}
END_TEST

/* ---- taking apart ------------------------------------------------------------------- */

/* Every place of every event, as it would be defined. */
static void check_armed(const struct nw_armed *armed, const char *wanted)
{
	struct nw_buf out = {0};

	nw_vec_each (&armed->events, slot) {
		const struct nw_armed_event *event = *slot;
		const struct nw_event *planned = event->planned;
		for (size_t i = 0; i < planned->places.count; i++) {
			const struct nw_event_site *place = &planned->places.item[i];
			const struct nw_point *point = nw_plan_point(armed->plan, place);
			if (event->by_low_bits[point->offset & 0xfff] != i + 1)
				continue;
			ck_assert(nw_armed_holds(event, i));
			nw_plan_define_as(armed->plan, planned, event->name, place,
					  point->image->path, true, &out);
			nw_buf_addc(&out, '\n');
		}
	}
	ck_assert_str_eq(nw_buf_str(&out), wanted);
	nw_buf_free(&out);
}

START_TEST(an_event_is_split_place_by_place)
{
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "p", "a", "n");
	struct nw_armed armed;

	pb_point(a, 1, "8@%rdi");
	pb_point(a, 2, "8@%rsi")->semaphore_offset = 0x40;
	pb_point(a, 3, "8@%rdx");
	struct nw_plan plan = pb_plan(&s, &plain);
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	struct nw_armed_event *first = armed.events.item[0];
	ck_assert_uint_eq(first->defined, 0);
	struct nw_armed_event *second = nw_armed_split(&armed, first, 2);
	check_armed(&armed, "p:nopwatch_s/es_0 /x:0x1 a0=%di:u64\n"
			    "p:nopwatch_s/es_0 /x:0x2(0x40) a0=%si:u64\n"
			    "p:nopwatch_s/es_0_s2 /x:0x3 a0=%dx:u64\n");
	ck_assert_ptr_eq(armed.events.item[1], second);
	ck_assert_ptr_eq(second->planned, first->planned);
	ck_assert_uint_eq(second->defined, 0);
	ck_assert_uint_eq(second->by_low_bits[3], 3);
	ck_assert_uint_eq(first->by_low_bits[3], 0);
	ck_assert_uint_eq(first->by_low_bits[2], 2);
	ck_assert(nw_armed_holds(second, 2) && !nw_armed_holds(second, 1));
	ck_assert_ptr_nonnull(nw_armed_split(&armed, first, 1));
	ck_assert_ptr_nonnull(nw_armed_split(&armed, first, 0));
	check_armed(&armed, "p:nopwatch_s/es_0_s2 /x:0x3 a0=%dx:u64\n"
			    "p:nopwatch_s/es_0_s3 /x:0x2(0x40) a0=%si:u64\n"
			    "p:nopwatch_s/es_0_s4 /x:0x1 a0=%di:u64\n");
	/* and the plan is what it was */
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 a0=%di:u64\n"
			"p:nopwatch_s/es_0 /x:0x2(0x40) a0=%si:u64\n"
			"p:nopwatch_s/es_0 /x:0x3 a0=%dx:u64\n");
	nw_armed_free(&armed);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(a_split_return_is_still_a_return)
{
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "uretprobe", "f", NULL);
	struct nw_armed armed;

	pb_point(a, 1, "")->is_return = true;
	pb_point(a, 2, "")->is_return = true;
	struct nw_plan plan = pb_plan(&s, &plain);
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	ck_assert_ptr_nonnull(nw_armed_split(&armed, armed.events.item[0], 1));
	check_armed(&armed, "r:nopwatch_s/es_0 /x:0x1\n"
			    "r:nopwatch_s/es_0_s2 /x:0x2\n");
	nw_armed_free(&armed);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(a_part_of_an_event_does_not_take_the_name_of_another)
{
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", NULL);
	struct nw_armed armed;

	pb_point(a, 1, "");
	pb_point(a, 2, "");
	pb_point(pb_probe(&s, image, "p", "a_s3", NULL), 3, "");
	struct nw_plan plan = pb_plan(&s, &named);
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	ck_assert_ptr_nonnull(nw_armed_split(&armed, armed.events.item[0], 1));
	check_armed(&armed, "p:nopwatch_mine/a /x:0x1\n"
			    "p:nopwatch_mine/a_s3 /x:0x3\n"
			    "p:nopwatch_mine/a_s4 /x:0x2\n");
	nw_armed_free(&armed);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(what_is_refused_is_known_of_the_point)
{
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "p", "a", NULL);
	struct nw_armed armed;

	pb_point(a, 1, "");
	pb_point(a, 2, "");
	struct nw_plan plan = pb_plan(&s, &plain);
	const struct nw_event_site *places = plan.events.item[0]->places.item;
	const struct nw_event_site companion = {.planned = 1, .part = 2};
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	nw_armed_refuse(&armed, &places[0], "so");
	nw_armed_refuse(&armed, &places[0], "and so");
	nw_armed_refuse(&armed, &companion, "else");
	nw_armed_forget(&armed, armed.events.item[0], 0);
	nw_armed_assume(&armed);
	ck_assert_uint_eq(armed.points.item[0].refused, 1);
	ck_assert_str_eq(armed.points.item[0].why, "so");
	ck_assert(armed.points.item[0].failed && !armed.points.item[1].failed);
	ck_assert_uint_eq(armed.points.item[1].refused, 4);
	ck_assert_uint_eq(armed.events.item[0]->defined, 1);
	check_armed(&armed, "p:nopwatch_s/es_0 /x:0x2\n");
	nw_armed_free(&armed);
	pb_free(&s, &plan);
}
END_TEST

START_TEST(the_semaphore_is_written_only_where_the_kernel_counts)
{
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "p", "a", NULL);
	struct nw_buf line = {0};

	pb_point(a, 0xfedcba9876543210, "")->semaphore_offset = 0xabcdef;
	struct nw_plan plan = pb_plan(&s, &plain);
	const struct nw_event *event = plan.events.item[0];
	nw_plan_define(&plan, event, event->places.item, "/proc/self/fd/7", false, &line);
	ck_assert_str_eq(nw_buf_str(&line),
			 "p:nopwatch_s/es_0 /proc/self/fd/7:0xfedcba9876543210");
	nw_buf_clear(&line);
	nw_plan_define(&plan, event, event->places.item, "/x", true, &line);
	ck_assert_str_eq(nw_buf_str(&line),
			 "p:nopwatch_s/es_0 /x:0xfedcba9876543210(0xabcdef)");
	nw_buf_free(&line);
	pb_free(&s, &plan);
}
END_TEST

UNIT_MAIN("plan names", private_names_are_short_and_of_the_session,
	  separate_probes_do_not_share_but_their_points_do,
	  names_after_probes_are_identifiers_and_no_two_are_the_same,
	  fields_are_called_what_the_user_calls_them,
	  names_that_are_taken_or_reserved_get_a_number, identifiers_are_made_of_anything,
	  some_paths_cannot_be_written, an_event_is_split_place_by_place,
	  a_split_return_is_still_a_return,
	  a_part_of_an_event_does_not_take_the_name_of_another,
	  what_is_refused_is_known_of_the_point,
	  the_semaphore_is_written_only_where_the_kernel_counts)
