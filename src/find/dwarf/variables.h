/* SPDX-License-Identifier: MIT */
/* Finding a variable of the source: types and values (variables.c), and places (variable_place.c). */
#ifndef NOPWATCH_FIND_DWARF_VARIABLES_H
#define NOPWATCH_FIND_DWARF_VARIABLES_H

#include "lines.h"

#ifdef NW_HAVE_LIBDW

struct nw_finding {
	struct nw_lines *lines;
	const struct nw_variable_place *place;
	struct nw_scopes scopes;
	Dwarf_Die unit;
	Dwarf_Die *function;
	Dwarf_Die type; /* of what `out` means now */
	struct nw_variable *out;
	struct nw_buf *error;
	/* The place is in pieces, and `at` bytes into them is what is looked for; count 0: it is in one. */
	struct {
		Dwarf_Op *ops;
		size_t count;
		Dwarf_Attribute location;
		uint64_t at;
	} pieces;
	uint64_t fields;    /* limit of further fields */
	unsigned int depth; /* of nested fields */
};

/* Says why there is no value, or what is wrong with the expression. Return false. */
bool nw_lacks(struct nw_finding *s, enum nw_lack lack);
bool nw_wrong(struct nw_finding *s, const char *what, const char *name);
bool nw_is_named(const struct nw_finding *s, Dwarf_Die *die, const char *name);
/* Find the type of an entry as it is written, and behind typedefs and qualifiers. Return false if it has none. */
bool nw_type_of(Dwarf_Die *die, Dwarf_Die *out);
bool nw_find_type(Dwarf_Die *die, Dwarf_Die *out);
/* Returns the size of an address in bytes. */
unsigned int nw_word_of(struct nw_finding *s);
bool nw_add_offset(struct nw_finding *s, uint64_t bytes);
bool nw_set_base(struct nw_finding *s, enum nw_variable_base base, uint64_t number,
		 int64_t add, bool is_memory);
/* Goes from pieces to the one that holds the next `size` bytes. Returns false if no single one does. */
bool nw_take_piece(struct nw_finding *s, uint64_t size);
/* Was the function compiled by Go? */
bool nw_is_go_unit(struct nw_finding *s);
/* Finds the variable of this name that the place sees, its type and its place. */
bool nw_find_variable(struct nw_finding *s, const char *name);

#endif
#endif
