// SPDX-License-Identifier: MIT
/* Compares mangled names of C++ and Rust with the name that people use for the function. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "find/elf/elf.h"

/* Returns the text behind "3foo", ignoring the end of "13foo"; NULL: the name does not contain it. */
static const char *find_part(const char *mangled, const char *word, size_t len)
{
	char part[256];
	int size = snprintf(part, sizeof(part), "%zu%.*s", len, (int)len, word);

	if (size < 0 || (size_t)size >= sizeof(part))
		return NULL;
	for (const char *at = mangled; (at = strstr(at, part)); at++)
		if (at == mangled || !isdigit((unsigned char)at[-1]))
			return at + size;
	return NULL;
}

bool nw_mangled_is(const char *mangled, const char *name)
{
	if (mangled[0] != '_' || (mangled[1] != 'Z' && mangled[1] != 'R') || !*name)
		return false;
	while (mangled && *name) {
		const char *end = strstr(name, "::");
		size_t len = end ? (size_t)(end - name) : strlen(name);
		mangled = len ? find_part(mangled, name, len) : mangled;
		name += len + (end ? 2 : 0);
	}
	return mangled;
}

enum {
	HASH = 16 /* hexadecimal digits, behind "17h" */
};

/* Tells whether this is the hash that ends a name in Rust's legacy mangling: "17h2e3a...E". */
static bool is_hash(const char *at)
{
	return strncmp(at, "17h", 3) == 0 && strspn(at + 3, "0123456789abcdef") == HASH &&
	       at[3 + HASH] == 'E';
}

/* Returns the length of a crate's disambiguator in Rust's v0 mangling, "s1a2B_" behind a C; 0: there is none. */
static size_t crate_hash(const char *name, const char *at)
{
	size_t len = at > name && at[-1] == 'C' && *at == 's' ? 1 : 0;

	while (len && isalnum((unsigned char)at[len]))
		len++;
	return len && at[len] == '_' ? len + 1 : 0;
}

bool nw_differs_by_hash(const char *a, const char *b)
{
	const size_t hash_len = 3 + HASH;
	const char *first_a = a, *first_b = b;
	bool rust = strncmp(a, "_R", 2) == 0 && strncmp(b, "_R", 2) == 0;
	bool differs = false;

	while (*a && *b) {
		size_t skip_a = rust ? crate_hash(first_a, a) : is_hash(a) ? hash_len : 0;
		size_t skip_b = rust ? crate_hash(first_b, b) : is_hash(b) ? hash_len : 0;
		if (skip_a && skip_b) {
			differs = differs || skip_a != skip_b || strncmp(a, b, skip_a) != 0;
			a += skip_a;
			b += skip_b;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return differs && !*a && !*b;
}
