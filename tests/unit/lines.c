// SPDX-License-Identifier: MIT
/* output: the lines of trace and list, literally. */
#include <inttypes.h>

#include "plan/plan.h"
#include "show/rows/output.h"
#include "shown.h"
#include "unit.h"

static void expect(struct nw_buf *out, const char *wanted)
{
	ck_assert_str_eq(nw_buf_str(out), wanted);
	nw_buf_free(out);
}

/* ---- events ------------------------------------------------------------------------- */

static const uint8_t bytes[] = {0, 255};
static const float floats[] = {0.5f, -2};
static const struct nw_value values[] = {
	{.kind = NW_VALUE_SIGNED, .number = (uint64_t)-7},
	{.kind = NW_VALUE_UNSIGNED, .number = UINT64_MAX},
	{.kind = NW_VALUE_HEX, .number = 255, .untrusted = true},
	{.kind = NW_VALUE_FLOAT, .bits = 64, .real = 2.5},
	{.kind = NW_VALUE_STRING, .text = "a\"\x1b\xff", .len = 4},
	{.kind = NW_VALUE_MISSING, .text = "(fault)"},
	{.kind = NW_VALUE_ARRAY,
	 .len = 2,
	 .bits = 8,
	 .element = NW_VALUE_HEX,
	 .elements = bytes,
	 .untrusted = true},
	{.kind = NW_VALUE_ARRAY,
	 .len = 2,
	 .bits = 32,
	 .element = NW_VALUE_FLOAT,
	 .elements = (const unsigned char *)floats},
};

