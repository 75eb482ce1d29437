// SPDX-License-Identifier: MIT
/* Functions by the names that their source has. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#ifndef NW_STATIC
#include <dlfcn.h>
#endif

#include "elf_files.h"
#include "find/dwarf/dwarf.h"
#include "find/probe/probe.h"
#include "unit.h"

static const char *const symbols[] = {
	"plain",
	"_ZN3app7handlerEi",	      /* app::handler(int) */
	"_ZN3app7handlerEd",	      /* app::handler(double) */
	"_ZN3app7handlerEi.cold",     /* app::handler(int) [clone .cold] */
	"_ZNK3app6Server5serveERKSs", /* app::Server::serve(std::string const&) const */
	"_ZN3app5twiceIiEET_S1_",     /* int app::twice<int>(int) */
	"_ZN3app5twiceIdEET_S1_",     /* double app::twice<double>(double) */
	"_ZNK3app6ServerltERKS0_",    /* app::Server::operator<(app::Server const&) const */
	"_ZN3app6ServerclEi",	      /* app::Server::operator()(int) */
	"_ZN12_GLOBAL__N_16hiddenEi", /* (anonymous namespace)::hidden(int) */
	"_ZN3app4nameB5cxx11Ev",      /* app::name[abi:cxx11]() */
	"_ZThn8_N3app6Server4stopEv", /* non-virtual thunk to app::Server::stop() */
	"_ZN4rust5serve17h2e3aaabbccddeeffE",	 /* rust::serve */
	"_RNvCs1234_7mycrate3foo",		 /* mycrate::foo */
	"_RINvNtC3std3mem8align_ofjEC3foo",	 /* std::mem::align_of::<usize> */
	"_RNvMs_C4testNtB4_3Bar3baz",		 /* <test::Bar>::baz */
	"_RNvXCs1_5crateNtB2_3FooNtB2_5Trait1m", /* <crate::Foo as crate::Trait>::m */
	"_ZN3app3BoxC1Ei",			 /* app::Box::Box(int), */
	"_ZN3app3BoxC2Ei",			 /* once more */
	"_ZN3app4findEPPKcSt8functionIFviEE", /* app::find(char const**, std::function<void (int)>) */
	"_ZN3app4findEPc",		      /* app::find(char*) */
	"_ZN3app4findEv",		      /* app::find() */
	"_ZN3appplERKNS_6ServerES2_", /* app::operator+(app::Server const&, app::Server const&) */
	"_Znot",
	"main.(*writer).big", /* Go */
};

static struct nw_image *make_image(void)
{
	struct eb_symbols table = {0};
	struct nw_image *image;
	struct nw_error err;
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	for (size_t i = 0; i < NW_COUNT(symbols); i++)
		eb_symbol(&b, &table, symbols[i], ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1,
			  EB_TEXT + i, 1);
	eb_symtab(&b, &table, SHT_SYMTAB);
	int ret = nw_image_open_fd(eb_memfd(&b), "made", false, &image, &err);
	ck_assert_msg(ret == 0, "%s", err.what);
	return image;
}

static void check(struct nw_image *image, const char *pattern, const char *wanted)
{
	struct nw_functions found = {0};
	struct nw_buf out = {0};

	ck_assert_int_eq(nw_functions_find(image, pattern, &found, NULL),
			 *wanted ? 0 : -ENOENT);
	ck_assert_uint_eq(found.symbols.count, found.names.count);
	nw_vec_each (&found.names, name)
		nw_buf_printf(&out, "%s%s", out.len ? "; " : "", *name);
	ck_assert_msg(strcmp(nw_buf_str(&out), wanted) == 0, "%s: %s, wanted %s", pattern,
		      nw_buf_str(&out), wanted);
	nw_buf_free(&out);
	nw_functions_free(&found);
}

static bool can_tell_cxx(void)
{
	nw_strings names = {0}, out = {0};

	ck_assert_int_eq(nw_strings_add(&names, "_Z1fv", 5), 0);
	ck_assert_int_eq(nw_source_names(&names, &out), 0);
	ck_assert_uint_eq(out.count, 1);
	bool can = *out.item[0];
#ifndef NW_STATIC
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
	ck_assert_int_eq(can, library != NULL);
	if (library)
		dlclose(library);
#endif
	nw_strings_free(&names);
	nw_strings_free(&out);
	return can;
}

START_TEST(names_of_rust_are_found)
{
	struct nw_image *image = make_image();

	check(image, "mycrate::foo", "mycrate::foo");
	check(image, "std::mem::align_of", "std::mem::align_of::<usize>");
	check(image, "test::Bar::baz", "<test::Bar>::baz");
	check(image, "crate::Foo::m", "<crate::Foo as crate::Trait>::m");
	check(image, "<crate::Foo as crate::Trait>::m", "<crate::Foo as crate::Trait>::m");
	check(image, "plain", "plain");
	check(image, "nosuch::*", "");
	nw_image_free(image);
}
END_TEST

