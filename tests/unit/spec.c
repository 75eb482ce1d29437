// SPDX-License-Identifier: MIT
/* Probe specs: every spelling, every type, every complaint. */
#include <errno.h>

#include "find/probe/probe.h"
#include "unit.h"

static const char *const kinds[] = {"usdt", "uprobe", "uretprobe", "func", "tracepoint"};

/* "name:u32[4],-" as it was understood; "-" has no name. */
static void args_text(const struct nw_spec *spec, struct nw_buf *out)
{
	static const char *const bases[] = {"", "u", "s", "x", "string", "f"};

	nw_vec_each (&spec->args, arg) {
		nw_buf_printf(out, "%s%s", arg > spec->args.item ? "," : "",
			      *arg->name ? arg->name : "-");
		if (arg->type.base == NW_TYPE_DEFAULT)
			continue;
		nw_buf_printf(out, ":%s", bases[arg->type.base]);
		if (arg->type.bits)
			nw_buf_printf(out, "%u", arg->type.bits);
		if (arg->type.array)
			nw_buf_printf(out, "[%u]", arg->type.array);
	}
}

/* "kind path=... provider=... name=...+0x... (args)" */
static void check(const char *text, const char *wanted)
{
	struct nw_error err = {0};
	struct nw_buf got = {0};
	struct nw_spec spec;

	ck_assert_msg(nw_spec_parse(text, &spec, &err) == 0, "%s: %s", text, err.what);
	ck_assert_str_eq(spec.text, text);
	nw_buf_printf(&got, "%s %s|%s|%s", kinds[spec.kind], spec.path, spec.provider,
		      spec.name);
	if (spec.offset)
		nw_buf_printf(&got, "+0x%lx", spec.offset);
	if (spec.returns_insn)
		nw_buf_adds(&got, " insn");
	if (spec.has_args) {
		nw_buf_adds(&got, " (");
		args_text(&spec, &got);
		nw_buf_adds(&got, ")");
	}
	ck_assert_msg(strcmp(nw_buf_str(&got), wanted) == 0, "'%s' was read as '%s'", text,
		      nw_buf_str(&got));
	nw_buf_free(&got);
	nw_spec_free(&spec);
	ck_assert_ptr_null(spec.text);
	nw_spec_free(&spec);
}

struct spelling {
	const char *text, *wanted;
};

static void check_all(const struct spelling *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(list[i].text, list[i].wanted);
}

