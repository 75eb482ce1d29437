// SPDX-License-Identifier: MIT
/* Which points share events, and the lines that define them, literally. */
#include "plan_builder.h"

#define ALL_CAPS                     \
	.caps = {.memory = true,     \
		 .ref_ctr = true,    \
		 .multi_site = true, \
		 .hex = true,        \
		 .arrays = true,     \
		 .partial = true}

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
	}
	const struct nw_event *event = plan.events.item[0];
	ck_assert_str_eq(event->shape, "p");
	ck_assert_uint_eq(event->fields.count, 0);
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

/* Where the bytes of a string are: "PART.FIELD@OFFSET:BITS[COUNT]" of each chunk. */
static void check_chunks(const struct nw_source *source, const char *wanted)
{
	struct nw_buf got = {0};

	nw_vec_each (&source->chunks, chunk)
		nw_buf_printf(&got, "%s%u.%d@%u:%u[%u]", got.len ? " " : "", chunk->part,
			      chunk->field, chunk->offset, chunk->bits, chunk->count);
	ck_assert_str_eq(nw_buf_str(&got), wanted);
	nw_buf_free(&got);
}

START_TEST(a_string_is_its_pointer_and_words_behind_the_numbers)
{
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "p", "a",
				      "id,sql:string,n:u16,name:string");

	pb_point(a, 1, "8@%rdi 8@%rsi 4@%edx 8@8(%rsp)");
	struct nw_plan plan = pb_plan(&s, &plain);
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 a0=%di:u64 a1=%dx:u16 a2=%si:x64 "
			"a3=+0(%si):x64[32] a4=+8(%sp):x64 a5=+0(+8(%sp)):x64[32]\n");
	pb_check_sources(&plan, 0, "0.0 0.2 0.1 0.4");
	check_chunks(&plan.points.item[0].args.item[1], "0.3@0:64[32]");
	check_chunks(&plan.points.item[0].args.item[3], "0.5@0:64[32]");
	ck_assert_uint_eq(plan.points.item[0].parts, 1);
	pb_free(&s, &plan);
}
END_TEST

/* The definitions of one string of a size, with what a kernel has. */
static void check_string(const struct nw_plan_options *options, uint32_t size,
			 const char *names, const char *wanted)
{
	struct nw_plan_options sized = *options;
	struct nw_selection s = {0};
	struct nw_probe *a = pb_probe(&s, pb_image(&s, "/x"), "p", "a", names);

	sized.string_size = size;
	pb_point(a, 1, "8@%rdi");
	struct nw_plan plan = pb_plan(&s, &sized);
	pb_check(&plan, wanted);
	pb_free(&s, &plan);
}

START_TEST(strings_take_what_the_kernel_has)
{
	struct nw_plan_options options = plain;

	check_string(&options, 8, "s:string",
		     "p:nopwatch_s/es_0 /x:0x1 a0=%di:x64 a1=+0(%di):x64[1]\n");
	check_string(&options, 600, "s:string",
		     "p:nopwatch_s/es_0 /x:0x1 a0=%di:x64 a1=+0(%di):x64[64] "
		     "a2=+512(%di):x64[11]\n");
	options.caps.partial = false; /* the beginning bytewise, so that none is lost */
	check_string(&options, 256, "s:string",
		     "p:nopwatch_s/es_0 /x:0x1 a0=%di:x64 a1=+0(%di):x8[64] "
		     "a2=+64(%di):x64[24]\n");
	options.caps.hex = false;
	check_string(&options, 16, "s:string",
		     "p:nopwatch_s/es_0 /x:0x1 a0=%di:u64 a1=+0(%di):u8[16]\n");
	options.caps.arrays = false;
	check_string(&options, 3, "s:string",
		     "p:nopwatch_s/es_0 /x:0x1 a0=%di:u64 a1=+0(%di):u8 a2=+1(%di):u8 "
		     "a3=+2(%di):u8\n");
	options = plain;
	options.any_kernel = true;
	check_string(&options, 2, "s:string",
		     "p:nopwatch_s/es_0 /x:0x1 a0=%di:u64 a1=+0(%di):u8 a2=+1(%di):u8\n");
	options = plain;
	options.naming = NW_NAMES_PROBES;
	check_string(&options, 520, "a_name_of_25_characters__:string",
		     "p:nopwatch_s/a /x:0x1 a_name_of_25_characters__=%di:x64 "
		     "a_name_of_25_charact_str0=+0(%di):x64[64] "
		     "a_name_of_25_charact_str512=+512(%di):x64[1]\n");
}
END_TEST