START_TEST(names_of_cxx_are_found)
{
	struct nw_image *image = make_image();

	if (!can_tell_cxx()) {
		check(image, "app::handler", "");
		nw_image_free(image);
		return;
	}
	check(image, "app::handler", "app::handler(double); app::handler(int)");
	check(image, "app::handler?int)", "app::handler(int)");
	check(image, "app::Server::serve", "app::Server::serve");
	check(image, "app::twice", "app::twice<double>; app::twice<int>");
	check(image, "app::twice<int>", "app::twice<int>");
	check(image, "app::Server::operator<", "app::Server::operator<");
	check(image, "app::Server::operator()", "app::Server::operator()");
	check(image, "(anonymous namespace)::hidden", "(anonymous namespace)::hidden");
	check(image, "app::name", "app::name[abi:cxx11]");
	check(image, "app::Server::stop", "");
	check(image, "rust::serve", "rust::serve");
	check(image, "app::Box::*", "app::Box::Box; app::Box::Box");
	check(image, "handler", "");
	check(image, "_ZN3app7handler*",
	      "app::handler(double); app::handler(int); _ZN3app7handlerEi.cold");
	check(image, "p*", "plain");
	nw_image_free(image);
}
END_TEST

START_TEST(parameters_choose_an_overload)
{
	static const char two[] =
		"app::find(char const**, std::function<void (int)>)"; /* as c++filt shows it */
	struct nw_image *image = make_image();

	if (can_tell_cxx()) {
		check(image, "app::handler(int)", "app::handler(int)");
		check(image, "app::handler( int )", "app::handler(int)");
		check(image, "app::h*(double)", "app::handler(double)");
		check(image, "app::handler(char)", "");
		check(image, two, two);
		check(image, "app::find(const char * *,std::function<void(int)>)", two);
		check(image, "app::find(char*)", "app::find(char*)");
		check(image, "app::find(char *)", "app::find(char*)");
		check(image, "app::find()", "app::find()");
		check(image, "app::find(void)", "app::find()");
		check(image, "app::find(char const*)", "");
		check(image, "app::find(*)",
		      "app::find(char const**, std::function<void (int)>); app::find(char*); app::find()");
		check(image, "app::twice(int)", "app::twice<int>");
		check(image, "app::twice<double>(double)", "app::twice<double>");
		check(image, "int app::twice<int>(int)", "app::twice<int>");
		check(image, "app::Server::operator()(int)", "app::Server::operator()");
		check(image, "app::operator+(const app::Server&, app::Server const &)",
		      "app::operator+");
		check(image, "app::Server::operator<(app::Server const&) const",
		      "app::Server::operator<");
		check(image, "app::Server::operator<(app::Server const&)",
		      "app::Server::operator<");
		check(image, "mycrate::foo(int)", "");
	}
	nw_image_free(image);
}
END_TEST

START_TEST(a_name_that_is_not_there_has_near_ones)
{
	static const char list[] =
		"`nopwatch list --functions made` lists those that are there";
	static const struct {
		const char *name, *hint;
		bool cxx;
	} cases[] = {
		{"plane", "did you mean plain?", false},
		{"mycrate::fo", "did you mean mycrate::foo?", false},
		{"plai*n?", list, false},
		{"writer.big", "did you mean main.(*writer).big?", false},
		{"(writer).big", "did you mean main.(*writer).big?", false},
		{"main.writer.bug", "did you mean main.(*writer).big?", false},
		{"iter.big", list, false},
		{"nothing_like_it", list, false},
		{"app::handlr(int)", "did you mean app::handler(int)?", true},
		{"handler", "did you mean app::handler(double), app::handler(int)?", true},
		{"app::Server::serv", "did you mean app::Server::serve?", true},
		{"app::handler(char)",
		 "did you mean app::handler(double), app::handler(int)?", true},
	};
	struct nw_image *image = make_image();
	bool cxx = can_tell_cxx();

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_functions found = {0};
		struct nw_error err = {0};
		if (cases[i].cxx && !cxx)
			continue;
		ck_assert_int_eq(nw_functions_find(image, cases[i].name, &found, &err),
				 -ENOENT);
		ck_assert_msg(strcmp(err.hint, cases[i].hint) == 0, "%s: %s, wanted %s",
			      cases[i].name, err.hint, cases[i].hint);
		nw_functions_free(&found);
	}
	nw_image_free(image);
}
END_TEST

/* Names are bytes of files: any of them is survived, and the good ones beside them are told. */
START_TEST(names_may_be_anything)
{
	nw_strings names = {0}, out = {0};
	uint64_t state = 3;

	for (size_t i = 0; i < 4000; i++) {
		static const char letters[] = "_ZRN1234567890EIJLXSTaKPFCs.$<>()::hvid";
		struct nw_buf name = {0};
		size_t len = i % 97 == 0 ? 70000 : 3 + unit_random(&state) % 40;
		nw_buf_adds(&name, i % 2 ? "_Z" : "_RNv");
		while (name.len < len)
			nw_buf_addc(&name,
				    letters[unit_random(&state) % (sizeof(letters) - 1)]);
		ck_assert_int_eq(nw_strings_add(&names, name.data, name.len), 0);
		nw_buf_free(&name);
	}
	ck_assert_int_eq(nw_strings_addf(&names, "_RNvCs1234_7mycrate3foo"), 0);
	ck_assert_int_eq(nw_source_names(&names, &out), 0);
	ck_assert_uint_eq(out.count, names.count);
	ck_assert_str_eq(out.item[out.count - 1], "mycrate::foo");
	nw_strings_free(&names);
	nw_strings_free(&out);
}
END_TEST

UNIT_MAIN("source_name", names_of_rust_are_found, names_of_cxx_are_found,
	  parameters_choose_an_overload, a_name_that_is_not_there_has_near_ones,
	  names_may_be_anything)
