// SPDX-License-Identifier: MIT
/* The formats that a recording has of events with strings: what trace-cmd and kernelshark print of them. */
#include <errno.h>

#include "plan_builder.h"
#include "stream/recording/recording.h"

static const struct nw_plan_options named = {
	.session = "s",
	.separate = true,
	.naming = NW_NAMES_PROBES,
	.string_size = 72,
	.caps = {.memory = true, .multi_site = true, .hex = true, .arrays = true}};

#define COMMON                                                                 \
	"name: q\nID: 7\nformat:\n"                                            \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
	"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
#define FIELD(type, name, offset, size) \
	"\tfield:" type " " name ";\toffset:" offset ";\tsize:" size ";\tsigned:0;\n"

/* What becomes of the format of an event of a plan with one probe and one point; "": it is refused. */
static void expect_shown(const struct nw_plan_options *options, const char *args,
			 const char *operands, size_t event, const char *format,
			 const char *wanted)
{
	struct nw_selection s = {0};
	struct nw_buf text = {0};
	struct nw_armed armed;

	pb_point(pb_probe(&s, pb_image(&s, "/x"), "p", "q", args), 1, operands);
	struct nw_plan plan = pb_plan(&s, options);
	ck_assert_int_eq(nw_armed_make(&plan, &armed), 0);
	ck_assert_uint_lt(event, armed.events.count);
	nw_buf_adds(&text, format);
	int ret = nw_format_show_strings(&plan, armed.events.item[event], &text);
	ck_assert_int_eq(ret, *wanted ? 0 : -EBADMSG);
	if (ret == 0)
		ck_assert_str_eq(nw_buf_str(&text), wanted);
	nw_buf_free(&text);
	nw_armed_free(&armed);
	pb_free(&s, &plan);
}

#define STRING                                                             \
	COMMON FIELD("s32", "n", "16", "4") FIELD("u64", "sql", "20", "8") \
		FIELD("u8", "sql_chr0[]", "28", "64")                      \
			FIELD("u64", "sql_str64[]", "92", "8")

START_TEST(a_string_is_shown_as_text)
{
	expect_shown(&named, "n,sql:string", "-4@%edi 8@%rdx", 0,
		     STRING "\nprint fmt: \"(%lx) n=%d sql=0x%Lx sql_chr0={0x%x,0x%x} "
			    "sql_str64={0x%Lx}\", REC->__probe_ip, REC->n, REC->sql, "
			    "REC->sql_chr0[0], REC->sql_chr0[1], REC->sql_str64[0]\n",
		     STRING FIELD("char", "sql_text[72]", "28", "72") //
		     "\nprint fmt: \"(%lx) n=%d sql=\\\"%s\\\"\", REC->__probe_ip, REC->n, "
		     "REC->sql_text\n");
}
END_TEST

START_TEST(a_string_with_a_length_is_shown_as_long_as_it_is)
{
	expect_shown(&named, "n,sql:string[n]", "-4@%edi 8@%rdx", 0,
		     STRING "\nprint fmt: \"(%lx) n=%d sql=0x%Lx sql_chr0={0x%x,0x%x} "
			    "sql_str64={0x%Lx}\", REC->__probe_ip, REC->n, REC->sql, "
			    "REC->sql_chr0[0], REC->sql_chr0[1], REC->sql_str64[0]\n",
		     STRING FIELD("char", "sql_text[72]", "28", "72") //
		     "\nprint fmt: \"(%lx) n=%d sql=\\\"%.*s\\\"\", REC->__probe_ip, "
		     "REC->n, REC->n, REC->sql_text\n");
	expect_shown(&named, "n,sql:string[n]", "8@$5 8@%rdx", 0,
		     COMMON FIELD("u64", "sql", "16", "8") //
		     FIELD("u8", "sql_chr0[]", "24", "64")
			     FIELD("u64", "sql_str64[]", "88", "8") //
		     "\nprint fmt: \"(%lx) sql=%Lu sql_chr0={%u} sql_str64={%Lu}\", "
		     "REC->__probe_ip, REC->sql, REC->sql_chr0[0], REC->sql_str64[0]\n",
		     COMMON FIELD("u64", "sql", "16", "8") //
		     FIELD("u8", "sql_chr0[]", "24", "64")
			     FIELD("u64", "sql_str64[]", "88", "8") //
		     FIELD("char", "sql_text[72]", "24", "72")	    //
		     "\nprint fmt: \"(%lx) sql=\\\"%.*s\\\"\", REC->__probe_ip, 5, "
		     "REC->sql_text\n");
}
END_TEST

START_TEST(each_of_several_strings_is_shown_where_it_stands)
{
	struct nw_plan_options options = named;

	options.caps.partial = true;
	options.string_size = 8;
#define TWO                                                                      \
	COMMON FIELD("u64", "a", "16", "8") FIELD("u64", "a_str0[1]", "24", "8") \
		FIELD("u64", "a_text", "32", "8")                                \
			FIELD("u64", "a_text_str0[1]", "40", "8")
	expect_shown(
		&options, "a:string,a_text:string", "8@%rdi 8@%rsi", 0,
		TWO "\nprint fmt: \"(%lx <- %lx) a=%Lu a_str0={%Lu} a_text=%Lu "
		    "a_text_str0={%Lu}\", REC->__probe_func, REC->__probe_ret_ip, "
		    "REC->a, REC->a_str0[0], REC->a_text, REC->a_text_str0[0]\n",
		TWO FIELD("char", "a_text_[8]", "24", "8") //
		FIELD("char", "a_text_text[8]", "40", "8") //
		"\nprint fmt: \"(%lx <- %lx) a=\\\"%s\\\" a_text=\\\"%s\\\"\", "
		"REC->__probe_func, REC->__probe_ret_ip, REC->a_text_, REC->a_text_text\n");
}
END_TEST

START_TEST(a_companion_shows_the_bytes_that_it_has)
{
	struct nw_plan_options options = named;

	options.caps.partial = true;
	options.string_size = 3080;
	expect_shown(&options, "a:string", "8@%rdi", 1,
		     COMMON FIELD("u64", "a_str3064[2]", "16", "16") //
		     "\nprint fmt: \"(%lx) a_str3064={%Lu,%Lu}\", REC->__probe_ip, "
		     "REC->a_str3064[0], REC->a_str3064[1]\n",
		     COMMON FIELD("u64", "a_str3064[2]", "16", "16") //
		     FIELD("char", "a_text3064[16]", "16", "16")     //
		     "\nprint fmt: \"(%lx) a_str3064=\\\"%s\\\"\", REC->__probe_ip, "
		     "REC->a_text3064\n");
}
END_TEST

START_TEST(what_has_no_string_stays_as_it_is)
{
	static const char numbers[] = COMMON FIELD("s32", "n", "16", "4") //
		"\nprint fmt: \"(%lx) n=%d\", REC->__probe_ip, REC->n\n";
	static const char silent[] = STRING "\nprint fmt: something else\n";

	expect_shown(&named, "n", "-4@%edi", 0, numbers, numbers);
	expect_shown(&named, "n,sql:string", "-4@%edi 8@%rdx", 0, silent, silent);
	/* the event is not that of the plan */
	expect_shown(&named, "n,sql:string", "-4@%edi 8@%rdx", 0, numbers, "");
}
END_TEST

UNIT_MAIN("string format", a_string_is_shown_as_text,
	  a_string_with_a_length_is_shown_as_long_as_it_is,
	  each_of_several_strings_is_shown_where_it_stands,
	  a_companion_shows_the_bytes_that_it_has, what_has_no_string_stays_as_it_is)