/* A function of the kernel has no path, whose room its line has for fields: a system call has one event. */
START_TEST(a_string_of_a_kernel_function_is_whole_in_one_event)
{
	struct nw_plan_options options = plain;

	options.caps.arrays = options.caps.partial = false;
	options.naming = NW_NAMES_PROBES;
	options.string_size = 256;
	for (int kernel = 0; kernel <= 1; kernel++) {
		struct nw_selection s = {0};
		struct nw_image *image = pb_image(&s, "/x");
		struct nw_probe *a = pb_probe(&s, image, "p", "a", "a_name_of_14__:string");

		image->kernel = kernel;
		pb_point(a, 1, "8@%rdi");
		struct nw_plan plan = pb_plan(&s, &options);
		ck_assert_uint_eq(plan.events.count, (kernel ? 1 : 2));
		pb_free(&s, &plan);
	}
}
END_TEST

/* What a field has, of "name=+0(%di):x64[32]". */
static size_t bytes_of(const char *fetch)
{
	const char *type = strrchr(fetch, ':');
	unsigned int bits = 0, count = 1;

	ck_assert_int_ge(sscanf(type + 2, "%u[%u]", &bits, &count), 1);
	return (size_t)bits / 8 * count;
}

/* No event has more bytes than every kernel bears, and none that an unbounded string decides. */
static void check_bytes(const struct nw_plan *plan)
{
	nw_vec_each (&plan->events, event) {
		nw_cleanup(nw_free_ptr) char *copy = strdup(
			(*event)->places.item[0].fetches);
		char *rest = copy, *one;
		size_t bytes = 0;
		while ((one = strsep(&rest, " "))) {
			ck_assert_ptr_null(strstr(one, "string"));
			bytes += *one ? bytes_of(one) : 0;
		}
		ck_assert_uint_le(bytes, NW_MAX_BYTES);
		ck_assert_uint_le((*event)->fields.count, NW_MAX_FIELDS);
	}
}

START_TEST(no_event_has_more_bytes_than_kernels_bear)
{
	static const char *const names[] = {
		"a:u64[64],b:u64[64],c:u64[64],d:u64[64],e:u64[64],f:u64[64],g:u64[64]",
		"a:string,b:u64[64],c:string,d:u64[64],e:string,f:x8[64],g:string",
		"a:string,b:string,c:string,d:string,e:string,f:string,g:string"};
	static const uint32_t sizes[] = {0, 8, 1000, 4096, NW_MAX_STRING_SIZE};

	for (size_t i = 0; i < NW_COUNT(names) * NW_COUNT(sizes) * 4; i++) {
		struct nw_plan_options options = plain;
		struct nw_selection s = {0};
		options.string_size = sizes[i % NW_COUNT(sizes)];
		options.caps.partial = i & 1;
		options.any_kernel = i & 2;
		pb_point(pb_probe(&s, pb_image(&s, "/x"), "p", "a",
				  names[i % NW_COUNT(names)]),
			 1, "8@%rdi 8@%rsi 8@8(%rsp) 8@%rcx 8@%r8 8@%r9 8@%rax");
		struct nw_plan plan = pb_plan(&s, &options);
		check_bytes(&plan);
		ck_assert_uint_eq(plan.points.item[0].parts, plan.events.count);
		pb_free(&s, &plan);
	}
}
END_TEST

START_TEST(arrays_of_strings_are_refused)
{
	struct nw_selection s = {0};

	pb_point(pb_probe(&s, pb_image(&s, "/x"), "p", "a", "s:string[2]"), 1, "8@%rdi");
	struct nw_plan plan = pb_plan(&s, &plain);
	pb_check_sources(&plan, 0, "!an array of strings: ask for the pointers, x64[N]");
	pb_free(&s, &plan);
}
END_TEST

