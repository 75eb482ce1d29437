/* SPDX-License-Identifier: MIT */
/*
 * A rule: how the caller of a function is found from an address in it, as data from call frame information or 32-bit
 * ARM's tables. The process that reads files writes rules (cfi.c, exidx.c); nopwatch checks and keeps them, and
 * applies them to each hit (rule.c), without reading the file again.
 */
#ifndef NOPWATCH_FIND_DWARF_RULE_H
#define NOPWATCH_FIND_DWARF_RULE_H

#include "find/dwarf/dwarf.h"
#include "wire.h"

enum {
	NW_RULE_FRAME = 1,	 /* there is call frame information */
	NW_RULE_INTERRUPTED = 2, /* a signal has interrupted the caller */
	NW_RULE_ENTERED = 4,	 /* the address is the first instruction of a function */
	NW_RULE_TABLE = 8,	 /* 32-bit ARM's tables contain the function */
	NW_RULE_FIRST = 16,	 /* according to these tables the function has no caller */
	NW_MOST_RULE_OPS = 256,	 /* limit of an expression, which may be hostile */
	/* Limit in bytes for instructions of 32-bit ARM's tables: 3, and 255 words. */
	NW_MOST_RULE_CODE = 1024
};

/* A parsed operation of a DWARF expression: DW_OP_... and its operands. */
struct nw_rule_op {
	uint8_t atom;
	uint64_t number, number2;
};

/* The place of a register's value in the caller. */
enum nw_rule_kind {
	NW_RULE_UNDEFINED,
	NW_RULE_SAME,	   /* in the register itself */
	NW_RULE_OFFSET,	   /* in memory, at the frame's address plus an offset */
	NW_RULE_EXPRESSION /* the result of an expression */
};
struct nw_rule_value {
	enum nw_rule_kind kind;
	int64_t offset;
	const struct nw_rule_op *ops;
	size_t count;
};

/* The input of an expression. */
struct nw_expression {
	const struct nw_registers *registers;
	const struct nw_memory *memory;
	uint64_t cfa; /* for DW_OP_call_frame_cfa; has_cfa: it is known already */
	bool has_cfa;
	unsigned int word; /* size of an address in bytes */
	/* Difference between addresses in the process and linked addresses */
	uint64_t bias;
};

/*
 * Evaluates an expression (DWARF 5, section 2.5). *is_value: the result is the value itself, not its address. Returns
 * 0; -EFAULT: it needs unknown memory or an unknown register; -ENOTSUP: an operation that call frame information does
 * not use.
 */
int nw_expression_evaluate(const struct nw_expression *about, const struct nw_rule_op *ops,
			   size_t count, uint64_t *out, bool *is_value);

/*
 * Append the rule for an address to `out`, behind its flags: from call frame information, or from 32-bit ARM's
 * tables. The first sets flags and returns 0, -ENOENT, or -errno of what was short; the second returns the flags.
 */
int nw_cfi_rule(struct nw_cfi *cfi, uint64_t vaddr, unsigned int *flags,
		struct nw_buf *out);
unsigned int nw_exidx_rule(const struct nw_exidx *exidx, uint64_t vaddr,
			   struct nw_buf *out);
/* Runs instructions of 32-bit ARM's tables; results as nw_rule_step(). */
int nw_exidx_run(const unsigned char *code, size_t len, const struct nw_memory *memory,
		 struct nw_registers *registers, bool *interrupted);

#endif
