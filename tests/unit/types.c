// SPDX-License-Identifier: MIT
/* Names and types of arguments from provider files and tapsets. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "elf_files.h"
#include "plan/plan.h"
#include "unit.h"

/* One byte more than the name of an argument may have (NW_ARG_NAME). */
#define TEN "longname__"
/* With another word in front, more words than are kept of a type: 16. */
#define EIGHT		  "volatile volatile volatile volatile volatile volatile volatile volatile "
#define NAME_OF_128_BYTES TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "longname"

/* Read a text as a file; what the error says goes without the file's name. */
static int read_text(struct nw_types *types, const char *text, size_t len, char said[512])
{
	int fd = memfd_create("types", MFD_CLOEXEC);
	struct nw_error err = {0};
	char path[32];

	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int ret = nw_types_read(types, path, &err);
	const char *what = strncmp(err.what, path, strlen(path)) == 0
				   ? err.what + strlen(path)
				   : err.what;
	snprintf(said, 512, "%.511s", what);
	close(fd);
	return ret;
}

/* "name:type, ..." of what is known of a probe; "-" if nothing is. */
static const char *known_of(const struct nw_types *types, const char *path,
			    const char *provider, const char *name)
{
	static char text[1024];
	const struct nw_described *known = nw_types_of(types, path, provider, name);
	size_t used = 0;

	if (!known)
		return "-";
	text[0] = '\0';
	nw_vec_each (&known->args, arg) {
		char type[16] = "";
		if (arg->type.base != NW_TYPE_DEFAULT)
			nw_type_text(&arg->type, type);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s:%s",
					 used ? " " : "", arg->name, type);
	}
	return text;
}

static void check_args(const char *text, const char *provider, const char *name,
		       const char *wanted)
{
	struct nw_types types = {0};
	char said[512];

	ck_assert_msg(read_text(&types, text, strlen(text), said) == 0, "%s: %s", text,
		      said);
	const char *got = known_of(&types, "/bin/x", provider, name);
	ck_assert_msg(strcmp(got, wanted) == 0, "%s\ngot %s, wanted %s", text, got, wanted);
	nw_types_free(&types);
}

/* ---- provider files ----------------------------------------------------------------- */

