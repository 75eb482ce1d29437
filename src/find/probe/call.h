/* SPDX-License-Identifier: MIT */
/* The arguments of a call or a return, according to the calling convention of the code. */
#ifndef NOPWATCH_FIND_PROBE_CALL_H
#define NOPWATCH_FIND_PROBE_CALL_H

#include "find/probe/probe.h"

/*
 * Makes the operands of a point at which a function is entered or left. name: the function. named: how many arguments
 * the user named; 0: as many as are in registers. types: the types that the user gave; an argument that is passed
 * elsewhere because of its type gets a problem. Returns -ENOMEM on failure.
 */
int nw_call_operands(const struct nw_image *image, const char *name, bool is_return,
		     size_t named, const nw_named_args *types, nw_operands *out);

/* A place in a function, and what reads its debugging information. */
struct nw_source_function {
	struct nw_reader *reader;
	const struct nw_image *image;
	const char *symbol; /* NULL: it has none */
	uint64_t vaddr;
	bool inside; /* the place is not the function's entry: variables have no order there */
};
/*
 * Finds arguments, or variables that the place sees, by their names in the source (DWARF), and makes the probe's
 * `args` and `enums`, and the operands, of them. *found false: nothing is changed, since there is no DWARF, or the names are no names of the source and
 * mean the arguments in their order; *warning says so then. It is a usage error if only the source could know them
 * ("request->id", or any name inside a function).
 */
int nw_source_operands(const struct nw_source_function *function,
		       const struct nw_spec *spec, struct nw_probe *probe, nw_operands *out,
		       bool *found, char **warning, struct nw_error *err);
/* Applies the type that a function returns in its source. *warning: the source cannot be read. */
int nw_source_result(const struct nw_source_function *function, struct nw_operand *op,
		     char **warning);

/* Returns a usage error if the user wants a floating-point value that cannot be fetched. */
int nw_call_refuse_floats(const struct nw_image *image, const char *name, bool is_return,
			  const nw_named_args *types, struct nw_error *err);

/* Returns the register that points to the goroutine at the entry and the exits of a Go function, as the kernel spells
 * it; "": there is none; NULL: it is no Go function (by its name: a Go program may contain C code, too). */
const char *nw_call_goroutine(const struct nw_image *image, const char *name);

#endif
