/* SPDX-License-Identifier: MIT */
/* What cfi.c and cfi_expression.c share. */
#ifndef NOPWATCH_DWARF_CFI_H
#define NOPWATCH_DWARF_CFI_H

#ifdef NW_HAVE_LIBDW

#include <elfutils/libdw.h>

#include "nopwatch/dwarf.h"

/* What an expression is about. */
struct nw_expression {
	const struct nw_registers *registers;
	const struct nw_memory *memory;
	uint64_t cfa; /* of DW_OP_call_frame_cfa; has_cfa: it is known already */
	bool has_cfa;
	unsigned int word; /* bytes of an address */
	uint64_t bias;	   /* what the process adds to linked addresses */
};

/*
 * Evaluate it (DWARF 5, section 2.5). *is_value: the result is the value itself, not where it lies. 0; -EFAULT: it
 * needs memory or a register that is not known; -ENOTSUP: something that no call frame information needs.
 */
int nw_expression_evaluate(const struct nw_expression *about, const Dwarf_Op *ops,
			   size_t count, uint64_t *out, bool *is_value);

#endif
#endif