/* A probe of as many arguments, the first with a name. */
static void event_json(uint64_t time, size_t count, bool wall, struct nw_buf *out)
{
	static const char text[] = "nopwatch-plan 1\nimage /a\n"
				   "probe 0 0 p x%22 p:x%22 1\narg n%22 -\n";
	const struct nw_hit hit = {.time = time,
				   .cpu = 3,
				   .tid = 77,
				   .values = values,
				   .value_count = (uint32_t)count};
	const struct nw_task task = {.tid = 77, .pid = 70, .comm = "a\n\xff"};
	struct nw_selection selection;
	struct nw_plan plan;

	int ret = nw_plan_load(text, strlen(text), &selection, &plan, NULL, NULL, NULL,
			       NULL);
	ck_assert_int_eq(ret, 0);
	const struct nw_event_line line = {.probe = selection.probes.item[0],
					   .hit = &hit,
					   .task = &task,
					   .wall = wall,
					   .wall_ns = 1000};
	SHOW(&nw_output_json, out, nw_output_event(&output, &line));
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

START_TEST(an_event_is_an_object)
{
	struct nw_buf out = {0};

	event_json(123456789, 1, false, &out);
	expect(&out,
	       "{\"type\":\"event\",\"time_ns\":123456789,\"cpu\":3,\"pid\":70,\"tid\":77,"
	       "\"comm\":\"a\\n\\ufffd\",\"probe\":\"p:x\\\"\",\"args\":{\"n\\\"\":-7}}\n");
	event_json(1, 0, true, &out);
	expect(&out,
	       "{\"type\":\"event\",\"time_ns\":1,\"wall_ns\":1001,\"cpu\":3,\"pid\":70,"
	       "\"tid\":77,\"comm\":\"a\\n\\ufffd\",\"probe\":\"p:x\\\"\",\"args\":{}}\n");
}
END_TEST

START_TEST(arguments_of_every_kind_are_json)
{
	struct nw_buf out = {0};

	event_json(9007199254740993, NW_COUNT(values), false, &out);
	expect(&out,
	       "{\"type\":\"event\",\"time_ns\":\"9007199254740993\",\"cpu\":3,\"pid\":70,"
	       "\"tid\":77,\"comm\":\"a\\n\\ufffd\",\"probe\":\"p:x\\\"\",\"args\":{"
	       "\"n\\\"\":-7,\"arg1\":\"18446744073709551615\",\"arg2\":255,"
	       "\"arg3\":2.5,\"arg4\":\"a\\\"\\u001b\\ufffd\",\"arg5\":null,"
	       "\"arg6\":[0,255],\"arg7\":[0.5,-2]},\"untrusted\":[\"arg2\",\"arg6\"],"
	       "\"fault\":"
	       "[\"arg5\"]}\n");
}
END_TEST

START_TEST(the_end_is_two_lines)
{
	struct nw_buf out = {0};

	const struct nw_end end = {
		.lost = 5, .discarded = 2, .reason = NW_END_COUNT, .elapsed_ns = 1500};

	SHOW(&nw_output_json, &out, nw_output_end(&output, &end));
	expect(&out, "{\"type\":\"loss\",\"events\":5,\"discarded_spans\":2}\n"
		     "{\"type\":\"end\",\"reason\":\"count\",\"elapsed_ns\":1500}\n");
}
END_TEST

START_TEST(the_first_line_is_only_for_programs)
{
	struct nw_buf out = {0};

	show_begin(&nw_output_text, 3, 9, &out);
	expect(&out, "");
	show_begin(&nw_output_json, 3, 9, &out);
	expect(&out, "{\"type\":\"attached\",\"probes\":3,\"sites\":9,\"schema\":1}\n");
}
END_TEST

/* ---- sites -------------------------------------------------------------------------- */

/* A file that is nowhere, so that no symbols are found. */
static struct nw_image *image_of(const char *arch)
{
	struct nw_image *image = calloc(1, sizeof(*image));

	*image = (struct nw_image){.path = strdup("/opt/a\"b\x1b"),
				   .fd = -1,
				   .arch = arch ? nw_arch_by_name(arch) : NULL,
				   .build_id = "0123abcd",
				   .elf64 = true};
	return image;
}

/* Why an operand cannot be fetched is the probe room's to say. */
static const char *problem_of(const struct nw_image *image, const char *operand)
{
	nw_operands operands = {0};

	ck_assert_int_eq(nw_operands_parse(image->arch, operand, &operands), 0);
	const char *problem = operands.item[0].problem;
	ck_assert_ptr_nonnull(problem);
	nw_vec_free(&operands);
	return problem;
}

#define HEAD "{\"type\":\"site\",\"provider\":\"app\",\"name\":\"q__start\","
#define PATH "\"path\":\"/opt/a\\\"b\\u001b\","

START_TEST(a_site_has_the_keys_that_are_fixed)
{
	/* of each operand, what is only there for its kind */
	static const struct {
		const char *text, *size, *sign, *kind, *rest;
	} args[] = {
		{"-4@%edi", "4", "true", "register",
		 "\"register\":\"di\",\"fetch\":\"%di:s32\""},
		{"8@-16(%rbp)", "8", "false", "memory",
		 "\"register\":\"bp\",\"offset\":-16,\"fetch\":\"-16(%bp):u64\""},
		{"1@$7", "1", "false", "constant", "\"value\":7,\"fetch\":null"},
		{"-1@%ah", "1", "true", "register",
		 "\"register\":\"ax\",\"fetch\":\"%ax:b8@8/16\""},
		{"4@%xmm0", "4", "false", "register",
		 "\"register\":\"xmm0\",\"fetch\":null"},
		{"-4@8(%rax,%rdx,4)", "4", "true", "memory",
		 "\"register\":\"ax\",\"offset\":8,\"index_register\":\"dx\",\"scale\":4,"
		 "\"fetch\":\"+8(%ax):s32[64] %dx:s64\",\"remark\":\"an element of an "
		 "array: where `nopwatch features` has elements, the kernel reads it at "
		 "any index; else the reader picks it from these 64\""},
	};
	struct nw_image *image = image_of("x86_64");
	const struct nw_site site = {.provider = "app",
				     .name = "q__start",
				     .args = "-4@%edi 8@-16(%rbp) 1@$7 -1@%ah 4@%xmm0 "
					     "-4@8(%rax,%rdx,4)",
				     .vaddr = 4096,
				     .offset = 4112,
				     .semaphore_vaddr = 8192,
				     .semaphore_offset = 8208,
				     .nop = NW_NOP_1};
	struct nw_buf out = {0}, wanted = {0};

	nw_buf_adds(&wanted, HEAD PATH "\"build_id\":\"0123abcd\",\"arch\":\"x86_64\","
				       "\"vaddr\":4096,\"offset\":4112,\"semaphore_vaddr\":"
				       "8192,\"semaphore_offset\":8208,\"nop\":\"nop\",");
	for (size_t i = 0; i < NW_COUNT(args); i++) {
		nw_buf_printf(&wanted, "%s{\"index\":%zu,\"text\":\"%s\",\"size\":%s,",
			      i ? "," : "\"args\":[", i, args[i].text, args[i].size);
		nw_buf_printf(&wanted, "\"signed\":%s,\"float\":false,\"kind\":\"%s\",%s",
			      args[i].sign, args[i].kind, args[i].rest);
		if (i == 4)
			nw_buf_printf(&wanted, ",\"problem\":\"%s\"",
				      problem_of(image, args[i].text));
		nw_buf_addc(&wanted, '}');
	}
	nw_buf_adds(&wanted, "]}\n");
	SHOW(&nw_output_json, &out, output.format->site(&output, image, &site, NULL));
	expect(&out, nw_buf_str(&wanted));
	nw_buf_free(&wanted);
	nw_image_free(image);
}
END_TEST

START_TEST(keys_that_do_not_apply_are_left_out)
{
	struct nw_image *image = image_of(NULL);
	const struct nw_site site = {
		.provider = "app", .name = "q__start", .args = "4@%edi"};
	struct nw_buf out = {0};

	image->build_id[0] = '\0';
	SHOW(&nw_output_json, &out, output.format->site(&output, image, &site, NULL));
	expect(&out, HEAD
	       "\"path\":\"/opt/a\\\"b\\u001b\",\"vaddr\":0,\"offset\":0,\"args\":[]}\n");
	nw_image_free(image);
}
END_TEST

START_TEST(a_note_that_was_left_out_says_why)
{
	struct nw_image *image = image_of("x86_64");
	char why[] = "its site is \"nowhere\"";
	const struct nw_skipped skipped = {
		.provider = "app", .name = "", .vaddr = 16, .why = why};
	struct nw_buf out = {0};

	SHOW(&nw_output_json, &out, output.format->skipped(&output, image, &skipped));
	expect(&out, "{\"type\":\"skipped\",\"provider\":\"app\",\"name\":\"\",\"path\":"
		     "\"/opt/a\\\"b\\u001b\",\"build_id\":\"0123abcd\",\"arch\":\"x86_64\","
		     "\"vaddr\":16,\"problem\":\"its site is \\\"nowhere\\\"\"}\n");
	nw_image_free(image);
}
END_TEST

START_TEST(a_site_as_text_shows_what_is_fetched)
{
	struct nw_image *image = image_of("x86_64");
	const struct nw_site site = {.args = "-4@%edi -1@$-7 1@$200 4@%xmm0 8@-16(%rbp)",
				     .vaddr = 4096,
				     .offset = 4112,
				     .semaphore_vaddr = 8192,
				     .semaphore_offset = 8208,
				     .warning = "its semaphore is odd"};
	struct nw_buf out = {0}, wanted = {0};

	nw_buf_printf(
		&wanted,
		"    site 0x1000  offset 0x1010  semaphore 0x2000 offset 0x2010  no nop\n"
		"      warning: its semaphore is odd\n"
		"      arg0  -4@%%edi             %%di:s32\n"
		"      arg1  -1@$-7              constant -7\n"
		"      arg2  1@$200              constant 200\n"
		"      arg3  4@%%xmm0             cannot be fetched: %s\n"
		"      arg4  8@-16(%%rbp)         -16(%%bp):u64\n",
		problem_of(image, "4@%xmm0"));
	SHOW(&nw_output_text, &out, output.format->site(&output, image, &site, NULL));
	expect(&out, nw_buf_str(&wanted));
	nw_buf_free(&wanted);
	nw_image_free(image);
}
END_TEST

/* One argument, which the kernel has a word for: named in the spec, or not. */
static void kernel_event(const struct nw_output_format *format, const char *said,
			 bool named, struct nw_buf *out)
{
	static const char text[] = "nopwatch-plan 1\nimage kernel\n"
				   "probe 0 4 s e s:e 1\narg state -\n";
	static const struct nw_value value = {.kind = NW_VALUE_SIGNED, .number = 1};
	const struct nw_hit hit = {.time = 1, .values = &value, .value_count = 1};
	const struct nw_task task = {.comm = "c"};
	struct nw_selection selection;
	struct nw_plan plan;

	int ret = nw_plan_load(text, strlen(text), &selection, &plan, NULL, NULL, NULL,
			       NULL);
	ck_assert_int_eq(ret, 0);
	selection.probes.item[0]->has_args = named;
	const struct nw_event_line line = {.probe = selection.probes.item[0],
					   .hit = &hit,
					   .task = &task,
					   .kernel_text = said};
	SHOW(format, out, nw_output_event(&output, &line));
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

START_TEST(a_kernel_event_is_told_in_the_kernels_words)
{
	static const struct {
		const char *said;
		bool named;
		const char *shown;
	} cases[] = {
		{NULL, false, "s:e state=1"},
		{"comm=x state=S ==> y", false, "s:e comm=x state=S ==> y"},
		{"comm=a\033[2J state=S", false, "s:e comm=a\\x1b[2J state=S"},
		{"comm=x state=S ==> y", true, "s:e state=S"},
		{"state=S|W", true, "s:e state=S|W"},
		{"prev_state=S", true, "s:e state=1"},
		{"state=", true, "s:e state=1"},
		/* a thread of that name */
		{"comm=x state=Z state=S", true, "s:e state=1"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf out = {0};
		kernel_event(&nw_output_text, cases[i].said, cases[i].named, &out);
		size_t len = strlen(cases[i].shown);
		const char *shown = strstr(nw_buf_str(&out), "s:e");
		ck_assert_int_eq(strncmp(shown, cases[i].shown, len), 0);
		ck_assert_str_eq(shown + len, "\n");
		nw_buf_free(&out);
	}
}
END_TEST

START_TEST(a_kernel_event_keeps_its_numbers_in_json)
{
	struct nw_buf out = {0};

	kernel_event(&nw_output_json, "state=S", false, &out);
	expect(&out, "{\"type\":\"event\",\"time_ns\":1,\"cpu\":0,\"pid\":0,\"tid\":0,"
		     "\"comm\":\"c\",\"probe\":\"s:e\",\"args\":{\"state\":1},"
		     "\"text\":\"state=S\"}\n");
}
END_TEST

UNIT_MAIN("lines", a_kernel_event_is_told_in_the_kernels_words,
	  a_kernel_event_keeps_its_numbers_in_json, an_event_is_an_object,
	  arguments_of_every_kind_are_json, the_end_is_two_lines,
	  the_first_line_is_only_for_programs, a_site_has_the_keys_that_are_fixed,
	  keys_that_do_not_apply_are_left_out, a_note_that_was_left_out_says_why,
	  a_site_as_text_shows_what_is_fetched)
