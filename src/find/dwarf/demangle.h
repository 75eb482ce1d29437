/* SPDX-License-Identifier: MIT */
/* Translates symbols to names of the source. */
#ifndef NOPWATCH_FIND_DWARF_DEMANGLE_H
#define NOPWATCH_FIND_DWARF_DEMANGLE_H

#include "base/base.h"

/* A zeroed one is valid. */
struct nw_demangler {
	bool looked;
	void *library;
	char *(*demangle)(const char *name, char *buffer, size_t *length, int *status);
};

/* Returns "ns::f(int)"; NULL: the symbol is neither C++ nor Rust, or there is no C++ library. The caller frees it. */
char *nw_demangle(struct nw_demangler *demangler, const char *name);
/* Opens the C++ library now; otherwise it is opened for the first C++ symbol. */
void nw_demangler_open(struct nw_demangler *demangler);
void nw_demangler_close(struct nw_demangler *demangler);
/* Translates Rust's v0 mangling ("_R..."): the path and its generics, without the hashes. The caller frees it.
 * (rust.c) */
char *nw_demangle_rust(const char *name);

#endif
