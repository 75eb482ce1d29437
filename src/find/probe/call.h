/* SPDX-License-Identifier: MIT */
/* The arguments of a call or a return, by the calling convention of its code. */
#ifndef NOPWATCH_FIND_PROBE_CALL_H
#define NOPWATCH_FIND_PROBE_CALL_H

#include "nopwatch/probe.h"

/*
 * Make the operands of a point at which a function is entered or left. name: the function's. named:
 * how many of them the user named, 0: as many as are in registers. types: what the user said of
 * them; those that are passed elsewhere because of their type get a problem. Returns -ENOMEM at
 * worst.
 */
int nw_call_operands(const struct nw_image *image, const char *name, bool is_return,
		     size_t named, const nw_named_args *types, nw_operands *out);

/* A usage error if the user wants a floating-point value that cannot be had. */
int nw_call_refuse_floats(const struct nw_image *image, const char *name, bool is_return,
			  const nw_named_args *types, struct nw_error *err);

/* The register that points to the goroutine at the entry and at the exits of a function of Go's, as the
 * kernel spells it; "": none does; NULL: it is not Go's (by its name: such a file may hold C's, too). */
const char *nw_call_goroutine(const struct nw_image *image, const char *name);

#endif
