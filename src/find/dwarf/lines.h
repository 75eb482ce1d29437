/* SPDX-License-Identifier: MIT */
/* The DWARF of a file, for what is found at an address: lines (lines.c) and variables (variables.c). */
#ifndef NOPWATCH_FIND_DWARF_LINES_H
#define NOPWATCH_FIND_DWARF_LINES_H

#include "info.h"

#ifdef NW_HAVE_LIBDW

struct nw_lines {
	struct nw_info info;
	int fd; /* of the debug file; -1: it is in the file itself */
};

/* The entries around an address, from the unit inwards. */
struct nw_scopes {
	uint64_t vaddr;
	uint64_t entries; /* limit of further entries: files are hostile */
	/* An inlined function also has the address at which it is entered (DW_AT_entry_pc). gcc lets that address be the
	 * caller's instruction before, where the first line of the inlined function begins. */
	bool entered;
	size_t depth;
	Dwarf_Die die[64];
};

/* Finds the unit by the table of addresses, which gcc writes; else by trying all units. */
bool nw_find_unit(const struct nw_lines *lines, uint64_t vaddr, Dwarf_Die *out);
/* Returns true if `out` ends with the innermost entry that has the address. */
bool nw_find_scopes(Dwarf_Die *die, struct nw_scopes *out);
/* Returns the number that an attribute of the entry has; 0: there is none. */
unsigned int nw_die_number(Dwarf_Die *die, unsigned int name);

#endif
#endif