START_TEST(parameters_of_c)
{
	static const struct {
		const char *params, *wanted;
	} cases[] = {
		{"", ""},
		{"void", ""},
		{"int", ":s32"},
		{"int x", "x:s32"},
		{"unsigned", ":u32"},
		{"unsigned x", "x:u32"},
		{"unsigned int x", "x:u32"},
		{"char c", "c:"},
		{"unsigned char", ":u8"},
		{"signed char", ":s8"},
		{"short", ":s16"},
		{"short int x", "x:s16"},
		{"unsigned short int", ":u16"},
		{"long", ":s64"},
		{"long int x", "x:s64"},
		{"unsigned long long x", "x:u64"},
		{"int64_t a, uint8_t b", "a:s64 b:u8"},
		{"size_t", ":u64"},
		{"bool", ":u8"},
		{"float f, double d", "f:f32 d:f64"},
		{"long double", ":"},
		{"char *", ":string"},
		{"const char *sql", "sql:string"},
		{"const char *const sql", "sql:string"},
		{"const char *const", ":string"},
		{"char name[16]", "name:string"},
		{"unsigned char *bytes", "bytes:x64"},
		{"char **argv", "argv:x64"},
		{"void *", ":x64"},
		{"string", ":string"},
		{"string s", "s:string"},
		{"struct foo *p", "p:x64"},
		{"Foo *", ":x64"},
		{"Foo *p", "p:x64"},
		{"struct foo s", "s:"},
		{"enum e", ":"},
		{"enum e x", "x:"},
		{"Oid", ":"},
		{"Oid x", "x:"},
		{"const Oid", ":"},
		{"int (*callback)(int, char *), int n", ":x64 n:s32"},
		{"uintptr_t", ":x64"},
		{"char *p : string, int q : struct x *", "p:string q:s32"},
		{"int " NAME_OF_128_BYTES, ":s32"},
		{"int /* no */ x, // no\n int y", "x:s32 y:s32"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text("provider p { probe n(%s); };",
							     cases[i].params);
		check_args(text, "p", "n", cases[i].wanted);
	}
}
END_TEST

START_TEST(aliases_are_followed)
{
	static const char text[] =
		"#include <stdio.h>\n"
		"#define Oid unsigned \\\n  int\n"
		"#define LOCK Oid\n"
		"#define ROUND ROUND\n"
		"#define A B\n"
		"#define B A\n"
		"#define CALL(x) x\n"
		"#define MANY unsigned " EIGHT EIGHT " int\n"
		"typedef const char *text;\n"
		"typedef struct { int a; } thing;\n"
		"struct other { int a; };\n"
		"int function(int x) { return x; }\n"
		"provider p {\n"
		"#define LATE long\n"
		"	probe n(Oid, LOCK l, ROUND, A, text t, thing, LATE, MANY many);\n"
		"}\n"
		"#pragma D attributes Evolving provider p provider\n";

	check_args(text, "p", "n", ":u32 l:u32 : : t:string : :s64 many:u32");
}
END_TEST

START_TEST(providers_and_names_must_fit)
{
	static const char text[] = "provider one { probe a__b(int x); probe c(int y); };\n"
				   "provider two { probe a__b(char *z) : (string z); }\n";
	struct nw_types types = {0};
	char said[512];

	ck_assert_int_eq(read_text(&types, text, strlen(text), said), 0);
	ck_assert_str_eq(known_of(&types, "x", "one", "a__b"), "x:s32");
	ck_assert_str_eq(known_of(&types, "x", "one", "a-b"), "x:s32");
	ck_assert_str_eq(known_of(&types, "x", "two", "a__b"), "z:string");
	ck_assert_str_eq(known_of(&types, "x", "two", "c"), "-");
	ck_assert_str_eq(known_of(&types, "x", "three", "c"), "-");
	nw_types_free(&types);
}
END_TEST

/* ---- tapsets ------------------------------------------------------------------------ */

START_TEST(assignments_of_tapsets)
{
	static const struct {
		const char *body, *wanted;
	} cases[] = {
		{"", ""},
		{"x = $arg1", "x:"},
		{"x = $arg1; y = user_string($arg2)", "x: y:string"},
		{"x = $arg1\n y = user_string($arg2)\n", "x: y:string"},
		{"y = user_string2($arg2, \"<null>\")", ": y:string"},
		{"y = user_string_n($arg1, 512)", "y:string"},
		{"y = user_string_n($arg1, $arg2)", "y:x64"},
		{"y = $arg1 ? user_string($arg1) : \"\"", "y:string"},
		{"y = $arg1 ? user_string_n($arg1, 512) : \"\"", "y:string"},
		{"y = $arg1 ? user_string($arg2) : \"\"", ""},
		{"y = $arg1 ? 1 : 2", ""},
		{"y = $arg1 + 1", ""},
		{"y = $arg1 == 1", ""},
		{"y = $arg1->field", ""},
		{"y = $arg1[3]", ""},
		{"y = user_int32($arg1)", ""},
		{"y = user_string($arg1 + 8)", ""},
		{"y = user_string($arg1) . \"x\"", ""},
		{"y = sprintf(\"%s\", user_string($arg1))", ""},
		{"if (y == $arg1) z = $arg2", ": z:"},
		{"y += $arg1; z <= $arg2", ""},
		{"y[3] = $arg1", ""},
		{"y = $argx; z = $arg0; w = $arg65; v = $arg64x; u = $arg", ""},
		{"x = $arg1; x = $arg2", "x:"},
		{"x = $arg1; y = $arg1", "x:"},
		{"if (1) { x = $arg1 } else { x = $arg1 }", "x:"},
		{"x = $arg1 # = $arg2 {\n", "x:"},
		{"x = $arg1 // }\n y = $arg2 /* } */", "x: y:"},
		{"%{ } } ' \" %} x = $arg1", "x:"},
		{"%( systemtap_v < \"2\" %? x = $arg1 %: y = $arg1 } %)", "x:"},
		{"%( a %? %( b %? x = $arg1 %) %: } %( c %? } %) %) y = $arg2", "x: y:"},
		{NAME_OF_128_BYTES " = $arg1", ""},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text(
			"probe a = process(\"x\").mark(\"n\") { %s }", cases[i].body);
		check_args(text, "p", "n", cases[i].wanted);
	}
}
END_TEST

START_TEST(points_of_tapsets)
{
	static const char text[] =
		"global x[10]\n"
		"function f:long (a:string) { return 1 }\n"
		"@define m(x) %( { @x %)\n"
		"probe a.b = process(\"/usr/lib*/x\").mark(\"one\") ?, "
		"process.mark(\"two\") !\n"
		"{ x = $arg1 }, { y = $arg2 }\n"
		"probe process(\"x\").provider(\"p\").mark(\"three\") if (1) { x = $arg1 "
		"}\n"
		"probe process(\"y\").library(\"x\").mark(\"four*\") { x = $arg1 }\n"
		"probe process(@1).mark(@2), kernel.function(\"five\"), begin { x = $arg1 "
		"}\n"
		"probe c += process(\"x\").mark(\"six\") { x = $arg1 }\n";
	struct nw_types types = {0};
	char said[512];

	ck_assert_msg(read_text(&types, text, strlen(text), said) == 0, "%s", said);
	ck_assert_str_eq(known_of(&types, "/bin/x", "q", "one"), "x: y:");
	ck_assert_str_eq(known_of(&types, "/bin/x", "q", "two"), "x: y:");
	ck_assert_str_eq(known_of(&types, "/bin/x", "p", "three"), "x:");
	ck_assert_str_eq(known_of(&types, "/bin/x", "q", "three"), "-");
	ck_assert_str_eq(known_of(&types, "/bin/x", "q", "fourteen"), "x:");
	ck_assert_str_eq(known_of(&types, "/bin/x", "q", "five"), "-");
	ck_assert_str_eq(known_of(&types, "/bin/x", "q", "six"), "x:");
	ck_assert_uint_eq(types.probes.count, 5);
	nw_types_free(&types);
}
END_TEST

/* ---- errors ------------------------------------------------------------------------- */

START_TEST(errors_name_the_line)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"provider", ":1: expected the name of a provider, but the file ends"},
		{"provider p",
		 ":1: expected '{' behind the name of a provider, but the file ends"},
		{"provider p {\n probe",
		 ":2: expected the name of a probe, but the file ends"},
		{"provider p {\n int x;\n}",
		 ":2: expected 'probe' or '}', but there is 'int'"},
		{"provider p {\n probe n;\n}",
		 ":2: expected '(' behind a probe's name, but there is ';'"},
		{"provider p {\n probe n(int\n;}",
		 ":3: expected ',' or ')' behind an argument, but there is ';'"},
		{"provider p {\n probe n(int)\n}",
		 ":3: expected ';' behind a probe, but there is '}'"},
		{"provider p {\n probe n(int);",
		 ":2: expected 'probe' or '}', but the file ends"},
		{"/* provider\n\n", ":1: the comment that begins here does not end"},
		{"\n\ntypedef int x",
		 ":3: expected ';' behind a typedef, but the file ends"},
		{"provider p { probe n(\"x);\n}", ":1: a string does not end on its line"},
		{"provider p {\n\x01\n}", ":2: a byte 0x01: this is not such a text file"},
		{"\nprobe a = process(\"x\").mark(\"n\")",
		 ":2: a probe without a body in braces"},
		{"probe process.mark(\"n\") {\n if (1) {\n }\n",
		 ":1: what is opened here is never closed"},
		{"probe process.mark(\"n\") { }\n}", ":2: a '}' that nothing opened"},
		{"probe process.mark(\"n\") {\n x = %( a b\n}",
		 ":2: the condition that begins here does not end"},
		{"probe process.mark(\"n\") { %{ \n}",
		 ":1: the C code that begins here does not end"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_types types = {0};
		char said[512];
		int ret = read_text(&types, cases[i].text, strlen(cases[i].text), said);
		ck_assert_msg(ret == -EINVAL, "%s: %d", cases[i].text, ret);
		ck_assert_msg(strcmp(said, cases[i].said) == 0, "%s: %s", cases[i].text,
			      said);
		ck_assert_uint_eq(types.probes.count, 0);
		nw_types_free(&types);
	}
}
END_TEST

