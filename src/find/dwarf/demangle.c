// SPDX-License-Identifier: MIT
/*
 * Translates symbols to names of the source. __cxa_demangle() (Itanium C++ ABI, 3.4) translates those of C++. It is
 * in the library that every C++ program has, which is opened for the first such symbol, so that nopwatch itself needs
 * no C++. Rust's older symbols (_ZN...17hHASHE) look like C++; rust.c translates its newer ones ("v0", _R...).
 */
#include "demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#ifndef NW_STATIC
#include <dlfcn.h>
#endif

enum {
	/* Symbols come from files, and their translations may be very much longer. */
	LONGEST = 2048
};

#ifdef NW_STATIC
/* scripts/static links it, where the compiler's own C++ library is there. */
__attribute__((weak)) char *__cxa_demangle(const char *name, char *buffer, size_t *length,
					   int *status);
#endif

static void open_library(struct nw_demangler *d)
{
#ifdef NW_STATIC
	d->demangle = __cxa_demangle;
#else
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};

	for (size_t i = 0; !d->demangle && i < NW_COUNT(libraries); i++) {
		d->library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
		void *symbol = d->library ? dlsym(d->library, "__cxa_demangle") : NULL;
		memcpy(&d->demangle, &symbol, sizeof(symbol));
	}
#endif
}

void nw_demangler_close(struct nw_demangler *d)
{
#ifndef NW_STATIC
	if (d->library)
		dlclose(d->library);
#endif
	*d = (struct nw_demangler){0};
}

/* Rust's older mangling has codes for characters that C++ does not allow in names (rustc's legacy.rs). */
static const struct {
	const char *code, *text;
} escapes[] = {{"$SP$", "@"},  {"$BP$", "*"},	{"$RF$", "&"},	{"$LT$", "<"},
	       {"$GT$", ">"},  {"$LP$", "("},	{"$RP$", ")"},	{"$C$", ","},
	       {"$u20$", " "}, {"$u22$", "\""}, {"$u27$", "'"}, {"$u2b$", "+"},
	       {"$u3b$", ";"}, {"$u5b$", "["},	{"$u5d$", "]"}, {"$u7b$", "{"},
	       {"$u7d$", "}"}, {"$u7e$", "~"},	{"..", "::"}};

static void unescape(char *name)
{
	char *to = name;

	for (const char *at = name; *at;) {
		size_t i = 0;
		while (i < NW_COUNT(escapes) &&
		       strncmp(at, escapes[i].code, strlen(escapes[i].code)) != 0)
			i++;
		if (i == NW_COUNT(escapes)) {
			*to++ = *at++;
			continue;
		}
		at += strlen(escapes[i].code);
		memmove(to, escapes[i].text, strlen(escapes[i].text));
		to += strlen(escapes[i].text);
	}
	*to = '\0';
}

/* Removes the hash that Rust appends: "path::f::h0123456789abcdef". */
static void finish_rust(char *name)
{
	size_t len = strlen(name);

	if (len < 20 || strncmp(name + len - 19, "::h", 3) != 0)
		return;
	for (size_t i = len - 16; i < len; i++)
		if (!isxdigit((unsigned char)name[i]))
			return;
	name[len - 19] = '\0';
	/* No part of a path begins with the code for '<' or '{', so the mangling puts a '_' before it. */
	for (char *at = name; (at = strstr(at, "_$"));)
		if (at == name || at[-1] == ':')
			memmove(at, at + 1, strlen(at));
		else
			at++;
	unescape(name);
}

void nw_demangler_open(struct nw_demangler *d)
{
	if (!d->looked)
		open_library(d);
	d->looked = true;
}

char *nw_demangle(struct nw_demangler *d, const char *name)
{
	size_t len = strcspn(name, "@");
	nw_cleanup(nw_free_ptr) char *plain = len < LONGEST ? strndup(name, len) : NULL;
	int status = 0;

	if (plain && strncmp(plain, "_R", 2) == 0)
		return nw_demangle_rust(plain);
	if (!plain || strncmp(plain, "_Z", 2) != 0)
		return NULL;
	nw_demangler_open(d);
	char *source = d->demangle ? d->demangle(plain, NULL, NULL, &status) : NULL;
	if (source)
		finish_rust(source);
	return source;
}