START_TEST(strings_that_do_not_fit_one_event_have_companions)
{
	struct nw_plan_options options = plain;
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", "a:string,n,b:string");
	struct nw_probe *b = pb_probe(&s, image, "p", "b", "s:string,n");

	options.string_size = 2048;
	pb_point(a, 1, "8@%rdi 4@%esi 8@8(%rsp)");
	pb_point(a, 2, "8@%rdi 4@%esi 4@$1");
	pb_point(b, 3, "8@%rax 4@%esi");
	struct nw_plan plan = pb_plan(&s, &options);
	check_bytes(&plan);
	pb_check_sources(&plan, 0, "0.1 0.0 0.6");
	check_chunks(&plan.points.item[0].args.item[0],
		     "0.2@0:64[64] 0.3@512:64[64] 0.4@1024:64[64] 0.5@1536:64[64]");
	check_chunks(&plan.points.item[0].args.item[2],
		     "0.7@0:64[64] 0.8@512:64[61] 1.0@1000:64[64] 1.1@1512:64[64] "
		     "1.2@2024:64[3]");
	ck_assert(!plan.points.item[0].args.item[0].spread);
	ck_assert(plan.points.item[0].args.item[2].spread);
	pb_check_sources(&plan, 1, "0.1 0.0 !a constant: it points nowhere");
	ck_assert_uint_eq(plan.points.item[0].parts, 2);
	ck_assert_uint_eq(plan.points.item[1].parts, 1);
	ck_assert_uint_eq(plan.points.item[2].parts, 1);
	ck_assert_uint_eq(plan.events.count, 3); /* the others share one */
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
	pb_check(&plan, "p:nopwatch_s/es_0 /x:0x1 a0=%ax:u32 a1=%dx:u32 a2=%di:s32 "
			"a3=%si:x32 a4=+0(%si):x64[32]\n");
	pb_check_sources(&plan, 0, "0.0+1 0.3 0.2");
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
	struct nw_plan_options options = plain;
	struct nw_selection s = {0};
	struct nw_buf names = {0}, args = {0};
	uint32_t last = NW_MAX_STRING_SIZE;

	options.string_size = NW_MAX_STRING_SIZE;
	for (int i = 0; i < 40; i++) {
		nw_buf_adds(&names, ":string,");
		nw_buf_adds(&args, "8@%rdi ");
	}
	pb_point(pb_probe(&s, pb_image(&s, "/x"), "p", "a", nw_buf_str(&names)), 1,
		 nw_buf_str(&args));
	struct nw_plan plan = pb_plan(&s, &options);
	check_bytes(&plan);
	ck_assert_uint_eq(plan.events.count, NW_MAX_PARTS);
	ck_assert_uint_eq(plan.points.item[0].parts, NW_MAX_PARTS);
	nw_vec_each (&plan.points.item[0].args, source) {
		uint32_t bytes = 0;
		nw_vec_each (&source->chunks, chunk)
			bytes += nw_chunk_bytes(chunk);
		/* whole ones, one that is shorter, and then none */
		ck_assert_uint_le(bytes, last);
		ck_assert(last == NW_MAX_STRING_SIZE || bytes == 0);
		ck_assert_pstr_eq(source->fetch.problem,
				  bytes ? NULL : "one of too many strings");
		last = bytes;
	}
	ck_assert_uint_eq(last, 0);
	nw_buf_free(&names);
	nw_buf_free(&args);
	pb_free(&s, &plan);
}
END_TEST

/* The events' names, in order, each with the number of its places. */
static void check_events(const struct nw_armed *armed, const char *wanted)
{
	struct nw_buf text = {0};

	nw_vec_each (&armed->events, event)
		nw_buf_printf(&text, "%s%s=%zu", text.len ? " " : "", (*event)->name,
			      (*event)->planned->places.count);
	ck_assert_str_eq(nw_buf_str(&text), wanted);
	nw_buf_free(&text);
}