START_TEST(usdt_probes_have_many_spellings)
{
	static const struct spelling list[] = {
		/* bpftrace */
		{"usdt:/usr/bin/postgres:postgresql:query__start",
		 "usdt /usr/bin/postgres|postgresql|query__start"},
		{"U:/bin/x:p:n", "usdt /bin/x|p|n"},
		{"usdt::prov:name", "usdt |prov|name"},
		{"usdt:*:prov:name", "usdt |prov|name"},
		{"usdt:/bin/x:name", "usdt /bin/x|*|name"},
		{"usdt:libc.so.6:setjmp", "usdt libc.so.6|*|setjmp"},
		{"usdt:libc.so.6:libc:setjmp", "usdt libc.so.6|libc|setjmp"},
		{"usdt:postgres:postgresql:query__start",
		 "usdt postgres|postgresql|query__start"},
		{"usdt:./prog:p:n", "usdt ./prog|p|n"},
		{"usdt:prov:name", "usdt |prov|name"},
		{"usdt:/bin/x::name", "usdt /bin/x|*|name"},
		{"usdt:/bin/x:prov:", "usdt /bin/x|prov|*"},
		{"usdt:/bin/x:*:*", "usdt /bin/x|*|*"},
		{"usdt:/lib/lib*.so:p?:n[ab]*", "usdt /lib/lib*.so|p?|n[ab]*"},
		/* paths may hold colons, blanks and parentheses */
		{"usdt:/a:b/c:p:n", "usdt /a:b/c|p|n"},
		{"usdt:/opt/x (1)/y:p:n", "usdt /opt/x (1)/y|p|n"},
		{"usdt:/opt/x(1):p:n(a)", "usdt /opt/x(1)|p|n (a)"},
		/* without a word in front */
		{"/bin/x:p:n", "usdt /bin/x|p|n"},
		{"/bin/x:n", "usdt /bin/x|*|n"},
		{"libx.so:n", "usdt libx.so|*|n"},
		{"prov:name", "usdt |prov|name"},
		{":name", "usdt |*|name"},
		{"name", "usdt |*|name"},
		{"*", "usdt |*|*"},
		{"na-me", "usdt |*|na-me"},
		/* DTrace */
		{"prov:::name", "usdt |prov|name"},
		{"prov*:::na-me", "usdt |prov*|na-me"},
		{"usdt:prov:::name", "usdt |prov|name"},
		{"usdt:/bin/x:prov:::name", "usdt /bin/x|prov|name"},
		{":::name", "usdt |*|name"},
		/* perf */
		{"%sdt_libc:setjmp", "usdt |libc|setjmp"},
		{"sdt_libc:setjmp", "usdt |libc|setjmp"},
		{"sdt:libc:setjmp", "usdt |libc|setjmp"},
		{"%sdt_libc:setjmp(a)", "usdt |libc|setjmp (a)"},
		/* and what only looks like perf's */
		{"usdt:sdt_dir/prog:p:n", "usdt sdt_dir/prog|p|n"},
		{"sdt_dir/prog:p:n", "usdt sdt_dir/prog|p|n"},
		{"sdt_name", "usdt |*|sdt_name"},
		{"usdt:/bin/x:sdt_p:n", "usdt /bin/x|sdt_p|n"},
	};

	check_all(list, NW_COUNT(list));
}
END_TEST