START_TEST(files_that_are_none)
{
	struct nw_types types = {0};
	struct nw_error err;
	char said[512];

	ck_assert_int_eq(read_text(&types, "int x;", 6, said), -ENOENT);
	ck_assert_ptr_nonnull(strstr(said, "describes no USDT probes"));
	ck_assert_int_eq(nw_types_read(&types, "/nowhere", &err), -ENOENT);
	ck_assert_str_eq(err.what, "cannot open '/nowhere': No such file or directory");
	ck_assert_int_eq(nw_types_read(&types, "/", &err), -EINVAL);
	ck_assert_str_eq(err.what, "'/' is not a regular file");
	ck_assert_int_eq(nw_types_read(&types, "/dev/zero", &err), -EINVAL);
	ck_assert_uint_eq(types.probes.count, 0);
	nw_types_free(&types);
}
END_TEST

/* ---- hostile files ------------------------------------------------------------------ */

static const char provider_sample[] =
	"#define Oid unsigned int\ntypedef char *text;\nprovider p { probe a(Oid o, text "
	"t[3], "
	"int (*f)(void)); probe b(struct x *y : string) : (int z); };\n";
static const char tapset_sample[] =
	"%( a %? global b %: %( c %? d %) %) @define m %( { %)\nprobe x = "
	"process(\"y\").library("
	"\"z\").provider(\"p\").mark(\"a\") ?, process.mark(\"b\") { if (1) { q = $arg1 ? "
	"user_string_n($arg1, 5) : \"\\\"\" } r = user_string($arg2) %{ } %} }, { s = "
	"$arg64 "
	"}\n";

