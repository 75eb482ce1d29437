/* SPDX-License-Identifier: MIT */
/*
 * How a function's caller is found from an address in it, as data: what call frame information and 32-bit ARM's tables
 * say about that address. The process that reads files writes rules (cfi.c, exidx.c); nopwatch checks and keeps them,
 * and goes by them with each hit (rule.c), without another look at the file.
 */
#ifndef NOPWATCH_FIND_DWARF_RULE_H
#define NOPWATCH_FIND_DWARF_RULE_H

#include "nopwatch/dwarf.h"
#include "wire.h"

enum {
	NW_RULE_FRAME = 1,	 /* there is call frame information */
	NW_RULE_INTERRUPTED = 2, /* a signal has called the function */
	NW_RULE_ENTERED = 4,	 /* it is the first instruction of a function */
	NW_RULE_TABLE = 8,	 /* 32-bit ARM's tables know the function */
	NW_RULE_FIRST = 16,	 /* by these tables nobody calls it */
	NW_MOST_RULE_OPS = 256,	 /* of an expression: it may come from anywhere */
	NW_MOST_RULE_CODE =
		1024 /* bytes of instructions of 32-bit ARM's tables: 3, and 255 words */
};

/* An operation of a DWARF expression, taken apart: DW_OP_... and its operands. */
struct nw_rule_op {
	uint8_t atom;
	uint64_t number, number2;
};

/* Where a register's value in the caller is. */
enum nw_rule_kind {
	NW_RULE_UNDEFINED,
	NW_RULE_SAME,	   /* in the register itself */
	NW_RULE_OFFSET,	   /* in memory, at the frame's address plus an offset */
	NW_RULE_EXPRESSION /* what an expression says */
};
struct nw_rule_value {
	enum nw_rule_kind kind;
	int64_t offset;
	const struct nw_rule_op *ops;
	size_t count;
};

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
int nw_expression_evaluate(const struct nw_expression *about, const struct nw_rule_op *ops,
			   size_t count, uint64_t *out, bool *is_value);

/*
 * What the file says about an address, behind the flags: of call frame information, of 32-bit ARM's tables. They return
 * flags to be set, and append what belongs to these.
 */
unsigned int nw_cfi_rule(struct nw_cfi *cfi, uint64_t vaddr, struct nw_buf *out);
unsigned int nw_exidx_rule(const struct nw_exidx *exidx, uint64_t vaddr,
			   struct nw_buf *out);
/* Instructions of 32-bit ARM's tables: as nw_rule_step(). */
int nw_exidx_run(const unsigned char *code, size_t len, const struct nw_memory *memory,
		 struct nw_registers *registers, bool *interrupted);

#endif