START_TEST(functions_have_symbols_or_offsets)
{
	static const struct spelling list[] = {
		{"uprobe:/bin/x:main", "uprobe /bin/x|uprobe|main"},
		{"uprobe:/bin/x:main+16", "uprobe /bin/x|uprobe|main+0x10"},
		{"uprobe:/bin/x:main+0x10", "uprobe /bin/x|uprobe|main+0x10"},
		{"uprobe:/bin/x:main+0", "uprobe /bin/x|uprobe|main"},
		{"uprobe:/bin/x:0x1234", "uprobe /bin/x|uprobe|+0x1234"},
		{"uprobe:/bin/x:4096", "uprobe /bin/x|uprobe|+0x1000"},
		{"uprobe:/bin/x:0xffffffffffffffff",
		 "uprobe /bin/x|uprobe|+0xffffffffffffffff"},
		{"uprobe:libc.so.6:malloc", "uprobe libc.so.6|uprobe|malloc"},
		{"uprobe:/a:b:_ZN1a1bEv", "uprobe /a:b|uprobe|_ZN1a1bEv"},
		{"uprobe:/a:b:app::Server::serve", "uprobe /a:b|uprobe|app::Server::serve"},
		{"func:libx.so:app::f(a)", "func libx.so|uprobe|app::f (a)"},
		{"uprobe:/bin/x:main(a,b:string)",
		 "uprobe /bin/x|uprobe|main (a,b:string)"},
		{"uretprobe:/bin/x:main", "uretprobe /bin/x|uretprobe|main"},
		{"uretprobe:/bin/x:main+0", "uretprobe /bin/x|uretprobe|main"},
		{"uretprobe:/bin/x:main(ret:s32)",
		 "uretprobe /bin/x|uretprobe|main (ret:s32)"},
		{"func:/bin/x:main", "func /bin/x|uprobe|main"},
		{"func:bash:readline", "func bash|uprobe|readline"},
		{"func:bash:readline,returns=insn", "func bash|uprobe|readline insn"},
		{"uretprobe:bash:readline,returns=insn",
		 "uretprobe bash|uretprobe|readline insn"},
		{"func:bash:f,returns=insn(a:u8,b)", "func bash|uprobe|f insn (a:u8,b)"},
		{"func:bash:f(a:u8,b),returns=insn", "func bash|uprobe|f insn (a:u8,b)"},
		/* parameters of C++ are part of the name; arguments that are named may follow */
		{"func:x:app::f(int)", "func x|uprobe|app::f(int)"},
		{"func:x:f(unsigned long, X)", "func x|uprobe|f(unsigned long, X)"},
		{"func:x:f(a::B, int (*)(int))", "func x|uprobe|f(a::B, int (*)(int))"},
		{"func:x:f(char const*)(what:string)",
		 "func x|uprobe|f(char const*) (what:string)"},
		{"func:x:f(int) const", "func x|uprobe|f(int) const"},
		{"func:x:app::f()", "func x|uprobe|app::f()"},
		{"func:x:app::f()()", "func x|uprobe|app::f() ()"},
		{"func:x:f()", "func x|uprobe|f ()"},
		{"func:x:f(X)", "func x|uprobe|f (X)"},
		{"func:x:A::operator()", "func x|uprobe|A::operator()"},
		{"func:x:A::operator()(int)", "func x|uprobe|A::operator()(int)"},
		{"uprobe:x:A::operator+", "uprobe x|uprobe|A::operator+"},
		{"uprobe:x:A::operator++", "uprobe x|uprobe|A::operator++"},
		{"uprobe:x:A::operator+(A&)", "uprobe x|uprobe|A::operator+(A&)"},
		{"uprobe:x:A::f(int)+4", "uprobe x|uprobe|A::f(int)+0x4"},
		/* lines of the source, which --span writes without a prefix */
		{"uprobe:/bin/x@src/x.c:64", "uprobe /bin/x|uprobe|x.c:64"},
		{"/bin/x@x.c:64", "uprobe /bin/x|uprobe|x.c:64"},
		{"uprobe:/a@b/x@x.c:64(n,p->q)", "uprobe /a@b/x|uprobe|x.c:64 (n,p->q)"},
		{"uprobe:/bin/x@x:0x40", "uprobe /bin/x@x|uprobe|+0x40"},
		{"uprobe:/bin/x@x.c:main", "uprobe /bin/x@x.c|uprobe|main"},
		{"func:/a,returns=insn/b:f", "func /a,returns=insn/b|uprobe|f"},
		{"func:/a,returns=x:f", "func /a,returns=x|uprobe|f"},
	};

	check_all(list, NW_COUNT(list));
}
END_TEST

START_TEST(tracepoints_have_a_system_and_an_event)
{
	static const struct spelling list[] = {
		{"tracepoint:sched:sched_switch", "tracepoint |sched|sched_switch"},
		{"tracepoint:syscalls:sys_enter_*", "tracepoint |syscalls|sys_enter_*"},
		{"tracepoint:a:b(c:u8)", "tracepoint |a|b (c:u8)"},
		{"user_events:req_*", "tracepoint |user_events|req_*"},
		{"user_events:A_L4K1(id, who.uid:u32)",
		 "tracepoint |user_events|A_L4K1 (id,who.uid:u32)"},
	};

	check_all(list, NW_COUNT(list));
}
END_TEST

START_TEST(arguments_are_named_and_typed)
{
	static const struct spelling list[] = {
		{"p:n()", "usdt |p|n ()"},
		{"p:n( )", "usdt |p|n ()"},
		{"p:n(a)", "usdt |p|n (a)"},
		{"p:n(sql:string)", "usdt |p|n (sql:string)"},
		{"p:n(id, status:u16)", "usdt |p|n (id,status:u16)"},
		{"p:n(\t a , b\t)", "usdt |p|n (a,b)"},
		{"p:n(,b)", "usdt |p|n (-,b)"},
		{"p:n(,,)", "usdt |p|n (-,-)"}, /* the last comma may be there or not */
		{"p:n(a,)", "usdt |p|n (a)"},
		{"p:n(:u8,:s16)", "usdt |p|n (-:u8,-:s16)"},
		{"p:n(_a1:x64)", "usdt |p|n (_a1:x64)"},
		{"p:n(a:u8[16],b:f64)", "usdt |p|n (a:u8[16],b:f64)"},
		{"p:n(abcdefghijklmnopqrstuvwxyz01234)",
		 "usdt |p|n (abcdefghijklmnopqrstuvwxyz01234)"},
		{"n(a)", "usdt |*|n (a)"},
		{"*:*(a)", "usdt |*|* (a)"},
	};

	check_all(list, NW_COUNT(list));
}
END_TEST