static void try_text(const char *text, size_t len)
{
	struct nw_types types = {0};
	char said[512];

	read_text(&types, text, len, said);
	known_of(&types, "/bin/y", "p", "a");
	nw_types_free(&types);
}

START_TEST(no_text_does_harm)
{
	const char *const samples[] = {provider_sample, tapset_sample};
	uint64_t state = 1;

	for (size_t i = 0; i < NW_COUNT(samples); i++) {
		size_t len = strlen(samples[i]);
		for (size_t cut = 0; cut <= len; cut++)
			try_text(samples[i], cut);
		for (int round = 0; round < 3000; round++) {
			char text[512];
			memcpy(text, samples[i], len);
			for (uint64_t changes = unit_random(&state) % 6; changes; changes--)
				text[unit_random(&state) % len] =
					samples[i][unit_random(&state) % len];
			if (round % 3 == 0)
				text[unit_random(&state) % len] = (char)unit_random(&state);
			try_text(text, len);
		}
	}
}
END_TEST

START_TEST(a_macro_bomb_is_harmless)
{
	struct nw_buf text = {0};

	for (int i = 0; i < 1000; i++)
		nw_buf_printf(&text, "#define a%d a%d a%d a%d *\n", i, i + 1, i + 1, i + 1);
	nw_buf_adds(&text, "provider p { probe n(a0, int x); };");
	check_args(nw_buf_str(&text), "p", "n", ":x64 x:s32");
	nw_buf_free(&text);
}
END_TEST

/* ---- what is found ------------------------------------------------------------------ */

START_TEST(tapsets_that_are_found_must_name_the_program)
{
	static const char text[] =
		"probe process(\"/usr/lib*/libx.so\").mark(\"a\") { found = $arg1 }\n"
		"probe process.mark(\"b\") { anywhere = $arg1 }\n";
	static const char broken[] = "probe process(\"libx.so\").mark(\"c\") {";
	struct nw_types types = {0};
	char dir[64], said[512];

	eb_dir(dir);
	nw_cleanup(nw_free_ptr) char *below = nw_text("%s/sub", dir);
	ck_assert_int_eq(mkdir(below, 0755), 0);
	eb_write_bytes(below, "x.stp", text, strlen(text));
	eb_write_bytes(dir, "broken.stp", broken, strlen(broken));
	eb_write_bytes(dir, "other.txt", text, strlen(text));
	nw_types_find(&types, dir);
	nw_types_find(&types, "/nowhere");
	ck_assert_uint_eq(types.probes.count, 2);
	ck_assert_str_eq(known_of(&types, "/lib/libx.so", "p", "a"), "found:");
	ck_assert_str_eq(known_of(&types, "libx.so.1.2", "p", "a"), "found:");
	ck_assert_str_eq(known_of(&types, "/lib/liby.so", "p", "a"), "-");
	ck_assert_str_eq(known_of(&types, "/lib/libx.so", "p", "b"), "-");
	/* what the user gives comes first, and need not name the program */
	static const char given[] = "probe process(\"y\").mark(\"a\") { given = $arg1 }";
	ck_assert_int_eq(read_text(&types, given, strlen(given), said), 0);
	ck_assert_str_eq(known_of(&types, "/lib/libx.so", "p", "a"), "given:");
	nw_types_free(&types);
}
END_TEST

/* ---- what becomes of it ------------------------------------------------------------- */

