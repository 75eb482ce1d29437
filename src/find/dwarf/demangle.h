/* SPDX-License-Identifier: MIT */
/* Names as their source has them. */
#ifndef NOPWATCH_FIND_DWARF_DEMANGLE_H
#define NOPWATCH_FIND_DWARF_DEMANGLE_H

#include "nopwatch/base.h"

/* Zeroed it is valid. */
struct nw_demangler {
	bool looked;
	void *library;
	char *(*demangle)(const char *name, char *buffer, size_t *length, int *status);
};

/* "ns::f(int)"; NULL: it is none of C++'s or Rust's, or nobody here can tell. The caller frees. */
char *nw_demangle(struct nw_demangler *demangler, const char *name);
/* Open the library that knows C++'s names now; else that is done when the first is met. */
void nw_demangler_open(struct nw_demangler *demangler);
void nw_demangler_close(struct nw_demangler *demangler);
/* Of Rust's v0 mangling ("_R..."): the path and its generics, without the hashes. The same. (rust.c) */
char *nw_demangle_rust(const char *name);

#endif