/* ---- types -------------------------------------------------------------------------- */

START_TEST(types_are_what_they_say)
{
	static const struct {
		const char *text;
		struct nw_type type;
	} good[] = {
		{"u8", {NW_TYPE_UNSIGNED, 8, 0}},
		{"u16", {NW_TYPE_UNSIGNED, 16, 0}},
		{"u32", {NW_TYPE_UNSIGNED, 32, 0}},
		{"u64", {NW_TYPE_UNSIGNED, 64, 0}},
		{"s8", {NW_TYPE_SIGNED, 8, 0}},
		{"s16", {NW_TYPE_SIGNED, 16, 0}},
		{"s32", {NW_TYPE_SIGNED, 32, 0}},
		{"s64", {NW_TYPE_SIGNED, 64, 0}},
		{"x8", {NW_TYPE_HEX, 8, 0}},
		{"x16", {NW_TYPE_HEX, 16, 0}},
		{"x32", {NW_TYPE_HEX, 32, 0}},
		{"x64", {NW_TYPE_HEX, 64, 0}},
		{"f32", {NW_TYPE_FLOAT, 32, 0}},
		{"f64", {NW_TYPE_FLOAT, 64, 0}},
		{"string", {NW_TYPE_STRING, 0, 0}},
		{"u8[1]", {NW_TYPE_UNSIGNED, 8, 1}},
		{"x64[64]", {NW_TYPE_HEX, 64, 64}},
		{"s16[007]", {NW_TYPE_SIGNED, 16, 7}},
		{"string[2]", {NW_TYPE_STRING, 0, 2}},
		{"f32[4]", {NW_TYPE_FLOAT, 32, 4}},
		{"char[16]", {NW_TYPE_CHAR, 8, 16}},
	};
	static const struct {
		const char *text;
		int ret;
	} bad[] = {
		{"", -EINVAL},	      {"u", -EINVAL},
		{"u7", -EINVAL},      {"u128", -EINVAL},
		{"U8", -EINVAL},      {"int", -EINVAL},
		{"u8 ", -EINVAL},     {" u8", -EINVAL},
		{"string8", -EINVAL}, {"f16", -EINVAL},
		{"u8[", -EINVAL},     {"u8]", -EINVAL},
		{"u8[]", -EINVAL},    {"u8[0]", -EINVAL},
		{"u8[4", -EINVAL},    {"u8[4]x", -EINVAL},
		{"[4]", -EINVAL},     {"u8[-1]", -EINVAL},
		{"char", -EINVAL},    {"char[65]", -ERANGE},
		{"u8[1x]", -EINVAL},  {"u8[[4]]", -EINVAL},
		{"u8[65]", -ERANGE},  {"u8[99999999999999999999]", -ERANGE},
	};
	struct nw_type type;

	for (size_t i = 0; i < NW_COUNT(good); i++) {
		type = (struct nw_type){99, 99, 99};
		ck_assert_int_eq(nw_type_parse(good[i].text, strlen(good[i].text), &type),
				 0);
		ck_assert_int_eq(type.base, good[i].type.base);
		ck_assert_uint_eq(type.bits, good[i].type.bits);
		ck_assert_uint_eq(type.array, good[i].type.array);
	}
	for (size_t i = 0; i < NW_COUNT(bad); i++) {
		type = (struct nw_type){99, 99, 99};
		ck_assert_msg(nw_type_parse(bad[i].text, strlen(bad[i].text), &type) ==
				      bad[i].ret,
			      "'%s'", bad[i].text);
		ck_assert_uint_eq(type.bits, 99); /* written only on success */
	}
	ck_assert_int_eq(nw_type_parse("u16[4]", 3, &type), 0); /* the length counts */
	ck_assert_uint_eq(type.array, 0);
}
END_TEST