/* A probed file is replaced twice: what records and the kernel know by numbers and names stays. */
START_TEST(a_plan_grows_behind_what_was_planned)
{
	struct nw_plan_options options = plain;
	struct nw_selection s = {0};
	struct nw_image *image = pb_image(&s, "/x");
	struct nw_probe *a = pb_probe(&s, image, "p", "a", NULL);
	struct nw_probe *b = pb_probe(&s, image, "p", "b", "s:string,t:string");
	struct nw_armed armed;

	options.string_size = 2048; /* two strings need two events */
	pb_point(a, 0x1000, "");
	pb_point(b, 0x2001, "8@%rdi 8@%rsi");
	struct nw_plan plan = pb_plan(&s, &options);
	const size_t first = plan.events.count, parts = plan.points.item[1].parts;
	ck_assert_uint_eq(first, 1 + parts);
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	armed.points.item[0].refused = 1;
	armed.events.item[0]->id = 77;
	armed.events.item[0]->defined = 1;
	char *before = pb_lines(&plan);

	/* The low bits would fit into the events that are there, which the kernel has taken already. */
	for (size_t round = 1; round <= 2; round++) {
		nw_points_of more = {0};
		size_t known = plan.events.count;
		for (size_t i = 0; i < 2; i++) {
			pb_point(a, 0x1000 + 8 * round + i, "");
			*nw_vec_add(&more) = (struct nw_point_of){0, 2 * round - 1 + i};
		}
		pb_point(b, 0x2001 + 8 * round, "8@%rax 8@%rsi");
		*nw_vec_add(&more) = (struct nw_point_of){1, round};
		ck_assert_int_eq(nw_plan_grow(&plan, &options, &more), 0);
		ck_assert_int_eq(nw_armed_grow(&armed, known), 0);
		nw_vec_free(&more);
		ck_assert_uint_eq(plan.events.count, (1 + round) * first);
		ck_assert_uint_eq(plan.points.count, 2 + 3 * round);
		const struct nw_planned_point *last = &plan.points.item[1 + 3 * round];
		ck_assert_uint_eq(last->probe, 1);
		ck_assert_uint_eq(last->point, round);
		ck_assert_uint_eq(last->parts, parts);
		ck_assert_uint_eq(armed.points.count, plan.points.count);
		ck_assert_uint_eq(armed.points.item[3 * round].refused, 0);
		ck_assert_uint_eq(armed.events.item[known]->defined, 0);
	}
	char *after = pb_lines(&plan);
	ck_assert_msg(strncmp(after, before, strlen(before)) == 0, "%s", after);
	ck_assert_ptr_nonnull(strstr(after, ":0x1010\n"));
	ck_assert_uint_eq(armed.points.item[0].refused, 1);
	ck_assert_uint_eq(armed.events.item[0]->id, 77);
	ck_assert_uint_eq(armed.events.item[0]->defined, 1);
	check_events(&armed,
		     "es_0=1 es_1=1 es_2=1 es_3=2 es_4=1 es_5=1 es_6=2 es_7=1 es_8=1");
	free(before);
	free(after);
	nw_armed_free(&armed);
	pb_free(&s, &plan);
}
END_TEST

UNIT_MAIN("plan", points_without_arguments_share_one_event,
	  equal_low_bits_need_another_event, kernels_without_shared_events_get_one_a_point,
	  returns_and_entries_do_not_share, types_decide_who_shares_and_sources_do_not,
	  arguments_are_fetched_only_if_they_are_wanted,
	  a_string_is_its_pointer_and_words_behind_the_numbers,
	  strings_take_what_the_kernel_has,
	  a_string_of_a_kernel_function_is_whole_in_one_event,
	  no_event_has_more_bytes_than_kernels_bear, arrays_of_strings_are_refused,
	  strings_that_do_not_fit_one_event_have_companions,
	  a_pair_of_registers_is_two_fields, many_arguments_are_spread_over_events,
	  more_strings_than_parts_are_left_out, a_plan_grows_behind_what_was_planned)
