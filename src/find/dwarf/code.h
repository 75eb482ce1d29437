/* SPDX-License-Identifier: MIT */
/* Code of an image: the places in a function that may be armed. */
#ifndef NOPWATCH_FIND_DWARF_CODE_H
#define NOPWATCH_FIND_DWARF_CODE_H

#include "find/dwarf/dwarf.h"

#include "find/arch/insn.h"

/* A place where a function is left. */
struct nw_exit {
	uint64_t vaddr;
	bool jump; /* into another function, which returns instead */
};

typedef NW_VEC(struct nw_exit) nw_exits;

/*
 * Checks that an instruction begins at vaddr, a linked address. Returns 0 with *why == NULL if it does; 0 with a
 * sentence, which the caller frees, if that cannot be shown; -ENOMEM.
 */
int nw_code_doubt(struct nw_image *image, uint64_t vaddr, char **why);
/*
 * Finds all places where the function is left by a return or a tail jump, in the order of their addresses. Calls of
 * functions that never return, and throws, are not included. Code that the compiler has put elsewhere belongs to the
 * function by its symbol (NAME.cold), or by call frame information. Returns 0 with *why == NULL; 0 with a sentence,
 * which the caller frees, if the exits are unknown; -errno with the reason in err if memory or descriptors are short.
 */
int nw_code_exits(struct nw_image *image, const struct nw_symbol *function, nw_exits *out,
		  char **why, struct nw_error *err);

#endif