/* ---- bad specs ---------------------------------------------------------------------- */

static const char spec_hint[] =
	"write usdt:PATH:PROVIDER:NAME, PROVIDER:NAME (with -p, -x or -- CMD), "
	"uprobe:PATH:SYMBOL, uretprobe:PATH:SYMBOL, func:PATH:SYMBOL, "
	"tracepoint:SYSTEM:EVENT or func:kernel:SYMBOL";
static const char type_hint[] =
	"types are u8..u64, s8..s64, x8..x64, f32, f64, string, string[len], whose length "
	"is "
	"the argument len, and arrays such as u8[16], or char[16] for text (at most 64 elements)";

START_TEST(a_string_may_have_its_length_in_another_argument)
{
	struct nw_spec spec;

	ck_assert_int_eq(
		nw_spec_parse("p:n(a:string[arg1], len, b:string[ab_1])", &spec, NULL), 0);
	ck_assert_uint_eq(spec.args.count, 3);
	ck_assert_str_eq(spec.args.item[0].length, "arg1");
	ck_assert_str_eq(spec.args.item[1].length, "");
	ck_assert_str_eq(spec.args.item[2].length, "ab_1");
	ck_assert_int_eq(spec.args.item[2].type.base, NW_TYPE_STRING);
	ck_assert_uint_eq(spec.args.item[2].type.array, 0);
	nw_spec_free(&spec);
	static const char *const bad[] = {
		"p:n(a:string[])",
		"p:n(a:string[b)",
		"p:n(a:string[b c])",
		"p:n(a:string[b-c])",
		"p:n(a:u8[len])",
		"p:n(a:string[a234567890123456789012345678901234567890])"};
	for (size_t i = 0; i < NW_COUNT(bad); i++)
		ck_assert_int_eq(nw_spec_parse(bad[i], &spec, NULL), -EINVAL);
}
END_TEST

START_TEST(a_path_to_a_field_may_be_longer_than_a_name_of_usdt)
{
	nw_cleanup(nw_free_ptr) char *fits = nw_text("func:/x:f(a->%0124d)", 0);
	nw_cleanup(nw_free_ptr) char *too_long = nw_text("func:/x:f(a->%0125d)", 0);
	struct nw_error err = {0};
	struct nw_spec spec;

	ck_assert_int_eq(nw_spec_parse(fits, &spec, NULL), 0);
	ck_assert_uint_eq(strlen(spec.args.item[0].name), NW_ARG_NAME - 1);
	nw_spec_free(&spec);
	ck_assert_int_eq(nw_spec_parse(too_long, &spec, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "of up to 127 characters"));
	ck_assert_int_eq(
		nw_spec_parse("p:n(a12345678901234567890123456789012)", &spec, NULL),
		-EINVAL);
}
END_TEST