/* The arguments of a site after a description was applied: "name:type ..." */
static void check_applied(const char *params, const char *operands, const char *own,
			  const char *wanted)
{
	nw_cleanup(nw_free_ptr) char *text = nw_text("provider p { probe n(%s); };",
						     params);
	nw_cleanup(nw_free_ptr) char *spec_text = nw_text("p:n(%s)", own);
	struct nw_types types = {0};
	struct nw_point point = {0};
	struct nw_spec spec;
	char said[512];

	ck_assert_int_eq(read_text(&types, text, strlen(text), said), 0);
	ck_assert_int_eq(
		nw_operands_parse(nw_arch_by_name("x86_64"), operands, &point.operands), 0);
	ck_assert_int_eq(nw_spec_parse(spec_text, &spec, NULL), 0);
	while (spec.args.count < point.operands.count)
		ck_assert_ptr_nonnull(nw_vec_add(&spec.args));
	nw_types_apply(nw_types_of(&types, "x", "p", "n"), &point, 1, &spec.args);
	struct nw_buf got = {0};
	nw_vec_each (&spec.args, arg) {
		char type[16] = "";
		if (arg->type.base != NW_TYPE_DEFAULT)
			nw_type_text(&arg->type, type);
		nw_buf_printf(&got, "%s%s:%s", got.len ? " " : "", arg->name, type);
	}
	ck_assert_msg(strcmp(nw_buf_str(&got), wanted) == 0, "%s, %s: %s", params, operands,
		      nw_buf_str(&got));
	nw_buf_free(&got);
	nw_spec_free(&spec);
	nw_vec_free(&point.operands);
	nw_types_free(&types);
}

/* Names of the JVM have a length and no NUL, also where the spec says that they are strings; a length of its own comes first. */
START_TEST(a_string_by_hand_keeps_its_length)
{
	static const struct {
		const char *spec, *lengths;
	} cases[] = {{"p:n(thread, class:string, class_len, method)", " arg2  arg4"},
		     {"p:n(thread, class)", " arg2  arg4"},
		     {"p:n(thread, class:string[arg1])", " arg1  arg4"},
		     {"p:n(thread, class:u64, n:string)", "   arg4"}};
	struct nw_types types = {0};
	struct nw_point point = {0};

	ck_assert_int_eq(nw_types_builtin(&types), 0);
	const struct nw_described *known = nw_types_of(&types, "/lib/libjvm.so", "hotspot",
						       "method__entry");
	ck_assert_ptr_nonnull(known);
	ck_assert_int_eq(nw_operands_parse(nw_arch_by_name("x86_64"),
					   "8@%rdi 8@%rsi 8@%rdx 8@%rcx", &point.operands),
			 0);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf got = {0};
		struct nw_spec spec;
		ck_assert_int_eq(nw_spec_parse(cases[i].spec, &spec, NULL), 0);
		while (spec.args.count < 4)
			ck_assert_ptr_nonnull(nw_vec_add(&spec.args));
		nw_types_apply(known, &point, 1, &spec.args);
		nw_vec_each (&spec.args, arg)
			nw_buf_printf(&got, "%s%s", arg == spec.args.item ? "" : " ",
				      arg->length);
		ck_assert_msg(strcmp(nw_buf_str(&got), cases[i].lengths) == 0, "%s: '%s'",
			      cases[i].spec, nw_buf_str(&got));
		nw_buf_free(&got);
		nw_spec_free(&spec);
	}
	nw_vec_free(&point.operands);
	nw_types_free(&types);
}
END_TEST

START_TEST(a_spec_comes_first_and_values_must_suit)
{
	check_applied("char *a, int b", "8@%rdi -4@%esi", "", "a:string b:s32");
	check_applied("char *a, int b", "8@%rdi -4@%esi", "x:u64", "x:u64 b:s32");
	check_applied("char *a, int b", "8@%rdi -4@%esi", "x", "x:string b:s32");
	check_applied("char *a, int b", "8@%rdi -4@%esi", "b, c", "b:string c:s32");
	check_applied("char *a, int b", "8@%rdi -4@%esi", "b", "b:string :s32");
	check_applied("char *a", "1@%dil", "", "a:");
	check_applied("char *a", "-4@$0", "", "a:string");
	check_applied("int a", "8f@%rax", "", "a:");
	check_applied("double a, double b", "8@%rax 4@%eax", "", "a:f64 b:");
	check_applied("int a", "16@(%rax)", "", "a:");
	check_applied("int a, int b, int c", "8@%rax", "", "a:s32");
	check_applied("int a", "8@%rax 4@%ebx", "", "a:s32 :");
}
END_TEST

UNIT_MAIN("types", parameters_of_c, aliases_are_followed, providers_and_names_must_fit,
	  assignments_of_tapsets, points_of_tapsets, errors_name_the_line,
	  files_that_are_none, no_text_does_harm, a_macro_bomb_is_harmless,
	  tapsets_that_are_found_must_name_the_program, a_string_by_hand_keeps_its_length,
	  a_spec_comes_first_and_values_must_suit)