START_TEST(an_argument_of_a_call_may_be_read_at_its_return)
{
	static const char *const bad[] = {"uprobe:/x:f(a@return)",
					  "uretprobe:/x:f(a@return)",
					  "usdt:/x:p:n(a:string@return)",
					  "p:n(a@return)",
					  "func:kernel:vfs_read(a@return)",
					  "tracepoint:syscalls:sys_exit_read(buf@return)"};
	struct nw_error err = {0};
	struct nw_spec spec;

	ck_assert_int_eq(nw_spec_parse("func:/x:f(a->b[0]@return, n, c:string[n]@return)",
				       &spec, NULL),
			 0);
	ck_assert_uint_eq(spec.args.count, 3);
	ck_assert(spec.args.item[0].at_return && !spec.args.item[1].at_return &&
		  spec.args.item[2].at_return);
	ck_assert_str_eq(spec.args.item[0].name, "a->b[0]");
	ck_assert_str_eq(spec.args.item[2].length, "n");
	nw_spec_free(&spec);
	for (size_t i = 0; i < NW_COUNT(bad); i++) {
		ck_assert_int_eq(nw_spec_parse(bad[i], &spec, &err), -EINVAL);
		ck_assert_msg(
			strstr(err.what, "for which only func: has both ends") &&
				strstr(err.hint, "func:PATH:SYMBOL(NAME:TYPE@return)"),
			"%s: %s", bad[i], err.what);
	}
	/* a name alone, and other words behind the mark */
	ck_assert_int_eq(nw_spec_parse("func:/x:f(@return)", &spec, NULL), -EINVAL);
	ck_assert_int_eq(nw_spec_parse("func:/x:f(a@entry)", &spec, NULL), -EINVAL);
}
END_TEST

START_TEST(a_bad_spec_is_told_why)
{
	static const char name[] =
		"an argument's name is a C identifier of up to 31 characters";
	static const char twice[] = "two of its arguments have the same name";
	static const char type[] = "an argument has an unknown type";
	static const char tracepoint[] =
		"a tracepoint is tracepoint:SYSTEM:EVENT, such as tracepoint:sched:sched_switch";
	static const char path[] = "the path is missing";
	static const char whole[] = "only a whole function has a return";
	static const char offset[] = "the offset is not a number";
	static const char plus[] = "what follows the '+' is not a number";
	static const char symbol[] = "the symbol is missing";
	static const char open[] = "a parenthesis is not closed";
	static const char returns[] = "returns= takes insn, and nothing else";
	static const char no_returns[] =
		"returns= is for func: and uretprobe:, which have returns";
	static const char program[] = "a program is behind it";
	static const char percent[] = "it ends as perf's probes of returns do";
	static const char samples[] =
		"nopwatch counts the hits of probes, it does not sample";
	static const char kernel[] =
		"a function of the kernel is probed as a whole, by its name alone";
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"", "it is empty"},
		{"a\nb", "it holds a line break"},
		{"p:n\r", "it holds a line break"},
		{"usdt:", "it names no probe"},
		{"U:", "it names no probe"},
		{"uprobe:", "it names no probe"},
		{"uprobe:(a)", "it names no probe"},
		{"(a)", "it names no probe"},
		{"uprobe:main", path},
		{"uprobe::main", path},
		{"func:main", path},
		{"uprobe:/bin/bash", symbol},
		{"p:n(a:u8", open},
		{"uprobe:/bin/x:main(a", open},
		{"kprobe:do_sys_open+4", kernel},
		{"kretprobe:0x40", kernel},
		{"func:/bin/x:f,returns=", returns},
		{"func:/bin/x:f,returns=insns", returns},
		{"func:/bin/x:f(a),returns=uretprobe", returns},
		{"uprobe:/bin/x:f,returns=insn", no_returns},
		{"p:n,returns=insn", no_returns},
		{"uprobe:/bin/x:", symbol},
		{"uprobe:/bin/x:+8", symbol},
		{"uretprobe:/bin/x:", symbol},
		{"uprobe:/bin/x:0x", offset},
		{"uprobe:/bin/x:12ab", offset},
		{"uprobe:/bin/x:0x10000000000000000", offset},
		{"uprobe:/bin/x:main+", plus},
		{"uprobe:/bin/x:main+x", plus},
		{"uprobe:/bin/x:main+-1", plus},
		{"uretprobe:/bin/x:main+4", whole},
		{"uretprobe:/bin/x:0x40", whole},
		{"uretprobe:/bin/x:0", whole},
		{"func:/bin/x:main+4", whole},
		{"func:/bin/x:0x0", whole},
		{"tracepoint:sched", tracepoint},
		{"tracepoint:sched:", tracepoint},
		{"tracepoint::sched", tracepoint},
		{"p:n(1a)", name},
		{"p:n(a b)", name},
		{"p:n(a:u8, int b)", name},
		{"p:n { @ = count(); }", program},
		{"uprobe:/bin/x:main /arg0 > 5/ { }", program},
		{"uprobe:/bin/x:main%return", percent},
		{"profile:hz:99", samples},
		{"p:n(a-b)", name},
		{"p:n(*)", name},
		{"p:n(a(b))", name},
		{"p:n(abcdefghijklmnopqrstuvwxyz012345)", name},
		{"p:n(a,a)", twice},
		{"p:n(a,b:u8,a:u16)", twice},
		{"p:n(a:)", type},
		{"p:n(a:number)", type},
		{"p:n(a:u8[65])", type},
		{"p:n(a:u8:u8)", type},
		{"p:n(a: u8)", type},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_error err = {0};
		struct nw_spec spec = {.kind = 77};
		char what[256];
		snprintf(what, sizeof(what), "'%s' is not a probe spec: %s", cases[i].text,
			 cases[i].why);
		ck_assert_msg(nw_spec_parse(cases[i].text, &spec, &err) == -EINVAL, "'%s'",
			      cases[i].text);
		ck_assert_str_eq(err.what, what);
		/* tests/data/hints.tsv has the hints that repeat what was typed */
		if (cases[i].why == name && strchr(cases[i].text, ' '))
			ck_assert_ptr_nonnull(strstr(err.hint, "(id:s32, path:string)"));
		else if (cases[i].why == program)
			ck_assert_ptr_nonnull(
				strstr(err.hint, "--filter, --by and --hist"));
		else if (cases[i].why == percent)
			ck_assert_str_eq(err.hint, "write uretprobe:/bin/x:main");
		else if (cases[i].why == samples)
			ck_assert_ptr_nonnull(strstr(err.hint, "`perf record`"));
		else if (cases[i].why == path)
			ck_assert_ptr_nonnull(strstr(
				err.hint, ":FILE:main, as in func:libc.so.6:malloc"));
		else
			ck_assert_str_eq(err.hint,
					 cases[i].why == type ? type_hint : spec_hint);
		ck_assert(err.usage);
		ck_assert_int_eq(err.code, EINVAL);
		ck_assert_int_eq(spec.kind, 77); /* written only on success */
		ck_assert_int_eq(nw_spec_parse(cases[i].text, &spec, NULL), -EINVAL);
	}
}
END_TEST

START_TEST(random_text_is_a_spec_or_an_error)
{
	static const char letters[] = "usdtpr:obefnc()+,%*0x1 /.[]-_a";
	uint64_t state = 5;

	for (int i = 0; i < 100000; i++) {
		char text[48];
		size_t len = unit_random(&state) % (sizeof(text) - 10);
		size_t used = i % 3 ? 0 : (size_t)snprintf(text, 9, "uprobe:");
		while (used < len)
			text[used++] = letters[unit_random(&state) % (sizeof(letters) - 1)];
		text[used] = '\0';
		struct nw_error err = {0};
		struct nw_spec spec;
		if (nw_spec_parse(text, &spec, &err) < 0) {
			ck_assert(err.usage && *err.what && *err.hint);
			continue;
		}
		ck_assert_str_eq(spec.text, text);
		ck_assert(spec.path && spec.provider && spec.name);
		ck_assert(*spec.name || spec.kind == NW_SPEC_UPROBE);
		ck_assert(spec.has_args || !spec.args.count);
		nw_spec_free(&spec);
	}
}
END_TEST

UNIT_MAIN("spec", usdt_probes_have_many_spellings, functions_have_symbols_or_offsets,
	  tracepoints_have_a_system_and_an_event, arguments_are_named_and_typed,
	  types_are_what_they_say, a_string_may_have_its_length_in_another_argument,
	  a_path_to_a_field_may_be_longer_than_a_name_of_usdt,
	  an_argument_of_a_call_may_be_read_at_its_return, a_bad_spec_is_told_why,
	  random_text_is_a_spec_or_an_error)
